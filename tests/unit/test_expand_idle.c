/*
 * test_expand_idle.c - pcol_filter() with PCOL_IDLE_EXPAND: which samples become several
 */
#include <criterion/criterion.h>

#include "pcol.h"

#define OK(call)                                                                                 \
    do {                                                                                         \
        pcol_error err = {0};                                                                    \
        pcol_status status_ = (call);                                                            \
        cr_assert_eq(status_, PCOL_OK, #call ": %s %s", pcol_status_name(status_), err.message); \
    } while (0)

/* A file with one sample of `count` samples/count that lasts `duration_ns`. */
static pcol_file *make(int64_t count, int64_t duration_ns, unsigned source_flags)
{
    pcol_builder *builder;
    pcol_file *file;
    pcol_source source = PCOL_INIT(pcol_source);
    pcol_value value = {.as.i64 = count};
    pcol_sample sample = PCOL_INIT(pcol_sample);
    OK(pcol_builder_new(NULL, &builder, &err));
    source.type = "test";
    source.flags = source_flags;
    OK(pcol_builder_source(builder, &source, &sample.source, &err));
    OK(pcol_builder_sample_type(builder, "samples", "count", 0, 0, &value.sample_type, &err));
    sample.thread = sample.stack = PCOL_NONE;
    sample.values = &value;
    sample.value_count = 1;
    sample.flags = PCOL_SAMPLE_HAS_TIME | PCOL_SAMPLE_HAS_DURATION;
    sample.duration_ns = duration_ns;
    OK(pcol_builder_sample(builder, &sample, NULL, &err));
    OK(pcol_builder_file(builder, 0, NULL, &file, &err));
    pcol_builder_free(builder);
    return file;
}

/* The number of samples after expansion; 0 with an error. */
static uint64_t expand(int64_t count, int64_t duration_ns, unsigned source_flags,
                       pcol_status *status)
{
    pcol_file *file = make(count, duration_ns, source_flags), *expanded;
    pcol_filter_options options = PCOL_INIT(pcol_filter_options);
    pcol_builder *builder;
    const pcol_table *samples;
    uint64_t rows = 0;
    options.idle = PCOL_IDLE_EXPAND;
    OK(pcol_builder_new(NULL, &builder, &err));
    *status = pcol_filter(builder, file, &options, NULL);
    if (*status == PCOL_OK) {
        OK(pcol_builder_file(builder, 0, NULL, &expanded, &err));
        OK(pcol_file_table_by_name(expanded, PCOL_MODEL_V2, "samples", &samples, &err));
        rows = pcol_table_rows(samples);
        pcol_file_close(expanded);
    }
    pcol_builder_free(builder);
    pcol_file_close(file);
    return rows;
}

Test(expand_idle, joined_samples_become_all_that_were_joined)
{
    pcol_status status;
    cr_expect_eq(expand(3, 1000, PCOL_SOURCE_COLLAPSED, &status), 3);
    cr_expect_eq(expand(1, 1000, PCOL_SOURCE_COLLAPSED, &status), 1);
    cr_expect_eq(expand(3, 0, PCOL_SOURCE_COLLAPSED, &status), 1);
    cr_expect_eq(expand(1200000, 1200000, PCOL_SOURCE_COLLAPSED, &status), 1200000);
}

Test(expand_idle, a_duration_alone_does_not_make_several)
{
    pcol_status status;
    cr_expect_eq(expand(1000, 1000, 0, &status), 1);
    cr_expect_eq(expand(INT64_MAX, 1000, 0, &status), 1);
}

Test(expand_idle, too_many_are_an_error)
{
    static const int64_t counts[] = {(INT64_C(1) << 24) + 64, INT64_C(1) << 50, INT64_MAX};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        pcol_status status;
        expand(counts[i], 1000, PCOL_SOURCE_COLLAPSED, &status);
        cr_expect_eq(status, PCOL_E_LIMIT, "%lld", (long long)counts[i]);
    }
}

static pcol_status ignore_bytes(void *context, const void *data, size_t size, pcol_error *err)
{
    (void)context;
    (void)data;
    (void)size;
    (void)err;
    return PCOL_OK;
}

Test(expand_idle, too_many_for_an_export_are_an_error)
{
    static const char *const formats[] = {"firefox", "jslb"};
    for (size_t i = 0; i < 2; i++) {
        pcol_file *file = make((INT64_C(1) << 24) + 64, 1000, PCOL_SOURCE_COLLAPSED);
        pcol_export_options options = PCOL_INIT(pcol_export_options);
        pcol_sink sink = {ignore_bytes, NULL};
        options.expand_idle = 1;
        cr_expect_eq(pcol_export(file, formats[i], &options, sink, NULL), PCOL_E_LIMIT, "%s",
                     formats[i]);
        options.expand_idle = 0;
        OK(pcol_export(file, formats[i], &options, sink, &err));
        pcol_file_close(file);
    }
}

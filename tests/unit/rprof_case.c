/*
 * rprof_case.c - import of texts and inspection of the resulting files (rprof_case.h)
 */
#include "rprof_case.h"

#include <criterion/criterion.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

pcol_status rprof_pack(const char *format, int lenient, const void *data, size_t size,
                       struct rprof_packed *p, pcol_error *err)
{
    pcol_builder *builder = NULL;
    pcol_import_options options = PCOL_INIT(pcol_import_options);
    memset(p, 0, sizeof *p);
    text_add(&p->messages, "", 0);
    options.format = format;
    options.lenient = lenient;
    pcol_control control = {sizeof control, &p->messages, NULL, text_notice};
    options.control = &control;
    pcol_status status = pcol_builder_new(NULL, &builder, err);
    if (status == PCOL_OK)
        status = pcol_import_memory(builder, data, size, "in", &options, err);
    if (status == PCOL_OK)
        status = pcol_builder_write_memory(builder, 0, NULL, &p->data, &p->size, err);
    if (status == PCOL_OK)
        status = pcol_file_open_memory(p->data, p->size, NULL, &p->file, err);
    pcol_builder_free(builder);
    return status;
}

void rprof_drop(struct rprof_packed *p)
{
    pcol_file_close(p->file);
    pcol_free(p->data);
    free(p->messages.data);
    memset(p, 0, sizeof *p);
}

const pcol_column *rprof_column(const struct rprof_packed *p, const char *table, const char *name)
{
    const pcol_table *t;
    if (pcol_file_table_by_name(p->file, PCOL_MODEL_PHYSICAL, table, &t, NULL) != PCOL_OK)
        return NULL;
    return pcol_table_column_by_name(t, name, NULL);
}

uint64_t rprof_rows(const struct rprof_packed *p, const char *table)
{
    const pcol_table *t;
    if (pcol_file_table_by_name(p->file, PCOL_MODEL_PHYSICAL, table, &t, NULL) != PCOL_OK)
        return 0;
    return pcol_table_rows(t);
}

int rprof_cell(const struct rprof_packed *p, const char *table, const char *name, uint64_t row,
               int64_t *value)
{
    const pcol_column *c = rprof_column(p, table, name);
    int valid = 0;
    *value = 0;
    if (c)
        cr_assert_eq(pcol_column_i64(c, row, value, &valid, NULL), PCOL_OK);
    return valid;
}

int rprof_text_cell(const struct rprof_packed *p, const char *table, const char *name, uint64_t row,
                    struct text *to)
{
    const pcol_column *c = rprof_column(p, table, name);
    pcol_str value;
    int valid = 0;
    if (c)
        cr_assert_eq(pcol_column_str(c, row, &value, &valid, NULL), PCOL_OK);
    if (valid)
        text_add(to, value.data, value.size);
    return valid;
}

void rprof_describe(const struct rprof_packed *p, struct text *to)
{
    static const char *const values[] = {"value.1", "value.2", "value.3", "value.4"};
    text_add(to, "", 0);
    for (uint64_t row = 0; row < rprof_rows(p, "samples"); row++) {
        uint32_t locations[256];
        int64_t value, stack;
        size_t depth = 0;
        for (int i = 0; i < 4; i++)
            if (rprof_cell(p, "samples", values[i], row, &value))
                text_addf(to, ":%" PRId64, value);
        int valid = rprof_cell(p, "samples", "stack", row, &stack);
        if (valid)
            cr_assert_eq(
                pcol_stack_locations(p->file, (uint64_t)stack, locations, 256, &depth, NULL),
                PCOL_OK);
        text_addf(to, "%s", !valid ? " -" : depth == 0 ? " ()" : "");
        for (size_t i = 0; i < depth; i++) {
            int64_t function, line;
            text_add(to, " ", 1);
            int named = rprof_cell(p, "locations", "function", locations[i], &function);
            if (named)
                rprof_text_cell(p, "functions", "name", (uint64_t)function, to);
            if (!rprof_cell(p, "locations", "line", locations[i], &line))
                continue;
            text_add(to, "@", 1);
            if (!(named ? rprof_text_cell(p, "functions", "filename", (uint64_t)function, to)
                        : rprof_text_cell(p, "locations", "filename", locations[i], to)))
                text_add(to, "?", 1);
            text_addf(to, ":%" PRId64, line);
        }
        struct text ignored = {0};
        if (rprof_text_cell(p, "samples", "text", row, &ignored))
            text_add(to, " ~", 2);
        free(ignored.data);
        text_add(to, "\n", 1);
    }
}

void rprof_expect_same(const struct rprof_packed *p, const char *format, const void *data,
                       size_t size)
{
    struct text out = {0};
    pcol_error err;
    text_add(&out, "", 0);
    pcol_status status = pcol_export(p->file, format, NULL, (pcol_sink){text_gather, &out}, &err);
    cr_assert_eq(status, PCOL_OK, "%s", status == PCOL_OK ? "" : err.message);
    cr_assert(out.size == size && (size == 0 || memcmp(out.data, data, size) == 0),
              "came back as:\n%s\nfrom:\n%.*s", out.data, (int)size, (const char *)data);
    free(out.data);
}

void rprof_expect(const char *format, int lenient, const struct rprof_example *examples,
                  size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct rprof_example *e = &examples[i];
        struct text got = {0};
        struct rprof_packed p;
        pcol_error err;
        if (rprof_pack(format, lenient, e->text, e->size, &p, &err) == PCOL_OK) {
            rprof_describe(&p, &got);
            rprof_expect_same(&p, format, e->text, e->size);
        } else {
            char place[192];
            cr_assert_eq(err.status, PCOL_E_SYNTAX, "%s", err.message);
            text_addf(&got, "%s %s", pcol_error_place(&err, place, sizeof place), err.message);
        }
        cr_assert_str_eq(got.data, e->expected, "example %zu:\n%s\ngives:\n%s\nnot:\n%s", i,
                         e->text, got.data, e->expected);
        free(got.data);
        rprof_drop(&p);
    }
}

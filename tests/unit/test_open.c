/*
 * test_open.c - profiles of any format from paths, descriptors, memory and readers; files of
 * builders
 */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "testing.h"

TestSuite(open, .init = folder_begin, .fini = folder_end);

static pcol_error err;
#define MUST(call) cr_assert_eq((call), PCOL_OK, "%s: %s", #call, err.message)

static const char folded[] = "a;b 1\na;c 2\n";

/* A pcol file of the two samples. */
static void *pack(size_t *size)
{
    pcol_builder *builder;
    void *data;
    MUST(pcol_builder_new(NULL, &builder, &err));
    MUST(pcol_import_memory(builder, folded, sizeof folded - 1, "in", NULL, &err));
    MUST(pcol_builder_write_memory(builder, 0, NULL, &data, size, &err));
    pcol_builder_free(builder);
    return data;
}

static void expect_file(pcol_file *file, int imported)
{
    struct text text = {0};
    uint64_t faults;
    cr_expect_eq(pcol_file_is_imported(file), imported);
    MUST(pcol_file_check(file, PCOL_CHECK_STRICT, NULL, NULL, NULL, &faults, &err));
    cr_expect_eq(faults, 0);
    MUST(pcol_export(file, "folded", NULL, (pcol_sink){text_gather, &text}, &err));
    cr_expect_str_eq(text.data, folded);
    free(text.data);
    pcol_file_close(file);
}

/* Gives `step` bytes at a time; fails at byte `fail_at` if that is not 0. */
struct feed {
    const uint8_t *data;
    size_t size, at, step, fail_at;
    int is_silent, is_wrong;
};

static int64_t feed(void *context, void *data, size_t size, pcol_error *error)
{
    struct feed *f = context;
    size_t n = f->size - f->at < f->step ? f->size - f->at : f->step;
    if (f->fail_at && f->at + n > f->fail_at) {
        if (!f->is_silent)
            (void)pcol_error_set(error, PCOL_E_NOT_FOUND, ECONNRESET, "the peer left");
        return -1;
    }
    if (f->is_wrong)
        return (int64_t)size + 1;
    n = n < size ? n : size;
    memcpy(data, f->data + f->at, n);
    f->at += n;
    return (int64_t)n;
}

static int pipe_of(const void *data, size_t size)
{
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    cr_assert_eq(write(ends[1], data, size), (ssize_t)size);
    close(ends[1]);
    return ends[0];
}

static void expect_all_ways(const void *data, size_t size, int imported, const char *name)
{
    pcol_file *file;
    const char *path = folder_file(name, data, size);
    int fd;
    MUST(pcol_open_any_path(path, NULL, &file, &err));
    expect_file(file, imported);
    MUST(pcol_open_any_memory(data, size, "x", NULL, &file, &err));
    expect_file(file, imported);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    MUST(pcol_open_any_fd(fd, "x", NULL, &file, &err));
    cr_expect_eq(close(fd), 0);
    expect_file(file, imported);
    fd = pipe_of(data, size);
    MUST(pcol_open_any_fd(fd, "x", NULL, &file, &err));
    close(fd);
    expect_file(file, imported);
    for (size_t step = 1; step < 2 * size; step *= 3) {
        struct feed from = {.data = data, .size = size, .step = step};
        MUST(pcol_open_any_reader((pcol_reader){feed, &from}, "x", NULL, &file, &err));
        expect_file(file, imported);
    }
    for (size_t before = 1; before <= 20; before += before == 1 ? 6 : 1) {
        pcol_import_options options = PCOL_INIT(pcol_import_options);
        size_t given = before < size ? before : size;
        struct feed from = {.data = data, .size = size, .at = given, .step = 5};
        options.start = data;
        options.start_size = given;
        MUST(pcol_open_any_reader((pcol_reader){feed, &from}, "x", &options, &file, &err));
        expect_file(file, imported);
    }
}

Test(open, any_profile)
{
    expect_all_ways(folded, sizeof folded - 1, 1, "a.folded");
}

Test(open, any_pcol_file)
{
    size_t size;
    void *data = pack(&size);
    expect_all_ways(data, size, 0, "a.data");
    pcol_free(data);
}

/* A name that ends in .pcol promises one; options that change the content import it. */
Test(open, any_by_name_and_options)
{
    pcol_file *file;
    size_t size;
    void *data = pack(&size);
    pcol_import_options options = PCOL_INIT(pcol_import_options);
    const char *path = folder_file("a.pcol", folded, sizeof folded - 1);
    cr_expect_eq(pcol_open_any_path(path, NULL, &file, &err), PCOL_E_MAGIC);
    cr_expect_null(file);
    path = folder_file("b.pcol", data, size);
    options.format = "pcol";
    MUST(pcol_open_any_path(path, &options, &file, &err));
    expect_file(file, 0);
    options.uri = "elsewhere";
    MUST(pcol_open_any_path(path, &options, &file, &err));
    expect_file(file, 1);
    options.uri = NULL;
    options.format = "folded";
    cr_expect_neq(pcol_open_any_path(path, &options, &file, &err), PCOL_OK);
    options.format = NULL;
    options.max_input_bytes = size - 1;
    cr_expect_eq(pcol_open_any_path(path, &options, &file, &err), PCOL_E_LIMIT);
    cr_expect_eq(pcol_open_any_memory(data, size, "x", &options, &file, &err), PCOL_E_LIMIT);
    struct feed from = {.data = data, .size = size, .step = 100};
    cr_expect_eq(pcol_open_any_reader((pcol_reader){feed, &from}, "x", &options, &file, &err),
                 PCOL_E_LIMIT);
    cr_expect_null(file);
    pcol_free(data);
}

Test(open, readers_that_fail)
{
    size_t size;
    void *data = pack(&size);
    const struct {
        const void *data;
        size_t size;
    } inputs[] = {{folded, sizeof folded - 1}, {data, size}};
    for (size_t i = 0; i < 2; i++)
        for (size_t at = 1; at<inputs[i].size; at += inputs[i].size> 100 ? 97 : 1) {
            struct feed from = {
                .data = inputs[i].data, .size = inputs[i].size, .step = 1, .fail_at = at};
            pcol_file *file;
            pcol_reader reader = {feed, &from};
            cr_expect_eq(pcol_open_any_reader(reader, "x", NULL, &file, &err), PCOL_E_NOT_FOUND);
            cr_expect_null(file);
            cr_expect_eq(err.os_error, ECONNRESET);
            cr_expect_str_eq(err.message, "the peer left");
            from.at = 0;
            from.is_silent = 1;
            cr_expect_eq(pcol_open_any_reader(reader, "x", NULL, &file, &err), PCOL_E_IO);
            cr_expect(strstr(err.message, "reader"), "%s", err.message);
            from.at = from.fail_at = 0;
            from.is_wrong = 1;
            cr_expect_eq(pcol_open_any_reader(reader, "x", NULL, &file, &err), PCOL_E_ARGUMENT);
        }
    pcol_free(data);
}

Test(open, import_from_a_reader)
{
    pcol_builder *builder;
    pcol_file *file;
    struct feed from = {.data = (const uint8_t *)folded, .size = sizeof folded - 1, .step = 3};
    MUST(pcol_builder_new(NULL, &builder, &err));
    cr_expect_eq(pcol_import_reader(builder, (pcol_reader){NULL, NULL}, "x", NULL, &err),
                 PCOL_E_ARGUMENT);
    MUST(pcol_import_reader(builder, (pcol_reader){feed, &from}, "x", NULL, &err));
    MUST(pcol_builder_file(builder, PCOL_WRITE_ARCHIVE, NULL, &file, &err));
    pcol_builder_free(builder);
    cr_expect(pcol_file_is_archive(file));
    expect_file(file, 0);
}

Test(open, by_descriptor)
{
    pcol_file *file;
    size_t size;
    void *data = pack(&size);
    int fd = open(folder_file("a.pcol", data, size), O_RDONLY | O_CLOEXEC);
    cr_assert_eq(lseek(fd, 3, SEEK_SET), 3);
    MUST(pcol_file_open_fd(fd, NULL, &file, &err));
    cr_expect_eq(lseek(fd, 0, SEEK_CUR), 3);
    close(fd);
    expect_file(file, 0);
    cr_expect_eq(pcol_file_open_fd(-1, NULL, &file, &err), PCOL_E_ARGUMENT);
    cr_expect_null(file);
    cr_expect_eq(pcol_file_open_fd(fd, NULL, &file, &err), PCOL_E_IO);
    cr_expect_eq(err.os_error, EBADF);
    fd = pipe_of("x", 1);
    cr_expect_eq(pcol_file_open_fd(fd, NULL, &file, &err), PCOL_E_IO);
    close(fd);
    pcol_free(data);
}

/* One file twice, with another uri the second time. */
Test(open, added_to_a_builder)
{
    pcol_builder *builder;
    pcol_file *file, *both;
    const pcol_table *samples, *sources;
    pcol_import_options options = PCOL_INIT(pcol_import_options);
    pcol_str uri;
    MUST(pcol_open_any_memory(folded, sizeof folded - 1, "x", NULL, &file, &err));
    MUST(pcol_builder_new(NULL, &builder, &err));
    MUST(pcol_builder_add_file(builder, file, NULL, &err));
    options.uri = "elsewhere";
    MUST(pcol_builder_add_file(builder, file, &options, &err));
    cr_expect_eq(pcol_builder_add_file(builder, NULL, NULL, &err), PCOL_E_ARGUMENT);
    pcol_file_close(file);
    MUST(pcol_builder_file(builder, 0, NULL, &both, &err));
    cr_expect_eq(pcol_builder_file(builder, 0, NULL, &file, &err), PCOL_E_STATE);
    cr_expect_null(file);
    pcol_builder_free(builder);
    MUST(pcol_file_table_by_name(both, PCOL_MODEL_V2, "samples", &samples, &err));
    MUST(pcol_file_table_by_name(both, PCOL_MODEL_PHYSICAL, "sources", &sources, &err));
    cr_expect_eq(pcol_table_rows(samples), 4);
    MUST(pcol_column_str(pcol_table_column_by_name(sources, "uri", NULL), 1, &uri, NULL, &err));
    cr_expect_eq(uri.size, 9);
    pcol_file_close(both);
}

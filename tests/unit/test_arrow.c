/*
 * test_arrow.c - Arrow streams of every table of every golden file, and their lifetimes
 *
 * Streams are validated by arrow_case.c, and their values compared with those of single cells.
 */
#include "arrow_case.h"
#include "image.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GOLDEN "tests/format/golden/1.0/valid"

/* ---- values */

static void check_text(const pcol_column *column, uint64_t row, const struct arrow_value *value)
{
    pcol_str text;
    pcol_error err;
    int valid;
    MUST(pcol_column_str(column, row, &text, &valid, &err));
    cr_assert_eq(value->valid, valid);
    cr_assert(!valid || (text.size == value->size &&
                         (!text.size || memcmp(text.data, value->text, text.size) == 0)));
}

static void check_cell(const pcol_column *column, uint64_t row, const struct ArrowSchema *schema,
                       const struct arrow_value *value)
{
    pcol_column_info info = PCOL_INIT(pcol_column_info);
    pcol_error err;
    int64_t integer;
    double number;
    int valid;
    int32_t size;
    cr_assert_eq(pcol_column_describe(column, &info, NULL), PCOL_OK);
    if (info.type == PCOL_STRING || info.type == PCOL_BYTES) {
        check_text(column, row, value);
    } else if (info.type == PCOL_F64) {
        MUST(pcol_column_f64(column, row, &number, &valid, &err));
        cr_assert_eq(value->valid, valid);
        if (arrow_metadata(schema, "unit", &size)) /* nanoseconds instead of milliseconds */
            cr_assert(!valid || (double)value->i64 / 1e6 == number);
        else
            cr_assert(!valid || memcmp(&value->f64, &number, sizeof number) == 0);
    } else {
        MUST(pcol_column_i64(column, row, &integer, &valid, &err));
        cr_assert_eq(value->valid, valid);
        cr_assert(!valid || value->i64 == integer, "%s row %llu", info.name,
                  (unsigned long long)row);
    }
}

/* Compares a stream of all rows with the table; returns its rows. */
static uint64_t check_stream(const pcol_table *table, const pcol_scan_options *options,
                             const char *where)
{
    struct ArrowArrayStream stream;
    struct ArrowSchema schema;
    struct ArrowArray batch;
    pcol_error err;
    uint64_t row = 0;
    const char *wrong;
    MUST(pcol_table_arrow(table, options, &stream, &err));
    cr_assert_eq(stream.get_schema(&stream, &schema), 0);
    wrong = arrow_check_schema(&schema);
    cr_assert_null(wrong, "%s, %s: %s", where, pcol_table_name(table), wrong);
    cr_assert_eq(schema.n_children, pcol_table_column_count(table));
    for (;;) {
        cr_assert_eq(stream.get_next(&stream, &batch), 0, "%s", stream.get_last_error(&stream));
        if (!batch.release)
            break;
        wrong = arrow_check_array(&schema, &batch);
        cr_assert_null(wrong, "%s, %s: %s", where, pcol_table_name(table), wrong);
        cr_assert(batch.length > 0);
        for (int64_t c = 0; c < schema.n_children; c++) {
            if (schema.children[c]->format[0] == '+')
                continue;
            for (int64_t i = 0; i < batch.length; i += 1 + batch.length / 300) {
                struct arrow_value value = arrow_value_at(schema.children[c], batch.children[c], i);
                check_cell(pcol_table_column(table, (uint32_t)c), row + (uint64_t)i,
                           schema.children[c], &value);
            }
        }
        row += (uint64_t)batch.length;
        batch.release(&batch);
        cr_assert_null(batch.release);
    }
    cr_assert_null(stream.get_last_error(&stream));
    schema.release(&schema);
    stream.release(&stream);
    cr_assert_null(stream.release);
    return row;
}

static void check_table(const pcol_table *table, const char *name)
{
    pcol_scan_options options = PCOL_INIT(pcol_scan_options);
    struct ArrowArrayStream stream;
    pcol_error err;
    if (pcol_table_arrow(table, NULL, &stream, &err) == PCOL_E_UNSUPPORTED)
        return;
    stream.release(&stream);
    cr_assert_eq(check_stream(table, NULL, name), pcol_table_rows(table));
    options.batch_rows = 7;
    cr_assert_eq(check_stream(table, &options, name), pcol_table_rows(table));
}

static void check_file(const char *name)
{
    char path[512];
    pcol_file *file;
    pcol_error err;
    snprintf(path, sizeof path, "%s/%s", GOLDEN, name);
    MUST(pcol_file_open(path, NULL, &file, &err));
    for (int model = PCOL_MODEL_V2; model <= PCOL_MODEL_FURTHER; model++)
        for (uint32_t i = 0; i < pcol_file_table_count(file, (pcol_model)model); i++) {
            const pcol_table *table, *joined;
            /* v1 cannot hold every profile; some files have tables of a newer version. */
            if (pcol_file_table(file, (pcol_model)model, i, &table, NULL) != PCOL_OK)
                continue;
            check_table(table, name);
            MUST(pcol_table_joined(table, &joined, &err));
            if (joined != table)
                check_table(joined, name);
        }
    pcol_file_close(file);
}

Test(arrow, every_table_of_every_golden_file)
{
    struct dirent *entry;
    DIR *folder = opendir(GOLDEN);
    size_t files = 0;
    cr_assert_not_null(folder);
    while ((entry = readdir(folder)))
        if (strstr(entry->d_name, ".pcol")) {
            check_file(entry->d_name);
            files++;
        }
    closedir(folder);
    cr_assert(files > 20);
}

/* Names of sample types and units, and labels, are of the pool. */
Test(arrow, texts_of_samples_are_dictionary_encoded)
{
    static const char *const tables[] = {"samples", "sample_values"};
    pcol_file *file;
    pcol_error err;
    size_t coded = 0;
    MUST(pcol_file_open(GOLDEN "/labels.pcol", NULL, &file, &err));
    for (size_t i = 0; i < 2; i++) {
        const pcol_table *table;
        struct ArrowArrayStream stream;
        struct ArrowSchema schema;
        MUST(pcol_file_table_by_name(file, PCOL_MODEL_V2, tables[i], &table, &err));
        MUST(pcol_table_arrow(table, NULL, &stream, &err));
        cr_assert_eq(stream.get_schema(&stream, &schema), 0);
        for (int64_t c = 0; c < schema.n_children; c++) {
            pcol_column_info info = PCOL_INIT(pcol_column_info);
            MUST(pcol_column_describe(pcol_table_column(table, (uint32_t)c), &info, &err));
            int has_dictionary = schema.children[c]->dictionary != NULL;
            cr_expect_eq(has_dictionary, info.type == PCOL_STRING, "%s.%s", tables[i], info.name);
            coded += info.type == PCOL_STRING;
        }
        schema.release(&schema);
        stream.release(&stream);
    }
    cr_expect_geq(coded, 5);
    pcol_file_close(file);
}

/* ---- no copies */

Test(arrow, plain_columns_are_not_copied)
{
    struct image image = image_build(PCOL_WRITE_PLAIN);
    pcol_file *file;
    const pcol_table *table;
    struct ArrowArrayStream stream;
    struct ArrowSchema schema;
    struct ArrowArray batch;
    pcol_scan_options options = PCOL_INIT(pcol_scan_options);
    pcol_error err;
    size_t shared = 0;
    MUST(image_open(&image, &file, &err));
    MUST(pcol_file_table_by_name(file, PCOL_MODEL_PHYSICAL, "things", &table, &err));
    options.batch_rows = 1000;
    MUST(pcol_table_arrow(table, &options, &stream, &err));
    cr_assert_eq(stream.get_schema(&stream, &schema), 0);
    for (int turn = 0; turn < 2; turn++) {
        cr_assert_eq(stream.get_next(&stream, &batch), 0);
        for (uint32_t c = 0; c < pcol_table_column_count(table); c++) {
            pcol_buffer buffer;
            if (pcol_column_data(pcol_table_column(table, c), &buffer, &err) != PCOL_OK)
                continue;
            cr_assert_eq(batch.children[c]->buffers[1], buffer.values);
            cr_assert_eq(batch.children[c]->buffers[0], buffer.validity);
            cr_assert_eq(batch.children[c]->offset, 1000 * turn);
            if (buffer.type == PCOL_BYTES)
                cr_assert_eq(batch.children[c]->buffers[2], buffer.data);
            shared++;
        }
        batch.release(&batch);
    }
    cr_assert(shared >= 10);
    schema.release(&schema);
    stream.release(&stream);
    pcol_file_close(file);
    free(image.bytes);
}

/* ---- lifetimes */

/* Moves a child out of its parent, as the specification lets consumers do. */
static struct ArrowArray move_child(struct ArrowArray *parent, int64_t number)
{
    struct ArrowArray moved = *parent->children[number];
    parent->children[number]->release = NULL;
    return moved;
}

static void release_in_order(unsigned order, const char *name)
{
    pcol_file *file;
    const pcol_table *table;
    struct ArrowArrayStream stream;
    struct ArrowSchema schema;
    struct ArrowArray batch, child;
    pcol_error err;
    MUST(pcol_file_open(GOLDEN "/rprof-all.pcol", NULL, &file, &err));
    MUST(pcol_file_table_by_name(file, PCOL_MODEL_V2, name, &table, &err));
    MUST(pcol_table_joined(table, &table, &err));
    MUST(pcol_table_arrow(table, NULL, &stream, &err));
    cr_assert_eq(stream.get_schema(&stream, &schema), 0);
    cr_assert_eq(stream.get_next(&stream, &batch), 0);
    child = move_child(&batch, 1);
    for (unsigned step = 0, left = 31; left; step++) {
        unsigned pick = order % 5;
        order /= 5;
        while (!(left >> pick & 1))
            pick = (pick + 1) % 5;
        left &= ~(1u << pick);
        if (pick == 0)
            pcol_file_close(file);
        else if (pick == 1)
            stream.release(&stream);
        else if (pick == 2)
            batch.release(&batch);
        else if (pick == 3)
            schema.release(&schema);
        else
            child.release(&child);
        if (left & 16) { /* still readable */
            volatile int32_t code = ((const int32_t *)child.buffers[1])[child.offset];
            cr_assert(code >= 0 && code < child.dictionary->length);
            volatile char byte = ((const char *)child.dictionary->buffers[2])[0];
            (void)byte;
        }
    }
}

Test(arrow, released_in_any_order)
{
    for (unsigned order = 0; order < 5 * 5 * 5 * 5; order++) {
        release_in_order(order, "functions"); /* which has no ids to join */
        release_in_order(order, "samples");
    }
}

/* A stream that nobody reads, and one that is left after its first batch. */
Test(arrow, abandoned_streams)
{
    for (int read = 0; read < 2; read++) {
        pcol_file *file;
        const pcol_table *table;
        struct ArrowArrayStream stream;
        struct ArrowArray batch;
        pcol_scan_options options = PCOL_INIT(pcol_scan_options);
        pcol_error err;
        options.batch_rows = 1;
        MUST(pcol_file_open(GOLDEN "/rich.pcol", NULL, &file, &err));
        MUST(pcol_file_table_by_name(file, PCOL_MODEL_V2, "sample_locations", &table, &err));
        MUST(pcol_table_arrow(table, &options, &stream, &err));
        pcol_file_close(file);
        if (read) {
            cr_assert_eq(stream.get_next(&stream, &batch), 0);
            cr_assert_eq(batch.length, 1);
            batch.release(&batch);
        }
        stream.release(&stream);
    }
}

/* ---- failures */

/* A section that is damaged after the stream was opened, in a range that is verified when it is
 * read. */
Test(arrow, an_error_in_the_middle_of_a_stream)
{
    struct image image = image_build(PCOL_WRITE_PLAIN);
    pcol_file *file;
    const pcol_table *table;
    pcol_column_info info = PCOL_INIT(pcol_column_info);
    pcol_condition c = {.op = PCOL_OP_NOT_NULL};
    struct ArrowArrayStream stream;
    struct ArrowSchema schema;
    struct ArrowArray batch;
    pcol_scan_options options = PCOL_INIT(pcol_scan_options);
    pcol_error err;
    MUST(image_open(&image, &file, &err));
    MUST(pcol_file_table_by_name(file, PCOL_MODEL_PHYSICAL, "things", &table, &err));
    cr_assert_not_null(pcol_table_column_by_name(table, image_columns[SPLIT], &c.column));
    options.where = &c;
    options.where_count = 1;
    MUST(pcol_table_arrow(table, &options, &stream, &err));
    cr_assert_eq(pcol_column_describe(pcol_table_column_by_name(table, image_columns[PACKED], NULL),
                                      &info, NULL),
                 PCOL_OK);
    image.bytes[info.values_offset] ^= 1;
    cr_assert_eq(stream.get_schema(&stream, &schema), 0);
    cr_assert_null(stream.get_last_error(&stream));
    cr_assert_eq(stream.get_next(&stream, &batch), EIO);
    cr_assert_null(batch.release);
    cr_assert_not_null(strstr(stream.get_last_error(&stream), image_columns[PACKED]));
    cr_assert_not_null(strstr(stream.get_last_error(&stream), "checksum"));
    cr_assert_eq(stream.get_next(&stream, &batch), EIO);
    cr_assert_not_null(strstr(stream.get_last_error(&stream), "checksum"));
    schema.release(&schema);
    stream.release(&stream);
    pcol_file_close(file);
    free(image.bytes);
}

Test(arrow, bad_arguments)
{
    pcol_file *file;
    const pcol_table *table;
    struct ArrowArrayStream stream;
    uint32_t beyond = 99;
    pcol_scan_options options = PCOL_INIT(pcol_scan_options);
    pcol_array array = PCOL_INIT(pcol_array);
    pcol_error err;
    MUST(pcol_file_open(GOLDEN "/rich.pcol", NULL, &file, &err));
    MUST(pcol_file_table_by_name(file, PCOL_MODEL_V2, "samples", &table, &err));
    cr_assert_eq(pcol_table_arrow(NULL, NULL, &stream, &err), PCOL_E_ARGUMENT);
    cr_assert_null(stream.release);
    cr_assert_eq(pcol_table_arrow(table, NULL, NULL, &err), PCOL_E_ARGUMENT);
    options.columns = &beyond;
    options.column_count = 1;
    cr_assert_eq(pcol_table_arrow(table, &options, &stream, &err), PCOL_E_ARGUMENT);
    cr_assert_null(stream.release);
    cr_assert_eq(pcol_column_array(NULL, NULL, &array, &err), PCOL_E_ARGUMENT);
    cr_assert_eq(pcol_column_array(pcol_table_column(table, 0), NULL, NULL, &err), PCOL_E_ARGUMENT);
    pcol_file_close(file);
}

static int stop(void *context, const char *phase, uint64_t done, uint64_t total)
{
    (void)phase;
    (void)done;
    (void)total;
    return *(int *)context;
}

Test(arrow, cancelled_calls)
{
    pcol_file *file;
    const pcol_table *table;
    struct ArrowArrayStream stream;
    struct ArrowArray batch;
    int cancel = 0;
    pcol_control control = {.size = sizeof control, .context = &cancel, .progress = stop};
    pcol_scan_options options = PCOL_INIT(pcol_scan_options);
    pcol_scan *scan;
    pcol_error err;
    options.control = &control;
    options.batch_rows = 1;
    MUST(pcol_file_open(GOLDEN "/rich.pcol", NULL, &file, &err));
    MUST(pcol_file_table_by_name(file, PCOL_MODEL_V2, "samples", &table, &err));
    MUST(pcol_table_arrow(table, &options, &stream, &err));
    pcol_file_close(file);
    cr_assert_eq(stream.get_next(&stream, &batch), 0);
    batch.release(&batch);
    stream.release(&stream);
    MUST(pcol_file_open(GOLDEN "/rich.pcol", NULL, &file, &err));
    MUST(pcol_file_table_by_name(file, PCOL_MODEL_V2, "samples", &table, &err));
    cancel = 1;
    cr_assert_eq(pcol_scan_new(table, &options, &scan, &err), PCOL_E_CANCELLED);
    cr_assert_null(scan);
    pcol_file_close(file);
}

/* ---- conditions */

Test(arrow, rows_that_satisfy_conditions)
{
    pcol_file *file;
    const pcol_table *table;
    struct ArrowArrayStream stream;
    struct ArrowSchema schema;
    struct ArrowArray batch;
    pcol_condition c = {.op = PCOL_OP_LE, .type = PCOL_I64, .value.i64 = 3};
    pcol_scan_options options = PCOL_INIT(pcol_scan_options);
    pcol_error err;
    options.where = &c;
    options.where_count = 1;
    MUST(pcol_file_open(GOLDEN "/rprof-all.pcol", NULL, &file, &err));
    MUST(pcol_file_table_by_name(file, PCOL_MODEL_V2, "samples", &table, &err));
    cr_assert(pcol_table_rows(table) > 3);
    MUST(pcol_table_arrow(table, &options, &stream, &err));
    cr_assert_eq(stream.get_schema(&stream, &schema), 0);
    cr_assert_eq(stream.get_next(&stream, &batch), 0);
    cr_assert_null(arrow_check_array(&schema, &batch));
    cr_assert_eq(batch.length, 3);
    for (int64_t i = 0; i < 3; i++)
        for (int64_t k = 0; k < schema.n_children; k++) {
            struct arrow_value value = arrow_value_at(schema.children[k], batch.children[k], i);
            check_cell(pcol_table_column(table, (uint32_t)k), (uint64_t)i, schema.children[k],
                       &value);
        }
    batch.release(&batch);
    cr_assert_eq(stream.get_next(&stream, &batch), 0);
    cr_assert_null(batch.release);
    schema.release(&schema);
    stream.release(&stream);
    pcol_file_close(file);
}

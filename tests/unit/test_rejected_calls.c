/*
 * test_rejected_calls.c - rejected calls leave no partial state, and complete errors
 */
#include <criterion/criterion.h>

#include "builder/builder.h"
#include "format/range.h"
#include "model/table.h"
#include "reader/file.h"
#include "testing.h"

#include <stdlib.h>
#include <string.h>

#define MUST(call) cr_assert_eq((call), PCOL_OK, "%s", err.message)

static pcol_builder *new_builder(void)
{
    pcol_builder *b;
    pcol_error err;
    MUST(pcol_builder_new(NULL, &b, &err));
    return b;
}

/* The built file, which passes the check. */
static pcol_file *open_sound(pcol_builder *b, void **data)
{
    pcol_file *file;
    pcol_error err;
    uint64_t faults;
    size_t size;
    MUST(pcol_builder_write_memory(b, 0, NULL, data, &size, &err));
    MUST(pcol_file_open_memory(*data, size, NULL, &file, &err));
    MUST(pcol_file_check(file, PCOL_CHECK_STRICT, NULL, NULL, NULL, &faults, &err));
    cr_expect_eq(faults, 0);
    return file;
}

Test(rejected, text_of_a_row_that_was_set)
{
    static const char *const texts[] = {"first", "second", "third"};
    pcol_builder *b = new_builder();
    pcol_error err;
    uint32_t table, column;
    void *data;
    MUST(pcol_builder_table(b, "x_t", &table, &err));
    MUST(pcol_builder_column(b, table, "text", PCOL_BYTES, 0, &column, &err));
    for (uint64_t row = 0; row < 3; row++) {
        MUST(pcol_builder_set_str(b, column, row, texts[row], strlen(texts[row]), &err));
        cr_assert_eq(pcol_builder_set_str(b, column, 0, "late", 4, &err), PCOL_E_ARGUMENT);
    }
    pcol_file *file = open_sound(b, &data);
    const struct pci_column *found = pci_column_find(pci_table_find(file, "x_t"), "text");
    for (uint64_t row = 0; row < 3; row++) {
        pcol_str text;
        int valid;
        MUST(pci_get_str(file, found, row, &text, &valid, &err));
        cr_expect(valid && text.size == strlen(texts[row]) &&
                      !memcmp(text.data, texts[row], text.size),
                  "row %u: %.*s", (unsigned)row, (int)text.size, text.data);
    }
    pcol_file_close(file);
    pcol_builder_free(b);
    pcol_free(data);
}

Test(rejected, samples_that_end_beyond_64_bits)
{
    static const struct {
        int64_t time, duration;
        int has_time;
        pcol_status status;
    } cases[] = {{INT64_MAX - 5, 5, 1, PCOL_OK},
                 {INT64_MAX - 5, 6, 1, PCOL_E_ARGUMENT},
                 {INT64_MIN, INT64_MAX, 1, PCOL_OK},
                 {1, INT64_MAX, 1, PCOL_E_ARGUMENT},
                 {1, INT64_MAX, 0, PCOL_OK},
                 {0, -1, 1, PCOL_E_ARGUMENT},
                 {INT64_MIN, INT64_MIN, 1, PCOL_E_ARGUMENT}};
    pcol_builder *b = new_builder();
    pcol_error err;
    pcol_source source = PCOL_INIT(pcol_source);
    uint32_t row;
    void *data;
    source.type = "test";
    MUST(pcol_builder_source(b, &source, &row, &err));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pcol_sample sample = PCOL_INIT(pcol_sample);
        sample.source = row;
        sample.stack = sample.thread = PCOL_NONE;
        sample.time_ns = cases[i].time;
        sample.duration_ns = cases[i].duration;
        sample.flags |= cases[i].has_time != 0 ? PCOL_SAMPLE_HAS_TIME : 0;
        sample.flags |= PCOL_SAMPLE_HAS_DURATION;
        cr_expect_eq(pcol_builder_sample(b, &sample, NULL, &err), cases[i].status, "case %zu", i);
    }
    pcol_file_close(open_sound(b, &data));
    pcol_builder_free(b);
    pcol_free(data);
}

static pcol_status say_nothing(void *context, const void *data, size_t size, pcol_error *err)
{
    (void)data;
    (void)size;
    (void)err;
    return *(pcol_status *)context;
}

static void is_complete(const pcol_error *err, pcol_status status)
{
    char place[256];
    cr_expect_eq(err->status, status);
    cr_expect(memchr(err->message, 0, sizeof err->message) && err->message[0]);
    cr_expect_str_eq(err->table, "");
    pcol_error_place(err, place, sizeof place);
    cr_expect_str_eq(place, "");
}

Test(rejected, a_sink_that_fails_without_a_word)
{
    pcol_status status = PCOL_E_NOT_FOUND;
    pcol_sink sink = {say_nothing, &status};
    pcol_builder *b = new_builder();
    pcol_error err;
    pcol_source source = PCOL_INIT(pcol_source);
    uint32_t row;
    void *data;
    source.type = "test";
    MUST(pcol_builder_source(b, &source, &row, &err));
    pcol_file *file = open_sound(b, &data);
    for (size_t i = 0; pcol_format_at(i); i++) {
        pcol_export_options options = PCOL_INIT(pcol_export_options);
        if (!pcol_format_at(i)->writes)
            continue;
        memset(&err, 0xab, sizeof err);
        if (pcol_export(file, pcol_format_at(i)->name, &options, sink, &err) == status)
            is_complete(&err, status);
    }
    pcol_file_close(file);
    pcol_builder_free(b);
    pcol_free(data);
    b = new_builder();
    memset(&err, 0xab, sizeof err);
    cr_assert_eq(pcol_builder_write(b, 0, NULL, sink, &err), status);
    is_complete(&err, status);
    pcol_builder_free(b);
}

static pcol_status discard(void *context, const void *data, size_t size, pcol_error *err)
{
    (void)data;
    (void)err;
    *(size_t *)context += data ? size : 0;
    return PCOL_OK;
}

/* Every format writes a sound file, or says what it would lose. */
static void expect_exports(pcol_builder *b, const char *what)
{
    void *data;
    size_t written = 0;
    pcol_error err;
    pcol_file *file = open_sound(b, &data);
    for (size_t i = 0; pcol_format_at(i); i++) {
        const char *format = pcol_format_at(i)->name;
        if (!pcol_format_at(i)->writes)
            continue;
        pcol_status status = pcol_export(file, format, NULL, (pcol_sink){discard, &written}, &err);
        cr_expect(status == PCOL_OK || status == PCOL_E_LOSS, "%s to %s: %s: %s", what, format,
                  pcol_status_name(status), err.message);
    }
    pcol_file_close(file);
    pcol_builder_free(b);
    pcol_free(data);
}

Test(rejected, no_export_of_a_sound_file)
{
    pcol_error err;
    for (unsigned i = 0; i < 8; i++) {
        pcol_builder *b = new_builder();
        pcol_source source = PCOL_INIT(pcol_source);
        pcol_sample sample = PCOL_INIT(pcol_sample);
        pcol_value values[2] = {{.as.i64 = 3}, {.as.i64 = 4}};
        source.type = "test";
        MUST(pcol_builder_source(b, &source, &sample.source, &err));
        /* a gauge and a sum of one name, in both orders */
        for (unsigned k = 0; k < 2; k++)
            MUST(pcol_builder_sample_type(b, "cpu", "ns",
                                          i / 2 % 2 == k ? PCOL_SAMPLE_TYPE_GAUGE : 0, 0,
                                          &values[k].sample_type, &err));
        sample.stack = i % 2 ? PCOL_NONE : 0; /* no stack in the file, or the root only */
        sample.thread = PCOL_NONE;
        sample.values = values;
        sample.value_count = i / 4 ? 2 : 1;
        MUST(pcol_builder_sample(b, &sample, NULL, &err));
        expect_exports(b, i % 2 ? "no stack" : "the root");
    }
}

static int64_t fail_unknown(void *context, void *data, size_t size, pcol_error *err)
{
    (void)context;
    (void)data;
    (void)size;
    err->status = (pcol_status)99;
    return -1;
}

Test(rejected, a_status_that_is_not_declared)
{
    const int undeclared[] = {77, -1};
    pcol_error err;
    for (size_t i = 0; i < 2; i++) {
        pcol_status status = (pcol_status)undeclared[i];
        pcol_builder *b = new_builder();
        memset(&err, 0xab, sizeof err);
        cr_expect_eq(pcol_builder_write(b, 0, NULL, (pcol_sink){say_nothing, &status}, &err),
                     PCOL_E_ARGUMENT);
        is_complete(&err, PCOL_E_ARGUMENT);
        pcol_builder_free(b);
    }
    pcol_builder *b = new_builder();
    memset(&err, 0xab, sizeof err);
    cr_expect_eq(pcol_import_reader(b, (pcol_reader){fail_unknown, NULL}, "in", NULL, &err),
                 PCOL_E_ARGUMENT);
    cr_expect_eq(err.status, PCOL_E_ARGUMENT);
    pcol_builder_free(b);
}

Test(rejected, a_column_that_is_reset)
{
    pcol_builder *b = new_builder();
    pcol_error err;
    uint32_t table, column;
    MUST(pcol_builder_table(b, "x_t", &table, &err));
    MUST(pcol_builder_column(b, table, "c", PCOL_I64, 0, &column, &err));
    struct pci_column_buffer *c = b->columns[column];
    MUST(pci_column_buffer_repeat(c, 0, 7, 100, &err));
    MUST(pci_column_buffer_repeat(c, 100, 8, 100, &err));
    pci_column_buffer_reset(c);
    for (uint64_t row = 0; row < 3; row++)
        MUST(pci_column_buffer_set(c, row, (int64_t)row * 5, &err));
    cr_expect_eq(c->rows, 3);
    void *data;
    pcol_file *file = open_sound(b, &data);
    const struct pci_column *found = pci_column_find(pci_table_find(file, "x_t"), "c");
    cr_assert_eq(found->desc->rows, 3);
    for (uint64_t row = 0; row < 3; row++) {
        int64_t value;
        int valid;
        MUST(pci_get(file, found, row, &value, &valid, &err));
        cr_expect(valid && value == (int64_t)row * 5, "row %u: %d", (unsigned)row, (int)value);
    }
    pcol_file_close(file);
    pcol_builder_free(b);
    pcol_free(data);
}

/* The column of rows that were translated takes the place of the old one, for those who look it up,
 * too. */
Test(rejected, a_column_that_is_replaced)
{
    pcol_builder *b = new_builder();
    pcol_error err;
    pcol_source source = PCOL_INIT(pcol_source);
    struct pci_source_row row = {.thread = PCOL_NONE};
    uint32_t number, table, found;
    source.type = "test";
    for (int i = 0; i < 2; i++)
        MUST(pcol_builder_source(b, &source, &number, &err));
    MUST(pcol_builder_table(b, "x_t", &table, &err));
    MUST(pcol_builder_string(b, "xs", 2, &row.table, &err));
    row.target = table + 1;
    MUST(pci_builder_source_table(b, &row, 3, &err));
    uint32_t old = b->order.columns[0], rows = b->columns[old]->table, named = 0;
    MUST(pci_source_order_finish(b, &err));
    for (uint32_t i = 0; i < b->column_count; i++) {
        cr_assert_not_null(b->columns[i]);
        if (b->columns[i]->table != rows)
            continue;
        uint64_t hash =
            pci_hash_pair(rows, pci_hash_bytes(b->columns[i]->name, strlen(b->columns[i]->name)));
        size_t at = pci_hash_start(&b->column_hash, hash);
        while ((found = pci_hash_next(&b->column_hash, hash, &at)) != PCI_HASH_NONE) {
            cr_expect_lt(found, b->column_count, "column %s", b->columns[i]->name);
            named++;
        }
        cr_expect_eq(pci_column_buffer_find(b, rows, b->columns[i]->name), i);
    }
    cr_expect_eq(named, 7);
    pcol_builder_free(b);
}

/* The string of a rejected call is not in the file: it has the bytes of one without that call. */
Test(rejected, string_of_a_row_that_was_set)
{
    void *data[2];
    size_t size[2];
    for (int rejected = 0; rejected < 2; rejected++) {
        pcol_builder *b = new_builder();
        pcol_error err;
        uint32_t table, column;
        MUST(pcol_builder_table(b, "x_t", &table, &err));
        MUST(pcol_builder_column(b, table, "text", PCOL_STRING, 0, &column, &err));
        MUST(pcol_builder_set_str(b, column, 0, "first", 5, &err));
        if (rejected)
            cr_assert_eq(pcol_builder_set_str(b, column, 0, "late", 4, &err), PCOL_E_ARGUMENT);
        MUST(pcol_builder_set_str(b, column, 1, "second", 6, &err));
        MUST(pcol_builder_write_memory(b, 0, NULL, &data[rejected], &size[rejected], &err));
        pcol_builder_free(b);
    }
    cr_expect(size[0] == size[1] && !memcmp(data[0], data[1], size[0]));
    pcol_free(data[0]);
    pcol_free(data[1]);
}

/* Rows that are plausible in a file of 4 MiB: queries take 100 bytes for a row of call stacks. */
Test(rejected, plausible_rows_depend_on_the_table)
{
    static const struct {
        const char *table;
        uint64_t most;
    } tables[] = {{"samples", UINT64_C(1) << 30},
                  {"stacks", 1 << 23},
                  {"location_groups", 1 << 23},
                  {"locations", 1 << 23},
                  {"functions", 1 << 23},
                  {"functions_x", 1 << 25},
                  {"stack", 1 << 25}};
    enum { SIZE = 1 << 22 };
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        const char *name = tables[i].table;
        cr_expect(pcf_table_plausible(name, strlen(name), tables[i].most, SIZE), "%s", name);
        cr_expect_not(pcf_table_plausible(name, strlen(name), tables[i].most + 256, SIZE - 1), "%s",
                      name);
        cr_expect_not(pcf_table_plausible(name, strlen(name), 2 * tables[i].most, SIZE), "%s",
                      name);
    }
}

/* Equal rows take no bytes: tables that readers would reject as implausible are not written. */
Test(rejected, more_rows_than_are_plausible)
{
    const uint64_t rows[] = {PCF_FREE_ROWS, PCF_FREE_ROWS + PCF_ROWS_PER_BYTE * 8192};
    for (size_t i = 0; i < 2; i++) {
        pcol_builder *b = new_builder();
        pcol_error err;
        uint32_t table, column;
        void *data = NULL;
        size_t size = 0;
        MUST(pcol_builder_table(b, "x_t", &table, &err));
        MUST(pcol_builder_column(b, table, "n", PCOL_I64, 0, &column, &err));
        for (uint64_t row = 0; row < rows[i]; row++)
            MUST(pcol_builder_set_i64(b, column, row, 7, &err));
        if (i == 0) {
            pcol_file *file = open_sound(b, &data);
            cr_expect_eq(pci_check_row_counts(file, &err), PCOL_OK);
            pcol_file_close(file);
        } else {
            cr_expect_eq(pcol_builder_write_memory(b, 0, NULL, &data, &size, &err), PCOL_E_LIMIT);
            cr_expect(strstr(err.message, "table x_t has 4259840 rows"), "%s", err.message);
            cr_expect_null(data);
        }
        pcol_free(data);
        pcol_builder_free(b);
    }
}

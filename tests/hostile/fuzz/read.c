/*
 * read.c - fuzz targets: pcol files: every table of every model, check, export to every format
 */
#include "targets.h"

#include "pcol.h"

#include <stdlib.h>
#include <string.h>

#include "../../result_cells.h"

/* Rows that are looked at of one table: a file of a few bytes may claim 2^48 rows. */
#define MAX_ROWS 4096u

static pcol_status swallow(void *context, const void *data, size_t size, pcol_error *err)
{
    uint64_t *total = context;
    (void)data;
    (void)err;
    *total += size;
    if (*total < (uint64_t)16 << 20)
        return PCOL_OK;
    if (err) {
        memset(err, 0, sizeof *err);
        err->status = PCOL_E_LIMIT;
    }
    return PCOL_E_LIMIT;
}

static void read_scan(const pcol_table *table)
{
    pcol_scan *scan;
    pcol_batch batch = PCOL_INIT(pcol_batch);
    if (pcol_scan_new(
            table, &(pcol_scan_options){.size = sizeof(pcol_scan_options), .row_count = MAX_ROWS},
            &scan, NULL) != PCOL_OK)
        return;
    do {
        if (pcol_scan_next(scan, &batch, NULL) != PCOL_OK)
            break;
    } while (batch.rows);
    pcol_scan_free(scan);
}

static void read_cells(const pcol_table *table)
{
    uint64_t rows = pcol_table_rows(table);
    uint64_t some[] = {0, rows / 2, rows - 1, rows};
    for (uint32_t i = 0; i < pcol_table_column_count(table); i++) {
        const pcol_column *column = pcol_table_column(table, i);
        pcol_column_info info = PCOL_INIT(pcol_column_info);
        pcol_buffer buffer;
        pcol_str text;
        int64_t integer;
        double number;
        int valid;
        if (pcol_column_describe(column, &info, NULL) != PCOL_OK)
            abort();
        for (size_t k = 0; k < sizeof some / sizeof *some; k++) {
            (void)!pcol_column_i64(column, some[k], &integer, &valid, NULL);
            (void)!pcol_column_f64(column, some[k], &number, &valid, NULL);
            (void)!pcol_column_str(column, some[k], &text, &valid, NULL);
        }
        if (pcol_column_data(column, &buffer, NULL) == PCOL_OK && buffer.rows &&
            buffer.width_bytes) {
            volatile uint8_t last =
                ((const uint8_t *)buffer.values)[buffer.rows * buffer.width_bytes - 1];
            (void)last;
        }
    }
}

static void read_all(const uint8_t *data, size_t size)
{
    pcol_file *file;
    if (pcol_file_open_memory(data, size, NULL, &file, NULL) != PCOL_OK)
        return;
    for (int model = PCOL_MODEL_V2; model <= PCOL_MODEL_PHYSICAL; model++) {
        uint32_t count = pcol_file_table_count(file, (pcol_model)model);
        for (uint32_t i = 0; i < count; i++) {
            const pcol_table *table;
            if (pcol_file_table(file, (pcol_model)model, i, &table, NULL) != PCOL_OK)
                continue;
            read_scan(table);
            read_cells(table);
        }
    }
    pcol_file_close(file);
}

static void check_all(const uint8_t *data, size_t size)
{
    for (int depth = PCOL_CHECK_QUICK; depth <= PCOL_CHECK_STRICT; depth++) {
        pcol_file *file;
        uint64_t faults;
        if (depth < PCOL_CHECK_STRICT && !fuzz_turn(8, (unsigned)depth))
            continue;
        if (pcol_file_open_memory(data, size, NULL, &file, NULL) != PCOL_OK)
            return;
        (void)!pcol_file_check(file, (pcol_check_depth)depth, NULL, NULL, NULL, &faults, NULL);
        pcol_file_close(file);
    }
}

/* A sample may need no byte, so a small file may truly hold 2^48 of them: writing them all out, or
 * adding them up, takes as long as that takes. */
static int is_huge(const pcol_file *file)
{
    const pcol_table *table;
    return pcol_file_table_by_name(file, PCOL_MODEL_PHYSICAL, "samples", &table, NULL) == PCOL_OK &&
           pcol_table_rows(table) > (uint64_t)1 << 20;
}

static void export_all(const uint8_t *data, size_t size)
{
    pcol_file *file;
    if (pcol_file_open_memory(data, size, NULL, &file, NULL) != PCOL_OK)
        return;
    for (size_t i = 0; !is_huge(file) && pcol_format_at(i); i++) {
        uint64_t total = 0;
        pcol_sink sink = {swallow, &total};
        if (pcol_format_at(i)->writes && fuzz_turn(4, i % 4))
            (void)!pcol_export(file, pcol_format_at(i)->name, NULL, sink, NULL);
    }
    pcol_file_close(file);
}

/* ---- questions */

/* Selves of a top add up to what was selected, if no frames were hidden. */
static void ask_top(pcol_query *query, const pcol_query_info *info, pcol_by by)
{
    pcol_result *top;
    int64_t sum = 0;
    pcol_top_options options = {
        .size = sizeof options, .by = by, .label = by == PCOL_BY_LABEL ? "k" : NULL};
    if (pcol_query_top(query, &options, &top, NULL) != PCOL_OK)
        return;
    for (size_t i = 0; i < result_rows(top); i++) {
        if (!(info->flags & PCOL_QUERY_IS_DOUBLE) &&
            __builtin_add_overflow(sum, result_amount(top, "self", i).i64, &sum))
            break;
    }
    pcol_result_free(top);
}

static void ask_tree(pcol_query *query, const pcol_query_info *info, int bottom_up)
{
    pcol_tree_options options = PCOL_INIT(pcol_tree_options);
    pcol_result *tree;
    options.flags = bottom_up ? PCOL_TREE_BOTTOM_UP : 0;
    options.max_depth = bottom_up ? 64 : 0;
    if (pcol_query_tree(query, &options, &tree, NULL) != PCOL_OK)
        return;
    FUZZ_ASSERT((info->flags & PCOL_QUERY_IS_DOUBLE) ||
                result_amount(tree, "total", 0).i64 == info->selected.i64);
    FUZZ_ASSERT((uint64_t)result_amount(tree, "end", 0).i64 == result_rows(tree));
    for (uint32_t i = 1; i < result_rows(tree); i++) {
        FUZZ_ASSERT(result_amount(tree, "parent", i).i64 < (int64_t)i &&
                    result_amount(tree, "end", i).i64 > (int64_t)i);
    }
    pcol_result_free(tree);
}

static void ask(const pcol_file *file, const pcol_selection *selection)
{
    pcol_query *query;
    pcol_query_info info;
    pcol_result *peek;
    pcol_result *cpu;
    if (pcol_query_new(file, selection, NULL, &query, NULL) != PCOL_OK)
        return;
    info = (pcol_query_info){.size = sizeof info};
    (void)!pcol_query_describe(query, &info, NULL);
    for (int by = PCOL_BY_FUNCTION; by <= PCOL_BY_LABEL; by++)
        ask_top(query, &info, (pcol_by)by);
    ask_tree(query, &info, 0);
    ask_tree(query, &info, 1);
    if (pcol_query_peek(query, ".", NULL, &peek, NULL) == PCOL_OK)
        pcol_result_free(peek);
    if (pcol_query_cpu(query, &cpu, NULL) == PCOL_OK)
        pcol_result_free(cpu);
    pcol_query_free(query);
}

static void ask_all(const uint8_t *data, size_t size)
{
    pcol_selection part = PCOL_INIT(pcol_selection);
    pcol_file *file;
    if (pcol_file_open_memory(data, size, NULL, &file, NULL) != PCOL_OK)
        return;
    if (is_huge(file)) {
        pcol_file_close(file);
        return;
    }
    if (fuzz_turn(2, 0))
        ask(file, NULL);
    part.has_time = 1;
    part.time_to_ns = 1000000000;
    part.focus = "[a-m]";
    part.hide = "n";
    if (fuzz_turn(4, 1))
        ask(file, &part);
    part.time_share = PCOL_SHARE_EXACT;
    part.thread = "0";
    part.source = "1";
    if (fuzz_turn(4, 3))
        ask(file, &part);
    pcol_file_close(file);
}

void fuzz_open(const uint8_t *data, size_t size)
{
    fuzz_twice(read_all, data, size);
}

void fuzz_check(const uint8_t *data, size_t size)
{
    fuzz_twice(check_all, data, size);
}

void fuzz_query(const uint8_t *data, size_t size)
{
    fuzz_twice(ask_all, data, size);
}

void fuzz_export(const uint8_t *data, size_t size)
{
    fuzz_twice(export_all, data, size);
}

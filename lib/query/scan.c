/*
 * scan.c - batches of rows, column by column
 *
 * Rows are read in chunks of at most PCI_BATCH rows, which end at blocks of the encodings if there
 * are conditions. Conditions clear rows of a chunk before any other column is read; the remaining
 * cells are packed at the end of the batch. For an expanded table one cursor generates the rows for
 * all columns. Tests: tests/unit/test_scan.c, tests/unit/test_model.c.
 */
#include "query/scan.h"
#include "query/conditions.h"
#include "query/query.h"

#include "util/alloc.h"
#include "util/arg_check.h"
#include "util/control.h"
#include "util/sized_struct.h"

#include <string.h>

#define LIST_VALUES 65536u /* target for the number of list values in a batch */
#define MAX_BATCH_ROWS (1u << 20)
#define LIST_ROWS 64u                  /* rows of the first chunk with lists or composed texts */
#define TEXT_BYTES ((uint64_t)1 << 20) /* target for the bytes of composed texts in a batch */

struct scan_column {
    const pcol_column *column;
    int as_stored; /* nanoseconds, although the column shows milliseconds */
    int64_t *i64;
    double *f64;
    pcol_str *str;
    uint32_t *codes;
    uint64_t *list;
    int64_t *list_values;
    size_t list_capacity, list_count;
    uint8_t *valid;
};

/* Rows of samples that a selection takes. */
struct selected_rows {
    pcol_query **queries; /* one for the sources of each drop_frames, if these matter */
    uint32_t query_count;
    struct pci_types types;
    uint8_t *takes_type; /* by row of sample_types, for sample_values; NULL: all */
    int locations;       /* hide or show select rows of sample_locations */
    uint64_t samples, first;
    size_t count;             /* samples of `taken`, from `first` */
    uint8_t taken[PCI_BATCH]; /* number of the query, counted from 1; 0: not taken */
};

struct pcol_scan {
    const pcol_table *table;
    uint64_t row, end;
    uint64_t count;          /* rows of the scan, for pci_partial_read_begin() */
    size_t capacity, filled; /* rows of a batch; rows in the current one */
    size_t most;             /* rows of the next chunk */
    struct pci_control control;
    int failed, has_lists, nanoseconds;
    int64_t *bits; /* PCI_BATCH cells */
    struct pci_rows rows;
    struct pci_conditions *conditions;
    struct selected_rows *selected;
    uint64_t *row_numbers; /* NULL: neither conditions nor a selection */
    uint8_t alive[PCI_BATCH];
    uint32_t column_count;
    struct scan_column *columns;
    pcol_cells *cells;
};

static int is_text(pcol_type type)
{
    return type == PCOL_STRING || type == PCOL_BYTES;
}

/* ---- opening */

static pcol_status open_column(struct scan_column *c, const pcol_column *column, size_t rows,
                               uint32_t flags, pcol_error *err)
{
    int missing;
    c->column = column;
    c->valid = pci_malloc(rows, 1);
    if ((flags & PCOL_SCAN_CODES) && pci_column_has_codes(column)) {
        c->codes = pci_malloc(rows, sizeof *c->codes);
        missing = !c->codes;
    } else if (is_text(column->type)) {
        c->str = pci_malloc(rows, sizeof *c->str);
        missing = !c->str;
    } else if (column->type == PCOL_LIST) {
        c->list = pci_malloc(rows + 1, sizeof *c->list);
        missing = !c->list;
        if (c->list) /* also of a table without rows */
            c->list[0] = 0;
    } else if (column->type == PCOL_F64 && !c->as_stored) {
        c->f64 = pci_malloc(rows, sizeof *c->f64);
        missing = !c->f64;
    } else {
        c->i64 = pci_malloc(rows, sizeof *c->i64);
        missing = !c->i64;
    }
    return missing || !c->valid ? pci_fail_memory(err) : PCOL_OK;
}

static pcol_status open_columns(pcol_scan *scan, const pcol_scan_options *options, pcol_error *err)
{
    const pcol_table *table = scan->table;
    const uint32_t *columns = options->columns;
    scan->column_count = columns ? options->column_count : table->column_count;
    PCI_TRY(PCI_CALLOC(scan->columns, scan->column_count + (size_t)1, err));
    PCI_TRY(PCI_CALLOC(scan->cells, scan->column_count + (size_t)1, err));
    PCI_TRY(PCI_MALLOC(scan->bits, PCI_BATCH, err));
    for (uint32_t i = 0; i < scan->column_count; i++) {
        uint32_t number = columns ? columns[i] : i;
        const pcol_column *column = pcol_table_column(table, number);
        if (!column)
            return pci_fail(err, PCOL_E_ARGUMENT, "table %s has no column number %u", table->name,
                            (unsigned)number);
        PCI_TRY(pci_check_column_supported(column, err));
        scan->has_lists |= column->type == PCOL_LIST;
        scan->columns[i].as_stored = scan->nanoseconds && column->order == PCI_STORED_MS;
        PCI_TRY(open_column(&scan->columns[i], column, scan->capacity, options->flags, err));
    }
    scan->most = scan->has_lists || table->join_count ? LIST_ROWS : PCI_BATCH;
    return PCOL_OK;
}

/* Opens a query for the sources of each drop_frames in the place of the one for all sources. */
static pcol_status split_query(struct selected_rows *s, const pcol_selection *selection,
                               uint32_t *groups, uint8_t *members, pcol_error *err)
{
    pcol_query *whole = s->queries[0];
    uint64_t sources = whole->sample_filter.source_count;
    uint32_t count;
    PCI_TRY(pci_drop_frames_groups(whole, groups, &count, err));
    if (count < 2)
        return PCOL_OK;
    pcol_query **queries = pci_calloc(count, sizeof *queries);
    if (!queries)
        return pci_fail_memory(err);
    pcol_status status = PCOL_OK;
    for (uint32_t i = 0; i < count && status == PCOL_OK; i++) {
        for (uint64_t source = 0; source < sources; source++)
            members[source] = groups[source] == i;
        status = pci_query_new_unweighted(whole->file, selection, members, &queries[i], err);
        if (status == PCOL_OK)
            pci_query_release_stacks(queries[i]);
    }
    pcol_query_free(whole);
    pci_free(s->queries);
    s->queries = queries;
    s->query_count = count;
    return status;
}

static pcol_status apply_own_drops(struct selected_rows *s, const pcol_selection *selection,
                                   pcol_error *err)
{
    size_t sources = (size_t)s->queries[0]->sample_filter.source_count;
    if (selection->keep_dropped || !pci_selects_frames(selection))
        return PCOL_OK;
    uint32_t *groups = pci_malloc(sources + 1, sizeof *groups);
    uint8_t *members = pci_malloc(sources + 1, 1);
    pcol_status status =
        groups && members ? split_query(s, selection, groups, members, err) : pci_fail_memory(err);
    pci_free(groups);
    pci_free(members);
    return status;
}

/* Opens the queries of a selection. Rows may be of any type that the file has, also of levels,
 * which cannot be weighed; a type that it does not have fails as for queries. */
static pcol_status open_query(const pcol_table *table, struct selected_rows *s,
                              pcol_selection selection, pcol_error *err)
{
    uint32_t found = PCOL_NONE;
    if (selection.sample_type || selection.exact_type) {
        struct pci_requested_type requested = {selection.sample_type, selection.exact_type};
        PCI_TRY(pci_types_open(table->file, &s->types, err));
        PCI_TRY(PCI_CALLOC(s->takes_type, s->types.count + (size_t)1, err));
        for (uint32_t i = 0; i < s->types.count; i++) {
            s->takes_type[i] = (uint8_t)pci_types_is_requested(&s->types, i, &requested);
            PCI_TRY(pci_types_choose(&s->types, i, &requested, &found, err));
        }
    }
    if (found != PCOL_NONE) {
        selection.sample_type = NULL;
        selection.exact_type = NULL;
    }
    if (strcmp(table->name, "sample_values") != 0) {
        pci_free(s->takes_type);
        s->takes_type = NULL;
    }
    PCI_TRY(PCI_CALLOC(s->queries, 1, err));
    s->query_count = 1;
    PCI_TRY(pci_query_new_unweighted(table->file, &selection, NULL, &s->queries[0], err));
    pci_query_give_note(s->queries[0]);
    return apply_own_drops(s, &selection, err);
}

/* The selection of rows of a table with samples. */
static pcol_status open_selection(pcol_scan *scan, const pcol_selection *given, pcol_error *err)
{
    const pcol_table *table = scan->table;
    struct selected_rows *s;
    pcol_selection selection;
    PCI_STRUCT_READ(pcol_selection, selection, given, err);
    const pcol_column *id = pcol_table_column_by_name(table, "sample_id", NULL);
    if (!id || (id->order != PCI_SAMPLE_ID && id->order != PCI_ROW_ID) ||
        (id->order == PCI_ROW_ID && strcmp(table->name, "samples") != 0))
        return pci_fail(err, PCOL_E_ARGUMENT,
                        "a selection applies to samples, sample_values and sample_locations of "
                        "model v2, not to table %s",
                        table->name);
    scan->selected = s = pci_calloc(1, sizeof *s);
    if (!s)
        return pci_fail_memory(err);
    s->samples = pci_rows(table->file, "samples");
    PCI_TRY(open_query(table, s, selection, err));
    s->locations = (selection.hide || selection.show || selection.hide_functions ||
                    selection.show_functions) &&
                   strcmp(table->name, "sample_locations") == 0;
    return PCOL_OK;
}

static pcol_status verify_all(const pcol_scan *scan, pcol_error *err)
{
    if (scan->conditions)
        return pci_conditions_verify(scan->conditions, err);
    for (uint32_t i = 0; i < scan->column_count; i++)
        PCI_TRY(pci_verify_column(scan->columns[i].column, err));
    return PCOL_OK;
}

static pcol_status set_rows(pcol_scan *scan, const pcol_scan_options *options, pcol_error *err)
{
    uint64_t rows = scan->table->rows, wanted = options->row_count;
    scan->row = options->first_row < rows ? options->first_row : rows;
    scan->end = wanted && wanted < rows - scan->row ? scan->row + wanted : rows;
    if (scan->conditions)
        PCI_TRY(pci_conditions_narrow(scan->conditions, &scan->row, &scan->end, err));
    int whole = scan->row == 0 && scan->end == rows;
    scan->count = whole ? UINT64_MAX : scan->end - scan->row ? scan->end - scan->row : 1;
    return whole ? verify_all(scan, err) : PCOL_OK;
}

static pcol_status open_rows(pcol_scan *scan, pcol_error *err)
{
    uint64_t rows = scan->table->rows, before = pci_partial_read_begin(scan->count);
    pcol_status status =
        pci_rows_open(&scan->rows, scan->table, scan->row < scan->end ? scan->row : rows, err);
    pci_partial_read_end(before);
    return status;
}

static pcol_status open_scan(pcol_scan *scan, const pcol_scan_options *options, pcol_error *err)
{
    if (options->batch_rows > MAX_BATCH_ROWS)
        return pci_fail(err, PCOL_E_ARGUMENT, "a batch of %lu rows: at most %lu are possible",
                        (unsigned long)options->batch_rows, (unsigned long)MAX_BATCH_ROWS);
    if (options->flags & ~PCOL_SCAN_CODES)
        return pci_fail(err, PCOL_E_ARGUMENT, "unknown flags of a scan");
    scan->capacity = options->batch_rows ? options->batch_rows : PCI_BATCH;
    PCI_TRY(open_columns(scan, options, err));
    const pcol_condition *where = options->where;
    PCI_REQUIRE_MANY(where, options->where_count, err);
    if (where && options->where_count)
        PCI_TRY(
            pci_conditions_open(scan->table, where, options->where_count, &scan->conditions, err));
    if (options->selection)
        PCI_TRY(open_selection(scan, options->selection, err));
    if (scan->conditions || scan->selected) {
        PCI_TRY(PCI_MALLOC(scan->row_numbers, scan->capacity, err));
    }
    PCI_TRY(set_rows(scan, options, err));
    return open_rows(scan, err);
}

pcol_status pcol_scan_new(const pcol_table *table, const pcol_scan_options *options,
                          pcol_scan **scan, pcol_error *err)
{
    pcol_scan_options own;
    PCI_REQUIRE(scan, err);
    *scan = NULL;
    PCI_REQUIRE(table, err);
    PCI_STRUCT_READ(pcol_scan_options, own, options, err);
    return pci_scan_new(table, &own, 0, scan, err);
}

pcol_status pci_scan_new(const pcol_table *table, const pcol_scan_options *options, int nanoseconds,
                         pcol_scan **scan, pcol_error *err)
{
    *scan = NULL;
    pcol_scan *s;
    PCI_TRY(PCI_CALLOC(s, 1, err));
    s->table = table;
    s->nanoseconds = nanoseconds;
    pcol_status status = pci_control_init(&s->control, options->control, "read", err);
    if (status == PCOL_OK)
        PCI_CONTROLLED(&s->control, status, open_scan(s, options, err), err);
    if (status == PCOL_OK)
        *scan = s;
    else
        pcol_scan_free(s);
    return status;
}

static void close_selection(struct selected_rows *s)
{
    if (!s)
        return;
    pci_types_close(&s->types);
    pci_free(s->takes_type);
    for (uint32_t i = 0; s->queries && i < s->query_count; i++)
        pcol_query_free(s->queries[i]);
    pci_free(s->queries);
    pci_free(s);
}

void pcol_scan_free(pcol_scan *scan)
{
    if (!scan)
        return;
    if (scan->rows.table)
        pci_rows_close(&scan->rows);
    pci_conditions_close(scan->conditions);
    close_selection(scan->selected);
    for (uint32_t i = 0; scan->columns && i < scan->column_count; i++) {
        struct scan_column *c = &scan->columns[i];
        pci_free(c->i64);
        pci_free(c->f64);
        pci_free(c->str);
        pci_free(c->codes);
        pci_free(c->list);
        pci_free(c->list_values);
        pci_free(c->valid);
    }
    pci_free(scan->columns);
    pci_free(scan->cells);
    pci_free(scan->bits);
    pci_free(scan->row_numbers);
    pci_free(scan);
}

/* ---- which rows of a chunk */

/* Fills `taken`: the queries are about different sources. */
static pcol_status take_samples(struct selected_rows *s, pcol_error *err)
{
    uint8_t taken[PCI_BATCH];
    PCI_TRY(pcol_query_samples(s->queries[0], s->first, s->count, s->taken, err));
    for (uint32_t k = 1; k < s->query_count; k++) {
        PCI_TRY(pcol_query_samples(s->queries[k], s->first, s->count, taken, err));
        for (size_t i = 0; i < s->count; i++)
            if (taken[i])
                s->taken[i] = (uint8_t)(k + 1);
    }
    return PCOL_OK;
}

static pcol_status take_sample(struct selected_rows *s, uint64_t sample, uint8_t *alive,
                               pcol_error *err)
{
    if (sample < s->first || sample - s->first >= s->count) {
        uint64_t left = sample < s->samples ? s->samples - sample : 0;
        s->first = sample;
        s->count = left < PCI_BATCH ? (size_t)left : PCI_BATCH;
        PCI_TRY(take_samples(s, err));
    }
    *alive &= s->count && s->taken[sample - s->first] > 0;
    return PCOL_OK;
}

static pcol_status select_rows(pcol_scan *scan, size_t n, int *any, pcol_error *err)
{
    struct selected_rows *s = scan->selected;
    const struct pci_row_lanes *lanes = scan->rows.lanes;
    for (size_t i = 0; i < n; i++) {
        uint64_t sample = lanes ? (uint64_t)lanes->lane[0][i] : scan->row + i;
        if (!scan->alive[i])
            continue;
        PCI_TRY(take_sample(s, sample, &scan->alive[i], err));
        if (scan->alive[i] && s->locations)
            scan->alive[i] = (uint8_t)pcol_query_shows_location(
                s->queries[s->taken[sample - s->first] - 1], (uint64_t)lanes->lane[2][i]);
        if (scan->alive[i] && s->takes_type)
            scan->alive[i] = s->takes_type[lanes->lane[1][i]];
    }
    *any = memchr(scan->alive, 1, n) != NULL;
    return PCOL_OK;
}

/* Sets `alive` for the chunk; *any: 0 if no row remains. */
static pcol_status choose_rows(pcol_scan *scan, size_t n, int *any, pcol_error *err)
{
    *any = 1;
    if (!scan->row_numbers)
        return PCOL_OK;
    memset(scan->alive, 1, n);
    if (scan->conditions)
        PCI_TRY(pci_conditions_test(scan->conditions, &scan->rows, scan->row, n, scan->alive, any,
                                    err));
    return *any && scan->selected ? select_rows(scan, n, any, err) : PCOL_OK;
}

/* ---- cells of a chunk */

static pcol_status read_lists(const pcol_scan *scan, struct scan_column *c, size_t n,
                              pcol_error *err)
{
    size_t to = scan->filled;
    if (!to)
        c->list_count = 0;
    for (size_t i = 0; i < n; i++) {
        if (scan->row_numbers && !scan->alive[i])
            continue;
        c->list[to] = c->list_count;
        c->valid[to++] = 1;
        PCI_TRY(c->column->list(c->column, scan->rows.lanes, i, &c->list_values, &c->list_capacity,
                                &c->list_count, err));
    }
    c->list[to] = c->list_count;
    return PCOL_OK;
}

/* Cells of all rows of the chunk, at the end of the batch; those of conditions are read already. */
static pcol_status read_cells(pcol_scan *scan, struct scan_column *c, size_t n, pcol_error *err)
{
    struct pci_tested_cells tested = {0};
    uint8_t *valid = c->valid + scan->filled;
    const int64_t *bits = scan->bits;
    if (c->as_stored)
        return pci_read(scan->table->file, c->column->source, scan->row, n, c->i64 + scan->filled,
                        valid, err);
    pci_conditions_cells(scan->conditions, c->column, &tested);
    int known = c->str ? !!tested.texts : c->codes ? !!tested.codes : !!tested.bits;
    if (known)
        memcpy(valid, tested.valid, n);
    if (c->str && known)
        memcpy(c->str + scan->filled, tested.texts, n * sizeof *c->str);
    if (c->str)
        return known ? PCOL_OK
                     : pci_rows_read_str(&scan->rows, c->column, scan->row, n,
                                         c->str + scan->filled, valid, err);
    if (c->i64 && !known)
        return pci_rows_read_bits(&scan->rows, c->column, scan->row, n, c->i64 + scan->filled,
                                  valid, err);
    if (known)
        bits = c->codes ? tested.codes : tested.bits;
    else if (c->codes)
        PCI_TRY(pci_rows_read_codes(&scan->rows, c->column, scan->row, n, scan->bits, valid, err));
    else
        PCI_TRY(pci_rows_read_bits(&scan->rows, c->column, scan->row, n, scan->bits, valid, err));
    for (size_t i = 0; c->codes && i < n; i++)
        c->codes[scan->filled + i] = (uint32_t)bits[i];
    if (c->f64)
        memcpy(c->f64 + scan->filled, bits, n * sizeof *c->f64);
    if (c->i64)
        memcpy(c->i64 + scan->filled, bits, n * sizeof *c->i64);
    return PCOL_OK;
}

#define PACK(array)                          \
    for (size_t i = 0, to = 0; i < n; i++) { \
        (array)[to] = (array)[i];            \
        to += alive[i];                      \
    }

/* Moves the cells of the rows that remain together. */
static void pack_cells(const pcol_scan *scan, struct scan_column *c, size_t n)
{
    const uint8_t *alive = scan->alive;
    size_t at = scan->filled;
    PACK(c->valid + at);
    if (c->i64)
        PACK(c->i64 + at);
    if (c->f64)
        PACK(c->f64 + at);
    if (c->codes)
        PACK(c->codes + at);
    if (c->str)
        PACK(c->str + at);
}

/* Sets the row numbers of a chunk; returns its rows that remain. */
static size_t number_rows(pcol_scan *scan, size_t n)
{
    size_t kept = 0;
    if (!scan->row_numbers)
        return n;
    uint64_t *numbers = scan->row_numbers + scan->filled;
    for (size_t i = 0; i < n; i++) {
        numbers[kept] = scan->row + i;
        kept += scan->alive[i];
    }
    return kept;
}

/* Adapts the chunks to the number of values in lists, and to the bytes of composed texts. */
static void adapt_chunks(pcol_scan *scan, size_t values, uint64_t text_bytes)
{
    if (!scan->has_lists && !scan->rows.joins)
        return;
    if ((values > LIST_VALUES || text_bytes > TEXT_BYTES) && scan->most > 1)
        scan->most /= 2;
    else if (values < LIST_VALUES / 2 && text_bytes < TEXT_BYTES / 2 && scan->most < PCI_BATCH)
        scan->most *= 2;
}

static pcol_status read_chunk(pcol_scan *scan, size_t n, pcol_error *err)
{
    int any;
    size_t values = 0;
    if (!scan->filled)
        pci_rows_release_texts(&scan->rows);
    uint64_t texts = pci_rows_text_bytes(&scan->rows);
    PCI_TRY(pci_rows_next(&scan->rows, n, err));
    PCI_TRY(choose_rows(scan, n, &any, err));
    if (!any) {
        if (!scan->has_lists)
            adapt_chunks(scan, 0, pci_rows_text_bytes(&scan->rows) - texts);
        return PCOL_OK;
    }
    size_t kept = number_rows(scan, n);
    for (uint32_t i = 0; i < scan->column_count; i++) {
        struct scan_column *c = &scan->columns[i];
        size_t before = scan->filled ? c->list_count : 0;
        if (c->list) {
            PCI_TRY(read_lists(scan, c, n, err));
            values = c->list_count - before > values ? c->list_count - before : values;
            continue;
        }
        PCI_TRY(read_cells(scan, c, n, err));
        if (kept < n)
            pack_cells(scan, c, n);
    }
    adapt_chunks(scan, values, pci_rows_text_bytes(&scan->rows) - texts);
    scan->filled += kept;
    return PCOL_OK;
}

static int is_full(const pcol_scan *scan)
{
    size_t available = scan->capacity - scan->filled;
    if (!scan->filled)
        return 0;
    return scan->has_lists || pci_rows_text_bytes(&scan->rows) > TEXT_BYTES ||
           (scan->row_numbers ? available < PCI_BATCH : !available);
}

static pcol_status fill(pcol_scan *scan, pcol_error *err)
{
    scan->filled = 0;
    while (scan->row < scan->end && !is_full(scan)) {
        uint64_t left = scan->end - scan->row, block = PCI_BATCH - scan->row % PCI_BATCH;
        size_t available = scan->capacity - scan->filled;
        size_t n = left < scan->most ? (size_t)left : scan->most;
        n = n < available ? n : available;
        if (scan->conditions && block < n)
            n = (size_t)block;
        if (!scan->conditions || scan->rows.lanes ||
            pci_conditions_may_match(scan->conditions, scan->row))
            PCI_TRY(read_chunk(scan, n, err));
        else
            n = left < block ? (size_t)left : (size_t)block;
        PCI_TRY(pci_work(n, err));
        scan->row += n;
    }
    return PCOL_OK;
}

static pcol_status next(pcol_scan *scan, pcol_batch *batch, pcol_error *err)
{
    uint64_t first = scan->row;
    PCI_TRY(fill(scan, err));
    for (uint32_t i = 0; i < scan->column_count; i++) {
        const struct scan_column *c = &scan->columns[i];
        scan->cells[i] = (pcol_cells){.type = c->column->type,
                                      .i64 = c->i64,
                                      .f64 = c->f64,
                                      .str = c->str,
                                      .codes = c->codes,
                                      .list = c->list,
                                      .list_values = c->list_values,
                                      .valid = c->valid};
    }
    batch->first_row = scan->row_numbers && scan->filled ? scan->row_numbers[0] : first;
    batch->rows = scan->filled;
    batch->row_numbers = scan->row_numbers;
    batch->column_count = scan->column_count;
    batch->columns = scan->cells;
    return PCOL_OK;
}

/* After a failure the position of the cursor is undefined; the scan cannot continue. */
pcol_status pcol_scan_next(pcol_scan *scan, pcol_batch *batch, pcol_error *err)
{
    PCI_REQUIRE(batch, err);
    pcol_batch own = PCOL_INIT(pcol_batch);
    PCI_TRY(pci_struct_write(batch, &own, sizeof own, "pcol_batch", err));
    PCI_REQUIRE(scan, err);
    if (scan->failed)
        return pci_fail(err, PCOL_E_STATE, "the scan has failed before");
    uint64_t before = pci_partial_read_begin(scan->count);
    pcol_status status;
    PCI_CONTROLLED(&scan->control, status, next(scan, &own, err), err);
    pci_partial_read_end(before);
    scan->failed = status != PCOL_OK;
    return status == PCOL_OK ? pci_struct_write(batch, &own, sizeof own, "pcol_batch", err)
                             : status;
}

/*
 * sums.c - self and total of each function as the file carries them (function_sums)
 *
 * They answer what most people ask first, the top functions of a whole file, without a look at
 * stacks or samples, so that this costs the same however many there are.
 */
#include "query/top.h"

#include "core/alloc.h"

#include <stdio.h>

static pcol_status find_column(const pcol_query *query, const char *what, uint32_t type,
                               const struct pci_column **column, pcol_error *err)
{
    char name[32];
    snprintf(name, sizeof name, "%s.%lu", what, (unsigned long)type);
    return pci_want(query->file, "function_sums", name, PCI_TYPE(PCF_I64), column, err);
}

/* Add the values of a column to sums[row]. */
static pcol_status add_column(const pcol_query *query, const struct pci_column *column,
                              int64_t *sums, pcol_error *err)
{
    int64_t cells[PCI_BATCH];
    uint64_t rows = column->desc->rows;
    PCI_TRY(pci_verify(query->file, column, err));
    for (uint64_t row = 0; row < rows; row += PCI_BATCH) {
        size_t n = rows - row < PCI_BATCH ? (size_t)(rows - row) : PCI_BATCH;
        PCI_TRY(pci_read(query->file, column, row, n, cells, NULL, err));
        for (size_t i = 0; i < n; i++) {
            if (cells[i] < 0)
                return pci_fail_cell(err, PCOL_E_CORRUPT, "function_sums", column->name, row + i,
                                     "%lld is below 0", (long long)cells[i]);
            if (__builtin_add_overflow(sums[row + i], cells[i], &sums[row + i]))
                return pci_amount_overflow(query->measure.type, err);
        }
    }
    return PCOL_OK;
}

static pcol_status add_columns(const pcol_query *query, const char *what, int64_t *sums,
                               pcol_error *err)
{
    for (uint32_t i = 0; i < query->measure.column_count; i++) {
        const struct pci_column *column;
        PCI_TRY(find_column(query, what, query->measure.columns[i], &column, err));
        PCI_TRY(add_column(query, column, sums, err));
    }
    return PCOL_OK;
}

static pcol_status new_sums(const pcol_query *query, int64_t **sums, pcol_error *err)
{
    PCI_TRY(pci_plausible(query->file, "function_sums", err));
    *sums = pci_calloc((size_t)pci_rows(query->file, "function_sums") + 1, sizeof **sums);
    return *sums ? PCOL_OK : pci_fail_memory(err);
}

/* Every sample is in one row's self. */
static pcol_status add_whole(pcol_query *query, pcol_error *err)
{
    uint64_t rows = pci_rows(query->file, "function_sums");
    pcol_amount whole = {.i64 = 0};
    int64_t *sums = NULL;
    pcol_status status = new_sums(query, &sums, err);
    if (status == PCOL_OK)
        status = add_columns(query, "self", sums, err);
    for (uint64_t row = 0; row < rows && status == PCOL_OK; row++)
        if (pci_amount_add(0, &whole, (pcol_amount){.i64 = sums[row]}))
            status = pci_amount_overflow(query->measure.type, err);
    pci_free(sums);
    if (status == PCOL_OK)
        query->total = query->selected = whole;
    return status;
}

pcol_status pci_function_sums_open(pcol_query *query, int *found, pcol_error *err)
{
    const struct pci_measure *measure = &query->measure;
    *found = !measure->is_memory && !measure->is_double && measure->column_count > 0 &&
             pci_rows(query->file, "function_sums") > 0;
    for (uint32_t i = 0; *found && i < measure->column_count; i++) {
        const struct pci_column *self, *total;
        PCI_TRY(find_column(query, "self", measure->columns[i], &self, err));
        PCI_TRY(find_column(query, "total", measure->columns[i], &total, err));
        *found = self && total;
    }
    return *found ? add_whole(query, err) : PCOL_OK;
}

/* The sums are by what functions are called in the file. An address is none of one library alone, so
 * that a file that knows mappings and has such names is to be asked otherwise. */
static pcol_status are_names(const pcol_query *query, const struct pci_column *name, uint64_t rows,
                             int *yes, pcol_error *err)
{
    *yes = 1;
    if (!pci_rows(query->file, "mappings"))
        return PCOL_OK;
    for (uint64_t row = 0; row < rows && *yes; row++) {
        pcol_str text;
        int valid;
        PCI_TRY(pci_get_str(query->file, name, row, &text, &valid, err));
        *yes = !valid || !pci_bare_is(text);
    }
    return PCOL_OK;
}

static pcol_status take_rows(const pcol_query *query, const struct pci_column *name,
                             const int64_t *self, const int64_t *total, pcol_top *top,
                             pcol_error *err)
{
    uint64_t rows = pci_rows(query->file, "function_sums");
    top->items = pci_malloc((size_t)rows + 1, sizeof *top->items);
    top->frames.frames = pci_calloc((size_t)rows + 1, sizeof *top->frames.frames);
    if (!top->items || !top->frames.frames)
        return pci_fail_memory(err);
    for (uint64_t row = 0; row < rows; row++) {
        pcol_frame *frame = &top->frames.frames[row];
        int valid;
        if (!self[row] && !total[row])
            continue;
        PCI_TRY(pci_get_str(query->file, name, row, &frame->name, &valid, err));
        frame->has_name = 1;
        if (valid) /* else: samples that show no function */
            top->items[top->count++] =
                (struct pci_top_item){{.i64 = self[row]}, {.i64 = total[row]}, frame};
    }
    return PCOL_OK;
}

pcol_status pci_top_of_sums(const pcol_query *query, pcol_top *top, int *answered, pcol_error *err)
{
    const struct pci_column *name;
    int64_t *self = NULL, *total = NULL;
    PCI_TRY(pci_need(query->file, "function_sums", "name", PCI_TYPES_TEXT, &name, err));
    PCI_TRY(pci_verify(query->file, name, err));
    PCI_TRY(are_names(query, name, pci_rows(query->file, "function_sums"), answered, err));
    if (!*answered)
        return PCOL_OK;
    pcol_status status = new_sums(query, &self, err);
    if (status == PCOL_OK)
        status = new_sums(query, &total, err);
    if (status == PCOL_OK)
        status = add_columns(query, "self", self, err);
    if (status == PCOL_OK)
        status = add_columns(query, "total", total, err);
    if (status == PCOL_OK)
        status = take_rows(query, name, self, total, top, err);
    pci_free(self);
    pci_free(total);
    return status;
}

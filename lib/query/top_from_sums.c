/*
 * top_from_sums.c - self and total of each function from the file's table function_sums
 *
 * Answers the top functions of a whole file without reading stacks or samples, in time independent
 * of their number. Tests: suite answers.
 */
#include "query/top.h"

#include "util/alloc.h"

#include <stdio.h>
#include <string.h>

static pcol_status find_column(pcol_query *query, const char *kind, uint32_t type,
                               const struct pci_column **column, pcol_error *err)
{
    char name[32];
    snprintf(name, sizeof name, "%s.%lu", kind, (unsigned long)type);
    return pci_find_column(query->file, "function_sums", name, PCI_TYPE(PCF_I64), column, err);
}

/* Sums of the table: of all rows, or by row. */
struct function_sums {
    pcol_query *query;
    pcol_amount sum;
    struct pci_top_item *items; /* by row of function_sums; NULL: only the sum of all */
    int adds_total;
};

static int add_cell(struct function_sums *a, uint64_t row, int64_t cell)
{
    pcol_amount *sum = &a->sum;
    if (a->items)
        sum = a->adds_total ? &a->items[row].total : &a->items[row].self;
    return pci_amount_add(0, sum, (pcol_amount){.i64 = cell});
}

static pcol_status add_column(struct function_sums *a, const struct pci_column *column,
                              pcol_error *err)
{
    pcol_query *query = a->query;
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
            if (add_cell(a, row + i, cells[i]))
                return pci_amount_overflow(query->measure.type, err);
        }
    }
    return PCOL_OK;
}

static pcol_status add_columns(struct function_sums *a, const char *kind, pcol_error *err)
{
    const struct pci_query_type *measure = &a->query->measure;
    for (uint32_t i = 0; i < measure->column_count; i++) {
        const struct pci_column *column;
        PCI_TRY(find_column(a->query, kind, measure->columns[i], &column, err));
        PCI_TRY(add_column(a, column, err));
    }
    return PCOL_OK;
}

/* Sets the totals: each sample is in the self of one row. */
static pcol_status set_totals(pcol_query *query, pcol_error *err)
{
    struct function_sums a = {.query = query};
    PCI_TRY(pci_check_row_count(query->file, "function_sums", err));
    PCI_TRY(add_columns(&a, "self", err));
    query->total = query->selected = a.sum;
    return PCOL_OK;
}

pcol_status pci_function_sums_open(pcol_query *query, int *found, pcol_error *err)
{
    const struct pci_query_type *measure = &query->measure;
    *found = !measure->is_memory && !measure->is_double && measure->column_count > 0 &&
             pci_rows(query->file, "function_sums") > 0;
    for (uint32_t i = 0; *found && i < measure->column_count; i++) {
        const struct pci_column *self, *total;
        PCI_TRY(find_column(query, "self", measure->columns[i], &self, err));
        PCI_TRY(find_column(query, "total", measure->columns[i], &total, err));
        *found = self && total;
    }
    return *found ? set_totals(query, err) : PCOL_OK;
}

/* The table has the names of spec.md, section 6.4. It cannot be used if a frame is displayed with
 * another name (frame_names.h): an address gets its library, code without a mapping its address,
 * and brackets of a mapping are not doubled. */
static int is_displayed_name(pcol_query *query, pcol_str name)
{
    const struct pci_table *groups = pci_table_find(query->file, "location_groups");
    if (pci_is_address_name(name))
        return !pci_rows(query->file, "mappings");
    if (name.size > 1 && name.data[0] == '[' && name.data[1] == '[')
        return 0;
    return name.size != strlen(PCI_NAME_UNKNOWN) ||
           memcmp(name.data, PCI_NAME_UNKNOWN, name.size) != 0 || !groups ||
           !pci_column_find(groups, "address");
}

/* Moves the rows with a name and a value other than 0 to the start of `items`. *answered = 0 if a
 * name differs from the displayed one. */
static pcol_status compact_rows(pcol_query *query, const struct pci_column *name, pcol_top *top,
                                int *answered, pcol_error *err)
{
    uint64_t rows = pci_rows(query->file, "function_sums");
    pcol_str texts[PCI_BATCH];
    uint8_t valid[PCI_BATCH];
    for (uint64_t row = 0; row < rows; row += PCI_BATCH) {
        size_t n = rows - row < PCI_BATCH ? (size_t)(rows - row) : PCI_BATCH;
        PCI_TRY(pci_read_str(query->file, name, row, n, texts, valid, err));
        for (size_t i = 0; i < n; i++) {
            struct pci_top_item item = top->items[row + i];
            if (!valid[i]) /* samples without a function */
                continue;
            *answered = is_displayed_name(query, texts[i]);
            if (!*answered)
                return PCOL_OK;
            if (!item.self.i64 && !item.total.i64)
                continue;
            item.by.name = &top->texts[top->count];
            top->texts[top->count] = texts[i];
            top->items[top->count++] = item;
        }
    }
    return PCOL_OK;
}

pcol_status pci_top_of_sums(pcol_query *query, pcol_top *top, int *answered, pcol_error *err)
{
    size_t rows = (size_t)pci_rows(query->file, "function_sums");
    struct function_sums a = {.query = query};
    const struct pci_column *name;
    *answered = 1;
    PCI_TRY(pci_require_column(query->file, "function_sums", "name", PCI_TYPES_TEXT, &name, err));
    PCI_TRY(pci_verify(query->file, name, err));
    top->items = a.items = pci_calloc(rows + 1, sizeof *top->items);
    top->texts = pci_malloc(rows + 1, sizeof *top->texts);
    if (!top->items || !top->texts)
        return pci_fail_memory(err);
    PCI_TRY(add_columns(&a, "self", err));
    a.adds_total = 1;
    PCI_TRY(add_columns(&a, "total", err));
    PCI_TRY(compact_rows(query, name, top, answered, err));
    if (!*answered) {
        pci_free(top->items);
        pci_free(top->texts);
        top->items = NULL;
        top->texts = NULL;
        top->count = 0;
    }
    return PCOL_OK;
}

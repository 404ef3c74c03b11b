/*
 * top_from_sums.c - self and total of each function from the file's table function_sums
 *
 * Answers the top functions of a whole file without reading stacks or samples, in time independent
 * of their number. Tests: suite answers.
 */
#include "query/top.h"

#include "util/alloc.h"

#include <stdio.h>

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
                return pci_corrupt(err, "function_sums", column->name, row + i, "%lld is below 0",
                                   (long long)cells[i]);
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

struct name_reader {
    const pcol_file *file;
    const struct pci_column *function, *name; /* of locations and of functions */
    struct pci_stacks stacks;
    struct pci_frame_namer *namer; /* opened for the first name that is generated */
};

static pcol_status open_names(struct name_reader *r, pcol_error *err)
{
    PCI_TRY(pci_stacks_open(r->file, &r->stacks, err));
    PCI_TRY(pci_find_verified_column(r->file, "locations", "function", PCI_TYPES_ROW, &r->function,
                                     err));
    return pci_find_verified_column(r->file, "functions", "name", PCI_TYPES_TEXT, &r->name, err);
}

/* The row and the name of a location's function; the name is empty if it has none of its own. */
static pcol_status get_function_name(const struct name_reader *r, uint64_t location, pcol_str *name,
                                     uint32_t *row, pcol_error *err)
{
    int64_t function;
    int valid = 0;
    *name = (pcol_str){"", 0};
    *row = PCOL_NONE;
    if (!r->function || !r->name)
        return PCOL_OK;
    PCI_TRY(pci_get(r->file, r->function, location, &function, &valid, err));
    if (valid) {
        *row = (uint32_t)function;
        PCI_TRY(pci_get_str(r->file, r->name, (uint64_t)function, name, &valid, err));
    }
    if (pci_is_address_name(*name))
        *name = (pcol_str){"", 0};
    return PCOL_OK;
}

/* The name of a location that depends on its group. */
static pcol_status generate_name(struct name_reader *r, struct pci_frames *frames,
                                 uint64_t location, pcol_str *text, pcol_error *err)
{
    struct pci_name name;
    uint64_t group;
    if (!r->namer) {
        PCI_TRY(pci_frame_namer_open(&frames->names, r->file, err));
        r->namer = &frames->names;
        r->namer->libraries = 1;
        if (r->stacks.first)
            PCI_TRY(pci_verify(r->file, r->stacks.first, err));
    }
    PCI_TRY(pci_stacks_group_of(&r->stacks, location, &group, err));
    PCI_TRY(pci_frame_namer_get(r->namer, location, (uint32_t)group, &name, err));
    if (name.is_place)
        return pci_corrupt(err, "locations", NULL, location,
                           "table function_sums refers to it, but it is in no function");
    return pci_frames_copy_text(frames, name.name, text, err);
}

/* Appends "<no stack>". The samples without a name are those with the empty stack, and in files
 * with lines outside functions others, too. */
static pcol_status add_empty_stack(pcol_query *query, const struct pci_top_item *unnamed,
                                   struct pci_top *top, pcol_error *err)
{
    const struct pci_table *locations = pci_table_find(query->file, "locations");
    pcol_amount weight = unnamed->self;
    if (weight.i64 && locations && pci_column_find(locations, "filename")) {
        PCI_TRY(pci_query_load(query, err));
        weight = query->weight[0];
    }
    if (!weight.i64)
        return PCOL_OK;
    top->texts[top->count] = (pcol_str)PCI_NAME(PCI_NAME_NO_STACK);
    top->functions[top->count] = PCOL_NONE;
    top->items[top->count] =
        (struct pci_top_item){.self = weight, .total = weight, .by.name = &top->texts[top->count]};
    top->count++;
    return PCOL_OK;
}

/* Moves the rows with a location and a value other than 0 to the start of `items`. */
static pcol_status name_rows(pcol_query *query, const struct pci_column *location,
                             struct pci_top *top, pcol_error *err)
{
    struct name_reader r = {.file = query->file};
    uint64_t rows = pci_rows(query->file, "function_sums");
    int64_t locations[PCI_BATCH];
    uint8_t valid[PCI_BATCH];
    PCI_TRY(open_names(&r, err));
    for (uint64_t row = 0; row < rows; row += PCI_BATCH) {
        size_t n = rows - row < PCI_BATCH ? (size_t)(rows - row) : PCI_BATCH;
        PCI_TRY(pci_read(query->file, location, row, n, locations, valid, err));
        for (size_t i = 0; i < n; i++) {
            struct pci_top_item item = top->items[row + i];
            pcol_str *text = &top->texts[top->count];
            if (!valid[i]) {
                PCI_TRY(add_empty_stack(query, &item, top, err));
                continue;
            }
            if (!item.self.i64 && !item.total.i64)
                continue; /* only samples with other values */
            PCI_TRY(get_function_name(&r, (uint64_t)locations[i], text, &top->functions[top->count],
                                      err));
            if (!text->size)
                PCI_TRY(generate_name(&r, &top->frames, (uint64_t)locations[i], text, err));
            item.by.name = text;
            top->items[top->count++] = item;
        }
    }
    return PCOL_OK;
}

pcol_status pci_top_of_sums(pcol_query *query, struct pci_top *top, pcol_error *err)
{
    size_t rows = (size_t)pci_rows(query->file, "function_sums");
    struct function_sums a = {.query = query};
    const struct pci_column *location;
    PCI_TRY(pci_require_column(query->file, "function_sums", "location", PCI_TYPES_ROW, &location,
                               err));
    PCI_TRY(pci_verify(query->file, location, err));
    top->items = a.items = pci_calloc(rows + 1, sizeof *top->items);
    top->texts = pci_malloc(rows + 1, sizeof *top->texts);
    top->functions = pci_malloc(rows + 1, sizeof *top->functions);
    if (!top->items || !top->texts || !top->functions)
        return pci_fail_memory(err);
    PCI_TRY(add_columns(&a, "self", err));
    a.adds_total = 1;
    PCI_TRY(add_columns(&a, "total", err));
    return name_rows(query, location, top, err);
}

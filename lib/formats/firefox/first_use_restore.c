/*
 * first_use_restore.c - restores table orders that equal the order of first use (the inverse of
 * first_use_detect.c): walks the referring table and lists each row when it is used for the first
 * time
 */
#include "formats/firefox/write_native.h"

#include "util/alloc.h"

struct restore {
    struct pci_ff_native *native;
    int level;
    const char *table; /* pcol table */
    struct pci_order *order;
    size_t capacity;
    uint64_t rows;
    uint8_t *seen; /* by row of the pcol table */
};

/* Append a row of the pcol table, unless it is already listed. */
static pcol_status append_row(struct restore *t, int64_t row, pcol_error *err)
{
    struct pci_order *o = t->order;
    if (row < 0 || (uint64_t)row >= t->rows)
        return pci_corrupt(err, t->table, NULL, PCOL_POSITION_UNKNOWN, "row %lld does not exist",
                           (long long)row);
    if (t->seen[row])
        return PCOL_OK;
    t->seen[row] = 1;
    if (o->count >= t->capacity &&
        pci_grow((void **)&o->rows, &t->capacity, (size_t)o->count + 1, sizeof *o->rows))
        return pci_fail_memory(err);
    o->rows[o->count++] = (uint64_t)row;
    return PCOL_OK;
}

/* ---- stacks, in the order of samples */

/* Append the unlisted callers of a stack, outermost first, then the stack. */
static pcol_status append_stack(struct restore *t, int64_t node, uint64_t **chain, size_t *capacity,
                                pcol_error *err)
{
    size_t count = 0;
    if ((uint64_t)node >= t->rows)
        return append_row(t, node, err);
    while (node && !t->seen[node]) {
        int valid;
        int64_t parent;
        PCI_TRY(PCI_GROW(*chain, *capacity, count + 1, err));
        (*chain)[count++] = (uint64_t)node;
        PCI_TRY(pci_get(t->native->file, t->native->stacks.parent, (uint64_t)node, &parent, &valid,
                        err));
        if (parent < 0 || parent >= node) /* the file may have changed after its verification */
            return pci_corrupt(err, "stacks", "parent", (uint64_t)node,
                               "the parent must precede its child");
        node = parent;
    }
    while (count)
        PCI_TRY(append_row(t, (int64_t)(*chain)[--count], err));
    return PCOL_OK;
}

static pcol_status append_stacks_of(struct restore *t, const struct pci_ff_sample_run *rows,
                                    uint64_t **chain, size_t *capacity, pcol_error *err)
{
    const struct pci_column *stack;
    int64_t values[PCI_FF_BATCH];
    uint8_t valid[PCI_FF_BATCH];
    PCI_TRY(pci_find_column(t->native->file, "samples", "stack", PCI_TYPES_ROW, &stack, err));
    for (uint64_t i = 0; stack && i < rows->count; i += PCI_FF_BATCH) {
        size_t n = rows->count - i < PCI_FF_BATCH ? (size_t)(rows->count - i) : PCI_FF_BATCH;
        PCI_TRY(pci_read(t->native->file, stack, rows->first + i, n, values, valid, err));
        for (size_t k = 0; k < n; k++)
            if (valid[k])
                PCI_TRY(append_stack(t, values[k], chain, capacity, err));
    }
    return PCOL_OK;
}

static pcol_status append_stacks(struct restore *t, pcol_error *err)
{
    struct pci_ff_native *b = t->native;
    uint64_t *chain = NULL;
    size_t capacity = 0, thread_index = t->level ? b->thread - b->first_thread : 0;
    pcol_status status = PCOL_OK;
    if (t->level)
        status = append_stacks_of(t, &b->threads[thread_index].samples, &chain, &capacity, err);
    for (size_t i = 0; !t->level && i < b->thread_count && status == PCOL_OK; i++)
        status = append_stacks_of(t, &b->threads[i].samples, &chain, &capacity, err);
    pci_free(chain);
    return status;
}

/* ---- other tables, in the order of the table that refers to them */

struct referrer {
    uint8_t id;    /* table of the source that refers to the rows */
    uint8_t group; /* of a frame: the column belongs to its group, not to its location */
    const char *table, *column;
};

static pcol_status append_references(struct restore *t, const struct referrer *referrer,
                                     pcol_error *err)
{
    struct pci_ff_native *b = t->native;
    const struct pci_column *column;
    const struct pci_order *referrers = &b->orders[t->level][referrer->id];
    PCI_TRY(pci_ff_load_order(b, t->level, referrer->id, err));
    PCI_TRY(
        pci_find_column(b->file, referrer->table, referrer->column, PCI_TYPES_ROW, &column, err));
    for (uint64_t i = 0; i < referrers->count; i++) {
        uint64_t row = referrers->rows[i], count;
        int64_t value;
        int valid;
        if (referrer->id == PCI_FF_FRAMES && !referrer->group)
            PCI_TRY(pci_stacks_group(&b->stacks, row, &row, &count, err));
        PCI_TRY(pci_get(b->file, column, row, &value, &valid, err));
        if (valid)
            PCI_TRY(append_row(t, value, err));
    }
    return PCOL_OK;
}

/* Strings of a function: the name of its resource, then its own. */
static pcol_status append_strings(struct restore *t, pcol_error *err)
{
    struct pci_ff_native *b = t->native;
    const struct pci_column *resource, *resource_name, *name;
    const struct pci_order *functions = &b->orders[t->level][PCI_FF_FUNCTIONS];
    PCI_TRY(pci_ff_load_order(b, t->level, PCI_FF_FUNCTIONS, err));
    PCI_TRY(pci_find_column(b->file, "functions", "code_resource", PCI_TYPES_ROW, &resource, err));
    PCI_TRY(pci_find_column(b->file, "functions", "name", PCI_TYPES_TEXT, &name, err));
    PCI_TRY(
        pci_find_column(b->file, "code_resources", "name", PCI_TYPES_TEXT, &resource_name, err));
    for (uint64_t i = 0; i < functions->count; i++) {
        int64_t value;
        int valid;
        PCI_TRY(pci_get(b->file, resource, functions->rows[i], &value, &valid, err));
        if (valid)
            PCI_TRY(pci_get(b->file, resource_name, (uint64_t)value, &value, &valid, err));
        if (valid)
            PCI_TRY(append_row(t, value, err));
        PCI_TRY(pci_get(b->file, name, functions->rows[i], &value, &valid, err));
        if (valid)
            PCI_TRY(append_row(t, value, err));
    }
    return PCOL_OK;
}

static pcol_status append_rows(struct restore *t, int id, pcol_error *err)
{
    static const struct referrer referrers[PCI_FF_TABLES] = {
        [PCI_FF_SOURCES] = {PCI_FF_FUNCTIONS, 0, "functions", "source_file"},
        [PCI_FF_RESOURCES] = {PCI_FF_FUNCTIONS, 0, "functions", "code_resource"},
        [PCI_FF_SYMBOLS] = {PCI_FF_FRAMES, 1, "location_groups", "native_symbol"},
        [PCI_FF_FUNCTIONS] = {PCI_FF_FRAMES, 0, "locations", "function"},
        [PCI_FF_FRAMES] = {PCI_FF_STACKS, 1, "stacks", "group"},
    };
    if (id == PCI_FF_STACKS)
        return append_stacks(t, err);
    if (id == PCI_FF_STRINGS)
        return append_strings(t, err);
    if (referrers[id].table)
        return append_references(t, &referrers[id], err);
    return pci_corrupt(err, "source_columns", "form", PCOL_POSITION_UNKNOWN,
                       "the form \"by use\" is not defined for %s", pci_ff_source_tables[id]);
}

/* Whether source_columns has a row of form "by use" for the table. */
static int is_order_by_use(const struct pci_ff_native *b, int level, int id)
{
    uint32_t thread = level ? b->thread : PCOL_NONE;
    size_t end;
    for (size_t i = pci_ff_preserved_first(b, thread, pci_ff_source_tables[id], &end); i < end; i++)
        if (pci_ff_is_by_use(&b->preserved[i]))
            return 1;
    return 0;
}

pcol_status pci_ff_restore_use_order(struct pci_ff_native *native, int level, int id,
                                     pcol_error *err)
{
    struct restore t = {.native = native,
                        .level = level,
                        .table = pci_ff_pcol_tables[id],
                        .order = &native->orders[level][id],
                        .rows = pci_rows(native->file, pci_ff_pcol_tables[id])};
    pcol_status status = PCOL_OK;
    if (!is_order_by_use(native, level, id))
        return PCOL_OK;
    PCI_TRY(pci_check_row_count(native->file, t.table, err));
    t.capacity = (size_t)t.order->count;
    t.order->known = 1;
    PCI_TRY(PCI_CALLOC(t.seen, (size_t)t.rows + 1, err));
    for (uint64_t i = 0; i < t.order->count; i++) /* rows listed in source_rows */
        if (t.order->rows[i] < t.rows)
            t.seen[t.order->rows[i]] = 1;
    status = append_rows(&t, id, err);
    pci_free(t.seen);
    return status;
}

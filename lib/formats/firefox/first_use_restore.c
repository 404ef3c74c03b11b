/*
 * first_use_restore.c - orders of the source's tables that follow from the first use of their rows
 * (see first_use_detect.c)
 */
#include "formats/firefox/write_native.h"

#include "util/alloc.h"

struct taking {
    struct pci_ff_native *back;
    int level;
    const char *table; /* ours */
    struct pci_order *order;
    size_t capacity;
    uint64_t rows;
    uint8_t *seen; /* by row of ours */
};

/* The next row of the source is this of ours, if it was not there before. */
static pcol_status take(struct taking *t, int64_t row, pcol_error *err)
{
    struct pci_order *o = t->order;
    if (row < 0 || (uint64_t)row >= t->rows)
        return pci_fail_cell(err, PCOL_E_CORRUPT, t->table, NULL, PCOL_NOWHERE,
                             "row %lld does not exist", (long long)row);
    if (t->seen[row])
        return PCOL_OK;
    t->seen[row] = 1;
    if (o->count >= t->capacity &&
        pci_grow((void **)&o->rows, &t->capacity, (size_t)o->count + 1, sizeof *o->rows))
        return pci_fail_memory(err);
    o->rows[o->count++] = (uint64_t)row;
    return PCOL_OK;
}

/* ---- stacks, by samples */

/* A stack behind those of its callers that are new. */
static pcol_status take_stack(struct taking *t, int64_t node, uint64_t **chain, size_t *capacity,
                              pcol_error *err)
{
    size_t count = 0;
    if ((uint64_t)node >= t->rows)
        return take(t, node, err);
    while (node && !t->seen[node]) {
        int valid;
        int64_t parent;
        if (pci_grow((void **)chain, capacity, count + 1, sizeof **chain))
            return pci_fail_memory(err);
        (*chain)[count++] = (uint64_t)node;
        PCI_TRY(
            pci_get(t->back->file, t->back->stacks.parent, (uint64_t)node, &parent, &valid, err));
        if (parent < 0 || parent >= node) /* a value may have changed since it was checked */
            return pci_fail_cell(err, PCOL_E_CORRUPT, "stacks", "parent", (uint64_t)node,
                                 "the parent does not stand before its child");
        node = parent;
    }
    while (count)
        PCI_TRY(take(t, (int64_t)(*chain)[--count], err));
    return PCOL_OK;
}

static pcol_status take_stretch(struct taking *t, const struct pci_ff_sample_run *rows,
                                uint64_t **chain, size_t *capacity, pcol_error *err)
{
    const struct pci_column *stack;
    int64_t values[PCI_FF_BATCH];
    uint8_t valid[PCI_FF_BATCH];
    PCI_TRY(pci_want(t->back->file, "samples", "stack", PCI_TYPES_ROW, &stack, err));
    for (uint64_t i = 0; stack && i < rows->count; i += PCI_FF_BATCH) {
        size_t n = rows->count - i < PCI_FF_BATCH ? (size_t)(rows->count - i) : PCI_FF_BATCH;
        PCI_TRY(pci_read(t->back->file, stack, rows->first + i, n, values, valid, err));
        for (size_t k = 0; k < n; k++)
            if (valid[k])
                PCI_TRY(take_stack(t, values[k], chain, capacity, err));
    }
    return PCOL_OK;
}

static pcol_status take_stacks(struct taking *t, pcol_error *err)
{
    struct pci_ff_native *b = t->back;
    uint64_t *chain = NULL;
    size_t capacity = 0, own = t->level ? b->thread - b->first_thread : 0;
    pcol_status status = PCOL_OK;
    if (t->level)
        status = take_stretch(t, &b->threads[own].samples, &chain, &capacity, err);
    for (size_t i = 0; !t->level && i < b->thread_count && status == PCOL_OK; i++)
        status = take_stretch(t, &b->threads[i].samples, &chain, &capacity, err);
    pci_free(chain);
    return status;
}

/* ---- others, by the rows of a table that name them */

struct user {
    uint8_t id;    /* whose rows name them, in their order */
    uint8_t group; /* of a frame: the column is of its group, not of its location */
    const char *table, *column;
};

static pcol_status take_named(struct taking *t, const struct user *user, pcol_error *err)
{
    struct pci_ff_native *b = t->back;
    const struct pci_column *column;
    const struct pci_order *users = &b->orders[t->level][user->id];
    PCI_TRY(pci_ff_load_order(b, t->level, user->id, err));
    PCI_TRY(pci_want(b->file, user->table, user->column, PCI_TYPES_ROW, &column, err));
    for (uint64_t i = 0; i < users->count; i++) {
        uint64_t row = users->rows[i], count;
        int64_t value;
        int valid;
        if (user->id == PCI_FF_FRAMES && !user->group)
            PCI_TRY(pci_stacks_group(&b->stacks, row, &row, &count, err));
        PCI_TRY(pci_ff_get(b->file, column, row, &value, &valid, err));
        if (valid)
            PCI_TRY(take(t, value, err));
    }
    return PCOL_OK;
}

/* Of each function: the name of its resource, its own. */
static pcol_status take_strings(struct taking *t, pcol_error *err)
{
    struct pci_ff_native *b = t->back;
    const struct pci_column *resource, *resource_name, *name;
    const struct pci_order *functions = &b->orders[t->level][PCI_FF_FUNCTIONS];
    PCI_TRY(pci_ff_load_order(b, t->level, PCI_FF_FUNCTIONS, err));
    PCI_TRY(pci_want(b->file, "functions", "code_resource", PCI_TYPES_ROW, &resource, err));
    PCI_TRY(pci_want(b->file, "functions", "name", PCI_TYPES_TEXT, &name, err));
    PCI_TRY(pci_want(b->file, "code_resources", "name", PCI_TYPES_TEXT, &resource_name, err));
    for (uint64_t i = 0; i < functions->count; i++) {
        int64_t value;
        int valid;
        PCI_TRY(pci_ff_get(b->file, resource, functions->rows[i], &value, &valid, err));
        if (valid)
            PCI_TRY(pci_ff_get(b->file, resource_name, (uint64_t)value, &value, &valid, err));
        if (valid)
            PCI_TRY(take(t, value, err));
        PCI_TRY(pci_ff_get(b->file, name, functions->rows[i], &value, &valid, err));
        if (valid)
            PCI_TRY(take(t, value, err));
    }
    return PCOL_OK;
}

static pcol_status take_rows(struct taking *t, int id, pcol_error *err)
{
    static const struct user users[PCI_FF_TABLES] = {
        [PCI_FF_SOURCES] = {PCI_FF_FUNCTIONS, 0, "functions", "source_file"},
        [PCI_FF_RESOURCES] = {PCI_FF_FUNCTIONS, 0, "functions", "code_resource"},
        [PCI_FF_SYMBOLS] = {PCI_FF_FRAMES, 1, "location_groups", "native_symbol"},
        [PCI_FF_FUNCTIONS] = {PCI_FF_FRAMES, 0, "locations", "function"},
        [PCI_FF_FRAMES] = {PCI_FF_STACKS, 1, "stacks", "group"},
    };
    if (id == PCI_FF_STACKS)
        return take_stacks(t, err);
    if (id == PCI_FF_STRINGS)
        return take_strings(t, err);
    if (users[id].table)
        return take_named(t, &users[id], err);
    return pci_fail_cell(err, PCOL_E_CORRUPT, "source_columns", "form", PCOL_NOWHERE,
                         "the order of %s follows from nothing", pci_ff_names[id]);
}

/* Whether source_columns says so. */
static int is_by_use(const struct pci_ff_native *b, int level, int id)
{
    uint32_t thread = level ? b->thread : PCOL_NONE;
    size_t end;
    for (size_t i = pci_ff_preserved_first(b, thread, pci_ff_names[id], &end); i < end; i++)
        if (pci_ff_is_by_use(&b->kept[i]))
            return 1;
    return 0;
}

pcol_status pci_ff_order_by_use(struct pci_ff_native *back, int level, int id, pcol_error *err)
{
    struct taking t = {.back = back,
                       .level = level,
                       .table = pci_ff_ours[id],
                       .order = &back->orders[level][id],
                       .rows = pci_rows(back->file, pci_ff_ours[id])};
    pcol_status status = PCOL_OK;
    if (!is_by_use(back, level, id))
        return PCOL_OK;
    PCI_TRY(pci_plausible(back->file, t.table, err));
    t.capacity = (size_t)t.order->count;
    t.order->known = 1;
    t.seen = pci_calloc((size_t)t.rows + 1, 1);
    if (!t.seen)
        return pci_fail_memory(err);
    for (uint64_t i = 0; i < t.order->count; i++) /* those that are listed */
        if (t.order->rows[i] < t.rows)
            t.seen[t.order->rows[i]] = 1;
    status = take_rows(&t, id, err);
    pci_free(t.seen);
    return status;
}

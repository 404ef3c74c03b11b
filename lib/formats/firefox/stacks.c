/*
 * stacks.c - the source's table of stacks into ours
 *
 * A row names its frame and the row of its caller, which stands before it, so one pass builds the
 * tree. Two rows with the same frame and caller would be one node of ours; the second gets a group
 * of its own, equal in all else, so that samples keep the row that they named.
 *
 * Before version 53 the table repeats the categories of its frames, handed down to frames without
 * one. That is foreseen, and kept only where it is otherwise.
 */
#include "formats/firefox/read.h"

#include "util/alloc.h"
#include "util/simd_kernels.h"

#define CLONES (UINT32_C(1) << 30) /* duplicates with this number and more are made here */

struct work {
    struct pci_ff *ff;
    struct pci_ff_scope *scope;
    struct pci_ff_table *table;
    struct pci_ff_column *frame, *prefix, *category[2];
    struct pci_ff_cursor *cursors; /* of those four */
    const uint32_t *groups;        /* by frame */
    uint64_t frames;
    int own_frames; /* the table of frames is the scope's */
    int offsets;    /* the caller by its distance */
    int exact_frame, exact_prefix, exact_category[2];
    int64_t *handed[2]; /* by row: the category and subcategory foreseen */
    int64_t *own[2];    /* by frame; PCI_FF_NO_CATEGORY: none */
};

/* ---- equal rows */

/* Room for an entry at `at` of an array of numbers; new entries are 0. */
static pcol_status make_room(uint32_t **list, size_t *capacity, uint32_t at, pcol_error *err)
{
    size_t old = *capacity;
    if (pci_grow((void **)list, capacity, (size_t)at + 1, sizeof **list))
        return pci_fail_memory(err);
    if (*capacity > old)
        memset(*list + old, 0, (*capacity - old) * sizeof **list);
    return PCOL_OK;
}

/* Row number `before` (from 1) that would be `node`: its group is the one behind that of the
 * duplicate before, in a list that all equal groups share. */
static pcol_status take_equal(struct work *w, uint64_t frame, uint32_t parent, uint32_t before,
                              uint32_t *node, pcol_error *err)
{
    struct pci_ff *ff = w->ff;
    uint32_t first = *node, group, next;
    w->exact_frame = 0; /* the list of frames names no group of a duplicate */
    w->scope->uses.next[PCI_FF_FRAMES] = PCI_FF_EMIT_OF_ORDER;
    PCI_TRY(make_room(&ff->equals, &ff->equal_capacity, first, err));
    group = before == 1 ? w->groups[frame] : ff->equals[first];
    PCI_TRY(make_room(&ff->clones, &ff->clone_capacity, group, err));
    next = ff->clones[group]; /* 0: none; it would have been made after another */
    if (!next) {
        PCI_TRY(pci_ff_clone_frame(ff, w->scope, frame, CLONES + ff->clone_count++, &next, err));
        ff->clones[group] = next;
    }
    ff->equals[first] = next;
    return pcol_builder_stack(ff->b, parent, next, node, err);
}

/* ---- rows */

static pcol_status get_frame(struct work *w, uint64_t row, uint64_t *frame, pcol_error *err)
{
    int kind;
    int64_t value;
    PCI_TRY(pci_ff_cell(&w->cursors[0], row, &kind, &value, err));
    if (kind != PCI_FF_INT)
        return pci_ff_fail_cell(w->ff, w->table, w->frame, row, err,
                                "must be the number of a row of frameTable");
    if (value < 0 || (uint64_t)value >= w->frames)
        return pci_ff_fail_cell(w->ff, w->table, w->frame, row, err,
                                "%lld names no row of frameTable (%llu rows)", (long long)value,
                                (unsigned long long)w->frames);
    *frame = (uint64_t)value;
    return PCOL_OK;
}

/* *prefix: the caller's row, or PCI_NO_NODE. */
static pcol_status get_prefix(struct work *w, uint64_t row, uint64_t *prefix, pcol_error *err)
{
    int kind;
    int64_t value;
    *prefix = PCI_NO_NODE;
    PCI_TRY(pci_ff_cell(&w->cursors[1], row, &kind, &value, err));
    if (kind == PCI_FF_NULL && !w->offsets)
        return PCOL_OK;
    if (kind == PCI_FF_INT && !w->offsets && value == -1) {
        w->exact_prefix = 0;
        return PCOL_OK;
    }
    if (kind != PCI_FF_INT)
        return pci_ff_fail_cell(w->ff, w->table, w->prefix, row, err,
                                "must be the number of a row of stackTable");
    if (value < 0 || (w->offsets ? (uint64_t)value > row : (uint64_t)value >= row))
        return pci_ff_fail_cell(w->ff, w->table, w->prefix, row, err,
                                "%lld names no row of stackTable before this one",
                                (long long)value);
    if (!w->offsets)
        *prefix = (uint64_t)value;
    else if (value)
        *prefix = row - (uint64_t)value;
    return PCOL_OK;
}

static pcol_status foresee(struct work *w, uint64_t row, uint64_t frame, uint64_t prefix,
                           pcol_error *err)
{
    int own = w->own[0][frame] != PCI_FF_NO_CATEGORY;
    for (int k = 0; k < 2; k++) {
        int kind;
        int64_t value, handed = own                     ? w->own[k][frame]
                                : prefix == PCI_NO_NODE ? 0
                                                        : w->handed[k][prefix];
        if (handed == PCI_FF_NO_CATEGORY)
            handed = 0;
        w->handed[k][row] = handed;
        if (!w->category[k])
            continue;
        PCI_TRY(pci_ff_cell(&w->cursors[2 + k], row, &kind, &value, err));
        w->exact_category[k] &= kind == PCI_FF_INT && value == handed;
    }
    return PCOL_OK;
}

/* A row whose frame and caller there are. */
static inline __attribute__((always_inline)) pcol_status put_row(struct work *w, uint64_t row,
                                                                 uint64_t frame, uint64_t prefix,
                                                                 pcol_error *err)
{
    struct pci_ff *ff = w->ff;
    uint32_t node;
    if (w->own_frames)
        pci_ff_use(w->scope, PCI_FF_FRAMES, frame);
    uint32_t *map = w->scope->map[PCI_FF_STACKS];
    uint32_t parent = prefix == PCI_NO_NODE ? 0 : map[prefix];
    PCI_TRY(pci_call_tree_child(&ff->b->tree, parent, w->groups[frame], &node, err));
    size_t room = ff->mark_capacity;
    if (node >= room) {
        if (pci_grow((void **)&ff->marks, &ff->mark_capacity, (size_t)node + 1, 1))
            return pci_fail_memory(err);
        memset(ff->marks + room, 0, ff->mark_capacity - room);
    }
    uint32_t before = ff->marks[node]; /* none, one, or several */
    if (before < 2)
        ff->marks[node]++;
    if (before)
        PCI_TRY(take_equal(w, frame, parent, before, &node, err));
    map[row] = node;
    if (w->own[0])
        PCI_TRY(foresee(w, row, frame, prefix, err));
    return PCOL_OK;
}

static pcol_status take_row(struct work *w, uint64_t row, pcol_error *err)
{
    uint64_t frame = 0, prefix;
    PCI_TRY(get_frame(w, row, &frame, err));
    PCI_TRY(get_prefix(w, row, &prefix, err));
    return put_row(w, row, frame, prefix, err);
}

/* Rows from `row` on that have nothing unusual: *n of them. */
static pcol_status take_usual(struct work *w, uint64_t row, size_t *n, pcol_error *err)
{
    struct pci_ff_cursor *frames = &w->cursors[0], *prefixes = &w->cursors[1];
    int64_t least, greatest;
    *n = 0;
    if (row - frames->first >= frames->count)
        PCI_TRY(pci_ff_cursor_fill(frames, row, err));
    if (row - prefixes->first >= prefixes->count)
        PCI_TRY(pci_ff_cursor_fill(prefixes, row, err));
    size_t f = (size_t)(row - frames->first), p = (size_t)(row - prefixes->first);
    size_t count = frames->count - f, others = prefixes->count - p;
    count = others < count ? others : count;
    count = w->table->rows - row < count ? (size_t)(w->table->rows - row) : count;
    pci_simd_range(frames->values + f, count, 0, &least, &greatest);
    if (frames->kind != PCI_FF_INT || least < 0 || (uint64_t)greatest >= w->frames)
        return PCOL_OK;
    for (size_t i = 0; i < count; i++, *n = i) {
        uint64_t value = (uint64_t)prefixes->values[p + i];
        uint64_t prefix = w->offsets ? row + i - value : value;
        int kind = prefixes->kinds[p + i];
        if (w->offsets ? kind == PCI_FF_INT && !value : kind == PCI_FF_NULL)
            prefix = PCI_NO_NODE;
        else if (kind != PCI_FF_INT || prefix >= row + i)
            return PCOL_OK;
        PCI_TRY(put_row(w, row + i, (uint64_t)frames->values[f + i], prefix, err));
    }
    return PCOL_OK;
}

/* ---- the table */

/* The categories of all frames, if the table of stacks has such columns. */
static pcol_status load_categories(struct work *w, pcol_error *err)
{
    static const char *const names[2] = {"category", "subcategory"};
    const struct pci_ff_scope *s =
        w->scope->tables[PCI_FF_FRAMES].present ? w->scope : &w->ff->shared;
    struct pci_ff_cursor *cursor = &w->cursors[0]; /* not in use yet */
    for (int k = 0; k < 2; k++) {
        const struct pci_ff_column *c = pci_ff_column(w->ff, &s->tables[PCI_FF_FRAMES], names[k]);
        w->own[k] = pci_malloc((size_t)w->frames + 1, sizeof(int64_t));
        w->handed[k] = pci_malloc((size_t)w->table->rows + 1, sizeof(int64_t));
        if (!w->own[k] || !w->handed[k])
            return pci_fail_memory(err);
        pci_ff_cursor_init(cursor, c ? &c->cells : NULL);
        for (uint64_t i = 0; i < w->frames; i++) {
            int kind;
            PCI_TRY(pci_ff_cell(cursor, i, &kind, &w->own[k][i], err));
            if (kind != PCI_FF_INT ||
                (k && !pci_ff_has_part(w->ff, (uint64_t)w->own[0][i], w->own[1][i])))
                w->own[k][i] = PCI_FF_NO_CATEGORY;
        }
    }
    return PCOL_OK;
}

static pcol_status find_columns(struct work *w, pcol_error *err)
{
    struct pci_ff *ff = w->ff;
    w->frame = pci_ff_column(ff, w->table, "frame");
    w->prefix = pci_ff_column(ff, w->table, "prefix");
    if (!w->prefix) {
        w->prefix = pci_ff_column(ff, w->table, "prefixOffset");
        w->offsets = 1;
    }
    w->category[0] = pci_ff_column(ff, w->table, "category");
    w->category[1] = pci_ff_column(ff, w->table, "subcategory");
    if (w->table->rows && (!w->frame || !w->prefix))
        return pci_ff_fail_at(&w->table->place, err, "%s has no column '%s'", w->table->path,
                              w->frame ? "prefix" : "frame");
    w->own_frames = w->scope->tables[PCI_FF_FRAMES].present;
    w->groups = pci_ff_map(ff, w->scope, PCI_FF_FRAMES, &w->frames);
    if (w->category[0] || w->category[1])
        PCI_TRY(load_categories(w, err));
    pci_ff_cursor_init(&w->cursors[0], w->frame ? &w->frame->cells : NULL);
    pci_ff_cursor_init(&w->cursors[1], w->prefix ? &w->prefix->cells : NULL);
    for (int k = 0; k < 2; k++)
        pci_ff_cursor_init(&w->cursors[2 + k], w->category[k] ? &w->category[k]->cells : NULL);
    return PCOL_OK;
}

static pcol_status take_rows(struct work *w, pcol_error *err)
{
    struct pci_ff_scope *scope = w->scope;
    PCI_TRY(find_columns(w, err));
    for (uint64_t i = 0; i < w->table->rows;) {
        size_t n;
        PCI_TRY(take_usual(w, i, &n, err));
        i += n;
        if (!n)
            PCI_TRY(take_row(w, i++, err));
    }
    for (uint64_t i = 0; i < w->table->rows; i++) /* the next table begins anew */
        if (scope->map[PCI_FF_STACKS][i] < w->ff->mark_capacity)
            w->ff->marks[scope->map[PCI_FF_STACKS][i]] = 0;
    struct pci_ff_claim claims[4] = {{w->frame, NULL, w->exact_frame},
                                     {w->prefix, NULL, w->exact_prefix},
                                     {w->category[0], NULL, w->exact_category[0]},
                                     {w->category[1], NULL, w->exact_category[1]}};
    PCI_TRY(pci_ff_preserve_table(w->ff, scope->thread, w->table, pci_ff_names[PCI_FF_STACKS],
                                  claims, 4, err));
    pci_ff_table_forget(w->table);
    return PCOL_OK;
}

pcol_status pci_ff_stacks(struct pci_ff *ff, struct pci_ff_scope *scope, pcol_error *err)
{
    struct work w = {.ff = ff,
                     .scope = scope,
                     .table = &scope->tables[PCI_FF_STACKS],
                     .exact_frame = 1,
                     .exact_prefix = 1,
                     .exact_category = {1, 1}};
    scope->rows[PCI_FF_STACKS] = w.table->rows;
    scope->map[PCI_FF_STACKS] = pci_malloc((size_t)w.table->rows + 1, sizeof(uint32_t));
    w.cursors = pci_calloc(4, sizeof *w.cursors);
    pcol_status status = PCOL_OK;
    if (!scope->map[PCI_FF_STACKS] || !w.cursors)
        status = pci_fail_memory(err);
    if (status == PCOL_OK)
        status = take_rows(&w, err);
    pci_free(w.cursors);
    for (int k = 0; k < 2; k++) {
        pci_free(w.own[k]);
        pci_free(w.handed[k]);
    }
    return status;
}

/*
 * stacks.c - converts the source's table of stacks
 *
 * A row refers to its frame and to an earlier row, its caller, so one pass builds the call tree. A
 * second row with the same frame and caller gets a duplicate group of its own, so that samples keep
 * the row that they refer to.
 *
 * Before version 53 the table repeats the categories of its frames; frames without one inherit from
 * the caller. These columns are predicted, and preserved only if a cell differs.
 */
#include "formats/firefox/read.h"

#include "util/alloc.h"
#include "util/simd_kernels.h"

/* duplicates created here have this variant number or a higher one */
#define FIRST_CLONE (UINT32_C(1) << 30)

struct stack_import {
    struct pci_ff *ff;
    struct pci_ff_scope *scope;
    struct pci_ff_table *table;
    struct pci_ff_column *frame, *prefix, *category[2];
    struct pci_ff_cursor *cursors; /* of frame, prefix, category, subcategory */
    const uint32_t *groups;        /* by frame */
    uint64_t frames;
    int has_own_frames; /* the scope has its own table of frames */
    int offsets;        /* callers are given as distance (prefixOffset) */
    int exact_frame, exact_prefix, exact_category[2];
    int64_t *predicted[2];      /* by row: predicted category and subcategory */
    int64_t *frame_category[2]; /* by frame; PCI_FF_NO_CATEGORY: none */
};

/* ---- equal rows */

/* Grow an array to have index `at`; new entries are 0. */
static pcol_status grow_zeroed(uint32_t **list, size_t *capacity, uint32_t at, pcol_error *err)
{
    size_t old = *capacity;
    PCI_TRY(PCI_GROW(*list, *capacity, (size_t)at + 1, err));
    if (*capacity > old)
        memset(*list + old, 0, (*capacity - old) * sizeof **list);
    return PCOL_OK;
}

/* Replace *node for the duplicate number `before` (from 1) of a row: its group is the successor of
 * the previous duplicate's group, in a list that all equal groups share. */
static pcol_status add_duplicate(struct stack_import *w, uint64_t frame, uint32_t parent,
                                 uint32_t before, uint32_t *node, pcol_error *err)
{
    struct pci_ff *ff = w->ff;
    uint32_t first = *node, group, next;
    w->exact_frame = 0; /* the list of frames does not contain groups of duplicates */
    w->scope->uses.next[PCI_FF_FRAMES] = PCI_FF_UNORDERED;
    PCI_TRY(grow_zeroed(&ff->equals, &ff->equal_capacity, first, err));
    group = before == 1 ? w->groups[frame] : ff->equals[first];
    PCI_TRY(grow_zeroed(&ff->clones, &ff->clone_capacity, group, err));
    next = ff->clones[group]; /* 0: not created yet */
    if (!next) {
        PCI_TRY(
            pci_ff_clone_frame(ff, w->scope, frame, FIRST_CLONE + ff->clone_count++, &next, err));
        ff->clones[group] = next;
    }
    ff->equals[first] = next;
    return pcol_builder_stack(ff->b, parent, next, node, err);
}

/* ---- rows */

static pcol_status get_frame(struct stack_import *w, uint64_t row, uint64_t *frame, pcol_error *err)
{
    int kind;
    int64_t value;
    PCI_TRY(pci_ff_cell(&w->cursors[0], row, &kind, &value, err));
    if (kind != PCI_FF_INT)
        return pci_ff_fail_cell(w->ff, w->table, w->frame, row, err, "must be a row of frameTable");
    if (value < 0 || (uint64_t)value >= w->frames)
        return pci_ff_fail_cell(w->ff, w->table, w->frame, row, err,
                                "%lld is not a row of frameTable, which has %llu rows",
                                (long long)value, (unsigned long long)w->frames);
    *frame = (uint64_t)value;
    return PCOL_OK;
}

/* *prefix: the caller's row, or PCI_NO_NODE. */
static pcol_status get_prefix(struct stack_import *w, uint64_t row, uint64_t *prefix,
                              pcol_error *err)
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
                                "must be a row of stackTable");
    if (value < 0 || (w->offsets ? (uint64_t)value > row : (uint64_t)value >= row))
        return pci_ff_fail_cell(w->ff, w->table, w->prefix, row, err,
                                "%lld is not an earlier row of stackTable", (long long)value);
    if (!w->offsets)
        *prefix = (uint64_t)value;
    else if (value)
        *prefix = row - (uint64_t)value;
    return PCOL_OK;
}

static pcol_status predict_categories(struct stack_import *w, uint64_t row, uint64_t frame,
                                      uint64_t prefix, pcol_error *err)
{
    int frame_category = w->frame_category[0][frame] != PCI_FF_NO_CATEGORY;
    for (int k = 0; k < 2; k++) {
        int kind;
        int64_t value, predicted = frame_category          ? w->frame_category[k][frame]
                                   : prefix == PCI_NO_NODE ? 0
                                                           : w->predicted[k][prefix];
        if (predicted == PCI_FF_NO_CATEGORY)
            predicted = 0;
        w->predicted[k][row] = predicted;
        if (!w->category[k])
            continue;
        PCI_TRY(pci_ff_cell(&w->cursors[2 + k], row, &kind, &value, err));
        w->exact_category[k] &= kind == PCI_FF_INT && value == predicted;
    }
    return PCOL_OK;
}

/* Add a row with a valid frame and caller. */
static inline __attribute__((always_inline)) pcol_status add_checked_row(
    struct stack_import *w, uint64_t row, uint64_t frame, uint64_t prefix, pcol_error *err)
{
    struct pci_ff *ff = w->ff;
    uint32_t node;
    if (w->has_own_frames)
        pci_ff_record_use(w->scope, PCI_FF_FRAMES, frame);
    uint32_t *map = w->scope->map[PCI_FF_STACKS];
    uint32_t parent = prefix == PCI_NO_NODE ? 0 : map[prefix];
    PCI_TRY(pci_call_tree_child(&ff->b->tree, parent, w->groups[frame], &node, err));
    size_t capacity = ff->mark_capacity;
    if (node >= capacity) {
        PCI_TRY(PCI_GROW(ff->marks, ff->mark_capacity, (size_t)node + 1, err));
        memset(ff->marks + capacity, 0, ff->mark_capacity - capacity);
    }
    uint32_t before = ff->marks[node]; /* 0, 1, or 2 for more */
    if (before < 2)
        ff->marks[node]++;
    if (before)
        PCI_TRY(add_duplicate(w, frame, parent, before, &node, err));
    map[row] = node;
    if (w->frame_category[0])
        PCI_TRY(predict_categories(w, row, frame, prefix, err));
    return PCOL_OK;
}

static pcol_status add_row(struct stack_import *w, uint64_t row, pcol_error *err)
{
    uint64_t frame = 0, prefix;
    PCI_TRY(get_frame(w, row, &frame, err));
    PCI_TRY(get_prefix(w, row, &prefix, err));
    return add_checked_row(w, row, frame, prefix, err);
}

/* Fast path: add rows from `row` on until one has an unusual cell. *n: rows added. */
static pcol_status add_usual_rows(struct stack_import *w, uint64_t row, size_t *n, pcol_error *err)
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
        PCI_TRY(add_checked_row(w, row + i, (uint64_t)frames->values[f + i], prefix, err));
    }
    return PCOL_OK;
}

/* ---- the table */

/* Load the categories of all frames, if the table of stacks has such columns. */
static pcol_status load_categories(struct stack_import *w, pcol_error *err)
{
    static const char *const names[2] = {"category", "subcategory"};
    const struct pci_ff_scope *s =
        w->scope->tables[PCI_FF_FRAMES].present ? w->scope : &w->ff->shared;
    struct pci_ff_cursor *cursor = &w->cursors[0]; /* not in use yet */
    for (int k = 0; k < 2; k++) {
        const struct pci_ff_column *c =
            pci_ff_find_column(w->ff, &s->tables[PCI_FF_FRAMES], names[k]);
        PCI_TRY(PCI_MALLOC(w->frame_category[k], (size_t)w->frames + 1, err));
        PCI_TRY(PCI_MALLOC(w->predicted[k], (size_t)w->table->rows + 1, err));
        pci_ff_cursor_init(cursor, c ? &c->cells : NULL);
        for (uint64_t i = 0; i < w->frames; i++) {
            int kind;
            int64_t *number = &w->frame_category[k][i];
            PCI_TRY(pci_ff_cell(cursor, i, &kind, number, err));
            int exists =
                k ? pci_ff_has_subcategory(w->ff, (uint64_t)w->frame_category[0][i], *number)
                  : (uint64_t)*number < w->ff->category_count;
            if (kind != PCI_FF_INT || !exists)
                *number = PCI_FF_NO_CATEGORY;
        }
    }
    return PCOL_OK;
}

static pcol_status find_columns(struct stack_import *w, pcol_error *err)
{
    struct pci_ff *ff = w->ff;
    w->frame = pci_ff_find_column(ff, w->table, "frame");
    w->prefix = pci_ff_find_column(ff, w->table, "prefix");
    if (!w->prefix) {
        w->prefix = pci_ff_find_column(ff, w->table, "prefixOffset");
        w->offsets = 1;
    }
    w->category[0] = pci_ff_find_column(ff, w->table, "category");
    w->category[1] = pci_ff_find_column(ff, w->table, "subcategory");
    if (w->table->rows && (!w->frame || !w->prefix))
        return pci_ff_fail_at(&w->table->position, err, "%s has no column '%s'", w->table->path,
                              w->frame ? "prefix" : "frame");
    w->has_own_frames = w->scope->tables[PCI_FF_FRAMES].present;
    w->groups = pci_ff_get_map(ff, w->scope, PCI_FF_FRAMES, &w->frames);
    if (w->category[0] || w->category[1])
        PCI_TRY(load_categories(w, err));
    pci_ff_cursor_init(&w->cursors[0], w->frame ? &w->frame->cells : NULL);
    pci_ff_cursor_init(&w->cursors[1], w->prefix ? &w->prefix->cells : NULL);
    for (int k = 0; k < 2; k++)
        pci_ff_cursor_init(&w->cursors[2 + k], w->category[k] ? &w->category[k]->cells : NULL);
    return PCOL_OK;
}

static pcol_status read_rows(struct stack_import *w, pcol_error *err)
{
    struct pci_ff_scope *scope = w->scope;
    PCI_TRY(find_columns(w, err));
    for (uint64_t i = 0; i < w->table->rows;) {
        size_t n;
        PCI_TRY(add_usual_rows(w, i, &n, err));
        i += n;
        if (!n)
            PCI_TRY(add_row(w, i++, err));
    }
    for (uint64_t i = 0; i < w->table->rows; i++) /* reset for the next table */
        if (scope->map[PCI_FF_STACKS][i] < w->ff->mark_capacity)
            w->ff->marks[scope->map[PCI_FF_STACKS][i]] = 0;
    struct pci_ff_claim claims[4] = {{w->frame, NULL, w->exact_frame},
                                     {w->prefix, NULL, w->exact_prefix},
                                     {w->category[0], NULL, w->exact_category[0]},
                                     {w->category[1], NULL, w->exact_category[1]}};
    PCI_TRY(pci_ff_preserve_table(w->ff, scope->thread, w->table,
                                  pci_ff_source_tables[PCI_FF_STACKS], claims, 4, err));
    pci_ff_table_release_cells(w->table);
    return PCOL_OK;
}

pcol_status pci_ff_resolve_stacks(struct pci_ff *ff, struct pci_ff_scope *scope, pcol_error *err)
{
    struct stack_import w = {.ff = ff,
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
    PCI_THEN(status, read_rows(&w, err));
    pci_free(w.cursors);
    for (int k = 0; k < 2; k++) {
        pci_free(w.frame_category[k]);
        pci_free(w.predicted[k]);
    }
    return status;
}

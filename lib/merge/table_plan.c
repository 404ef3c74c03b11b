/*
 * table_plan.c - where the rows of each table go, and the tables whose rows are unified
 *
 * Functions and location groups of several files become one where they are equal. For that, what
 * they refer to (mappings, native symbols, ...) must be equal by row number, so these tables are
 * unified by content first, what a table refers to before the table itself. All other tables are
 * put one behind the other; so are tables that refer to each other in a circle, or to samples and
 * stacks.
 */
#include "merge/merge.h"

#include "util/alloc.h"

#include <string.h>

#define APART (UINT32_C(1) << 30) /* variants of rows that are equal to no other */

static int is_special(const char *name)
{
    static const char *const others[] = {
        "strings",         "sources",      "sample_types",  "source_types",     "functions",
        "locations",       "stacks",       "samples",       "stack_sums",       "function_sums",
        "location_groups", "sample_zones", "sample_values", "sample_locations", "label_keys",
        "label_shapes",    "nodes",        "node_integers", "node_doubles",     "label_shape_keys",
        "source_rows"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (!strcmp(name, others[i]))
            return 1;
    return 0;
}

/* ---- which tables are unified */

enum state { OUTSIDE, REACHED, READY };

/* Whether the builder's table has rows that are found by content: then no other kind may be
 * added. */
static int is_interned(const struct pci_merge *m, uint32_t table)
{
    uint32_t to = m->tables[table];
    return to < m->builder->interned_capacity && m->builder->interned[to];
}

/* Tables that functions, locations and groups lead to, and those that other files' did. */
static void reach(const struct pci_merge *m, uint8_t *state)
{
    static const char *const roots[] = {"functions", "locations", "location_groups"};
    uint32_t count = m->file->index.header.table_count;
    int more = 1;
    for (uint32_t i = 0; i < count; i++)
        for (size_t r = 0; r < sizeof roots / sizeof *roots; r++)
            if (!strcmp(m->file->tables[i].name, roots[r]))
                state[i] = READY; /* here: reached, and looked through */
    for (uint32_t i = 0; i < count; i++)
        if (state[i] == OUTSIDE && !is_special(m->file->tables[i].name) && is_interned(m, i))
            state[i] = REACHED;
    while (more) {
        more = 0;
        for (uint32_t i = 0; i < count; i++) {
            const struct pci_table *t = &m->file->tables[i];
            for (uint32_t c = 0; state[i] != OUTSIDE && c < t->column_count; c++) {
                const struct pci_table *to = t->columns[c].references;
                if (to && state[to->number] == OUTSIDE && !is_special(to->name)) {
                    state[to->number] = REACHED;
                    more = 1;
                }
            }
        }
    }
}

/* Whether all that a table refers to has its place when the table's turn comes. */
static int can_go(const struct pci_merge *m, const struct pci_table *t)
{
    for (uint32_t c = 0; c < t->column_count; c++) {
        const struct pci_table *to = t->columns[c].references;
        if (!to || !strcmp(to->name, "sources") || !strcmp(to->name, "nodes") ||
            pci_merge_is_label(t->columns[c].name))
            continue;
        if (is_special(to->name) || m->how[to->number] == PCI_MERGE_OTHERWISE)
            return 0;
    }
    return 1;
}

/* In an order in which they can be unified; the tables that are in none are put behind. */
static void plan(struct pci_merge *m, uint8_t *state)
{
    uint32_t count = m->file->index.header.table_count;
    int more = 1;
    reach(m, state);
    for (uint32_t i = 0; i < count; i++)
        if (state[i] == OUTSIDE && !is_special(m->file->tables[i].name))
            m->how[i] = PCI_MERGE_APPEND;
    while (more) {
        more = 0;
        for (uint32_t i = 0; i < count; i++) {
            if (state[i] != REACHED || m->how[i] != PCI_MERGE_OTHERWISE ||
                !can_go(m, &m->file->tables[i]))
                continue;
            m->how[i] = PCI_MERGE_UNIFY;
            m->order[m->order_count++] = i;
            more = 1;
        }
    }
    for (uint32_t i = 0; i < count; i++)
        if (state[i] == REACHED && m->how[i] == PCI_MERGE_OTHERWISE)
            m->how[i] = PCI_MERGE_APPEND;
}

static pcol_status make_plan(struct pci_merge *m, pcol_error *err)
{
    uint8_t *state = pci_calloc(m->file->index.header.table_count, 1);
    if (!state)
        return pci_fail_memory(err);
    plan(m, state);
    pci_free(state);
    return PCOL_OK;
}

/* Before anything is added: where the rows of each table will go. */
pcol_status pci_merge_place(struct pci_merge *merge, pcol_error *err)
{
    const pcol_file *file = merge->file;
    uint32_t count = file->index.header.table_count;
    PCI_TRY(pci_merge_map(&merge->tables, count, err));
    merge->base = pci_calloc(count, sizeof *merge->base);
    merge->how = pci_calloc(count, 1);
    merge->labels = pci_calloc(count, 1);
    merge->maps = pci_calloc(count, sizeof(uint32_t *));
    merge->order = pci_malloc(count, sizeof *merge->order);
    if (!merge->base || !merge->how || !merge->labels || !merge->maps || !merge->order)
        return pci_fail_memory(err);
    for (uint32_t i = 0; i < count; i++) {
        const char *name = file->tables[i].name;
        PCI_TRY(pcol_builder_table(merge->builder, name, &merge->tables[i], err));
        merge->base[i] = pci_builder_rows(merge->builder, merge->tables[i]);
    }
    PCI_TRY(make_plan(merge, err));
    merge->node_base = merge->builder->nodes.count;
    merge->integer_base = merge->builder->nodes.element_count[0];
    merge->double_base = merge->builder->nodes.element_count[1];
    return pci_merge_rows(file, "nodes", &merge->node_rows, err);
}

/* ---- unifying */

static pcol_status unify_row(struct pci_merge *m, struct pci_row_content *f,
                             struct pci_row_uses *repeats, uint64_t row, uint32_t *to,
                             pcol_error *err)
{
    pcol_builder *b = m->builder;
    int is_new;
    PCI_TRY(pci_row_content_row(f, row, err));
    if (f->apart)
        PCI_TRY(pci_builder_intern(b, f->to, f->columns, f->cells, f->count,
                                   APART + (uint32_t)pci_builder_rows(b, f->to), to, &is_new, err));
    else
        PCI_TRY(pci_builder_intern_distinct(b, repeats, f->to, f->columns, f->cells, f->count, to,
                                            &is_new, err));
    return is_new ? pci_row_content_rest(f, row, *to, err) : PCOL_OK;
}

static pcol_status unify(struct pci_merge *m, const struct pci_table *table, pcol_error *err)
{
    static const char *const none[] = {NULL};
    struct pci_row_content further;
    struct pci_row_uses repeats = {0};
    uint32_t **map = &m->maps[table->number];
    uint64_t rows;
    pcol_status status;
    PCI_TRY(pci_merge_rows(m->file, table->name, &rows, err));
    PCI_TRY(pci_merge_map(map, rows, err));
    status = pci_row_content_open(&further, m, table, m->tables[table->number], none, err);
    const uint8_t *used = m->used ? m->used[table->number] : NULL;
    for (uint64_t row = 0; row < rows && status == PCOL_OK; row++)
        if (!used || used[row])
            status = unify_row(m, &further, &repeats, row, &(*map)[row], err);
    m->builder->tables[m->tables[table->number]].flags |= table->flags;
    pci_row_content_close(&further);
    pci_row_uses_clear(&repeats);
    return status;
}

/* Of a part: where the rows that are needed go, of the tables that are put behind. */
static pcol_status place_used(struct pci_merge *m, pcol_error *err)
{
    for (uint32_t i = 0; i < m->file->index.header.table_count; i++) {
        const struct pci_table *table = &m->file->tables[i];
        uint64_t rows;
        uint32_t to = (uint32_t)m->base[i];
        if (m->how[i] != PCI_MERGE_APPEND || !m->used[i] || !pci_merge_keeps_table(m, table))
            continue;
        PCI_TRY(pci_merge_rows(m->file, table->name, &rows, err));
        PCI_TRY(pci_merge_map(&m->maps[i], rows, err));
        for (uint64_t row = 0; row < rows; row++)
            if (m->used[i][row])
                m->maps[i][row] = to++;
    }
    return PCOL_OK;
}

pcol_status pci_merge_unify(struct pci_merge *merge, pcol_error *err)
{
    if (merge->partial)
        PCI_TRY(place_used(merge, err));
    for (size_t i = 0; i < merge->order_count; i++)
        if (pci_merge_keeps_table(merge, &merge->file->tables[merge->order[i]]))
            PCI_TRY(unify(merge, &merge->file->tables[merge->order[i]], err));
    return PCOL_OK;
}

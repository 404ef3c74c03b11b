/*
 * table_plan.c - action and target rows of each table; unified tables
 *
 * Equal functions and location groups of several files are unified. They are compared by row
 * numbers of the tables that they refer to (mappings, native symbols, ...), so those are unified
 * first, in topological order. All other tables are appended, as are tables in reference cycles and
 * tables that refer to samples or stacks.
 */
#include "merge/merge.h"
#include "merge/symbolize.h"

#include "util/alloc.h"

#include <string.h>

#define DISTINCT_VARIANT (UINT32_C(1) << 30) /* first variant of distinct rows */

static int is_special(const struct pci_table *table)
{
    return (table->schema->table_flags & PCI_TABLE_SPECIAL) != 0;
}

/* ---- selection of the tables to unify */

enum state { OUTSIDE, REACHED, READY };

/* 1 if rows of the builder's table are found by content; then the table has to be unified. */
static int is_interned(const struct pci_merge *m, uint32_t table)
{
    uint32_t to = m->tables[table];
    return to < m->builder->interned_capacity && m->builder->interned[to];
}

/* Marks tables reachable from functions, locations and groups, and those that other files
 * unified. */
static void mark_reachable(const struct pci_merge *m, uint8_t *state)
{
    static const char *const roots[] = {"functions", "locations", "location_groups"};
    uint32_t count = m->file->index.header.table_count;
    int more = 1;
    for (uint32_t i = 0; i < count; i++)
        for (size_t r = 0; r < sizeof roots / sizeof *roots; r++)
            if (!strcmp(m->file->tables[i].name, roots[r]))
                state[i] = READY; /* root tables: reached, and not unified here */
    for (uint32_t i = 0; i < count; i++)
        if (state[i] == OUTSIDE && !is_special(&m->file->tables[i]) && is_interned(m, i))
            state[i] = REACHED;
    while (more) {
        more = 0;
        for (uint32_t i = 0; i < count; i++) {
            const struct pci_table *t = &m->file->tables[i];
            for (uint32_t c = 0; state[i] != OUTSIDE && c < t->column_count; c++) {
                const struct pci_table *to = t->columns[c].references;
                if (to && state[to->number] == OUTSIDE && !is_special(to)) {
                    state[to->number] = REACHED;
                    more = 1;
                }
            }
        }
    }
}

/* 1 if all tables that a table refers to are planned. */
static int is_ready(const struct pci_merge *m, const struct pci_table *t)
{
    for (uint32_t c = 0; c < t->column_count; c++) {
        const struct pci_table *to = t->columns[c].references;
        if (!to || !strcmp(to->name, "sources") || !strcmp(to->name, "nodes") ||
            pci_merge_is_label(t->columns[c].name))
            continue;
        if (is_special(to) || m->actions[to->number] == PCI_MERGE_SPECIAL)
            return 0;
    }
    return 1;
}

/* Topological order of the reached tables; those in cycles are appended. */
static void order_tables(struct pci_merge *m, uint8_t *state)
{
    uint32_t count = m->file->index.header.table_count;
    int more = 1;
    mark_reachable(m, state);
    for (uint32_t i = 0; i < count; i++)
        if (state[i] == OUTSIDE && !is_special(&m->file->tables[i]))
            m->actions[i] = PCI_MERGE_APPEND;
    while (more) {
        more = 0;
        for (uint32_t i = 0; i < count; i++) {
            if (state[i] != REACHED || m->actions[i] != PCI_MERGE_SPECIAL ||
                !is_ready(m, &m->file->tables[i]))
                continue;
            m->actions[i] = PCI_MERGE_UNIFY;
            m->unify_order[m->unify_count++] = i;
            more = 1;
        }
    }
    for (uint32_t i = 0; i < count; i++)
        if (state[i] == REACHED && m->actions[i] == PCI_MERGE_SPECIAL)
            m->actions[i] = PCI_MERGE_APPEND;
}

static pcol_status plan_actions(struct pci_merge *m, pcol_error *err)
{
    uint8_t *state;
    PCI_TRY(PCI_CALLOC(state, m->file->index.header.table_count, err));
    order_tables(m, state);
    pci_free(state);
    return PCOL_OK;
}

/* Determines the action of each table and its rows in the builder, before anything is added. */
pcol_status pci_merge_plan_tables(struct pci_merge *merge, pcol_error *err)
{
    const pcol_file *file = merge->file;
    uint32_t count = file->index.header.table_count;
    PCI_TRY(pci_merge_map(&merge->tables, count, err));
    PCI_TRY(PCI_CALLOC(merge->base, count, err));
    PCI_TRY(PCI_CALLOC(merge->actions, count, err));
    PCI_TRY(PCI_CALLOC(merge->labels, count, err));
    PCI_TRY(PCI_CALLOC(merge->row_maps, count, err));
    PCI_TRY(PCI_MALLOC(merge->unify_order, count, err));
    for (uint32_t i = 0; i < count; i++) {
        const char *name = file->tables[i].name;
        PCI_TRY(pcol_builder_table(merge->builder, name, &merge->tables[i], err));
        merge->base[i] = pci_builder_rows(merge->builder, merge->tables[i]);
    }
    PCI_TRY(plan_actions(merge, err));
    merge->node_base = merge->builder->nodes.count;
    merge->integer_base = merge->builder->nodes.element_count[0];
    merge->double_base = merge->builder->nodes.element_count[1];
    return pci_merge_rows(file, "nodes", &merge->node_rows, err);
}

/* ---- unifying */

static pcol_status unify_row(struct pci_merge *m, struct pci_row_content *f, uint64_t row,
                             uint32_t *to, pcol_error *err)
{
    pcol_builder *b = m->builder;
    int is_new;
    PCI_TRY(pci_row_content_read(f, row, err));
    if (f->is_distinct)
        PCI_TRY(pci_builder_intern(b, f->to, f->columns, f->cells, f->count,
                                   DISTINCT_VARIANT + (uint32_t)pci_builder_rows(b, f->to), to,
                                   &is_new, err));
    else
        PCI_TRY(pci_builder_intern_distinct(b, f->to, f->columns, f->cells, f->count, to, &is_new,
                                            err));
    return is_new ? pci_row_content_copy_uncompared(f, row, *to, err) : PCOL_OK;
}

/* The program of the first source of a part that has one: the first mapping is that of the file. */
static uint64_t find_first_program(const struct pci_merge *m)
{
    uint64_t source = 0;
    while (source < m->source_count && m->programs[source] == PCOL_NONE)
        source++;
    return source < m->source_count ? m->programs[source] : PCOL_NONE;
}

static pcol_status unify_table(struct pci_merge *m, const struct pci_table *table, pcol_error *err)
{
    static const char *const none[] = {NULL};
    int has_symbols = m->symbols && !strcmp(table->name, "mappings");
    struct pci_row_content content;
    uint32_t **map = &m->row_maps[table->number];
    uint64_t rows;
    pcol_status status;
    PCI_TRY(pci_merge_rows(m->file, table->name, &rows, err));
    PCI_TRY(pci_merge_map(map, rows, err));
    status = pci_row_content_open(&content, m, table, m->tables[table->number],
                                  has_symbols ? pci_symbol_columns : none, err);
    const uint8_t *used = m->used ? m->used[table->number] : NULL;
    uint64_t first = m->programs && !strcmp(table->name, "mappings") ? find_first_program(m) : rows;
    if (status == PCOL_OK && first < rows)
        status = unify_row(m, &content, first, &(*map)[first], err);
    for (uint64_t row = 0; row < rows && status == PCOL_OK; row++)
        if (row != first && (!used || used[row]))
            status = unify_row(m, &content, row, &(*map)[row], err);
    if (has_symbols)
        PCI_THEN(status, pci_symbol_flags(m, m->tables[table->number], *map, rows, err));
    m->builder->tables[m->tables[table->number]].flags |= table->flags;
    pci_row_content_close(&content);
    return status;
}

/* Maps the used rows of appended tables, if not all are copied. */
static pcol_status map_used_rows(struct pci_merge *m, pcol_error *err)
{
    for (uint32_t i = 0; i < m->file->index.header.table_count; i++) {
        const struct pci_table *table = &m->file->tables[i];
        uint64_t rows;
        uint32_t to = (uint32_t)m->base[i];
        if (m->actions[i] != PCI_MERGE_APPEND || !m->used[i] || !pci_merge_copies_table(m, table))
            continue;
        PCI_TRY(pci_merge_rows(m->file, table->name, &rows, err));
        PCI_TRY(pci_merge_map(&m->row_maps[i], rows, err));
        for (uint64_t row = 0; row < rows; row++)
            if (m->used[i][row])
                m->row_maps[i][row] = to++;
    }
    return PCOL_OK;
}

pcol_status pci_merge_unify(struct pci_merge *merge, pcol_error *err)
{
    if (merge->partial)
        PCI_TRY(map_used_rows(merge, err));
    for (size_t i = 0; i < merge->unify_count; i++)
        if (pci_merge_copies_table(merge, &merge->file->tables[merge->unify_order[i]]))
            PCI_TRY(unify_table(merge, &merge->file->tables[merge->unify_order[i]], err));
    return PCOL_OK;
}

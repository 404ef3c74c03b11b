/*
 * reachability.c - of a part of a file, which rows of other tables its samples need
 *
 * Samples that are copied name stacks, threads, mappings, frames in labels and trees; stacks name
 * their callers and groups, groups their lines, lines functions, and all of these may name rows of
 * further tables. Each table is looked through once, after all that name its rows: samples, what
 * samples name directly, stacks from the back, groups, functions, and then the tables that are
 * unified, against their order. Trees may name rows of any table (tag 13): if one that is needed
 * does so, what it can name is kept whole.
 */
#include "merge/merge.h"

#include "util/alloc.h"

#include <stdio.h>
#include <string.h>

struct marking {
    struct pci_merge *m;
    struct pci_cells *cells;
    int further; /* what is named may be rows of tables that are put behind, too */
    int trees;   /* some cell that is copied names a tree */
};

/* ---- sets */

static uint8_t **set_of(struct marking *k, const struct pci_table *to, uint64_t *count)
{
    struct pci_merge *m = k->m;
    *count = to->rows;
    if (!strcmp(to->name, "stacks"))
        return &m->wanted;
    if (!strcmp(to->name, "location_groups"))
        return &m->wanted_groups;
    if (!strcmp(to->name, "functions"))
        return &m->wanted_functions;
    if (!strcmp(to->name, "nodes")) {
        k->trees = 1;
        return &m->used[to->number];
    }
    if (m->how[to->number] == PCI_MERGE_UNIFY ||
        (k->further && m->how[to->number] == PCI_MERGE_APPEND))
        return &m->used[to->number];
    return NULL;
}

static pcol_status make_set(uint8_t **set, uint64_t count, pcol_error *err)
{
    if (!*set)
        *set = pci_calloc((size_t)count + 1, 1);
    return *set ? PCOL_OK : pci_fail_memory(err);
}

/* Rows that the rows in `rows` (NULL: all) of a column's table name. */
static pcol_status mark_column(struct marking *k, const struct pci_column *column,
                               const uint8_t *rows, pcol_error *err)
{
    uint64_t count, table_rows = column->table->rows;
    uint8_t **set = column->references ? set_of(k, column->references, &count) : NULL;
    if (!set || !column->supported || !(PCI_IS_INT & PCI_IS(column->desc->type)))
        return PCOL_OK;
    if (set != &k->m->wanted && set != &k->m->wanted_groups && set != &k->m->wanted_functions)
        PCI_TRY(pci_merge_rows(k->m->file, column->references->name, &count, err));
    PCI_TRY(make_set(set, count, err));
    PCI_TRY(pci_cells_use(k->cells, k->m->file, column, err));
    for (uint64_t row = 0; row < table_rows; row++) {
        int64_t value;
        int valid;
        if (rows && !rows[row])
            continue;
        PCI_TRY(pci_cells_get(k->cells, row, &value, &valid, err));
        if (valid && (uint64_t)value < count) /* another number is an error when it is copied */
            (*set)[value] = 1;
    }
    return PCOL_OK;
}

static pcol_status mark_table(struct marking *k, const struct pci_table *table, const uint8_t *rows,
                              pcol_error *err)
{
    for (uint32_t i = 0; table && i < table->column_count; i++)
        if (pci_merge_keeps_column(k->m, &table->columns[i]))
            PCI_TRY(mark_column(k, &table->columns[i], rows, err));
    return PCOL_OK;
}

/* ---- samples */

/* Without a choice of samples: those of the sources. */
static pcol_status find_alive(struct marking *k, const struct pci_table *samples, pcol_error *err)
{
    struct pci_merge *m = k->m;
    if (m->keep) {
        m->alive = m->keep->samples;
        return PCOL_OK;
    }
    m->alive = m->alive_made = pci_calloc((size_t)samples->rows + 1, 1);
    if (!m->alive)
        return pci_fail_memory(err);
    PCI_TRY(pci_cells_open(k->cells, m->file, "samples", "source", PCI_IS_INT, err));
    for (uint64_t row = 0; row < samples->rows; row++) {
        int64_t source;
        int valid;
        PCI_TRY(pci_cells_get(k->cells, row, &source, &valid, err));
        m->alive_made[row] =
            (uint64_t)source >= m->first_source && (uint64_t)source <= m->last_source;
    }
    return PCOL_OK;
}

/* What is a source's whatever samples it has: what the user and the profile itself say of it, an
 * Rprof file's header lines and those that name files; threads, without a choice of samples. */
static pcol_status mark_of_sources(struct marking *k, const char *name, const char *column,
                                   const char *other, pcol_error *err)
{
    struct pci_merge *m = k->m;
    const struct pci_table *table = pci_table_find(m->file, name);
    const struct pci_table *to = other ? pci_table_find(m->file, other) : NULL;
    uint64_t rows;
    PCI_TRY(pci_merge_rows(m->file, name, &rows, err));
    if (!table || m->how[table->number] != PCI_MERGE_APPEND || !pci_merge_keeps_table(m, table))
        return PCOL_OK;
    PCI_TRY(make_set(&m->used[table->number], rows, err));
    PCI_TRY(pci_cells_open(k->cells, m->file, name, column, PCI_IS_INT, err));
    for (uint64_t row = 0; row < rows; row++) {
        int64_t value;
        int valid, keeps;
        PCI_TRY(pci_cells_get(k->cells, row, &value, &valid, err));
        if (other)
            keeps = to && m->used[to->number] && (uint64_t)value < to->rows &&
                    m->used[to->number][value];
        else
            keeps = pci_merge_keeps_source(m, (uint64_t)value);
        m->used[table->number][row] |= (uint8_t)keeps;
    }
    return PCOL_OK;
}

/* Sources that have rows in a table which stays behind, and without which the document around their
 * tables is not true. */
static pcol_status find_bare(struct marking *k, const char *name, pcol_error *err)
{
    struct pci_merge *m = k->m;
    const struct pci_table *table = pci_table_find(m->file, name);
    uint64_t rows;
    if (!m->bare)
        m->bare = pci_calloc((size_t)m->source_count + 1, 1);
    if (!m->bare)
        return pci_fail_memory(err);
    PCI_TRY(pci_merge_rows(m->file, name, &rows, err));
    PCI_TRY(pci_cells_open(k->cells, m->file, name, "source", PCI_IS_INT, err));
    for (uint64_t row = 0; table && row < rows; row++) {
        uint32_t source;
        PCI_TRY(pci_cells_row(k->cells, row, m->source_count, &source, err));
        if (source != PCOL_NONE)
            m->bare[source] = 1;
    }
    return PCOL_OK;
}

/* What samples and sources name directly, and what that names. */
static pcol_status mark_first(struct marking *k, pcol_error *err)
{
    static const char *const of_sources[] = {"source_meta", "source_comments", "resource_types",
                                             "snapshots", "rprof_segments"};
    struct pci_merge *m = k->m;
    const struct pci_table *samples = pci_table_find(m->file, "samples"),
                           *sources = pci_table_find(m->file, "sources");
    uint8_t *kept = pci_calloc((size_t)m->source_count + 1, 1);
    pcol_status status = kept ? PCOL_OK : pci_fail_memory(err);
    if (status == PCOL_OK && m->keep) /* how a source's tables were written, column by column */
        status = find_bare(k, "source_columns", err);
    if (status == PCOL_OK && m->keep && (m->keep->locations || m->keep->cut))
        status = find_bare(k, "resource_types", err);
    for (uint64_t row = 0; kept && row < m->source_count; row++)
        kept[row] = pci_merge_keeps_source(m, row) && !(m->bare && m->bare[row]);
    if (status == PCOL_OK)
        status = pci_merge_events(m, err);
    k->further = 1;
    for (uint32_t i = 0; status == PCOL_OK && i < m->file->index.header.table_count; i++)
        if (m->used[i])
            status = mark_table(k, &m->file->tables[i], m->used[i], err);
    if (status == PCOL_OK && samples)
        status = find_alive(k, samples, err);
    if (status == PCOL_OK && samples)
        status = mark_table(k, samples, m->alive, err);
    k->further = 0;
    if (status == PCOL_OK)
        status = mark_table(k, sources, kept, err);
    pci_free(kept);
    if (status == PCOL_OK && (!m->keep || m->keep->all_samples))
        status = mark_of_sources(k, "threads", "source", NULL, err);
    for (size_t i = 0; i < sizeof of_sources / sizeof *of_sources; i++)
        if (status == PCOL_OK && m->keep)
            status = mark_of_sources(k, of_sources[i], "source", NULL, err);
    if (status == PCOL_OK && m->keep)
        status = mark_of_sources(k, "rprof_files", "segment", "rprof_segments", err);
    for (uint32_t i = 0; status == PCOL_OK && i < m->file->index.header.table_count; i++)
        if (m->how[i] == PCI_MERGE_APPEND && m->used[i])
            status = mark_table(k, &m->file->tables[i], m->used[i], err);
    return status;
}

/* ---- trees */

static pcol_status keep_whole(uint8_t **set, uint64_t count, pcol_error *err)
{
    PCI_TRY(make_set(set, count, err));
    memset(*set, 1, (size_t)count);
    return PCOL_OK;
}

/* A tree that is needed names rows: all that there are. */
static pcol_status keep_all(struct pci_merge *m, pcol_error *err)
{
    PCI_TRY(keep_whole(&m->wanted, m->stack_count, err));
    PCI_TRY(keep_whole(&m->wanted_groups, m->group_count, err));
    PCI_TRY(keep_whole(&m->wanted_functions, m->function_count, err));
    for (size_t i = 0; i < m->order_count; i++) {
        const struct pci_table *table = &m->file->tables[m->order[i]];
        uint64_t rows;
        PCI_TRY(pci_merge_rows(m->file, table->name, &rows, err));
        PCI_TRY(keep_whole(&m->used[table->number], rows, err));
    }
    return PCOL_OK;
}

/* Nodes below those that are needed are needed, too; *names: one of them names a row. */
static pcol_status walk_trees(struct marking *k, int *names, pcol_error *err)
{
    struct pci_merge *m = k->m;
    const struct pci_table *nodes = pci_table_find(m->file, "nodes");
    uint8_t *set = nodes ? m->used[nodes->number] : NULL;
    uint64_t rows;
    *names = 0;
    if (!k->trees || !set)
        return PCOL_OK;
    PCI_TRY(pci_merge_rows(m->file, "nodes", &rows, err));
    struct pci_cells *cells = pci_malloc(2, sizeof *cells);
    pcol_status status = cells ? PCOL_OK : pci_fail_memory(err);
    if (status == PCOL_OK)
        status = pci_cells_open(&cells[0], m->file, "nodes", "parent", PCI_IS_INT, err);
    if (status == PCOL_OK)
        status = pci_cells_open(&cells[1], m->file, "nodes", "tag", PCI_IS_INT, err);
    for (uint64_t row = 0; status == PCOL_OK && row < rows && !*names; row++) {
        int64_t value;
        int valid;
        status = pci_cells_get(&cells[0], row, &value, &valid, err);
        if (status == PCOL_OK && valid && (uint64_t)value < row)
            set[row] |= set[value];
        if (status == PCOL_OK && set[row])
            status = pci_cells_get(&cells[1], row, &value, &valid, err);
        *names = status == PCOL_OK && set[row] && value == PCI_NODE_ROW;
    }
    pci_free(cells);
    return status;
}

/* ---- code */

static pcol_status mark_callers(struct marking *k, pcol_error *err)
{
    struct pci_merge *m = k->m;
    struct pci_cells *cells = pci_malloc(2, sizeof *cells);
    pcol_status status = cells ? PCOL_OK : pci_fail_memory(err);
    uint64_t end = m->stack_count;
    if (status == PCOL_OK)
        status = pci_cells_open(&cells[0], m->file, "stacks", "parent", PCI_IS_INT, err);
    if (status == PCOL_OK)
        status = pci_cells_open(&cells[1], m->file, "stacks", "group", PCI_IS_INT, err);
    /* Cells are read forwards in blocks: take the blocks from the back. */
    while (status == PCOL_OK && end > 1) {
        uint64_t first = (end - 1) / PCI_CELLS * PCI_CELLS;
        for (int c = 0; c < 2 && status == PCOL_OK; c++) {
            int64_t unused;
            int valid;
            status = pci_cells_get(&cells[c], first, &unused, &valid, err);
        }
        for (uint64_t row = end; status == PCOL_OK && row-- > first && row;) {
            int64_t parent, group;
            int valid, grouped;
            if (!m->wanted[row])
                continue;
            status = pci_cells_get(&cells[0], row, &parent, &valid, err);
            if (status == PCOL_OK)
                status = pci_cells_get(&cells[1], row, &group, &grouped, err);
            if (status == PCOL_OK && (uint64_t)parent < row)
                m->wanted[parent] = 1; /* another parent is an error when it is copied */
            if (status == PCOL_OK && grouped && (uint64_t)group < m->group_count &&
                !(m->keep && m->keep->cut && m->keep->cut[row]))
                m->wanted_groups[group] = 1;
        }
        end = first;
    }
    pci_free(cells);
    return status;
}

static pcol_status mark_lines(struct marking *k, pcol_error *err)
{
    struct pci_merge *m = k->m;
    struct pci_cells *cells = pci_malloc(2, sizeof *cells);
    uint64_t location_rows;
    pcol_status status = cells ? PCOL_OK : pci_fail_memory(err);
    if (status == PCOL_OK)
        status = pci_merge_rows(m->file, "locations", &location_rows, err);
    if (status == PCOL_OK)
        status = pci_cells_open(&cells[0], m->file, "location_groups", "first_location", PCI_IS_INT,
                                err);
    if (status == PCOL_OK)
        status = pci_cells_open(&cells[1], m->file, "locations", "function", PCI_IS_INT, err);
    for (uint64_t row = 0; status == PCOL_OK && row < m->group_count; row++) {
        const uint8_t *kept = m->keep ? m->keep->locations : NULL;
        uint64_t at = 0, end = 0;
        int hidden = 1;
        if (!m->wanted_groups[row])
            continue;
        status = pci_merge_line_range(m, &cells[0], row, location_rows, &at, &end, err);
        for (; status == PCOL_OK && at < end; at++) {
            uint32_t function;
            if (kept && !kept[at])
                continue;
            hidden = 0;
            status = pci_cells_row(&cells[1], at, m->function_count, &function, err);
            if (status == PCOL_OK && function != PCOL_NONE)
                m->wanted_functions[function] = 1;
        }
        if (hidden)
            m->wanted_groups[row] = 0;
    }
    pci_free(cells);
    return status;
}

static pcol_status mark_code(struct marking *k, pcol_error *err)
{
    struct pci_merge *m = k->m;
    PCI_TRY(make_set(&m->wanted, m->stack_count, err));
    PCI_TRY(make_set(&m->wanted_groups, m->group_count, err));
    PCI_TRY(make_set(&m->wanted_functions, m->function_count, err));
    PCI_TRY(mark_callers(k, err));
    PCI_TRY(mark_lines(k, err));
    PCI_TRY(mark_table(k, pci_table_find(m->file, "location_groups"), m->wanted_groups, err));
    PCI_TRY(mark_table(k, pci_table_find(m->file, "functions"), m->wanted_functions, err));
    for (size_t i = m->order_count; i-- > 0;) {
        const struct pci_table *table = &m->file->tables[m->order[i]];
        uint64_t rows;
        if (!pci_merge_keeps_table(m, table))
            continue;
        PCI_TRY(pci_merge_rows(m->file, table->name, &rows, err));
        PCI_TRY(make_set(&m->used[table->number], rows, err));
        if (rows && !strcmp(table->name, "mappings"))
            m->used[table->number][0] = 1; /* the first is that of the program itself */
        PCI_TRY(mark_table(k, table, m->used[table->number], err));
    }
    return PCOL_OK;
}

pcol_status pci_merge_mark(struct pci_merge *merge, pcol_error *err)
{
    struct marking k = {.m = merge};
    int names = 0;
    merge->used = pci_calloc(merge->file->index.header.table_count, sizeof(uint8_t *));
    k.cells = pci_malloc(1, sizeof *k.cells);
    pcol_status status = merge->used && k.cells ? PCOL_OK : pci_fail_memory(err);
    if (status == PCOL_OK)
        status = mark_first(&k, err);
    if (status == PCOL_OK)
        status = mark_code(&k, err);
    if (status == PCOL_OK)
        status = walk_trees(&k, &names, err);
    if (status == PCOL_OK && names)
        status = keep_all(merge, err);
    /* Frames number the subcategories of their category: of one that is needed, all are. */
    if (status == PCOL_OK)
        status = mark_of_sources(&k, "subcategories", "category", "categories", err);
    pci_free(k.cells);
    return status;
}

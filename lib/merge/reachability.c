/*
 * reachability.c - marks the rows of other tables that copied samples use (mark phase)
 *
 * Each table is scanned once, after all tables that refer to it: events and samples, tables that
 * samples refer to, stacks backwards (a child precedes its parent), groups, functions, then the
 * unified tables in reverse topological order. A tree may refer to rows of any table (tag 13): if a
 * used tree does, all tables that it can refer to are copied whole. Tests: tests/cli/filter.test,
 * suite merge.
 */
#include "merge/merge.h"

#include "util/alloc.h"

#include <string.h>

struct marker {
    struct pci_merge *m;
    struct pci_cells *cells, *source_cells;
    int marks_appended; /* references to appended tables are marked, too */
    int has_trees;      /* a copied cell refers to a tree */
};

/* ---- sets */

static uint8_t **find_set(struct marker *k, const struct pci_table *to, uint64_t *count)
{
    struct pci_merge *m = k->m;
    *count = to->rows;
    if (!strcmp(to->name, "stacks"))
        return &m->used_stacks;
    if (!strcmp(to->name, "location_groups"))
        return &m->used_groups;
    if (!strcmp(to->name, "functions"))
        return &m->used_functions;
    if (!strcmp(to->name, "nodes")) {
        k->has_trees = 1;
        return &m->used[to->number];
    }
    if (m->actions[to->number] == PCI_MERGE_UNIFY ||
        (k->marks_appended && m->actions[to->number] == PCI_MERGE_APPEND &&
         pci_merge_copies_table(m, to)))
        return &m->used[to->number];
    return NULL;
}

static pcol_status open_set(uint8_t **set, uint64_t count, pcol_error *err)
{
    return *set ? PCOL_OK : PCI_CALLOC(*set, (size_t)count + 1, err);
}

/* Marks the rows that a column refers to from `rows` (NULL: all). */
static pcol_status mark_column(struct marker *k, const struct pci_column *column,
                               const uint8_t *rows, pcol_error *err)
{
    uint64_t count, table_rows = column->table->rows;
    uint8_t **set = column->references ? find_set(k, column->references, &count) : NULL;
    if (!set || !column->supported || !(PCI_IS_INT & PCI_IS(column->desc->type)))
        return PCOL_OK;
    if (set != &k->m->used_stacks && set != &k->m->used_groups && set != &k->m->used_functions)
        PCI_TRY(pci_merge_rows(k->m->file, column->references->name, &count, err));
    PCI_TRY(open_set(set, count, err));
    PCI_TRY(pci_cells_use(k->cells, k->m->file, column, err));
    for (uint64_t row = 0; row < table_rows; row++) {
        int64_t value;
        int valid;
        if (rows && !rows[row])
            continue;
        PCI_TRY(pci_cells_get(k->cells, row, &value, &valid, err));
        if (valid && (uint64_t)value < count) /* other numbers are reported when the cell is
                                               * copied */
            (*set)[value] = 1;
    }
    return PCOL_OK;
}

static pcol_status mark_table(struct marker *k, const struct pci_table *table, const uint8_t *rows,
                              pcol_error *err)
{
    for (uint32_t i = 0; table && i < table->column_count; i++)
        if (k->marks_appended ? pci_merge_selects_column(k->m, &table->columns[i])
                              : pci_merge_copies_column(k->m, &table->columns[i]))
            PCI_TRY(mark_column(k, &table->columns[i], rows, err));
    return PCOL_OK;
}

/* ---- samples */

/* Without a selection: the samples of the copied sources. */
static pcol_status find_copied_samples(struct marker *k, const struct pci_table *samples,
                                       pcol_error *err)
{
    struct pci_merge *m = k->m;
    if (m->selection) {
        m->copied_samples = m->selection->samples;
        return PCOL_OK;
    }
    m->copied_samples = m->copied_samples_owned = pci_calloc((size_t)samples->rows + 1, 1);
    if (!m->copied_samples)
        return pci_fail_memory(err);
    PCI_TRY(pci_cells_open(k->cells, m->file, "samples", "source", PCI_IS_INT, err));
    for (uint64_t row = 0; row < samples->rows; row++) {
        int64_t source;
        int valid;
        PCI_TRY(pci_cells_get(k->cells, row, &source, &valid, err));
        m->copied_samples_owned[row] =
            (uint64_t)source >= m->first_source && (uint64_t)source <= m->last_source;
    }
    return PCOL_OK;
}

/* The marks of the rows of a table that rows of others belong to; NULL: none. */
static const uint8_t *get_owners(const struct pci_merge *m, const struct pci_table *to)
{
    return !strcmp(to->name, "location_groups") ? m->used_groups : m->used[to->number];
}

/* Marks rows that belong to a source whatever samples it has: its metadata and comments, header
 * lines and file lines of Rprof; threads, without a selection of samples. owner: the column that
 * refers to a source, or to a row of another table that is already marked; rows of sources that are
 * not copied are not marked. */
static pcol_status mark_owned(struct marker *k, const struct pci_column *owner, pcol_error *err)
{
    struct pci_merge *m = k->m;
    const struct pci_table *table = owner->table, *to = owner->references;
    const uint8_t *owners = get_owners(m, to);
    int of_sources = !strcmp(to->name, "sources");
    struct pci_cells *sources = k->source_cells;
    uint64_t rows;
    if (of_sources && table->schema->table_flags & PCI_TABLE_OF_SAMPLES &&
        !pci_merge_keeps_documents(m->selection))
        return PCOL_OK;
    PCI_TRY(pci_merge_rows(m->file, table->name, &rows, err));
    if (m->actions[table->number] != PCI_MERGE_APPEND || !pci_merge_copies_table(m, table))
        return PCOL_OK;
    PCI_TRY(open_set(&m->used[table->number], rows, err));
    PCI_TRY(pci_cells_open(k->cells, m->file, table->name, owner->name, PCI_IS_INT, err));
    PCI_TRY(pci_cells_open(sources, m->file, table->name, "source", PCI_IS_INT, err));
    for (uint64_t row = 0; row < rows; row++) {
        int64_t value, source = 0;
        int valid, is_copied = 1;
        PCI_TRY(pci_cells_get(k->cells, row, &value, &valid, err));
        if (sources->column)
            PCI_TRY(pci_cells_get(sources, row, &source, &valid, err));
        is_copied = !sources->column || pci_merge_copies_source(m, (uint64_t)source);
        if (!of_sources)
            is_copied &= (uint64_t)value < to->rows && owners[value];
        m->used[table->number][row] |= (uint8_t)is_copied;
    }
    return PCOL_OK;
}

/* As mark_owned(), for all tables whose owners are sources, or for all others. */
static pcol_status mark_all_owned(struct marker *k, int of_sources, pcol_error *err)
{
    const struct pci_merge *m = k->m;
    for (uint32_t i = 0; i < m->file->index.header.column_count; i++) {
        const struct pci_column *column = &m->file->columns[i];
        const struct pci_table *to = column->references;
        if (!column->schema || !(column->schema->flags & PCI_OWNER) || !to)
            continue;
        if (of_sources ? !strcmp(to->name, "sources") : get_owners(m, to) != NULL)
            PCI_TRY(mark_owned(k, column, err));
    }
    return PCOL_OK;
}

/* ---- segments */

enum { SEGMENT_HAS_SAMPLES = 1, SEGMENT_HAS_COPIED = 2 };

/* Which segments have samples of their source, and which have copied ones. */
static pcol_status find_segment_samples(struct marker *k, const struct pci_column *owners,
                                        uint8_t *states, pcol_error *err)
{
    const pcol_file *file = k->m->file;
    const struct pci_table *segments = owners->table;
    uint64_t total = pci_rows(file, "samples"), sample = 0;
    const struct pci_column *first;
    int64_t owner, source, end;
    int valid;
    PCI_TRY(
        pci_find_verified_column(file, segments->name, "first_sample", PCI_TYPES_INT, &first, err));
    PCI_TRY(pci_cells_open(k->cells, file, "samples", "source", PCI_IS_INT, err));
    for (uint64_t row = 0; row < segments->rows; row++) {
        end = (int64_t)total;
        PCI_TRY(pci_get(file, owners, row, &owner, &valid, err));
        if (row + 1 < segments->rows)
            PCI_TRY(pci_get(file, first, row + 1, &end, &valid, err));
        for (; sample < (uint64_t)end && sample < total; sample++) {
            PCI_TRY(pci_cells_get(k->cells, sample, &source, &valid, err));
            if (source == owner)
                states[row] |= k->m->copied_samples[sample]
                                   ? SEGMENT_HAS_SAMPLES | SEGMENT_HAS_COPIED
                                   : SEGMENT_HAS_SAMPLES;
        }
    }
    return PCOL_OK;
}

/* Of each source that has others, unmark the segments whose samples are all left out: R counts
 * their header lines as samples. */
static pcol_status unmark_emptied(struct marker *k, const struct pci_column *owners, uint8_t *used,
                                  const uint8_t *states, pcol_error *err)
{
    uint64_t remaining = 0; /* last segment of the source that is still marked */
    int64_t source, last_source = -1;
    int valid;
    for (uint64_t row = 0; row < owners->table->rows; row++) {
        if (!used[row])
            continue;
        PCI_TRY(pci_get(k->m->file, owners, row, &source, &valid, err));
        if (source == last_source && states[row] == SEGMENT_HAS_SAMPLES) {
            used[row] = 0;
            continue;
        }
        if (source == last_source && states[remaining] == SEGMENT_HAS_SAMPLES)
            used[remaining] = 0;
        remaining = row;
        last_source = source;
    }
    return PCOL_OK;
}

static pcol_status unmark_emptied_segments(struct marker *k, pcol_error *err)
{
    const struct pci_table *table = pci_table_flagged(k->m->file, PCI_TABLE_SEGMENTS);
    uint8_t *used = table ? k->m->used[table->number] : NULL, *states;
    const struct pci_column *owners;
    if (!used || !k->m->copied_samples)
        return PCOL_OK;
    PCI_TRY(pci_check_row_count(k->m->file, table->name, err));
    PCI_TRY(
        pci_find_verified_column(k->m->file, table->name, "source", PCI_TYPES_ROW, &owners, err));
    if (!owners)
        return PCOL_OK;
    PCI_TRY(PCI_CALLOC(states, (size_t)table->rows + 1, err));
    pcol_status status = find_segment_samples(k, owners, states, err);
    PCI_THEN(status, unmark_emptied(k, owners, used, states, err));
    pci_free(states);
    return status;
}

/* Marks sources that have rows in an omitted table and whose `extra` depends on it. */
static pcol_status find_incomplete_sources(struct marker *k, const struct pci_table *table,
                                           pcol_error *err)
{
    struct pci_merge *m = k->m;
    uint64_t rows;
    if (!m->incomplete_sources)
        PCI_TRY(PCI_CALLOC(m->incomplete_sources, (size_t)m->source_count + 1, err));
    PCI_TRY(pci_merge_rows(m->file, table->name, &rows, err));
    PCI_TRY(pci_cells_open(k->cells, m->file, table->name, "source", PCI_IS_INT, err));
    for (uint64_t row = 0; row < rows; row++) {
        uint32_t source;
        PCI_TRY(pci_cells_row(k->cells, row, m->source_count, &source, err));
        if (source != PCOL_NONE)
            m->incomplete_sources[source] = 1;
    }
    return PCOL_OK;
}

/* Marks the rows that samples and sources refer to, and those that these rows refer to. */
static pcol_status mark_referenced(struct marker *k, pcol_error *err)
{
    struct pci_merge *m = k->m;
    uint32_t incomplete = PCI_TABLE_SPELLING;
    const struct pci_table *samples = pci_table_find(m->file, "samples"),
                           *sources = pci_table_find(m->file, "sources");
    const struct pci_column *threads =
        pci_column_find(pci_table_find(m->file, "threads"), "source");
    uint8_t *copied = pci_calloc((size_t)m->source_count + 1, 1);
    pcol_status status = copied ? PCOL_OK : pci_fail_memory(err);
    if (pci_merge_hides_frames(m->selection))
        incomplete |= PCI_TABLE_NAMES_FRAMES;
    for (uint32_t i = 0; m->selection && i < m->file->index.header.table_count; i++)
        if (status == PCOL_OK && m->file->tables[i].schema->table_flags & incomplete &&
            pci_column_find(&m->file->tables[i], "source"))
            status = find_incomplete_sources(k, &m->file->tables[i], err);
    for (uint64_t row = 0; copied && row < m->source_count; row++)
        copied[row] = pci_merge_copies_source(m, row) &&
                      !(m->incomplete_sources && m->incomplete_sources[row]);
    PCI_THEN(status, pci_merge_events(m, err));
    k->marks_appended = 1;
    for (uint32_t i = 0; status == PCOL_OK && i < m->file->index.header.table_count; i++)
        if (m->used[i])
            status = mark_table(k, &m->file->tables[i], m->used[i], err);
    if (status == PCOL_OK && samples)
        status = find_copied_samples(k, samples, err);
    if (status == PCOL_OK && samples)
        status = mark_table(k, samples, m->copied_samples, err);
    k->marks_appended = 0;
    PCI_THEN(status, mark_table(k, sources, copied, err));
    pci_free(copied);
    if (status == PCOL_OK && threads && threads->references &&
        (!m->selection || m->selection->all_samples))
        status = mark_owned(k, threads, err);
    if (status == PCOL_OK && m->selection)
        status = mark_all_owned(k, 1, err);
    PCI_THEN(status, unmark_emptied_segments(k, err));
    if (status == PCOL_OK && m->selection)
        status = mark_all_owned(k, 0, err);
    for (uint32_t i = 0; status == PCOL_OK && i < m->file->index.header.table_count; i++)
        if (m->actions[i] == PCI_MERGE_APPEND && m->used[i])
            status = mark_table(k, &m->file->tables[i], m->used[i], err);
    return status;
}

/* ---- trees */

static pcol_status mark_whole(uint8_t **set, uint64_t count, pcol_error *err)
{
    PCI_TRY(open_set(set, count, err));
    memset(*set, 1, (size_t)count);
    return PCOL_OK;
}

/* A used tree refers to rows: marks all rows. */
static pcol_status mark_all(struct pci_merge *m, pcol_error *err)
{
    PCI_TRY(mark_whole(&m->used_stacks, m->stack_count, err));
    PCI_TRY(mark_whole(&m->used_groups, m->group_count, err));
    PCI_TRY(mark_whole(&m->used_functions, m->function_count, err));
    for (size_t i = 0; i < m->unify_count; i++) {
        const struct pci_table *table = &m->file->tables[m->unify_order[i]];
        uint64_t rows;
        PCI_TRY(pci_merge_rows(m->file, table->name, &rows, err));
        PCI_TRY(mark_whole(&m->used[table->number], rows, err));
    }
    return PCOL_OK;
}

/* Marks the descendants of marked nodes; *names: 1 if one of them refers to a row. */
static pcol_status mark_nodes(struct marker *k, int *refers_to_rows, pcol_error *err)
{
    struct pci_merge *m = k->m;
    const struct pci_table *nodes = pci_table_find(m->file, "nodes");
    uint8_t *set = nodes ? m->used[nodes->number] : NULL;
    uint64_t rows;
    *refers_to_rows = 0;
    if (!k->has_trees || !set)
        return PCOL_OK;
    PCI_TRY(pci_merge_rows(m->file, "nodes", &rows, err));
    struct pci_cells *cells = pci_malloc(2, sizeof *cells);
    pcol_status status = cells ? PCOL_OK : pci_fail_memory(err);
    PCI_THEN(status, pci_cells_open(&cells[0], m->file, "nodes", "parent", PCI_IS_INT, err));
    PCI_THEN(status, pci_cells_open(&cells[1], m->file, "nodes", "tag", PCI_IS_INT, err));
    for (uint64_t row = 0; status == PCOL_OK && row < rows && !*refers_to_rows; row++) {
        int64_t value;
        int valid;
        status = pci_cells_get(&cells[0], row, &value, &valid, err);
        if (status == PCOL_OK && valid && (uint64_t)value < row)
            set[row] |= set[value];
        if (status == PCOL_OK && set[row])
            status = pci_cells_get(&cells[1], row, &value, &valid, err);
        *refers_to_rows = status == PCOL_OK && set[row] && value == PCI_NODE_ROW;
    }
    pci_free(cells);
    return status;
}

/* ---- code */

static pcol_status mark_callers(struct marker *k, pcol_error *err)
{
    struct pci_merge *m = k->m;
    struct pci_cells *cells = pci_malloc(2, sizeof *cells);
    pcol_status status = cells ? PCOL_OK : pci_fail_memory(err);
    uint64_t end = m->stack_count;
    PCI_THEN(status, pci_cells_open(&cells[0], m->file, "stacks", "parent", PCI_IS_INT, err));
    PCI_THEN(status, pci_cells_open(&cells[1], m->file, "stacks", "group", PCI_IS_INT, err));
    /* Batches are read forwards; take them in reverse order. */
    while (status == PCOL_OK && end > 1) {
        uint64_t first = (end - 1) / PCI_MERGE_BATCH * PCI_MERGE_BATCH;
        for (int c = 0; c < 2 && status == PCOL_OK; c++) {
            int64_t unused;
            int valid;
            status = pci_cells_get(&cells[c], first, &unused, &valid, err);
        }
        for (uint64_t row = end; status == PCOL_OK && row-- > first && row;) {
            int64_t parent, group;
            int valid, grouped;
            if (!m->used_stacks[row])
                continue;
            status = pci_cells_get(&cells[0], row, &parent, &valid, err);
            PCI_THEN(status, pci_cells_get(&cells[1], row, &group, &grouped, err));
            if (status == PCOL_OK && (uint64_t)parent < row)
                m->used_stacks[parent] = 1; /* other parents are reported when the row is copied */
            if (status == PCOL_OK && grouped && (uint64_t)group < m->group_count &&
                !(m->selection && m->selection->omitted_frames &&
                  m->selection->omitted_frames[row]))
                m->used_groups[group] = 1;
        }
        end = first;
    }
    pci_free(cells);
    return status;
}

static pcol_status mark_lines(struct marker *k, pcol_error *err)
{
    struct pci_merge *m = k->m;
    struct pci_cells *cells = pci_malloc(2, sizeof *cells);
    uint64_t location_rows;
    pcol_status status = cells ? PCOL_OK : pci_fail_memory(err);
    PCI_THEN(status, pci_merge_rows(m->file, "locations", &location_rows, err));
    PCI_THEN(status, pci_cells_open(&cells[0], m->file, "location_groups", "first_location",
                                    PCI_IS_INT, err));
    PCI_THEN(status, pci_cells_open(&cells[1], m->file, "locations", "function", PCI_IS_INT, err));
    for (uint64_t row = 0; status == PCOL_OK && row < m->group_count; row++) {
        const uint8_t *copied = m->selection ? m->selection->locations : NULL;
        uint64_t location = 0, end = 0;
        int hidden = 1;
        if (!m->used_groups[row])
            continue;
        status = pci_merge_line_range(m, &cells[0], row, location_rows, &location, &end, err);
        for (; status == PCOL_OK && location < end; location++) {
            uint32_t function;
            if (copied && !copied[location])
                continue;
            hidden = 0;
            status = pci_cells_row(&cells[1], location, m->function_count, &function, err);
            if (status == PCOL_OK && function != PCOL_NONE)
                m->used_functions[function] = 1;
        }
        if (hidden)
            m->used_groups[row] = 0;
    }
    pci_free(cells);
    return status;
}

/* *row: the mapping of the program of a source; PCOL_NONE: it has none. Of a source without
 * recorded rows it is row 0, if the source is the first one and others do not have all mappings. */
static pcol_status find_program(const struct pci_merge *m, uint32_t source, uint32_t *row,
                                pcol_error *err)
{
    const struct pci_table *mappings = pci_table_find(m->file, "mappings");
    const uint8_t *used = m->used[mappings->number];
    const struct pci_column *type;
    struct pci_order order = {0};
    pcol_str text = {"", 0};
    int valid;
    *row = PCOL_NONE;
    PCI_TRY(pci_find_verified_column(m->file, "sources", "type", PCI_TYPES_TEXT, &type, err));
    PCI_TRY(pci_get_str(m->file, type, source, &text, &valid, err));
    const struct pci_format_schema *schema = pci_format_schema(m->file, text);
    if (!schema || !schema->program_first)
        return PCOL_OK;
    pcol_status status = pci_order_read(m->file, source, PCOL_NONE, "mapping", &order, err);
    if (status == PCOL_OK && order.known)
        *row = order.count ? (uint32_t)order.rows[0] : PCOL_NONE;
    else if (!source && (m->source_count == 1 || memchr(used, 1, (size_t)mappings->rows)))
        *row = 0;
    pci_order_clear(&order);
    return status;
}

/* Marks the programs of the copied sources. */
static pcol_status mark_programs(struct marker *k, pcol_error *err)
{
    struct pci_merge *m = k->m;
    const struct pci_table *mappings = pci_table_find(m->file, "mappings");
    uint64_t rows;
    if (!mappings || !pci_merge_copies_table(m, mappings))
        return PCOL_OK;
    PCI_TRY(pci_merge_rows(m->file, "mappings", &rows, err));
    PCI_TRY(open_set(&m->used[mappings->number], rows, err));
    PCI_TRY(pci_merge_map(&m->programs, m->source_count, err));
    for (uint64_t source = 0; rows && source < m->source_count; source++) {
        if (pci_merge_copies_source(m, source))
            PCI_TRY(find_program(m, (uint32_t)source, &m->programs[source], err));
        if (m->programs[source] != PCOL_NONE)
            m->used[mappings->number][m->programs[source]] = 1;
    }
    return PCOL_OK;
}

static pcol_status mark_code(struct marker *k, pcol_error *err)
{
    struct pci_merge *m = k->m;
    PCI_TRY(open_set(&m->used_stacks, m->stack_count, err));
    PCI_TRY(open_set(&m->used_groups, m->group_count, err));
    PCI_TRY(open_set(&m->used_functions, m->function_count, err));
    PCI_TRY(pci_merge_mark_documents(k->m, err));
    PCI_TRY(mark_callers(k, err));
    PCI_TRY(mark_lines(k, err));
    PCI_TRY(mark_table(k, pci_table_find(m->file, "location_groups"), m->used_groups, err));
    PCI_TRY(mark_table(k, pci_table_find(m->file, "functions"), m->used_functions, err));
    PCI_TRY(mark_programs(k, err));
    for (size_t i = m->unify_count; i-- > 0;) {
        const struct pci_table *table = &m->file->tables[m->unify_order[i]];
        uint64_t rows;
        if (!pci_merge_copies_table(m, table))
            continue;
        PCI_TRY(pci_merge_rows(m->file, table->name, &rows, err));
        PCI_TRY(open_set(&m->used[table->number], rows, err));
        PCI_TRY(mark_table(k, table, m->used[table->number], err));
    }
    return PCOL_OK;
}

pcol_status pci_merge_mark_used(struct pci_merge *merge, pcol_error *err)
{
    struct marker k = {.m = merge};
    int names = 0;
    merge->used = pci_calloc(merge->file->index.header.table_count, sizeof(uint8_t *));
    k.cells = pci_malloc(2, sizeof *k.cells);
    k.source_cells = k.cells + 1;
    pcol_status status = merge->used && k.cells ? PCOL_OK : pci_fail_memory(err);
    PCI_THEN(status, mark_referenced(&k, err));
    PCI_THEN(status, mark_code(&k, err));
    PCI_THEN(status, mark_nodes(&k, &names, err));
    if (status == PCOL_OK && names)
        status = mark_all(merge, err);
    /* Frames number subcategories within their category: a used category needs all of them. */
    PCI_THEN(status, mark_all_owned(&k, 0, err));
    pci_free(k.cells);
    return status;
}

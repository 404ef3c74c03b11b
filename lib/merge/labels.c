/*
 * labels.c - label keys and shapes of a pcol file
 *
 * A key becomes the builder's row with the same (table, key, kind, unit, occurrence). If the keys
 * of a table keep their order, its label columns are copied and rows without a shape stay without
 * one. Otherwise each row is read as a list of labels, and gets a shape if its order of keys would
 * change.
 */
#include "merge/added_frames.h"
#include "merge/pseudonyms.h"

#include "query/labels.h"
#include "util/alloc.h"

#include <stdio.h>
#include <string.h>

int pci_merge_is_label(const char *column)
{
    return !strcmp(column, "label_shape") || pci_is_label_column(column);
}

/* ---- keys */

enum { K_TABLE, K_KEY, K_KIND, K_UNIT, K_OCCURRENCE, K_COUNT };

struct key_walk {
    struct pci_merge *m;
    const struct pci_column *columns[K_COUNT];
    uint8_t *seen; /* by row of the builder's label_keys */
    size_t seen_capacity;
    uint32_t *last_key; /* by table of the file: 1 + the builder's row of its last key */
};

static pcol_status fail_label_key(uint64_t row, const char *column, const char *problem,
                                  pcol_error *err)
{
    return pci_corrupt(err, "label_keys", column, row, "%s", problem);
}

/* Checks that the type of label.K suits its kind, and that it declares a reference if the builder's
 * column will: then its row numbers are verified. */
static pcol_status check_column(const struct pci_table *table, uint64_t row, int kind,
                                pcol_error *err)
{
    char name[32];
    const char *references;
    unsigned types = pci_label_types(kind, &references);
    const struct pci_column *column;
    snprintf(name, sizeof name, "label.%llu", (unsigned long long)row);
    column = pci_column_find(table, name);
    if (column && column->supported && !(types & PCI_IS(column->desc->type)))
        return pci_corrupt(err, table->name, column->name, PCOL_POSITION_UNKNOWN,
                           "the type of the column is not one of its kind of label");
    if (column && column->supported && references &&
        (!column->references || strcmp(column->references->name, references) != 0))
        return pci_corrupt(err, table->name, column->name, PCOL_POSITION_UNKNOWN,
                           "column does not refer to %s, as its kind of label does", references);
    return PCOL_OK;
}

static pcol_status update_order(struct key_walk *w, const struct pci_table *table, uint32_t number)
{
    uint32_t *last_key = &w->last_key[table->number];
    uint8_t *mode = &w->m->labels[table->number];
    if (*mode == PCI_LABELS_NONE)
        *mode = PCI_LABELS_COPY;
    if (number + 1 < *last_key)
        *mode = PCI_LABELS_ROWS;
    *last_key = number + 1;
    return PCOL_OK;
}

static pcol_status check_unique(struct key_walk *w, uint64_t row, uint32_t number, pcol_error *err)
{
    size_t before = w->seen_capacity;
    PCI_TRY(PCI_GROW(w->seen, w->seen_capacity, (size_t)number + 1, err));
    memset(w->seen + before, 0, w->seen_capacity - before);
    if (w->seen[number]++)
        return fail_label_key(row, "key", "duplicate key", err);
    return PCOL_OK;
}

/* The marks of the copied rows of a table; NULL: not known. */
static const uint8_t *get_marks(const struct pci_merge *m, const struct pci_table *table)
{
    if (!strcmp(table->name, "samples"))
        return m->copied_samples;
    if (!strcmp(table->name, "functions"))
        return m->used_functions;
    return !strcmp(table->name, "location_groups") ? m->used_groups : m->used[table->number];
}

/* *needed: 1 if copied rows have values of a key. */
static pcol_status is_needed(struct key_walk *w, pcol_str table_name, pcol_str key, uint64_t number,
                             int kind, int *needed, pcol_error *err)
{
    struct pci_merge *m = w->m;
    const struct pci_table *table = pci_table_named(m->file, table_name);
    const char *references;
    char name[32];
    *needed = 1;
    if (!m->partial || !table)
        return PCOL_OK;
    *needed = pci_merge_copies_label(m, table->name, key);
    if (m->actions[table->number] == PCI_MERGE_APPEND ||
        m->actions[table->number] == PCI_MERGE_UNIFY)
        *needed = m->used[table->number] && pci_merge_copies_table(m, table);
    const uint8_t *marks = get_marks(m, table);
    if (!*needed || !pci_label_types(kind, &references) || !marks)
        return PCOL_OK;
    snprintf(name, sizeof name, "label.%llu", (unsigned long long)number);
    const struct pci_column *column = pci_column_find(table, name);
    struct pci_cells *cells = pci_malloc(1, sizeof *cells);
    pcol_status status = cells ? pci_cells_use(cells, m->file, column, err) : pci_fail_memory(err);
    *needed = 0;
    for (uint64_t row = 0; status == PCOL_OK && column && !*needed && row < table->rows; row++) {
        int64_t bits;
        if (!marks[row])
            continue;
        status = pci_cells_get(cells, row, &bits, needed, err);
        int loses = 0;
        if (*needed)
            PCI_THEN(status, pci_merge_loses_label(m, table->name, row, key, &loses, err));
        *needed &= !loses;
    }
    pci_free(cells);
    return status;
}

static pcol_status add_key(struct key_walk *w, uint64_t row, pcol_error *err)
{
    struct pci_merge *m = w->m;
    pcol_builder *b = m->builder;
    pcol_str table_name, kind_name, text;
    char name[PCF_MAX_NAME + 1];
    uint32_t table, key, unit = PCOL_NONE;
    int64_t occurrence = 0;
    int kind, valid, needed;
    PCI_TRY(pci_get_str(w->m->file, w->columns[K_TABLE], row, &table_name, &valid, err));
    if (!valid || !pcf_name_valid(table_name.data, table_name.size))
        return fail_label_key(row, "table", "not the name of a table", err);
    memcpy(name, table_name.data, table_name.size);
    name[table_name.size] = '\0';
    PCI_TRY(pci_get_str(w->m->file, w->columns[K_KIND], row, &kind_name, &valid, err));
    kind = pci_label_kind_by_name(kind_name);
    if (kind < 0)
        return pci_fail_cell(err, PCOL_E_UNSUPPORTED, "label_keys", "kind", row,
                             "this kind of label needs a newer reader");
    PCI_TRY(pci_get_str(w->m->file, w->columns[K_KEY], row, &text, &valid, err));
    PCI_TRY(is_needed(w, table_name, text, row, kind, &needed, err));
    if (!needed)
        return PCOL_OK;
    PCI_TRY(pci_merge_text(m, PCI_NAME_KEY, text, &key, err));
    PCI_TRY(pci_get_str(w->m->file, w->columns[K_UNIT], row, &text, &valid, err));
    if (valid)
        PCI_TRY(pci_merge_text(m, PCI_NAME_UNIT, text, &unit, err));
    PCI_TRY(pci_get(m->file, w->columns[K_OCCURRENCE], row, &occurrence, &valid, err));
    if ((uint64_t)occurrence >= m->label_key_count)
        return fail_label_key(row, "occurrence", "out of range: there are fewer keys", err);
    PCI_TRY(pcol_builder_table(b, name, &table, err));
    PCI_TRY(pci_label_key_row(b, table, key, unit, (uint8_t)kind, (uint32_t)occurrence,
                              &m->label_keys[row], err));
    PCI_TRY(check_unique(w, row, m->label_keys[row], err));
    const struct pci_table *file_table = pci_table_named(m->file, table_name);
    if (!file_table)
        return PCOL_OK;
    PCI_TRY(check_column(file_table, row, kind, err));
    return update_order(w, file_table, m->label_keys[row]);
}

static pcol_status walk_keys(struct key_walk *w, pcol_error *err)
{
    static const struct {
        const char *name;
        unsigned types;
    } needed[K_COUNT] = {{"table", PCI_TYPES_TEXT},
                         {"key", PCI_TYPES_TEXT},
                         {"kind", PCI_TYPES_TEXT},
                         {"unit", PCI_TYPES_TEXT},
                         {"occurrence", PCI_TYPES_INT}};
    struct pci_merge *m = w->m;
    PCI_TRY(pci_merge_map(&m->label_keys, m->label_key_count, err));
    PCI_TRY(PCI_CALLOC(w->last_key, m->file->index.header.table_count, err));
    for (size_t i = 0; i < K_COUNT; i++) {
        PCI_TRY(pci_find_column(m->file, "label_keys", needed[i].name, needed[i].types,
                                &w->columns[i], err));
        if (w->columns[i])
            PCI_TRY(pci_verify(m->file, w->columns[i], err));
    }
    for (uint64_t row = 0; row < m->label_key_count; row++)
        PCI_TRY(add_key(w, row, err));
    return PCOL_OK;
}

/* ---- shapes */

static pcol_status add_shape(struct pci_merge *m, struct pci_cells *cells, uint64_t shape,
                             uint64_t entry_rows, uint32_t **entries, size_t *capacity,
                             pcol_error *err)
{
    int64_t first, end = (int64_t)entry_rows, joined;
    size_t count = 0;
    int valid;
    PCI_TRY(pci_cells_get(&cells[0], shape, &first, &valid, err));
    if (shape + 1 < m->label_shape_count)
        PCI_TRY(pci_cells_get(&cells[0], shape + 1, &end, &valid, err));
    if ((uint64_t)first > (uint64_t)end || (uint64_t)end > entry_rows)
        return pci_corrupt(err, "label_shapes", "first_key", shape,
                           "the keys of shapes do not follow one another");
    for (uint64_t entry_row = (uint64_t)first; entry_row < (uint64_t)end; entry_row++) {
        uint32_t key, entry = 0;
        PCI_TRY(pci_cells_row(&cells[1], entry_row, m->label_key_count, &key, err));
        PCI_TRY(pci_cells_get(&cells[2], entry_row, &joined, &valid, err));
        PCI_TRY(PCI_GROW(*entries, *capacity, count + 1, err));
        if (key != PCOL_NONE && m->label_keys[key] == PCOL_NONE)
            return PCOL_OK; /* a shape of omitted labels */
        if (key != PCOL_NONE)
            entry = 2 * (m->label_keys[key] + 1);
        (*entries)[count++] = entry + (joined != 0);
    }
    return pci_label_shape(m->builder, *entries, count, &m->label_shapes[shape], err);
}

static pcol_status add_shapes(struct pci_merge *m, pcol_error *err)
{
    uint32_t *entries = NULL;
    size_t capacity = 0;
    uint64_t entry_rows;
    struct pci_cells *cells;
    pcol_status status;
    PCI_TRY(PCI_MALLOC(cells, 3, err));
    status = pci_merge_rows(m->file, "label_shape_keys", &entry_rows, err);
    PCI_THEN(status, pci_merge_map(&m->label_shapes, m->label_shape_count, err));
    PCI_THEN(status,
             pci_cells_open(&cells[0], m->file, "label_shapes", "first_key", PCI_IS_INT, err));
    PCI_THEN(status,
             pci_cells_open(&cells[1], m->file, "label_shape_keys", "label_key", PCI_IS_INT, err));
    PCI_THEN(status, pci_cells_open(&cells[2], m->file, "label_shape_keys", "joined",
                                    PCI_IS(PCF_BOOL), err));
    for (uint64_t s = 0; status == PCOL_OK && s < m->label_shape_count; s++)
        status = add_shape(m, cells, s, entry_rows, &entries, &capacity, err);
    pci_free(entries);
    pci_free(cells);
    return status;
}

pcol_status pci_merge_label_keys(struct pci_merge *merge, pcol_error *err)
{
    struct key_walk w = {.m = merge};
    pcol_status status;
    PCI_TRY(pci_merge_rows(merge->file, "label_keys", &merge->label_key_count, err));
    PCI_TRY(pci_merge_rows(merge->file, "label_shapes", &merge->label_shape_count, err));
    if (!merge->label_key_count && !merge->label_shape_count)
        return PCOL_OK;
    PCI_TRY(pci_label_tables(merge->builder, err));
    status = walk_keys(&w, err);
    pci_free(w.seen);
    pci_free(w.last_key);
    for (uint32_t i = 0; i < merge->file->index.header.table_count; i++)
        if (merge->labels[i] == PCI_LABELS_NONE &&
            pci_column_find(&merge->file->tables[i], "label_shape"))
            merge->labels[i] = PCI_LABELS_COPY;
    for (uint32_t i = 0; i < merge->file->index.header.table_count; i++)
        if (merge->labels[i] == PCI_LABELS_COPY &&
            pci_merge_filters_labels(merge, &merge->file->tables[i]))
            merge->labels[i] = PCI_LABELS_ROWS;
    return status == PCOL_OK ? add_shapes(merge, err) : status;
}

/* ---- rows */

pcol_status pci_label_rows_open(struct pci_merge_label_rows *rows, struct pci_merge *merge,
                                const struct pci_table *table, uint32_t to, pcol_error *err)
{
    *rows = (struct pci_merge_label_rows){.merge = merge, .shape_column = PCOL_NONE, .table = to};
    return pci_labels_open(&rows->reader, merge->file, table->name, err);
}

void pci_label_rows_close(struct pci_merge_label_rows *rows)
{
    pci_labels_close(&rows->reader);
    pci_label_frames_close(rows->frames);
    pci_free(rows->columns);
    pci_free(rows->cells);
    pci_free(rows->entries);
    *rows = (struct pci_merge_label_rows){0};
}

static pcol_status add_cell(struct pci_merge_label_rows *r, uint32_t column, int64_t bits,
                            pcol_error *err)
{
    PCI_TRY(PCI_GROW(r->columns, r->column_capacity, r->count + 1, err));
    PCI_TRY(PCI_GROW(r->cells, r->cell_capacity, r->count + 1, err));
    r->columns[r->count] = column;
    r->cells[r->count++] = (struct pci_cell_value){bits, 1};
    return PCOL_OK;
}

/* The depth of a frame of the row's own stack, counting copied frames only; *gone: the frame itself
 * is omitted. */
static pcol_status map_own_depth(struct pci_merge *m, uint64_t row, int64_t *depth, int *gone,
                                 pcol_error *err)
{
    static const struct {
        const char *table, *name;
    } names[3] = {{"samples", "stack"}, {"stacks", "parent"}, {"stacks", "group"}};
    const struct pci_column *columns[3];
    int64_t remaining = *depth, shown = 0, stack, parent, group;
    int valid;
    *gone = 1;
    for (size_t i = 0; i < 3; i++)
        PCI_TRY(pci_require_column(m->file, names[i].table, names[i].name, PCI_TYPES_ROW,
                                   &columns[i], err));
    PCI_TRY(pci_get(m->file, columns[0], row, &stack, &valid, err));
    while (valid && stack > 0 && (uint64_t)stack < m->stack_count) {
        PCI_TRY(pci_get(m->file, columns[1], (uint64_t)stack, &parent, &valid, err));
        PCI_TRY(pci_get(m->file, columns[2], (uint64_t)stack, &group, &valid, err));
        *gone = (uint64_t)group >= m->group_count || m->groups[group] == PCOL_NONE ||
                (m->selection->omitted_frames && m->selection->omitted_frames[stack]);
        if (remaining-- == 0)
            break;
        shown += !*gone;
        *gone = 1;
        if (parent >= stack)
            break;
        stack = parent;
    }
    *depth = shown + (m->selection->added ? (int64_t)m->selection->added->leaf_count : 0);
    return PCOL_OK;
}

/* A text that repeats the name of an omitted frame becomes a text of its own. *number: its row of
 * the builder's label_keys; *omitted: 1 if there is no column for it. */
static pcol_status add_name(struct pci_merge_label_rows *r, uint64_t row,
                            const struct pci_label_cell *cell, uint32_t *number, int *omitted,
                            pcol_error *err)
{
    struct pci_merge *m = r->merge;
    uint32_t key, text, column;
    pcol_str name;
    PCI_TRY(pci_label_frames_open(m->file, &r->frames, err));
    PCI_TRY(pci_label_frame_text(r->frames, cell->key->kind, row, cell->as.i64, &name, err));
    PCI_TRY(pci_merge_text(m, PCI_NAME_KEY, cell->key->key, &key, err));
    PCI_TRY(pci_label_key_row(m->builder, PCI_T_SAMPLES, key, PCOL_NONE, PCI_LABEL_STRING,
                              cell->key->occurrence, number, err));
    PCI_TRY(pci_label_column(m->builder, *number, &column, err));
    *omitted = column == PCOL_NONE;
    if (*omitted)
        return PCOL_OK;
    PCI_TRY(pci_merge_text(m, PCI_NAME_VALUE, name, &text, err));
    return add_cell(r, column, text, err);
}

/* *omitted: the label is not copied; *number: its row of the builder's label_keys. */
static pcol_status add_label(struct pci_merge_label_rows *r, uint64_t row,
                             const struct pci_label_cell *cell, uint32_t *number, int *omitted,
                             pcol_error *err)
{
    struct pci_merge *m = r->merge;
    const struct pci_label_key *key = cell->key;
    uint32_t column, text;
    int64_t bits = cell->as.i64;
    const char *references;
    int is_own_frame = key->kind == PCI_LABEL_OWNFRAME || key->kind == PCI_LABEL_OWNNAME, has,
        copied;
    PCI_TRY(pci_label_column(m->builder, *number, &column, err));
    PCI_TRY(pci_merge_loses_label(m, r->reader.table->name, row, key->key, omitted, err));
    int is_value = key->kind == PCI_LABEL_VALUE || key->kind == PCI_LABEL_WHOLE;
    if (is_value && m->selection && m->selection->types) {
        PCI_TRY(pci_merge_has_value(m, row, &has, &copied, err));
        *omitted = !copied;
    }
    if (*omitted || column == PCOL_NONE) /* none: a kind without a column */
        return PCOL_OK;
    pci_label_types(key->kind, &references);
    if (key->kind == PCI_LABEL_STRING || key->kind == PCI_LABEL_BIGINT) {
        int rule = key->kind == PCI_LABEL_STRING ? PCI_NAME_VALUE : PCI_COPY;
        PCI_TRY(pci_merge_text(m, rule, cell->as.text, &text, err));
        bits = text;
    } else if (references) {
        uint64_t to;
        PCI_TRY(pci_merge_row(m, pci_table_find(m->file, references), key->column, row,
                              (uint64_t)bits, &to, omitted, err));
        bits = (int64_t)to;
    } else if (is_own_frame &&
               (pci_merge_hides_frames(m->selection) || (m->selection && m->selection->added))) {
        PCI_TRY(map_own_depth(m, row, &bits, omitted, err));
        if (*omitted && key->kind == PCI_LABEL_OWNNAME)
            return add_name(r, row, cell, number, omitted, err);
    }
    r->omits_frames |= *omitted && pci_merge_hides_frames(m->selection);
    return *omitted ? PCOL_OK : add_cell(r, column, bits, err);
}

/* An entry without a key is a member of the row's `extra`. */
static pcol_status copies_member(struct pci_merge *m, const char *table, uint64_t row,
                                 const struct pci_label_cell *cell, int *is_copied, pcol_error *err)
{
    struct pci_node_value node;
    int loses;
    *is_copied = !m->selection || !m->selection->names;
    const struct pci_merge_selection *selection = m->selection;
    if (!*is_copied || !selection ||
        !(selection->drop_labels || selection->drop_key_count || m->value_labels))
        return PCOL_OK;
    PCI_TRY(pci_node_get(m->file, cell->node, &node, err));
    PCI_TRY(pci_merge_loses_label(m, table, row, node.key, &loses, err));
    *is_copied = !loses && pci_merge_copies_label(m, table, node.key);
    return PCOL_OK;
}

/* 1 if a row without a shape has this order, too. */
static int is_default_order(const struct pci_merge_label_rows *r, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (r->entries[i] & 1 || (i && r->entries[i] && r->entries[i] <= r->entries[i - 1]) ||
            (i && r->entries[i] && !r->entries[i - 1]))
            return 0;
    return 1;
}

/* The copied entries of a row, in order, and their cells. *all: none is omitted. */
static pcol_status copy_entries(struct pci_merge_label_rows *r, uint64_t row, size_t *count,
                                int *all, pcol_error *err)
{
    struct pci_merge *m = r->merge;
    *count = 0;
    *all = 1;
    for (size_t i = 0; i < r->reader.cell_count; i++) {
        const struct pci_label_cell *cell = &r->reader.cells[i];
        uint32_t number = cell->key ? m->label_keys[cell->key->number] : 0;
        int stays = number != PCOL_NONE, omitted = 0;
        if (!cell->key)
            PCI_TRY(copies_member(m, r->reader.table->name, row, cell, &stays, err));
        else if (stays)
            PCI_TRY(add_label(r, row, cell, &number, &omitted, err));
        if (stays && !omitted) {
            r->entries[(*count)++] = (cell->key ? 2 * (number + 1) : 0) + (cell->joined != 0);
            continue;
        }
        *all = 0;
        if (i && *count && r->reader.cells[i - 1].joined)
            r->entries[*count - 1] &= ~UINT32_C(1); /* its joined neighbour is omitted */
    }
    return PCOL_OK;
}

pcol_status pci_label_rows_get(struct pci_merge_label_rows *rows, uint64_t row, pcol_error *err)
{
    struct pci_merge_label_rows *r = rows;
    struct pci_merge *m = r->merge;
    uint32_t shape, table;
    size_t count;
    int all;
    r->count = 0;
    PCI_TRY(pci_labels_row(&r->reader, row, err));
    PCI_TRY(PCI_GROW(r->entries, r->entry_capacity, r->reader.cell_count + 1, err));
    PCI_TRY(copy_entries(r, row, &count, &all, err));
    if ((!r->reader.has_shape && is_default_order(r, count)) || (!all && !count))
        return PCOL_OK;
    PCI_TRY(pci_label_shape(m->builder, r->entries, count, &shape, err));
    if (r->shape_column == PCOL_NONE) {
        PCI_TRY(pcol_builder_table(m->builder, "label_shapes", &table, err));
        PCI_TRY(pci_builder_column(m->builder, r->table, "label_shape", PCOL_U32, table + 1,
                                   &r->shape_column, err));
    }
    return add_cell(r, r->shape_column, shape, err);
}

pcol_status pci_label_rows_put(struct pci_merge_label_rows *rows, uint64_t row, uint64_t to,
                               pcol_error *err)
{
    PCI_TRY(pci_label_rows_get(rows, row, err));
    for (size_t i = 0; i < rows->count; i++)
        PCI_TRY(pci_builder_set_bits(rows->merge->builder, rows->columns[i], to,
                                     rows->cells[i].bits, err));
    return PCOL_OK;
}

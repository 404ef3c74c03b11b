/*
 * labels.c - reader of the labels of a row, in the source's order
 *
 * Label columns are read in batches of 256 rows, on demand. A shape lists the columns of a row; a
 * row without a shape reads all columns. Consecutive rows with the same shape keep their cells and
 * update only the values. Tests: tests/unit/test_check_labels.c, suite perun.
 */
#include "model/row_details.h"

#include "model/text_rules.h"
#include "util/alloc.h"
#include "util/strbuf.h"

#include <stdio.h>
#include <string.h>

#define ROWS 256u /* rows per batch */
#define MAX_KEYS 65536u

static const struct {
    unsigned types;
    const char *references;
} kinds[PCI_LABEL_KIND_COUNT] = {
    [PCI_LABEL_STRING] = {PCI_TYPES_TEXT, NULL},
    [PCI_LABEL_INTEGER] = {PCI_TYPE(PCF_I64), NULL},
    [PCI_LABEL_DOUBLE] = {PCI_TYPE(PCF_F64), NULL},
    [PCI_LABEL_BIGINT] = {PCI_TYPES_TEXT, NULL},
    [PCI_LABEL_BOOL] = {PCI_TYPE(PCF_BOOL), NULL},
    [PCI_LABEL_NULL] = {PCI_TYPE(PCF_BOOL), NULL},
    [PCI_LABEL_EMPTY] = {PCI_TYPE(PCF_BOOL), NULL},
    [PCI_LABEL_FRAME] = {PCI_TYPE(PCF_U32), "location_groups"},
    [PCI_LABEL_STACK] = {PCI_TYPE(PCF_U32), "stacks"},
    [PCI_LABEL_RSTACK] = {PCI_TYPE(PCF_U32), "stacks"},
    [PCI_LABEL_OWNFRAME] = {PCI_TYPE(PCF_U32), NULL},
    [PCI_LABEL_OWNNAME] = {PCI_TYPE(PCF_U32), NULL},
};

struct batch {
    uint64_t first, count;
    int64_t values[ROWS];
    uint8_t valid[ROWS];
};

struct shape_entry {
    uint32_t key; /* 1 + index of the reader's key; 0: a member of `extra` */
    uint8_t joined;
};

struct pci_label_state {
    struct batch **batches; /* by key; NULL until first use */
    uint64_t *limits;       /* by key: rows of the referenced table */
    uint64_t *seen;         /* by key: serial number of the last shape with the key */
    uint64_t serial;
    uint32_t unknown_key; /* 1 + a key of an unknown kind */
    const struct pci_column *shape, *extra, *first_key, *shape_key, *joined;
    struct batch *shapes, *extras;
    uint64_t shape_rows, entry_rows;
    struct pci_node_reader nodes;
    struct pci_label_cell *cells;
    size_t cell_capacity;
    uint32_t *with_column; /* keys */
    size_t with_column_count;
    uint32_t *keys_by_number; /* by row of label_keys: key + 1; 0: key of another table */
    uint64_t number_count;
    /* The last shape, verified. Most rows have the shape of the previous row. */
    uint64_t loaded_shape; /* 1 + its row */
    struct shape_entry *entries;
    size_t entry_count, entry_capacity;
    int is_reusable;  /* the cells are those of the shape, without members of `extra`, */
    int has_all_keys; /* or those of a row without a shape that has every key with a column */
};

unsigned pci_label_types(int kind, const char **references)
{
    *references = kinds[kind].references;
    return kinds[kind].types;
}

int pci_label_kind_by_name(pcol_str name)
{
    for (int i = 0; i < PCI_LABEL_EXTRA; i++)
        if (strlen(pci_label_kind_names[i]) == name.size &&
            !memcmp(pci_label_kind_names[i], name.data, name.size))
            return i;
    return -1;
}

int pci_is_label_column(const char *name)
{
    return !strncmp(name, "label.", 6) && name[6] && !name[6 + strspn(name + 6, "0123456789")];
}

int pci_is_remainder(const char *name)
{
    size_t size = strlen(name);
    return size > 4 && !strcmp(name + size - 4, "_ulp");
}

/* ---- open */

struct open_key_columns {
    const struct pci_column *table, *key, *kind, *unit, *occurrence;
};

static pcol_status open_key_columns(const pcol_file *file, struct open_key_columns *c,
                                    pcol_error *err)
{
    PCI_TRY(pci_require_column(file, "label_keys", "table", PCI_TYPES_TEXT, &c->table, err));
    PCI_TRY(pci_require_column(file, "label_keys", "key", PCI_TYPES_TEXT, &c->key, err));
    PCI_TRY(pci_require_column(file, "label_keys", "kind", PCI_TYPES_TEXT, &c->kind, err));
    PCI_TRY(pci_find_column(file, "label_keys", "unit", PCI_TYPES_TEXT, &c->unit, err));
    return pci_find_column(file, "label_keys", "occurrence", PCI_TYPES_ROW, &c->occurrence, err);
}

/* The kind of a key of unknown kind is PCI_LABEL_EXTRA. */
static pcol_status read_key(const pcol_file *file, const struct pci_table *table,
                            const struct open_key_columns *c, uint32_t row,
                            struct pci_label_key *key, pcol_error *err)
{
    char name[32];
    pcol_str kind;
    int64_t occurrence = 0;
    int valid, number;
    *key = (struct pci_label_key){.number = row};
    PCI_TRY(pci_get_str(file, c->key, row, &key->key, &valid, err));
    PCI_TRY(pci_get_str(file, c->kind, row, &kind, &valid, err));
    number = pci_label_kind_by_name(kind);
    key->kind = (uint8_t)(number < 0 ? PCI_LABEL_EXTRA : number);
    if (c->unit) {
        PCI_TRY(pci_get_str(file, c->unit, row, &key->unit, &valid, err));
        key->has_unit = (uint8_t)valid;
    }
    PCI_TRY(pci_get(file, c->occurrence, row, &occurrence, &valid, err));
    key->occurrence = (uint32_t)occurrence;
    if (!kinds[key->kind].types || !table)
        return PCOL_OK;
    snprintf(name, sizeof name, "label.%u", row);
    return pci_find_column(file, table->name, name, kinds[key->kind].types, &key->column, err);
}

/* Appends row `row` of label_keys to *keys if it is of the table. */
static pcol_status add_key(const pcol_file *file, const char *table,
                           const struct open_key_columns *c, uint32_t row,
                           struct pci_label_key **keys, size_t *count, size_t *capacity,
                           pcol_error *err)
{
    pcol_str key_table;
    int valid;
    PCI_TRY(pci_get_str(file, c->table, row, &key_table, &valid, err));
    if (!pci_str_is(key_table, table))
        return PCOL_OK;
    PCI_TRY(PCI_GROW(*keys, *capacity, *count + 1, err));
    return read_key(file, pci_table_find(file, table), c, row, &(*keys)[(*count)++], err);
}

static pcol_status check_cells(const pcol_file *file, const char *table,
                               const struct pci_label_key *keys, size_t count, pcol_error *err)
{
    uint64_t columns = 0;
    for (size_t i = 0; i < count; i++)
        columns += keys[i].column || !kinds[keys[i].kind].types;
    return pci_check_label_count(file, table, columns, err);
}

pcol_status pci_label_keys_read(const pcol_file *file, const char *table, const uint64_t *name,
                                struct pci_label_key **keys, size_t *count, pcol_error *err)
{
    struct open_key_columns c;
    uint64_t rows = pci_rows(file, "label_keys");
    int64_t names[PCI_BATCH];
    uint8_t valid[PCI_BATCH];
    size_t capacity = 0;
    *keys = NULL;
    *count = 0;
    PCI_TRY(open_key_columns(file, &c, err));
    PCI_TRY(pci_check_row_count(file, "label_keys", err));
    for (uint64_t row = 0; c.key && row < rows; row += PCI_BATCH) {
        size_t n = rows - row < PCI_BATCH ? (size_t)(rows - row) : PCI_BATCH;
        if (name)
            PCI_TRY(pci_read(file, c.key, row, n, names, valid, err));
        for (size_t i = 0; i < n; i++)
            if (!name || (valid[i] && (uint64_t)names[i] == *name))
                PCI_TRY(add_key(file, table, &c, (uint32_t)(row + i), keys, count, &capacity, err));
    }
    return check_cells(file, table, *keys, *count, err);
}

static pcol_status read_keys(struct pci_label_reader *r, const char *table, pcol_error *err)
{
    struct pci_label_state *s = r->state;
    s->number_count = pci_rows(r->file, "label_keys");
    if (s->number_count > MAX_KEYS * 16u)
        return pci_fail_cell(err, PCOL_E_LIMIT, "label_keys", NULL, PCOL_POSITION_UNKNOWN,
                             "more keys than a table can have label columns");
    PCI_TRY(PCI_CALLOC(s->keys_by_number, (size_t)s->number_count, err));
    PCI_TRY(pci_label_keys_read(r->file, table, NULL, &r->keys, &r->key_count, err));
    PCI_TRY(PCI_CALLOC(s->with_column, r->key_count + 1, err));
    for (size_t i = 0; i < r->key_count; i++) {
        const struct pci_label_key *key = &r->keys[i];
        if (key->column)
            s->with_column[s->with_column_count++] = (uint32_t)i;
        s->keys_by_number[key->number] = (uint32_t)i + 1;
        if (key->kind == PCI_LABEL_EXTRA)     /* reported when a row is read: */
            s->unknown_key = key->number + 1; /* other columns can be displayed */
    }
    return PCOL_OK;
}

static pcol_status open_shapes(struct pci_label_reader *r, const char *table, pcol_error *err)
{
    struct pci_label_state *s = r->state;
    PCI_TRY(pci_find_column(r->file, table, "label_shape", PCI_TYPES_ROW, &s->shape, err));
    PCI_TRY(pci_find_column(r->file, table, "extra", PCI_TYPES_ROW, &s->extra, err));
    PCI_TRY(pci_require_column(r->file, "label_shapes", "first_key", PCI_TYPES_ROW, &s->first_key,
                               err));
    PCI_TRY(pci_find_column(r->file, "label_shape_keys", "label_key", PCI_TYPES_ROW, &s->shape_key,
                            err));
    PCI_TRY(pci_find_column(r->file, "label_shape_keys", "joined", PCI_TYPE(PCF_BOOL), &s->joined,
                            err));
    s->shape_rows = pci_rows(r->file, "label_shapes");
    s->entry_rows = pci_rows(r->file, "label_shape_keys");
    if (s->extra)
        PCI_TRY(pci_nodes_open(&s->nodes, r->file, err));
    return PCOL_OK;
}

pcol_status pci_labels_open(struct pci_label_reader *reader, const pcol_file *file,
                            const char *table, pcol_error *err)
{
    struct pci_label_state *s;
    *reader = (struct pci_label_reader){.file = file, .extra = PCI_NO_NODE};
    reader->table = pci_table_find(file, table);
    reader->state = s = pci_calloc(1, sizeof *s);
    if (!s)
        return pci_fail_memory(err);
    PCI_TRY(read_keys(reader, table, err));
    PCI_TRY(open_shapes(reader, table, err));
    PCI_TRY(PCI_CALLOC(s->batches, reader->key_count, err));
    PCI_TRY(PCI_CALLOC(s->limits, reader->key_count, err));
    PCI_TRY(PCI_CALLOC(s->seen, reader->key_count, err));
    for (size_t i = 0; i < reader->key_count; i++) {
        const char *to = kinds[reader->keys[i].kind].references;
        s->limits[i] = to ? pci_rows(file, to) : UINT64_MAX;
    }
    return PCOL_OK;
}

void pci_labels_close(struct pci_label_reader *reader)
{
    struct pci_label_state *s = reader->state;
    for (size_t i = 0; s && s->batches && i < reader->key_count; i++)
        pci_free(s->batches[i]);
    if (s) {
        pci_free(s->batches);
        pci_free(s->limits);
        pci_free(s->seen);
        pci_free(s->shapes);
        pci_free(s->extras);
        pci_free(s->cells);
        pci_free(s->with_column);
        pci_free(s->keys_by_number);
        pci_free(s->entries);
    }
    pci_free(s);
    pci_free(reader->keys);
    *reader = (struct pci_label_reader){.extra = PCI_NO_NODE};
}

/* ---- cells */

/* Reads one cell through the batch of its row. */
static pcol_status read_cell(const pcol_file *file, const struct pci_column *column,
                             struct batch **batch, uint64_t row, int64_t *value, int *valid,
                             pcol_error *err)
{
    struct batch *b = *batch;
    *value = 0;
    *valid = 0;
    if (!column)
        return PCOL_OK;
    if (!b) {
        b = *batch = pci_malloc(1, sizeof *b);
        if (!b)
            return pci_fail_memory(err);
        b->first = b->count = 0;
    }
    if (row - b->first >= b->count) {
        uint64_t rows = column->desc->rows, first = row - row % ROWS;
        uint64_t n = rows - first < ROWS ? rows - first : ROWS;
        b->count = 0;
        PCI_TRY(pci_read(file, column, first, n, b->values, b->valid, err));
        b->first = first;
        b->count = n;
    }
    *value = b->values[row - b->first];
    *valid = b->valid[row - b->first];
    return PCOL_OK;
}

/* Appends a cell; NULL if memory runs out. */
static struct pci_label_cell *append_cell(struct pci_label_reader *r)
{
    struct pci_label_state *s = r->state;
    if (pci_grow((void **)&s->cells, &s->cell_capacity, r->cell_count + 1, sizeof *s->cells))
        return NULL;
    r->cells = s->cells;
    struct pci_label_cell *cell = &s->cells[r->cell_count++];
    *cell = (struct pci_label_cell){.node = PCI_NO_NODE};
    return cell;
}

/* Appends the value of key `k`; *present is 0 if it is null. */
static pcol_status add_value(struct pci_label_reader *r, size_t k, uint64_t row, int *present,
                             pcol_error *err)
{
    const struct pci_label_key *key = &r->keys[k];
    struct pci_label_cell *cell;
    int64_t bits = 0;
    pcol_str text = {"", 0};
    int is_text = key->kind == PCI_LABEL_STRING || key->kind == PCI_LABEL_BIGINT, follows = 1;
    *present = !kinds[key->kind].types;
    if (key->unwanted) {
        *present = 1;
    } else if (key->column) {
        PCI_TRY(read_cell(r->file, key->column, &r->state->batches[k], row, &bits, present, err));
        if (is_text && *present && pci_string(r->file, (uint64_t)bits, &text, NULL) != PCOL_OK)
            PCI_TRY(
                pci_get_str(r->file, key->column, row, &text, present, err)); /* error with row */
    }
    if (!*present)
        return PCOL_OK;
    if (key->kind == PCI_LABEL_BIGINT && !key->unwanted)
        PCI_TRY(pci_text_follows(r->file, PCI_TEXT_INTEGER, (uint64_t)bits, text, &follows, err));
    if (!follows)
        return pci_corrupt(err, r->table->name, key->column ? key->column->name : NULL, row,
                           "a big integer has other characters than digits");
    if (kinds[key->kind].references && (uint64_t)bits >= r->state->limits[k])
        return pci_corrupt(err, r->table->name, key->column ? key->column->name : NULL, row,
                           "%llu names no row of %s", (unsigned long long)bits,
                           kinds[key->kind].references);
    cell = append_cell(r);
    if (!cell)
        return pci_fail_memory(err);
    cell->key = key;
    if (is_text)
        cell->as.text = text;
    else
        cell->as.i64 = bits; /* bits of a double are copied unchanged */
    return PCOL_OK;
}

static pcol_status fail_shape(const struct pci_label_reader *r, uint64_t row, const char *problem,
                              pcol_error *err)
{
    return pci_corrupt(err, r->table->name, "label_shape", row, "%s", problem);
}

static pcol_status add_member(struct pci_label_reader *r, uint64_t *member, pcol_error *err)
{
    struct pci_label_cell *cell = append_cell(r);
    if (!cell)
        return pci_fail_memory(err);
    cell->node = *member;
    return pci_nodes_next(&r->state->nodes, r->extra, member, err);
}

/* Reads and verifies an entry of a shape that `row` has. */
static pcol_status load_entry(struct pci_label_reader *r, uint64_t row, uint64_t at,
                              pcol_error *err)
{
    struct pci_label_state *s = r->state;
    struct shape_entry entry = {0, 0};
    int64_t number = 0, joined = 0;
    int valid = 0;
    PCI_TRY(pci_get(r->file, s->shape_key, at, &number, &valid, err));
    if (valid) {
        if ((uint64_t)number >= s->number_count || !s->keys_by_number[number])
            return fail_shape(r, row, "the shape has a key of another table", err);
        entry.key = s->keys_by_number[number];
        if (s->seen[entry.key - 1] == s->serial)
            return fail_shape(r, row, "the shape has a duplicate key", err);
        s->seen[entry.key - 1] = s->serial;
    }
    PCI_TRY(pci_get(r->file, s->joined, at, &joined, &valid, err));
    entry.joined = joined != 0;
    PCI_TRY(PCI_GROW(s->entries, s->entry_capacity, s->entry_count + 1, err));
    s->entries[s->entry_count++] = entry;
    return PCOL_OK;
}

static pcol_status load_shape(struct pci_label_reader *r, uint64_t row, uint64_t shape,
                              pcol_error *err)
{
    struct pci_label_state *s = r->state;
    int64_t first, end = (int64_t)s->entry_rows;
    int valid;
    s->loaded_shape = 0;
    s->entry_count = 0;
    if (shape >= s->shape_rows || !s->first_key)
        return fail_shape(r, row, "this shape does not exist", err);
    PCI_TRY(pci_get(r->file, s->first_key, shape, &first, &valid, err));
    if (shape + 1 < s->shape_rows)
        PCI_TRY(pci_get(r->file, s->first_key, shape + 1, &end, &valid, err));
    if ((uint64_t)first > (uint64_t)end || (uint64_t)end > s->entry_rows)
        return pci_corrupt(err, "label_shapes", "first_key", shape,
                           "the keys of shapes do not follow one another");
    s->serial++;
    for (uint64_t at = (uint64_t)first; at < (uint64_t)end; at++)
        PCI_TRY(load_entry(r, row, at, err));
    s->loaded_shape = shape + 1;
    return PCOL_OK;
}

static pcol_status read_shape(struct pci_label_reader *r, uint64_t row, uint64_t shape,
                              uint64_t *member, pcol_error *err)
{
    struct pci_label_state *s = r->state;
    if (s->loaded_shape != shape + 1)
        PCI_TRY(load_shape(r, row, shape, err));
    int is_reusable = r->extra == PCI_NO_NODE;
    for (size_t i = 0; i < s->entry_count; i++) {
        const struct shape_entry *entry = &s->entries[i];
        int present = 1;
        if (!entry->key) {
            is_reusable = 0;
            if (*member == PCI_NO_NODE)
                return fail_shape(r, row, "the shape has more members than `extra`", err);
            PCI_TRY(add_member(r, member, err));
        } else {
            PCI_TRY(add_value(r, entry->key - 1, row, &present, err));
        }
        if (!present)
            return fail_shape(r, row, "the shape has a key without a value", err);
        s->cells[r->cell_count - 1].joined = entry->joined;
    }
    s->is_reusable = is_reusable;
    s->has_all_keys = 0;
    return PCOL_OK;
}

/* 1 if a row is in a batch. */
static int is_in_batch(const struct batch *b, uint64_t row)
{
    return b && row - b->first < b->count;
}

/* 1 if a value is null in a row, or the row is not in the batch. */
static int is_null(const struct batch *b, uint64_t row)
{
    return !is_in_batch(b, row) || !b->valid[row - b->first];
}

/* Updates one value for a row with the shape of the previous row; 0 if it needs the slow path. */
static int update_value(struct pci_label_reader *r, size_t entry, uint64_t row)
{
    struct pci_label_state *s = r->state;
    const uint32_t k = s->entries[entry].key - 1;
    const struct pci_label_key *key = &r->keys[k];
    const struct batch *b = s->batches[k];
    struct pci_label_cell *cell = &s->cells[entry];
    if (!kinds[key->kind].types || key->unwanted)
        return 1;
    if (!is_in_batch(b, row) || !b->valid[row - b->first])
        return 0;
    int64_t bits = b->values[row - b->first];
    if ((uint64_t)bits >= s->limits[k])
        return 0;
    if (key->kind != PCI_LABEL_STRING && key->kind != PCI_LABEL_BIGINT) {
        cell->as.i64 = bits;
        return 1;
    }
    if ((uint64_t)bits == cell->node)
        return 1;
    cell->node = (uint64_t)bits;
    if (pci_string(r->file, cell->node, &cell->as.text, NULL) != PCOL_OK)
        return 0;
    if (key->kind == PCI_LABEL_STRING)
        return 1;
    int follows;
    return pci_text_follows(r->file, PCI_TEXT_INTEGER, cell->node, cell->as.text, &follows, NULL) ==
               PCOL_OK &&
           follows;
}

int pci_labels_same_shape(const struct pci_label_reader *reader, uint64_t row)
{
    const struct pci_label_state *s = reader->state;
    if (!s->is_reusable ||
        (s->extra && (!is_in_batch(s->extras, row) || s->extras->valid[row - s->extras->first])))
        return 0;
    if (!s->has_all_keys)
        return !is_null(s->shapes, row) &&
               (uint64_t)s->shapes->values[row - s->shapes->first] + 1 == s->loaded_shape;
    if (s->shape && (!is_in_batch(s->shapes, row) || !is_null(s->shapes, row)))
        return 0;
    for (size_t i = 0; i < s->entry_count; i++) {
        const uint32_t k = s->entries[i].key - 1;
        if (!reader->keys[k].unwanted && is_null(s->batches[k], row))
            return 0;
    }
    return 1;
}

/* Fast path for a row with the shape of the previous row and no `extra`: keeps the cells and
 * updates their values from the batches. 0 if it does not apply. */
static int update_row(struct pci_label_reader *r, uint64_t row)
{
    const struct pci_label_state *s = r->state;
    if (!pci_labels_same_shape(r, row))
        return 0;
    for (size_t i = 0; i < s->entry_count; i++)
        if (!update_value(r, i, row))
            return 0;
    return 1;
}

/* Reads all values of a row without a shape. If no column is null, the next row takes the fast
 * path. */
static pcol_status read_all_keys(struct pci_label_reader *r, uint64_t row, pcol_error *err)
{
    struct pci_label_state *s = r->state;
    int present, has_all_keys = r->extra == PCI_NO_NODE;
    for (size_t i = 0; i < s->with_column_count; i++) {
        PCI_TRY(add_value(r, s->with_column[i], row, &present, err));
        has_all_keys = has_all_keys && present;
    }
    s->is_reusable = s->has_all_keys = has_all_keys;
    if (!has_all_keys)
        return PCOL_OK;
    s->loaded_shape = 0; /* the entries belong to no shape */
    s->entry_count = 0;
    PCI_TRY(PCI_GROW(s->entries, s->entry_capacity, r->cell_count + 1, err));
    for (size_t i = 0; i < r->cell_count; i++)
        s->entries[s->entry_count++] =
            (struct shape_entry){(uint32_t)(s->cells[i].key - r->keys) + 1, 0};
    return PCOL_OK;
}

/* ---- runs of rows */

size_t pci_run_of_equal(const int64_t *values, const uint8_t *valid, size_t most)
{
    size_t n = most > 0;
    while (n < most && values[n] == values[0] && valid[n] == valid[0])
        n++;
    return n;
}

size_t pci_run_of_valid(const uint8_t *valid, size_t most)
{
    const uint8_t *null = memchr(valid, 0, most);
    return null ? (size_t)(null - valid) : most;
}

/* 1 for kinds whose values may differ within a run: plain numbers. */
static int is_number(int kind)
{
    return kind == PCI_LABEL_INTEGER || kind == PCI_LABEL_DOUBLE || kind == PCI_LABEL_BOOL;
}

/* Length of the run within one batch, which must contain the row. */
static size_t get_run_length(const struct batch *b, uint64_t row, size_t most, int same)
{
    if (!is_in_batch(b, row))
        return 1;
    size_t at = (size_t)(row - b->first), left = (size_t)b->count - at;
    most = most < left ? most : left;
    return same ? pci_run_of_equal(b->values + at, b->valid + at, most)
                : pci_run_of_valid(b->valid + at, most);
}

size_t pci_labels_shape_run(const struct pci_label_reader *reader, uint64_t row, size_t most)
{
    const struct pci_label_state *s = reader->state;
    if (!pci_labels_same_shape(reader, row))
        return 1;
    if (s->shape)
        most = get_run_length(s->shapes, row, most, 1);
    if (s->extra)
        most = get_run_length(s->extras, row, most, 1);
    for (size_t i = 0; i < s->entry_count && s->has_all_keys; i++)
        if (!reader->keys[s->entries[i].key - 1].unwanted)
            most = get_run_length(s->batches[s->entries[i].key - 1], row, most, 0);
    return most ? most : 1;
}

size_t pci_labels_run_length(const struct pci_label_reader *reader, uint64_t row, size_t most)
{
    const struct pci_label_state *s = reader->state;
    most = pci_labels_shape_run(reader, row, most);
    for (size_t i = 0; i < s->entry_count && most > 1; i++) {
        const struct pci_label_key *key = &reader->keys[s->entries[i].key - 1];
        if (kinds[key->kind].types && !key->unwanted)
            most =
                get_run_length(s->batches[s->entries[i].key - 1], row, most, !is_number(key->kind));
    }
    return most ? most : 1;
}

const int64_t *pci_labels_run_values(const struct pci_label_reader *reader, size_t cell,
                                     uint64_t row)
{
    const struct pci_label_state *s = reader->state;
    const uint32_t k = s->entries[cell].key - 1;
    const struct batch *b = s->batches[k];
    return is_number(reader->keys[k].kind) && !reader->keys[k].unwanted && is_in_batch(b, row)
               ? b->values + (row - b->first)
               : NULL;
}

/* ---- rows */

pcol_status pci_labels_row(struct pci_label_reader *reader, uint64_t row, pcol_error *err)
{
    struct pci_label_reader *r = reader;
    struct pci_label_state *s = r->state;
    int64_t shape, root;
    int has_extra;
    uint64_t member = PCI_NO_NODE;
    r->same = update_row(r, row);
    if (r->same)
        return PCOL_OK;
    s->is_reusable = 0;
    r->cell_count = 0;
    r->cells = s->cells;
    r->has_shape = 0;
    r->extra = PCI_NO_NODE;
    if (!r->table || row >= r->table->rows)
        return PCOL_OK;
    if (s->unknown_key)
        return pci_fail_cell(err, PCOL_E_UNSUPPORTED, "label_keys", "kind", s->unknown_key - 1,
                             "this kind of label needs a newer reader");
    PCI_TRY(read_cell(r->file, s->extra, &s->extras, row, &root, &has_extra, err));
    if (has_extra) {
        r->extra = (uint64_t)root;
        if (r->extra >= s->nodes.rows)
            return pci_corrupt(err, r->table->name, "extra", row, "%llu names no node",
                               (unsigned long long)r->extra);
        PCI_TRY(pci_nodes_first(&s->nodes, r->extra, &member, err));
    }
    PCI_TRY(read_cell(r->file, s->shape, &s->shapes, row, &shape, &r->has_shape, err));
    if (r->has_shape)
        return read_shape(r, row, (uint64_t)shape, &member, err);
    PCI_TRY(read_all_keys(r, row, err));
    while (member != PCI_NO_NODE)
        PCI_TRY(add_member(r, &member, err));
    return PCOL_OK;
}

/*
 * check_labels.c - label keys and shapes; strictly, and before copying, also the labels of each row
 *
 * Tests: tests/unit/test_check_labels.c.
 */
#include "model/check.h"
#include "model/keyed_rows.h"

#include "util/alloc.h"
#include "util/hash.h"
#include "util/strbuf.h"

#include <stdio.h>
#include <string.h>

enum { TABLE, KEY, KIND, UNIT, OCCURRENCE, COUNT };

struct key {
    pcol_str text[4]; /* table, key, kind, unit */
    int64_t occurrence;
    int has_unit;
};

struct keys {
    struct pci_check *check;
    const struct pci_column *columns[COUNT];
    struct key *all;
    size_t count, capacity;
    struct pci_hash hash;
    struct pci_tally table, kind, twice, occurrence, column;
};

static int same_key(const struct key *a, const struct key *b)
{
    for (size_t i = 0; i < 4; i++)
        if (!pci_str_same(a->text[i], b->text[i]))
            return 0;
    return a->occurrence == b->occurrence && a->has_unit == b->has_unit;
}

static pcol_status read_key(struct keys *k, uint64_t row, struct key *key, pcol_error *err)
{
    const pcol_file *file = k->check->file;
    int valid;
    *key = (struct key){.text = {{"", 0}, {"", 0}, {"", 0}, {"", 0}}};
    for (int i = TABLE; i <= UNIT; i++) {
        PCI_TRY(pci_get_str(file, k->columns[i], row, &key->text[i], &valid, err));
        if (i == UNIT)
            key->has_unit = k->columns[i] && valid;
    }
    PCI_TRY(pci_get(file, k->columns[OCCURRENCE], row, &key->occurrence, &valid, err));
    return PCOL_OK;
}

/* Verifies type and references of label.K. */
static void check_column(struct keys *k, uint64_t row, const struct key *key, int kind)
{
    const struct pci_table *table = pci_table_named(k->check->file, key->text[TABLE]);
    const struct pci_column *column;
    const char *references;
    unsigned types = pci_label_types(kind, &references);
    char name[32];
    if (!table)
        return;
    snprintf(name, sizeof name, "label.%llu", (unsigned long long)row);
    column = pci_column_find(table, name);
    if (!column || !column->supported)
        return;
    k->column.table = table->name;
    k->column.column = column->name;
    if (!(types & PCI_TYPE(column->desc->type)))
        pci_fault(&k->column, PCOL_POSITION_UNKNOWN, "a label of kind %s is not of type %s",
                  pci_label_kind_names[kind], pcol_type_name((pcol_type)column->desc->type));
    else if (references ? !column->references || strcmp(column->references->name, references) != 0
                        : column->references != NULL)
        pci_fault(&k->column, PCOL_POSITION_UNKNOWN, "this column must refer to %s",
                  references ? references : "nothing");
    else
        return;
    k->check->untrusted[column->number] = 1;
}

static pcol_status check_key(struct keys *k, uint64_t row, pcol_error *err)
{
    struct key key;
    uint64_t hash;
    size_t at;
    uint32_t id;
    int kind;
    PCI_TRY(read_key(k, row, &key, err));
    if (!pcf_name_valid(key.text[TABLE].data, key.text[TABLE].size))
        pci_fault(&k->table, row, "not the name of a table");
    kind = pci_label_kind_by_name(key.text[KIND]);
    if (kind < 0)
        pci_fault(&k->kind, row, "there is no kind of label '%.*s'",
                  key.text[KIND].size > 40 ? 40 : (int)key.text[KIND].size, key.text[KIND].data);
    else
        check_column(k, row, &key, kind);
    if ((uint64_t)key.occurrence >= pci_rows(k->check->file, "label_keys"))
        pci_fault(&k->occurrence, row, "out of range: there are fewer keys");
    hash = pci_hash_pair(pci_hash_place(key.text[TABLE]) + (uint64_t)key.occurrence,
                         pci_hash_place(key.text[KEY]));
    at = pci_hash_start(&k->hash, hash);
    do
        id = pci_hash_next(&k->hash, hash, &at);
    while (id != PCI_HASH_NONE && !same_key(&k->all[id], &key));
    PCI_TRY(PCI_GROW(k->all, k->capacity, k->count + 1, err));
    k->all[k->count++] = key;
    if (id == PCI_HASH_NONE)
        return pci_hash_add(&k->hash, hash, (uint32_t)k->count - 1, err);
    pci_fault(&k->twice, row, "row %u has the same key", id);
    return PCOL_OK;
}

/* Reports columns label.K without row K of label_keys. */
static void check_stray(struct keys *k, const struct pci_table *table)
{
    pcol_str text = {table->name, strlen(table->name)};
    for (uint32_t c = 0; c < table->column_count; c++) {
        const char *name = table->columns[c].name;
        struct pci_tally tally = PCI_TALLY(k->check, table->name, name);
        uint64_t row = (uint64_t)pci_parse_numbered_name(name, "label."); /* -1: above all rows */
        if (pci_is_label_column(name) &&
            (row >= k->count || !pci_str_equal(k->all[row].text[TABLE], text)))
            pci_fault(&tally, PCOL_POSITION_UNKNOWN, "no row of label_keys describes this column");
    }
}

static pcol_status check_keys(struct keys *k, pcol_error *err)
{
    static const char *const names[COUNT] = {"table", "key", "kind", "unit", "occurrence"};
    struct pci_check *check = k->check;
    uint64_t rows = pci_rows(check->file, "label_keys");
    if (!pci_check_table(check, "label_keys"))
        return PCOL_OK;
    for (size_t i = 0; i < COUNT; i++)
        k->columns[i] = pci_check_column(check, "label_keys", names[i]);
    if (rows && (!k->columns[TABLE] || !k->columns[KEY] || !k->columns[KIND]))
        return PCOL_OK; /* already reported */
    for (uint64_t row = 0; row < rows && !check->stop; row++)
        PCI_TRY(check_key(k, row, err));
    for (uint32_t t = 0; t < check->file->index.header.table_count && !check->stop; t++)
        check_stray(k, &check->file->tables[t]);
    return PCOL_OK;
}

/* first_key of shapes: starts at 0, does not descend, and is at most the number of keys. */
static pcol_status check_shapes(struct pci_check *check, pcol_error *err)
{
    const struct pci_column *first = pci_check_column(check, "label_shapes", "first_key");
    struct pci_tally tally = PCI_TALLY(check, "label_shapes", "first_key");
    uint64_t rows = pci_rows(check->file, "label_shapes"), before = 0;
    uint64_t keys = pci_rows(check->file, "label_shape_keys");
    size_t n;
    for (uint64_t row = 0; first && row < rows; row += n) {
        PCI_TRY(pci_check_read(check, first, row, rows, 0, &n, err));
        if (!n)
            break;
        for (size_t i = 0; i < n; i++) {
            uint64_t value = (uint64_t)check->values[0][i];
            if (value < before || value > keys || (row + i == 0 && value))
                pci_fault(&tally, row + i, "the keys of shapes do not follow one another");
            before = value;
        }
    }
    if (keys && !rows)
        pci_fault(&tally, PCOL_POSITION_UNKNOWN, "the keys of shapes belong to no shape");
    if (tally.count && first)
        check->untrusted[first->number] = 1;
    pci_tally_end(&tally);
    return PCOL_OK;
}

pcol_status pci_check_label_keys(struct pci_check *check, pcol_error *err)
{
    struct keys k = {.check = check,
                     .table = PCI_TALLY(check, "label_keys", "table"),
                     .kind = PCI_TALLY(check, "label_keys", "kind"),
                     .twice = PCI_TALLY(check, "label_keys", "key"),
                     .occurrence = PCI_TALLY(check, "label_keys", "occurrence"),
                     .column = PCI_TALLY(check, "", "")};
    pcol_error error = {0};
    if (pci_check_row_count(check->file, "label_keys", &error) != PCOL_OK)
        return pci_fault_error(check, &error, err);
    pcol_status status = check_keys(&k, err);
    pci_tally_end(&k.table);
    pci_tally_end(&k.kind);
    pci_tally_end(&k.twice);
    pci_tally_end(&k.occurrence);
    pci_free(k.all);
    pci_hash_clear(&k.hash);
    return status;
}

pcol_status pci_check_labels(struct pci_check *check, pcol_error *err)
{
    PCI_TRY(pci_check_label_keys(check, err));
    return pci_check_row_count(check->file, "label_keys", NULL) == PCOL_OK
               ? check_shapes(check, err)
               : PCOL_OK;
}

/* ---- strict: rows */

/* Counts the label columns with a value, by row of a batch. */
static pcol_status count_values(struct pci_check *check, const struct pci_label_reader *labels,
                                uint64_t row, uint64_t rows, uint32_t *counts, size_t *n,
                                pcol_error *err)
{
    *n = rows - row < PCI_CHECK_ROWS ? (size_t)(rows - row) : PCI_CHECK_ROWS;
    memset(counts, 0, *n * sizeof *counts);
    for (size_t k = 0; k < labels->key_count; k++) {
        size_t m;
        if (!labels->keys[k].column)
            continue;
        PCI_TRY(pci_check_read(check, labels->keys[k].column, row, rows, 0, &m, err));
        for (size_t i = 0; i < m; i++)
            counts[i] += check->valid[0][i] != 0;
    }
    return PCOL_OK;
}

static pcol_status check_rows(struct pci_check *check, struct pci_keyed_reader *keyed,
                              uint32_t *counts, pcol_error *err)
{
    const struct pci_label_reader *labels = &keyed->labels;
    const struct pci_table *table = labels->table;
    struct pci_tally tally = PCI_TALLY(check, table->name, "label_shape");
    size_t n = 0;
    if (check->copied) /* otherwise implausible tables are already untrusted */
        PCI_TRY(pci_check_row_count(check->file, table->name, err));
    for (uint64_t row = 0; row < table->rows && !check->stop; row += n) {
        PCI_TRY(count_values(check, labels, row, table->rows, counts, &n, err));
        for (size_t i = 0; i < n; i++) {
            pcol_error error = {0};
            uint32_t with_value = 0;
            if (pci_keyed_row(keyed, row + i, &error) != PCOL_OK)
                return pci_fault_error(check, &error, err);
            for (size_t c = 0; c < labels->cell_count; c++)
                with_value += labels->cells[c].key && labels->cells[c].key->column;
            if (with_value != counts[i])
                pci_fault(&tally, row + i, "the row has a value that its shape lacks");
        }
    }
    pci_tally_end(&tally);
    return PCOL_OK;
}

/* 1 if labels of a row can contradict its shape or its stack, or have the text of no number. */
static int can_contradict(const struct pci_label_reader *labels)
{
    for (size_t k = 0; k < labels->key_count; k++) {
        int kind = labels->keys[k].kind;
        if (kind == PCI_LABEL_OWNFRAME || kind == PCI_LABEL_OWNNAME || kind == PCI_LABEL_BIGINT)
            return 1;
    }
    return pci_column_find(labels->table, "label_shape") != NULL;
}

static int has_labels(const struct pci_table *table)
{
    for (uint32_t c = 0; c < table->column_count; c++)
        if (!strcmp(table->columns[c].name, "label_shape") ||
            pci_is_label_column(table->columns[c].name))
            return 1;
    return 0;
}

/* Reads the members of each row; labels may refer to the row's own stack or a frame of it. */
static pcol_status check_table(struct pci_check *check, const struct pci_table *table,
                               uint32_t *counts, pcol_error *err)
{
    struct pci_keyed_reader keyed;
    pcol_error error = {0};
    pcol_status status;
    if (!has_labels(table) || !pci_check_table(check, table->name))
        return PCOL_OK;
    if (pci_keyed_open(&keyed, check->file, table->name, &error) != PCOL_OK)
        status = pci_fault_error(check, &error, err);
    else if (!can_contradict(&keyed.labels))
        status = PCOL_OK;
    else
        status = check_rows(check, &keyed, counts, err);
    pci_keyed_close(&keyed);
    return status;
}

pcol_status pci_check_label_rows(struct pci_check *check, pcol_error *err)
{
    static const char *const needed[] = {"label_keys", "label_shapes", "label_shape_keys",
                                         "nodes",      "stacks",       "location_groups",
                                         "locations",  "functions"};
    uint32_t *counts;
    pcol_status status = PCOL_OK;
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (!pci_check_table(check, needed[i]))
            return PCOL_OK;
    if (!pci_rows(check->file, "label_keys") && !pci_rows(check->file, "label_shapes"))
        return PCOL_OK;
    PCI_TRY(PCI_MALLOC(counts, PCI_CHECK_ROWS, err));
    for (uint32_t t = 0; t < check->file->index.header.table_count && status == PCOL_OK; t++)
        if (!check->stop)
            status = check_table(check, &check->file->tables[t], counts, err);
    pci_free(counts);
    return status;
}

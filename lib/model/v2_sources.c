/*
 * v2_sources.c - table sources, with a column for each key of source_meta
 *
 * The rows of source_meta are sorted by key and source; cells are found by binary search. Tests:
 * tests/unit/test_model.c, suite columns.
 */
#include "model/table.h"

#include "util/alloc.h"
#include "util/hash.h"
#include "util/strbuf.h"

#include <stdlib.h>
#include <string.h>

#define MAX_META_ROWS (1u << 20)

struct meta_entry {
    uint32_t meta_key, row;
    uint64_t source;
    pcol_str value;
    int valid;
};

/* Column of a key: entries [first, end). */
struct meta_key {
    pcol_str text;
    char *name;
    const struct meta *meta;
    size_t first, end;
};

struct meta {
    struct meta_entry *entries;
    size_t count, capacity;
    struct meta_key *keys;
    size_t key_count, key_capacity;
};

static void meta_free(void *aux)
{
    struct meta *meta = aux;
    if (!meta)
        return;
    for (size_t i = 0; i < meta->key_count; i++)
        pci_free(meta->keys[i].name);
    pci_free(meta->keys);
    pci_free(meta->entries);
    pci_free(meta);
}

static pcol_status find_key(struct meta *meta, struct pci_hash *hash, pcol_str text,
                            uint32_t *meta_key, pcol_error *err)
{
    uint64_t hash_value = pci_hash_place(text);
    size_t slot = pci_hash_start(hash, hash_value);
    while ((*meta_key = pci_hash_next(hash, hash_value, &slot)) != PCI_HASH_NONE) {
        pcol_str other = meta->keys[*meta_key].text;
        if (pci_str_same(other, text))
            return PCOL_OK;
    }
    if (meta->key_count == PCF_MAX_META_KEYS)
        return pci_fail_cell(err, PCOL_E_LIMIT, "source_meta", "key", PCOL_POSITION_UNKNOWN,
                             "more than %u different keys", PCF_MAX_META_KEYS);
    PCI_TRY(PCI_GROW(meta->keys, meta->key_capacity, meta->key_count + 1, err));
    *meta_key = (uint32_t)meta->key_count++;
    meta->keys[*meta_key] = (struct meta_key){.text = text};
    return pci_hash_add(hash, hash_value, *meta_key, err);
}

/* Orders entries by key, source and row. */
static int compare_entries(const void *a, const void *b)
{
    const struct meta_entry *x = a, *y = b;
    if (x->meta_key != y->meta_key)
        return x->meta_key < y->meta_key ? -1 : 1;
    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

static pcol_status read_rows(const pcol_file *file, struct meta *meta, struct pci_hash *hash,
                             pcol_error *err)
{
    const struct pci_column *source, *meta_key, *value;
    uint64_t rows = pci_rows(file, "source_meta"), sources = pci_rows(file, "sources");
    PCI_TRY(pci_require_column(file, "source_meta", "source", PCI_TYPES_ROW, &source, err));
    PCI_TRY(pci_require_column(file, "source_meta", "key", PCI_TYPES_TEXT, &meta_key, err));
    PCI_TRY(pci_require_column(file, "source_meta", "value", PCI_TYPES_TEXT, &value, err));
    if (rows > MAX_META_ROWS)
        return pci_fail_cell(err, PCOL_E_LIMIT, "source_meta", NULL, PCOL_POSITION_UNKNOWN,
                             "more than %u rows", MAX_META_ROWS);
    for (uint32_t row = 0; row < rows; row++) {
        struct meta_entry meta_entry = {.row = row};
        int64_t number;
        pcol_str text;
        int valid;
        PCI_TRY(pci_get(file, source, row, &number, &valid, err));
        if (!valid || (uint64_t)number >= sources)
            return pci_corrupt(err, "source_meta", "source", row,
                               "%llu is beyond the %llu rows of sources",
                               (unsigned long long)number, (unsigned long long)sources);
        PCI_TRY(pci_get_str(file, meta_key, row, &text, &valid, err));
        PCI_TRY(pci_get_str(file, value, row, &meta_entry.value, &meta_entry.valid, err));
        PCI_TRY(find_key(meta, hash, text, &meta_entry.meta_key, err));
        meta_entry.source = (uint64_t)number;
        PCI_TRY(PCI_GROW(meta->entries, meta->capacity, meta->count + 1, err));
        meta->entries[meta->count++] = meta_entry;
    }
    return PCOL_OK;
}

static pcol_status read_meta(const pcol_file *file, struct meta *meta, pcol_error *err)
{
    struct pci_hash hash = {0};
    pcol_status status = read_rows(file, meta, &hash, err);
    pci_hash_clear(&hash);
    if (status != PCOL_OK)
        return status;
    if (meta->count)
        qsort(meta->entries, meta->count, sizeof *meta->entries, compare_entries);
    for (size_t i = 0; i < meta->count; i++) {
        struct meta_key *meta_key = &meta->keys[meta->entries[i].meta_key];
        if (i == 0 || meta->entries[i].meta_key != meta->entries[i - 1].meta_key)
            meta_key->first = i;
        meta_key->end = i + 1;
    }
    return PCOL_OK;
}

/* The last entry of a source for the key: later rows replace earlier ones. */
static pcol_status str_meta(const pcol_column *column, uint64_t row, size_t count, pcol_str *values,
                            uint8_t *valid, pcol_error *err)
{
    const struct meta_key *meta_key = column->aux;
    const struct meta_entry *entries = meta_key->meta->entries;
    (void)err;
    for (size_t i = 0; i < count; i++) {
        size_t low = meta_key->first, high = meta_key->end;
        while (low < high) {
            size_t middle = low + (high - low) / 2;
            if (entries[middle].source <= row + i)
                low = middle + 1;
            else
                high = middle;
        }
        values[i] = (pcol_str){"", 0};
        valid[i] = 0;
        if (low > meta_key->first && entries[low - 1].source == row + i && entries[low - 1].valid) {
            values[i] = entries[low - 1].value;
            valid[i] = 1;
        }
    }
    return PCOL_OK;
}

static const struct fixed {
    const char *physical, *name;
    unsigned types;
} fixed[] = {
    {"type", "source_type", PCI_TYPES_TEXT},
    {"uri", "source_uri", PCI_TYPES_TEXT},
    {"timestamp", "source_timestamp", PCI_TYPES_TEXT},
    {"period", ".period", PCI_TYPES_INT},
    {"period_type", ".period_type", PCI_TYPES_TEXT},
    {"period_unit", ".period_unit", PCI_TYPES_TEXT},
    {"interval_ns", ".interval_ns", PCI_TYPES_INT},
    {"duration_ns", ".duration_ns", PCI_TYPES_INT},
    {"default_sample_type", ".default_sample_type", PCI_TYPES_TEXT},
    {"collapsed", ".collapsed", PCI_TYPE(PCF_BOOL)},
};
#define FIXED (sizeof fixed / sizeof *fixed)

/* 1 if a key could be confused with a column of the table, in this file or another. */
static int is_reserved(const char *name)
{
    if (strcmp(name, "source_id") == 0 || strncmp(name, "meta.", 5) == 0)
        return 1;
    for (size_t i = 0; i < FIXED; i++) {
        if (strcmp(name, fixed[i].name + (fixed[i].name[0] == '.')) == 0)
            return 1;
    }
    return 0;
}

/* ".KEY", or ".meta.KEY" if that, with a further dot or not, is another column. NUL becomes '?'. */
static pcol_status set_column_name(const struct pci_column_names *names, struct meta_key *meta_key,
                                   pcol_error *err)
{
    size_t prefix = sizeof ".meta." - 1, size = meta_key->text.size;
    char *name;
    PCI_TRY(PCI_MALLOC(name, prefix + size + 1, err));
    meta_key->name = name;
    memcpy(name, "..", 2);
    memcpy(name + 2, meta_key->text.data, size);
    name[2 + size] = '\0';
    for (size_t i = 0; i < size; i++)
        name[2 + i] = (char)(name[2 + i] ? name[2 + i] : '?');
    if (is_reserved(name + 2) || pci_column_names_have(names, name) ||
        pci_column_names_have(names, name + 1)) {
        memmove(name + prefix, name + 2, size + 1);
        memcpy(name, ".meta.", prefix);
    } else {
        memmove(name, name + 1, size + 2);
    }
    return PCOL_OK;
}

static pcol_status add_fixed(pcol_table *t, pcol_error *err)
{
    const char *used[FIXED + 1] = {NULL};
    pci_table_add_id(t, "source_id");
    for (size_t i = 0; i < FIXED; i++) {
        const struct pci_column *source;
        used[i] = fixed[i].physical;
        PCI_TRY(
            pci_find_column(t->file, "sources", fixed[i].physical, fixed[i].types, &source, err));
        if (source || fixed[i].name[0] != '.')
            pci_table_add_source(t, fixed[i].name, PCOL_STRING, source, 0);
    }
    return pci_table_add_remaining(t, "sources", used, NULL, err);
}

static pcol_status add_keys(pcol_table *t, struct meta *meta, struct pci_column_names *names,
                            pcol_error *err)
{
    PCI_TRY(pci_table_reserve(t, (uint32_t)meta->key_count, err));
    for (uint32_t i = 0; i < t->column_count; i++)
        PCI_TRY(pci_column_names_add(names, i, err));
    for (size_t i = 0; i < meta->key_count; i++) {
        struct meta_key *meta_key = &meta->keys[i];
        pcol_column *column;
        PCI_TRY(set_column_name(names, meta_key, err));
        meta_key->meta = meta;
        column = pci_table_add(t, meta_key->name, PCOL_STRING);
        column->nullable = 1;
        column->aux = meta_key;
        column->str = str_meta;
        PCI_TRY(pci_column_names_add(names, column->index, err));
    }
    return PCOL_OK;
}

static pcol_status add_columns(pcol_table *t, struct meta *meta, pcol_error *err)
{
    struct pci_column_names names = {.table = t};
    PCI_TRY(add_fixed(t, err));
    pcol_status status = add_keys(t, meta, &names, err);
    pci_hash_clear(&names.hash);
    return status;
}

pcol_status pci_v2_sources(const pcol_file *file, pcol_table **table, pcol_error *err)
{
    struct meta *meta = pci_calloc(1, sizeof *meta);
    pcol_table *t = NULL;
    pcol_status status = meta ? read_meta(file, meta, err) : pci_fail_memory(err);
    *table = NULL;
    PCI_THEN(status, pci_table_new(file, "sources", pci_rows(file, "sources"), 11, &t, err));
    if (status != PCOL_OK) {
        meta_free(meta);
        return status;
    }
    t->aux = meta;
    t->free_aux = meta_free;
    status = add_columns(t, meta, err);
    if (status == PCOL_OK)
        *table = t;
    else
        pci_table_free(t);
    return status;
}

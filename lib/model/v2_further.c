/*
 * v2_further.c - columns of logical tables for the remaining physical columns and labels
 *
 * Each physical column that a view does not use otherwise is added under its name with a leading
 * dot, and each label under its key, so that views provide all data of a row. Names that exist
 * already are extended: `.TABLE.NAME`, `.TABLE.NAME#2`, `.label.KEY#2`. Tests: suite columns.
 */
#include "model/content_hashes.h"
#include "model/row_details.h"

#include "util/alloc.h"
#include "util/hash.h"
#include "util/strbuf.h"

#include <stdio.h>
#include <string.h>

struct column_adder {
    pcol_table *t;
    const struct pci_table *physical;
    pci_column_adapt_fn adapt;
    int is_further; /* a further table: labels with units, of other kinds */
    struct pci_column_names names;
};

/* Space for "#2" up to the largest number. */
#define SUFFIX_BYTES 12u

/* Appends "#2", "#3", ... to a name of a size until it is unique, from *number on; 1: none. */
static void make_unique(const struct column_adder *a, char *name, size_t size, uint32_t *number)
{
    for (; *number > 1 || pci_column_names_have(&a->names, name); ++*number) {
        if (*number == 1)
            continue;
        snprintf(name + size, SUFFIX_BYTES, "#%u", *number);
        if (!pci_column_names_have(&a->names, name))
            return;
    }
}

/* Allocates a name, which the table owns. */
static pcol_status allocate_name(struct column_adder *a, size_t size, char **name, pcol_error *err)
{
    pcol_table *t = a->t;
    *name = NULL;
    PCI_TRY(PCI_GROW(t->owned, t->owned_capacity, t->owned_count + 1, err));
    PCI_TRY(PCI_MALLOC(*name, size, err));
    t->owned[t->owned_count++] = *name;
    return PCOL_OK;
}

static pcol_status add_column(struct column_adder *a, const char *name,
                              const struct pci_column *source, pcol_error *err)
{
    pcol_table *t = a->t;
    pcol_column *column;
    PCI_TRY(pci_table_reserve(t, 1, err));
    column = pci_table_add_source(t, name, PCOL_I64, source, 0);
    column->references = source->references ? source->references->name : NULL;
    if (a->adapt)
        a->adapt(column);
    return pci_column_names_add(&a->names, column->index, err);
}

static int is_used(const char *name, const char *const *used)
{
    for (; *used; used++) {
        size_t size = strlen(*used);
        if (!strcmp(*used, name) || ((*used)[size - 1] == '.' && !strncmp(*used, name, size)))
            return 1;
    }
    return !strcmp(name, "label_shape") || pci_is_label_column(name);
}

static pcol_status add_columns(struct column_adder *a, const char *const *used, pcol_error *err)
{
    for (uint32_t i = 0; i < a->physical->column_count; i++) {
        const struct pci_column *source = &a->physical->columns[i];
        size_t size = strlen(a->physical->name) + strlen(source->name) + 3 + SUFFIX_BYTES;
        uint32_t number = 1;
        char *name;
        if (!source->supported || is_used(source->name, used))
            continue;
        PCI_TRY(allocate_name(a, size, &name, err));
        snprintf(name, size, ".%s", source->name);
        if (pci_column_names_have(&a->names, name) || pci_column_names_have(&a->names, name + 1))
            snprintf(name, size, ".%s.%s", a->physical->name, source->name);
        make_unique(a, name, strlen(name), &number);
        PCI_TRY(add_column(a, name, source, err));
    }
    return PCOL_OK;
}

/* ".label.KEY" with NUL as \0, and "#2", "#3", ... until it is unique. */
static pcol_status build_label_name(struct column_adder *a, pcol_str key, uint32_t *repeat,
                                    char **name, pcol_error *err)
{
    static const char prefix[] = ".label.";
    size_t size = sizeof prefix - 1;
    PCI_TRY(allocate_name(a, size + 2 * key.size + 1 + SUFFIX_BYTES, name, err));
    memcpy(*name, prefix, size);
    for (size_t i = 0; i < key.size; i++) {
        if (key.data[i])
            (*name)[size++] = key.data[i];
        else
            memcpy(*name + size, "\\0", 2), size += 2;
    }
    (*name)[size] = '\0';
    make_unique(a, *name, size, repeat);
    ++*repeat;
    return PCOL_OK;
}

/* Next suffix number of a distinct key. */
struct key_count {
    pcol_str key;
    uint32_t next;
};

static pcol_status find_key_count(struct pci_hash *hash, struct key_count *counts, size_t *count,
                                  pcol_str key, uint32_t **next, pcol_error *err)
{
    uint64_t hash_value = pci_hash_place(key);
    size_t slot = pci_hash_start(hash, hash_value);
    uint32_t id;
    while ((id = pci_hash_next(hash, hash_value, &slot)) != PCI_HASH_NONE)
        if (pci_str_same(counts[id].key, key))
            break;
    if (id == PCI_HASH_NONE) {
        id = (uint32_t)(*count)++;
        counts[id] = (struct key_count){key, 1};
        PCI_TRY(pci_hash_add(hash, hash_value, id, err));
    }
    *next = &counts[id].next;
    return PCOL_OK;
}

/* A depth has no meaning of its own; a null of the source has none in a further table. */
static int shows_label(const struct column_adder *a, int kind)
{
    return a->is_further ? kind != PCI_LABEL_NULL
                         : kind != PCI_LABEL_OWNFRAME && kind != PCI_LABEL_OWNNAME;
}

/* Sets the unit of the last column. */
static pcol_status set_unit(struct column_adder *a, pcol_str unit, pcol_error *err)
{
    char *text;
    PCI_TRY(allocate_name(a, unit.size + 1, &text, err));
    if (unit.size)
        memcpy(text, unit.data, unit.size);
    text[unit.size] = '\0';
    a->t->columns[a->t->column_count - 1].unit = text;
    return PCOL_OK;
}

static pcol_status add_labels(struct column_adder *a, const struct pci_label_reader *labels,
                              pcol_error *err)
{
    struct key_count *counts = pci_calloc(labels->key_count, sizeof *counts);
    struct pci_hash hash = {0};
    size_t count = 0;
    pcol_status status = counts ? PCOL_OK : pci_fail_memory(err);
    for (size_t i = 0; i < labels->key_count && status == PCOL_OK; i++) {
        const struct pci_label_key *key = &labels->keys[i];
        uint32_t *next = NULL;
        char *name = NULL;
        if (!key->column || !shows_label(a, key->kind))
            continue;
        status = find_key_count(&hash, counts, &count, key->key, &next, err);
        PCI_THEN(status, build_label_name(a, key->key, next, &name, err));
        PCI_THEN(status, add_column(a, name, key->column, err));
        if (status == PCOL_OK && key->has_unit && a->is_further)
            status = set_unit(a, key->unit, err);
    }
    pci_hash_clear(&hash);
    pci_free(counts);
    return status;
}

/* used: NULL: adds labels only. */
static pcol_status add_remaining(struct column_adder *a, const char *const *used, pcol_error *err)
{
    struct pci_label_reader labels;
    pcol_status status;
    for (uint32_t i = 0; i < a->t->column_count; i++)
        PCI_TRY(pci_column_names_add(&a->names, i, err));
    if (used)
        PCI_TRY(add_columns(a, used, err));
    status = pci_labels_open(&labels, a->t->file, a->physical->name, err);
    PCI_THEN(status, add_labels(a, &labels, err));
    pci_labels_close(&labels);
    return status;
}

pcol_status pci_table_add_remaining(pcol_table *table, const char *physical,
                                    const char *const *used, pci_column_adapt_fn adapt,
                                    pcol_error *err)
{
    struct column_adder a = {.t = table, .adapt = adapt, .names.table = table};
    pcol_status status;
    a.physical = pci_table_find(table->file, physical);
    if (!a.physical)
        return PCOL_OK;
    status = add_remaining(&a, used, err);
    pci_hash_clear(&a.names.hash);
    return status;
}

/* ---- further tables */

/* The id column of a table of v2; NULL: rows count from 0. */
static const char *get_id_name(const struct pci_table *table)
{
    static const char *const ids[][2] = {{"sources", "source_id"},
                                         {"samples", "sample_id"},
                                         {"locations", "location_id"},
                                         {"functions", "function_id"}};
    for (size_t i = 0; table && i < sizeof ids / sizeof *ids; i++)
        if (!strcmp(table->name, ids[i][0]))
            return ids[i][1];
    return NULL;
}

/* References to tables of v2 become ids, under their name unless the column's is more specific. */
static void add_further_column(pcol_table *t, const struct pci_column *source)
{
    const char *id = get_id_name(source->references), *name = source->name;
    if (id && !strncmp(id, name, strlen(name)))
        name = id;
    pcol_column *column = pci_table_add_source(t, name, PCOL_I64, source, id != NULL);
    column->references = source->references ? source->references->name : NULL;
    if (source->schema->flags & PCI_TIME && source->desc->type == PCF_I64)
        pci_column_show_ms(column);
}

/* Columns that only serve the exact restoration of a source. */
static int is_restoration(const char *name)
{
    return !strcmp(name, "label_shape") || pci_is_remainder(name);
}

/* The rarely used column `extra` is the last. */
static pcol_status fill_further(struct column_adder *a, pcol_error *err)
{
    static const char extra[] = "extra";
    const struct pci_column *last = pci_column_find(a->physical, extra);
    pci_table_add_id(a->t, "row")->offset = -1;
    for (uint32_t i = 0; i < a->physical->column_count; i++) {
        const struct pci_column *source = &a->physical->columns[i];
        if (source != last && !is_restoration(source->name) && !pci_is_label_column(source->name))
            add_further_column(a->t, source);
    }
    if (!strcmp(a->t->name, "stacks"))
        pci_table_add_hash(a->t, PCOL_HASH_STACKS);
    pcol_status status = add_remaining(a, NULL, err);
    if (status == PCOL_OK && last)
        status = pci_table_reserve(a->t, 1, err);
    if (status == PCOL_OK && last)
        add_further_column(a->t, last);
    pci_hash_clear(&a->names.hash);
    return status;
}

pcol_status pci_further_table(const pcol_file *file, uint32_t index, pcol_table **table,
                              pcol_error *err)
{
    struct column_adder a = {.physical = &file->tables[index], .is_further = 1};
    *table = NULL;
    PCI_TRY(pci_check_table_supported(a.physical, err));
    PCI_TRY(pci_table_new(file, a.physical->name, a.physical->rows, a.physical->column_count + 2,
                          &a.t, err));
    a.names.table = a.t;
    pcol_status status = fill_further(&a, err);
    if (status == PCOL_OK)
        *table = a.t;
    else
        pci_table_free(a.t);
    return status;
}

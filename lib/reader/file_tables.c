/*
 * file_tables.c - tables and columns of an open file, and lookups by name
 *
 * Linear search; tables of many columns share a hash table of (table, name). Filled once at open,
 * constant afterwards. Tests: tests/unit/test_index.c.
 */
#include "reader/file_tables.h"

#include "format/load.h"
#include "format/range.h"
#include "reader/archive_read.h"
#include "util/alloc.h"

#include <string.h>

static char *put_name(const pcol_file *f, char **at, uint32_t offset, uint16_t size)
{
    char *name = *at;
    memcpy(name, f->index.names + offset, size);
    name[size] = '\0';
    *at += size + 1;
    return name;
}

pcol_status pci_file_new_names(pcol_file *f, pcol_error *err)
{
    const struct pcf_index *x = &f->index;
    size_t size = 1; /* "" for the children */
    for (uint32_t i = 0; i < x->header.table_count; i++)
        size += x->tables[i].name_size + 1u;
    for (uint32_t i = 0; i < x->header.column_count; i++)
        size += x->columns[i].name_size + 1u;
    char *at;
    PCI_TRY(PCI_MALLOC(at, size, err));
    f->memory = at;
    for (uint32_t i = 0; i < x->header.table_count; i++)
        f->tables[i].name = put_name(f, &at, x->tables[i].name_offset, x->tables[i].name_size);
    for (uint32_t i = 0; i < x->header.column_count; i++)
        f->columns[i].name = put_name(f, &at, x->columns[i].name_offset, x->columns[i].name_size);
    return PCOL_OK;
}

/* Whether the column or one of its children, whose states are already set, is compressed. */
static uint8_t has_compressed_data(const pcol_file *f, uint32_t column)
{
    const struct pcf_column *desc = &f->index.columns[column];
    for (uint32_t i = 0; i < desc->section_count; i++)
        if (f->index.sections[desc->first_section + i].codec)
            return 1;
    for (uint32_t i = 0; i < desc->child_count; i++)
        if (atomic_load_explicit(&f->columns[desc->first_child + i].compression_state,
                                 memory_order_relaxed))
            return 1;
    uint32_t codes = pcf_column_codes(&f->index, column);
    return codes &&
           atomic_load_explicit(&f->columns[codes].compression_state, memory_order_relaxed);
}

void pci_file_fill_columns(pcol_file *f)
{
    const struct pcf_index *x = &f->index;
    for (uint32_t i = x->header.column_count; i-- > 0;) {
        struct pci_column *c = &f->columns[i];
        const struct pcf_column *desc = &x->columns[i];
        pcf_index_fill_column(x, i, f->bytes, f->data);
        c->table = NULL;
        c->number = i;
        c->supported = f->data[i].type != 0;
        c->data = &f->data[i];
        c->desc = desc;
        atomic_init(&c->compression_state,
                    c->supported && has_compressed_data(f, i) ? PCI_COLUMN_COMPRESSED : 0);
        atomic_init(&c->unverified, 1);
        atomic_init(&c->touched, 0);
        atomic_init(&c->order, 0);
        c->by_block = f->data[i].encoding == PCF_TREE;
        atomic_init(&c->blocks, NULL);
        atomic_init(&c->structure_known, 0);
        c->schema = NULL;
        c->references = desc->ref_table ? &f->tables[desc->ref_table - 1] : NULL;
    }
}

/* Tables with at least so many columns use a hash table of names: each sample type and label key is
 * a column, and all of them are looked up. */
#define WIDE_TABLE 64u
/* The same for tables: each row of label_keys and source_rows names one. */
#define MANY_TABLES 64u

static uint64_t hash_name(const struct pci_table *table, pcol_str name)
{
    return pci_hash_pair(pci_hash_bytes(name.data, name.size), table->number);
}

static pcol_status hash_names(pcol_file *f, struct pci_table *t, pcol_error *err)
{
    for (uint32_t i = 0; i < t->column_count; i++) {
        const struct pci_column *c = &t->columns[i];
        pcol_str name = {c->name, strlen(c->name)};
        PCI_TRY(pci_hash_add(&f->by_name, hash_name(t, name), c->number, err));
    }
    t->by_name = &f->by_name;
    return PCOL_OK;
}

pcol_status pci_file_fill_tables(pcol_file *f, pcol_error *err)
{
    const struct pcf_index *x = &f->index;
    uint32_t next = 0;
    for (uint32_t i = 0; i < x->header.table_count; i++) {
        const struct pcf_table *desc = &x->tables[i];
        struct pci_table *t = &f->tables[i];
        t->schema = pci_schema_table(f->schemas, t->name);
        t->number = i;
        t->flags = desc->flags;
        t->rows = desc->rows;
        t->column_count = desc->column_count;
        t->columns = f->columns + next;
        t->by_name = NULL;
        next += desc->column_count;
        pcf_add_values(&f->values, desc->rows, desc->column_count);
        /* Format 1.0 defines no MUST_UNDERSTAND table or column; a later version may. */
        t->supported = !(desc->flags & (unsigned)~PCF_TABLE_PREORDER);
        for (uint32_t k = 0; k < t->column_count; k++) {
            struct pci_column *c = &t->columns[k];
            c->table = t;
            c->schema = pci_schema_column(t->schema, c->name);
            if (c->desc->flags & PCF_COLUMN_MUST_UNDERSTAND)
                t->supported = 0;
        }
        if (t->column_count >= WIDE_TABLE)
            PCI_TRY(hash_names(f, t, err));
        if (x->header.table_count >= MANY_TABLES)
            PCI_TRY(pci_hash_add(&f->by_table, pci_hash_bytes(t->name, strlen(t->name)), i, err));
    }
    return PCOL_OK;
}

/* Compares the first character first: lookups dominate in small files, and most names differ. */
static int is_name(const char *text, pcol_str name)
{
    return (!name.size || *text == *name.data) && strlen(text) == name.size &&
           memcmp(text, name.data, name.size) == 0;
}

const struct pci_table *pci_table_named(const pcol_file *file, pcol_str name)
{
    if (file->index.header.table_count < MANY_TABLES) {
        for (uint32_t i = 0; i < file->index.header.table_count; i++)
            if (is_name(file->tables[i].name, name))
                return &file->tables[i];
    } else if (name.size <= PCF_MAX_NAME) {
        uint64_t hash = pci_hash_bytes(name.data, name.size);
        size_t slot = pci_hash_start(&file->by_table, hash);
        for (uint32_t i; (i = pci_hash_next(&file->by_table, hash, &slot)) != PCI_HASH_NONE;)
            if (is_name(file->tables[i].name, name))
                return &file->tables[i];
    }
    return NULL;
}

const struct pci_table *pci_table_find(const pcol_file *file, const char *name)
{
    return pci_table_named(file, (pcol_str){name, strlen(name)});
}

const struct pci_table *pci_table_flagged(const pcol_file *file, uint32_t flag)
{
    for (uint32_t i = 0; i < file->index.header.table_count; i++) {
        if (file->tables[i].schema->table_flags & flag)
            return &file->tables[i];
    }
    return NULL;
}

pcol_status pci_check_table_supported(const struct pci_table *table, pcol_error *err)
{
    return table->supported
               ? PCOL_OK
               : pci_fail_cell(err, PCOL_E_UNSUPPORTED, table->name, NULL, PCOL_POSITION_UNKNOWN,
                               "this table needs a newer reader");
}

static const struct pci_column *find_hashed(const struct pci_table *table, pcol_str name)
{
    uint64_t hash = hash_name(table, name);
    size_t slot = pci_hash_start(table->by_name, hash);
    for (uint32_t id; (id = pci_hash_next(table->by_name, hash, &slot)) != PCI_HASH_NONE;) {
        uint32_t i = id - table->columns[0].number; /* wraps for a column of an earlier table */
        if (i < table->column_count && is_name(table->columns[i].name, name))
            return &table->columns[i];
    }
    return NULL;
}

const struct pci_column *pci_column_find(const struct pci_table *table, const char *name)
{
    pcol_str whole = {name, strlen(name)};
    if (table && table->by_name)
        return find_hashed(table, whole);
    for (uint32_t i = 0; table && i < table->column_count; i++) {
        if (is_name(table->columns[i].name, whole))
            return &table->columns[i];
    }
    return NULL;
}

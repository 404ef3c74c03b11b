/*
 * table.c - construction of tables, and accessors that read no cell
 *
 * Names of tables and columns are literals, names of the index or memory owned by the table; they
 * are not copied.
 */
#include "model/table.h"
#include "model/arrays.h"

#include "format/range.h"
#include "util/alloc.h"
#include "util/control.h"

#include <string.h>

pcol_status pci_table_new(const pcol_file *file, const char *name, uint64_t rows,
                          uint32_t column_capacity, pcol_table **table, pcol_error *err)
{
    pcol_table *t;
    *table = NULL;
    PCI_TRY(PCI_CALLOC(t, 1, err));
    t->columns = pci_calloc(column_capacity ? column_capacity : 1, sizeof *t->columns);
    if (!t->columns) {
        pci_free(t);
        return pci_fail_memory(err);
    }
    t->file = file;
    t->name = name;
    t->rows = rows;
    t->column_capacity = column_capacity;
    *table = t;
    return PCOL_OK;
}

void pci_table_free(pcol_table *table)
{
    if (!table)
        return;
    pci_table_free(atomic_load_explicit(&table->joined, memory_order_relaxed));
    if (table->free_aux)
        table->free_aux(table->aux);
    pci_free(table->joins);
    for (size_t i = 0; i < table->owned_count; i++)
        pci_free(table->owned[i]);
    pci_free(table->owned);
    pci_free(table->reads);
    for (uint32_t i = 0; i < table->column_count; i++)
        pci_array_free(atomic_load_explicit(&table->columns[i].array, memory_order_relaxed));
    pci_free(table->columns);
    pci_free(table);
}

pcol_status pci_table_reserve(pcol_table *table, uint32_t more, pcol_error *err)
{
    size_t capacity = table->column_capacity;
    PCI_TRY(PCI_GROW(table->columns, capacity, (size_t)table->column_count + more, err));
    memset(table->columns + table->column_capacity, 0,
           (capacity - table->column_capacity) * sizeof *table->columns);
    table->column_capacity = (uint32_t)capacity;
    return PCOL_OK;
}

pcol_column *pci_table_add(pcol_table *table, const char *name, pcol_type type)
{
    pcol_column *column = &table->columns[table->column_count];
    column->table = table;
    column->name = name;
    column->type = type;
    column->index = table->column_count++;
    return column;
}

pcol_status pci_column_names_add(struct pci_column_names *names, uint32_t column, pcol_error *err)
{
    const char *name = names->table->columns[column].name;
    return pci_hash_add(&names->hash, pci_hash_bytes(name, strlen(name)), column, err);
}

int pci_column_names_have(const struct pci_column_names *names, const char *name)
{
    uint64_t hash = pci_hash_bytes(name, strlen(name));
    size_t slot = pci_hash_start(&names->hash, hash);
    uint32_t id;
    while ((id = pci_hash_next(&names->hash, hash, &slot)) != PCI_HASH_NONE)
        if (!strcmp(names->table->columns[id].name, name))
            return 1;
    return 0;
}

static pcol_status bits_id(const pcol_column *column, uint64_t row, size_t count, int64_t *values,
                           uint8_t *valid, pcol_error *err)
{
    (void)err;
    for (size_t i = 0; i < count; i++)
        values[i] = (int64_t)(row + i + 1) + column->offset;
    memset(valid, 1, count);
    return PCOL_OK;
}

pcol_column *pci_table_add_id(pcol_table *table, const char *name)
{
    pcol_column *column = pci_table_add(table, name, PCOL_I64);
    column->bits = bits_id;
    column->order = PCI_ROW_ID;
    column->primary_key = 1;
    return column;
}

static pcol_status bits_null(const pcol_column *column, uint64_t row, size_t count, int64_t *values,
                             uint8_t *valid, pcol_error *err)
{
    (void)column;
    (void)row;
    (void)err;
    memset(values, 0, count * sizeof *values);
    memset(valid, 0, count);
    return PCOL_OK;
}

static pcol_status str_null(const pcol_column *column, uint64_t row, size_t count, pcol_str *values,
                            uint8_t *valid, pcol_error *err)
{
    (void)column;
    (void)row;
    (void)err;
    for (size_t i = 0; i < count; i++)
        values[i] = (pcol_str){"", 0};
    memset(valid, 0, count);
    return PCOL_OK;
}

static pcol_status bits_source(const pcol_column *column, uint64_t row, size_t count,
                               int64_t *values, uint8_t *valid, pcol_error *err)
{
    const struct pci_column *source = column->source;
    PCI_TRY(pci_read(column->table->file, source, row, count, values, valid, err));
    const uint8_t *null = column->nullable ? NULL : memchr(valid, 0, count);
    if (null)
        return pci_fail_cell(err, PCOL_E_CORRUPT, source->table->name, source->name,
                             row + (uint64_t)(null - valid), "this column cannot hold nulls");
    if (column->offset) {
        for (size_t i = 0; i < count; i++)
            values[i] = valid[i] ? (int64_t)((uint64_t)values[i] + (uint64_t)column->offset) : 0;
    }
    return PCOL_OK;
}

static pcol_status str_source(const pcol_column *column, uint64_t row, size_t count,
                              pcol_str *values, uint8_t *valid, pcol_error *err)
{
    return pci_read_str(column->table->file, column->source, row, count, values, valid, err);
}

pcol_column *pci_table_add_source(pcol_table *table, const char *name, pcol_type type,
                                  const struct pci_column *source, int64_t offset)
{
    pcol_column *column = pci_table_add(table, name, type);
    column->nullable = 1;
    if (!source) {
        column->bits = bits_null;
        column->str = str_null;
        column->codes = bits_null;
        return column;
    }
    column->type = offset ? PCOL_I64 : (pcol_type)source->desc->type;
    column->nullable = (source->desc->flags & PCF_COLUMN_NULLABLE) != 0;
    column->source = source;
    column->direct = offset == 0;
    column->offset = offset;
    column->bits = bits_source;
    column->str = str_source;
    column->codes = source->desc->type == PCF_STRING ? bits_source : NULL;
    column->order = PCI_STORED;
    return column;
}

static pcol_status bits_constant(const pcol_column *column, uint64_t row, size_t count,
                                 int64_t *values, uint8_t *valid, pcol_error *err)
{
    const int64_t *value = column->aux;
    (void)row;
    (void)err;
    for (size_t i = 0; i < count; i++)
        values[i] = *value;
    memset(valid, 1, count);
    return PCOL_OK;
}

pcol_column *pci_table_add_constant(pcol_table *table, const char *name, pcol_type type,
                                    const int64_t *value)
{
    pcol_column *column = pci_table_add(table, name, type);
    column->bits = bits_constant;
    column->aux = value;
    return column;
}

pcol_status pci_table_add_reads(pcol_table *table, const struct pci_column *const *columns,
                                size_t count, pcol_error *err)
{
    PCI_TRY(PCI_GROW(table->reads, table->read_capacity, table->read_count + count, err));
    for (size_t i = 0; i < count; i++)
        if (columns[i])
            table->reads[table->read_count++] = columns[i];
    return PCOL_OK;
}

static pcol_status lane_bits(const pcol_column *column, const struct pci_row_lanes *lanes,
                             size_t count, int64_t *values, uint8_t *valid, pcol_error *err)
{
    const int64_t *lane = lanes->lane[column->lane];
    (void)err;
    for (size_t i = 0; i < count; i++)
        values[i] = lane[i] + column->offset;
    memset(valid, 1, count);
    return PCOL_OK;
}

pcol_column *pci_table_add_lane(pcol_table *table, const char *name, pcol_type type, uint8_t lane,
                                int64_t offset)
{
    pcol_column *column = pci_table_add(table, name, type);
    column->lane = lane;
    column->offset = offset;
    column->lane_bits = lane_bits;
    return column;
}

pcol_status pci_check_column_supported(const pcol_column *column, pcol_error *err)
{
    return !column->source || column->source->supported
               ? PCOL_OK
               : pci_fail_cell(err, PCOL_E_UNSUPPORTED, column->table->name, column->name,
                               PCOL_POSITION_UNKNOWN, "this column needs a newer reader");
}

pcol_status pci_find_column(const pcol_file *file, const char *table, const char *name,
                            unsigned types, const struct pci_column **column, pcol_error *err)
{
    const struct pci_table *t = pci_table_find(file, table);
    const struct pci_column *c;
    *column = NULL;
    if (!t)
        return PCOL_OK;
    PCI_TRY(pci_check_table_supported(t, err));
    c = pci_column_find(t, name);
    if (!c)
        return PCOL_OK;
    if (!c->supported)
        return pci_fail_cell(err, PCOL_E_UNSUPPORTED, table, name, PCOL_POSITION_UNKNOWN,
                             "this column needs a newer reader");
    if (c->desc->type >= 32 || !(types & PCI_TYPE(c->desc->type)))
        return pci_corrupt(err, table, name, PCOL_POSITION_UNKNOWN,
                           "this column cannot be of type %s",
                           pcol_type_name((pcol_type)c->desc->type));
    *column = c;
    return PCOL_OK;
}

pcol_status pci_find_verified_column(const pcol_file *file, const char *table, const char *name,
                                     unsigned types, const struct pci_column **column,
                                     pcol_error *err)
{
    PCI_TRY(pci_find_column(file, table, name, types, column, err));
    if (!*column)
        return PCOL_OK;
    if ((*column)->desc->type == PCF_STRING && file->strings)
        PCI_TRY(pci_verify(file, file->strings, err));
    return pci_verify(file, *column, err);
}

pcol_status pci_get_named(const pcol_file *file, const char *table, const char *name,
                          unsigned types, uint64_t row, int64_t *value, int *valid, pcol_error *err)
{
    const struct pci_column *column;
    PCI_TRY(pci_work(PCI_ITEM_WORK, err));
    PCI_TRY(pci_find_column(file, table, name, types, &column, err));
    return pci_get(file, column, row, value, valid, err);
}

pcol_status pci_get_named_str(const pcol_file *file, const char *table, const char *name,
                              uint64_t row, pcol_str *value, int *valid, pcol_error *err)
{
    const struct pci_column *column;
    PCI_TRY(pci_work(PCI_ITEM_WORK, err));
    PCI_TRY(pci_find_column(file, table, name, PCI_TYPES_TEXT, &column, err));
    return pci_get_str(file, column, row, value, valid, err);
}

pcol_status pci_find_columns(const pcol_file *file, const struct pci_column_request *requests,
                             size_t count, pcol_error *err)
{
    for (const struct pci_column_request *r = requests; r < requests + count; r++)
        PCI_TRY(pci_find_column(file, r->table, r->name, r->types, r->column, err));
    return PCOL_OK;
}

pcol_status pci_find_verified_columns(const pcol_file *file,
                                      const struct pci_column_request *requests, size_t count,
                                      pcol_error *err)
{
    for (const struct pci_column_request *r = requests; r < requests + count; r++)
        PCI_TRY(pci_find_verified_column(file, r->table, r->name, r->types, r->column, err));
    return PCOL_OK;
}

pcol_status pci_require_column(const pcol_file *file, const char *table, const char *name,
                               unsigned types, const struct pci_column **column, pcol_error *err)
{
    PCI_TRY(pci_find_column(file, table, name, types, column, err));
    if (!*column && pci_rows(file, table))
        return pci_corrupt(err, table, name, PCOL_POSITION_UNKNOWN, "this column is missing");
    return PCOL_OK;
}

uint64_t pci_rows(const pcol_file *file, const char *table)
{
    const struct pci_table *t = pci_table_find(file, table);
    return t ? t->rows : 0;
}

static pcol_status fail_rows(const pcol_file *file, const char *table, pcol_error *err)
{
    return pci_fail_cell(err, PCOL_E_LIMIT, table, NULL, PCOL_POSITION_UNKNOWN,
                         "implausible number of rows, %llu in a file of %llu bytes",
                         (unsigned long long)pci_rows(file, table), (unsigned long long)file->size);
}

/* Checks a number of values, of one table or of all. */
static pcol_status check_values(const pcol_file *file, const struct pci_table *table,
                                pcol_error *err)
{
    uint64_t values = table ? 0 : file->values;
    if (table)
        pcf_add_values(&values, table->rows, table->column_count);
    return pcf_values_plausible(values, file->size)
               ? PCOL_OK
               : pci_fail_cell(err, PCOL_E_LIMIT, table ? table->name : NULL, NULL,
                               PCOL_POSITION_UNKNOWN,
                               "implausible number of values, %llu in a file of %llu bytes",
                               (unsigned long long)values, (unsigned long long)file->size);
}

pcol_status pci_check_row_count(const pcol_file *file, const char *table, pcol_error *err)
{
    const struct pci_table *t = pci_table_find(file, table);
    if (!t)
        return PCOL_OK;
    return pcf_table_plausible(table, strlen(table), t->rows, file->size)
               ? check_values(file, t, err)
               : fail_rows(file, table, err);
}

pcol_status pci_check_row_counts(const pcol_file *file, pcol_error *err)
{
    for (uint32_t i = 0; i < file->index.header.table_count; i++)
        PCI_TRY(pci_check_row_count(file, file->tables[i].name, err));
    return check_values(file, NULL, err);
}

const char *pcol_table_name(const pcol_table *table)
{
    if (!table)
        return "";
    return table->name;
}

uint64_t pcol_table_rows(const pcol_table *table)
{
    if (!table)
        return 0;
    return table->rows;
}

uint32_t pcol_table_column_count(const pcol_table *table)
{
    if (!table)
        return 0;
    return table->column_count;
}

const pcol_column *pcol_table_column(const pcol_table *table, uint32_t index)
{
    if (!table)
        return NULL;
    return index < table->column_count ? &table->columns[index] : NULL;
}

/* An exact name has precedence over one that lacks only its dot. */
const pcol_column *pcol_table_column_by_name(const pcol_table *table, const char *name,
                                             uint32_t *index)
{
    const pcol_column *found = NULL;
    if (!table || !name)
        return NULL;
    for (uint32_t i = 0; i < table->column_count; i++) {
        const pcol_column *column = &table->columns[i];
        if (strcmp(column->name, name) == 0) {
            found = column;
            break;
        }
        if (!found && column->name[0] == '.' && strcmp(column->name + 1, name) == 0)
            found = column;
    }
    if (found && index)
        *index = found->index;
    return found;
}

const char *pcol_type_name(pcol_type type)
{
    static const char *const names[] = {"unknown", "i64",   "u64",  "f64", "u32",
                                        "string",  "bytes", "bool", "list"};
    return names[type >= PCOL_I64 && type <= PCOL_LIST ? type : 0];
}

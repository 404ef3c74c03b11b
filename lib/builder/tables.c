/*
 * tables.c - arbitrary tables and columns, set cell by cell, and verification of references
 */
#include "builder/builder.h"

#include "format/index.h"
#include "util/alloc.h"
#include "util/strbuf.h"

#include <string.h>

pcol_status pci_builder_add_table(pcol_builder *b, const char *name, pcol_error *err)
{
    size_t size = strlen(name) + 1;
    char *copy;
    if (b->table_count >= PCF_MAX_TABLES)
        return pci_fail(err, PCOL_E_LIMIT, "more than %u tables", PCF_MAX_TABLES);
    PCI_TRY(PCI_GROW(b->tables, b->table_capacity, b->table_count + 1, err));
    PCI_TRY(PCI_MALLOC(copy, size, err));
    memcpy(copy, name, size);
    b->tables[b->table_count++] = (struct pci_table_buffer){.name = copy};
    return PCOL_OK;
}

static pcol_status check_name(const char *name, pcol_error *err)
{
    return pcf_name_valid(name, strlen(name))
               ? PCOL_OK
               : pci_fail(err, PCOL_E_ARGUMENT,
                          "the name of a table or column is not 1 to %u bytes of printable UTF-8",
                          PCF_MAX_NAME);
}

pcol_status pcol_builder_table(pcol_builder *builder, const char *name, uint32_t *table,
                               pcol_error *err)
{
    PCI_REQUIRE(table, err);
    *table = 0;
    PCI_TRY(pci_builder_check_open(builder, err));
    PCI_REQUIRE(name, err);
    PCI_TRY(check_name(name, err));
    pcol_builder *b = builder;
    for (size_t i = 0; i < b->table_count; i++)
        if (!strcmp(b->tables[i].name, name)) {
            *table = (uint32_t)i;
            return PCOL_OK;
        }
    *table = (uint32_t)b->table_count;
    return pci_builder_add_table(b, name, err);
}

/* Columns without a column buffer, computed when the file is written. */
static int is_computed(uint32_t table, const char *name)
{
    return table == PCI_T_STRINGS  ? strcmp(name, "value") == 0
           : table == PCI_T_STACKS ? strcmp(name, "parent") == 0 || strcmp(name, "group") == 0
                                   : 0;
}

pcol_status pci_builder_column(pcol_builder *builder, uint32_t table, const char *name,
                               pcol_type type, uint32_t references, uint32_t *column,
                               pcol_error *err)
{
    pcol_builder *b = builder;
    *column = 0;
    if (table >= b->table_count || references > b->table_count || type < PCOL_I64 ||
        type > PCOL_BOOL)
        return pci_fail(err, PCOL_E_ARGUMENT, "column %.40s: no such table or type", name);
    if (references && type != PCOL_U32 && type != PCOL_U64 && type != PCOL_I64)
        return pci_fail(err, PCOL_E_ARGUMENT, "column %.40s: only integers refer to rows", name);
    if (is_computed(table, name))
        return pci_fail(err, PCOL_E_ARGUMENT, "column %.40s is created by the builder", name);
    uint32_t known = pci_column_buffer_find(b, table, name);
    if (known != PCI_HASH_NONE) {
        const struct pci_column_buffer *c = b->columns[known];
        if (c->type != (uint8_t)type || c->references != references)
            return pci_fail(err, PCOL_E_ARGUMENT, "column %.40s exists with another type", name);
        *column = known;
        return PCOL_OK;
    }
    PCI_TRY(pci_column_buffer_new(b, table, name, (uint8_t)type, references,
                                  type == PCOL_BOOL ? PCI_DROP_ZERO : PCI_DROP_NULL, column, err));
    b->columns[*column]->own = 0;
    return PCOL_OK;
}

/* samples.value.0 and so on: of the sample types, also of one that is not there yet. */
static int is_value_column(uint32_t table, const char *name)
{
    return table == PCI_T_SAMPLES && pci_parse_numbered_name(name, "value.") >= 0;
}

pcol_status pcol_builder_column(pcol_builder *builder, uint32_t table, const char *name,
                                pcol_type type, uint32_t references, uint32_t *column,
                                pcol_error *err)
{
    PCI_REQUIRE(column, err);
    *column = 0;
    PCI_TRY(pci_builder_check_open(builder, err));
    PCI_REQUIRE(name, err);
    PCI_TRY(check_name(name, err));
    uint32_t known = pci_column_buffer_find(builder, table, name);
    if ((known != PCI_HASH_NONE && builder->columns[known]->own) || is_value_column(table, name))
        return pci_fail(err, PCOL_E_ARGUMENT, "column %.40s is created by the builder", name);
    return pci_builder_column(builder, table, name, type, references, column, err);
}

int pci_builder_adds_rows(const pcol_builder *b, const struct pci_column_buffer *column)
{
    return column->own || !b->tables[column->table].fixed;
}

uint64_t pci_builder_rows(const pcol_builder *builder, uint32_t table)
{
    const pcol_builder *b = builder;
    uint64_t rows = b->tables[table].rows;
    if (table == PCI_T_SAMPLES)
        rows = b->sample_count;
    else if (table == PCI_T_FUNCTIONS)
        rows = b->function_count;
    else if (table == PCI_T_GROUPS)
        rows = b->group_count;
    else if (table == PCI_T_STACKS)
        rows = b->tree.count;
    else if (table == PCI_T_STRINGS)
        rows = b->strings.count;
    else if (table == b->nodes.table)
        rows = b->nodes.count;
    for (size_t i = 0; i < b->column_count; i++)
        if (b->columns[i]->table == table && b->columns[i]->rows > rows &&
            pci_builder_adds_rows(b, b->columns[i]))
            rows = b->columns[i]->rows;
    return rows;
}

struct pci_column_buffer *pci_builder_get_column(pcol_builder *builder, uint32_t table,
                                                 uint32_t column, pcol_error *err)
{
    struct pci_column_buffer *c = column < builder->column_count ? builder->columns[column] : NULL;
    if (c && c->table == table)
        return c;
    pci_fail(err, PCOL_E_ARGUMENT, "column %u does not exist in this table", column);
    return NULL;
}

static pcol_status check_row(const struct pci_column_buffer *c, uint64_t row, pcol_error *err)
{
    if (row >= PCF_MAX_ROWS)
        return pci_fail(err, PCOL_E_LIMIT, "column %.40s: more than 2^48 rows", c->name);
    if (row < c->rows) /* before anything is stored for it */
        return pci_fail(err, PCOL_E_ARGUMENT, "column %.40s: row %llu was set before", c->name,
                        (unsigned long long)row);
    return PCOL_OK;
}

#define ANY_VALUE UINT64_MAX

/* Number of values of the column's type, which count from 0; ANY_VALUE: all 64 bits. */
static uint64_t count_values(const pcol_builder *b, const struct pci_column_buffer *c)
{
    switch (c->type) {
    case PCF_BOOL:
        return 2;
    case PCF_U32:
        return UINT64_C(1) + PCOL_NONE;
    case PCF_STRING:
        return b->strings.count;
    case PCF_BYTES:
        return 0;
    default:
        return c->references ? PCF_MAX_ROWS : ANY_VALUE;
    }
}

/* Verify that 64 bits are a value of the column's type, and record references. */
static pcol_status check_bits(const pcol_builder *b, struct pci_column_buffer *c, uint64_t row,
                              int64_t bits, pcol_error *err)
{
    uint64_t count = count_values(b, c);
    PCI_TRY(check_row(c, row, err));
    if (count == PCF_MAX_ROWS && (uint64_t)bits >= count)
        return pci_fail(err, PCOL_E_ARGUMENT, "column %.40s: row %lld cannot exist", c->name,
                        (long long)bits);
    if (count != ANY_VALUE && (uint64_t)bits >= count)
        return pci_fail(err, PCOL_E_ARGUMENT, "column %.40s: value %lld does not fit its type",
                        c->name, (long long)bits);
    if (c->references && row >= c->rows && (uint64_t)bits >= c->named)
        c->named = (uint64_t)bits + 1;
    return PCOL_OK;
}

/* The same for many cells; rows ascend from `row`. */
static pcol_status check_cells(const pcol_builder *b, struct pci_column_buffer *c, uint64_t row,
                               const int64_t *bits, const uint8_t *valid, size_t n, pcol_error *err)
{
    uint64_t count = count_values(b, c), most = 0;
    int has_values = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t value = valid[i] ? (uint64_t)bits[i] : 0;
        most = value > most ? value : most;
        has_values |= valid[i];
    }
    int fits = (count == ANY_VALUE || most < count) && row >= c->rows && row <= PCF_MAX_ROWS - n;
    for (size_t i = 0; i < n && !fits; i++)
        if (valid[i])
            PCI_TRY(check_bits(b, c, row + i, bits[i], err));
    if (fits && has_values && c->references && most >= c->named)
        c->named = most + 1;
    return PCOL_OK;
}

pcol_status pci_builder_set_bits(pcol_builder *builder, uint32_t column, uint64_t row, int64_t bits,
                                 pcol_error *err)
{
    struct pci_column_buffer *c = column < builder->column_count ? builder->columns[column] : NULL;
    if (!c)
        return pci_fail(err, PCOL_E_ARGUMENT, "column %u does not exist", column);
    PCI_TRY(check_bits(builder, c, row, bits, err));
    return pci_column_buffer_set(c, row, bits, err);
}

pcol_status pci_builder_set_cells(pcol_builder *builder, uint32_t column, uint64_t row,
                                  const int64_t *bits, const uint8_t *valid, size_t n,
                                  pcol_error *err)
{
    struct pci_column_buffer *c = column < builder->column_count ? builder->columns[column] : NULL;
    if (!c)
        return pci_fail(err, PCOL_E_ARGUMENT, "column %u does not exist", column);
    PCI_TRY(check_cells(builder, c, row, bits, valid, n, err));
    return pci_column_buffer_set_cells(c, row, bits, valid, n, err);
}

/* A column of the given kind; NULL and an error if it does not exist or is of another kind. */
static struct pci_column_buffer *get_typed_column(pcol_builder *b, uint32_t column, int is_text,
                                                  int is_double, pcol_error *err)
{
    struct pci_column_buffer *c = column < b->column_count ? b->columns[column] : NULL;
    if (c && c->own)
        c = NULL;
    int text = c && (c->type == PCF_STRING || c->type == PCF_BYTES);
    if (c && text == is_text && (c->type == PCF_F64) == is_double)
        return c;
    pci_fail(err, PCOL_E_ARGUMENT, "column %u does not exist or is of another type", column);
    return NULL;
}

pcol_status pcol_builder_set_i64(pcol_builder *builder, uint32_t column, uint64_t row,
                                 int64_t value, pcol_error *err)
{
    PCI_TRY(pci_builder_check_open(builder, err));
    struct pci_column_buffer *c = get_typed_column(builder, column, 0, 0, err);
    if (!c)
        return PCOL_E_ARGUMENT;
    PCI_TRY(check_bits(builder, c, row, value, err));
    return pci_column_buffer_set(c, row, value, err);
}

pcol_status pcol_builder_set_f64(pcol_builder *builder, uint32_t column, uint64_t row, double value,
                                 pcol_error *err)
{
    PCI_TRY(pci_builder_check_open(builder, err));
    struct pci_column_buffer *c = get_typed_column(builder, column, 0, 1, err);
    int64_t bits;
    if (!c)
        return PCOL_E_ARGUMENT;
    PCI_TRY(check_row(c, row, err));
    memcpy(&bits, &value, sizeof bits);
    return pci_column_buffer_set(c, row, bits, err);
}

pcol_status pcol_builder_set_str(pcol_builder *builder, uint32_t column, uint64_t row,
                                 const char *data, size_t size, pcol_error *err)
{
    PCI_TRY(pci_builder_check_open(builder, err));
    PCI_REQUIRE_MANY(data, size, err);
    struct pci_column_buffer *c = get_typed_column(builder, column, 1, 0, err);
    uint32_t code;
    if (!c)
        return PCOL_E_ARGUMENT;
    PCI_TRY(check_row(c, row, err));
    if (c->type == PCF_BYTES)
        return pci_column_buffer_set_bytes(c, row, data, size, err);
    PCI_TRY(pci_string_pool_intern(&builder->strings, data, size, &code, err));
    return pci_column_buffer_set(c, row, code, err);
}

/* ---- verification of references ---- */

static pcol_status fail_row(const pcol_builder *b, uint32_t table, const char *column,
                            uint64_t named, uint32_t of, uint64_t rows, pcol_error *err)
{
    return pci_fail_cell(err, PCOL_E_ARGUMENT, b->tables[table].name, column, PCOL_POSITION_UNKNOWN,
                         "column %.40s refers to row %llu of %.40s, which has %llu rows", column,
                         (unsigned long long)named, b->tables[of].name, (unsigned long long)rows);
}

pcol_status pci_builder_check_rows(const pcol_builder *b, const uint64_t *rows, pcol_error *err)
{
    if (b->mapping_row_limit > rows[PCI_T_MAPPINGS])
        return fail_row(b, PCI_T_GROUPS, "mapping", b->mapping_row_limit - 1, PCI_T_MAPPINGS,
                        rows[PCI_T_MAPPINGS], err);
    for (size_t i = 0; i < b->column_count; i++) {
        const struct pci_column_buffer *c = b->columns[i];
        uint32_t of = c->references - 1;
        if (c->references && c->named > rows[of])
            return fail_row(b, c->table, c->name, c->named - 1, of, rows[of], err);
        if (c->present && c->rows > rows[c->table])
            return fail_row(b, c->table, c->name, c->rows - 1, c->table, rows[c->table], err);
    }
    return PCOL_OK;
}

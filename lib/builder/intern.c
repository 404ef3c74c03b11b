/*
 * intern.c - rows that are unique by content, through a hash table of cell lists
 *
 * The key of a row is the list of its cells by ascending column. Nulls, and zeros of columns whose
 * zeros are not stored, are omitted, so that importers with different columns of a table agree on
 * equality. A list is appended tentatively and not kept if it is known. Functions and location
 * groups are structs; their cells in further columns are interned here, and the id becomes their
 * variant.
 */
#include "builder/builder.h"

#include "util/alloc.h"

#define VARIANT_CELLS (UINT32_C(1) << 31) /* variants from here on are ids of cell lists */

void pci_intern_clear(struct pci_intern *intern)
{
    pci_hash_clear(&intern->hash);
    pci_free(intern->variants);
    pci_free(intern->starts);
    pci_free(intern->columns);
    pci_free(intern->bits);
    *intern = (struct pci_intern){0};
}

void pci_interned_free(pcol_builder *builder)
{
    for (size_t i = 0; i < builder->interned_capacity; i++) {
        if (builder->interned[i]) {
            pci_intern_clear(&builder->interned[i]->rows);
            pci_free(builder->interned[i]->at);
        }
        pci_free(builder->interned[i]);
    }
    pci_free(builder->interned);
    builder->interned = NULL;
    builder->interned_capacity = 0;
}

static pcol_status reserve(struct pci_intern *in, size_t cells, pcol_error *err)
{
    PCI_TRY(PCI_GROW(in->starts, in->start_capacity, in->count + 2, err));
    PCI_TRY(PCI_GROW(in->variants, in->variant_capacity, in->count + 1, err));
    PCI_TRY(PCI_GROW(in->columns, in->column_capacity, in->cell_count + cells + 1, err));
    PCI_TRY(PCI_GROW(in->bits, in->bits_capacity, in->cell_count + cells + 1, err));
    in->starts[0] = 0;
    return PCOL_OK;
}

/* Append the significant cells tentatively. Insertion sort by column; they are mostly sorted. */
static pcol_status append_cells(struct pci_intern *in, pcol_builder *b, uint32_t table,
                                const uint32_t *columns, const struct pci_cell_value *cells,
                                size_t count, size_t *size, pcol_error *err)
{
    uint32_t *to = in->columns + in->cell_count;
    int64_t *bits = in->bits + in->cell_count;
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        const struct pci_column_buffer *c = pci_builder_get_column(b, table, columns[i], err);
        size_t at = n;
        if (!c)
            return PCOL_E_ARGUMENT;
        if (!cells[i].valid || (c->drop == PCI_DROP_ZERO && !cells[i].bits))
            continue;
        for (; at && to[at - 1] > columns[i]; at--) {
            to[at] = to[at - 1];
            bits[at] = bits[at - 1];
        }
        to[at] = columns[i];
        bits[at] = cells[i].bits;
        n++;
    }
    *size = n;
    return PCOL_OK;
}

static int has_cells(const struct pci_intern *in, uint32_t id, uint32_t variant, size_t size)
{
    size_t start = (size_t)in->starts[id], new = in->cell_count;
    return in->variants[id] == variant && in->starts[id + 1] - start == size &&
           !memcmp(in->columns + start, in->columns + new, size * sizeof *in->columns) &&
           !memcmp(in->bits + start, in->bits + new, size * sizeof *in->bits);
}

static pcol_status intern_cells(struct pci_intern *in, pcol_builder *b, uint32_t table,
                                const uint32_t *columns, const struct pci_cell_value *cells,
                                size_t count, uint32_t variant, uint32_t *id, int *is_new,
                                pcol_error *err)
{
    uint64_t hash;
    size_t size, at;
    PCI_TRY(reserve(in, count, err));
    PCI_TRY(append_cells(in, b, table, columns, cells, count, &size, err));
    hash = pci_hash_pair(pci_hash_bytes(in->columns + in->cell_count, size * sizeof *in->columns) +
                             variant,
                         pci_hash_bytes(in->bits + in->cell_count, size * sizeof *in->bits));
    at = pci_hash_start(&in->hash, hash);
    *is_new = 0;
    while ((*id = pci_hash_next(&in->hash, hash, &at)) != PCI_HASH_NONE)
        if (has_cells(in, *id, variant, size))
            return PCOL_OK;
    *id = 0;
    if (in->count >= VARIANT_CELLS - 1)
        return pci_fail(err, PCOL_E_LIMIT, "more than 2147483647 distinct rows of a table");
    PCI_TRY(pci_hash_add(&in->hash, hash, (uint32_t)in->count, err));
    *is_new = 1;
    *id = (uint32_t)in->count++;
    in->variants[*id] = variant;
    in->cell_count += size;
    in->starts[in->count] = in->cell_count;
    return PCOL_OK;
}

static pcol_status get_interned(pcol_builder *b, uint32_t table, struct pci_interned **out,
                                pcol_error *err)
{
    size_t before = b->interned_capacity;
    struct pci_interned *in;
    *out = NULL;
    if (table >= b->table_count)
        return pci_fail(err, PCOL_E_ARGUMENT, "table %u does not exist", table);
    PCI_TRY(PCI_GROW(b->interned, b->interned_capacity, (size_t)table + 1, err));
    for (size_t i = before; i < b->interned_capacity; i++)
        b->interned[i] = NULL;
    if (!b->interned[table]) {
        PCI_TRY(PCI_CALLOC(in, 1, err));
        in->table = table;
        b->interned[table] = in;
    }
    *out = b->interned[table];
    return PCOL_OK;
}

/* Assign the next row of the table. A source either interns its rows of a table or appends them, so
 * that the rows are counted again for each source that interns. */
static pcol_status assign_row(pcol_builder *b, struct pci_interned *in, uint32_t id,
                              pcol_error *err)
{
    if (!in->next || in->source_count != b->source_count)
        in->next = pci_builder_rows(b, in->table);
    in->source_count = b->source_count;
    in->at[id] = (uint32_t)in->next;
    if (in->next >= PCOL_NONE - 1)
        return pci_fail(err, PCOL_E_LIMIT, "more than 4294967294 rows of table %.40s",
                        b->tables[in->table].name);
    b->tables[in->table].rows = ++in->next;
    return PCOL_OK;
}

static pcol_status set_cells(pcol_builder *b, const uint32_t *columns,
                             const struct pci_cell_value *cells, size_t count, uint64_t row,
                             pcol_error *err)
{
    for (size_t i = 0; i < count; i++)
        if (cells[i].valid)
            PCI_TRY(pci_builder_set_bits(b, columns[i], row, cells[i].bits, err));
    return PCOL_OK;
}

pcol_status pci_builder_intern(pcol_builder *builder, uint32_t table, const uint32_t *columns,
                               const struct pci_cell_value *cells, size_t count, uint32_t variant,
                               uint32_t *row, int *is_new, pcol_error *err)
{
    struct pci_interned *in = NULL;
    uint32_t id;
    int added;
    pcol_status status = get_interned(builder, table, &in, err);
    *row = 0;
    if (is_new)
        *is_new = 0;
    if (!in)
        return status;
    PCI_TRY(PCI_GROW(in->at, in->at_capacity, in->rows.count + 1, err));
    PCI_TRY(
        intern_cells(&in->rows, builder, table, columns, cells, count, variant, &id, &added, err));
    if (added)
        PCI_TRY(assign_row(builder, in, id, err));
    *row = in->at[id];
    if (!added)
        return PCOL_OK;
    if (is_new)
        *is_new = 1;
    return set_cells(builder, columns, cells, count, *row, err);
}

/* ---- functions and groups with cells in further columns */

static pcol_status find_variant(pcol_builder *b, uint32_t table, const uint32_t *columns,
                                const struct pci_cell_value *cells, size_t count, uint32_t *variant,
                                pcol_error *err)
{
    uint32_t id;
    int is_new;
    size_t significant = 0;
    if (*variant >= VARIANT_CELLS)
        return pci_fail(err, PCOL_E_ARGUMENT, "variant %u is too large", *variant);
    for (size_t i = 0; i < count; i++) {
        const struct pci_column_buffer *c = pci_builder_get_column(b, table, columns[i], err);
        if (!c)
            return PCOL_E_ARGUMENT;
        significant += cells[i].valid && (c->drop != PCI_DROP_ZERO || cells[i].bits);
    }
    if (!significant)
        return PCOL_OK; /* the given variant, as for rows without further cells */
    PCI_TRY(
        intern_cells(&b->variants, b, table, columns, cells, count, *variant, &id, &is_new, err));
    *variant = VARIANT_CELLS + id;
    return PCOL_OK;
}

void pci_builder_begin_input(pcol_builder *builder)
{
    for (size_t i = 0; i < builder->table_count; i++) {
        struct pci_row_uses *uses = &builder->tables[i].uses;
        if (uses->highest > UINT32_MAX / 2) {
            memset(uses->marks, 0, uses->capacity * sizeof *uses->marks);
            uses->highest = 0;
        }
        uses->before = uses->highest;
    }
}

pcol_status pci_builder_end_input(pcol_builder *builder, pcol_status status)
{
    if (status != PCOL_OK)
        builder->sealed = "an input of the builder failed: it can only be freed";
    return status;
}

/* Number of earlier uses of row `row` by this input. */
static pcol_status count_use(pcol_builder *b, uint32_t table, uint32_t row, uint32_t *number,
                             pcol_error *err)
{
    struct pci_row_uses *uses = &b->tables[table].uses;
    size_t capacity = uses->capacity;
    PCI_TRY(PCI_GROW(uses->marks, uses->capacity, (size_t)row + 1, err));
    memset(uses->marks + capacity, 0, (uses->capacity - capacity) * sizeof *uses->marks);
    uint32_t *mark = &uses->marks[row];
    *number = *mark > uses->before ? *mark - uses->before : 0;
    *mark = uses->before + *number + 1;
    if (*mark > uses->highest)
        uses->highest = *mark;
    return PCOL_OK;
}

pcol_status pci_builder_intern_distinct(pcol_builder *builder, uint32_t table,
                                        const uint32_t *columns, const struct pci_cell_value *cells,
                                        size_t count, uint32_t *row, int *is_new, pcol_error *err)
{
    uint32_t number = 0;
    PCI_TRY(pci_builder_intern(builder, table, columns, cells, count, 0, row, is_new, err));
    PCI_TRY(count_use(builder, table, *row, &number, err));
    return number
               ? pci_builder_intern(builder, table, columns, cells, count, number, row, is_new, err)
               : PCOL_OK;
}

static pcol_status add_function(pcol_builder *b, const pcol_function *function, uint32_t variant,
                                const uint32_t *columns, const struct pci_cell_value *cells,
                                size_t count, uint32_t *row, int *is_new, pcol_error *err)
{
    pcol_function f = *function;
    size_t before = b->function_count;
    f.variant = variant;
    PCI_TRY(find_variant(b, PCI_T_FUNCTIONS, columns, cells, count, &f.variant, err));
    PCI_TRY(pcol_builder_function(b, &f, row, err));
    *is_new = b->function_count > before;
    return *is_new ? set_cells(b, columns, cells, count, *row, err) : PCOL_OK;
}

pcol_status pci_builder_function(pcol_builder *builder, int distinct, const pcol_function *function,
                                 const uint32_t *columns, const struct pci_cell_value *cells,
                                 size_t count, uint32_t *row, int *is_new, pcol_error *err)
{
    uint32_t number = 0;
    int ignored;
    is_new = is_new ? is_new : &ignored;
    *row = 0;
    PCI_TRY(add_function(builder, function, distinct ? 0 : function->variant, columns, cells, count,
                         row, is_new, err));
    if (distinct)
        PCI_TRY(count_use(builder, PCI_T_FUNCTIONS, *row, &number, err));
    return number ? add_function(builder, function, number, columns, cells, count, row, is_new, err)
                  : PCOL_OK;
}

static pcol_status add_group(pcol_builder *b, const pcol_group *group, uint32_t variant,
                             const uint32_t *columns, const struct pci_cell_value *cells,
                             size_t count, uint32_t *row, int *is_new, pcol_error *err)
{
    pcol_group g = *group;
    size_t before = b->group_count;
    g.variant = variant;
    PCI_TRY(find_variant(b, PCI_T_GROUPS, columns, cells, count, &g.variant, err));
    PCI_TRY(pcol_builder_group(b, &g, row, err));
    *is_new = b->group_count > before;
    return *is_new ? set_cells(b, columns, cells, count, *row, err) : PCOL_OK;
}

pcol_status pci_builder_group(pcol_builder *builder, int distinct, const pcol_group *group,
                              const uint32_t *columns, const struct pci_cell_value *cells,
                              size_t count, uint32_t *row, int *is_new, pcol_error *err)
{
    uint32_t number = 0;
    int ignored;
    is_new = is_new ? is_new : &ignored;
    *row = 0;
    PCI_TRY(add_group(builder, group, distinct ? 0 : group->variant, columns, cells, count, row,
                      is_new, err));
    if (distinct)
        PCI_TRY(count_use(builder, PCI_T_GROUPS, *row, &number, err));
    return number ? add_group(builder, group, number, columns, cells, count, row, is_new, err)
                  : PCOL_OK;
}

/*
 * column_buffer.c - append-only column with run-length encoded validity
 *
 * Present values are int32 until the first that does not fit, int64 from there on, and not stored
 * at all while they are equal. Runs of present and null rows alternate. Tests:
 * tests/unit/test_builder.c.
 */
#include "builder/builder.h"

#include "format/transform.h"
#include "util/alloc.h"
#include "util/simd_kernels.h"

static uint64_t hash_column(uint32_t table, const char *name)
{
    return pci_hash_pair(table, pci_hash_bytes(name, strlen(name)));
}

uint32_t pci_column_buffer_find(const pcol_builder *b, uint32_t table, const char *name)
{
    uint64_t hash = hash_column(table, name);
    size_t slot = pci_hash_start(&b->column_hash, hash);
    uint32_t id;
    while ((id = pci_hash_next(&b->column_hash, hash, &slot)) != PCI_HASH_NONE)
        if (b->columns[id]->table == table && strcmp(b->columns[id]->name, name) == 0)
            return id;
    return PCI_HASH_NONE;
}

struct pci_column_buffer *pci_column_buffer_make(pcol_builder *b, uint32_t table, const char *name,
                                                 uint8_t type, uint32_t references, uint8_t drop)
{
    size_t size = strlen(name) + 1;
    struct pci_column_buffer *c = pci_calloc(1, sizeof *c);
    if (!c || !(c->name = pci_malloc(size, 1))) {
        pci_free(c);
        return NULL;
    }
    memcpy(c->name, name, size);
    c->table = table;
    c->references = references;
    c->type = type;
    c->drop = drop;
    c->constant = 1;
    c->run_valid = 1;
    pci_spill_init(&c->values, &b->store);
    pci_spill_init(&c->runs, &b->store);
    pci_spill_init(&c->data, &b->store);
    return c;
}

pcol_status pci_column_buffer_new(pcol_builder *b, uint32_t table, const char *name, uint8_t type,
                                  uint32_t references, uint8_t drop, uint32_t *column,
                                  pcol_error *err)
{
    *column = 0;
    if (pci_column_buffer_find(b, table, name) != PCI_HASH_NONE)
        return pci_fail(err, PCOL_E_ARGUMENT, "column %.40s of %.40s is created by the builder",
                        name, b->tables[table].name);
    struct pci_column_buffer *c = pci_column_buffer_make(b, table, name, type, references, drop);
    if (!c ||
        pci_grow((void **)&b->columns, &b->column_capacity, b->column_count + 1,
                 sizeof(struct pci_column_buffer *)) ||
        pci_hash_add(&b->column_hash, hash_column(table, name), (uint32_t)b->column_count, err) !=
            PCOL_OK) {
        pci_column_buffer_free(c);
        return pci_fail_memory(err);
    }
    c->own = 1;
    *column = (uint32_t)b->column_count;
    b->columns[b->column_count++] = c;
    return PCOL_OK;
}

void pci_column_buffer_free(struct pci_column_buffer *column)
{
    if (!column)
        return;
    pci_spill_clear(&column->values);
    pci_spill_clear(&column->runs);
    pci_spill_clear(&column->data);
    pci_free(column->name);
    pci_free(column);
}

void pci_column_buffer_reset(struct pci_column_buffer *column)
{
    struct pci_column_buffer *c = column;
    pci_spill_clear(&c->values);
    pci_spill_clear(&c->runs);
    pci_spill_clear(&c->data);
    c->rows = c->present = c->narrow = c->run = 0;
    c->first = c->all_bits = 0;
    c->wide = 0;
    c->constant = c->run_valid = 1;
}

static pcol_status append_run(struct pci_column_buffer *c, uint64_t run, pcol_error *err)
{
    uint8_t bytes[10];
    return pci_spill_append(&c->runs, bytes, pcf_varint_put(bytes, run), err);
}

static pcol_status append_validity(struct pci_column_buffer *c, int valid, uint64_t rows,
                                   pcol_error *err)
{
    if (valid != c->run_valid) {
        PCI_TRY(append_run(c, c->run, err));
        c->run = 0;
        c->run_valid = valid;
    }
    c->run += rows;
    c->rows += rows;
    return PCOL_OK;
}

/* int32 while all values so far fit, int64 from the first on that does not. */
static pcol_status append_value(struct pci_column_buffer *c, int64_t value, pcol_error *err)
{
    struct pci_spill *s = &c->values;
    int32_t narrow = (int32_t)value;
    if (c->wide || narrow != value) {
        c->wide = 1;
        return pci_spill_append_u64(s, (uint64_t)value, err);
    }
    c->narrow++;
    if (s->tail_capacity - s->tail_used < sizeof narrow)
        return pci_spill_append(s, &narrow, sizeof narrow, err);
    memcpy(s->tail + s->tail_used, &narrow, sizeof narrow);
    s->tail_used += sizeof narrow;
    return PCOL_OK;
}

/* Store the value that all rows had so far once for each, as others follow. */
static pcol_status store_constant(struct pci_column_buffer *c, pcol_error *err)
{
    for (uint64_t i = 0; i < c->present; i++)
        PCI_TRY(append_value(c, c->first, err));
    c->constant = 0;
    return PCOL_OK;
}

static pcol_status append(struct pci_column_buffer *c, int64_t value, pcol_error *err)
{
    if (c->constant) {
        if (!c->present)
            c->first = value;
        if (value == c->first)
            return PCOL_OK;
        PCI_TRY(store_constant(c, err));
    }
    return append_value(c, value, err);
}

pcol_status pci_column_buffer_fill(struct pci_column_buffer *column, uint64_t rows, pcol_error *err)
{
    if (rows <= column->rows)
        return PCOL_OK;
    if (column->drop != PCI_DROP_ZERO)
        return append_validity(column, 0, rows - column->rows, err);
    if (column->constant && (!column->present || !column->first)) {
        column->present += rows - column->rows;
        return append_validity(column, 1, rows - column->rows, err);
    }
    while (column->rows < rows)
        PCI_TRY(pci_column_buffer_set(column, column->rows, 0, err));
    return PCOL_OK;
}

/* Fast path: the row follows a present one, and its value is the constant or fits the width and the
 * free space of the tail. Returns 0 otherwise. */
static inline int append_fast(struct pci_column_buffer *c, uint64_t row, int64_t value)
{
    struct pci_spill *s = &c->values;
    int32_t narrow = (int32_t)value;
    if (row != c->rows || !c->run_valid)
        return 0;
    if (c->constant) {
        if (!c->present || value != c->first)
            return 0;
    } else if (c->wide) {
        if (s->tail_capacity - s->tail_used < sizeof value)
            return 0;
        memcpy(s->tail + s->tail_used, &value, sizeof value);
        s->tail_used += sizeof value;
        c->all_bits |= value;
    } else {
        if (narrow != value || s->tail_capacity - s->tail_used < sizeof narrow)
            return 0;
        memcpy(s->tail + s->tail_used, &narrow, sizeof narrow);
        s->tail_used += sizeof narrow;
        c->narrow++;
        c->all_bits |= value;
    }
    c->present++;
    c->run++;
    c->rows++;
    return 1;
}

pcol_status pci_column_buffer_set(struct pci_column_buffer *column, uint64_t row, int64_t value,
                                  pcol_error *err)
{
    if (append_fast(column, row, value))
        return PCOL_OK;
    if (row != column->rows) {
        if (row < column->rows)
            return pci_fail(err, PCOL_E_ARGUMENT, "column %.40s: row %llu was set before",
                            column->name, (unsigned long long)row);
        PCI_TRY(pci_column_buffer_fill(column, row, err));
    }
    PCI_TRY(append(column, value, err));
    column->all_bits |= value;
    column->present++;
    return append_validity(column, 1, 1, err);
}

/* ---- many rows at once ---- */

#define BATCH 256u

/* Extend to `row` rows; E_ARGUMENT if `row` was set. */
static pcol_status fill_to(struct pci_column_buffer *c, uint64_t row, pcol_error *err)
{
    if (row < c->rows)
        return pci_fail(err, PCOL_E_ARGUMENT, "column %.40s: row %llu was set before", c->name,
                        (unsigned long long)row);
    return pci_column_buffer_fill(c, row, err);
}

static pcol_status append_many(struct pci_column_buffer *c, const int64_t *values, size_t n,
                               pcol_error *err)
{
    int32_t narrow[BATCH];
    for (size_t part; n; values += part, n -= part) {
        part = n < BATCH ? n : BATCH;
        int fits = !c->wide && pci_simd_narrow(values, part, narrow);
        if (c->wide) {
            PCI_TRY(pci_spill_append(&c->values, values, part * sizeof *values, err));
        } else if (fits) {
            c->narrow += part;
            PCI_TRY(pci_spill_append(&c->values, narrow, part * sizeof *narrow, err));
        } else {
            for (size_t i = 0; i < part; i++)
                PCI_TRY(append_value(c, values[i], err));
        }
    }
    return PCOL_OK;
}

pcol_status pci_column_buffer_set_many(struct pci_column_buffer *column, uint64_t row,
                                       const int64_t *values, size_t n, pcol_error *err)
{
    size_t equal = 0;
    if (!n)
        return PCOL_OK;
    PCI_TRY(fill_to(column, row, err));
    if (column->constant) {
        if (!column->present)
            column->first = values[0];
        while (equal < n && values[equal] == column->first)
            equal++;
        if (equal < n) {
            column->present += equal;
            PCI_TRY(store_constant(column, err));
            column->present -= equal;
        }
    }
    if (!column->constant)
        PCI_TRY(append_many(column, values + equal, n - equal, err));
    column->all_bits |= pci_simd_or(values, n);
    column->present += n;
    return append_validity(column, 1, n, err);
}

pcol_status pci_column_buffer_set_cells(struct pci_column_buffer *column, uint64_t row,
                                        const int64_t *values, const uint8_t *valid, size_t n,
                                        pcol_error *err)
{
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i; end < n && valid[end] == valid[i]; end++)
            continue;
        if (valid[i])
            PCI_TRY(pci_column_buffer_set_many(column, row + i, values + i, end - i, err));
    }
    return PCOL_OK;
}

pcol_status pci_column_buffer_repeat(struct pci_column_buffer *column, uint64_t row, int64_t value,
                                     uint64_t n, pcol_error *err)
{
    int64_t values[BATCH];
    if (!n)
        return PCOL_OK;
    PCI_TRY(fill_to(column, row, err));
    if (column->constant && (!column->present || column->first == value)) {
        column->first = value;
        column->all_bits |= value;
        column->present += n;
        return append_validity(column, 1, n, err);
    }
    for (size_t i = 0; i < BATCH; i++)
        values[i] = value;
    for (uint64_t part; n; n -= part) {
        part = n < BATCH ? n : BATCH;
        PCI_TRY(pci_column_buffer_set_many(column, column->rows, values, (size_t)part, err));
    }
    return PCOL_OK;
}

pcol_status pci_column_buffer_set_bytes(struct pci_column_buffer *column, uint64_t row,
                                        const char *data, size_t size, pcol_error *err)
{
    PCI_TRY(fill_to(column, row, err)); /* otherwise the bytes became part of the next row */
    PCI_TRY(pci_spill_append(&column->data, data, size, err));
    return pci_column_buffer_set(column, row, (int64_t)pci_spill_size(&column->data), err);
}

/* ---- reading back ---- */

static pcol_status next_run_byte(struct pci_column_buffer_source *s, uint8_t *byte, pcol_error *err)
{
    const struct pci_spill *runs = &s->column->runs;
    if (s->run_used == s->run_count) {
        uint64_t left = pci_spill_size(runs) - s->run_at;
        s->run_count = left < sizeof s->run_window ? (size_t)left : sizeof s->run_window;
        s->run_used = 0;
        PCI_TRY(pci_spill_read(runs, s->run_at, s->run_window, s->run_count, err));
        s->run_at += s->run_count;
    }
    *byte = s->run_window[s->run_used++];
    return PCOL_OK;
}

static pcol_status next_run(struct pci_column_buffer_source *s, pcol_error *err)
{
    uint8_t byte;
    unsigned shift = 0;
    s->run_valid = !s->run_valid;
    if (s->run_used == s->run_count && s->run_at == pci_spill_size(&s->column->runs)) {
        s->run_left = s->column->run; /* the current run, not stored yet */
        return PCOL_OK;
    }
    s->run_left = 0;
    do {
        PCI_TRY(next_run_byte(s, &byte, err));
        s->run_left |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
    } while (byte & 0x80);
    return PCOL_OK;
}

/* Read `n` present values from index `index` on. */
static pcol_status read_stored(const struct pci_column_buffer *c, uint64_t index, int64_t *values,
                               size_t n, pcol_error *err)
{
    int32_t narrow[1024];
    size_t size;
    while (n && index < c->narrow) {
        size_t part = sizeof narrow / sizeof *narrow;
        part = part < n ? part : n;
        part = part < c->narrow - index ? part : (size_t)(c->narrow - index);
        const uint8_t *from = pci_spill_in_memory(&c->values, index * sizeof *narrow, &size);
        if (!from) {
            PCI_TRY(pci_spill_read(&c->values, index * sizeof *narrow, narrow,
                                   part * sizeof *narrow, err));
            from = (const uint8_t *)narrow;
        } else if (size / sizeof *narrow < part) {
            part = size / sizeof *narrow;
        }
        pci_simd_widen(from, part, values);
        values += part;
        index += part;
        n -= part;
    }
    if (!n)
        return PCOL_OK;
    uint64_t offset = c->narrow * sizeof *narrow + (index - c->narrow) * sizeof *values;
    return pci_spill_read(&c->values, offset, values, n * sizeof *values, err);
}

pcol_status pci_column_buffer_get_many(const struct pci_column_buffer *column, uint64_t row,
                                       int64_t *values, size_t n, pcol_error *err)
{
    if (!column->constant)
        return read_stored(column, row, values, n, err);
    for (size_t i = 0; i < n; i++)
        values[i] = column->first;
    return PCOL_OK;
}

void pci_column_buffer_drop(struct pci_column_buffer *column, uint64_t index)
{
    struct pci_column_buffer *c = column;
    uint64_t narrow = index < c->narrow ? index : c->narrow;
    if (!c->constant)
        pci_spill_drop(&c->values, narrow * sizeof(int32_t) + (index - narrow) * sizeof(int64_t));
}

/* Large requests are read directly, small ones through the window. */
static pcol_status read_buffered(struct pci_column_buffer_source *s, int64_t *values, size_t n,
                                 pcol_error *err)
{
    const struct pci_column_buffer *c = s->column;
    size_t size = sizeof s->window / sizeof *s->window;
    if (n >= size)
        return read_stored(c, s->value, values, n, err);
    for (size_t i = 0; i < n; i++) {
        uint64_t index = s->value + i;
        if (index - s->window_first >= s->window_count) {
            uint64_t left = c->present - index;
            s->window_count = left < size ? (size_t)left : size;
            s->window_first = index;
            PCI_TRY(read_stored(c, index, s->window, s->window_count, err));
        }
        values[i] = s->window[index - s->window_first];
    }
    return PCOL_OK;
}

static pcol_status read_values(struct pci_column_buffer_source *s, int64_t *values, size_t n,
                               pcol_error *err)
{
    const struct pci_column_buffer *c = s->column;
    if (c->constant) {
        for (size_t i = 0; i < n; i++)
            values[i] = c->first;
    } else {
        PCI_TRY(read_buffered(s, values, n, err));
    }
    s->value += n;
    if (s->map)
        pci_simd_gather(s->map, values, n, values);
    return PCOL_OK;
}

static pcol_status read_column(void *context, uint64_t row, size_t n, int64_t *values,
                               uint8_t *valid, pcol_error *err)
{
    struct pci_column_buffer_source *s = context;
    if (row == 0) {
        s->value = s->run_at = s->run_left = 0;
        s->run_used = s->run_count = s->window_count = 0;
        s->run_valid = 0; /* the first run is one of present rows */
    }
    for (size_t done = 0; done < n;) {
        size_t part;
        while (!s->run_left)
            PCI_TRY(next_run(s, err));
        part = s->run_left < n - done ? (size_t)s->run_left : n - done;
        memset(valid + done, s->run_valid, part);
        if (s->run_valid)
            PCI_TRY(read_values(s, values + done, part, err));
        else
            memset(values + done, 0, part * sizeof *values);
        s->run_left -= part;
        done += part;
    }
    return PCOL_OK;
}

void pci_column_buffer_source_init(struct pci_column_buffer_source *source,
                                   const struct pci_column_buffer *column, const uint32_t *map)
{
    *source = (struct pci_column_buffer_source){.column = column, .map = map};
    source->source =
        (struct pci_value_source){column->rows, column->type, read_column, source, NULL};
}

/*
 * encode_leaf.c - writers of PLAIN, PACKED, of validity and marks; subsets of rows
 *
 * Sections are bits of some width, written in blocks of 1024 rows; write_section() is the common
 * loop. Tests: tests/unit/test_encode.c.
 */
#include "encode/encode_leaf.h"

#include "format/load.h"
#include "util/alloc.h"
#include "util/simd_kernels.h"

/* Writes all blocks of a source into one section, then `padding` zero bytes. */
static pcol_status write_section(struct pci_container *writer, uint32_t column, uint8_t role,
                                 const struct pci_value_source *source, pci_write_block put,
                                 void *context, size_t padding, pcol_error *err)
{
    struct pci_bits *bits = pci_malloc(1, sizeof *bits);
    struct pci_block_reader *reader = pci_malloc(1, sizeof *reader);
    pcol_status status = bits && reader ? PCOL_OK : pci_fail_memory(err);
    PCI_THEN(status, pci_bits_begin(bits, writer, column, role, err));
    if (status != PCOL_OK)
        goto cleanup;
    pci_block_reader_init(reader, source);
    while ((status = pci_block_reader_next(reader, err)) == PCOL_OK && reader->n) {
        status = put(bits, reader, context, err);
        if (status != PCOL_OK)
            break;
    }
    if (status == PCOL_OK)
        status = pci_bits_end(bits, padding, err);
    else
        pci_section_abort(&bits->section);
cleanup:
    pci_free(bits);
    pci_free(reader);
    return status;
}

/* ---- plain ---- */

struct plain {
    unsigned width;
    uint8_t type;
    struct pci_column_stats *min_max; /* receives minimum and maximum; may be NULL */
};

static pcol_status put_plain(struct pci_bits *bits, const struct pci_block_reader *block,
                             void *context, pcol_error *err)
{
    const struct plain *plain = context;
    unsigned width = plain->width;
    uint64_t mask = width == 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
    uint32_t narrow[PCF_BLOCK_ROWS];
    if (plain->min_max)
        pci_column_stats_add_range(plain->min_max, plain->type, block->values, block->valid,
                                   block->n);
    /* Fast paths: nulls are 0 already, and whole words need no bit packing. */
    if (width == 64)
        return pci_section_append(&bits->section, block->values, block->n * 8, err);
    if (width == 32) {
        for (size_t i = 0; i < block->n; i++)
            narrow[i] = (uint32_t)block->values[i];
        return pci_section_append(&bits->section, narrow, block->n * 4, err);
    }
    for (size_t i = 0; i < block->n; i++) {
        uint64_t value = block->valid[i] ? (uint64_t)block->values[i] : 0;
        PCI_TRY(pci_bits_put(bits, value & mask, width, err));
    }
    return PCOL_OK;
}

static pcol_status put_valid(struct pci_bits *bits, const struct pci_block_reader *block,
                             void *context, pcol_error *err)
{
    (void)context;
    for (size_t i = 0; i < block->n; i++)
        PCI_TRY(pci_bits_put(bits, block->valid[i] != 0, 1, err));
    return PCOL_OK;
}

static unsigned plain_width(uint8_t type)
{
    if (type == PCF_BOOL)
        return 1;
    return type == PCF_U32 || type == PCF_STRING ? 32 : 64;
}

pcol_status pci_emit_validity(struct pci_container *writer, uint32_t column,
                              const struct pci_value_source *source, pcol_error *err)
{
    return write_section(writer, column, PCF_ROLE_VALIDITY, source, put_valid, NULL, 0, err);
}

pcol_status pci_emit_plain(struct pci_container *writer, uint32_t column,
                           const struct pci_value_source *source, uint64_t nulls,
                           struct pci_column_stats *min_max, pcol_error *err)
{
    struct plain plain = {plain_width(source->type), source->type, min_max};
    writer->columns[column].encoding = PCF_PLAIN;
    if (nulls)
        PCI_TRY(pci_emit_validity(writer, column, source, err));
    return write_section(writer, column, PCF_ROLE_VALUES, source, put_plain, &plain, 0, err);
}

/* ---- packed ---- */

struct packed {
    const struct pcf_column *column;
    struct pci_divisor divisor; /* column->scale */
};

static pcol_status put_packed(struct pci_bits *bits, const struct pci_block_reader *block,
                              void *context, pcol_error *err)
{
    const struct packed *p = context;
    uint64_t numbers[PCF_BLOCK_ROWS];
    pci_simd_subtract(block->values, block->n, (uint64_t)p->column->base, numbers);
    if (p->column->scale != 1)
        pci_simd_divide_exact(numbers, block->n, &p->divisor);
    return pci_bits_put_many(bits, numbers, block->n, p->column->width, err);
}

pcol_status pci_emit_packed(struct pci_container *writer, uint32_t column,
                            const struct pci_value_source *source,
                            const struct pci_column_stats *stats, pcol_error *err)
{
    struct pcf_column *c = &writer->columns[column];
    c->encoding = PCF_PACKED;
    c->base = stats->min;
    c->scale = stats->scale;
    c->width = (uint8_t)pci_packed_width(((uint64_t)stats->max - (uint64_t)stats->min) / c->scale);
    struct packed packed = {c, pci_divisor_init(c->scale)};
    return write_section(writer, column, PCF_ROLE_VALUES, source, put_packed, &packed,
                         PCF_PACK_PADDING, err);
}

/* ---- marks: bit vector with rank directory ---- */

struct marks {
    pci_mark_block mark;
    const void *context;
    struct pci_partition_capture *const *captures; /* NULL-terminated; may be NULL */
    uint64_t count;                                /* marks so far */
    uint8_t block[PCF_BLOCK_ROWS];
};

static pcol_status put_marks(struct pci_bits *bits, const struct pci_block_reader *block,
                             void *context, pcol_error *err)
{
    struct marks *m = context;
    if (block->row) { /* after 1024 bits: byte-aligned */
        PCI_TRY(pci_bits_put(bits, m->count & UINT32_MAX, 32, err));
        PCI_TRY(pci_bits_put(bits, m->count >> 32, 32, err));
    }
    m->mark(m->context, block, m->block);
    for (struct pci_partition_capture *const *k = m->captures; k && *k; k++)
        PCI_TRY(pci_partition_capture_block(*k, block, m->block, err));
    memset(m->block + block->n, 0, PCF_BLOCK_ROWS - block->n);
    for (size_t i = 0, bits_left = block->n; bits_left; i += 32) {
        uint64_t word = 0;
        unsigned n = bits_left < 32 ? (unsigned)bits_left : 32;
        for (unsigned k = 0; k < 32; k += 8) /* the product gathers 8 low bits in the top byte */
            word |= (pcf_load64(m->block + i + k) * UINT64_C(0x0102040810204080) >> 56) << k;
        m->count += (uint64_t)__builtin_popcountll(word);
        bits_left -= n;
        PCI_TRY(pci_bits_put(bits, word, n, err));
    }
    return PCOL_OK;
}

pcol_status pci_emit_marks(struct pci_container *writer, uint32_t column,
                           const struct pci_value_source *source, pci_mark_block mark,
                           const void *context, struct pci_partition_capture *const *captures,
                           pcol_error *err)
{
    struct marks m = {.mark = mark, .context = context, .captures = captures};
    return write_section(writer, column, PCF_ROLE_MARKS, source, put_marks, &m, 0, err);
}

/* ---- subsets of rows ---- */

/* Branch-free compaction: each value is written, and the output index advances if it is in the
 * subset. One loop for each kind. */
static size_t gather_marked(const struct pci_block_reader *block, const uint8_t *marks, size_t row,
                            size_t n, int64_t *values, size_t *count)
{
    size_t k = *count, end = block->n;
    if (n - k >= end - row && !memchr(marks + row, 0, end - row)) { /* mostly so with few nulls */
        memcpy(values + k, block->values + row, (end - row) * sizeof *values);
        *count = k + end - row;
        return end;
    }
    for (; row < end && k < n; row++) {
        values[k] = block->values[row];
        k += marks[row];
    }
    *count = k;
    return row;
}

static size_t gather_unmarked(const struct pci_block_reader *block, const uint8_t *marks,
                              size_t row, size_t n, int64_t *values, size_t *count)
{
    size_t k = *count, end = block->n;
    for (; row < end && k < n; row++) {
        values[k] = block->values[row];
        k += !marks[row];
    }
    *count = k;
    return row;
}

static size_t gather_deltas(const struct pci_block_reader *block, const uint8_t *marks, size_t row,
                            size_t n, int64_t *values, size_t *count)
{
    size_t k = *count, end = block->n;
    for (; row < end && k < n; row++) {
        uint64_t previous = (uint64_t)block->values[row ? row - 1 : 0];
        values[k] = (int64_t)((uint64_t)block->values[row] - previous);
        k += !marks[row];
    }
    *count = k;
    return row;
}

size_t pci_part_compact(enum pci_part_rows kind, const struct pci_block_reader *block,
                        const uint8_t *marks, size_t row, size_t n, int64_t *values, size_t *count)
{
    return kind == PCI_PART_MARKED     ? gather_marked(block, marks, row, n, values, count)
           : kind == PCI_PART_UNMARKED ? gather_unmarked(block, marks, row, n, values, count)
                                       : gather_deltas(block, marks, row, n, values, count);
}

static pcol_status next_block(struct pci_row_part *part, pcol_error *err)
{
    PCI_TRY(pci_block_reader_next(&part->reader, err));
    part->next = 0;
    part->mark(part->context, &part->reader, part->marks);
    return PCOL_OK;
}

static pcol_status read_part(void *context, uint64_t row, size_t n, int64_t *values, uint8_t *valid,
                             pcol_error *err)
{
    struct pci_row_part *part = context;
    size_t count = 0;
    if (row == 0) {
        pci_block_reader_init(&part->reader, part->all);
        part->next = 0;
    }
    while (count < n) {
        if (part->next >= part->reader.n) {
            PCI_TRY(next_block(part, err));
            if (!part->reader.n)
                return pci_fail(err, PCOL_E_STATE, "column changed while it was written");
        }
        part->next =
            pci_part_compact(part->kind, &part->reader, part->marks, part->next, n, values, &count);
    }
    memset(valid, 1, n);
    return PCOL_OK;
}

void pci_row_part_init(struct pci_row_part *part, const struct pci_value_source *all,
                       pci_mark_block mark, const void *context, enum pci_part_rows kind,
                       uint64_t rows)
{
    uint8_t type = kind == PCI_PART_DELTAS ? PCF_I64 : all->type;
    part->source = (struct pci_value_source){rows, type, read_part, part, NULL};
    part->all = all;
    part->mark = mark;
    part->context = context;
    part->kind = kind;
}

pcol_status pci_row_part_count(struct pci_row_part *part, pcol_error *err)
{
    uint64_t marked = 0;
    pcol_status status;
    pci_block_reader_init(&part->reader, part->all);
    while ((status = next_block(part, err)) == PCOL_OK && part->reader.n)
        for (size_t i = 0; i < part->reader.n; i++)
            marked += part->marks[i];
    part->source.rows = marked;
    return status;
}

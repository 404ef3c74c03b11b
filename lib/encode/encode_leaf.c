/*
 * encode_leaf.c - one column's values into sections: plain, packed, blocked
 *
 * All of them are bits of some width, block after block of 1024 rows; what differs is how a block's
 * values become bits. put_bits() is the loop that they share.
 */
#include "encode/encode_leaf.h"

#include "format/load.h"
#include "util/alloc.h"
#include "util/simd_kernels.h"

/* All blocks of a source into one section, then `padding` zero bytes. */
static pcol_status put_bits(struct pci_container *writer, uint32_t column, uint8_t role,
                            const struct pci_value_source *source, pci_write_block put,
                            void *context, size_t padding, pcol_error *err)
{
    struct pci_bits *bits = pci_malloc(1, sizeof *bits);
    struct pci_block_reader *reader = pci_malloc(1, sizeof *reader);
    pcol_status status = bits && reader ? PCOL_OK : pci_fail_memory(err);
    if (status == PCOL_OK)
        status = pci_bits_begin(bits, writer, column, role, err);
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

pcol_status pci_emit_blocks(struct pci_container *writer, uint32_t column,
                            const struct pci_value_source *source, pci_write_block put,
                            void *context, pcol_error *err)
{
    return put_bits(writer, column, PCF_ROLE_VALUES, source, put, context, PCF_PACK_PADDING, err);
}

/* ---- plain ---- */

struct plain {
    unsigned width;
    uint8_t type;
    struct pci_column_stats *stats; /* NULL: they are known */
};

static pcol_status put_plain(struct pci_bits *bits, const struct pci_block_reader *block,
                             void *context, pcol_error *err)
{
    const struct plain *plain = context;
    unsigned width = plain->width;
    uint64_t mask = width == 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
    uint32_t narrow[PCF_BLOCK_ROWS];
    if (plain->stats)
        pci_add_stats(plain->stats, plain->type, block->values, block->valid, block->n);
    /* Values are 0 under a null, and whole words need no shifting. */
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
    return put_bits(writer, column, PCF_ROLE_VALIDITY, source, put_valid, NULL, 0, err);
}

pcol_status pci_emit_plain(struct pci_container *writer, uint32_t column,
                           const struct pci_value_source *source, uint64_t nulls,
                           struct pci_column_stats *stats, pcol_error *err)
{
    struct plain plain = {plain_width(source->type), source->type, stats};
    writer->columns[column].encoding = PCF_PLAIN;
    if (nulls)
        PCI_TRY(pci_emit_validity(writer, column, source, err));
    return put_bits(writer, column, PCF_ROLE_VALUES, source, put_plain, &plain, 0, err);
}

/* ---- packed ---- */

struct packed {
    const struct pcf_column *column;
    struct pci_divisor divisor; /* its scale */
};

static pcol_status put_packed(struct pci_bits *bits, const struct pci_block_reader *block,
                              void *context, pcol_error *err)
{
    const struct packed *p = context;
    uint64_t numbers[PCF_BLOCK_ROWS];
    pci_simd_less(block->values, block->n, (uint64_t)p->column->base, numbers);
    if (p->column->scale != 1)
        pci_simd_divide(numbers, block->n, &p->divisor);
    return pci_bits_put_many(bits, numbers, block->n, p->column->width, err);
}

pcol_status pci_emit_packed(struct pci_container *writer, uint32_t column,
                            const struct pci_value_source *source,
                            const struct pci_column_stats *shape, pcol_error *err)
{
    struct pcf_column *c = &writer->columns[column];
    c->encoding = PCF_PACKED;
    c->base = shape->min;
    c->scale = shape->scale;
    c->width = (uint8_t)pci_width_of(((uint64_t)shape->max - (uint64_t)shape->min) / c->scale);
    struct packed packed = {c, pci_divisor_of(c->scale)};
    return put_bits(writer, column, PCF_ROLE_VALUES, source, put_packed, &packed, PCF_PACK_PADDING,
                    err);
}

/* ---- blocked ---- */

struct blocks {
    struct pcf_block *all;
    size_t count;
    uint64_t offset; /* of the next block's bits */
    uint64_t scale;
    struct pci_divisor divisor; /* that */
    uint8_t type;
    int slopes;
};

static pcol_status put_blocked(struct pci_bits *bits, const struct pci_block_reader *block,
                               void *context, pcol_error *err)
{
    struct blocks *b = context;
    struct pci_fit fit = pci_fit_block(block->values, block->n, b->type, b->slopes);
    unsigned width = pci_width_of(fit.range / b->scale);
    b->all[b->count++] = (struct pcf_block){fit.base, fit.slope, (uint64_t)width << 56 | b->offset};
    if (!width)
        return PCOL_OK;
    uint64_t numbers[PCF_BLOCK_ROWS];
    pci_simd_less_line(block->values, block->n, (uint64_t)fit.base, fit.slope, numbers);
    if (b->scale != 1)
        pci_simd_divide(numbers, block->n, &b->divisor);
    PCI_TRY(pci_bits_put_many(bits, numbers, block->n, width, err));
    b->offset += (block->n * width + 7) / 8;
    return pci_bits_align(bits, err);
}

pcol_status pci_emit_array(struct pci_container *writer, uint32_t column, uint8_t role,
                           const void *data, size_t size, pcol_error *err)
{
    struct pci_section section;
    pcol_status status;
    PCI_TRY(pci_section_begin(&section, writer, column, role, err));
    status = pci_section_append(&section, data, size, err);
    if (status == PCOL_OK)
        return pci_section_end(&section, err);
    pci_section_abort(&section);
    return status;
}

pcol_status pci_emit_blocked(struct pci_container *writer, uint32_t column,
                             const struct pci_value_source *source,
                             const struct pci_column_stats *shape, int slopes, pcol_error *err)
{
    struct pcf_column *c = &writer->columns[column];
    struct blocks b = {.type = source->type, .slopes = slopes};
    pcol_status status;
    c->encoding = PCF_BLOCKED;
    c->scale = b.scale = slopes ? 1 : shape->scale;
    b.divisor = pci_divisor_of(b.scale);
    b.all = pci_malloc(shape->block_count + 1, sizeof *b.all);
    if (!b.all)
        return pci_fail_memory(err);
    status = pci_emit_blocks(writer, column, source, put_blocked, &b, err);
    if (status == PCOL_OK)
        status =
            pci_emit_array(writer, column, PCF_ROLE_BLOCKS, b.all, b.count * sizeof *b.all, err);
    pci_free(b.all);
    return status;
}

/* ---- marks: which rows have a value of their own ---- */

struct marks {
    pci_mark_block mark;
    const void *context;
    struct pci_partition_capture *const *keepings; /* of rows by their marks, NULL at the end; or
                                                      NULL */
    uint64_t count;                                /* of the blocks before */
    uint8_t block[PCF_BLOCK_ROWS];
};

static pcol_status put_marks(struct pci_bits *bits, const struct pci_block_reader *block,
                             void *context, pcol_error *err)
{
    struct marks *m = context;
    if (block->row) { /* 1024 bits stand before, so this begins at a byte */
        PCI_TRY(pci_bits_put(bits, m->count & UINT32_MAX, 32, err));
        PCI_TRY(pci_bits_put(bits, m->count >> 32, 32, err));
    }
    m->mark(m->context, block, m->block);
    for (struct pci_partition_capture *const *k = m->keepings; k && *k; k++)
        PCI_TRY(pci_partition_capture_block(*k, block, m->block, err));
    memset(m->block + block->n, 0, PCF_BLOCK_ROWS - block->n);
    for (size_t i = 0, bits_left = block->n; bits_left; i += 32) {
        uint64_t word = 0;
        unsigned n = bits_left < 32 ? (unsigned)bits_left : 32;
        for (unsigned k = 0; k < 32; k += 8) /* the low bits of eight bytes come together on top */
            word |= (pcf_load64(m->block + i + k) * UINT64_C(0x0102040810204080) >> 56) << k;
        m->count += (uint64_t)__builtin_popcountll(word);
        bits_left -= n;
        PCI_TRY(pci_bits_put(bits, word, n, err));
    }
    return PCOL_OK;
}

pcol_status pci_emit_marks(struct pci_container *writer, uint32_t column,
                           const struct pci_value_source *source, pci_mark_block mark,
                           const void *context, struct pci_partition_capture *const *keepings,
                           pcol_error *err)
{
    struct marks m = {.mark = mark, .context = context, .keepings = keepings};
    return put_bits(writer, column, PCF_ROLE_MARKS, source, put_marks, &m, 0, err);
}

/* ---- rows that are marked, and rises of the others ---- */

/* Cells of a block from `at` on, up to n of them. Each is written, and the place for it moves on if
 * it is wanted. Returns the first cell that was not looked at. */
static size_t gather_marked(const struct pci_block_reader *block, const uint8_t *marks, size_t at,
                            size_t n, int64_t *values, size_t *got)
{
    size_t count = *got, end = block->n;
    for (; at < end && count < n; at++) {
        values[count] = block->values[at];
        count += marks[at];
    }
    *got = count;
    return at;
}

static size_t gather_others(const struct pci_block_reader *block, const uint8_t *marks, size_t at,
                            size_t n, int64_t *values, size_t *got)
{
    size_t count = *got, end = block->n;
    for (; at < end && count < n; at++) {
        values[count] = block->values[at];
        count += !marks[at];
    }
    *got = count;
    return at;
}

static size_t gather_rises(const struct pci_block_reader *block, const uint8_t *marks, size_t at,
                           size_t n, int64_t *values, size_t *got)
{
    size_t count = *got, end = block->n;
    for (; at < end && count < n; at++) {
        uint64_t before = (uint64_t)block->values[at ? at - 1 : 0];
        values[count] = (int64_t)((uint64_t)block->values[at] - before);
        count += !marks[at];
    }
    *got = count;
    return at;
}

size_t pci_part_compact(enum pci_part_rows what, const struct pci_block_reader *block,
                        const uint8_t *marks, size_t at, size_t n, int64_t *values, size_t *got)
{
    return what == PCI_PART_MARKED     ? gather_marked(block, marks, at, n, values, got)
           : what == PCI_PART_UNMARKED ? gather_others(block, marks, at, n, values, got)
                                       : gather_rises(block, marks, at, n, values, got);
}

static pcol_status next_block(struct pci_row_part *g, pcol_error *err)
{
    PCI_TRY(pci_block_reader_next(&g->reader, err));
    g->at = 0;
    g->mark(g->context, &g->reader, g->marks);
    return PCOL_OK;
}

static pcol_status read_part(void *context, uint64_t row, size_t n, int64_t *values, uint8_t *valid,
                             pcol_error *err)
{
    struct pci_row_part *g = context;
    size_t got = 0;
    if (row == 0) {
        pci_block_reader_init(&g->reader, g->all);
        g->at = 0;
    }
    while (got < n) {
        if (g->at >= g->reader.n) {
            PCI_TRY(next_block(g, err));
            if (!g->reader.n)
                return pci_fail(err, PCOL_E_STATE, "column changed while it was written");
        }
        g->at = pci_part_compact(g->what, &g->reader, g->marks, g->at, n, values, &got);
    }
    memset(valid, 1, n);
    return PCOL_OK;
}

void pci_row_part_init(struct pci_row_part *part, const struct pci_value_source *all,
                       pci_mark_block mark, const void *context, enum pci_part_rows what,
                       uint64_t rows)
{
    uint8_t type = what == PCI_PART_DELTAS ? PCF_I64 : all->type;
    part->source = (struct pci_value_source){rows, type, read_part, part, NULL};
    part->all = all;
    part->mark = mark;
    part->context = context;
    part->what = what;
}

pcol_status pci_row_part_count(struct pci_row_part *g, pcol_error *err)
{
    uint64_t marked = 0;
    pcol_status status;
    pci_block_reader_init(&g->reader, g->all);
    while ((status = next_block(g, err)) == PCOL_OK && g->reader.n)
        for (size_t i = 0; i < g->reader.n; i++)
            marked += g->marks[i];
    g->source.rows = marked;
    return status;
}

/*
 * index_codec.c - decoding and encoding of the records of the index
 *
 *     mask | number for each set bit, from bit 0 on | name
 *
 * Presence bit mask and numbers are LEB128 varints. A field without a number is 0, so most records
 * take a few bytes; readers skip fields of later versions. Order of records: a table, then each of
 * its columns in depth-first pre-order, a column followed by its sections and its children.
 * Tests: tests/unit/test_index.c, tests/format/golden.
 */
#include "format/index_codec.h"

#include "format/load.h"
#include "format/range.h"
#include "format/transform.h"

#include <string.h>

/* Fields by their bit in the mask. */
enum { TABLE_NAME_SIZE, TABLE_ROWS, TABLE_COLUMNS, TABLE_FLAGS, TABLE_FIELDS };
enum {
    COLUMN_KIND, /* type + 16 * encoding */
    COLUMN_NAME_SIZE,
    COLUMN_FLAGS,
    COLUMN_REF_TABLE,
    COLUMN_RANGE, /* max - min */
    COLUMN_SECTIONS,
    COLUMN_BASE, /* zigzag */
    COLUMN_WIDTH,
    COLUMN_ROWS, /* of a child; 0: rows of the table */
    COLUMN_CHILDREN,
    COLUMN_STEP,  /* zigzag */
    COLUMN_SCALE, /* scale - 1 */
    COLUMN_NULL_COUNT,
    COLUMN_MIN, /* zigzag of min - base */
    COLUMN_FIELDS
};
enum {
    SECTION_SIZE,
    SECTION_ROLE,
    SECTION_ALIGN, /* log2 - 3 */
    SECTION_CODEC,
    SECTION_RAW_SIZE, /* 0: equal to size */
    SECTION_FLAGS,
    SECTION_FIELDS
};
#define MAX_FIELDS COLUMN_FIELDS

static const uint64_t table_limits[TABLE_FIELDS] = {PCF_MAX_NAME, UINT64_MAX, UINT32_MAX,
                                                    UINT16_MAX};
static const uint64_t column_limits[COLUMN_FIELDS] = {
    4095,      PCF_MAX_NAME, UINT32_MAX, UINT32_MAX, UINT64_MAX, UINT8_MAX,  UINT64_MAX,
    UINT8_MAX, UINT64_MAX,   UINT8_MAX,  UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX};
static const uint64_t section_limits[SECTION_FIELDS] = {UINT64_MAX, UINT8_MAX,  27,
                                                        UINT8_MAX,  UINT64_MAX, UINT8_MAX};

/* ---- decoding */

struct reader {
    const struct pcf_check *check;
    const uint8_t *bytes;
    uint32_t size, offset;
    uint32_t index_offset;       /* of bytes[0] */
    uint32_t column, child;      /* numbers of the next column of a table and the next child */
    uint32_t table_columns;      /* columns of all tables; the number of the first child */
    uint32_t section;            /* number of the next section */
    uint64_t end;                /* file offset of the previous section's end */
    uint64_t values[MAX_FIELDS]; /* fields of the current record */
};

static int fail(const struct reader *r, uint32_t offset, const char *message)
{
    return pcf_fault_index(r->check, r->index_offset + offset, message);
}

static int read_long_number(struct reader *r, uint64_t *value)
{
    uint32_t left = r->size - r->offset;
    size_t length = pcf_varint_get(r->bytes + r->offset, left, value);
    if (length == 0 && left < PCF_MAX_VARINT)
        return fail(r, r->size, "records of the index are truncated");
    if (length == 0)
        return fail(r, r->offset + PCF_MAX_VARINT - 1, "varint in the index exceeds 64 bits");
    r->offset += (uint32_t)length;
    return 0;
}

/* Fast path: nearly all numbers take one byte. */
static inline int read_number(struct reader *r, uint64_t *value)
{
    if (r->offset < r->size && r->bytes[r->offset] < 128) {
        *value = r->bytes[r->offset++];
        return 0;
    }
    return read_long_number(r, value);
}

/* Sets r->values[0..fields); absent fields are 0, known fields are within their limits. */
static inline int read_record(struct reader *r, const uint64_t *limits, unsigned fields)
{
    uint64_t mask = 0, number = 0; /* initialized for the static analyzer */
    uint32_t begin = r->offset;
    if (read_number(r, &mask))
        return -1;
    if (mask >> fields && r->check->index->header.minor <= PCF_VERSION_MINOR)
        return fail(r, begin, "record has an unknown field");
    memset(r->values, 0, fields * sizeof *r->values);
    for (; mask; mask &= mask - 1) {
        unsigned bit = (unsigned)__builtin_ctzll(mask);
        uint32_t offset = r->offset;
        if (read_number(r, &number))
            return -1;
        if (bit >= fields)
            continue;
        if (number > limits[bit])
            return fail(r, offset, "field of a record is too large");
        r->values[bit] = number;
    }
    return 0;
}

static int read_name(struct reader *r, uint64_t size, uint32_t *index_offset)
{
    const char *name = (const char *)r->bytes + r->offset;
    if (size > r->size - r->offset)
        return fail(r, r->offset, "records of the index are truncated");
    if (!pcf_name_valid(name, size))
        return fail(r, r->offset, "name is not 1 to 255 bytes of printable UTF-8");
    *index_offset = r->index_offset + r->offset;
    r->offset += (uint32_t)size;
    return 0;
}

/* A section begins at the first aligned offset after the previous section. */
static int set_section_offset(struct reader *r, struct pcf_section *s)
{
    uint64_t mask = (UINT64_C(1) << s->align_log2) - 1;
    uint64_t limit = r->check->index->header.file_size - sizeof(struct pcf_end);
    s->offset = (r->end + mask) & ~mask;
    if (s->size == 0 || !pcf_range(s->offset, s->size, 1, limit))
        return pcf_fault_index(r->check, s->record_offset,
                               "section is empty or extends past the end of the file");
    r->end = s->offset + s->size;
    return 0;
}

static int read_section(struct reader *r, uint32_t column)
{
    const struct pcf_index *x = r->check->index;
    uint32_t begin = r->offset, number = r->section;
    struct pcf_section *s = &x->sections[number];
    if (number == x->header.section_count)
        return fail(r, begin, "more sections than the header declares");
    if (read_record(r, section_limits, SECTION_FIELDS))
        return -1;
    const uint64_t *v = r->values;
    r->section++;
    *s = (struct pcf_section){.size = v[SECTION_SIZE],
                              .raw_size =
                                  v[SECTION_RAW_SIZE] ? v[SECTION_RAW_SIZE] : v[SECTION_SIZE],
                              .checksum = pcf_load64(x->names + (size_t)number * 8),
                              .role = (uint8_t)v[SECTION_ROLE],
                              .codec = (uint8_t)v[SECTION_CODEC],
                              .align_log2 = (uint8_t)(v[SECTION_ALIGN] + 3),
                              .flags = (uint8_t)v[SECTION_FLAGS],
                              .column = column,
                              .record_offset = r->index_offset + begin};
    return set_section_offset(r, s);
}

static void set_column(struct pcf_column *c, const uint64_t *v)
{
    uint64_t base = pcf_zigzag_decode(v[COLUMN_BASE]);
    uint64_t min = base + pcf_zigzag_decode(v[COLUMN_MIN]);
    uint64_t encoding = v[COLUMN_KIND] / 16;
    *c = (struct pcf_column){.name_size = (uint16_t)v[COLUMN_NAME_SIZE],
                             .type = (uint8_t)(v[COLUMN_KIND] % 16),
                             .encoding = (uint8_t)encoding,
                             .flags = (uint32_t)v[COLUMN_FLAGS],
                             .ref_table = (uint32_t)v[COLUMN_REF_TABLE],
                             .rows = v[COLUMN_ROWS],
                             .section_count = (uint8_t)v[COLUMN_SECTIONS],
                             .child_count = (uint8_t)v[COLUMN_CHILDREN],
                             .width = (uint8_t)v[COLUMN_WIDTH],
                             .base = (int64_t)base,
                             .step = (int64_t)pcf_zigzag_decode(v[COLUMN_STEP]),
                             .scale = v[COLUMN_SCALE] + (encoding == PCF_PACKED),
                             .null_count = v[COLUMN_NULL_COUNT]};
    if (c->flags & PCF_COLUMN_STATS) {
        c->min = (int64_t)min;
        c->max = (int64_t)(min + v[COLUMN_RANGE]);
    }
}

/* Record, name and sections of a column; allocates the numbers of its children. `table`: NULL for
 * a child. */
static int read_column(struct reader *r, uint32_t number, const struct pcf_table *table)
{
    const struct pcf_index *x = r->check->index;
    struct pcf_column *c = &x->columns[number];
    uint32_t begin = r->offset;
    if (read_record(r, column_limits, COLUMN_FIELDS))
        return -1;
    set_column(c, r->values);
    c->record_offset = r->index_offset + begin;
    c->first_section = r->section;
    c->first_child = r->child;
    if (!table && c->name_size)
        return fail(r, begin, "child column has a name");
    if (table && c->rows)
        return fail(r, begin, "column of a table has its own number of rows");
    if (table)
        c->rows = table->rows;
    if (table && read_name(r, c->name_size, &c->name_offset))
        return -1;
    if (c->child_count > x->header.column_count - r->child)
        return fail(r, begin, "more columns than the header declares");
    r->child += c->child_count;
    for (unsigned i = 0; i < c->section_count; i++)
        if (read_section(r, number))
            return -1;
    return 0;
}

/* A column of a table and its descendants, in depth-first pre-order with an explicit stack. */
static int read_column_tree(struct reader *r, const struct pcf_table *table)
{
    const struct pcf_column *columns = r->check->index->columns;
    uint32_t next[PCF_MAX_CHILD_DEPTH], end[PCF_MAX_CHILD_DEPTH], number = r->column++;
    unsigned depth = 0;
    if (number == r->table_columns)
        return fail(r, r->offset, "more columns than the header declares");
    if (read_column(r, number, table))
        return -1;
    for (;;) {
        const struct pcf_column *c = &columns[number];
        if (c->child_count) {
            if (depth == PCF_MAX_CHILD_DEPTH)
                return pcf_fault_index(r->check, c->record_offset, "columns are nested too deeply");
            next[depth] = c->first_child;
            end[depth++] = c->first_child + c->child_count;
        }
        while (depth && next[depth - 1] == end[depth - 1])
            depth--;
        if (!depth)
            return 0;
        number = next[depth - 1]++;
        if (read_column(r, number, NULL))
            return -1;
    }
}

static int read_table(struct reader *r, struct pcf_table *t)
{
    uint32_t begin = r->offset;
    if (read_record(r, table_limits, TABLE_FIELDS))
        return -1;
    const uint64_t *v = r->values;
    *t = (struct pcf_table){.name_size = (uint16_t)v[TABLE_NAME_SIZE],
                            .flags = (uint16_t)v[TABLE_FLAGS],
                            .rows = v[TABLE_ROWS],
                            .first_column = r->column,
                            .column_count = (uint32_t)v[TABLE_COLUMNS],
                            .record_offset = r->index_offset + begin};
    if (t->rows > PCF_MAX_ROWS)
        return fail(r, begin, "table has too many rows");
    if (read_name(r, t->name_size, &t->name_offset))
        return -1;
    for (uint32_t i = 0; i < t->column_count; i++)
        if (read_column_tree(r, t))
            return -1;
    return 0;
}

int pcf_records_read(const struct pcf_check *check, const uint8_t *bytes, uint32_t size,
                     uint32_t index_offset)
{
    const struct pcf_header *h = &check->index->header;
    uint32_t table_columns = h->column_count - h->child_count;
    struct reader r = {.check = check,
                       .bytes = bytes,
                       .size = size,
                       .index_offset = index_offset,
                       .child = table_columns,
                       .table_columns = table_columns,
                       .end = h->index_offset + h->index_size};
    for (uint32_t i = 0; i < h->table_count; i++)
        if (read_table(&r, &check->index->tables[i]))
            return -1;
    if (r.column != table_columns || r.child != h->column_count || r.section != h->section_count)
        return fail(&r, r.offset, "fewer columns or sections than the header declares");
    if (r.offset != size && h->minor <= PCF_VERSION_MINOR)
        return fail(&r, r.offset, "bytes after the last record");
    return 0;
}

/* ---- encoding */

struct writer {
    uint8_t *to; /* NULL: measure only */
    uint64_t size;
};

static void put_number(struct writer *out, uint64_t number)
{
    uint8_t discarded[PCF_MAX_VARINT];
    out->size += pcf_varint_put(out->to ? out->to + out->size : discarded, number);
}

static void put_record(struct writer *out, const uint64_t *values, unsigned fields)
{
    uint64_t mask = 0;
    for (unsigned i = 0; i < fields; i++)
        mask |= (uint64_t)(values[i] != 0) << i;
    put_number(out, mask);
    for (unsigned i = 0; i < fields; i++)
        if (values[i])
            put_number(out, values[i]);
}

static void put_name(struct writer *out, const struct pcf_index *x, uint32_t offset, uint16_t size)
{
    if (out->to && size)
        memcpy(out->to + out->size, x->names + offset, size);
    out->size += size;
}

static void put_section(struct writer *out, const struct pcf_section *s)
{
    const uint64_t values[SECTION_FIELDS] = {
        s->size, s->role, s->align_log2 - 3u, s->codec, s->raw_size == s->size ? 0 : s->raw_size,
        s->flags};
    put_record(out, values, SECTION_FIELDS);
}

static void put_column(struct writer *out, const struct pcf_index *x, const struct pcf_column *c)
{
    int stats = (c->flags & PCF_COLUMN_STATS) != 0;
    uint64_t base = (uint64_t)c->base, min = stats ? (uint64_t)c->min : base;
    uint64_t max = stats ? (uint64_t)c->max : base;
    const uint64_t values[COLUMN_FIELDS] = {c->type + 16u * c->encoding,
                                            c->name_size,
                                            c->flags,
                                            c->ref_table,
                                            max - min,
                                            c->section_count,
                                            pcf_zigzag_encode(base),
                                            c->width,
                                            c->name_size ? 0 : c->rows,
                                            c->child_count,
                                            pcf_zigzag_encode((uint64_t)c->step),
                                            c->scale ? c->scale - 1 : 0,
                                            c->null_count,
                                            pcf_zigzag_encode(min - base)};
    put_record(out, values, COLUMN_FIELDS);
    put_name(out, x, c->name_offset, c->name_size);
    for (unsigned i = 0; i < c->section_count; i++)
        put_section(out, &x->sections[c->first_section + i]);
}

/* Inverse of read_column_tree(). */
static void put_column_tree(struct writer *out, const struct pcf_index *x, uint32_t number)
{
    uint32_t next[PCF_MAX_CHILD_DEPTH], end[PCF_MAX_CHILD_DEPTH];
    unsigned depth = 0;
    for (;;) {
        const struct pcf_column *c = &x->columns[number];
        put_column(out, x, c);
        if (c->child_count && depth < PCF_MAX_CHILD_DEPTH) {
            next[depth] = c->first_child;
            end[depth++] = c->first_child + c->child_count;
        }
        while (depth && next[depth - 1] == end[depth - 1])
            depth--;
        if (!depth)
            return;
        number = next[depth - 1]++;
    }
}

uint64_t pcf_index_store(const struct pcf_index *index, uint8_t *to, uint64_t *records_size)
{
    const struct pcf_header *h = &index->header;
    struct writer out = {to, (uint64_t)h->section_count * 8};
    for (uint32_t i = 0; i < h->section_count && to; i++)
        pcf_store64(to + (size_t)i * 8, index->sections[i].checksum);
    for (uint32_t i = 0; i < h->table_count; i++) {
        const struct pcf_table *t = &index->tables[i];
        const uint64_t values[TABLE_FIELDS] = {t->name_size, t->rows, t->column_count, t->flags};
        put_record(&out, values, TABLE_FIELDS);
        put_name(&out, index, t->name_offset, t->name_size);
        for (uint32_t k = 0; k < t->column_count; k++)
            put_column_tree(&out, index, t->first_column + k);
    }
    *records_size = out.size - (uint64_t)h->section_count * 8;
    for (; out.size % 8; out.size++)
        if (to)
            to[out.size] = 0;
    return out.size;
}

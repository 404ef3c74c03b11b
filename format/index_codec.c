/*
 * index_codec.c - the records of the index, read and stored
 *
 *     mask | number for each bit that is set, from bit 0 on | name
 *
 * Mask and numbers are varints. A field that is not there has its default, so a column that says
 * little takes a few bytes; a bit of a later version is a number to skip. Records stand as a tree:
 * a table, its columns, each of them followed by its sections and then by its children.
 */
#include "format/index_codec.h"

#include "format/load.h"
#include "format/range.h"

#include <string.h>

/* Fields by the bit that announces them. */
enum { TABLE_NAME_SIZE, TABLE_ROWS, TABLE_COLUMNS, TABLE_FLAGS, TABLE_FIELDS };
enum {
    COLUMN_KIND, /* type + 16 * encoding */
    COLUMN_NAME_SIZE,
    COLUMN_FLAGS,
    COLUMN_REF_TABLE,
    COLUMN_RANGE, /* max - min */
    COLUMN_SECTIONS,
    COLUMN_BASE, /* folded */
    COLUMN_WIDTH,
    COLUMN_ROWS, /* of a child; of another column those of its table */
    COLUMN_CHILDREN,
    COLUMN_STEP,  /* folded */
    COLUMN_SCALE, /* less 1 */
    COLUMN_NULL_COUNT,
    COLUMN_MIN, /* folded, less base */
    COLUMN_FIELDS
};
enum {
    SECTION_SIZE,
    SECTION_ROLE,
    SECTION_ALIGN, /* less 3 */
    SECTION_CODEC,
    SECTION_RAW_SIZE, /* 0: as size */
    SECTION_FLAGS,
    SECTION_FIELDS
};
#define MOST_FIELDS COLUMN_FIELDS

static const uint64_t table_limits[TABLE_FIELDS] = {PCF_MAX_NAME, UINT64_MAX, UINT32_MAX,
                                                    UINT16_MAX};
static const uint64_t column_limits[COLUMN_FIELDS] = {
    4095,      PCF_MAX_NAME, UINT32_MAX, UINT32_MAX, UINT64_MAX, UINT8_MAX,  UINT64_MAX,
    UINT8_MAX, UINT64_MAX,   UINT8_MAX,  UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX};
static const uint64_t section_limits[SECTION_FIELDS] = {UINT64_MAX, UINT8_MAX,  27,
                                                        UINT8_MAX,  UINT64_MAX, UINT8_MAX};

/* Signed numbers as unsigned ones, those near 0 as small ones: 0, -1, 1, -2 are 0, 1, 2, 3. */
static uint64_t fold(uint64_t value)
{
    return value << 1 ^ (uint64_t) - (int64_t)(value >> 63);
}

static uint64_t unfold(uint64_t number)
{
    return number >> 1 ^ (uint64_t) - (int64_t)(number & 1);
}

/* ---- reading */

struct reader {
    const struct pcf_check *check;
    const uint8_t *bytes;
    uint32_t size, at;
    uint32_t place;               /* of bytes[0] in the index */
    uint32_t column, child;       /* numbers of the next ones */
    uint32_t listed;              /* columns of tables: children have numbers from it on */
    uint32_t section;             /* the next one */
    uint64_t end;                 /* of the section before */
    uint64_t values[MOST_FIELDS]; /* of the record read last */
};

static int fail(const struct reader *r, uint32_t at, const char *message)
{
    return pcf_fault_place(r->check, r->place + at, message);
}

static int read_long(struct reader *r, uint64_t *value)
{
    uint64_t number = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
        if (r->at == r->size)
            return fail(r, r->at, "records of the index are cut");
        uint64_t byte = r->bytes[r->at++];
        if (shift == 63 && byte > 1)
            break;
        number |= (byte & 127) << shift;
        if (byte < 128) {
            *value = number;
            return 0;
        }
    }
    return fail(r, r->at - 1, "number of the index is beyond 64 bits");
}

/* Nearly all numbers have one byte. */
static inline int read_number(struct reader *r, uint64_t *value)
{
    if (r->at < r->size && r->bytes[r->at] < 128) {
        *value = r->bytes[r->at++];
        return 0;
    }
    return read_long(r, value);
}

/* Numbers of fields that are not there are 0. Those that the version has are within their
 * limits. */
static inline int read_record(struct reader *r, const uint64_t *limits, unsigned fields)
{
    uint64_t mask = 0, number = 0; /* that they are set is beyond the analyzer */
    uint32_t begin = r->at;
    if (read_number(r, &mask))
        return -1;
    if (mask >> fields && r->check->index->header.minor <= PCF_VERSION_MINOR)
        return fail(r, begin, "record has an unknown field");
    memset(r->values, 0, fields * sizeof *r->values);
    for (; mask; mask &= mask - 1) {
        unsigned bit = (unsigned)__builtin_ctzll(mask);
        uint32_t at = r->at;
        if (read_number(r, &number))
            return -1;
        if (bit >= fields)
            continue;
        if (number > limits[bit])
            return fail(r, at, "number of a record is too large");
        r->values[bit] = number;
    }
    return 0;
}

static int read_name(struct reader *r, uint64_t size, uint32_t *offset)
{
    const char *name = (const char *)r->bytes + r->at;
    if (size > r->size - r->at)
        return fail(r, r->at, "records of the index are cut");
    if (!pcf_name_valid(name, size))
        return fail(r, r->at, "name is not 1 to 255 bytes of printable UTF-8");
    *offset = r->place + r->at;
    r->at += (uint32_t)size;
    return 0;
}

/* A section begins at the first byte behind the one before that its alignment allows. */
static int place_section(struct reader *r, struct pcf_section *s)
{
    uint64_t mask = (UINT64_C(1) << s->align_log2) - 1;
    uint64_t limit = r->check->index->header.file_size - sizeof(struct pcf_end);
    s->offset = (r->end + mask) & ~mask;
    if (s->size == 0 || !pcf_range(s->offset, s->size, 1, limit))
        return pcf_fault_place(r->check, s->place, "section is empty or leaves the file");
    r->end = s->offset + s->size;
    return 0;
}

static int read_section(struct reader *r, uint32_t column)
{
    const struct pcf_index *x = r->check->index;
    uint32_t begin = r->at, number = r->section;
    struct pcf_section *s = &x->sections[number];
    if (number == x->header.section_count)
        return fail(r, begin, "more sections than the header says");
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
                              .place = r->place + begin};
    return place_section(r, s);
}

static void set_column(struct pcf_column *c, const uint64_t *v)
{
    uint64_t base = unfold(v[COLUMN_BASE]), min = base + unfold(v[COLUMN_MIN]);
    uint64_t encoding = v[COLUMN_KIND] / 16;
    int scaled = encoding == PCF_PACKED || encoding == PCF_BLOCKED;
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
                             .step = (int64_t)unfold(v[COLUMN_STEP]),
                             .scale = scaled ? v[COLUMN_SCALE] + 1 : 0,
                             .null_count = v[COLUMN_NULL_COUNT]};
    if (c->flags & PCF_COLUMN_STATS) {
        c->min = (int64_t)min;
        c->max = (int64_t)(min + v[COLUMN_RANGE]);
    }
}

/* A column with its name and its sections; its children get their numbers. */
static int read_column(struct reader *r, uint32_t number, const struct pcf_table *table)
{
    const struct pcf_index *x = r->check->index;
    struct pcf_column *c = &x->columns[number];
    uint32_t begin = r->at;
    if (read_record(r, column_limits, COLUMN_FIELDS))
        return -1;
    set_column(c, r->values);
    c->place = r->place + begin;
    c->first_section = r->section;
    c->first_child = r->child;
    if (!table && c->name_size)
        return fail(r, begin, "child column with a name");
    if (table && c->rows)
        return fail(r, begin, "column of a table with rows of its own");
    if (table)
        c->rows = table->rows;
    if (table && read_name(r, c->name_size, &c->name_offset))
        return -1;
    if (c->child_count > x->header.column_count - r->child)
        return fail(r, begin, "more columns than the header says");
    r->child += c->child_count;
    for (unsigned i = 0; i < c->section_count; i++)
        if (read_section(r, number))
            return -1;
    return 0;
}

/* A column of a table with all that hangs on it, depth first. */
static int read_column_tree(struct reader *r, const struct pcf_table *table)
{
    const struct pcf_column *columns = r->check->index->columns;
    uint32_t next[PCF_MAX_CHILD_DEPTH], end[PCF_MAX_CHILD_DEPTH], number = r->column++;
    unsigned depth = 0;
    if (number == r->listed)
        return fail(r, r->at, "more columns than the header says");
    if (read_column(r, number, table))
        return -1;
    for (;;) {
        const struct pcf_column *c = &columns[number];
        if (c->child_count) {
            if (depth == PCF_MAX_CHILD_DEPTH)
                return pcf_fault_place(r->check, c->place, "columns are nested too deeply");
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
    uint32_t begin = r->at;
    if (read_record(r, table_limits, TABLE_FIELDS))
        return -1;
    const uint64_t *v = r->values;
    *t = (struct pcf_table){.name_size = (uint16_t)v[TABLE_NAME_SIZE],
                            .flags = (uint16_t)v[TABLE_FLAGS],
                            .rows = v[TABLE_ROWS],
                            .first_column = r->column,
                            .column_count = (uint32_t)v[TABLE_COLUMNS],
                            .place = r->place + begin};
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
                     uint32_t place)
{
    const struct pcf_header *h = &check->index->header;
    uint32_t listed = h->column_count - h->child_count;
    struct reader r = {.check = check,
                       .bytes = bytes,
                       .size = size,
                       .place = place,
                       .child = listed,
                       .listed = listed,
                       .end = h->index_offset + h->index_size};
    for (uint32_t i = 0; i < h->table_count; i++)
        if (read_table(&r, &check->index->tables[i]))
            return -1;
    if (r.column != listed || r.child != h->column_count || r.section != h->section_count)
        return fail(&r, r.at, "fewer columns or sections than the header says");
    if (r.at != size && h->minor <= PCF_VERSION_MINOR)
        return fail(&r, r.at, "bytes behind the last record");
    return 0;
}

/* ---- storing */

struct out {
    uint8_t *to; /* NULL: only to be measured */
    uint64_t size;
};

static void put_number(struct out *out, uint64_t number)
{
    do {
        uint8_t byte = (uint8_t)(number & 127);
        number >>= 7;
        if (out->to)
            out->to[out->size] = number ? byte | 128 : byte;
        out->size++;
    } while (number);
}

static void put_record(struct out *out, const uint64_t *values, unsigned fields)
{
    uint64_t mask = 0;
    for (unsigned i = 0; i < fields; i++)
        mask |= (uint64_t)(values[i] != 0) << i;
    put_number(out, mask);
    for (unsigned i = 0; i < fields; i++)
        if (values[i])
            put_number(out, values[i]);
}

static void put_name(struct out *out, const struct pcf_index *x, uint32_t offset, uint16_t size)
{
    if (out->to && size)
        memcpy(out->to + out->size, x->names + offset, size);
    out->size += size;
}

static void put_section(struct out *out, const struct pcf_section *s)
{
    const uint64_t values[SECTION_FIELDS] = {
        s->size, s->role, s->align_log2 - 3u, s->codec, s->raw_size == s->size ? 0 : s->raw_size,
        s->flags};
    put_record(out, values, SECTION_FIELDS);
}

static void put_column(struct out *out, const struct pcf_index *x, const struct pcf_column *c)
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
                                            fold(base),
                                            c->width,
                                            c->name_size ? 0 : c->rows,
                                            c->child_count,
                                            fold((uint64_t)c->step),
                                            c->scale ? c->scale - 1 : 0,
                                            c->null_count,
                                            fold(min - base)};
    put_record(out, values, COLUMN_FIELDS);
    put_name(out, x, c->name_offset, c->name_size);
    for (unsigned i = 0; i < c->section_count; i++)
        put_section(out, &x->sections[c->first_section + i]);
}

/* As read_column_tree(). */
static void put_column_tree(struct out *out, const struct pcf_index *x, uint32_t number)
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
    struct out out = {to, (uint64_t)h->section_count * 8};
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

/*
 * column.c - fuzz target: a table of two columns with arbitrary encodings and children
 *
 * Mutated files mostly fail a check at opening. Here the structure is valid, and sizes and counts
 * follow from it; the input chooses encodings, types, parameters and the bytes of sections. Batch
 * reads must equal row reads.
 */
#include "targets.h"

#include "../faults/seal.h"
#include "pcol.h"

#include <stdlib.h>
#include <string.h>

#define MOST_COLUMNS 16u
#define MOST_SECTIONS 64u
#define MOST_ROWS 3000u
#define CAPACITY ((size_t)1 << 20)
#define BEGIN UINT64_C(4096) /* of sections: the index precedes it */

struct maker {
    const uint8_t *data;
    size_t size, at;
    struct pcf_table table;
    struct pcf_column columns[MOST_COLUMNS];
    struct pcf_section sections[MOST_SECTIONS];
    uint32_t column_count, section_count;
    uint8_t *file;
    uint64_t end;
    int full; /* more than the buffer can hold */
};

static uint8_t byte(struct maker *m)
{
    return m->at < m->size ? m->data[m->at++] : 0;
}

static int64_t number(struct maker *m)
{
    uint8_t width = byte(m);
    uint64_t value = 0;
    if (width < 0x80)
        return (int8_t)(width << 1) / 2;
    for (unsigned i = 0; i <= (width & 7u); i++)
        value = value << 8 | byte(m);
    return (int64_t)value;
}

/* ---- sections */

/* A few bytes of the input again and again, or as many as are needed. */
static void fill(struct maker *m, uint8_t *to, uint64_t size)
{
    uint64_t period = byte(m), i = 0;
    uint64_t own = period && period < size ? period : size;
    for (; i < own && m->at < m->size; i++)
        to[i] = byte(m);
    own = i;
    for (; period && own && i < size; i++)
        to[i] = to[i - own];
}

static uint8_t *section(struct maker *m, uint32_t column, uint8_t role, uint64_t size)
{
    struct pcf_section *s = &m->sections[m->section_count];
    uint64_t begin = (m->end + 7) / 8 * 8;
    if (m->section_count == MOST_SECTIONS || size > CAPACITY - 64 - begin) {
        m->full = 1;
        return NULL;
    }
    *s = (struct pcf_section){.offset = begin,
                              .size = size,
                              .raw_size = size,
                              .role = role,
                              .align_log2 = m->section_count ? 3 : 12,
                              .column = column};
    m->section_count++;
    m->columns[column].section_count++;
    m->end = begin + size;
    fill(m, m->file + begin, size);
    return m->file + begin;
}

/* Bits for rows, and counts of those set; how many are. */
static uint64_t marks(struct maker *m, uint32_t column, uint64_t rows)
{
    uint64_t size = (rows + 7) / 8 + (rows - 1) / PCF_RANK_ROWS * 8, set = 0;
    uint8_t *bits = section(m, column, PCF_ROLE_MARKS, size);
    for (uint64_t row = 0; bits && row < rows; row++) {
        uint64_t at = row / 8 + row / PCF_RANK_ROWS * 8;
        if (row && row % PCF_RANK_ROWS == 0)
            memcpy(bits + at - 8, &set, 8);
        set += bits[at] >> row % 8 & 1;
        if (row + 1 == rows && rows % 8)
            bits[at] &= (uint8_t)((1u << rows % 8) - 1);
    }
    return set;
}

/* ---- columns */

static void make(struct maker *m, uint32_t column, uint8_t type, uint64_t rows, unsigned depth);

/* Numbers of children follow one another, whatever these have in turn. */
static uint32_t children(struct maker *m, uint32_t column, uint8_t count)
{
    uint32_t first = m->column_count;
    if (first + count > MOST_COLUMNS) {
        m->full = 1;
        return first;
    }
    m->column_count += count;
    m->columns[column].first_child = first;
    m->columns[column].child_count = count;
    return first;
}

static void two(struct maker *m, uint32_t column, uint8_t type, uint64_t rows, uint8_t other,
                uint64_t others, unsigned depth)
{
    uint32_t first = children(m, column, 2);
    if (m->full)
        return;
    make(m, first, type, rows, depth + 1);
    make(m, first + 1, other, others, depth + 1);
}

static void one(struct maker *m, uint32_t column, uint8_t type, uint64_t rows, unsigned depth)
{
    uint32_t first = children(m, column, 1);
    if (!m->full)
        make(m, first, type, rows, depth + 1);
}

static unsigned width_of(const struct pcf_column *c)
{
    if (c->encoding == PCF_PACKED)
        return c->width;
    return c->type == PCF_BOOL ? 1 : c->type == PCF_U32 || c->type == PCF_STRING ? 32 : 64;
}

static void validity(struct maker *m, uint32_t column, uint64_t rows)
{
    uint64_t nulls = rows;
    if (!(m->columns[column].flags & PCF_COLUMN_NULLABLE))
        return;
    const uint8_t *bits = section(m, column, PCF_ROLE_VALIDITY, (rows + 7) / 8);
    for (uint64_t row = 0; bits && row < rows; row++)
        nulls -= bits[row / 8] >> row % 8 & 1;
    m->columns[column].null_count = nulls;
}

/* Sections of the encodings without children. */
static void simple(struct maker *m, uint32_t column, uint64_t rows)
{
    struct pcf_column *c = &m->columns[column];
    if (c->encoding != PCF_LINEAR) {
        uint64_t bytes = (rows * width_of(c) + 7) / 8;
        section(m, column, PCF_ROLE_VALUES,
                bytes + (c->encoding == PCF_PACKED ? PCF_PACK_PADDING : 0));
    }
    validity(m, column, rows);
}

static void follow(struct maker *m, uint32_t column, uint64_t rows, unsigned depth)
{
    struct pcf_column *c = &m->columns[column];
    uint64_t set = marks(m, column, rows);
    if (c->encoding == PCF_TREE)
        one(m, column, PCF_U64, set, depth);
    else if (c->encoding == PCF_SPARSE) {
        if (c->flags & PCF_COLUMN_DEFAULT_NULL)
            c->null_count = rows - set;
        one(m, column, c->type, set, depth);
    } else
        two(m, column, c->type, set, c->encoding == PCF_DELTAS ? PCF_I64 : c->type,
            c->encoding == PCF_CHAIN ? byte(m) : rows - set, depth);
}

static void bytes_of(struct maker *m, uint32_t column, uint64_t rows, unsigned depth)
{
    if (m->columns[column].encoding == PCF_FRONT) {
        section(m, column, PCF_ROLE_DATA, rows + byte(m));
        two(m, column, PCF_U64, rows + 1, PCF_U32, rows, depth);
        return;
    }
    validity(m, column, rows);
    section(m, column, PCF_ROLE_DATA, byte(m) * 4u + 1);
    one(m, column, PCF_U64, rows + 1, depth);
}

/* The flags that the encoding allows. */
static void flags(struct maker *m, struct pcf_column *c, uint64_t rows, unsigned depth)
{
    uint8_t bits = byte(m);
    int simple = c->encoding <= PCF_PACKED;
    if (depth == 0 && bits & 1 && (simple || c->encoding == PCF_DICTIONARY))
        c->flags |= PCF_COLUMN_NULLABLE;
    if (depth == 0 && bits & 2 && (c->encoding == PCF_SPARSE || c->encoding == PCF_LINEAR)) {
        c->flags = PCF_COLUMN_NULLABLE | PCF_COLUMN_DEFAULT_NULL;
        c->null_count = rows;
    }
    if (bits & 4) {
        c->flags |= PCF_COLUMN_STATS;
        c->min = number(m);
        c->max = number(m);
    }
    if (bits & 8 && !(c->flags & PCF_COLUMN_NULLABLE))
        c->flags |= PCF_COLUMN_ASCENDING;
}

static uint8_t encoding_of(struct maker *m, uint8_t type, unsigned depth)
{
    uint8_t encoding = (uint8_t)(byte(m) % (depth >= 2 ? PCF_SPARSE : PCF_TREE + 1));
    if (type == PCF_BYTES)
        return encoding & 1 ? PCF_FRONT : PCF_PLAIN;
    if (encoding == PCF_FRONT || (encoding == PCF_TREE && type != PCF_U32) ||
        (encoding == PCF_CHAIN && type != PCF_U32 && type != PCF_STRING) ||
        (type == PCF_F64 && (encoding == PCF_PACKED || encoding == PCF_DELTAS)))
        return PCF_PLAIN;
    return encoding;
}

static void make(struct maker *m, uint32_t column, uint8_t type, uint64_t rows, unsigned depth)
{
    struct pcf_column *c = &m->columns[column];
    *c = (struct pcf_column){.type = type,
                             .encoding = encoding_of(m, type, depth),
                             .rows = rows,
                             .name_offset = c->name_offset,
                             .name_size = c->name_size,
                             .first_section = m->section_count,
                             .scale = 1};
    if (rows == 0)
        c->encoding = PCF_LINEAR;
    flags(m, c, rows, depth);
    c->base = number(m);
    if (type != PCF_F64 && c->encoding != PCF_PACKED)
        c->step = number(m);
    if (c->encoding == PCF_PACKED) {
        c->scale = byte(m) + 1u;
        c->width = (uint8_t)(byte(m) % 58 + 1);
        c->width = c->width == 58 ? 64 : c->width;
    }
    if (type == PCF_BYTES && c->encoding != PCF_LINEAR)
        bytes_of(m, column, rows, depth);
    else if (c->encoding == PCF_RUNS) {
        uint64_t runs = byte(m) % (rows + 1);
        two(m, column, PCF_U64, runs, type, runs, depth);
    } else if (c->encoding == PCF_DICTIONARY)
        two(m, column, type, byte(m) + 1u, PCF_U32, rows, depth);
    else if (c->encoding > PCF_PACKED)
        follow(m, column, rows, depth);
    else
        simple(m, column, rows);
}

/* ---- reading */

/* Whether some row could be read in a batch, where it follows from the one before, but not
 * alone. */
static int compare(const pcol_column *column, uint64_t rows, int64_t *values, uint8_t *valid)
{
    int rejected = 0;
    pcol_error err;
    int64_t value;
    int has;
    if (pcol_column_read_i64(column, 0, rows, values, valid, &err) != PCOL_OK)
        return 0;
    for (uint64_t row = 0; row < rows; row += 1 + row / 64) {
        if (pcol_column_i64(column, row, &value, &has, &err) != PCOL_OK)
            rejected = 1;
        else
            FUZZ_ASSERT(!has == !valid[row] && (!has || value == values[row]));
    }
    return rejected;
}

static void compare_texts(const pcol_column *column, uint64_t rows)
{
    pcol_str texts[64], text;
    uint8_t valid[64];
    pcol_error err;
    int has;
    for (uint64_t row = 0; row < rows; row += 64) {
        size_t count = rows - row < 64 ? (size_t)(rows - row) : 64;
        if (pcol_column_read_str(column, row, count, texts, valid, &err) != PCOL_OK)
            return;
        for (size_t i = 0; i < count; i += 7) {
            FUZZ_ASSERT(pcol_column_str(column, row + i, &text, &has, &err) == PCOL_OK);
            FUZZ_ASSERT(!has == !valid[i]);
            if (!has)
                continue;
            FUZZ_ASSERT(text.size == texts[i].size);
            FUZZ_ASSERT(!text.size || !memcmp(text.data, texts[i].data, text.size));
        }
    }
}

static void read_file(const uint8_t *file, size_t size, uint64_t rows)
{
    static int64_t values[MOST_ROWS];
    static uint8_t valid[MOST_ROWS];
    const pcol_table *table;
    pcol_file *opened;
    pcol_error err;
    uint64_t faults;
    int rejected = 0;
    if (pcol_file_open_memory(file, size, NULL, &opened, &err) != PCOL_OK)
        return;
    if (pcol_file_table(opened, PCOL_MODEL_PHYSICAL, 0, &table, &err) == PCOL_OK)
        for (uint32_t i = 0; i < pcol_table_column_count(table); i++) {
            const pcol_column *column = pcol_table_column(table, i);
            pcol_column_info info = PCOL_INIT(pcol_column_info);
            if (pcol_column_describe(column, &info, NULL) != PCOL_OK)
                abort();
            if (info.type == PCOL_BYTES || info.type == PCOL_STRING)
                compare_texts(column, rows);
            else
                rejected |= compare(column, rows, values, valid);
        }
    if (pcol_file_check(opened, PCOL_CHECK_DEFAULT, NULL, NULL, NULL, &faults, &err) == PCOL_OK)
        FUZZ_ASSERT(faults || !rejected);
    pcol_file_close(opened);
}

/* Header, index and end around the sections; 0: too large. */
static size_t finish(struct maker *m)
{
    struct pcf_end end = {.mark = PCF_END_MARK};
    struct pcf_header h = {.magic = PCF_MAGIC,
                           .major = PCF_VERSION_MAJOR,
                           .header_size = sizeof h,
                           .index_offset = sizeof h,
                           .table_count = 1,
                           .column_count = m->column_count,
                           .child_count = m->column_count - 2,
                           .section_count = m->section_count,
                           .checksum_algorithm = PCF_CHECKSUM_XXH3_64};
    struct pcf_index index = {.tables = &m->table,
                              .columns = m->columns,
                              .sections = m->sections,
                              .names = "tableab",
                              .header = h};
    uint64_t records;
    h.index_size = pcf_index_store(&index, NULL, &records);
    h.records_size = (uint32_t)records;
    if (h.index_size > BEGIN - sizeof h)
        return 0;
    pcf_index_store(&index, m->file + sizeof h, &records);
    if (!m->section_count)
        m->end = sizeof h + h.index_size;
    m->end = (m->end + 7) / 8 * 8;
    h.file_size = end.file_size = m->end + sizeof end;
    memcpy(m->file, &h, sizeof h);
    memcpy(m->file + m->end, &end, sizeof end);
    seal(m->file, (size_t)h.file_size);
    return (size_t)h.file_size;
}

void fuzz_column(const uint8_t *data, size_t size)
{
    struct maker m = {.data = data, .size = size, .end = BEGIN, .column_count = 2};
    uint64_t rows = byte(&m);
    rows = (rows < 200 ? rows : (rows - 199) * 50) % MOST_ROWS + 1;
    m.table = (struct pcf_table){.name_size = 5, .rows = rows, .column_count = 2};
    m.columns[0] = (struct pcf_column){.name_offset = 5, .name_size = 1};
    m.columns[1] = (struct pcf_column){.name_offset = 6, .name_size = 1};
    static uint8_t buffer[CAPACITY]; /* nothing but zeros between two runs */
    m.file = buffer;
    make(&m, 0, byte(&m) % PCF_BOOL + 1, rows, 0);
    uint8_t type = byte(&m);
    if (!m.full && type & 0x80 && m.columns[0].encoding == PCF_DICTIONARY) {
        /* The second column has the codes of the first. */
        m.columns[1].type = type % PCF_BOOL + 1;
        m.columns[1].encoding = PCF_DICTIONARY;
        m.columns[1].rows = rows;
        m.columns[1].base = 1;
        m.columns[1].first_section = m.section_count;
        m.columns[1].scale = 1;
        one(&m, 1, m.columns[1].type, m.columns[m.columns[0].first_child].rows, 1);
    } else if (!m.full) {
        make(&m, 1, type % PCF_BOOL + 1, rows, 0);
    }
    size_t file_size = m.full ? 0 : finish(&m);
    uint8_t *exact = file_size ? malloc(file_size) : NULL;
    if (exact) {
        memcpy(exact, m.file, file_size);
        read_file(exact, file_size, rows);
    }
    free(exact);
    memset(buffer, 0, (size_t)m.end + sizeof(struct pcf_end));
}

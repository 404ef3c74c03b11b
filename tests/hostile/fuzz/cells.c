/*
 * cells.c - fuzz target: pcol files with some cells set to boundary values, checksums valid
 *
 * All operations on such a file must stay within bounds. An input is FUZZ_EDITS edits of four bytes
 * and a file. An edit is the number of a column (two bytes, children counted), its rows (0 first, 1
 * middle, 2 last, 3 all, 255 no edit, else a row) and the value, see value_of(). Only PLAIN columns
 * can be edited, so files are packed with --plain.
 */
#include "targets.h"

#include "../faults/seal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct edit {
    unsigned column, where, what;
};

/* Boundaries of row numbers: of the table that a column refers to, else of its own. From
 * NEAR_TABLES on, three for each table of the file: one row less, as many, one more. */
enum { SET_NULL, LAST_ROW, ROWS, ROWS_AND_ONE, FIXED, NEAR_TABLES = FIXED + 11 };
static const uint64_t fixed[NEAR_TABLES - FIXED] = {0,
                                                    1,
                                                    INT32_MAX,
                                                    UINT64_C(1) << 31,
                                                    UINT32_MAX - 1,
                                                    UINT32_MAX,
                                                    UINT64_C(1) << 32,
                                                    UINT64_C(1) << 53,
                                                    INT64_MAX,
                                                    UINT64_C(1) << 63,
                                                    UINT64_MAX};
/* The same numbers of doubles; the first ones take the place of row numbers. */
static const double doubles[NEAR_TABLES] = {0,
                                            -1,
                                            1e300,
                                            -1e300,
                                            0.5,
                                            1,
                                            2e9,
                                            4294967295.0,
                                            9.2233720368547758e18,
                                            1.8446744073709552e19,
                                            1e19,
                                            -9.3e18,
                                            5e-324,
                                            0,
                                            0};

static uint64_t bits_of(double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

static uint64_t value_of(const struct pcf_index *x, const struct pcf_column *c, uint64_t strings,
                         unsigned what)
{
    uint64_t rows = c->ref_table ? x->tables[c->ref_table - 1].rows : c->rows;
    if (c->type == PCF_STRING)
        rows = strings;
    if (c->type == PCF_F64 && what == NEAR_TABLES - 1)
        return bits_of((double)INFINITY);
    if (c->type == PCF_F64 && what == NEAR_TABLES - 2)
        return bits_of((double)NAN);
    if (c->type == PCF_F64)
        return bits_of(doubles[what % NEAR_TABLES]);
    if (what < FIXED)
        return rows + what - ROWS;
    if (what < NEAR_TABLES)
        return fixed[what - FIXED];
    what -= NEAR_TABLES;
    return x->header.table_count ? x->tables[what / 3 % x->header.table_count].rows + what % 3 - 1
                                 : 0;
}

static void set_cell(uint8_t *values, uint8_t *validity, unsigned bits, uint64_t row,
                     uint64_t value, unsigned what)
{
    uint8_t bit = (uint8_t)(1u << row % 8);
    if (validity)
        validity[row / 8] =
            (uint8_t)(what == SET_NULL ? validity[row / 8] & ~bit : validity[row / 8] | bit);
    if (what == SET_NULL)
        value = 0;
    if (bits == 1)
        values[row / 8] = (uint8_t)(value & 1 ? values[row / 8] | bit : values[row / 8] & ~bit);
    else
        memcpy(values + row * (bits / 8), &value, bits / 8);
}

static void edit_column(uint8_t *data, const struct pcf_index *x, uint64_t strings,
                        const struct edit *edit)
{
    const struct pcf_column *c = &x->columns[edit->column % x->header.column_count];
    unsigned bits = c->type == PCF_BOOL ? 1 : c->type == PCF_U32 || c->type == PCF_STRING ? 32 : 64;
    uint8_t *values = NULL, *validity = NULL;
    if (c->encoding != PCF_PLAIN || c->type == PCF_BYTES || !c->rows || edit->where == 255)
        return;
    for (uint32_t i = c->first_section; i < c->first_section + c->section_count; i++) {
        const struct pcf_section *s = &x->sections[i];
        if (s->codec == 0 && s->role == PCF_ROLE_VALUES && s->size >= (c->rows * bits + 7) / 8)
            values = data + s->offset;
        if (s->codec == 0 && s->role == PCF_ROLE_VALIDITY && s->size >= (c->rows + 7) / 8)
            validity = data + s->offset;
    }
    if (!values || c->rows > UINT32_MAX || (edit->what == SET_NULL && !validity))
        return;
    uint64_t value = value_of(x, c, strings, edit->what);
    uint64_t row = edit->where == 0   ? 0
                   : edit->where == 1 ? c->rows / 2
                   : edit->where == 2 ? c->rows - 1
                                      : edit->where % c->rows;
    if (edit->where != 3)
        set_cell(values, validity, bits, row, value, edit->what);
    for (uint64_t i = 0; edit->where == 3 && i < c->rows; i++)
        set_cell(values, validity, bits, i, value, edit->what);
}

/* Rows of the table of strings. */
static uint64_t string_rows(const struct pcf_index *x, const uint8_t *index)
{
    for (uint32_t i = 0; i < x->header.table_count; i++)
        if (x->tables[i].name_size == 7 && !memcmp(index + x->tables[i].name_offset, "strings", 7))
            return x->tables[i].rows;
    return 0;
}

static void edit_file(uint8_t *data, size_t size, const uint8_t *edits)
{
    struct pcf_index x = {0};
    struct pcf_fault fault;
    uint8_t *index;
    if (pcf_header_check(data, size, size, &x.header, &fault) ||
        (index = seal_index(data, &x.header)) == NULL || !x.header.column_count)
        return;
    x.tables = calloc(x.header.table_count + (size_t)1, sizeof *x.tables);
    x.columns = calloc(x.header.column_count + (size_t)1, sizeof *x.columns);
    x.sections = calloc(x.header.section_count + (size_t)1, sizeof *x.sections);
    uint32_t *scratch = calloc(pcf_index_scratch(&x.header), sizeof *scratch);
    if (x.tables && x.columns && x.sections && scratch &&
        pcf_index_load(index, scratch, &x, &fault) == 0) {
        for (size_t i = 0; i < FUZZ_EDITS; i++, edits += 4) {
            struct edit edit = {edits[0] | (unsigned)edits[1] << 8, edits[2], edits[3]};
            edit_column(data, &x, string_rows(&x, index), &edit);
        }
    }
    free(x.tables);
    free(x.columns);
    free(x.sections);
    free(scratch);
}

void fuzz_cells(const uint8_t *data, size_t size)
{
    static void (*const targets[])(const uint8_t *, size_t) = {
        fuzz_check, fuzz_query, fuzz_export, fuzz_filter, fuzz_flame,     fuzz_ask,  fuzz_merge,
        fuzz_open,  fuzz_sums,  fuzz_rebase, fuzz_roots,  fuzz_symbolize, fuzz_views};
    size_t count = sizeof targets / sizeof *targets, ways = count + 1;
    if (size < FUZZ_EDITS * 4)
        return;
    size -= FUZZ_EDITS * 4;
    uint8_t *copy = malloc(size ? size : 1);
    if (!copy)
        return;
    memcpy(copy, data + FUZZ_EDITS * 4, size);
    seal(copy, size);
    edit_file(copy, size, data);
    seal(copy, size);
    for (size_t i = 0; i < count; i++)
        if (fuzz_turn((unsigned)ways, (unsigned)i))
            targets[i](copy, size);
    if (fuzz_turn((unsigned)ways, (unsigned)count))
        fuzz_unpack(copy, size, "firefox");
    free(copy);
}

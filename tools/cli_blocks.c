/*
 * cli_blocks.c - repeated rows as TSV, CSV, JSON and ndjson, by a template
 *
 * The rows of one repetition are rendered once into a template with holes for the numbers that
 * change. A repetition copies the text between the holes and inserts the numbers. Holes with the
 * same values, such as the row number, share their digits.
 *
 *     {"amount":|,"address":|,"uid":"f"}      two holes
 */
#include "cli_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SHORT 64u /* bytes copied with a constant size */
#define BRIEF 24u /* the same for the digits of a number */
#define FEW 3u    /* repetitions below which a template does not pay */

/* The digits of a number, which mostly repeats or increases by 1. */
struct number {
    const struct cli_part *part;
    int64_t value;
    size_t size; /* 0: no digits yet */
    char text[CLI_NUMBER_SIZE];
};

/* The position of a number in the template. */
struct hole {
    size_t at; /* offset in the template */
    size_t number;
};

struct cli_blocks {
    struct cli_out *text; /* its buffer contains the template */
    struct hole *holes;
    struct number *numbers;
    size_t hole_count, number_count, hole_capacity;
    const struct cli_part **parts; /* by cell; NULL: constant cell */
    size_t part_capacity;
};

/* Allocate the buffers of a block; 0 if memory runs out. */
static int reserve_cells(struct cli_blocks *b, size_t cells, size_t holes)
{
    if (cells > b->part_capacity) {
        free(b->parts);
        b->part_capacity = 0;
        if ((b->parts = calloc(cells, sizeof(const struct cli_part *))) == NULL)
            return 0;
        b->part_capacity = cells;
    }
    if (holes > b->hole_capacity) {
        free(b->holes);
        free(b->numbers);
        b->hole_capacity = 0;
        b->holes = calloc(holes, sizeof *b->holes);
        b->numbers = calloc(holes, sizeof *b->numbers);
        if (b->holes == NULL || b->numbers == NULL)
            return 0;
        b->hole_capacity = holes;
    }
    if (b->text == NULL)
        b->text = malloc(sizeof *b->text);
    return b->text != NULL;
}

static struct cli_blocks *blocks_of(struct cli_table *table, size_t cells, size_t holes)
{
    if (table->blocks == NULL)
        table->blocks = calloc(1, sizeof *table->blocks);
    return table->blocks != NULL && reserve_cells(table->blocks, cells, holes) ? table->blocks
                                                                               : NULL;
}

void cli_blocks_end(struct cli_table *table)
{
    struct cli_blocks *b = table->blocks;

    if (b != NULL) {
        free(b->text);
        free(b->holes);
        free(b->numbers);
        free(b->parts);
    }
    free(b);
    table->blocks = NULL;
}

static void add_hole(struct cli_blocks *b, const struct cli_part *part)
{
    size_t n = b->number_count;

    if (n == 0 || b->numbers[n - 1].part->values != part->values) {
        b->numbers[n].part = part;
        b->numbers[n].size = 0;
        b->number_count++;
    }
    b->holes[b->hole_count++] = (struct hole){b->text->used, b->number_count - 1};
}

/* Render the template; 0 if it is too long for the buffer. */
static int make_text(struct cli_table *table, const struct cli_cell *cells, size_t rows)
{
    struct cli_blocks *b = table->blocks;
    struct cli_out *out = table->out;

    cli_out_open_memory(b->text, out);
    b->hole_count = b->number_count = 0;
    table->out = b->text;
    for (size_t row = 0; row < rows; row++) {
        int first = 1;
        cli_lines_open(table, 0);
        for (size_t i = 0; i < table->count; i++) {
            size_t at = row * table->count + i;
            if (b->parts[at] == NULL) {
                cli_lines_piece(table, i, &cells[at], &first);
                continue;
            }
            cli_lines_before(table, i, &first);
            add_hole(b, b->parts[at]);
        }
        cli_lines_close(table);
    }
    table->out = out;
    return b->text->code == 0 &&
           b->text->used + b->hole_count * CLI_NUMBER_SIZE + SHORT <= CLI_OUT_SIZE;
}

/* Copy a few bytes; both buffers have SHORT bytes from here on. */
static inline char *copy(char *to, const char *from, size_t size)
{
    if (size <= SHORT)
        memcpy(to, from, SHORT);
    else
        memcpy(to, from, size);
    return to + size;
}

static size_t other_number(const struct cli_table *table, const struct cli_part *part,
                           int64_t value, char *to)
{
    struct cli_cell cell = {part->kind, 0, {.i64 = value}};

    if (part->kind == CLI_CELL_F64)
        memcpy(&cell.as.f64, &value, sizeof cell.as.f64);
    if (part->kind != CLI_CELL_F64 || isfinite(cell.as.f64) || table->layout < LAYOUT_JSON)
        return cli_cell_number(&cell, to);
    size_t size = cli_cell_number(&cell, to + 1); /* JSON has no NaN or infinity: a string */
    to[0] = to[size + 1] = '"';
    return size + 2;
}

static void make_number(const struct cli_table *table, struct number *number, int64_t value)
{
    if (number->part->kind != CLI_CELL_I64)
        number->size = other_number(table, number->part, value, number->text);
    else if (number->size > 0 && value > 0 && value - 1 == number->value &&
             number->text[number->size - 1] < '9')
        number->text[number->size - 1]++;
    else
        number->size = cli_format_quick(number->text, value);
    number->value = value;
}

/* Write the rows of one repetition; returns their first byte. */
static char *put_time(struct cli_table *table, size_t time)
{
    const struct cli_blocks *b = table->blocks;
    const char *text = b->text->buffer;
    size_t at = 0, most = b->text->used + b->hole_count * CLI_NUMBER_SIZE + SHORT;
    char *begin = cli_out_reserve(table->out, most), *to = begin;

    for (size_t i = 0; i < b->number_count; i++) {
        int64_t value = b->numbers[i].part->values[time];
        if (value != b->numbers[i].value || b->numbers[i].size == 0)
            make_number(table, &b->numbers[i], value);
    }
    for (size_t i = 0; i < b->hole_count; i++) {
        const struct hole *hole = &b->holes[i];
        const struct number *number = &b->numbers[hole->number];
        to = copy(to, text + at, hole->at - at);
        at = hole->at;
        memcpy(to, number->text, BRIEF);
        if (number->size > BRIEF)
            memcpy(to, number->text, number->size);
        to += number->size;
    }
    to = copy(to, text + at, b->text->used - at);
    cli_out_commit(table->out, (size_t)(to - begin));
    return begin;
}

/* Write every row separately. */
static void put_rows(struct cli_table *table, struct cli_cell *cells, size_t rows, size_t times,
                     const struct cli_part *parts, size_t count)
{
    for (size_t time = 0; time < times; time++) {
        for (size_t i = 0; i < count; i++)
            memcpy(&cells[parts[i].row * table->count + parts[i].column].as, &parts[i].values[time],
                   sizeof(int64_t));
        for (size_t row = 0; row < rows; row++)
            cli_table_row(table, cells + row * table->count);
    }
}

void cli_table_block(struct cli_table *table, struct cli_cell *cells, size_t rows, size_t times,
                     const struct cli_part *parts, size_t count)
{
    struct cli_blocks *b;

    if (times <= FEW || table->count == 0 || table->layout <= LAYOUT_MARKDOWN || table->failed ||
        (b = blocks_of(table, rows * table->count, count)) == NULL || b->parts == NULL) {
        put_rows(table, cells, rows, times, parts, count);
        return;
    }
    memset(b->parts, 0, rows * table->count * sizeof(const struct cli_part *));
    for (size_t i = 0; i < count; i++)
        b->parts[parts[i].row * table->count + parts[i].column] = &parts[i];
    if (!make_text(table, cells, rows)) {
        put_rows(table, cells, rows, times, parts, count);
        return;
    }
    for (size_t time = 0; time < times && table->out->code == 0; time++) {
        char *begin = put_time(table, time);
        if (table->layout == LAYOUT_JSON && table->rows == 0)
            *begin = '['; /* replaces the comma before a row */
        table->rows += rows;
    }
}

/*
 * cli_lines.c - rows of cells as TSV, CSV, JSON and ndjson
 *
 * TSV    \\ \t \n \r escaped, null is \N
 * CSV    RFC 4180 with its CR LF; null is an empty cell, an empty string ""
 *
 * Cache of rendered cells: most cells of a row equal those of the row before. Cells that change in
 * every row are `hot` and rendered each time. The text of all other cells is cached in one piece,
 * so that a row needs few copies. Each cell's text begins with its separator, which the first cell
 * of a row drops.
 *
 *     cached:  ,"uid":"f","type":"memory"|,"snapshot":7
 *     row:     {"amount":4 + cached up to | + ,"address":16 + remaining cached text + }
 */
#include "cli_table.h"

#include <stdlib.h>
#include <string.h>

#define HOT_AFTER 4u   /* a cell that changes again within this number of rows becomes hot */
#define COLD_AFTER 64u /* equal rows after which a cell is no longer hot */
#define MAX_TOO_LONG_ROWS 4u

#define MEMOS 1024u /* a power of two */
#define MEMO_SIZE 1024u
#define MEMO_BYTES (256u << 10)

/* Cache of rendered stable texts, direct-mapped: a later text replaces an earlier one. */
struct memo {
    const char *data; /* NULL: empty entry */
    size_t size;
    enum cli_cell_kind kind;
    uint32_t start, length;
};

struct piece {
    struct cli_cell cell; /* value of the cached text */
    size_t end;           /* length of the cached text */
    uint64_t changed;     /* row number of the last change */
    uint32_t equal_rows;  /* number of equal rows while hot */
    int hot;
    size_t key,
        key_size; /* JSON: the text of `,"key":`, in `keys`; size 0: too long for the cache */
};

struct cli_lines {
    struct piece *pieces;
    char *keys;
    size_t keys_size;
    struct cli_out *cached; /* its buffer contains the cached text */
    int valid;              /* whether it does */
    int reuse;
    unsigned too_long_rows; /* number of rows too long for the cache */
    size_t *hot;            /* numbers of hot columns */
    size_t hot_count;
    struct memo *memos; /* NULL: no memory */
    char *memo;
    size_t memo_used;
};

static int is_json(const struct cli_table *table)
{
    return table->layout == LAYOUT_JSON || table->layout == LAYOUT_NDJSON;
}

/* ---- TSV and CSV */

/* Whether a spreadsheet reads a text that begins with this as a formula; spaces may come first,
 * and the first four have wide forms. */
static int is_formula(const struct cli_table *table, const char *data, size_t size)
{
    static const char wide[4][4] = {"\xef\xbc\x9d", "\xef\xbc\x8b", "\xef\xbc\x8d", "\xef\xbc\xa0"};

    if (!table->safe)
        return 0;
    for (; size > 0 && *data == ' '; size--)
        data++;
    for (size_t i = 0; i < 4 && size >= 3; i++)
        if (memcmp(data, wide[i], 3) == 0)
            return 1;
    return size > 0 && *data != '\0' && strchr("=+-@\t\r\n", *data) != NULL;
}

/* Write text for TSV: runs of plain bytes and escapes. */
static void tsv_text(struct cli_table *table, const char *data, size_t size)
{
    struct cli_out *out = table->out;
    size_t i = 0;

    if (is_formula(table, data, size))
        cli_out_write(out, "'", 1);
    while (i < size) {
        size_t plain = cli_find_special(data, i, size, '\\', '\\', 0);
        while (plain < size && data[plain] != '\\' && data[plain] != '\t' && data[plain] != '\n' &&
               data[plain] != '\r')
            plain = cli_find_special(data, plain + 1, size, '\\', '\\', 0);
        cli_out_plain(out, data + i, plain - i);
        if (plain < size) {
            char *buffer = cli_out_reserve(out, 2);
            buffer[0] = '\\';
            buffer[1] = data[plain] == '\t'   ? 't'
                        : data[plain] == '\n' ? 'n'
                        : data[plain] == '\r' ? 'r'
                                              : '\\';
            cli_out_commit(out, 2);
            plain++;
        }
        i = plain;
    }
}

static int csv_needs_quotes(const struct cli_table *table, const char *data, size_t size)
{
    if (size == 0 || (table->null != NULL && strlen(table->null) == size &&
                      memcmp(table->null, data, size) == 0))
        return 1;
    for (size_t i = 0; (i = cli_find_special(data, i, size, '"', ',', 0)) < size; i++)
        if (data[i] == '"' || data[i] == ',' || data[i] == '\n' || data[i] == '\r')
            return 1;
    return data[0] == ' ' || data[size - 1] == ' ';
}

static void csv_text(struct cli_table *table, const char *data, size_t size)
{
    struct cli_out *out = table->out;
    int quotes = csv_needs_quotes(table, data, size);

    if (quotes)
        cli_out_write(out, "\"", 1);
    if (is_formula(table, data, size))
        cli_out_write(out, "'", 1);
    while (size > 0) {
        const char *quote = memchr(data, '"', size);
        size_t part = quote != NULL ? (size_t)(quote - data) + 1 : size;
        cli_out_plain(out, data, part);
        if (quote != NULL)
            cli_out_write(out, "\"", 1);
        data += part;
        size -= part;
    }
    if (quotes)
        cli_out_write(out, "\"", 1);
}

static void separated_cell(struct cli_table *table, const struct cli_cell *cell)
{
    struct cli_out *out = table->out;

    switch (cell->kind) {
    case CLI_CELL_NULL:
    case CLI_CELL_ABSENT:
        cli_out_text(out, table->null != NULL           ? table->null
                          : table->layout == LAYOUT_TSV ? "\\N"
                                                        : "");
        return;
    case CLI_CELL_TEXT:
    case CLI_CELL_RAW:
        if (table->layout == LAYOUT_TSV)
            tsv_text(table, cell->as.text.data, cell->as.text.size);
        else
            csv_text(table, cell->as.text.data, cell->as.text.size);
        return;
    case CLI_CELL_LIST: {
        int quotes = table->layout == LAYOUT_CSV && cell->as.list.count > 1;
        if (quotes)
            cli_out_write(out, "\"", 1);
        cli_json_cell(out, cell);
        if (quotes)
            cli_out_write(out, "\"", 1);
        return;
    }
    case CLI_CELL_I64:
    case CLI_CELL_U64:
    case CLI_CELL_F64:
    case CLI_CELL_BOOL:
    case CLI_CELL_PERCENT:
        break;
    }
    cli_out_commit(out, cli_cell_number(cell, cli_out_reserve(out, CLI_NUMBER_SIZE)));
}

/* ---- pieces of a row: separators and cells */

static void put_key(struct cli_table *table, size_t i, int *first)
{
    const struct piece *piece = table->lines != NULL ? &table->lines->pieces[i] : NULL;

    if (piece == NULL || piece->key_size == 0) {
        cli_json_key(table->out, first, table->columns[i].name);
        return;
    }
    cli_out_write(table->out, table->lines->keys + piece->key + *first,
                  piece->key_size - (size_t)*first);
    *first = 0;
}

static void put_cell(struct cli_table *table, const struct cli_cell *cell)
{
    if (table->layout == LAYOUT_TSV || table->layout == LAYOUT_CSV)
        separated_cell(table, cell);
    else
        cli_json_cell(table->out, cell);
}

/* Write a text through the cache. */
static void put_stable(struct cli_table *table, const struct cli_cell *cell)
{
    struct cli_lines *lines = table->lines;
    struct cli_out *out = table->out;
    uint64_t hash = ((uint64_t)(uintptr_t)cell->as.text.data ^ cell->as.text.size << 48) *
                    UINT64_C(0x9e3779b97f4a7c15);
    struct memo *memo = &lines->memos[hash >> 54 & (MEMOS - 1)];

    if (memo->data == cell->as.text.data && memo->size == cell->as.text.size &&
        memo->kind == cell->kind) {
        cli_out_write(out, lines->memo + memo->start, memo->length);
        return;
    }
    cli_out_reserve(out, 6 * cell->as.text.size + 4); /* keep the text contiguous */
    size_t start = out->used;
    put_cell(table, cell);
    size_t length = out->used - start;
    if (lines->memo_used + length > MEMO_BYTES) {
        memset(lines->memos, 0, MEMOS * sizeof *lines->memos);
        lines->memo_used = 0;
    }
    memcpy(lines->memo + lines->memo_used, out->buffer + start, length);
    *memo = (struct memo){cell->as.text.data, cell->as.text.size, cell->kind,
                          (uint32_t)lines->memo_used, (uint32_t)length};
    lines->memo_used += length;
}

static void put_any(struct cli_table *table, const struct cli_cell *cell)
{
    if (cell->stable && table->lines != NULL && table->lines->memos != NULL &&
        cell->as.text.size <= MEMO_SIZE &&
        (cell->kind == CLI_CELL_TEXT || cell->kind == CLI_CELL_RAW))
        put_stable(table, cell);
    else
        put_cell(table, cell);
}

void cli_lines_before(struct cli_table *table, size_t i, int *first)
{
    if (is_json(table)) {
        put_key(table, i, first);
        return;
    }
    if (!*first)
        cli_out_write(table->out, table->layout == LAYOUT_TSV ? "\t" : ",", 1);
    *first = 0;
}

static void put_piece(struct cli_table *table, size_t i, const struct cli_cell *cell, int *first)
{
    if (is_json(table) && cell->kind == CLI_CELL_ABSENT)
        return;
    cli_lines_before(table, i, first);
    put_any(table, cell);
}

void cli_lines_piece(struct cli_table *table, size_t i, const struct cli_cell *cell, int *first)
{
    put_piece(table, i, cell, first);
}

/* ---- cached text */

/* Whether two cells have the same text. */
static int is_same_text(const struct cli_cell *a, const struct cli_cell *b)
{
    if (a->kind != b->kind)
        return 0;
    switch (a->kind) {
    case CLI_CELL_NULL:
    case CLI_CELL_ABSENT:
        return 1;
    case CLI_CELL_TEXT:
    case CLI_CELL_RAW:
        return a->stable && b->stable && a->as.text.data == b->as.text.data &&
               a->as.text.size == b->as.text.size;
    case CLI_CELL_I64:
    case CLI_CELL_U64:
    case CLI_CELL_BOOL:
    case CLI_CELL_F64:
    case CLI_CELL_PERCENT:
        return a->as.u64 == b->as.u64; /* of a double: its bits */
    case CLI_CELL_LIST:
        break;
    }
    return 0;
}

/* Update the hot columns; returns whether the cached text must be rendered again. */
static int note_changes(struct cli_table *table, const struct cli_cell *cells)
{
    struct cli_lines *lines = table->lines;
    int changed = !lines->valid;

    for (size_t i = 0; i < table->count; i++) {
        struct piece *piece = &lines->pieces[i];
        int same = is_same_text(&piece->cell, &cells[i]);
        if (same && !piece->hot)
            continue;
        if (same && ++piece->equal_rows < COLD_AFTER)
            continue;
        if (!same) {
            piece->cell = cells[i];
            piece->equal_rows = 0;
        }
        if (piece->hot && !same)
            continue;
        changed = 1;
        piece->hot = !same && table->rows - piece->changed < HOT_AFTER;
        piece->changed = table->rows;
    }
    return changed;
}

static int keep(struct cli_table *table, const struct cli_cell *cells)
{
    struct cli_lines *lines = table->lines;
    struct cli_out *out = table->out;
    int first = 0;

    lines->hot_count = 0;
    lines->cached->used = 0;
    table->out = lines->cached;
    for (size_t i = 0; i < table->count; i++) {
        if (lines->pieces[i].hot)
            lines->hot[lines->hot_count++] = i;
        else
            put_piece(table, i, &cells[i], &first);
        lines->pieces[i].end = lines->cached->used;
    }
    table->out = out;
    lines->valid = lines->cached->code == 0;
    lines->cached->code = 0;
    lines->too_long_rows += !lines->valid;
    lines->reuse = lines->too_long_rows < MAX_TOO_LONG_ROWS;
    return lines->valid;
}

static void put_cached(struct cli_table *table, size_t from, size_t to, int *first)
{
    if (to == from)
        return;
    from += (size_t)*first;
    *first = 0;
    cli_out_write(table->out, table->lines->cached->buffer + from, to - from);
}

/* ---- rows */

static void put_cells(struct cli_table *table, const struct cli_cell *cells)
{
    struct cli_lines *lines = table->lines;
    int first = 1;

    if (lines == NULL || !lines->reuse || (note_changes(table, cells) && !keep(table, cells))) {
        for (size_t i = 0; i < table->count; i++)
            put_piece(table, i, &cells[i], &first);
        return;
    }
    size_t from = 0;
    for (size_t n = 0; n < lines->hot_count; n++) {
        size_t i = lines->hot[n];
        put_cached(table, from, lines->pieces[i].end, &first);
        from = lines->pieces[i].end;
        put_piece(table, i, &cells[i], &first);
    }
    put_cached(table, from, lines->cached->used, &first);
}

void cli_lines_open(struct cli_table *table, int first)
{
    if (table->layout == LAYOUT_JSON)
        cli_out_write(table->out, first ? "[\n{" : ",\n{", 3);
    else if (table->layout == LAYOUT_NDJSON)
        cli_out_write(table->out, "{", 1);
}

void cli_lines_close(struct cli_table *table)
{
    static const struct {
        const char *text;
        size_t size;
    } ends[] = {
        [LAYOUT_TABLE] = {"", 0},   [LAYOUT_MARKDOWN] = {"", 0}, [LAYOUT_TSV] = {"\n", 1},
        [LAYOUT_CSV] = {"\r\n", 2}, [LAYOUT_JSON] = {"}", 1},    [LAYOUT_NDJSON] = {"}\n", 2}};

    cli_out_write(table->out, ends[table->layout].text, ends[table->layout].size);
}

/* Write hot cells with their separators only. */
static void separated_row(struct cli_table *table, const struct cli_cell *cells)
{
    const char separator = table->layout == LAYOUT_TSV ? '\t' : ',';

    for (size_t i = 0; i < table->count; i++) {
        if (i > 0) {
            *cli_out_reserve(table->out, 1) = separator;
            cli_out_commit(table->out, 1);
        }
        separated_cell(table, &cells[i]);
    }
    cli_lines_close(table);
}

void cli_lines_row(struct cli_table *table, const struct cli_cell *cells)
{
    if (table->lines == NULL && (table->layout == LAYOUT_TSV || table->layout == LAYOUT_CSV)) {
        separated_row(table, cells);
        return;
    }
    cli_lines_open(table, table->rows == 0);
    put_cells(table, cells);
    cli_lines_close(table);
}

/* ---- beginning and end */

static void put_header(struct cli_table *table)
{
    struct cli_out *out = table->out;

    for (size_t i = 0; i < table->count; i++) {
        struct cli_cell name = cli_cell_text(table->columns[i].name);
        if (i > 0)
            cli_out_write(out, table->layout == LAYOUT_TSV ? "\t" : ",", 1);
        separated_cell(table, &name);
    }
    cli_out_text(out, table->layout == LAYOUT_TSV ? "\n" : "\r\n");
}

/* Render the texts of JSON keys, once each. */
static int keep_keys(struct cli_table *table)
{
    struct cli_lines *lines = table->lines;
    size_t capacity = 0;

    for (size_t i = 0; i < table->count; i++) {
        struct piece *piece = &lines->pieces[i];
        struct cli_out *cached = lines->cached;
        int first = 0;
        cached->used = 0;
        cli_json_key(cached, &first, table->columns[i].name);
        piece->key = lines->keys_size;
        piece->key_size = cached->code == 0 ? cached->used : 0;
        cached->code = 0;
        if (lines->keys_size + piece->key_size > capacity) {
            capacity = 2 * (lines->keys_size + piece->key_size);
            char *grown = realloc(lines->keys, capacity);
            if (grown == NULL)
                return -1;
            lines->keys = grown;
        }
        if (piece->key_size > 0)
            memcpy(lines->keys + piece->key, cached->buffer, piece->key_size);
        lines->keys_size += piece->key_size;
    }
    return 0;
}

/* Without memory rows are written uncached. */
static struct cli_lines *new_lines(struct cli_table *table)
{
    struct cli_lines *lines = table->lines = calloc(1, sizeof *lines);
    int json = is_json(table);

    if (lines == NULL)
        return NULL;
    lines->pieces = calloc(table->count + 1, sizeof *lines->pieces);
    lines->hot = calloc(table->count + 1, sizeof *lines->hot);
    lines->cached = malloc(sizeof *lines->cached);
    if (lines->pieces != NULL && lines->hot != NULL && lines->cached != NULL) {
        cli_out_open_memory(lines->cached, table->out);
        for (size_t i = 0; i < table->count; i++)
            lines->pieces[i].cell.kind = CLI_CELL_LIST; /* differs from every cell */
        if (!json || keep_keys(table) == 0)
            return lines;
    }
    cli_lines_end(table);
    return NULL;
}

void cli_lines_begin(struct cli_table *table)
{
    if (is_json(table))
        new_lines(table);
    else if (table->header)
        put_header(table);
}

void cli_table_reuse(struct cli_table *table)
{
    struct cli_lines *lines;

    if (table->layout == LAYOUT_TABLE || (table->lines == NULL && new_lines(table) == NULL))
        return;
    lines = table->lines;
    lines->reuse = 1;
    lines->memos = calloc(MEMOS, sizeof *lines->memos);
    lines->memo = malloc(MEMO_BYTES);
    if (lines->memo == NULL) {
        free(lines->memos);
        lines->memos = NULL;
    }
}

void cli_lines_end(struct cli_table *table)
{
    struct cli_lines *lines = table->lines;

    if (lines != NULL) {
        free(lines->pieces);
        free(lines->keys);
        free(lines->cached);
        free(lines->hot);
        free(lines->memos);
        free(lines->memo);
    }
    free(lines);
    table->lines = NULL;
}

/*
 * cmd_info_labels.c - label keys in info
 *
 * A row of label_keys is a column of the table that it names. Counts the rows with a value and, in
 * columns of up to a million values, the distinct values.
 */
#include "cmd_info_labels.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_MOST ((uint64_t)1 << 20)
#define PIECE 1024u

struct key {
    struct cli_cell table, key, kind, unit;
    uint64_t rows;     /* with a value */
    uint64_t distinct; /* if is_counted */
    int is_counted;
};

/* Strings of a file are stored once, so their addresses identify them; bytes are hashed. */
static uint64_t identify(pcol_str text, int is_string)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    if (is_string && text.size > 0)
        return (uintptr_t)text.data;
    for (size_t i = 0; i < text.size; i++)
        hash = (hash ^ (unsigned char)text.data[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static pcol_status read_piece(const pcol_column *column, pcol_type type, uint64_t row, size_t count,
                              uint64_t *values, uint8_t *valid, pcol_error *err)
{
    int64_t numbers[PIECE];
    pcol_str texts[PIECE];
    int is_text = type == PCOL_STRING || type == PCOL_BYTES;
    pcol_status status = is_text ? pcol_column_read_str(column, row, count, texts, valid, err)
                                 : pcol_column_read_i64(column, row, count, numbers, valid, err);
    for (size_t i = 0; status == PCOL_OK && i < count; i++) {
        if (is_text)
            values[i] = valid[i] ? identify(texts[i], type == PCOL_STRING) : 0;
        else
            values[i] = (uint64_t)numbers[i];
    }
    return status;
}

static pcol_status read_doubles(const pcol_column *column, uint64_t row, size_t count,
                                uint64_t *values, uint8_t *valid, pcol_error *err)
{
    double numbers[PIECE];
    pcol_status status = pcol_column_read_f64(column, row, count, numbers, valid, err);
    if (status == PCOL_OK)
        memcpy(values, numbers, count * sizeof *numbers);
    return status;
}

/* A set of numbers with open addressing; 0 marks a free slot and is counted separately. */
struct set {
    uint64_t *places;
    size_t size, used; /* size: a power of 2 */
    int has_zero;
};

static size_t place_of(const struct set *set, uint64_t value)
{
    uint64_t mixed = (value ^ value >> 32) * UINT64_C(0x9e3779b97f4a7c15);
    size_t at = (size_t)(mixed >> 20) & (set->size - 1);

    while (set->places[at] != 0 && set->places[at] != value)
        at = (at + 1) & (set->size - 1);
    return at;
}

static int set_grow(struct set *set)
{
    struct set grown = {.size = set->size > 0 ? 4 * set->size : 256, .used = set->used};

    grown.places = calloc(grown.size, sizeof *grown.places);
    if (grown.places == NULL)
        return -1;
    for (size_t i = 0; i < set->size; i++)
        if (set->places[i] != 0)
            grown.places[place_of(&grown, set->places[i])] = set->places[i];
    free(set->places);
    grown.has_zero = set->has_zero;
    *set = grown;
    return 0;
}

static int set_add(struct set *set, uint64_t value)
{
    if (value == 0) {
        set->has_zero = 1;
        return 0;
    }
    if (2 * set->used >= set->size && set_grow(set) != 0)
        return -1;
    size_t at = place_of(set, value);
    set->used += set->places[at] == 0;
    set->places[at] = value;
    return 0;
}

/* Count the rows with a value, and if `distinct`, the distinct values unless there are too many. */
static pcol_status count_values(const pcol_column *column, const pcol_column_info *info,
                                int distinct, struct key *key, pcol_error *err)
{
    struct set set = {0};
    pcol_status status = PCOL_OK;
    int failed = 0;

    for (uint64_t row = 0; row < info->rows && status == PCOL_OK && !failed; row += PIECE) {
        uint64_t values[PIECE];
        uint8_t valid[PIECE];
        size_t count = info->rows - row < PIECE ? (size_t)(info->rows - row) : PIECE;
        status = info->type == PCOL_F64
                     ? read_doubles(column, row, count, values, valid, err)
                     : read_piece(column, info->type, row, count, values, valid, err);
        for (size_t i = 0; i < count && status == PCOL_OK && !failed; i++) {
            key->rows += valid[i];
            if (valid[i] && distinct && key->rows <= COUNT_MOST)
                failed = set_add(&set, values[i]) != 0;
        }
    }
    key->distinct = set.used + (set.has_zero != 0);
    key->is_counted = distinct && key->rows > 0 && key->rows <= COUNT_MOST;
    free(set.places);
    return failed ? cli_set_memory(err) : status;
}

static pcol_status look(const pcol_file *file, const pcol_table *keys, uint64_t row,
                        struct key *key, pcol_error *err)
{
    static const char *const names[] = {"table", "key", "kind", "unit"};
    struct cli_cell *const cells[] = {&key->table, &key->key, &key->kind, &key->unit};
    char column_name[32];
    char table_name[256];
    const pcol_table *table;
    pcol_column_info info;
    memset(key, 0, sizeof *key);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        pcol_status status = cli_cell_find(keys, names[i], row, cells[i], err);
        if (status != PCOL_OK)
            return status;
    }
    if (key->table.kind != CLI_CELL_TEXT || key->table.as.text.size >= sizeof table_name)
        return PCOL_OK;
    memcpy(table_name, key->table.as.text.data, key->table.as.text.size);
    table_name[key->table.as.text.size] = 0;
    pcol_status status =
        pcol_file_table_by_name(file, PCOL_MODEL_PHYSICAL, table_name, &table, err);
    if (status != PCOL_OK)
        return status == PCOL_E_NO_MEMORY ? status : PCOL_OK;
    snprintf(column_name, sizeof column_name, "label.%" PRIu64, row);
    const pcol_column *column = pcol_table_column_by_name(table, column_name, NULL);
    if (column == NULL)
        return PCOL_OK;
    info = cli_describe(column);
    status = cli_verify_row_count(file, table_name, info.rows, err);
    if (status != PCOL_OK)
        return status;
    /* The values of these keys are positions in the stack. */
    int in_stack = cli_cell_is(&key->kind, "ownframe") || cli_cell_is(&key->kind, "ownname");
    return count_values(column, &info, !in_stack, key, err);
}

static void put_text(struct cli_out *out, const struct cli_cell *cell)
{
    if (cell->kind == CLI_CELL_TEXT)
        cli_out_safe(out, cell->as.text.data, cell->as.text.size);
}

/* NULL: no readable table */
static pcol_status keys_of(const pcol_file *file, const pcol_table **keys, pcol_error *err)
{
    pcol_status status =
        pcol_file_table_by_name(file, PCOL_MODEL_PHYSICAL, "label_keys", keys, err);
    if (status != PCOL_OK)
        *keys = NULL;
    return status == PCOL_E_NO_MEMORY ? status : PCOL_OK;
}

pcol_status info_put_labels(struct cli_out *out, const pcol_file *file, int all, uint64_t limit,
                            pcol_error *err)
{
    const pcol_table *keys;
    char number[CLI_NUMBER_SIZE];
    uint64_t others = 0, shown = 0, more = 0;
    pcol_status found = keys_of(file, &keys, err);
    if (found != PCOL_OK)
        return found;
    for (uint64_t row = 0; keys != NULL && row < pcol_table_rows(keys) && out->code == 0; row++) {
        struct key key;
        pcol_status status = cli_cell_find(keys, "table", row, &key.table, err);
        if (status == PCOL_OK && !all && !cli_cell_is(&key.table, "samples")) {
            others++;
            continue;
        }
        if (status == PCOL_OK && shown >= limit) {
            more++;
            continue;
        }
        shown++;
        if (status == PCOL_OK)
            status = look(file, keys, row, &key, err);
        if (status != PCOL_OK)
            return status;
        cli_out_text(out, cli_cell_is(&key.table, "samples") ? "  label " : "  key of ");
        if (!cli_cell_is(&key.table, "samples")) {
            put_text(out, &key.table);
            cli_out_text(out, " ");
        }
        put_text(out, &key.key);
        cli_out_text(out, ": ");
        put_text(out, &key.kind);
        if (key.unit.kind == CLI_CELL_TEXT) {
            cli_out_text(out, " in ");
            put_text(out, &key.unit);
        }
        cli_out_printf(out, ", rows: %s", cli_format_grouped(number, key.rows));
        if (key.is_counted)
            cli_out_printf(out, ", values: %s", cli_format_grouped(number, key.distinct));
        cli_out_text(out, "\n");
    }
    if (more > 0)
        cli_out_printf(out, "  %s more label key%s, -n 0 shows all\n",
                       cli_format_grouped(number, more), more == 1 ? "" : "s");
    if (others > 0)
        cli_out_printf(out, "  keys of other tables: %s, -v shows them\n",
                       cli_format_grouped(number, others));
    return PCOL_OK;
}

pcol_status info_json_labels(struct cli_out *out, const pcol_file *file, pcol_error *err)
{
    const pcol_table *keys;
    pcol_status found = keys_of(file, &keys, err);
    if (found != PCOL_OK)
        return found;
    cli_out_text(out, "[");
    for (uint64_t row = 0; keys != NULL && row < pcol_table_rows(keys) && out->code == 0; row++) {
        struct key key;
        int first = 1;
        pcol_status status = look(file, keys, row, &key, err);
        if (status != PCOL_OK)
            return status;
        cli_out_text(out, row > 0 ? ",{" : "{");
        cli_json_key(out, &first, "table");
        cli_json_cell(out, &key.table);
        cli_json_key(out, &first, "key");
        cli_json_cell(out, &key.key);
        cli_json_key(out, &first, "kind");
        cli_json_cell(out, &key.kind);
        cli_json_key(out, &first, "unit");
        cli_json_cell(out, &key.unit);
        cli_json_key(out, &first, "rows");
        cli_out_printf(out, "%" PRIu64, key.rows);
        cli_json_key(out, &first, "values");
        if (key.is_counted)
            cli_out_printf(out, "%" PRIu64, key.distinct);
        else
            cli_out_text(out, "null");
        cli_out_text(out, "}");
    }
    cli_out_text(out, "]");
    return PCOL_OK;
}

/*
 * rows.c - rows of the five tables of data model v1, parsed from JSON
 *
 * A table of columns describes the rows. All rules about a single row are verified here and
 * reported with their position.
 */
#include "formats/v1/rows.h"
#include "formats/v1/v1.h"

#include "util/alloc.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum kind {
    KIND_CONSTANT, /* must be `constant` */
    KIND_ID,       /* an integer */
    KIND_LINE,     /* an integer from 0 on */
    KIND_VALUE,    /* an integer from 1 to 2^31 - 1 */
    KIND_NAME,     /* text that is not empty */
    KIND_TEXT,
    KIND_LIST /* an array of integers */
};

struct column {
    const char *name;
    enum kind kind;
    const char *constant;
};

static const struct table {
    const char *name;
    struct column columns[PCI_V1_MAX_CELLS + 1];
    int single; /* exactly one row */
} tables[PCI_V1_TABLES] = {
    [PCI_V1_META] = {"meta",
                     {{"key", KIND_CONSTANT, "version"}, {"value", KIND_CONSTANT, "1.0"}},
                     1},
    [PCI_V1_TYPES] = {"sample_types",
                      {{"type", KIND_CONSTANT, "samples"}, {"unit", KIND_CONSTANT, "count"}},
                      1},
    [PCI_V1_SAMPLES] = {"samples",
                        {{"value", KIND_VALUE, NULL}, {"locations", KIND_LIST, NULL}},
                        0},
    [PCI_V1_LOCATIONS] = {"locations",
                          {{"location_id", KIND_ID, NULL},
                           {"function_id", KIND_ID, NULL},
                           {"line", KIND_LINE, NULL}},
                          0},
    [PCI_V1_FUNCTIONS] = {"functions",
                          {{"function_id", KIND_ID, NULL},
                           {"name", KIND_NAME, NULL},
                           {"system_name", KIND_NAME, NULL},
                           {"filename", KIND_TEXT, NULL},
                           {"start_line", KIND_LINE, NULL}},
                          0},
};

pcol_status pci_v1_fail(struct pci_v1_position position, pcol_error *err, const char *format, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return pci_fail_text(err, PCOL_E_SYNTAX, position.line, position.column, "%s", text);
}

static struct pci_v1_position get_position(const struct pci_json *json)
{
    struct pci_v1_position position = {UINT32_MAX, UINT32_MAX};
    if (json->line < UINT32_MAX)
        position.line = (uint32_t)json->line;
    if (json->column < UINT32_MAX)
        position.column = (uint32_t)json->column;
    return position;
}

static int text_size(pcol_str text)
{
    return text.size < 60 ? (int)text.size : 60;
}

/* "samples, row 3: value" */
static const char *cell_name(const struct pci_v1_rows *r, const struct column *column, char *text,
                             size_t size)
{
    snprintf(text, size, "%s, row %" PRIu64 ": %s", tables[r->row.table].name, r->row.number,
             column->name);
    return text;
}

/* ---- cells */

static pcol_status read_integer(struct pci_v1_rows *r, const char *what, int64_t *value,
                                pcol_error *err)
{
    const struct pci_json *json = &r->json;
    if (json->type == PCI_JSON_DOUBLE && fabs(json->number) < 9007199254740992.0 &&
        json->number == (double)(int64_t)json->number) {
        *value = (int64_t)json->number; /* 1.0 and 1e3 are integers, too */
        return PCOL_OK;
    }
    *value = json->integer;
    return pci_json_expect(json, PCI_JSON_INT, what, err);
}

static pcol_status read_list(struct pci_v1_rows *r, const char *what, pcol_error *err)
{
    struct pci_v1_row *row = &r->row;
    int more;
    PCI_TRY(pci_json_expect(&r->json, PCI_JSON_ARRAY, what, err));
    row->list_size = 0;
    for (;;) {
        PCI_TRY(pci_json_element(&r->json, &more, err));
        if (!more)
            return PCOL_OK;
        PCI_TRY(PCI_GROW(row->list, row->list_capacity, row->list_size + 1, err));
        PCI_TRY(PCI_GROW(row->list_positions, row->position_capacity, row->list_size + 1, err));
        row->list_positions[row->list_size] = get_position(&r->json);
        PCI_TRY(read_integer(r, what, &row->list[row->list_size], err));
        row->list_size++;
    }
}

static pcol_status read_text(struct pci_v1_rows *r, const struct column *column, const char *what,
                             struct pci_v1_cell *cell, pcol_error *err)
{
    pcol_str text = r->json.text;
    PCI_TRY(pci_json_expect(&r->json, PCI_JSON_STRING, what, err));
    if (column->kind == KIND_CONSTANT && !pci_json_is(&r->json, column->constant))
        return pci_json_fail(&r->json, err, "%s must be '%s', not '%.*s'", what, column->constant,
                             text_size(text), text.data);
    if (column->kind == KIND_CONSTANT)
        return PCOL_OK;
    if (column->kind == KIND_NAME && !text.size)
        return pci_json_fail(&r->json, err, "%s must not be empty", what);
    if (r->json.lone_surrogate)
        return pci_json_fail(&r->json, err, "%s has half of a surrogate pair", what);
    cell->string = PCOL_NONE;
    if (!text.size)
        return PCOL_OK;
    return pcol_builder_string(r->import->builder, text.data, text.size, &cell->string, err);
}

static pcol_status read_cell(struct pci_v1_rows *r, const struct column *column,
                             struct pci_v1_cell *cell, pcol_error *err)
{
    char what[128];
    cell_name(r, column, what, sizeof what);
    if (cell->set)
        return pci_json_fail(&r->json, err, "%s occurs twice", what);
    cell->set = 1;
    PCI_TRY(pci_json_next(&r->json, err));
    cell->position = get_position(&r->json);
    if (column->kind == KIND_LIST)
        return read_list(r, what, err);
    if (column->kind != KIND_ID && column->kind != KIND_LINE && column->kind != KIND_VALUE)
        return read_text(r, column, what, cell, err);
    PCI_TRY(read_integer(r, what, &cell->integer, err));
    if (column->kind == KIND_LINE && cell->integer < 0)
        return pci_json_fail(&r->json, err, "%s must not be negative", what);
    if (column->kind == KIND_VALUE && (cell->integer < 1 || cell->integer > INT32_MAX))
        return pci_json_fail(&r->json, err, "%s must be from 1 to 2147483647", what);
    return PCOL_OK;
}

/* ---- rows and tables */

/* A column that v1 lacks: dotted ones are permitted and omitted. */
static pcol_status read_other(struct pci_v1_rows *r, pcol_error *err)
{
    pcol_str key = r->json.text;
    const struct table *table = &tables[r->row.table];
    if (!key.size || key.data[0] != '.')
        return pci_json_fail(&r->json, err, "%s, row %" PRIu64 ": unknown column '%.*s'",
                             table->name, r->row.number, text_size(key), key.data);
    if (!r->reported[r->row.table])
        pci_import_message("%s: columns with a dot are left out (%.*s)", table->name,
                           text_size(key), key.data);
    r->reported[r->row.table] = 1;
    return pci_json_skip_member(&r->json, err);
}

static pcol_status read_row(struct pci_v1_rows *r, pcol_error *err)
{
    struct pci_v1_row *row = &r->row;
    const struct table *table = &tables[row->table];
    char what[64];
    int more;
    snprintf(what, sizeof what, "%s, row %" PRIu64, table->name, row->number);
    PCI_TRY(pci_json_expect(&r->json, PCI_JSON_OBJECT, what, err));
    memset(row->cell, 0, sizeof row->cell);
    for (;;) {
        PCI_TRY(pci_json_member(&r->json, &more, err));
        if (!more)
            break;
        size_t i = 0;
        while (table->columns[i].name && !pci_json_is(&r->json, table->columns[i].name))
            i++;
        if (table->columns[i].name)
            PCI_TRY(read_cell(r, &table->columns[i], &row->cell[i], err));
        else
            PCI_TRY(read_other(r, err));
    }
    for (size_t i = 0; table->columns[i].name; i++)
        if (!row->cell[i].set)
            return pci_json_fail(&r->json, err, "%s: %s is missing", what, table->columns[i].name);
    return table->single ? PCOL_OK : r->handle_row(r->context, row, err);
}

static pcol_status read_table(struct pci_v1_rows *r, enum pci_v1_table index, pcol_error *err)
{
    int more;
    if (r->seen[index])
        return pci_json_fail(&r->json, err, "table %s occurs twice", tables[index].name);
    r->seen[index] = 1;
    r->row.table = index;
    PCI_TRY(pci_json_next(&r->json, err));
    PCI_TRY(pci_json_expect(&r->json, PCI_JSON_ARRAY, tables[index].name, err));
    for (r->row.number = 1;; r->row.number++) {
        PCI_TRY(pci_json_element(&r->json, &more, err));
        if (!more)
            break;
        if (tables[index].single && r->row.number > 1)
            return pci_json_fail(&r->json, err, "%s must have one row", tables[index].name);
        PCI_TRY(read_row(r, err));
    }
    if (tables[index].single && r->row.number == 1)
        return pci_json_fail(&r->json, err, "%s must have one row", tables[index].name);
    return PCOL_OK;
}

static pcol_status read_object(struct pci_v1_rows *r, pcol_error *err)
{
    int more;
    PCI_TRY(pci_json_next(&r->json, err));
    PCI_TRY(pci_json_expect(&r->json, PCI_JSON_OBJECT, "the profile", err));
    for (;;) {
        PCI_TRY(pci_json_member(&r->json, &more, err));
        if (!more)
            break;
        size_t i = 0;
        while (i < PCI_V1_TABLES && !pci_json_is(&r->json, tables[i].name))
            i++;
        pcol_str key = r->json.text;
        if (i < PCI_V1_TABLES) {
            PCI_TRY(read_table(r, (enum pci_v1_table)i, err));
        } else if (key.size && key.data[0] == '.') {
            pci_import_message("table %.*s is left out", text_size(key), key.data);
            PCI_TRY(pci_json_skip_member(&r->json, err));
        } else {
            return pci_json_fail(&r->json, err, "unknown table '%.*s'", text_size(key), key.data);
        }
    }
    for (size_t i = 0; i < PCI_V1_TABLES; i++)
        if (!r->seen[i])
            return pci_json_fail(&r->json, err, "table %s is missing", tables[i].name);
    return pci_json_finish(&r->json, err);
}

pcol_status pci_v1_rows_read(struct pci_v1_rows *rows, pcol_error *err)
{
    struct pci_json_options options = {.flags = PCI_JSON_SURROGATE_BYTES};
    PCI_TRY(pci_json_open(&rows->json, rows->import->input, &options, err));
    pcol_status status = read_object(rows, err);
    pci_json_close(&rows->json);
    pci_free(rows->row.list);
    pci_free(rows->row.list_positions);
    rows->row.list = NULL;
    rows->row.list_positions = NULL;
    return status;
}

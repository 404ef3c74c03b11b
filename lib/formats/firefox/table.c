/*
 * table.c - reads one table of the source: an object of columns and a few scalars
 *
 * Arrays become columns of cells. Numbers come in batches from the JSON reader, from the prefetch
 * thread or from a slab. Elements that are no scalars are preserved as JSON text.
 */
#include "formats/firefox/read.h"

#include "model/json_tree.h"
#include "stream/input_open.h"
#include "util/alloc.h"
#include "util/import_budget.h"
#include "util/strbuf.h"

#include <stdarg.h>
#include <stdio.h>

#define BATCH 512u

void pci_ff_table_clear(struct pci_ff_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        pci_ff_cells_clear(&table->columns[i].cells);
    pci_free(table->columns);
    memset(table, 0, sizeof *table);
}

void pci_ff_table_release_cells(struct pci_ff_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        pci_ff_cells_clear(&table->columns[i].cells);
    table->count = 0;
}

static struct pci_ff_column *find_column(const struct pci_ff *ff, const struct pci_ff_table *table,
                                         const char *name, int scalar)
{
    size_t size = strlen(name);
    for (size_t i = 0; i < table->count; i++) {
        pcol_str text = pci_string_pool_get(&ff->b->strings, table->columns[i].name);
        if (text.size == size && !memcmp(text.data, name, size))
            return table->columns[i].scalar == scalar ? &table->columns[i] : NULL;
    }
    return NULL;
}

struct pci_ff_column *pci_ff_find_column(const struct pci_ff *ff, const struct pci_ff_table *table,
                                         const char *name)
{
    return find_column(ff, table, name, 0);
}

struct pci_ff_column *pci_ff_find_scalar(const struct pci_ff *ff, const struct pci_ff_table *table,
                                         const char *name)
{
    return find_column(ff, table, name, 1);
}

pcol_status pci_ff_fail_cell(const struct pci_ff *ff, const struct pci_ff_table *table,
                             const struct pci_ff_column *column, uint64_t row, pcol_error *err,
                             const char *format, ...)
{
    char text[200];
    va_list arguments;
    pcol_str name = pci_string_pool_get(&ff->b->strings, column->name);
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return pci_ff_fail_at(&column->position, err, "%s.%.*s[%llu]: %s", table->path,
                          (int)(name.size < 40 ? name.size : 40), name.data,
                          (unsigned long long)row, text);
}

/* ---- cells */

/* Append the current value as JSON text. */
static pcol_status append_json_cell(struct pci_ff *ff, struct pci_ff_cells *cells, pcol_error *err)
{
    uint32_t code;
    ff->text.size = 0;
    PCI_TRY(pci_ff_capture(&ff->in, &ff->text, err));
    PCI_TRY(pcol_builder_string(ff->b, ff->text.data, ff->text.size, &code, err));
    return pci_ff_cells_add(cells, PCI_FF_JSON, code, err);
}

static int is_minus_zero(const struct pci_json *json)
{
    return json->type == PCI_JSON_INT && !json->integer && json->text.data[0] == '-';
}

/* Append the current token to a column of scalars. */
static pcol_status append_token(struct pci_ff *ff, struct pci_ff_cells *cells, pcol_error *err)
{
    const struct pci_json *json = ff->in.json;
    int64_t bits;
    uint32_t code;
    switch (ff->in.type) {
    case PCI_JSON_NULL:
        return pci_ff_cells_add(cells, PCI_FF_NULL, 0, err);
    case PCI_JSON_FALSE:
        return pci_ff_cells_add(cells, PCI_FF_FALSE, 0, err);
    case PCI_JSON_TRUE:
        return pci_ff_cells_add(cells, PCI_FF_TRUE, 0, err);
    case PCI_JSON_INT:
        if (is_minus_zero(json))
            return pci_ff_cells_add(cells, PCI_FF_DOUBLE, INT64_MIN, err); /* the bits of -0.0 */
        return pci_ff_cells_add(cells, PCI_FF_INT, json->integer, err);
    case PCI_JSON_DOUBLE:
        memcpy(&bits, &json->number, sizeof bits);
        return pci_ff_cells_add(cells, PCI_FF_DOUBLE, bits, err);
    case PCI_JSON_STRING:
        PCI_TRY(pcol_builder_string(ff->b, json->text.data, json->text.size, &code, err));
        return pci_ff_cells_add(cells, PCI_FF_TEXT, code, err);
    default:
        return append_json_cell(ff, cells, err);
    }
}

static pcol_status read_slab(struct pci_ff *ff, struct pci_ff_cells *cells, pcol_error *err)
{
    const struct pci_slab *slab = ff->in.slab;
    size_t count = pci_slab_count(slab);
    int64_t values[BATCH];
    uint8_t reals[BATCH];
    for (size_t i = 0, n; i < count; i += n) {
        n = count - i < BATCH ? count - i : BATCH;
        int all;
        PCI_TRY(pci_slab_numbers(ff->in.slabs, slab, i, n, values, reals, &all, err));
        if (all < 0)
            for (size_t k = 0; k < n; k++)
                reals[k] = reals[k] ? PCI_FF_DOUBLE : PCI_FF_INT;
        PCI_TRY(pci_ff_cells_append(cells, all > 0 ? PCI_FF_DOUBLE : PCI_FF_INT,
                                    all < 0 ? reals : NULL, values, n, err));
    }
    return PCOL_OK;
}

/* Append consecutive numbers in batches. */
static pcol_status read_numbers(struct pci_ff *ff, struct pci_ff_cells *cells, pcol_error *err)
{
    int64_t values[BATCH];
    uint8_t types[BATCH];
    size_t count;
    do {
        unsigned seen = pci_json_read_numbers(ff->in.json, values, types, BATCH, &count);
        int kind = seen == 1u << PCI_JSON_INT      ? PCI_FF_INT
                   : seen == 1u << PCI_JSON_DOUBLE ? PCI_FF_DOUBLE
                   : seen == 1u << PCI_JSON_NULL   ? PCI_FF_NULL
                                                   : -1;
        for (size_t i = 0; kind < 0 && i < count; i++)
            types[i] = types[i] == PCI_JSON_INT      ? PCI_FF_INT
                       : types[i] == PCI_JSON_DOUBLE ? PCI_FF_DOUBLE
                                                     : PCI_FF_NULL;
        PCI_TRY(pci_ff_cells_append(cells, kind, kind < 0 ? types : NULL, values, count, err));
    } while (count == BATCH);
    return PCOL_OK;
}

static pcol_status read_array(struct pci_ff *ff, struct pci_ff_cells *cells, pcol_error *err)
{
    int more;
    if (ff->in.type == PCI_FF_SLAB)
        return read_slab(ff, cells, err);
    if (ff->prefetch)
        PCI_TRY(
            pci_ff_prefetch_take(ff->prefetch, ff->in.json, pci_ff_text_end(&ff->in), cells, err));
    for (;;) {
        PCI_TRY(read_numbers(ff, cells, err));
        PCI_TRY(pci_ff_element(&ff->in, &more, err));
        if (!more)
            return PCOL_OK;
        PCI_TRY(append_token(ff, cells, err));
    }
}

/* ---- tables */

pcol_status pci_ff_intern_key(struct pci_ff *ff, uint32_t *key, pcol_error *err)
{
    return pcol_builder_string(ff->b, ff->in.json->text.data, ff->in.json->text.size, key, err);
}

static pcol_status add_column(struct pci_ff *ff, struct pci_ff_table *table, uint32_t name,
                              struct pci_ff_column **column, pcol_error *err)
{
    *column = NULL;
    for (size_t i = 0; i < table->count; i++) {
        pcol_str text = pci_string_pool_get(&ff->b->strings, name);
        if (table->columns[i].name == name)
            return pci_ff_fail(&ff->in, err, "%s has '%.*s' twice", table->path,
                               (int)(text.size < 40 ? text.size : 40), text.data);
    }
    if (table->count >= PCF_MAX_COLUMNS / 16)
        return pci_ff_fail(&ff->in, err, "%s has more than %u columns", table->path,
                           PCF_MAX_COLUMNS / 16);
    PCI_TRY(PCI_GROW(table->columns, table->capacity, table->count + 1, err));
    *column = &table->columns[table->count++];
    memset(*column, 0, sizeof **column);
    (*column)->name = name;
    /* In the builder's store: pages that cells free are reused by the builder's columns. */
    pci_ff_cells_init(&(*column)->cells, &ff->b->store);
    return PCOL_OK;
}

static int is_marker_data(const struct pci_ff *ff, const struct pci_ff_table *table,
                          const struct pci_ff_column *column)
{
    size_t size = strlen(table->path);
    pcol_str name = pci_string_pool_get(&ff->b->strings, column->name);
    return size > 8 && !strcmp(table->path + size - 8, ".markers") && pci_str_is(name, "data");
}

static pcol_status begin_table(struct pci_ff *ff, struct pci_ff_table *table, const char *path,
                               pcol_error *err)
{
    if (table->present)
        return pci_ff_fail(&ff->in, err, "%s occurs twice", path);
    table->present = 1;
    table->position = pci_ff_get_position(&ff->in);
    snprintf(table->path, sizeof table->path, "%s", path);
    snprintf(ff->in.path, sizeof ff->in.path, "%s", path);
    return PCOL_OK;
}

pcol_status pci_ff_table_read(struct pci_ff *ff, struct pci_ff_table *table, const char *path,
                              pcol_error *err)
{
    int more;
    uint32_t name;
    struct pci_ff_column *column;
    PCI_TRY(begin_table(ff, table, path, err));
    PCI_TRY(pci_ff_require_type(&ff->in, PCI_JSON_OBJECT, path, err));
    for (;;) {
        PCI_TRY(pci_ff_member(&ff->in, &more, err));
        if (!more)
            return PCOL_OK;
        PCI_TRY(pci_ff_intern_key(ff, &name, err));
        PCI_TRY(add_column(ff, table, name, &column, err));
        PCI_TRY(pci_ff_next(&ff->in, err));
        column->position = pci_ff_get_position(&ff->in);
        column->scalar = ff->in.type != PCI_JSON_ARRAY && ff->in.type != PCI_FF_SLAB;
        if (column->scalar)
            PCI_TRY(append_token(ff, &column->cells, err));
        else if (is_marker_data(ff, table, column))
            PCI_TRY(pci_ff_read_marker_data(ff, column, err));
        else
            PCI_TRY(read_array(ff, &column->cells, err));
    }
}

pcol_status pci_ff_strings_read(struct pci_ff *ff, struct pci_ff_table *table, const char *path,
                                pcol_error *err)
{
    struct pci_ff_column *column;
    uint32_t name;
    PCI_TRY(begin_table(ff, table, path, err));
    PCI_TRY(pci_ff_require_type(&ff->in, PCI_JSON_ARRAY, path, err));
    PCI_TRY(pcol_builder_string(ff->b, "stringArray", 11, &name, err));
    PCI_TRY(add_column(ff, table, name, &column, err));
    column->position = table->position;
    PCI_TRY(read_array(ff, &column->cells, err));
    table->rows = column->cells.count;
    if (table->rows && (column->cells.mixed || column->cells.kind != PCI_FF_TEXT))
        return pci_ff_fail_at(&table->position, err, "%s has an element that is not a string",
                              path);
    if (table->rows >= PCOL_NONE)
        return pci_fail(err, PCOL_E_LIMIT, "more than 4294967294 strings");
    return PCOL_OK;
}

pcol_status pci_ff_table_count_rows(struct pci_ff *ff, struct pci_ff_table *table, int lenient,
                                    pcol_error *err)
{
    const struct pci_ff_column *length = pci_ff_find_scalar(ff, table, "length"), *first = NULL;
    struct pci_ff_cursor *cursor;
    int kind;
    int64_t value = 0;
    uint64_t longest = 0;
    for (size_t i = 0; i < table->count; i++)
        if (!table->columns[i].scalar && table->columns[i].cells.count > longest)
            longest = table->columns[i].cells.count;
    table->rows = longest;
    if (length) {
        PCI_TRY(PCI_MALLOC(cursor, 1, err));
        pci_ff_cursor_init(cursor, &length->cells);
        pcol_status status = pci_ff_cell(cursor, 0, &kind, &value, err);
        pci_free(cursor);
        PCI_TRY(status);
        if (kind != PCI_FF_INT || value < 0)
            return pci_ff_fail_at(&length->position, err, "%s.length is not a number of rows",
                                  table->path);
        if (!lenient)
            table->rows = (uint64_t)value;
    }
    for (size_t i = 0; i < table->count && !lenient; i++) {
        const struct pci_ff_column *c = &table->columns[i];
        pcol_str name = pci_string_pool_get(&ff->b->strings, c->name);
        if (c->scalar)
            continue;
        if (c->cells.count != table->rows)
            return pci_ff_fail_at(&c->position, err, "%s.%.*s has %llu rows, %s %llu", table->path,
                                  (int)(name.size < 40 ? name.size : 40), name.data,
                                  (unsigned long long)c->cells.count,
                                  length  ? "length is"
                                  : first ? "other columns have"
                                          : "the table has",
                                  (unsigned long long)table->rows);
        first = c;
    }
    if (table->rows > longest) /* rows without a cell cost no bytes of input */
        PCI_TRY(pci_budget_charge_expansion(pci_thread_budget,
                                            (table->rows - longest) * sizeof(int64_t), err));
    if (table->rows >= PCOL_NONE)
        return pci_ff_fail_at(&table->position, err, "%s has more than 4294967294 rows",
                              table->path);
    return PCOL_OK;
}

/* ---- values other than tables */

pcol_status pci_ff_to_nodes(struct pci_ff *ff, uint64_t parent, uint32_t key, uint64_t *node,
                            pcol_error *err)
{
    struct pci_json json;
    struct pci_input input;
    struct pci_json_options options = {PCI_JSON_SOUND, 0};
    if (!ff->in.slabs)
        return pci_json_to_nodes(ff->in.json, ff->b, parent, key, node, err);
    ff->text.size = 0; /* slabs may be nested in the value: copy it to one text first */
    PCI_TRY(pci_ff_capture(&ff->in, &ff->text, err));
    PCI_TRY(pci_input_open_memory(&input, ff->text.data, ff->text.size, "", NULL, err));
    pcol_status status = pci_json_open(&json, &input, &options, err);
    if (status == PCOL_OK) {
        status = pci_json_next(&json, err);
        PCI_THEN(status, pci_json_to_nodes(&json, ff->b, parent, key, node, err));
        pci_json_close(&json);
    }
    pci_input_close(&input);
    return status;
}

static void set_scalar_label(struct pci_ff *ff, struct pci_label *label)
{
    const struct pci_json *json = ff->in.json;
    switch (ff->in.type) {
    case PCI_JSON_INT:
        label->kind = is_minus_zero(json) ? PCI_LABEL_DOUBLE : PCI_LABEL_INTEGER;
        if (label->kind == PCI_LABEL_DOUBLE)
            label->as.f64 = -0.0;
        else
            label->as.i64 = json->integer;
        break;
    case PCI_JSON_DOUBLE:
        label->kind = PCI_LABEL_DOUBLE;
        label->as.f64 = json->number;
        break;
    case PCI_JSON_TRUE:
    case PCI_JSON_FALSE:
        label->kind = PCI_LABEL_BOOL;
        label->as.i64 = ff->in.type == PCI_JSON_TRUE;
        break;
    case PCI_JSON_NULL:
        label->kind = PCI_LABEL_NULL;
        break;
    case PCI_JSON_BIG:
        label->kind = PCI_LABEL_BIGINT;
        break;
    default:
        label->kind = PCI_LABEL_STRING;
    }
}

pcol_status pci_ff_read_label(struct pci_ff *ff, uint32_t key, struct pci_label **labels,
                              size_t *count, size_t *capacity, uint64_t *extra, pcol_error *err)
{
    struct pci_label label = {.key = key, .unit = PCOL_NONE, .text = PCOL_NONE};
    const struct pci_new_node object = {.parent = PCI_NO_NODE, .tag = PCI_NODE_OBJECT};
    PCI_TRY(PCI_GROW(*labels, *capacity, *count + 1, err));
    if (ff->in.type == PCI_JSON_OBJECT || ff->in.type == PCI_JSON_ARRAY ||
        ff->in.type == PCI_FF_SLAB) {
        uint64_t node;
        if (*extra == PCI_NO_NODE)
            PCI_TRY(pci_builder_node(ff->b, &object, extra, err));
        label.kind = PCI_LABEL_EXTRA;
        PCI_TRY(pci_ff_to_nodes(ff, *extra, key, &node, err));
    } else {
        set_scalar_label(ff, &label);
        if (label.kind == PCI_LABEL_STRING || label.kind == PCI_LABEL_BIGINT)
            PCI_TRY(pcol_builder_string(ff->b, ff->in.json->text.data, ff->in.json->text.size,
                                        &label.text, err));
    }
    (*labels)[(*count)++] = label;
    return PCOL_OK;
}

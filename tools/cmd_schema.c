/*
 * cmd_schema.c - schema: tables and columns of the data model or of a file
 *
 * Without a file, an empty file is built in memory and described, so that the output always follows
 * the library. For a file, its tables beyond the data model are described as cat shows them.
 */
#include "cmd_schema.h"
#include "cmd.h"

#include <stdlib.h>
#include <string.h>

const struct cli_option cmd_schema_options[] = {
    CLI_FLAG_OPTION(0, "physical", physical,
                    "list the physical columns of the file with their encodings"),
    CLI_TEXT_CHOICE(0, "model", "MODEL", model, "v2|v1", "v2 (default) or v1"),
    CLI_TEXT_CHOICE(
        0, "format", "FORMAT", format, "table|tsv|csv|json|ndjson|markdown|sql|mermaid",
        "table, tsv, csv, json, ndjson, markdown, sql (CREATE TABLE) or mermaid (an entity "
        "relationship diagram); a suffix of OUT (.csv, .md, ...) also chooses it"),
    CLI_OPTION_NO_HEADER,
    CLI_OPTION_NULL,
    CLI_OPTIONS_OUTPUT,
    CLI_OPTIONS_IMPORT,
    CLI_OPTION_END,
};

static int add_table(struct schema *schema, const pcol_table *table)
{
    struct schema_table *one = &schema->tables[schema->count++];

    one->table = table;
    one->name = pcol_table_name(table);
    return cli_columns_new(table, &one->columns);
}

/* List the tables of a model that are not internal. */
static int list_model(struct schema *schema, pcol_model model)
{
    uint32_t count = pcol_file_table_count(schema->file, model);
    int code = CLI_OK;
    pcol_error err;

    struct schema_table *grown =
        realloc(schema->tables, (schema->count + count + 1) * sizeof *grown);
    if (grown == NULL)
        return cli_fail_memory();
    schema->tables = grown;
    memset(grown + schema->count, 0, ((size_t)count + 1) * sizeof *grown);
    for (uint32_t i = 0; i < count && code == CLI_OK; i++) {
        const pcol_table *table;
        if (model == PCOL_MODEL_FURTHER && pcol_file_table_is_internal(schema->file, i))
            continue;
        pcol_status status = pcol_file_table(schema->file, model, i, &table, &err);
        if (status == PCOL_E_UNSUPPORTED && model != PCOL_MODEL_V2 && model != PCOL_MODEL_V1)
            continue; /* from a later version: the other columns remain readable */
        code = status == PCOL_OK ? add_table(schema, table) : cli_fail_error(schema->name, &err);
    }
    return code;
}

static int list_tables(struct schema *schema)
{
    int code = list_model(schema, schema->model);

    return code == CLI_OK && schema->model == PCOL_MODEL_V2 ? list_model(schema, PCOL_MODEL_FURTHER)
                                                            : code;
}

/* ---- table, tsv, csv ---- */

/* "width=12 base=1 step=1 scale=10": parameters of the encoding. */
static const char *parameters(const pcol_column_info *info, char *text, size_t size)
{
    char base[CLI_NUMBER_SIZE + 1];
    double number;
    int linear = strcmp(info->encoding, "linear") == 0;
    int sparse = strcmp(info->encoding, "sparse") == 0;
    int packed = strcmp(info->encoding, "packed") == 0;
    size_t used = 0;

    text[0] = '\0';
    memcpy(&number, &info->base, sizeof number);
    size_t length =
        info->type == PCOL_F64 ? cli_format_f64(base, number) : cli_format_i64(base, info->base);
    base[length] = '\0';
    if (packed || strcmp(info->encoding, "plain") == 0)
        used += (size_t)snprintf(text + used, size - used, "width=%u ", info->width_bits);
    if (linear || sparse)
        used += (size_t)snprintf(text + used, size - used, "base=%s step=%lld ", base,
                                 (long long)info->step);
    if (packed)
        used += (size_t)snprintf(text + used, size - used, "base=%s scale=%llu ", base,
                                 (unsigned long long)info->scale);
    if (info->codes_of)
        used += (size_t)snprintf(text + used, size - used, "codes=%.100s ", info->codes_of);
    if (strcmp(info->codec, "none") != 0)
        used += (size_t)snprintf(text + used, size - used, "codec=%s ", info->codec);
    if (used > 0)
        text[used - 1] = '\0';
    return text;
}

static struct cli_cell place(uint64_t offset)
{
    return offset == PCOL_POSITION_UNKNOWN ? cli_cell_text(NULL) : cli_cell_u64(offset);
}

static int print_physical(const struct schema *schema, struct cli_out *out,
                          const struct cli_args *args)
{
    static const struct cli_table_column columns[] = {{"table", CLI_LEFT},
                                                      {"column", CLI_LEFT},
                                                      {"type", CLI_OPTIONAL(1)},
                                                      {"encoding", CLI_OPTIONAL(1)},
                                                      {"rows", CLI_RIGHT | CLI_OPTIONAL(2)},
                                                      {"bytes", CLI_RIGHT | CLI_OPTIONAL(1)},
                                                      {"offset", CLI_RIGHT | CLI_OPTIONAL(3)},
                                                      {"parameters", CLI_OPTIONAL(4)}};
    struct cli_table *table;
    int code = cli_table_begin(&table, out, args, columns, 8);

    for (size_t t = 0; t < schema->count && code == CLI_OK; t++) {
        const pcol_table *one = schema->tables[t].table;
        uint32_t count = pcol_table_column_count(one);
        for (uint32_t i = 0; i < count; i++) {
            pcol_column_info info = cli_describe(pcol_table_column(one, i));
            char text[256];
            struct cli_cell cells[] = {
                cli_cell_text(schema->tables[t].name),
                cli_cell_text(info.name),
                cli_cell_text(pcol_type_name(info.type)),
                cli_cell_text(info.encoding),
                cli_cell_u64(info.rows),
                cli_cell_u64(info.bytes),
                place(info.values_offset),
                cli_cell_text(parameters(&info, text, sizeof text)),
            };
            cli_table_row(table, cells);
        }
    }
    return cli_table_end(table, code);
}

static int print_logical(const struct schema *schema, struct cli_out *out,
                         const struct cli_args *args)
{
    struct cli_table_column columns[9] = {{"table", 0}, {"column", 0},     {"type", 0},
                                          {"key", 0},   {"references", 0}, {"nullable", 0},
                                          {"rows", 1}};
    size_t fixed = schema->with_rows ? 7 : 6;
    struct cli_table *table;

    columns[fixed] = (struct cli_table_column){"unit", 0};
    columns[fixed + 1] = (struct cli_table_column){"about", CLI_PROSE};
    int code = cli_table_begin(&table, out, args, columns, fixed + 2);
    for (size_t t = 0; t < schema->count && code == CLI_OK; t++) {
        const struct cli_columns *list = &schema->tables[t].columns;
        for (size_t i = 0; i < list->count; i++) {
            const pcol_column_info *column = &list->list[i];
            struct cli_cell cells[9] = {
                cli_cell_text(schema->tables[t].name),
                cli_cell_text(column->name),
                cli_cell_text(pcol_type_name(column->type)),
                cli_cell_text(column->primary_key ? "primary" : NULL),
                cli_cell_text(column->references),
                cli_cell_bool(column->nullable),
                cli_cell_u64(pcol_table_rows(schema->tables[t].table)),
            };
            cells[fixed] = cli_cell_text(column->unit);
            cells[fixed + 1] = cli_cell_text(column->documentation);
            cli_table_row(table, cells);
        }
    }
    return cli_table_end(table, code);
}

/* ---- text ---- */

static void pad(struct cli_out *out, size_t used, size_t width)
{
    cli_out_printf(out, "%*s", used < width ? (int)(width - used) : 0, "");
}

/* Text of a file in at least `width` columns. */
static void put_wide(struct cli_out *out, const char *text, size_t width)
{
    size_t size = strlen(text), used;
    char *buffer = malloc(4 * size + 1);

    if (buffer == NULL) {
        cli_out_safe(out, text, size);
        return;
    }
    size_t columns = cli_escape(text, size, out->is_ascii, buffer, &used);
    cli_out_write(out, buffer, used);
    pad(out, columns, width);
    free(buffer);
}

#define WIDEST_NAME 30u

/* "  .time  f64  in ms; on the clock of its source" */
static void put_column(struct cli_out *out, const pcol_column_info *column, size_t width)
{
    int separated = 0;

    cli_out_text(out, "  ");
    put_wide(out, column->name, width);
    cli_out_printf(out, "  %s", pcol_type_name(column->type));
    if (column->primary_key || column->references != NULL || column->unit != NULL ||
        column->documentation != NULL)
        pad(out, strlen(pcol_type_name(column->type)), 7);
    if (column->primary_key) {
        cli_out_text(out, " key");
        separated = 1;
    }
    if (column->references != NULL) {
        cli_out_text(out, separated ? ", of " : " of ");
        cli_out_safe(out, column->references, strlen(column->references));
        separated = 1;
    }
    if (column->unit != NULL) {
        cli_out_text(out, separated ? ", in " : " in ");
        cli_out_safe(out, column->unit, strlen(column->unit));
        separated = 1;
    }
    if (column->documentation != NULL)
        cli_out_printf(out, "%s%s", separated ? "; " : " ", column->documentation);
    cli_out_text(out, "\n");
}

static void print_people(const struct schema *schema, struct cli_out *out)
{
    char number[CLI_NUMBER_SIZE];
    int dotted = 0;

    cli_out_fold(out);
    for (size_t t = 0; t < schema->count && out->code == 0; t++) {
        const struct schema_table *table = &schema->tables[t];
        size_t width = 0;
        cli_out_text(out, t > 0 ? "\n" : "");
        cli_out_text(out, out->color ? "\x1b[1m" : "");
        cli_out_safe(out, table->name, strlen(table->name));
        cli_out_text(out, out->color ? "\x1b[0m" : "");
        if (schema->with_rows)
            cli_out_printf(out, ": %s row%s",
                           cli_format_grouped(number, pcol_table_rows(table->table)),
                           pcol_table_rows(table->table) == 1 ? "" : "s");
        cli_out_text(out, "\n");
        for (size_t i = 0; i < table->columns.count; i++) {
            size_t size = strlen(table->columns.list[i].name);
            width = size > width && size <= WIDEST_NAME ? size : width;
            dotted |= table->columns.list[i].name[0] == '.';
        }
        for (size_t i = 0; i < table->columns.count; i++)
            put_column(out, &table->columns.list[i], width);
    }
    if (dotted)
        cli_out_text(out, "\nColumns with a leading dot are present only in some profiles.\n");
}

/* ---- json ---- */

static void json_text(struct cli_out *out, int *first, const char *key, const char *text)
{
    struct cli_cell cell = cli_cell_text(text);
    cli_json_key(out, first, key);
    cli_json_cell(out, &cell);
}

static void json_u64(struct cli_out *out, int *first, const char *key, uint64_t value)
{
    struct cli_cell cell = place(value);
    cli_json_key(out, first, key);
    cli_json_cell(out, &cell);
}

static void json_bool(struct cli_out *out, int *first, const char *key, int value)
{
    cli_json_key(out, first, key);
    cli_out_text(out, value ? "true" : "false");
}

/* A number of the column's type, stored in 64 bits. */
static void json_typed(struct cli_out *out, int *first, const char *key, pcol_type type,
                       int64_t value)
{
    struct cli_cell cell = {CLI_CELL_I64, 0, {value}};

    if (type == PCOL_U64)
        cell.kind = CLI_CELL_U64;
    if (type == PCOL_F64) {
        cell.kind = CLI_CELL_F64;
        memcpy(&cell.as.f64, &value, sizeof cell.as.f64);
    }
    cli_json_key(out, first, key);
    cli_json_cell(out, &cell);
}

static void json_physical(struct cli_out *out, int *first, const pcol_column_info *info)
{
    json_text(out, first, "encoding", info->encoding);
    if (strcmp(info->codec, "none") != 0)
        json_text(out, first, "codec", info->codec);
    json_u64(out, first, "rows", info->rows);
    json_u64(out, first, "bytes", info->bytes);
    json_u64(out, first, "offset", info->values_offset);
    json_u64(out, first, "length",
             info->values_offset == PCOL_POSITION_UNKNOWN ? PCOL_POSITION_UNKNOWN
                                                          : info->values_bytes);
    json_u64(out, first, "validity_offset", info->validity_offset);
    json_u64(out, first, "data_offset", info->data_offset);
    json_u64(out, first, "data_length",
             info->data_offset == PCOL_POSITION_UNKNOWN ? PCOL_POSITION_UNKNOWN : info->data_bytes);
    json_u64(out, first, "width_bits", info->width_bits);
    json_typed(out, first, "base", info->type, info->base);
    json_typed(out, first, "step", PCOL_I64, info->step);
    json_u64(out, first, "scale", info->scale);
    json_text(out, first, "references", info->references);
    json_bool(out, first, "nullable", info->nullable);
    json_u64(out, first, "null_count", info->null_count);
    if (info->has_stats) {
        json_typed(out, first, "min", info->type, info->min);
        json_typed(out, first, "max", info->type, info->max);
    }
}

static void print_json(const struct schema *schema, struct cli_out *out, int lines)
{
    int written = 0;

    for (size_t t = 0; t < schema->count; t++) {
        const struct schema_table *table = &schema->tables[t];
        for (size_t i = 0; i < table->columns.count; i++) {
            const pcol_column_info *column = &table->columns.list[i];
            int first = 1;
            if (!lines)
                cli_out_text(out, written++ == 0 ? "[\n" : ",\n");
            cli_out_text(out, "{");
            json_text(out, &first, "table", table->name);
            json_text(out, &first, "name", column->name);
            json_text(out, &first, "type", pcol_type_name(column->type));
            if (schema->model == PCOL_MODEL_PHYSICAL) {
                json_physical(out, &first, column);
            } else {
                json_bool(out, &first, "primary_key", column->primary_key);
                json_text(out, &first, "references", column->references);
                json_bool(out, &first, "nullable", column->nullable);
                if (schema->with_rows)
                    json_u64(out, &first, "rows", pcol_table_rows(table->table));
                json_text(out, &first, "unit", column->unit);
                json_text(out, &first, "about", column->documentation);
            }
            cli_out_text(out, lines ? "}\n" : "}");
        }
    }
    if (!lines)
        cli_out_text(out, written == 0 ? "[]\n" : "\n]\n");
}

/* ---- the command ---- */

static int print_schema(struct schema *schema, const struct cli_args *args)
{
    static struct cli_out out;
    const char *format = args->format != NULL ? args->format : "";
    int code = list_tables(schema);

    if (code == CLI_OK)
        code = cli_out_open(&out, args);
    if (code != CLI_OK)
        return code;
    if (strcmp(format, "sql") == 0)
        code = schema_sql(schema, &out);
    else if (strcmp(format, "mermaid") == 0)
        schema_mermaid(schema, &out);
    else if (strcmp(format, "json") == 0 || strcmp(format, "ndjson") == 0)
        print_json(schema, &out, strcmp(format, "ndjson") == 0);
    else if (schema->model == PCOL_MODEL_PHYSICAL)
        code = print_physical(schema, &out, args);
    else if (cli_for_people(args, &out))
        print_people(schema, &out);
    else
        code = print_logical(schema, &out, args);
    return cli_out_finish(&out, code);
}

/* Build a file without content. */
static int open_empty(struct cli_input *input)
{
    pcol_builder *builder = NULL;
    pcol_error err;
    pcol_status status = pcol_builder_new(NULL, &builder, &err);

    memset(input, 0, sizeof *input);
    if (status == PCOL_OK)
        status = pcol_builder_file(builder, 0, NULL, &input->file, &err);
    pcol_builder_free(builder);
    return status == PCOL_OK ? CLI_OK : cli_fail_error(NULL, &err);
}

int cmd_schema(struct cli_args *args)
{
    struct cli_input input;
    struct schema schema = {0};
    int v1 = args->model != NULL && strcmp(args->model, "v1") == 0;
    int code;

    if (args->physical && args->operand_count == 0)
        return cli_usage("--physical needs a FILE");
    if (args->physical && args->model != NULL)
        return cli_usage("--model and --physical exclude each other");
    code = args->operand_count > 0 ? cli_input_open_packed(&input, args->operands[0], args)
                                   : open_empty(&input);
    if (code == CLI_OK) {
        schema.file = input.file;
        schema.name = input.name;
        schema.with_rows = args->operand_count > 0;
        schema.model = args->physical ? PCOL_MODEL_PHYSICAL : v1 ? PCOL_MODEL_V1 : PCOL_MODEL_V2;
        code = print_schema(&schema, args);
    }
    for (size_t i = 0; i < schema.count; i++)
        cli_columns_free(&schema.tables[i].columns);
    free(schema.tables);
    cli_input_close(&input);
    return code;
}

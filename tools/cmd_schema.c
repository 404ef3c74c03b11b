/*
 * cmd_schema.c - schema: tables and columns, of the data model or of one file
 *
 * Without a file an empty one is made in memory and described, so that what is printed is what the
 * library does. The table, json, sql and mermaid forms come from one walk over the columns.
 */
#include "cmd.h"

#include <stdlib.h>
#include <string.h>

const struct cli_option cmd_schema_options[] = {
    {0, "physical", NULL, "the columns as they lie in the file, with their encodings", CLI_FLAG,
     CLI_AT(physical), 1, NULL},
    {0, "model", "MODEL", "v2 (default) or v1", CLI_TEXT, CLI_AT(model), 0, "v2|v1"},
    {0, "format", "FORMAT",
     "table, tsv, csv, json, ndjson, sql (CREATE TABLE) or mermaid "
     "(an entity relationship diagram)",
     CLI_TEXT, CLI_AT(format), 0, "table|tsv|csv|json|ndjson|sql|mermaid"},
    CLI_OPTION_NO_HEADER,
    CLI_OPTION_NULL,
    CLI_OPTION_OUTPUT,
    CLI_OPTION_FORCE,
    CLI_OPTION_NO_SYNC,
    CLI_OPTION_FROM,
    CLI_OPTION_STRICT_IMPORT,
    CLI_OPTION_LENIENT,
    CLI_OPTION_END,
};

struct schema {
    const pcol_file *file;
    const char *name;
    pcol_model model;
    int with_rows; /* a real file: its numbers of rows mean something */
    const pcol_table **tables;
    uint32_t count;
};

static int list_tables(struct schema *schema)
{
    uint32_t count = pcol_file_table_count(schema->file, schema->model);
    pcol_error err;

    schema->tables = calloc((size_t)count + 1, sizeof(const pcol_table *));
    if (schema->tables == NULL)
        return cli_fail_memory();
    for (uint32_t i = 0; i < count; i++) {
        const pcol_table **table = &schema->tables[schema->count];
        pcol_status status = pcol_file_table(schema->file, schema->model, i, table, &err);
        if (status == PCOL_E_UNSUPPORTED && schema->model == PCOL_MODEL_PHYSICAL)
            continue; /* of a later version: the others are none the worse for it */
        if (status != PCOL_OK)
            return cli_fail_error(schema->name, &err);
        schema->count++;
    }
    return CLI_OK;
}

/* ---- table, tsv, csv ---- */

/* "width=12 base=1 step=1 scale=10": what the encoding is told beside its bytes. */
static const char *parameters(const pcol_column_info *info, char *text, size_t size)
{
    char base[CLI_NUMBER_SIZE + 1];
    double number;
    int linear = strcmp(info->encoding, "linear") == 0;
    int sparse = strcmp(info->encoding, "sparse") == 0;
    int packed = strcmp(info->encoding, "packed") == 0;
    int blocked = strcmp(info->encoding, "blocked") == 0;
    size_t used = 0;

    text[0] = '\0';
    memcpy(&number, &info->base, sizeof number);
    size_t length =
        info->type == PCOL_F64 ? cli_format_f64(base, number) : cli_format_i64(base, info->base);
    base[length] = '\0';
    if (packed || strcmp(info->encoding, "plain") == 0)
        used += (size_t)snprintf(text + used, size - used, "width=%u ", info->width_bits);
    if (linear || sparse || packed)
        used += (size_t)snprintf(text + used, size - used, "base=%s step=%lld ", base,
                                 (long long)info->step);
    if (packed || blocked)
        used += (size_t)snprintf(text + used, size - used, "scale=%llu ",
                                 (unsigned long long)info->scale);
    if (strcmp(info->codec, "none") != 0)
        used += (size_t)snprintf(text + used, size - used, "codec=%s ", info->codec);
    if (used > 0)
        text[used - 1] = '\0';
    return text;
}

static struct cli_cell place(uint64_t offset)
{
    return offset == PCOL_NOWHERE ? cli_cell_text(NULL) : cli_cell_u64(offset);
}

static int print_physical(const struct schema *schema, struct cli_out *out,
                          const struct cli_args *args)
{
    static const struct cli_table_column columns[] = {
        {"table", 0}, {"column", 0}, {"type", 0},   {"encoding", 0},
        {"rows", 1},  {"bytes", 1},  {"offset", 1}, {"parameters", 0}};
    struct cli_table *table;
    int code = cli_table_begin(&table, out, args, columns, 8);

    for (uint32_t t = 0; t < schema->count && code == CLI_OK; t++) {
        uint32_t count = pcol_table_column_count(schema->tables[t]);
        for (uint32_t i = 0; i < count; i++) {
            pcol_column_info info;
            char text[160];
            pcol_column_describe(pcol_table_column(schema->tables[t], i), &info);
            struct cli_cell cells[] = {
                cli_cell_text(pcol_table_name(schema->tables[t])),
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
    static const struct cli_table_column columns[] = {
        {"table", 0},      {"column", 0},   {"type", 0}, {"key", 0},
        {"references", 0}, {"nullable", 0}, {"rows", 1}};
    size_t shown = schema->with_rows ? 7 : 6;
    struct cli_table *table;
    int code = cli_table_begin(&table, out, args, columns, shown);

    for (uint32_t t = 0; t < schema->count && code == CLI_OK; t++) {
        uint32_t count = pcol_table_column_count(schema->tables[t]);
        for (uint32_t i = 0; i < count; i++) {
            pcol_column_info info;
            pcol_column_describe(pcol_table_column(schema->tables[t], i), &info);
            struct cli_cell cells[] = {
                cli_cell_text(pcol_table_name(schema->tables[t])),
                cli_cell_text(info.name),
                cli_cell_text(pcol_type_name(info.type)),
                cli_cell_text(info.primary_key ? "primary" : NULL),
                cli_cell_text(info.references),
                cli_cell_bool(info.nullable),
                cli_cell_u64(pcol_table_rows(schema->tables[t])),
            };
            cli_table_row(table, cells);
        }
    }
    return cli_table_end(table, code);
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

/* A number of the column's own type that is kept as 64 bits. */
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
             info->values_offset == PCOL_NOWHERE ? PCOL_NOWHERE : info->values_bytes);
    json_u64(out, first, "validity_offset", info->validity_offset);
    json_u64(out, first, "data_offset", info->data_offset);
    json_u64(out, first, "data_length",
             info->data_offset == PCOL_NOWHERE ? PCOL_NOWHERE : info->data_bytes);
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

    for (uint32_t t = 0; t < schema->count; t++) {
        uint32_t count = pcol_table_column_count(schema->tables[t]);
        for (uint32_t i = 0; i < count; i++) {
            pcol_column_info info;
            int first = 1;
            pcol_column_describe(pcol_table_column(schema->tables[t], i), &info);
            if (!lines)
                cli_out_text(out, written++ == 0 ? "[\n" : ",\n");
            cli_out_text(out, "{");
            json_text(out, &first, "table", pcol_table_name(schema->tables[t]));
            json_text(out, &first, "name", info.name);
            json_text(out, &first, "type", pcol_type_name(info.type));
            if (schema->model == PCOL_MODEL_PHYSICAL) {
                json_physical(out, &first, &info);
            } else {
                json_bool(out, &first, "primary_key", info.primary_key);
                json_text(out, &first, "references", info.references);
                json_bool(out, &first, "nullable", info.nullable);
                if (schema->with_rows)
                    json_u64(out, &first, "rows", pcol_table_rows(schema->tables[t]));
            }
            cli_out_text(out, lines ? "}\n" : "}");
        }
    }
    if (!lines)
        cli_out_text(out, written == 0 ? "[]\n" : "\n]\n");
}

/* ---- sql and mermaid ---- */

static const char *sql_type(pcol_type type)
{
    switch (type) {
    case PCOL_I64:
    case PCOL_U32:
        return "BIGINT";
    case PCOL_U64:
        return "NUMERIC(20)";
    case PCOL_F64:
        return "DOUBLE PRECISION";
    case PCOL_STRING:
        return "TEXT";
    case PCOL_BYTES:
        return "TEXT";
    case PCOL_BOOL:
        return "BOOLEAN";
    case PCOL_LIST:
        return "BIGINT[]";
    }
    return "TEXT";
}

static void sql_name(struct cli_out *out, const char *name)
{
    cli_out_text(out, "\"");
    for (; *name != '\0'; name++) {
        if (*name == '"')
            cli_out_text(out, "\"");
        cli_out_safe(out, name, 1);
    }
    cli_out_text(out, "\"");
}

static const pcol_table *table_named(const struct schema *schema, const char *name, uint32_t *at)
{
    for (uint32_t i = 0; i < schema->count; i++)
        if (strcmp(pcol_table_name(schema->tables[i]), name) == 0) {
            *at = i;
            return schema->tables[i];
        }
    return NULL;
}

/* The only column of a table's primary key; NULL if it has another number of them. */
static const char *only_key(const pcol_table *table)
{
    const char *key = NULL;
    uint32_t count = pcol_table_column_count(table);

    for (uint32_t i = 0; i < count; i++) {
        pcol_column_info info;
        pcol_column_describe(pcol_table_column(table, i), &info);
        if (!info.primary_key)
            continue;
        if (key != NULL)
            return NULL;
        key = info.name;
    }
    return key;
}

/* The table and key that a column refers to; NULL if it refers to none. */
static const char *foreign_key(const struct schema *schema, const pcol_column_info *info,
                               uint32_t *at)
{
    const pcol_table *table =
        info->references != NULL ? table_named(schema, info->references, at) : NULL;

    return table != NULL ? only_key(table) : NULL;
}

static void sql_table(const struct schema *schema, struct cli_out *out, const pcol_table *table)
{
    uint32_t count = pcol_table_column_count(table);
    pcol_column_info info;
    int keys = 0;

    cli_out_text(out, "CREATE TABLE ");
    sql_name(out, pcol_table_name(table));
    for (uint32_t i = 0; i < count; i++) {
        pcol_column_describe(pcol_table_column(table, i), &info);
        cli_out_text(out, i == 0 ? " (\n  " : ",\n  ");
        sql_name(out, info.name);
        cli_out_printf(out, " %s%s", sql_type(info.type), info.nullable ? "" : " NOT NULL");
    }
    for (uint32_t i = 0; i < count; i++) {
        pcol_column_describe(pcol_table_column(table, i), &info);
        if (!info.primary_key)
            continue;
        cli_out_text(out, keys++ == 0 ? ",\n  PRIMARY KEY (" : ", ");
        sql_name(out, info.name);
    }
    cli_out_text(out, keys > 0 ? ")" : "");
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at;
        pcol_column_describe(pcol_table_column(table, i), &info);
        const char *key = foreign_key(schema, &info, &at);
        if (key == NULL)
            continue;
        cli_out_text(out, ",\n  FOREIGN KEY (");
        sql_name(out, info.name);
        cli_out_text(out, ") REFERENCES ");
        sql_name(out, info.references);
        cli_out_text(out, " (");
        sql_name(out, key);
        cli_out_text(out, ")");
    }
    cli_out_text(out, "\n);\n");
}

/* A table can be made when those that it refers to are there. */
static int can_make(const struct schema *schema, uint32_t table, const unsigned char *made)
{
    uint32_t count = pcol_table_column_count(schema->tables[table]);

    for (uint32_t i = 0; i < count; i++) {
        pcol_column_info info;
        uint32_t at;
        pcol_column_describe(pcol_table_column(schema->tables[table], i), &info);
        if (foreign_key(schema, &info, &at) != NULL && at != table && !made[at])
            return 0;
    }
    return 1;
}

static int print_sql(const struct schema *schema, struct cli_out *out)
{
    unsigned char *made = calloc((size_t)schema->count + 1, 1);
    uint32_t left = schema->count;

    if (made == NULL)
        return cli_fail_memory();
    while (left > 0) {
        uint32_t before = left;
        for (uint32_t i = 0; i < schema->count; i++)
            if (!made[i] && can_make(schema, i, made)) {
                sql_table(schema, out, schema->tables[i]);
                made[i] = 1;
                left--;
            }
        if (left == before)
            break; /* a circle of references; our models have none */
    }
    free(made);
    return CLI_OK;
}

/* Mermaid's names are letters, digits and '_'; the real one stands behind as a comment. */
static void mermaid_name(struct cli_out *out, const char *name)
{
    const char *at = name + (*name == '.');

    if (*at >= '0' && *at <= '9')
        cli_out_text(out, "_");
    for (; *at != '\0'; at++) {
        int plain = (*at >= '0' && *at <= '9') || (*at >= 'a' && *at <= 'z') ||
                    (*at >= 'A' && *at <= 'Z') || *at == '_';
        cli_out_write(out, plain ? at : "_", 1);
    }
}

static void print_mermaid(const struct schema *schema, struct cli_out *out)
{
    pcol_column_info info;
    uint32_t at;

    cli_out_text(out, "erDiagram\n");
    for (uint32_t t = 0; t < schema->count; t++) {
        const pcol_table *table = schema->tables[t];
        uint32_t count = pcol_table_column_count(table);
        cli_out_text(out, "    ");
        mermaid_name(out, pcol_table_name(table));
        cli_out_text(out, " {\n");
        for (uint32_t i = 0; i < count; i++) {
            pcol_column_describe(pcol_table_column(table, i), &info);
            int refers =
                info.references != NULL && table_named(schema, info.references, &at) != NULL;
            cli_out_printf(out, "        %s ", pcol_type_name(info.type));
            mermaid_name(out, info.name);
            cli_out_text(out, info.primary_key && refers ? " PK, FK"
                              : info.primary_key         ? " PK"
                              : refers                   ? " FK"
                                                         : "");
            if (info.name[0] == '.') {
                cli_out_text(out, " \"");
                for (const char *c = info.name; *c != '\0'; c++)
                    cli_out_safe(out, *c == '"' ? "'" : c, 1);
                cli_out_text(out, "\"");
            }
            cli_out_text(out, "\n");
        }
        cli_out_text(out, "    }\n");
    }
    for (uint32_t t = 0; t < schema->count; t++) {
        uint32_t count = pcol_table_column_count(schema->tables[t]);
        for (uint32_t i = 0; i < count; i++) {
            pcol_column_describe(pcol_table_column(schema->tables[t], i), &info);
            if (info.references == NULL || table_named(schema, info.references, &at) == NULL)
                continue;
            cli_out_text(out, "    ");
            mermaid_name(out, info.references);
            cli_out_text(out, info.nullable ? " |o--o{ " : " ||--o{ ");
            mermaid_name(out, pcol_table_name(schema->tables[t]));
            cli_out_text(out, " : \"");
            mermaid_name(out, info.name);
            cli_out_text(out, "\"\n");
        }
    }
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
        code = print_sql(schema, &out);
    else if (strcmp(format, "mermaid") == 0)
        print_mermaid(schema, &out);
    else if (strcmp(format, "json") == 0 || strcmp(format, "ndjson") == 0)
        print_json(schema, &out, strcmp(format, "ndjson") == 0);
    else if (schema->model == PCOL_MODEL_PHYSICAL)
        code = print_physical(schema, &out, args);
    else
        code = print_logical(schema, &out, args);
    return cli_out_finish(&out, code);
}

/* A file without any content. */
static int open_empty(struct cli_input *input)
{
    pcol_builder *builder = NULL;
    pcol_error err;
    size_t size;
    pcol_status status = pcol_builder_new(NULL, &builder, &err);

    memset(input, 0, sizeof *input);
    if (status == PCOL_OK)
        status = pcol_builder_write_memory(builder, 0, &input->memory, &size, &err);
    pcol_builder_free(builder);
    input->from_library = 1;
    if (status == PCOL_OK)
        status = pcol_file_open_memory(input->memory, size, NULL, &input->file, &err);
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
    free((void *)schema.tables);
    cli_input_close(&input);
    return code;
}

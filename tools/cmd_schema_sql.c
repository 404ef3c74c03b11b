/*
 * cmd_schema_sql.c - schema as CREATE TABLE statements or as an entity relationship diagram
 */
#include "cmd_schema.h"

#include <stdlib.h>
#include <string.h>

/* ---- sql ---- */

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

/* As in the header of CSV, which is loaded by these names. */
static void sql_name(struct cli_out *out, const char *name)
{
    cli_out_text(out, "\"");
    for (const char *quote; (quote = strchr(name, '"')) != NULL; name = quote + 1) {
        cli_out_plain(out, name, (size_t)(quote - name) + 1);
        cli_out_text(out, "\"");
    }
    cli_out_plain(out, name, strlen(name));
    cli_out_text(out, "\"");
}

static const struct schema_table *table_named(const struct schema *schema, const char *name,
                                              size_t *at)
{
    for (size_t i = 0; i < schema->count; i++)
        if (strcmp(schema->tables[i].name, name) == 0) {
            *at = i;
            return &schema->tables[i];
        }
    return NULL;
}

/* The single column of a table's primary key; NULL for composite or missing keys. */
static const char *only_key(const struct schema_table *table)
{
    const char *key = NULL;

    for (size_t i = 0; i < table->columns.count; i++) {
        if (!table->columns.list[i].primary_key)
            continue;
        if (key != NULL)
            return NULL;
        key = table->columns.list[i].name;
    }
    return key;
}

/* The table and key that a column refers to; NULL if none. */
static const char *foreign_key(const struct schema *schema, const pcol_column_info *column,
                               size_t *at)
{
    const struct schema_table *table =
        column->references != NULL ? table_named(schema, column->references, at) : NULL;

    return table != NULL ? only_key(table) : NULL;
}

static void sql_table(const struct schema *schema, struct cli_out *out,
                      const struct schema_table *table)
{
    const pcol_column_info *list = table->columns.list;
    size_t count = table->columns.count;
    int keys = 0;

    cli_out_text(out, "CREATE TABLE ");
    sql_name(out, table->name);
    for (size_t i = 0; i < count; i++) {
        cli_out_text(out, i == 0 ? " (\n  " : ",\n  ");
        sql_name(out, list[i].name);
        cli_out_printf(out, " %s%s", sql_type(list[i].type), list[i].nullable ? "" : " NOT NULL");
    }
    for (size_t i = 0; i < count; i++) {
        if (!list[i].primary_key)
            continue;
        cli_out_text(out, keys++ == 0 ? ",\n  PRIMARY KEY (" : ", ");
        sql_name(out, list[i].name);
    }
    cli_out_text(out, keys > 0 ? ")" : "");
    for (size_t i = 0; i < count; i++) {
        size_t at;
        const char *key = foreign_key(schema, &list[i], &at);
        if (key == NULL)
            continue;
        cli_out_text(out, ",\n  FOREIGN KEY (");
        sql_name(out, list[i].name);
        cli_out_text(out, ") REFERENCES ");
        sql_name(out, list[i].references);
        cli_out_text(out, " (");
        sql_name(out, key);
        cli_out_text(out, ")");
    }
    cli_out_text(out, "\n);\n");
}

/* Topological order: a table follows the tables that it refers to. */
static int can_make(const struct schema *schema, size_t table, const unsigned char *made)
{
    const struct cli_columns *columns = &schema->tables[table].columns;

    for (size_t i = 0; i < columns->count; i++) {
        size_t at;
        if (foreign_key(schema, &columns->list[i], &at) != NULL && at != table && !made[at])
            return 0;
    }
    return 1;
}

int schema_sql(const struct schema *schema, struct cli_out *out)
{
    unsigned char *made = calloc(schema->count + 1, 1);
    size_t left = schema->count;

    if (made == NULL)
        return cli_fail_memory();
    while (left > 0) {
        size_t before = left;
        for (size_t i = 0; i < schema->count; i++)
            if (!made[i] && can_make(schema, i, made)) {
                sql_table(schema, out, &schema->tables[i]);
                made[i] = 1;
                left--;
            }
        if (left == before)
            break; /* a cycle of references; our models have none */
    }
    free(made);
    return CLI_OK;
}

/* ---- mermaid ---- */

/* Mermaid names consist of letters, digits and '_'; the real name follows as a comment. */
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

/* A comment has no escape for a quote. */
static void mermaid_comment(struct cli_out *out, const char *name)
{
    for (const char *quote; (quote = strchr(name, '"')) != NULL; name = quote + 1) {
        cli_out_safe(out, name, (size_t)(quote - name));
        cli_out_text(out, "'");
    }
    cli_out_safe(out, name, strlen(name));
}

static void mermaid_table(const struct schema *schema, struct cli_out *out,
                          const struct schema_table *table)
{
    cli_out_text(out, "    ");
    mermaid_name(out, table->name);
    cli_out_text(out, " {\n");
    for (size_t i = 0; i < table->columns.count; i++) {
        const pcol_column_info *column = &table->columns.list[i];
        size_t at;
        int refers =
            column->references != NULL && table_named(schema, column->references, &at) != NULL;
        cli_out_printf(out, "        %s ", pcol_type_name(column->type));
        mermaid_name(out, column->name);
        cli_out_text(out, column->primary_key && refers ? " PK, FK"
                          : column->primary_key         ? " PK"
                          : refers                      ? " FK"
                                                        : "");
        if (column->name[0] == '.') {
            cli_out_text(out, " \"");
            mermaid_comment(out, column->name);
            cli_out_text(out, "\"");
        }
        cli_out_text(out, "\n");
    }
    cli_out_text(out, "    }\n");
}

void schema_mermaid(const struct schema *schema, struct cli_out *out)
{
    cli_out_text(out, "erDiagram\n");
    for (size_t t = 0; t < schema->count; t++)
        mermaid_table(schema, out, &schema->tables[t]);
    for (size_t t = 0; t < schema->count; t++) {
        const struct cli_columns *columns = &schema->tables[t].columns;
        for (size_t i = 0; i < columns->count; i++) {
            const pcol_column_info *column = &columns->list[i];
            size_t at;
            if (column->references == NULL || table_named(schema, column->references, &at) == NULL)
                continue;
            cli_out_text(out, "    ");
            mermaid_name(out, column->references);
            cli_out_text(out, column->nullable ? " |o--o{ " : " ||--o{ ");
            mermaid_name(out, schema->tables[t].name);
            cli_out_text(out, " : \"");
            mermaid_name(out, column->name);
            cli_out_text(out, "\"\n");
        }
    }
}

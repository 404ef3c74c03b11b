/*
 * cmd_schema.h - tables and columns that schema describes
 */
#ifndef PCOL_TOOLS_CMD_SCHEMA_H
#define PCOL_TOOLS_CMD_SCHEMA_H

#include "cli.h"

/* A table with its displayed columns. */
struct schema_table {
    const pcol_table *table;
    const char *name;
    struct cli_columns columns;
};

struct schema {
    const pcol_file *file;
    const char *name;
    pcol_model model;
    int with_rows; /* a real file: its numbers of rows are meaningful */
    struct schema_table *tables;
    size_t count;
};

/* Write CREATE TABLE statements or an entity relationship diagram. */
int schema_sql(const struct schema *schema, struct cli_out *out);
void schema_mermaid(const struct schema *schema, struct cli_out *out);

#endif

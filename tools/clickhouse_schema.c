/*
 * clickhouse_schema.c - files of unpack --to clickhouse: their names, RowBinary and schema.sql
 *
 * Tables are ReplacingMergeTree: rows that are inserted again, after an insert that failed half
 * way, replace themselves. The sorting key of samples therefore has all of its columns but the
 * value. Tests: tests/cli/clickhouse.test, sql/fleet/demo.
 */
#include "clickhouse.h"

#include <stdlib.h>

/* ---- names ---- */

#define ROWS ".rowbinary"
static const char *const fixed_names[CH_FILE_SHARDS] = {"schema.sql", "hashes", ("functions" ROWS)};
static const char *const sharded_names[2] = {"samples", "stacks"};

/* "samples-12.rowbinary" and the fixed names. */
static int is_own(const char *name)
{
    for (size_t i = 0; i < CH_FILE_SHARDS; i++)
        if (strcmp(name, fixed_names[i]) == 0)
            return 1;
    for (size_t i = 0; i < 2; i++) {
        size_t size = strlen(sharded_names[i]);
        if (strncmp(name, sharded_names[i], size) == 0 && name[size] == '-') {
            size_t digits = strspn(name + size + 1, "0123456789");
            return digits > 0 && strcmp(name + size + 1 + digits, ROWS) == 0;
        }
    }
    return 0;
}

static char *file_name(size_t index)
{
    enum { NAME_SIZE = 64 };
    char *name = malloc(NAME_SIZE);

    if (name == NULL)
        return NULL;
    if (index < CH_FILE_SHARDS)
        snprintf(name, NAME_SIZE, "%s", fixed_names[index]);
    else
        snprintf(name, NAME_SIZE, "%s-%zu" ROWS, sharded_names[(index - CH_FILE_SHARDS) % 2],
                 (index - CH_FILE_SHARDS) / 2);
    return name;
}

int ch_output_open(struct ch_output *output, const struct cli_args *args, size_t shards)
{
    size_t count = CH_FILE_SHARDS + 2 * shards;

    output->shards = shards;
    output->names = calloc(count, sizeof *output->names);
    if (output->names == NULL)
        return cli_fail_memory();
    for (size_t i = 0; i < count; i++)
        if ((output->names[i] = file_name(i)) == NULL)
            return cli_fail_memory();
    return cli_folder_open(&output->folder, args, (const char *const *)output->names, count,
                           is_own);
}

int ch_output_finish(struct ch_output *output, int code)
{
    size_t count = output->names != NULL ? CH_FILE_SHARDS + 2 * output->shards : 0;

    code = cli_folder_finish(&output->folder, code);
    for (size_t i = 0; i < count; i++)
        free(output->names[i]);
    free(output->names);
    output->names = NULL;
    return code;
}

/* ---- RowBinary ---- */

void ch_put_integer(struct ch_output *output, struct cli_folder_file *file, uint64_t value,
                    size_t size)
{
    unsigned char bytes[8];

    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)(value >> (8 * i));
    cli_folder_write(&output->folder, file, bytes, size);
}

void ch_put_length(struct ch_output *output, struct cli_folder_file *file, uint64_t length)
{
    unsigned char bytes[10];
    size_t size = 0;

    for (; length >= 0x80; length >>= 7)
        bytes[size++] = (unsigned char)(length | 0x80);
    bytes[size++] = (unsigned char)length;
    cli_folder_write(&output->folder, file, bytes, size);
}

void ch_put_text(struct ch_output *output, struct cli_folder_file *file, pcol_str text)
{
    ch_put_length(output, file, text.size);
    cli_folder_write(&output->folder, file, text.data, text.size);
}

/* ---- schema.sql ---- */

static void put(struct ch_output *output, const char *text)
{
    cli_folder_write(&output->folder, &output->folder.files[CH_FILE_SCHEMA], text, strlen(text));
}

/* A name of a column between backticks, with escapes: names such as `index` are keywords. */
static void put_name(struct ch_output *output, const char *name)
{
    put(output, "`");
    for (const char *at = name; *at != '\0'; at++) {
        char one[2] = {*at, '\0'};
        put(output, *at == '`' || *at == '\\' ? "\\" : "");
        put(output, one);
    }
    put(output, "`");
}

void ch_put_schema(struct ch_output *output, const char *const *keys, size_t key_count)
{
    put(output, "-- Tables of `pcol unpack --to clickhouse`, for one node.\n"
                "SET allow_experimental_low_cardinality_type = 1;\n\n"
                "CREATE TABLE IF NOT EXISTS samples (\n"
                "    time DateTime,\n");
    for (size_t i = 0; i < key_count; i++) {
        put(output, "    ");
        put_name(output, keys[i]);
        put(output, " LowCardinality(String),\n");
    }
    put(output, "    type LowCardinality(String),\n"
                "    stack FixedString(16),\n"
                "    value Int64\n"
                ") ENGINE = ReplacingMergeTree PARTITION BY toDate(time)\n"
                "ORDER BY (");
    for (size_t i = 0; i + 1 < key_count; i++) {
        put_name(output, keys[i]);
        put(output, ", ");
    }
    put(output, "type, toStartOfHour(time), stack, ");
    put_name(output, keys[key_count - 1]);
    put(output, ", time);\n\n"
                "CREATE TABLE IF NOT EXISTS stacks (\n"
                "    stack FixedString(16),\n"
                "    functions Array(LowCardinality(String)),\n"
                "    files Array(LowCardinality(String)),\n"
                "    lines Array(UInt32),\n"
                "    fns Array(UInt64)\n"
                ") ENGINE = ReplacingMergeTree ORDER BY stack;\n\n"
                "CREATE TABLE IF NOT EXISTS functions (\n"
                "    fn UInt64,\n"
                "    name String,\n"
                "    file String\n"
                ") ENGINE = ReplacingMergeTree ORDER BY fn;\n");
}

/*
 * cmd_info.c - info: a summary of a profile, as text or as one JSON object on each line
 */
#include "cmd.h"
#include "cmd_info_cpu.h"
#include "cmd_info_labels.h"

#include <stdlib.h>
#include <string.h>

const struct cli_option cmd_info_options[] = {
    CLI_TEXT_CHOICE(0, "format", "FORMAT", format, "text|json|ndjson",
                    "text (default); json or ndjson: one object and line for each file"),
    CLI_COUNT_OPTION(
        'n', "rows", "N", rows,
        "text: at most N sources, threads (default: 5) and label keys (default: 20); 0 "
        "or -v: all"),
    CLI_TEXT_OPTION(0, "time", "A-B", time,
                    "also show the CPU time of threads from A up to B, or A+LENGTH; +A-B: relative "
                    "to the first sample; in ms, or with s, ms, us, ns"),
    CLI_TEXT_OPTION(0, "thread", "RE", thread, "with --time: only threads with a matching name"),
    CLI_OPTIONS_OUTPUT,
    CLI_OPTIONS_IMPORT_LIST,
    CLI_OPTION_END,
};

/* Data of both forms. */
struct info {
    const struct cli_input *input;
    const pcol_table *samples, *sources, *types, *threads; /* sources: v2; the others physical */
    uint64_t sample_rows, source_rows, type_rows, thread_rows;
    unsigned char *is_default; /* by sample type: queries use it by default */
    uint32_t *first_equal;     /* by sample type: the first that differs only in its storage */
};

/* ---- data ---- */

struct type_key {
    struct cli_cell type, unit, ordinal;
    uint64_t row;
};

static int compare_text(const struct cli_cell *a, const struct cli_cell *b)
{
    if (a->kind != CLI_CELL_TEXT || b->kind != CLI_CELL_TEXT)
        return (a->kind == CLI_CELL_TEXT) - (b->kind == CLI_CELL_TEXT);
    size_t size = a->as.text.size < b->as.text.size ? a->as.text.size : b->as.text.size;
    int is_same = size == 0 || a->as.text.data == b->as.text.data; /* one string of the file */
    int order = is_same ? 0 : memcmp(a->as.text.data, b->as.text.data, size);
    return order != 0 ? order : (a->as.text.size > size) - (b->as.text.size > size);
}

static int compare_names(const struct type_key *a, const struct type_key *b)
{
    int order = compare_text(&a->type, &b->type);

    if (order == 0)
        order = compare_text(&a->unit, &b->unit);
    if (order != 0)
        return order;
    int64_t of_a = a->ordinal.kind == CLI_CELL_I64 ? a->ordinal.as.i64 : 0;
    int64_t of_b = b->ordinal.kind == CLI_CELL_I64 ? b->ordinal.as.i64 : 0;
    return (of_a > of_b) - (of_a < of_b);
}

static int compare_types(const void *a, const void *b)
{
    const struct type_key *x = a, *y = b;
    int order = compare_names(x, y);

    return order != 0 ? order : (x->row > y->row) - (x->row < y->row);
}

/* Find sample types that differ only in the storage of their values, integers or doubles: for users
 * they are one. */
static pcol_status find_equal(struct info *info, pcol_error *err)
{
    struct type_key *keys = calloc((size_t)info->type_rows + 1, sizeof *keys);
    pcol_status status = keys != NULL ? PCOL_OK : cli_set_memory(err);

    for (uint64_t i = 0; i < info->type_rows && status == PCOL_OK; i++) {
        keys[i].row = i;
        status = cli_cell_find(info->types, "type", i, &keys[i].type, err);
        if (status == PCOL_OK)
            status = cli_cell_find(info->types, "unit", i, &keys[i].unit, err);
        if (status == PCOL_OK)
            status = cli_cell_find(info->types, "ordinal", i, &keys[i].ordinal, err);
    }
    if (status == PCOL_OK) {
        qsort(keys, (size_t)info->type_rows, sizeof *keys, compare_types);
        for (uint64_t i = 0; i < info->type_rows; i++)
            info->first_equal[keys[i].row] = i > 0 && compare_names(&keys[i - 1], &keys[i]) == 0
                                                 ? info->first_equal[keys[i - 1].row]
                                                 : (uint32_t)keys[i].row;
    }
    free(keys);
    return status;
}

/* Mark the type that queries use by default. They reject a file with too many sources. */
static pcol_status mark_default(struct info *info, pcol_error *err)
{
    uint32_t type;
    pcol_status status = pcol_file_default_type(info->input->file, &type, err);

    if (status == PCOL_OK && type < info->type_rows)
        info->is_default[info->first_equal[type]] = 1;
    return status == PCOL_E_LIMIT ? PCOL_OK : status;
}

static pcol_status gather(struct info *info, const struct cli_input *input, pcol_error *err)
{
    pcol_status status;

    memset(info, 0, sizeof *info);
    info->input = input;
    status = cli_find_table(input->file, PCOL_MODEL_PHYSICAL, "samples", &info->samples,
                            &info->sample_rows, err);
    if (status == PCOL_OK)
        status = cli_find_table(input->file, PCOL_MODEL_V2, "sources", &info->sources,
                                &info->source_rows, err);
    if (status == PCOL_OK)
        status = cli_find_table(input->file, PCOL_MODEL_PHYSICAL, "sample_types", &info->types,
                                &info->type_rows, err);
    if (status == PCOL_OK)
        status = cli_find_table(input->file, PCOL_MODEL_PHYSICAL, "threads", &info->threads,
                                &info->thread_rows, err);
    if (status == PCOL_OK && info->thread_rows >> 20 > pcol_file_size(input->file) >> 17) {
        memset(err, 0, sizeof *err);
        err->offset = err->inflated_offset = err->row = PCOL_POSITION_UNKNOWN;
        snprintf(err->message, sizeof err->message,
                 "implausible number of threads for a file of this size");
        status = err->status = PCOL_E_LIMIT;
    }
    if (status != PCOL_OK)
        return status;
    /* A table of constants may claim any number of rows at no cost. */
    if (info->type_rows > 65536)
        info->type_rows = 65536;
    info->is_default = calloc((size_t)info->type_rows + 1, 1);
    info->first_equal = calloc((size_t)info->type_rows + 1, sizeof *info->first_equal);
    if (info->is_default == NULL || info->first_equal == NULL)
        return cli_set_memory(err);
    status = find_equal(info, err);
    return status == PCOL_OK ? mark_default(info, err) : status;
}

/* ---- text ---- */

static void put_cell(struct cli_out *out, const struct cli_cell *cell)
{
    char text[CLI_NUMBER_SIZE];

    if (cell->kind == CLI_CELL_TEXT)
        cli_out_safe(out, cell->as.text.data, cell->as.text.size);
    else if (cell->kind == CLI_CELL_NULL)
        cli_out_text(out, "NA");
    else
        cli_out_write(out, text, cli_cell_number(cell, text));
}

/* Append " (20 ms)" to a number of nanoseconds. */
static void put_duration(struct cli_out *out, int64_t ns)
{
    static const struct {
        double ns;
        const char *unit;
    } units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}};
    double size = ns < 0 ? -(double)ns : (double)ns;

    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (size >= units[i].ns) {
            cli_out_printf(out, " (%.6g %s)", (double)ns / units[i].ns, units[i].unit);
            return;
        }
}

static int ends_in(const char *text, const char *end)
{
    size_t size = strlen(text);
    size_t end_size = strlen(end);
    return size >= end_size && strcmp(text + size - end_size, end) == 0;
}

/* Columns of sources that have a line of their own. */
static uint32_t find_source_columns(const struct info *info, uint32_t *columns)
{
    uint32_t used = 0;

    for (uint32_t i = 0; i < pcol_table_column_count(info->sources); i++) {
        pcol_column_info what = cli_describe(pcol_table_column(info->sources, i));
        if (strcmp(what.name, "source_id") != 0 && strcmp(what.name, "source_type") != 0 &&
            strcmp(what.name, "source_uri") != 0 && what.references == NULL &&
            what.null_count < what.rows)
            columns[used++] = i;
    }
    return used;
}

static pcol_status put_source(struct cli_out *out, const struct info *info, uint64_t row,
                              const uint32_t *columns, uint32_t count, pcol_error *err)
{
    struct cli_cell cell;
    pcol_status status = cli_cell_find(info->sources, "source_type", row, &cell, err);

    if (status != PCOL_OK)
        return status;
    cli_out_printf(out, "  source %llu: ", (unsigned long long)row + 1);
    put_cell(out, &cell);
    status = cli_cell_find(info->sources, "source_uri", row, &cell, err);
    if (status == PCOL_OK && cell.kind != CLI_CELL_NULL) {
        cli_out_text(out, "  ");
        put_cell(out, &cell);
    }
    cli_out_text(out, "\n");
    for (uint32_t i = 0; i < count && status == PCOL_OK; i++) {
        const pcol_column *column = pcol_table_column(info->sources, columns[i]);
        status = cli_cell_read(column, row, &cell, err);
        if (status != PCOL_OK || cell.kind == CLI_CELL_NULL)
            continue;
        pcol_column_info what = cli_describe(column);
        if (strcmp(what.name, ".collapsed") == 0 && cell.as.i64 == 0)
            continue;
        const char *name = what.name + (what.name[0] == '.');
        name = strcmp(name, "source_timestamp") == 0 ? "timestamp" : name;
        cli_out_text(out, "    ");
        cli_out_safe(out, name, strlen(name));
        cli_out_text(out, ": ");
        put_cell(out, &cell);
        if (strcmp(name, "time_ns") ==
            0) /* pprof: a point in time; timestamp has the same in readable form */
            cli_out_text(out, " (since 1970)");
        else if (ends_in(name, "_ns") && cell.kind == CLI_CELL_I64)
            put_duration(out, cell.as.i64);
        cli_out_text(out, "\n");
    }
    return status;
}

#define MOST_KINDS 16u
#define MOST_COUNTED 100000u /* a file may claim any number of sources */

/* "295 more sources: rprof 200, pprof 95; -n 0 shows all" */
static pcol_status put_more_sources(struct cli_out *out, const struct info *info, uint64_t from,
                                    pcol_error *err)
{
    struct {
        struct cli_cell type;
        uint64_t count;
    } kinds[MOST_KINDS];
    size_t kind_count = 0;
    char number[CLI_NUMBER_SIZE];

    for (uint64_t row = from; row < info->source_rows && row < MOST_COUNTED; row++) {
        struct cli_cell type;
        size_t k = 0;
        pcol_status status = cli_cell_find(info->sources, "source_type", row, &type, err);
        if (status != PCOL_OK)
            return status;
        while (k < kind_count &&
               (kinds[k].type.as.text.size != type.as.text.size ||
                memcmp(kinds[k].type.as.text.data, type.as.text.data, type.as.text.size) != 0))
            k++;
        if (type.kind != CLI_CELL_TEXT || k == MOST_KINDS)
            continue;
        if (k == kind_count) {
            kinds[kind_count].type = type;
            kinds[kind_count++].count = 0;
        }
        kinds[k].count++;
    }
    cli_out_printf(out, "  %s more source%s", cli_format_grouped(number, info->source_rows - from),
                   info->source_rows - from == 1 ? "" : "s");
    for (size_t k = 0; k < kind_count; k++) {
        cli_out_text(out, k == 0 ? ": " : ", ");
        put_cell(out, &kinds[k].type);
        cli_out_printf(out, " %s", cli_format_grouped(number, kinds[k].count));
    }
    cli_out_text(out, "; -n 0 shows all\n");
    return PCOL_OK;
}

static pcol_status put_sources(struct cli_out *out, const struct info *info, uint64_t limit,
                               pcol_error *err)
{
    uint32_t *columns = malloc((pcol_table_column_count(info->sources) + 1u) * sizeof *columns);
    pcol_status status = columns != NULL ? PCOL_OK : cli_set_memory(err);
    uint32_t count = columns != NULL ? find_source_columns(info, columns) : 0;

    for (uint64_t i = 0; i < info->source_rows && i < limit && status == PCOL_OK && out->code == 0;
         i++)
        status = put_source(out, info, i, columns, count, err);
    free(columns);
    return status == PCOL_OK && info->source_rows > limit ? put_more_sources(out, info, limit, err)
                                                          : status;
}

static pcol_status put_types(struct cli_out *out, const struct info *info, pcol_error *err)
{
    pcol_status status = PCOL_OK;

    for (uint64_t i = 0; i < info->type_rows && status == PCOL_OK; i++) {
        struct cli_cell type;
        struct cli_cell unit;
        struct cli_cell gauge;
        if (info->first_equal[i] != i)
            continue;
        status = cli_cell_find(info->types, "type", i, &type, err);
        if (status == PCOL_OK)
            status = cli_cell_find(info->types, "unit", i, &unit, err);
        if (status == PCOL_OK)
            status = cli_cell_find(info->types, "level", i, &gauge, err);
        if (status != PCOL_OK)
            break;
        cli_out_text(out, i == 0 ? "  sample types: " : ", ");
        put_cell(out, &type);
        cli_out_text(out, "/");
        put_cell(out, &unit);
        int is_gauge = gauge.kind == CLI_CELL_BOOL && gauge.as.i64 != 0;
        if (info->is_default[i])
            cli_out_text(out, is_gauge ? " (default, gauge)" : " (default)");
        else if (is_gauge)
            cli_out_text(out, " (gauge)");
    }
    if (info->type_rows > 0)
        cli_out_text(out, "\n");
    return status;
}

#define ROWS_SHOWN 5
#define KEYS_SHOWN 20

static pcol_status put_threads(struct cli_out *out, const struct info *info, uint64_t limit,
                               pcol_error *err)
{
    pcol_status status = PCOL_OK;
    uint64_t shown = info->thread_rows < limit ? info->thread_rows : limit;

    if (info->thread_rows == 0)
        return status;
    cli_out_printf(out, "  threads: %llu (", (unsigned long long)info->thread_rows);
    for (uint64_t i = 0; i < shown && status == PCOL_OK && out->code == 0; i++) {
        struct cli_cell name;
        struct cli_cell tid;
        status = cli_cell_find(info->threads, "name", i, &name, err);
        if (status == PCOL_OK)
            status = cli_cell_find(info->threads, "tid", i, &tid, err);
        if (status != PCOL_OK)
            return status;
        if (i > 0)
            cli_out_text(out, ", ");
        if (name.kind != CLI_CELL_NULL || tid.kind == CLI_CELL_NULL)
            put_cell(out, &name);
        else
            put_cell(out, &tid);
    }
    if (shown < info->thread_rows)
        cli_out_printf(out, " and %llu more, -n 0 shows all",
                       (unsigned long long)(info->thread_rows - shown));
    cli_out_text(out, ")\n");
    return status;
}

static pcol_status put_tables(struct cli_out *out, const struct info *info, pcol_error *err)
{
    const pcol_file *file = info->input->file;
    uint32_t count = pcol_file_table_count(file, PCOL_MODEL_PHYSICAL);
    uint64_t rest = pcol_file_size(file);
    char rows[CLI_NUMBER_SIZE];
    char bytes[CLI_NUMBER_SIZE];

    cli_out_printf(out, "  %-24s %16s %16s\n",
                   pcol_file_is_imported(info->input->file) ? "table, when packed" : "table",
                   "rows", "bytes");
    for (uint32_t i = 0; i < count; i++) {
        const pcol_table *table;
        pcol_status status = pcol_file_table(file, PCOL_MODEL_PHYSICAL, i, &table, err);
        const char *name = pcol_file_table_name(file, PCOL_MODEL_PHYSICAL, i);
        cli_out_text(out, "  ");
        if (name != NULL)
            cli_out_safe(out, name, strlen(name));
        size_t width = name != NULL ? strlen(name) : 0;
        cli_out_printf(out, "%*s", width < 24 ? (int)(24 - width) : 0, "");
        if (status == PCOL_E_UNSUPPORTED) {
            cli_out_printf(out, " %16s\n", "not readable");
            continue;
        }
        if (status != PCOL_OK)
            return status;
        uint64_t size = cli_table_bytes(table);
        rest -= size < rest ? size : rest;
        cli_out_printf(out, " %16s %16s\n", cli_format_grouped(rows, pcol_table_rows(table)),
                       cli_format_grouped(bytes, size));
    }
    cli_out_printf(out, "  %-24s %16s %16s\n", "(index and padding)", "",
                   cli_format_grouped(bytes, rest));
    return PCOL_OK;
}

/* Total of the default sample type, as in top; a gauge has no sum. A file whose stacks cannot be
 * queried has none either: top reports the reason. */
static pcol_status put_total(struct cli_out *out, const struct info *info,
                             const struct cli_args *args, pcol_error *err)
{
    pcol_selection selection = PCOL_INIT(pcol_selection);
    pcol_query *query;
    struct cli_amounts amounts;
    pcol_status status;

    if (info->sample_rows == 0)
        return PCOL_OK;
    status = pcol_query_new(info->input->file, &selection, NULL, &query, err);
    if (status == PCOL_E_ARGUMENT || status == PCOL_E_NOT_FOUND || status == PCOL_E_LIMIT ||
        status == PCOL_E_UNSUPPORTED)
        return PCOL_OK;
    if (status != PCOL_OK)
        return status;
    cli_amounts_init(&amounts, query, args, out);
    amounts.people = 1;
    cli_out_text(out, "  values: ");
    cli_amounts_header(&amounts, out);
    pcol_query_free(query);
    return PCOL_OK;
}

/* Times of the first and the last sample; first > last: unknown. Several sources have no common
 * clock and therefore no range. */
static pcol_status time_range(const struct info *info, int64_t *first, int64_t *last,
                              pcol_error *err)
{
    *first = 1;
    *last = 0;
    return info->source_rows == 1 ? pcol_file_times(info->input->file, 0, first, last, err)
                                  : PCOL_OK;
}

static pcol_status put_times(struct cli_out *out, const struct info *info, pcol_error *err)
{
    int64_t first, last;
    pcol_status status = time_range(info, &first, &last, err);

    if (status != PCOL_OK || first > last)
        return status;
    cli_out_printf(out, "  times: from %.3f to %.3f ms", (double)first / 1e6, (double)last / 1e6);
    if (first >= 0 || last < INT64_MAX + first)
        put_duration(out, last - first);
    cli_out_text(out, "\n");
    return PCOL_OK;
}

/* "run.pcol: pcol file, format 1.0" or "run.out: rprof, 12,345 bytes". */
static pcol_status put_name(struct cli_out *out, const struct info *info, pcol_error *err)
{
    char number[CLI_NUMBER_SIZE];
    struct cli_cell type;
    unsigned major, minor;
    pcol_status status;

    cli_out_safe(out, info->input->name, strlen(info->input->name));
    if (!pcol_file_is_imported(info->input->file)) {
        pcol_file_version(info->input->file, &major, &minor);
        cli_out_printf(out, ": pcol file, format %u.%u\n", major, minor);
        return PCOL_OK;
    }
    cli_out_text(out, ": ");
    status = cli_cell_find(info->sources, "source_type", 0, &type, err);
    if (status != PCOL_OK)
        return status;
    put_cell(out, &type);
    if (info->input->bytes > 0)
        cli_out_printf(out, ", %s bytes", cli_format_grouped(number, info->input->bytes));
    cli_out_text(out, "\n");
    return PCOL_OK;
}

static pcol_status put_text(struct cli_out *out, const struct info *info,
                            const struct cli_args *args, pcol_error *err)
{
    const pcol_file *file = info->input->file;
    char number[CLI_NUMBER_SIZE];
    pcol_status status;

    status = put_name(out, info, err);
    if (status != PCOL_OK)
        return status;
    cli_out_printf(out,
                   pcol_file_is_imported(info->input->file) ? "  size when packed: %s bytes"
                                                            : "  size: %s bytes",
                   cli_format_grouped(number, pcol_file_size(file)));
    if (info->sample_rows > 0)
        cli_out_printf(out, ", %.2f per sample",
                       (double)pcol_file_size(file) / (double)info->sample_rows);
    if (pcol_file_is_archive(file))
        cli_out_printf(out, "; archive, %s unpacked",
                       cli_format_grouped(number, pcol_file_unpacked_size(file)));
    cli_out_printf(out, "\n  samples: %s\n", cli_format_grouped(number, info->sample_rows));
    status = put_types(out, info, err);
    if (status == PCOL_OK)
        status = put_total(out, info, args, err);
    if (status == PCOL_OK)
        status = put_times(out, info, err);
    uint64_t limit = cli_row_limit(args, args->verbose ? UINT64_MAX : ROWS_SHOWN);
    if (status == PCOL_OK)
        status = put_sources(out, info, limit, err);
    if (status == PCOL_OK)
        status = put_threads(out, info, limit, err);
    if (status == PCOL_OK)
        status = info_put_labels(out, file, args->verbose,
                                 cli_row_limit(args, args->verbose ? UINT64_MAX : KEYS_SHOWN), err);
    return status == PCOL_OK ? put_tables(out, info, err) : status;
}

/* ---- JSON ---- */

static void json_number(struct cli_out *out, int *first, const char *key, uint64_t value)
{
    struct cli_cell cell = cli_cell_u64(value);

    cli_json_key(out, first, key);
    cli_json_cell(out, &cell);
}

/* Write the rows of a table as an array of objects. types: NULL unless it is the sample types, of
 * which equal ones are one object, with the key "default". */
static pcol_status json_rows(struct cli_out *out, const pcol_table *table, uint64_t rows,
                             const struct info *types, pcol_error *err)
{
    uint32_t count = table != NULL ? pcol_table_column_count(table) : 0;
    pcol_status status = PCOL_OK;

    cli_out_text(out, "[");
    for (uint64_t row = 0; row < rows && status == PCOL_OK && out->code == 0; row++) {
        int first = 1;
        if (types != NULL && types->first_equal[row] != row)
            continue;
        cli_out_text(out, row > 0 ? ",{" : "{");
        for (uint32_t i = 0; i < count && status == PCOL_OK; i++) {
            pcol_column_info info = cli_describe(pcol_table_column(table, i));
            struct cli_cell cell;
            status = cli_cell_read(pcol_table_column(table, i), row, &cell, err);
            cli_json_key(out, &first, info.name);
            cli_json_cell(out, &cell);
        }
        if (types != NULL) {
            struct cli_cell cell = cli_cell_bool(types->is_default[row]);
            cli_json_key(out, &first, "default");
            cli_json_cell(out, &cell);
        }
        cli_out_text(out, "}");
    }
    cli_out_text(out, "]");
    return status;
}

static pcol_status json_tables(struct cli_out *out, const pcol_file *file, pcol_error *err)
{
    uint32_t count = pcol_file_table_count(file, PCOL_MODEL_PHYSICAL);
    int written = 0;

    cli_out_text(out, "[");
    for (uint32_t i = 0; i < count; i++) {
        const pcol_table *table;
        int first = 1;
        pcol_status status = pcol_file_table(file, PCOL_MODEL_PHYSICAL, i, &table, err);
        if (status == PCOL_E_UNSUPPORTED)
            continue;
        if (status != PCOL_OK)
            return status;
        struct cli_cell name = cli_cell_text(pcol_table_name(table));
        cli_out_text(out, written++ > 0 ? ",{" : "{");
        cli_json_key(out, &first, "name");
        cli_json_cell(out, &name);
        json_number(out, &first, "rows", pcol_table_rows(table));
        json_number(out, &first, "bytes", cli_table_bytes(table));
        cli_out_text(out, "}");
    }
    cli_out_text(out, "]");
    return PCOL_OK;
}

static pcol_status put_json(struct cli_out *out, const struct info *info, int *first,
                            pcol_error *err)
{
    const pcol_file *file = info->input->file;
    struct cli_cell cell = cli_cell_text(info->input->name);
    unsigned major;
    unsigned minor;
    pcol_status status;

    pcol_file_version(file, &major, &minor);
    cli_out_text(out, "{");
    cli_json_key(out, first, "file");
    cli_json_cell(out, &cell);
    cell = cli_cell_bool(pcol_file_is_imported(info->input->file));
    cli_json_key(out, first, "imported");
    cli_json_cell(out, &cell);
    cli_json_key(out, first, "format");
    cli_out_printf(out, "\"%u.%u\"", major, minor);
    if (pcol_file_is_imported(info->input->file) && info->input->bytes > 0)
        json_number(out, first, "input_size", info->input->bytes);
    json_number(out, first, "size", pcol_file_size(file));
    if (pcol_file_is_archive(file))
        json_number(out, first, "unpacked_size", pcol_file_unpacked_size(file));
    json_number(out, first, "samples", info->sample_rows);
    cell.kind = info->sample_rows > 0 ? CLI_CELL_F64 : CLI_CELL_NULL;
    cell.as.f64 =
        info->sample_rows > 0 ? (double)pcol_file_size(file) / (double)info->sample_rows : 0;
    cli_json_key(out, first, "bytes_per_sample");
    cli_json_cell(out, &cell);
    int64_t from, to;
    status = time_range(info, &from, &to, err);
    if (status == PCOL_OK && from <= to) {
        struct cli_cell time = {CLI_CELL_F64, 0, {0}};
        time.as.f64 = (double)from / 1e6;
        cli_json_key(out, first, "first_time_ms");
        cli_json_cell(out, &time);
        time.as.f64 = (double)to / 1e6;
        cli_json_key(out, first, "last_time_ms");
        cli_json_cell(out, &time);
    }
    cli_json_key(out, first, "sample_types");
    if (status == PCOL_OK)
        status = json_rows(out, info->types, info->type_rows, info, err);
    cli_json_key(out, first, "sources");
    if (status == PCOL_OK)
        status = json_rows(out, info->sources, info->source_rows, NULL, err);
    cli_json_key(out, first, "threads");
    if (status == PCOL_OK)
        status = json_rows(out, info->threads, info->thread_rows, NULL, err);
    cli_json_key(out, first, "labels");
    if (status == PCOL_OK)
        status = info_json_labels(out, file, err);
    cli_json_key(out, first, "tables");
    if (status == PCOL_OK)
        status = json_tables(out, file, err);
    return status;
}

static int show(const struct cli_args *args, const char *path, struct cli_out *out)
{
    struct cli_input input;
    struct info_cpu cpu = {0};
    struct info info;
    pcol_error err = {.status = PCOL_E_NO_MEMORY,
                      .offset = PCOL_POSITION_UNKNOWN,
                      .inflated_offset = PCOL_POSITION_UNKNOWN,
                      .row = PCOL_POSITION_UNKNOWN};
    int json = args->format != NULL && strcmp(args->format, "text") != 0;
    int first = 1;
    int code = cli_input_open_packed(&input, path, args);

    if (!json)
        cli_out_fold(out);

    if (code != CLI_OK)
        return code;
    pcol_status status = gather(&info, &input, &err);
    code = status == PCOL_OK ? info_cpu_open(&cpu, args, &input) : cli_fail_error(path, &err);
    if (status == PCOL_OK && code != CLI_USAGE) { /* usage errors come before any output */
        status = json ? put_json(out, &info, &first, &err) : put_text(out, &info, args, &err);
        if (status == PCOL_OK && code == CLI_OK)
            info_put_cpu(&cpu, out, json ? &first : NULL);
        else if (code == CLI_OK)
            code = cli_fail_error(path, &err);
        if (json)
            cli_out_text(out, "}\n");
    }
    free(info.is_default);
    free(info.first_equal);
    info_cpu_close(&cpu);
    cli_input_close(&input);
    return code;
}

int cmd_info(struct cli_args *args)
{
    int code = cli_time_check(args);

    return code == CLI_OK ? cli_each_operand(args, show, 0) : code;
}

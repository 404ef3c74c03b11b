/*
 * cmd_labels.c - labels: the values of each label key, with the sums of their samples
 *
 * A key has the rows of `top --by label:KEY`: a sample counts once for each distinct value, and
 * the row without a value is the sum of the samples without the key. Tests: tests/cli/labels.test.
 */
#include "cmd.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define TERMINAL_ROWS 20
#define PIECE 1024u

const struct cli_option cmd_labels_options[] = {
    CLI_COUNT_OPTION(
        'n', "rows", "N", rows,
        "at most N values of each key; 0: all (default: 20 on a terminal, all elsewhere)"),
    CLI_OPTIONS_SELECTION,
    CLI_OPTION_DEMANGLE_PATTERNS,
    CLI_OPTIONS_TABLE,
    CLI_OPTIONS_IMPORT,
    CLI_OPTION_END,
};

struct keys {
    char **names; /* C strings, sorted */
    size_t count;
    int is_partial; /* a key is omitted: no option can name it */
    int has_others; /* samples have labels without a column, whose keys are not listed */
};

static void free_keys(struct keys *keys)
{
    for (size_t i = 0; i < keys->count; i++)
        free(keys->names[i]);
    free(keys->names);
}

static pcol_status read_keys(const pcol_file *file, struct keys *keys, pcol_error *err)
{
    size_t count, used;
    pcol_status status = pcol_label_keys(file, NULL, 0, &count, err);

    if (status != PCOL_OK || count == 0)
        return status;
    pcol_str *texts = calloc(count, sizeof *texts);
    keys->names = calloc(count, sizeof *keys->names);
    if (texts == NULL || keys->names == NULL)
        status = cli_set_memory(err);
    else
        status = pcol_label_keys(file, texts, count, &used, err);
    for (size_t i = 0; status == PCOL_OK && i < count; i++) {
        /* A selection names a key by a C string. */
        if (texts[i].size > 0 && memchr(texts[i].data, 0, texts[i].size) != NULL)
            keys->is_partial = 1;
        else if ((keys->names[keys->count] =
                      strndup(texts[i].size > 0 ? texts[i].data : "", texts[i].size)) == NULL)
            status = cli_set_memory(err);
        else
            keys->count++;
    }
    free(texts);
    return status;
}

/* Marks the nodes that contain the labels of a sample without columns. */
static pcol_status mark_roots(const pcol_column *extra, uint64_t samples, uint8_t *is_root,
                              uint64_t nodes, pcol_error *err)
{
    pcol_status status = PCOL_OK;

    for (uint64_t row = 0; row < samples && status == PCOL_OK; row += PIECE) {
        size_t count = samples - row < PIECE ? (size_t)(samples - row) : PIECE;
        int64_t roots[PIECE];
        uint8_t valid[PIECE];
        status = pcol_column_read_i64(extra, row, count, roots, valid, err);
        for (size_t i = 0; i < count && status == PCOL_OK; i++)
            if (valid[i] && (uint64_t)roots[i] < nodes)
                is_root[roots[i]] = 1;
    }
    return status;
}

static int is_listed(const struct keys *keys, pcol_str key)
{
    for (size_t i = 0; i < keys->count; i++)
        if (strlen(keys->names[i]) == key.size &&
            (key.size == 0 || memcmp(keys->names[i], key.data, key.size) == 0))
            return 1;
    return 0;
}

/* An object without members is a label with an empty value; its key may have a column. */
static pcol_status test_object(const pcol_table *table, uint64_t row, struct keys *keys,
                               pcol_error *err)
{
    const pcol_column *column = pcol_table_column_by_name(table, "key", NULL);
    pcol_str key = {"", 0};
    int valid = 0;
    pcol_status status = PCOL_OK;

    if (column != NULL)
        status = pcol_column_str(column, row, &key, &valid, err);
    if (status == PCOL_OK && valid && !is_listed(keys, key))
        keys->has_others = 1;
    return status;
}

/* Whether a member of a marked node is a label: documents, which are trees, are no labels. */
static pcol_status find_members(const pcol_table *table, const uint8_t *is_root, uint64_t nodes,
                                struct keys *keys, pcol_error *err)
{
    /* The tags of labels: up to 6, 13, and 8 without members. */
    enum { NODE_BIG = 6, NODE_OBJECT = 8, NODE_ROW = 13 };
    const pcol_column *parent = pcol_table_column_by_name(table, "parent", NULL);
    const pcol_column *tag = pcol_table_column_by_name(table, "tag", NULL);
    uint64_t object = UINT64_MAX; /* the node before, if it is a member that may be an empty one */
    pcol_status status = PCOL_OK;

    for (uint64_t row = 0; parent != NULL && tag != NULL && row < nodes && status == PCOL_OK;
         row += PIECE) {
        size_t count = nodes - row < PIECE ? (size_t)(nodes - row) : PIECE;
        int64_t parents[PIECE], tags[PIECE];
        uint8_t valid[PIECE];
        status = pcol_column_read_i64(tag, row, count, tags, valid, err);
        if (status == PCOL_OK)
            status = pcol_column_read_i64(parent, row, count, parents, valid, err);
        for (size_t i = 0; i < count && status == PCOL_OK && !keys->has_others; i++) {
            if (object != UINT64_MAX && !(valid[i] && (uint64_t)parents[i] == object))
                status = test_object(table, object, keys, err);
            int is_member = valid[i] && (uint64_t)parents[i] < nodes && is_root[parents[i]];
            object = is_member && tags[i] == NODE_OBJECT ? row + i : UINT64_MAX;
            keys->has_others |= is_member && (tags[i] <= NODE_BIG || tags[i] == NODE_ROW);
        }
    }
    if (status == PCOL_OK && object != UINT64_MAX)
        status = test_object(table, object, keys, err);
    return status;
}

static pcol_status find_others(const struct cli_input *input, const pcol_table *samples,
                               uint64_t sample_rows, struct keys *keys, pcol_error *err)
{
    const pcol_column *extra =
        samples != NULL ? pcol_table_column_by_name(samples, "extra", NULL) : NULL;
    const pcol_table *nodes = NULL;
    uint64_t rows = 0;

    if (extra == NULL)
        return PCOL_OK;
    pcol_status status =
        cli_find_table(input->file, PCOL_MODEL_PHYSICAL, "nodes", &nodes, &rows, err);
    if (status == PCOL_OK && nodes != NULL)
        status = cli_verify_row_count(input->file, "nodes", rows, err);
    if (status != PCOL_OK || nodes == NULL)
        return status;
    uint8_t *is_root = calloc((size_t)rows + 1, 1);
    if (is_root == NULL)
        return cli_set_memory(err);
    status = mark_roots(extra, sample_rows, is_root, rows, err);
    if (status == PCOL_OK)
        status = find_members(nodes, is_root, rows, keys, err);
    free(is_root);
    return status;
}

static int find_keys(const struct cli_input *input, struct keys *keys)
{
    const pcol_table *samples = NULL;
    pcol_error err;
    uint64_t sample_rows;
    pcol_status status = read_keys(input->file, keys, &err);

    if (status == PCOL_OK)
        status = cli_find_table(input->file, PCOL_MODEL_PHYSICAL, "samples", &samples, &sample_rows,
                                &err);
    if (status == PCOL_OK)
        status = find_others(input, samples, sample_rows, keys, &err);
    return status == PCOL_OK ? CLI_OK : cli_fail_error(input->name, &err);
}

enum { COLUMNS = 4 };

static void print_key(struct cli_table *table, const char *key, const struct cli_result *values,
                      const struct cli_amounts *amounts, uint64_t limit)
{
    for (size_t i = 0; i < values->count && i < limit; i++) {
        char buffer[CLI_NUMBER_SIZE];
        pcol_str value = cli_result_text(values, CLI_FIELD_NAME, i);
        pcol_amount total = cli_result_amount(values, CLI_FIELD_TOTAL, i);
        struct cli_cell cells[COLUMNS] = {
            cli_amount_cell(amounts, total, buffer), cli_amount_percent(amounts, total),
            cli_cell_text(key), value.data != NULL ? cli_cell_str(value) : cli_cell_text(NULL)};
        cli_table_row(table, cells);
    }
}

static int print_keys(const struct cli_args *args, const struct cli_input *input, pcol_query *query,
                      const struct keys *keys, const struct cli_amounts *amounts,
                      struct cli_out *out)
{
    const struct cli_table_column columns[COLUMNS] = {
        {"total", CLI_RIGHT | CLI_KEEP},
        {amounts->people ? "total%" : "total_pct", CLI_RIGHT | CLI_SHARE},
        {"key", CLI_KEEP},
        {"value", CLI_KEEP}};
    uint64_t limit = cli_row_limit(args, amounts->people ? TERMINAL_ROWS : UINT64_MAX);
    uint64_t omitted = 0;
    struct cli_table *table;
    int code = cli_table_begin(&table, out, args, columns, COLUMNS);

    if (code != CLI_OK)
        return code;
    for (size_t k = 0; k < keys->count && code == CLI_OK && out->code == 0; k++) {
        pcol_top_options options = PCOL_INIT(pcol_top_options);
        struct cli_result values = {0};
        pcol_error err;
        options.by = PCOL_BY_LABEL;
        options.order = PCOL_ORDER_TOTAL;
        options.label = keys->names[k];
        code = cli_result_open(&values, pcol_query_top(query, &options, &values.result, &err), &err,
                               input->name, NULL);
        if (code == CLI_OK)
            print_key(table, keys->names[k], &values, amounts, limit);
        if (code == CLI_OK && values.count > limit)
            omitted += values.count - limit;
        cli_result_close(&values);
    }
    code = cli_table_end(table, code);
    if (omitted > 0 && amounts->people && !args->no_header)
        cli_out_printf(out, "%" PRIu64 " smaller value%s not shown; -n 0 shows all\n", omitted,
                       omitted == 1 ? " is" : "s are");
    return code;
}

static int print(const struct cli_args *args, const struct cli_input *input, pcol_query *query,
                 const struct keys *keys)
{
    static struct cli_out out;
    struct cli_amounts amounts;
    int code = cli_out_open(&out, args);

    if (code != CLI_OK)
        return code;
    cli_amounts_init(&amounts, query, args, &out);
    if (amounts.people)
        cli_out_fold(&out);
    if (amounts.people && !args->no_header)
        cli_amounts_header(&amounts, &out);
    return cli_out_finish(&out, print_keys(args, input, query, keys, &amounts, &out));
}

int cmd_labels(struct cli_args *args)
{
    struct cli_input input;
    struct keys keys = {0};
    pcol_query *query = NULL;
    int code = cli_input_open_all(&input, args);

    if (code != CLI_OK)
        return code;
    code = cli_query_new(&input, args, &query);
    if (code == CLI_OK)
        cli_warn_empty(&input, args, query);
    if (code == CLI_OK)
        code = find_keys(&input, &keys);
    if (code == CLI_OK && keys.count == 0 && !keys.is_partial && !keys.has_others)
        cli_warn(args, input.name, "no sample has a label");
    if (code == CLI_OK && keys.is_partial)
        cli_warn(args, input.name, "keys with a byte 0 are not listed: cat shows them");
    if (code == CLI_OK && keys.has_others)
        cli_warn(args, input.name,
                 "keys without a column, as those beyond the first 512, are not listed: "
                 "top --by label:KEY sums one of them");
    if (code == CLI_OK)
        code = print(args, &input, query, &keys);
    free_keys(&keys);
    pcol_query_free(query);
    cli_input_close(&input);
    return code;
}

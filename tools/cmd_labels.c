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

struct key {
    char *name; /* ends with a 0 byte */
    enum { KEY_OF_LABELS, KEY_OF_STACKS, KEY_OF_VALUES } is;
};

/* The distinct keys of samples, by name. */
struct keys {
    struct key *keys;
    size_t count;
    int is_partial; /* a key is omitted: no option can name it */
    int has_others; /* samples have labels without a column, whose keys are not in label_keys */
};

static void free_keys(struct keys *keys)
{
    for (size_t i = 0; i < keys->count; i++)
        free(keys->keys[i].name);
    free(keys->keys);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct key *)a)->name, ((const struct key *)b)->name);
}

/* Every row of label_keys with a column in `samples`, and those of values, which have none. */
static pcol_status read_keys(const pcol_table *table, const pcol_table *samples, struct keys *keys,
                             pcol_error *err)
{
    uint64_t rows = pcol_table_rows(table);

    keys->keys = calloc((size_t)rows + 1, sizeof *keys->keys);
    if (keys->keys == NULL)
        return cli_set_memory(err);
    for (uint64_t row = 0; row < rows; row++) {
        struct cli_cell of, key, kind;
        char column[32];
        pcol_status status = cli_cell_find(table, "table", row, &of, err);
        if (status == PCOL_OK)
            status = cli_cell_find(table, "key", row, &key, err);
        if (status == PCOL_OK)
            status = cli_cell_find(table, "kind", row, &kind, err);
        if (status != PCOL_OK)
            return status;
        if (!cli_cell_is(&of, "samples") || key.kind != CLI_CELL_TEXT)
            continue;
        snprintf(column, sizeof column, "label.%" PRIu64, row);
        int is_value = cli_cell_is(&kind, "value");
        if (!is_value && pcol_table_column_by_name(samples, column, NULL) == NULL)
            continue;
        /* A selection names a key by a C string. */
        if (key.as.text.size > 0 && memchr(key.as.text.data, 0, key.as.text.size) != NULL) {
            keys->is_partial = 1;
            continue;
        }
        char *name = malloc(key.as.text.size + 1);
        if (name == NULL)
            return cli_set_memory(err);
        if (key.as.text.size > 0)
            memcpy(name, key.as.text.data, key.as.text.size);
        name[key.as.text.size] = '\0';
        keys->keys[keys->count++] = (struct key){
            name, is_value                                                      ? KEY_OF_VALUES
                  : cli_cell_is(&kind, "stack") || cli_cell_is(&kind, "rstack") ? KEY_OF_STACKS
                                                                                : KEY_OF_LABELS};
    }
    return PCOL_OK;
}

/* Keeps one of the keys of each name, and none if they have only call stacks or values of sample
 * types, which are no labels to a query. */
static void remove_repeated(struct keys *keys)
{
    size_t kept = 0, next;

    qsort(keys->keys, keys->count, sizeof *keys->keys, by_name);
    for (size_t first = 0; first < keys->count; first = next) {
        struct key key = keys->keys[first];
        int has_labels = 0, has_values = 0;
        for (next = first; next < keys->count && by_name(&key, &keys->keys[next]) == 0; next++) {
            has_labels |= keys->keys[next].is == KEY_OF_LABELS;
            has_values |= keys->keys[next].is == KEY_OF_VALUES;
            if (next > first)
                free(keys->keys[next].name);
        }
        if (has_labels && !has_values)
            keys->keys[kept++] = key;
        else
            free(key.name);
    }
    keys->count = kept;
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

/* Whether a member of a marked node is a label: documents, which are trees, are no labels. */
static pcol_status find_members(const pcol_table *table, const uint8_t *is_root, uint64_t nodes,
                                int *found, pcol_error *err)
{
    enum { NODE_BIG = 6, NODE_ROW = 13 }; /* the tags of labels: up to 6, and 13 */
    const pcol_column *parent = pcol_table_column_by_name(table, "parent", NULL);
    const pcol_column *tag = pcol_table_column_by_name(table, "tag", NULL);
    pcol_status status = PCOL_OK;

    for (uint64_t row = 0; parent != NULL && tag != NULL && row < nodes && status == PCOL_OK;
         row += PIECE) {
        size_t count = nodes - row < PIECE ? (size_t)(nodes - row) : PIECE;
        int64_t parents[PIECE], tags[PIECE];
        uint8_t valid[PIECE];
        status = pcol_column_read_i64(tag, row, count, tags, valid, err);
        if (status == PCOL_OK)
            status = pcol_column_read_i64(parent, row, count, parents, valid, err);
        for (size_t i = 0; i < count && status == PCOL_OK; i++)
            *found |= valid[i] && (uint64_t)parents[i] < nodes && is_root[parents[i]] &&
                      (tags[i] <= NODE_BIG || tags[i] == NODE_ROW);
    }
    return status;
}

static pcol_status find_others(const struct cli_input *input, const pcol_table *samples,
                               uint64_t sample_rows, int *found, pcol_error *err)
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
        status = find_members(nodes, is_root, rows, found, err);
    free(is_root);
    return status;
}

static int find_keys(const struct cli_input *input, struct keys *keys)
{
    const pcol_table *table, *samples = NULL;
    pcol_error err;
    uint64_t rows, sample_rows;
    pcol_status status =
        cli_find_table(input->file, PCOL_MODEL_PHYSICAL, "label_keys", &table, &rows, &err);

    if (status == PCOL_OK && table != NULL)
        status = cli_verify_row_count(input->file, "label_keys", rows, &err);
    if (status == PCOL_OK)
        status = cli_find_table(input->file, PCOL_MODEL_PHYSICAL, "samples", &samples, &sample_rows,
                                &err);
    if (status == PCOL_OK && table != NULL && samples != NULL)
        status = read_keys(table, samples, keys, &err);
    if (status == PCOL_OK)
        status = find_others(input, samples, sample_rows, &keys->has_others, &err);
    if (status != PCOL_OK)
        return cli_fail_error(input->name, &err);
    if (keys->count > 0)
        remove_repeated(keys);
    return CLI_OK;
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
        options.label = keys->keys[k].name;
        code = cli_result_open(&values, pcol_query_top(query, &options, &values.result, &err), &err,
                               input->name, NULL);
        if (code == CLI_OK)
            print_key(table, keys->keys[k].name, &values, amounts, limit);
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

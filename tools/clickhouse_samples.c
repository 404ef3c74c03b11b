/*
 * clickhouse_samples.c - rows of samples: sums of each profile by stack and labels
 *
 * One scan over the physical table `samples` adds the values up in a hash table of groups. Where
 * the samples of each source are consecutive, as in every file but those that interleave processes,
 * a source is written when the next one begins, so that memory follows the largest profile. Each
 * stack is looked up by its hash once for each file. Tests: tests/cli/clickhouse.test.
 */
#include "clickhouse.h"

#include <stdlib.h>

#define NO_TEXT UINT32_MAX /* the key is a label: it differs from sample to sample */
#define BATCH_ROWS 4096u

/* A column of labels for a key. */
struct label {
    uint32_t key;         /* index of the key */
    uint32_t at;          /* in the scan */
    const char *constant; /* the text of all cells: of the kinds null and empty; NULL: none */
    pcol_str unit;        /* of the file; it follows the text of a number */
};

struct source {
    int is_known;
    uint32_t time;               /* seconds since 1970 */
    uint32_t texts[CH_MAX_KEYS]; /* of run->texts; NO_TEXT */
};

struct reader {
    struct ch_run *run;
    const struct cli_input *input;
    uint32_t operand;
    const pcol_table *samples, *sources;
    uint64_t source_count, stack_count;
    struct source *list; /* source_count */
    int is_ordered;      /* samples of each source are consecutive */

    uint32_t *columns; /* of the scan: source, stack, values, labels */
    uint32_t column_count;
    int has_source;
    uint32_t *types; /* of run->texts */
    uint32_t type_count;
    struct label *labels;
    uint32_t label_count;
    char *text; /* of a label with its unit */
    size_t text_capacity;

    const pcol_hash *hashes; /* of the stacks */
    uint32_t *stacks;        /* index in run->stacks for each stack, or PCOL_NONE */
    uint32_t *new_rows;      /* stacks that this input adds to run->stacks */
    size_t new_count;
    uint32_t first_new;
};

static int fail(const struct reader *r, const pcol_error *err)
{
    return cli_fail_error(r->input->name, err);
}

/* ---- the file ---- */

static int find_table(const struct reader *r, pcol_model model, const char *name,
                      const pcol_table **table, uint64_t *rows)
{
    pcol_error err;

    if (cli_find_table(r->input->file, model, name, table, rows, &err) != PCOL_OK)
        return fail(r, &err);
    return CLI_OK;
}

/* The same for a table with memory or work for each row. */
static int find_small_table(const struct reader *r, pcol_model model, const char *name,
                            const pcol_table **table, uint64_t *rows)
{
    pcol_error err;
    int code = find_table(r, model, name, table, rows);

    if (code == CLI_OK && cli_verify_row_count(r->input->file, name, *rows, &err) != PCOL_OK)
        code = fail(r, &err);
    return code;
}

static int add_column(struct reader *r, const char *name, uint32_t *at)
{
    uint32_t number;

    *at = PCOL_NONE;
    if (pcol_table_column_by_name(r->samples, name, &number) == NULL)
        return 0;
    *at = r->column_count;
    r->columns[r->column_count++] = number;
    return 1;
}

/* "cpu/nanoseconds"; "#2" is appended to the second type of that name in a source. */
static int type_text(const struct reader *r, const pcol_table *types, uint64_t row, uint32_t *text)
{
    struct cli_cell type, unit, ordinal;
    char number[CLI_NUMBER_SIZE + 2] = "";
    pcol_error err;

    if (cli_cell_find(types, "type", row, &type, &err) != PCOL_OK ||
        cli_cell_find(types, "unit", row, &unit, &err) != PCOL_OK ||
        cli_cell_find(types, "ordinal", row, &ordinal, &err) != PCOL_OK)
        return fail(r, &err);
    size_t type_size = type.kind == CLI_CELL_TEXT ? type.as.text.size : 0;
    size_t unit_size = unit.kind == CLI_CELL_TEXT ? unit.as.text.size : 0;
    if (ordinal.kind == CLI_CELL_I64 && ordinal.as.i64 > 0)
        snprintf(number, sizeof number, "#%lld", (long long)ordinal.as.i64 + 1);
    char *both = malloc(type_size + unit_size + sizeof number + 1);
    if (both == NULL)
        return cli_fail_memory();
    size_t size = type_size;
    if (type_size > 0)
        memcpy(both, type.as.text.data, type_size);
    both[size++] = '/';
    if (unit_size > 0)
        memcpy(both + size, unit.as.text.data, unit_size);
    size += unit_size;
    memcpy(both + size, number, strlen(number));
    int code = ch_set_add(&r->run->texts, both, size + strlen(number), text);
    free(both);
    return code;
}

/* Additive sample types of integers. */
static int find_types(struct reader *r, const pcol_table *types, uint64_t rows)
{
    int code = CLI_OK;

    for (uint64_t row = 0; row < rows && code == CLI_OK; row++) {
        char name[CLI_NUMBER_SIZE];
        struct cli_cell level;
        pcol_error err;
        snprintf(name, sizeof name, "value.%llu", (unsigned long long)row);
        const pcol_column *column = pcol_table_column_by_name(r->samples, name, NULL);
        if (column == NULL)
            continue;
        if (cli_cell_find(types, "level", row, &level, &err) != PCOL_OK)
            return fail(r, &err);
        int is_gauge =
            (level.kind == CLI_CELL_BOOL || level.kind == CLI_CELL_I64) && level.as.i64 != 0;
        if (is_gauge || cli_describe(column).type == PCOL_F64) {
            r->run->lost |= CH_LOST_TYPES;
            continue;
        }
        uint32_t at;
        code = type_text(r, types, row, &r->types[r->type_count]);
        r->type_count += (uint32_t)add_column(r, name, &at);
    }
    return code;
}

/* Kinds of labels that queries read, but for those that refer to frames. */
static int is_text_kind(const struct cli_cell *kind)
{
    static const char *const kinds[] = {"string", "integer", "double", "bigint",
                                        "bool",   "null",    "empty"};

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (cli_cell_is(kind, kinds[i]))
            return 1;
    return 0;
}

/* Kinds of labels whose cells refer to frames. */
static int is_frame_kind(const struct cli_cell *kind)
{
    return cli_cell_is(kind, "frame") || cli_cell_is(kind, "ownframe") ||
           cli_cell_is(kind, "ownname");
}

/* A row of label_keys. */
struct label_key {
    struct cli_cell table, key, kind, unit;
};

static int read_key(const struct reader *r, const pcol_table *keys, uint64_t row,
                    struct label_key *k)
{
    pcol_error err;

    if (cli_cell_find(keys, "table", row, &k->table, &err) != PCOL_OK ||
        cli_cell_find(keys, "key", row, &k->key, &err) != PCOL_OK ||
        cli_cell_find(keys, "kind", row, &k->kind, &err) != PCOL_OK ||
        cli_cell_find(keys, "unit", row, &k->unit, &err) != PCOL_OK)
        return fail(r, &err);
    return CLI_OK;
}

/* Add the column of a row of label_keys, which is one of the keys. */
static void add_label(struct reader *r, uint64_t row, const struct label_key *k, uint32_t key)
{
    struct label label = {.key = key};
    char name[CLI_NUMBER_SIZE];

    snprintf(name, sizeof name, "label.%llu", (unsigned long long)row);
    if (!is_text_kind(&k->kind) || !add_column(r, name, &label.at))
        return;
    if (cli_cell_is(&k->kind, "null") || cli_cell_is(&k->kind, "empty"))
        label.constant = cli_cell_is(&k->kind, "null") ? "null" : "";
    if (k->unit.kind == CLI_CELL_TEXT)
        label.unit = (pcol_str){k->unit.as.text.data, k->unit.as.text.size};
    r->labels[r->label_count++] = label;
}

static int find_labels(struct reader *r, const pcol_table *keys, uint64_t rows)
{
    for (uint64_t row = 0; row < rows; row++) {
        struct label_key k;
        int code = read_key(r, keys, row, &k);
        if (code != CLI_OK)
            return code;
        for (uint32_t i = 0; cli_cell_is(&k.table, "samples") && i < r->run->key_count; i++) {
            if (!cli_cell_is(&k.key, r->run->keys[i]))
                continue;
            if (is_frame_kind(&k.kind))
                return cli_fail(CLI_INPUT,
                                "%s: values of the label '%s' are names of frames; merge "
                                "--sums=%s makes texts of them",
                                r->input->name, r->run->keys[i], r->run->keys[i]);
            add_label(r, row, &k, i);
        }
    }
    return CLI_OK;
}

/* The columns of the scan. */
static int find_columns(struct reader *r)
{
    const pcol_table *types, *keys;
    uint64_t type_rows = 0, key_rows = 0;
    uint32_t at;
    int code = find_small_table(r, PCOL_MODEL_PHYSICAL, "sample_types", &types, &type_rows);

    if (code == CLI_OK)
        code = find_small_table(r, PCOL_MODEL_PHYSICAL, "label_keys", &keys, &key_rows);
    if (code != CLI_OK)
        return code;
    size_t buffer = pcol_table_column_count(r->samples) + 1u;
    r->columns = malloc(buffer * sizeof *r->columns);
    r->types = malloc(buffer * sizeof *r->types);
    r->labels = malloc(buffer * sizeof *r->labels);
    if (r->columns == NULL || r->types == NULL || r->labels == NULL)
        return cli_fail_memory();
    r->has_source = add_column(r, "source", &at);
    (void)add_column(r, "stack", &at);
    code = find_types(r, types, type_rows);
    return code == CLI_OK ? find_labels(r, keys, key_rows) : code;
}

/* Whether each source's samples are consecutive and in the order of the sources. */
static int check_order(struct reader *r)
{
    enum { COUNT = 1024 };
    int64_t cells[COUNT], last = 0;
    uint64_t rows = pcol_table_rows(r->samples);
    const pcol_column *column = pcol_table_column_by_name(r->samples, "source", NULL);
    pcol_error err;

    r->is_ordered = 1;
    if (r->source_count < 2 || column == NULL)
        return CLI_OK;
    for (uint64_t row = 0; row < rows && r->is_ordered; row += COUNT) {
        size_t count = rows - row < COUNT ? (size_t)(rows - row) : COUNT;
        if (pcol_column_read_i64(column, row, count, cells, NULL, &err) != PCOL_OK)
            return fail(r, &err);
        for (size_t i = 0; i < count; i++) {
            r->is_ordered &= cells[i] >= last;
            last = cells[i];
        }
    }
    return CLI_OK;
}

/* ---- sources ---- */

static int read_time(const struct reader *r, uint64_t row, struct source *source)
{
    char text[64] = "";
    struct cli_cell cell;
    pcol_error err;
    int64_t seconds;
    unsigned long long id = (unsigned long long)row + 1;

    if (cli_cell_find(r->sources, "source_timestamp", row, &cell, &err) != PCOL_OK)
        return fail(r, &err);
    if (cell.kind != CLI_CELL_TEXT)
        return cli_fail(CLI_INPUT,
                        "%s: source %llu has no timestamp; pack it with --source-timestamp",
                        r->input->name, id);
    if (cell.as.text.size < sizeof text)
        memcpy(text, cell.as.text.data, cell.as.text.size);
    if (!cli_timestamp(text, &seconds))
        return cli_fail(CLI_INPUT, "%s: the timestamp of source %llu is no time in ISO 8601",
                        r->input->name, id);
    if (seconds < 0 || seconds > UINT32_MAX)
        return cli_fail(CLI_INPUT, "%s: source %llu is not of the years 1970 to 2105: %s",
                        r->input->name, id, text);
    source->time = (uint32_t)seconds;
    return CLI_OK;
}

/* The text of a cell, in `buffer` if it is a number; data NULL: null. */
static pcol_str cell_text(const struct cli_cell *cell, char *buffer)
{
    if (cell->kind == CLI_CELL_TEXT)
        return (pcol_str){cell->as.text.data, cell->as.text.size};
    if (cell->kind == CLI_CELL_I64 || cell->kind == CLI_CELL_U64 || cell->kind == CLI_CELL_F64 ||
        cell->kind == CLI_CELL_BOOL)
        return (pcol_str){buffer, cli_cell_number(cell, buffer)};
    return (pcol_str){NULL, 0};
}

static int has_label(const struct reader *r, uint32_t key)
{
    for (uint32_t i = 0; i < r->label_count; i++)
        if (r->labels[i].key == key)
            return 1;
    return 0;
}

static int find_source(struct reader *r, uint64_t row, struct source **source)
{
    struct source *s = &r->list[row];

    *source = s;
    if (s->is_known)
        return CLI_OK;
    int code = read_time(r, row, s);
    for (uint32_t i = 0; i < r->run->key_count && code == CLI_OK; i++) {
        const char *key = r->run->keys[i];
        char buffer[CLI_NUMBER_SIZE];
        struct cli_cell cell;
        pcol_error err;
        if (cli_cell_find(r->sources, key, row, &cell, &err) != PCOL_OK)
            return fail(r, &err);
        pcol_str text = cell_text(&cell, buffer);
        s->texts[i] = NO_TEXT;
        if (text.data != NULL)
            code = ch_set_add(&r->run->texts, text.data, text.size, &s->texts[i]);
        else if (!has_label(r, i))
            code = cli_fail(CLI_INPUT,
                            "%s: source %llu has no metadata '%s', and its samples have no column "
                            "of this label; pack it with --meta %s=VALUE, or choose other --keys",
                            r->input->name, (unsigned long long)row + 1, key, key);
    }
    s->is_known = code == CLI_OK;
    return code;
}

/* ---- writing ---- */

/* Rows of two profiles with the same keys, time and type would replace each other. */
static int claim_rows(struct reader *r, uint32_t number, const struct source *source, uint32_t type)
{
    struct ch_run *run = r->run;
    uint32_t words[2 + CH_MAX_KEYS] = {source->time, type}, index;

    memcpy(words + 2, source->texts, run->key_count * sizeof *words);
    size_t before = run->rows.count;
    int code = ch_set_add(&run->rows, words, (2 + run->key_count) * sizeof *words, &index);
    if (code != CLI_OK)
        return code;
    if (index == before) {
        if (index == run->row_capacity) {
            size_t buffer = run->row_capacity > 0 ? 2 * run->row_capacity : 256;
            struct ch_owner *owners = realloc(run->owners, buffer * sizeof *owners);
            if (owners == NULL)
                return cli_fail_memory();
            run->owners = owners;
            run->row_capacity = buffer;
        }
        run->owners[index] = (struct ch_owner){r->operand, number};
    }
    const struct ch_owner *owner = &run->owners[index];
    if (owner->operand == r->operand && owner->source == number)
        return CLI_OK;
    pcol_str text = ch_set_get(&run->texts, type);
    return cli_fail(CLI_REFUSED,
                    "%s: source %u and source %u of %s have the same keys, time and type %.*s, and "
                    "would replace each other; add a key that differs, such as source_uri",
                    r->input->name, number + 1, owner->source + 1,
                    run->args->operands[owner->operand], (int)text.size, text.data);
}

/* Write a group: its words are the source, the stack and the texts of the labels. */
static int write_group(struct reader *r, const uint32_t *words, const int64_t *sums,
                       const struct source *source)
{
    struct ch_run *run = r->run;
    const char *hash = ch_set_get(&run->stacks, words[1]).data;
    struct cli_folder_file *file =
        ch_samples_file(&run->output, ch_word(hash) % run->output.shards);

    for (uint32_t type = 0; type < r->type_count; type++) {
        if (sums[type] == 0)
            continue;
        ch_put_integer(&run->output, file, source->time, 4);
        for (uint32_t i = 0, label = 2; i < run->key_count; i++) {
            uint32_t text = source->texts[i] != NO_TEXT ? source->texts[i] : words[label++];
            ch_put_text(&run->output, file, ch_set_get(&run->texts, text));
        }
        ch_put_text(&run->output, file, ch_set_get(&run->texts, r->types[type]));
        cli_folder_write(&run->output.folder, file, hash, sizeof(pcol_hash));
        ch_put_integer(&run->output, file, (uint64_t)sums[type], 8);
    }
    return CLI_OK;
}

/* Write all groups, and forget them. */
static int write_groups(struct reader *r)
{
    struct ch_run *run = r->run;
    uint32_t last = UINT32_MAX;
    uint8_t *is_claimed = calloc(r->type_count + 1u, 1);
    int code = is_claimed != NULL ? CLI_OK : cli_fail_memory();

    for (uint32_t i = 0; i < run->groups.count && code == CLI_OK; i++) {
        uint32_t words[2 + CH_MAX_KEYS];
        pcol_str key = ch_set_get(&run->groups, i);
        const int64_t *sums = run->sums + (size_t)i * r->type_count;
        memcpy(words, key.data, key.size);
        const struct source *source = &r->list[words[0]];
        if (words[0] != last)
            memset(is_claimed, 0, r->type_count);
        last = words[0];
        for (uint32_t type = 0; type < r->type_count && code == CLI_OK; type++)
            if (sums[type] != 0 && !is_claimed[type]) {
                code = claim_rows(r, words[0], source, r->types[type]);
                is_claimed[type] = 1;
            }
        if (code == CLI_OK)
            code = write_group(r, words, sums, source);
    }
    free(is_claimed);
    ch_set_clear(&run->groups);
    return code == CLI_OK ? run->output.folder.code : code;
}

/* ---- adding up ---- */

static int find_stack(struct reader *r, int64_t row, uint32_t *index)
{
    struct ch_run *run = r->run;

    if (row < 0 || (uint64_t)row >= r->stack_count)
        return cli_fail(CLI_INPUT, "%s: a sample of a stack that is not there", r->input->name);
    if (r->stacks[row] == PCOL_NONE) {
        size_t before = run->stacks.count;
        int code = ch_set_add(&run->stacks, &r->hashes[row], sizeof *r->hashes, &r->stacks[row]);
        if (code != CLI_OK)
            return code;
        if (r->stacks[row] == before)
            r->new_rows[r->new_count++] = (uint32_t)row;
    }
    *index = r->stacks[row];
    return CLI_OK;
}

/* The text of a label, as top --by label:KEY shows it; data NULL: null. */
static int label_text(struct reader *r, const struct label *label, const pcol_batch *batch,
                      size_t row, char *buffer, pcol_str *text)
{
    struct cli_cell cell = cli_cell_of(&batch->columns[label->at], row);

    if (cell.kind == CLI_CELL_F64 && cell.as.f64 == 0)
        cell.as.f64 = 0; /* not -0 */
    *text = cell_text(&cell, buffer);
    if (text->data == NULL)
        return CLI_OK;
    if (label->constant != NULL)
        *text = (pcol_str){label->constant, strlen(label->constant)};
    if (label->unit.size == 0)
        return CLI_OK;
    size_t size = text->size + 1 + label->unit.size;
    if (size > r->text_capacity) {
        char *grown = realloc(r->text, size);
        if (grown == NULL)
            return cli_fail_memory();
        r->text = grown;
        r->text_capacity = size;
    }
    if (text->size > 0)
        memcpy(r->text, text->data, text->size);
    r->text[text->size] = ' ';
    memcpy(r->text + text->size + 1, label->unit.data, label->unit.size);
    *text = (pcol_str){r->text, size};
    return CLI_OK;
}

/* The first value of a key that is a label of the sample; a sample without the label: "". */
static int find_text(struct reader *r, uint32_t key, const pcol_batch *batch, size_t row,
                     uint32_t *word)
{
    struct ch_run *run = r->run;
    int is_found = 0, code = CLI_OK;

    for (uint32_t i = 0; i < r->label_count && code == CLI_OK; i++) {
        char buffer[CLI_NUMBER_SIZE];
        uint32_t index;
        pcol_str text;
        if (r->labels[i].key != key)
            continue;
        code = label_text(r, &r->labels[i], batch, row, buffer, &text);
        if (code != CLI_OK || text.data == NULL)
            continue;
        code = ch_set_add(&run->texts, text.data, text.size, &index);
        if (is_found && index != *word)
            run->lost |= CH_LOST_VALUES;
        else
            *word = index;
        is_found = 1;
        run->is_empty |= text.size == 0 ? 1u << key : 0;
    }
    if (code != CLI_OK || is_found)
        return code;
    run->is_absent |= 1u << key;
    return ch_set_add(&run->texts, NULL, 0, word);
}

static int find_texts(struct reader *r, const struct source *source, const pcol_batch *batch,
                      size_t row, uint32_t *words, size_t *count)
{
    int code = CLI_OK;

    for (uint32_t key = 0; key < r->run->key_count && code == CLI_OK; key++)
        if (source->texts[key] == NO_TEXT)
            code = find_text(r, key, batch, row, &words[(*count)++]);
    return code;
}

/* The sums of a group, with buffer for those of a new one. */
static int find_group(struct reader *r, const uint32_t *words, size_t count, int64_t **sums)
{
    struct ch_run *run = r->run;
    size_t before = run->groups.count;
    uint32_t index;
    int code = ch_set_add(&run->groups, words, count * sizeof *words, &index);

    if (code != CLI_OK)
        return code;
    size_t needed = ((size_t)index + 1) * r->type_count;
    if (needed > run->sum_capacity || run->sums == NULL) {
        size_t buffer = 2 * needed + 1024;
        int64_t *grown = realloc(run->sums, buffer * sizeof *grown);
        if (grown == NULL)
            return cli_fail_memory();
        run->sums = grown;
        run->sum_capacity = buffer;
    }
    *sums = run->sums + (size_t)index * r->type_count;
    if (index == before)
        memset(*sums, 0, r->type_count * sizeof **sums);
    return CLI_OK;
}

static int add_sample(struct reader *r, const pcol_batch *batch, size_t row, uint64_t *present)
{
    uint32_t first_value = (uint32_t)r->has_source + 1;
    const pcol_cells *stack = &batch->columns[r->has_source];
    uint64_t number = r->has_source ? (uint64_t)batch->columns[0].i64[row] : 0;
    uint32_t words[2 + CH_MAX_KEYS];
    size_t count = 2;
    struct source *source;
    int64_t *sums = NULL;
    int code = CLI_OK;

    if (!stack->valid[row]) {
        r->run->lost |= CH_LOST_SAMPLES;
        return CLI_OK;
    }
    if (number >= r->source_count)
        return cli_fail(CLI_INPUT, "%s: a sample of a source that is not there", r->input->name);
    if (number != *present && r->is_ordered)
        code = write_groups(r);
    *present = number;
    words[0] = (uint32_t)number;
    if (code == CLI_OK)
        code = find_source(r, number, &source);
    if (code == CLI_OK)
        code = find_stack(r, stack->i64[row], &words[1]);
    if (code == CLI_OK)
        code = find_texts(r, source, batch, row, words, &count);
    if (code == CLI_OK)
        code = find_group(r, words, count, &sums);
    for (uint32_t i = 0; i < r->type_count && code == CLI_OK; i++) {
        const pcol_cells *value = &batch->columns[first_value + i];
        if (value->valid[row] && __builtin_add_overflow(sums[i], value->i64[row], &sums[i]))
            code = cli_fail(CLI_INPUT, "%s: a sum of values beyond 64 bits", r->input->name);
    }
    return code;
}

static int add_samples(struct reader *r)
{
    pcol_scan_options options = PCOL_INIT(pcol_scan_options);
    pcol_batch batch = PCOL_INIT(pcol_batch);
    pcol_scan *scan = NULL;
    uint64_t present = 0;
    pcol_error err;
    int code = CLI_OK;

    options.columns = r->columns;
    options.column_count = r->column_count;
    options.batch_rows = BATCH_ROWS;
    if (pcol_scan_new(r->samples, &options, &scan, &err) != PCOL_OK)
        return fail(r, &err);
    do {
        if (pcol_scan_next(scan, &batch, &err) != PCOL_OK)
            code = fail(r, &err);
        for (size_t row = 0; code == CLI_OK && row < batch.rows; row++)
            code = add_sample(r, &batch, row, &present);
    } while (code == CLI_OK && batch.rows > 0);
    pcol_scan_free(scan);
    return code == CLI_OK ? write_groups(r) : code;
}

/* ---- an input ---- */

static int read_file(struct reader *r)
{
    const pcol_table *stacks;
    uint64_t rows = 0;
    pcol_error err;
    int code = find_table(r, PCOL_MODEL_PHYSICAL, "samples", &r->samples, &rows);

    if (code == CLI_OK && rows > 0 &&
        pcol_table_column_by_name(r->samples, "stack", NULL) == NULL) {
        r->run->lost |= CH_LOST_SAMPLES;
        rows = 0;
    }
    if (code != CLI_OK || rows == 0)
        return code;
    code = find_small_table(r, PCOL_MODEL_V2, "sources", &r->sources, &r->source_count);
    if (code == CLI_OK)
        code = find_small_table(r, PCOL_MODEL_PHYSICAL, "stacks", &stacks, &r->stack_count);
    if (code == CLI_OK)
        code = find_columns(r);
    if (code != CLI_OK)
        return code;
    r->list = calloc(r->source_count + 1, sizeof *r->list);
    r->stacks = malloc((r->stack_count + 1) * sizeof *r->stacks);
    r->new_rows = malloc((r->stack_count + 1) * sizeof *r->new_rows);
    if (r->list == NULL || r->stacks == NULL || r->new_rows == NULL)
        return cli_fail_memory();
    memset(r->stacks, 0xff, (r->stack_count + 1) * sizeof *r->stacks);
    if (pcol_file_hashes(r->input->file, PCOL_HASH_STACKS, NULL, &r->hashes, &r->stack_count,
                         &err) != PCOL_OK)
        return fail(r, &err);
    code = check_order(r);
    return code == CLI_OK ? add_samples(r) : code;
}

int ch_add_input(struct ch_run *run, const struct cli_input *input, uint32_t operand)
{
    struct reader r = {.run = run, .input = input, .operand = operand};

    r.first_new = (uint32_t)run->stacks.count;
    int code = read_file(&r);
    if (code == CLI_OK && r.new_count > 0)
        code = ch_put_stacks(run, input, r.new_rows, r.new_count, r.first_new);
    free(r.list);
    free(r.columns);
    free(r.types);
    free(r.labels);
    free(r.text);
    free(r.stacks);
    free(r.new_rows);
    return code;
}

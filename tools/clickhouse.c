/*
 * clickhouse.c - unpack --to clickhouse: keys, known hashes and inputs of a run
 *
 * Inputs are read in their order, one at a time; memory follows the largest profile and the number
 * of distinct stacks. The same inputs and options give the same bytes. Tests:
 * tests/cli/clickhouse.test, sql/fleet/demo.
 */
#include "clickhouse.h"
#include "cli_losses.h"

#include <errno.h>
#include <stdlib.h>

#define DEFAULT_KEYS "service,build,host"
#define HEX_DIGITS (2 * sizeof(pcol_hash))

/* ---- options ---- */

static int is_reserved(const char *key)
{
    static const char *const names[] = {"time", "type", "stack", "value"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], key) == 0)
            return 1;
    return 0;
}

static int split_keys(struct ch_run *run, const char *text)
{
    char *at = run->key_text = strdup(text);

    if (at == NULL)
        return cli_fail_memory();
    for (char *next; at != NULL; at = next) {
        next = strchr(at, ',');
        if (next != NULL)
            *next++ = '\0';
        if (*at == '\0')
            return cli_usage("--keys '%s': a key is empty", text);
        if (is_reserved(at))
            return cli_usage("--keys: %s is another column of the table samples", at);
        if (run->key_count == CH_MAX_KEYS)
            return cli_usage("--keys: more than %d keys", CH_MAX_KEYS);
        for (size_t i = 0; i < run->key_count; i++)
            if (strcmp(run->keys[i], at) == 0)
                return cli_usage("--keys: %s is there twice", at);
        run->keys[run->key_count++] = at;
    }
    return CLI_OK;
}

static int read_options(struct ch_run *run, size_t *shards)
{
    const struct cli_args *args = run->args;

    if (!cli_is_file_name(args->output))
        return cli_usage("--to clickhouse writes a directory: -o DIR");
    if (args->shards != CLI_UNSET)
        *shards = (size_t)args->shards;
    if (*shards == 0 || *shards > CH_MAX_SHARDS)
        return cli_usage("--shards: a number from 1 to %d", CH_MAX_SHARDS);
    return split_keys(run, args->keys != NULL ? args->keys : DEFAULT_KEYS);
}

/* ---- known hashes ---- */

static int hex_digit(int c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

static int read_hash(const char *line, pcol_hash *hash)
{
    for (size_t i = 0; i < sizeof hash->bytes; i++) {
        int high = hex_digit(line[2 * i]), low = high < 0 ? -1 : hex_digit(line[2 * i + 1]);
        if (low < 0)
            return 0;
        hash->bytes[i] = (uint8_t)(16 * high + low);
    }
    return 1;
}

/* A hash of 32 hexadecimal digits a line; the last line may lack its end. */
static int read_lines(struct ch_run *run, FILE *stream, const char *name)
{
    char line[HEX_DIGITS + 3];
    int code = CLI_OK;

    for (uint64_t number = 1; code == CLI_OK && fgets(line, sizeof line, stream) != NULL;
         number++) {
        size_t size = strlen(line);
        pcol_hash hash;
        uint32_t index;
        if (size > 0 && line[size - 1] == '\n')
            size--;
        if (size != HEX_DIGITS || !read_hash(line, &hash))
            return cli_fail(CLI_INPUT, "%s:%llu: not a hash of 32 hexadecimal digits", name,
                            (unsigned long long)number);
        code = ch_set_add(&run->stacks, &hash, sizeof hash, &index);
    }
    if (code == CLI_OK && ferror(stream))
        code = cli_fail(CLI_IO, "%s: cannot read: %s", name, strerror(errno));
    return code;
}

static int read_known(struct ch_run *run)
{
    const struct cli_list *lists = &run->args->known;
    int code = CLI_OK;

    for (size_t i = 0; i < lists->count && code == CLI_OK; i++) {
        FILE *stream = fopen(lists->items[i], "rb");
        if (stream == NULL)
            return cli_fail(CLI_IO, "%s: cannot open: %s", lists->items[i], strerror(errno));
        cli_cpu_limit_input(lists->items[i]);
        code = read_lines(run, stream, lists->items[i]);
        fclose(stream);
    }
    run->known_count = run->stacks.count;
    return code;
}

/* -f must not replace a list of known hashes by the shorter one of this run. */
static int reject_known(const struct cli_args *args)
{
    size_t size = strlen(args->output) + sizeof "/hashes";
    char *path = malloc(size);

    if (path == NULL)
        return cli_fail_memory();
    snprintf(path, size, "%s/hashes", args->output);
    int code = cli_reject_input(path, args->known.items, args->known.count);
    free(path);
    return code;
}

static int compare_hashes(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(pcol_hash));
}

/* The hashes that this run wrote, in ascending order. */
static int write_hashes(struct ch_run *run)
{
    static const char digits[] = "0123456789abcdef";
    struct cli_folder *folder = &run->output.folder;
    size_t count = run->stacks.count - run->known_count;
    pcol_hash *hashes = malloc((count + 1) * sizeof *hashes);

    if (hashes == NULL)
        return cli_fail_memory();
    for (size_t i = 0; i < count; i++)
        memcpy(&hashes[i], ch_set_get(&run->stacks, (uint32_t)(run->known_count + i)).data,
               sizeof *hashes);
    qsort(hashes, count, sizeof *hashes, compare_hashes);
    for (size_t i = 0; i < count; i++) {
        char line[HEX_DIGITS + 1];
        for (size_t k = 0; k < sizeof hashes->bytes; k++) {
            line[2 * k] = digits[hashes[i].bytes[k] >> 4];
            line[2 * k + 1] = digits[hashes[i].bytes[k] & 15];
        }
        line[HEX_DIGITS] = '\n';
        cli_folder_write(folder, &folder->files[CH_FILE_HASHES], line, sizeof line);
    }
    free(hashes);
    return folder->code;
}

/* ---- the run ---- */

/* Whether a pprof drops frames, which answers leave out. */
static int drops_frames(const struct cli_input *input, int *drops)
{
    const pcol_table *sources;
    uint64_t rows;
    pcol_error err;

    if (cli_find_table(input->file, PCOL_MODEL_PHYSICAL, "sources", &sources, &rows, &err) !=
        PCOL_OK)
        return cli_fail_error(input->name, &err);
    *drops = sources != NULL && pcol_table_column_by_name(sources, "drop_frames", NULL) != NULL;
    return CLI_OK;
}

static int add_input(struct ch_run *run, uint32_t operand)
{
    struct cli_input input;
    pcol_error err;
    int drops = 0, code = cli_input_open(&input, run->args->operands[operand], run->args);

    if (code != CLI_OK)
        return code;
    code = drops_frames(&input, &drops);
    if (code == CLI_OK && (cli_selects(run->args) || (drops && !run->args->keep_dropped)))
        code = cli_input_filter_shown(&input, run->args);
    if (code == CLI_OK && pcol_sums_add(run->content, input.file, NULL, &err) != PCOL_OK)
        code = cli_fail_error(input.name, &err);
    if (code == CLI_OK)
        code = ch_add_input(run, &input, operand);
    cli_input_close(&input);
    return code;
}

static void take_loss(void *context, const pcol_notice *notice)
{
    struct losses *losses = context;
    char text[256];

    if (notice->code != PCOL_NOTICE_LOSS)
        return;
    snprintf(text, sizeof text, "clickhouse cannot represent %s", notice->subject);
    losses_add(losses, text, notice->subject, NULL);
}

static void add_loss(struct losses *losses, int is_lost, const char *subject)
{
    pcol_notice notice = {.code = PCOL_NOTICE_LOSS, .subject = subject};

    if (is_lost)
        take_loss(losses, &notice);
}

static int find_losses(struct ch_run *run, struct losses *losses)
{
    pcol_control control = PCOL_INIT(pcol_control);
    pcol_builder *none;
    pcol_error err;

    control.context = losses;
    control.notice = take_loss;
    add_loss(losses, (run->lost & CH_LOST_TYPES) != 0, "sample types that are gauges or doubles");
    add_loss(losses, (run->lost & CH_LOST_VALUES) != 0,
             "more than one value of a label of a sample");
    add_loss(losses, (run->lost & CH_LOST_LINES) != 0, "lines below 0 or beyond 32 bits");
    add_loss(losses, (run->lost & CH_LOST_SAMPLES) != 0, "samples without a call stack");
    add_loss(losses, (run->is_empty & run->is_absent) != 0,
             "the difference between an empty label and none");
    if (pcol_sums_finish(run->content, &control, &none, &err) != PCOL_OK)
        return cli_fail_error(NULL, &err);
    return CLI_OK;
}

static int warn_losses(struct ch_run *run)
{
    struct losses losses = {0};
    int code = find_losses(run, &losses);

    if (code == CLI_OK)
        losses_warn(&losses, run->args, NULL);
    if (code == CLI_OK && run->args->fail_on_loss && losses.count > 0)
        code = cli_fail(CLI_REFUSED, "clickhouse cannot represent everything; nothing was written");
    losses_clear(&losses);
    return code;
}

static int open_content(struct ch_run *run)
{
    pcol_sums_options options = PCOL_INIT(pcol_sums_options);
    pcol_error err;

    options.keys = run->keys;
    options.key_count = run->key_count;
    options.flags = PCOL_SUMS_LOSSES;
    if (pcol_sums_new(&options, &run->content, &err) != PCOL_OK)
        return cli_fail_error(NULL, &err);
    return CLI_OK;
}

static int write_tables(struct ch_run *run, size_t shards)
{
    const struct cli_args *args = run->args;
    int code = reject_known(args);

    if (code == CLI_OK)
        code = read_known(run);
    if (code == CLI_OK)
        code = open_content(run);
    if (code == CLI_OK)
        code = ch_output_open(&run->output, args, shards);
    for (size_t i = 0; i < args->operand_count && code == CLI_OK; i++)
        code = add_input(run, (uint32_t)i);
    if (code == CLI_OK)
        code = warn_losses(run);
    if (code == CLI_OK)
        code = write_hashes(run);
    if (code == CLI_OK)
        ch_put_schema(&run->output, run->keys, run->key_count);
    return ch_output_finish(&run->output, code);
}

int ch_unpack(struct cli_args *args)
{
    struct ch_run run = {.args = args, .texts = {.is_limited = 1}};
    size_t shards = 1;
    int code = read_options(&run, &shards);

    if (code == CLI_OK)
        code = write_tables(&run, shards);
    if (code == CLI_OK)
        cli_verbose(args, "%s: written, %zu new stacks", args->output,
                    run.stacks.count - run.known_count);
    pcol_sums_free(run.content);
    ch_set_free(&run.stacks);
    ch_set_free(&run.functions);
    ch_set_free(&run.texts);
    ch_set_free(&run.rows);
    ch_set_free(&run.groups);
    free(run.owners);
    free(run.sums);
    free(run.key_text);
    return code;
}

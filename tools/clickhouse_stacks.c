/*
 * clickhouse_stacks.c - rows of stacks and functions, with the names that answers show
 *
 * Frames are innermost first, inlined calls included. fn is the first 64 bits of the hash of the
 * frame's function, if the frame shows its name, else of the location; 0 for code outside
 * functions, which answers by function leave out. Tests: tests/cli/clickhouse.test.
 */
#include "clickhouse.h"

#include <stdlib.h>

/* Frames of all new stacks of an input: a chain of n stacks has n * n / 2. */
#define MAX_FRAMES ((uint64_t)1 << 28)

/* The columns of a frame: function, file, line and fn of a location. */
struct frame {
    uint32_t is_known, line;
    uint32_t is_code;    /* its group has a mapping or an address: it is not outside functions */
    uint32_t name, file; /* of run->texts */
    uint64_t fn;
};

/* Columns of a file as arrays. rows 0: absent. */
struct code {
    struct ch_run *run;
    const struct cli_input *input;
    pcol_array parent, group;            /* of stacks */
    pcol_array first_location;           /* of location_groups; absent: group g is location g */
    pcol_array mapping, address;         /* of location_groups */
    pcol_array function, line, filename; /* of locations */
    pcol_array function_file;            /* of functions */
    uint64_t location_count, group_count;
    pcol_names *names;
    const pcol_hash *functions, *locations;
    uint64_t function_count;
    struct frame *frames; /* of each location, filled on first use: texts are slow to find */
    uint32_t *stack;      /* locations of a stack, innermost first */
    size_t stack_capacity;
    uint64_t frames_written;
};

static int fail(const struct code *c, const pcol_error *err)
{
    return cli_fail_error(c->input->name, err);
}

static int read_array(struct code *c, const char *table_name, const char *column_name,
                      pcol_array *array, uint64_t *rows)
{
    const pcol_table *table;
    pcol_error err;

    *array = (pcol_array){.size = sizeof *array};
    if (cli_find_table(c->input->file, PCOL_MODEL_PHYSICAL, table_name, &table, rows, &err) !=
        PCOL_OK)
        return fail(c, &err);
    const pcol_column *column =
        table != NULL ? pcol_table_column_by_name(table, column_name, NULL) : NULL;
    if (column != NULL && pcol_column_array(column, NULL, array, &err) != PCOL_OK)
        return fail(c, &err);
    return CLI_OK;
}

static int open_code(struct code *c)
{
    const struct {
        const char *table, *column;
        pcol_array *array;
    } columns[] = {
        {"stacks", "parent", &c->parent},
        {"stacks", "group", &c->group},
        {"locations", "function", &c->function},
        {"locations", "line", &c->line},
        {"locations", "filename", &c->filename},
        {"functions", "filename", &c->function_file},
        {"location_groups", "mapping", &c->mapping},
        {"location_groups", "address", &c->address},
        {"location_groups", "first_location", &c->first_location},
    };
    const pcol_file *file = c->input->file;
    pcol_error err;
    int code = CLI_OK;

    for (size_t i = 0; i < sizeof columns / sizeof *columns && code == CLI_OK; i++)
        code = read_array(c, columns[i].table, columns[i].column, columns[i].array,
                          &c->group_count); /* the last one remains */
    if (code == CLI_OK && (pcol_names_new(file, &c->names, &err) != PCOL_OK ||
                           pcol_file_hashes(file, PCOL_HASH_FUNCTIONS, NULL, &c->functions,
                                            &c->function_count, &err) != PCOL_OK ||
                           pcol_file_hashes(file, PCOL_HASH_LOCATIONS, NULL, &c->locations,
                                            &c->location_count, &err) != PCOL_OK))
        code = fail(c, &err);
    if (code == CLI_OK && (c->frames = calloc(c->location_count + 1, sizeof *c->frames)) == NULL)
        code = cli_fail_memory();
    return code;
}

static int has_value(const pcol_array *array, uint64_t row)
{
    return row < array->rows &&
           (array->validity == NULL || (array->validity[row / 8] >> (row % 8) & 1));
}

static uint64_t value_of(const pcol_array *array, uint64_t row)
{
    return array->width_bits == 64 ? ((const uint64_t *)array->values)[row]
                                   : ((const uint32_t *)array->values)[row];
}

/* ---- frames ---- */

static int add_frame(struct code *c, size_t *count, uint64_t location)
{
    if (location >= c->location_count)
        return cli_fail(CLI_INPUT, "%s: a frame without a location", c->input->name);
    if (c->frames_written++ == MAX_FRAMES)
        return cli_fail(CLI_INPUT, "%s: more than 2^28 frames of call stacks", c->input->name);
    if (*count == c->stack_capacity) {
        size_t capacity = c->stack_capacity > 0 ? 2 * c->stack_capacity : 256;
        uint32_t *stack = realloc(c->stack, capacity * sizeof *stack);
        if (stack == NULL)
            return cli_fail_memory();
        c->stack = stack;
        c->stack_capacity = capacity;
    }
    c->stack[(*count)++] = (uint32_t)location;
    return CLI_OK;
}

/* The locations of a stack; parents of a stack precede it, and ids of rows were checked. */
static int read_stack(struct code *c, uint64_t stack, size_t *count)
{
    int code = CLI_OK;

    *count = 0;
    while (stack != 0 && code == CLI_OK) {
        uint64_t group = has_value(&c->group, stack) ? value_of(&c->group, stack) : 0;
        uint64_t parent = has_value(&c->parent, stack) ? value_of(&c->parent, stack) : stack;
        if (group >= c->group_count || parent >= stack)
            return cli_fail(CLI_INPUT, "%s: a stack that is its own caller", c->input->name);
        uint64_t from = group, to = group + 1;
        if (c->first_location.rows > 0) {
            from = value_of(&c->first_location, group);
            to = group + 1 < c->group_count ? value_of(&c->first_location, group + 1)
                                            : c->location_count;
        }
        for (uint64_t i = from; i < to && code == CLI_OK; i++) {
            code = add_frame(c, count, i);
            if (code == CLI_OK)
                c->frames[i].is_code =
                    has_value(&c->mapping, group) || has_value(&c->address, group);
        }
        stack = parent;
    }
    return code;
}

static int file_of(struct code *c, uint32_t location, pcol_str *text)
{
    const pcol_array *codes = &c->filename;
    uint64_t row = location;
    pcol_error err;

    *text = (pcol_str){"", 0};
    if (has_value(&c->function, location)) {
        codes = &c->function_file;
        row = value_of(&c->function, location);
    }
    if (!has_value(codes, row))
        return CLI_OK;
    return pcol_file_string(c->input->file, value_of(codes, row), text, &err) == PCOL_OK
               ? CLI_OK
               : fail(c, &err);
}

/* 0: unknown, or not of 32 bits. */
static uint32_t line_of(const struct code *c, uint32_t location)
{
    uint64_t line = has_value(&c->line, location) ? value_of(&c->line, location) : 0;

    if (line <= UINT32_MAX)
        return (uint32_t)line;
    c->run->lost |= CH_LOST_LINES;
    return 0;
}

/* ---- rows ---- */

static int same_text(pcol_str a, pcol_str b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

/* The hash that determines the name which a frame shows. */
static int hash_of(const struct code *c, uint32_t location, pcol_str shown, const pcol_hash **hash)
{
    uint64_t row = has_value(&c->function, location) ? value_of(&c->function, location) : PCOL_NONE;
    pcol_str name;
    int valid = 0;
    pcol_error err;

    *hash = &c->locations[location];
    if (row >= c->function_count)
        return CLI_OK;
    if (pcol_names_function(c->names, row, &name, &valid, &err) != PCOL_OK)
        return fail(c, &err);
    if (valid && same_text(name, shown))
        *hash = &c->functions[row];
    return CLI_OK;
}

/* Write the function of a frame if its id is new. */
static int put_function(struct code *c, const struct frame *frame)
{
    struct ch_output *output = &c->run->output;
    struct cli_folder_file *file = &output->folder.files[CH_FILE_FUNCTIONS];
    size_t before = c->run->functions.count;
    uint32_t index;
    int code = ch_set_add(&c->run->functions, &frame->fn, sizeof frame->fn, &index);

    if (code != CLI_OK || index < before)
        return code;
    ch_put_integer(output, file, frame->fn, 8);
    ch_put_text(output, file, ch_set_get(&c->run->texts, frame->name));
    ch_put_text(output, file, ch_set_get(&c->run->texts, frame->file));
    return CLI_OK;
}

static int make_frame(struct code *c, uint32_t location)
{
    struct frame *frame = &c->frames[location];
    int is_place =
        !has_value(&c->function, location) && has_value(&c->filename, location) && !frame->is_code;
    const pcol_hash *hash;
    pcol_str name, file;
    pcol_error err;
    int code = file_of(c, location, &file);

    if (code == CLI_OK)
        code = ch_set_add(&c->run->texts, file.data, file.size, &frame->file);
    if (code == CLI_OK && pcol_names_location(c->names, location, &name, &err) != PCOL_OK)
        code = fail(c, &err);
    if (code == CLI_OK)
        code = ch_set_add(&c->run->texts, name.data, name.size, &frame->name);
    if (code == CLI_OK)
        code = hash_of(c, location, name, &hash);
    for (size_t i = 0; code == CLI_OK && !is_place && i < sizeof frame->fn; i++)
        frame->fn = frame->fn << 8 | hash->bytes[i];
    frame->line = line_of(c, location);
    frame->is_known = 1;
    return code == CLI_OK && !is_place ? put_function(c, frame) : code;
}

static int put_stack(struct code *c, struct cli_folder_file *file, size_t depth)
{
    struct ch_output *output = &c->run->output;
    const struct ch_set *texts = &c->run->texts;
    int code = CLI_OK;

    for (size_t i = 0; i < depth && code == CLI_OK; i++)
        if (!c->frames[c->stack[i]].is_known)
            code = make_frame(c, c->stack[i]);
    if (code != CLI_OK)
        return code;
    ch_put_length(output, file, depth);
    for (size_t i = 0; i < depth; i++)
        ch_put_text(output, file, ch_set_get(texts, c->frames[c->stack[i]].name));
    ch_put_length(output, file, depth);
    for (size_t i = 0; i < depth; i++)
        ch_put_text(output, file, ch_set_get(texts, c->frames[c->stack[i]].file));
    ch_put_length(output, file, depth);
    for (size_t i = 0; i < depth; i++)
        ch_put_integer(output, file, c->frames[c->stack[i]].line, 4);
    ch_put_length(output, file, depth);
    for (size_t i = 0; i < depth; i++)
        ch_put_integer(output, file, c->frames[c->stack[i]].fn, 8);
    return CLI_OK;
}

int ch_put_stacks(struct ch_run *run, const struct cli_input *input, const uint32_t *rows,
                  size_t count, uint32_t first)
{
    struct code c = {.run = run, .input = input};
    int code = open_code(&c);

    for (size_t i = 0; i < count && code == CLI_OK; i++) {
        const char *hash = ch_set_get(&run->stacks, first + (uint32_t)i).data;
        struct cli_folder_file *file =
            ch_stacks_file(&run->output, ch_word(hash) % run->output.shards);
        size_t depth;
        code = read_stack(&c, rows[i], &depth);
        if (code == CLI_OK) {
            cli_folder_write(&run->output.folder, file, hash, sizeof(pcol_hash));
            code = put_stack(&c, file, depth);
        }
    }
    pcol_names_free(c.names);
    free(c.frames);
    free(c.stack);
    return code == CLI_OK ? run->output.folder.code : code;
}

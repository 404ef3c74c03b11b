/*
 * cli_files_from.c - operands from lists of paths: --files-from LIST
 *
 * All lists are read into one buffer, one path a line; empty lines are ignored. The paths follow
 * the operands of the command line. Tests: tests/cli/files_from.test.
 */
#include "cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LISTS ((size_t)1 << 28) /* bytes of all lists: an endless list is an error */

struct lists {
    char *text; /* ends with a line end */
    size_t size, capacity;
};

static int is_stream(const char *path)
{
    return strcmp(path, "-") == 0;
}

static int reserve(struct lists *lists, const char *name)
{
    if (lists->capacity - lists->size > 1)
        return CLI_OK;
    size_t capacity = lists->capacity > 0 ? 2 * lists->capacity : 65536;
    if (capacity > MAX_LISTS)
        return cli_fail(CLI_INPUT, "%s: a list of more than %zu MiB; use several commands", name,
                        MAX_LISTS >> 20);
    char *text = realloc(lists->text, capacity);
    if (text == NULL)
        return cli_fail_memory();
    lists->text = text;
    lists->capacity = capacity;
    return CLI_OK;
}

/* Append the text of a list, with a line end. */
static int read_stream(struct lists *lists, FILE *stream, const char *name)
{
    size_t start = lists->size;
    int code;

    while ((code = reserve(lists, name)) == CLI_OK) {
        size_t size =
            fread(lists->text + lists->size, 1, lists->capacity - lists->size - 1, stream);
        lists->size += size;
        if (size == 0)
            break;
    }
    if (code != CLI_OK)
        return code;
    if (ferror(stream))
        return cli_fail(CLI_IO, "%s: cannot read: %s", name, strerror(errno));
    const char *text = lists->text + start;
    size_t size = lists->size - start;
    if (memchr(text, '\0', size) != NULL)
        return cli_fail(CLI_INPUT, "%s: not a list of paths, one a line: it has NUL bytes", name);
    size_t ends = 0;
    while (ends < size && text[ends] == '\n')
        ends++;
    if (ends == size)
        return cli_fail(CLI_INPUT, "%s: the list has no paths", name);
    lists->text[lists->size++] = '\n';
    return CLI_OK;
}

static int read_list(struct lists *lists, const char *path)
{
    if (is_stream(path))
        return read_stream(lists, stdin, "stdin");
    FILE *stream = fopen(path, "rb");
    if (stream == NULL)
        return cli_fail(CLI_IO, "%s: cannot open the list: %s", path, strerror(errno));
    int code = read_stream(lists, stream, path);
    fclose(stream);
    return code;
}

/* Split the lists into operands. */
static int add_operands(struct cli_args *args, const struct lists *lists)
{
    size_t count = args->operand_count;
    char *end = lists->text + lists->size;

    for (const char *at = lists->text; at < end; at++)
        count += *at == '\n';
    const char **operands = realloc(args->operands, (count + 1) * sizeof *operands);
    if (operands == NULL)
        return cli_fail_memory();
    args->operands = operands;
    for (char *at = lists->text; at < end;) {
        char *line_end = memchr(at, '\n', (size_t)(end - at));
        *line_end = '\0';
        if (line_end > at)
            operands[args->operand_count++] = at;
        at = line_end + 1;
    }
    return CLI_OK;
}

int cli_files_from(struct cli_args *args)
{
    struct lists lists = {0};
    size_t streams = 0;
    int code = CLI_OK;

    if (args->files_from.count == 0)
        return CLI_OK;
    for (size_t i = 0; i < args->files_from.count; i++)
        streams += is_stream(args->files_from.items[i]) ? 1 : 0;
    if (streams > 1)
        return cli_usage("--files-from: standard input can be only one list");
    for (size_t i = 0; i < args->files_from.count && code == CLI_OK; i++)
        code = read_list(&lists, args->files_from.items[i]);
    args->files_text = lists.text;
    if (code == CLI_OK)
        code = add_operands(args, &lists);
    for (size_t i = 0; i < args->operand_count && code == CLI_OK && streams > 0; i++)
        if (is_stream(args->operands[i]))
            code = cli_usage("standard input is the list of --files-from, and cannot be an input");
    return code;
}

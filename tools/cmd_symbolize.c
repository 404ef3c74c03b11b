/*
 * cmd_symbolize.c - symbolize: functions and lines for addresses, from binaries
 *
 * Addresses of nameless locations become virtual addresses of the binary of their mapping, and
 * addr2line (cli_addr2line.c) finds functions, lines and inlined calls. The library copies the
 * profile with them. Tests: suite symbolize.
 */
#include "cmd_symbolize.h"
#include "cli_losses.h"
#include "cmd.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define SECONDS 300
#define MOST_LINES (1 << 26)

const struct cli_option cmd_symbolize_options[] = {
    CLI_LIST_OPTION('b', "binary", "PATH", binaries,
                    "executable or library of a mapping of the profile; repeatable"),
    CLI_FLAG_OPTION(0, "ignore-build-id", ignore_build_id,
                    "use binaries whose build id is not that of the mapping"),
    CLI_TEXT_OPTION(0, "addr2line", "PROGRAM", addr2line, "program to run (default: addr2line)"),
    CLI_COUNT_OPTION(0, "timeout", "SECONDS", timeout,
                     "longest time to wait for a binary (default: 300)"),
    CLI_OPTION_PLAIN,
    CLI_OPTION_ARCHIVE,
    CLI_OPTION_FAIL_ON_LOSS,
    CLI_OPTIONS_OUTPUT,
    CLI_OPTIONS_IMPORT,
    CLI_OPTION_END,
};

/* ---- binaries and mappings ---- */

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

static int has_build_id(const struct cli_elf *elf, const char *build_id)
{
    return build_id[0] != '\0' &&
           (strcasecmp(build_id, elf->build_id) == 0 || strcmp(build_id, elf->go_build_id) == 0);
}

static int fail_build_id(const struct symbolize_binary *binary, const struct symbolize_mapping *m)
{
    const struct cli_elf *elf = &binary->elf;

    return cli_fail(CLI_REFUSED,
                    "%s: the build id is %s, but the profile is of build %s of %s "
                    "(--ignore-build-id)",
                    binary->path,
                    elf->build_id[0] != '\0'      ? elf->build_id
                    : elf->go_build_id[0] != '\0' ? elf->go_build_id
                                                  : "unknown",
                    m->build_id, m->path[0] != '\0' ? m->path : "an unnamed mapping");
}

static int compare_paths(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Find the mappings of a binary: those of its build id, and those without one of the same path;
 * else those of its name. */
static int match_binary(struct symbolize_work *w, size_t number)
{
    struct symbolize_binary *binary = &w->binaries[number];
    const struct symbolize_mapping *other = NULL;
    const char **paths = malloc((w->mapping_count + 1) * sizeof *paths);
    size_t path_count = 0;

    if (paths == NULL)
        return cli_fail_memory();
    for (uint64_t i = 0; i < w->mapping_count; i++)
        if (w->mappings[i].binary == SYMBOLIZE_NONE &&
            has_build_id(&binary->elf, w->mappings[i].build_id)) {
            paths[path_count++] = w->mappings[i].path;
            w->mappings[i].binary = number;
            binary->mappings++;
        }
    qsort(paths, path_count, sizeof *paths, compare_paths);
    for (uint64_t i = 0; i < w->mapping_count && path_count > 0; i++) {
        struct symbolize_mapping *m = &w->mappings[i];
        const char *path = m->path;
        if (m->binary == SYMBOLIZE_NONE && m->build_id[0] == '\0' && path[0] != '\0' &&
            bsearch(&path, paths, path_count, sizeof *paths, compare_paths) != NULL) {
            m->binary = number;
            binary->mappings++;
        }
    }
    free(paths);
    for (uint64_t i = 0; i < w->mapping_count && binary->mappings == 0; i++)
        other = other == NULL && w->mappings[i].binary == SYMBOLIZE_NONE &&
                        w->mappings[i].build_id[0] != '\0' &&
                        strcmp(last_part(w->mappings[i].path), last_part(binary->path)) == 0
                    ? &w->mappings[i]
                    : other;
    if (other != NULL && !w->args->ignore_build_id)
        return fail_build_id(binary, other);
    int by_name = binary->mappings == 0;
    for (uint64_t i = 0; i < w->mapping_count && by_name; i++)
        if (w->mappings[i].binary == SYMBOLIZE_NONE &&
            strcmp(last_part(w->mappings[i].path), last_part(binary->path)) == 0) {
            w->mappings[i].binary = number;
            binary->mappings++;
        }
    if (binary->mappings == 0)
        return cli_fail(CLI_INPUT,
                        w->mapping_count == 0
                            ? "%s: the profile has no mappings, so no addresses of a binary"
                            : "%s: no mapping of the profile has its build id or name, or an "
                              "earlier --binary took it",
                        binary->path);
    return CLI_OK;
}

static int open_binaries(struct symbolize_work *w)
{
    size_t count = w->args->binaries.count;
    int code = CLI_OK;

    w->binaries = calloc(count, sizeof *w->binaries);
    if (w->binaries == NULL)
        return cli_fail_memory();
    for (size_t i = 0; i < count && code == CLI_OK; i++) {
        w->binaries[i].path = w->args->binaries.items[i];
        code = cli_elf_open(&w->binaries[i].elf, w->binaries[i].path);
        if (code == CLI_OK)
            code = match_binary(w, i);
    }
    return code;
}

/* ---- symbols ---- */

static int compare_addresses(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static size_t find_answer(const uint64_t *addresses, size_t count, uint64_t address)
{
    const uint64_t *found =
        bsearch(&address, addresses, count, sizeof *addresses, compare_addresses);

    return (size_t)(found - addresses);
}

static int ask(struct symbolize_work *w, size_t number)
{
    struct symbolize_binary *binary = &w->binaries[number];
    uint64_t *addresses = malloc((w->request_count + 1) * sizeof *addresses);
    size_t count = 0, distinct = 0;
    int code = CLI_OK;

    if (addresses == NULL)
        return cli_fail_memory();
    for (size_t i = 0; i < w->request_count; i++)
        if (w->mappings[w->requests[i].mapping].binary == number)
            addresses[count++] = w->requests[i].address;
    qsort(addresses, count, sizeof *addresses, compare_addresses);
    for (size_t i = 0; i < count; i++)
        if (distinct == 0 || addresses[i] != addresses[distinct - 1])
            addresses[distinct++] = addresses[i];
    if (distinct > 0)
        code = cli_addr2line(
            &binary->symbols, w->args->addr2line != NULL ? w->args->addr2line : "addr2line",
            binary->path, addresses, distinct,
            w->args->timeout == CLI_UNSET ? SECONDS : w->args->timeout, w->args->trusted);
    for (size_t i = 0; i < w->request_count && code == CLI_OK; i++)
        if (w->mappings[w->requests[i].mapping].binary == number)
            w->requests[i].answer = find_answer(addresses, distinct, w->requests[i].address);
    free(addresses);
    return code;
}

static uint8_t flags_of(const pcol_symbol *symbols, size_t count)
{
    uint8_t flags = count > 0 ? PCOL_SYMBOLS_FUNCTIONS : 0;

    for (size_t i = 0; i < count; i++) {
        flags |= symbols[i].filename.data != NULL ? PCOL_SYMBOLS_FILENAMES : 0;
        flags |= symbols[i].line != 0 ? PCOL_SYMBOLS_LINES | PCOL_SYMBOLS_INLINED : 0;
    }
    return flags;
}

/* Arrange the answers by group: requests are in the order of groups. */
static int arrange(struct symbolize_work *w, pcol_symbol **symbols, uint64_t **first)
{
    size_t count = 0;
    uint64_t group = 0;

    for (size_t i = 0; i < w->request_count; i++) {
        const struct symbolize_request *r = &w->requests[i];
        const struct cli_symbols *from = &w->binaries[w->mappings[r->mapping].binary].symbols;
        count += from->first[r->answer + 1] - from->first[r->answer];
        if (count > MOST_LINES)
            return cli_fail(CLI_INPUT, "%s: the binaries give more than %d lines for its addresses",
                            w->input->name, MOST_LINES);
    }
    *symbols = malloc((count + 1) * sizeof **symbols);
    *first = calloc((size_t)w->group_count + 1, sizeof **first);
    if (*symbols == NULL || *first == NULL)
        return cli_fail_memory();
    count = 0;
    for (size_t i = 0; i < w->request_count; i++) {
        const struct symbolize_request *r = &w->requests[i];
        struct symbolize_mapping *m = &w->mappings[r->mapping];
        struct symbolize_binary *binary = &w->binaries[m->binary];
        const struct cli_symbols *from = &binary->symbols;
        size_t at = from->first[r->answer], n = from->first[r->answer + 1] - at;
        while (group <= r->group)
            (*first)[group++] = count;
        for (size_t k = 0; k < n; k++)
            (*symbols)[count++] = from->symbols[at + k];
        m->flags |= flags_of(*symbols + count - n, n);
        binary->asked++;
        binary->found += n > 0;
    }
    while (group <= w->group_count)
        (*first)[group++] = count;
    return CLI_OK;
}

/* ---- output ---- */

/* Keys and values of the metadata that names the binaries; the caller frees them. */
static int name_binaries(const struct symbolize_work *w, char ***meta)
{
    size_t count = w->args->binaries.count;

    *meta = calloc(2 * count + 1, sizeof **meta);
    if (*meta == NULL)
        return cli_fail_memory();
    for (size_t i = 0; i < count; i++) {
        const struct symbolize_binary *binary = &w->binaries[i];
        const char *name = last_part(binary->path);
        const char *id =
            binary->elf.build_id[0] != '\0' ? binary->elf.build_id : binary->elf.go_build_id;
        size_t size = strlen(name) + CLI_ELF_BUILD_ID + 64, same = 0;
        char *key = (*meta)[2 * i] = malloc(size), *value = (*meta)[2 * i + 1] = malloc(size);
        if (key == NULL || value == NULL)
            return cli_fail_memory();
        for (size_t k = 0; k < i; k++)
            same += strcmp(last_part(w->binaries[k].path), name) == 0;
        snprintf(key, size, same > 0 ? "symbolized.%s.%zu" : "symbolized.%s", name, same + 1);
        snprintf(value, size, "%s%s%s", id[0] != '\0' ? "build id " : "no build id", id,
                 w->args->ignore_build_id ? ", not compared" : "");
    }
    return CLI_OK;
}

static void report(const struct symbolize_work *w)
{
    char message[200];
    uint64_t found = 0;

    for (size_t i = 0; i < w->args->binaries.count; i++) {
        const struct symbolize_binary *binary = &w->binaries[i];
        found += binary->found;
        snprintf(message, sizeof message, "no symbol for %llu of %llu addresses",
                 (unsigned long long)(binary->asked - binary->found),
                 (unsigned long long)binary->asked);
        if (binary->found < binary->asked)
            cli_warn(w->args, binary->path, message);
    }
    if (w->outside > 0) {
        snprintf(message, sizeof message, "%llu address%s outside of the mapping or binary",
                 (unsigned long long)w->outside, w->outside == 1 ? " is" : "es are");
        cli_warn(w->args, w->input->name, message);
    }
    if (w->nameless == 0)
        cli_warn(w->args, w->input->name, "every location has a function or line already");
    else if (found == 0)
        cli_warn(w->args, w->input->name, "no location got a function");
}

static int add_profile(struct symbolize_work *w, pcol_builder *builder)
{
    struct cli_notices notices = {w->args, w->input->name, NULL, 0};
    pcol_control control = cli_control(&notices);
    pcol_symbolize_options options = PCOL_INIT(pcol_symbolize_options);
    pcol_symbol *symbols = NULL;
    uint64_t *first = NULL;
    uint8_t *flags = calloc((size_t)w->mapping_count + 1, 1);
    char **meta = NULL;
    pcol_error err;
    int code = flags == NULL ? cli_fail_memory() : arrange(w, &symbols, &first);

    if (code == CLI_OK)
        code = name_binaries(w, &meta);
    for (uint64_t i = 0; i < w->mapping_count && code == CLI_OK; i++)
        flags[i] = w->mappings[i].flags;
    options.symbols = symbols;
    options.first = first;
    options.group_count = w->group_count;
    options.mapping_flags = flags;
    options.mapping_count = w->mapping_count;
    options.meta = (const char *const *)meta;
    options.meta_count = w->args->binaries.count;
    options.control = &control;
    if (code == CLI_OK && pcol_symbolize(builder, w->input->file, &options, &err) != PCOL_OK)
        code = cli_fail_error(w->input->name, &err);
    if (code == CLI_OK)
        report(w);
    for (size_t i = 0; meta != NULL && i < 2 * w->args->binaries.count; i++)
        free(meta[i]);
    free(meta);
    free(symbols);
    free(first);
    free(flags);
    return code;
}

static int symbolize(struct symbolize_work *w, const pcol_format *format, struct cli_out *out)
{
    pcol_builder *builder = NULL;
    pcol_error err;
    int code = CLI_OK;

    if (symbolize_mappings(w, &err) != PCOL_OK)
        code = cli_fail_error(w->input->name, &err);
    if (code == CLI_OK)
        code = open_binaries(w);
    if (code == CLI_OK && symbolize_groups(w, &err) != PCOL_OK)
        code = cli_fail_error(w->input->name, &err);
    for (size_t i = 0; i < w->args->binaries.count && code == CLI_OK; i++)
        code = ask(w, i);
    if (code == CLI_OK)
        code = cli_builder_new(w->args, &builder);
    if (code == CLI_OK)
        code = add_profile(w, builder);
    if (code == CLI_OK)
        code = cli_write_profile(builder, format, w->args, out);
    pcol_builder_free(builder);
    return code;
}

static void free_work(struct symbolize_work *w)
{
    for (uint64_t i = 0; w->mappings != NULL && i < w->mapping_count; i++) {
        free(w->mappings[i].path);
        free(w->mappings[i].build_id);
    }
    for (size_t i = 0; w->binaries != NULL && i < w->args->binaries.count; i++) {
        cli_elf_close(&w->binaries[i].elf);
        cli_symbols_free(&w->binaries[i].symbols);
    }
    free(w->mappings);
    free(w->binaries);
    free(w->requests);
}

int cmd_symbolize(struct cli_args *args)
{
    static struct cli_out out;
    struct cli_input input;
    struct symbolize_work work = {.args = args, .input = &input};
    const pcol_format *format;
    int code;

    if (args->output == NULL)
        return cli_usage("missing output: -o OUT; - is stdout");
    if (args->binaries.count == 0)
        return cli_usage("missing binary: --binary PATH");
    if (args->timeout == 0 || (args->timeout != CLI_UNSET && args->timeout > 1000000))
        return cli_usage("--timeout is from 1 to 1000000 seconds");
    code = cli_profile_output(args, &format);
    if (code == CLI_OK)
        code = cli_reject_input(args->output, args->operands, args->operand_count);
    if (code == CLI_OK)
        code = cli_reject_input(args->output, args->binaries.items, args->binaries.count);
    if (code == CLI_OK)
        code = cli_input_open(&input, args->operands[0], args);
    if (code != CLI_OK)
        return code;
    code = cli_out_open_path(&out, args, args->output, CLI_OUT_BINARY);
    if (code == CLI_OK)
        code = cli_out_finish(&out, symbolize(&work, format, &out));
    free_work(&work);
    cli_input_close(&input);
    return code;
}

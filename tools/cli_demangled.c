/*
 * cli_demangled.c - patterns that match demangled names
 *
 * A name that one command shows is to be found by all, whether their output is a terminal or not.
 * The library matches the names that the file has. It is given the functions whose demangled names
 * match as sets with the patterns; peek and list, which take one name or pattern, are given a
 * pattern of the names of these functions. Tests: tests/cli/query.test.
 */
#include "cli.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOST_SECONDS 5         /* CPU time for all names of a profile */
#define LONGEST_PATTERN 65536u /* of pcol_pattern_new() */

/* Whether patterns match demangled names, too: however names are shown, unless that is off. */
static int is_matched(const struct cli_args *args)
{
    return args->demangle == NULL || strcmp(args->demangle, "off") != 0;
}

/* Called for each function with a demangled name, `plain`, and for those without, which have no
 * text. is_again: the names are those of the call before. */
typedef pcol_status visit_fn(void *context, uint32_t row, pcol_str name, pcol_str plain,
                             int is_again, pcol_error *err);

static pcol_status each_function(const pcol_file *file, visit_fn *visit, void *context,
                                 pcol_error *err)
{
    struct cli_names demangled = {.wanted = 1};
    const pcol_table *table;
    pcol_names *names = NULL;
    pcol_str before = {NULL, 0}, plain = before;
    uint64_t rows = 0;
    clock_t start = clock();
    pcol_status status = cli_find_table(file, PCOL_MODEL_V2, "functions", &table, &rows, err);

    if (status == PCOL_OK)
        status = pcol_names_new(file, &names, err);
    for (uint64_t row = 0; row < rows && status == PCOL_OK; row++) {
        pcol_str name;
        int valid;
        status = pcol_names_function(names, row, &name, &valid, err);
        if (status != PCOL_OK || !valid)
            continue;
        /* Rows of one name have the same text. */
        int is_again = row > 0 && name.data == before.data && name.size == before.size;
        before = name;
        if (!is_again)
            plain = cli_name(&demangled, name);
        if (plain.data == name.data)
            plain.size = 0;
        status = visit(context, (uint32_t)row, name, plain, is_again, err);
        if (status == PCOL_OK && !is_again &&
            (cli_names_are_over() || (clock() - start) / CLOCKS_PER_SEC >= MOST_SECONDS))
            status = cli_set_error(err, PCOL_E_LIMIT,
                                   "the names are too many or too long to be matched demangled; "
                                   "--demangle off matches them as they are");
    }
    cli_names_free(&demangled);
    pcol_names_free(names);
    return status;
}

/* 0 for a text that the library will reject. */
static int is_pattern(const char *text, pcol_pattern **pattern)
{
    return text[0] != '\0' && pcol_pattern_new(text, strlen(text), "", 0, pattern, NULL) == PCOL_OK;
}

/* ---- sets of a selection ---- */

struct maker {
    pcol_pattern *patterns[CLI_DEMANGLED_SETS];
    struct cli_demangled *sets;
    int matches[CLI_DEMANGLED_SETS]; /* of the last name */
};

static pcol_status add_to_sets(void *context, uint32_t row, pcol_str name, pcol_str plain,
                               int is_again, pcol_error *err)
{
    struct maker *maker = context;
    struct cli_demangled *d = maker->sets;
    pcol_status status = PCOL_OK;
    (void)name;

    for (size_t i = 0; plain.size > 0 && i < CLI_DEMANGLED_SETS && status == PCOL_OK; i++) {
        if (maker->patterns[i] != NULL && !is_again)
            status = pcol_pattern_test(maker->patterns[i], plain, &maker->matches[i], err);
        if (maker->matches[i])
            d->rows[i][d->sets[i].count++] = row;
    }
    return status;
}

pcol_status cli_demangled_select(const pcol_file *file, const struct cli_args *args,
                                 pcol_selection *selection, struct cli_demangled *d,
                                 pcol_error *err)
{
    const char *texts[CLI_DEMANGLED_SETS] = {selection->focus, selection->ignore, selection->hide,
                                             selection->show};
    const pcol_rows **selected[CLI_DEMANGLED_SETS] = {
        &selection->focus_functions, &selection->ignore_functions, &selection->hide_functions,
        &selection->show_functions};
    struct maker maker = {.sets = d};
    const pcol_table *table;
    uint64_t functions = 0;
    pcol_status status = PCOL_OK;
    int given = 0;

    memset(d, 0, sizeof *d);
    for (size_t i = 0; i < CLI_DEMANGLED_SETS; i++)
        given |= texts[i] != NULL;
    if (!given || !is_matched(args))
        return PCOL_OK;
    status = cli_find_table(file, PCOL_MODEL_V2, "functions", &table, &functions, err);
    for (size_t i = 0; i < CLI_DEMANGLED_SETS && status == PCOL_OK; i++) {
        if (texts[i] == NULL || !is_pattern(texts[i], &maker.patterns[i]))
            continue;
        d->rows[i] = malloc((functions + 1) * sizeof *d->rows[i]);
        if (d->rows[i] == NULL)
            status = cli_set_memory(err);
        d->sets[i].rows = d->rows[i];
        *selected[i] = &d->sets[i];
    }
    if (status == PCOL_OK)
        status = each_function(file, add_to_sets, &maker, err);
    for (size_t i = 0; i < CLI_DEMANGLED_SETS; i++)
        pcol_pattern_free(maker.patterns[i]);
    return status;
}

void cli_demangled_free(struct cli_demangled *d)
{
    for (size_t i = 0; i < CLI_DEMANGLED_SETS; i++)
        free(d->rows[i]);
}

/* ---- a pattern of names ---- */

struct names_maker {
    const char *wanted;
    pcol_pattern *pattern;
    FILE *same, *like; /* names of functions whose demangled names are the wanted one, match it */
    int is_stored;     /* a stored name is the wanted one */
};

/* Append a name to alternatives, as a pattern of itself. */
static void put_alternative(FILE *to, pcol_str name)
{
    fputc('|', to);
    for (size_t i = 0; i < name.size; i++) {
        if (strchr("\\.$^*+?()[]{}|", name.data[i]) != NULL)
            fputc('\\', to);
        fputc(name.data[i], to);
    }
}

static pcol_status add_name(void *context, uint32_t row, pcol_str name, pcol_str plain,
                            int is_again, pcol_error *err)
{
    struct names_maker *maker = context;
    size_t size = strlen(maker->wanted);
    int matches = 0, is_known = 0;
    (void)row;

    if (is_again)
        return PCOL_OK;
    if (name.size == size && memcmp(name.data, maker->wanted, size) == 0)
        maker->is_stored = 1;
    if (plain.size == size && memcmp(plain.data, maker->wanted, size) == 0)
        put_alternative(maker->same, name);
    pcol_status status = plain.size == 0 || maker->pattern == NULL
                             ? PCOL_OK
                             : pcol_pattern_test(maker->pattern, plain, &matches, err);
    if (status == PCOL_OK && matches)
        status = pcol_pattern_test(maker->pattern, name, &is_known, err);
    if (matches && !is_known)
        put_alternative(maker->like, name);
    return status;
}

/* The pattern of the alternatives, and of the wanted name: all of a name, or a pattern of it. */
static char *join(const struct names_maker *maker, const char *same, const char *like)
{
    char *pattern = NULL;
    size_t size;
    FILE *to = open_memstream(&pattern, &size);

    if (to == NULL)
        return NULL;
    fprintf(to, "^(?:%s", (same[0] != '\0' ? same : like) + 1);
    if (maker->is_stored)
        put_alternative(to, (pcol_str){maker->wanted, strlen(maker->wanted)});
    fputs(")$", to);
    if (same[0] == '\0')
        fprintf(to, "|%s", maker->wanted);
    if (fclose(to) == 0)
        return pattern;
    free(pattern);
    return NULL;
}

pcol_status cli_demangled_name(const pcol_file *file, const struct cli_args *args,
                               const char *wanted, char **pattern, pcol_error *err)
{
    struct names_maker maker = {.wanted = wanted};
    char *same = NULL, *like = NULL;
    size_t sizes[2];
    pcol_status status = PCOL_OK;

    *pattern = NULL;
    if (!is_matched(args))
        return PCOL_OK;
    (void)is_pattern(wanted, &maker.pattern);
    maker.same = open_memstream(&same, &sizes[0]);
    maker.like = open_memstream(&like, &sizes[1]);
    if (maker.same != NULL && maker.like != NULL)
        status = each_function(file, add_name, &maker, err);
    int failed = maker.same == NULL || fclose(maker.same) != 0;
    failed |= maker.like == NULL || fclose(maker.like) != 0;
    if (status == PCOL_OK && !failed && sizes[0] + (maker.is_stored ? 0 : sizes[1]) > 0) {
        *pattern = join(&maker, same, like);
        failed = *pattern == NULL;
    }
    if (status == PCOL_OK && failed)
        status = cli_set_memory(err);
    if (status == PCOL_OK && *pattern != NULL && strlen(*pattern) > LONGEST_PATTERN)
        status =
            cli_set_error(err, PCOL_E_LIMIT, "too many functions match by their demangled names");
    pcol_pattern_free(maker.pattern);
    free(same);
    free(like);
    return status;
}

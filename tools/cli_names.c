/*
 * cli_names.c - names of frames as people read them
 *
 * C++ names are shown as written, and a function that is known by nothing but its address, such as
 * those of a Firefox profile without symbols, with the binary or library that the address lies in:
 * "libc.so.6+0x9a03e". Which one that is, is looked up when the first such name is shown, once for
 * all: the names that are addresses, sorted, each with the mapping of the locations that have it.
 */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

#define NO_MAPPING (-1)
#define SEVERAL (-2)

struct cli_bare_name {
    pcol_str name;
    int64_t mapping;
};

static int is_address(pcol_str name)
{
    if (name.size < 3 || name.size > 18 || memcmp(name.data, "0x", 2) != 0)
        return 0;
    for (size_t i = 2; i < name.size; i++)
        if (strchr("0123456789abcdefABCDEF", name.data[i]) == NULL || name.data[i] == '\0')
            return 0;
    return 1;
}

static int by_name(const void *a, const void *b)
{
    const struct cli_bare_name *left = a, *right = b;
    size_t size = left->name.size < right->name.size ? left->name.size : right->name.size;
    int order = memcmp(left->name.data, right->name.data, size);

    return order != 0 ? order
                      : (left->name.size > right->name.size) - (left->name.size < right->name.size);
}

/* The mapping of each function's locations: SEVERAL if they differ. */
static int find_mappings(const pcol_table *locations, int64_t *of_function, uint64_t functions)
{
    const pcol_column *function = pcol_table_column_by_name(locations, "function_id", NULL);
    const pcol_column *mapping = pcol_table_column_by_name(locations, ".mapping_id", NULL);
    uint64_t rows = pcol_table_rows(locations);

    for (uint64_t i = 0; i < functions; i++)
        of_function[i] = NO_MAPPING;
    if (function == NULL || mapping == NULL)
        return -1;
    for (uint64_t row = 0; row < rows; row++) {
        int64_t id, where;
        int has_id = 0, has_where = 0;
        if (pcol_column_i64(function, row, &id, &has_id, NULL) != PCOL_OK ||
            pcol_column_i64(mapping, row, &where, &has_where, NULL) != PCOL_OK)
            return -1;
        if (!has_id || !has_where || id < 1 || (uint64_t)id > functions)
            continue;
        int64_t *known = &of_function[id - 1];
        *known = *known == NO_MAPPING || *known == where ? where : SEVERAL;
    }
    return 0;
}

/* Sorted, each name once. */
static void sort_names(struct cli_names *names)
{
    size_t kept = 0;

    qsort(names->bare, names->count, sizeof *names->bare, by_name);
    for (size_t i = 0; i < names->count; i++) {
        if (kept > 0 && by_name(&names->bare[kept - 1], &names->bare[i]) == 0) {
            if (names->bare[kept - 1].mapping != names->bare[i].mapping)
                names->bare[kept - 1].mapping = SEVERAL;
        } else {
            names->bare[kept++] = names->bare[i];
        }
    }
    names->count = kept;
}

static void collect(struct cli_names *names, const pcol_column *name, const int64_t *of_function,
                    uint64_t functions)
{
    size_t capacity = 0;

    for (uint64_t row = 0; row < functions; row++) {
        pcol_str text;
        int valid = 0;
        if (of_function[row] < 0 || pcol_column_str(name, row, &text, &valid, NULL) != PCOL_OK ||
            !valid || !is_address(text))
            continue;
        if (names->count == capacity) {
            capacity = 2 * capacity + 64;
            struct cli_bare_name *grown = realloc(names->bare, capacity * sizeof *grown);
            if (grown == NULL)
                return; /* names are shown as they are */
            names->bare = grown;
        }
        names->bare[names->count++] = (struct cli_bare_name){text, of_function[row]};
    }
    if (names->count > 0)
        sort_names(names);
}

static void look(struct cli_names *names)
{
    const pcol_table *functions, *locations;
    uint64_t count, rows;
    pcol_error err;

    names->looked = 1;
    if (cli_find_table(names->file, PCOL_MODEL_V2, "functions", &functions, &count, &err) !=
            PCOL_OK ||
        cli_find_table(names->file, PCOL_MODEL_V2, "locations", &locations, &rows, &err) !=
            PCOL_OK ||
        cli_find_table(names->file, PCOL_MODEL_PHYSICAL, "mappings", &names->mappings, &rows,
                       &err) != PCOL_OK ||
        names->mappings == NULL || count == 0)
        return;
    const pcol_column *name = pcol_table_column_by_name(functions, "name", NULL);
    int64_t *of_function =
        count < SIZE_MAX / sizeof(int64_t) ? malloc((size_t)count * sizeof *of_function) : NULL;
    if (of_function != NULL && name != NULL && find_mappings(locations, of_function, count) == 0)
        collect(names, name, of_function, count);
    free(of_function);
}

/* "LIBRARY+0x123": an address that is one of the running process becomes one of the file. */
static pcol_str with_module(struct cli_names *names, pcol_str name)
{
    struct cli_bare_name key = {name, 0};
    const struct cli_bare_name *found =
        names->count > 0 ? bsearch(&key, names->bare, names->count, sizeof key, by_name) : NULL;
    struct cli_cell path, start, offset;
    char digits[20];

    if (found == NULL || found->mapping < 0)
        return name;
    uint64_t row = (uint64_t)found->mapping;
    if (cli_cell_find(names->mappings, "filename", row, &path, NULL) != PCOL_OK ||
        cli_cell_find(names->mappings, "start", row, &start, NULL) != PCOL_OK ||
        cli_cell_find(names->mappings, "file_offset", row, &offset, NULL) != PCOL_OK ||
        path.kind != CLI_CELL_TEXT)
        return name;
    memcpy(digits, name.data, name.size);
    digits[name.size] = '\0';
    uint64_t address = strtoull(digits, NULL, 16);
    if (start.kind == CLI_CELL_U64 && start.as.u64 > 0 && address >= start.as.u64)
        address -= start.as.u64 - (offset.kind == CLI_CELL_U64 ? offset.as.u64 : 0);
    pcol_str module = pcol_name_tail((pcol_str){path.as.text.data, path.as.text.size});
    if (module.size == 0 || module.size > 1000)
        return name;
    int size = snprintf(names->room, sizeof names->room, "%.*s+%#llx", (int)module.size,
                        module.data, (unsigned long long)address);
    return (pcol_str){names->room, (size_t)size};
}

void cli_names_init(struct cli_names *names, const struct cli_args *args, const pcol_file *file,
                    int people)
{
    memset(names, 0, sizeof *names);
    names->file = file;
    names->wanted = args->demangle == NULL || strcmp(args->demangle, "auto") == 0
                        ? people
                        : strcmp(args->demangle, "on") == 0;
}

void cli_names_free(struct cli_names *names)
{
    free(names->bare);
    free(names->plain);
    names->bare = NULL;
    names->plain = NULL;
}

pcol_str cli_name(struct cli_names *names, pcol_str name)
{
    free(names->plain);
    names->plain = NULL;
    if (!names->wanted)
        return name;
    if (!is_address(name))
        return cli_demangle(name, &names->plain);
    if (!names->looked)
        look(names);
    return with_module(names, name);
}

/*
 * reduce.c - fuzz targets: pcol files reduced to sums, rebased, with frames and symbols added
 *
 * The result of each call is a valid file, whatever the input. That of a valid input has the same
 * sum of its default sample type, or with two inputs twice the sum.
 */
#include "targets.h"

#include "pcol.h"

#include <stdlib.h>
#include <string.h>

/* Sum of the default sample type, before patterns of frames. 0: unknown, or sums of doubles. */
static int has_sum(const pcol_file *file, pcol_str *type, pcol_str *unit, int64_t *sum)
{
    pcol_query_info info = PCOL_INIT(pcol_query_info);
    pcol_selection all = PCOL_INIT(pcol_selection);
    static char name[256];
    pcol_query *query;
    all.keep_dropped = 1;
    if (type->data) {
        if (type->size + unit->size + 2 > sizeof name || memchr(type->data, '/', type->size) ||
            memchr(type->data, '\0', type->size) || memchr(unit->data, '\0', unit->size))
            return 0;
        memcpy(name, type->data, type->size);
        name[type->size] = '/';
        memcpy(name + type->size + 1, unit->data, unit->size);
        name[type->size + 1 + unit->size] = '\0';
        all.sample_type = name;
    }
    if (pcol_query_new(file, &all, NULL, &query, NULL) != PCOL_OK)
        return 0;
    int known =
        pcol_query_describe(query, &info, NULL) == PCOL_OK && !(info.flags & PCOL_QUERY_IS_DOUBLE);
    *type = info.type;
    *unit = info.unit;
    *sum = info.selected.i64;
    pcol_query_free(query);
    return known;
}

static int is_valid(const pcol_file *file)
{
    uint64_t faults = 0;
    return pcol_file_check(file, PCOL_CHECK_STRICT, NULL, NULL, NULL, &faults, NULL) == PCOL_OK &&
           !faults;
}

/* The file of a builder is valid. times: how often it has the input, if that is valid. */
static void judge(pcol_builder *builder, const pcol_file *input, int times)
{
    pcol_str type = {NULL, 0}, unit = {NULL, 0};
    int64_t before, after, wanted;
    uint64_t faults = 0;
    void *bytes = NULL;
    size_t size = 0;
    pcol_file *file;
    pcol_status status = pcol_builder_write_memory(builder, 0, NULL, &bytes, &size, NULL);
    FUZZ_ASSERT(status == PCOL_OK || status == PCOL_E_LIMIT);
    if (status != PCOL_OK)
        return;
    FUZZ_ASSERT(pcol_file_open_memory(bytes, size, NULL, &file, NULL) == PCOL_OK);
    FUZZ_ASSERT(pcol_file_check(file, PCOL_CHECK_STRICT, NULL, NULL, NULL, &faults, NULL) ==
                PCOL_OK);
    FUZZ_ASSERT(!faults);
    if (is_valid(input) && has_sum(input, &type, &unit, &before) &&
        !__builtin_mul_overflow(before, times, &wanted) && has_sum(file, &type, &unit, &after))
        FUZZ_ASSERT(after == wanted);
    pcol_file_close(file);
    pcol_free(bytes);
}

static void reduce_file(const uint8_t *data, size_t size)
{
    static const char *const keys[] = {"k", "cpu", "thread", "name", "host"};
    pcol_sums_options options = PCOL_INIT(pcol_sums_options);
    pcol_file *file = fuzz_open_file(data, size);
    for (unsigned way = 0; file && way < 2; way++) {
        pcol_builder *builder = NULL;
        pcol_sums *sums = NULL;
        if (!fuzz_turn(2, way))
            continue;
        options.keys = keys;
        options.key_count = way ? sizeof keys / sizeof *keys : 0;
        options.flags = way ? PCOL_SUMS_REBASE : 0;
        if (pcol_sums_new(&options, &sums, NULL) == PCOL_OK &&
            pcol_sums_add(sums, file, NULL, NULL) == PCOL_OK &&
            pcol_sums_add(sums, file, NULL, NULL) == PCOL_OK &&
            pcol_sums_finish(sums, NULL, &builder, NULL) == PCOL_OK)
            judge(builder, file, 2);
        pcol_builder_free(builder);
        pcol_sums_free(sums);
    }
    pcol_file_close(file);
}

static void rebase_file(const uint8_t *data, size_t size)
{
    pcol_import_options options = PCOL_INIT(pcol_import_options);
    pcol_file *file = fuzz_open_file(data, size);
    pcol_builder *builder = NULL;
    options.flags = PCOL_IMPORT_REBASE;
    if (file && pcol_builder_new(NULL, &builder, NULL) == PCOL_OK &&
        pcol_builder_add_file(builder, file, &options, NULL) == PCOL_OK &&
        pcol_builder_add_file(builder, file, &options, NULL) == PCOL_OK)
        judge(builder, file, 2);
    pcol_builder_free(builder);
    pcol_file_close(file);
}

static void roots_file(const uint8_t *data, size_t size)
{
    static const char *const outer[] = {"source", "process", "thread"}, *const inner[] = {
                                                                            "mapping"};
    pcol_add_frames_options options = PCOL_INIT(pcol_add_frames_options);
    pcol_file *file = fuzz_open_file(data, size);
    pcol_builder *builder = NULL;
    options.roots = outer;
    options.root_count = sizeof outer / sizeof *outer;
    options.leaves = inner;
    options.leaf_count = 1;
    options.keep_dropped = 1;
    if (file && pcol_builder_new(NULL, &builder, NULL) == PCOL_OK &&
        pcol_add_frames(builder, file, &options, NULL) == PCOL_OK)
        judge(builder, file, 1);
    pcol_builder_free(builder);
    pcol_file_close(file);
}

/* ---- symbols */

static uint64_t rows_of(const pcol_file *file, const char *name)
{
    const pcol_table *table;
    return pcol_file_table_by_name(file, PCOL_MODEL_PHYSICAL, name, &table, NULL) == PCOL_OK
               ? pcol_table_rows(table)
               : 0;
}

#define MOST_GROUPS ((uint64_t)1 << 16)

/* 0, 1 or 2 symbols for each group: a file of a few bytes may claim 2^32 groups. */
static void symbolize_file(const uint8_t *data, size_t size)
{
    static const char *const meta[] = {"symbolized.app", "0123"};
    pcol_symbolize_options options = PCOL_INIT(pcol_symbolize_options);
    pcol_file *file = fuzz_open_file(data, size);
    uint64_t groups = file ? rows_of(file, "location_groups") : 0;
    uint64_t mappings = file ? rows_of(file, "mappings") : 0;
    pcol_builder *builder = NULL;
    pcol_symbol *symbols = NULL;
    uint64_t *first = NULL;
    uint8_t *flags = NULL;
    if (file && groups <= MOST_GROUPS && mappings <= MOST_GROUPS) {
        symbols = malloc((2 * groups + 1) * sizeof *symbols);
        first = malloc((groups + 1) * sizeof *first);
        flags = malloc(mappings + 1);
    }
    if (symbols && first && flags) {
        first[0] = 0;
        for (uint64_t i = 0; i < groups; i++)
            first[i + 1] = first[i] + i % 3;
        for (uint64_t i = 0; i < first[groups]; i++)
            symbols[i] = (pcol_symbol){{i % 2 ? "main" : "", i % 2 ? 4 : 0},
                                       {i % 4 ? "a.c" : NULL, i % 4 ? 3 : 0},
                                       (int64_t)(i % 5)};
        memset(flags, PCOL_SYMBOLS_FUNCTIONS | PCOL_SYMBOLS_INLINED, mappings + 1);
        options.symbols = symbols;
        options.first = first;
        options.group_count = groups;
        options.mapping_flags = flags;
        options.mapping_count = mappings;
        options.meta = meta;
        options.meta_count = 1;
        if (pcol_builder_new(NULL, &builder, NULL) == PCOL_OK &&
            pcol_symbolize(builder, file, &options, NULL) == PCOL_OK)
            judge(builder, file, 1);
    }
    pcol_builder_free(builder);
    free(symbols);
    free(first);
    free(flags);
    pcol_file_close(file);
}

void fuzz_sums(const uint8_t *data, size_t size)
{
    fuzz_twice(reduce_file, data, size);
}

void fuzz_rebase(const uint8_t *data, size_t size)
{
    fuzz_twice(rebase_file, data, size);
}

void fuzz_roots(const uint8_t *data, size_t size)
{
    fuzz_twice(roots_file, data, size);
}

void fuzz_symbolize(const uint8_t *data, size_t size)
{
    fuzz_twice(symbolize_file, data, size);
}

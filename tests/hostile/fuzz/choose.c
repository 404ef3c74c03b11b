/*
 * choose.c - fuzz targets: patterns, and the fields of a selection
 */
#include "targets.h"

#include "pcol.h"
#include "query/query.h"

#include <stdlib.h>
#include <string.h>

#include "../../result_cells.h"

/* The first line is a pattern, the others are names. What matches whole also matches somewhere. */
void fuzz_match(const uint8_t *data, size_t size)
{
    const uint8_t *end = size ? memchr(data, '\n', size) : NULL;
    size_t pattern = end ? (size_t)(end - data) : size;
    pcol_pattern *part, *whole = NULL;
    int in, all;
    if (pcol_pattern_new((const char *)data, pattern, "pattern", 0, &part, NULL) != PCOL_OK)
        return;
    /* A bare alternation, which groups otherwise in brackets, is the one way to another meaning. */
    if (pcol_pattern_new((const char *)data, pattern, "pattern", 1, &whole, NULL) != PCOL_OK)
        whole = NULL;
    for (size_t at = pattern + 1; at < size;) {
        end = memchr(data + at, '\n', size - at);
        size_t next = end ? (size_t)(end - data) : size;
        pcol_str name = {(const char *)data + at, next - at};
        pcol_status status = pcol_pattern_test(part, name, &in, NULL);
        if (whole && pcol_pattern_test(whole, name, &all, NULL) == PCOL_OK && status == PCOL_OK)
            FUZZ_ASSERT(in || !all);
        at = next + 1;
    }
    pcol_pattern_free(part);
    pcol_pattern_free(whole);
}

/* ---- selections, over a profile with labels, times, threads, files and mappings */

static const char profile[] = "main  100/101 [000]     1.000000:        100 cycles:\n"
                              "\t    55d0c0ffee00 inner+0x10 (/usr/bin/app)\n"
                              "  app.c:12\n"
                              "\t    55d0c0ffee80 main+0x20 (/usr/bin/app)\n"
                              "\n"
                              "work  100/102 [001]     1.500000:         50 cycles:\n"
                              "\t    7f00c0ffee00 [unknown] (/usr/lib/libc.so.6)\n"
                              "\t    55d0c0ffee80 main+0x20 (/usr/bin/app)\n"
                              "\n"
                              "main  100/101 [000]     2.250000:         25 faults: trace of it\n"
                              "\t    55d0c0ffee00 inner+0x10 (/usr/bin/app)\n"
                              "\n";

static pcol_file *packed(void)
{
    static pcol_file *file;
    pcol_import_options options = PCOL_INIT(pcol_import_options);
    pcol_builder *builder;
    void *bytes = NULL;
    size_t size = 0;
    options.format = "perf";
    if (file || pcol_builder_new(NULL, &builder, NULL) != PCOL_OK)
        return file;
    for (int i = 0; i < 2; i++)
        FUZZ_ASSERT(pcol_import_memory(builder, profile, sizeof profile - 1, i ? "b" : "a.txt",
                                       &options, NULL) == PCOL_OK);
    FUZZ_ASSERT(pcol_builder_write_memory(builder, 0, NULL, &bytes, &size, NULL) == PCOL_OK);
    FUZZ_ASSERT(pcol_file_open_memory(bytes, size, NULL, &file, NULL) == PCOL_OK);
    pcol_builder_free(builder);
    return file; /* with its bytes, for all inputs */
}

#define MOST_LABELS 4

/* The first letter of each line names the option of the rest. */
static void choose(char *text, pcol_selection *s, const char **labels)
{
    const char **fields[] = {&s->sample_type, &s->focus,  &s->ignore, &s->hide,
                             &s->show,        &s->thread, &s->source};
    static const char letters[] = "sfihwtr";
    for (char *line = text; line; line = text) {
        text = strchr(line, '\n');
        if (text)
            *text++ = '\0';
        const char *which = *line ? strchr(letters, *line) : NULL;
        if (which)
            *fields[which - letters] = line + 1;
        else if (*line == 'l' && s->label_count < MOST_LABELS)
            labels[s->label_count++] = line + 1;
        else if (*line == 'k')
            s->keep_dropped = 1;
        else if (*line == 'a' || *line == 'b') {
            s->has_time = 1;
            *(*line == 'a' ? &s->time_from_ns : &s->time_to_ns) = strtoll(line + 1, NULL, 0);
        } else if (*line == 'e')
            s->time_share = (pcol_time_share)(line[1] % 4);
    }
}

static void count_taken(pcol_query *query, const pcol_file *file)
{
    const pcol_table *table;
    uint8_t taken[16];
    if (pcol_file_table_by_name(file, PCOL_MODEL_PHYSICAL, "samples", &table, NULL) != PCOL_OK)
        return;
    uint64_t rows = pcol_table_rows(table);
    FUZZ_ASSERT(rows <= sizeof taken);
    if (pcol_query_samples(query, 0, (size_t)rows, taken, NULL) == PCOL_OK)
        for (uint64_t i = 0; i < rows; i++)
            FUZZ_ASSERT(taken[i] <= 1);
}

static void ask(const pcol_file *file, const pcol_selection *selection)
{
    pcol_query *query;
    pcol_query_info info;
    pcol_result *tree;
    pcol_result *peek;
    if (pcol_query_new(file, selection, NULL, &query, NULL) != PCOL_OK)
        return;
    info = (pcol_query_info){.size = sizeof info};
    (void)!pcol_query_describe(query, &info, NULL);
    if (pcol_query_tree(query, NULL, &tree, NULL) == PCOL_OK) {
        FUZZ_ASSERT((info.flags & PCOL_QUERY_IS_DOUBLE) ||
                    result_amount(tree, "total", 0).i64 == info.selected.i64);
        pcol_result_free(tree);
    }
    if (selection->focus && pcol_query_peek(query, selection->focus, NULL, &peek, NULL) == PCOL_OK)
        pcol_result_free(peek);
    count_taken(query, file);
    pcol_query_free(query);
}

/* A selection of a valid file is valid. */
static void take(const pcol_file *file, const pcol_selection *selection, int anonymize)
{
    pcol_filter_options options = PCOL_INIT(pcol_filter_options);
    pcol_builder *builder;
    pcol_file *part;
    void *bytes = NULL;
    size_t size = 0;
    uint64_t faults = 0;
    options.selection = selection;
    options.anonymize = anonymize;
    if (pcol_builder_new(NULL, &builder, NULL) != PCOL_OK)
        return;
    if (pcol_filter(builder, file, &options, NULL) == PCOL_OK) {
        FUZZ_ASSERT(pcol_builder_write_memory(builder, 0, NULL, &bytes, &size, NULL) == PCOL_OK);
        FUZZ_ASSERT(pcol_file_open_memory(bytes, size, NULL, &part, NULL) == PCOL_OK);
        FUZZ_ASSERT(pcol_file_check(part, PCOL_CHECK_DEFAULT, NULL, NULL, NULL, &faults, NULL) ==
                    PCOL_OK);
        FUZZ_ASSERT(!faults);
        pcol_file_close(part);
        pcol_free(bytes);
    }
    pcol_builder_free(builder);
}

void fuzz_select(const uint8_t *data, size_t size)
{
    pcol_selection selection = PCOL_INIT(pcol_selection);
    const char *labels[MOST_LABELS];
    const pcol_file *file = packed();
    char *text = malloc(size + 1);
    if (!file || !text) {
        free(text);
        return;
    }
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    selection.labels = labels;
    choose(text, &selection, labels);
    ask(file, &selection);
    if (fuzz_turn(4, 0))
        take(file, &selection, size & 1);
    free(text);
}

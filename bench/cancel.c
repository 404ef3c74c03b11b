/*
 * cancel.c - how soon long calls can be cancelled
 *
 *     cancel FORMAT FILE
 *
 * Imports FILE from its path and from memory, writes it in each form, checks and queries it, reads
 * its columns and exports it to all formats. Prints for each call the longest time between two
 * calls of progress, in milliseconds, its whole CPU time, and its name. A time is by the clock, or
 * the CPU time of the process if that is less: others may run, and threads work side by side.
 */
#include <pcol.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct {
    pcol_control control;
    double begin, last, last_cpu, longest;
} watch;

static double ms_of(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void note(void)
{
    double now = ms_of(CLOCK_MONOTONIC), cpu = ms_of(CLOCK_PROCESS_CPUTIME_ID);
    double gap = now - watch.last < cpu - watch.last_cpu ? now - watch.last : cpu - watch.last_cpu;
    if (gap > watch.longest)
        watch.longest = gap;
    watch.last = now;
    watch.last_cpu = cpu;
}

static int progress(void *context, const char *phase, uint64_t done, uint64_t total)
{
    (void)context;
    (void)phase;
    (void)done;
    (void)total;
    note();
    return 0;
}

static const pcol_control *start(void)
{
    watch.control = (pcol_control)PCOL_INIT(pcol_control);
    watch.control.progress = progress;
    watch.longest = 0;
    watch.last = ms_of(CLOCK_MONOTONIC);
    watch.begin = watch.last_cpu = ms_of(CLOCK_PROCESS_CPUTIME_ID);
    return &watch.control;
}

static void finish(pcol_status status, const char *name, const char *detail)
{
    note();
    if (status == PCOL_OK)
        printf("%.2f %.2f %s%s\n", watch.longest, watch.last_cpu - watch.begin, name, detail);
}

static pcol_status discard(void *context, const void *data, size_t size, pcol_error *err)
{
    (void)context;
    (void)data;
    (void)size;
    (void)err;
    return PCOL_OK;
}

static char *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    char *data = NULL;
    long end;
    if (file && fseek(file, 0, SEEK_END) == 0 && (end = ftell(file)) > 0) {
        rewind(file);
        *size = (size_t)end;
        data = malloc(*size);
        if (data && fread(data, 1, *size, file) != *size) {
            free(data);
            data = NULL;
        }
    }
    if (file)
        fclose(file);
    return data;
}

/* A builder with the profile; data: from memory, else from the path. `control`: NULL: none. */
static pcol_builder *import(const char *format, const char *path, const char *data, size_t size,
                            const pcol_control *control)
{
    pcol_import_options options = PCOL_INIT(pcol_import_options);
    pcol_builder *builder;
    pcol_error err;
    options.format = format;
    options.control = control;
    pcol_status status = pcol_builder_new(NULL, &builder, &err);
    if (status == PCOL_OK)
        status = data ? pcol_import_memory(builder, data, size, path, &options, &err)
                      : pcol_import_path(builder, path, &options, &err);
    if (status == PCOL_OK)
        return builder;
    fprintf(stderr, "cancel: %s: %s\n", path, err.message);
    exit(1);
}

static void measure_imports(const char *format, const char *path, const char *data, size_t size)
{
    pcol_builder *builder = import(format, path, NULL, 0, start());
    finish(PCOL_OK, "import of a path", "");
    pcol_builder_free(builder);
    builder = import(format, path, data, size, start());
    finish(PCOL_OK, "import of memory", "");
    pcol_builder_free(builder);
}

static void measure_writers(const char *format, const char *path)
{
    static const struct {
        const char *name;
        unsigned flags;
    } forms[] = {{"packed", 0},
                 {"quick", PCOL_WRITE_QUICK},
                 {"plain", PCOL_WRITE_PLAIN},
                 {"archive of LZ4", PCOL_WRITE_ARCHIVE},
                 {"archive of zlib", PCOL_WRITE_ARCHIVE_ZLIB}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        pcol_builder *builder = import(format, path, NULL, 0, NULL);
        pcol_error err;
        pcol_sink sink = {discard, NULL};
        pcol_status status = pcol_builder_write(builder, forms[i].flags, start(), sink, &err);
        finish(status, "write, ", forms[i].name);
        pcol_builder_free(builder);
    }
}

static void measure_columns(const pcol_file *file)
{
    double worst = 0, total = 0;
    char name[256] = "";
    for (uint32_t t = 0; t < pcol_file_table_count(file, PCOL_MODEL_V2); t++) {
        const pcol_table *table;
        pcol_error err;
        if (pcol_file_table(file, PCOL_MODEL_V2, t, &table, &err) != PCOL_OK)
            continue;
        for (uint32_t c = 0; c < pcol_table_column_count(table); c++) {
            const pcol_column *column = pcol_table_column(table, c);
            pcol_column_info info = PCOL_INIT(pcol_column_info);
            pcol_array array = PCOL_INIT(pcol_array);
            const pcol_control *control = start();
            if (pcol_column_array(column, control, &array, &err) != PCOL_OK)
                continue;
            note();
            total += watch.last_cpu - watch.begin;
            if (watch.longest < worst || pcol_column_describe(column, &info, &err) != PCOL_OK)
                continue;
            worst = watch.longest;
            snprintf(name, sizeof name, "%s.%s", pcol_table_name(table), info.name);
        }
    }
    printf("%.2f %.2f array of %s\n", worst, total, name);
}

static void measure_reading(pcol_file *file)
{
    pcol_frames *frames;
    const pcol_hash *hashes;
    uint64_t count;
    pcol_error err;
    const pcol_control *control = start();
    finish(pcol_file_check(file, PCOL_CHECK_DEFAULT, NULL, NULL, control, &count, &err), "check",
           "");
    control = start();
    finish(pcol_file_check(file, PCOL_CHECK_STRICT, NULL, NULL, control, &count, &err),
           "check --strict", "");
    control = start();
    pcol_status status = pcol_frames_open(file, control, &frames, &err);
    finish(status, "frames", "");
    if (status == PCOL_OK)
        pcol_frames_free(frames);
    control = start();
    status = pcol_file_hashes(file, PCOL_HASH_STACKS, control, &hashes, &count, &err);
    finish(status, "hashes", "");
    measure_columns(file);
}

typedef pcol_status question(pcol_query *query, pcol_result **result, pcol_error *err);

static pcol_status ask_top(pcol_query *query, pcol_result **result, pcol_error *err)
{
    return pcol_query_top(query, NULL, result, err);
}

static pcol_status ask_tree(pcol_query *query, pcol_result **result, pcol_error *err)
{
    return pcol_query_tree(query, NULL, result, err);
}

static pcol_status ask_inverted_tree(pcol_query *query, pcol_result **result, pcol_error *err)
{
    pcol_tree_options options = PCOL_INIT(pcol_tree_options);
    options.flags = PCOL_TREE_BOTTOM_UP;
    return pcol_query_tree(query, &options, result, err);
}

static pcol_status ask_peek(pcol_query *query, pcol_result **result, pcol_error *err)
{
    return pcol_query_peek(query, ".", NULL, result, err);
}

static pcol_status ask_diff(pcol_query *query, pcol_result **result, pcol_error *err)
{
    return pcol_diff(query, query, NULL, result, err);
}

static pcol_status ask_flame(pcol_query *query, pcol_result **result, pcol_error *err)
{
    pcol_flame_options options = PCOL_INIT(pcol_flame_options);
    options.base = query;
    return pcol_query_flame(query, &options, result, err);
}

static pcol_status ask_view(pcol_query *query, pcol_result **result, pcol_error *err)
{
    pcol_view_options options = PCOL_INIT(pcol_view_options);
    pcol_view *view;
    *result = NULL;
    options.by = PCOL_BY_FUNCTION;
    pcol_status status = pcol_view_new(query, query, &options, &view, err);
    if (status == PCOL_OK)
        pcol_view_free(view);
    return status;
}

static pcol_status ask_lanes(pcol_query *query, pcol_result **result, pcol_error *err)
{
    pcol_lanes_options options = PCOL_INIT(pcol_lanes_options);
    pcol_lanes *lanes;
    *result = NULL;
    options.by = PCOL_BY_THREAD;
    pcol_status status = pcol_lanes_new(query, &options, &lanes, err);
    if (status == PCOL_OK)
        pcol_lanes_free(lanes);
    return status;
}

static void measure_queries(const pcol_file *file)
{
    static const struct {
        const char *name;
        question *ask;
    } questions[] = {{"top", ask_top},
                     {"tree", ask_tree},
                     {"inverted tree", ask_inverted_tree},
                     {"peek", ask_peek},
                     {"diff", ask_diff},
                     {"flame graph of two profiles", ask_flame},
                     {"view of two profiles", ask_view},
                     {"lanes", ask_lanes}};
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
        pcol_query *query = NULL;
        pcol_result *result = NULL;
        pcol_error err;
        const pcol_control *control = start();
        pcol_status status = pcol_query_new(file, NULL, control, &query, &err);
        if (status == PCOL_OK)
            status = questions[i].ask(query, &result, &err);
        finish(status, questions[i].name, "");
        if (status == PCOL_OK)
            pcol_result_free(result);
        pcol_query_free(query);
    }
}

static void measure_filter(const pcol_file *file)
{
    pcol_filter_options options = PCOL_INIT(pcol_filter_options);
    pcol_selection selection = PCOL_INIT(pcol_selection);
    pcol_builder *builder;
    pcol_error err;
    selection.ignore = "no such function";
    options.selection = &selection;
    options.anonymize = 1;
    if (pcol_builder_new(NULL, &builder, &err) != PCOL_OK)
        return;
    options.control = start();
    finish(pcol_filter(builder, file, &options, &err), "filter", "");
    pcol_builder_free(builder);
}

static void measure_exports(const pcol_file *file)
{
    for (size_t i = 0; pcol_format_at(i); i++) {
        pcol_export_options options = PCOL_INIT(pcol_export_options);
        pcol_sink sink = {discard, NULL};
        pcol_error err;
        const char *name = pcol_format_at(i)->name;
        if (!pcol_format_at(i)->writes)
            continue;
        options.control = start();
        finish(pcol_export(file, name, &options, sink, &err), "export to ", name);
    }
}

int main(int argc, char **argv)
{
    pcol_error err;
    pcol_file *file;
    size_t size = 0;
    char *data = argc == 3 ? read_file(argv[2], &size) : NULL;
    if (!data) {
        fprintf(stderr, "usage: cancel FORMAT FILE\n");
        return 2;
    }
    measure_imports(argv[1], argv[2], data, size);
    measure_writers(argv[1], argv[2]);
    pcol_builder *builder = import(argv[1], argv[2], data, size, NULL);
    if (pcol_builder_file(builder, 0, NULL, &file, &err) != PCOL_OK) {
        fprintf(stderr, "cancel: %s\n", err.message);
        return 1;
    }
    measure_reading(file);
    measure_queries(file);
    measure_filter(file);
    measure_exports(file);
    pcol_file_close(file);
    pcol_builder_free(builder);
    free(data);
    return 0;
}

/*
 * table.c - all targets by name, for the replay
 *
 * The targets of the array, then import_NAME of each format that is read and unpack_NAME of each
 * that is written. The table is apart from how targets are run (targets.c): a program for one
 * target then holds only the code that it reaches, and a fuzzer looks at all counters of a
 * program after each input.
 */
#include "targets.h"

#include <stdio.h>
#include <string.h>

static const struct fuzz_target targets[] = {
    {"open", fuzz_open, ".pcol", "", NULL},
    {"check", fuzz_check, ".pcol", "", NULL},
    {"export", fuzz_export, ".pcol", "", NULL},
    {"query", fuzz_query, ".pcol", "", NULL},
    {"scan", fuzz_scan, ".pcol", "", NULL},
    {"filter", fuzz_filter, ".pcol", "", NULL},
    {"flame", fuzz_flame, ".pcol", "", NULL},
    {"ask", fuzz_ask, ".perf .perun .pcol", "", NULL},
    {"inflate", fuzz_inflate, ".gz", "", NULL},
    {"archive_read", fuzz_archive_read, ".compression_state", "", NULL},
    {"json", fuzz_json, ".json .perf", "", NULL},
    {"column", fuzz_column, ".column", "", NULL},
    {"match", fuzz_match, ".pattern", "", NULL},
    {"command", fuzz_command, ".line", "", NULL},
    {"escape", fuzz_escape, ".name", "", NULL},
    {"cells", fuzz_cells, ".cells", "", NULL},
    {"select", fuzz_select, ".selection", "", NULL},
    {"archive", fuzz_archive, ".pcol", "", NULL},
    {"merge", fuzz_merge, ".pcol", "", NULL},
    {"sums", fuzz_sums, ".pcol", "", NULL},
    {"rebase", fuzz_rebase, ".pcol", "", NULL},
    {"roots", fuzz_roots, ".pcol", "", NULL},
    {"symbolize", fuzz_symbolize, ".pcol", "", NULL},
    {"build", fuzz_build, ".calls", "", NULL},
    {"sinks", fuzz_sinks, ".pcol", "", NULL},
    {"page", fuzz_page, ".requests", "", NULL},
    {"views", fuzz_views, ".pcol", "", NULL},
    {"import_any", fuzz_import_any, "", ".", NULL},
};

#define TARGET_COUNT (sizeof targets / sizeof *targets)

static int of_format(const char *prefix, const pcol_format *format, struct fuzz_target *target)
{
    int imports = !strcmp(prefix, "import");
    *target = (struct fuzz_target){.seeds = imports ? format->suffixes : ".pcol",
                                   .folder = imports ? format->name : "",
                                   .run_format = imports ? fuzz_import : fuzz_unpack};
    snprintf(target->name, sizeof target->name, "%s_%s", prefix, format->name);
    return 1;
}

int fuzz_target_at(size_t index, struct fuzz_target *target)
{
    if (index < TARGET_COUNT) {
        *target = targets[index];
        return 1;
    }
    index -= TARGET_COUNT;
    for (size_t i = 0; pcol_format_at(i); i++)
        if (pcol_format_at(i)->reads && !index--)
            return of_format("import", pcol_format_at(i), target);
    for (size_t i = 0; pcol_format_at(i); i++)
        if (pcol_format_at(i)->writes && !index--)
            return of_format("unpack", pcol_format_at(i), target);
    return 0;
}

int fuzz_find(const char *name, struct fuzz_target *target)
{
    for (size_t i = 0; fuzz_target_at(i, target); i++)
        if (!strcmp(target->name, name))
            return 1;
    return 0;
}

/*
 * table.c - table of all targets by name, for the replay
 *
 * Separate from targets.c: a program for one target is linked only with reachable code, and a
 * fuzzer evaluates all counters of a program after each input.
 */
#include "targets.h"

#include <stdio.h>
#include <string.h>

const struct fuzz_target fuzz_targets[] = {
    {"open", fuzz_open, ".pcol"},
    {"check", fuzz_check, ".pcol"},
    {"export", fuzz_export, ".pcol"},
    {"query", fuzz_query, ".pcol"},
    {"filter", fuzz_filter, ".pcol"},
    {"flame", fuzz_flame, ".pcol"},
    {"ask", fuzz_ask, ".perf .perun .pcol"},
    {"import_pcol", fuzz_import_pcol, ".pcol"},
    {"import_rprof", fuzz_import_rprof, ".Rprof"},
    {"import_rprofmem", fuzz_import_rprofmem, ".Rprofmem rprofmem.out"},
    {"import_v1", fuzz_import_v1, ".v1.json"},
    {"import_folded", fuzz_import_folded, ".folded"},
    {"import_pprof", fuzz_import_pprof, ".pb .pb.gz"},
    {"import_gperftools", fuzz_import_gperftools, ".debug1.txt .heap .prof .txt cpu growth"},
    {"import_perf", fuzz_import_perf,
     ".perf.txt .perfscript mmap.txt bare.txt flat.txt untimed.txt"},
    {"import_perun", fuzz_import_perun, ".perf .perun"},
    {"import_firefox", fuzz_import_firefox, ".json .json.gz"},
    {"import_jslb", fuzz_import_jslb, ".jslb .jslb.gz"},
    {"import_any", fuzz_import_any, ".Rprof .out .json .folded .pb .gz .perf .txt .jslb"},
    {"inflate", fuzz_inflate, ".gz"},
    {"archive_read", fuzz_archive_read, ".compression_state"},
    {"json", fuzz_json, ".json .perf"},
    {"column", fuzz_column, ".column"},
    {"match", fuzz_match, ".pattern"},
    {"command", fuzz_command, ".line"},
    {"escape", fuzz_escape, ".name"},
    {"cells", fuzz_cells, ".cells"},
    {"select", fuzz_select, ".selection"},
    {"archive", fuzz_archive, ".pcol"},
    {"merge", fuzz_merge, ".pcol"},
    {"unpack_firefox", fuzz_unpack_firefox, ".pcol"},
    {"unpack_pprof", fuzz_unpack_pprof, ".pcol"},
    {"unpack_perun", fuzz_unpack_perun, ".pcol"},
    {"unpack_rprof", fuzz_unpack_rprof, ".pcol"},
    {"unpack_speedscope", fuzz_unpack_speedscope, ".pcol"},
    {NULL, NULL, NULL},
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

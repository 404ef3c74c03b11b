/*
 * report_losses.c - content of Firefox and other profiles that the generic writer does not write
 *
 * Kinds of content that depend on single columns are found by formats/losses.c. Tests: suite
 * losses.
 */
#include "formats/firefox/write_generic.h"

#include "util/strbuf.h"

static const struct pci_loss losses[] = {
    {"a Firefox profile cannot hold more than one sample type", "sample_type"},
    {"a Firefox profile cannot hold sample types and units other than samples, tracing-ms and "
     "bytes",
     ""},
    {"the samples have no times: equidistant ones are generated", ""},
    {"some strings, stacks or threads that markers and counters refer to are unknown", ""},
    {"columns that only the source's version has are dropped", ""},
    {"the sources differ in members of the whole profile: those of the first source are written, "
     "and "
     "no profilerOverhead",
     ""},
    {"a Firefox profile cannot hold bytes that are not UTF-8: they become U+FFFD", ""},
    {"a Firefox profile needs samples in the order of their times: they are sorted", ""},
    {"a Firefox profile cannot hold phases of markers beyond 3: they become instants", ""},
    {"a Firefox profile cannot hold values that are not finite", ""},
    {"a Firefox profile cannot hold integers beyond 53 bits: they are rounded", ""},
    {"a Firefox profile cannot hold the difference between samples without a call stack and with "
     "an empty one",
     ""},
    {"a Firefox profile cannot hold more than 255 frames inlined into each other: their depth is "
     "255",
     ""},
    {"members \"samples\" and \"markers\" of threads that are no tables are dropped", ""},
    {"a Firefox profile cannot hold different sampling intervals of sources: it gets that of the "
     "first",
     "source"},
    {"a Firefox profile cannot hold names and ids of processes of several sources: they get those "
     "of the sources",
     "source"},
};

/* ---- code */

static int are_all_written(const uint32_t *map, uint64_t rows)
{
    for (uint64_t row = 0; row < rows; row++)
        if (!map[row])
            return 0;
    return 1;
}

/* Code of a Firefox profile that no stack has. */
static void report_unused(const struct pci_ff_write_generic *f)
{
    const struct pci_ff_code_tables *c = &f->code;
    if (!f->is_firefox || pci_rows(f->file, "sources") > 1)
        return;
    if (!are_all_written(c->function_of, pci_rows(f->file, "functions")) ||
        !are_all_written(c->frame_of, pci_rows(f->file, "locations")) ||
        !are_all_written(c->lib_of, pci_rows(f->file, "mappings")))
        pci_export_report_kind(f->export, PCI_KIND_UNUSED);
}

/* The value of a cell of a table of code; valid is 0 without the column. */
static pcol_status get_code_cell(const pcol_file *file, const char *table, const char *column,
                                 int64_t row, int64_t *value, int *valid, pcol_error *err)
{
    return pci_get_named(file, table, column, ~0u, (uint64_t)row, value, valid, err);
}

/* Whether the row of resourceTable that the writer makes of a library equals the source's. */
static pcol_status is_resource_written(const struct pci_ff_write_generic *f,
                                       const struct pci_ff_function *function, int64_t resource,
                                       int *written, pcol_error *err)
{
    pcol_str name = {"", 0}, lib;
    int64_t type, host;
    int has_type, has_host, has_name;
    *written = 0;
    PCI_TRY(get_code_cell(f->file, "code_resources", "type", resource, &type, &has_type, err));
    PCI_TRY(get_code_cell(f->file, "code_resources", "host", resource, &host, &has_host, err));
    PCI_TRY(pci_get_named_str(f->file, "code_resources", "name", (uint64_t)resource, &name,
                              &has_name, err));
    if (function->resource == PCOL_NONE || !has_type || type != PCI_FF_LIBRARY || has_host)
        return PCOL_OK;
    PCI_TRY(pci_ff_lib_name(&f->code, f->code.libs[function->resource], &lib, err));
    *written = pci_str_equal(name, lib);
    return PCOL_OK;
}

/* Whether a row of source_files has more than a file name. */
static pcol_status has_source_details(const struct pci_ff_write_generic *f, int64_t row, int *has,
                                      pcol_error *err)
{
    const struct pci_table *table = pci_table_find(f->file, "source_files");
    *has = 0;
    for (uint32_t i = 0; table && i < table->column_count && !*has; i++) {
        int64_t value;
        if (table->columns[i].supported && strcmp(table->columns[i].name, "filename") != 0)
            PCI_TRY(pci_get(f->file, &table->columns[i], (uint64_t)row, &value, has, err));
    }
    return PCOL_OK;
}

static pcol_status has_deep_frames(const struct pci_ff_write_generic *f, int *deep, pcol_error *err)
{
    *deep = 0;
    for (size_t i = 0; i < f->code.frame_count && !*deep; i++) {
        int64_t depth = 0;
        int valid;
        PCI_TRY(get_code_cell(f->file, "location_groups", "inline_depth", f->code.frames[i].group,
                              &depth, &valid, err));
        *deep = (valid && depth > 255) || f->code.frames[i].depth + (valid ? depth : 0) > 255;
    }
    return PCOL_OK;
}

static pcol_status report_functions(const struct pci_ff_write_generic *f, pcol_error *err)
{
    int resources = 0, files = 0;
    for (size_t i = 0; i < f->code.function_count; i++) {
        const struct pci_ff_function *function = &f->code.functions[i];
        int64_t row;
        int valid, is_written = 1;
        if (function->row == PCOL_NONE)
            continue;
        PCI_TRY(
            get_code_cell(f->file, "functions", "code_resource", function->row, &row, &valid, err));
        if (valid && !resources) {
            PCI_TRY(is_resource_written(f, function, row, &is_written, err));
            resources = !is_written;
        }
        PCI_TRY(
            get_code_cell(f->file, "functions", "source_file", function->row, &row, &valid, err));
        if (valid && !files)
            PCI_TRY(has_source_details(f, row, &files, err));
    }
    if (resources)
        pci_export_report_kind(f->export, PCI_KIND_RESOURCES);
    if (files)
        pci_export_report_kind(f->export, PCI_KIND_SOURCE_FILES);
    return PCOL_OK;
}

/* ---- samples and members */

/* Whether the reader restores the selected sample type from its weight type. */
static int is_type_restored(const struct pci_ff_write_generic *f)
{
    static const char *const restored[][2] = {
        {"samples", "count"}, {"tracing", "ms"}, {"bytes", "bytes"}};
    for (size_t i = 0; i < sizeof restored / sizeof *restored; i++)
        if (pci_str_is(f->chosen.type, restored[i][0]) &&
            pci_str_is(f->chosen.unit, restored[i][1]))
            return 1;
    return !f->chosen.count;
}

pcol_status pci_ff_report_losses(struct pci_ff_write_generic *f, pcol_error *err)
{
    /* Members of documents and tables, and what the functions below report. */
    uint64_t kinds = PCI_KIND_BIT(OTHER) | PCI_KIND_BIT(DURATIONS) | PCI_KIND_BIT(UNUSED) |
                     PCI_KIND_BIT(VALUELESS);
    int others, deep, each = 1; /* each: every thread has its own sample type and members */
    for (size_t i = 0; i < f->track_count; i++)
        each &= f->tracks[i].is_firefox;
    PCI_TRY(pci_types_has_others(&f->types, f->export->first_source, f->export->last_source,
                                 &f->chosen, &others, err));
    if (others && (!each || f->export->options->sample_type))
        f->lost |= PCI_FF_LOSS_TYPES;
    if (f->convert.phases)
        f->lost |= PCI_FF_LOSS_PHASES;
    if (!each && !is_type_restored(f))
        f->lost |= PCI_FF_LOSS_UNIT;
    if (f->convert.dropped)
        f->lost |= PCI_FF_LOSS_REFERENCES;
    if (f->out.w.replaced)
        f->lost |= PCI_FF_LOSS_BYTES;
    for (uint64_t s = f->export->first_source; s <= f->export->last_source; s++) {
        PCI_TRY(pci_ff_convert_source(&f->convert, (uint32_t)s, err));
        f->lost |= pci_ff_convert_has_columns(&f->convert) ? PCI_FF_LOSS_COLUMNS : 0;
    }
    PCI_TRY(has_deep_frames(f, &deep, err));
    f->lost |= deep ? PCI_FF_LOSS_DEPTHS : 0;
    for (size_t i = 0; i < sizeof losses / sizeof losses[0]; i++)
        if (f->lost >> i & 1)
            pci_export_loss_option(f->export, losses[i].option, "%s", losses[i].text);
    report_unused(f);
    PCI_TRY(report_functions(f, err));
    if (f->is_firefox)
        kinds |= PCI_KIND_BIT(DURATION);
    return pci_export_losses_converted(f->export, "firefox jslb", kinds, err);
}

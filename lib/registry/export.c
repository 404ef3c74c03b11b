/*
 * export.c - public export function: calls the exporter, for some exports with a filtered copy
 *
 * drop_frames and keep_frames of a pprof profile remove frames when it is read. Only pprof can
 * represent them: other targets are written from a filtered copy in memory (pcol_filter()). So is
 * one of several sources, unless its own format restores it: the output has no name of the others.
 * Tests: tests/cli, tests/roundtrip/pprof.
 */
#include "builder/builder.h"
#include "model/table.h"
#include "reader/file.h"
#include "registry/registry.h"
#include "util/alloc.h"
#include "util/control.h"
#include "util/import_budget.h"
#include "util/sized_struct.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define OUTPUT_BYTES (UINT64_C(1) << 32)
#define OUTPUT_BYTES_PER_BYTE 4096u

/* Whether an exported source has drop_frames. */
static pcol_status find_drop_frames(const pcol_file *file, const pcol_export_options *options,
                                    int *has_drop_frames, pcol_error *err)
{
    const struct pci_column *column;
    uint64_t first = 0, end = pci_rows(file, "sources");
    *has_drop_frames = 0;
    PCI_TRY(pci_check_row_counts(file, err));
    PCI_TRY(pci_find_verified_column(file, "sources", "drop_frames", PCI_TYPES_TEXT, &column, err));
    if (options->source_id > end)
        return PCOL_OK; /* reported by pci_export() */
    if (options->source_id) {
        first = options->source_id - 1;
        end = options->source_id;
    }
    for (uint64_t row = first; column && row < end && !*has_drop_frames; row++) {
        pcol_str text;
        int valid;
        PCI_TRY(pci_get_str(file, column, row, &text, &valid, err));
        *has_drop_frames = valid && text.size;
    }
    return PCOL_OK;
}

/* Whether the writer of a format restores sources of this type. */
static int is_own_format(const char *format, pcol_str type)
{
    char name[32] = "";
    if (type.size < sizeof name && type.size)
        memcpy(name, type.data, type.size);
    const struct pci_format *source = pci_format_find(name);
    return !strcmp(format, name) || (!strcmp(name, "firefox") && !strcmp(format, "jslb")) ||
           (source && source->read_as && !strcmp(source->read_as, format));
}

/* Whether a single source of several is exported and not restored. */
static pcol_status is_converted_part(const pcol_file *file, const char *format,
                                     const pcol_export_options *options, int *is_part,
                                     pcol_error *err)
{
    uint64_t sources = pci_rows(file, "sources");
    pcol_str type;
    int valid;
    *is_part = 0;
    if (!options->source_id || options->source_id > sources || sources < 2)
        return PCOL_OK;
    PCI_TRY(pci_get_named_str(file, "sources", "type", options->source_id - 1, &type, &valid, err));
    *is_part = !valid || !is_own_format(format, type);
    const struct pci_format *target = pci_format_find(format);
    if (*is_part || !target->restores)
        return PCOL_OK;
    uint32_t source = (uint32_t)options->source_id - 1;
    struct pci_export export = {file, options, source, source, {NULL, NULL}, target->capabilities};
    int restored;
    PCI_TRY(target->restores(&export, &restored, err));
    *is_part = !restored;
    return PCOL_OK;
}

/* Forward the notices and the progress of the filter to the caller of the export: what the filter
 * leaves out is a loss of the export. */
static void forward_notice(void *context, const pcol_notice *notice)
{
    const pcol_control *control = context;
    pcol_notice loss = *notice;
    loss.code = PCOL_NOTICE_LOSS;
    if (control->notice)
        control->notice(control->context, &loss);
}

static int forward_progress(void *context, const char *phase, uint64_t done, uint64_t total)
{
    const pcol_control *control = context;
    return control->progress ? control->progress(control->context, phase, done, total) : 0;
}

/* Filter the exported sources into *part, a file in memory at *data. The caller closes and frees
 * both. */
static pcol_status filter_part(const pcol_file *file, pcol_export_options *options,
                               int has_drop_frames, pcol_builder *builder, void **data,
                               pcol_file **part, pcol_error *err)
{
    pcol_filter_options filter = PCOL_INIT(pcol_filter_options);
    pcol_open_options open = PCOL_INIT(pcol_open_options);
    char source[24];
    size_t size;
    pcol_selection selection = PCOL_INIT(pcol_selection);
    pcol_control outer = pci_thread_control ? pci_thread_control->given : (pcol_control){0};
    pcol_control inner = {sizeof inner, &outer, forward_progress, forward_notice};
    filter.selection = &selection;
    filter.apply_drop_frames = has_drop_frames;
    filter.control = &inner;
    if (options->source_id) {
        snprintf(source, sizeof source, "%" PRIu64, options->source_id);
        selection.source = source;
        options->source_id = 0;
    }
    PCI_TRY(pcol_filter(builder, file, &filter, err));
    PCI_TRY(pcol_builder_write_memory(builder, PCOL_WRITE_QUICK, NULL, data, &size, err));
    open.flags = PCOL_OPEN_UNVERIFIED; /* written by this process */
    PCI_TRY(pcol_file_open_memory(*data, size, &open, part, err));
    (*part)->trusted = file->trusted;
    (*part)->input_bytes = file->input_bytes;
    return PCOL_OK;
}

static pcol_status export_part(const pcol_file *file, const char *format,
                               pcol_export_options *options, int has_drop_frames, pcol_sink sink,
                               pcol_error *err)
{
    pcol_builder *builder;
    pcol_file *part = NULL;
    void *data = NULL;
    PCI_TRY(pcol_builder_new(NULL, &builder, err));
    pcol_status status = filter_part(file, options, has_drop_frames, builder, &data, &part, err);
    pcol_builder_free(builder);
    PCI_THEN(status, pci_export(part, format, options, sink, err));
    pcol_file_close(part);
    pci_free(data);
    return status;
}

static pcol_status export_profile(const pcol_file *file, const char *format,
                                  pcol_export_options *options, pcol_sink sink, pcol_error *err)
{
    int has_drop_frames = 0, is_part = 0;
    const struct pci_capabilities *capabilities = pci_format_capabilities(format);
    if (capabilities && !(capabilities->generic & PCI_KIND_BIT(DROP_FRAMES)) &&
        !options->keep_dropped)
        PCI_TRY(find_drop_frames(file, options, &has_drop_frames, err));
    if (capabilities)
        PCI_TRY(is_converted_part(file, format, options, &is_part, err));
    PCI_TRY(has_drop_frames || is_part
                ? export_part(file, format, options, has_drop_frames, sink, err)
                : pci_export(file, format, options, sink, err));
    if (!has_drop_frames)
        return PCOL_OK;
    pci_export_loss_option(&(struct pci_export){.options = options, .capabilities = capabilities},
                           "keep_dropped",
                           "%s drop_frames and keep_frames: the frames they remove are left out",
                           capabilities->loss_prefix);
    return PCOL_OK;
}

/* ---- limit of the output ---- */

/* What is written, which may repeat the stacks, names and labels of a few bytes of input any number
 * of times. */
struct limited_sink {
    pcol_sink sink;
    uint64_t written, most;
};

static pcol_status write_limited(void *context, const void *data, size_t size, pcol_error *err)
{
    struct limited_sink *limited = context;
    if (size <= limited->most - limited->written) {
        limited->written += size;
        return limited->sink.write(limited->sink.context, data, size, err);
    }
    return pci_error_option(err, "PCOL_IMPORT_TRUSTED",
                            pci_fail(err, PCOL_E_LIMIT,
                                     "the output would take more than %llu MB; if you trust the "
                                     "input, open it as trusted",
                                     (unsigned long long)(limited->most >> 20)));
}

pcol_status pcol_export(const pcol_file *file, const char *format,
                        const pcol_export_options *options, pcol_sink sink, pcol_error *err)
{
    pcol_export_options copy;
    if (!file || !format || !sink.write)
        return pci_fail(err, PCOL_E_ARGUMENT, "no file, no format or no sink");
    PCI_STRUCT_READ(pcol_export_options, copy, options, err);
    struct pci_control scope;
    PCI_TRY(pci_control_init(&scope, copy.control, "write", err));
    /* What an export keeps in memory is limited as what an import keeps. */
    struct pci_budget budget = {.trusted = file->trusted};
    pci_budget_grant(&budget, file->input_bytes);
    struct pci_budget *enclosing = pci_budget_enter(&budget);
    pcol_status status = pci_control_enter(&scope, err);
    pci_control_set_format(format);
    struct limited_sink limited = {pci_program_sink(&sink), 0,
                                   pci_file_limit(file, OUTPUT_BYTES, OUTPUT_BYTES_PER_BYTE)};
    PCI_THEN(status,
             export_profile(file, format, &copy, (pcol_sink){write_limited, &limited}, err));
    pci_control_leave(&scope);
    pci_budget_leave(enclosing);
    return status;
}

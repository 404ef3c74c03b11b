/*
 * export.c - a file in another format, its stacks as a query shows them
 *
 * drop_frames and keep_frames of a pprof take frames away when it is read. Only pprof has a place
 * for them: a target that has none gets a copy of the file without these frames, made as
 * pcol_filter() makes it. It is here because it needs both io and query.
 */
#include "builder/builder.h"
#include "model/table.h"
#include "reader/file.h"
#include "registry/registry.h"
#include "util/alloc.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Options as this version knows them: what the caller's lacks is 0. */
static pcol_status known_options(const pcol_export_options *given, pcol_export_options *options,
                                 pcol_error *err)
{
    memset(options, 0, sizeof *options);
    if (given && given->size < sizeof given->size)
        return pci_fail(err, PCOL_E_ARGUMENT, "options without a size");
    if (given)
        memcpy(options, given, given->size < sizeof *options ? given->size : sizeof *options);
    options->size = sizeof *options;
    return PCOL_OK;
}

/* Whether an exported source has drop_frames. */
static pcol_status has_drops(const pcol_file *file, const pcol_export_options *options, int *drops,
                             pcol_error *err)
{
    const struct pci_column *column;
    uint64_t first = 0, end = pci_rows(file, "sources");
    *drops = 0;
    PCI_TRY(pci_plausible_all(file, err));
    PCI_TRY(pci_want_whole(file, "sources", "drop_frames", PCI_TYPES_TEXT, &column, err));
    if (options->source_id > end)
        return PCOL_OK; /* which is an error of the export */
    if (options->source_id) {
        first = options->source_id - 1;
        end = options->source_id;
    }
    for (uint64_t row = first; column && row < end && !*drops; row++) {
        pcol_str text;
        int valid;
        PCI_TRY(pci_get_str(file, column, row, &text, &valid, err));
        *drops = valid && text.size;
    }
    return PCOL_OK;
}

/* Anything that the filter leaves behind is lost. */
static void loss_of_filter(void *context, const char *message)
{
    const pcol_export_options *options = context;
    if (options->loss)
        options->loss(options->context, message);
}

/* The exported sources without the frames that are dropped. The caller closes and frees both. */
static pcol_status drop_frames(const pcol_file *file, pcol_export_options *options,
                               pcol_builder *builder, void **data, pcol_file **part,
                               pcol_error *err)
{
    pcol_filter_options filter = PCOL_INIT(pcol_filter_options);
    pcol_open_options open = PCOL_INIT(pcol_open_options);
    char source[24];
    size_t size;
    filter.selection.size = sizeof filter.selection;
    filter.apply_drop_frames = 1;
    filter.message = loss_of_filter;
    filter.context = options;
    if (options->source_id) {
        snprintf(source, sizeof source, "%" PRIu64, options->source_id);
        filter.selection.source = source;
        options->source_id = 0;
    }
    PCI_TRY(pcol_filter(builder, file, &filter, err));
    PCI_TRY(pcol_builder_write_memory(builder, PCOL_WRITE_QUICK, data, &size, err));
    open.flags = PCOL_OPEN_UNVERIFIED; /* packed just now */
    return pcol_file_open_memory(*data, size, &open, part, err);
}

static pcol_status export_dropped(const pcol_file *file, const char *format,
                                  pcol_export_options *options, pcol_sink sink, pcol_error *err)
{
    pcol_builder *builder;
    pcol_file *part = NULL;
    void *data = NULL;
    PCI_TRY(pcol_builder_new(NULL, &builder, err));
    pcol_status status = drop_frames(file, options, builder, &data, &part, err);
    pcol_builder_free(builder);
    if (status == PCOL_OK)
        status = pci_export(part, format, options, sink, err);
    pcol_file_close(part);
    pci_free(data);
    return status;
}

pcol_status pcol_export(const pcol_file *file, const char *format,
                        const pcol_export_options *options, pcol_sink sink, pcol_error *err)
{
    pcol_export_options known;
    int drops = 0;
    if (!file || !format || !sink.write)
        return pci_fail(err, PCOL_E_ARGUMENT, "no file, no format or no sink");
    PCI_TRY(known_options(options, &known, err));
    const struct pci_holds *holds = pci_format_holds(format);
    if (holds && !(holds->any & PCI_HOLDS(DROP_FRAMES)) && !known.keep_dropped)
        PCI_TRY(has_drops(file, &known, &drops, err));
    if (!drops)
        return pci_export(file, format, &known, sink, err);
    PCI_TRY(export_dropped(file, format, &known, sink, err));
    if (known.loss)
        pci_export_lost(&(struct pci_export){.options = &known, .holds = holds},
                        PCI_KIND_DROP_FRAMES);
    return PCOL_OK;
}

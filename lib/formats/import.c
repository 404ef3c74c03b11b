/*
 * import.c - services for importers: sources with the user's options, and messages
 */
#include "formats/format.h"

#include "builder/builder.h"
#include "util/control.h"

#include <inttypes.h>

pcol_status pci_import_source(struct pci_import *import, pcol_source *source, pcol_error *err)
{
    const pcol_import_options *options = import->options;
    source->size = sizeof *source;
    if (!source->type)
        source->type = import->type;
    if (options->uri)
        source->uri = options->uri;
    else if (!source->uri)
        source->uri = import->input->name;
    if (options->timestamp)
        source->timestamp = options->timestamp;
    PCI_TRY(pcol_builder_source(import->builder, source, &import->source, err));
    if (source->flags & PCOL_SOURCE_HAS_INTERVAL)
        pci_builder_record_interval(import->builder, source->interval_ns);
    for (size_t i = 0; i < options->meta_count; i++)
        PCI_TRY(pcol_builder_source_meta(import->builder, import->source, options->meta[2 * i],
                                         options->meta[2 * i + 1], err));
    return PCOL_OK;
}

pcol_status pci_import_thread(const struct pci_import *import,
                              const struct pci_import_thread *thread, uint32_t *row,
                              pcol_error *err)
{
    static const char *const names[] = {"source", "name", "tid", "pid", "process_name"};
    const uint32_t values[] = {import->source, thread->name, thread->tid, thread->pid,
                               thread->process_name};
    struct pci_cell_value cells[5];
    uint32_t columns[5];
    for (size_t i = 0; i < 5; i++) {
        PCI_TRY(pci_builder_column(import->builder, PCI_T_THREADS, names[i],
                                   i ? PCOL_STRING : PCOL_U32, i ? 0 : PCI_T_SOURCES + 1,
                                   &columns[i], err));
        cells[i] = (struct pci_cell_value){values[i], values[i] != PCOL_NONE};
    }
    return pci_builder_intern(import->builder, PCI_T_THREADS, columns, cells, 5, thread->variant,
                              row, NULL, err);
}

void pci_import_message(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    pci_notice_list(PCOL_NOTICE_INPUT, "", "", format, arguments);
    va_end(arguments);
}

pcol_status pci_import_tolerate(const struct pci_import *import, struct pci_tolerated *tolerated,
                                uint64_t line, uint64_t column, const char *what, pcol_error *err)
{
    if (!import->options->lenient)
        return pci_error_option(err, "lenient",
                                pci_fail_text(err, PCOL_E_SYNTAX, line, column, "%s", what));
    if (!tolerated->count++)
        tolerated->first = line;
    return PCOL_OK;
}

void pci_import_report_tolerated(const struct pci_tolerated *tolerated, const char *what)
{
    if (tolerated->count)
        pci_import_message("%s: %" PRIu64 ", the first is line %" PRIu64, what, tolerated->count,
                           tolerated->first);
}

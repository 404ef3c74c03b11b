/*
 * write_line.c - the current line of the exporter of perf script text, and cells (write.h)
 */
#include "formats/perf/write.h"

#include <stdarg.h>
#include <stdio.h>

pcol_status pci_perf_put(struct pci_perf_writer *w, const void *data, size_t size, pcol_error *err)
{
    return pci_strbuf_append(&w->line, data, size, err);
}

pcol_status pci_perf_put_text(struct pci_perf_writer *w, pcol_str text, pcol_error *err)
{
    size_t start = w->line.size;
    PCI_TRY(pci_perf_put(w, text.data, text.size, err));
    for (size_t i = start; i < w->line.size; i++)
        if (w->line.data[i] == '\n') {
            w->line.data[i] = ' ';
            w->lost |= LOSS_NAME;
        }
    return PCOL_OK;
}

pcol_status pci_perf_put_fields(struct pci_perf_writer *w, pcol_str fields, pcol_error *err)
{
    PCI_TRY(pci_perf_putf(w, err, "%16s", ""));
    return pci_perf_put_text(w, fields, err);
}

pcol_status pci_perf_end_line(struct pci_perf_writer *w, pcol_error *err)
{
    /* The reader drops a CR before the line end. */
    int has_cr = w->line.size && w->line.data[w->line.size - 1] == '\r';
    PCI_TRY(pci_perf_put(w, has_cr ? "\r\n" : "\n", has_cr ? 2 : 1, err));
    size_t size = w->line.size;
    w->has_tabs |= w->bytes < PCI_PERF_LOOK_AHEAD && w->line.data[0] == '\t';
    w->bytes += size;
    w->line.size = 0;
    if (w->keeps_text)
        PCI_TRY(pci_strbuf_append(&w->texts, w->line.data, size, err));
    return pci_out(w->out, w->line.data, size, err);
}

pcol_status pci_perf_putf(struct pci_perf_writer *w, pcol_error *err, const char *format, ...)
{
    char text[96];
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return pci_perf_put(w, text, size > 0 ? (size_t)size : 0, err);
}

static const struct pci_label_cell *find_label(const struct pci_label_reader *labels,
                                               const char *key, uint8_t kind)
{
    for (size_t i = 0; i < labels->cell_count; i++) {
        const struct pci_label_cell *entry = &labels->cells[i];
        if (entry->key && entry->key->kind == kind && pci_str_is(entry->key->key, key))
            return entry;
    }
    return NULL;
}

const struct pci_label_cell *pci_perf_sample_label(const struct pci_perf_writer *w, const char *key,
                                                   uint8_t kind)
{
    return find_label(&w->labels, key, kind);
}

const struct pci_label_cell *pci_perf_after_frame(const struct pci_perf_writer *w)
{
    return w->is_perf ? pci_perf_sample_label(w, "after_frame", PCI_LABEL_STRING) : NULL;
}

const struct pci_label_cell *pci_perf_group_label(const struct pci_perf_writer *w, const char *key,
                                                  uint8_t kind)
{
    return find_label(&w->group_labels, key, kind);
}

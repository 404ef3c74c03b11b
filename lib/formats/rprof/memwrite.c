/*
 * memwrite.c - export of an Rprofmem() log
 *
 * Only sources of type rprofmem can be written: an entry is an allocation and its stack.
 */
#include "formats/rprof/rprof.h"
#include "formats/rprof/write.h"

#include "model/row_details.h"
#include "util/strbuf.h"

#include <string.h>

static const struct pci_rprof_type types[] = {
    {"alloc_size", "bytes"},
    {"new_page", "count"},
    {NULL, NULL},
};

static pcol_status put_entry(struct pci_rprof_writer *w, size_t i, pcol_error *err)
{
    const struct pci_rprof_samples *b = w->samples;
    uint8_t head[32], *p = head;
    const uint8_t *text;
    size_t size;
    if (b->text.valid[i])
        return pci_rprof_put_string(w->out, w->file, b->text.value[i], err);
    if (b->value[0].valid[i]) {
        p = pci_out_digits(p, b->value[0].value[i]);
        *p++ = ' ';
        *p++ = ':';
    } else if (b->value[1].valid[i]) {
        memcpy(p, "new page:", 9);
        p += 9;
    } else { /* a filter removed the values of its type */
        return PCOL_OK;
    }
    PCI_TRY(pci_out(w->out, head, (size_t)(p - head), err));
    if (b->stack.valid[i]) {
        PCI_TRY(
            pci_rprof_stack_text_text(&w->stacks, (uint64_t)b->stack.value[i], &text, &size, err));
        PCI_TRY(pci_rprof_put_feeds(w->out, text, size, w->crlf && w->has_line_feed, err));
    }
    return pci_out(w->out, w->crlf ? "\r\n" : "\n", w->crlf ? 2 : 1, err);
}

/* Find the line end of the source: rprof_segments has a row for it if that is CR LF. */
static pcol_status find_line_end(struct pci_rprof_writer *w, uint32_t source, pcol_error *err)
{
    const struct pci_column *crlf;
    struct pci_source_range segments;
    int64_t value;
    w->crlf = 0;
    PCI_TRY(pci_source_rows(w->file, "rprof_segments", source, &segments, err));
    PCI_TRY(pci_find_verified_column(w->file, "rprof_segments", "crlf", PCI_TYPE(PCF_BOOL), &crlf,
                                     err));
    if (!crlf || !segments.count)
        return PCOL_OK;
    PCI_TRY(pci_get(w->file, crlf, segments.first + segments.count - 1, &value, &(int){0}, err));
    w->crlf = value != 0;
    return PCOL_OK;
}

static pcol_status write_source(struct pci_rprof_writer *w, pcol_str type, uint32_t source,
                                pcol_error *err)
{
    if (!pci_str_is(type, "rprofmem"))
        return pci_fail(err, PCOL_E_LOSS,
                        "an Rprofmem log holds allocations only: source %lu is of type %.*s",
                        (unsigned long)source + 1, type.size < 40 ? (int)type.size : 40, type.data);
    PCI_TRY(find_line_end(w, source, err));
    for (uint64_t row = w->samples->turns.next;; row++) {
        PCI_TRY(pci_rprof_samples_next(w->samples, source, &row, err));
        if (row >= w->samples->total)
            return PCOL_OK;
        PCI_TRY(put_entry(w, (size_t)(row - w->samples->first), err));
    }
}

const struct pci_capabilities pci_rprofmem_capabilities = {.loss_prefix = "rprofmem cannot hold"};

pcol_status pci_rprofmem_write(const struct pci_export *export, pcol_error *err)
{
    struct pci_rprof_writer w = {.export = export, .file = export->file};
    PCI_TRY(pci_rprof_write_sources(&w, types, write_source, err));
    return pci_export_losses(export, "", err);
}

/*
 * text.c - input of lines that end in call stacks (text.h)
 */
#include "formats/rprof/text.h"

#include "util/alloc.h"

void pci_rprof_text_init(struct pci_rprof_text *text, const struct pci_import *import)
{
    uint64_t start = import->input->offset;
    *text = (struct pci_rprof_text){
        .lines = {.input = import->input, .at = start, .keep = start, .number = 1},
        .frames = {.builder = import->builder},
        .previous_end = start,
    };
}

void pci_rprof_text_clear(struct pci_rprof_text *text)
{
    pci_rprof_frames_clear(&text->frames);
    pci_free(text->scratch.data);
}

void pci_rprof_report_deviations(const struct pci_tolerated *tolerated, int is_truncated,
                                 int is_unended)
{
    pci_import_report_tolerated(tolerated, "malformed lines kept as text");
    if (is_truncated)
        pci_import_message("the last line is cut: kept as far as it goes");
    else if (is_unended)
        pci_import_message("the last line has no line feed: it may be cut");
}

void pci_rprof_text_pass(struct pci_rprof_text *text, const struct pci_rprof_line *line)
{
    text->lines.at = line->next;
    text->lines.number += line->parts;
    text->is_unended = line->eol == PCI_RPROF_NO_EOL;
    if (!text->frames.previous_size)
        text->lines.keep = line->next;
}

int pci_rprof_has_usual_eol(const struct pci_rprof_text *text, const struct pci_rprof_line *line)
{
    return line->eol == (text->crlf ? PCI_RPROF_CRLF : PCI_RPROF_LF);
}

/* Find the units of [p, end), in the window of the input or the scratch buffer. */
static pcol_status scan(struct pci_rprof_text *t, const uint8_t *p, const uint8_t *end,
                        unsigned flags, struct pci_rprof_units *u, pcol_error *err)
{
    const uint8_t *before =
        t->frames.previous_size ? pci_rprof_at(&t->lines, t->previous_end) : NULL;
    if (u->line.eol != PCI_RPROF_NO_EOL)
        flags |= PCI_RPROF_LOOSE;
    return pci_rprof_frames_scan(&t->frames, p, end, before, flags, &u->fault, err);
}

pcol_status pci_rprof_text_units(struct pci_rprof_text *text, unsigned flags,
                                 pci_rprof_is_own_line_fn alone, const void *context,
                                 struct pci_rprof_units *units, pcol_error *err)
{
    struct pci_rprof_text *t = text;
    struct pci_rprof_units *u = units;
    const uint8_t *p = pci_rprof_at(&t->lines, u->start);
    const uint8_t *end = pci_rprof_at(&t->lines, u->line.end);
    int unified = 0;
    PCI_TRY(scan(t, p, end, flags, u, err));
    if (u->fault.kind == PCI_RPROF_OPEN || u->fault.kind == PCI_RPROF_NO_BLANK) {
        PCI_TRY(pci_rprof_extend(&t->lines, u->start, flags | PCI_RPROF_LOOSE, alone, context,
                                 &u->line, &u->fault, err));
        /* The window may have moved, and the units point into it: find them again. */
        p = pci_rprof_at(&t->lines, u->start);
        end = pci_rprof_at(&t->lines, u->line.end);
        unified = u->line.parts > 1 && t->crlf;
        if (unified) {
            PCI_TRY(pci_rprof_unify(&t->scratch, p, end, err));
            p = t->scratch.data;
            end = p + t->scratch.size;
            t->frames.previous_size = 0;
        }
        PCI_TRY(scan(t, p, end, flags, u, err));
        if (u->fault.kind == PCI_RPROF_NO_BLANK)
            PCI_TRY(pci_rprof_frames_append(&t->frames, u->fault.at, end, err));
        /* The reference before an open name is complete: that line was on the stack. */
        if (u->fault.kind == PCI_RPROF_OPEN && *u->fault.at != '"')
            PCI_TRY(pci_rprof_frames_append(&t->frames, u->fault.at,
                                            pci_rprof_ref(u->fault.at, end), err));
    }
    u->count = t->frames.new_count;
    int whole = u->fault.kind == PCI_RPROF_NO_FAULT && !unified;
    PCI_TRY(pci_rprof_frames_add(&t->frames, p, end, whole, &u->exact, err));
    u->has_stack = t->frames.depth > 0;
    u->exact =
        u->exact && pci_rprof_has_usual_eol(t, &u->line) && !(unified && u->line.has_bare_lf);
    return PCOL_OK;
}

/*
 * text.c - an input of lines that end in call stacks (text.h)
 */
#include "formats/rprof/text.h"

#include "util/alloc.h"

void pci_rprof_text_init(struct pci_rprof_text *text, const struct pci_import *import)
{
    uint64_t start = import->input->offset;
    *text = (struct pci_rprof_text){
        .lines = {.input = import->input, .at = start, .keep = start, .number = 1},
        .frames = {.builder = import->builder},
        .before_end = start,
    };
}

void pci_rprof_text_clear(struct pci_rprof_text *text)
{
    pci_rprof_frames_clear(&text->frames);
    pci_free(text->scratch.data);
}

void pci_rprof_text_pass(struct pci_rprof_text *text, const struct pci_rprof_line *line)
{
    text->lines.at = line->next;
    text->lines.number += line->parts;
    if (!text->frames.before)
        text->lines.keep = line->next;
}

int pci_rprof_own_eol(const struct pci_rprof_text *text, const struct pci_rprof_line *line)
{
    return line->eol == (text->crlf ? PCI_RPROF_CRLF : PCI_RPROF_LF);
}

/* Scan what stands between two places of the input, or in the scratch. */
static pcol_status scan(struct pci_rprof_text *t, const uint8_t *p, const uint8_t *end,
                        unsigned flags, struct pci_rprof_units *u, pcol_error *err)
{
    /* Of use only while there is a line before. */
    const uint8_t *before = t->frames.before ? pci_rprof_at(&t->lines, t->before_end) : NULL;
    if (u->line.eol != PCI_RPROF_CUT)
        flags |= PCI_RPROF_LOOSE;
    return pci_rprof_frames_scan(&t->frames, p, end, before, flags, &u->fault, err);
}

pcol_status pci_rprof_text_units(struct pci_rprof_text *text, unsigned flags, pci_rprof_alone alone,
                                 const void *context, struct pci_rprof_units *units,
                                 pcol_error *err)
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
        /* The window may have moved, and the units found lie in it: find them again. */
        p = pci_rprof_at(&t->lines, u->start);
        end = pci_rprof_at(&t->lines, u->line.end);
        unified = u->line.parts > 1 && t->crlf;
        if (unified) {
            PCI_TRY(pci_rprof_unify(&t->scratch, p, end, err));
            p = t->scratch.data;
            end = p + t->scratch.size;
            t->frames.before = 0;
        }
        PCI_TRY(scan(t, p, end, flags, u, err));
        if (u->fault.kind == PCI_RPROF_NO_BLANK)
            PCI_TRY(pci_rprof_frames_take(&t->frames, u->fault.at, end, err));
        /* The reference before an open name is whole: that line was on the stack. */
        if (u->fault.kind == PCI_RPROF_OPEN && *u->fault.at != '"')
            PCI_TRY(pci_rprof_frames_take(&t->frames, u->fault.at, pci_rprof_ref(u->fault.at, end),
                                          err));
    }
    u->count = t->frames.fresh_count;
    int whole = u->fault.kind == PCI_RPROF_WHOLE && !unified;
    PCI_TRY(pci_rprof_frames_add(&t->frames, p, end, whole, &u->exact, err));
    u->has_stack = t->frames.depth > 0;
    u->exact = u->exact && pci_rprof_own_eol(t, &u->line) && !(unified && u->line.bare);
    return PCOL_OK;
}

/*
 * lines.c - physical lines of an input (lines.h)
 *
 * A line feed ends a line unless a name is open and the next line cannot be one of its own. Only
 * then lines are joined; the text of an open name is read once, however many lines it has.
 */
#include "formats/rprof/lines.h"

#include "util/alloc.h"

#include <string.h>

pcol_status pci_rprof_peek(struct pci_rprof_lines *lines, uint64_t from,
                           struct pci_rprof_line *line, int *got, pcol_error *err)
{
    struct pci_input *input = lines->input;
    size_t at = (size_t)(from - input->offset), seen = 0;
    const uint8_t *feed;
    for (;;) {
        const uint8_t *p = input->data + at;
        feed = at + seen < input->size ? memchr(p + seen, '\n', input->size - at - seen) : NULL;
        if (feed || input->end)
            break;
        seen = input->size - at;
        PCI_TRY(pci_input_more(input, (size_t)(lines->keep - input->offset), err));
        at = (size_t)(from - input->offset);
    }
    const uint8_t *p = input->data + at;
    const uint8_t *end = feed ? feed : input->data + input->size;
    *got = feed || p != end;
    *line = (struct pci_rprof_line){.start = from, .parts = 1};
    line->next = from + (uint64_t)(end - p) + (feed != NULL);
    line->eol = feed ? PCI_RPROF_LF : PCI_RPROF_NO_EOL;
    if (feed && end > p && end[-1] == '\r') {
        end--;
        line->eol = PCI_RPROF_CRLF;
    }
    line->end = from + (uint64_t)(end - p);
    return PCOL_OK;
}

pcol_status pci_rprof_extend(struct pci_rprof_lines *lines, uint64_t text, unsigned flags,
                             pci_rprof_is_own_line_fn alone, const void *context,
                             struct pci_rprof_line *line, struct pci_rprof_fault *fault,
                             pcol_error *err)
{
    struct pci_rprof_line longer = *line;
    uint64_t open = text + (uint64_t)(fault->at - pci_rprof_at(lines, text));
    struct pci_rprof_fault now = *fault;
    if (line->start < lines->searched)
        return PCOL_OK;
    while (now.kind == PCI_RPROF_OPEN || now.kind == PCI_RPROF_NO_BLANK) {
        struct pci_rprof_line more;
        int got;
        PCI_TRY(pci_rprof_peek(lines, longer.next, &more, &got, err));
        const uint8_t *p = pci_rprof_at(lines, more.start);
        if (!got || longer.eol == PCI_RPROF_NO_EOL) {
            *line = longer;
            line->is_last = 1;
            break;
        }
        lines->searched = more.start;
        if (alone(context, p, pci_rprof_at(lines, more.end)) ||
            more.end - open > PCI_RPROF_LONGEST_NAME) {
            now = *fault;
            break;
        }
        uint64_t resume = longer.end;
        longer.has_bare_lf = longer.has_bare_lf || longer.eol != PCI_RPROF_CRLF;
        longer.end = more.end;
        longer.next = more.next;
        longer.eol = more.eol;
        longer.parts++;
        if (more.eol == PCI_RPROF_NO_EOL)
            flags &= ~PCI_RPROF_LOOSE;
        now = pci_rprof_skip_units(pci_rprof_at(lines, open), pci_rprof_at(lines, resume),
                                   pci_rprof_at(lines, longer.end), flags);
        open += (uint64_t)(now.at - pci_rprof_at(lines, open));
        if (now.kind == PCI_RPROF_NO_FAULT)
            *line = longer;
    }
    fault->kind = now.kind;
    fault->at = pci_rprof_at(lines, now.kind == PCI_RPROF_NO_FAULT ? line->end : open);
    return PCOL_OK;
}

pcol_status pci_rprof_unify(struct pci_rprof_scratch *scratch, const uint8_t *p, const uint8_t *end,
                            pcol_error *err)
{
    PCI_TRY(PCI_GROW(scratch->data, scratch->capacity, (size_t)(end - p) + 1, err));
    uint8_t *to = scratch->data;
    for (; p < end; p++)
        if (*p != '\r' || end - p < 2 || p[1] != '\n')
            *to++ = *p;
    scratch->size = (size_t)(to - scratch->data);
    return PCOL_OK;
}

/*
 * sniff.c - recognition of perf script text by content
 *
 * The lines of the first bytes must be a header and frames of perf script.
 */
#include "formats/perf/parse.h"
#include "formats/perf/perf.h"

#include <string.h>

static int sniff_line(const uint8_t *text, size_t size, int *header)
{
    struct pci_perf_header h;
    struct pci_perf_frame frame;
    struct pci_perf_tail tail;
    if (size && text[0] == '\t') {
        int found = pci_perf_frame(text, size, 0, &frame) && frame.has_address;
        return found && (*header || frame.in_object) ? 2 : 0;
    }
    if (*header) /* no frames: the header line decides */
        return *header == 2 ? 2 : 0;
    if (!pci_perf_header(text, size, 0, &h))
        return 0;
    int framed = pci_perf_tail_frame(&h, 0, &tail);
    int event = h.has_event || h.is_record;
    *header = (h.has_time && h.has_tid && event) || ((h.has_time || event) && framed) ? 2 : 1;
    return 1;
}

int pci_perf_sniff(const uint8_t *data, size_t size, int all)
{
    int header = 0, sure = 0;
    for (size_t at = 0; at < size && sure < 2;) {
        const uint8_t *text = data + at, *feed = memchr(text, '\n', size - at);
        size_t length = feed ? (size_t)(feed - text) : size - at;
        at += length + 1;
        if (!feed && !all)
            break;
        length -= length && text[length - 1] == '\r';
        size_t blank = 0;
        while (blank < length && (text[blank] == ' ' || text[blank] == '\t'))
            blank++;
        /* A header that decides nothing and has no frames: that of the next sample may decide. */
        if (blank == length && header == 1)
            header = 0;
        if ((blank == length && !header) || (text[0] == '#' && !header) ||
            pci_perf_bare_record(text, length))
            continue;
        sure = sniff_line(text, length, &header);
        if (!sure)
            return 0;
    }
    return header == 2 ? 2 : sure;
}

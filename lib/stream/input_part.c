/*
 * input_part.c - parts of an input that is a file: windows of their own over the same descriptor
 *
 * A part reads by offset (pread), so several threads can read parts of one file at once. Tests:
 * tests/unit/test_input.c.
 */
#include "stream/input_state.h"

#include <unistd.h>

#define STEP_SKIPPED ((size_t)1 << 14) /* after a skip, another one is likely */
#define PART_PIECE ((size_t)1 << 16)   /* fits the L2 cache */

/* File offset of the input's start; UINT64_MAX without random access. */
static uint64_t find_start(const struct pci_input_state *s)
{
    if (s->fd < 0 || s->inflate || !s->file_bytes)
        return UINT64_MAX;
    if (s->position != UINT64_MAX)
        return s->start;
    off_t current = lseek(s->fd, 0, SEEK_CUR);
    return current >= 0 && (uint64_t)current >= s->total ? (uint64_t)current - s->total
                                                         : UINT64_MAX;
}

uint64_t pci_input_bytes(const struct pci_input *input)
{
    const struct pci_input_state *s = input->state;
    uint64_t start = find_start(s);
    if (start == UINT64_MAX || start >= s->file_bytes || s->file_bytes - start > s->limit)
        return 0;
    return s->file_bytes - start;
}

pcol_status pci_input_open_part(struct pci_input *part, const struct pci_input *of, pcol_error *err)
{
    size_t piece = of->state->piece;
    const struct pci_input_options options = {.piece = piece < PART_PIECE ? piece : PART_PIECE,
                                              .max_bytes = of->state->limit};
    uint64_t start = find_start(of->state);
    PCI_TRY(pci_input_new_state(part, of->name, &options, err));
    part->state->fd = of->state->fd;
    part->state->position = part->state->start = start;
    part->state->stop = UINT64_MAX;
    part->state->file_bytes = of->state->file_bytes;
    return PCOL_OK;
}

void pci_input_report_to(struct pci_input *part, const struct pci_input *of)
{
    part->state->whole = of->state;
}

void pci_input_end_part(struct pci_input *part, uint64_t offset)
{
    part->state->stop = part->state->start + offset;
}

pcol_status pci_input_skip(struct pci_input *input, uint64_t offset, pcol_error *err)
{
    struct pci_input_state *s = input->state;
    uint64_t end = input->offset + input->size;
    if (offset >= input->offset && offset <= end) {
        input->data += offset - input->offset;
        input->size = (size_t)(end - offset);
        input->offset = offset;
        return PCOL_OK;
    }
    if (s->position == UINT64_MAX) { /* forwards only, within the size of pci_input_bytes() */
        if (lseek(s->fd, (off_t)(offset - end), SEEK_CUR) < 0)
            return pci_fail_errno(err, "read");
        s->read_bytes += offset - end;
    } else {
        s->position += offset - end; /* modulo 2^64 */
        input->end = 0;
    }
    s->total += offset - end;
    s->step = STEP_SKIPPED;
    input->offset = offset;
    input->data = s->buffer ? s->buffer : (const uint8_t *)"";
    input->size = 0;
    return PCOL_OK;
}

/*
 * message_queue.c - FIFO queue of messages in a spill buffer
 *
 * An entry is two varints, the number of input bytes between the previous message and this one, and
 * its size, then the message. From these follows the input offset of each message, for errors.
 */
#include "format/transform.h"
#include "formats/pprof/read.h"
#include "util/control.h"

#define LONGEST_HEAD 20u

void pci_pprof_queue_init(struct pci_pprof_queue *queue, const char *name, pcol_builder *builder)
{
    *queue = (struct pci_pprof_queue){.name = name};
    pci_spill_init(&queue->spill, &builder->store);
}

void pci_pprof_queue_clear(struct pci_pprof_queue *queue)
{
    if (queue->spill.store)
        pci_spill_clear(&queue->spill);
    pci_spill_view_clear(&queue->reader.view);
}

pcol_status pci_pprof_queue_append(struct pci_pprof_queue *queue, const struct pci_pprof_message *m,
                                   pcol_error *err)
{
    size_t size = (size_t)(m->end - m->begin);
    uint8_t head[LONGEST_HEAD];
    size_t used = pcf_varint_put(head, m->offset - queue->end);
    used += pcf_varint_put(head + used, size);
    PCI_TRY(pci_spill_append(&queue->spill, head, used, err));
    if (size)
        PCI_TRY(pci_spill_append(&queue->spill, m->begin, size, err));
    queue->end = m->offset + size;
    queue->count++;
    return PCOL_OK;
}

/* Fast path: the next message if it is contiguous in memory, as nearly all are. */
static inline int read_in_place(const struct pci_pprof_queue *q,
                                struct pci_pprof_queue_reader *reader, struct pci_pprof_message *m)
{
    size_t available;
    const uint8_t *head = pci_spill_in_memory(&q->spill, reader->offset, &available);
    if (!head || available < LONGEST_HEAD)
        return 0;
    uint64_t gap, size;
    const uint8_t *p = pci_pprof_varint(head, head + LONGEST_HEAD, &gap);
    p = p ? pci_pprof_varint(p, head + LONGEST_HEAD, &size) : NULL;
    if (!p || size > available - (size_t)(p - head))
        return 0;
    *m = pci_pprof_message(q->name, p, (size_t)size, reader->end + gap);
    reader->offset += (uint64_t)(p - head) + size;
    reader->end += gap + size;
    return 1;
}

pcol_status pci_pprof_queue_read(const struct pci_pprof_queue *queue,
                                 struct pci_pprof_queue_reader *reader, struct pci_pprof_message *m,
                                 int *end, pcol_error *err)
{
    const struct pci_pprof_queue *q = queue;
    uint64_t left = pci_spill_size(&q->spill) - reader->offset, gap, size;
    const uint8_t *head, *data;
    *end = !left;
    if (!left)
        return PCOL_OK;
    if (read_in_place(q, reader, m))
        return pci_work((uint64_t)(m->end - m->begin), err);
    size_t longest = left < LONGEST_HEAD ? (size_t)left : LONGEST_HEAD;
    PCI_TRY(pci_spill_view_range(&q->spill, &reader->view, reader->offset, longest, &head, err));
    const uint8_t *p = pci_pprof_varint(head, head + longest, &gap);
    p = p ? pci_pprof_varint(p, head + longest, &size) : NULL;
    if (!p || size > left - (uint64_t)(p - head))
        return pci_fail(err, PCOL_E_IO, "another process changed the temporary file");
    reader->offset += (uint64_t)(p - head);
    PCI_TRY(
        pci_spill_view_range(&q->spill, &reader->view, reader->offset, (size_t)size, &data, err));
    *m = pci_pprof_message(q->name, data, (size_t)size, reader->end + gap);
    reader->offset += size;
    reader->end += gap + size;
    return pci_work(size, err);
}

pcol_status pci_pprof_queue_take(struct pci_pprof_queue *queue, struct pci_pprof_message *m,
                                 int *end, pcol_error *err)
{
    pci_spill_drop(&queue->spill, queue->reader.offset);
    return pci_pprof_queue_read(queue, &queue->reader, m, end, err);
}

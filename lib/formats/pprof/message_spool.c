/*
 * message_spool.c - messages that wait until what they refer to is known
 *
 * An entry is two varints, the bytes of input between the message before and this one, and its
 * size, then the message. So the place of each message in the input is known again when it is
 * decoded.
 */
#include "format/transform.h"
#include "formats/pprof/read.h"
#include "util/alloc.h"

#define LONGEST_HEAD 20u

void pci_pprof_spool_init(struct pci_pprof_spool *queue, const char *name, pcol_builder *builder)
{
    *queue = (struct pci_pprof_spool){.name = name};
    pci_spill_init(&queue->spool, &builder->store);
}

void pci_pprof_spool_clear(struct pci_pprof_spool *queue)
{
    if (queue->spool.store)
        pci_spill_clear(&queue->spool);
    pci_spill_view_clear(&queue->taker.view);
}

pcol_status pci_pprof_spool_put(struct pci_pprof_spool *queue, const struct pci_pprof_message *m,
                                pcol_error *err)
{
    size_t size = (size_t)(m->end - m->begin);
    uint8_t head[LONGEST_HEAD];
    size_t used = pcf_varint_put(head, m->offset - queue->end);
    used += pcf_varint_put(head + used, size);
    PCI_TRY(pci_spill_append(&queue->spool, head, used, err));
    if (size)
        PCI_TRY(pci_spill_append(&queue->spool, m->begin, size, err));
    queue->end = m->offset + size;
    queue->count++;
    return PCOL_OK;
}

/* The next message if it lies in one piece in memory, as nearly all do. */
static inline int look_here(const struct pci_pprof_spool *q, struct pci_pprof_taker *taker,
                            struct pci_pprof_message *m)
{
    size_t at_hand;
    const uint8_t *head = pci_spill_at(&q->spool, taker->taken, &at_hand);
    if (!head || at_hand < LONGEST_HEAD)
        return 0;
    uint64_t gap, size;
    const uint8_t *p = pci_pprof_varint(head, head + LONGEST_HEAD, &gap);
    p = p ? pci_pprof_varint(p, head + LONGEST_HEAD, &size) : NULL;
    if (!p || size > at_hand - (size_t)(p - head))
        return 0;
    *m = pci_pprof_message(q->name, p, (size_t)size, taker->end + gap);
    taker->taken += (uint64_t)(p - head) + size;
    taker->end += gap + size;
    return 1;
}

pcol_status pci_pprof_spool_look(const struct pci_pprof_spool *queue, struct pci_pprof_taker *taker,
                                 struct pci_pprof_message *m, int *end, pcol_error *err)
{
    const struct pci_pprof_spool *q = queue;
    uint64_t left = pci_spill_size(&q->spool) - taker->taken, gap, size;
    const uint8_t *head, *data;
    *end = !left;
    if (!left || look_here(q, taker, m))
        return PCOL_OK;
    size_t longest = left < LONGEST_HEAD ? (size_t)left : LONGEST_HEAD;
    PCI_TRY(pci_spill_look(&q->spool, &taker->view, taker->taken, longest, &head, err));
    const uint8_t *p = pci_pprof_varint(head, head + longest, &gap);
    p = p ? pci_pprof_varint(p, head + longest, &size) : NULL;
    if (!p || size > left - (uint64_t)(p - head))
        return pci_fail(err, PCOL_E_IO, "temporary file was changed");
    taker->taken += (uint64_t)(p - head);
    PCI_TRY(pci_spill_look(&q->spool, &taker->view, taker->taken, (size_t)size, &data, err));
    *m = pci_pprof_message(q->name, data, (size_t)size, taker->end + gap);
    taker->taken += size;
    taker->end += gap + size;
    return PCOL_OK;
}

pcol_status pci_pprof_spool_take(struct pci_pprof_spool *queue, struct pci_pprof_message *m,
                                 int *end, pcol_error *err)
{
    pci_spill_drop(&queue->spool, queue->taker.taken);
    return pci_pprof_spool_look(queue, &queue->taker, m, end, err);
}

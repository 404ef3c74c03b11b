/*
 * sample_pipeline.c - samples between the text and the builder (sample_pipeline.h)
 */
#include "formats/rprof/sample_pipeline.h"

#include "builder/builder.h"
#include "util/alloc.h"

#include <string.h>

#define PIECE_BYTES ((size_t)1 << 16) /* of samples that go to the other thread together */
#define PIECES 4u                     /* that may wait for it */
#define ENOUGH 4096u /* samples without a flush, and the other thread is worth it */

/* A sample. In a piece the values that are there stand behind it, eight bytes each, and its
 * groups. */
struct head {
    uint32_t common_depth, fresh;
    uint8_t has_stack, present;
    uint16_t unused;
    uint32_t size; /* with all that */
};

/* What a piece begins with: how much of it is used. */
#define PIECE_HEAD sizeof(uint64_t)

void pci_rprof_pipeline_clear(struct pci_rprof_pipeline *queue)
{
    pci_write_pipe_free(queue->behind);
    pci_free(queue->groups);
    pci_free(queue->piece);
    pci_free(queue->nodes);
    memset(queue, 0, sizeof *queue);
}

/* ---- samples to the builder ---- */

static pcol_status put_sample(struct pci_rprof_pipeline *q, const struct head *head,
                              const uint32_t *groups, const int64_t *present, pcol_error *err)
{
    struct pci_call_tree *tree = &q->record->import->builder->tree;
    pcol_value values[PCI_RPROF_TYPES];
    size_t depth = head->common_depth, count = 0;
    uint32_t node = depth ? q->nodes[depth - 1] : 0, hash = tree->nodes[node].hash;
    if (pci_grow((void **)&q->nodes, &q->node_capacity, depth + head->fresh, sizeof *q->nodes))
        return pci_fail_memory(err);
    for (uint32_t i = 0; i < head->fresh; i++)
        hash = pci_call_tree_prefetch(tree, pci_call_tree_hash(hash, groups[i]));
    for (uint32_t i = 0; i < head->fresh; i++) {
        PCI_TRY(pci_call_tree_child(tree, node, groups[i], &node, err));
        q->nodes[depth++] = node;
    }
    for (unsigned i = 0; i < PCI_RPROF_TYPES; i++)
        if (head->present >> i & 1) {
            values[count].sample_type = q->types[i];
            values[count].as.i64 = present[count];
            count++;
        }
    return pci_rprof_record_sample(q->record, head->has_stack ? node : PCOL_NONE, values, count,
                                   err);
}

/* ---- by another thread ---- */

static pcol_status put_piece(void *context, const void *data, size_t size, pcol_error *err)
{
    const uint8_t *at = data, *end;
    uint64_t used;
    (void)size; /* always that of a whole piece */
    memcpy(&used, at, sizeof used);
    at += PIECE_HEAD;
    for (end = at + used; at < end;) {
        int64_t values[PCI_RPROF_TYPES];
        struct head head;
        memcpy(&head, at, sizeof head);
        size_t bytes = head.size - sizeof head - head.fresh * sizeof(uint32_t);
        memcpy(values, at + sizeof head, bytes);
        /* All parts of a piece are multiples of four bytes long. */
        const void *groups = at + sizeof head + bytes;
        PCI_TRY(put_sample(context, &head, groups, values, err));
        at += head.size;
    }
    return PCOL_OK;
}

static pcol_status hand_over(struct pci_rprof_pipeline *q, pcol_error *err)
{
    pcol_sink sink = pci_write_pipe_sink(q->behind);
    uint64_t used = q->used;
    memcpy(q->piece, &used, sizeof used);
    q->used = 0;
    return pci_sink_write(sink, q->piece, PIECE_HEAD + PIECE_BYTES, err);
}

static pcol_status begin_behind(struct pci_rprof_pipeline *q, pcol_error *err)
{
    const size_t whole = PIECE_HEAD + PIECE_BYTES;
    if (!q->piece && !(q->piece = pci_calloc(whole, 1)))
        return pci_fail_memory(err);
    return pci_write_pipe_new((pcol_sink){put_piece, q}, whole, PIECES, &q->behind, err);
}

pcol_status pci_rprof_pipeline_flush(struct pci_rprof_pipeline *queue, pcol_error *err)
{
    struct pci_write_pipe *behind = queue->behind;
    pcol_status status = PCOL_OK;
    queue->unasked = 0;
    if (!behind)
        return PCOL_OK;
    if (queue->used)
        status = hand_over(queue, err);
    queue->behind = NULL;
    if (status == PCOL_OK)
        status = pci_write_pipe_finish(behind, err);
    pci_write_pipe_free(behind);
    return status;
}

/* ---- samples from the text ---- */

static pcol_status add_to_piece(struct pci_rprof_pipeline *q, const struct head *head,
                                const int64_t *values, pcol_error *err)
{
    size_t groups = head->fresh * sizeof(uint32_t);
    if (q->used + head->size > PIECE_BYTES)
        PCI_TRY(hand_over(q, err));
    uint8_t *at = q->piece + PIECE_HEAD + q->used;
    memcpy(at, head, sizeof *head);
    memcpy(at + sizeof *head, values, head->size - sizeof *head - groups);
    if (groups)
        memcpy(at + head->size - groups, q->groups, groups);
    q->used += head->size;
    return PCOL_OK;
}

static pcol_status list_groups(struct pci_rprof_pipeline *q, const struct pci_rprof_frames *frames,
                               pcol_error *err)
{
    size_t count = frames->fresh_count;
    if (pci_grow((void **)&q->groups, &q->group_capacity, count, sizeof *q->groups))
        return pci_fail_memory(err);
    for (size_t i = 0; i < count; i++)
        q->groups[i] = frames->known[frames->fresh[count - 1 - i].unit].group;
    return PCOL_OK;
}

pcol_status pci_rprof_pipeline_sample(struct pci_rprof_pipeline *queue,
                                      const struct pci_rprof_frames *frames, int has_stack,
                                      unsigned present, const int64_t values[PCI_RPROF_TYPES],
                                      pcol_error *err)
{
    struct head head = {.has_stack = has_stack != 0, .present = (uint8_t)present};
    int64_t together[PCI_RPROF_TYPES];
    size_t count = 0;
    if (has_stack && frames) {
        head.common_depth =
            (uint32_t)frames->common_depth; /* the window holds less than 2^32 frames */
        head.fresh = (uint32_t)frames->fresh_count;
        PCI_TRY(list_groups(queue, frames, err));
    }
    for (unsigned i = 0; i < PCI_RPROF_TYPES; i++)
        if (present >> i & 1)
            together[count++] = values[i];
    size_t size = sizeof head + count * sizeof *values + head.fresh * sizeof(uint32_t);
    if (size > PIECE_BYTES)
        PCI_TRY(pci_rprof_pipeline_flush(queue, err));
    if (!queue->behind && !queue->alone && queue->unasked >= ENOUGH &&
        queue->record->import->options->threads > 1)
        PCI_TRY(begin_behind(queue, err));
    queue->unasked++;
    head.size = (uint32_t)size;
    if (!queue->behind)
        return put_sample(queue, &head, queue->groups, together, err);
    return add_to_piece(queue, &head, together, err);
}

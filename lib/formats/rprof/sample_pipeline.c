/*
 * sample_pipeline.c - pipeline of samples from the parser to the builder (sample_pipeline.h)
 */
#include "formats/rprof/sample_pipeline.h"

#include "builder/builder.h"
#include "util/alloc.h"

#include <string.h>

#define BATCH_BYTES ((size_t)1 << 16) /* of samples that are sent together */
#define MAX_BATCHES 4u                /* queued for the thread */
#define MIN_SAMPLES 4096u             /* without a flush, before a thread is started */

/* A sample. In a batch it is followed by its present values, eight bytes each, and the groups of
 * its new frames. */
struct head {
    uint32_t common_depth, new_frames;
    uint8_t has_stack, present;
    uint16_t unused;
    uint32_t size; /* of head, values and groups */
};

/* Head of a batch: number of bytes used. */
#define BATCH_HEAD sizeof(uint64_t)

void pci_rprof_pipeline_clear(struct pci_rprof_pipeline *queue)
{
    pci_write_pipe_free(queue->pipe);
    pci_free(queue->groups);
    pci_free(queue->batch);
    pci_free(queue->nodes);
    memset(queue, 0, sizeof *queue);
}

/* ---- samples to the builder ---- */

static pcol_status add_sample(struct pci_rprof_pipeline *q, const struct head *head,
                              const uint32_t *groups, const int64_t *present, pcol_error *err)
{
    struct pci_call_tree *tree = &q->record->import->builder->tree;
    pcol_value values[PCI_RPROF_TYPES];
    size_t depth = head->common_depth, count = 0;
    uint32_t node = depth ? q->nodes[depth - 1] : 0, hash = tree->nodes[node].hash;
    PCI_TRY(PCI_GROW(q->nodes, q->node_capacity, depth + head->new_frames, err));
    for (uint32_t i = 0; i < head->new_frames; i++)
        hash = pci_call_tree_prefetch(tree, pci_call_tree_hash(hash, groups[i]));
    for (uint32_t i = 0; i < head->new_frames; i++) {
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

/* ---- worker thread ---- */

static pcol_status add_batch(void *context, const void *data, size_t size, pcol_error *err)
{
    const uint8_t *at = data, *end;
    uint64_t used;
    (void)size; /* always that of a full batch */
    memcpy(&used, at, sizeof used);
    at += BATCH_HEAD;
    for (end = at + used; at < end;) {
        int64_t values[PCI_RPROF_TYPES];
        struct head head;
        memcpy(&head, at, sizeof head);
        size_t bytes = head.size - sizeof head - head.new_frames * sizeof(uint32_t);
        memcpy(values, at + sizeof head, bytes);
        /* Aligned: the sizes of all parts are multiples of four. */
        const void *groups = at + sizeof head + bytes;
        PCI_TRY(add_sample(context, &head, groups, values, err));
        at += head.size;
    }
    return PCOL_OK;
}

static pcol_status send_batch(struct pci_rprof_pipeline *q, pcol_error *err)
{
    pcol_sink sink = pci_write_pipe_sink(q->pipe);
    uint64_t used = q->used;
    memcpy(q->batch, &used, sizeof used);
    q->used = 0;
    return pci_sink_write(sink, q->batch, BATCH_HEAD + BATCH_BYTES, err);
}

static pcol_status start_thread(struct pci_rprof_pipeline *q, pcol_error *err)
{
    const size_t whole = BATCH_HEAD + BATCH_BYTES;
    if (!q->batch && !(q->batch = pci_calloc(whole, 1)))
        return pci_fail_memory(err);
    return pci_write_pipe_new((pcol_sink){add_batch, q}, whole, MAX_BATCHES, &q->pipe, err);
}

pcol_status pci_rprof_pipeline_flush(struct pci_rprof_pipeline *queue, pcol_error *err)
{
    struct pci_write_pipe *pipe = queue->pipe;
    pcol_status status = PCOL_OK;
    queue->since_flush = 0;
    if (!pipe)
        return PCOL_OK;
    if (queue->used)
        status = send_batch(queue, err);
    queue->pipe = NULL;
    if (status == PCOL_OK)
        status = pci_write_pipe_finish(pipe, err);
    pci_write_pipe_free(pipe);
    return status;
}

/* ---- samples from the text ---- */

static pcol_status append_to_batch(struct pci_rprof_pipeline *q, const struct head *head,
                                   const int64_t *values, pcol_error *err)
{
    size_t groups = head->new_frames * sizeof(uint32_t);
    if (q->used + head->size > BATCH_BYTES)
        PCI_TRY(send_batch(q, err));
    uint8_t *at = q->batch + BATCH_HEAD + q->used;
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
    size_t count = frames->new_count;
    PCI_TRY(PCI_GROW(q->groups, q->group_capacity, count, err));
    for (size_t i = 0; i < count; i++)
        q->groups[i] = frames->units[frames->new_units[count - 1 - i].unit].group;
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
            (uint32_t)frames->common_depth; /* the window has fewer than 2^32 frames */
        head.new_frames = (uint32_t)frames->new_count;
        PCI_TRY(list_groups(queue, frames, err));
    }
    for (unsigned i = 0; i < PCI_RPROF_TYPES; i++)
        if (present >> i & 1)
            together[count++] = values[i];
    size_t size = sizeof head + count * sizeof *values + head.new_frames * sizeof(uint32_t);
    if (size > BATCH_BYTES)
        PCI_TRY(pci_rprof_pipeline_flush(queue, err));
    if (!queue->pipe && !queue->is_inline && queue->since_flush >= MIN_SAMPLES &&
        queue->record->import->options->threads > 1)
        PCI_TRY(start_thread(queue, err));
    queue->since_flush++;
    head.size = (uint32_t)size;
    if (!queue->pipe)
        return add_sample(queue, &head, queue->groups, together, err);
    return append_to_batch(queue, &head, together, err);
}

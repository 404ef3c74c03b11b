/*
 * queue.c - samples between the text and the builder (queue.h)
 */
#include "rprof/queue.h"

#include "core/alloc.h"
#include "core/builder.h"

#include <string.h>

#define PIECE_BYTES ((size_t)1 << 16) /* of samples that go to the builder together */
#define PIECES 4u                     /* that may wait for the other thread */
#define LOOKED_AT 16u                 /* samples whose places are asked for together */

/* Behind it stand the values that are there, eight bytes each, and the groups of new frames,
 * outermost first. */
struct head {
    uint32_t kept, fresh;
    uint8_t has_stack, present;
    uint16_t unused;
};

void pci_rprof_queue_clear(struct pci_rprof_queue *queue)
{
    pci_behind_free(queue->behind);
    pci_free(queue->piece);
    pci_free(queue->nodes);
    pci_free(queue->hashes);
    pci_free(queue->asked);
    memset(queue, 0, sizeof *queue);
}

/* ---- samples to the builder ---- */

/* Its values; what stands behind them. */
static const uint8_t *values_of(const struct pci_rprof_queue *q, const struct head *head,
                                const uint8_t *at, pcol_value values[PCI_RPROF_TYPES],
                                size_t *count)
{
    *count = 0;
    for (unsigned i = 0; i < PCI_RPROF_TYPES; i++)
        if (head->present >> i & 1) {
            values[*count].sample_type = q->types[i];
            memcpy(&values[(*count)++].as.i64, at, sizeof(int64_t));
            at += sizeof(int64_t);
        }
    return at;
}

static size_t size_of_values(const struct head *head)
{
    return (size_t)__builtin_popcount(head->present) * sizeof(int64_t);
}

/* Ask for the places of all nodes of some samples, then for the nodes that stand there. */
static pcol_status look_ahead(struct pci_rprof_queue *q, const uint8_t *at, const uint8_t *end,
                              pcol_error *err)
{
    const struct pci_tree *tree = &q->record->import->builder->tree;
    size_t count = 0;
    for (size_t i = 0; i < LOOKED_AT && at < end; i++) {
        struct head head;
        uint32_t group;
        memcpy(&head, at, sizeof head);
        at += sizeof head + size_of_values(&head);
        size_t depth = head.kept;
        if (pci_grow((void **)&q->hashes, &q->hash_capacity, depth + head.fresh,
                     sizeof *q->hashes) ||
            pci_grow((void **)&q->asked, &q->asked_capacity, count + head.fresh, sizeof *q->asked))
            return pci_fail_memory(err);
        uint32_t hash = depth ? q->hashes[depth - 1] : 0;
        for (uint32_t k = 0; k < head.fresh; k++, at += sizeof group) {
            memcpy(&group, at, sizeof group);
            q->hashes[depth++] = q->asked[count++] = hash =
                pci_tree_ask(tree, pci_tree_hash(hash, group));
        }
    }
    for (size_t i = 0; i < count; i++)
        pci_tree_ask_node(tree, q->asked[i]);
    return PCOL_OK;
}

static pcol_status put_sample(struct pci_rprof_queue *q, const uint8_t **place, pcol_error *err)
{
    struct pci_tree *tree = &q->record->import->builder->tree;
    const uint8_t *at = *place;
    pcol_value values[PCI_RPROF_TYPES];
    struct head head;
    size_t count;
    memcpy(&head, at, sizeof head);
    at = values_of(q, &head, at + sizeof head, values, &count);
    size_t depth = head.kept;
    uint32_t node = depth ? q->nodes[depth - 1] : 0, group;
    if (pci_grow((void **)&q->nodes, &q->node_capacity, depth + head.fresh, sizeof *q->nodes))
        return pci_fail_memory(err);
    for (uint32_t k = 0; k < head.fresh; k++, at += sizeof group) {
        memcpy(&group, at, sizeof group);
        PCI_TRY(pci_tree_child(tree, node, group, &node, err));
        q->nodes[depth++] = node;
    }
    *place = at;
    return pci_rprof_record_sample(q->record, head.has_stack ? node : PCOL_NONE, values, count,
                                   err);
}

static pcol_status put_samples(struct pci_rprof_queue *q, const uint8_t *at, size_t size,
                               pcol_error *err)
{
    const uint8_t *end = at + size;
    while (at < end) {
        PCI_TRY(look_ahead(q, at, end, err));
        for (size_t i = 0; i < LOOKED_AT && at < end; i++)
            PCI_TRY(put_sample(q, &at, err));
    }
    return PCOL_OK;
}

/* ---- pieces of samples ---- */

/* A piece begins with how many bytes of samples it has. */
static uint8_t *samples_of(const struct pci_rprof_queue *q)
{
    return q->piece + sizeof(uint64_t);
}

static pcol_status put_piece(void *context, const void *data, size_t size, pcol_error *err)
{
    uint64_t used;
    (void)size; /* always that of a whole piece */
    memcpy(&used, data, sizeof used);
    return put_samples(context, (const uint8_t *)data + sizeof used, (size_t)used, err);
}

/* Whether samples go to another thread: once they have filled pieces between which nothing asked for
 * the builder. */
static int is_for_another(const struct pci_rprof_queue *q)
{
    return q->behind || (q->record->import->options->threads > 1 && q->used <= PIECE_BYTES &&
                         q->unasked >= PCI_BESIDE_BYTES / 8);
}

/* The piece to where its samples are put into the builder; it is empty then. */
static pcol_status pass_on(struct pci_rprof_queue *q, pcol_error *err)
{
    const size_t whole = sizeof(uint64_t) + PIECE_BYTES;
    int is_handed_over = is_for_another(q);
    uint64_t used = q->used;
    if (!used)
        return PCOL_OK;
    q->used = 0;
    q->unasked += (size_t)used;
    if (!is_handed_over)
        return put_samples(q, samples_of(q), (size_t)used, err);
    if (!q->behind)
        PCI_TRY(pci_behind_new((pcol_sink){put_piece, q}, whole, PIECES, &q->behind, err));
    memcpy(q->piece, &used, sizeof used);
    pcol_sink sink = pci_behind_sink(q->behind);
    return sink.write(sink.context, q->piece, whole, err);
}

pcol_status pci_rprof_queue_flush(struct pci_rprof_queue *queue, pcol_error *err)
{
    struct pci_behind *behind = queue->behind;
    if (behind) {
        queue->behind = NULL;
        pcol_status status = pci_behind_finish(behind, err);
        pci_behind_free(behind);
        if (status != PCOL_OK)
            return status;
    }
    queue->unasked = 0;
    PCI_TRY(pass_on(queue, err));
    queue->unasked = 0;
    return PCOL_OK;
}

/* Room for a sample. One that is larger than a piece is put into the builder from here. */
static pcol_status make_room(struct pci_rprof_queue *q, size_t size, pcol_error *err)
{
    if (q->used + size > PIECE_BYTES)
        PCI_TRY(pass_on(q, err));
    if (size > PIECE_BYTES)
        PCI_TRY(pci_rprof_queue_flush(q, err));
    size_t needed = sizeof(uint64_t) + (size > PIECE_BYTES ? size : PIECE_BYTES);
    if (needed > q->capacity && pci_grow((void **)&q->piece, &q->capacity, needed, 1))
        return pci_fail_memory(err);
    return PCOL_OK;
}

pcol_status pci_rprof_queue_sample(struct pci_rprof_queue *queue,
                                   const struct pci_rprof_frames *frames, int has_stack,
                                   unsigned present, const int64_t values[PCI_RPROF_TYPES],
                                   pcol_error *err)
{
    struct head head = {.has_stack = has_stack != 0, .present = (uint8_t)present};
    if (has_stack && frames) {
        head.kept = (uint32_t)frames->kept; /* a stack of 2^32 frames does not fit the window */
        head.fresh = (uint32_t)frames->fresh_count;
    }
    size_t size = sizeof head + size_of_values(&head) + head.fresh * sizeof(uint32_t);
    PCI_TRY(make_room(queue, size, err));
    uint8_t *at = samples_of(queue) + queue->used;
    memcpy(at, &head, sizeof head);
    at += sizeof head;
    for (unsigned i = 0; i < PCI_RPROF_TYPES; i++)
        if (present >> i & 1) {
            memcpy(at, &values[i], sizeof values[i]);
            at += sizeof values[i];
        }
    for (size_t i = head.fresh; i-- > 0; at += sizeof(uint32_t))
        memcpy(at, &frames->known[frames->fresh[i].unit].group, sizeof(uint32_t));
    queue->used += size;
    return PCOL_OK;
}

/*
 * gather_frames.c - a value for each frame of a range of samples
 *
 * Depth-first traversal of the call tree in the order of its rows: samples are linked by their
 * stack, the values from the root to the current stack are in an array, and each sample gets a copy
 * of its end. In pre-order each node is looked up once; any other order is correct, too, since a
 * node stays in the array only while it is on the path. Tests: tests/unit/test_frames.c.
 */
#include "model/bulk_frames.h"

#include "util/alloc.h"
#include "util/arg_check.h"
#include "util/control.h"

#include <string.h>

#define PIECE (UINT32_C(1) << 20) /* samples of a traversal, at least */
#define AHEAD 16u                 /* entries: memory is read in random order */

struct entry {
    uint32_t stack, sample; /* sample: of the piece */
};

struct gather {
    const pcol_frames *frames;
    const uint64_t *offsets; /* of the caller, of all samples */
    const uint8_t *values;   /* NULL: rows of locations */
    size_t width;
    uint8_t *out;
    /* Of the samples of a piece: 1 + the last one with a stack, and 1 + that before it; 0: none. */
    uint32_t *last, *before;
    struct entry *entries; /* samples of the piece with a stack, in the order of stacks */
    /* The current stack, right-aligned in arrays of `deepest` frames: innermost first. */
    uint32_t deepest, depth;
    uint8_t *path;
    uint32_t *owner; /* node of the frame */
};

/* ---- offsets */

pcol_status pcol_frames_offsets(const pcol_frames *frames, uint64_t first_sample, size_t count,
                                uint64_t *offsets, pcol_error *err)
{
    uint32_t stacks[PCI_BATCH];
    uint64_t sum = 0;
    PCI_REQUIRE(frames, err);
    PCI_REQUIRE(offsets, err);
    PCI_TRY(pci_frames_check_range(frames, first_sample, count, err));
    offsets[0] = 0;
    for (size_t done = 0, n; done < count; done += n) {
        n = count - done < PCI_BATCH ? count - done : PCI_BATCH;
        PCI_TRY(pci_frames_stacks(frames, first_sample + done, n, stacks, err));
        for (size_t i = 0; i < n; i++) {
            uint32_t depth = frames->nodes[stacks[i]].depth;
            __builtin_prefetch(&frames->nodes[stacks[i + AHEAD < n ? i + AHEAD : i]]);
            if (depth == UINT32_MAX || __builtin_add_overflow(sum, depth, &sum))
                return pci_fail_cell(err, PCOL_E_LIMIT, "samples", "stack", first_sample + done + i,
                                     "too many frames");
            offsets[done + i + 1] = sum;
        }
    }
    return PCOL_OK;
}

/* ---- values */

/* Sorts the samples of a piece by their stacks, through lists of the samples of each stack. */
static pcol_status sort_samples(struct gather *g, uint64_t first, size_t n, size_t *count,
                                pcol_error *err)
{
    uint32_t stacks[PCI_BATCH];
    for (size_t done = 0, batch; done < n; done += batch) {
        batch = n - done < PCI_BATCH ? n - done : PCI_BATCH;
        PCI_TRY(pci_frames_stacks(g->frames, first + done, batch, stacks, err));
        for (size_t i = 0; i < batch; i++) {
            __builtin_prefetch(&g->last[stacks[i + AHEAD < batch ? i + AHEAD : i]]);
            g->before[done + i] = g->last[stacks[i]];
            g->last[stacks[i]] = (uint32_t)(done + i) + 1;
        }
    }
    *count = 0;
    for (uint32_t row = 0; row < g->frames->stacks; row++) {
        for (uint32_t sample = row ? g->last[row] : 0; sample; sample = g->before[sample - 1])
            g->entries[(*count)++] = (struct entry){row, sample - 1};
        g->last[row] = 0;
    }
    return PCOL_OK;
}

/* The frames of a node, whose depth is at most `deepest`. */
static void put_node(struct gather *g, uint32_t row, const struct pci_frames_node *node)
{
    size_t at = g->deepest - node->depth;
    for (uint32_t i = 0; i < node->count; i++, at++) {
        uint32_t location = node->first + i;
        g->owner[at] = row;
        switch (g->values ? g->width : 0) {
        case 0:
            memcpy(g->path + at * sizeof location, &location, sizeof location);
            break;
        case 1:
            g->path[at] = g->values[location];
            break;
        case 2:
            memcpy(g->path + at * 2, g->values + (size_t)location * 2, 2);
            break;
        case 4:
            memcpy(g->path + at * 4, g->values + (size_t)location * 4, 4);
            break;
        default:
            memcpy(g->path + at * 8, g->values + (size_t)location * 8, 8);
        }
    }
}

/* Makes the path that of a stack: its nodes up to the first that is on the path already. */
static void enter_stack(struct gather *g, uint32_t row)
{
    const struct pci_frames_node *nodes = g->frames->nodes;
    uint32_t depth = nodes[row].depth;
    while (row && (nodes[row].depth > g->depth || g->owner[g->deepest - nodes[row].depth] != row)) {
        put_node(g, row, &nodes[row]);
        row = nodes[row].parent;
    }
    g->depth = depth;
}

/* offsets: of the piece. A sample without a stack has no frames. */
static pcol_status put_stacks(struct gather *g, const uint64_t *offsets, size_t count,
                              pcol_error *err)
{
    const struct entry *e = g->entries;
    uint64_t work = 0;
    for (size_t i = 0; i < count; i++) {
        if (i + 2 * AHEAD < count)
            __builtin_prefetch(&offsets[e[i + 2 * AHEAD].sample]);
        if (i + AHEAD < count)
            __builtin_prefetch(g->out + offsets[e[i + AHEAD].sample] * g->width, 1);
        if (i == 0 || e[i].stack != e[i - 1].stack)
            enter_stack(g, e[i].stack);
        memcpy(g->out + (size_t)offsets[e[i].sample] * g->width,
               g->path + (g->deepest - g->depth) * g->width, g->depth * g->width);
        work += g->depth * g->width;
        if (work > PCI_CONTROL_STEP) {
            PCI_TRY(pci_work(work, err));
            work = 0;
        }
    }
    return PCOL_OK;
}

/* Offsets that the caller changed, or a file that was cut in the meantime. */
static pcol_status check_depths(struct gather *g, uint64_t first, const uint64_t *offsets, size_t n,
                                size_t count, pcol_error *err)
{
    uint64_t frames = 0;
    g->deepest = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t depth = g->frames->nodes[g->entries[i].stack].depth;
        const uint64_t *own = offsets + g->entries[i].sample;
        if (i + AHEAD < count)
            __builtin_prefetch(&offsets[g->entries[i + AHEAD].sample]);
        if (own[1] - own[0] != depth || depth == UINT32_MAX)
            return pci_fail_cell(err, PCOL_E_ARGUMENT, "samples", "stack",
                                 first + g->entries[i].sample,
                                 "the offsets are those of other stacks");
        g->deepest = depth > g->deepest ? depth : g->deepest;
        frames += depth;
    }
    return frames == offsets[n] - offsets[0]
               ? PCOL_OK
               : pci_fail(err, PCOL_E_ARGUMENT, "the offsets are those of other stacks");
}

static pcol_status put_piece(struct gather *g, uint64_t first, const uint64_t *offsets, size_t n,
                             pcol_error *err)
{
    size_t count;
    PCI_TRY(sort_samples(g, first, n, &count, err));
    PCI_TRY(check_depths(g, first, offsets, n, count, err));
    g->depth = 0;
    g->path = pci_malloc((size_t)g->deepest + 1, g->width);
    g->owner = pci_malloc((size_t)g->deepest + 1, sizeof *g->owner);
    pcol_status status =
        g->path && g->owner ? put_stacks(g, offsets, count, err) : pci_fail_memory(err);
    pci_free(g->path);
    pci_free(g->owner);
    return status;
}

static pcol_status put_all(struct gather *g, uint64_t first, size_t count, pcol_error *err)
{
    /* A traversal reads all stacks. */
    size_t most = g->frames->stacks > PIECE ? g->frames->stacks - 1 : PIECE;
    most = most < count ? most : count;
    g->last = pci_calloc((size_t)g->frames->stacks + 1, sizeof *g->last);
    g->before = pci_malloc(most + 1, sizeof *g->before);
    g->entries = pci_malloc(most + 1, sizeof *g->entries);
    if (!g->last || !g->before || !g->entries)
        return pci_fail_memory(err);
    for (size_t done = 0, n; done < count; done += n) {
        n = count - done < most ? count - done : most;
        PCI_TRY(put_piece(g, first + done, g->offsets + done, n, err));
    }
    return PCOL_OK;
}

pcol_status pcol_frames_gather(const pcol_frames *frames, uint64_t first_sample, size_t count,
                               const uint64_t *offsets, const void *values, size_t width,
                               const pcol_control *control, void *out, pcol_error *err)
{
    PCI_REQUIRE(frames, err);
    PCI_REQUIRE(offsets, err);
    PCI_REQUIRE_MANY(out, offsets[count], err);
    PCI_TRY(pci_frames_check_range(frames, first_sample, count, err));
    if ((width != 1 && width != 2 && width != 4 && width != 8) || (!values && width != 4))
        return pci_fail(err, PCOL_E_ARGUMENT, "values of %zu bytes are not supported", width);
    struct gather g = {.frames = frames, .offsets = offsets, .values = values, .width = width};
    struct pci_control scope;
    pcol_status status;
    g.out = out;
    PCI_TRY(pci_control_init(&scope, control, "read", err));
    PCI_CONTROLLED(&scope, status, put_all(&g, first_sample, count, err), err);
    pci_free(g.last);
    pci_free(g.before);
    pci_free(g.entries);
    return status;
}

/*
 * bulk_frames.c - the call stacks of ranges of samples, as lists of locations
 *
 * The call tree is decoded once into an array of nodes, so that a step to a caller is one access to
 * memory. Tests: tests/unit/test_frames.c.
 */
#include "model/bulk_frames.h"

#include "util/alloc.h"
#include "util/arg_check.h"
#include "util/control.h"

#include <string.h>

/* ---- opening */

static uint32_t add_saturating(uint32_t a, uint32_t b)
{
    uint32_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT32_MAX : sum;
}

static pcol_status read_nodes(pcol_frames *frames, const struct pci_stacks *tree,
                              const uint32_t *starts, pcol_error *err)
{
    struct pci_stack_node batch[PCI_BATCH];
    struct pci_frames_node *nodes = frames->nodes;
    for (uint64_t row = 0, n; row < tree->stacks; row += n) {
        n = tree->stacks - row < PCI_BATCH ? tree->stacks - row : PCI_BATCH;
        PCI_TRY(pci_stacks_read(tree, starts, row, (size_t)n, batch, err));
        for (uint64_t i = 0; i < n; i++)
            nodes[row + i] = (struct pci_frames_node){
                batch[i].parent, batch[i].first, batch[i].count,
                add_saturating(nodes[batch[i].parent].depth, batch[i].count)};
    }
    return PCOL_OK;
}

static pcol_status open_frames(pcol_frames *frames, pcol_error *err)
{
    struct pci_stacks tree;
    const pcol_file *file = frames->file;
    uint32_t *starts = NULL;
    pcol_status status;
    frames->samples = pci_rows(file, "samples");
    PCI_TRY(pci_stacks_open(file, &tree, err));
    PCI_TRY(pci_check_row_count(file, "stacks", err));
    PCI_TRY(pci_stacks_verify(&tree, err));
    PCI_TRY(pci_find_column(file, "samples", "stack", PCI_TYPES_ROW, &frames->stack, err));
    PCI_TRY(pci_find_column(file, "locations", "function", PCI_TYPES_ROW, &frames->function, err));
    frames->stacks = (uint32_t)tree.stacks;
    frames->locations = tree.locations;
    frames->nodes = pci_calloc((size_t)tree.stacks + 1, sizeof *frames->nodes);
    if (!frames->nodes)
        return pci_fail_memory(err);
    status = pci_stacks_starts(&tree, &starts, err);
    if (status == PCOL_OK)
        status = read_nodes(frames, &tree, starts, err);
    pci_free(starts);
    return status;
}

pcol_status pcol_frames_open(const pcol_file *file, const pcol_control *control,
                             pcol_frames **frames, pcol_error *err)
{
    struct pci_control scope;
    PCI_REQUIRE(frames, err);
    *frames = NULL;
    PCI_REQUIRE(file, err);
    pcol_frames *f;
    pcol_status status;
    PCI_TRY(pci_control_init(&scope, control, "read", err));
    PCI_TRY(PCI_CALLOC(f, 1, err));
    f->file = file;
    PCI_CONTROLLED(&scope, status, open_frames(f, err), err);
    if (status == PCOL_OK)
        *frames = f;
    else
        pcol_frames_free(f);
    return status;
}

void pcol_frames_free(pcol_frames *frames)
{
    if (!frames)
        return;
    pci_free(frames->nodes);
    pci_free(frames);
}

/* ---- samples */

pcol_status pci_frames_check_range(const pcol_frames *frames, uint64_t first, size_t count,
                                   pcol_error *err)
{
    if (first > frames->samples || count > frames->samples - first)
        return pci_fail_cell(err, PCOL_E_ARGUMENT, "samples", NULL, first,
                             "the table has %llu rows", (unsigned long long)frames->samples);
    return PCOL_OK;
}

pcol_status pci_frames_stacks(const pcol_frames *frames, uint64_t row, size_t n, uint32_t *stacks,
                              pcol_error *err)
{
    int64_t values[PCI_BATCH];
    uint8_t valid[PCI_BATCH] = {0};
    if (frames->stack)
        PCI_TRY(pci_read(frames->file, frames->stack, row, n, values, valid, err));
    for (size_t i = 0; i < n; i++) {
        uint64_t stack = valid[i] ? (uint64_t)values[i] : 0;
        if (stack && stack >= frames->stacks)
            return pci_corrupt(err, "samples", "stack", row + i,
                               "%llu is beyond the %lu rows of stacks", (unsigned long long)stack,
                               (unsigned long)frames->stacks);
        stacks[i] = (uint32_t)stack;
    }
    return PCOL_OK;
}

/* The caller's arrays. */
struct output {
    uint64_t *offsets;
    uint32_t *locations;
    size_t capacity, samples;
};

/* Appends a stack; returns its depth, of which only `available` locations are stored. */
static size_t put_stack(const pcol_frames *frames, uint32_t node, uint32_t *to, size_t available)
{
    const struct pci_frames_node *nodes = frames->nodes;
    size_t depth = 0;
    while (node) {
        struct pci_frames_node n = nodes[node];
        for (uint32_t i = 0; i < n.count; i++, depth++)
            if (depth < available)
                to[depth] = n.first + i;
        node = n.parent;
    }
    return depth;
}

/* Appends the stacks of a batch; returns 1 if one did not fit. */
static int put_batch(const pcol_frames *frames, const uint32_t *stacks, size_t n,
                     struct output *out)
{
    for (size_t i = 0; i < n; i++) {
        size_t used = (size_t)out->offsets[out->samples], available = out->capacity - used, depth;
        if (i + 8 < n) /* the walk waits for memory */
            __builtin_prefetch(&frames->nodes[stacks[i + 8]]);
        if (i && stacks[i] == stacks[i - 1]) {
            depth = used - (size_t)out->offsets[out->samples - 1];
            if (depth && depth <= available)
                memcpy(out->locations + used, out->locations + used - depth,
                       depth * sizeof *out->locations);
        } else {
            depth = put_stack(frames, stacks[i], out->locations + used, available);
        }
        if (depth <= available || !out->samples)
            out->offsets[out->samples + 1] = used + depth;
        if (depth > available)
            return 1;
        out->samples++;
    }
    return 0;
}

static pcol_status read_samples(const pcol_frames *frames, uint64_t first, size_t count,
                                struct output *out, pcol_error *err)
{
    uint32_t stacks[PCI_BATCH];
    int full = 0;
    for (size_t done = 0, n; done < count && !full; done += n) {
        n = count - done < PCI_BATCH ? count - done : PCI_BATCH;
        PCI_TRY(pci_frames_stacks(frames, first + done, n, stacks, err));
        full = put_batch(frames, stacks, n, out);
    }
    return PCOL_OK;
}

pcol_status pcol_frames_read(const pcol_frames *frames, uint64_t first_sample, size_t count,
                             uint64_t *offsets, uint32_t *locations, size_t capacity,
                             size_t *samples_read, pcol_error *err)
{
    PCI_REQUIRE(samples_read, err);
    *samples_read = 0;
    PCI_REQUIRE(offsets, err);
    offsets[0] = 0;
    PCI_REQUIRE(frames, err);
    PCI_REQUIRE_MANY(locations, capacity, err);
    struct output out = {offsets, locations, capacity, 0};
    PCI_TRY(pci_frames_check_range(frames, first_sample, count, err));
    pcol_status status = read_samples(frames, first_sample, count, &out, err);
    if (status == PCOL_OK)
        *samples_read = out.samples;
    return status;
}

/* ---- stacks */

pcol_status pcol_frames_leaf_functions(const pcol_frames *frames, uint64_t first_stack,
                                       size_t count, uint32_t *functions, pcol_error *err)
{
    PCI_REQUIRE(frames, err);
    PCI_REQUIRE_MANY(functions, count, err);
    if (first_stack > frames->stacks || count > frames->stacks - first_stack)
        return pci_fail_cell(err, PCOL_E_ARGUMENT, "stacks", NULL, first_stack,
                             "the table has %lu rows", (unsigned long)frames->stacks);
    for (size_t i = 0; i < count; i++) {
        const struct pci_frames_node *node = &frames->nodes[first_stack + i];
        int64_t function = 0;
        int valid = 0;
        if (node->count && frames->function)
            PCI_TRY(pci_get(frames->file, frames->function, node->first, &function, &valid, err));
        functions[i] = valid ? (uint32_t)function : PCOL_NONE;
    }
    return PCOL_OK;
}

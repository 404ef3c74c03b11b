/*
 * bulk_frames.c - the call stacks of ranges of samples, as lists of locations
 *
 * The call tree is decoded once into an array of nodes, so that a step to a caller is one access to
 * memory. Tests: tests/unit/test_frames.c.
 */
#include "model/table.h"

#include "util/alloc.h"
#include "util/arg_check.h"
#include "util/control.h"

#include <string.h>

struct node {
    uint32_t parent;       /* below the node's own row */
    uint32_t first, count; /* locations, innermost first */
};

struct pcol_frames {
    const pcol_file *file;
    const struct pci_column *stack, *function; /* may be NULL */
    uint64_t samples;
    uint32_t stacks;
    struct node *nodes;
};

/* ---- opening */

/* The first location of each group and, after the last, the number of locations; NULL if the file
 * has no groups of several locations: group g then is location g. */
static pcol_status read_groups(const struct pci_stacks *tree, uint32_t **starts, pcol_error *err)
{
    int64_t values[PCI_BATCH];
    uint64_t before = 0;
    *starts = NULL;
    if (!tree->first)
        return PCOL_OK;
    PCI_TRY(pci_check_row_count(tree->file, "location_groups", err));
    PCI_TRY(PCI_CALLOC(*starts, (size_t)tree->groups + 1, err));
    for (uint64_t row = 0, n; row < tree->groups; row += n) {
        n = tree->groups - row < PCI_BATCH ? tree->groups - row : PCI_BATCH;
        PCI_TRY(pci_read(tree->file, tree->first, row, n, values, NULL, err));
        for (uint64_t i = 0; i < n; i++) {
            uint64_t start = (uint64_t)values[i];
            /* A group has at least one location, and the first group starts at location 0. */
            if (row + i ? start <= before || start >= tree->locations : start || !tree->locations)
                return pci_corrupt(err, "location_groups", "first_location", row + i,
                                   "location %llu is out of order or range",
                                   (unsigned long long)start);
            (*starts)[row + i] = (uint32_t)start;
            before = start;
        }
    }
    (*starts)[tree->groups] = (uint32_t)tree->locations;
    return PCOL_OK;
}

static pcol_status read_nodes(pcol_frames *frames, const struct pci_stacks *tree,
                              const uint32_t *starts, pcol_error *err)
{
    int64_t parents[PCI_BATCH], groups[PCI_BATCH];
    for (uint64_t row = 0, n; row < tree->stacks; row += n) {
        n = tree->stacks - row < PCI_BATCH ? tree->stacks - row : PCI_BATCH;
        PCI_TRY(pci_read(tree->file, tree->parent, row, n, parents, NULL, err));
        PCI_TRY(pci_read(tree->file, tree->group, row, n, groups, NULL, err));
        for (uint64_t i = row == 0; i < n; i++) {
            uint64_t group = (uint64_t)groups[i];
            if ((uint64_t)parents[i] >= row + i)
                return pci_corrupt(err, "stacks", "parent", row + i,
                                   "parent %llu is not before its child",
                                   (unsigned long long)parents[i]);
            if (group >= tree->groups)
                return pci_corrupt(err, "location_groups", NULL, group,
                                   "this group does not exist");
            frames->nodes[row + i] = starts
                                         ? (struct node){(uint32_t)parents[i], starts[group],
                                                         starts[group + 1] - starts[group]}
                                         : (struct node){(uint32_t)parents[i], (uint32_t)group, 1};
        }
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
    frames->nodes = pci_calloc((size_t)tree.stacks + 1, sizeof *frames->nodes);
    if (!frames->nodes)
        return pci_fail_memory(err);
    status = read_groups(&tree, &starts, err);
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

/* The caller's arrays. */
struct output {
    uint64_t *offsets;
    uint32_t *locations;
    size_t capacity, samples;
};

/* Appends a stack; returns its depth, of which only `available` locations are stored. */
static size_t put_stack(const pcol_frames *frames, uint32_t node, uint32_t *to, size_t available)
{
    const struct node *nodes = frames->nodes;
    size_t depth = 0;
    while (node) {
        struct node n = nodes[node];
        for (uint32_t i = 0; i < n.count; i++, depth++)
            if (depth < available)
                to[depth] = n.first + i;
        node = n.parent;
    }
    return depth;
}

/* Appends the stacks of a batch; *full: one did not fit. */
static pcol_status put_batch(const pcol_frames *frames, uint64_t row, const int64_t *stacks,
                             const uint8_t *valid, size_t n, struct output *out, int *full,
                             pcol_error *err)
{
    uint64_t previous = UINT64_MAX;
    for (size_t i = 0; i < n; i++) {
        size_t used = (size_t)out->offsets[out->samples], available = out->capacity - used, depth;
        uint64_t stack = valid[i] ? (uint64_t)stacks[i] : 0;
        if (i + 8 < n && (uint64_t)stacks[i + 8] < frames->stacks) /* the walk waits for memory */
            __builtin_prefetch(&frames->nodes[stacks[i + 8]]);
        if (stack && stack >= frames->stacks)
            return pci_corrupt(err, "samples", "stack", row + i,
                               "%llu is beyond the %lu rows of stacks", (unsigned long long)stack,
                               (unsigned long)frames->stacks);
        if (i && stack == previous) {
            depth = used - (size_t)out->offsets[out->samples - 1];
            if (depth && depth <= available)
                memcpy(out->locations + used, out->locations + used - depth,
                       depth * sizeof *out->locations);
        } else {
            depth = put_stack(frames, (uint32_t)stack, out->locations + used, available);
        }
        previous = stack;
        *full = depth > available;
        if (!*full || !out->samples)
            out->offsets[out->samples + 1] = used + depth;
        if (*full)
            return PCOL_OK;
        out->samples++;
    }
    return PCOL_OK;
}

static pcol_status read_samples(const pcol_frames *frames, uint64_t first, size_t count,
                                struct output *out, pcol_error *err)
{
    int64_t stacks[PCI_BATCH];
    uint8_t valid[PCI_BATCH] = {0};
    int full = 0;
    for (size_t done = 0; done < count && !full;) {
        size_t n = count - done < PCI_BATCH ? count - done : PCI_BATCH;
        if (frames->stack)
            PCI_TRY(pci_read(frames->file, frames->stack, first + done, n, stacks, valid, err));
        PCI_TRY(put_batch(frames, first + done, stacks, valid, n, out, &full, err));
        done += n;
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
    if (first_sample > frames->samples || count > frames->samples - first_sample)
        return pci_fail_cell(err, PCOL_E_ARGUMENT, "samples", NULL, first_sample,
                             "the table has %llu rows", (unsigned long long)frames->samples);
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
        const struct node *node = &frames->nodes[first_stack + i];
        int64_t function = 0;
        int valid = 0;
        if (node->count && frames->function)
            PCI_TRY(pci_get(frames->file, frames->function, node->first, &function, &valid, err));
        functions[i] = valid ? (uint32_t)function : PCOL_NONE;
    }
    return PCOL_OK;
}

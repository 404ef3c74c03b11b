/*
 * stacks.c - access to the call tree, node by node or in batches of rows
 *
 * Each step is verified: a parent precedes its child, so a walk to the root ends for any input;
 * groups and their locations are within their tables.
 */
#include "model/table.h"

#include "util/alloc.h"
#include "util/arg_check.h"

/* Nodes for each of few and of many stacks. */
#define NODES_OF_FEW 256u
#define NODES_OF_MANY 2u

#define WRITTEN_FRAMES_OF_STACK 1024u

pcol_status pci_stacks_open(const pcol_file *file, struct pci_stacks *tree, pcol_error *err)
{
    *tree = (struct pci_stacks){.file = file};
    PCI_TRY(pci_require_column(file, "stacks", "parent", PCI_TYPES_ROW, &tree->parent, err));
    PCI_TRY(pci_require_column(file, "stacks", "group", PCI_TYPES_ROW, &tree->group, err));
    PCI_TRY(pci_find_column(file, "location_groups", "first_location", PCI_TYPES_ROW, &tree->first,
                            err));
    tree->stacks = pci_rows(file, "stacks");
    tree->groups = pci_rows(file, "location_groups");
    tree->locations = pci_rows(file, "locations");
    if (tree->stacks > PCF_MAX_U32_ROWS || tree->locations > PCF_MAX_U32_ROWS)
        return pci_corrupt(err, tree->stacks > PCF_MAX_U32_ROWS ? "stacks" : "locations", NULL,
                           PCOL_POSITION_UNKNOWN, "more rows than 32 bits can number");
    if (!tree->first && tree->groups > tree->locations)
        return pci_corrupt(err, "location_groups", "first_location", PCOL_POSITION_UNKNOWN,
                           "more groups than locations");
    return PCOL_OK;
}

pcol_status pci_stacks_group(const struct pci_stacks *tree, uint64_t group, uint64_t *first,
                             uint64_t *count, pcol_error *err)
{
    int64_t begin, end = (int64_t)tree->locations;
    if (group >= tree->groups)
        return pci_corrupt(err, "location_groups", NULL, group, "this group does not exist");
    if (!tree->first) {
        *first = group;
        *count = 1;
        return PCOL_OK;
    }
    PCI_TRY(pci_get(tree->file, tree->first, group, &begin, &(int){0}, err));
    if (group + 1 < tree->groups)
        PCI_TRY(pci_get(tree->file, tree->first, group + 1, &end, &(int){0}, err));
    /* A group has at least one location, and the first group starts at location 0. */
    if ((uint64_t)begin >= (uint64_t)end || (uint64_t)end > tree->locations || (begin && !group))
        return pci_corrupt(err, "location_groups", "first_location", group,
                           "the group's locations %llu to %llu are out of order or range",
                           (unsigned long long)begin, (unsigned long long)end);
    *first = (uint64_t)begin;
    *count = (uint64_t)end - (uint64_t)begin;
    return PCOL_OK;
}

uint64_t pci_stacks_most_nodes(const pcol_file *file)
{
    uint64_t stacks = pci_rows(file, "stacks");
    uint64_t few = NODES_OF_FEW * stacks, many = PCI_TREE_FREE_NODES + NODES_OF_MANY * stacks;
    return few < many ? few : many;
}

pcol_status pci_stacks_check_frames(const struct pci_stacks *tree, uint64_t frames, pcol_error *err)
{
    if (frames <= PCI_TREE_FREE_NODES) /* the usual case, without the limit of the file */
        return PCOL_OK;
    uint64_t most = PCI_TREE_FREE_NODES + pci_stacks_most_nodes(tree->file);
    if (frames <= most)
        return PCOL_OK;
    return pci_fail(err, PCOL_E_LIMIT, "the call stacks have more than %llu frames",
                    (unsigned long long)most);
}

struct pci_written_stacks pci_written_stacks_begin(const pcol_file *file, uint64_t most)
{
    return (struct pci_written_stacks){
        .most = most, .input_bytes = file->trusted ? UINT64_MAX : file->input_bytes};
}

pcol_status pci_written_stacks_add(struct pci_written_stacks *written, uint64_t frames,
                                   pcol_error *err)
{
    written->stacks++;
    written->frames += frames;
    uint64_t stacks =
        written->stacks < written->input_bytes ? written->stacks : written->input_bytes;
    if (written->frames <= written->most + WRITTEN_FRAMES_OF_STACK * stacks)
        return PCOL_OK;
    int is_trusted = written->input_bytes == UINT64_MAX;
    pcol_status status = pci_fail(
        err, PCOL_E_LIMIT,
        "the call stacks are too deep to be repeated for each sample: the first %llu have %llu "
        "frames%s",
        (unsigned long long)written->stacks, (unsigned long long)written->frames,
        is_trusted ? "" : "; if you trust the input, open it as trusted");
    return is_trusted ? status : pci_error_option(err, "PCOL_IMPORT_TRUSTED", status);
}

pcol_status pci_stacks_verify(const struct pci_stacks *tree, pcol_error *err)
{
    const struct pci_column *columns[3] = {tree->parent, tree->group, tree->first};
    for (size_t i = 0; i < 3; i++)
        if (columns[i])
            PCI_TRY(pci_verify(tree->file, columns[i], err));
    return PCOL_OK;
}

pcol_status pci_stacks_node(const struct pci_stacks *tree, uint64_t node, uint32_t *parent,
                            uint64_t *first, uint64_t *count, pcol_error *err)
{
    int64_t parent_row, group;
    if (node == 0 || node >= tree->stacks)
        return pci_corrupt(err, "stacks", NULL, node, "this stack does not exist");
    PCI_TRY(pci_get(tree->file, tree->parent, node, &parent_row, &(int){0}, err));
    if ((uint64_t)parent_row >= node)
        return pci_corrupt(err, "stacks", "parent", node, "parent %llu is not before its child",
                           (unsigned long long)parent_row);
    PCI_TRY(pci_get(tree->file, tree->group, node, &group, &(int){0}, err));
    *parent = (uint32_t)parent_row;
    return pci_stacks_group(tree, (uint64_t)group, first, count, err);
}

/* ---- batches */

pcol_status pci_stacks_starts(const struct pci_stacks *tree, uint32_t **starts, pcol_error *err)
{
    int64_t values[PCI_BATCH];
    uint64_t before = 0;
    *starts = NULL;
    if (!tree->first)
        return PCOL_OK;
    PCI_TRY(pci_check_row_count(tree->file, "location_groups", err));
    uint32_t *made;
    PCI_TRY(PCI_CALLOC(made, (size_t)tree->groups + 1, err));
    *starts = made;
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
            made[row + i] = (uint32_t)start;
            before = start;
        }
    }
    made[tree->groups] = (uint32_t)tree->locations;
    return PCOL_OK;
}

pcol_status pci_stacks_read(const struct pci_stacks *tree, const uint32_t *starts, uint64_t row,
                            size_t n, struct pci_stack_node *nodes, pcol_error *err)
{
    int64_t parents[PCI_BATCH], groups[PCI_BATCH];
    PCI_TRY(pci_read(tree->file, tree->parent, row, n, parents, NULL, err));
    PCI_TRY(pci_read(tree->file, tree->group, row, n, groups, NULL, err));
    if (row == 0)
        nodes[0] = (struct pci_stack_node){0};
    for (uint64_t i = row == 0; i < n; i++) {
        uint64_t group = (uint64_t)groups[i];
        if ((uint64_t)parents[i] >= row + i)
            return pci_corrupt(err, "stacks", "parent", row + i,
                               "parent %llu is not before its child",
                               (unsigned long long)parents[i]);
        if (group >= tree->groups)
            return pci_corrupt(err, "location_groups", NULL, group, "this group does not exist");
        nodes[i] = starts ? (struct pci_stack_node){(uint32_t)parents[i], starts[group],
                                                    starts[group + 1] - starts[group]}
                          : (struct pci_stack_node){(uint32_t)parents[i], (uint32_t)group, 1};
    }
    return PCOL_OK;
}

pcol_status pci_stacks_group_of(const struct pci_stacks *tree, uint64_t row, uint64_t *group,
                                pcol_error *err)
{
    uint64_t low = 0, high = tree->groups;
    int64_t first;
    if (!tree->first) {
        *group = row;
        return PCOL_OK;
    }
    /* Invariant of the binary search: first_location[low] <= row < first_location[high], with
     * sentinels at both ends. */
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        PCI_TRY(pci_get(tree->file, tree->first, middle, &first, &(int){0}, err));
        if ((uint64_t)first <= row)
            low = middle;
        else
            high = middle;
    }
    if (tree->groups == 0)
        return pci_corrupt(err, "locations", NULL, row, "the location belongs to no group");
    *group = low;
    return PCOL_OK;
}

/* Locations of a stack whose number is not verified yet. */
static pcol_status get_stack_locations(const pcol_file *file, uint64_t stack, uint32_t *locations,
                                       size_t capacity, size_t *depth, pcol_error *err)
{
    struct pci_stacks tree;
    uint32_t node;
    PCI_TRY(pci_stacks_open(file, &tree, err));
    if (stack >= tree.stacks)
        return pci_fail_cell(err, PCOL_E_ARGUMENT, "stacks", NULL, stack, "the table has %llu rows",
                             (unsigned long long)tree.stacks);
    size_t found = 0;
    for (node = (uint32_t)stack; node;) {
        uint64_t first = 0, count = 0;
        PCI_TRY(pci_stacks_node(&tree, node, &node, &first, &count, err));
        for (uint64_t i = 0; i < count; i++, found++) {
            if (found < capacity)
                locations[found] = (uint32_t)(first + i);
        }
    }
    *depth = found;
    return PCOL_OK;
}

pcol_status pcol_stack_locations(const pcol_file *file, uint64_t stack, uint32_t *locations,
                                 size_t capacity, size_t *depth, pcol_error *err)
{
    PCI_REQUIRE(depth, err);
    *depth = 0;
    PCI_REQUIRE_MANY(locations, capacity, err);
    PCI_REQUIRE(file, err);
    uint64_t before = pci_partial_read_begin(1);
    pcol_status status = get_stack_locations(file, stack, locations, capacity, depth, err);
    pci_partial_read_end(before);
    return status;
}

pcol_status pci_zones_total(const pcol_file *file, const char *name,
                            const struct pci_column **column, uint64_t *total, pcol_error *err)
{
    uint64_t samples = pci_rows(file, "samples");
    uint64_t zones = samples / PCI_ZONE + (samples % PCI_ZONE != 0);
    int64_t value;
    *total = 0;
    *column = NULL;
    if (!samples)
        return PCOL_OK;
    PCI_TRY(pci_find_column(file, "sample_zones", name, PCI_TYPES_ROW, column, err));
    if (!*column || pci_rows(file, "sample_zones") != zones + 1)
        return pci_corrupt(err, "sample_zones", name, PCOL_POSITION_UNKNOWN,
                           "%llu samples need %llu rows here", (unsigned long long)samples,
                           (unsigned long long)zones + 1);
    PCI_TRY(pci_get(file, *column, zones, &value, &(int){0}, err));
    if (value < 0)
        return pci_corrupt(err, "sample_zones", name, zones, "the total is out of range");
    *total = (uint64_t)value;
    return PCOL_OK;
}

pcol_status pci_zones_compare(const pcol_file *file, const struct pci_column *column, uint64_t zone,
                              uint64_t counted, pcol_error *err)
{
    int64_t stated;
    PCI_TRY(pci_get(file, column, zone, &stated, &(int){0}, err));
    if ((uint64_t)stated == counted)
        return PCOL_OK;
    return pci_corrupt(err, "sample_zones", column->name, zone,
                       "%llu rows are stated, but %llu were counted", (unsigned long long)stated,
                       (unsigned long long)counted);
}

pcol_status pci_zones_find(const pcol_file *file, const struct pci_column *column, uint64_t row,
                           uint64_t *zone, uint64_t *before, pcol_error *err)
{
    uint64_t low = 0, high = column->desc->rows - 1;
    int64_t value;
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        PCI_TRY(pci_get(file, column, middle, &value, &(int){0}, err));
        if ((uint64_t)value <= row)
            low = middle;
        else
            high = middle;
    }
    PCI_TRY(pci_get(file, column, low, &value, &(int){0}, err));
    if ((uint64_t)value > row)
        return pci_corrupt(err, "sample_zones", column->name, low,
                           "the first zone starts at row %llu", (unsigned long long)value);
    *zone = low;
    *before = (uint64_t)value;
    return PCOL_OK;
}

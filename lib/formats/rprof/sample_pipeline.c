/*
 * sample_pipeline.c - samples from the parser to the builder (sample_pipeline.h)
 */
#include "formats/rprof/sample_pipeline.h"

#include "builder/builder.h"
#include "util/alloc.h"

#include <string.h>

void pci_rprof_pipeline_clear(struct pci_rprof_pipeline *queue)
{
    pci_free(queue->nodes);
    memset(queue, 0, sizeof *queue);
}

pcol_status pci_rprof_pipeline_sample(struct pci_rprof_pipeline *queue,
                                      const struct pci_rprof_frames *frames, int has_stack,
                                      unsigned present, const int64_t values[PCI_RPROF_TYPES],
                                      pcol_error *err)
{
    struct pci_call_tree *tree = &queue->record->import->builder->tree;
    pcol_value present_values[PCI_RPROF_TYPES];
    size_t depth = 0, new_count = 0, count = 0;
    if (has_stack && frames) {
        depth = frames->common_depth;
        new_count = frames->new_count;
    }
    uint32_t node = depth ? queue->nodes[depth - 1] : 0, hash = tree->nodes[node].hash;
    PCI_TRY(PCI_GROW(queue->nodes, queue->node_capacity, depth + new_count, err));
    for (size_t i = new_count; i-- > 0;) {
        uint32_t group = frames->units[frames->new_units[i].unit].group;
        hash = pci_call_tree_prefetch(tree, pci_call_tree_hash(hash, group));
    }
    for (size_t i = new_count; i-- > 0;) {
        uint32_t group = frames->units[frames->new_units[i].unit].group;
        PCI_TRY(pci_call_tree_child(tree, node, group, &node, err));
        queue->nodes[depth++] = node;
    }
    for (unsigned i = 0; i < PCI_RPROF_TYPES; i++)
        if (present >> i & 1) {
            present_values[count].sample_type = queue->types[i];
            present_values[count++].as.i64 = values[i];
        }
    return pci_rprof_record_sample(queue->record, has_stack ? node : PCOL_NONE, present_values,
                                   count, err);
}

/*
 * json_tree.h - conversion between JSON values and nodes of a pcol file
 */
#ifndef PCI_MODEL_JSON_TREE_H
#define PCI_MODEL_JSON_TREE_H

#include "builder/rows.h"
#include "model/row_details.h"
#include "json/json.h"

/* Adds the value whose first token is current under `parent` (PCI_NO_NODE: as a root), as member
 * `key` (PCOL_NONE: element or root), and advances to its last token. Numbers, order and duplicate
 * keys are preserved ("-0" as text). Non-empty arrays of only integers, or only doubles, become
 * typed arrays. Not recursive; memory is a few bytes per level, and long arrays go to the builder's
 * spill. */
pcol_status pci_json_to_nodes(struct pci_json *json, pcol_builder *builder, uint64_t parent,
                              uint32_t key, uint64_t *node, pcol_error *err);

/* Tag of the node of the value whose first token is current. */
uint8_t pci_json_node_tag(const struct pci_json *json);

/* Writes the value of a TABLE or ROW node, whose key is already written. */
typedef pcol_status (*pci_json_node_fn)(void *context, const struct pci_node_value *node,
                                        struct pci_json_writer *w, pcol_error *err);
/* Writes the value at `node` without its key. place: NULL makes TABLE and ROW nodes E_CORRUPT.
 * BYTES have no value in JSON and are E_CORRUPT. */
pcol_status pci_json_from_nodes(const pcol_file *file, uint64_t node, struct pci_json_writer *w,
                                pci_json_node_fn place, void *context, pcol_error *err);

#endif

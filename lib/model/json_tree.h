/*
 * json_tree.h - JSON values as nodes of a pcol file, and back
 */
#ifndef PCI_MODEL_JSON_TREE_H
#define PCI_MODEL_JSON_TREE_H

#include "builder/rows.h"
#include "model/row_details.h"
#include "json/json.h"

/* With the current token the first of a value: add the value under `parent` (PCI_NO_NODE: a new
 * root) as member `key` (PCOL_NONE: element or root), and go to its last token. Numbers, order and
 * repetition of keys stay as they are ("-0" is kept as text); strings are those of the reader.
 * Arrays that are not empty and whose members are all integers, or all doubles, become typed
 * arrays. Nothing is recursive; memory is a few bytes a level, and long arrays go to the builder's
 * spool. */
pcol_status pci_json_to_nodes(struct pci_json *json, pcol_builder *builder, uint64_t parent,
                              uint32_t key, uint64_t *node, pcol_error *err);

/* Called for a TABLE or ROW node, whose key is written already: writes its value. */
typedef pcol_status (*pci_json_place_fn)(void *context, const struct pci_node_value *node,
                                         struct pci_json_writer *w, pcol_error *err);
/* Write the value at `node` without its key. place: NULL makes TABLE and ROW nodes E_CORRUPT; BYTES
 * have no form in JSON and are E_CORRUPT as well. */
pcol_status pci_json_from_nodes(const pcol_file *file, uint64_t node, struct pci_json_writer *w,
                                pci_json_place_fn place, void *context, pcol_error *err);

#endif

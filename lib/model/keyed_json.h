/*
 * keyed_json.h - values as JSON
 */
#ifndef PCI_KEYED_JSON_H
#define PCI_KEYED_JSON_H

#include "model/keyed_rows.h"
#include "json/json.h"

/* Writes the rows of the table that a TABLE node names. */
typedef pcol_status (*pci_table_node_fn)(void *context, const struct pci_node_value *node,
                                         struct pci_json_writer *w, pcol_error *err);
/* Writes a value without its key. place: NULL makes TABLE nodes E_CORRUPT. */
pcol_status pci_value_json(struct pci_values *values, const struct pci_value *value,
                           struct pci_json_writer *w, pci_table_node_fn place, void *context,
                           pcol_error *err);
/* Writes members as an object. */
pcol_status pci_members_json(struct pci_values *values, const struct pci_member *members,
                             size_t count, struct pci_json_writer *w, pci_table_node_fn place,
                             void *context, pcol_error *err);

#endif

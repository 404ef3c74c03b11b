/*
 * content_hashes.h - hashes that identify functions, locations and call stacks by content
 *
 * XXH3-128 of the canonical bytes of spec.md, section 7.1. The hashes of a table are computed on
 * first use and kept until the file is closed. Tests: suite hashes, tests/unit/test_hashes.c.
 */
#ifndef PCI_MODEL_CONTENT_HASHES_H
#define PCI_MODEL_CONTENT_HASHES_H

#include "model/table.h"

/* Appends the column `.hash`; requires capacity. */
void pci_table_add_hash(pcol_table *table, pcol_hash_kind kind);

#endif

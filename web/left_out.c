/*
 * left_out.c - what the page's engine has in place of parts of the library that the page never asks
 *
 * Content hashes and the tables of the model v1 are 5 KB of the page. The file is linked instead of
 * their sources (ENGINE_LEFT_OUT in rules.mk); the npm package has them.
 */
#include "pcol.h"

struct pci_hashes;
struct pci_v1;

void pci_table_add_hash(pcol_table *table, pcol_hash_kind kind);
void pci_hashes_free(struct pci_hashes *hashes);
pcol_status pci_v1_table(const pcol_file *file, struct pci_v1 **maps, uint32_t index,
                         pcol_table **table, pcol_error *err);
void pci_v1_free(struct pci_v1 *maps);

void pci_table_add_hash(pcol_table *table, pcol_hash_kind kind)
{
    (void)table;
    (void)kind;
}

void pci_hashes_free(struct pci_hashes *hashes)
{
    (void)hashes;
}

pcol_status pci_v1_table(const pcol_file *file, struct pci_v1 **maps, uint32_t index,
                         pcol_table **table, pcol_error *err)
{
    (void)file;
    (void)maps;
    (void)index;
    *table = NULL;
    return pcol_error_set(err, PCOL_E_NOT_FOUND, 0, "the page has no tables of the model v1");
}

void pci_v1_free(struct pci_v1 *maps)
{
    (void)maps;
}

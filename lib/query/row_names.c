/*
 * row_names.c - names of threads, processes and sources. Tests: tests/cli/query.test.
 */
#include "query/row_names.h"

#include "model/table.h"

pcol_status pci_row_names_open(struct pci_row_names *names, const pcol_file *file, pcol_by by,
                               pcol_error *err)
{
    const char *table = by == PCOL_BY_SOURCE ? "sources" : "threads";
    const char *name = by == PCOL_BY_THREAD ? "name" : by == PCOL_BY_PROCESS ? "pid" : "uri";
    *names = (struct pci_row_names){.file = file};
    PCI_TRY(pci_find_column(file, table, name, PCI_TYPES_TEXT, &names->name, err));
    if (by != PCOL_BY_THREAD)
        return PCOL_OK;
    return pci_find_column(file, table, "tid", PCI_TYPES_TEXT, &names->other, err);
}

pcol_status pci_row_name(const struct pci_row_names *names, uint64_t row, pcol_str *name,
                         int *valid, pcol_error *err)
{
    pcol_str other;
    int has_other = 0;
    *name = (pcol_str){"", 0};
    *valid = 0;
    if (names->name)
        PCI_TRY(pci_get_str(names->file, names->name, row, name, valid, err));
    if (*valid && name->size)
        return PCOL_OK;
    if (!*valid)
        *name = (pcol_str){"", 0};
    if (names->other)
        PCI_TRY(pci_get_str(names->file, names->other, row, &other, &has_other, err));
    if (has_other) {
        *name = other;
        *valid = 1;
    }
    return PCOL_OK;
}

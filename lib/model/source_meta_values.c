/*
 * source_meta_values.c - values of one key of source_meta, by source
 *
 * Reads all rows; they are few. Tests: tests/cli/source_meta.test, suites columns and sums.
 */
#include "model/table.h"

#include "util/strbuf.h"

pcol_status pci_source_meta_values(const pcol_file *file, pcol_str key, uint64_t source_count,
                                   pcol_str *values, int *exists, pcol_error *err)
{
    const struct pci_column *sources, *keys, *texts;
    uint64_t rows = pci_rows(file, "source_meta");
    *exists = 0;
    PCI_TRY(pci_check_row_count(file, "source_meta", err));
    PCI_TRY(pci_require_column(file, "source_meta", "source", PCI_TYPES_ROW, &sources, err));
    PCI_TRY(pci_require_column(file, "source_meta", "key", PCI_TYPES_TEXT, &keys, err));
    PCI_TRY(pci_require_column(file, "source_meta", "value", PCI_TYPES_TEXT, &texts, err));
    for (uint64_t row = 0; row < rows; row++) {
        int64_t source;
        pcol_str text;
        int valid;
        PCI_TRY(pci_get_str(file, keys, row, &text, &valid, err));
        if (!valid || !pci_str_equal(text, key))
            continue;
        PCI_TRY(pci_get(file, sources, row, &source, &valid, err));
        if (!valid || (uint64_t)source >= source_count)
            return pci_corrupt(err, "source_meta", "source", row, "not a row of sources");
        PCI_TRY(pci_get_str(file, texts, row, &text, &valid, err));
        values[source] = valid ? text : (pcol_str){NULL, 0};
        *exists = 1;
    }
    return PCOL_OK;
}

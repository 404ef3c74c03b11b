/*
 * limits.c - limits of two counts multiplied: rows and sample types, rows and label columns, nodes
 * and elements of arrays
 *
 * Neither may take a byte for each, and each alone is plausible (format/range.h), but the work on
 * all pairs would not be bounded by the size of the file. The report page leaves this file out
 * (web/left_out.c). Tests: suite bombs.
 */
#include "model/row_details.h"

#include "format/range.h"

#define MOST_PAIRS (UINT64_C(1) << 25) /* of sources and sample types without source_types */
#define FREE_COLUMNS 64u               /* sample types and label columns that do not count */
#define FREE_TYPE_CELLS (UINT64_C(1) << 26)
#define FREE_LABEL_CELLS (UINT64_C(1) << 25)
#define CELLS_PER_BYTE 1024u

pcol_status pci_fail_too_many(const pcol_file *file, uint64_t count, const char *what,
                              uint64_t of_count, const char *of_what, pcol_error *err)
{
    return pci_error_option(
        err, "PCOL_IMPORT_TRUSTED",
        pci_fail(err, PCOL_E_LIMIT,
                 "%llu %s of %llu %s are too many for a file of %llu bytes; if you trust the file, "
                 "open it as trusted",
                 (unsigned long long)count, what, (unsigned long long)of_count, of_what,
                 (unsigned long long)file->input_bytes));
}

static int is_plausible(const pcol_file *file, uint64_t rows, uint64_t columns, uint64_t free)
{
    uint64_t cells = 0;
    if (columns > FREE_COLUMNS)
        pcf_add_values(&cells, rows, columns - FREE_COLUMNS);
    return cells <= pci_file_limit(file, free, CELLS_PER_BYTE);
}

pcol_status pci_check_type_counts(const pcol_file *file, pcol_error *err)
{
    uint64_t types = pci_rows(file, "sample_types"), sources = pci_rows(file, "sources");
    uint64_t samples = pci_rows(file, "samples");
    if (!pci_rows(file, "source_types") && types && sources > MOST_PAIRS / types)
        return pci_fail(err, PCOL_E_LIMIT, "%llu sources with all of %llu sample types",
                        (unsigned long long)sources, (unsigned long long)types);
    return is_plausible(file, samples, types, FREE_TYPE_CELLS)
               ? PCOL_OK
               : pci_fail_too_many(file, samples, "samples", types, "sample types", err);
}

pcol_status pci_check_label_count(const pcol_file *file, const char *table, uint64_t columns,
                                  pcol_error *err)
{
    uint64_t rows = pci_rows(file, table);
    return is_plausible(file, rows, columns, FREE_LABEL_CELLS)
               ? PCOL_OK
               : pci_fail_too_many(file, rows, table, columns, "label columns", err);
}

/* ---- arrays of nodes */

struct sizes {
    const struct pci_column *tag, *size;
    uint64_t rows[2], sums[2]; /* of node_integers and node_doubles, and of arrays of them so far */
};

static pcol_status add_sizes(const pcol_file *file, struct sizes *s, uint64_t row, size_t n,
                             pcol_error *err)
{
    int64_t tags[PCI_BATCH], sizes[PCI_BATCH];
    uint8_t valid[PCI_BATCH];
    PCI_TRY(pci_read(file, s->tag, row, n, tags, valid, err));
    PCI_TRY(pci_read(file, s->size, row, n, sizes, valid, err));
    for (size_t i = 0; i < n; i++) {
        int kind = tags[i] == PCI_NODE_DOUBLES;
        if ((!kind && tags[i] != PCI_NODE_INTEGERS) || (uint64_t)sizes[i] > s->rows[kind])
            continue; /* an array beyond its table is an error where it is read */
        s->sums[kind] += (uint64_t)sizes[i];
        if (s->sums[kind] > s->rows[kind])
            return pci_corrupt(err, "nodes", "first", row + i,
                               "the arrays up to here have more elements than rows");
    }
    return PCOL_OK;
}

pcol_status pci_check_array_sizes(const pcol_file *file, const struct pci_column *tag,
                                  const struct pci_column *size, pcol_error *err)
{
    pcol_file *f = (pcol_file *)(uintptr_t)file; /* the flag is a cache */
    struct sizes sizes = {
        tag, size, {pci_rows(file, "node_integers"), pci_rows(file, "node_doubles")}, {0, 0}};
    if (!tag || !size || atomic_load_explicit(&f->arrays_known, memory_order_acquire))
        return PCOL_OK;
    for (uint64_t row = 0, rows = pci_rows(file, "nodes"); row < rows; row += PCI_BATCH) {
        size_t n = rows - row < PCI_BATCH ? (size_t)(rows - row) : PCI_BATCH;
        PCI_TRY(add_sizes(file, &sizes, row, n, err));
    }
    atomic_store_explicit(&f->arrays_known, 1, memory_order_release);
    return PCOL_OK;
}

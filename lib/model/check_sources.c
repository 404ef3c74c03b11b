/*
 * check_sources.c - what rows have of their source: rows of other tables, as threads, and samples
 * values of its sample types
 *
 * Tests: tests/unit/test_check_labels.c.
 */
#include "model/check.h"

#include "util/alloc.h"
#include "util/pair_set.h"
#include "util/strbuf.h"

#include <string.h>

/* The rows of another table to which rows of a table refer are of the same source. */
static pcol_status check_owners(struct pci_check *check, const struct pci_table *table,
                                const struct pci_column *source, const struct pci_column *reference,
                                const struct pci_column *owner, pcol_error *err)
{
    struct pci_tally tally = PCI_TALLY(check, table->name, reference->name);
    size_t n;
    for (uint64_t row = 0; row < table->rows; row += n) {
        int64_t last = -1, of = 0;
        int has_source = 0;
        PCI_TRY(
            pci_check_read_rows(check, reference, row, table->rows, owner->desc->rows, 0, &n, err));
        if (n)
            PCI_TRY(pci_check_read(check, source, row, table->rows, 1, &n, err));
        if (!n)
            break;
        for (size_t i = 0; i < n; i++) {
            int64_t to = check->values[0][i], own = check->valid[1][i] ? check->values[1][i] : 0;
            if (!check->valid[0][i])
                continue;
            if (to != last)
                PCI_TRY(pci_get(check->file, owner, (uint64_t)to, &of, &has_source, err));
            last = to;
            if (has_source && of != own)
                pci_fault(&tally, row + i, "row %lld of %s is of source %lld, this row of %lld",
                          (long long)to, owner->table->name, (long long)of, (long long)own);
        }
    }
    pci_tally_end(&tally);
    return PCOL_OK;
}

/* source: NULL: all rows are of source 0. */
static pcol_status check_table(struct pci_check *check, const struct pci_table *table,
                               const struct pci_column *source, pcol_error *err)
{
    for (uint32_t i = 0; i < table->column_count && !check->stop; i++) {
        const struct pci_column *reference =
            pci_check_column(check, table->name, table->columns[i].name);
        const struct pci_table *to = reference ? reference->references : NULL;
        const struct pci_column *owner = to ? pci_check_column(check, to->name, "source") : NULL;
        if (owner && to != table)
            PCI_TRY(check_owners(check, table, source, reference, owner, err));
    }
    return PCOL_OK;
}

static pcol_status check_references(struct pci_check *check, pcol_error *err)
{
    for (uint32_t i = 0; i < check->file->index.header.table_count && !check->stop; i++) {
        const struct pci_table *table = &check->file->tables[i];
        const struct pci_column *source = pci_check_column(check, table->name, "source");
        if (source || !strcmp(table->name, "samples"))
            PCI_TRY(check_table(check, table, source, err));
    }
    return PCOL_OK;
}

/* The pairs (source, sample type) of source_types; counts: sources by sample type. */
static pcol_status read_source_types(struct pci_check *check, struct pci_pair_set *pairs,
                                     uint64_t *counts, uint64_t types, pcol_error *err)
{
    const struct pci_column *source = pci_check_column(check, "source_types", "source"),
                            *type = pci_check_column(check, "source_types", "sample_type");
    uint64_t rows = source && type ? pci_rows(check->file, "source_types") : 0;
    size_t n;
    PCI_TRY(pci_check_row_count(check->file, "source_types", err));
    for (uint64_t row = 0; row < rows; row += n) {
        PCI_TRY(pci_check_read(check, source, row, rows, 0, &n, err));
        if (n)
            PCI_TRY(pci_check_read_rows(check, type, row, rows, types, 1, &n, err));
        if (!n)
            break;
        for (size_t i = 0; i < n; i++) {
            int is_known;
            PCI_TRY(pci_pair_set_add(pairs, (uint64_t)check->values[0][i],
                                     (uint64_t)check->values[1][i], &is_known, err));
            counts[check->values[1][i]] += !is_known;
        }
    }
    return PCOL_OK;
}

static pcol_status check_values(struct pci_check *check, const struct pci_column *source,
                                const struct pci_column *value, uint64_t type,
                                const struct pci_pair_set *pairs, pcol_error *err)
{
    struct pci_tally tally = PCI_TALLY(check, "samples", value->name);
    uint64_t rows = pci_rows(check->file, "samples"), last = PCOL_POSITION_UNKNOWN;
    int has_type = 0;
    size_t n;
    for (uint64_t row = 0; row < rows; row += n) {
        PCI_TRY(pci_check_read(check, value, row, rows, 0, &n, err));
        if (n)
            PCI_TRY(pci_check_read(check, source, row, rows, 1, &n, err));
        if (!n)
            break;
        for (size_t i = 0; i < n; i++) {
            uint64_t own = check->valid[1][i] ? (uint64_t)check->values[1][i] : 0;
            if (!check->valid[0][i])
                continue;
            if (own != last)
                has_type = pci_pair_set_has(pairs, own, type);
            last = own;
            if (!has_type)
                pci_fault(&tally, row + i, "source %llu does not have sample type %llu",
                          (unsigned long long)own, (unsigned long long)type);
        }
    }
    pci_tally_end(&tally);
    return PCOL_OK;
}

static pcol_status check_all_values(struct pci_check *check, const struct pci_column *source,
                                    struct pci_pair_set *pairs, uint64_t *counts, uint64_t types,
                                    pcol_error *err)
{
    const struct pci_table *samples = pci_table_find(check->file, "samples");
    uint64_t sources = pci_rows(check->file, "sources");
    PCI_TRY(read_source_types(check, pairs, counts, types, err));
    for (uint32_t i = 0; samples && pairs->count && i < samples->column_count; i++) {
        const char *name = samples->columns[i].name;
        uint64_t type = (uint64_t)pci_parse_numbered_name(name, "value.");
        const struct pci_column *value = pci_check_column(check, "samples", name);
        if (value && type < types && counts[type] < sources && !check->stop)
            PCI_TRY(check_values(check, source, value, type, pairs, err));
    }
    return PCOL_OK;
}

pcol_status pci_check_sources(struct pci_check *check, pcol_error *err)
{
    const struct pci_column *source = pci_check_column(check, "samples", "source");
    struct pci_pair_set pairs = {0};
    uint64_t types = pci_rows(check->file, "sample_types"), *counts;
    PCI_TRY(check_references(check, err));
    PCI_TRY(pci_check_row_count(check->file, "sample_types", err));
    PCI_TRY(PCI_CALLOC(counts, (size_t)types + 1, err));
    pcol_status status = check_all_values(check, source, &pairs, counts, types, err);
    pci_pair_set_clear(&pairs);
    pci_free(counts);
    return status;
}

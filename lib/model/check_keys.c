/*
 * check_keys.c - order and uniqueness of rows in small tables
 *
 * Tests: tests/unit/test_check_labels.c, suite golden.
 */
#include "model/check.h"
#include "model/types.h"

#include "builder/idle_samples.h"
#include "util/pair_set.h"
#include "util/strbuf.h"

/* A column of ascending row numbers (`equal`: not descending), at most `limit`. */
struct order {
    const char *table, *column;
    int equal;
    uint64_t limit;
};

static pcol_status check_order(struct pci_check *check, const struct order *order, pcol_error *err)
{
    const struct pci_column *column = pci_check_column(check, order->table, order->column);
    struct pci_tally tally = PCI_TALLY(check, order->table, order->column);
    uint64_t before = 0, rows = pci_rows(check->file, order->table);
    size_t n;
    if (!column)
        return PCOL_OK;
    if (check->copied) /* otherwise implausible tables are already untrusted */
        PCI_TRY(pci_check_row_count(check->file, order->table, err));
    for (uint64_t row = 0; row < rows; row += n) {
        PCI_TRY(pci_check_read(check, column, row, rows, 0, &n, err));
        if (!n)
            break;
        for (size_t i = 0; i < n; i++) {
            uint64_t value = (uint64_t)check->values[0][i];
            if (row + i && (value < before || (value == before && !order->equal)))
                pci_fault(&tally, row + i, "%llu does not come after %llu",
                          (unsigned long long)value, (unsigned long long)before);
            if (value > order->limit)
                pci_fault(&tally, row + i, "%llu is beyond the %llu rows of samples",
                          (unsigned long long)value, (unsigned long long)order->limit);
            before = value;
        }
        if (tally.count >= PCI_CHECK_SAME)
            break;
    }
    if (tally.count)
        check->untrusted[column->number] = 1;
    pci_tally_end(&tally);
    return PCOL_OK;
}

/* Every location belongs to exactly one group. */
static pcol_status check_groups(struct pci_check *check, pcol_error *err)
{
    const struct order order = {"location_groups", "first_location", 0, UINT64_MAX};
    const struct pci_table *table = pci_table_find(check->file, "location_groups");
    const struct pci_column *first = pci_check_column(check, order.table, order.column);
    struct pci_tally tally = PCI_TALLY(check, order.table, order.column);
    uint64_t groups = pci_rows(check->file, order.table);
    uint64_t locations = pci_rows(check->file, "locations");
    int64_t value = 0;
    if (!table || !pci_column_find(table, order.column))
        return PCOL_OK; /* reported by check_schema.c */
    if (first && groups &&
        pci_read_unbounded(check->file, first, 0, 1, &value, NULL, NULL) == PCOL_OK && value != 0)
        pci_fault(&tally, 0, "the locations before row %llu belong to no group",
                  (unsigned long long)value);
    if (groups == 0 && locations)
        pci_fault(&tally, PCOL_POSITION_UNKNOWN, "the locations belong to no group");
    return check_order(check, &order, err);
}

/* Two columns whose pairs are unique. BYTES columns are not compared. */
static pcol_status check_unique(struct pci_check *check, const char *table, const char *first,
                                const char *second, pcol_error *err)
{
    const struct pci_column *a = pci_check_column(check, table, first);
    const struct pci_column *b = pci_check_column(check, table, second);
    struct pci_tally tally = PCI_TALLY(check, table, second);
    struct pci_pair_set seen = {0};
    uint64_t rows = pci_rows(check->file, table);
    pcol_status status = PCOL_OK;
    size_t n, m;
    if (!a || !b || b->desc->type == PCF_BYTES || pci_check_row_count(check->file, table, NULL))
        return PCOL_OK;
    for (uint64_t row = 0; row < rows && status == PCOL_OK; row += n) {
        status = pci_check_read(check, a, row, rows, 0, &n, err);
        if (status == PCOL_OK && n)
            status = pci_check_read(check, b, row, rows, 1, &m, err);
        if (status != PCOL_OK || !n || !m)
            break;
        for (size_t i = 0; i < n && status == PCOL_OK; i++) {
            int again = 0;
            status = pci_pair_set_add(&seen, (uint64_t)check->values[0][i],
                                      (uint64_t)check->values[1][i], &again, err);
            if (again)
                pci_fault(&tally, row + i, "there is a row like this before");
        }
    }
    pci_tally_end(&tally);
    pci_pair_set_clear(&seen);
    return status;
}

/* Sample types are unique. A type without values matches none: its kind of number is unknown. */
static pcol_status check_type(const struct pci_types *types, uint32_t row, struct pci_hash *seen,
                              struct pci_tally *tally, pcol_error *err)
{
    const struct pci_column *a = types->columns[row];
    if (!a)
        return PCOL_OK;
    unsigned kind = (unsigned)a->desc->type << 8 | types->is_gauge[row];
    uint64_t hash = pci_hash_pair(types->hash[row], kind);
    size_t at = pci_hash_start(seen, hash);
    for (uint32_t k; (k = pci_hash_next(seen, hash, &at)) != PCI_HASH_NONE;) {
        const struct pci_column *b = types->columns[k];
        if (pci_types_equal(types, row, k) && a->desc->type == b->desc->type) {
            pci_fault(tally, row, "this type is the same as that of row %u", (unsigned)k);
            return PCOL_OK;
        }
    }
    return pci_hash_add(seen, hash, row, err);
}

static pcol_status check_types(struct pci_check *check, pcol_error *err)
{
    struct pci_tally tally = PCI_TALLY(check, "sample_types", "");
    pcol_status status = PCOL_OK;
    struct pci_hash seen = {0};
    struct pci_types types;
    if (!pci_check_table(check, "sample_types") || !pci_check_table(check, "samples") ||
        pci_types_open(check->file, &types, NULL) != PCOL_OK)
        return PCOL_OK;
    for (uint32_t i = 0; i < types.count && !check->stop && status == PCOL_OK; i++)
        status = check_type(&types, i, &seen, &tally, err);
    pci_hash_clear(&seen);
    pci_types_close(&types);
    pci_tally_end(&tally);
    return status;
}

/* A duration is not negative, and time + duration fits into 64 bits. */
static pcol_status check_durations(struct pci_check *check, pcol_error *err)
{
    const struct pci_column *time = pci_check_column(check, "samples", "time");
    const struct pci_column *duration = pci_check_column(check, "samples", "duration");
    struct pci_tally tally = PCI_TALLY(check, "samples", "duration");
    uint64_t rows = pci_rows(check->file, "samples");
    size_t n;
    for (uint64_t row = 0; duration && row < rows; row += n) {
        PCI_TRY(pci_check_read(check, duration, row, rows, 0, &n, err));
        if (n)
            PCI_TRY(pci_check_read(check, time, row, rows, 1, &n, err));
        if (!n)
            break;
        for (size_t i = 0; i < n; i++) {
            int64_t start = check->valid[1][i] ? check->values[1][i] : 0;
            if (check->valid[0][i] && !pci_sample_ends(start, check->values[0][i]))
                pci_fault(&tally, row + i,
                          check->values[0][i] < 0 ? "%lld is negative"
                                                  : "time + %lld ns is beyond 64 bits",
                          (long long)check->values[0][i]);
        }
    }
    pci_tally_end(&tally);
    return PCOL_OK;
}

static pcol_status check_growth(struct pci_check *check, pcol_error *err)
{
    const struct pci_column *growth = pci_check_column(check, "samples", "memory_growth");
    struct pci_tally tally = PCI_TALLY(check, "samples", "memory_growth");
    uint64_t rows = pci_rows(check->file, "samples");
    size_t n = 1;
    for (uint64_t row = 0; growth && n && row < rows; row += n) {
        PCI_TRY(pci_check_read(check, growth, row, rows, 0, &n, err));
        for (size_t i = 0; i < n; i++)
            if (check->valid[0][i] && check->values[0][i] < 0)
                pci_fault(&tally, row + i, "%lld is negative", (long long)check->values[0][i]);
    }
    pci_tally_end(&tally);
    return PCOL_OK;
}

static pcol_status check_sorted(struct pci_check *check, const struct pci_column *column,
                                pcol_error *err)
{
    uint16_t flags = column->schema->flags;
    struct order order = {column->table->name, column->name, (flags & PCI_SORTED) != 0, UINT64_MAX};
    if (flags & PCI_SAMPLE_POSITION)
        order.limit = pci_rows(check->file, "samples");
    return flags & (PCI_SORTED | PCI_SORTED_STRICT) ? check_order(check, &order, err) : PCOL_OK;
}

pcol_status pci_check_keys(struct pci_check *check, pcol_error *err)
{
    for (uint32_t t = 0; t < check->file->index.header.table_count; t++) {
        const struct pci_table *table = &check->file->tables[t];
        for (uint32_t c = 0; c < table->column_count && !check->stop; c++)
            if (!check->copied || !(table->schema->table_flags & PCI_TABLE_DERIVED))
                PCI_TRY(check_sorted(check, &table->columns[c], err));
    }
    if (!check->copied)
        PCI_TRY(check_durations(check, err));
    PCI_TRY(check_growth(check, err));
    PCI_TRY(check_groups(check, err));
    PCI_TRY(check_unique(check, "source_types", "source", "sample_type", err));
    PCI_TRY(check_unique(check, "source_meta", "source", "key", err));
    /* Equal types are merged when they are copied. */
    return check->copied ? PCOL_OK : check_types(check, err);
}

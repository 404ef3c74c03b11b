/*
 * check_zones.c - sample_zones, by counting what the samples have
 *
 * Locations: the depth of every stack is worked out once, then added up over the samples. Values:
 * the cursor of the view itself, which holds every zone that it passes against its count.
 */
#include "model/check.h"

#include "core/alloc.h"

static uint64_t add_capped(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/* Lines from each stack to the root. */
static pcol_status find_depths(const struct pci_stacks *stacks, uint64_t **depths, pcol_error *err)
{
    uint64_t *depth = pci_malloc((size_t)stacks->stacks + 1, sizeof *depth);
    pcol_status status = PCOL_OK;
    *depths = depth;
    if (!depth)
        return pci_fail_memory(err);
    depth[0] = 0;
    for (uint64_t node = 1; node < stacks->stacks && status == PCOL_OK; node++) {
        uint64_t first, count = 0;
        uint32_t parent = 0;
        status = pci_stacks_node(stacks, node, &parent, &first, &count, err);
        depth[node] = add_capped(depth[parent], count);
    }
    return status;
}

static pcol_status check_zone(struct pci_check *check, const struct pci_column *zones,
                              struct pci_tally *tally, uint64_t zone, uint64_t counted,
                              pcol_error *err)
{
    pcol_error error = {0};
    int64_t stated;
    if (pci_get(check->file, zones, zone, &stated, &(int){0}, &error) != PCOL_OK)
        return pci_fault_error(check, &error, err);
    if ((uint64_t)stated != counted)
        pci_fault(tally, zone, "%llu rows are stated and %llu are there",
                  (unsigned long long)stated, (unsigned long long)counted);
    return PCOL_OK;
}

static pcol_status count_locations(struct pci_check *check, const struct pci_column *zones,
                                   const struct pci_stacks *stacks, const uint64_t *depth,
                                   pcol_error *err)
{
    const struct pci_column *stack = pci_check_column(check, "samples", "stack");
    struct pci_tally tally = PCI_TALLY(check, "sample_zones", "location_row");
    uint64_t samples = pci_rows(check->file, "samples"), counted = 0;
    size_t n;
    for (uint64_t row = 0; row < samples; row += n) {
        PCI_TRY(check_zone(check, zones, &tally, row / PCI_ZONE, counted, err));
        PCI_TRY(pci_check_read(check, stack, row, samples, 0, &n, err));
        if (!n)
            return PCOL_OK;
        for (size_t i = 0; i < n; i++) {
            if (check->valid[0][i] && (uint64_t)check->values[0][i] < stacks->stacks)
                counted = add_capped(counted, depth[check->values[0][i]]);
        }
    }
    PCI_TRY(check_zone(check, zones, &tally, zones->desc->rows - 1, counted, err));
    pci_tally_end(&tally);
    return PCOL_OK;
}

static pcol_status check_locations(struct pci_check *check, pcol_error *err)
{
    struct pci_stacks stacks;
    const struct pci_column *zones;
    uint64_t total, *depth = NULL;
    pcol_error error = {0};
    pcol_status status = pci_zones_total(check->file, "location_row", &zones, &total, &error);
    if (status == PCOL_OK)
        status = pci_stacks_open(check->file, &stacks, &error);
    if (status == PCOL_OK)
        status = pci_plausible(check->file, "stacks", &error);
    if (status == PCOL_OK && zones)
        status = find_depths(&stacks, &depth, &error);
    if (status != PCOL_OK)
        status = pci_fault_error(check, &error, err);
    else if (zones)
        status = count_locations(check, zones, &stacks, depth, err);
    pci_free(depth);
    return status;
}

static pcol_status run_values(const pcol_table *table, pcol_error *err)
{
    struct pci_rows rows;
    pcol_status status = pci_rows_open(&rows, table, 0, err);
    for (uint64_t row = 0; status == PCOL_OK && row < table->rows; row += PCI_BATCH) {
        uint64_t left = table->rows - row;
        status = pci_rows_next(&rows, left < PCI_BATCH ? (size_t)left : PCI_BATCH, err);
    }
    if (status == PCOL_OK)
        status = pci_rows_end(&rows, err);
    pci_rows_close(&rows);
    return status;
}

static pcol_status check_values(struct pci_check *check, pcol_error *err)
{
    pcol_table *table;
    pcol_error error = {0};
    pcol_status status = pci_v2_values(check->file, &table, &error);
    if (status == PCOL_OK)
        status = run_values(table, &error);
    pci_table_free(table);
    return status == PCOL_OK ? PCOL_OK : pci_fault_error(check, &error, err);
}

/* Only tables without faults so far: what they make wrong is not the zones' fault. */
pcol_status pci_check_zones(struct pci_check *check, pcol_error *err)
{
    static const char *const tables[] = {"samples",         "sample_zones", "stacks",
                                         "location_groups", "locations",    "sample_types",
                                         "source_types"};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        if (!pci_check_table(check, tables[i]))
            return PCOL_OK;
    }
    PCI_TRY(check_locations(check, err));
    return check->stop ? PCOL_OK : check_values(check, err);
}

/*
 * memory.c - derived type memory/bytes: growth of the heap between samples of Rprof
 *
 * Memory profiling of Rprof records gauges: cells of small vectors, cells of big vectors, bytes of
 * nodes. A sample's value is the sum of the increases of the three since the previous sample of the
 * segment, in bytes (a cell is 8); a decrease is a garbage collection and counts 0. The first
 * sample of a segment counts 0, as in summaryRprof. A copy that lacks the previous sample has the
 * value in samples.memory_growth (merge/memory_growth.c). Tests: tests/unit/test_foreign_files.c,
 * suite answers.
 */
#include "model/memory.h"

#include "util/alloc.h"
#include "util/strbuf.h"

#include <stdlib.h>
#include <string.h>

#define SMALL PCI_MEMORY_SMALL
#define BIG PCI_MEMORY_BIG
#define NODES PCI_MEMORY_NODES
#define GAUGES PCI_MEMORY_GAUGES

struct segment {
    uint64_t first;
    int64_t source;
};

/* The gauges of a source's last sample. */
struct last {
    int64_t gauge[GAUGES];
    int there;
};

struct pci_memory {
    const pcol_file *file;
    const struct pci_column *gauges[GAUGES], *source, *growth;
    struct segment *segments; /* by first sample */
    size_t segment_count, segment;
    struct last *last; /* by source */
    uint64_t source_count;
    int64_t cells[GAUGES][PCI_BATCH], sources[PCI_BATCH], growths[PCI_BATCH];
    uint8_t valid[GAUGES][PCI_BATCH], has_growth[PCI_BATCH];
};

int pci_memory_is_requested(const struct pci_requested_type *requested)
{
    const pcol_sample_type *exact = requested->exact;
    const char *name = requested->name;
    if (exact)
        return pci_str_equal(exact->type, PCI_MEMORY_TYPE) &&
               pci_str_equal(exact->unit, PCI_MEMORY_UNIT) && !exact->ordinal;
    return name && (strcmp(name, "memory") == 0 || strcmp(name, "memory/bytes") == 0);
}

int pci_memory_is_type(const struct pci_types *types, uint32_t row)
{
    return !types->is_gauge[row] && !types->ordinal[row] &&
           pci_str_equal(types->type[row], PCI_MEMORY_TYPE) &&
           pci_str_equal(types->unit[row], PCI_MEMORY_UNIT);
}

static int find_gauges(const struct pci_types *types, int with_values, uint32_t gauges[GAUGES])
{
    static const char *const names[GAUGES][2] = {
        {"small_v", "cells"}, {"big_v", "cells"}, {"nodes", "bytes"}};
    for (int i = 0; i < GAUGES; i++) {
        gauges[i] = PCOL_NONE;
        for (uint32_t k = 0; k < types->count && gauges[i] == PCOL_NONE; k++) {
            const struct pci_column *column = types->columns[k];
            if (types->is_gauge[k] && (column ? column->desc->type == PCF_I64 : !with_values) &&
                pci_str_is(types->type[k], names[i][0]) && pci_str_is(types->unit[k], names[i][1]))
                gauges[i] = k;
        }
    }
    return gauges[SMALL] != PCOL_NONE && gauges[BIG] != PCOL_NONE && gauges[NODES] != PCOL_NONE;
}

int pci_memory_find(const struct pci_types *types, uint32_t gauges[GAUGES])
{
    return find_gauges(types, 1, gauges);
}

int pci_memory_is_listed(const struct pci_types *types)
{
    uint32_t gauges[GAUGES];
    return find_gauges(types, 0, gauges);
}

static int compare_segments(const void *pa, const void *pb)
{
    const struct segment *a = pa, *b = pb;
    return (a->first > b->first) - (a->first < b->first);
}

static pcol_status read_segments(struct pci_memory *m, pcol_error *err)
{
    const struct pci_column *source, *first;
    const struct pci_table *table = pci_table_flagged(m->file, PCI_TABLE_SEGMENTS);
    const char *name = table ? table->name : "";
    uint64_t rows = pci_rows(m->file, name);
    PCI_TRY(pci_check_row_count(m->file, name, err));
    PCI_TRY(pci_require_column(m->file, name, "source", PCI_TYPES_ROW, &source, err));
    PCI_TRY(pci_require_column(m->file, name, "first_sample", PCI_TYPES_INT, &first, err));
    PCI_TRY(PCI_MALLOC(m->segments, (size_t)rows, err));
    for (uint64_t row = 0; row < rows; row++) {
        struct segment *segment = &m->segments[row];
        PCI_TRY(pci_get(m->file, first, row, (int64_t *)&segment->first, &(int){0}, err));
        PCI_TRY(pci_get(m->file, source, row, &segment->source, &(int){0}, err));
    }
    m->segment_count = (size_t)rows;
    qsort(m->segments, m->segment_count, sizeof *m->segments, compare_segments);
    return PCOL_OK;
}

static pcol_status open_memory(struct pci_memory *m, const struct pci_types *types,
                               const uint32_t gauges[GAUGES], pcol_error *err)
{
    for (int k = 0; k < GAUGES; k++)
        m->gauges[k] = types->columns[gauges[k]];
    m->source = types->source;
    for (int k = 0; k < GAUGES; k++)
        PCI_TRY(pci_verify(m->file, m->gauges[k], err));
    PCI_TRY(pci_find_verified_column(m->file, "samples", "memory_growth", PCI_TYPE(PCF_I64),
                                     &m->growth, err));
    m->last = pci_calloc((size_t)m->source_count + 1, sizeof *m->last);
    return m->last ? read_segments(m, err) : pci_fail_memory(err);
}

pcol_status pci_memory_open(const pcol_file *file, const struct pci_types *types,
                            const uint32_t gauges[GAUGES], uint64_t source_count,
                            struct pci_memory **memory, pcol_error *err)
{
    struct pci_memory *m;
    pcol_status status;
    *memory = NULL;
    PCI_TRY(PCI_CALLOC(m, 1, err));
    m->file = file;
    m->source_count = source_count;
    status = open_memory(m, types, gauges, err);
    if (status == PCOL_OK)
        *memory = m;
    else
        pci_memory_close(m);
    return status;
}

void pci_memory_close(struct pci_memory *memory)
{
    if (!memory)
        return;
    pci_free(memory->segments);
    pci_free(memory->last);
    pci_free(memory);
}

/* Computes the growth of one sample; -1 on overflow of 64 bits. */
static int compute_growth(const struct last *last, const int64_t *gauge, int64_t *bytes)
{
    *bytes = 0;
    for (int k = 0; k < GAUGES && last->there; k++) {
        int64_t delta;
        if (gauge[k] <= last->gauge[k])
            continue;
        if (__builtin_sub_overflow(gauge[k], last->gauge[k], &delta) ||
            __builtin_mul_overflow(delta, k == NODES ? 1 : 8, &delta) ||
            __builtin_add_overflow(*bytes, delta, bytes))
            return -1;
    }
    return 0;
}

/* The growth of sample `row`, which is row `i` of the batch. */
static pcol_status get_growth(struct pci_memory *m, uint64_t row, size_t i, struct last *last,
                              int64_t *bytes, pcol_error *err)
{
    int64_t gauge[GAUGES] = {m->cells[SMALL][i], m->cells[BIG][i], m->cells[NODES][i]};
    int is_stored = m->growth && m->has_growth[i];
    if (is_stored && m->growths[i] < 0)
        return pci_corrupt(err, "samples", "memory_growth", row, "%lld is negative",
                           (long long)m->growths[i]);
    if (!is_stored && compute_growth(last, gauge, bytes))
        return pci_fail_cell(err, PCOL_E_LIMIT, "samples", NULL, row,
                             "the growth of memory does not fit into 64 bits");
    if (is_stored)
        *bytes = m->growths[i];
    memcpy(last->gauge, gauge, sizeof last->gauge);
    last->there = 1;
    return PCOL_OK;
}

/* A segment that starts at or before `row` resets its source. */
static void reset_segments(struct pci_memory *m, uint64_t row)
{
    for (; m->segment < m->segment_count && m->segments[m->segment].first <= row; m->segment++) {
        uint64_t source = (uint64_t)m->segments[m->segment].source;
        if (source < m->source_count)
            m->last[source].there = 0;
    }
}

pcol_status pci_memory_read(struct pci_memory *memory, uint64_t row, size_t n, int64_t *bytes,
                            uint8_t *alive, pcol_error *err)
{
    for (int k = 0; k < GAUGES; k++)
        PCI_TRY(pci_read(memory->file, memory->gauges[k], row, n, memory->cells[k],
                         memory->valid[k], err));
    if (memory->source)
        PCI_TRY(pci_read(memory->file, memory->source, row, n, memory->sources, NULL, err));
    if (memory->growth)
        PCI_TRY(pci_read(memory->file, memory->growth, row, n, memory->growths, memory->has_growth,
                         err));
    for (size_t i = 0; i < n; i++) {
        uint64_t source = memory->source ? (uint64_t)memory->sources[i] : 0;
        reset_segments(memory, row + i);
        bytes[i] = 0;
        if (!memory->valid[SMALL][i] || !memory->valid[BIG][i] || !memory->valid[NODES][i]) {
            alive[i] = 0;
            continue;
        }
        if (source >= memory->source_count)
            return pci_corrupt(
                err, "samples", "source", row + i, "%llu is beyond the %llu rows of sources",
                (unsigned long long)source, (unsigned long long)memory->source_count);
        PCI_TRY(get_growth(memory, row + i, i, &memory->last[source], &bytes[i], err));
    }
    return PCOL_OK;
}

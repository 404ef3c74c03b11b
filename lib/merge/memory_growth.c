/*
 * memory_growth.c - growth of memory of copied samples whose previous sample is not copied
 *
 * The value memory/bytes of a sample is what its gauges grew by since the previous sample of its
 * source (model/memory.h). Where a selection leaves that one out, the copy would derive another
 * value: it gets the one of the file in samples.memory_growth. Tests: tests/cli/rprof.test.
 */
#include "merge/memory_growth.h"

#include "model/memory.h"
#include "util/alloc.h"

#include <string.h>

struct pci_memory_growth {
    struct pci_merge *merge;
    struct pci_types types;
    struct pci_memory *memory;
    const struct pci_column *stored; /* samples.memory_growth of the file, copied as it is */
    uint32_t column;                 /* of the builder; PCOL_NONE: not yet created */
    uint8_t *lacks_previous; /* by source: a sample with gauges was left out since the last */
    uint64_t next;           /* row */
    uint64_t first, count;   /* rows of the batch */
    int64_t bytes[PCI_BATCH], sources[PCI_BATCH];
    uint8_t has_gauges[PCI_BATCH];
};

static pcol_status open_growth(struct pci_memory_growth *g, int *has_memory, pcol_error *err)
{
    struct pci_merge *m = g->merge;
    uint32_t gauges[PCI_MEMORY_GAUGES];
    PCI_TRY(pci_types_open(m->file, &g->types, err));
    *has_memory = pci_memory_find(&g->types, gauges);
    for (int k = 0; k < PCI_MEMORY_GAUGES && *has_memory; k++)
        *has_memory = m->types[gauges[k]] != PCOL_NONE;
    if (!*has_memory)
        return PCOL_OK;
    PCI_TRY(
        pci_find_column(m->file, "samples", "memory_growth", PCI_TYPE(PCF_I64), &g->stored, err));
    PCI_TRY(PCI_CALLOC(g->lacks_previous, (size_t)m->source_count + 1, err));
    return pci_memory_open(m->file, &g->types, gauges, m->source_count, &g->memory, err);
}

pcol_status pci_memory_growth_open(struct pci_merge *merge, struct pci_memory_growth **growth,
                                   pcol_error *err)
{
    struct pci_memory_growth *g;
    int has_memory = 0;
    *growth = NULL;
    PCI_TRY(PCI_CALLOC(g, 1, err));
    g->merge = merge;
    g->column = PCOL_NONE;
    pcol_status status = open_growth(g, &has_memory, err);
    if (status == PCOL_OK && has_memory)
        *growth = g;
    else
        pci_memory_growth_close(g);
    return status;
}

void pci_memory_growth_close(struct pci_memory_growth *growth)
{
    if (!growth)
        return;
    pci_memory_close(growth->memory);
    pci_types_close(&growth->types);
    pci_free(growth->lacks_previous);
    pci_free(growth);
}

/* Reads the batch of a row. */
static pcol_status load(struct pci_memory_growth *g, uint64_t row, pcol_error *err)
{
    const pcol_file *file = g->merge->file;
    uint64_t rows = pci_rows(file, "samples");
    while (row >= g->first + g->count) {
        g->first += g->count;
        g->count = rows - g->first < PCI_BATCH ? rows - g->first : PCI_BATCH;
        memset(g->has_gauges, 1, sizeof g->has_gauges);
        PCI_TRY(pci_memory_read(g->memory, g->first, (size_t)g->count, g->bytes, g->has_gauges,
                                err)); /* a sample with gauges has a source that exists */
        if (g->types.source)
            PCI_TRY(
                pci_read(file, g->types.source, g->first, (size_t)g->count, g->sources, NULL, err));
    }
    return PCOL_OK;
}

static pcol_status put(struct pci_memory_growth *g, uint64_t row, uint64_t to, pcol_error *err)
{
    pcol_builder *b = g->merge->builder;
    int64_t value;
    int is_stored;
    PCI_TRY(pci_get(g->merge->file, g->stored, row, &value, &is_stored, err));
    if (is_stored)
        return PCOL_OK;
    if (g->column == PCOL_NONE)
        PCI_TRY(
            pci_builder_column(b, PCI_T_SAMPLES, "memory_growth", PCOL_I64, 0, &g->column, err));
    return pci_builder_set_bits(b, g->column, to, g->bytes[row - g->first], err);
}

pcol_status pci_memory_growth_copy(struct pci_memory_growth *growth, uint64_t row, uint64_t to,
                                   pcol_error *err)
{
    struct pci_memory_growth *g = growth;
    for (; g->next <= row; g->next++) {
        PCI_TRY(load(g, g->next, err));
        uint64_t i = g->next - g->first;
        if (!g->has_gauges[i])
            continue;
        uint8_t *lacks_previous = &g->lacks_previous[g->types.source ? g->sources[i] : 0];
        if (g->next == row && *lacks_previous)
            PCI_TRY(put(g, row, to, err));
        *lacks_previous = g->next != row;
    }
    return PCOL_OK;
}

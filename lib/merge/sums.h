/*
 * sums.h - reduction of profiles to sums by stack, source and labels (pcol_sums)
 *
 * Sources are grouped by what their samples mean (type, default sample type, period, interval,
 * frames to drop, sample types) and by the values of the keys. Each sample is added to the row of
 * its group, stack and labels, found by hash. Code is interned without what differs between
 * processes. All orders are those of first appearance, so that sums of sums have the same bytes.
 * Tests: suite sums, tests/unit/test_sums.c.
 */
#ifndef PCI_MERGE_SUMS_H
#define PCI_MERGE_SUMS_H

#include "merge/merge.h"
#include "model/types.h"

struct pci_sum_row {
    uint32_t source, stack, labels; /* labels: in pcol_sums.labels */
    uint32_t values;                /* of the source */
    uint64_t first;                 /* of its values */
};

struct pci_sum_value {
    int64_t bits; /* of a double, if the type is one */
    uint8_t valid, is_double;
};

struct pcol_sums {
    pcol_builder *builder;
    char **keys;
    uint8_t *key_seen;
    size_t key_count;
    int rebase;
    int only_losses;                /* PCOL_SUMS_LOSSES */
    struct pci_string_pool sources; /* descriptions, see sums.c; codes are rows of sources */
    struct pci_string_pool labels;  /* arrays of struct pci_label; code 0: none */
    struct pci_hash hash;           /* of rows that are not the first of their stack */
    struct pci_sum_row *rows;
    size_t row_count, row_capacity;
    size_t last;          /* the row found last */
    uint32_t *first_rows; /* by stack + 1, PCOL_NONE + 1 is 0: its first row + 1; 0: none */
    size_t first_capacity;
    struct pci_sum_value *values;
    size_t value_count, value_capacity;
    uint64_t lost;   /* kinds of content that an input had and sums lack */
    int gauges_lost; /* values of gauges */
    int is_finished;
};

/* A file while it is added. Codes and rows of the builder by those of the file; PCOL_NONE: not used
 * or not known yet. */
struct pci_sums_file {
    pcol_sums *sums;
    const pcol_file *file;
    uint64_t string_count, stack_count;
    uint32_t *strings, *stacks;
    uint8_t *used_stacks; /* by row of stacks: a sample has it */
};

/* Words of a description. An integer of the source is 2 words, and one word that is 1 if it is
 * there. */
enum described {
    D_TYPE,
    D_DEFAULT_TYPE,
    D_DROP_FRAMES,
    D_KEEP_FRAMES,
    D_PERIOD_TYPE,
    D_PERIOD_UNIT,
    D_TEXTS,
    D_PERIOD = D_TEXTS,
    D_INTERVAL = D_PERIOD + 3,
    D_KEYS = D_INTERVAL + 3
};

/* The number of three words: whether there is one, its low and its high half. */
static inline int64_t pci_sums_number(const uint32_t words[3])
{
    return (int64_t)((uint64_t)words[2] << 32 | words[1]);
}

enum { T_TYPE, T_UNIT, T_FLAGS, T_ORDINAL, T_WORDS };

/* Columns of sources of the words before D_TEXTS. */
extern const char *const pci_sums_text_columns[D_TEXTS];

/* The builder's code of a cell of a STRING column; PCOL_NONE: null. */
pcol_status pci_sums_string(struct pci_sums_file *f, struct pci_cells *cells, uint64_t row,
                            uint32_t *string, pcol_error *err);
/* 1 if a key of labels or metadata is kept; records that it occurs. */
int pci_sums_keeps(pcol_sums *sums, pcol_str key);

/* sums_code.c: adds the used stacks to the builder and maps them */
pcol_status pci_sums_add_code(struct pci_sums_file *f, pcol_error *err);

/* sums_result.c: adds all to the builder, and reports losses and keys that never occurred */
pcol_status pci_sums_write(pcol_sums *sums, pcol_error *err);

/* sums_losses.c: records the kinds of content of a file that sums lack; reports all once */
pcol_status pci_sums_find_losses(struct pci_sums_file *f, pcol_error *err);
void pci_sums_report_losses(const pcol_sums *sums);

#endif

/*
 * label_pairs.h - the values of a label of each sample of a batch
 */
#ifndef PCI_QUERY_LABEL_PAIRS_H
#define PCI_QUERY_LABEL_PAIRS_H

#include "query/labels.h"
#include "util/long_texts.h"

/* A value of the sample at index `at` of the batch. */
struct pci_label_pair {
    uint32_t at, name;
};

struct pci_label_pairs {
    const pcol_query *query;
    struct pci_label_columns columns;
    struct pci_string_pool *names; /* of the values with their units; the caller's */
    /* of the last batch: distinct pairs by sample, and whether a sample has the label */
    struct pci_label_pair *pairs;
    size_t count, capacity;
    uint8_t labelled[PCI_BATCH];
    /* scratch */
    int64_t cells[PCI_BATCH];
    uint8_t valid[PCI_BATCH];
    struct pci_strbuf with_unit;
    struct pci_text_memo long_names;
    uint64_t long_texts; /* of values that are generated */
};

/* E_ARGUMENT if there is no such label, which is borrowed. The caller closes, also after a
 * failure. */
pcol_status pci_label_pairs_open(struct pci_label_pairs *pairs, const pcol_query *query,
                                 const char *label, struct pci_string_pool *names, pcol_error *err);
/* Reads the values of the samples of a batch that pass the filter of frames. */
pcol_status pci_label_pairs_read(struct pci_label_pairs *pairs,
                                 const struct pci_sample_batch *batch, pcol_error *err);
void pci_label_pairs_close(struct pci_label_pairs *pairs);

#endif

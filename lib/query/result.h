/*
 * result.h - tables over the rows of answers
 *
 * A result owns an answer (answers.h), retains its files, and has a table. The array of a column of
 * numbers is filled from a member of the rows when it is first used; texts are read from the rows
 * in place.
 */
#ifndef PCI_QUERY_RESULT_H
#define PCI_QUERY_RESULT_H

#include "model/arrays.h"
#include "query/answers.h"

#include <stdatomic.h>

enum { PCI_RESULT_COLUMNS = 24 };

/* Elements of an array; row i is element index[i], or i without an index; PCOL_NONE: null. */
struct pci_elements {
    const void *base;
    size_t stride;
    const uint32_t *index;
    int flagged; /* an element begins with its flags (struct pci_frame) */
};

/* A member of the elements as a column. */
struct pci_member {
    const char *name;
    pcol_type type; /* U32: PCOL_NONE is null; STRING: a pcol_str, data NULL is null */
    size_t offset;
    uint32_t flag; /* the flag of elements that have it; 0: all have it */
    int is_amount;
};

/* The source of a column. */
struct pci_result_column {
    struct pci_elements elements;
    struct pci_member member;
};

struct pcol_result {
    _Atomic uint32_t references; /* beyond the first */
    pcol_file *files[2];         /* retained; NULL: none */
    pcol_table *table;
    pcol_result_info info;
    void *answer;
    void (*free_answer)(void *answer);
    struct pci_result_column columns[PCI_RESULT_COLUMNS];
    void *owned[PCI_RESULT_COLUMNS + 8];
    size_t owned_count;
};

/* kind: a literal. Takes over the answer, also if it fails. */
pcol_status pci_result_new(const char *kind, const pcol_query *query, uint64_t rows, void *answer,
                           void (*free_answer)(void *answer), pcol_result **result,
                           pcol_error *err);
/* Memory that the result releases; NULL: out of memory, with the error. */
void *pci_result_alloc(pcol_result *result, size_t count, size_t size, pcol_error *err);
/* Appends columns of members of the elements, which the result or its answer owns. */
pcol_status pci_result_add(pcol_result *result, const struct pci_elements *elements,
                           const struct pci_member *members, size_t count, pcol_error *err);

#endif

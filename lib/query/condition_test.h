/*
 * condition_test.h - one typed condition, as an interval of the type of the tested values
 */
#ifndef PCI_QUERY_CONDITION_TEST_H
#define PCI_QUERY_CONDITION_TEST_H

#include "util/error.h"

enum pci_test_kind { PCI_TEST_INTEGER, PCI_TEST_DOUBLE, PCI_TEST_TEXT, PCI_TEST_NULL };

struct pci_test {
    enum pci_test_kind kind;
    uint32_t op;
    int never;         /* no value is in the interval */
    int complement;    /* NE, NOT_MATCH, NOT_NULL */
    int64_t low, high; /* INTEGER: inclusive; of unsigned values: biased */
    double from, to;   /* DOUBLE: inclusive */
    char *text;        /* TEXT: owned copy */
    size_t text_size;
    pcol_pattern *pattern;
};

/* Flips bit 63: unsigned integers compare as signed ones. */
static inline int64_t pci_bias(uint64_t value)
{
    return (int64_t)(value ^ (uint64_t)1 << 63);
}

/* The caller closes it, also after a failure. type: of the values. E_ARGUMENT: operator, type or
 * pattern. */
pcol_status pci_test_open(struct pci_test *test, const pcol_condition *condition, pcol_type type,
                          pcol_error *err);
void pci_test_close(struct pci_test *test);
pcol_status pci_test_text(const struct pci_test *test, pcol_str text, int *holds, pcol_error *err);

#endif

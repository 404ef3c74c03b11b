/*
 * line_parser.h - a line of folded stacks: a call stack and a count
 *
 *     main;parse;read file 12.5
 *     ^ stack, to the last blank ^ count
 *
 * Blanks inside a frame belong to it, so that the last blank separates stack and count. A count is
 * a decimal number with an optional point and exponent. Tests: tests/unit/test_folded.c.
 */
#ifndef PCI_FOLDED_LINE_PARSER_H
#define PCI_FOLDED_LINE_PARSER_H

#include "util/error.h"
#include "json/number.h"

struct pci_folded_count {
    int is_double;
    union {
        int64_t i64;
        double f64;
    } as;
};

struct pci_folded_parts {
    size_t stack;        /* size in bytes */
    size_t count;        /* offset of the count */
    size_t fault;        /* offset of the error, if any */
    const char *message; /* of the error */
    int plain;           /* separated by one space, nothing after the count */
    struct pci_folded_count value;
};

/* Split a line (without its line end); 0 on error: sets parts->fault and parts->message. */
int pci_folded_split(const uint8_t *text, size_t size, struct pci_folded_parts *parts);

#define PCI_FOLDED_COUNT_SIZE PCI_NUMBER_SIZE

/* Print a count, equal for 5 and 5.0. Returns the length, 0 if the number is not finite. */
size_t pci_folded_print(const struct pci_folded_count *count, char text[PCI_FOLDED_COUNT_SIZE]);

#endif

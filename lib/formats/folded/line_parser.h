/*
 * line_parser.h - a folded line in two parts: a call stack and a count
 *
 *     main;parse;read file 12.5
 *     ^ stack, to the last blank ^ count
 *
 * Blanks inside a frame belong to it, so only the last blank parts the line. A count is a decimal
 * number, with point or exponent if need be.
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
    size_t stack; /* its bytes */
    size_t count; /* where the count begins */
    size_t fault; /* where the fault is, if there is one */
    const char *what;
    int plain; /* one space between them, nothing behind the count */
    struct pci_folded_count value;
};

/* Take a line without its end apart; 0 if it does not end with a count: parts->fault and ->what. */
int pci_folded_split(const uint8_t *text, size_t size, struct pci_folded_parts *parts);

#define PCI_FOLDED_COUNT_SIZE PCI_NUMBER_SIZE

/* The text of a count, the same for 5 and 5.0; its length, 0 for a number that is not finite. */
size_t pci_folded_print(const struct pci_folded_count *count, char text[PCI_FOLDED_COUNT_SIZE]);

#endif

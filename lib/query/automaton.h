/*
 * automaton.h - a program of steps over bytes, run in time linear in the bytes
 *
 * What pattern.c makes of a pattern. Nothing in it goes back: each byte is looked at once, for all
 * the ways at once on which the pattern may have come there (Thompson, 1968). A set of such ways is
 * a state; states are made when they are first met, with a table of where each byte leads, and
 * forgotten all together when they take too much memory. So nearly every byte costs one look into
 * a table, and no pattern and no name can cost more than (steps of the program) * (bytes).
 */
#ifndef PCI_AUTOMATON_H
#define PCI_AUTOMATON_H

#include "query/bytes.h"

enum pci_step_kind {
    PCI_STEP_BYTE,   /* a byte, and on to the next step */
    PCI_STEP_SET,    /* one of sets[to] */
    PCI_STEP_ANY,    /* any byte */
    PCI_STEP_SPLIT,  /* the next step, and the one that is `to` from here */
    PCI_STEP_JUMP,   /* the one that is `to` from here */
    PCI_STEP_ASSERT, /* `byte` is one of pci_assertion: on to the next step if it holds */
    PCI_STEP_MATCH
};

enum pci_assertion {
    PCI_ASSERT_START,
    PCI_ASSERT_END,
    PCI_ASSERT_WORD_EDGE,
    PCI_ASSERT_NO_EDGE,
    PCI_ASSERT_WORD_START,
    PCI_ASSERT_WORD_END
};

struct pci_step {
    uint8_t kind, byte;
    int32_t to;
};

struct pci_automaton;

/* Takes both arrays over, also when it fails; the last step is the match. */
pcol_status pci_automaton_new(struct pci_step *steps, size_t step_count, struct pci_bytes *sets,
                              size_t set_count, struct pci_automaton **automaton, pcol_error *err);
/* `what`: whose pattern it is. E_LIMIT: it takes more than 2^28 steps and 64 for each byte that it
 * was ever given. */
pcol_status pci_automaton_test(struct pci_automaton *automaton, const char *what, pcol_str name,
                               int *matches, pcol_error *err);
void pci_automaton_free(struct pci_automaton *automaton);

#endif

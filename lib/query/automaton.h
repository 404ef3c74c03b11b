/*
 * automaton.h - Thompson NFA of a pattern, run as a lazily built DFA
 *
 * pattern.c compiles a pattern to a program of steps; the automaton runs it over bytes without
 * backtracking. A DFA state is a set of steps; states are built on first use, cached with a
 * transition table, and all discarded when the cache is full. Most bytes cost one table lookup; a
 * match costs at most (steps of the program) * (bytes), for any pattern and any name.
 */
#ifndef PCI_AUTOMATON_H
#define PCI_AUTOMATON_H

#include "query/bytes.h"

enum pci_pattern_step_kind {
    PCI_STEP_BYTE,   /* consume `byte` */
    PCI_STEP_SET,    /* consume a byte of sets[to] */
    PCI_STEP_ANY,    /* consume any byte */
    PCI_STEP_SPLIT,  /* continue at the next step and at the one `to` steps ahead */
    PCI_STEP_JUMP,   /* continue `to` steps ahead */
    PCI_STEP_ASSERT, /* `byte` is a pci_assertion; continue if it is true */
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

struct pci_pattern_step {
    uint8_t kind, byte;
    int32_t to;
};

struct pci_automaton;

/* Takes ownership of both arrays, also on failure. The last step is PCI_STEP_MATCH. */
pcol_status pci_automaton_new(struct pci_pattern_step *steps, size_t step_count,
                              struct pci_bytes *sets, size_t set_count,
                              struct pci_automaton **automaton, pcol_error *err);
/* owner: name of the pattern's source, for errors. E_LIMIT: all names so far took more than 2^28
 * steps plus 64 for each of their bytes. */
pcol_status pci_automaton_test(struct pci_automaton *automaton, const char *owner, pcol_str name,
                               int *matches, pcol_error *err);
void pci_automaton_free(struct pci_automaton *automaton);

#endif

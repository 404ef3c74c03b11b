/*
 * lexer.h - the words of R's profiles: integers, headers, references, quoted names
 *
 *     header   := ["memory profiling: "] ["GC profiling: "] ["line profiling: "]
 *                 "sample.interval=" INT
 *     fileline := "#File " [INT] ": " PATH
 *     sample   := [":" INT ":" INT ":" INT ":" INT ":"] unit*
 *     unit     := ref | [ref] '"' NAME '" '          ref := INT "#" INT " "
 *
 * Nothing in a NAME is escaped, so a name ends at the first `" ` that is followed by the end of the
 * line, by `"` or by a reference. Hence what a unit is depends only on the text to its right: two
 * lines that end alike have the same units there (frames.h lives on that).
 *
 * All functions work on [p, end) and read nothing behind it.
 */
#ifndef PCI_RPROF_LEXER_H
#define PCI_RPROF_LEXER_H

#include "format/load.h"

#include <stddef.h>
#include <stdint.h>

/* A decimal number as it stands in a text. */
struct pci_rprof_int {
    int64_t value;
    uint8_t known;     /* it fits an int64 */
    uint8_t canonical; /* printing the value gives the same digits */
};

/* Past the number at p, NULL if there is none; a minus sign only where `sign` is set. */
const uint8_t *pci_rprof_int(const uint8_t *p, const uint8_t *end, int sign,
                             struct pci_rprof_int *number);

struct pci_rprof_header {
    uint8_t memory, gc, line;
    struct pci_rprof_int interval;
};
/* 1 if [p, end) is a header line without its line end. */
int pci_rprof_header(const uint8_t *p, const uint8_t *end, struct pci_rprof_header *header);
/* 1 if it is the beginning of one. */
int pci_rprof_header_begun(const uint8_t *p, const uint8_t *end);

struct pci_rprof_file {
    int numbered; /* the package r-prof/profile writes "#File : " if there is no file */
    struct pci_rprof_int number;
    const uint8_t *path;
    size_t path_size;
};
int pci_rprof_file(const uint8_t *p, const uint8_t *end, struct pci_rprof_file *file);

/* Past the memory columns at p; NULL, with *fault at the byte that does not fit. */
const uint8_t *pci_rprof_memory(const uint8_t *p, const uint8_t *end,
                                struct pci_rprof_int number[4], const uint8_t **fault);

#define PCI_RPROF_LOOSE 0x1u   /* the last unit may lack its blank */
#define PCI_RPROF_NO_REFS 0x2u /* Rprofmem */

enum pci_rprof_fault_kind {
    PCI_RPROF_WHOLE,    /* no fault */
    PCI_RPROF_NO_BLANK, /* the last unit is whole but for its blank */
    PCI_RPROF_OPEN,     /* a name without closing quote */
    PCI_RPROF_GARBAGE   /* neither a reference nor a quote */
};

struct pci_rprof_fault {
    enum pci_rprof_fault_kind kind;
    const uint8_t *at;
};

/* Past the reference at p, or NULL. */
static inline const uint8_t *pci_rprof_ref(const uint8_t *p, const uint8_t *end)
{
    const uint8_t *q = p;
    while (q < end && (unsigned)(*q - '0') < 10)
        q++;
    if (q == p || q == end || *q != '#')
        return NULL;
    p = ++q;
    while (q < end && (unsigned)(*q - '0') < 10)
        q++;
    if (q == p || q == end || *q != ' ')
        return NULL;
    return q + 1;
}

/* Past the unit at p < end; NULL if there is no whole one. *fault is written only if there is
 * one. */
const uint8_t *pci_rprof_unit(const uint8_t *p, const uint8_t *end, unsigned flags,
                              struct pci_rprof_fault *fault);

/* The same for nearly all units, which are a name and in front of another name: the first quote in
 * it closes it. NULL: look closer. */
static inline const uint8_t *pci_rprof_usual_unit(const uint8_t *p, const uint8_t *end)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), highs = ones << 7;
    if (*p != '"')
        return NULL;
    for (p++; end - p >= 10; p += 8) {
        uint64_t x = pcf_load64(p) ^ (ones * '"');
        uint64_t found = (x - ones) & ~x & highs; /* the lowest set bit is exact */
        if (found) {
            p += (unsigned)__builtin_ctzll(found) >> 3;
            return p[1] == ' ' && p[2] == '"' ? p + 2 : NULL;
        }
    }
    return NULL;
}

/* The first number beyond 64 bits among the references of the units in [p, end); NULL if there is
 * none. */
const uint8_t *pci_rprof_beyond(const uint8_t *p, const uint8_t *end, unsigned flags);

#define PCI_RPROF_BEYOND "number beyond 64 bits; --lenient keeps the line as text"

/* Run over the units of [p, end) and say how that ends. An open name is looked at from `resume` on
 * (>= p), where p is the open unit: text added behind an open name is read only once. */
struct pci_rprof_fault pci_rprof_skim(const uint8_t *p, const uint8_t *resume, const uint8_t *end,
                                      unsigned flags);

/* Are these units of a line of their own? Not if a quote that stands first closes a name, nor if
 * not one unit is whole: then they go on with a name that holds a line feed. */
int pci_rprof_units_alone(const uint8_t *p, const uint8_t *end);

/* The parts of a unit that pci_rprof_unit() has delimited. */
struct pci_rprof_parts {
    int has_ref, has_name;
    struct pci_rprof_int file, line;
    const uint8_t *name;
    size_t name_size;
    int exact; /* printing the parts gives the same bytes */
};
void pci_rprof_parts(const uint8_t *p, const uint8_t *end, struct pci_rprof_parts *parts);

#endif

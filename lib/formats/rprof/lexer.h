/*
 * lexer.h - tokens of R's profiles: integers, headers, references, quoted names
 *
 *     header   := ["memory profiling: "] ["GC profiling: "] ["line profiling: "]
 *                 "sample.interval=" INT
 *     fileline := "#File " [INT] ": " PATH
 *     sample   := [":" INT ":" INT ":" INT ":" INT ":"] unit*
 *     unit     := ref | [ref] '"' NAME '" '          ref := INT "#" INT " "
 *
 * Names have no escapes: a name ends at the first `" ` before the end of the line, a `"` or a
 * reference. A unit therefore depends only on the text after it, and lines with a common suffix
 * have the same units there, which frames.h uses. No function reads beyond `end`.
 */
#ifndef PCI_RPROF_LEXER_H
#define PCI_RPROF_LEXER_H

#include "format/load.h"

#include <stddef.h>
#include <stdint.h>

/* A decimal number of the text. */
struct pci_rprof_int {
    int64_t value;
    uint8_t known;     /* it fits an int64_t */
    uint8_t canonical; /* printing the value gives the same digits */
};

/* Parse the number at p; returns its end, NULL: no number. `sign`: a minus sign is allowed. */
const uint8_t *pci_rprof_int(const uint8_t *p, const uint8_t *end, int sign,
                             struct pci_rprof_int *number);

struct pci_rprof_header {
    uint8_t memory, gc, line;
    struct pci_rprof_int interval;
};
/* 1 if [p, end) is a header line without its line end. */
int pci_rprof_header(const uint8_t *p, const uint8_t *end, struct pci_rprof_header *header);
/* 1 if [p, end) is a prefix of a header line. */
int pci_rprof_is_header_prefix(const uint8_t *p, const uint8_t *end);

struct pci_rprof_file {
    int numbered; /* the package r-prof/profile writes "#File : " if there is no file */
    struct pci_rprof_int number;
    const uint8_t *path;
    size_t path_size;
};
int pci_rprof_file(const uint8_t *p, const uint8_t *end, struct pci_rprof_file *file);

/* Parse the memory columns at p; returns their end, or NULL with *fault at the unexpected byte. */
const uint8_t *pci_rprof_memory(const uint8_t *p, const uint8_t *end,
                                struct pci_rprof_int number[4], const uint8_t **fault);

#define PCI_RPROF_LOOSE 0x1u   /* the last unit may lack its blank */
#define PCI_RPROF_NO_REFS 0x2u /* Rprofmem */

enum pci_rprof_fault_kind {
    PCI_RPROF_NO_FAULT, /* no fault */
    PCI_RPROF_NO_BLANK, /* the last unit lacks only its blank */
    PCI_RPROF_OPEN,     /* a name without closing quote */
    PCI_RPROF_GARBAGE   /* neither a reference nor a quote */
};

struct pci_rprof_fault {
    enum pci_rprof_fault_kind kind;
    const uint8_t *at;
};

/* End of the reference at p; NULL: no reference. */
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

/* End of the unit at p < end; NULL, with *fault set, if it is incomplete or malformed. */
const uint8_t *pci_rprof_unit(const uint8_t *p, const uint8_t *end, unsigned flags,
                              struct pci_rprof_fault *fault);

/* Fast path of pci_rprof_unit(): a name whose first quote closes it and is followed by another
 * name. NULL: not this case. */
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

/* The first number beyond 64 bits in the references of the units in [p, end); NULL: none. */
const uint8_t *pci_rprof_find_overflow(const uint8_t *p, const uint8_t *end, unsigned flags);

/* End of the first line without its line end; NULL if it is longer than the data, which are not all
 * of the input. */
static inline const uint8_t *pci_rprof_first_line_end(const uint8_t *data, size_t size, int all)
{
    const uint8_t *end = memchr(data, '\n', size);
    if (!end)
        return all ? data + size : NULL;
    return end > data && end[-1] == '\r' ? end - 1 : end;
}

#define PCI_RPROF_OVERFLOW "number beyond 64 bits; a lenient import keeps the line as text"

/* Skip the units of [p, end); returns the fault that ends them. If p is a unit with an open name,
 * the search for its end begins at `resume` >= p: appended text is searched once. */
struct pci_rprof_fault pci_rprof_skip_units(const uint8_t *p, const uint8_t *resume,
                                            const uint8_t *end, unsigned flags);

/* 1 if [p, end) are units of a separate line. 0 if a leading quote closes a name, or no unit is
 * complete: then they continue a name with a line feed. */
int pci_rprof_is_own_line(const uint8_t *p, const uint8_t *end);

/* The parts of a unit, as delimited by pci_rprof_unit(). */
struct pci_rprof_parts {
    int has_ref, has_name;
    struct pci_rprof_int file, line;
    const uint8_t *name;
    size_t name_size;
    int exact; /* printing the parts gives the same bytes */
};
void pci_rprof_parts(const uint8_t *p, const uint8_t *end, struct pci_rprof_parts *parts);

#endif

/*
 * scanner.h - words of the older text formats
 *
 * A reader of these formats looks for its pattern anywhere in a line and ignores what stands around
 * it, because lines were often taken from a log. The functions here take a cursor and say how far
 * they came.
 */
#ifndef PCI_GPERFTOOLS_SCANNER_H
#define PCI_GPERFTOOLS_SCANNER_H

#include "formats/gperftools/profile.h"
#include "stream/lines.h"

#include <string.h>

static inline int pci_gp_space(uint8_t c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static inline int pci_gp_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

static inline int pci_gp_lower_hex(uint8_t c)
{
    return pci_gp_digit(c) || (c >= 'a' && c <= 'f');
}

static inline int pci_gp_hex(uint8_t c)
{
    return pci_gp_lower_hex(c) || (c >= 'A' && c <= 'F');
}

/* A line without blanks around it. */
struct pci_gp_span {
    const uint8_t *p, *end;
};
struct pci_gp_span pci_gp_trim(const uint8_t *p, const uint8_t *end);

static inline struct pci_gp_span pci_gp_line(const struct pci_line *line)
{
    return pci_gp_trim(line->text, line->text + line->size);
}

static inline int pci_gp_begins(const uint8_t *p, const uint8_t *end, const char *word)
{
    size_t size = strlen(word);
    return (size_t)(end - p) >= size && !memcmp(p, word, size);
}

/* Where `word` begins in [p, end), NULL if nowhere. */
const uint8_t *pci_gp_find(const uint8_t *p, const uint8_t *end, const char *word);

/* The word at *p is stepped over if it stands there. */
int pci_gp_word(const uint8_t **p, const uint8_t *end, const char *word);
void pci_gp_spaces(const uint8_t **p, const uint8_t *end); /* blanks only, not TAB */

/* [-]DIGITS at *p: 0 none, 1 read, -1 beyond 64 bits (stepped over as well). */
int pci_gp_integer(const uint8_t **p, const uint8_t *end, int sign, int64_t *value);
/* Hexadecimal digits at *p, the same. upper: A-F too. */
int pci_gp_hex_number(const uint8_t **p, const uint8_t *end, int upper, uint64_t *value);

static inline int pci_gp_blank(const struct pci_line *line)
{
    struct pci_gp_span s = pci_gp_line(line);
    return s.p == s.end;
}
/* Empty, or begins with '#'. */
int pci_gp_blank_or_comment(const uint8_t *p, const uint8_t *end);
/* Whether the memory map begins behind this line. */
int pci_gp_map_begins(const uint8_t *p, const uint8_t *end);

/* Where the reader of a text stands. */
struct pci_gp_reader {
    struct pci_import *import;
    struct pci_lines lines;
    struct pci_line line;
    int got; /* 0: the input is at its end, line is empty */
    struct pci_gp_profile profile;
    uint64_t stackless; /* samples without addresses that were tolerated */
};

pcol_status pci_gp_next(struct pci_gp_reader *reader, pcol_error *err);
/* E_SYNTAX at a byte of the current line. */
pcol_status pci_gp_fail(const struct pci_gp_reader *reader, const uint8_t *at, pcol_error *err,
                        const char *what);
/* Which addresses of a stack say where a call returns to: one less then lies in the call. */
enum pci_gp_returns { PCI_GP_ALL_RETURN, PCI_GP_LEAF_IS_PLACE, PCI_GP_NONE_RETURNS };

/* Push the addresses 0x... of [p, end). */
pcol_status pci_gp_push_addresses(struct pci_gp_reader *reader, const uint8_t *p,
                                  const uint8_t *end, enum pci_gp_returns returns, pcol_error *err);
/* The same of what follows an '@' at p: it ends at the first byte that cannot belong to a stack. */
pcol_status pci_gp_push_stack(struct pci_gp_reader *reader, const uint8_t *p, const uint8_t *end,
                              enum pci_gp_returns returns, pcol_error *err);

/* ---- the kinds; each begins at the reader's current line and reads the input to its end */

typedef int (*pci_gp_header_fn)(const uint8_t *p, const uint8_t *end);
int pci_gp_is_heap(const uint8_t *p, const uint8_t *end);
int pci_gp_is_count(const uint8_t *p, const uint8_t *end);
int pci_gp_is_thread(const uint8_t *p, const uint8_t *end);
int pci_gp_is_contention(const uint8_t *p, const uint8_t *end);
int pci_gp_is_java(const uint8_t *p, const uint8_t *end);
pcol_status pci_gp_read_heap(struct pci_gp_reader *reader, pcol_error *err);
pcol_status pci_gp_read_count(struct pci_gp_reader *reader, pcol_error *err);
pcol_status pci_gp_read_thread(struct pci_gp_reader *reader, pcol_error *err);
pcol_status pci_gp_read_contention(struct pci_gp_reader *reader, pcol_error *err);
pcol_status pci_gp_read_java(struct pci_gp_reader *reader, pcol_error *err);
/* Skip to the memory map from the current line on, read it, give each location its mapping. */
pcol_status pci_gp_read_map(struct pci_gp_reader *reader, pcol_error *err);
/* The same where the next line is the map's first. */
pcol_status pci_gp_read_map_here(struct pci_gp_reader *reader, pcol_error *err);
/* Java: addresses that have names, from the current line on. */
pcol_status pci_gp_read_java_names(struct pci_gp_reader *reader, pcol_error *err);

/* cpu.c */
int pci_gp_is_cpu(const uint8_t *data, size_t size);
pcol_status pci_gp_read_cpu(struct pci_gp_reader *reader, pcol_error *err);

/* mapping_lookup.c: which mapping each numbered location lies in. */
pcol_status pci_gp_locate(struct pci_gp_profile *profile, pcol_error *err);

/* How often a sample of heap was likely taken: counts and bytes are divided by the probability that
 * a block of their mean size is sampled. 0 if the result does not fit. */
int pci_gp_unsample(int64_t *count, int64_t *bytes, int64_t rate);

#endif

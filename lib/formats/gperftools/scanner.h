/*
 * scanner.h - scanning of the older text formats
 *
 * Patterns are searched anywhere in a line, since lines often were taken from a log. Functions take
 * a cursor *p and advance it after a match.
 */
#ifndef PCI_GPERFTOOLS_SCANNER_H
#define PCI_GPERFTOOLS_SCANNER_H

#include "formats/gperftools/profile.h"
#include "stream/lines.h"

#include <string.h>

static inline int pci_gp_is_space(uint8_t c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static inline int pci_gp_is_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

static inline int pci_gp_is_lower_hex(uint8_t c)
{
    return pci_gp_is_digit(c) || (c >= 'a' && c <= 'f');
}

static inline int pci_gp_is_hex(uint8_t c)
{
    return pci_gp_is_lower_hex(c) || (c >= 'A' && c <= 'F');
}

/* A range of bytes, such as a line without surrounding white space. */
struct pci_gp_span {
    const uint8_t *p, *end;
};
struct pci_gp_span pci_gp_trim(const uint8_t *p, const uint8_t *end);

static inline struct pci_gp_span pci_gp_line(const struct pci_line *line)
{
    return pci_gp_trim(line->text, line->text + line->size);
}

static inline int pci_gp_has_prefix(const uint8_t *p, const uint8_t *end, const char *word)
{
    size_t size = strlen(word);
    return (size_t)(end - p) >= size && !memcmp(p, word, size);
}

/* Find `word` in [p, end), NULL if absent. */
const uint8_t *pci_gp_find(const uint8_t *p, const uint8_t *end, const char *word);

/* Skip the word if it is at *p. */
int pci_gp_accept(const uint8_t **p, const uint8_t *end, const char *word);
void pci_gp_skip_spaces(const uint8_t **p, const uint8_t *end); /* not TAB */

/* Read [-]DIGITS at *p: 0 none, 1 read, -1 beyond 64 bits (skipped as well). */
int pci_gp_read_integer(const uint8_t **p, const uint8_t *end, int sign, int64_t *value);
/* The same for hexadecimal digits. upper: including A-F. */
int pci_gp_read_hex(const uint8_t **p, const uint8_t *end, int upper, uint64_t *value);

static inline int pci_gp_is_blank(const struct pci_line *line)
{
    struct pci_gp_span s = pci_gp_line(line);
    return s.p == s.end;
}
/* Empty, or begins with '#'. */
int pci_gp_is_blank_or_comment(const uint8_t *p, const uint8_t *end);
/* Is this line the header of the memory map? */
int pci_gp_is_map_header(const uint8_t *p, const uint8_t *end);

/* State of a reader of text. */
struct pci_gp_reader {
    struct pci_import *import;
    struct pci_lines lines;
    struct pci_line line;
    int found; /* 0: end of input, `line` is empty */
    struct pci_gp_profile profile;
    uint64_t stackless; /* number of samples accepted without addresses */
    int has_cut_line;   /* the last line has no line end */
};

pcol_status pci_gp_next(struct pci_gp_reader *reader, pcol_error *err);
/* E_SYNTAX at a byte of the current line. */
pcol_status pci_gp_fail(const struct pci_gp_reader *reader, const uint8_t *at, pcol_error *err,
                        const char *message);
/* Multiply a number that begins at a byte of the current line; E_SYNTAX beyond 64 bits. */
pcol_status pci_gp_multiply(const struct pci_gp_reader *reader, const uint8_t *at, int64_t factor,
                            int64_t *number, pcol_error *err);
/* The return addresses of a stack: one is subtracted, to be inside of the call instruction. */
enum pci_gp_returns { PCI_GP_ALL_RETURN, PCI_GP_LEAF_IS_EXACT, PCI_GP_NO_RETURNS };

/* Push the addresses 0x... of [p, end). */
pcol_status pci_gp_push_addresses(struct pci_gp_reader *reader, const uint8_t *p,
                                  const uint8_t *end, enum pci_gp_returns returns, pcol_error *err);
/* The same for the text after an '@', up to the first byte that cannot be part of a stack. */
pcol_status pci_gp_push_stack(struct pci_gp_reader *reader, const uint8_t *p, const uint8_t *end,
                              enum pci_gp_returns returns, pcol_error *err);

/* ---- formats; each reader starts at the current line and reads to the end of the input */

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
/* Skip to the memory map, read it, assign mappings to locations. */
pcol_status pci_gp_read_map(struct pci_gp_reader *reader, pcol_error *err);
/* The same; the next line is the first one of the map. */
pcol_status pci_gp_read_map_lines(struct pci_gp_reader *reader, pcol_error *err);
/* Java: read names of addresses, from the current line on. */
pcol_status pci_gp_read_java_names(struct pci_gp_reader *reader, pcol_error *err);

/* cpu.c */
int pci_gp_is_cpu(const uint8_t *data, size_t size);
pcol_status pci_gp_read_cpu(struct pci_gp_reader *reader, pcol_error *err);

/* mapping_lookup.c: assign mappings to locations that have ids. */
pcol_status pci_gp_assign_mappings(struct pci_gp_profile *profile, pcol_error *err);

/* Divide counts and bytes of a heap sample by the probability that a block of their mean size is
 * sampled. Returns 0 if the result exceeds 64 bits. */
int pci_gp_unsample(int64_t *count, int64_t *bytes, int64_t rate);

#endif

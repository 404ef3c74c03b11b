/*
 * labels.h - labels of samples: columns, values as text, tests
 */
#ifndef PCI_QUERY_LABELS_H
#define PCI_QUERY_LABELS_H

#include "model/row_details.h"
#include "query/query.h"
#include "util/strbuf.h"

#define PCI_LABEL_TEXT 40 /* bytes of the text of a number */

/* A column of samples with the values of one key; a key has one per kind, unit and occurrence. */
struct pci_label_column {
    const struct pci_column *column;
    uint8_t kind;
    pcol_str unit; /* "" if absent; borrowed from the file */
};

/* label_keys.c */
/* Of keys of one name, moves those that queries read to the front and returns their number. They
 * are not call stacks, which have sums of their own; none if the name is also that of an amount
 * (VALUE), of which only some have a column. */
size_t pci_label_keys_keep(struct pci_label_key *keys, size_t count);

/* Names of values that are frames. */
struct pci_label_frames;
int pci_label_is_frame(int kind);
pcol_status pci_label_frames_open(const pcol_file *file, struct pci_label_frames **frames,
                                  pcol_error *err);
void pci_label_frames_close(struct pci_label_frames *frames);
/* The text of a value of a sample as it is stored, valid until the next call; row: of the sample,
 * for kinds other than FRAME. */
pcol_status pci_label_frame_text(struct pci_label_frames *frames, int kind, uint64_t row,
                                 int64_t bits, pcol_str *text, pcol_error *err);

/* Values of a key without a column: members of the rows' `extra`. */
struct pci_label_members {
    const struct pci_column *roots; /* samples.extra; NULL: no node has the key */
    struct pci_node_reader nodes;
    pcol_str key; /* of the file */
};

/* All columns of a key, and its values without a column. */
struct pci_label_columns {
    const pcol_file *file;
    struct pci_label_column *columns;
    size_t count;
    struct pci_label_members members;
    struct pci_label_frames *frames; /* NULL if no value is a frame */
};

/* E_ARGUMENT, with a list of existing keys, if neither a column nor a member has the key. `key` is
 * borrowed. The caller calls pci_label_columns_close(), also after a failure. */
pcol_status pci_label_columns_open(struct pci_label_columns *columns, const pcol_file *file,
                                   const char *key, size_t key_size, pcol_error *err);
void pci_label_columns_close(struct pci_label_columns *columns);
/* As pci_read(), for a column that is not of bytes. A value that repeats a frame of the sample's
 * own stack becomes the group of that frame. */
pcol_status pci_label_read(const struct pci_label_columns *columns,
                           const struct pci_label_column *column, uint64_t row, size_t n,
                           int64_t *cells, uint8_t *valid, pcol_error *err);
/* The text of a valid cell, valid until the next call; it may be stored in `buffer`. bits: from
 * pci_label_read(). */
pcol_status pci_label_text(const struct pci_label_columns *columns,
                           const struct pci_label_column *column, uint64_t row, int64_t bits,
                           char *buffer, pcol_str *text, pcol_error *err);

/* Whether a text of pci_label_text() stays where it is until the file is closed. */
int pci_label_is_stored(const struct pci_label_columns *columns, int kind, pcol_str text);

/* The text of a value with its unit, "4 bytes", in `buffer`; valid until the next call. */
pcol_status pci_label_with_unit(pcol_str unit, struct pci_strbuf *buffer, pcol_str *text,
                                pcol_error *err);

/* ---- label_range.c */

__extension__ typedef __int128 pci_wide;

/* The exact value of a number in decimal digits. */
struct pci_label_decimal {
    pci_wide floor;
    int has_rest; /* a part below 1 */
};

/* The value of [-]digits[.digits][e[+-]digits], such as -1.0 or 25e3, times a size of at most 2^50.
 * 0: another text, or beyond 120 bits. Digits after the 22nd count as a rest. */
int pci_label_decimal(const char *text, const char *end, int64_t size,
                      struct pci_label_decimal *value);

/* In the base unit. */
struct pci_label_bound {
    double number; /* may be infinite */
    struct pci_label_decimal exact;
    int is_exact;
};

/* A closed range of numbers, "A:B" with units or without; a bound that is not given is infinite. */
struct pci_label_range {
    int is_set;
    struct pci_label_bound low, high;
    pcol_str unit; /* as given with a bound, in the parsed text; "": numbers as they are stored */
};

/* Leaves is_set 0 if the text is no range. The text must live as long as the range. */
void pci_label_range_parse(const char *text, struct pci_label_range *range);
/* Whether an integer or double, by its kind, is in the range. A number without a unit has that of
 * its key, as in pprof: "bytes", "alignment" and "request" are in bytes. */
int pci_label_range_test(const struct pci_label_range *range, int kind, pcol_str unit, pcol_str key,
                         int64_t bits);

/* The dimension of a unit, 'b' (bytes) or 't' (nanoseconds), and its size; 0 and 1 if unknown. */
char pci_label_unit_size(pcol_str unit, double *size);
/* The scale of values in formats that have only integers: times that are doubles become
 * nanoseconds, *unit with them; 1 for other values. */
double pci_label_integer_scale(int is_double, pcol_str *unit);
/* The text of a number as Go's pprof shows it, in `buffer` of PCI_LABEL_TEXT bytes: bytes and times
 * in their largest unit of at least 1, rounded to two digits ("1.50kB"), others without their unit.
 * Returns its size. */
size_t pci_label_scale(int64_t value, pcol_str unit, char *buffer);

/* ---- label_members.c */

/* O(nodes of the file) if samples have members, else O(1). */
pcol_status pci_label_members_open(struct pci_label_members *members, const pcol_file *file,
                                   pcol_str key, pcol_error *err);
struct pci_label_value {
    uint64_t member; /* its node; PCI_NO_NODE before the first value and after the last */
    uint8_t kind;
    int64_t bits;
    pcol_str unit; /* "" if absent; borrowed from the file */
    pcol_str text; /* may be stored in `buffer` */
    char buffer[PCI_LABEL_TEXT];
};
/* Reads the next value of the key among the members of `root`, a cell of `roots`. */
pcol_status pci_label_members_next(const struct pci_label_columns *columns, uint64_t root,
                                   struct pci_label_value *value, pcol_error *err);

#endif

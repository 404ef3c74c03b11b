/*
 * json.h - streaming JSON reader (pull tokenizer) and writer
 *
 * The reader returns one token at a time from the window of an input: memory does not depend on the
 * size of the text, and each level of nesting takes one bit. Tests: tests/unit/test_json.c.
 */
/* Example of a reader:
 *
 *     PCI_TRY(pci_json_open(&json, input, &options, err));
 *     pci_json_next(...), pci_json_expect(... PCI_JSON_OBJECT ...)
 *     for (;;) {
 *         pci_json_member(&json, &more, err)         a key, or the object's end
 *         if (pci_json_is(&json, "samples")) ...     pci_json_next() then reads the value
 *         else pci_json_skip_member(...)
 *     }
 *     pci_json_finish(&json, err)                    only blanks may follow
 *     pci_json_close(&json)
 */
#ifndef PCI_JSON_H
#define PCI_JSON_H

#include "stream/input.h"
#include "util/error.h"
#include "util/strbuf.h"

enum pci_json_type {
    PCI_JSON_END = 0, /* end of the text */
    PCI_JSON_OBJECT,
    PCI_JSON_OBJECT_END,
    PCI_JSON_ARRAY,
    PCI_JSON_ARRAY_END,
    PCI_JSON_KEY,
    PCI_JSON_STRING,
    PCI_JSON_INT,    /* without point and exponent, and within int64 */
    PCI_JSON_BIG,    /* such an integer beyond int64: `text` has its digits, `number` is rounded */
    PCI_JSON_DOUBLE, /* any other number */
    PCI_JSON_TRUE,
    PCI_JSON_FALSE,
    PCI_JSON_NULL
};

#define PCI_JSON_NONFINITE 0x1u /* accept the bare words NaN, Infinity, -Infinity as numbers */
#define PCI_JSON_SURROGATE_BYTES 0x2u /* decode a lone \udc80..\udcff as the byte 0x80..0xff */
/* Reject values that cannot be written back: lone surrogates, text that is not UTF-8, numbers out
 * of range of double. */
#define PCI_JSON_SOUND 0x4u
/* Reject doubles out of range only: they could be written back as words that are not JSON. */
#define PCI_JSON_FINITE 0x8u
#define PCI_JSON_OPEN_ARRAY 0x10u /* the end of the input may end the outermost array */

struct pci_json_options {
    unsigned flags;
    uint32_t max_depth; /* of nesting; 0: 1024 */
};

/* Tokens that may come next. */
enum pci_json_state {
    PCI_JSON_AT_VALUE,       /* a value */
    PCI_JSON_AT_FIRST_VALUE, /* a value or ] */
    PCI_JSON_AT_KEY,         /* a key */
    PCI_JSON_AT_FIRST_KEY,   /* a key or } */
    PCI_JSON_AT_COLON,       /* : and a value */
    PCI_JSON_AT_AFTER,       /* a comma or the container's end */
    PCI_JSON_AT_DONE         /* nothing */
};

struct pci_json {
    /* The current token. */
    enum pci_json_type type;
    pcol_str text;      /* KEY, STRING: decoded; numbers: as written. Valid until the next call */
    int64_t integer;    /* INT */
    double number;      /* INT, BIG, DOUBLE */
    int lone_surrogate; /* the string has one that is not a byte; in `text` as WTF-8, three bytes */
    uint64_t line, column, offset; /* start of the token; line and column from 1 */
    uint32_t depth;                /* open objects and arrays after the token */
    int is_unclosed;               /* the end of the input ended the outermost array */

    /* Private to the reader. */
    struct pci_input *input;
    struct pci_json_options options;
    uint32_t tokens;  /* number of tokens read, modulo 2^32 */
    int state;        /* enum pci_json_state */
    size_t start, at; /* offsets in the window: of the token and of the next byte */
    uint64_t line_start;
    uint8_t *nesting; /* bit set of open containers: 1 object, 0 array */
    char *scratch;
    size_t scratch_capacity;
};

pcol_status pci_json_open(struct pci_json *json, struct pci_input *input,
                          const struct pci_json_options *options, pcol_error *err);
void pci_json_close(struct pci_json *json);

/* Read the next token. Errors: E_SYNTAX with line and column, E_LIMIT (depth), those of the
 * input. */
pcol_status pci_json_next(struct pci_json *json, pcol_error *err);
/* From the first token of a value, go to its last one. */
pcol_status pci_json_skip(struct pci_json *json, pcol_error *err);
/* In an object: go to the next key (*more = 1) or to the object's end (*more = 0). */
pcol_status pci_json_member(struct pci_json *json, int *more, pcol_error *err);
/* In an array: go to the first token of the next element, or to the array's end. */
pcol_status pci_json_element(struct pci_json *json, int *more, pcol_error *err);
/* In an array: read a run of plain integers, doubles and nulls, at most `count`, into values
 * (doubles as bits) and types (enum pci_json_type). *got may be 0; the next element is left to
 * pci_json_element(). The position of the current token is not updated. Returns the set of types:
 * bit t for type t. */
unsigned pci_json_read_numbers(struct pci_json *json, int64_t *values, uint8_t *types, size_t count,
                               size_t *got);
/* A list of integers among the elements of an array. */
struct pci_json_list {
    size_t end;      /* of its elements */
    uint64_t column; /* of its first byte; its line is that of the current token */
};
/* In an array: read a run of elements that are arrays of plain integers, at most `list_capacity`,
 * with at most `capacity` integers, all one after the other in `values`; returns their number. It
 * may be 0, and there may be more: the next element is left to pci_json_element(). */
size_t pci_json_read_lists(struct pci_json *json, int64_t *values, size_t capacity,
                           struct pci_json_list *lists, size_t list_capacity);
/* Private to the reader: read the number at the next byte; 0 if it is not a common one. */
int pci_json_read_plain(struct pci_json *json);
/* In an array: continue after an element that the caller has read itself and that ends at `offset`
 * of the input. `lines` line feeds were skipped; the last line begins at `line_start`. */
pcol_status pci_json_continue_at(struct pci_json *json, uint64_t offset, uint64_t lines,
                                 uint64_t line_start, pcol_error *err);
/* From a key, skip its value. */
pcol_status pci_json_skip_member(struct pci_json *json, pcol_error *err);
/* After the last token of the value: only blanks may follow. */
pcol_status pci_json_finish(struct pci_json *json, pcol_error *err);
/* The same, but further values may follow: *more, if there is one, which pci_json_next() reads. */
pcol_status pci_json_another(struct pci_json *json, int *more, pcol_error *err);

/* *is_value: whether a text is one JSON value, which may be written into a document as it is. O(its
 * size). Errors: E_NO_MEMORY, E_CANCELLED. */
pcol_status pci_json_is_value(pcol_str text, int *is_value, pcol_error *err);

/* If the current token is a string of a number without escapes, as some writers quote numbers, it
 * becomes the token of that number. */
pcol_status pci_json_unquote_number(struct pci_json *json, pcol_error *err);
/* E_SYNTAX unless the current token has the type: "WHAT must be a string, not a number". */
pcol_status pci_json_expect(const struct pci_json *json, enum pci_json_type type, const char *what,
                            pcol_error *err);
/* 1 if the current token is a whole number of 64 bits, which may be written with a point: 17.0. */
int pci_json_whole(const struct pci_json *json, int64_t *number);
/* E_SYNTAX at the current token. */
pcol_status pci_json_fail(const struct pci_json *json, pcol_error *err, const char *format, ...)
    PCI_PRINTF(3, 4);
/* Whether the current key or string equals a text. Inline, so that lengths of constants cost no
 * time. */
static inline int pci_json_is(const struct pci_json *json, const char *text)
{
    return pci_str_is(json->text, text);
}

/* The writer inserts commas and colons. After the first error its functions have no effect;
 * pci_json_writer_finish() returns the error, and loops over many rows check `status`. */
#define PCI_JSON_BARE_NONFINITE 0x1u /* NaN and infinities as bare words, else as strings */
#define PCI_JSON_POINT 0x2u          /* doubles always have a point or exponent: "1.0" */
#define PCI_JSON_WTF8 0x4u           /* write a surrogate in three bytes of a string as an escape */
#define PCI_JSON_REPLACE 0x8u        /* write U+FFFD for each byte that is not UTF-8 */

struct pci_json_writer {
    pcol_sink sink;
    unsigned flags;
    pcol_status status;
    char *buffer;
    size_t size;
    uint32_t depth;
    int comma;    /* the container has an element: the next one needs a comma */
    int keyed;    /* a key was written: its value follows */
    int newline;  /* write a line feed before the next element or end */
    int replaced; /* a byte that is not UTF-8 became U+FFFD or a lone surrogate */
};

pcol_status pci_json_writer_open(struct pci_json_writer *w, pcol_sink sink, unsigned flags,
                                 pcol_error *err);
void pci_json_put_begin(struct pci_json_writer *w, char bracket, pcol_error *err); /* { or [ */
void pci_json_put_end(struct pci_json_writer *w, char bracket, pcol_error *err);   /* } or ] */
void pci_json_put_key(struct pci_json_writer *w, const char *key, pcol_error *err);
void pci_json_put_key_bytes(struct pci_json_writer *w, pcol_str key, pcol_error *err);
/* Bytes that are not UTF-8 are written as lone surrogates \udc80..\udcff, unless replaced. */
void pci_json_put_string(struct pci_json_writer *w, pcol_str text, pcol_error *err);
/* Write one string: `prefix`, then `text`. */
void pci_json_put_prefixed(struct pci_json_writer *w, const char *prefix, pcol_str text,
                           pcol_error *err);
void pci_json_put_int(struct pci_json_writer *w, int64_t value, pcol_error *err);
void pci_json_put_double(struct pci_json_writer *w, double value, pcol_error *err);
/* Write a value literally: true, false, null, a number as text. */
void pci_json_put_raw(struct pci_json_writer *w, const char *text, size_t size, pcol_error *err);
/* Write the current token of a reader; numbers and words as they were spelled. */
void pci_json_put_token(struct pci_json_writer *w, const struct pci_json *json, pcol_error *err);
/* Write a line feed before the next element or the container's end. */
void pci_json_put_newline(struct pci_json_writer *w);
/* Append a line feed and flush to the sink; returns the first error. */
pcol_status pci_json_writer_finish(struct pci_json_writer *w, pcol_error *err);
/* Release memory, at any time. */
void pci_json_writer_close(struct pci_json_writer *w);

#endif

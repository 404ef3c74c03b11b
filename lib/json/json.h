/*
 * json.h - reading and writing JSON as a stream
 *
 * The reader hands out one token at a time from the window of an input, so memory does not follow
 * the size of the text, and nesting costs a bit, not a stack frame. The usual shape of a reader:
 *
 *     PCI_TRY(pci_json_open(&json, input, &options, err));
 *     pci_json_next(...), pci_json_expect(... PCI_JSON_OBJECT ...)
 *     for (;;) {
 *         pci_json_member(&json, &more, err)         a key, or the object's end
 *         if (pci_json_is(&json, "samples")) ...     pci_json_next() is then at the value
 *         else pci_json_skip_member(...)
 *     }
 *     pci_json_finish(&json, err)                    nothing but blanks may follow
 *     pci_json_close(&json)
 */
#ifndef PCI_JSON_H
#define PCI_JSON_H

#include "stream/input.h"
#include "util/error.h"

enum pci_json_type {
    PCI_JSON_END = 0, /* the text is over */
    PCI_JSON_OBJECT,
    PCI_JSON_OBJECT_END,
    PCI_JSON_ARRAY,
    PCI_JSON_ARRAY_END,
    PCI_JSON_KEY,
    PCI_JSON_STRING,
    PCI_JSON_INT,    /* written without point and exponent, and within int64 */
    PCI_JSON_BIG,    /* such an integer beyond int64: `text` has its digits, `number` is near it */
    PCI_JSON_DOUBLE, /* any other number */
    PCI_JSON_TRUE,
    PCI_JSON_FALSE,
    PCI_JSON_NULL
};

#define PCI_JSON_NONFINITE 0x1u       /* the bare words NaN, Infinity, -Infinity are numbers */
#define PCI_JSON_SURROGATE_BYTES 0x2u /* a lone \udc80..\udcff stands for the byte 0x80..0xff */
/* Refuse what would not come back as the same value: lone surrogates, text that is not UTF-8,
 * numbers beyond the doubles. */
#define PCI_JSON_SOUND 0x4u

struct pci_json_options {
    unsigned flags;
    uint32_t max_depth; /* of nested objects and arrays; 0: 1024 */
};

/* What may come next. */
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
    int lone_surrogate; /* the string had one that no byte stands for: it is in `text` in the three
                           bytes that UTF-8 would give it (WTF-8) */
    uint64_t line, column, offset; /* where the token begins; line and column from 1 */
    uint32_t depth;                /* objects and arrays that are open after it */

    /* The reader's own. */
    struct pci_input *input;
    struct pci_json_options options;
    int state;        /* enum pci_json_state */
    size_t start, at; /* of the token and of the next byte, in the window */
    uint64_t line_start;
    uint8_t *nesting; /* a bit for each open container: 1 object, 0 array */
    char *scratch;
    size_t scratch_capacity;
};

pcol_status pci_json_open(struct pci_json *json, struct pci_input *input,
                          const struct pci_json_options *options, pcol_error *err);
void pci_json_close(struct pci_json *json);

/* The next token. Errors: E_SYNTAX with line and column, E_LIMIT (depth), those of the input. */
pcol_status pci_json_next(struct pci_json *json, pcol_error *err);
/* With the current token the first of a value: go to the last token of that value. */
pcol_status pci_json_skip(struct pci_json *json, pcol_error *err);
/* In an object: go to the next key (*more = 1) or to the object's end (*more = 0). */
pcol_status pci_json_member(struct pci_json *json, int *more, pcol_error *err);
/* In an array: go to the first token of the next element, or to the array's end. */
pcol_status pci_json_element(struct pci_json *json, int *more, pcol_error *err);
/* In an array: read on as long as its elements are plain integers, doubles and nulls, at most
 * `count`, into values (doubles as bits) and types (enum pci_json_type). *got may be 0; what ended
 * the run is left to pci_json_element(). The place of the current token is not kept up. Returns a
 * set of the types: bit t for type t. */
unsigned pci_json_run(struct pci_json *json, int64_t *values, uint8_t *types, size_t count,
                      size_t *got);
/* In an array: go on behind an element that ends at `offset` of the input; `lines` begin in what is
 * passed over, the last of them at line_start. For those who have read it by themselves. */
pcol_status pci_json_jump(struct pci_json *json, uint64_t offset, uint64_t lines,
                          uint64_t line_start, pcol_error *err);
/* With a key current: pass over its value. */
pcol_status pci_json_skip_member(struct pci_json *json, pcol_error *err);
/* After the last token of the text: only blanks may follow. */
pcol_status pci_json_finish(struct pci_json *json, pcol_error *err);

/* E_SYNTAX unless the current token is of a type: "WHAT must be a string, not a number". */
pcol_status pci_json_expect(const struct pci_json *json, enum pci_json_type type, const char *what,
                            pcol_error *err);
/* E_SYNTAX at the current token. */
pcol_status pci_json_fail(const struct pci_json *json, pcol_error *err, const char *format, ...)
    PCI_PRINTF(3, 4);
/* Whether the current key or string is this. */
int pci_json_is(const struct pci_json *json, const char *text);

/*
 * The writer sets commas and colons itself. It remembers the first error and does nothing from then
 * on; pci_json_writer_finish() tells it, and a loop over many rows asks now and then.
 */
#define PCI_JSON_BARE_NONFINITE 0x1u /* NaN and infinities as bare words, else as strings */
#define PCI_JSON_POINT 0x2u          /* a double always looks like one: "1.0" */
#define PCI_JSON_WTF8 0x4u           /* a surrogate in three bytes of a string is written as one */
#define PCI_JSON_REPLACE 0x8u        /* U+FFFD is written for each byte that is not UTF-8 */

struct pci_json_writer {
    pcol_sink sink;
    unsigned flags;
    pcol_status status;
    char *buffer;
    size_t size;
    uint32_t depth;
    int comma;    /* an element stands before the next one in this container */
    int keyed;    /* a key was written: its value follows */
    int newline;  /* begin the next element or the end on a new line */
    int replaced; /* PCI_JSON_REPLACE had something to replace */
};

pcol_status pci_json_writer_open(struct pci_json_writer *w, pcol_sink sink, unsigned flags,
                                 pcol_error *err);
void pci_json_put_begin(struct pci_json_writer *w, char bracket, pcol_error *err); /* { or [ */
void pci_json_put_end(struct pci_json_writer *w, char bracket, pcol_error *err);   /* } or ] */
void pci_json_put_key(struct pci_json_writer *w, const char *key, pcol_error *err);
void pci_json_put_key_bytes(struct pci_json_writer *w, pcol_str key, pcol_error *err);
/* Bytes that are not UTF-8 are written as lone surrogates \udc80..\udcff, if not replaced. */
void pci_json_put_string(struct pci_json_writer *w, pcol_str text, pcol_error *err);
void pci_json_put_int(struct pci_json_writer *w, int64_t value, pcol_error *err);
void pci_json_put_double(struct pci_json_writer *w, double value, pcol_error *err);
/* A value as it stands: true, false, null, a number kept as text. */
void pci_json_put_raw(struct pci_json_writer *w, const char *text, size_t size, pcol_error *err);
/* The token that a reader stands at; numbers and words as they were written. */
void pci_json_put_token(struct pci_json_writer *w, const struct pci_json *json, pcol_error *err);
/* Begin the next element, or the container's end, on a new line. */
void pci_json_put_newline(struct pci_json_writer *w);
/* A line feed behind the text and everything to the sink; returns the first error. */
pcol_status pci_json_writer_finish(struct pci_json_writer *w, pcol_error *err);
/* Release memory, whether finished or not. */
void pci_json_writer_close(struct pci_json_writer *w);

#endif

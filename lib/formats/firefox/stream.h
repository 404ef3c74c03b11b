/*
 * stream.h - token stream of a Firefox Profiler file, JSON or JSLB container
 *
 * A JSLB container is a JSON document with external parts, the slabs: {"$s": N} refers to slab N,
 * an array of numbers or another JSON text. The stream enters a JSON slab in place of its
 * reference, and returns an array of numbers as one token of type PCI_FF_SLAB, so that readers see
 * one document.
 */
#ifndef PCI_FIREFOX_STREAM_H
#define PCI_FIREFOX_STREAM_H

#include "json/json.h"

#define PCI_FF_NESTING 16 /* greatest nesting of JSON slabs */
#define PCI_FF_SLAB 100   /* a token type in addition to those of enum pci_json_type */

/* Types of slabs: their numbers in the container. */
enum pci_slab_type {
    PCI_SLAB_I8,
    PCI_SLAB_U8,
    PCI_SLAB_I16,
    PCI_SLAB_U16,
    PCI_SLAB_I32,
    PCI_SLAB_U32,
    PCI_SLAB_F32,
    PCI_SLAB_F64,
    PCI_SLAB_I64,
    PCI_SLAB_U64,
    PCI_SLAB_JSON,
    PCI_SLAB_TYPES
};
extern const uint8_t pci_slab_widths[PCI_SLAB_TYPES];
extern const char pci_slab_magic[8];

struct pci_slab {
    uint32_t offset, size; /* in the file */
    uint8_t type;
};

struct pci_slabs {
    uint8_t *bytes;               /* the whole container; NULL: read from `file` on demand */
    const struct pci_input *file; /* NULL if `bytes` is set */
    struct pci_input part;        /* window of `file` for arrays */
    uint64_t size;
    struct pci_slab *slabs;
    uint32_t count, root;
};

/* Read and check the table of slabs. If the input is a file, slabs are read from it on demand, and
 * `input` must stay open. Errors: E_SYNTAX with the offset. */
pcol_status pci_slabs_open(struct pci_slabs *slabs, struct pci_input *input, pcol_error *err);
void pci_slabs_close(struct pci_slabs *slabs);

struct pci_ff_reader {
    struct pci_json json;
    struct pci_input input; /* of a slab */
    uint64_t offset;        /* of the input's first byte in the file */
    uint64_t end;           /* of the slab's end in the file */
};

/* Position of a value, for errors that are found later. line 0: JSLB, only `offset` is valid. */
struct pci_ff_position {
    uint64_t line, column, offset;
};

struct pci_ff_stream {
    int type;                    /* of the current token */
    struct pci_json *json;       /* reader of the current token: its text, integer, number */
    const struct pci_slab *slab; /* if type is PCI_FF_SLAB */
    struct pci_slabs *slabs;     /* NULL: the file is JSON */
    struct pci_ff_reader readers[PCI_FF_NESTING];
    unsigned level;
    char path[96]; /* path of the part being read: "threads[3].samples" */
};

/* Open the document. slabs: NULL for JSON, else its container. */
pcol_status pci_ff_stream_open(struct pci_ff_stream *stream, struct pci_input *input,
                               struct pci_slabs *slabs, pcol_error *err);
/* Open a JSON text in memory, which must outlive the stream. */
pcol_status pci_ff_stream_memory(struct pci_ff_stream *stream, const char *text, size_t size,
                                 pcol_error *err);
void pci_ff_stream_close(struct pci_ff_stream *stream);

/* As pci_json_next() and its relatives. */
pcol_status pci_ff_next(struct pci_ff_stream *stream, pcol_error *err);
pcol_status pci_ff_member(struct pci_ff_stream *stream, int *more, pcol_error *err);
pcol_status pci_ff_element(struct pci_ff_stream *stream, int *more, pcol_error *err);
pcol_status pci_ff_skip(struct pci_ff_stream *stream, pcol_error *err);
int pci_ff_text_is(const struct pci_ff_stream *stream, const char *text);

/* Offset of the end of the current JSON text in the file; UINT64_MAX: end of the file. */
uint64_t pci_ff_text_end(const struct pci_ff_stream *stream);
struct pci_ff_position pci_ff_get_position(const struct pci_ff_stream *stream);
/* Fail with E_SYNTAX at the current token, or at a recorded position. */
pcol_status pci_ff_fail(const struct pci_ff_stream *stream, pcol_error *err, const char *format,
                        ...) PCI_PRINTF(3, 4);
pcol_status pci_ff_fail_at(const struct pci_ff_position *position, pcol_error *err,
                           const char *format, ...) PCI_PRINTF(3, 4);
#ifdef __clang_analyzer__ /* as in util/error.h */
#define pci_ff_fail(s, e, ...) ((void)pci_ff_fail(s, e, __VA_ARGS__), PCOL_E_SYNTAX)
#define pci_ff_fail_at(p, e, ...) ((void)pci_ff_fail_at(p, e, __VA_ARGS__), PCOL_E_SYNTAX)
#endif
/* Fail with E_SYNTAX unless the current token opens a value of `type`, an object or an array. */
pcol_status pci_ff_require_type(const struct pci_ff_stream *stream, int type, const char *what,
                                pcol_error *err);

/* Read elements [i, i + n) of a slab of numbers, n at most 4096, as integers or bits of doubles.
 * *all: 1 if all are doubles, 0 if none is, -1 if reals[] has a flag for each. */
pcol_status pci_slab_numbers(struct pci_slabs *slabs, const struct pci_slab *slab, size_t i,
                             size_t n, int64_t *values, uint8_t *reals, int *all, pcol_error *err);
/* Open a JSON slab as an input. *offset: offset of its first byte in the file minus that in the
 * input. */
pcol_status pci_slab_open(const struct pci_slabs *slabs, const struct pci_slab *slab,
                          struct pci_input *input, uint64_t *offset, pcol_error *err);
size_t pci_slab_count(const struct pci_slab *slab);

/* Growing byte buffer, usable as a sink. */
struct pci_ff_text {
    char *data;
    size_t size, capacity;
};
/* Append the current value as JSON text. */
pcol_status pci_ff_capture(struct pci_ff_stream *stream, struct pci_ff_text *text, pcol_error *err);

#endif

/*
 * stream.h - the tokens of a Firefox Profiler file, whether it is JSON or a JSLB container
 *
 * A JSLB container is JSON of which parts lie outside, in slabs: {"$s": N} stands for slab N, which
 * is an array of numbers or JSON again. The stream puts a JSON slab in the place of what stands for
 * it, and hands out an array of numbers as one token of type PCI_FF_SLAB, so that the readers see
 * one document.
 */
#ifndef PCI_FIREFOX_STREAM_H
#define PCI_FIREFOX_STREAM_H

#include "json/json.h"

#define PCI_FF_NESTING 16 /* JSON slabs inside JSON slabs */
#define PCI_FF_SLAB 100   /* a token beside those of enum pci_json_type */

/* Types of slabs, as the container numbers them. */
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
    uint8_t *bytes;               /* the whole container; NULL: it is read where it is asked for */
    const struct pci_input *file; /* then */
    struct pci_input part;        /* of that, where arrays are read */
    uint64_t size;
    struct pci_slab *slabs;
    uint32_t count, root;
};

/* Take the container apart; every range is checked. What is a file stays there: `input` must stay
 * open.
 * Errors: E_SYNTAX with the byte. */
pcol_status pci_slabs_open(struct pci_slabs *slabs, struct pci_input *input, pcol_error *err);
void pci_slabs_close(struct pci_slabs *slabs);

struct pci_ff_reader {
    struct pci_json json;
    struct pci_input input; /* of a slab */
    uint64_t offset;        /* of the input's first byte in the file */
    uint64_t end;           /* of the slab in the file */
};

/* Where a value stands, for errors that are found later. */
struct pci_ff_place {
    uint64_t line, column, offset;
};

struct pci_ff_stream {
    int type;                    /* of the current token */
    struct pci_json *json;       /* whose token it is: text, integer, number */
    const struct pci_slab *slab; /* PCI_FF_SLAB */
    struct pci_slabs *slabs;     /* NULL: the file is JSON */
    struct pci_ff_reader readers[PCI_FF_NESTING];
    unsigned level;
    char path[96]; /* what is being read: "threads[3].samples" */
};

/* The whole input is the document; slabs: NULL or its parts. */
pcol_status pci_ff_stream_open(struct pci_ff_stream *stream, struct pci_input *input,
                               struct pci_slabs *slabs, pcol_error *err);
/* JSON text in memory. */
pcol_status pci_ff_stream_memory(struct pci_ff_stream *stream, const char *text, size_t size,
                                 pcol_error *err);
void pci_ff_stream_close(struct pci_ff_stream *stream);

/* As pci_json_next() and its kin. */
pcol_status pci_ff_next(struct pci_ff_stream *stream, pcol_error *err);
pcol_status pci_ff_member(struct pci_ff_stream *stream, int *more, pcol_error *err);
pcol_status pci_ff_element(struct pci_ff_stream *stream, int *more, pcol_error *err);
pcol_status pci_ff_skip(struct pci_ff_stream *stream, pcol_error *err);
uint32_t pci_ff_depth(const struct pci_ff_stream *stream);
int pci_ff_is(const struct pci_ff_stream *stream, const char *text);

/* The byte of the file at which the text that is being read ends; UINT64_MAX: with the file. */
uint64_t pci_ff_text_end(const struct pci_ff_stream *stream);
struct pci_ff_place pci_ff_where(const struct pci_ff_stream *stream);
/* E_SYNTAX at the current token, or at a place noted before. */
pcol_status pci_ff_fail(const struct pci_ff_stream *stream, pcol_error *err, const char *format,
                        ...) PCI_PRINTF(3, 4);
pcol_status pci_ff_fail_at(const struct pci_ff_place *place, pcol_error *err, const char *format,
                           ...) PCI_PRINTF(3, 4);
#ifdef __clang_analyzer__ /* as in util/error.h */
#define pci_ff_fail(s, e, ...) ((void)pci_ff_fail(s, e, __VA_ARGS__), PCOL_E_SYNTAX)
#define pci_ff_fail_at(p, e, ...) ((void)pci_ff_fail_at(p, e, __VA_ARGS__), PCOL_E_SYNTAX)
#endif
/* E_SYNTAX unless the current token opens an object (an array). */
pcol_status pci_ff_want(const struct pci_ff_stream *stream, int type, const char *what,
                        pcol_error *err);

/* Elements [i, i + n) of a slab of numbers, n at most 4096, as integers or the bits of doubles.
 * *all: whether all are doubles, or -1 if reals[] says which are. */
pcol_status pci_slab_numbers(struct pci_slabs *slabs, const struct pci_slab *slab, size_t i,
                             size_t n, int64_t *values, uint8_t *reals, int *all, pcol_error *err);
/* A slab of JSON as an input; *offset: of its first byte in the file, less that of the input. */
pcol_status pci_slab_open(const struct pci_slabs *slabs, const struct pci_slab *slab,
                          struct pci_input *input, uint64_t *offset, pcol_error *err);
size_t pci_slab_count(const struct pci_slab *slab);

/* Write the value whose first token is the current one as JSON text; go to its last token. */
pcol_status pci_ff_copy(struct pci_ff_stream *stream, struct pci_json_writer *w, pcol_error *err);

/* Bytes that grow: a sink. */
struct pci_ff_text {
    char *data;
    size_t size, capacity;
};
pcol_sink pci_ff_text_sink(struct pci_ff_text *text);
/* The value as text, appended. */
pcol_status pci_ff_capture(struct pci_ff_stream *stream, struct pci_ff_text *text, pcol_error *err);

#endif

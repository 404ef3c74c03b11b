/*
 * input.h - a profile to import, as a window that slides over its bytes
 *
 * Files, pipes and memory, compressed (gzip of any number of members, or zlib) or not, look the
 * same. The window holds what the importer has not consumed yet; it grows only when the importer
 * asks for more while nothing was consumed (a line longer than the window), up to a limit. A file
 * is read in pieces, so its pages are never part of our memory.
 */
#ifndef PCI_STREAM_INPUT_H
#define PCI_STREAM_INPUT_H

#include "util/error.h"
#include "formats/losses.h"

struct pci_input {
    const uint8_t *data; /* the window */
    size_t size;         /* bytes in it */
    uint64_t offset;     /* of data[0] in the (inflated) input */
    int end;             /* no byte follows the window */
    int counting;        /* set by an importer: consumed characters are counted */
    uint64_t pause; /* set by who is going to skip from there: not much behind it is read; 0: no */
    uint64_t characters; /* consumed: bytes that do not go on with a UTF-8 character */
    const char *name;    /* as given by the user, for sniffing by name and as the default uri */
    /* Set by an importer that has other work to do while bytes are not there yet: a short piece of
     * it for each call; 0: there is none. It leaves the input alone. May be NULL. */
    int (*meanwhile)(void *context);
    void *meanwhile_context;
    struct pci_input_state *state;
};

/* Drop `consumed` bytes from the window's front and read more behind it: afterwards size has grown
 * or `end` is set. Errors: E_IO, E_NO_MEMORY, E_LIMIT (input larger than allowed, token larger than
 * the largest window of 64 MiB), E_SYNTAX (damaged gzip, with both offsets). */
pcol_status pci_input_more(struct pci_input *input, size_t consumed, pcol_error *err);

/* Bytes of an input that can be read out of turn, since it is a file and not compressed; else 0. It
 * may have become shorter meanwhile. */
uint64_t pci_input_bytes(const struct pci_input *input);
/* The same bytes once more, beside `of`, which it borrows; by another thread, if one likes. To be
 * begun with pci_input_skip(), and closed. */
pcol_status pci_input_open_part(struct pci_input *part, const struct pci_input *of,
                                pcol_error *err);
/* What is read through a part counts as progress of `of`. Not for one that another thread reads. */
void pci_input_report(struct pci_input *part, const struct pci_input *of);
/* No byte of a part from `offset` on. */
void pci_input_cut(struct pci_input *part, uint64_t offset);
/* Go on at `offset`, of a part anywhere, else not before the window. */
pcol_status pci_input_skip(struct pci_input *input, uint64_t offset, pcol_error *err);

/* Characters consumed while counting, and those in the window. */
uint64_t pci_input_characters(const struct pci_input *input);

/* Bytes of the input as it came (compressed, maybe) that were taken so far. */
uint64_t pci_input_consumed(const struct pci_input *input);
/* All bytes of the input count as read for the budget: it is mapped. */
void pci_input_grant(const struct pci_input *input);

/* What an importer is given. */
struct pci_import {
    pcol_builder *builder;
    struct pci_input *input;
    const pcol_import_options *options; /* never NULL */
    const char *type;                   /* source_type */
    uint32_t source;                    /* filled by pci_import_source() */
};

/* Add the source with the options' uri, timestamp and meta; `source` may carry what the format
 * knows (type, uri, timestamp are filled in where NULL). */
pcol_status pci_import_source(struct pci_import *import, pcol_source *source, pcol_error *err);
/* Warn, once for a builder, if a source was sampled at another interval than an earlier one. */
void pci_import_interval(const struct pci_import *import, int64_t interval_ns);
/* Tell the user one sentence (options->message), printf style; never fails. */
void pci_import_message(const struct pci_import *import, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* What an exporter is given. */
struct pci_export {
    const pcol_file *file;
    const pcol_export_options *options; /* never NULL */
    uint32_t first_source, last_source; /* rows of sources, inclusive; first > last: none */
    pcol_sink sink;
    const struct pci_holds *holds; /* of the format: what it represents */
};
void pci_export_loss(const struct pci_export *export, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void pci_export_warning(const struct pci_export *export, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* pcol_export() with the file's stacks as they are. */
pcol_status pci_export(const pcol_file *file, const char *format,
                       const pcol_export_options *options, pcol_sink sink, pcol_error *err);
/* What a format represents; NULL: nothing that is written has that name. */
const struct pci_holds *pci_format_holds(const char *format);

/* One row of the table in formats/registry.c; a format's room provides these functions. */
struct pci_format {
    pcol_format info;
    /* How sure it is that the input's first bytes (at least 4096 or all) are its own: 0 no, 1 maybe
     * (only if the name's suffix agrees), 2 yes. */
    int (*sniff)(const uint8_t *data, size_t size, int all);
    pcol_status (*read)(struct pci_import *import, pcol_error *err);
    pcol_status (*write)(const struct pci_export *export, pcol_error *err);
    const struct pci_holds *holds; /* NULL: it is not written */
};
/* formats/registry.c: tables of a source of this type whose order and ids its way back needs, each with the
 * table of ours that its rows are in: "function", "functions", ..., NULL; NULL if there are none.
 * When sources come together, this order is written to source_rows for a source that had said
 * nothing because it was alone. `type` need not be terminated. */
const char *const *pci_source_orders(const char *type, size_t size);

/* What the formats represent, declared by each room. */
extern const struct pci_holds pci_rprof_holds, pci_rprofmem_holds, pci_folded_holds, pci_perf_holds,
    pci_speedscope_holds, pci_v1_holds, pci_pprof_holds, pci_perun_holds, pci_firefox_holds;

/* The rooms' functions, for formats/registry.c. */
int pci_rprof_sniff(const uint8_t *data, size_t size, int all);
pcol_status pci_rprof_read(struct pci_import *import, pcol_error *err);
pcol_status pci_rprof_write(const struct pci_export *export, pcol_error *err);
int pci_rprofmem_sniff(const uint8_t *data, size_t size, int all);
pcol_status pci_rprofmem_read(struct pci_import *import, pcol_error *err);
pcol_status pci_rprofmem_write(const struct pci_export *export, pcol_error *err);
int pci_folded_sniff(const uint8_t *data, size_t size, int all);
pcol_status pci_folded_read(struct pci_import *import, pcol_error *err);
pcol_status pci_folded_write(const struct pci_export *export, pcol_error *err);
int pci_perf_sniff(const uint8_t *data, size_t size, int all);
pcol_status pci_perf_read(struct pci_import *import, pcol_error *err);
pcol_status pci_perf_write(const struct pci_export *export, pcol_error *err);
pcol_status pci_speedscope_write(const struct pci_export *export, pcol_error *err);
int pci_v1_sniff(const uint8_t *data, size_t size, int all);
pcol_status pci_v1_read(struct pci_import *import, pcol_error *err);
pcol_status pci_v1_write(const struct pci_export *export, pcol_error *err);
pcol_status pci_pprof_write(const struct pci_export *export, pcol_error *err);
int pci_pprof_sniff(const uint8_t *data, size_t size, int all);
pcol_status pci_pprof_read(struct pci_import *import, pcol_error *err);
int pci_perun_sniff(const uint8_t *data, size_t size, int all);
pcol_status pci_perun_read(struct pci_import *import, pcol_error *err);
pcol_status pci_perun_write(const struct pci_export *export, pcol_error *err);
int pci_firefox_sniff(const uint8_t *data, size_t size, int all);
pcol_status pci_firefox_read(struct pci_import *import, pcol_error *err);
pcol_status pci_firefox_write(const struct pci_export *export, pcol_error *err);
int pci_jslb_sniff(const uint8_t *data, size_t size, int all);
pcol_status pci_jslb_read(struct pci_import *import, pcol_error *err);
pcol_status pci_jslb_write(const struct pci_export *export, pcol_error *err);
int pci_pcol_sniff(const uint8_t *data, size_t size, int all);
pcol_status pci_pcol_read(struct pci_import *import, pcol_error *err);

int pci_gperftools_sniff(const uint8_t *data, size_t size, int all);
/* The input as profile.proto, uncompressed; freed with pci_free(). */
pcol_status pci_gperftools_translate(struct pci_import *import, uint8_t **data, size_t *size,
                                     pcol_error *err);
/* The same, read as pprof. */
pcol_status pci_gperftools_read(struct pci_import *import, pcol_error *err);

#endif

/*
 * format.h - interface of a profile format, and the services that importers and exporters call
 *
 * A format is a directory lib/formats/NAME with the constants `pci_NAME_format` and
 * `pci_NAME_schema` in its format.c and one line in lib/registry/registry.c.
 * docs/adding-a-format.md describes the steps.
 */
#ifndef PCI_FORMATS_FORMAT_H
#define PCI_FORMATS_FORMAT_H

#include "formats/losses.h"
#include "reader/file.h"
#include "stream/input.h"

/* The arguments of an importer. */
struct pci_import {
    pcol_builder *builder;
    struct pci_input *input;
    const pcol_import_options *options;             /* never NULL */
    const char *type;                               /* source_type */
    const struct pci_format_schema *const *schemas; /* of all formats, for files to open */
    uint32_t source;                                /* filled by pci_import_source() */
};

/* Add the source with the options' uri, timestamp and meta. `source` may have values from the
 * profile; type, uri and timestamp are filled in where NULL. */
pcol_status pci_import_source(struct pci_import *import, pcol_source *source, pcol_error *err);
/* A row of threads of the source; strings or PCOL_NONE. Equal ones with one variant are one row. */
struct pci_import_thread {
    uint32_t name, tid, pid, process_name;
    uint32_t variant;
};
pcol_status pci_import_thread(const struct pci_import *import,
                              const struct pci_import_thread *thread, uint32_t *row,
                              pcol_error *err);
/* Give a notice PCOL_NOTICE_INPUT: one sentence, printf style. */
void pci_import_message(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Faults of one kind that a lenient import tolerates. */
struct pci_tolerated {
    uint64_t count, first; /* first: line */
};
/* A fault at a byte of a line. Lenient: it is counted; else E_SYNTAX, which names the option. */
pcol_status pci_import_tolerate(const struct pci_import *import, struct pci_tolerated *tolerated,
                                uint64_t line, uint64_t column, const char *what, pcol_error *err);
/* Give a notice of tolerated faults, if any: "WHAT: 3, the first is line 17". */
void pci_import_report_tolerated(const struct pci_tolerated *tolerated, const char *what);

/* The arguments of an exporter. */
struct pci_export {
    const pcol_file *file;
    const pcol_export_options *options; /* never NULL */
    uint32_t first_source, last_source; /* rows of sources, inclusive; first > last: none */
    pcol_sink sink;
    const struct pci_capabilities *capabilities; /* of the format */
};

/* E_LIMIT if so many threads, or sources, are implausible for the file: more than 2^20, and one for
 * each 4 bytes of it or of the imported input. For formats in which each takes hundreds of bytes
 * and microseconds; a file may have any number in few bytes. */
pcol_status pci_export_check_threads(const struct pci_export *export, uint64_t count,
                                     pcol_error *err);
/* *only: the exported sources are one, of this type. */
pcol_status pci_export_is_only(const struct pci_export *export, const char *type, int *only,
                               pcol_error *err);

/* Report content that the target format cannot represent, one sentence, printf style. */
#define pci_export_loss(export, ...) pci_export_loss_option(export, "", __VA_ARGS__)
/* option: pcol_notice.option. */
void pci_export_loss_option(const struct pci_export *export, const char *option, const char *format,
                            ...) __attribute__((format(printf, 3, 4)));
/* Content that is lost, without the loss prefix of the format, and pcol_notice.option or "". */
struct pci_loss {
    const char *text, *option;
};
/* Report losses[i] for each bit i of `lost`. */
void pci_export_report(const struct pci_export *export, const struct pci_loss *losses, size_t count,
                       unsigned lost);
/* Give a notice PCOL_NOTICE_TARGET: nothing is lost. */
void pci_export_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));

#define PCI_SNIFFED_BYTES ((size_t)1 << 18)
#define PCI_UNSUPPORTED_BYTES 65536u /* of them, where marks of other tools' files are searched */

struct pci_format {
    pcol_format info;
    /* Recognition by content: 0 no, 1 maybe (needs a matching name suffix), 2 yes. `data` is the
     * first PCI_SNIFFED_BYTES of the input, or the whole input if `all`. NULL: never recognised. */
    int (*sniff)(const uint8_t *data, size_t size, int all);
    pcol_status (*read)(struct pci_import *import, pcol_error *err); /* NULL: not readable */
    /* Alternative to `read`: convert the whole input to the bytes of the format named `read_as`,
     * which then imports them. The caller frees *data with pci_free(). */
    pcol_status (*convert)(struct pci_import *import, uint8_t **data, size_t *size,
                           pcol_error *err);
    const char *read_as;
    pcol_status (*write)(const struct pci_export *export, pcol_error *err); /* NULL: not writable */
    int writes_samples; /* one by one, not sums: a few bytes of a file may be millions of them */
    const struct pci_capabilities *capabilities; /* NULL: not writable */
    /* *restored: whether `write` restores the exported source, which is one of this format, and not
     * what all formats have in common. NULL: always. */
    pcol_status (*restores)(const struct pci_export *export, int *restored, pcol_error *err);
};

#endif

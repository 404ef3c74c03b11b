/*
 * convert_events.h - what a Firefox source has beyond what all formats have, on its way to another
 * version
 */
#ifndef PCI_FIREFOX_CONVERT_EVENTS_H
#define PCI_FIREFOX_CONVERT_EVENTS_H

#include "builder/string_pool.h"
#include "formats/firefox/write_native.h"
#include "util/pair_set.h"

struct pci_ff_rows {
    uint64_t *first, *rows; /* rows of a table by thread: those of t from first[t] on */
};

struct pci_ff_convert {
    const struct pci_export *export;
    const pcol_file *file;
    struct pci_ff_code_tables *code;
    struct pci_ff_emitter *out; /* set by the caller before anything is written */
    struct pci_ff_rows markers, allocations;
    struct pci_label_reader marker_labels, thread_labels;
    uint64_t counter_end,
        sample_end; /* counters, and samples of counters, up to the last written */
    int dropped;    /* a number of the source's that is not known any more */
    int phases;     /* a marker's phase that the front end does not know */

    /* The source at hand. */
    uint32_t source;
    int firefox, whole;             /* whole: its own tables are known */
    uint64_t root;                  /* node: its document, or PCI_NO_NODE */
    struct pci_export one;          /* the export, of this source only */
    struct pci_ff_native *back;     /* NULL: not of this format */
    struct pci_string_pool schemas; /* names of those that were written, of all sources */
    /* Fields of markers that are numbers of strings: type and key, by their numbers in `names`. */
    struct pci_string_pool names;
    struct pci_pair_set unique;
};

pcol_status pci_ff_convert_open(struct pci_ff_convert *carry, const struct pci_export *export,
                                struct pci_ff_code_tables *code, pcol_error *err);
void pci_ff_convert_close(struct pci_ff_convert *carry);
/* Go to a source, if it is not at hand. */
pcol_status pci_ff_convert_source(struct pci_ff_convert *carry, uint32_t source, pcol_error *err);
pcol_status pci_ff_is_firefox(const pcol_file *file, uint32_t source, int *firefox,
                              pcol_error *err);
/* Mark the stacks that a thread's markers and allocations name. */
pcol_status pci_ff_convert_used(struct pci_ff_convert *carry, uint32_t source, uint32_t thread,
                                uint8_t *used, pcol_error *err);
/* Members of a thread of the source at hand: its table of markers (empty for other formats),
 * allocations if it has any. */
pcol_status pci_ff_convert_markers(struct pci_ff_convert *carry, uint32_t thread, pcol_error *err);
pcol_status pci_ff_convert_allocations(struct pci_ff_convert *carry, uint32_t thread,
                                       pcol_error *err);

/* convert_members.c: members around the tables */
/* All members of a thread that are no tables, but those of `but` (ends with NULL). *seen: bit i if
 * it has member wanted[i] (ends with NULL). */
pcol_status pci_ff_convert_members(struct pci_ff_convert *carry, uint32_t thread,
                                   const char *const *but, const char *const *wanted,
                                   unsigned *seen, pcol_error *err);
/* The same of `meta` of the source at hand, or, if meta is 0, of its document. */
pcol_status pci_ff_convert_around(struct pci_ff_convert *carry, int meta, const char *const *but,
                                  const char *const *wanted, unsigned *seen, pcol_error *err);
/* The marker schemas of the source at hand as elements of an array that is open, each name once. */
pcol_status pci_ff_convert_schemas(struct pci_ff_convert *carry, pcol_error *err);
/* merge_documents.c: what stands around the tables of all sources, as members of the document;
 * *lost
 * becomes 1 if not all of it can be there. */
pcol_status pci_ff_convert_several(struct pci_ff_convert *carry, int *lost, pcol_error *err);
/* Whether the source at hand has columns that were kept as they are, and are not written. */
int pci_ff_convert_has_columns(const struct pci_ff_convert *carry);
/* The counters of the source at hand as elements of an array that is open. thread_of: by thread of
 * ours, its number in the target + 1, 0: none. prefix: of pids, NULL or "N-". */
pcol_status pci_ff_convert_counters(struct pci_ff_convert *carry, const uint32_t *thread_of,
                                    const char *prefix, pcol_error *err);

#endif

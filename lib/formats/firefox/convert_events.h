/*
 * convert_events.h - converts the Firefox-specific data of a source to the target version: markers,
 * allocations, counters, and members around the tables
 */
#ifndef PCI_FIREFOX_CONVERT_EVENTS_H
#define PCI_FIREFOX_CONVERT_EVENTS_H

#include "builder/string_pool.h"
#include "formats/firefox/write_native.h"
#include "util/pair_set.h"

struct pci_ff_rows {
    uint64_t *first, *rows; /* compressed rows: those of thread t begin at rows[first[t]] */
};

struct pci_ff_convert {
    const struct pci_export *export;
    const pcol_file *file;
    struct pci_ff_code_tables *code;
    struct pci_ff_emitter *out; /* set by the caller before anything is written */
    struct pci_ff_rows markers, allocations;
    struct pci_label_reader marker_labels, thread_labels;
    uint64_t counter_end;                  /* after the last written counter */
    struct pci_ff_sample_run counter_rows; /* its rows of counter_samples */
    int dropped; /* some index of the source became invalid and was dropped */
    int phases;  /* some marker has a phase that the front end does not know */

    /* The current source. */
    uint32_t source;
    int firefox, whole;             /* whole: its tables can be restored */
    uint64_t root;                  /* node of its document, or PCI_NO_NODE */
    struct pci_export one;          /* the export restricted to this source */
    struct pci_ff_native *native;   /* NULL: not of this format */
    struct pci_string_pool schemas; /* names of the schemas already written, of all sources */
    /* Marker fields that hold string indexes: pairs of type and key, both numbers of strings in
     * `names`. */
    struct pci_string_pool names;
    struct pci_pair_set unique;
};

pcol_status pci_ff_convert_open(struct pci_ff_convert *convert, const struct pci_export *export,
                                struct pci_ff_code_tables *code, pcol_error *err);
void pci_ff_convert_close(struct pci_ff_convert *convert);
/* Make `source` the current source. */
pcol_status pci_ff_convert_source(struct pci_ff_convert *convert, uint32_t source, pcol_error *err);
pcol_status pci_ff_is_firefox(const pcol_file *file, uint32_t source, int *firefox,
                              pcol_error *err);
/* Mark the stacks that a thread's markers and allocations refer to. */
pcol_status pci_ff_convert_mark_stacks(struct pci_ff_convert *convert, uint32_t source,
                                       uint32_t thread, uint8_t *used, pcol_error *err);
/* Write members of a thread of the current source: its table of markers (empty for other formats),
 * and its allocations if it has any. */
pcol_status pci_ff_convert_markers(struct pci_ff_convert *convert, uint32_t thread,
                                   pcol_error *err);
pcol_status pci_ff_convert_allocations(struct pci_ff_convert *convert, uint32_t thread,
                                       pcol_error *err);

/* A column of the target and the column of pcol that it is converted from. */
enum pci_ff_target_conversion {
    PCI_FF_TO_SAME,
    PCI_FF_TO_STRING,
    PCI_FF_TO_STACK,
    PCI_FF_TO_CATEGORY,
    PCI_FF_TO_TIME,
    PCI_FF_TO_TEXT,
    PCI_FF_TO_NUMBER,
    PCI_FF_TO_FLAG,
    PCI_FF_TO_PHASE
};
struct pci_ff_target_column {
    const char *name, *pcol_name, *ulps;
    enum pci_ff_target_conversion conversion;
    int default_value; /* replacement for null: a number, or -1 to keep null */
};
/* Begin a table of `count` rows. */
void pci_ff_convert_begin_table(struct pci_ff_convert *convert, const char *name, uint64_t count,
                                pcol_error *err);
/* Write a column of a table; from: the table of pcol. rows: NULL for `count` rows from `first`. */
pcol_status pci_ff_convert_column(struct pci_ff_convert *convert, const char *from,
                                  const char *table, const struct pci_ff_target_column *column,
                                  const uint64_t *rows, uint64_t first, uint64_t count,
                                  pcol_error *err);

/* convert_members.c: members around the tables */
/* Write all scalar members of a thread except those in `but` (ends with NULL). *seen: bit i is set
 * if the thread has member wanted[i] (ends with NULL). */
pcol_status pci_ff_convert_members(struct pci_ff_convert *convert, uint32_t thread,
                                   const char *const *but, const char *const *wanted,
                                   unsigned *seen, pcol_error *err);
/* The same for members of `meta` of the current source, or of its document if meta is 0. */
pcol_status pci_ff_convert_document_members(struct pci_ff_convert *convert, int meta,
                                            const char *const *but, const char *const *wanted,
                                            unsigned *seen, pcol_error *err);
/* Write the marker schemas of the current source as elements of an open array, each name once. */
pcol_status pci_ff_convert_schemas(struct pci_ff_convert *convert, pcol_error *err);
/* merge_documents.c: writes the members around the tables of all sources as members of the
 * document. *lost is set to 1 if some cannot be represented. */
pcol_status pci_ff_convert_merged_members(struct pci_ff_convert *convert, int *lost,
                                          pcol_error *err);
/* Whether the current source has preserved columns that this writer drops. */
int pci_ff_convert_has_columns(const struct pci_ff_convert *convert);
/* Write the counters of the current source as elements of an open array. thread_of: by thread, its
 * number in the target + 1, 0: none. prefix: of pids, NULL or "N-". */
pcol_status pci_ff_convert_counters(struct pci_ff_convert *convert, const uint32_t *thread_of,
                                    const char *prefix, pcol_error *err);

#endif

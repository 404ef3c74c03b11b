/*
 * write_common.h - common parts of the exporters of R's profiles: buffered output, batches of
 * samples, lines of location groups
 *
 * Absent columns read as null. Row numbers from the file are checked by the column that they index.
 */
#ifndef PCI_RPROF_WRITE_COMMON_H
#define PCI_RPROF_WRITE_COMMON_H

#include "formats/format.h"
#include "model/types.h"
#include "reader/file.h"
#include "stream/out_buffer.h"
#include "util/hash.h"

#define PCI_RPROF_BATCH 1024u

pcol_status pci_rprof_put_string(struct pci_out *out, const pcol_file *file, int64_t code,
                                 pcol_error *err);
/* With `crlf` each LF becomes CR LF, as in a stream in text mode on Windows. */
pcol_status pci_rprof_put_feeds(struct pci_out *out, const uint8_t *text, size_t size, int crlf,
                                pcol_error *err);

/* ---- samples */

enum { PCI_RPROF_VALUES = 5 };

struct pci_rprof_cells {
    const struct pci_column *column;
    int64_t value[PCI_RPROF_BATCH];
    uint8_t valid[PCI_RPROF_BATCH];
};

/* A #File line that was written. */
struct pci_rprof_written_file {
    int64_t number, path; /* path: string */
    uint32_t source;
};

struct pci_rprof_samples {
    const pcol_file *file;
    uint64_t total;
    uint64_t first; /* row of the batch's first sample */
    size_t rows;
    struct pci_types types;
    struct pci_samples_by_source turns;
    struct pci_rprof_cells source, stack, text, value[PCI_RPROF_VALUES];
    /* R goes by the header of the first segment. */
    int has_header, first_has_lines, first_has_memory;
    int64_t first_interval_us;
    uint32_t first_source;
    /* R has one list of files for all segments. */
    struct pci_hash files_by_number;
    struct pci_rprof_written_file *files;
    size_t file_capacity;
    int64_t highest_file; /* number; 0: none yet */
    /* A segment of another source has lines or memory, the first one none, or another interval; or
     * a number of a file has another path. */
    int is_misread;
    int has_blanks; /* a name that pcol writes has one: R splits it */
    /* What the generic writer finds once for all sources. */
    int is_prepared, has_lines;             /* has_lines: some location has a line and a file */
    const struct pci_column *double_values; /* values of samples/count that are no integers */
    int is_selected;                        /* `wanted` is set */
    struct pci_selected_type wanted;        /* that of the options, else samples/count */
};

struct pci_rprof_type {
    const char *type, *unit;
};

/* Find the columns; value[i] is that of types[i], which ends with a NULL type. Call
 * pci_rprof_samples_close() also after a failure. */
pcol_status pci_rprof_samples_open(struct pci_rprof_samples *samples, const pcol_file *file,
                                   const struct pci_rprof_type *types, pcol_error *err);
void pci_rprof_samples_close(struct pci_rprof_samples *samples);
/* Load the batch that contains `row` < total. */
pcol_status pci_rprof_samples_load(struct pci_rprof_samples *samples, uint64_t row,
                                   pcol_error *err);
/* A #File line is written. */
pcol_status pci_rprof_note_file(struct pci_rprof_samples *samples, uint32_t source, int64_t number,
                                int64_t path, pcol_error *err);
/* Find and load the first sample of the source from *row on; *row >= total: none. */
pcol_status pci_rprof_samples_next(struct pci_rprof_samples *samples, uint32_t source,
                                   uint64_t *row, pcol_error *err);

/* ---- location groups */

struct pci_rprof_locations {
    const pcol_file *file;
    uint64_t group_count, location_count, function_count;
    const struct pci_column *first, *file_number, *address, *mapping;
    const struct pci_column *function, *line, *text_column, *filename;
    const struct pci_column *name, *function_file, *start_line;
};

/* One line of a group. */
struct pci_rprof_frame {
    pcol_str name, filename;
    int64_t line;
    int has_name, has_file, has_line;
    int64_t path;        /* string number of filename */
    int has_text_column; /* there is a column number */
    int has_start_line;
};

pcol_status pci_rprof_locations_open(struct pci_rprof_locations *locations, const pcol_file *file,
                                     pcol_error *err);
/* The rows of `locations` that are lines of a group. */
pcol_status pci_rprof_lines_of(const struct pci_rprof_locations *locations, uint64_t group,
                               uint64_t *first, uint64_t *end, pcol_error *err);
pcol_status pci_rprof_frame_at(const struct pci_rprof_locations *locations, uint64_t location,
                               struct pci_rprof_frame *frame, pcol_error *err);

#endif

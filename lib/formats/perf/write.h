/*
 * write.h - parts of the exporter of perf script text
 *
 * A line is built in `line` and parsed again before it is written: text has no escapes, and a name
 * that is not read back is reported as a loss.
 */
#ifndef PCI_PERF_WRITE_H
#define PCI_PERF_WRITE_H

#include "formats/format.h"
#include "formats/perf/parse.h"
#include "model/frame_names.h"
#include "model/row_details.h"
#include "model/stack_path.h"
#include "model/types.h"
#include "stream/out_buffer.h"
#include "util/strbuf.h"

enum {
    LOSS_NAME = 1,
    LOSS_TYPES = 2,
    LOSS_LABELS = 4,
    LOSS_UNIT = 8,
    LOSS_DOUBLE = 16,
    LOSS_NEGATIVE = 32,
    LOSS_TIME = 64,
    LOSS_EMPTY = 128,
    LOSS_FILE = 256,
    LOSS_LINE = 512,
    LOSS_PARSED = 1024,
    LOSS_COUNT = 2048,
    LOSS_BARE = 4096,
    LOSS_FRAME_LABELS = 8192,
    LOSS_ADDRESSES = 16384,
    LOSS_NO_ADDRESS = 32768
};

struct pci_perf_writer {
    const struct pci_export *export;
    const pcol_file *file;
    struct pci_out *out;
    struct pci_strbuf line;        /* the current line */
    struct pci_perf_header header; /* fields that the reader must find in it */
    struct pci_perf_frame frame;
    uint8_t *checked; /* by location: the way of writing that was verified */
    struct pci_perf_lines {
        size_t at, size;
        unsigned mode;       /* the way of writing; 0: not written yet */
    } * written;             /* by group: its lines as outer frames, in `texts` */
    struct pci_strbuf texts; /* of written groups */
    int keeps_text;          /* lines are added to `texts` */
    int addressed; /* a frame with an address was written; the reader has the same state */
    struct pci_types types;
    struct pci_samples_by_source turns;
    struct pci_selected_type chosen;
    struct pci_frame_namer names;
    struct pci_stack_path path;
    struct pci_label_reader labels, group_labels;
    const struct pci_column *stack, *thread, *time, *address, *mapping, *limit;
    const struct pci_column *thread_name, *thread_tid, *thread_pid;
    uint32_t *list, list_count; /* types of the source */
    uint32_t source;
    int is_perf;                  /* the source is perf script text */
    struct pci_integer_form form; /* of its values, if it is not */
    pcol_str unit;                /* of the scaled values */
    int has_call_chains;          /* of its text, although no sample shows it */
    int chains;                   /* call chains: each sample is a block of lines */
    int nanoseconds;              /* some time is not a multiple of 1000 */
    size_t event_width;
    uint64_t bytes; /* written so far */
    int has_tabs;   /* so far the reader will find a line that begins with a tab */
    int has_event;  /* an event was written: the reader takes the first for the default type */
    unsigned lost;
};

/* write_line.c: append to the current line. */
pcol_status pci_perf_put(struct pci_perf_writer *w, const void *data, size_t size, pcol_error *err);
/* Line feeds become blanks, which is a loss. */
pcol_status pci_perf_put_text(struct pci_perf_writer *w, pcol_str text, pcol_error *err);
/* Fields after a frame: aligned, so that a number is none of a name. */
pcol_status pci_perf_put_fields(struct pci_perf_writer *w, pcol_str fields, pcol_error *err);
/* At most 95 bytes. */
pcol_status pci_perf_putf(struct pci_perf_writer *w, pcol_error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Write the current line, which becomes empty. */
pcol_status pci_perf_end_line(struct pci_perf_writer *w, pcol_error *err);
/* Labels of the current sample and the current location group; NULL: none. */
const struct pci_label_cell *pci_perf_sample_label(const struct pci_perf_writer *w, const char *key,
                                                   uint8_t kind);
/* Fields after the frame, or in a line after the frames. */
const struct pci_label_cell *pci_perf_after_frame(const struct pci_perf_writer *w);
const struct pci_label_cell *pci_perf_group_label(const struct pci_perf_writer *w, const char *key,
                                                  uint8_t kind);

/* write_header.c */
/* Event and period of a sample. */
struct pci_perf_event {
    uint32_t type; /* PCOL_NONE: the sample has no value */
    int64_t period;
    int has_period, has_name;
};

/* Requires the labels of the sample. */
pcol_status pci_perf_find_event(struct pci_perf_writer *w, uint64_t row,
                                struct pci_perf_event *event, pcol_error *err);
pcol_status pci_perf_put_header(struct pci_perf_writer *w, uint64_t row,
                                const struct pci_perf_event *event, pcol_error *err);
/* 1 if the current line is a header, even if no frames follow it. */
int pci_perf_is_header(const struct pci_perf_writer *w);
/* End a header line; is_alone: no frames follow it. */
pcol_status pci_perf_end_header(struct pci_perf_writer *w, int is_alone, pcol_error *err);
/* 1 if the current line is parsed as the header that was written, except for its tail. */
int pci_perf_verify_header(const struct pci_perf_writer *w, struct pci_perf_header *h);
int pci_perf_same_field(int has, pcol_str text, int has_other, pcol_str other);

/* write_frames.c */
/* What the addresses of a group are, if it has any: perf prints offsets in call chains, and
 * addresses in the line of a header. UNKNOWN: of the kernel, or of a mapping with a range. */
enum pci_perf_addresses { PCI_PERF_UNKNOWN, PCI_PERF_OFFSETS, PCI_PERF_VIRTUAL };
pcol_status pci_perf_find_addresses(struct pci_perf_writer *w, uint32_t group,
                                    enum pci_perf_addresses *addresses, pcol_error *err);
/* 1 if a colon precedes a blank or the end: text before it may be parsed as a header. */
int pci_perf_has_colon(pcol_str text);
/* Write the lines of a group; innermost: no frame precedes it. */
pcol_status pci_perf_put_group(struct pci_perf_writer *w, const struct pci_stack_step *step,
                               int innermost, pcol_error *err);

#endif

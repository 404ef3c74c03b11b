/*
 * answers.h - the rows of the answers of a query, before they are the table of a result (result.h)
 */
#ifndef PCI_QUERY_ANSWERS_H
#define PCI_QUERY_ANSWERS_H

#include "util/error.h"

#define PCI_FRAME_HAS_ADDRESS 0x1u
#define PCI_FRAME_HAS_ROW 0x2u
#define PCI_FRAME_HAS_LINE 0x4u
#define PCI_FRAME_HAS_FILE 0x8u
#define PCI_FRAME_HAS_NAME 0x10u

/* The content of a row; the texts are borrowed. The flags are the first member (result.c). */
struct pci_frame {
    uint32_t flags; /* PCI_FRAME_HAS_* */
    uint32_t row;   /* of threads or sources, with PCI_FRAME_HAS_ROW */
    pcol_str name;  /* of a file: the file; of a source line: FILE#LINE */
    pcol_str file;
    int64_t line;
    uint64_t address;
};

/* ---- top.c */

struct pci_top_row {
    struct pci_frame frame;
    pcol_amount self, total;
};

struct pci_top;
/* options: checked by the caller. */
pcol_status pci_query_top(pcol_query *query, const pcol_top_options *options, struct pci_top **top,
                          pcol_error *err);
void pci_top_free(struct pci_top *top);
size_t pci_top_count(const struct pci_top *top);
/* Row @index < pci_top_count(). */
void pci_top_get(const struct pci_top *top, size_t index, struct pci_top_row *row);

/* ---- calltree.c */

struct pci_calltree_node {
    uint32_t frame;  /* index of its frame; PCOL_NONE for the root */
    uint32_t parent; /* its node; the root's own is 0 */
    uint32_t end;    /* nodes [this + 1, end) are its descendants */
    uint32_t depth;  /* 0: the root */
    pcol_amount self, total;
    uint8_t is_truncated; /* max_depth omitted descendants with weight: total - self */
};

struct pci_calltree;
pcol_status pci_query_calltree(pcol_query *query, const pcol_tree_options *options,
                               struct pci_calltree **tree, pcol_error *err);
void pci_calltree_free(struct pci_calltree *tree);

/* ---- peek.c */

enum pci_relation { PCI_CALLER, PCI_SELF, PCI_CALLEE };

struct pci_peek_row {
    enum pci_relation relation;
    uint32_t frame; /* index of its frame */
    pcol_amount total, self;
};

struct pci_peek;
pcol_status pci_query_peek(pcol_query *query, const char *name, int is_whole,
                           struct pci_peek **peek, pcol_error *err);
void pci_peek_free(struct pci_peek *peek);

/* ---- diff.c */

/* 0 for base, 1 for new. */
struct pci_sides {
    pcol_amount self[2], total[2];
    uint8_t in[2]; /* it has a value there */
};

struct pci_diff_row {
    struct pci_frame frame;              /* by stack: the path as name */
    struct pci_sides sides;              /* of several bases: their median */
    pcol_amount self_delta, total_delta; /* new - base */
    pcol_spread self_bases, total_bases; /* of several bases, as scaled */
    double samples;                      /* most samples with it in a profile, not scaled */
    uint8_t above;                       /* it fails */
};

struct pci_diff_info {
    pcol_str type, unit;
    int is_double; /* a profile has doubles, or they were scaled, or there are several bases */
    pcol_amount total[2]; /* what percentages are of; the new one as scaled */
    double scale;         /* of the new one */
    size_t base_count;
    pcol_spread base_totals; /* not scaled; so is the next */
    double other_total;
    int total_above; /* the total fails */
};

struct pci_diff_queries {
    pcol_query *const *bases;
    size_t base_count; /* 1 or more */
    pcol_query *other;
    pcol_query *const *counts; /* of each base, then of the other; NULL: values count samples */
};

struct pci_diff;
pcol_status pci_query_diff(const struct pci_diff_queries *queries, const pcol_diff_options *options,
                           struct pci_diff **diff, pcol_error *err);
void pci_diff_free(struct pci_diff *diff);

/* ---- flame.c */

struct pci_flame_box {
    pcol_str name;  /* of the root: NULL */
    uint32_t frame; /* index of its frame; PCOL_NONE: the root, or with a base */
    uint32_t depth; /* 0: the root */
    double x_px, width_px;
    pcol_amount self, total;
    double change;
    uint8_t is_new, is_gone;
};

struct pci_flame;
pcol_status pci_query_flame(pcol_query *query, const pcol_flame_options *options,
                            struct pci_flame **flame, pcol_error *err);
void pci_flame_free(struct pci_flame *flame);
/* Box @index < flame->drawn. */
void pci_flame_get(const struct pci_flame *flame, uint32_t index, struct pci_flame_box *box);
pcol_status pci_flame_svg(const struct pci_flame *flame, const char *title, pcol_sink sink,
                          pcol_error *err);

/* ---- cpu.c */

struct pci_cpu_row {
    uint32_t thread;          /* row of threads; PCOL_NONE: samples without a thread */
    pcol_str name, tid, pid;  /* data NULL: unknown */
    uint64_t samples;         /* in the range of time */
    uint64_t samples_without; /* of these, those without a delta */
    double cpu_ns;
};

struct pci_cpu {
    size_t count;
    struct pci_cpu_row *rows;
};
pcol_status pci_query_cpu(pcol_query *query, struct pci_cpu **cpu, pcol_error *err);
void pci_cpu_free(struct pci_cpu *cpu);

#endif

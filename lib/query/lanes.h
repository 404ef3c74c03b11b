/*
 * lanes.h - selected samples in order of their position, by thread, source or label
 */
#ifndef PCI_QUERY_LANES_H
#define PCI_QUERY_LANES_H

#include "query/view.h"

struct pci_lane_sample {
    int64_t position; /* ns, or the sample's id */
    pcol_amount amount;
    uint32_t stack;
    uint32_t number; /* of `extras`; in order of rows */
};

/* Values of a sample that only some profiles have. */
struct pci_lane_extra {
    int64_t duration;
    int64_t cpu_from; /* its CPU delta was used from here to its position; at it: there is no such
                       * interval, and the delta counts where the sample is */
    int64_t cpu_delta;
};

struct pci_lane {
    size_t first, count; /* samples */
    uint64_t id;         /* row of threads or sources, or code of `names` */
    int has_id;          /* 0: samples without a thread, source or label */
    pcol_str name;
    int has_name;
    int64_t from, to; /* half-open range with durations */
    pcol_amount total;
    double cpu_ns;
    uint64_t longest, longest_cpu; /* duration, interval of a CPU delta */
};

struct pcol_lanes {
    pcol_file *file; /* retained */
    pcol_by by;
    pcol_axis axis;
    pcol_time_share share;
    pcol_str type, unit;
    int is_double, has_cpu, has_duration;
    struct pci_lane *lanes;
    size_t lane_count;
    struct pci_lane_sample *samples;
    struct pci_lane_extra *extras; /* NULL: neither durations nor CPU deltas */
    size_t sample_count, without;  /* without: samples left out, since they have no time */
    struct pci_string_pool names;  /* values of the label */
    pcol_box *boxes;               /* of pcol_lanes_stacks() */
    size_t box_count;
};

/* ---- lane_bins.c */

/* The bins of a range and the samples of a lane that reach into them. */
struct pci_lane_sweep {
    const pcol_lanes *lanes;
    const struct pci_lane *lane;
    uint32_t count;
    int64_t *edges; /* count + 1 */
    /* Called for each bin and sample of it, bin by bin, with the share of the sample. */
    pcol_status (*visit)(void *context, uint32_t bin, const struct pci_lane_sample *sample,
                         pcol_amount amount, pcol_error *err);
    void *context;
};

/* Checks a range and computes the edges of its bins, which the caller frees. */
pcol_status pci_lane_sweep_open(const pcol_lanes *lanes, const pcol_lane_range *range,
                                struct pci_lane_sweep *sweep, pcol_error *err);
pcol_status pci_lane_sweep_run(const struct pci_lane_sweep *sweep, pcol_error *err);

#endif

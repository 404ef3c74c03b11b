/*
 * filter.c - a part of a file into a builder: what a query takes, copied
 *
 * The query says which samples and frames stay; the copying is that of merging. It stands here
 * because it ties two rooms together.
 */
#include "core/alloc.h"
#include "io/merge.h"
#include "query/query.h"

#include <string.h>

struct filtering {
    pcol_query *query;
    struct pci_keep keep;
    uint8_t *samples, *types;
    uint64_t first_source, last_source;
};

/* The range of sources that holds all selected. Between them others may lie: they stay, without
 * samples. */
static pcol_status find_sources(struct filtering *f, pcol_error *err)
{
    const struct pci_picks *picks = &f->query->picks;
    uint64_t first = 0, last = picks->source_count;
    f->first_source = 0;
    f->last_source = PCOL_NOWHERE;
    if (!picks->sources)
        return PCOL_OK;
    while (first < last && !picks->sources[first])
        first++;
    while (last > first && !picks->sources[last - 1])
        last--;
    if (first == last)
        return pci_fail(err, PCOL_E_ARGUMENT, "no source is selected");
    f->first_source = first;
    f->last_source = last - 1;
    return PCOL_OK;
}

static pcol_status find_samples(struct filtering *f, pcol_error *err)
{
    uint64_t rows = pci_rows(f->query->file, "samples");
    PCI_TRY(pci_plausible(f->query->file, "samples", err));
    f->samples = pci_malloc((size_t)rows + 1, 1);
    if (!f->samples)
        return pci_fail_memory(err);
    f->keep.samples = f->samples;
    return pcol_query_samples(f->query, 0, (size_t)rows, f->samples, err);
}

/* If a sample type is asked for, only its values stay. */
static pcol_status find_types(struct filtering *f, pcol_error *err)
{
    const struct pci_measure *measure = &f->query->measure;
    if (measure->is_memory)
        return pci_fail(
            err, PCOL_E_ARGUMENT,
            "memory is derived from other sample types and cannot be kept without them");
    f->types = pci_calloc((size_t)f->query->types.count + 1, 1);
    if (!f->types)
        return pci_fail_memory(err);
    for (uint32_t i = 0; i < measure->column_count; i++)
        f->types[measure->columns[i]] = 1;
    f->keep.types = f->types;
    return PCOL_OK;
}

static pcol_status filter(struct filtering *f, pcol_builder *builder, const pcol_file *file,
                          const pcol_filter_options *options, pcol_error *err)
{
    pcol_selection selection = options->selection;
    selection.keep_dropped = 1; /* what a pprof drops, it drops when it is read */
    if (selection.has_time && selection.time_share == PCOL_SHARE_EXACT)
        return pci_fail(err, PCOL_E_ARGUMENT,
                        "integers cannot be shared exactly: a file keeps them");
    PCI_TRY(pcol_query_new(file, &selection, &f->query, err));
    PCI_TRY(find_sources(f, err));
    PCI_TRY(find_samples(f, err));
    if (selection.sample_type)
        PCI_TRY(find_types(f, err));
    if (selection.hide || selection.show)
        f->keep.locations = f->query->kept;
    f->keep.drop_labels = options->drop_labels;
    f->keep.idle = options->idle;
    f->keep.has_range = selection.has_time;
    f->keep.range =
        (struct pci_range){selection.time_from_ns, selection.time_to_ns, selection.time_share};
    return pci_merge_kept(builder, file, &f->keep, f->first_source, f->last_source, err);
}

pcol_status pcol_filter(pcol_builder *builder, const pcol_file *file,
                        const pcol_filter_options *options, pcol_error *err)
{
    static const pcol_filter_options defaults = {sizeof defaults, PCOL_INIT(pcol_selection), 0,
                                                  PCOL_IDLE_KEEP};
    struct filtering f = {0};
    pcol_status status;
    if (!options)
        options = &defaults;
    if (options->size < sizeof *options)
        return pci_fail(err, PCOL_E_ARGUMENT, "size of the options is not set");
    status = filter(&f, builder, file, options, err);
    pcol_query_free(f.query);
    pci_free(f.samples);
    pci_free(f.types);
    return status;
}

/*
 * filter.c - a part of a file into a builder: what a query takes, copied
 *
 * The query says which samples and frames stay; the copying is that of merging. It stands here
 * because it ties two rooms together.
 */
#include "builder/builder.h"
#include "merge/merge.h"
#include "merge/pseudonyms.h"
#include "query/query.h"
#include "util/alloc.h"
#include "util/arg_check.h"

#include <stdio.h>
#include <string.h>

/* A byte for each sample is held. A small file may have many samples that are all alike: so many of
 * them that this is no matter are believed. */
#define FREE_SAMPLES (UINT64_C(1) << 26)

struct filtering {
    pcol_query *query;
    struct pci_keep keep;
    struct pci_pseudonyms names;
    uint8_t *samples;
};

static pcol_status find_sources(struct filtering *f, pcol_error *err)
{
    const struct pci_sample_filter *picks = &f->query->picks;
    uint64_t row = 0;
    f->keep.sources = picks->sources;
    while (picks->sources && row < picks->source_count && !picks->sources[row])
        row++;
    return !picks->sources || row < picks->source_count
               ? PCOL_OK
               : pci_fail(err, PCOL_E_ARGUMENT, "no source is selected");
}

static pcol_status find_samples(struct filtering *f, const pcol_filter_options *options,
                                pcol_error *err)
{
    uint64_t rows = pci_rows(f->query->file, "samples");
    if (rows > FREE_SAMPLES)
        PCI_TRY(pci_plausible(f->query->file, "samples", err));
    f->samples = pci_malloc((size_t)rows + 1, 1);
    if (!f->samples)
        return pci_fail_memory(err);
    f->keep.samples = f->samples;
    PCI_TRY(pcol_query_samples(f->query, 0, (size_t)rows, f->samples, err));
    f->keep.all_samples = !f->query->picks.threads && !memchr(f->samples, 0, (size_t)rows);
    if (rows && !memchr(f->samples, 1, (size_t)rows) && !f->query->note && options->message &&
        !options->apply_drop_frames)
        options->message(options->context, "no sample is selected");
    return PCOL_OK;
}

/* If a sample type is asked for, only its values stay. */
static pcol_status find_types(struct filtering *f, pcol_error *err)
{
    const struct pci_query_type *measure = &f->query->measure;
    if (measure->is_memory)
        return pci_fail(
            err, PCOL_E_ARGUMENT,
            "memory is derived from other sample types and cannot be kept without them");
    f->keep.types = measure->alike;
    return PCOL_OK;
}

/* Frames go where stacks are rebuilt anyway. Else a pprof's drop_frames stay with it, and drop when
 * it is read; without names they cannot. */
static void find_frames(struct filtering *f, const pcol_filter_options *options)
{
    if (!options->selection.hide && !options->selection.show && !options->anonymize &&
        !options->apply_drop_frames)
        return;
    f->keep.locations = f->query->kept;
    f->keep.cut = f->query->cut;
}

/* Expressions that have dropped frames do not stay: they would drop others from what is left. */
static pcol_status report_drops(const struct filtering *f, const pcol_filter_options *options,
                                pcol_error *err)
{
    const pcol_message_fn report = options->loss ? options->loss : options->message;
    const struct pci_column *drops;
    const pcol_file *file = f->query->file;
    if (!f->keep.cut || options->apply_drop_frames || !report)
        return PCOL_OK;
    PCI_TRY(pci_want(file, "sources", "drop_frames", PCI_TYPES_TEXT, &drops, err));
    for (uint64_t row = 0; drops && row < pci_rows(file, "sources"); row++) {
        pcol_str text = {"", 0};
        int valid;
        if (!f->keep.sources || f->keep.sources[row])
            PCI_TRY(pci_get_str(file, drops, row, &text, &valid, err));
        if (!text.size)
            continue;
        report(options->context, "drop_frames and keep_frames are applied and left out, since "
                                 "hide and show change the stacks (--keep-dropped applies none)");
        break;
    }
    return PCOL_OK;
}

static pcol_status check(const pcol_filter_options *options, pcol_error *err)
{
    const pcol_selection *selection = &options->selection;
    if (options->size < sizeof *options)
        return pci_fail(err, PCOL_E_ARGUMENT, "size of the options is not set");
    for (size_t i = 0; i < options->drop_label_key_count; i++)
        if (!options->drop_label_keys || !options->drop_label_keys[i])
            return pci_fail(err, PCOL_E_ARGUMENT, "a key of a label is NULL");
    if ((unsigned)options->idle > PCOL_IDLE_EXPAND)
        return pci_fail(err, PCOL_E_ARGUMENT, "not a way to treat idle samples");
    if (selection->has_time && selection->time_share == PCOL_SHARE_EXACT)
        return pci_fail(err, PCOL_E_ARGUMENT,
                        "integers cannot be shared exactly: a file keeps them");
    return PCOL_OK;
}

/* Keys to be dropped that no sample has. Members of `extra` have keys, too, which are in no
 * list. */
static pcol_status tell_keys(const pcol_file *file, const pcol_filter_options *options,
                             pcol_error *err)
{
    const struct pci_table *samples = pci_table_find(file, "samples");
    char text[160];
    if (!options->message || !samples || pci_column_find(samples, "extra"))
        return PCOL_OK;
    for (size_t i = 0; i < options->drop_label_key_count; i++) {
        const char *key = options->drop_label_keys[i];
        int exists;
        PCI_TRY(pci_label_exists(file, key, &exists, err));
        snprintf(text, sizeof text, "no sample has a label '%.100s'", key);
        if (!exists)
            options->message(options->context, text);
    }
    return PCOL_OK;
}

static int is_given(const char *pattern)
{
    return pattern && *pattern;
}

static pcol_status filter(struct filtering *f, pcol_builder *builder, const pcol_file *file,
                          const pcol_filter_options *options, pcol_error *err)
{
    const pcol_selection *selection = &options->selection;
    PCI_TRY(check(options, err));
    PCI_TRY(pci_query_pick(file, selection, &f->query, err));
    if (f->query->note && options->message)
        options->message(options->context, f->query->note);
    PCI_TRY(find_sources(f, err));
    PCI_TRY(find_samples(f, options, err));
    if (selection->sample_type)
        PCI_TRY(find_types(f, err));
    find_frames(f, options);
    PCI_TRY(report_drops(f, options, err));
    if (options->drop_label_key_count)
        PCI_TRY(tell_keys(file, options, err));
    f->keep.drop_labels = options->drop_labels;
    f->keep.drop_keys = options->drop_label_keys;
    f->keep.drop_key_count = options->drop_label_key_count;
    f->keep.idle = options->idle;
    f->keep.idle_tolerance_ns = options->idle_tolerance_ns;
    /* Events have neither frames nor labels of samples to be selected by. */
    f->keep.events =
        !selection->label_count && !is_given(selection->focus) && !is_given(selection->ignore);
    f->keep.threads = f->query->picks.threads;
    f->keep.thread_count = f->query->picks.thread_count;
    f->keep.has_range = selection->has_time;
    f->keep.range =
        (struct pci_range){selection->time_from_ns, selection->time_to_ns, selection->time_share};
    f->keep.names = options->anonymize ? &f->names : NULL;
    f->keep.message = options->message;
    f->keep.context = options->context;
    PCI_TRY(pci_merge_kept(builder, file, &f->keep, err));
    if (options->anonymize && options->pseudonym)
        pci_pseudonyms_tell(&f->names, options->pseudonym, options->context);
    return PCOL_OK;
}

pcol_status pcol_filter(pcol_builder *builder, const pcol_file *file,
                        const pcol_filter_options *options, pcol_error *err)
{
    PCI_TRY(pci_builder_check_open(builder, err));
    PCI_REQUIRE(file, err);
    static const pcol_filter_options defaults = {.size = sizeof defaults,
                                                 .selection = PCOL_INIT(pcol_selection)};
    struct filtering f = {0};
    pcol_status status = filter(&f, builder, file, options ? options : &defaults, err);
    pcol_query_free(f.query);
    pci_pseudonyms_clear(&f.names);
    pci_free(f.samples);
    return status;
}

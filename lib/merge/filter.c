/*
 * filter.c - pcol_filter(): copies the part of a file that a query selects; pcol_add_frames()
 *
 * The query determines samples and frames; the merge copies them. Tests: tests/cli/filter.test,
 * suites answers and added_frames.
 */
#include "builder/builder.h"
#include "merge/added_frames.h"
#include "merge/pseudonyms.h"
#include "query/query.h"
#include "util/alloc.h"
#include "util/arg_check.h"
#include "util/control.h"
#include "util/sized_struct.h"

#include <string.h>

/* Limit of samples whose selection, a byte each, is allocated without a comparison with the file's
 * size: equal samples take nearly no space in a file. */
#define FREE_SAMPLES (UINT64_C(1) << 26)
#define MOST_PARTS 32u /* that are copied for the order of sources; each takes a query */

struct filter_state {
    pcol_query *query;
    struct pci_merge_selection selection;
    struct pci_pseudonyms names;
    uint8_t *samples;
    uint32_t *parts;  /* by source: the number of the part that it is copied with, or PCOL_NONE */
    uint8_t *members; /* by source: 1 if it is of the part that is copied */
    int has_sample;   /* a sample was selected */
    int reported_drops;
};

static pcol_status select_sources(struct filter_state *f, pcol_error *err)
{
    const struct pci_sample_filter *sample_filter = &f->query->sample_filter;
    uint64_t row = 0;
    f->selection.sources = sample_filter->sources;
    while (sample_filter->sources && row < sample_filter->source_count &&
           !sample_filter->sources[row])
        row++;
    return !sample_filter->sources || row < sample_filter->source_count
               ? PCOL_OK
               : pci_fail(err, PCOL_E_ARGUMENT, "no source is selected");
}

/* Whether all samples of the selected sources are selected. */
static pcol_status find_unselected(struct filter_state *f, uint64_t rows, pcol_error *err)
{
    const pcol_file *file = f->query->file;
    const uint8_t *sources = f->selection.sources;
    const struct pci_column *source;
    int64_t values[PCI_MERGE_BATCH] = {0}; /* samples without the column are of source 0 */
    uint8_t valid[PCI_MERGE_BATCH];
    f->selection.all_samples = 0;
    PCI_TRY(pci_find_verified_column(file, "samples", "source", PCI_TYPES_ROW, &source, err));
    for (uint64_t row = 0; row < rows; row += PCI_MERGE_BATCH) {
        size_t n = rows - row < PCI_MERGE_BATCH ? (size_t)(rows - row) : PCI_MERGE_BATCH;
        const uint8_t *selected = f->samples + row;
        if (!memchr(selected, 0, n))
            continue;
        if (!sources)
            return PCOL_OK;
        if (source)
            PCI_TRY(pci_read(file, source, row, n, values, valid, err));
        for (size_t i = 0; i < n; i++)
            if (!selected[i] && sources[values[i]])
                return PCOL_OK;
    }
    f->selection.all_samples = !f->query->sample_filter.threads;
    return PCOL_OK;
}

static pcol_status select_samples(struct filter_state *f, pcol_error *err)
{
    uint64_t rows = pci_rows(f->query->file, "samples");
    if (rows > FREE_SAMPLES)
        PCI_TRY(pci_check_row_count(f->query->file, "samples", err));
    PCI_TRY(PCI_MALLOC(f->samples, (size_t)rows + 1, err));
    f->selection.samples = f->samples;
    PCI_TRY(pcol_query_samples(f->query, 0, (size_t)rows, f->samples, err));
    f->has_sample |= !rows || memchr(f->samples, 1, (size_t)rows);
    return find_unselected(f, rows, err);
}

/* A selected sample type: the values of other types are omitted. */
static pcol_status select_types(struct filter_state *f, const pcol_selection *criteria,
                                pcol_error *err)
{
    const struct pci_query_type *measure = &f->query->measure;
    if (!criteria->sample_type && !criteria->exact_type)
        return PCOL_OK;
    if (measure->is_memory)
        return pci_fail(err, PCOL_E_ARGUMENT,
                        "memory is derived from other sample types; select those instead");
    f->selection.types = measure->alike;
    return PCOL_OK;
}

/* Frames are omitted if the stacks are rebuilt anyway. Otherwise drop_frames of pprof are copied
 * and applied on reading; without names they could not be. */
static int rebuilds_stacks(const pcol_filter_options *options)
{
    const pcol_selection *criteria = options->selection;
    return criteria->hide || criteria->show || criteria->hide_functions ||
           criteria->show_functions || options->anonymize || options->apply_drop_frames;
}

/* 0 if a copy with all frames has the stacks of the query. */
static int hides_frames(const pcol_query *query)
{
    if (query->shown_locations && memchr(query->shown_locations, 0, query->calls.location_count))
        return 1;
    for (uint32_t row = 0; query->joined_stacks && row < query->calls.count; row++)
        if (query->joined_stacks[row])
            return 1;
    return 0;
}

static int is_set(const char *pattern)
{
    return pattern && *pattern;
}

static int selects_by_frames(const pcol_selection *criteria)
{
    return is_set(criteria->focus) || is_set(criteria->ignore) || criteria->focus_functions ||
           criteria->focus_name_count || criteria->ignore_functions;
}

/* Expressions that have dropped frames do not stay: they would drop others from what is left. */
static pcol_status report_drops(struct filter_state *f, const pcol_filter_options *options,
                                pcol_error *err)
{
    const struct pci_column *drops;
    const pcol_file *file = f->query->file;
    if (!f->selection.omitted_frames || f->reported_drops ||
        (options->apply_drop_frames && !f->selection.added))
        return PCOL_OK;
    PCI_TRY(pci_find_column(file, "sources", "drop_frames", PCI_TYPES_TEXT, &drops, err));
    for (uint64_t row = 0; drops && row < pci_rows(file, "sources"); row++) {
        pcol_str text = {"", 0};
        int valid;
        if (!f->selection.sources || f->selection.sources[row])
            PCI_TRY(pci_get_str(file, drops, row, &text, &valid, err));
        if (!text.size)
            continue;
        f->reported_drops = 1;
        pci_notice(PCOL_NOTICE_LOSS, "drop_frames and keep_frames", "keep_dropped",
                   "drop_frames and keep_frames are applied and left out, since "
                   "hide and show change the stacks");
        break;
    }
    return PCOL_OK;
}

static pcol_status check_options(const pcol_filter_options *options, pcol_error *err)
{
    const pcol_selection *criteria = options->selection;
    for (size_t i = 0; i < options->drop_label_key_count; i++)
        if (!options->drop_label_keys || !options->drop_label_keys[i])
            return pci_fail(err, PCOL_E_ARGUMENT, "a key of a label is NULL");
    if ((unsigned)options->idle > PCOL_IDLE_EXPAND)
        return pci_fail(err, PCOL_E_ARGUMENT, "unknown treatment of idle samples");
    if (criteria->has_time && criteria->time_share == PCOL_SHARE_EXACT)
        return pci_fail(err, PCOL_E_ARGUMENT,
                        "integers cannot be shared exactly; use another share of time");
    return PCOL_OK;
}

/* Reports keys to drop that no sample has. Members of `extra` also have keys, which label_keys does
 * not list. */
static pcol_status report_unknown_keys(const pcol_file *file, const pcol_filter_options *options,
                                       pcol_error *err)
{
    const struct pci_table *samples = pci_table_find(file, "samples");
    if (!pci_notices_wanted() || !samples || pci_column_find(samples, "extra"))
        return PCOL_OK;
    for (size_t i = 0; i < options->drop_label_key_count; i++) {
        const char *key = options->drop_label_keys[i];
        int exists;
        PCI_TRY(pci_label_exists(file, key, &exists, err));
        if (!exists)
            pci_notice(PCOL_NOTICE_SELECTION, "", "", "no sample has a label '%.100s'", key);
    }
    return PCOL_OK;
}

/* Copies what the query selects. */
static pcol_status copy_selected(struct filter_state *f, pcol_builder *builder,
                                 const pcol_filter_options *options, pcol_error *err)
{
    PCI_TRY(select_sources(f, err));
    PCI_TRY(select_samples(f, err));
    int rebuilds = rebuilds_stacks(options) && (f->selection.added || hides_frames(f->query));
    f->selection.locations = rebuilds ? f->query->shown_locations : NULL;
    f->selection.omitted_frames = rebuilds ? f->query->joined_stacks : NULL;
    f->selection.threads = f->query->sample_filter.threads;
    f->selection.thread_count = f->query->sample_filter.thread_count;
    PCI_TRY(report_drops(f, options, err));
    return pci_merge_selected(builder, f->query->file, &f->selection, err);
}

/* Copies sources of equal drop_frames, which a query of their own applies. The sources need not
 * have the selected sample type. */
static pcol_status copy_part(struct filter_state *f, uint32_t part, pcol_builder *builder,
                             const pcol_filter_options *options, pcol_error *err)
{
    const pcol_file *file = f->query->file;
    pcol_selection criteria = *options->selection;
    criteria.sample_type = NULL;
    criteria.exact_type = NULL;
    for (uint64_t source = 0; source < f->query->sample_filter.source_count; source++)
        f->members[source] = f->parts[source] == part;
    struct filter_state own = {.selection = f->selection, .reported_drops = f->reported_drops};
    pcol_status status = pci_query_new_unweighted(file, &criteria, f->members, &own.query, err);
    PCI_THEN(status, copy_selected(&own, builder, options, err));
    f->has_sample |= own.has_sample;
    f->reported_drops = own.reported_drops;
    pcol_query_free(own.query);
    pci_free(own.samples);
    return status;
}

/* The number of successive sources of one group; sets *count to the number of such parts. */
static void split_groups(struct filter_state *f, uint32_t *count, int renumber)
{
    uint32_t group = PCOL_NONE;
    *count = 0;
    for (uint64_t source = 0; source < f->query->sample_filter.source_count; source++) {
        if (f->parts[source] == PCOL_NONE)
            continue;
        *count += f->parts[source] != group;
        group = f->parts[source];
        if (renumber)
            f->parts[source] = *count - 1;
    }
}

/* Divides the sources into parts to which different drop_frames apply, if these change stacks or
 * the selection: successive sources of equal drop_frames, or all, if there are too many parts. */
static pcol_status find_parts(struct filter_state *f, const pcol_filter_options *options,
                              uint32_t *count, pcol_error *err)
{
    size_t sources = (size_t)f->query->sample_filter.source_count;
    uint32_t parts;
    *count = 1;
    if (options->selection->keep_dropped ||
        !(rebuilds_stacks(options) || selects_by_frames(options->selection)))
        return PCOL_OK;
    PCI_TRY(PCI_MALLOC(f->parts, sources + 1, err));
    PCI_TRY(PCI_MALLOC(f->members, sources + 1, err));
    PCI_TRY(pci_drop_frames_groups(f->query, f->parts, count, err));
    split_groups(f, &parts, 0);
    if (parts <= MOST_PARTS)
        split_groups(f, count, 1);
    else
        pci_notice(PCOL_NOTICE_SELECTION, "", "",
                   "the sources are not in the order of the input: those of equal drop_frames "
                   "follow each other");
    return PCOL_OK;
}

static pcol_status run_filter(struct filter_state *f, pcol_builder *builder, const pcol_file *file,
                              const pcol_filter_options *options, pcol_error *err)
{
    const pcol_selection *criteria = options->selection;
    uint32_t parts;
    PCI_TRY(check_options(options, err));
    PCI_TRY(pci_query_new_unweighted(file, criteria, NULL, &f->query, err));
    PCI_TRY(select_sources(f, err));
    PCI_TRY(find_parts(f, options, &parts, err));
    pci_query_give_note(f->query);
    PCI_TRY(select_types(f, criteria, err));
    if (options->drop_label_key_count)
        PCI_TRY(report_unknown_keys(file, options, err));
    f->selection.drop_labels = options->drop_labels;
    f->selection.drop_keys = options->drop_label_keys;
    f->selection.drop_key_count = options->drop_label_key_count;
    f->selection.idle = options->idle;
    f->selection.idle_tolerance_ns = options->idle_tolerance_ns;
    /* Events have no frames, labels or sample ids that could be selected. */
    f->selection.events = !criteria->label_count && !selects_by_frames(criteria) &&
                          !(criteria->flags & PCOL_SELECTION_HAS_ORDER);
    f->selection.has_range = criteria->has_time;
    f->selection.range =
        (struct pci_range){criteria->time_from_ns, criteria->time_to_ns, criteria->time_share};
    struct pci_pseudonyms *names = options->pseudonyms ? &options->pseudonyms->names : &f->names;
    f->selection.names = options->anonymize ? names : NULL;
    if (parts == 1)
        PCI_TRY(copy_selected(f, builder, options, err));
    for (uint32_t part = 0; parts > 1 && part < parts; part++)
        PCI_TRY(pci_builder_end_input(builder, copy_part(f, part, builder, options, err)));
    if (!f->has_sample && !f->selection.all_samples && !f->query->note[0] &&
        !options->apply_drop_frames)
        pci_notice(PCOL_NOTICE_SELECTION, "", "", "no sample is selected");
    if (options->anonymize && options->pseudonym)
        pci_pseudonyms_report(names, options->pseudonym, options->pseudonym_context);
    return PCOL_OK;
}

/* added: frames that stacks get; NULL: none. */
static pcol_status filter(pcol_builder *builder, const pcol_file *file,
                          const pcol_filter_options *options, const struct pci_added_frames *added,
                          pcol_error *err)
{
    pcol_filter_options own;
    pcol_selection selection;
    struct filter_state f = {.selection.added = added};
    struct pci_control scope;
    PCI_STRUCT_READ(pcol_filter_options, own, options, err);
    PCI_STRUCT_READ(pcol_selection, selection, own.selection, err);
    own.selection = &selection;
    PCI_TRY(pci_control_init(&scope, own.control, "filter", err));
    pcol_status status;
    PCI_CONTROLLED(&scope, status, run_filter(&f, builder, file, &own, err), err);
    pcol_query_free(f.query);
    pci_pseudonyms_clear(&f.names);
    pci_free(f.samples);
    pci_free(f.parts);
    pci_free(f.members);
    return status;
}

pcol_status pcol_filter(pcol_builder *builder, const pcol_file *file,
                        const pcol_filter_options *options, pcol_error *err)
{
    PCI_TRY(pci_builder_check_open(builder, err));
    PCI_REQUIRE(file, err);
    return filter(builder, file, options, NULL, err);
}

pcol_status pcol_add_frames(pcol_builder *builder, const pcol_file *file,
                            const pcol_add_frames_options *options, pcol_error *err)
{
    PCI_TRY(pci_builder_check_open(builder, err));
    PCI_REQUIRE(file, err);
    pcol_add_frames_options own;
    pcol_filter_options all = PCOL_INIT(pcol_filter_options);
    pcol_selection selection = PCOL_INIT(pcol_selection);
    struct pci_added_frames added = {0};
    PCI_STRUCT_READ(pcol_add_frames_options, own, options, err);
    all.selection = &selection;
    all.control = own.control;
    selection.keep_dropped = own.keep_dropped;
    all.apply_drop_frames = !own.keep_dropped;
    pcol_status status =
        pci_added_frames_parse(&added, own.roots, own.root_count, own.leaves, own.leaf_count, err);
    PCI_THEN(status, pci_added_frames_check(&added, file, err));
    PCI_THEN(status, filter(builder, file, &all, &added, err));
    pci_free(added.frames);
    return status;
}

/*
 * query.c - construction of a query and its public accessors
 *
 * Order: samples, sample type, weights of the stacks, filter of frames (query.h). A query that the
 * file's sums of functions answer reads no stacks before pci_query_load(). Tests:
 * tests/unit/test_query.c.
 */
#include "query/query.h"

#include "model/check.h"
#include "model/column_range.h"
#include "util/alloc.h"
#include "util/arg_check.h"
#include "util/control.h"
#include "util/sized_struct.h"

#include <stddef.h>
#include <stdio.h>

static int is_missing(pcol_str text)
{
    return text.size && !text.data;
}

/* Texts of the selection, whose arrays are there. */
static pcol_status check_texts(const pcol_selection *selection, pcol_error *err)
{
    const pcol_sample_type *type = selection->exact_type;
    int missing = type && (is_missing(type->type) || is_missing(type->unit));
    for (size_t i = 0; i < selection->exact_label_count; i++)
        missing |= is_missing(selection->exact_labels[i].key) ||
                   is_missing(selection->exact_labels[i].value);
    for (size_t i = 0; i < selection->focus_name_count; i++)
        missing |= is_missing(selection->focus_names[i]);
    return missing ? pci_fail(err, PCOL_E_ARGUMENT, "a text of the selection is NULL") : PCOL_OK;
}

static pcol_status check_selection(const pcol_selection *selection, pcol_error *err)
{
    if (selection->label_count && !selection->labels)
        return pci_fail(err, PCOL_E_ARGUMENT, "the selection has a label_count but no labels");
    if (selection->exact_label_count && !selection->exact_labels)
        return pci_fail(err, PCOL_E_ARGUMENT,
                        "the selection has an exact_label_count but no exact_labels");
    if (selection->focus_name_count && !selection->focus_names)
        return pci_fail(err, PCOL_E_ARGUMENT,
                        "the selection has a focus_name_count but no focus_names");
    const pcol_rows *sets[] = {selection->focus_functions, selection->ignore_functions,
                               selection->hide_functions, selection->show_functions};
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        if (sets[i] && sets[i]->count && !sets[i]->rows)
            return pci_fail(err, PCOL_E_ARGUMENT, "a set of functions has a count but no rows");
    if (selection->flags & ~(PCOL_SELECTION_HAS_ORDER | PCOL_SELECTION_COUNT))
        return pci_fail(err, PCOL_E_ARGUMENT, "unknown flags of a selection");
    if ((unsigned)selection->time_share > PCOL_SHARE_EXACT)
        return pci_fail(err, PCOL_E_ARGUMENT, "unknown share of time");
    if (selection->source_meta_count && !selection->source_metas)
        return pci_fail(err, PCOL_E_ARGUMENT,
                        "the selection has a source_meta_count but no source_metas");
    return check_texts(selection, err);
}

pcol_status pci_query_samples(pcol_query *query, struct pci_samples **samples, pcol_error *err)
{
    *samples = NULL;
    PCI_TRY(pci_query_load(query, err));
    return pci_samples_open(query->file, &query->types, &query->measure, &query->sample_filter,
                            query->calls.count, samples, err);
}

/* Formats nanoseconds as ms with three decimals, in any locale. */
static const char *format_ms(int64_t ns, char text[32])
{
    uint64_t us = ((ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns) + 500) / 1000;
    snprintf(text, 32, "%s%llu.%03u", ns < 0 && us ? "-" : "", (unsigned long long)(us / 1000),
             (unsigned)(us % 1000));
    return text;
}

void pci_query_set_note(pcol_query *query, const char *option, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(query->note, sizeof query->note, format, arguments);
    va_end(arguments);
    query->note_option = option;
}

void pci_query_give_note(const pcol_query *query)
{
    int is_about_drops = query->note_option && !strcmp(query->note_option, "keep_dropped");
    if (query->note[0] && !is_about_drops)
        pci_notice(PCOL_NOTICE_SELECTION, "", query->note_option ? query->note_option : "", "%s",
                   query->note);
}

/* Sets a note if the default type is that of some sources only: the others are left out. */
static pcol_status add_type_note(pcol_query *query, pcol_error *err)
{
    const struct pci_query_type *measure = &query->measure;
    const uint8_t *selected = query->sample_filter.sources;
    uint64_t without = 0, sources = 0;
    pcol_status status = PCOL_OK;
    uint32_t *list, count;
    if (!measure->column_count || !query->types.list_rows || query->sample_filter.source_count < 2)
        return PCOL_OK;
    PCI_TRY(PCI_MALLOC(list, query->types.count, err));
    for (uint64_t s = 0; s < query->sample_filter.source_count && status == PCOL_OK; s++) {
        int has_type = 0;
        if (selected && !selected[s])
            continue;
        status = pci_query_type_in(measure, &query->types, s, list, &count, &has_type, err);
        without += count && !has_type;
        sources++;
    }
    pci_free(list);
    if (without)
        pci_query_set_note(
            query, "sample_type", "sources without values of %.*s/%.*s are left out: %llu of %llu",
            (int)(measure->type.size < 40 ? measure->type.size : 40), measure->type.data,
            (int)(measure->unit.size < 40 ? measure->unit.size : 40), measure->unit.data,
            (unsigned long long)without, (unsigned long long)sources);
    return status;
}

/* Sets a note with the reason if no sample can be in the requested range of time. */
static pcol_status add_time_note(pcol_query *query, pcol_error *err)
{
    const struct pci_column *time, *duration;
    if (!query->sample_filter.has_time)
        return PCOL_OK;
    PCI_TRY(pci_find_column(query->file, "samples", "time", PCI_TYPE(PCF_I64), &time, err));
    PCI_TRY(pci_find_column(query->file, "samples", "duration", ~0u, &duration, err));
    if (!time && pci_rows(query->file, "samples"))
        pci_query_set_note(query, "time_from_ns", "no sample has a time, so none is in the range");
    if (!time)
        return PCOL_OK;
    struct pci_column_range times;
    PCI_TRY(pci_column_range(query->file, time, NULL, 0, &times, err));
    int64_t first = times.min, last = times.max;
    /* A sample that starts before the range may extend into it if it has a duration. */
    if (first <= last &&
        (first >= query->sample_filter.to || (last < query->sample_filter.from && !duration))) {
        char from[32], to[32];
        pci_query_set_note(query, "time_from_ns",
                           "no sample is in the range of times: the samples are from %s to %s ms",
                           format_ms(first, from), format_ms(last, to));
    }
    return PCOL_OK;
}

/* Sets a note if no sample has an id in the requested range. */
static void add_order_note(pcol_query *query)
{
    const struct pci_sample_filter *filter = &query->sample_filter;
    uint64_t rows = pci_rows(query->file, "samples");
    if (!filter->has_order || (filter->first_row < rows && filter->first_row < filter->end_row))
        return;
    pci_query_set_note(query, "order_from", "no sample is in the range: the samples are 1 to %llu",
                       (unsigned long long)rows);
}

static int is_empty(const pcol_query *query)
{
    return query->nothing_in_focus || pci_amount_is_zero(query->measure.is_double, query->total);
}

/* Sets a note if no sample passes. */
static void add_empty_note(pcol_query *query, const pcol_selection *selection)
{
    if (query->without_weights || query->note[0] || !is_empty(query) ||
        !(pci_sample_filter_any(&query->sample_filter) || pci_selects_frames(selection)))
        return;
    query->none_passes = 1;
    pci_query_set_note(query, NULL, "no sample passes the selection");
}

/* Computes the weights of all stacks and applies the filter of frames. */
static pcol_status compute_weights(pcol_query *query, const pcol_selection *selection,
                                   pcol_error *err)
{
    PCI_TRY(pci_stack_table_open(query->file, &query->calls, err));
    PCI_TRY(pci_stack_weights(query, selection, err));
    return pci_frame_filter(query, selection, err);
}

/* Uses the file's sums of functions if the query has no filter. The stacks are then read on demand
 * by pci_query_load(). */
static pcol_status find_function_sums(pcol_query *query, const pcol_selection *selection,
                                      pcol_error *err)
{
    int filtered;
    if (query->without_weights || pci_sample_filter_any(&query->sample_filter))
        return PCOL_OK;
    PCI_TRY(pci_frame_filter_any(query, selection, &filtered, err));
    if (!filtered)
        PCI_TRY(pci_label_exists(query->file, "pprof::base", &filtered, err));
    if (filtered)
        return PCOL_OK;
    query->keep_dropped = selection && selection->keep_dropped;
    PCI_TRY(pci_function_sums_open(query, &query->function_sums, err));
    query->from_sums = query->function_sums;
    query->unloaded = query->function_sums ? query : NULL;
    return PCOL_OK;
}

pcol_status pci_query_load(pcol_query *query, pcol_error *err)
{
    pcol_query *q = query->unloaded;
    pcol_selection selection = PCOL_INIT(pcol_selection);
    if (!q)
        return PCOL_OK;
    selection.keep_dropped = q->keep_dropped;
    q->from_sums = 0;
    int64_t selected = q->selected.i64, total = q->total.i64;
    pcol_status status = compute_weights(q, &selection, err);
    /* Earlier and later answers of the query must agree. */
    if (status == PCOL_OK && (q->selected.i64 != selected || q->total.i64 != total))
        status = pci_fail(err, PCOL_E_CORRUPT,
                          "table function_sums: its sum is %lld, that of the stacks %lld",
                          (long long)selected, (long long)q->selected.i64);
    if (status == PCOL_OK) {
        q->unloaded = NULL;
        return PCOL_OK;
    }
    pci_stack_table_close(&q->calls);
    pci_free(q->weight);
    q->weight = NULL;
    q->selected.i64 = selected;
    q->total.i64 = total;
    return status;
}

static pcol_status build_query(pcol_query *query, const pcol_selection *selection,
                               const uint8_t *sources, pcol_error *err)
{
    PCI_TRY(pci_schema_verify(query->file, err));
    PCI_TRY(pci_types_open(query->file, &query->types, err));
    PCI_TRY(pci_sample_filter_open(query->file, selection, &query->sample_filter, err));
    if (sources)
        PCI_TRY(pci_sample_filter_restrict(query->file, sources, &query->sample_filter, err));
    struct pci_requested_type requested = {0};
    if (selection)
        requested = (struct pci_requested_type){selection->sample_type, selection->exact_type};
    PCI_TRY(pci_query_type_open(&query->types, query->sample_filter.sources,
                                query->sample_filter.source_count, &requested, &query->measure,
                                err));
    if (!query->measure.type.size && !query->types.count)
        pci_query_set_note(query, NULL,
                           "the profile has no sample types, so there is nothing to add up");
    if (query->sample_filter.has_time && query->sample_filter.share == PCOL_SHARE_EXACT &&
        (query->measure.column_count || !query->measure.is_memory))
        query->measure.is_double = 1;
    if (selection && selection->flags & PCOL_SELECTION_COUNT)
        PCI_TRY(pci_sample_filter_count(&query->sample_filter, query->file, &query->measure, err));
    else if (!query->without_weights && !requested.name && !requested.exact)
        PCI_TRY(add_type_note(query, err));
    PCI_TRY(add_time_note(query, err));
    add_order_note(query);
    PCI_TRY(find_function_sums(query, selection, err));
    if (!query->function_sums)
        PCI_TRY(compute_weights(query, selection, err));
    if (selection)
        add_empty_note(query, selection);
    return PCOL_OK;
}

static pcol_status create_query(const pcol_file *file, const pcol_selection *given,
                                const uint8_t *sources, const pcol_control *control,
                                int without_weights, pcol_query **query, pcol_error *err)
{
    pcol_selection selection;
    pcol_query *q;
    pcol_status status;
    *query = NULL;
    PCI_STRUCT_READ(pcol_selection, selection, given, err);
    PCI_TRY(check_selection(&selection, err));
    if (without_weights && selection.flags & PCOL_SELECTION_COUNT)
        return pci_fail(err, PCOL_E_ARGUMENT, "PCOL_SELECTION_COUNT is for queries only");
    PCI_TRY(PCI_CALLOC(q, 1, err));
    q->file = file;
    q->without_weights = without_weights;
    status = pci_control_init(&q->control, control, "query", err);
    if (status == PCOL_OK)
        PCI_CONTROLLED(&q->control, status, build_query(q, &selection, sources, err), err);
    if (status == PCOL_OK)
        *query = q;
    else
        pcol_query_free(q);
    return status;
}

pcol_status pcol_query_new(const pcol_file *file, const pcol_selection *selection,
                           const pcol_control *control, pcol_query **query, pcol_error *err)
{
    PCI_REQUIRE(query, err);
    *query = NULL;
    PCI_REQUIRE(file, err);
    return create_query(file, selection, NULL, control, 0, query, err);
}

pcol_status pci_query_new_unweighted(const pcol_file *file, const pcol_selection *selection,
                                     const uint8_t *sources, pcol_query **query, pcol_error *err)
{
    return create_query(file, selection, sources, NULL, 1, query, err);
}

void pci_query_release_stacks(pcol_query *query)
{
    uint32_t count = query->calls.count; /* the limit of samples.stack */
    pci_stack_table_close(&query->calls);
    query->calls.count = count;
    pci_free(query->weight);
    pci_free(query->joined_stacks);
    query->weight = NULL;
    query->joined_stacks = NULL;
}

void pcol_query_free(pcol_query *query)
{
    if (!query)
        return;
    pci_samples_close(query->selected_samples);
    pci_types_close(&query->types);
    pci_sample_filter_close(&query->sample_filter);
    pci_query_type_close(&query->measure);
    pci_stack_table_close(&query->calls);
    pci_free(query->weight);
    pci_free(query->shown_locations);
    pci_free(query->joined_stacks);
    pci_free(query->passes);
    pci_free(query);
}

void pci_query_describe(const pcol_query *query, pcol_query_info *info)
{
    int in_part = query->sample_filter.has_time || query->sample_filter.has_order;
    *info = (pcol_query_info){.size = sizeof *info,
                              .type = query->measure.type,
                              .unit = query->measure.unit,
                              .type_ordinal = query->measure.ordinal,
                              .total = query->total,
                              .selected = query->selected,
                              .seconds_per_value = query->measure.seconds_per_value,
                              .duration_ns = in_part ? 0 : query->measure.duration_ns,
                              .note = query->note[0] ? query->note : NULL,
                              .note_option = query->note_option};
    pci_set_flag(&info->flags, PCOL_QUERY_IS_DOUBLE, query->measure.is_double);
    pci_set_flag(&info->flags, PCOL_QUERY_FROM_SUMS, query->from_sums);
    pci_set_flag(&info->flags, PCOL_QUERY_IS_EMPTY, is_empty(query));
    pci_set_flag(&info->flags, PCOL_QUERY_NONE_PASSES, query->none_passes);
}

pcol_status pcol_query_describe(const pcol_query *query, pcol_query_info *info, pcol_error *err)
{
    PCI_REQUIRE(info, err);
    PCI_REQUIRE(query, err);
    pcol_query_info own;
    pci_query_describe(query, &own);
    return pci_struct_write(info, &own, sizeof own, "pcol_query_info", err);
}

pcol_status pcol_query_weights(pcol_query *query, const pcol_amount **weights, uint64_t *stacks,
                               pcol_error *err)
{
    PCI_REQUIRE(weights, err);
    *weights = NULL;
    PCI_REQUIRE(stacks, err);
    *stacks = 0;
    PCI_REQUIRE(query, err);
    PCI_TRY(pci_query_load(query, err));
    *weights = query->weight;
    *stacks = query->calls.count;
    return PCOL_OK;
}

/* ---- rows of samples */

static pcol_status select_samples(pcol_query *query, uint64_t first, size_t count, uint8_t *taken,
                                  pcol_error *err)
{
    if (!query->selected_samples)
        PCI_TRY(pci_query_samples(query, &query->selected_samples, err));
    for (size_t done = 0; done < count; done += PCI_BATCH) {
        size_t n = count - done < PCI_BATCH ? count - done : PCI_BATCH;
        PCI_TRY(pci_samples_pick(query->selected_samples, first + done, n, 1, taken + done, err));
        PCI_TRY(pci_samples_pass(query->selected_samples, first + done, n, query->passes,
                                 taken + done, err));
    }
    return PCOL_OK;
}

pcol_status pcol_query_samples(pcol_query *query, uint64_t first, size_t count, uint8_t *taken,
                               pcol_error *err)
{
    pcol_status status;
    PCI_REQUIRE(query, err);
    PCI_REQUIRE_MANY(taken, count, err);
    uint64_t rows = pci_rows(query->file, "samples");
    if (first > rows || count > rows - first)
        return pci_fail_cell(err, PCOL_E_ARGUMENT, "samples", NULL, first,
                             "the table has %llu rows", (unsigned long long)rows);
    PCI_CONTROLLED(&query->control, status, select_samples(query, first, count, taken, err), err);
    return status;
}

int pcol_query_shows_location(pcol_query *query, uint64_t location)
{
    return query && location < pci_rows(query->file, "locations") &&
           (!query->shown_locations || query->shown_locations[location]);
}

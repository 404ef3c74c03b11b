/*
 * sample_type.c - the sample type of a query
 *
 * A name selects every row of sample_types that differs only in the storage of its values, so that
 * integers of one source and doubles of another are queried as one type. Gauges of Rprof (heap
 * sizes) are never summed: a name of a gauge and of a sum selects the sum. The type memory/bytes is
 * derived from gauges for samples that have them (samples.c), and added to values that other
 * sources have of it. Tests: tests/unit/test_foreign_files.c, suite
 * answers.
 */
#include "query/labels.h"
#include "query/query.h"

#include "model/check.h"
#include "util/alloc.h"
#include "util/hash.h"
#include "util/long_texts.h"
#include "util/strbuf.h"

#include <string.h>

static pcol_status get_source_text(const pcol_file *file, const char *column, uint64_t source,
                                   pcol_str *text, int *valid, pcol_error *err)
{
    *valid = 0;
    return pci_get_named_str(file, "sources", column, source, text, valid, err);
}

/* ---- requested type */

static pcol_status fail_type(const struct pci_types *types, const char *problem, pcol_str name,
                             pcol_error *err)
{
    struct pci_query_type measure = {0};
    return pci_types_fail(types, NULL, PCOL_E_ARGUMENT, problem, name,
                          pci_memory_find(types, measure.gauges), err);
}

/* *k: PCOL_NONE if the file has no such type. */
static pcol_status find_requested(const struct pci_types *types,
                                  const struct pci_requested_type *requested, uint32_t *k,
                                  pcol_error *err)
{
    *k = PCOL_NONE;
    for (uint32_t i = 0; i < types->count; i++)
        PCI_TRY(pci_types_choose(types, i, requested, k, err));
    return PCOL_OK;
}

static int has_gauges(const struct pci_query_type *measure, const uint32_t *list, uint32_t count)
{
    int found = 0;
    for (uint32_t i = 0; i < count; i++)
        for (int k = 0; k < PCI_MEMORY_GAUGES; k++)
            found += list[i] == measure->gauges[k];
    return found == PCI_MEMORY_GAUGES;
}

/* Finds the gauges. *has: a selected source has them, or none is selected. */
static pcol_status find_gauges(const struct pci_types *types, const uint8_t *selected,
                               uint64_t source_count, struct pci_query_type *measure, int *has,
                               pcol_error *err)
{
    uint32_t *list, count;
    *has = pci_memory_find(types, measure->gauges);
    if (!*has || !selected || !memchr(selected, 1, (size_t)source_count))
        return PCOL_OK;
    *has = 0;
    PCI_TRY(PCI_MALLOC(list, (size_t)types->count + 1, err));
    pcol_status status = PCOL_OK;
    for (uint64_t source = 0; source < source_count && !*has && status == PCOL_OK; source++) {
        if (!selected[source])
            continue;
        status = pci_types_of_source(types, source, list, &count, err);
        *has = status == PCOL_OK && has_gauges(measure, list, count);
    }
    pci_free(list);
    return status;
}

/* ---- common type of several files */

struct compared {
    struct pci_types types;
    uint32_t *in_use;      /* by row of sample_types: 1 if a selected source has it */
    struct pci_hash rows;  /* of the additive types in use, by type, unit and ordinal */
    uint32_t default_type; /* of the selected sources; PCOL_NONE: they have no types */
};

/* The additive type of `side` in use with the type, unit and ordinal of row `k` of `others`;
 * PCOL_NONE if absent. */
static uint32_t find_same_type(const struct compared *side, const struct pci_types *others,
                               uint32_t k)
{
    return k == PCOL_NONE ? PCOL_NONE : pci_types_find(&side->types, &side->rows, others, k);
}

static pcol_status mark_types(struct compared *side, const struct pci_sample_filter *filter,
                              uint32_t *list, pcol_error *err)
{
    for (uint64_t source = 0; source < filter->source_count; source++) {
        uint32_t count;
        if (filter->sources && !filter->sources[source])
            continue;
        PCI_TRY(pci_types_of_source(&side->types, source, list, &count, err));
        for (uint32_t i = 0; i < count; i++)
            side->in_use[list[i]] = 1;
    }
    for (uint32_t i = 0; i < side->types.count; i++)
        if (side->in_use[i] && !side->types.is_gauge[i])
            PCI_TRY(pci_types_add(&side->types, &side->rows, i, &(uint32_t){0}, err));
    return PCOL_OK;
}

static pcol_status open_compared(const pcol_file *file, const pcol_selection *selection,
                                 struct compared *side, pcol_error *err)
{
    pcol_selection source_selection = PCOL_INIT(pcol_selection);
    struct pci_sample_filter filter = {0};
    int named;
    if (selection) {
        source_selection.source = selection->source;
        source_selection.source_metas = selection->source_metas;
        source_selection.source_meta_count = selection->source_meta_count;
    }
    PCI_TRY(pci_schema_verify(file, err));
    PCI_TRY(pci_types_open(file, &side->types, err));
    PCI_TRY(PCI_CALLOC(side->in_use, (size_t)side->types.count + 1, err));
    uint64_t long_texts = 0;
    for (uint32_t i = 0; i < side->types.count; i++) {
        PCI_TRY(pci_count_long_text(&long_texts, side->types.type[i].size, err));
        PCI_TRY(pci_count_long_text(&long_texts, side->types.unit[i].size, err));
    }
    uint32_t *list = pci_malloc((size_t)side->types.count + 1, sizeof *list);
    pcol_status status = list ? PCOL_OK : pci_fail_memory(err);
    PCI_THEN(status, pci_sample_filter_open(file, &source_selection, &filter, err));
    PCI_THEN(status, mark_types(side, &filter, list, err));
    PCI_THEN(status, pci_types_first_default(&side->types, filter.sources, 0, filter.source_count,
                                             &side->default_type, &named, err));
    pci_sample_filter_close(&filter);
    pci_free(list);
    return status;
}

static void close_compared(struct compared *side)
{
    pci_types_close(&side->types);
    pci_free(side->in_use);
    pci_hash_clear(&side->rows);
}

struct comparison {
    struct compared other; /* its types in use: those that all bases so far have, too */
    uint32_t base_type;    /* its row of the first base's default */
    int is_untyped;        /* a file has no types */
    int same_default;      /* all bases have the default of the other file as theirs */
};

static pcol_status fail_shared(const struct comparison *c, const struct compared *base,
                               size_t index, pcol_error *err)
{
    char lists[2][PCI_TYPES_LIST_SIZE];
    pci_types_list(&base->types, base->in_use, PCI_LIST_UNITS, lists[0]);
    pci_types_list(&c->other.types, c->other.in_use, PCI_LIST_UNITS, lists[1]);
    if (index == 0)
        return pci_fail(err, PCOL_E_ARGUMENT,
                        "the profiles have no sample type in common: the base has %s; the other "
                        "%s",
                        lists[0], lists[1]);
    return pci_fail(err, PCOL_E_ARGUMENT,
                    "the profiles have no sample type in common: base %zu has %s; the bases "
                    "before it share %s with the other",
                    index + 1, lists[0], lists[1]);
}

static pcol_status compare_base(struct comparison *c, const struct compared *base, size_t index,
                                pcol_error *err)
{
    struct compared *other = &c->other;
    const struct pci_types *types = &other->types;
    int any = 0;
    if (base->default_type == PCOL_NONE || other->default_type == PCOL_NONE) {
        c->is_untyped = 1;
        return PCOL_OK;
    }
    if (index == 0)
        c->base_type = find_same_type(other, &base->types, base->default_type);
    uint32_t alike = find_same_type(base, types, other->default_type);
    c->same_default &=
        alike != PCOL_NONE && pci_types_equal(&base->types, alike, base->default_type);
    for (uint32_t i = 0; i < types->count && !any; i++)
        any = other->in_use[i] && find_same_type(base, types, i) != PCOL_NONE;
    if (!any)
        return fail_shared(c, base, index, err);
    for (uint32_t i = 0; i < types->count; i++)
        other->in_use[i] = other->in_use[i] && find_same_type(base, types, i) != PCOL_NONE;
    return PCOL_OK;
}

/* The row of the other file's types; all are compared. */
static uint32_t choose_shared(const struct comparison *c)
{
    const struct compared *other = &c->other;
    uint32_t k = 0;
    if (c->is_untyped)
        return PCOL_NONE;
    if (other->in_use[other->default_type])
        return other->default_type;
    if (c->base_type != PCOL_NONE && other->in_use[c->base_type])
        return c->base_type;
    while (!other->in_use[k])
        k++;
    return k;
}

pcol_status pcol_query_shared_type(const pcol_file *const *bases, size_t base_count,
                                   const pcol_file *other, const pcol_selection *selection,
                                   pcol_sample_type *shared, int *is_default, pcol_error *err)
{
    struct comparison c = {.same_default = 1};
    const struct pci_types *types = &c.other.types;
    if (!bases || base_count == 0 || !other || !shared || !is_default)
        return pci_fail(err, PCOL_E_ARGUMENT, "no file or no type given");
    *shared = (pcol_sample_type){{"", 0}, {"", 0}, 0};
    pcol_status status = open_compared(other, selection, &c.other, err);
    for (size_t i = 0; i < base_count && status == PCOL_OK; i++) {
        struct compared base = {0};
        status = bases[i] ? open_compared(bases[i], selection, &base, err)
                          : pci_fail(err, PCOL_E_ARGUMENT, "base %zu is no file", i + 1);
        PCI_THEN(status, compare_base(&c, &base, i, err));
        close_compared(&base);
    }
    if (status == PCOL_OK) {
        uint32_t k = choose_shared(&c);
        *is_default = c.is_untyped || c.same_default;
        if (k != PCOL_NONE) /* the texts belong to the file */
            *shared =
                (pcol_sample_type){types->type[k], types->unit[k], (uint32_t)types->ordinal[k]};
    }
    close_compared(&c.other);
    return status;
}

/* ---- time */

/* Duration of a unit of time in seconds; 0 for other units. */
static double get_unit_seconds(pcol_str unit)
{
    double ns;
    return pci_label_unit_size(unit, &ns) == 't' ? ns / 1e9 : 0;
}

static pcol_status get_source_number(const pcol_file *file, const char *column, uint64_t source,
                                     int64_t *value, int *valid, pcol_error *err)
{
    *valid = 0;
    return pci_get_named(file, "sources", column, PCI_TYPES_INT, source, value, valid, err);
}

/* Duration of a sample of a source: its period if that is a time, else its interval; 0 if
 * unknown. */
static pcol_status get_sample_seconds(const pcol_file *file, uint64_t source, double *seconds,
                                      pcol_error *err)
{
    int64_t value;
    pcol_str unit;
    int valid;
    *seconds = 0;
    PCI_TRY(get_source_number(file, "period", source, &value, &valid, err));
    if (valid && value > 0) {
        double period = (double)value;
        PCI_TRY(get_source_text(file, "period_unit", source, &unit, &valid, err));
        *seconds = valid ? period * get_unit_seconds(unit) : 0;
    }
    if (*seconds > 0)
        return PCOL_OK;
    PCI_TRY(get_source_number(file, "interval_ns", source, &value, &valid, err));
    if (valid && value > 0)
        *seconds = (double)value / 1e9;
    return PCOL_OK;
}

/* Set if it is the same for all selected sources. */
static pcol_status find_seconds(const struct pci_types *types, const uint8_t *selected,
                                uint64_t source_count, struct pci_query_type *measure,
                                pcol_error *err)
{
    double common_seconds = 0;
    int agree = 1;
    measure->seconds_per_value = get_unit_seconds(measure->unit);
    if (measure->seconds_per_value > 0 || !pci_str_is(measure->type, "samples") ||
        !pci_str_is(measure->unit, "count"))
        return PCOL_OK;
    for (uint64_t source = 0; source < source_count && agree; source++) {
        double seconds;
        if (selected && !selected[source])
            continue;
        PCI_TRY(get_sample_seconds(types->file, source, &seconds, err));
        if (common_seconds == 0)
            common_seconds = seconds;
        agree = seconds > 0 && fabs(common_seconds - seconds) <= 1e-12 * common_seconds;
    }
    measure->seconds_per_value = agree ? common_seconds : 0;
    return PCOL_OK;
}

/* Sum of the durations of the selected sources; 0 if one is unknown. */
static pcol_status find_duration(const pcol_file *file, const uint8_t *selected,
                                 uint64_t source_count, int64_t *duration, pcol_error *err)
{
    *duration = 0;
    for (uint64_t source = 0; source < source_count; source++) {
        int64_t source_duration;
        int valid;
        if (selected && !selected[source])
            continue;
        PCI_TRY(get_source_number(file, "duration_ns", source, &source_duration, &valid, err));
        if (!valid || source_duration <= 0 || source_duration > INT64_MAX - *duration) {
            *duration = 0;
            return PCOL_OK;
        }
        *duration += source_duration;
    }
    return PCOL_OK;
}

/* ---- open */

static pcol_status open_columns(const struct pci_types *types, uint32_t k,
                                struct pci_query_type *measure, pcol_error *err)
{
    PCI_TRY(PCI_MALLOC(measure->columns, (size_t)types->count + 1, err));
    PCI_TRY(PCI_CALLOC(measure->alike, (size_t)types->count + 1, err));
    measure->type = types->type[k];
    measure->unit = types->unit[k];
    measure->ordinal = (uint32_t)types->ordinal[k];
    for (uint32_t i = 0; i < types->count; i++) {
        if (!pci_types_equal(types, i, k))
            continue;
        measure->alike[i] = 1;
        if (!types->columns[i])
            continue;
        measure->columns[measure->column_count++] = i;
        measure->is_double |= types->columns[i]->desc->type == PCF_F64;
    }
    return PCOL_OK;
}

/* As in a file of the selected sources alone, one of them must have the sample type. */
static pcol_status require_in_sources(const struct pci_types *types, const uint8_t *selected,
                                      uint64_t source_count,
                                      const struct pci_requested_type *requested, pcol_error *err)
{
    struct pci_selected_type chosen;
    if (!selected || !memchr(selected, 1, (size_t)source_count))
        return PCOL_OK;
    PCI_TRY(pci_types_select_among(types, selected, 0, source_count - 1, requested, &chosen, err));
    pci_free(chosen.rows);
    return PCOL_OK;
}

/* *k: the row of the requested type; PCOL_NONE if it is the derived one only, or the default of
 * sources without types. */
static pcol_status find_type(const struct pci_types *types, const uint8_t *selected,
                             uint64_t source_count, const struct pci_requested_type *requested,
                             struct pci_query_type *measure, uint32_t *k, pcol_error *err)
{
    const pcol_sample_type *exact = requested->exact;
    int is_default = exact ? exact->type.size + exact->unit.size == 0 : !requested->name;
    int has_memory, named;
    char name[PCI_TYPE_NAME_SIZE];
    *k = PCOL_NONE;
    PCI_TRY(find_gauges(types, selected, source_count, measure, &has_memory, err));
    if (exact || requested->name)
        PCI_TRY(find_requested(types, requested, k, err));
    if (*k == PCOL_NONE && is_default)
        PCI_TRY(pci_types_first_default(types, selected, 0, source_count, k, &named, err));
    int is_requested = !is_default && pci_memory_is_requested(requested);
    int is_stored = *k != PCOL_NONE && pci_memory_is_type(types, *k);
    measure->is_memory = has_memory && (is_requested || is_stored);
    int has_no_values = is_requested && *k == PCOL_NONE &&
                        !pci_memory_find(types, measure->gauges) && pci_memory_is_listed(types);
    if (measure->is_memory || has_no_values) {
        measure->type = PCI_MEMORY_TYPE;
        measure->unit = PCI_MEMORY_UNIT;
        if (*k != PCOL_NONE && !is_stored && !types->is_gauge[*k])
            return pci_types_fail_units(requested->name, types->type[*k], types->unit[*k],
                                        PCI_MEMORY_TYPE, PCI_MEMORY_UNIT, err);
        *k = is_stored ? *k : PCOL_NONE;
        return PCOL_OK;
    }
    if (is_default)
        return PCOL_OK;
    return *k == PCOL_NONE
               ? fail_type(types, "no sample type", pci_requested_name(requested, name), err)
               : require_in_sources(types, selected, source_count, requested, err);
}

pcol_status pci_query_type_open(const struct pci_types *types, const uint8_t *selected,
                                uint64_t source_count, const struct pci_requested_type *requested,
                                struct pci_query_type *measure, pcol_error *err)
{
    uint32_t k;
    *measure = (struct pci_query_type){.type = {"", 0}, .unit = {"", 0}};
    PCI_TRY(find_duration(types->file, selected, source_count, &measure->duration_ns, err));
    PCI_TRY(find_type(types, selected, source_count, requested, measure, &k, err));
    if (k == PCOL_NONE) /* Nothing to sum; samples can still be selected. */
        return PCOL_OK;
    if (types->is_gauge[k])
        return fail_type(types, "gauges are never summed; no total for", types->type[k], err);
    PCI_TRY(open_columns(types, k, measure, err));
    return find_seconds(types, selected, source_count, measure, err);
}

pcol_status pci_query_type_in(const struct pci_query_type *measure, const struct pci_types *types,
                              uint64_t source, uint32_t *list, uint32_t *count, int *has_type,
                              pcol_error *err)
{
    *has_type = 0;
    PCI_TRY(pci_types_of_source(types, source, list, count, err));
    *has_type = measure->is_memory && has_gauges(measure, list, *count);
    for (uint32_t i = 0; i < *count && !*has_type; i++)
        for (uint32_t k = 0; k < measure->column_count; k++)
            *has_type |= list[i] == measure->columns[k];
    return PCOL_OK;
}

void pci_query_type_close(struct pci_query_type *measure)
{
    pci_free(measure->columns);
    pci_free(measure->alike);
    *measure = (struct pci_query_type){0};
}

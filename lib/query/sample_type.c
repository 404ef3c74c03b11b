/*
 * sample_type.c - the sample type that a query is about
 *
 * A name means every row of sample_types that differs in nothing but how its values are stored, so
 * that sources with integers and sources with doubles of one type are asked as one. Rprof's levels
 * (heap sizes) are never summed; `memory` is derived from them, sample by sample (samples.c).
 */
#include "query/query.h"

#include "model/check.h"
#include "util/alloc.h"
#include "util/strbuf.h"

#include <stdio.h>
#include <string.h>

static int equals(pcol_str a, const char *text, size_t size)
{
    return a.size == size && (size == 0 || memcmp(a.data, text, size) == 0);
}

/* Does a row of sample_types have this name, "TYPE" or "TYPE/UNIT"? */
static int is_called(const struct pci_types *types, uint32_t k, const char *name, size_t size)
{
    pcol_str type = types->type[k], unit = types->unit[k];
    if (equals(type, name, size))
        return 1;
    return size == type.size + 1 + unit.size && name[type.size] == '/' &&
           equals(type, name, type.size) && equals(unit, name + type.size + 1, unit.size);
}

static pcol_status source_text(const pcol_file *file, const char *column, uint64_t source,
                               pcol_str *text, int *valid, pcol_error *err)
{
    const struct pci_column *cells;
    *valid = 0;
    PCI_TRY(pci_want(file, "sources", column, PCI_TYPES_TEXT, &cells, err));
    return cells ? pci_get_str(file, cells, source, text, valid, err) : PCOL_OK;
}

/* ---- by name */

/* "a, b, c" of the types that can be asked about. */
static void list_types(const struct pci_types *types, int memory, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t k = 0; k < types->count && used + 80 < size; k++) {
        pcol_str type = types->type[k];
        int wide = type.size > 60 ? 60 : (int)type.size;
        if (!types->level[k])
            used += (size_t)snprintf(text + used, size - used, "%s%.*s", used ? ", " : "", wide,
                                     type.data);
    }
    if (memory && used + 80 < size)
        snprintf(text + used, size - used, "%smemory", used ? ", " : "");
}

static pcol_status fail_type(const struct pci_types *types, const char *what, const char *name,
                             size_t size, pcol_error *err)
{
    struct pci_query_type measure = {0};
    char list[240];
    list_types(types, pci_memory_find(types, measure.levels), list, sizeof list);
    return pci_fail(err, PCOL_E_ARGUMENT, "%s '%.*s'; use one of: %s", what,
                    (int)(size > 60 ? 60 : size), name, list);
}

static pcol_status find_named(const struct pci_types *types, const char *name, uint32_t *k,
                              pcol_error *err)
{
    size_t size = strlen(name);
    *k = PCOL_NONE;
    for (uint32_t i = 0; i < types->count; i++) {
        if (!is_called(types, i, name, size))
            continue;
        if (*k == PCOL_NONE)
            *k = i;
        else if (!pci_str_equal(types->unit[i], types->unit[*k]))
            return pci_fail(err, PCOL_E_ARGUMENT,
                            "sample type '%.60s' has several units; say %.60s/%.*s or %.60s/%.*s",
                            name, name, (int)types->unit[*k].size, types->unit[*k].data, name,
                            (int)types->unit[i].size, types->unit[i].data);
    }
    return *k != PCOL_NONE ? PCOL_OK : fail_type(types, "no sample type", name, size, err);
}

/* ---- for two files */

/* The row of a type that adds up and is called as row `k` of others; PCOL_NONE if there is none. */
static uint32_t find_alike(const struct pci_types *types, const struct pci_types *others,
                           uint32_t k)
{
    for (uint32_t i = 0; k != PCOL_NONE && !others->level[k] && i < types->count; i++)
        if (!types->level[i] && pci_str_equal(types->type[i], others->type[k]) &&
            pci_str_equal(types->unit[i], others->unit[k]))
            return i;
    return PCOL_NONE;
}

static pcol_status default_in(const pcol_file *file, const pcol_selection *selection,
                              struct pci_types *types, uint32_t *k, pcol_error *err)
{
    pcol_selection of_sources = PCOL_INIT(pcol_selection);
    struct pci_sample_filter picks;
    int named;
    if (selection)
        of_sources.source = selection->source;
    PCI_TRY(pci_types_open(file, types, err));
    pcol_status status = pci_sample_filter_open(file, &of_sources, &picks, err);
    if (status == PCOL_OK)
        status =
            pci_types_first_default(types, picks.sources, 0, picks.source_count, k, &named, err);
    pci_sample_filter_close(&picks);
    return status;
}

/* types: of the base and of the other. *k: a row of the other's. */
static pcol_status share_type(const pcol_file *const files[2], const pcol_selection *selection,
                              struct pci_types types[2], uint32_t *k, int *is_default,
                              pcol_error *err)
{
    uint32_t defaults[2];
    char lists[2][240];
    for (int i = 0; i < 2; i++)
        PCI_TRY(default_in(files[i], selection, &types[i], &defaults[i], err));
    *is_default = 1;
    *k = defaults[1];
    if (!types[0].count || !types[1].count)
        return PCOL_OK;
    uint32_t alike = find_alike(&types[0], &types[1], *k);
    *is_default = alike != PCOL_NONE && alike == defaults[0];
    if (alike != PCOL_NONE)
        return PCOL_OK;
    *k = find_alike(&types[1], &types[0], defaults[0]);
    for (uint32_t i = 0; i < types[1].count && *k == PCOL_NONE; i++)
        if (find_alike(&types[0], &types[1], i) != PCOL_NONE)
            *k = i;
    if (*k != PCOL_NONE)
        return PCOL_OK;
    for (int i = 0; i < 2; i++)
        list_types(&types[i], 0, lists[i], sizeof lists[i]);
    return pci_fail(err, PCOL_E_ARGUMENT,
                    "the profiles have no sample type in common: the base has %s; the other %s",
                    lists[0], lists[1]);
}

pcol_status pcol_query_shared_type(const pcol_file *base, const pcol_file *other,
                                   const pcol_selection *selection, pcol_str *type, pcol_str *unit,
                                   int *is_default, pcol_error *err)
{
    const pcol_file *const files[2] = {base, other};
    struct pci_types types[2] = {{0}};
    uint32_t k = PCOL_NONE;
    if (!base || !other || !type || !unit || !is_default)
        return pci_fail(err, PCOL_E_ARGUMENT, "no files or no place for the type");
    *type = *unit = (pcol_str){"", 0};
    PCI_TRY(pci_schema_verify(base, err));
    PCI_TRY(pci_schema_verify(other, err));
    pcol_status status = share_type(files, selection, types, &k, is_default, err);
    if (status == PCOL_OK && k != PCOL_NONE) { /* texts lie in the file */
        *type = types[1].type[k];
        *unit = types[1].unit[k];
    }
    pci_types_close(&types[0]);
    pci_types_close(&types[1]);
    return status;
}

/* ---- time */

/* Seconds that a unit of time lasts; 0 for any other unit. */
static double seconds_of(pcol_str unit)
{
    static const struct {
        const char *name;
        double seconds;
    } units[] = {{"nanoseconds", 1e-9},  {"nanosecond", 1e-9},  {"ns", 1e-9},
                 {"microseconds", 1e-6}, {"microsecond", 1e-6}, {"us", 1e-6},
                 {"milliseconds", 1e-3}, {"millisecond", 1e-3}, {"ms", 1e-3},
                 {"seconds", 1},         {"second", 1},         {"s", 1}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (equals(unit, units[i].name, strlen(units[i].name)))
            return units[i].seconds;
    }
    return 0;
}

static pcol_status source_number(const pcol_file *file, const char *column, uint64_t source,
                                 int64_t *value, int *valid, pcol_error *err)
{
    const struct pci_column *cells;
    *valid = 0;
    PCI_TRY(pci_want(file, "sources", column, PCI_TYPES_INT, &cells, err));
    return cells ? pci_get(file, cells, source, value, valid, err) : PCOL_OK;
}

/* How long a sample of one source stands for: its period if that is one of time, else its interval;
 * 0 if neither is known. */
static pcol_status sample_seconds(const pcol_file *file, uint64_t source, double *seconds,
                                  pcol_error *err)
{
    int64_t value;
    pcol_str unit;
    int valid;
    *seconds = 0;
    PCI_TRY(source_number(file, "period", source, &value, &valid, err));
    if (valid && value > 0) {
        double period = (double)value;
        PCI_TRY(source_text(file, "period_unit", source, &unit, &valid, err));
        *seconds = valid ? period * seconds_of(unit) : 0;
    }
    if (*seconds > 0)
        return PCOL_OK;
    PCI_TRY(source_number(file, "interval_ns", source, &value, &valid, err));
    if (valid && value > 0)
        *seconds = (double)value / 1e9;
    return PCOL_OK;
}

/* An Rprof file that was appended to may change its interval in the middle. */
static pcol_status segments_agree(const pcol_file *file, const uint8_t *selected,
                                  uint64_t source_count, double seconds, int *agree,
                                  pcol_error *err)
{
    const struct pci_column *source, *interval;
    uint64_t rows = pci_rows(file, "rprof_segments");
    *agree = 1;
    if (!rows)
        return PCOL_OK;
    PCI_TRY(pci_plausible(file, "rprof_segments", err));
    PCI_TRY(pci_need(file, "rprof_segments", "source", PCI_TYPES_ROW, &source, err));
    PCI_TRY(pci_want(file, "rprof_segments", "interval_us", PCI_TYPES_INT, &interval, err));
    for (uint64_t row = 0; interval && row < rows && *agree; row++) {
        int64_t of, us;
        int valid;
        PCI_TRY(pci_get(file, source, row, &of, &(int){0}, err));
        PCI_TRY(pci_get(file, interval, row, &us, &valid, err));
        if (selected && ((uint64_t)of >= source_count || !selected[of]))
            continue;
        *agree = valid && fabs((double)us / 1e6 - seconds) <= 1e-12 * seconds;
    }
    return PCOL_OK;
}

/* Known where it is the same for all sources selected. */
static pcol_status find_seconds(const struct pci_types *types, const uint8_t *selected,
                                uint64_t source_count, struct pci_query_type *measure,
                                pcol_error *err)
{
    double all = 0;
    int agree = 1;
    measure->seconds_per_value = seconds_of(measure->unit);
    if (measure->seconds_per_value > 0 || !equals(measure->type, "samples", 7) ||
        !equals(measure->unit, "count", 5))
        return PCOL_OK;
    for (uint64_t source = 0; source < source_count && agree; source++) {
        double one;
        if (selected && !selected[source])
            continue;
        PCI_TRY(sample_seconds(types->file, source, &one, err));
        if (all == 0)
            all = one;
        agree = one > 0 && fabs(all - one) <= 1e-12 * all;
    }
    if (agree && all > 0)
        PCI_TRY(segments_agree(types->file, selected, source_count, all, &agree, err));
    measure->seconds_per_value = agree ? all : 0;
    return PCOL_OK;
}

/* How long all selected sources took, one after the other; 0 if one does not say. */
static pcol_status find_duration(const pcol_file *file, const uint8_t *selected,
                                 uint64_t source_count, int64_t *duration, pcol_error *err)
{
    *duration = 0;
    for (uint64_t source = 0; source < source_count; source++) {
        int64_t one;
        int valid;
        if (selected && !selected[source])
            continue;
        PCI_TRY(source_number(file, "duration_ns", source, &one, &valid, err));
        if (!valid || one <= 0 || one > INT64_MAX - *duration) {
            *duration = 0;
            return PCOL_OK;
        }
        *duration += one;
    }
    return PCOL_OK;
}

/* ---- opening */

static pcol_status open_columns(const struct pci_types *types, uint32_t k,
                                struct pci_query_type *measure, pcol_error *err)
{
    measure->columns = pci_malloc((size_t)types->count + 1, sizeof *measure->columns);
    measure->alike = pci_calloc((size_t)types->count + 1, 1);
    if (!measure->columns || !measure->alike)
        return pci_fail_memory(err);
    measure->type = types->type[k];
    measure->unit = types->unit[k];
    for (uint32_t i = 0; i < types->count; i++) {
        if (!pci_types_alike(types, i, k))
            continue;
        measure->alike[i] = 1;
        if (!types->columns[i])
            continue;
        measure->columns[measure->column_count++] = i;
        measure->is_double |= types->columns[i]->desc->type == PCF_F64;
    }
    return PCOL_OK;
}

pcol_status pci_query_type_open(const struct pci_types *types, const uint8_t *selected,
                                uint64_t source_count, const char *name,
                                struct pci_query_type *measure, pcol_error *err)
{
    uint32_t k = PCOL_NONE;
    int named;
    *measure = (struct pci_query_type){0};
    PCI_TRY(find_duration(types->file, selected, source_count, &measure->duration_ns, err));
    if (name && (strcmp(name, "memory") == 0 || strcmp(name, "memory/bytes") == 0)) {
        /* A type that is really called so goes first. */
        for (uint32_t i = 0; i < types->count && k == PCOL_NONE; i++)
            k = is_called(types, i, name, strlen(name)) ? i : PCOL_NONE;
        if (k == PCOL_NONE && pci_memory_find(types, measure->levels)) {
            measure->is_memory = 1;
            measure->type = (pcol_str){"memory", 6};
            measure->unit = (pcol_str){"bytes", 5};
            return PCOL_OK;
        }
    }
    if (k == PCOL_NONE && name)
        PCI_TRY(find_named(types, name, &k, err));
    else if (k == PCOL_NONE)
        PCI_TRY(pci_types_first_default(types, selected, 0, source_count, &k, &named, err));
    if (k == PCOL_NONE) {
        /* Nothing to add up; what samples there are can still be picked. */
        measure->type = measure->unit = (pcol_str){"", 0};
        return PCOL_OK;
    }
    if (types->level[k])
        return fail_type(types, "a level is never summed:", types->type[k].data,
                         types->type[k].size, err);
    PCI_TRY(open_columns(types, k, measure, err));
    return find_seconds(types, selected, source_count, measure, err);
}

void pci_query_type_close(struct pci_query_type *measure)
{
    pci_free(measure->columns);
    pci_free(measure->alike);
    *measure = (struct pci_query_type){0};
}

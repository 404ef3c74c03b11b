/*
 * types.c - sample types of a file: row K of sample_types describes column value.K of samples
 *
 * Tests: tests/unit/test_model.c, tests/unit/test_interleaved_sources.c,
 * tests/unit/test_foreign_files.c.
 */
#include "model/types.h"

#include "model/memory.h"
#include "util/alloc.h"
#include "util/arg_check.h"
#include "util/hash.h"
#include "util/long_texts.h"
#include "util/strbuf.h"
#include "json/number.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static pcol_status find_columns(struct pci_types *types, pcol_error *err)
{
    const struct pci_table *samples = pci_table_find(types->file, "samples");
    if (!samples)
        return PCOL_OK;
    for (uint32_t i = 0; i < samples->column_count; i++) {
        const struct pci_column *column = &samples->columns[i];
        int64_t number = pci_parse_numbered_name(column->name, "value.");
        if (number < 0 || number >= (int64_t)types->count)
            continue;
        PCI_TRY(pci_find_column(types->file, "samples", column->name,
                                PCI_TYPE(PCF_I64) | PCI_TYPE(PCF_F64), &column, err));
        types->columns[number] = column;
        types->any_double |= column->desc->type == PCF_F64;
    }
    return PCOL_OK;
}

static pcol_status hash_names(struct pci_types *types, struct pci_text_memo *long_texts,
                              pcol_error *err)
{
    for (uint32_t i = 0; i < types->count; i++) {
        uint64_t type, unit;
        PCI_TRY(pci_text_memo_hash(long_texts, types->type[i], &type, err));
        PCI_TRY(pci_text_memo_hash(long_texts, types->unit[i], &unit, err));
        types->hash[i] = pci_hash_pair(pci_hash_pair(type, (uint64_t)types->ordinal[i]), unit);
    }
    return PCOL_OK;
}

static pcol_status read_names(struct pci_types *types, pcol_error *err)
{
    const pcol_file *file = types->file;
    const struct pci_column *type, *unit, *ordinal, *gauge;
    int valid;
    PCI_TRY(pci_require_column(file, "sample_types", "type", PCI_TYPES_TEXT, &type, err));
    PCI_TRY(pci_require_column(file, "sample_types", "unit", PCI_TYPES_TEXT, &unit, err));
    PCI_TRY(pci_find_column(file, "sample_types", "ordinal", PCI_TYPES_INT, &ordinal, err));
    PCI_TRY(pci_find_column(file, "sample_types", "level", PCI_TYPE(PCF_BOOL), &gauge, err));
    for (uint32_t i = 0; i < types->count; i++) {
        PCI_TRY(pci_get_str(file, type, i, &types->type[i], &valid, err));
        PCI_TRY(pci_get_str(file, unit, i, &types->unit[i], &valid, err));
        PCI_TRY(pci_get(file, ordinal, i, &types->ordinal[i], &valid, err));
        types->any_ordinal |= types->ordinal[i] > 0;
        if (gauge) {
            int64_t value;
            PCI_TRY(pci_get(file, gauge, i, &value, &valid, err));
            types->is_gauge[i] = value != 0;
        }
    }
    struct pci_text_memo long_texts = {0};
    pcol_status status = hash_names(types, &long_texts, err);
    pci_text_memo_clear(&long_texts);
    return status;
}

static pcol_status open_types(struct pci_types *types, pcol_error *err)
{
    const pcol_file *file = types->file;
    uint64_t rows = pci_rows(file, "sample_types");
    if (rows > PCF_MAX_COLUMNS)
        return pci_corrupt(err, "sample_types", NULL, PCOL_POSITION_UNKNOWN,
                           "more types than a table can have columns");
    types->count = (uint32_t)rows;
    PCI_TRY(PCI_CALLOC(types->columns, (size_t)rows + 1, err));
    PCI_TRY(PCI_CALLOC(types->type, (size_t)rows + 1, err));
    PCI_TRY(PCI_CALLOC(types->unit, (size_t)rows + 1, err));
    PCI_TRY(PCI_CALLOC(types->ordinal, (size_t)rows + 1, err));
    PCI_TRY(PCI_CALLOC(types->is_gauge, (size_t)rows + 1, err));
    PCI_TRY(PCI_CALLOC(types->hash, (size_t)rows + 1, err));
    PCI_TRY(find_columns(types, err));
    PCI_TRY(read_names(types, err));
    PCI_TRY(pci_find_column(file, "samples", "source", PCI_TYPES_ROW, &types->source, err));
    PCI_TRY(pci_require_column(file, "source_types", "source", PCI_TYPES_ROW, &types->list_source,
                               err));
    PCI_TRY(pci_require_column(file, "source_types", "sample_type", PCI_TYPES_ROW,
                               &types->list_type, err));
    types->list_rows = pci_rows(file, "source_types");
    return pci_check_type_counts(file, err);
}

pcol_status pci_types_open(const pcol_file *file, struct pci_types *types, pcol_error *err)
{
    pcol_status status;
    *types = (struct pci_types){.file = file};
    status = open_types(types, err);
    if (status != PCOL_OK)
        pci_types_close(types);
    return status;
}

void pci_types_close(struct pci_types *types)
{
    pci_free(types->columns);
    pci_free(types->type);
    pci_free(types->unit);
    pci_free(types->ordinal);
    pci_free(types->is_gauge);
    pci_free(types->hash);
    *types = (struct pci_types){0};
}

pcol_status pci_types_verify(const struct pci_types *types, pcol_error *err)
{
    static const char *const names[][2] = {
        {"sample_types", "type"},  {"sample_types", "unit"},   {"sample_types", "ordinal"},
        {"sample_types", "level"}, {"source_types", "source"}, {"source_types", "sample_type"}};
    const struct pci_column *column;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        PCI_TRY(pci_find_verified_column(types->file, names[i][0], names[i][1], UINT32_MAX, &column,
                                         err));
    for (uint32_t i = 0; i < types->count; i++)
        if (types->columns[i])
            PCI_TRY(pci_verify(types->file, types->columns[i], err));
    return types->source ? pci_verify(types->file, types->source, err) : PCOL_OK;
}

/* Binary search for the first row of source_types whose source is not below `source`. */
static pcol_status find_list_start(const struct pci_types *types, uint64_t source, uint64_t *row,
                                   pcol_error *err)
{
    uint64_t low = 0, high = types->list_rows;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        int64_t value;
        PCI_TRY(pci_get(types->file, types->list_source, middle, &value, &(int){0}, err));
        if ((uint64_t)value < source)
            low = middle + 1;
        else
            high = middle;
    }
    *row = low;
    return PCOL_OK;
}

pcol_status pci_types_of_source(const struct pci_types *types, uint64_t source, uint32_t *list,
                                uint32_t *count, pcol_error *err)
{
    uint64_t row;
    *count = 0;
    if (types->list_rows == 0) {
        while (*count < types->count) {
            list[*count] = *count;
            ++*count;
        }
        return PCOL_OK;
    }
    PCI_TRY(find_list_start(types, source, &row, err));
    for (; row < types->list_rows; row++) {
        int64_t value;
        PCI_TRY(pci_get(types->file, types->list_source, row, &value, &(int){0}, err));
        if ((uint64_t)value != source)
            break;
        PCI_TRY(pci_get(types->file, types->list_type, row, &value, &(int){0}, err));
        if ((uint64_t)value >= types->count || *count == types->count)
            return pci_corrupt(err, "source_types", "sample_type", row,
                               "sample type %llu is not one of the %u", (unsigned long long)value,
                               (unsigned)types->count);
        list[(*count)++] = (uint32_t)value;
    }
    return PCOL_OK;
}

/* ---- one type ---- */

/* 1 if the name is "TYPE/UNIT" of a row. */
static int has_whole_name(const struct pci_types *types, uint32_t row, pcol_str name)
{
    pcol_str type = types->type[row], unit = types->unit[row];
    return name.size == type.size + 1 + unit.size && name.data[type.size] == '/' &&
           pci_str_equal((pcol_str){name.data, type.size}, type) &&
           pci_str_equal((pcol_str){name.data + type.size + 1, unit.size}, unit);
}

/* 1 if the name is "TYPE" or "TYPE/UNIT" of a row. */
static int is_named(const struct pci_types *types, uint32_t row, const char *name)
{
    pcol_str whole = {name, strlen(name)};
    if (has_whole_name(types, row, whole))
        return 1;
    if (!pci_str_equal(whole, types->type[row]))
        return 0;
    /* The type a/b has the name of the type a in b, which has precedence. */
    uint32_t other = strchr(name, '/') ? 0 : types->count;
    while (other < types->count && !has_whole_name(types, other, whole))
        other++;
    return other == types->count;
}

int pci_types_is_requested(const struct pci_types *types, uint32_t row,
                           const struct pci_requested_type *requested)
{
    const pcol_sample_type *exact = requested->exact;
    if (!exact)
        return types->ordinal[row] == 0 && is_named(types, row, requested->name);
    return types->ordinal[row] == exact->ordinal && pci_str_equal(types->type[row], exact->type) &&
           pci_str_equal(types->unit[row], exact->unit);
}

pcol_status pci_types_fail_units(const char *name, pcol_str type, pcol_str unit,
                                 pcol_str other_type, pcol_str other_unit, pcol_error *err)
{
    enum { MOST = 60 };
    const pcol_str parts[] = {type, unit, other_type, other_unit};
    int size[4];
    for (int i = 0; i < 4; i++)
        size[i] = parts[i].size < MOST ? (int)parts[i].size : MOST;
    /* A slash may also be part of a type or a unit. */
    int is_whole = !pci_str_is(type, name) && !pci_str_is(other_type, name);
    return pci_fail(err, PCOL_E_ARGUMENT,
                    is_whole ? "'%.60s' is the name of two sample types, %.*s in %.*s and %.*s in "
                               "%.*s"
                             : "sample type '%.60s' has several units; give %.*s/%.*s or %.*s/%.*s",
                    name, size[0], type.data, size[1], unit.data, size[2], other_type.data, size[3],
                    other_unit.data);
}

pcol_status pci_types_choose(const struct pci_types *types, uint32_t row,
                             const struct pci_requested_type *requested, uint32_t *chosen,
                             pcol_error *err)
{
    if (!pci_types_is_requested(types, row, requested))
        return PCOL_OK;
    if (*chosen == PCOL_NONE)
        *chosen = row;
    else if (pci_str_same(types->unit[row], types->unit[*chosen]))
        *chosen = types->is_gauge[*chosen] ? row : *chosen;
    else
        return pci_types_fail_units(requested->name, types->type[*chosen], types->unit[*chosen],
                                    types->type[row], types->unit[row], err);
    return PCOL_OK;
}

/* Text of a source's cell; "" if absent. */
static pcol_status get_source_text(const struct pci_types *types, const char *name, uint64_t source,
                                   pcol_str *text, pcol_error *err)
{
    const struct pci_column *column;
    *text = (pcol_str){"", 0};
    PCI_TRY(pci_find_column(types->file, "sources", name, PCI_TYPES_TEXT, &column, err));
    if (!column || source >= pci_rows(types->file, "sources"))
        return PCOL_OK;
    return pci_get_str(types->file, column, source, text, &(int){0}, err);
}

static int is_sum(const struct pci_types *types, uint32_t row)
{
    return row != PCOL_NONE && !types->is_gauge[row];
}

/* The default of a source; *named: 1 if the source declares it. */
static pcol_status find_default(const struct pci_types *types, uint64_t source,
                                const uint32_t *list, uint32_t count, uint32_t *row, int *named,
                                pcol_error *err)
{
    pcol_str declared, type;
    PCI_TRY(get_source_text(types, "default_sample_type", source, &declared, err));
    PCI_TRY(get_source_text(types, "type", source, &type, err));
    *row = PCOL_NONE;
    *named = 0;
    for (uint32_t i = 0; declared.size && i < count; i++)
        if (pci_str_equal(types->type[list[i]], declared) && !types->is_gauge[list[i]]) {
            *row = list[i];
            *named = 1;
            return PCOL_OK;
        }
    const struct pci_format_schema *schema = pci_format_schema(types->file, type);
    int last = schema && schema->last_type_is_default;
    for (uint32_t i = 0; i < count; i++)
        if (!types->is_gauge[list[i]] && (last || *row == PCOL_NONE))
            *row = list[i];
    if (*row == PCOL_NONE && count)
        *row = list[0];
    /* pprof takes the last type for a name that no type has. */
    *named = last && declared.size && count;
    return PCOL_OK;
}

/* The default type of a source: of its list the one that it declares, else the last for pprof, else
 * the first; a gauge only if there is no other; PCOL_NONE for an empty list. */
static pcol_status default_of_source(const struct pci_types *types, uint64_t source,
                                     const uint32_t *list, uint32_t count, uint32_t *row,
                                     pcol_error *err)
{
    int named;
    return find_default(types, source, list, count, row, &named, err);
}

static pcol_status find_first_default(const struct pci_types *types, const uint8_t *selected,
                                      uint64_t first, uint64_t end, uint32_t *list, uint32_t *row,
                                      int *named, pcol_error *err)
{
    *row = PCOL_NONE;
    *named = 0;
    for (uint64_t source = first; source < end; source++) {
        uint32_t count, default_type;
        pcol_str type;
        if (selected && !selected[source])
            continue;
        PCI_TRY(get_source_text(types, "type", source, &type, err));
        const struct pci_format_schema *schema = pci_format_schema(types->file, type);
        int is_pprof = schema && schema->last_type_is_default;
        if (is_sum(types, *row) && !is_pprof) /* it decides for no pprof before it */
            break;
        PCI_TRY(pci_types_of_source(types, source, list, &count, err));
        PCI_TRY(find_default(types, source, list, count, &default_type, named, err));
        int is_additive = default_type != PCOL_NONE && !types->is_gauge[default_type];
        if (*named || *row == PCOL_NONE || (is_additive && types->is_gauge[*row]))
            *row = default_type;
        if (*named || (is_additive && !is_pprof))
            break;
    }
    return PCOL_OK;
}

pcol_status pci_types_first_default(const struct pci_types *types, const uint8_t *selected,
                                    uint64_t first, uint64_t end, uint32_t *row, int *named,
                                    pcol_error *err)
{
    uint32_t *list = pci_malloc((size_t)types->count + 1, sizeof *list);
    *row = PCOL_NONE;
    *named = 0;
    pcol_status status =
        list ? find_first_default(types, selected, first, end, list, row, named, err)
             : pci_fail_memory(err);
    pci_free(list);
    return status;
}

int pci_types_equal(const struct pci_types *types, uint32_t a, uint32_t b)
{
    return pci_str_same(types->type[a], types->type[b]) &&
           pci_str_same(types->unit[a], types->unit[b]) && types->ordinal[a] == types->ordinal[b] &&
           types->is_gauge[a] == types->is_gauge[b];
}

uint32_t pci_types_find(const struct pci_types *types, const struct pci_hash *rows,
                        const struct pci_types *others, uint32_t row)
{
    uint64_t hash = others->hash[row];
    size_t at = pci_hash_start(rows, hash);
    uint32_t i;
    while ((i = pci_hash_next(rows, hash, &at)) != PCI_HASH_NONE)
        if (pci_str_equal(types->type[i], others->type[row]) &&
            pci_str_equal(types->unit[i], others->unit[row]) &&
            types->ordinal[i] == others->ordinal[row] &&
            types->is_gauge[i] == others->is_gauge[row])
            return i;
    return PCOL_NONE;
}

pcol_status pci_types_add(const struct pci_types *types, struct pci_hash *rows, uint32_t row,
                          uint32_t *first, pcol_error *err)
{
    *first = pci_types_find(types, rows, types, row);
    if (*first != PCOL_NONE)
        return PCOL_OK;
    *first = row;
    return pci_hash_add(rows, types->hash[row], row, err);
}

static int is_listed(const struct pci_types *types, const uint32_t *in_use, int units, uint32_t row)
{
    int listed = 0;
    for (uint32_t i = 0; i < row && !listed; i++)
        listed = (!in_use || in_use[i]) && !types->is_gauge[i] &&
                 pci_str_same(types->type[i], types->type[row]) &&
                 (!units || pci_str_same(types->unit[i], types->unit[row]));
    return listed;
}

void pci_types_list(const struct pci_types *types, const uint32_t *in_use,
                    enum pci_types_listing listing, char text[PCI_TYPES_LIST_SIZE])
{
    enum { MOST = 60 }; /* bytes of a name */
    int units = listing == PCI_LIST_UNITS;
    const size_t reserve = (units ? 2 * MOST : MOST) + 20;
    size_t size = PCI_TYPES_LIST_SIZE, used = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < types->count && used + reserve < size; i++) {
        pcol_str type = types->type[i], unit = units ? types->unit[i] : (pcol_str){"", 0};
        if ((!in_use || in_use[i]) && !types->is_gauge[i] && !is_listed(types, in_use, units, i))
            used += (size_t)snprintf(text + used, size - used, "%s%.*s%s%.*s", used ? ", " : "",
                                     (int)(type.size < MOST ? type.size : MOST), type.data,
                                     unit.size ? "/" : "",
                                     (int)(unit.size < MOST ? unit.size : MOST), unit.data);
    }
    for (uint32_t i = 0; i < types->count && listing == PCI_LIST_AND_MEMORY; i++)
        if (!types->is_gauge[i] && pci_str_equal(types->type[i], PCI_MEMORY_TYPE))
            listing = PCI_LIST_NAMES; /* it is listed */
    if (listing == PCI_LIST_AND_MEMORY && used + reserve < size)
        used += (size_t)snprintf(text + used, size - used, "%smemory", used ? ", " : "");
    if (!used)
        memcpy(text, "(none)", sizeof "(none)");
}

pcol_status pci_types_fail(const struct pci_types *types, const uint32_t *in_use,
                           pcol_status status, const char *problem, pcol_str name, int memory,
                           pcol_error *err)
{
    char list[PCI_TYPES_LIST_SIZE];
    pci_types_list(types, in_use, memory ? PCI_LIST_AND_MEMORY : PCI_LIST_NAMES, list);
    return pci_fail(err, status, "%s '%.*s'; use one of: %s", problem,
                    (int)(name.size < 60 ? name.size : 60), name.data, list);
}

pcol_str pci_requested_name(const struct pci_requested_type *requested,
                            char text[PCI_TYPE_NAME_SIZE])
{
    enum { MOST = 60 };
    const pcol_sample_type *exact = requested->exact;
    if (!exact)
        return (pcol_str){requested->name, strlen(requested->name)};
    int size = snprintf(text, PCI_TYPE_NAME_SIZE, "%.*s/%.*s",
                        exact->type.size < MOST ? (int)exact->type.size : MOST, exact->type.data,
                        exact->unit.size < MOST ? (int)exact->unit.size : MOST, exact->unit.data);
    return (pcol_str){text, size > 0 ? (size_t)size : 0};
}

static pcol_status select_type(const struct pci_types *types, const uint8_t *sources,
                               uint64_t first, uint64_t last,
                               const struct pci_requested_type *requested, uint32_t *list,
                               struct pci_selected_type *chosen, pcol_error *err)
{
    uint32_t count, row = PCOL_NONE, gauges[PCI_MEMORY_GAUGES];
    char name[PCI_TYPE_NAME_SIZE];
    int named, wanted = requested->name || requested->exact;
    if (!wanted)
        PCI_TRY(pci_types_first_default(types, sources, first, last + 1, &row, &named, err));
    if (row != PCOL_NONE && types->is_gauge[row])
        row = PCOL_NONE;
    for (uint64_t source = first; wanted && source <= last; source++) {
        if (sources && !sources[source])
            continue;
        PCI_TRY(pci_types_of_source(types, source, list, &count, err));
        for (uint32_t i = 0; i < count; i++)
            chosen->rows[list[i]] = 1;
    }
    for (uint32_t i = 0; wanted && i < types->count; i++)
        if (chosen->rows[i])
            PCI_TRY(pci_types_choose(types, i, requested, &row, err));
    if (wanted && pci_memory_is_requested(requested) && pci_memory_find(types, gauges) &&
        chosen->rows[gauges[0]])
        return pci_fail(err, PCOL_E_ARGUMENT,
                        "memory is derived from gauges by queries: exports cannot select it; that "
                        "to pprof has it among all types");
    if (row == PCOL_NONE)
        return wanted ? pci_types_fail(types, chosen->rows, PCOL_E_NOT_FOUND, "no sample type",
                                       pci_requested_name(requested, name), 0, err)
                      : PCOL_OK;
    chosen->type = types->type[row];
    chosen->unit = types->unit[row];
    if (types->is_gauge[row])
        return pci_fail(err, PCOL_E_ARGUMENT, "%.*s is a gauge, which is never summed",
                        (int)(chosen->type.size < 60 ? chosen->type.size : 60), chosen->type.data);
    for (uint32_t i = 0; i < types->count; i++)
        if (pci_types_equal(types, i, row)) {
            chosen->rows[chosen->count++] = i;
            chosen->is_double |= types->columns[i] && types->columns[i]->desc->type == PCF_F64;
        }
    return PCOL_OK;
}

pcol_status pci_types_select_among(const struct pci_types *types, const uint8_t *sources,
                                   uint64_t first, uint64_t last,
                                   const struct pci_requested_type *requested,
                                   struct pci_selected_type *chosen, pcol_error *err)
{
    memset(chosen, 0, sizeof *chosen);
    chosen->type = chosen->unit = (pcol_str){"", 0};
    chosen->rows = pci_calloc((size_t)types->count + 1, sizeof *chosen->rows);
    uint32_t *list = pci_calloc((size_t)types->count + 1, sizeof *list);
    pcol_status status = chosen->rows && list ? PCOL_OK : pci_fail_memory(err);
    PCI_THEN(status, select_type(types, sources, first, last, requested, list, chosen, err));
    pci_free(list);
    if (status != PCOL_OK) {
        pci_free(chosen->rows);
        chosen->rows = NULL;
    }
    return status;
}

pcol_status pci_types_select(const struct pci_types *types, uint64_t first, uint64_t last,
                             const char *wanted, struct pci_selected_type *chosen, pcol_error *err)
{
    struct pci_requested_type requested = {.name = wanted};
    return pci_types_select_among(types, NULL, first, last, &requested, chosen, err);
}

static int is_selected(const struct pci_selected_type *chosen, uint32_t row)
{
    for (uint32_t i = 0; i < chosen->count; i++)
        if (chosen->rows[i] == row)
            return 1;
    return 0;
}

pcol_status pci_types_has_others(const struct pci_types *types, uint64_t first, uint64_t last,
                                 const struct pci_selected_type *chosen, int *others,
                                 pcol_error *err)
{
    pcol_status status = PCOL_OK;
    uint32_t count, *list = pci_calloc((size_t)types->count + 1, sizeof *list);
    if (!list)
        return pci_fail_memory(err);
    *others = 0;
    for (uint64_t source = first; source <= last && !*others && status == PCOL_OK; source++) {
        status = pci_types_of_source(types, source, list, &count, err);
        for (uint32_t i = 0; status == PCOL_OK && i < count; i++)
            *others |= !is_selected(chosen, list[i]);
    }
    pci_free(list);
    return status;
}

pcol_status pcol_file_default_types(const pcol_file *file, uint64_t first_source, size_t count,
                                    uint32_t *sample_types, pcol_error *err)
{
    struct pci_types types;
    uint32_t *list = NULL, listed;
    if (!file || (count && !sample_types))
        return pci_fail(err, PCOL_E_ARGUMENT, "file and sample_types must not be NULL");
    uint64_t sources = pci_rows(file, "sources");
    if (first_source > sources || count > sources - first_source)
        return pci_fail(err, PCOL_E_ARGUMENT, "the file has %llu sources",
                        (unsigned long long)sources);
    PCI_TRY(pci_types_open(file, &types, err));
    list = pci_calloc((size_t)types.count + 1, sizeof *list);
    pcol_status status = list ? PCOL_OK : pci_fail_memory(err);
    for (size_t i = 0; i < count && status == PCOL_OK; i++) {
        status = pci_types_of_source(&types, first_source + i, list, &listed, err);
        PCI_THEN(status,
                 default_of_source(&types, first_source + i, list, listed, &sample_types[i], err));
    }
    pci_free(list);
    pci_types_close(&types);
    return status;
}

pcol_status pcol_file_default_type(const pcol_file *file, uint32_t *sample_type, pcol_error *err)
{
    struct pci_types types;
    int named;
    PCI_REQUIRE(sample_type, err);
    *sample_type = PCOL_NONE;
    PCI_REQUIRE(file, err);
    PCI_TRY(pci_check_row_count(file, "sources", err));
    PCI_TRY(pci_types_open(file, &types, err));
    pcol_status status = pci_types_first_default(&types, NULL, 0, pci_rows(file, "sources"),
                                                 sample_type, &named, err);
    pci_types_close(&types);
    return status;
}

/* ---- samples by source */

#define BATCH_ROWS 1024u
/* Limits: samples that are sorted, 4 bytes each, and samples of other sources that are passed. */
#define SORTED_SAMPLES ((uint64_t)1 << 24)
#define SORTED_PER_BYTE 4u
#define PASSED_SAMPLES ((uint64_t)1 << 28)
#define PASSED_PER_BYTE 64u

struct source_batch {
    const pcol_file *file;
    const struct pci_column *source;
    uint64_t rows;
    int64_t values[BATCH_ROWS];
    uint8_t valid[BATCH_ROWS];
};

static pcol_status read_sources(struct source_batch *walk, uint64_t row, uint64_t *count,
                                pcol_error *err)
{
    *count = walk->rows - row < BATCH_ROWS ? walk->rows - row : BATCH_ROWS;
    return pci_read(walk->file, walk->source, row, *count, walk->values, walk->valid, err);
}

/* Counts the samples of each source in turns->first[source + 1]. */
static pcol_status count_samples(struct pci_samples_by_source *turns, struct source_batch *walk,
                                 pcol_error *err)
{
    uint64_t count;
    for (uint64_t row = 0; row < walk->rows; row += count) {
        PCI_TRY(read_sources(walk, row, &count, err));
        for (uint64_t i = 0; i < count; i++) {
            if ((uint64_t)walk->values[i] >= turns->sources)
                return pci_corrupt(err, "samples", "source", row + i, "this source does not exist");
            turns->first[walk->values[i] + 1]++;
        }
    }
    return PCOL_OK;
}

static pcol_status sort_samples(struct pci_samples_by_source *turns, struct source_batch *walk,
                                pcol_error *err)
{
    uint64_t count;
    PCI_TRY(PCI_CALLOC(turns->first, (size_t)turns->sources + 1, err));
    PCI_TRY(PCI_MALLOC(turns->rows, (size_t)walk->rows, err));
    PCI_TRY(count_samples(turns, walk, err));
    for (uint64_t source = 0; source < turns->sources; source++)
        turns->first[source + 1] += turns->first[source];
    /* Each offset advances to that of the next source; restored below. */
    for (uint64_t row = 0; row < walk->rows; row += count) {
        PCI_TRY(read_sources(walk, row, &count, err));
        for (uint64_t i = 0; i < count; i++)
            turns->rows[turns->first[walk->values[i]]++] = (uint32_t)(row + i);
    }
    memmove(turns->first + 1, turns->first, (size_t)turns->sources * sizeof *turns->first);
    turns->first[0] = 0;
    return PCOL_OK;
}

pcol_status pci_samples_by_source_open(const pcol_file *file, const struct pci_column *source,
                                       struct pci_samples_by_source *turns, pcol_error *err)
{
    struct source_batch walk = {file, source, pci_rows(file, "samples"), {0}, {0}};
    uint64_t before = 0, count;
    uint64_t most = pci_file_limit(file, SORTED_SAMPLES, SORTED_PER_BYTE);
    *turns = (struct pci_samples_by_source){
        .sources = pci_rows(file, "sources"),
        .most = pci_file_limit(file, PASSED_SAMPLES, PASSED_PER_BYTE)};
    if (!source || turns->sources < 2) /* the samples are one range */
        return PCOL_OK;
    turns->in_order = 1;
    for (uint64_t row = 0; row < walk.rows && turns->in_order; row += count) {
        PCI_TRY(read_sources(&walk, row, &count, err));
        for (uint64_t i = 0; i < count; i++) {
            turns->in_order &= (uint64_t)walk.values[i] >= before;
            before = (uint64_t)walk.values[i];
        }
    }
    if (turns->in_order || walk.rows > (most < UINT32_MAX ? most : UINT32_MAX))
        return PCOL_OK;
    PCI_TRY(pci_check_row_count(file, "sources", err));
    return sort_samples(turns, &walk, err);
}

void pci_samples_by_source_close(struct pci_samples_by_source *turns)
{
    pci_free(turns->first);
    pci_free(turns->rows);
    *turns = (struct pci_samples_by_source){0};
}

int pci_samples_by_source_find(const struct pci_samples_by_source *turns, uint64_t source,
                               uint64_t *row)
{
    if (!turns->rows)
        return 0;
    uint32_t at = source < turns->sources ? turns->first[source] : 0;
    uint32_t last = source < turns->sources ? turns->first[source + 1] : 0, end = last;
    while (at < end) {
        uint32_t middle = at + (end - at) / 2;
        if (turns->rows[middle] < *row)
            at = middle + 1;
        else
            end = middle;
    }
    *row = at < last ? turns->rows[at] : UINT64_MAX;
    return 1;
}

pcol_status pci_samples_by_source_skip(struct pci_samples_by_source *turns, uint64_t row,
                                       pcol_error *err)
{
    if (turns->in_order)
        turns->next = row + 1;
    else if (++turns->passed > turns->most)
        return pci_fail(err, PCOL_E_LIMIT, "too many interleaved sources");
    return PCOL_OK;
}

pcol_status pci_types_counted_sources(const pcol_file *file, uint8_t *counted, uint64_t *count,
                                      pcol_error *err)
{
    const struct pci_column *type;
    uint64_t sources = pci_rows(file, "sources");
    *count = 0;
    PCI_TRY(pci_find_verified_column(file, "sources", "type", PCI_TYPES_TEXT, &type, err));
    for (uint64_t row = 0; type && row < sources; row++) {
        pcol_str text;
        int valid;
        PCI_TRY(pci_get_str(file, type, row, &text, &valid, err));
        const struct pci_format_schema *schema = pci_format_schema(file, text);
        counted[row] = schema && schema->row_is_sample;
        *count += counted[row];
    }
    return PCOL_OK;
}

pcol_status pci_types_to_integer(int64_t bits, int is_double, const struct pci_integer_form *form,
                                 uint64_t row, int64_t *whole, int *fraction, pcol_error *err)
{
    double error = form->are_sums ? 1e-9 : form->scale > 1 ? 8 * DBL_EPSILON : 0;
    if (!is_double && !__builtin_mul_overflow(bits, (int64_t)form->scale, whole))
        return PCOL_OK;
    double number = (double)bits;
    if (is_double)
        memcpy(&number, &bits, sizeof number);
    number *= form->scale;
    double rounded = round(number);
    if (!is_double || !(rounded >= -0x1p63 && rounded < 0x1p63)) { /* false for NaN */
        char text[PCI_NUMBER_SIZE];
        pci_number_format(number, text);
        return pci_fail_cell(err, PCOL_E_LOSS, "samples", NULL, row,
                             "%s cannot hold the value %s: its numbers have 64 bits", form->format,
                             text);
    }
    *fraction |= fabs(rounded - number) > error * fabs(number);
    *whole = (int64_t)rounded;
    return PCOL_OK;
}

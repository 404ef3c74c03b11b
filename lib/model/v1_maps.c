/*
 * v1_maps.c - maps of data model v1, built in one pass over the file
 *
 * v1 has no locations without a function, no samples without a location, and dense ids. Locations
 * therefore need a map, stacks one bit each, and samples a count per zone. Anything that v1 cannot
 * represent is reported here, before a row is read. Tests: tests/unit/test_v1.c.
 */
#include "model/v1.h"

#include "model/types.h"
#include "util/alloc.h"
#include "util/hash.h"
#include "util/strbuf.h"

#include <string.h>

/* has_start_line: none, that of the file, the least line of the function's locations. */
enum { NO_LINE, OWN_LINE, LEAST_LINE };

/* ---- functions */

/* Replaces '.' by '_' and "<GC>" by "gc", like the R package. */
static pcol_status make_name(struct pci_v1_name *name, pcol_error *err)
{
    pcol_str own = name->own;
    name->changed = own;
    if (pci_str_is(own, "<GC>"))
        name->changed = (pcol_str){"gc", 2};
    if (!own.size || !memchr(own.data, '.', own.size))
        return PCOL_OK;
    PCI_TRY(PCI_MALLOC(name->copy, own.size, err));
    for (size_t i = 0; i < own.size; i++)
        name->copy[i] = (char)(own.data[i] == '.' ? '_' : own.data[i]);
    name->changed.data = name->copy;
    return PCOL_OK;
}

/* Each distinct name is changed once. */
static pcol_status rename_function(struct pci_v1 *m, struct pci_hash *hash, pcol_str *name,
                                   pcol_error *err)
{
    uint64_t hash_value = pci_hash_place(*name);
    size_t slot = pci_hash_start(hash, hash_value);
    uint32_t id;
    while ((id = pci_hash_next(hash, hash_value, &slot)) != PCI_HASH_NONE)
        if (pci_str_same(m->renamed[id].own, *name))
            break;
    if (id == PCI_HASH_NONE) {
        PCI_TRY(PCI_GROW(m->renamed, m->renamed_capacity, m->renamed_count + 1, err));
        id = (uint32_t)m->renamed_count++;
        m->renamed[id] = (struct pci_v1_name){.own = *name};
        PCI_TRY(make_name(&m->renamed[id], err));
        PCI_TRY(pci_hash_add(hash, hash_value, id, err));
    }
    *name = m->renamed[id].changed;
    return PCOL_OK;
}

static pcol_status read_functions(struct pci_v1 *m, const pcol_table *functions,
                                  struct pci_hash *hash, pcol_error *err)
{
    const pcol_column *columns = functions->columns; /* id, name, system_name, filename, line */
    for (uint64_t row = 0; row < m->function_count; row++) {
        int valid, has_line;
        int64_t line;
        PCI_TRY(pcol_column_str(&columns[1], row, &m->names[row], &valid, err));
        PCI_TRY(pcol_column_str(&columns[2], row, &m->systems[row], NULL, err));
        PCI_TRY(pcol_column_str(&columns[3], row, &m->filenames[row], NULL, err));
        PCI_TRY(pcol_column_i64(&columns[4], row, &line, &has_line, err));
        m->start_lines[row] = has_line ? line : 0;
        m->has_start_line[row] = has_line ? OWN_LINE : NO_LINE;
        if (!m->systems[row].size) /* pprof: the same as the name, or unknown */
            m->systems[row] = m->names[row];
        if (!m->names[row].size)
            return pci_fail_cell(err, PCOL_E_LOSS, "functions", "name", row,
                                 "v1 cannot hold a function without a name");
        if (m->rename && pci_str_equal(m->names[row], m->systems[row]))
            PCI_TRY(rename_function(m, hash, &m->names[row], err));
    }
    return PCOL_OK;
}

/* *found: 1 if the format of a source renames functions like the R package does. */
static pcol_status has_renaming_source(const pcol_file *file, int *found, pcol_error *err)
{
    const struct pci_column *type;
    uint64_t rows = pci_rows(file, "sources");
    *found = 0;
    PCI_TRY(pci_find_column(file, "sources", "type", PCI_TYPES_TEXT, &type, err));
    PCI_TRY(pci_check_row_count(file, "sources", err));
    for (uint64_t row = 0; type && row < rows && !*found; row++) {
        pcol_str text;
        int valid;
        PCI_TRY(pci_get_str(file, type, row, &text, &valid, err));
        const struct pci_format_schema *schema = pci_format_schema(file, text);
        *found = schema && schema->renames_functions;
    }
    return PCOL_OK;
}

static pcol_status map_functions(struct pci_v1 *m, pcol_error *err)
{
    struct pci_hash hash = {0};
    pcol_table *functions;
    pcol_status status;
    size_t rows = (size_t)pci_rows(m->file, "functions");
    PCI_TRY(pci_check_row_count(m->file, "functions", err));
    PCI_TRY(has_renaming_source(m->file, &m->rename, err));
    m->function_count = rows;
    PCI_TRY(PCI_CALLOC(m->names, rows + 1, err));
    PCI_TRY(PCI_CALLOC(m->systems, rows + 1, err));
    PCI_TRY(PCI_CALLOC(m->filenames, rows + 1, err));
    PCI_TRY(PCI_CALLOC(m->start_lines, rows + 1, err));
    PCI_TRY(PCI_CALLOC(m->has_start_line, rows + 1, err));
    PCI_TRY(pci_v2_functions(m->file, &functions, err));
    status = read_functions(m, functions, &hash, err);
    pci_hash_clear(&hash);
    pci_table_free(functions);
    return status;
}

/* ---- locations */

/* A function starts at its smallest line, unless the file gives its start line. */
static pcol_status map_location(struct pci_v1 *m, uint64_t row, uint64_t function, pcol_error *err)
{
    int64_t line = 0;
    int valid = 0;
    if (function >= m->function_count)
        return pci_corrupt(err, "locations", "function", row,
                           "%llu is beyond the %llu rows of functions",
                           (unsigned long long)function, (unsigned long long)m->function_count);
    PCI_TRY(pci_get(m->file, m->line, row, &line, &valid, err));
    if (valid && line < 0)
        return pci_fail_cell(err, PCOL_E_LOSS, "locations", "line", row,
                             "v1 cannot hold the negative line %lld", (long long)line);
    m->location_rows[m->location_count++] = (uint32_t)row;
    m->location_ids[row] = (uint32_t)m->location_count;
    if (valid && (m->has_start_line[function] == NO_LINE ||
                  (m->has_start_line[function] == LEAST_LINE && line < m->start_lines[function]))) {
        m->has_start_line[function] = LEAST_LINE;
        m->start_lines[function] = line;
    }
    return PCOL_OK;
}

static pcol_status map_locations(struct pci_v1 *m, pcol_error *err)
{
    size_t rows = (size_t)m->stacks.locations;
    PCI_TRY(pci_check_row_count(m->file, "locations", err));
    PCI_TRY(pci_find_column(m->file, "locations", "function", PCI_TYPES_ROW, &m->function, err));
    PCI_TRY(pci_find_column(m->file, "locations", "line", PCI_TYPE(PCF_I64), &m->line, err));
    PCI_TRY(PCI_CALLOC(m->location_ids, rows + 1, err));
    PCI_TRY(PCI_CALLOC(m->location_rows, rows + 1, err));
    for (uint64_t row = 0; m->function && row < rows; row++) {
        int64_t function;
        int valid;
        PCI_TRY(pci_get(m->file, m->function, row, &function, &valid, err));
        if (valid)
            PCI_TRY(map_location(m, row, (uint64_t)function, err));
    }
    return PCOL_OK;
}

/* ---- stacks and samples */

static pcol_status read_stacks(struct pci_v1 *m, pcol_error *err)
{
    uint32_t *starts;
    pcol_status status = pci_stacks_starts(&m->stacks, &starts, err);
    for (uint64_t row = 0, n; row < m->stacks.stacks && status == PCOL_OK; row += n) {
        n = m->stacks.stacks - row < PCI_BATCH ? m->stacks.stacks - row : PCI_BATCH;
        status = pci_stacks_read(&m->stacks, starts, row, (size_t)n, m->nodes + row, err);
    }
    pci_free(starts);
    return status;
}

static pcol_status map_stacks(struct pci_v1 *m, pcol_error *err)
{
    PCI_TRY(pci_check_row_count(m->file, "stacks", err));
    PCI_TRY(PCI_CALLOC(m->included_stacks, (size_t)(m->stacks.stacks / 8 + 1), err));
    PCI_TRY(PCI_CALLOC(m->nodes, (size_t)m->stacks.stacks + 1, err));
    PCI_TRY(read_stacks(m, err));
    for (uint64_t row = 1; row < m->stacks.stacks; row++) {
        const struct pci_stack_node *node = &m->nodes[row];
        int is_included = pci_v1_includes_stack(m, node->parent);
        for (uint64_t i = 0; i < node->count && !is_included; i++)
            is_included = m->location_ids[node->first + i] != 0;
        m->included_stacks[row / 8] |= (uint8_t)(is_included << (row % 8));
    }
    return PCOL_OK;
}

static pcol_status find_counted(struct pci_v1 *m, const struct pci_types *types,
                                const struct pci_v1_counted *counted, pcol_error *err)
{
    const struct pci_selected_type *type = counted->type;
    m->counted_sources = counted->sources;
    m->is_only_counted = counted->only;
    m->has_counts = pci_str_is(type->type, "samples") && pci_str_is(type->unit, "count");
    PCI_TRY(PCI_CALLOC(m->counted, (size_t)type->count + 1, err));
    for (uint32_t i = 0; i < type->count; i++)
        if (types->columns[type->rows[i]])
            m->counted[m->counted_count++] = types->columns[type->rows[i]];
    for (uint32_t i = 0; i < m->counted_count; i++)
        PCI_TRY(pci_verify(m->file, m->counted[i], err));
    if (m->counted_sources)
        PCI_TRY(
            pci_find_verified_column(m->file, "samples", "source", PCI_TYPES_ROW, &m->source, err));
    return PCOL_OK;
}

/* The sample type samples/count, and its column. */
static void find_count(struct pci_v1 *m, const struct pci_types *types)
{
    for (uint32_t k = 0; k < types->count && !m->value; k++) {
        const struct pci_column *column = types->columns[k];
        if (!pci_str_is(types->type[k], "samples") || !pci_str_is(types->unit[k], "count") ||
            types->is_gauge[k] || types->ordinal[k] || (column && column->desc->type != PCF_I64))
            continue;
        m->has_count_type = 1;
        m->value = column;
    }
}

static pcol_status fail_type(pcol_error *err)
{
    return pci_fail_cell(err, PCOL_E_LOSS, "sample_types", NULL, PCOL_POSITION_UNKNOWN,
                         "v1 can only hold samples of type samples/count");
}

/* v1 has one sample type. */
static pcol_status find_value(struct pci_v1 *m, const struct pci_v1_counted *counted,
                              pcol_error *err)
{
    struct pci_types types;
    pcol_status status = PCOL_OK;
    PCI_TRY(pci_types_open(m->file, &types, err));
    if (counted)
        status = find_counted(m, &types, counted, err);
    if (!counted || (counted->sources && !counted->only) || m->has_counts)
        find_count(m, &types);
    pci_types_close(&types);
    if (!counted && !m->value && pci_rows(m->file, "samples"))
        return fail_type(err);
    return status == PCOL_OK && m->value ? pci_verify(m->file, m->value, err) : status;
}

/* Values of samples/count for the samples of sources that are not counted. */
static pcol_status set_uncounted(const struct pci_v1 *m, uint64_t row, size_t n, int64_t *values,
                                 uint8_t *valid, pcol_error *err)
{
    int64_t sources[PCI_BATCH] = {0}, counts[PCI_BATCH];
    uint8_t has[PCI_BATCH] = {0};
    if (m->source)
        PCI_TRY(pci_read(m->file, m->source, row, n, sources, has, err));
    memset(has, 0, sizeof has);
    if (m->value)
        PCI_TRY(pci_read(m->file, m->value, row, n, counts, has, err));
    for (size_t i = 0; i < n; i++) {
        if (m->counted_sources[sources[i]])
            continue;
        valid[i] = !m->is_only_counted;
        values[i] = has[i] ? counts[i] : 0;
    }
    return PCOL_OK;
}

pcol_status pci_v1_values(const struct pci_v1 *maps, uint64_t row, size_t n, int64_t *values,
                          uint8_t *valid, pcol_error *err)
{
    int64_t cells[PCI_BATCH];
    uint8_t has[PCI_BATCH];
    if (!maps->counted)
        return pci_read(maps->file, maps->value, row, n, values, valid, err);
    memset(valid, 0, n);
    for (uint32_t k = 0; k < maps->counted_count; k++) {
        PCI_TRY(pci_read(maps->file, maps->counted[k], row, n, cells, has, err));
        for (size_t i = 0; i < n; i++) {
            if (has[i])
                values[i] = maps->has_counts && maps->counted[k] == maps->value ? cells[i] : 1;
            valid[i] |= has[i];
        }
    }
    return maps->counted_sources ? set_uncounted(maps, row, n, values, valid, err) : PCOL_OK;
}

static pcol_status count_batch(struct pci_v1 *m, uint64_t row, size_t n, pcol_error *err)
{
    int64_t stacks[PCI_BATCH], values[PCI_BATCH];
    uint8_t has_stack[PCI_BATCH], has_value[PCI_BATCH];
    PCI_TRY(pci_read(m->file, m->stack, row, n, stacks, has_stack, err));
    PCI_TRY(pci_v1_values(m, row, n, values, has_value, err));
    for (size_t i = 0; i < n; i++) {
        if (m->counted && !has_value[i]) {
            m->other_samples++;
            continue;
        }
        if (!has_stack[i])
            continue;
        if ((uint64_t)stacks[i] >= m->stacks.stacks)
            return pci_corrupt(err, "samples", "stack", row + i,
                               "%llu is beyond the %llu rows of stacks",
                               (unsigned long long)stacks[i], (unsigned long long)m->stacks.stacks);
        if (!pci_v1_includes_stack(m, (uint64_t)stacks[i]))
            continue;
        if (!m->value && (!has_value[i] || values[i] < 1))
            return fail_type(err);
        if (!has_value[i] || values[i] < 1 || values[i] > INT32_MAX)
            return pci_fail_cell(err, PCOL_E_LOSS, "samples", m->value->name, row + i,
                                 "v1 can only hold values from 1 to 2147483647");
        m->sample_count++;
    }
    return PCOL_OK;
}

static pcol_status map_samples(struct pci_v1 *m, const struct pci_v1_counted *counted,
                               pcol_error *err)
{
    uint64_t rows = pci_rows(m->file, "samples");
    PCI_TRY(find_value(m, counted, err));
    PCI_TRY(pci_find_column(m->file, "samples", "stack", PCI_TYPES_ROW, &m->stack, err));
    if (!m->stack || !rows)
        return PCOL_OK;
    PCI_TRY(pci_verify(m->file, m->stack, err));
    for (uint64_t row = 0; row < rows; row += PCI_BATCH) {
        if (row % PCI_ZONE == 0) {
            PCI_TRY(PCI_GROW(m->zones, m->zone_capacity, m->zone_count + 1, err));
            m->zones[m->zone_count++] = m->sample_count;
        }
        PCI_TRY(
            count_batch(m, row, rows - row < PCI_BATCH ? (size_t)(rows - row) : PCI_BATCH, err));
    }
    return PCOL_OK;
}

/* All columns are read completely: verifies their checksums first. */
static pcol_status verify_tables(const pcol_file *file, pcol_error *err)
{
    static const char *const tables[] = {"strings", "functions",       "locations",
                                         "stacks",  "location_groups", "sample_types"};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        const struct pci_table *table = pci_table_find(file, tables[i]);
        for (uint32_t k = 0; table && k < table->column_count; k++)
            PCI_TRY(pci_verify(file, &table->columns[k], err));
    }
    return PCOL_OK;
}

static pcol_status build_maps(struct pci_v1 *m, const struct pci_v1_counted *counted,
                              pcol_error *err)
{
    PCI_TRY(verify_tables(m->file, err));
    PCI_TRY(pci_check_row_count(m->file, "samples", err));
    PCI_TRY(pci_stacks_open(m->file, &m->stacks, err));
    PCI_TRY(map_functions(m, err));
    PCI_TRY(map_locations(m, err));
    PCI_TRY(map_stacks(m, err));
    return map_samples(m, counted, err);
}

pcol_status pci_v1_open(const pcol_file *file, const struct pci_v1_counted *counted,
                        struct pci_v1 **maps, pcol_error *err)
{
    struct pci_v1 *m;
    pcol_status status;
    *maps = NULL;
    PCI_TRY(PCI_CALLOC(m, 1, err));
    m->file = file;
    status = build_maps(m, counted, err);
    if (status == PCOL_OK)
        *maps = m;
    else
        pci_v1_free(m);
    return status;
}

void pci_v1_free(struct pci_v1 *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < m->renamed_count; i++)
        pci_free(m->renamed[i].copy);
    pci_free(m->renamed);
    pci_free(m->location_ids);
    pci_free(m->location_rows);
    pci_free(m->names);
    pci_free(m->systems);
    pci_free(m->filenames);
    pci_free(m->start_lines);
    pci_free(m->has_start_line);
    pci_free(m->included_stacks);
    pci_free(m->nodes);
    pci_free(m->zones);
    pci_free(m->counted);
    pci_free(m);
}

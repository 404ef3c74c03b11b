/*
 * v1.c - the five tables of data model v1, over the maps of v1_maps.c
 *
 * Tests: tests/unit/test_v1.c, tests/unit/test_model.c.
 */
#include "model/v1.h"

#include "util/alloc.h"

#include <string.h>

/* ---- tables of one row */

static pcol_status str_constant(const pcol_column *column, uint64_t row, size_t count,
                                pcol_str *values, uint8_t *valid, pcol_error *err)
{
    const char *text = column->aux;
    (void)row;
    (void)err;
    for (size_t i = 0; i < count; i++)
        values[i] = (pcol_str){text, strlen(text)};
    memset(valid, 1, count);
    return PCOL_OK;
}

static void add_text(pcol_table *t, const char *name, const char *value, int key)
{
    pcol_column *column = pci_table_add(t, name, PCOL_STRING);
    column->aux = value;
    column->str = str_constant;
    column->primary_key = (uint8_t)key;
}

static pcol_status build_meta(const struct pci_v1 *m, pcol_table **table, pcol_error *err)
{
    PCI_TRY(pci_table_new(m->file, "meta", 1, 2, table, err));
    add_text(*table, "key", "version", 1);
    add_text(*table, "value", "1.0", 0);
    return PCOL_OK;
}

static pcol_status build_sample_types(const struct pci_v1 *m, pcol_table **table, pcol_error *err)
{
    PCI_TRY(pci_table_new(m->file, "sample_types", 1, 2, table, err));
    add_text(*table, "type", "samples", 0);
    add_text(*table, "unit", "count", 0);
    return PCOL_OK;
}

/* ---- samples: rows with a location that has a function */

struct sample_cursor {
    const struct pci_v1 *maps;
    uint64_t next, end; /* rows of samples */
    uint64_t batch_first;
    size_t batch_count;
    int64_t stacks[PCI_BATCH], values[PCI_BATCH];
    uint8_t has_stack[PCI_BATCH], has_value[PCI_BATCH];
};

static pcol_status load_batch(struct sample_cursor *c, pcol_error *err)
{
    const struct pci_v1 *m = c->maps;
    size_t n = c->end - c->next < PCI_BATCH ? (size_t)(c->end - c->next) : PCI_BATCH;
    c->batch_count = 0;
    PCI_TRY(pci_read(m->file, m->stack, c->next, n, c->stacks, c->has_stack, err));
    PCI_TRY(pci_v1_values(m, c->next, n, c->values, c->has_value, err));
    c->batch_first = c->next;
    c->batch_count = n;
    return PCOL_OK;
}

/* Finds the next included sample; *at is its index in the batch. */
static pcol_status find_sample(struct sample_cursor *c, size_t *at, pcol_error *err)
{
    for (;;) {
        if (c->next >= c->end)
            return pci_corrupt(err, "samples", "stack", PCOL_POSITION_UNKNOWN,
                               "the file changed while it was read");
        if (c->next >= c->batch_first + c->batch_count)
            PCI_TRY(load_batch(c, err));
        *at = (size_t)(c->next++ - c->batch_first);
        if (c->has_stack[*at] && c->has_value[*at] &&
            (uint64_t)c->stacks[*at] < c->maps->stacks.stacks &&
            pci_v1_includes_stack(c->maps, (uint64_t)c->stacks[*at]))
            return PCOL_OK;
    }
}

static pcol_status samples_open(const pcol_table *table, uint64_t row, void **cursor,
                                pcol_error *err)
{
    const struct pci_v1 *m = table->aux;
    struct sample_cursor *c;
    size_t low = 0, high = m->zone_count;
    pcol_status status = PCOL_OK;
    PCI_TRY(PCI_CALLOC(c, 1, err));
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (m->zones[middle] <= row)
            low = middle;
        else
            high = middle;
    }
    c->maps = m;
    c->next = (uint64_t)low * PCI_ZONE;
    c->end = pci_rows(m->file, "samples");
    for (uint64_t v1_row = m->zones[low]; v1_row < row && status == PCOL_OK; v1_row++)
        status = find_sample(c, &(size_t){0}, err);
    if (status == PCOL_OK)
        *cursor = c;
    else
        pci_free(c);
    return status;
}

static pcol_status samples_next(void *cursor, size_t count, struct pci_row_lanes *lanes,
                                pcol_error *err)
{
    struct sample_cursor *c = cursor;
    for (size_t i = 0; i < count; i++) {
        size_t at = 0;
        PCI_TRY(find_sample(c, &at, err));
        lanes->lane[0][i] = c->values[at];
        lanes->lane[1][i] = c->stacks[at];
    }
    return PCOL_OK;
}

static const struct pci_expander expander = {samples_open, samples_next, pci_free, NULL};

static pcol_status list_locations(const pcol_column *column, const struct pci_row_lanes *lanes,
                                  size_t at, int64_t **values, size_t *capacity, size_t *count,
                                  pcol_error *err)
{
    const struct pci_v1 *m = column->table->aux;
    uint32_t node = (uint32_t)lanes->lane[1][at];
    for (; node; node = m->nodes[node].parent) {
        const struct pci_stack_node *n = &m->nodes[node];
        PCI_TRY(pci_stacks_check_frames(&m->stacks, *count + n->count, err));
        for (uint64_t i = 0; i < n->count; i++) {
            void *grown = *values;
            if (!m->location_ids[n->first + i])
                continue;
            if (*count == *capacity && pci_grow(&grown, capacity, *count + 1, sizeof **values))
                return pci_fail_memory(err);
            *values = grown;
            (*values)[(*count)++] = m->location_ids[n->first + i];
        }
    }
    return PCOL_OK;
}

static pcol_status build_samples(struct pci_v1 *m, pcol_table **table, pcol_error *err)
{
    pcol_column *column;
    PCI_TRY(pci_table_new(m->file, "samples", m->sample_count, 2, table, err));
    (*table)->aux = m; /* owned by the file's models */
    (*table)->expander = &expander;
    pci_table_add_lane(*table, "value", PCOL_I64, 0, 0);
    column = pci_table_add(*table, "locations", PCOL_LIST);
    column->list = list_locations;
    column->references = "locations";
    return PCOL_OK;
}

/* ---- locations and functions */

static pcol_status bits_location(const pcol_column *column, uint64_t row, size_t count,
                                 int64_t *values, uint8_t *valid, pcol_error *err)
{
    const struct pci_v1 *m = column->table->aux;
    for (size_t i = 0; i < count; i++) {
        int present = 0;
        values[i] = 0;
        PCI_TRY(
            pci_get(m->file, column->source, m->location_rows[row + i], &values[i], &present, err));
        values[i] = present ? (int64_t)((uint64_t)values[i] + (uint64_t)column->offset) : 0;
    }
    memset(valid, 1, count);
    return PCOL_OK;
}

static pcol_status build_locations(struct pci_v1 *m, pcol_table **table, pcol_error *err)
{
    pcol_column *column;
    PCI_TRY(pci_table_new(m->file, "locations", m->location_count, 3, table, err));
    (*table)->aux = m;
    pci_table_add_id(*table, "location_id");
    column = pci_table_add(*table, "function_id", PCOL_I64);
    column->references = "functions";
    column->source = m->function;
    column->offset = 1;
    column->bits = bits_location;
    column = pci_table_add(*table, "line", PCOL_I64);
    column->source = m->line;
    column->bits = bits_location;
    return PCOL_OK;
}

static pcol_status str_function(const pcol_column *column, uint64_t row, size_t count,
                                pcol_str *values, uint8_t *valid, pcol_error *err)
{
    const pcol_str *texts = column->aux;
    (void)err;
    memcpy(values, texts + row, count * sizeof *values);
    memset(valid, 1, count);
    return PCOL_OK;
}

static pcol_status bits_start(const pcol_column *column, uint64_t row, size_t count,
                              int64_t *values, uint8_t *valid, pcol_error *err)
{
    const int64_t *lines = column->aux;
    (void)err;
    memcpy(values, lines + row, count * sizeof *values);
    memset(valid, 1, count);
    return PCOL_OK;
}

static pcol_status build_functions(struct pci_v1 *m, pcol_table **table, pcol_error *err)
{
    static const char *const names[] = {"name", "system_name", "filename"};
    const pcol_str *texts[] = {m->names, m->systems, m->filenames};
    pcol_column *column;
    PCI_TRY(pci_table_new(m->file, "functions", m->function_count, 5, table, err));
    (*table)->aux = m;
    pci_table_add_id(*table, "function_id");
    for (size_t i = 0; i < 3; i++) {
        column = pci_table_add(*table, names[i], PCOL_STRING);
        column->aux = texts[i];
        column->str = str_function;
    }
    column = pci_table_add(*table, "start_line", PCOL_I64);
    column->aux = m->start_lines;
    column->bits = bits_start;
    return PCOL_OK;
}

pcol_status pci_v1_table(const pcol_file *file, struct pci_v1 **maps, uint32_t index,
                         pcol_table **table, pcol_error *err)
{
    *table = NULL;
    if (!*maps)
        PCI_TRY(pci_v1_open(file, NULL, maps, err));
    switch (index) {
    case 0:
        return build_meta(*maps, table, err);
    case 1:
        return build_sample_types(*maps, table, err);
    case 2:
        return build_samples(*maps, table, err);
    case 3:
        return build_locations(*maps, table, err);
    default:
        return build_functions(*maps, table, err);
    }
}

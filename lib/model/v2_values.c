/*
 * v2_values.c - table sample_values: one row per value of a sample
 *
 * The value columns of a batch of samples are read together; each sample yields its non-null values
 * in the order of its source's types. If no value can be missing, row N belongs to sample N /
 * types; otherwise sample_zones.value_row, which is verified when the table is built, is the index.
 * Tests: tests/unit/test_model.c, suite columns.
 */
#include "model/types.h"

#include "util/alloc.h"

#include <string.h>

#define MAX_BATCH_CELLS 65536u /* limit of cells in the batch of a cursor */

/* The column type or unit. */
struct type_texts {
    const pcol_str *texts; /* by sample type */
    int64_t *codes;        /* in the pool; NULL: some text has none */
};

struct value_view {
    struct pci_types types;
    struct type_texts type, unit;
    const struct pci_column *zones;
    uint64_t samples, sources;
    int uniform; /* every sample has every type */
};

struct value_cursor {
    const struct value_view *view;
    uint64_t row;   /* next row to generate */
    uint64_t next;  /* sample after the current one */
    uint32_t *list; /* types of `list_source` */
    uint32_t list_count, position;
    uint64_t list_source; /* PCOL_POSITION_UNKNOWN: none yet */
    uint64_t batch_first; /* first sample of the batch */
    size_t batch_count, next_batch_size, max_batch_size;
    int64_t *values; /* `max_batch_size` for each type */
    uint8_t *valid;
    int64_t *sources;
};

static void values_close(void *cursor)
{
    struct value_cursor *c = cursor;
    pci_free(c->list);
    pci_free(c->values);
    pci_free(c->valid);
    pci_free(c->sources);
    pci_free(c);
}

static pcol_status new_cursor(const struct value_view *view, struct value_cursor **cursor,
                              pcol_error *err)
{
    struct value_cursor *c;
    size_t types = view->types.count + 1u;
    *cursor = NULL;
    PCI_TRY(PCI_CALLOC(c, 1, err));
    c->view = view;
    c->list_source = PCOL_POSITION_UNKNOWN;
    c->max_batch_size = MAX_BATCH_CELLS / types;
    c->max_batch_size = c->max_batch_size < 8           ? 8
                        : c->max_batch_size > PCI_BATCH ? PCI_BATCH
                                                        : c->max_batch_size;
    c->next_batch_size = 8;
    c->list = pci_malloc(types, sizeof *c->list);
    c->values = pci_malloc(types * c->max_batch_size, sizeof *c->values);
    c->valid = pci_malloc(types * c->max_batch_size, sizeof *c->valid);
    c->sources = pci_malloc(c->max_batch_size, sizeof *c->sources);
    if (!c->list || !c->values || !c->valid || !c->sources) {
        values_close(c);
        return pci_fail_memory(err);
    }
    *cursor = c;
    return PCOL_OK;
}

static pcol_status load_batch(struct value_cursor *c, pcol_error *err)
{
    const struct pci_types *types = &c->view->types;
    uint64_t left = c->view->samples - c->next;
    size_t n = left < c->next_batch_size ? (size_t)left : c->next_batch_size;
    c->batch_count = 0;
    for (uint32_t k = 0; k < types->count; k++) {
        size_t offset = k * c->max_batch_size;
        if (types->columns[k])
            PCI_TRY(pci_read(types->file, types->columns[k], c->next, n, c->values + offset,
                             c->valid + offset, err));
        else
            memset(c->valid + offset, 0, n);
    }
    if (types->source)
        PCI_TRY(pci_read(types->file, types->source, c->next, n, c->sources, NULL, err));
    else
        memset(c->sources, 0, n * sizeof *c->sources);
    c->batch_first = c->next;
    c->batch_count = n;
    c->next_batch_size =
        c->next_batch_size * 4 < c->max_batch_size ? c->next_batch_size * 4 : c->max_batch_size;
    return PCOL_OK;
}

static pcol_status enter_sample(struct value_cursor *c, pcol_error *err)
{
    const struct value_view *view = c->view;
    uint64_t source;
    if (c->next >= c->batch_first + c->batch_count)
        PCI_TRY(load_batch(c, err));
    source = (uint64_t)c->sources[c->next - c->batch_first];
    if (view->types.source && source >= view->sources)
        return pci_corrupt(err, "samples", "source", c->next,
                           "%llu is beyond the %llu rows of sources", (unsigned long long)source,
                           (unsigned long long)view->sources);
    /* Without source_types all sources have the same list. */
    if (c->list_source == PCOL_POSITION_UNKNOWN ||
        (view->types.list_rows && source != c->list_source)) {
        PCI_TRY(pci_types_of_source(&view->types, source, c->list, &c->list_count, err));
        c->list_source = source;
    }
    c->position = 0;
    c->next++;
    return PCOL_OK;
}

/* Finds the next value; *found is 0 after the last sample. */
static pcol_status find_value(struct value_cursor *c, uint32_t *type, int64_t *value, int *found,
                              pcol_error *err)
{
    *found = 0;
    for (;;) {
        while (c->position < c->list_count) {
            uint32_t k = c->list[c->position++];
            size_t cell = k * c->max_batch_size + (size_t)(c->next - 1 - c->batch_first);
            if (!c->valid[cell])
                continue;
            *type = k;
            *value = c->values[cell];
            *found = 1;
            c->row++;
            return PCOL_OK;
        }
        if (c->next >= c->view->samples)
            return PCOL_OK;
        PCI_TRY(enter_sample(c, err));
    }
}

/* As find_value(); E_CORRUPT at the end of the samples. */
static pcol_status require_value(struct value_cursor *c, uint32_t *type, int64_t *value,
                                 pcol_error *err)
{
    int found;
    PCI_TRY(find_value(c, type, value, &found, err));
    if (found)
        return PCOL_OK;
    return pci_corrupt(err, "sample_zones", "value_row", PCOL_POSITION_UNKNOWN,
                       "the samples have only %llu values", (unsigned long long)c->row);
}

static int64_t to_double_bits(int64_t integer)
{
    double value = (double)integer;
    memcpy(&integer, &value, sizeof integer);
    return integer;
}

static pcol_status values_next(void *cursor, size_t count, struct pci_row_lanes *lanes,
                               pcol_error *err)
{
    struct value_cursor *c = cursor;
    const struct pci_types *types = &c->view->types;
    for (size_t i = 0; i < count; i++) {
        uint32_t type = 0;
        int64_t value = 0;
        PCI_TRY(require_value(c, &type, &value, err));
        if (types->any_double && types->columns[type]->desc->type == PCF_I64)
            value = to_double_bits(value);
        lanes->lane[0][i] = (int64_t)(c->next - 1);
        lanes->lane[1][i] = type;
        lanes->lane[2][i] = value;
    }
    return PCOL_OK;
}

static pcol_status seek(struct value_cursor *c, uint64_t row, pcol_error *err)
{
    const struct value_view *view = c->view;
    if (view->uniform) {
        c->next = row / view->types.count;
        c->row = c->next * view->types.count;
    } else {
        uint64_t zone;
        PCI_TRY(pci_zones_find(view->types.file, view->zones, row, &zone, &c->row, err));
        c->next = zone * PCI_ZONE;
    }
    while (c->row < row) {
        uint32_t type = 0;
        int64_t value = 0;
        PCI_TRY(require_value(c, &type, &value, err));
    }
    return PCOL_OK;
}

static pcol_status values_open(const pcol_table *table, uint64_t row, void **cursor,
                               pcol_error *err)
{
    struct value_cursor *c;
    pcol_status status = new_cursor(table->aux, &c, err);
    if (!c)
        return status;
    status = seek(c, row, err);
    if (status == PCOL_OK)
        *cursor = c;
    else
        values_close(c);
    return status;
}

/* ---- verification of sample_zones.value_row */

/* Skips all values of the samples before `sample`. */
static pcol_status skip_samples(struct value_cursor *c, uint64_t sample, pcol_error *err)
{
    while (c->next < sample) {
        PCI_TRY(enter_sample(c, err));
        for (uint32_t i = 0; i < c->list_count; i++)
            c->row +=
                c->valid[c->list[i] * c->max_batch_size + (size_t)(c->next - 1 - c->batch_first)];
    }
    c->position = c->list_count;
    return PCOL_OK;
}

static pcol_status values_find(const pcol_table *table, uint64_t sample, uint64_t *row,
                               pcol_error *err)
{
    const struct value_view *view = table->aux;
    struct value_cursor *c;
    int64_t before;
    *row = table->rows;
    if (sample >= view->samples)
        return PCOL_OK;
    if (view->uniform) {
        *row = sample * view->types.count;
        return PCOL_OK;
    }
    PCI_TRY(pci_get(view->types.file, view->zones, sample / PCI_ZONE, &before, &(int){0}, err));
    PCI_TRY(new_cursor(view, &c, err));
    c->next = sample / PCI_ZONE * PCI_ZONE;
    c->row = (uint64_t)before;
    pcol_status status = skip_samples(c, sample, err);
    *row = c->row < table->rows ? c->row : table->rows;
    values_close(c);
    return status;
}

static const struct pci_expander expander = {values_open, values_next, values_close, values_find};

static pcol_status verify_zones(const struct value_view *view, pcol_error *err)
{
    struct value_cursor *c;
    pcol_status status =
        view->zones ? pci_check_row_count(view->types.file, "samples", err) : PCOL_OK;
    if (status != PCOL_OK || !view->zones)
        return status;
    status = new_cursor(view, &c, err);
    for (uint64_t zone = 0; status == PCOL_OK && zone < view->zones->desc->rows; zone++) {
        uint64_t sample = zone * PCI_ZONE < view->samples ? zone * PCI_ZONE : view->samples;
        if (view->uniform)
            c->row = sample * view->types.count;
        else
            status = skip_samples(c, sample, err);
        PCI_THEN(status, pci_zones_compare(view->types.file, view->zones, zone, c->row, err));
    }
    if (c)
        values_close(c);
    return status;
}

static pcol_status str_type(const pcol_column *column, const struct pci_row_lanes *lanes,
                            size_t count, pcol_str *values, uint8_t *valid, pcol_error *err)
{
    const struct type_texts *type = column->aux;
    (void)err;
    for (size_t i = 0; i < count; i++)
        values[i] = type->texts[lanes->lane[1][i]];
    memset(valid, 1, count);
    return PCOL_OK;
}

static pcol_status codes_type(const pcol_column *column, const struct pci_row_lanes *lanes,
                              size_t count, int64_t *values, uint8_t *valid, pcol_error *err)
{
    const struct type_texts *type = column->aux;
    (void)err;
    for (size_t i = 0; i < count; i++)
        values[i] = type->codes[lanes->lane[1][i]];
    memset(valid, 1, count);
    return PCOL_OK;
}

static pcol_status bits_ordinal(const pcol_column *column, const struct pci_row_lanes *lanes,
                                size_t count, int64_t *values, uint8_t *valid, pcol_error *err)
{
    const int64_t *ordinals = column->aux;
    (void)err;
    for (size_t i = 0; i < count; i++)
        values[i] = ordinals[lanes->lane[1][i]];
    memset(valid, 1, count);
    return PCOL_OK;
}

/* 1 if every sample has the same number of rows: no value column has nulls, and all sources have
 * the same list. */
static int is_uniform(const struct value_view *view)
{
    const struct pci_types *types = &view->types;
    for (uint32_t k = 0; k < types->count; k++) {
        if (!types->columns[k] || types->columns[k]->desc->flags & PCF_COLUMN_NULLABLE)
            return 0;
    }
    return types->count && types->list_rows == 0;
}

static void free_view(void *aux)
{
    struct value_view *view = aux;
    if (!view)
        return;
    pci_types_close(&view->types);
    pci_free(view->type.codes);
    pci_free(view->unit.codes);
    pci_free(view);
}

/* Nulls, which are shown as empty texts, and texts that are not of the pool have no code. */
static pcol_status read_codes(const pcol_file *file, const char *name, uint32_t count,
                              struct type_texts *type, pcol_error *err)
{
    const struct pci_column *column;
    int valid = 1;
    PCI_TRY(pci_require_column(file, "sample_types", name, PCI_TYPES_TEXT, &column, err));
    if (!column || column->desc->type != PCF_STRING)
        return PCOL_OK;
    PCI_TRY(PCI_CALLOC(type->codes, (size_t)count + 1, err));
    for (uint32_t i = 0; i < count && valid; i++)
        PCI_TRY(pci_get(file, column, i, &type->codes[i], &valid, err));
    if (!valid) {
        pci_free(type->codes);
        type->codes = NULL;
    }
    return PCOL_OK;
}

static pcol_status open_view(const pcol_file *file, pcol_table *table, struct value_view *view,
                             pcol_error *err)
{
    const struct pci_types *types = &view->types;
    view->samples = pci_rows(file, "samples");
    view->sources = pci_rows(file, "sources");
    PCI_TRY(pci_types_open(file, &view->types, err));
    view->type.texts = types->type;
    view->unit.texts = types->unit;
    PCI_TRY(read_codes(file, "type", types->count, &view->type, err));
    PCI_TRY(read_codes(file, "unit", types->count, &view->unit, err));
    PCI_TRY(pci_zones_total(file, "value_row", &view->zones, &table->rows, err));
    view->uniform = is_uniform(view);
    PCI_TRY(verify_zones(view, err));
    const struct pci_column *columns[] = {view->zones, types->source, types->list_source,
                                          types->list_type};
    PCI_TRY(pci_table_add_reads(table, columns, sizeof columns / sizeof *columns, err));
    return pci_table_add_reads(table, types->columns, types->count, err);
}

static void add_columns(pcol_table *table, const struct value_view *view)
{
    const struct pci_types *types = &view->types;
    pcol_column *column = pci_table_add_lane(table, "sample_id", PCOL_I64, 0, 1);
    column->order = PCI_SAMPLE_ID;
    column->primary_key = 1;
    column->references = "samples";
    column = pci_table_add(table, "type", PCOL_STRING);
    column->primary_key = 1;
    column->lane_str = str_type;
    column->lane_codes = view->type.codes ? codes_type : NULL;
    column->aux = &view->type;
    column = pci_table_add(table, "unit", PCOL_STRING);
    column->primary_key = 1;
    column->lane_str = str_type;
    column->lane_codes = view->unit.codes ? codes_type : NULL;
    column->aux = &view->unit;
    pci_table_add_lane(table, "value", types->any_double ? PCOL_F64 : PCOL_I64, 2, 0);
    if (types->any_ordinal) {
        column = pci_table_add(table, ".ord", PCOL_I64);
        column->primary_key = 1;
        column->lane_bits = bits_ordinal;
        column->aux = types->ordinal;
    }
}

pcol_status pci_v2_values(const pcol_file *file, pcol_table **table, pcol_error *err)
{
    pcol_table *t;
    struct value_view *view;
    pcol_status status;
    *table = NULL;
    PCI_TRY(pci_table_new(file, "sample_values", 0, 5, &t, err));
    t->aux = view = pci_calloc(1, sizeof *view);
    t->free_aux = free_view;
    t->expander = &expander;
    status = view ? open_view(file, t, view, err) : pci_fail_memory(err);
    if (status != PCOL_OK) {
        pci_table_free(t);
        return status;
    }
    add_columns(t, view);
    *table = t;
    return PCOL_OK;
}

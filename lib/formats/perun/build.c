/*
 * build.c - second pass: converts the records of a document to rows
 *
 * Samples are in the order of the document: plain resources before those by type, resources by
 * type, plain resources after them. The stack of a resource is its trace. A collector that writes
 * the outermost frame first (kperf) omits the innermost position from the trace: it is the uid.
 */
#include "formats/perun/perun.h"

#include "formats/perun/build.h"
#include "util/alloc.h"
#include "util/strbuf.h"

/* ---- table of types */

static int is_regular(const struct pci_perun *p, const struct pci_perun_type *t)
{
    const struct pci_perun_array *arrays = t->array_count ? p->arrays + t->first_array : NULL;
    for (uint32_t i = 0; i < t->array_count; i++)
        if (!arrays[i].length || arrays[i].length != arrays[0].length)
            return 0;
    /* Keys are compared in pairs; with more than 64 arrays, duplicates are assumed. */
    if (t->array_count > 64)
        return 0;
    for (uint32_t i = 0; i < t->array_count; i++)
        for (uint32_t k = 0; k < i; k++)
            if (arrays[i].key == arrays[k].key)
                return 0;
    return 1;
}

static pcol_status add_type(struct pci_perun *p, const struct pci_perun_out *out,
                            struct pci_perun_type *t, uint64_t row, pcol_error *err)
{
    pcol_builder *b = p->builder;
    pcol_str name = pci_string_pool_get(&p->names, t->name);
    struct pci_perun_record *record = &p->type_record;
    uint32_t number = PCOL_NONE;
    t->row = (uint32_t)row;
    PCI_TRY(pcol_builder_set_i64(b, out->type_source, row, p->import->source, err));
    if (t->resources_ordinal != PCOL_NONE)
        PCI_TRY(pcol_builder_set_i64(b, out->type_resources, row, t->resources_ordinal, err));
    if (t->map_ordinal != PCOL_NONE) {
        PCI_TRY(pcol_builder_set_i64(b, out->type_map, row, t->map_ordinal, err));
        PCI_TRY(pci_perun_read_record(p, &p->type_records, t->record, record, err));
        PCI_TRY(pci_perun_name_number(p, record, name, &number, err));
        p->cell_count = 0;
        PCI_TRY(pci_perun_push_record(p, record, 0, err));
        PCI_TRY(pci_perun_add_labels(p, out->types, row, p->cells, p->cell_count, err));
    }
    return number != PCOL_NONE
               ? pcol_builder_set_i64(b, out->type_number, row, number, err)
               : pcol_builder_set_str(b, out->type_name, row, name.data, name.size, err);
}

static pcol_status add_types(struct pci_perun *p, struct pci_perun_out *out, pcol_error *err)
{
    uint64_t row = out->first_type;
    for (size_t i = 0; i < p->map_count; i++)
        PCI_TRY(add_type(p, out, &p->types[p->map_order[i]], row++, err));
    for (size_t i = 0; i < p->type_count; i++)
        if (p->types[i].map_ordinal == PCOL_NONE)
            PCI_TRY(add_type(p, out, &p->types[i], row++, err));
    if (row >= PCOL_NONE)
        return pci_fail(err, PCOL_E_LIMIT, "more than 4294967294 types of resources");
    return PCOL_OK;
}

/* ---- snapshots and models */

static pcol_status add_snapshots(struct pci_perun *p, const struct pci_perun_out *out,
                                 pcol_error *err)
{
    pcol_builder *b = p->builder;
    uint64_t row = out->first_snapshot;
    for (uint64_t at = 0; at < pci_spill_size(&p->snapshots.data); row++) {
        struct pci_perun_record *record = &p->record;
        PCI_TRY(pci_perun_read_record(p, &p->snapshots, at, record, err));
        PCI_TRY(pcol_builder_set_i64(b, out->snapshot_source, row, p->import->source, err));
        PCI_TRY(
            pci_column_buffer_set(b->columns[out->snapshot_region], row, record->values[0], err));
        p->cell_count = 0;
        PCI_TRY(pci_perun_push_record(p, record, 1, err));
        PCI_TRY(pci_perun_add_labels(p, out->snapshots, row, p->cells, p->cell_count, err));
        at = record->next;
    }
    return PCOL_OK;
}

static pcol_status add_models(struct pci_perun *p, const struct pci_perun_out *out, pcol_error *err)
{
    pcol_builder *b = p->builder;
    uint64_t row = out->first_model;
    for (uint64_t at = 0; at < pci_spill_size(&p->models.data); row++) {
        struct pci_perun_record *record = &p->record;
        PCI_TRY(pci_perun_read_record(p, &p->models, at, record, err));
        PCI_TRY(pcol_builder_set_i64(b, out->model_source, row, p->import->source, err));
        if (record->owner != PCOL_NONE)
            PCI_TRY(pcol_builder_set_i64(b, out->model_snapshot, row,
                                         (int64_t)(out->first_snapshot + record->owner), err));
        p->cell_count = 0;
        PCI_TRY(pci_perun_push_record(p, record, 0, err));
        PCI_TRY(pci_perun_add_labels(p, out->models, row, p->cells, p->cell_count, err));
        at = record->next;
    }
    return PCOL_OK;
}

/* ---- plain resources */

/* Read the times of snapshots, which are those of their resources. */
static pcol_status read_times(struct pci_perun *p, struct pci_perun_out *out, pcol_error *err)
{
    uint64_t row = 0;
    PCI_TRY(PCI_CALLOC(out->times, (size_t)p->snapshots.count + 1, err));
    for (uint64_t at = 0; at < pci_spill_size(&p->snapshots.data); row++) {
        struct pci_perun_cell cell;
        PCI_TRY(pci_perun_read_record(p, &p->snapshots, at, &p->record, err));
        if (pci_perun_get_role(&p->record, PCI_PERUN_TIME, &cell))
            out->times[row] = pci_perun_parse_time(p, &cell);
        at = p->record.next;
    }
    return PCOL_OK;
}

static void replace_amount(struct pci_perun_cell *cell, const struct pci_perun_sample *sample)
{
    cell->kind = PCI_PERUN_VALUE;
    cell->value = sample->value_is_amount == PCI_PERUN_AS_INTEGER;
}

/* Replace cells that follow from the sample. */
static void replace_redundant_cells(struct pci_perun *p, const struct pci_perun_sample *sample,
                                    const uint32_t *roles)
{
    if (sample->value_is_amount != PCI_PERUN_IS_NOT)
        replace_amount(&p->cells[roles[PCI_PERUN_AMOUNT]], sample);
    if (sample->stack_is_trace)
        p->cells[roles[PCI_PERUN_TRACE_ROLE]].kind = PCI_PERUN_SAMPLE_STACK;
    if (sample->name_is_subtype) {
        p->cells[roles[PCI_PERUN_SUBTYPE]].kind = PCI_PERUN_SAMPLE_NAME;
        p->cells[roles[PCI_PERUN_SUBTYPE]].value = 0;
    }
    if (sample->uid_depth != PCOL_NONE) {
        p->cells[roles[PCI_PERUN_UID]].kind = PCI_PERUN_SAMPLE_FRAME;
        p->cells[roles[PCI_PERUN_UID]].value = sample->uid_depth;
    }
}

/* Add resources from offset *at of their records on. */
static pcol_status add_plain(struct pci_perun *p, struct pci_perun_out *out, uint64_t *at,
                             uint64_t count, pcol_error *err)
{
    pcol_builder *b = p->builder;
    for (uint64_t i = 0; i < count; i++) {
        struct pci_perun_sample sample = {0};
        struct pci_perun_record *record = &p->record;
        uint64_t row;
        PCI_TRY(pci_perun_read_record(p, &p->resources, *at, record, err));
        *at = record->next;
        for (int role = 0; role < PCI_PERUN_ROLES; role++)
            sample.has[role] =
                pci_perun_get_role(record, (enum pci_perun_role)role, &sample.roles[role]) != 0;
        if (record->owner != PCOL_NONE && !sample.has[PCI_PERUN_TIME])
            sample.time = out->times[record->owner];
        PCI_TRY(pci_perun_add_sample(p, out, &sample, &row, err));
        if (record->owner != PCOL_NONE)
            PCI_TRY(pcol_builder_set_i64(b, out->sample_snapshot, row,
                                         (int64_t)(out->first_snapshot + record->owner), err));
        p->cell_count = 0;
        PCI_TRY(pci_perun_push_record(p, record, 0, err));
        replace_redundant_cells(p, &sample, record->shape->roles);
        PCI_TRY(pci_perun_add_labels(p, PCI_T_SAMPLES, row, p->cells, p->cell_count, err));
    }
    return PCOL_OK;
}

/* ---- resources by type */

#define BLOCK 64u  /* rows of a type that are read at once */
#define ARRAYS 16u /* greatest number of arrays of a type for which that is done */

/* A block of cells of a type's arrays. */
struct block {
    const struct pci_perun_type *type;
    uint64_t first, rows; /* first row of the block; number of rows of the type */
    size_t count;
    uint8_t kinds[ARRAYS][BLOCK];
    int64_t values[ARRAYS][BLOCK];
};

static pcol_status read_block(struct pci_perun *p, struct block *b, uint64_t first, pcol_error *err)
{
    uint64_t left_rows = b->rows - first;
    b->first = first;
    b->count = left_rows < BLOCK ? (size_t)left_rows : BLOCK;
    for (uint32_t k = 0; k < b->type->array_count; k++) {
        uint64_t at = p->arrays[b->type->first_array + k].first + first;
        PCI_TRY(pci_spill_read(&p->cell_kinds, at, b->kinds[k], b->count, err));
        PCI_TRY(pci_spill_read(&p->cell_values, at * 8, b->values[k], b->count * 8, err));
    }
    return PCOL_OK;
}

/* Read the cells of row `i` of a type's arrays into p->cells. */
static pcol_status read_row(struct pci_perun *p, struct block *b, uint64_t i, pcol_error *err)
{
    const struct pci_perun_type *t = b->type;
    int at_once = t->array_count <= ARRAYS;
    if (at_once && t->array_count && i - b->first >= b->count)
        PCI_TRY(read_block(p, b, i, err));
    p->cell_count = 0;
    for (uint32_t k = 0; k < t->array_count; k++) {
        const struct pci_perun_array *a = &p->arrays[t->first_array + k];
        struct pci_perun_cell cell = {.key = a->key};
        if (at_once) {
            cell.kind = b->kinds[k][i - b->first];
            cell.value = b->values[k][i - b->first];
        } else {
            PCI_TRY(pci_spill_read(&p->cell_kinds, a->first + i, &cell.kind, 1, err));
            PCI_TRY(pci_spill_read(&p->cell_values, (a->first + i) * 8, &cell.value, 8, err));
        }
        PCI_TRY(pci_perun_push_cell(p, &cell, err));
    }
    return PCOL_OK;
}

static pcol_status add_typed(struct pci_perun *p, struct pci_perun_out *out, struct block *b,
                             struct pci_perun_sample *common, uint64_t i, pcol_error *err)
{
    const struct pci_perun_type *t = b->type;
    struct pci_perun_sample sample = *common;
    uint32_t amount = PCOL_NONE;
    uint64_t row;
    int has_own_roles = 0; /* the row itself determines its stack, time or sample type */
    PCI_TRY(read_row(p, b, i, err));
    for (uint32_t k = 0; k < t->array_count; k++)
        for (int role = 0; role < PCI_PERUN_ROLES; role++)
            if (p->cells[k].key == p->shapes.role_keys[role] && !common->has[role]) {
                sample.has[role] = 1;
                sample.roles[role] = p->cells[k];
                has_own_roles |= role != PCI_PERUN_AMOUNT;
                if (role == PCI_PERUN_AMOUNT)
                    amount = k;
            }
    PCI_TRY(pci_perun_add_sample(p, out, &sample, &row, err));
    if (!has_own_roles) { /* the other rows of the type share stack, time and sample type */
        common->common_known = 1;
        common->stack = sample.stack;
        common->time = sample.time;
        common->sample_type = sample.sample_type;
    }
    PCI_TRY(pcol_builder_set_i64(p->builder, out->sample_type, row, t->row, err));
    if (amount != PCOL_NONE && sample.value_is_amount != PCI_PERUN_IS_NOT)
        replace_amount(&p->cells[amount], &sample);
    return pci_perun_add_labels(p, PCI_T_SAMPLES, row, p->cells, p->cell_count, err);
}

static pcol_status add_arrays(struct pci_perun *p, struct pci_perun_out *out,
                              const struct pci_perun_type *t, uint64_t rows, pcol_error *err)
{
    pcol_builder *b = p->builder;
    for (uint32_t k = 0; k < t->array_count; k++, out->array_row++) {
        const struct pci_perun_array *a = &p->arrays[t->first_array + k];
        PCI_TRY(pcol_builder_set_i64(b, out->array_type, out->array_row, t->row, err));
        PCI_TRY(pci_column_buffer_set(b->columns[out->array_key], out->array_row, a->key, err));
        PCI_TRY(
            pcol_builder_set_i64(b, out->array_length, out->array_row, (int64_t)a->length, err));
        if (a->length == rows)
            continue;
        struct pci_perun_cell text = {.key = a->key};
        uint64_t node;
        PCI_TRY(pci_perun_text_begin(p, err));
        pci_json_put_begin(&p->writer, '[', err);
        for (uint64_t i = rows; i < a->length; i++) {
            struct pci_perun_cell cell = {.key = a->key};
            PCI_TRY(pci_spill_read(&p->cell_kinds, a->first + i, &cell.kind, 1, err));
            PCI_TRY(pci_spill_read(&p->cell_values, (a->first + i) * 8, &cell.value, 8, err));
            PCI_TRY(pci_perun_text_any_cell(p, &cell, err));
        }
        pci_json_put_end(&p->writer, ']', err);
        PCI_TRY(pci_perun_text_store(p, &text, err));
        PCI_TRY(pci_perun_add_nodes(p, text.value, PCI_NO_NODE, PCOL_NONE, &node, err));
        PCI_TRY(pcol_builder_set_i64(b, out->array_rest, out->array_row, (int64_t)node, err));
    }
    return PCOL_OK;
}

static pcol_status add_type_rows(struct pci_perun *p, struct pci_perun_out *out,
                                 const struct pci_perun_type *t, pcol_error *err)
{
    struct pci_perun_sample common = {0};
    struct block block;
    uint64_t rows = t->array_count ? p->arrays[t->first_array].length : 1;
    for (uint32_t k = 0; k < t->array_count; k++)
        if (p->arrays[t->first_array + k].length < rows)
            rows = p->arrays[t->first_array + k].length;
    if (t->map_ordinal != PCOL_NONE) {
        PCI_TRY(pci_perun_read_record(p, &p->type_records, t->record, &p->type_record, err));
        for (int role = 0; role < PCI_PERUN_ROLES; role++)
            common.has[role] = pci_perun_get_role(&p->type_record, (enum pci_perun_role)role,
                                                  &common.roles[role]) != 0;
    }
    block.type = t;
    block.rows = rows;
    block.first = block.count = 0;
    for (uint64_t i = 0; i < rows; i++)
        PCI_TRY(add_typed(p, out, &block, &common, i, err));
    return is_regular(p, t) ? PCOL_OK : add_arrays(p, out, t, rows, err);
}

/* ---- build */

static pcol_status add_resources(struct pci_perun *p, struct pci_perun_out *out, pcol_error *err)
{
    uint64_t at = 0;
    PCI_TRY(read_times(p, out, err));
    PCI_TRY(add_plain(p, out, &at, p->resource_count_before_types, err));
    for (size_t i = 0; i < p->order_count; i++)
        PCI_TRY(add_type_rows(p, out, &p->types[p->order[i]], err));
    return add_plain(p, out, &at, p->resources.count - p->resource_count_before_types, err);
}

static int is_kperf(const struct pci_perun *p)
{
    uint32_t name = p->facts[PCI_PERUN_COLLECTOR];
    if (name == PCOL_NONE)
        return 0;
    pcol_str text = pci_string_pool_get(&p->builder->strings, name);
    return pci_str_is(text, "kperf");
}

pcol_status pci_perun_build(struct pci_perun *p, pcol_error *err)
{
    pcol_source source = PCOL_INIT(pcol_source);
    struct pci_perun_out out = {0};
    p->outer_first = is_kperf(p);
    PCI_TRY(pci_import_source(p->import, &source, err));
    PCI_TRY(pci_builder_extra(p->builder, PCI_T_SOURCES, p->import->source, p->root, err));
    pcol_status status = pci_perun_out_open(p, &out, err);
    PCI_THEN(status, add_snapshots(p, &out, err));
    PCI_THEN(status, add_types(p, &out, err));
    PCI_THEN(status, add_resources(p, &out, err));
    PCI_THEN(status, add_models(p, &out, err));
    PCI_THEN(status, pci_perun_out_finish(p, &out, err));
    pci_perun_out_close(&out);
    return status;
}

/*
 * write.c - lossless writer: restores the document of a Perun profile
 *
 * Walks the tree of nodes of the source; at nodes of tag `table`, rows of that table are written.
 * All rows are in the order of the document, so each table is read once, with a cursor.
 */
#include "formats/perun/write.h"
#include "formats/document.h"
#include "formats/perun/perun.h"
#include "model/types.h"

#include "util/alloc.h"
#include "util/strbuf.h"

#include <string.h>

/* ---- opening */

static pcol_status open_columns(struct pci_perun_writer *w, pcol_error *err)
{
    const struct pci_column_request columns[] = {
        {"samples", "source", PCI_TYPES_ROW, &w->sample_source},
        {"samples", "resource_type", PCI_TYPES_ROW, &w->sample_type},
        {"samples", "snapshot", PCI_TYPES_ROW, &w->sample_snapshot},
        {"resource_types", "source", PCI_TYPES_ROW, &w->type_source},
        {"resource_types", "name", PCI_TYPES_TEXT, &w->type_name},
        {"resource_types", "number", PCI_TYPES_ROW, &w->type_number},
        {"resource_types", "map_ordinal", PCI_TYPES_ROW, &w->type_map},
        {"resource_types", "resources_ordinal", PCI_TYPES_ROW, &w->type_resources},
        {"snapshots", "source", PCI_TYPES_ROW, &w->snapshot_source},
        {"snapshots", "region", PCI_TYPES_TEXT, &w->snapshot_region},
        {"models", "source", PCI_TYPES_ROW, &w->model_source},
        {"models", "snapshot", PCI_TYPES_ROW, &w->model_snapshot},
        {"resource_arrays", "resource_type", PCI_TYPES_ROW, &w->array_type},
        {"resource_arrays", "key", PCI_TYPES_TEXT, &w->array_key},
        {"resource_arrays", "length", PCI_TYPES_ROW, &w->array_length},
        {"resource_arrays", "rest", PCI_TYPES_ROW, &w->array_rest},
    };
    PCI_TRY(pci_find_columns(w->file, columns, sizeof columns / sizeof *columns, err));
    w->sample_rows = pci_rows(w->file, "samples");
    w->type_rows = pci_rows(w->file, "resource_types");
    w->snapshot_rows = pci_rows(w->file, "snapshots");
    w->model_rows = pci_rows(w->file, "models");
    w->array_rows = pci_rows(w->file, "resource_arrays");
    return PCOL_OK;
}

static pcol_status open_writer(struct pci_perun_writer *w, pcol_error *err)
{
    const unsigned flags = PCI_JSON_BARE_NONFINITE | PCI_JSON_POINT | PCI_JSON_WTF8;
    PCI_TRY(open_columns(w, err));
    PCI_TRY(pci_values_open(&w->values, w->file, err));
    PCI_TRY(pci_keyed_open(&w->samples, w->file, "samples", err));
    PCI_TRY(pci_keyed_open(&w->types, w->file, "resource_types", err));
    PCI_TRY(pci_keyed_open(&w->snapshots, w->file, "snapshots", err));
    PCI_TRY(pci_keyed_open(&w->models, w->file, "models", err));
    return pci_json_writer_open(&w->json, w->export->sink, flags, err);
}

static void close_writer(struct pci_perun_writer *w)
{
    pci_keyed_close(&w->samples);
    pci_keyed_close(&w->types);
    pci_keyed_close(&w->snapshots);
    pci_keyed_close(&w->models);
    pci_values_close(&w->values);
    pci_json_writer_close(&w->json);
    pci_free(w->cells);
}

/* ---- rows of tables */

/* Move a cursor to the next row of the source; *more is 0 at the end. */
static pcol_status next_row(const struct pci_perun_writer *w, const struct pci_column *source,
                            uint64_t rows, uint64_t *row, int *more, pcol_error *err)
{
    for (*more = 0; *row < rows; (*row)++) {
        int64_t row_source;
        int valid;
        PCI_TRY(pci_get(w->file, source, *row, &row_source, &valid, err));
        if (row_source == (int64_t)w->source) {
            *more = 1;
            break;
        }
    }
    return PCOL_OK;
}

/* Write the rows of the current snapshot (or of none) as objects. */
static pcol_status write_rows(struct pci_perun_writer *w, struct pci_keyed_reader *keyed,
                              const struct pci_column *source,
                              const struct pci_column *snapshot_column, uint64_t rows,
                              uint64_t *row, pcol_error *err)
{
    pci_json_put_begin(&w->json, '[', err);
    for (;; (*row)++) {
        int64_t snapshot;
        int more, valid;
        PCI_TRY(next_row(w, source, rows, row, &more, err));
        if (!more)
            break;
        PCI_TRY(pci_get(w->file, snapshot_column, *row, &snapshot, &valid, err));
        if (valid != w->at_snapshots || (valid && (uint64_t)snapshot != w->snapshot))
            break;
        PCI_TRY(pci_keyed_row(keyed, *row, err));
        PCI_TRY(
            pci_members_json(&w->values, keyed->members, keyed->count, &w->json, NULL, NULL, err));
    }
    pci_json_put_end(&w->json, ']', err);
    return w->json.status;
}

static pcol_status write_marked_table(void *context, const struct pci_node_value *node,
                                      struct pci_json_writer *json, pcol_error *err);

static pcol_status write_snapshot(struct pci_perun_writer *w, pcol_error *err)
{
    w->at_snapshots = 1;
    PCI_TRY(pci_keyed_row(&w->snapshots, w->snapshot, err));
    /* Writing the members reads rows of other tables only. */
    PCI_TRY(pci_members_json(&w->values, w->snapshots.members, w->snapshots.count, &w->json,
                             write_marked_table, w, err));
    w->at_snapshots = 0;
    w->snapshot++;
    return w->json.status;
}

/* Write the region at the cursor: one object, or all rows of the same region as an array. */
static pcol_status write_region(struct pci_perun_writer *w, pcol_error *err)
{
    pcol_str region = {"", 0}, first = {"", 0};
    int more, valid;
    PCI_TRY(next_row(w, w->snapshot_source, w->snapshot_rows, &w->snapshot, &more, err));
    if (more && w->snapshot_region)
        PCI_TRY(pci_get_str(w->file, w->snapshot_region, w->snapshot, &first, &valid, err));
    if (more && pci_str_is(first, "global"))
        return write_snapshot(w, err);
    pci_json_put_begin(&w->json, '[', err);
    while (more) {
        PCI_TRY(pci_get_str(w->file, w->snapshot_region, w->snapshot, &region, &valid, err));
        if (region.size != first.size || memcmp(region.data, first.data, first.size) != 0)
            break;
        PCI_TRY(write_snapshot(w, err));
        PCI_TRY(next_row(w, w->snapshot_source, w->snapshot_rows, &w->snapshot, &more, err));
    }
    pci_json_put_end(&w->json, ']', err);
    return w->json.status;
}

/* Write the resources outside of snapshots: by type if the next one has a type, or if there is none
 * (types without resources), otherwise as a list. */
static pcol_status write_resources(struct pci_perun_writer *w, pcol_error *err)
{
    int64_t snapshot, type;
    int more, in_snapshot = 0, typed = 0;
    PCI_TRY(next_row(w, w->sample_source, w->sample_rows, &w->sample, &more, err));
    if (more && !w->at_snapshots) {
        PCI_TRY(pci_get(w->file, w->sample_snapshot, w->sample, &snapshot, &in_snapshot, err));
        PCI_TRY(pci_get(w->file, w->sample_type, w->sample, &type, &typed, err));
    }
    if (!w->at_snapshots && (typed || in_snapshot || !more))
        return pci_perun_write_types(w, err);
    return write_rows(w, &w->samples, w->sample_source, w->sample_snapshot, w->sample_rows,
                      &w->sample, err);
}

static pcol_status write_marked_table(void *context, const struct pci_node_value *node,
                                      struct pci_json_writer *json, pcol_error *err)
{
    struct pci_perun_writer *w = context;
    (void)json;
    if (pci_str_is(node->text, "samples"))
        return write_resources(w, err);
    if (pci_str_is(node->text, "models"))
        return write_rows(w, &w->models, w->model_source, w->model_snapshot, w->model_rows,
                          &w->model, err);
    if (pci_str_is(node->text, "snapshots") && !w->at_snapshots)
        return write_region(w, err);
    if (pci_str_is(node->text, "resource_types") && !w->at_snapshots)
        return pci_perun_write_map(w, err);
    return pci_corrupt(err, "nodes", "text", node->row, "not a table of a Perun profile");
}

/* ---- document */

static pcol_status check_all_written(const struct pci_perun_writer *w, pcol_error *err)
{
    uint64_t sample = w->sample, model = w->model, snapshot = w->snapshot;
    int more;
    PCI_TRY(next_row(w, w->sample_source, w->sample_rows, &sample, &more, err));
    if (more)
        return pci_corrupt(err, "samples", NULL, sample,
                           "the document does not contain the resource");
    PCI_TRY(next_row(w, w->model_source, w->model_rows, &model, &more, err));
    if (more)
        return pci_corrupt(err, "models", NULL, model, "the document does not contain the model");
    PCI_TRY(next_row(w, w->snapshot_source, w->snapshot_rows, &snapshot, &more, err));
    if (more)
        return pci_corrupt(err, "snapshots", NULL, snapshot,
                           "the document does not contain the snapshot");
    return PCOL_OK;
}

static pcol_status write_document(struct pci_perun_writer *w, uint64_t root, pcol_error *err)
{
    struct pci_value value = {.kind = PCI_VALUE_NODE, .as.i64 = (int64_t)root};
    PCI_TRY(open_writer(w, err));
    PCI_TRY(pci_value_json(&w->values, &value, &w->json, write_marked_table, w, err));
    PCI_TRY(check_all_written(w, err));
    return pci_json_writer_finish(&w->json, err);
}

/* ---- default sample type */

static int is_free(pcol_str type)
{
    static const char end[] = "(free)";
    size_t size = sizeof end - 1;
    return type.size >= size && !memcmp(type.data + type.size - size, end, size);
}

/* *name: the default type that the reader derives: that of the first resource whose subtype is not
 * free; empty without one. stored: a default type, so its subtype is not free, whatever its name
 * is. *any: some resource has a value. */
static pcol_status find_read_default(const struct pci_perun_writer *w,
                                     const struct pci_types *types, const uint32_t *list,
                                     uint32_t count, pcol_str stored, pcol_str *name, int *any,
                                     pcol_error *err)
{
    *name = (pcol_str){"", 0};
    *any = 0;
    for (uint64_t row = 0; row < w->sample_rows && !name->size; row++) {
        int64_t source;
        int valid;
        PCI_TRY(pci_get(w->file, w->sample_source, row, &source, &valid, err));
        for (uint32_t i = 0; (uint64_t)source == w->source && i < count && !name->size; i++) {
            int64_t bits;
            PCI_TRY(pci_get(w->file, types->columns[list[i]], row, &bits, &valid, err));
            *any |= valid;
            pcol_str type = types->type[list[i]];
            if (valid && (!is_free(type) || pci_str_equal(type, stored)))
                *name = type;
        }
    }
    return PCOL_OK;
}

/* Report that a selection changes the default type. */
static pcol_status check_default(const struct pci_perun_writer *w, struct pci_types *types,
                                 pcol_error *err)
{
    uint32_t count, *list;
    pcol_str name, stored;
    int valid, any = 0;
    PCI_TRY(pci_types_verify(types, err));
    PCI_TRY(pci_get_named_str(w->file, "sources", "default_sample_type", w->source, &stored, &valid,
                              err));
    if (!valid || !stored.size)
        return PCOL_OK;
    PCI_TRY(PCI_MALLOC(list, (size_t)types->count + 1, err));
    pcol_status status = pci_types_of_source(types, w->source, list, &count, err);
    PCI_THEN(status, find_read_default(w, types, list, count, stored, &name, &any, err));
    pci_free(list);
    if (status == PCOL_OK && any && !pci_str_equal(name, stored))
        pci_export_report_kind(w->export, PCI_KIND_DEFAULT_TYPE);
    return status;
}

const struct pci_capabilities pci_perun_capabilities = {
    .loss_prefix = "Perun cannot hold",
    .generic = PCI_KIND_BIT(EXACT) | PCI_KIND_BIT(FILES) | PCI_KIND_BIT(LINES) |
               PCI_KIND_BIT(DEFAULT_TYPE) /* reported by the exporter */};

pcol_status pci_perun_write(const struct pci_export *export, pcol_error *err)
{
    uint64_t root;
    PCI_TRY(pci_document_find(export, "perun", &root, err));
    if (root == PCI_NO_NODE)
        return pci_perun_write_generic(export, err);
    struct pci_perun_writer *w;
    PCI_TRY(PCI_CALLOC(w, 1, err));
    w->export = export;
    w->file = export->file;
    w->source = export->first_source;
    struct pci_types types;
    pcol_status status = pci_types_open(w->file, &types, err);
    if (status == PCOL_OK) {
        status = write_document(w, root, err);
        PCI_THEN(status, check_default(w, &types, err));
        pci_types_close(&types);
    }
    PCI_THEN(status, pci_export_losses(export, "", err));
    close_writer(w);
    pci_free(w);
    return status;
}

/*
 * write_native.c - lossless writer: writes a Firefox profile as it was read
 *
 * Walks the tree of nodes of the document; at each node of tag `table` the table's columns are
 * restored (restore_*.c) or copied from source_cells, which are validated like input. If the source
 * cannot be restored, or is not of the requested format, the generic writer is used. Tests:
 * tests/roundtrip/firefox.
 */
#include "formats/firefox/write_native.h"
#include "formats/firefox/firefox.h"
#include "formats/json_members.h"

#include "util/alloc.h"
#include "util/strbuf.h"

#include <stdio.h>

struct document {
    struct pci_ff_native *native;
    struct pci_label_reader labels; /* of markers */
};

/* ---- tables */

static pcol_status write_strings(struct pci_ff_native *b, pcol_error *err)
{
    const struct pci_order *order;
    PCI_TRY(pci_ff_native_order(b, PCI_FF_STRINGS, &order, err));
    pci_json_put_begin(&b->out.w, '[', err);
    for (uint64_t i = 0; i < order->count; i++)
        PCI_TRY(pci_ff_emit_cell(&b->out, PCI_FF_TEXT, (int64_t)order->rows[i], err));
    pci_json_put_end(&b->out.w, ']', err);
    return b->out.w.status;
}

static pcol_status write_lib(struct pci_ff_native *b, uint64_t row, pcol_error *err)
{
    static const struct {
        const char *key, *column;
    } keys[] = {{"name", "name"},
                {"path", "filename"},
                {"debugName", "debug_name"},
                {"debugPath", "debug_path"},
                {"breakpadId", "breakpad_id"},
                {"codeId", "build_id"},
                {"arch", "arch"}};
    const struct pci_column *column;
    int64_t value;
    int valid;
    PCI_TRY(
        pci_get_named(b->file, "mappings", "json", PCI_TYPE(PCF_STRING), row, &value, &valid, err));
    if (valid)
        return pci_ff_emit_cell(&b->out, PCI_FF_JSON, value, err);
    pci_json_put_begin(&b->out.w, '{', err);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        PCI_TRY(pci_find_column(b->file, "mappings", keys[i].column, PCI_TYPE(PCF_STRING), &column,
                                err));
        PCI_TRY(pci_get(b->file, column, row, &value, &valid, err));
        pci_json_put_key(&b->out.w, keys[i].key, err);
        PCI_TRY(pci_ff_emit_cell(&b->out, valid ? PCI_FF_TEXT : PCI_FF_NULL, value, err));
    }
    pci_json_put_end(&b->out.w, '}', err);
    return b->out.w.status;
}

static pcol_status write_libs(struct pci_ff_native *b, pcol_error *err)
{
    const struct pci_order *order;
    PCI_TRY(pci_ff_native_order(b, PCI_FF_LIBS, &order, err));
    pci_json_put_begin(&b->out.w, '[', err);
    for (uint64_t i = 0; i < order->count; i++)
        PCI_TRY(write_lib(b, order->rows[i], err));
    pci_json_put_end(&b->out.w, ']', err);
    return b->out.w.status;
}

/* Write the data of markers: the labels of their rows. */
static pcol_status write_marker_data(struct document *d, const struct pci_ff_preserved *column,
                                     pcol_error *err);

/* Write weights of joined samples, for a source without weights, where each sample counts as 1. */
static pcol_status write_weights(struct pci_ff_native *b, int has_type, pcol_error *err)
{
    const char *name = pci_ff_weight_column(b);
    struct pci_ff_preserved column = {
        .thread = b->thread, .table = {"samples", 7}, .column = {name, strlen(name)}};
    PCI_TRY(pci_ff_write_column(b, PCI_FF_SAMPLES, NULL, &column, err));
    if (!has_type && pci_str_is(column.column, "weight")) {
        pci_json_put_text_member(&b->out.w, "weightType", "samples", err);
    }
    return b->out.w.status;
}

/* Write the columns of a table in their original order. */
static pcol_status write_table(struct document *d, const char *name, int id,
                               const struct pci_ff_sample_run *rows, pcol_error *err)
{
    struct pci_ff_native *b = d->native;
    uint64_t count;
    size_t end;
    int single = 1, weights = 0, type = 0;
    if (id == PCI_FF_SAMPLES && b->has_joins)
        PCI_TRY(pci_ff_sample_count(b, &count, &single, err));
    pci_json_put_begin(&b->out.w, '{', err);
    for (size_t i = pci_ff_preserved_first(b, b->thread, name, &end); i < end; i++) {
        const struct pci_ff_preserved *column = &b->preserved[i];
        if (pci_ff_is_by_use(column))
            continue;
        int value = pci_ff_has_form(column, PCI_FF_FORM_VALUE);
        int weight = !single && pci_str_is(column->column, pci_ff_weight_column(b));
        type |= pci_str_is(column->column, "weightType");
        weights |= weight && !value;
        if (weight && value)
            continue;
        if (id == PCI_FF_MARKERS && !value && pci_str_is(column->column, "data")) {
            pci_json_put_key(&b->out.w, "data", err);
            PCI_TRY(write_marker_data(d, column, err));
        } else {
            PCI_TRY(pci_ff_write_column(b, id, rows, column, err));
        }
    }
    if (!single && !weights)
        PCI_TRY(write_weights(b, type, err));
    pci_json_put_end(&b->out.w, '}', err);
    return b->out.w.status;
}

static pcol_status write_threads(struct document *d, pcol_error *err);
static pcol_status write_counters(struct document *d, pcol_error *err);

static pcol_status fail_unknown_node(const struct pci_node_value *node, pcol_error *err)
{
    return pci_corrupt(err, "nodes", "tag", node->row, "unexpected node");
}

/* Write the table that a node of the document or of a thread marks. */
static pcol_status write_marked_table(void *context, const struct pci_node_value *node,
                                      struct pci_json_writer *w, pcol_error *err)
{
    struct document *d = context;
    struct pci_ff_native *b = d->native;
    (void)w;
    if (node->tag != PCI_NODE_TABLE || !node->has_key)
        return fail_unknown_node(node, err);
    if (b->thread == PCOL_NONE && pci_str_is(node->key, "threads"))
        return write_threads(d, err);
    if (b->thread == PCOL_NONE && pci_str_is(node->key, "counters"))
        return write_counters(d, err);
    for (int id = 0; id < PCI_FF_TABLES; id++) {
        if (!pci_str_is(node->key, pci_ff_source_tables[id]) || id == PCI_FF_CATEGORIES ||
            (b->thread == PCOL_NONE && id >= PCI_FF_SAMPLES))
            continue;
        if (id == PCI_FF_STRINGS)
            return write_strings(b, err);
        if (id == PCI_FF_LIBS)
            return write_libs(b, err);
        return write_table(d, pci_ff_source_tables[id], id, NULL, err);
    }
    return fail_unknown_node(node, err);
}

/* ---- labels as members */

void pci_ff_put_label(struct pci_ff_emitter *out, const struct pci_label_cell *cell,
                      pcol_error *err)
{
    int64_t bits = cell->as.i64;
    switch (cell->key->kind) {
    case PCI_LABEL_STRING:
        pci_json_put_string(&out->w, cell->as.text, err);
        break;
    case PCI_LABEL_BIGINT:
        pci_json_put_raw(&out->w, cell->as.text.data, cell->as.text.size, err);
        break;
    case PCI_LABEL_INTEGER:
        pci_json_put_int(&out->w, cell->as.i64, err);
        break;
    case PCI_LABEL_DOUBLE:
        memcpy(&bits, &cell->as.f64, sizeof bits);
        (void)pci_ff_emit_cell(out, PCI_FF_DOUBLE, bits, err);
        break;
    case PCI_LABEL_BOOL:
        pci_json_put_raw(&out->w, bits ? "true" : "false", bits ? 4 : 5, err);
        break;
    default:
        pci_json_put_raw(&out->w, "null", 4, err);
    }
}

/* Write an object of a row's labels and the members of its `extra`; write_table_node: for its
 * tables. */
static pcol_status write_labels(struct document *d, struct pci_label_reader *labels, uint64_t row,
                                pci_json_node_fn write_table_node, void *context, pcol_error *err)
{
    struct pci_ff_emitter *out = &d->native->out;
    PCI_TRY(pci_labels_row(labels, row, err));
    pci_json_put_begin(&out->w, '{', err);
    for (size_t i = 0; i < labels->cell_count; i++) {
        const struct pci_label_cell *cell = &labels->cells[i];
        struct pci_node_value node;
        if (cell->key) {
            pci_json_put_key_bytes(&out->w, cell->key->key, err);
            pci_ff_put_label(out, cell, err);
        } else {
            PCI_TRY(pci_node_get(d->native->file, cell->node, &node, err));
            pci_json_put_key_bytes(&out->w, node.key, err);
            PCI_TRY(pci_json_from_nodes(d->native->file, cell->node, &out->w, write_table_node,
                                        context, err));
        }
        if (out->w.status != PCOL_OK)
            return out->w.status;
    }
    pci_json_put_end(&out->w, '}', err);
    return out->w.status;
}

/* Tables of early versions have data for fewer markers than rows: `column->count` then. */
static pcol_status write_marker_data(struct document *d, const struct pci_ff_preserved *column,
                                     pcol_error *err)
{
    struct pci_ff_native *b = d->native;
    const struct pci_ff_sample_run *rows = &b->threads[b->thread - b->first_thread].markers;
    uint64_t count = column->has_cells && column->count < rows->count ? column->count : rows->count;
    pci_json_put_begin(&b->out.w, '[', err);
    for (uint64_t row = rows->first; row < rows->first + count; row++) {
        PCI_TRY(pci_labels_row(&d->labels, row, err));
        if (d->labels.has_shape || d->labels.cell_count)
            PCI_TRY(write_labels(d, &d->labels, row, NULL, NULL, err));
        else
            pci_json_put_raw(&b->out.w, "null", 4, err);
    }
    pci_json_put_end(&b->out.w, ']', err);
    return b->out.w.status;
}

/* ---- threads and counters */

static pcol_status write_threads(struct document *d, pcol_error *err)
{
    struct pci_ff_native *b = d->native;
    struct pci_label_reader labels;
    pcol_status status = pci_labels_open(&labels, b->file, "threads", err);
    pci_json_put_begin(&b->out.w, '[', err);
    for (size_t i = 0; i < b->thread_count && status == PCOL_OK; i++) {
        b->thread = b->first_thread + (uint32_t)i;
        status = write_labels(d, &labels, b->thread, write_marked_table, d, err);
        pci_ff_native_leave_thread(b);
    }
    pci_json_put_end(&b->out.w, ']', err);
    pci_labels_close(&labels);
    return status;
}

struct counter {
    struct document *document;
    struct pci_ff_sample_run rows;
    char name[48];
};

static pcol_status write_counter_samples(void *context, const struct pci_node_value *node,
                                         struct pci_json_writer *w, pcol_error *err)
{
    struct counter *c = context;
    (void)w;
    if (node->tag != PCI_NODE_TABLE)
        return fail_unknown_node(node, err);
    return write_table(c->document, c->name, -1, &c->rows, err);
}

pcol_status pci_ff_find_counter_rows(const pcol_file *file, uint64_t counter,
                                     struct pci_ff_sample_run *rows, pcol_error *err)
{
    const struct pci_column *column;
    uint64_t count = pci_rows(file, "counter_samples"), at = rows->first + rows->count;
    int64_t value;
    int valid;
    PCI_TRY(pci_find_column(file, "counter_samples", "counter", PCI_TYPES_ROW, &column, err));
    for (; at < count; at++) {
        PCI_TRY(pci_get(file, column, at, &value, &valid, err));
        if ((uint64_t)value >= counter)
            break;
    }
    rows->first = at;
    for (; at < count; at++) {
        PCI_TRY(pci_get(file, column, at, &value, &valid, err));
        if ((uint64_t)value != counter)
            break;
    }
    rows->count = at - rows->first;
    return PCOL_OK;
}

static pcol_status write_counter_list(struct document *d, struct pci_label_reader *labels,
                                      pcol_error *err)
{
    struct counter c = {.document = d};
    const struct pci_column *column;
    uint64_t rows = pci_rows(d->native->file, "counters");
    size_t number = 0;
    PCI_TRY(pci_find_column(d->native->file, "counters", "source", PCI_TYPES_ROW, &column, err));
    for (uint64_t row = 0; row < rows; row++) {
        int64_t source;
        int valid;
        PCI_TRY(pci_get(d->native->file, column, row, &source, &valid, err));
        if ((uint64_t)source != d->native->source)
            continue;
        snprintf(c.name, sizeof c.name, "counters[%zu].samples", number++);
        PCI_TRY(pci_ff_find_counter_rows(d->native->file, row, &c.rows, err));
        PCI_TRY(write_labels(d, labels, row, write_counter_samples, &c, err));
    }
    return PCOL_OK;
}

static pcol_status write_counters(struct document *d, pcol_error *err)
{
    struct pci_label_reader labels;
    pcol_status status = pci_labels_open(&labels, d->native->file, "counters", err);
    pci_json_put_begin(&d->native->out.w, '[', err);
    PCI_THEN(status, write_counter_list(d, &labels, err));
    pci_json_put_end(&d->native->out.w, ']', err);
    pci_labels_close(&labels);
    return status;
}

/* ---- document */

static pcol_status write_document(struct document *d, pcol_error *err)
{
    struct pci_ff_native *b = d->native;
    int64_t root;
    int valid;
    PCI_TRY(
        pci_get_named(b->file, "sources", "extra", PCI_TYPES_ROW, b->source, &root, &valid, err));
    PCI_TRY(pci_json_from_nodes(b->file, (uint64_t)root, &b->out.w, write_marked_table, d, err));
    return pci_ff_emit_finish(&b->out, err);
}

static pcol_status write_restored(struct pci_ff_native *native, int jslb, pcol_error *err)
{
    struct document d = {.native = native};
    PCI_TRY(pci_ff_emit_open(&native->out, native->file, native->export->sink, jslb, err));
    pcol_status status = pci_labels_open(&d.labels, native->file, "markers", err);
    PCI_THEN(status, write_document(&d, err));
    pci_labels_close(&d.labels);
    pci_ff_emit_close(&native->out);
    return status;
}

/* meta.startTime of a Firefox source. */
static pcol_status time_of(const pcol_file *file, uint64_t source, char text[PCI_UTC_TEXT_BYTES],
                           pcol_error *err)
{
    const struct pci_column *extra;
    struct pci_node_reader nodes;
    struct pci_node_value node;
    int64_t root = 0;
    int found = 0;
    PCI_TRY(pci_find_column(file, "sources", "extra", PCI_TYPES_ROW, &extra, err));
    PCI_TRY(pci_nodes_open(&nodes, file, err));
    PCI_TRY(pci_get(file, extra, source, &root, &found, err));
    if (found)
        PCI_TRY(pci_ff_node_member(&nodes, (uint64_t)root, "meta", &node, &found, err));
    if (found)
        PCI_TRY(pci_ff_node_member(&nodes, node.row, "startTime", &node, &found, err));
    if (found && node.tag == PCI_NODE_INTEGER)
        pci_ff_time_text((double)node.integer, text);
    else if (found && node.tag == PCI_NODE_DOUBLE)
        pci_ff_time_text(node.number, text);
    return PCOL_OK;
}

const struct pci_capabilities pci_firefox_capabilities = {
    .loss_prefix = "a Firefox profile cannot hold",
    .generic = PCI_KIND_BIT(SOURCES) /* as processes */ | PCI_KIND_BIT(INTERVAL) |
               PCI_KIND_BIT(FILES) | PCI_KIND_BIT(START_LINES) | PCI_KIND_BIT(START_COLUMNS) |
               PCI_KIND_BIT(LINES) | PCI_KIND_BIT(COLUMNS) | PCI_KIND_BIT(INLINED) |
               PCI_KIND_BIT(ADDRESSES) | PCI_KIND_BIT(FRAME_DETAILS) | PCI_KIND_BIT(CATEGORIES) |
               PCI_KIND_BIT(RESOURCES) | PCI_KIND_BIT(EXACT) |
               PCI_KIND_BIT(SOURCE_FILES) /* these three: pci_ff_report_losses() */ |
               PCI_KIND_BIT(LIBRARIES) | PCI_KIND_BIT(BUILD_IDS) | PCI_KIND_BIT(DEBUG_FILES) |
               PCI_KIND_BIT(THREADS) | PCI_KIND_BIT(PROCESSES) | PCI_KIND_BIT(THREAD_LABELS) |
               PCI_KIND_BIT(TIMES) | PCI_KIND_BIT(CPU) | PCI_KIND_BIT(MARKERS) |
               PCI_KIND_BIT(ALLOCATIONS) | PCI_KIND_BIT(COUNTERS),
    .below_53_bits = PCI_KIND_BIT(ADDRESSES),
    .time = time_of};

static pcol_status write_profile(const struct pci_export *export, int jslb, pcol_error *err)
{
    struct pci_ff_native *native;
    const char *why;
    int whole = 0;
    PCI_TRY(PCI_CALLOC(native, 1, err));
    pcol_status status = pci_ff_native_open(native, export, &whole, &why, err);
    /* The typed arrays of JSLB are known for this version only. */
    int is_native = whole && (!jslb || native->version == PCI_FF_JSLB_WRITTEN), named = 1;
    if (status == PCOL_OK && is_native)
        status = pci_ff_native_is_named(native, &named, err);
    if (!named) {
        is_native = 0;
        why = "a frame has no function";
    }
    if (status == PCOL_OK && is_native)
        status = pci_ff_native_warn(native, err);
    if (status == PCOL_OK && is_native)
        status = write_restored(native, jslb, err);
    if (status == PCOL_OK && is_native)
        status = pci_export_losses(export, "", err);
    else if (status == PCOL_OK && why)
        pci_export_loss(export, "the Firefox profile is not restored unchanged: %s", why);
    pci_ff_native_close(native);
    pci_free(native);
    if (status != PCOL_OK || is_native)
        return status;
    return pci_ff_write_generic(export, jslb, err);
}

pcol_status pci_firefox_write(const struct pci_export *export, pcol_error *err)
{
    return write_profile(export, 0, err);
}

pcol_status pci_jslb_write(const struct pci_export *export, pcol_error *err)
{
    return write_profile(export, 1, err);
}

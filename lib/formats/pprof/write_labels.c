/*
 * write_labels.c - labels of samples
 *
 * A pprof label is a text or a number. Labels of other kinds become text, frames their names, and
 * threads become labels. Tests: tests/cli/perun.test, suites losses, json_formats.
 */
#include "formats/pprof/write.h"

#include "query/labels.h"
#include "util/alloc.h"
#include "json/number.h"

#include <stdio.h>
#include <string.h>

enum { F_LABEL = 3 };
enum { T_NAME, T_TID, T_PID, T_PROCESS, T_COUNT };
static const char *const thread_label_keys[T_COUNT] = {"thread", "tid", "pid", "process"};

struct key_index { /* string indices of a row of label_keys; key -1: not assigned yet */
    int64_t key, unit;
    unsigned thread_label; /* bit of thread_label_keys; 0: none of these */
};

struct pci_pprof_labels {
    struct pci_pprof_export *e;
    struct pci_label_reader reader;
    struct pci_label_frames *frames; /* NULL: not needed yet */
    struct key_index *keys;
    const struct pci_column *extra, *thread, *thread_text[T_COUNT];
    int64_t thread_keys[T_COUNT]; /* string indices; 0: not assigned yet */
    unsigned thread_labels;       /* bits of those that the sample got for its thread */
    PciPprof__Label label;        /* being assembled from its text and number */
    size_t number;                /* of labels written, for the paths of unknown fields */
    struct pci_strbuf unknown_fields;
};

/* ---- one label ---- */

static pcol_status put_label(struct pci_pprof_labels *l, uint64_t root, pcol_error *err)
{
    static const PciPprof__Label empty = PCI_PPROF__LABEL__INIT;
    struct pci_pprof_export *e = l->e;
    char path[32];
    l->unknown_fields.size = 0;
    if (root != PCI_NO_NODE && e->is_native) {
        snprintf(path, sizeof path, "3.%zu.", l->number);
        PCI_TRY(pci_pprof_append_unknown(e, root, path, &l->unknown_fields, err));
    }
    PCI_TRY(pci_pprof_append(&e->labels, F_LABEL, &l->label.base, &l->unknown_fields, err));
    l->label = empty;
    l->number++;
    return PCOL_OK;
}

static void set_key(struct pci_pprof_labels *l, int64_t key)
{
    l->label.key = key;
    l->label.has_key = key != 0;
}

static pcol_status set_text(struct pci_pprof_labels *l, pcol_str text, pcol_error *err)
{
    l->label.has_str = 1;
    return pci_pprof_index_set(&l->e->w, text, &l->label.str, err);
}

/* Set a text that is not a string of the file. */
static pcol_status set_copied_text(struct pci_pprof_labels *l, const char *text, size_t size,
                                   pcol_error *err)
{
    l->label.has_str = 1;
    return pci_pprof_index_text(&l->e->w, text, size, &l->label.str, err);
}

/* Set the name of a frame. OWNNAME was a text in the source. */
static pcol_status set_frame(struct pci_pprof_labels *l, int kind, uint64_t row, int64_t bits,
                             pcol_error *err)
{
    pcol_str name;
    PCI_TRY(pci_label_frames_open(l->e->file, &l->frames, err));
    PCI_TRY(pci_label_frame_text(l->frames, kind, row, bits, &name, err));
    l->e->lost |= kind == PCI_LABEL_OWNNAME ? 0u : PCI_PPROF_LOSS_KINDS;
    return set_copied_text(l, name.data, name.size, err);
}

static void set_number(struct pci_pprof_labels *l, int64_t number, int64_t unit)
{
    l->label.num = number;
    l->label.has_num = 1;
    l->label.num_unit = unit;
    l->label.has_num_unit = unit != 0;
}

/* The bit of a key of labels that threads become; 0: it is another key. */
static unsigned find_thread_label(pcol_str key)
{
    for (unsigned i = 0; i < T_COUNT; i++)
        if (pci_str_is(key, thread_label_keys[i]))
            return 1u << i;
    return 0;
}

static void compare_with_thread(struct pci_pprof_labels *l, unsigned thread_label)
{
    if (l->thread_labels & thread_label)
        l->e->lost |= PCI_PPROF_LOSS_THREAD_KEYS;
}

/* ---- labels of columns ---- */

static pcol_status find_key_index(struct pci_pprof_labels *l, const struct pci_label_key *key,
                                  const struct key_index **index, pcol_error *err)
{
    struct key_index *k = &l->keys[key - l->reader.keys];
    *index = k;
    if (k->key >= 0)
        return PCOL_OK;
    k->unit = 0;
    k->thread_label = find_thread_label(key->key);
    if (key->has_unit)
        PCI_TRY(pci_pprof_index_set(&l->e->w, key->unit, &k->unit, err));
    return pci_pprof_index(&l->e->w, key->key, &k->key, err);
}

/* Set the value; kinds that pprof lacks become text. */
static pcol_status set_value(struct pci_pprof_labels *l, unsigned kind, pcol_str text, int64_t i64,
                             double f64, int64_t unit, pcol_error *err)
{
    char formatted[PCI_NUMBER_SIZE];
    switch (kind) {
    case PCI_LABEL_STRING:
    case PCI_LABEL_BIGINT:
        return set_text(l, text, err);
    case PCI_LABEL_INTEGER:
        set_number(l, i64, unit);
        return PCOL_OK;
    case PCI_LABEL_DOUBLE:
        l->e->lost |= PCI_PPROF_LOSS_KINDS;
        pci_number_format(f64, formatted);
        return set_copied_text(l, formatted, strlen(formatted), err);
    case PCI_LABEL_BOOL:
    case PCI_LABEL_NULL: {
        const char *word = kind == PCI_LABEL_NULL ? "null" : i64 ? "true" : "false";
        l->e->lost |= PCI_PPROF_LOSS_KINDS;
        return set_copied_text(l, word, strlen(word), err);
    }
    default: /* empty */
        l->label.num_unit = unit;
        l->label.has_num_unit = unit != 0;
        return PCOL_OK;
    }
}

/* Whether a key's values are labels in pprof: neither what the sample has anyway, its value and its
 * own call stack, nor other call stacks, which are lost. */
static int is_label(struct pci_pprof_labels *l, const struct pci_label_key *key)
{
    if (key->kind == PCI_LABEL_STACK || key->kind == PCI_LABEL_RSTACK)
        l->e->lost |= PCI_PPROF_LOSS_LISTS;
    return key->kind <= PCI_LABEL_EMPTY || pci_label_is_frame(key->kind);
}

/* Set a label that is stored as a node. *is_label_node is 0 if the node is not a label. */
static pcol_status set_node(struct pci_pprof_labels *l, uint64_t node, int *is_label_node,
                            pcol_error *err)
{
    static const int8_t kinds[] = {[PCI_NODE_NULL] = PCI_LABEL_NULL,
                                   [PCI_NODE_FALSE] = PCI_LABEL_BOOL,
                                   [PCI_NODE_TRUE] = PCI_LABEL_BOOL,
                                   [PCI_NODE_INTEGER] = PCI_LABEL_INTEGER,
                                   [PCI_NODE_DOUBLE] = PCI_LABEL_DOUBLE,
                                   [PCI_NODE_STRING] = PCI_LABEL_STRING,
                                   [PCI_NODE_BIG] = PCI_LABEL_BIGINT,
                                   [PCI_NODE_ARRAY] = -1,
                                   [PCI_NODE_OBJECT] = PCI_LABEL_EMPTY,
                                   [PCI_NODE_INTEGERS] = -1,
                                   [PCI_NODE_DOUBLES] = -1,
                                   [PCI_NODE_BYTES] = -1,
                                   [PCI_NODE_TABLE] = -1,
                                   [PCI_NODE_ROW] = -1};
    struct pci_node_value n;
    uint64_t member = PCI_NO_NODE;
    int64_t key, unit = 0;
    PCI_TRY(pci_nodes_get(&l->e->nodes, node, &n, err));
    if (n.tag == PCI_NODE_OBJECT)
        PCI_TRY(pci_nodes_first(&l->e->nodes, node, &member, err));
    int is_frame = n.tag == PCI_NODE_ROW && pci_str_is(n.text, "location_groups");
    *is_label_node =
        is_frame || (n.tag <= PCI_NODE_ROW && kinds[n.tag] >= 0 && member == PCI_NO_NODE);
    if (!*is_label_node && n.tag != PCI_NODE_BYTES) /* an unknown field */
        l->e->lost |= PCI_PPROF_LOSS_LISTS;
    if (!*is_label_node)
        return PCOL_OK;
    PCI_TRY(pci_pprof_index(&l->e->w, n.key, &key, err));
    compare_with_thread(l, l->thread_labels ? find_thread_label(n.key) : 0);
    if (is_frame) {
        set_key(l, key);
        return set_frame(l, PCI_LABEL_FRAME, 0, n.integer, err);
    }
    if (n.has_text && n.tag != PCI_NODE_STRING && n.tag != PCI_NODE_BIG)
        PCI_TRY(pci_pprof_index_set(&l->e->w, n.text, &unit, err));
    set_key(l, key);
    return set_value(l, (unsigned)kinds[n.tag], n.text,
                     n.tag == PCI_NODE_INTEGER ? n.integer : n.tag == PCI_NODE_TRUE, n.number, unit,
                     err);
}

/* Set a label of a column. */
static pcol_status set_cell(struct pci_pprof_labels *l, uint64_t row,
                            const struct pci_label_cell *cell, pcol_error *err)
{
    const struct key_index *index;
    int kind = cell->key->kind;
    int is_text = kind == PCI_LABEL_STRING || kind == PCI_LABEL_BIGINT;
    int is_double = kind == PCI_LABEL_DOUBLE;
    PCI_TRY(find_key_index(l, cell->key, &index, err));
    set_key(l, index->key);
    compare_with_thread(l, index->thread_label);
    if (pci_label_is_frame(kind))
        return set_frame(l, kind, row, cell->as.i64, err);
    return set_value(l, (unsigned)kind, is_text ? cell->as.text : (pcol_str){"", 0},
                     is_text || is_double ? 0 : cell->as.i64, is_double ? cell->as.f64 : 0,
                     index->unit, err);
}

static pcol_status put_row(struct pci_pprof_labels *l, uint64_t row, uint64_t root, pcol_error *err)
{
    PCI_TRY(pci_labels_row(&l->reader, row, err));
    for (size_t i = 0; i < l->reader.cell_count; i++) {
        const struct pci_label_cell *c = &l->reader.cells[i];
        int is_set = c->key && is_label(l, c->key);
        if (!c->key)
            PCI_TRY(set_node(l, c->node, &is_set, err));
        else if (is_set)
            PCI_TRY(set_cell(l, row, c, err));
        if (is_set && !c->joined)
            PCI_TRY(put_label(l, root, err));
    }
    return PCOL_OK;
}

/* ---- threads as labels ---- */

static pcol_status put_thread(struct pci_pprof_labels *l, uint64_t row, pcol_error *err)
{
    int64_t thread;
    int valid;
    PCI_TRY(pci_get(l->e->file, l->thread, row, &thread, &valid, err));
    for (size_t i = 0; valid && i < T_COUNT; i++) {
        pcol_str text;
        int has_text = 0;
        PCI_TRY(
            pci_get_str(l->e->file, l->thread_text[i], (uint64_t)thread, &text, &has_text, err));
        if (!has_text)
            continue;
        if (!l->thread_keys[i])
            PCI_TRY(pci_pprof_index_text(&l->e->w, thread_label_keys[i],
                                         strlen(thread_label_keys[i]), &l->thread_keys[i], err));
        set_key(l, l->thread_keys[i]);
        PCI_TRY(set_text(l, text, err));
        PCI_TRY(put_label(l, PCI_NO_NODE, err));
        l->thread_labels |= 1u << i;
    }
    return PCOL_OK;
}

/* ---- opening ---- */

static pcol_status open_labels(struct pci_pprof_labels *l, pcol_error *err)
{
    static const PciPprof__Label empty = PCI_PPROF__LABEL__INIT;
    static const char *const texts[T_COUNT] = {"name", "tid", "pid", "process_name"};
    const pcol_file *file = l->e->file;
    l->label = empty;
    PCI_TRY(pci_labels_open(&l->reader, file, "samples", err));
    PCI_TRY(pci_find_column(file, "samples", "extra", PCI_TYPES_ROW, &l->extra, err));
    PCI_TRY(pci_find_column(file, "samples", "thread", PCI_TYPES_ROW, &l->thread, err));
    for (size_t i = 0; i < T_COUNT && l->thread; i++)
        PCI_TRY(
            pci_find_column(file, "threads", texts[i], PCI_TYPES_TEXT, &l->thread_text[i], err));
    PCI_TRY(PCI_MALLOC(l->keys, l->reader.key_count, err));
    for (size_t i = 0; i < l->reader.key_count; i++)
        l->keys[i].key = -1;
    return PCOL_OK;
}

pcol_status pci_pprof_labels_new(struct pci_pprof_export *e, struct pci_pprof_labels **labels,
                                 pcol_error *err)
{
    struct pci_pprof_labels *l;
    *labels = NULL;
    PCI_TRY(PCI_CALLOC(l, 1, err));
    l->e = e;
    pcol_status status = open_labels(l, err);
    if (status == PCOL_OK)
        *labels = l;
    else
        pci_pprof_labels_free(l);
    return status;
}

void pci_pprof_labels_free(struct pci_pprof_labels *labels)
{
    if (!labels)
        return;
    pci_labels_close(&labels->reader);
    pci_label_frames_close(labels->frames);
    pci_free(labels->keys);
    pci_strbuf_clear(&labels->unknown_fields);
    pci_free(labels);
}

pcol_status pci_pprof_labels_put(struct pci_pprof_labels *labels, uint64_t row, pcol_error *err)
{
    struct pci_pprof_labels *l = labels;
    int64_t extra;
    int valid;
    PCI_TRY(pci_get(l->e->file, l->extra, row, &extra, &valid, err));
    uint64_t root = valid ? (uint64_t)extra : PCI_NO_NODE;
    l->number = 0;
    l->thread_labels = 0;
    if (l->thread)
        PCI_TRY(put_thread(l, row, err));
    if (l->reader.key_count || valid)
        PCI_TRY(put_row(l, row, root, err));
    if (valid && l->e->is_native)
        PCI_TRY(pci_pprof_append_unknown(l->e, root, "", &l->e->labels, err));
    return PCOL_OK;
}

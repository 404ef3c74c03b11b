/*
 * write_native.c - export of a source that was speedscope's JSON: an equal value
 *
 * Walks the document. Stacks and weights of sampled profiles come from the rows of samples, which
 * are contiguous for each thread, that is each profile; events come from their compact form.
 */
#include "formats/json_members.h"
#include "formats/speedscope/speedscope.h"
#include "model/json_tree.h"
#include "model/stack_path.h"
#include "model/types.h"
#include "util/alloc.h"
#include "util/strbuf.h"

#include <string.h>

struct rows {
    uint64_t first, count;
};

struct native {
    const struct pci_export *export;
    const pcol_file *file;
    struct pci_types types;
    struct pci_stack_path path;
    const struct pci_column *stack, *thread;
    uint32_t *frames; /* by location group: number of its frame; PCOL_NONE: none */
    struct rows *profiles;
    size_t profile_count, profile_capacity;
    size_t profile;        /* the one that is written, plus 1 */
    uint64_t profile_node; /* its node of the document */
    uint32_t *list;        /* types of the source */
    uint32_t type_count;
};

/* ---- rows of profiles ---- */

/* Samples of the source, one run for each thread; threads without samples have an empty run. */
static pcol_status find_rows(struct native *n, pcol_error *err)
{
    const struct pci_column *source;
    uint64_t threads = pci_rows(n->file, "threads"), rows = pci_rows(n->file, "samples");
    PCI_TRY(pci_find_verified_column(n->file, "threads", "source", PCI_TYPES_ROW, &source, err));
    uint32_t *run = pci_calloc((size_t)threads + 1, sizeof *run); /* by thread: profile + 1 */
    if (!run)
        return pci_fail_memory(err);
    pcol_status status = PCOL_OK;
    for (uint64_t i = 0; source && i < threads && status == PCOL_OK; i++) {
        int64_t of = 0;
        status = pci_get(n->file, source, i, &of, &(int){0}, err);
        if (status != PCOL_OK || of != n->export->first_source)
            continue;
        if (pci_grow((void **)&n->profiles, &n->profile_capacity, n->profile_count + 1,
                     sizeof *n->profiles))
            status = pci_fail_memory(err);
        else {
            n->profiles[n->profile_count++] = (struct rows){0, 0};
            run[i] = (uint32_t)n->profile_count;
        }
    }
    for (uint64_t row = 0; n->thread && row < rows && status == PCOL_OK; row++) {
        int64_t thread = 0;
        int valid;
        status = pci_get(n->file, n->thread, row, &thread, &valid, err);
        if (status != PCOL_OK || !valid || (uint64_t)thread >= threads || !run[thread])
            continue;
        struct rows *profile = &n->profiles[run[thread] - 1];
        if (!profile->count++)
            profile->first = row;
        else if (row != profile->first + profile->count - 1)
            status = pci_corrupt(err, "samples", "thread", row,
                                 "samples of a profile are not contiguous");
    }
    pci_free(run);
    return status;
}

static pcol_status find_frames(struct native *n, pcol_error *err)
{
    struct pci_order order = {0};
    uint64_t groups = n->path.tree.groups;
    PCI_TRY(PCI_MALLOC(n->frames, (size_t)groups + 1, err));
    memset(n->frames, 0xff, (size_t)groups * sizeof *n->frames);
    pcol_status status =
        pci_order_read(n->file, n->export->first_source, PCOL_NONE, "frames", &order, err);
    for (uint64_t i = 0; status == PCOL_OK && order.known && i < order.count; i++)
        if (order.rows[i] < groups && i < PCOL_NONE)
            n->frames[order.rows[i]] = (uint32_t)i;
    pci_order_clear(&order);
    return status;
}

static pcol_status prepare(struct native *n, pcol_error *err)
{
    PCI_TRY(pci_check_row_count(n->file, "location_groups", err));
    PCI_TRY(pci_check_row_count(n->file, "threads", err));
    PCI_TRY(pci_types_open(n->file, &n->types, err));
    PCI_TRY(pci_types_verify(&n->types, err));
    PCI_TRY(pci_stack_path_open(&n->path, n->file, err));
    n->path.written.most = PCI_STREAMED_FRAMES;
    PCI_TRY(pci_find_verified_column(n->file, "samples", "stack", PCI_TYPES_ROW, &n->stack, err));
    PCI_TRY(pci_find_verified_column(n->file, "samples", "thread", PCI_TYPES_ROW, &n->thread, err));
    PCI_TRY(PCI_CALLOC(n->list, (size_t)n->types.count + 1, err));
    PCI_TRY(pci_types_of_source(&n->types, n->export->first_source, n->list, &n->type_count, err));
    PCI_TRY(find_rows(n, err));
    return find_frames(n, err);
}

/* ---- elements ---- */

static pcol_status put_stack(struct native *n, struct pci_json_writer *json, uint64_t row,
                             pcol_error *err)
{
    int64_t stack = 0;
    PCI_TRY(pci_get(n->file, n->stack, row, &stack, &(int){0}, err));
    PCI_TRY(pci_stack_path_to(&n->path, (uint64_t)stack, err));
    pci_json_put_begin(json, '[', err);
    for (size_t i = 0; i < n->path.depth; i++) {
        uint32_t frame = n->frames[n->path.steps[i].group];
        if (frame == PCOL_NONE)
            return pci_corrupt(err, "samples", "stack", row,
                               "the stack has a frame that the source does not have");
        pci_json_put_int(json, frame, err);
    }
    pci_json_put_end(json, ']', err);
    return json->status;
}

static pcol_status put_weight(struct native *n, struct pci_json_writer *json, uint64_t row,
                              int as_double, pcol_error *err)
{
    for (uint32_t i = 0; i < n->type_count; i++) {
        const struct pci_column *column = n->types.columns[n->list[i]];
        int64_t bits;
        int valid = 0;
        PCI_TRY(pci_get(n->file, column, row, &bits, &valid, err));
        if (!valid)
            continue;
        double value = pci_number_value(bits, column->desc->type == PCF_F64);
        if (as_double)
            pci_json_put_double(json, value, err);
        else if (column->desc->type != PCF_F64)
            pci_json_put_int(json, bits, err);
        else if (value >= 0 && value <= 9007199254740992.0)
            pci_json_put_int(json, (int64_t)value, err);
        else
            break;
        return json->status;
    }
    return pci_corrupt(err, "samples", NULL, row, "the sample has no weight");
}

static pcol_status put_rows(struct native *n, struct pci_document_writer *w, pcol_str form,
                            pcol_error *err)
{
    struct pci_json_writer *json = &w->json;
    int stacks = pci_str_is(form, "stacks"), doubles = pci_str_is(form, "doubles");
    struct rows rows = n->profiles[n->profile - 1];
    pci_json_put_begin(json, '[', err);
    for (uint64_t row = rows.first; row < rows.first + rows.count; row++)
        PCI_TRY(stacks ? put_stack(n, json, row, err) : put_weight(n, json, row, doubles, err));
    pci_json_put_end(json, ']', err);
    return json->status;
}

/* Weights of both kinds, which the array of the node tells. */
static pcol_status put_mixed(struct native *n, struct pci_document_writer *w, uint64_t node,
                             pcol_error *err)
{
    struct pci_number_reader kinds;
    struct rows rows = n->profiles[n->profile - 1];
    int64_t kind;
    int is_numbers, is_double;
    PCI_TRY(pci_number_reader_open(&kinds, &w->nodes, node, &is_numbers, err));
    if (!is_numbers || kinds.count != rows.count)
        return pci_corrupt(err, "nodes", NULL, node, "there must be a kind for each weight");
    pci_json_put_begin(&w->json, '[', err);
    for (uint64_t row = rows.first; row < rows.first + rows.count; row++) {
        PCI_TRY(pci_number_reader_next(&kinds, &kind, &is_double, err));
        PCI_TRY(put_weight(n, &w->json, row, kind != 0, err));
    }
    pci_json_put_end(&w->json, ']', err);
    return w->json.status;
}

/* Members of an event beyond type, frame and at. */
static pcol_status put_other(struct pci_document_writer *w, uint64_t others, uint64_t *other,
                             uint64_t event, pcol_error *err)
{
    struct pci_node_value node;
    uint64_t member;
    if (*other == PCI_NO_NODE)
        return PCOL_OK;
    PCI_TRY(pci_nodes_first(&w->nodes, *other, &member, err));
    if (member == PCI_NO_NODE)
        return PCOL_OK;
    PCI_TRY(pci_nodes_get(&w->nodes, member, &node, err));
    if (node.tag != PCI_NODE_INTEGER || (uint64_t)node.integer != event)
        return PCOL_OK;
    for (;;) {
        PCI_TRY(pci_nodes_next(&w->nodes, *other, &member, err));
        if (member == PCI_NO_NODE)
            break;
        PCI_TRY(pci_nodes_get(&w->nodes, member, &node, err));
        pci_json_put_key_bytes(&w->json, node.key, err);
        PCI_TRY(pci_json_from_nodes(w->file, member, &w->json, NULL, NULL, err));
    }
    return pci_nodes_next(&w->nodes, others, other, err);
}

static pcol_status put_event(struct pci_document_writer *w, struct pci_number_reader *frames,
                             struct pci_number_reader *at, pcol_error *err)
{
    struct pci_json_writer *json = &w->json;
    int64_t frame;
    int is_double;
    PCI_TRY(pci_number_reader_next(frames, &frame, &is_double, err));
    pci_json_put_begin(json, '{', err);
    pci_json_put_string_member(json, "type", (pcol_str){frame & 1 ? "C" : "O", 1}, err);
    pci_json_put_int_member(json, "frame", frame >> 1, err);
    pci_json_put_key(json, "at", err);
    return pci_number_reader_put(at, json, err);
}

static pcol_status put_events(struct pci_document_writer *w, uint64_t element, pcol_error *err)
{
    struct pci_number_reader frames, at;
    struct pci_node_value first;
    uint64_t member, others = PCI_NO_NODE, other = PCI_NO_NODE;
    int is_frames, is_at;
    PCI_TRY(pci_document_find_member(&w->nodes, element, "frames", &member, err));
    PCI_TRY(pci_number_reader_open(&frames, &w->nodes, member, &is_frames, err));
    PCI_TRY(pci_document_find_member(&w->nodes, element, "at", &member, err));
    PCI_TRY(pci_number_reader_open(&at, &w->nodes, member, &is_at, err));
    if (!is_frames || !is_at || frames.count != at.count)
        return pci_corrupt(err, "nodes", NULL, element,
                           "frames and at must be numbers of one count");
    PCI_TRY(pci_nodes_first(&w->nodes, element, &member, err));
    PCI_TRY(pci_nodes_get(&w->nodes, member, &first, err));
    if (pci_str_is(first.key, "others")) {
        others = member;
        PCI_TRY(pci_nodes_first(&w->nodes, others, &other, err));
    }
    pci_json_put_begin(&w->json, '[', err);
    for (uint64_t i = 0; i < frames.count; i++) {
        PCI_TRY(put_event(w, &frames, &at, err));
        PCI_TRY(put_other(w, others, &other, i, err));
        pci_json_put_end(&w->json, '}', err);
    }
    pci_json_put_end(&w->json, ']', err);
    return w->json.status;
}

static pcol_status put_element(void *context, struct pci_document_writer *w,
                               const struct pci_node_value *place,
                               const struct pci_node_value *element, pcol_error *err)
{
    struct native *n = context;
    struct pci_node_value first;
    uint64_t member = PCI_NO_NODE;
    if (place->parent != n->profile_node) {
        n->profile_node = place->parent;
        n->profile++;
    }
    if (element->tag == PCI_NODE_OBJECT)
        PCI_TRY(pci_nodes_first(&w->nodes, element->row, &member, err));
    if (member != PCI_NO_NODE)
        PCI_TRY(pci_nodes_get(&w->nodes, member, &first, err));
    int is_mixed = member != PCI_NO_NODE && pci_str_is(first.key, "kinds");
    if (element->tag != PCI_NODE_STRING && !is_mixed)
        return put_events(w, element->row, err);
    if (n->profile > n->profile_count)
        return pci_corrupt(err, "nodes", NULL, place->row, "the profile has no thread");
    return is_mixed ? put_mixed(n, w, member, err) : put_rows(n, w, element->text, err);
}

pcol_status pci_speedscope_write_native(const struct pci_export *export, pcol_error *err)
{
    struct native n = {.export = export, .file = export->file, .profile_node = PCI_NO_NODE};
    pcol_status status = prepare(&n, err);
    PCI_THEN(status, pci_document_write(export, put_element, &n, err));
    pci_types_close(&n.types);
    pci_stack_path_close(&n.path);
    pci_free(n.frames);
    pci_free(n.profiles);
    pci_free(n.list);
    return status;
}

/*
 * nodes.c - nodes of V8's profiles: reading, ids, parents and stacks
 *
 * Nested nodes are read with a stack of levels, without recursion. A node's parent is the enclosing
 * node, the one that lists its id in `children`, or the one that its member `parent` names.
 */
#include "formats/v8/v8.h"

#include "util/alloc.h"

#include <inttypes.h>

#define IN_PROGRESS (PCOL_NONE - 1)
#define LARGEST_LINE (INT64_MAX - 1)

pcol_status pci_v8_begin_document(struct pci_v8 *v8, const char *name, pcol_error *err)
{
    static const struct pci_json_options options = {PCI_JSON_FINITE, 16384};
    PCI_TRY(pci_json_open(&v8->json, v8->import->input, &options, err));
    PCI_TRY(pci_document_begin(&v8->document, v8->builder, err));
    PCI_TRY(pci_json_next(&v8->json, err));
    return pci_json_expect(&v8->json, PCI_JSON_OBJECT, name, err);
}

/* Place the member `key` of the document, whose value is read into `records` until the end. */
static pcol_status begin_value(struct pci_v8 *v8, const char *key, pcol_error *err)
{
    return pci_records_begin(&v8->records, &v8->document, v8->document.root, key, err);
}

static pcol_status end_value(struct pci_v8 *v8, pcol_error *err)
{
    PCI_TRY(pci_records_end(&v8->records, err));
    pci_records_clear(&v8->records);
    return PCOL_OK;
}

pcol_status pci_v8_read_array(struct pci_v8 *v8, const char *key, pci_v8_element_function *read,
                              void *context, pcol_error *err)
{
    int more;
    PCI_TRY(pci_json_next(&v8->json, err));
    PCI_TRY(pci_json_expect(&v8->json, PCI_JSON_ARRAY, key, err));
    PCI_TRY(begin_value(v8, key, err));
    PCI_TRY(pci_v8_enter(v8, err));
    for (;;) {
        PCI_TRY(pci_json_element(&v8->json, &more, err));
        if (!more)
            break;
        PCI_TRY(read(context, err));
    }
    PCI_TRY(pci_v8_leave(v8, err));
    return end_value(v8, err);
}

pcol_status pci_v8_read_head(struct pci_v8 *v8, pcol_error *err)
{
    PCI_TRY(pci_json_next(&v8->json, err));
    PCI_TRY(begin_value(v8, "head", err));
    PCI_TRY(pci_v8_read_node(v8, err));
    return end_value(v8, err);
}

void pci_v8_close(struct pci_v8 *v8)
{
    pci_json_close(&v8->json);
    pci_records_clear(&v8->records);
    pci_hash_clear(&v8->by_id);
    pci_free(v8->nodes);
    pci_free(v8->children);
    pci_free(v8->levels);
    pci_free(v8->samples);
    pci_free(v8->moves);
}

/* ---- frames ---- */

pcol_status pci_v8_member(struct pci_v8 *v8, pcol_error *err)
{
    if (v8->has_document)
        PCI_TRY(pci_records_key(&v8->records, &v8->json, err));
    PCI_TRY(pci_json_next(&v8->json, err));
    if (v8->has_document)
        return pci_records_value(&v8->records, &v8->json, err);
    return v8->json.type == PCI_JSON_OBJECT || v8->json.type == PCI_JSON_ARRAY
               ? pci_json_skip(&v8->json, err)
               : PCOL_OK;
}

pcol_status pci_v8_enter(struct pci_v8 *v8, pcol_error *err)
{
    return v8->has_document ? pci_records_enter(&v8->records, &v8->json, err) : PCOL_OK;
}

pcol_status pci_v8_leave(struct pci_v8 *v8, pcol_error *err)
{
    return v8->has_document ? pci_records_leave(&v8->records, err) : PCOL_OK;
}

enum frame_member { F_NAME, F_URL, F_LINE, F_COLUMN, F_OTHER };

static enum frame_member frame_member(const struct pci_json *json)
{
    return pci_json_is(json, "functionName")   ? F_NAME
           : pci_json_is(json, "url")          ? F_URL
           : pci_json_is(json, "lineNumber")   ? F_LINE
           : pci_json_is(json, "columnNumber") ? F_COLUMN
                                               : F_OTHER;
}

/* Use the current value; base: number of the first line, and of the first column. */
static pcol_status set_frame(struct pci_v8 *v8, struct pci_v8_frame *frame,
                             enum frame_member member, int base, pcol_error *err)
{
    const struct pci_json *json = &v8->json;
    if (member == F_NAME || member == F_URL) {
        PCI_TRY(
            pci_json_expect(json, PCI_JSON_STRING, member == F_NAME ? "functionName" : "url", err));
        if (member == F_NAME)
            frame->is_root = pci_json_is(json, "(root)") ? 1 : 0;
        uint32_t *to = member == F_NAME ? &frame->name : &frame->url;
        *to = PCOL_NONE; /* also of a member that is repeated */
        if (!json->text.size)
            return PCOL_OK;
        if (!v8->has_document)
            return pcol_builder_string(v8->builder, json->text.data, json->text.size, to, err);
        *to = v8->records.string;
        return PCOL_OK;
    }
    int64_t number = 0;
    int has_number = pci_json_whole(json, &number) && number >= base && number <= LARGEST_LINE;
    number = has_number ? number - base + 1 : 0;
    if (member == F_LINE)
        frame->has_line = has_number ? 1 : 0, frame->line = number;
    else
        frame->has_column = has_number ? 1 : 0, frame->column = number;
    return PCOL_OK;
}

static pcol_status read_call_frame(struct pci_v8 *v8, struct pci_v8_level *level, pcol_error *err)
{
    int more;
    if (v8->has_document)
        PCI_TRY(pci_records_key(&v8->records, &v8->json, err));
    PCI_TRY(pci_json_next(&v8->json, err));
    PCI_TRY(pci_json_expect(&v8->json, PCI_JSON_OBJECT, "callFrame", err));
    PCI_TRY(pci_v8_enter(v8, err));
    for (;;) {
        PCI_TRY(pci_json_member(&v8->json, &more, err));
        if (!more)
            return pci_v8_leave(v8, err);
        enum frame_member member = frame_member(&v8->json);
        PCI_TRY(pci_v8_member(v8, err));
        if (member != F_OTHER)
            PCI_TRY(set_frame(v8, &level->frame, member, 0, err));
    }
}

static pcol_status make_group(struct pci_v8 *v8, const struct pci_v8_frame *frame, uint32_t *row,
                              pcol_error *err)
{
    struct pci_cell_value column = {frame->column, 1};
    pcol_line line = {.filename = PCOL_NONE};
    pcol_function function = PCOL_INIT(pcol_function);
    pcol_group group = PCOL_INIT(pcol_group);
    if (frame->name == PCOL_NONE && v8->anonymous == PCOL_NONE)
        PCI_TRY(pcol_builder_string(v8->builder, "(anonymous)", 11, &v8->anonymous, err));
    if (frame->has_column && v8->column == PCOL_NONE)
        PCI_TRY(pci_builder_column(v8->builder, PCI_T_FUNCTIONS, "column", PCOL_I64, 0, &v8->column,
                                   err));
    function.name = frame->name == PCOL_NONE ? v8->anonymous : frame->name;
    function.system_name = PCOL_NONE;
    function.filename = frame->url;
    function.flags = frame->has_line ? PCOL_FUNCTION_HAS_START_LINE : 0;
    function.start_line = frame->line;
    PCI_TRY(pci_builder_function(v8->builder, 0, &function, &v8->column, &column, frame->has_column,
                                 &line.function, NULL, err));
    group.lines = &line;
    group.line_count = 1;
    group.mapping = PCOL_NONE;
    return pcol_builder_group(v8->builder, &group, row, err);
}

/* ---- ids ---- */

static uint64_t hash_id(uint32_t profile, int64_t id)
{
    return pci_hash_pair(profile, (uint64_t)id);
}

static int has_id(const struct pci_v8_node *node, uint32_t profile, int64_t id)
{
    return node->has_id && node->id == id && node->profile == profile;
}

uint32_t pci_v8_find_other(const struct pci_v8 *v8, uint32_t profile, int64_t id)
{
    uint64_t hash = hash_id(profile, id);
    size_t slot = pci_hash_start(&v8->by_id, hash);
    uint32_t node;
    while ((node = pci_hash_next(&v8->by_id, hash, &slot)) != PCI_HASH_NONE)
        if (has_id(&v8->nodes[node], profile, id))
            return node;
    return PCOL_NONE;
}

static pcol_status set_id(struct pci_v8 *v8, uint32_t node, pcol_error *err)
{
    PCI_TRY(pci_json_expect(&v8->json, PCI_JSON_INT, "the id of a node", err));
    if (v8->nodes[node].has_id)
        return pci_json_fail(&v8->json, err, "the node has two ids");
    v8->nodes[node].id = v8->json.integer;
    v8->nodes[node].has_id = 1;
    return PCOL_OK;
}

/* ---- nodes ---- */

static pcol_status open_node(struct pci_v8 *v8, uint32_t parent, pcol_error *err)
{
    struct pci_v8_level level = {.node = (uint32_t)v8->node_count,
                                 .frame = {.name = PCOL_NONE, .url = PCOL_NONE}};
    struct pci_v8_node node = {.line = v8->json.line,
                               .column = v8->json.column,
                               .parent = parent,
                               .group = PCOL_NONE,
                               .stack = PCOL_NONE};
    PCI_TRY(pci_json_expect(&v8->json, PCI_JSON_OBJECT, "a node", err));
    PCI_TRY(pci_v8_enter(v8, err));
    if (v8->node_count >= IN_PROGRESS)
        return pci_fail(err, PCOL_E_LIMIT, "more than 4294967294 nodes");
    PCI_TRY(PCI_GROW(v8->nodes, v8->node_capacity, v8->node_count + 1, err));
    PCI_TRY(PCI_GROW(v8->levels, v8->level_capacity, v8->depth + 1, err));
    v8->nodes[v8->node_count++] = node;
    v8->levels[v8->depth++] = level;
    return PCOL_OK;
}

static pcol_status close_node(struct pci_v8 *v8, pcol_error *err)
{
    const struct pci_v8_level *level = &v8->levels[--v8->depth];
    struct pci_v8_node *node = &v8->nodes[level->node];
    node->is_root = level->frame.is_root;
    PCI_TRY(pci_v8_leave(v8, err));
    return make_group(v8, &level->frame, &node->group, err);
}

static pcol_status add_child(struct pci_v8 *v8, uint32_t parent, pcol_error *err)
{
    PCI_TRY(pci_json_expect(&v8->json, PCI_JSON_INT, "the id of a child", err));
    PCI_TRY(PCI_GROW(v8->children, v8->child_capacity, v8->child_count + 1, err));
    v8->children[v8->child_count++] =
        (struct pci_v8_child){parent, v8->json.integer, v8->json.line, v8->json.column};
    return PCOL_OK;
}

/* Ids of children; the first one is current. */
static pcol_status read_ids(struct pci_v8 *v8, const struct pci_v8_level *level, pcol_error *err)
{
    int more = 1;
    while (more) {
        PCI_TRY(add_child(v8, level->node, err));
        if (v8->has_document)
            PCI_TRY(pci_records_value(&v8->records, &v8->json, err));
        PCI_TRY(pci_json_element(&v8->json, &more, err));
    }
    return pci_v8_leave(v8, err);
}

static pcol_status read_children(struct pci_v8 *v8, pcol_error *err)
{
    struct pci_v8_level *level = &v8->levels[v8->depth - 1];
    int more;
    if (v8->has_document)
        PCI_TRY(pci_records_key(&v8->records, &v8->json, err));
    PCI_TRY(pci_json_next(&v8->json, err));
    PCI_TRY(pci_json_expect(&v8->json, PCI_JSON_ARRAY, "children", err));
    PCI_TRY(pci_v8_enter(v8, err));
    PCI_TRY(pci_json_element(&v8->json, &more, err));
    if (!more)
        return pci_v8_leave(v8, err);
    if (v8->json.type != PCI_JSON_OBJECT)
        return read_ids(v8, level, err);
    level->in_children = 1;
    return open_node(v8, level->node, err);
}

static pcol_status set_count(struct pci_v8 *v8, const char *what, int64_t *count, pcol_error *err)
{
    PCI_TRY(pci_json_expect(&v8->json, PCI_JSON_INT, what, err));
    if (v8->json.integer < 0)
        return pci_json_fail(&v8->json, err, "%s is negative", what);
    *count = v8->json.integer;
    return PCOL_OK;
}

static pcol_status read_member(struct pci_v8 *v8, pcol_error *err)
{
    struct pci_v8_level *level = &v8->levels[v8->depth - 1];
    struct pci_v8_node *node = &v8->nodes[level->node];
    const struct pci_json *json = &v8->json;
    if (pci_json_is(json, "callFrame"))
        return read_call_frame(v8, level, err);
    if (pci_json_is(json, "children"))
        return read_children(v8, err);
    int is_id = pci_json_is(json, "id"), is_hits = pci_json_is(json, "hitCount");
    int is_size = pci_json_is(json, "selfSize"), is_parent = pci_json_is(json, "parent");
    enum frame_member member = frame_member(json);
    PCI_TRY(pci_v8_member(v8, err));
    if (is_id)
        return set_id(v8, level->node, err);
    if (is_hits) {
        v8->has_hits = 1;
        return set_count(v8, "hitCount", &node->hits, err);
    }
    if (is_size)
        return set_count(v8, "selfSize", &node->size, err);
    if (is_parent) {
        PCI_TRY(pci_json_expect(json, PCI_JSON_INT, "the parent of a node", err));
        node->has_parent_id = 1;
        node->parent_id = json->integer;
        return PCOL_OK;
    }
    return member == F_OTHER ? PCOL_OK : set_frame(v8, &level->frame, member, 1, err);
}

pcol_status pci_v8_read_node(struct pci_v8 *v8, pcol_error *err)
{
    int more;
    v8->depth = 0;
    PCI_TRY(open_node(v8, PCOL_NONE, err));
    while (v8->depth) {
        struct pci_v8_level *level = &v8->levels[v8->depth - 1];
        if (level->in_children) {
            PCI_TRY(pci_json_element(&v8->json, &more, err));
            level->in_children = more;
            PCI_TRY(more ? open_node(v8, level->node, err) : pci_v8_leave(v8, err));
            continue;
        }
        PCI_TRY(pci_json_member(&v8->json, &more, err));
        PCI_TRY(more ? read_member(v8, err) : close_node(v8, err));
    }
    return PCOL_OK;
}

/* ---- parents and stacks ---- */

static pcol_status fail_node(const struct pci_v8_node *node, const char *problem, int64_t id,
                             pcol_error *err)
{
    return pci_fail_text(err, PCOL_E_SYNTAX, node->line, node->column, "%s %" PRId64, problem, id);
}

pcol_status pci_v8_add_nodes(struct pci_v8 *v8, size_t first, uint32_t profile, pcol_error *err)
{
    for (size_t i = first; i < v8->node_count; i++) {
        struct pci_v8_node *node = &v8->nodes[i];
        node->profile = profile;
        if (!node->has_id)
            continue;
        uint32_t known = pci_v8_find(v8, profile, node->id);
        if (known == i)
            continue;
        if (known != PCOL_NONE)
            return fail_node(node, "there is another node", node->id, err);
        PCI_TRY(pci_hash_add(&v8->by_id, hash_id(profile, node->id), (uint32_t)i, err));
    }
    return PCOL_OK;
}

static pcol_status set_parents(struct pci_v8 *v8, pcol_error *err)
{
    for (size_t i = 0; i < v8->child_count; i++) {
        const struct pci_v8_child *child = &v8->children[i];
        uint32_t node = pci_v8_find(v8, v8->nodes[child->parent].profile, child->id);
        if (node == PCOL_NONE || v8->nodes[node].parent != PCOL_NONE)
            return pci_fail_text(err, PCOL_E_SYNTAX, child->line, child->column,
                                 node == PCOL_NONE ? "there is no node %" PRId64
                                                   : "node %" PRId64 " has two parents",
                                 child->id);
        v8->nodes[node].parent = child->parent;
    }
    for (size_t i = 0; i < v8->node_count; i++) {
        struct pci_v8_node *node = &v8->nodes[i];
        if (!node->has_parent_id)
            continue;
        uint32_t parent = pci_v8_find(v8, node->profile, node->parent_id);
        if (parent == PCOL_NONE)
            return fail_node(node, "the parent of the node does not exist:", node->parent_id, err);
        if (node->parent != PCOL_NONE && node->parent != parent)
            return fail_node(node, "the node has two parents:", node->id, err);
        node->parent = parent;
    }
    return PCOL_OK;
}

/* Climb to a node whose stack is known, reversing the parents, and come back. */
static pcol_status set_stack(struct pci_v8 *v8, uint32_t at, pcol_error *err)
{
    uint32_t child = PCOL_NONE;
    while (v8->nodes[at].stack == PCOL_NONE) {
        struct pci_v8_node *node = &v8->nodes[at];
        uint32_t parent = node->parent;
        node->stack = IN_PROGRESS;
        node->parent = child;
        child = at;
        if (parent == PCOL_NONE)
            break;
        at = parent;
        if (v8->nodes[at].stack == IN_PROGRESS)
            return fail_node(&v8->nodes[at], "the node is its own ancestor:", v8->nodes[at].id,
                             err);
    }
    uint32_t stack = v8->nodes[at].stack == IN_PROGRESS ? 0 : v8->nodes[at].stack;
    uint32_t parent = v8->nodes[at].stack == IN_PROGRESS ? PCOL_NONE : at;
    while (child != PCOL_NONE) {
        struct pci_v8_node *node = &v8->nodes[child];
        uint32_t next = node->parent;
        if (!(node->is_root && parent == PCOL_NONE))
            PCI_TRY(pcol_builder_stack(v8->builder, stack, node->group, &stack, err));
        node->stack = stack;
        node->parent = parent;
        parent = child;
        child = next;
    }
    return PCOL_OK;
}

void pci_v8_forget(struct pci_v8 *v8, size_t first_node, size_t first_child)
{
    v8->node_count = first_node;
    v8->child_count = first_child;
}

pcol_status pci_v8_resolve(struct pci_v8 *v8, pcol_error *err)
{
    PCI_TRY(set_parents(v8, err));
    for (size_t i = 0; i < v8->node_count; i++)
        PCI_TRY(set_stack(v8, (uint32_t)i, err));
    return PCOL_OK;
}

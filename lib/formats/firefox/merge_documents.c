/*
 * merge_documents.c - what stands around the tables of several Firefox sources, in one document
 *
 * Lists of pages follow each other. Logs are objects by pid: their keys get the number of the
 * source, as the pids of threads do. Of all other members there can be but one: the first source
 * that has it gives it, and nothing is lost if the others say the same.
 */
#include "formats/firefox/convert_events.h"

#include "util/alloc.h"
#include "util/strbuf.h"

#include <stdio.h>

static const struct {
    const char *key;
    uint8_t tag;
} joined[] = {{"pages", PCI_NODE_ARRAY},
              {"profilingLog", PCI_NODE_OBJECT},
              {"profileGatheringLog", PCI_NODE_OBJECT}};
enum { JOINED = sizeof joined / sizeof joined[0] };

struct several {
    struct pci_ff_convert *carry;
    struct pci_node_reader nodes;
    struct pci_string_pool keys; /* of other members that were written */
    uint64_t *hashes;            /* by those: of what was written */
    size_t capacity;
    int *lost;
};

/* A sink that keeps nothing but a hash. */
static pcol_status add_hash(void *context, const void *data, size_t size, pcol_error *err)
{
    uint64_t *hash = context, both[2] = {*hash, pci_hash_bytes(data, size)};
    (void)err;
    *hash = pci_hash_bytes(both, sizeof both);
    return PCOL_OK;
}

/* Of a node as text: a writer passes the same text on in the same pieces. */
static pcol_status hash_of(const struct several *k, uint64_t node, uint64_t *hash, pcol_error *err)
{
    struct pci_json_writer w;
    *hash = 0;
    PCI_TRY(pci_json_writer_open(&w, (pcol_sink){add_hash, hash}, 0, err));
    pcol_status status = pci_json_from_nodes(k->carry->file, node, &w, NULL, NULL, err);
    if (status == PCOL_OK)
        status = pci_json_writer_finish(&w, err);
    pci_json_writer_close(&w);
    return status;
}

static pcol_status root_of(const struct several *k, uint64_t source, uint64_t *root,
                           pcol_error *err)
{
    const pcol_file *file = k->carry->file;
    const struct pci_column *column;
    int64_t row;
    int firefox, valid;
    *root = PCI_NO_NODE;
    PCI_TRY(pci_ff_is_firefox(file, (uint32_t)source, &firefox, err));
    PCI_TRY(pci_want(file, "sources", "extra", PCI_TYPES_ROW, &column, err));
    PCI_TRY(pci_ff_get(file, column, source, &row, &valid, err));
    if (firefox && valid)
        *root = (uint64_t)row;
    return PCOL_OK;
}

/* The key of a log: "N-PID". */
static void put_pid(struct several *k, uint64_t source, pcol_str pid, pcol_error *err)
{
    char key[96];
    int size = snprintf(key, sizeof key, "%u-", (unsigned)source + 1);
    size_t room = sizeof key - (size_t)size, n = pid.size < room ? pid.size : room;
    memcpy(key + size, pid.data, n);
    *k->lost |= n < pid.size;
    pci_json_put_key_bytes(&k->carry->out->w, (pcol_str){key, (size_t)size + n}, err);
}

/* The members of a list or log of one source. */
static pcol_status put_members(struct several *k, uint64_t parent, uint64_t source, pcol_error *err)
{
    struct pci_json_writer *w = &k->carry->out->w;
    uint64_t member;
    PCI_TRY(pci_nodes_first(&k->nodes, parent, &member, err));
    while (member != PCI_NO_NODE) {
        struct pci_node_value node;
        PCI_TRY(pci_nodes_get(&k->nodes, member, &node, err));
        if (node.has_key)
            put_pid(k, source, node.key, err);
        PCI_TRY(pci_json_from_nodes(k->carry->file, member, w, NULL, NULL, err));
        PCI_TRY(pci_nodes_next(&k->nodes, parent, &member, err));
    }
    return w->status;
}

static pcol_status join(struct several *k, unsigned which, pcol_error *err)
{
    const struct pci_export *export = k->carry->export;
    struct pci_json_writer *w = &k->carry->out->w;
    int begun = 0, is_log = joined[which].tag == PCI_NODE_OBJECT;
    for (uint64_t s = export->first_source; s <= export->last_source; s++) {
        struct pci_node_value node;
        uint64_t root;
        int found = 0;
        PCI_TRY(root_of(k, s, &root, err));
        if (root != PCI_NO_NODE)
            PCI_TRY(pci_ff_node_member(&k->nodes, root, joined[which].key, &node, &found, err));
        if (!found || node.tag != joined[which].tag) {
            *k->lost |= found;
            continue;
        }
        if (!begun) {
            pci_json_put_key(w, joined[which].key, err);
            pci_json_put_begin(w, is_log ? '{' : '[', err);
        }
        begun = 1;
        PCI_TRY(put_members(k, node.row, s, err));
    }
    if (begun)
        pci_json_put_end(w, is_log ? '}' : ']', err);
    return w->status;
}

/* Whether a member is written elsewhere. The overhead of the profiler names threads by numbers that
 * are others here. */
static int is_known(const struct several *k, const struct pci_node_value *node)
{
    static const char *const known[] = {"meta", "libs", "threads", "shared", "counters"};
    for (size_t i = 0; i < JOINED; i++)
        if (pci_str_is(node->key, joined[i].key))
            return 1;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (pci_str_is(node->key, known[i]))
            return 1;
    if (!pci_str_is(node->key, "profilerOverhead"))
        return node->tag == PCI_NODE_TABLE;
    uint64_t member = PCI_NO_NODE;
    if (node->tag != PCI_NODE_ARRAY ||
        pci_nodes_first(&k->nodes, node->row, &member, NULL) != PCOL_OK || member != PCI_NO_NODE)
        *k->lost = 1;
    return 1;
}

/* *first: no source before had this key; if one had, whether it said the same is noted. */
static pcol_status look(struct several *k, const struct pci_node_value *node, int *first,
                        pcol_error *err)
{
    uint64_t hash;
    uint32_t code;
    size_t before = k->keys.count;
    PCI_TRY(pci_string_pool_intern(&k->keys, node->key.data, node->key.size, &code, err));
    PCI_TRY(hash_of(k, node->row, &hash, err));
    *first = k->keys.count > before;
    if (!*first) {
        *k->lost |= k->hashes[code] != hash;
        return PCOL_OK;
    }
    if (pci_grow((void **)&k->hashes, &k->capacity, k->keys.count, sizeof *k->hashes))
        return pci_fail_memory(err);
    k->hashes[code] = hash;
    return PCOL_OK;
}

static pcol_status put_others(struct several *k, uint64_t source, pcol_error *err)
{
    struct pci_json_writer *w = &k->carry->out->w;
    uint64_t root, member;
    PCI_TRY(root_of(k, source, &root, err));
    if (root == PCI_NO_NODE)
        return PCOL_OK;
    PCI_TRY(pci_nodes_first(&k->nodes, root, &member, err));
    while (member != PCI_NO_NODE) {
        struct pci_node_value node;
        int first = 0;
        PCI_TRY(pci_nodes_get(&k->nodes, member, &node, err));
        if (!is_known(k, &node) || pci_str_is(node.key, "meta"))
            PCI_TRY(look(k, &node, &first, err));
        if (first && !pci_str_is(node.key, "meta")) {
            pci_json_put_key_bytes(w, node.key, err);
            PCI_TRY(pci_json_from_nodes(k->carry->file, member, w, NULL, NULL, err));
        }
        PCI_TRY(pci_nodes_next(&k->nodes, root, &member, err));
    }
    return w->status;
}

pcol_status pci_ff_convert_several(struct pci_ff_convert *carry, int *lost, pcol_error *err)
{
    struct several k = {.carry = carry, .lost = lost};
    pcol_status status = pci_nodes_open(&k.nodes, carry->file, err);
    for (unsigned i = 0; i < JOINED && status == PCOL_OK; i++)
        status = join(&k, i, err);
    for (uint64_t s = carry->export->first_source;
         s <= carry->export->last_source && status == PCOL_OK; s++)
        status = put_others(&k, s, err);
    pci_string_pool_clear(&k.keys);
    pci_free(k.hashes);
    return status;
}

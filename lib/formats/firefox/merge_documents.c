/*
 * merge_documents.c - merges the members around the tables of several Firefox sources
 *
 * Lists of pages are concatenated. Logs are objects by pid; their keys get the number of the source
 * as a prefix, as the pids of threads do. Every other member exists once: it is taken from the
 * first source that has it, and is reported as a loss if another source has a different value.
 */
#include "formats/firefox/convert_events.h"
#include "formats/json_members.h"

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

struct merge {
    struct pci_ff_convert *convert;
    struct pci_node_reader nodes;
    struct pci_string_pool keys; /* keys of the members written so far, except joined ones */
    uint64_t *hashes;            /* by key: hash of the value that was written */
    size_t capacity;
    int *lost;
};

/* Sink that computes a hash of its input. */
static pcol_status add_hash(void *context, const void *data, size_t size, pcol_error *err)
{
    uint64_t *hash = context, chained[2] = {*hash, pci_hash_bytes(data, size)};
    (void)err;
    *hash = pci_hash_bytes(chained, sizeof chained);
    return PCOL_OK;
}

/* Hash of a node's JSON text; the JSON writer splits equal texts into equal pieces. */
static pcol_status hash_node(const struct merge *k, uint64_t node, uint64_t *hash, pcol_error *err)
{
    struct pci_json_writer w;
    *hash = 0;
    PCI_TRY(pci_json_writer_open(&w, (pcol_sink){add_hash, hash}, 0, err));
    pcol_status status = pci_json_from_nodes(k->convert->file, node, &w, NULL, NULL, err);
    PCI_THEN(status, pci_json_writer_finish(&w, err));
    pci_json_writer_close(&w);
    return status;
}

static pcol_status find_root(const struct merge *k, uint64_t source, uint64_t *root,
                             pcol_error *err)
{
    const pcol_file *file = k->convert->file;
    int64_t row;
    int firefox, valid;
    *root = PCI_NO_NODE;
    PCI_TRY(pci_ff_is_firefox(file, (uint32_t)source, &firefox, err));
    PCI_TRY(pci_get_named(file, "sources", "extra", PCI_TYPES_ROW, source, &row, &valid, err));
    if (firefox && valid)
        *root = (uint64_t)row;
    return PCOL_OK;
}

/* Write the key of a log, "N-PID". */
static void put_pid(struct merge *k, uint64_t source, pcol_str pid, pcol_error *err)
{
    char key[96];
    int size = snprintf(key, sizeof key, "%u-", (unsigned)source + 1);
    size_t capacity = sizeof key - (size_t)size, n = pid.size < capacity ? pid.size : capacity;
    memcpy(key + size, pid.data, n);
    *k->lost |= n < pid.size;
    pci_json_put_key_bytes(&k->convert->out->w, (pcol_str){key, (size_t)size + n}, err);
}

/* Write the members of a list or log of one source. */
static pcol_status put_members(struct merge *k, uint64_t parent, uint64_t source, pcol_error *err)
{
    struct pci_json_writer *w = &k->convert->out->w;
    uint64_t member;
    PCI_TRY(pci_nodes_first(&k->nodes, parent, &member, err));
    while (member != PCI_NO_NODE) {
        struct pci_node_value node;
        PCI_TRY(pci_nodes_get(&k->nodes, member, &node, err));
        if (node.has_key)
            put_pid(k, source, node.key, err);
        PCI_TRY(pci_json_from_nodes(k->convert->file, member, w, NULL, NULL, err));
        PCI_TRY(pci_nodes_next(&k->nodes, parent, &member, err));
    }
    return w->status;
}

static pcol_status join_member(struct merge *k, unsigned which, pcol_error *err)
{
    const struct pci_export *export = k->convert->export;
    struct pci_json_writer *w = &k->convert->out->w;
    int is_open = 0, is_log = joined[which].tag == PCI_NODE_OBJECT;
    for (uint64_t s = export->first_source; s <= export->last_source; s++) {
        struct pci_node_value node;
        uint64_t root;
        int found = 0;
        PCI_TRY(find_root(k, s, &root, err));
        if (root != PCI_NO_NODE)
            PCI_TRY(pci_ff_node_member(&k->nodes, root, joined[which].key, &node, &found, err));
        if (!found || node.tag != joined[which].tag) {
            *k->lost |= found;
            continue;
        }
        if (!is_open) {
            pci_json_put_begin_member(w, joined[which].key, is_log ? '{' : '[', err);
        }
        is_open = 1;
        PCI_TRY(put_members(k, node.row, s, err));
    }
    if (is_open)
        pci_json_put_end(w, is_log ? '}' : ']', err);
    return w->status;
}

/* Whether a member is written elsewhere or dropped. profilerOverhead has indexes of threads, which
 * change here, so it is dropped. */
static int is_known(const struct merge *k, const struct pci_node_value *node)
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

/* *first: no earlier source had this key. Otherwise sets *lost if the values differ. */
static pcol_status compare_member(struct merge *k, const struct pci_node_value *node, int *first,
                                  pcol_error *err)
{
    uint64_t hash;
    uint32_t code;
    size_t old_count = k->keys.count;
    PCI_TRY(pci_string_pool_intern(&k->keys, node->key.data, node->key.size, &code, err));
    PCI_TRY(hash_node(k, node->row, &hash, err));
    *first = k->keys.count > old_count;
    if (!*first) {
        *k->lost |= k->hashes[code] != hash;
        return PCOL_OK;
    }
    PCI_TRY(PCI_GROW(k->hashes, k->capacity, k->keys.count, err));
    k->hashes[code] = hash;
    return PCOL_OK;
}

static pcol_status put_others(struct merge *k, uint64_t source, pcol_error *err)
{
    struct pci_json_writer *w = &k->convert->out->w;
    uint64_t root, member;
    PCI_TRY(find_root(k, source, &root, err));
    if (root == PCI_NO_NODE)
        return PCOL_OK;
    PCI_TRY(pci_nodes_first(&k->nodes, root, &member, err));
    while (member != PCI_NO_NODE) {
        struct pci_node_value node;
        int first = 0;
        PCI_TRY(pci_nodes_get(&k->nodes, member, &node, err));
        if (!is_known(k, &node) || pci_str_is(node.key, "meta"))
            PCI_TRY(compare_member(k, &node, &first, err));
        if (first && !pci_str_is(node.key, "meta")) {
            pci_json_put_key_bytes(w, node.key, err);
            PCI_TRY(pci_json_from_nodes(k->convert->file, member, w, NULL, NULL, err));
        }
        PCI_TRY(pci_nodes_next(&k->nodes, root, &member, err));
    }
    return w->status;
}

pcol_status pci_ff_convert_merged_members(struct pci_ff_convert *convert, int *lost,
                                          pcol_error *err)
{
    struct merge k = {.convert = convert, .lost = lost};
    pcol_status status = pci_nodes_open(&k.nodes, convert->file, err);
    for (unsigned i = 0; i < JOINED && status == PCOL_OK; i++)
        status = join_member(&k, i, err);
    for (uint64_t s = convert->export->first_source;
         s <= convert->export->last_source && status == PCOL_OK; s++)
        status = put_others(&k, s, err);
    pci_string_pool_clear(&k.keys);
    pci_free(k.hashes);
    return status;
}

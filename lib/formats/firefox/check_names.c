/*
 * check_names.c - no object of a restored profile has two members of one name where the reader
 * rejects them: in threads, tables, and among the tables of the document and of counters; and
 * profiles of versions before shared tables have none
 *
 * An import makes no such file. Tests: tests/hostile/fuzz, found inputs of unpack_jslb.
 */
#include "formats/firefox/write_native.h"

#include "util/alloc.h"

struct names {
    const struct pci_ff_native *native;
    struct pci_node_reader nodes;
    struct pci_string_pool texts;
    uint32_t *last; /* by text: the last object with it */
    size_t last_count, last_capacity;
    uint32_t object; /* the current one, from 1 */
};

static pcol_status add_name(struct names *n, pcol_str name, const char *table, uint64_t row,
                            pcol_error *err)
{
    uint32_t text;
    PCI_TRY(pci_string_pool_intern(&n->texts, name.data, name.size, &text, err));
    PCI_TRY(PCI_GROW(n->last, n->last_capacity, (size_t)text + 1, err));
    while (n->last_count <= text)
        n->last[n->last_count++] = 0;
    if (n->last[text] == n->object)
        return pci_corrupt(err, table, NULL, row, "the profile has '%.*s' twice",
                           (int)(name.size < 40 ? name.size : 40), name.data);
    n->last[text] = n->object;
    return PCOL_OK;
}

/* The tables among the members of an object; other members may be there twice. */
static pcol_status check_tables(struct names *n, uint64_t object, pcol_error *err)
{
    uint64_t member;
    n->object++;
    PCI_TRY(pci_nodes_first(&n->nodes, object, &member, err));
    while (member != PCI_NO_NODE) {
        struct pci_node_value node;
        PCI_TRY(pci_nodes_get(&n->nodes, member, &node, err));
        if (node.has_key && (node.tag == PCI_NODE_TABLE || pci_str_is(node.key, "meta") ||
                             pci_str_is(node.key, "shared")))
            PCI_TRY(add_name(n, node.key, "nodes", member, err));
        PCI_TRY(pci_nodes_next(&n->nodes, object, &member, err));
    }
    return PCOL_OK;
}

static pcol_status reject_tables(struct names *n, uint64_t object, pcol_error *err)
{
    uint64_t member;
    PCI_TRY(pci_nodes_first(&n->nodes, object, &member, err));
    while (member != PCI_NO_NODE) {
        struct pci_node_value node;
        PCI_TRY(pci_nodes_get(&n->nodes, member, &node, err));
        if (node.tag == PCI_NODE_TABLE)
            return pci_corrupt(err, "nodes", NULL, member,
                               "shared has tables, but profiles of version %lld have none there",
                               (long long)n->native->version);
        PCI_TRY(pci_nodes_next(&n->nodes, object, &member, err));
    }
    return PCOL_OK;
}

static pcol_status check_document(struct names *n, uint64_t root, pcol_error *err)
{
    struct pci_node_value shared;
    int found;
    PCI_TRY(check_tables(n, root, err));
    PCI_TRY(pci_ff_node_member(&n->nodes, root, "shared", &shared, &found, err));
    if (!found)
        return PCOL_OK;
    PCI_TRY(check_tables(n, shared.row, err));
    return n->native->has_version && n->native->version < PCI_FF_SINCE_SHARED
               ? reject_tables(n, shared.row, err)
               : PCOL_OK;
}

/* Columns of tables, which are sorted by table. */
static pcol_status check_columns(struct names *n, pcol_error *err)
{
    const struct pci_ff_native *b = n->native;
    for (size_t i = 0; i < b->preserved_count; i++) {
        const struct pci_ff_preserved *k = &b->preserved[i];
        if (!i || k->thread != k[-1].thread || !pci_str_equal(k->table, k[-1].table))
            n->object++;
        if (!pci_ff_is_by_use(k))
            PCI_TRY(add_name(n, k->column, "source_columns", k->row, err));
    }
    return PCOL_OK;
}

typedef pcol_status check_row(struct names *n, const struct pci_label_reader *labels,
                              const char *table, uint64_t row, pcol_error *err);

/* All members of a thread. */
static pcol_status check_thread(struct names *n, const struct pci_label_reader *labels,
                                const char *table, uint64_t row, pcol_error *err)
{
    n->object++;
    for (size_t i = 0; i < labels->cell_count; i++) {
        struct pci_node_value node = {.tag = PCI_NODE_NULL};
        if (labels->cells[i].key)
            node.key = labels->cells[i].key->key;
        else
            PCI_TRY(pci_nodes_get(&n->nodes, labels->cells[i].node, &node, err));
        PCI_TRY(add_name(n, node.key, table, row, err));
    }
    return PCOL_OK;
}

static pcol_status check_counter(struct names *n, const struct pci_label_reader *labels,
                                 const char *table, uint64_t row, pcol_error *err)
{
    (void)table;
    (void)row;
    return labels->extra == PCI_NO_NODE ? PCOL_OK : check_tables(n, labels->extra, err);
}

static pcol_status check_rows(struct names *n, const char *table, check_row *check, pcol_error *err)
{
    struct pci_label_reader labels;
    struct pci_source_range rows;
    PCI_TRY(pci_source_rows(n->native->file, table, n->native->source, &rows, err));
    pcol_status status = pci_labels_open(&labels, n->native->file, table, err);
    for (uint64_t row = rows.first; row < rows.first + rows.count && status == PCOL_OK; row++) {
        status = pci_labels_row(&labels, row, err);
        PCI_THEN(status, check(n, &labels, table, row, err));
    }
    pci_labels_close(&labels);
    return status;
}

static pcol_status check_all(struct names *n, uint64_t root, pcol_error *err)
{
    PCI_TRY(pci_nodes_open(&n->nodes, n->native->file, err));
    PCI_TRY(check_document(n, root, err));
    PCI_TRY(check_columns(n, err));
    PCI_TRY(check_rows(n, "threads", check_thread, err));
    return check_rows(n, "counters", check_counter, err);
}

pcol_status pci_ff_native_check_names(const struct pci_ff_native *native, uint64_t root,
                                      pcol_error *err)
{
    struct names n = {.native = native};
    pcol_status status = check_all(&n, root, err);
    pci_free(n.last);
    pci_string_pool_clear(&n.texts);
    return status;
}

/*
 * read_document.c - reads the document and its structure
 *
 * Members that are tables become columns of cells; a node of tag `table` records their position in
 * the document. All other members become nodes (of the document) or labels (of a thread or
 * counter).
 */
#include "formats/firefox/read.h"

#include "model/json_tree.h"
#include "util/alloc.h"

#include <stdio.h>
#include <string.h>

static pcol_status add_table_node(struct pci_ff *ff, uint64_t parent, uint32_t key,
                                  const char *table, pcol_error *err)
{
    struct pci_new_node node = {.parent = parent, .key = key, .tag = PCI_NODE_TABLE};
    uint64_t row;
    PCI_TRY(pcol_builder_string(ff->b, table, strlen(table), &node.text, err));
    return pci_builder_node(ff->b, &node, &row, err);
}

static pcol_status add_object_node(struct pci_ff *ff, uint64_t parent, uint32_t key, uint64_t *row,
                                   pcol_error *err)
{
    struct pci_new_node node = {.parent = parent, .key = key, .tag = PCI_NODE_OBJECT};
    return pci_builder_node(ff->b, &node, row, err);
}

static pcol_status reject_gecko_table(const struct pci_ff *ff, const struct pci_ff_table *table,
                                      pcol_error *err)
{
    const struct pci_ff_column *schema = pci_ff_find_scalar(ff, table, "schema");
    if (!schema)
        return PCOL_OK;
    return pci_ff_fail_at(&schema->position, err,
                          "%s is a table of a raw Gecko profile; only processed profiles, as the "
                          "Firefox Profiler saves them, are supported",
                          table->path);
}

/* Column lengths are not checked before the version is known; if meta comes late, all tables are
 * measured again at the end. */
static int is_lenient(const struct pci_ff *ff, int id)
{
    return !ff->has_meta || pci_ff_is_uneven(id, ff->has_version ? ff->version : 0);
}

static pcol_status measure_scope(struct pci_ff *ff, struct pci_ff_scope *scope, pcol_error *err)
{
    for (int id = PCI_FF_SOURCES; id < PCI_FF_TABLES; id++)
        if (scope->tables[id].present)
            PCI_TRY(pci_ff_table_count_rows(ff, &scope->tables[id], is_lenient(ff, id), err));
    return PCOL_OK;
}

/* The table that the current key names, or -1. */
static int find_table_id(const struct pci_ff *ff, int first)
{
    for (int i = first; i < PCI_FF_TABLES; i++)
        if (pci_ff_text_is(&ff->in, pci_ff_source_tables[i]) && i != PCI_FF_CATEGORIES)
            return i;
    return pci_ff_text_is(&ff->in, pci_ff_source_tables[PCI_FF_STRINGS]) ? PCI_FF_STRINGS : -1;
}

/* Read the value of a member that may be a table. *is_table: it was one. */
static pcol_status read_table(struct pci_ff *ff, struct pci_ff_scope *scope, int id, int *is_table,
                              pcol_error *err)
{
    char path[64];
    int type = ff->in.type;
    struct pci_ff_table *table = &scope->tables[id];
    snprintf(path, sizeof path, "%s%s%s", scope->path, scope->path[0] ? "." : "",
             pci_ff_source_tables[id]);
    *is_table = 1;
    if (id == PCI_FF_STRINGS && type == PCI_JSON_ARRAY)
        return pci_ff_strings_read(ff, table, path, err);
    if (id == PCI_FF_LIBS && type == PCI_JSON_ARRAY) {
        snprintf(table->path, sizeof table->path, "%s", path);
        return pci_ff_read_libs(ff, scope, err);
    }
    if (id == PCI_FF_STRINGS || id == PCI_FF_LIBS || type != PCI_JSON_OBJECT) {
        *is_table = 0;
        return PCOL_OK;
    }
    PCI_TRY(pci_ff_table_read(ff, table, path, err));
    PCI_TRY(reject_gecko_table(ff, table, err));
    PCI_TRY(pci_ff_table_count_rows(ff, table, is_lenient(ff, id), err));
    if (id == PCI_FF_MARKERS)
        ff->marker_rows += table->rows;
    return PCOL_OK;
}

/* ---- threads */

/* Reject duplicate keys of a thread. key_thread[] has for each string the last thread with that
 * key, since a thread can have as many keys as it has bytes. */
static pcol_status reject_duplicate_key(struct pci_ff *ff, const struct pci_ff_scope *scope,
                                        uint32_t key, pcol_error *err)
{
    size_t before = ff->key_capacity;
    PCI_TRY(PCI_GROW(ff->key_thread, ff->key_capacity, (size_t)key + 1, err));
    memset(ff->key_thread + before, 0, (ff->key_capacity - before) * sizeof *ff->key_thread);
    if (ff->key_thread[key] == ff->thread_count) {
        pcol_str text = pci_string_pool_get(&ff->b->strings, key);
        return pci_ff_fail(&ff->in, err, "%s has '%.*s' twice", scope->path,
                           (int)(text.size < 40 ? text.size : 40), text.data);
    }
    ff->key_thread[key] = (uint32_t)ff->thread_count;
    return PCOL_OK;
}

static pcol_status read_thread_member(struct pci_ff *ff, struct pci_ff_scope *scope,
                                      pcol_error *err)
{
    struct pci_label label = {.kind = PCI_LABEL_EXTRA};
    uint32_t key;
    int id = find_table_id(ff, PCI_FF_LIBS), is_table = 0;
    if (pci_ff_text_is(&ff->in, "stringTable"))
        return pci_ff_fail(&ff->in, err,
                           "%s is part of a raw Gecko profile; only processed profiles, as the "
                           "Firefox Profiler saves them, are supported",
                           scope->path);
    PCI_TRY(pci_ff_intern_key(ff, &key, err));
    PCI_TRY(reject_duplicate_key(ff, scope, key, err));
    PCI_TRY(pci_ff_next(&ff->in, err));
    if (id >= 0)
        PCI_TRY(read_table(ff, scope, id, &is_table, err));
    if (!is_table)
        return pci_ff_read_label(ff, key, &scope->labels, &scope->label_count,
                                 &scope->label_capacity, &scope->extra, err);
    label.key = key;
    if (scope->extra == PCI_NO_NODE)
        PCI_TRY(add_object_node(ff, PCI_NO_NODE, PCOL_NONE, &scope->extra, err));
    PCI_TRY(add_table_node(ff, scope->extra, key, pci_ff_pcol_tables[id], err));
    PCI_TRY(PCI_GROW(scope->labels, scope->label_capacity, scope->label_count + 1, err));
    scope->labels[scope->label_count++] = label;
    return PCOL_OK;
}

static pcol_status read_thread(struct pci_ff *ff, pcol_error *err)
{
    int more;
    struct pci_ff_scope *scope;
    if (ff->thread_count >= 1000000)
        return pci_ff_fail(&ff->in, err, "more than 1000000 threads");
    PCI_TRY(PCI_GROW(ff->threads, ff->thread_capacity, ff->thread_count + 1, err));
    PCI_TRY(PCI_CALLOC(scope, 1, err));
    scope->extra = PCI_NO_NODE;
    snprintf(scope->path, sizeof scope->path, "threads[%zu]", ff->thread_count);
    ff->threads[ff->thread_count++] = scope;
    PCI_TRY(pci_ff_require_type(&ff->in, PCI_JSON_OBJECT, scope->path, err));
    for (;;) {
        snprintf(ff->in.path, sizeof ff->in.path, "%s", scope->path);
        PCI_TRY(pci_ff_member(&ff->in, &more, err));
        if (!more)
            return PCOL_OK;
        PCI_TRY(read_thread_member(ff, scope, err));
    }
}

/* Whether all tables that threads refer to have been read, as in most files. Each thread can then
 * be converted immediately, which frees its cells. */
static int can_begin(const struct pci_ff *ff)
{
    return ff->has_meta && ff->has_version &&
           (ff->version < PCI_FF_SINCE_COMMON_LIBS || ff->seen >> PCI_FF_ALL_LIBS & 1) &&
           (ff->version < PCI_FF_SINCE_SHARED || ff->seen >> PCI_FF_SHARED & 1);
}

/* Convert a thread (NULL: the shared tables). Errors found here are not related to the current
 * position of the reader, so its path is cleared. */
static pcol_status convert_thread(struct pci_ff *ff, struct pci_ff_scope *scope, pcol_error *err)
{
    char path[sizeof ff->in.path];
    memcpy(path, ff->in.path, sizeof path);
    ff->in.path[0] = 0;
    PCI_TRY(scope ? pci_ff_convert_thread(ff, scope, err) : pci_ff_convert_shared(ff, err));
    memcpy(ff->in.path, path, sizeof path);
    return PCOL_OK;
}

static pcol_status read_threads(struct pci_ff *ff, pcol_error *err)
{
    int more;
    PCI_TRY(pci_ff_require_type(&ff->in, PCI_JSON_ARRAY, "threads", err));
    if (can_begin(ff))
        PCI_TRY(convert_thread(ff, NULL, err));
    for (;;) {
        PCI_TRY(pci_ff_element(&ff->in, &more, err));
        if (!more)
            break;
        PCI_TRY(read_thread(ff, err));
        if (ff->shared_converted)
            PCI_TRY(convert_thread(ff, ff->threads[ff->thread_count - 1], err));
    }
    return PCOL_OK;
}

/* ---- counters */

static pcol_status add_counter(struct pci_ff *ff, uint32_t row, struct pci_ff_counter **counter,
                               pcol_error *err)
{
    *counter = NULL;
    PCI_TRY(PCI_GROW(ff->counters, ff->counter_capacity, ff->counter_count + 1, err));
    PCI_TRY(PCI_CALLOC(*counter, 1, err));
    (*counter)->row = row;
    ff->counters[ff->counter_count++] = *counter;
    return PCOL_OK;
}

/* Read the members of a counter; labels and extra are returned in `scope`. */
static pcol_status read_counter_members(struct pci_ff *ff, struct pci_ff_counter *counter,
                                        const char *path, struct pci_ff_scope *scope,
                                        pcol_error *err)
{
    int more;
    uint32_t key;
    for (;;) {
        PCI_TRY(pci_ff_member(&ff->in, &more, err));
        if (!more)
            return PCOL_OK;
        PCI_TRY(pci_ff_intern_key(ff, &key, err));
        int is_samples = pci_ff_text_is(&ff->in, "samples");
        PCI_TRY(pci_ff_next(&ff->in, err));
        if (is_samples && ff->in.type == PCI_JSON_OBJECT) {
            struct pci_label label = {.kind = PCI_LABEL_EXTRA, .key = key};
            PCI_TRY(pci_ff_table_read(ff, &counter->samples, path, err));
            PCI_TRY(reject_gecko_table(ff, &counter->samples, err));
            PCI_TRY(pci_ff_table_count_rows(ff, &counter->samples, 0, err));
            if (scope->extra == PCI_NO_NODE)
                PCI_TRY(add_object_node(ff, PCI_NO_NODE, PCOL_NONE, &scope->extra, err));
            PCI_TRY(add_table_node(ff, scope->extra, key, "counter_samples", err));
            PCI_TRY(PCI_GROW(scope->labels, scope->label_capacity, scope->label_count + 1, err));
            scope->labels[scope->label_count++] = label;
        } else {
            PCI_TRY(pci_ff_read_label(ff, key, &scope->labels, &scope->label_count,
                                      &scope->label_capacity, &scope->extra, err));
        }
    }
}

static pcol_status read_counter(struct pci_ff *ff, uint32_t table, uint32_t base, size_t number,
                                struct pci_ff_scope *scope, pcol_error *err)
{
    char path[64];
    struct pci_ff_counter *counter;
    snprintf(path, sizeof path, "counters[%zu].samples", number);
    PCI_TRY(pci_ff_require_type(&ff->in, PCI_JSON_OBJECT, "a counter", err));
    PCI_TRY(add_counter(ff, base + (uint32_t)number, &counter, err));
    scope->label_count = 0;
    scope->extra = PCI_NO_NODE;
    PCI_TRY(read_counter_members(ff, counter, path, scope, err));
    PCI_TRY(pci_builder_labels(ff->b, table, counter->row, scope->labels, scope->label_count,
                               &scope->extra, err));
    return scope->extra == PCI_NO_NODE
               ? PCOL_OK
               : pci_builder_extra(ff->b, table, counter->row, scope->extra, err);
}

static pcol_status read_counters(struct pci_ff *ff, pcol_error *err)
{
    struct pci_ff_scope scope = {0};
    uint32_t table;
    int more;
    pcol_status status = pcol_builder_table(ff->b, "counters", &table, err);
    uint32_t base = status == PCOL_OK ? (uint32_t)pci_builder_rows(ff->b, table) : 0;
    for (size_t number = 0; status == PCOL_OK; number++) {
        status = pci_ff_element(&ff->in, &more, err);
        if (status != PCOL_OK || !more)
            break;
        status = read_counter(ff, table, base, number, &scope, err);
    }
    pci_free(scope.labels);
    return status;
}

/* ---- document */

static pcol_status read_shared(struct pci_ff *ff, uint32_t key, pcol_error *err)
{
    uint64_t object, node;
    int more;
    PCI_TRY(pci_ff_require_type(&ff->in, PCI_JSON_OBJECT, "shared", err));
    PCI_TRY(add_object_node(ff, ff->root, key, &object, err));
    for (;;) {
        int is_table = 0;
        snprintf(ff->in.path, sizeof ff->in.path, "shared");
        PCI_TRY(pci_ff_member(&ff->in, &more, err));
        if (!more)
            return PCOL_OK;
        int id = find_table_id(ff, PCI_FF_SOURCES);
        PCI_TRY(pci_ff_intern_key(ff, &key, err));
        PCI_TRY(pci_ff_next(&ff->in, err));
        if (id >= 0 && id < PCI_FF_SAMPLES)
            PCI_TRY(read_table(ff, &ff->shared, id, &is_table, err));
        ff->has_shared_tables |= is_table;
        if (is_table)
            PCI_TRY(add_table_node(ff, object, key, pci_ff_pcol_tables[id], err));
        else
            PCI_TRY(pci_ff_to_nodes(ff, object, key, &node, err));
    }
}

static pcol_status read_member(struct pci_ff *ff, enum pci_ff_member member, uint32_t key,
                               pcol_error *err)
{
    uint64_t node;
    int is_table;
    switch (member) {
    case PCI_FF_META:
        return pci_ff_read_meta(ff, err);
    case PCI_FF_ALL_LIBS:
        if (ff->in.type != PCI_JSON_ARRAY)
            break;
        PCI_TRY(add_table_node(ff, ff->root, key, "mappings", err));
        return read_table(ff, &ff->shared, PCI_FF_LIBS, &is_table, err);
    case PCI_FF_SHARED:
        snprintf(ff->shared.path, sizeof ff->shared.path, "shared");
        return read_shared(ff, key, err);
    case PCI_FF_THREADS:
        PCI_TRY(add_table_node(ff, ff->root, key, "threads", err));
        return read_threads(ff, err);
    case PCI_FF_COUNTERS:
        if (ff->in.type != PCI_JSON_ARRAY)
            break;
        PCI_TRY(add_table_node(ff, ff->root, key, "counters", err));
        return read_counters(ff, err);
    case PCI_FF_OTHER:
        break;
    }
    return pci_ff_to_nodes(ff, ff->root, key, &node, err);
}

/* Start the prefetch thread. In a container it starts at offset 0: slabs mostly have the order in
 * which the document refers to them. */
static pcol_status start_prefetch(struct pci_ff *ff, pcol_error *err)
{
    const struct pci_json *json = ff->in.json;
    const struct pci_slabs *slabs = ff->in.slabs;
    if (ff->import->options->threads < 2 || (slabs && !slabs->file))
        return PCOL_OK;
    return pci_ff_prefetch_new(slabs ? slabs->file : json->input,
                               slabs ? 0 : json->input->offset + json->at, &ff->b->store,
                               &ff->prefetch, err);
}

pcol_status pci_ff_read_document(struct pci_ff *ff, pcol_error *err)
{
    static const char *const names[PCI_FF_OTHER] = {"meta", "libs", "shared", "threads",
                                                    "counters"};
    int more;
    PCI_TRY(pci_ff_next(&ff->in, err));
    PCI_TRY(pci_ff_require_type(&ff->in, PCI_JSON_OBJECT, "a profile", err));
    PCI_TRY(start_prefetch(ff, err));
    PCI_TRY(add_object_node(ff, PCI_NO_NODE, PCOL_NONE, &ff->root, err));
    for (;;) {
        enum pci_ff_member member = PCI_FF_META;
        uint32_t key;
        ff->in.path[0] = 0;
        PCI_TRY(pci_ff_member(&ff->in, &more, err));
        if (!more)
            break;
        while (member < PCI_FF_OTHER && !pci_ff_text_is(&ff->in, names[member]))
            member++;
        if (member < PCI_FF_OTHER && ff->seen >> member & 1)
            return pci_ff_fail(&ff->in, err, "%s occurs twice", names[member]);
        ff->seen |= 1u << member;
        snprintf(ff->in.path, sizeof ff->in.path, "%s", member < PCI_FF_OTHER ? names[member] : "");
        PCI_TRY(pci_ff_intern_key(ff, &key, err));
        PCI_TRY(pci_ff_next(&ff->in, err));
        PCI_TRY(read_member(ff, member, key, err));
    }
    ff->in.path[0] = 0;
    if (!(ff->seen >> PCI_FF_THREADS & 1) || !ff->has_meta)
        return pci_fail(err, PCOL_E_FORMAT,
                        "JSON, but not a profile of the Firefox Profiler: member '%s' is missing",
                        ff->has_meta ? "threads" : "meta");
    PCI_TRY(pci_ff_next(&ff->in, err)); /* only blanks may follow */
    if (ff->has_shared_tables && ff->has_version && ff->version < PCI_FF_SINCE_SHARED)
        return pci_fail(err, PCOL_E_FORMAT,
                        "shared has tables, but profiles of version %lld have none there",
                        (long long)ff->version);
    pci_ff_prefetch_free(ff->prefetch);
    ff->prefetch = NULL;
    if (ff->shared_converted) /* all tables were measured when they were read */
        return PCOL_OK;
    PCI_TRY(measure_scope(ff, &ff->shared, err));
    for (size_t i = 0; i < ff->thread_count; i++)
        PCI_TRY(measure_scope(ff, ff->threads[i], err));
    return PCOL_OK;
}

/*
 * callgrind_calls.c - functions of the frames of a view, and the calls between them
 *
 * A call is from a frame (a line of a function) to a function, or from (root). Tests: suite
 * call_graphs.
 */
#include "formats/callgraph/callgrind.h"

#include "util/alloc.h"
#include "util/control.h"
#include "util/sort.h"

/* ---- functions ---- */

static pcol_status intern_clean(struct pci_callgrind *w, int pool, pcol_str name,
                                const char *otherwise, uint32_t *string, pcol_error *err)
{
    size_t from = 0, size = name.size, kept = 0;
    PCI_TRY(PCI_GROW(w->clean, w->clean_capacity, size + 1, err));
    for (size_t i = 0; i < size; i++)
        w->clean[i] = name.data[i] && !strchr("\n\r\v\f", name.data[i]) ? name.data[i] : ' ';
    while (size && (w->clean[size - 1] == ' ' || w->clean[size - 1] == '\t'))
        size--;
    while (from < size && (w->clean[from] == ' ' || w->clean[from] == '\t'))
        from++;
    kept = size - from;
    if (kept != name.size || (kept && memcmp(w->clean + from, name.data, kept) != 0))
        w->lost |= PCI_CALLGRIND_LOSS_NAME;
    if (!kept)
        return pci_string_pool_intern(&w->pools[pool], otherwise, strlen(otherwise), string, err);
    return pci_string_pool_intern(&w->pools[pool], w->clean + from, kept, string, err);
}

pcol_status pci_callgrind_intern(struct pci_callgrind *writer, int pool, pcol_str name,
                                 const char *otherwise, uint32_t *string, pcol_error *err)
{
    struct pci_callgrind *w = writer;
    *string = pci_text_memo_find(&w->long_names[pool], name);
    if (*string != PCI_HASH_NONE)
        return PCOL_OK;
    PCI_TRY(intern_clean(w, pool, name, otherwise, string, err));
    return pci_text_memo_add(&w->long_names[pool], name, *string, err);
}

static pcol_status add_function(struct pci_callgrind *w,
                                const struct pci_callgrind_function *function, uint32_t *id,
                                pcol_error *err)
{
    uint64_t hash = pci_hash_pair(pci_hash_pair(function->name, function->file), function->object);
    size_t slot = pci_hash_start(&w->function_hash, hash);
    while ((*id = pci_hash_next(&w->function_hash, hash, &slot)) != PCI_HASH_NONE) {
        const struct pci_callgrind_function *other = &w->functions[*id];
        if (other->name == function->name && other->file == function->file &&
            other->object == function->object)
            return PCOL_OK;
    }
    PCI_TRY(PCI_GROW(w->functions, w->function_capacity, (size_t)w->function_count + 1, err));
    PCI_TRY(pci_hash_add(&w->function_hash, hash, w->function_count, err));
    w->functions[w->function_count] = *function;
    *id = w->function_count++;
    return PCOL_OK;
}

static pcol_status name_frame(struct pci_callgrind *w, uint32_t frame, pcol_error *err)
{
    const pcol_view *view = w->graph.view;
    const struct pci_frame *f = view->frames[frame];
    uint32_t location = view->location[0][frame];
    struct pci_callgrind_function function = {0};
    pcol_str object = {"", 0};
    struct pci_name name;
    uint64_t group;
    int valid;
    if (location != PCOL_NONE) {
        PCI_TRY(pci_stacks_group_of(&w->stacks, location, &group, err));
        PCI_TRY(pci_frame_namer_mapping(&w->names, (uint32_t)group, &object, &valid, err));
        PCI_TRY(pci_frame_namer_get(&w->names, location, (uint32_t)group, &name, err));
        function.start_line = name.has_start_line && name.start_line > 0 ? name.start_line : 0;
    }
    w->has_addresses |= (f->flags & PCI_FRAME_HAS_ADDRESS) != 0;
    w->has_objects |= object.size > 0;
    PCI_TRY(
        pci_callgrind_intern(w, PCI_CG_FUNCTIONS, f->name, PCI_NAME_UNKNOWN, &function.name, err));
    PCI_TRY(
        pci_callgrind_intern(w, PCI_CG_FILES, f->file, PCI_CALLGRIND_UNKNOWN, &function.file, err));
    PCI_TRY(pci_callgrind_intern(w, PCI_CG_OBJECTS, object, PCI_CALLGRIND_UNKNOWN, &function.object,
                                 err));
    return add_function(w, &function, &w->function_of[frame], err);
}

/* ---- calls ---- */

static pcol_status add_call(struct pci_callgrind *w, uint32_t caller, uint32_t callee,
                            uint32_t *call, pcol_error *err)
{
    int is_known;
    PCI_TRY(pci_work(PCI_ITEM_WORK, err));
    return pci_pair_set_index(&w->calls, caller, callee, call, &is_known, err);
}

/* Nodes below the root of the view are calls from (root), if other nodes call their functions. */
static pcol_status add_calls(struct pci_callgrind *w, pcol_error *err)
{
    const pcol_view *view = w->graph.view;
    uint8_t *called;
    PCI_TRY(PCI_CALLOC(called, (size_t)w->function_count + 1, err));
    pcol_status status = PCOL_OK;
    for (uint32_t i = 1; i < view->node_count; i++)
        called[w->function_of[view->node_frame[i]]] |= view->parent[i] > 0;
    for (uint32_t i = 1; i < view->node_count && status == PCOL_OK; i++) {
        uint32_t callee = w->function_of[view->node_frame[i]], parent = view->parent[i];
        w->call_of[i] = PCOL_NONE;
        if (parent || called[callee])
            status = add_call(w, parent ? view->node_frame[parent] : view->frame_count, callee,
                              &w->call_of[i], err);
    }
    pci_free(called);
    return status;
}

/* Counting sort of the calls by caller; calls of one caller stay in order of the view. */
static pcol_status sort_calls(struct pci_callgrind *w, pcol_error *err)
{
    uint32_t callers = w->graph.view->frame_count + 1;
    PCI_TRY(PCI_CALLOC(w->first, (size_t)callers + 1, err));
    PCI_TRY(PCI_CALLOC(w->sorted, (size_t)w->calls.count + 1, err));
    for (uint32_t i = 0; i < w->calls.count; i++)
        w->first[w->calls.pairs[i].first + 1]++;
    for (uint32_t i = 0; i < callers; i++)
        w->first[i + 1] += w->first[i];
    for (uint32_t i = 0; i < w->calls.count; i++)
        w->sorted[w->first[w->calls.pairs[i].first]++] = i;
    memmove(w->first + 1, w->first, callers * sizeof *w->first);
    w->first[0] = 0;
    return pci_work((uint64_t)w->calls.count * PCI_ITEM_WORK, err);
}

struct ordered {
    uint32_t frame, function;
    uint64_t address;
    int64_t line;
};

static int compare_frames(const void *pa, const void *pb, const void *context)
{
    (void)context;
    const struct ordered *a = pa, *b = pb;
    if (a->function != b->function)
        return a->function < b->function ? -1 : 1;
    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    if (a->line != b->line)
        return a->line < b->line ? -1 : 1;
    return (a->frame > b->frame) - (a->frame < b->frame);
}

static pcol_status order_frames(struct pci_callgrind *w, pcol_error *err)
{
    const pcol_view *view = w->graph.view;
    struct ordered *frames;
    PCI_TRY(PCI_MALLOC(w->order, (size_t)view->frame_count + 1, err));
    PCI_TRY(PCI_MALLOC(frames, (size_t)view->frame_count + 1, err));
    for (uint32_t i = 0; i < view->frame_count; i++)
        frames[i] =
            (struct ordered){i, w->function_of[i], view->frames[i]->address, view->frames[i]->line};
    pcol_status status = pci_work((uint64_t)view->frame_count * sizeof *frames, err);
    PCI_THEN(status,
             pci_sort(frames, view->frame_count, sizeof *frames, compare_frames, NULL, err));
    for (uint32_t i = 0; status == PCOL_OK && i < view->frame_count; i++)
        w->order[i] = frames[i].frame;
    pci_free(frames);
    return status;
}

pcol_status pci_callgrind_build(struct pci_callgrind *writer, pcol_error *err)
{
    struct pci_callgrind *w = writer;
    const pcol_view *view = w->graph.view;
    PCI_TRY(pci_stacks_open(w->graph.export->file, &w->stacks, err));
    PCI_TRY(pci_frame_namer_open(&w->names, w->graph.export->file, err));
    PCI_TRY(PCI_CALLOC(w->function_of, (size_t)view->frame_count + 1, err));
    PCI_TRY(PCI_CALLOC(w->call_of, (size_t)view->node_count + 1, err));
    PCI_TRY(PCI_CALLOC(w->weighed, (size_t)view->node_count + 1, err));
    for (uint32_t i = 0; i < view->frame_count; i++)
        PCI_TRY(name_frame(w, i, err));
    PCI_TRY(add_calls(w, err));
    PCI_TRY(sort_calls(w, err));
    return order_frames(w, err);
}

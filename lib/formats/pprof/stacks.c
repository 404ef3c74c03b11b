/*
 * stacks.c - stacks of the samples
 *
 * A stack is stored leaf first and inserted root first. Prefixes shared with the previous stack or
 * a cached path are not looked up again, and recently seen stacks are found in a direct-mapped
 * cache. Tables and tree exceed the processor's caches: stacks are scanned first and inserted some
 * samples later, with prefetches in between.
 */
#include "format/load.h"
#include "formats/pprof/read.h"
#include "util/alloc.h"

#include <inttypes.h>

#define S_LOCATION_ID 1u
#define CACHED_STACKS 32768u /* entries of the cache of stacks */
#define PENDING_STACKS 16u   /* stacks between scan and insertion */
#define MOST_GROUPS 65536u   /* of pending stacks; a single one may have more */
#define GUESSED_AT_ONCE 64u
#define MOST_GUESSED (UINT32_C(1) << 31) /* ids */

#define PREFIX_GROUPS 6u /* groups that select a cached path */
#define CACHED_PATHS 128u
#define PATH_STEPS 63u

struct pci_pprof_trail {
    uint32_t size, unused;
    struct pci_pprof_step {
        uint32_t group, node;
    } steps[PATH_STEPS];
};

pcol_status pci_pprof_stacks_init(struct pci_pprof_stacks *stacks, struct pci_pprof_reader *r,
                                  pcol_error *err)
{
    *stacks = (struct pci_pprof_stacks){.samples = &r->samples,
                                        .guessed_first = (uint32_t)r->b->group_count,
                                        .tree = &r->b->tree,
                                        .column = r->b->columns[PCI_C_SAMPLE_STACK],
                                        .row = r->b->sample_count,
                                        .first_node = r->b->tree.count};
    stacks->recent = pci_calloc(CACHED_STACKS, sizeof *stacks->recent);
    stacks->pending = pci_malloc(PENDING_STACKS, sizeof *stacks->pending);
    stacks->paths = pci_calloc(CACHED_PATHS, sizeof *stacks->paths);
    /* Allocated from the start: pointer arithmetic on NULL is undefined, even for an empty
     * stack. */
    if (!stacks->recent || !stacks->pending || !stacks->paths ||
        pci_grow((void **)&stacks->groups, &stacks->group_capacity, 1, sizeof *stacks->groups))
        return pci_fail_memory(err);
    return PCOL_OK;
}

void pci_pprof_stacks_clear(struct pci_pprof_stacks *stacks)
{
    pci_spill_view_clear(&stacks->reader.view);
    pci_free(stacks->pending);
    pci_free(stacks->groups);
    pci_free(stacks->path);
    pci_free(stacks->paths);
    pci_free(stacks->recent);
}

/* ---- insertion ---- */

/* Is the stack of `node` equal to these groups, leaf first? The parent usually is the previous
 * node; computing its index instead of waiting for the load saves a third of the time. */
static int is_stack(const struct pci_call_tree *tree, uint32_t node, const uint32_t *groups,
                    size_t depth)
{
    for (size_t i = 0; i < depth; i++) {
        const struct pci_node *at = &tree->nodes[node];
        if (!node || at->group != groups[i])
            return 0;
        if (at->parent == node - 1) {
            node--;
            __asm__("" : "+r"(node)); /* hides from the compiler that both branches are equal */
        } else {
            node = at->parent;
        }
    }
    return !node;
}

/* Length of the common prefix of a path and a stack, root first. */
static size_t common_prefix(const struct pci_pprof_step *path, size_t size, const uint32_t *groups,
                            size_t depth)
{
    size_t n = size < depth ? size : depth, i = 0;
    while (i < n && path[i].group == groups[depth - 1 - i])
        i++;
    return i;
}

/* Insert a stack, root first, after the longest prefix shared with the last stack or with a cached
 * path: samples of many threads alternate. */
static pcol_status insert_stack(struct pci_pprof_stacks *s, const uint32_t *groups, size_t depth,
                                uint32_t *stack, pcol_error *err)
{
    size_t begin = depth < PREFIX_GROUPS ? depth : PREFIX_GROUPS;
    uint64_t outermost = pci_hash_bytes(groups + depth - begin, begin * sizeof *groups);
    struct pci_pprof_trail *cached = &s->paths[outermost % CACHED_PATHS];
    size_t i = common_prefix(s->path, s->path_size, groups, depth);
    size_t cached_depth = common_prefix(cached->steps, cached->size, groups, depth);
    PCI_TRY(PCI_GROW(s->path, s->path_capacity, depth, err));
    for (; i < cached_depth; i++)
        s->path[i] = cached->steps[i];
    uint32_t node = i ? s->path[i - 1].node : 0;
    /* Hashes depend on groups only, so that no lookup waits for the result of the previous one. */
    uint32_t hash = s->tree->nodes[node].hash;
    for (; i < depth && node + 1 < s->tree->count; i++) {
        uint32_t group = groups[depth - 1 - i], child;
        uint64_t hash64 = pci_call_tree_hash(hash, group);
        const struct pci_node *guess = &s->tree->nodes[node + 1];
        hash = (uint32_t)(hash64 >> 32);
        if (guess->parent == node && guess->group == group)
            node++;
        else if ((child = pci_call_tree_find(s->tree, node, group, hash64)) != PCI_HASH_NONE)
            node = child;
        else
            PCI_TRY(pci_call_tree_child(s->tree, node, group, &node, err));
        s->path[i] = (struct pci_pprof_step){group, node};
    }
    if (i < depth) { /* the last node of the tree has no children: all further nodes are new */
        PCI_TRY(pci_call_tree_append(s->tree, groups, depth - i, err));
        for (; i < depth; i++)
            s->path[i] = (struct pci_pprof_step){groups[depth - 1 - i], ++node};
    }
    s->path_size = depth;
    cached->size = depth < PATH_STEPS ? (uint32_t)depth : PATH_STEPS;
    for (i = cached_depth; i < cached->size; i++)
        cached->steps[i] = s->path[i];
    *stack = node;
    return PCOL_OK;
}

static pcol_status find_or_insert(struct pci_pprof_stacks *s,
                                  const struct pci_pprof_pending_stack *w, uint32_t *stack,
                                  pcol_error *err)
{
    const uint32_t *groups = s->groups + w->first;
    if (*w->cache_slot && is_stack(s->tree, *w->cache_slot, groups, w->depth)) {
        *stack = *w->cache_slot;
        return PCOL_OK;
    }
    PCI_TRY(insert_stack(s, groups, w->depth, stack, err));
    *w->cache_slot = *stack;
    return PCOL_OK;
}

/* Insert all pending stacks. Nodes of cached stacks are prefetched, PENDING_STACKS at a time. */
static pcol_status insert_pending(struct pci_pprof_stacks *s, pcol_error *err)
{
    size_t count = s->pending_count;
    s->pending_count = 0;
    for (size_t i = 0; i < count; i++) {
        for (size_t k = i; i % PENDING_STACKS == 0 && k < count && k < i + PENDING_STACKS; k++) {
            const struct pci_node *node = &s->tree->nodes[*s->pending[k].cache_slot];
            __builtin_prefetch(node);
            __builtin_prefetch((const char *)node - 64);
        }
        uint32_t stack;
        s->failed = s->count - count + i;
        PCI_TRY(find_or_insert(s, &s->pending[i], &stack, err));
        PCI_TRY(pci_column_buffer_set(s->column, s->row++, stack, err));
    }
    s->group_count = 0;
    return PCOL_OK;
}

/* ---- scanning ---- */

static pcol_status fail_unknown_id(struct pci_pprof_stacks *s, const struct pci_pprof_message *m,
                                   const uint8_t *at, uint64_t id, pcol_error *err)
{
    s->failed_in_field = 0; /* errors in the sample's fields have precedence */
    return pci_fail_at_byte(err, PCOL_E_SYNTAX, pci_pprof_offset(m, at),
                            "Sample.location_id %" PRIu64 " names no location", id);
}

static inline uint32_t find_group(struct pci_pprof_stacks *s, uint64_t id)
{
    if (s->location_ids)
        return pci_pprof_ids_find(s->location_ids, id);
    if (id - 1 >= MOST_GUESSED)
        return PCOL_NONE;
    if (id > s->guessed_highest)
        s->guessed_highest = id;
    return s->guessed_first + (uint32_t)(id - 1);
}

/* Map packed ids of one or two bytes, up to the first other one; *to advances. Nearly all ids are
 * such, since writers number locations by appearance. Branch-free for the unpredictable sequence of
 * the two lengths. `is_known` is a constant at each call. */
static inline const uint8_t *map_short_ids(struct pci_pprof_stacks *s, const uint8_t *p,
                                           const uint8_t *end, uint32_t **to, int is_known)
{
    const uint32_t *rows = is_known ? s->location_ids->rows : NULL;
    uint64_t dense = is_known ? s->location_ids->dense : 1u << 14, highest = s->guessed_highest;
    uint32_t *out = *to;
    while (end - p > 1) {
        uint32_t both = pcf_load16(p), is_two_bytes = both >> 7 & 1;
        uint32_t id = (both & 127) | ((both >> 1 & 0x3f80) & -is_two_bytes);
        uint32_t group = !is_known    ? s->guessed_first + id - 1
                         : id < dense ? rows[id] - 1
                                      : PCOL_NONE;
        if ((both & 0x8080) == 0x8080 || group == PCOL_NONE || !id)
            break;
        if (!is_known && id > highest)
            highest = id;
        *out++ = group;
        p += 1 + is_two_bytes;
    }
    s->guessed_highest = highest;
    *to = out;
    return p;
}

/* Map packed ids to groups; *to advances. */
static pcol_status map_packed_ids(struct pci_pprof_stacks *s, const struct pci_pprof_message *m,
                                  const struct pci_pprof_field *field, uint32_t **to,
                                  pcol_error *err)
{
    const uint8_t *p = field->data, *end = p + field->size;
    uint32_t *out = *to;
    for (;;) {
        p = s->location_ids ? map_short_ids(s, p, end, &out, 1) : map_short_ids(s, p, end, &out, 0);
        if (p == end)
            break;
        const uint8_t *at = p;
        uint64_t id;
        p = pci_pprof_varint(p, end, &id);
        if (!p)
            return pci_fail_at_byte(err, PCOL_E_SYNTAX, pci_pprof_offset(m, at),
                                    "Sample.location_id: bad varint");
        *out = find_group(s, id);
        if (*out++ == PCOL_NONE)
            return fail_unknown_id(s, m, at, id, err);
    }
    *to = out;
    return PCOL_OK;
}

/* Map the ids of a field; there are at most as many as bytes. */
static pcol_status map_ids(struct pci_pprof_stacks *s, struct pci_pprof_pending_stack *w,
                           const struct pci_pprof_message *m, const struct pci_pprof_field *field,
                           pcol_error *err)
{
    PCI_TRY(PCI_GROW(s->groups, s->group_capacity, s->group_count + field->size + 1, err));
    uint32_t *to = s->groups + s->group_count;
    if (field->type == PCI_PB_VARINT) {
        *to = find_group(s, field->value);
        if (*to++ == PCOL_NONE)
            return fail_unknown_id(s, m, field->key, field->value, err);
    } else if (field->type != PCI_PB_BYTES) {
        return pci_pprof_wrong_type(m, field, err);
    } else {
        PCI_TRY(map_packed_ids(s, m, field, &to, err));
    }
    s->group_count = (size_t)(to - s->groups);
    w->depth = s->group_count - w->first;
    return PCOL_OK;
}

/* Scan a sample. Fast path: skip fields with key and size of one byte each. */
static pcol_status scan_sample(struct pci_pprof_stacks *s, struct pci_pprof_message *m,
                               pcol_error *err)
{
    struct pci_pprof_pending_stack *w = &s->pending[s->pending_count];
    struct pci_pprof_field field;
    *w = (struct pci_pprof_pending_stack){.offset = m->offset, .first = s->group_count};
    while (m->p < m->end) {
        const uint8_t *p = m->p;
        if (m->end - p > 1 && (p[0] & 0x87) == PCI_PB_BYTES && p[0] >> 3 > S_LOCATION_ID &&
            p[1] < 128 && p[1] <= m->end - p - 2) {
            m->p = p + 2 + p[1];
            continue;
        }
        PCI_TRY(pci_pprof_next(m, &field, err));
        if (field.number == S_LOCATION_ID)
            PCI_TRY(map_ids(s, w, m, &field, err));
    }
    uint64_t hash = pci_hash_bytes(s->groups + w->first, w->depth * sizeof *s->groups);
    w->cache_slot = &s->recent[hash % CACHED_STACKS];
    s->pending_count++;
    return PCOL_OK;
}

static pcol_status scan_next_sample(struct pci_pprof_stacks *s, int *end, pcol_error *err)
{
    struct pci_pprof_message m;
    PCI_TRY(pci_pprof_queue_read(s->samples, &s->reader, &m, end, err));
    if (*end)
        return PCOL_OK;
    s->failed_in_field = 1;
    PCI_TRY(scan_sample(s, &m, err));
    s->failed_in_field = 0;
    __builtin_prefetch(s->pending[s->pending_count - 1].cache_slot, 1);
    s->count++;
    if (s->pending_count == PENDING_STACKS || s->group_count >= MOST_GROUPS) {
        PCI_TRY(insert_pending(s, err));
        atomic_store(&s->seen, s->reader.offset);
    }
    return PCOL_OK;
}

pcol_status pci_pprof_stacks_scan(struct pci_pprof_stacks *stacks, size_t count, pcol_error *err)
{
    struct pci_pprof_message m;
    for (int end; count; count--) {
        PCI_TRY(pci_pprof_queue_read(stacks->samples, &stacks->reader, &m, &end, err));
        if (end)
            return PCOL_OK;
        PCI_TRY(scan_sample(stacks, &m, err));
    }
    return PCOL_OK;
}

/* Insert the block of samples that begins here, if the helper has scanned it. */
static pcol_status insert_scanned_block(struct pci_pprof_stacks *s, pcol_error *err)
{
    if (!s->helper || s->count % PCI_PPROF_BLOCK)
        return PCOL_OK;
    struct pci_pprof_scanned_block block =
        pci_pprof_stack_helper_take(s->helper, (size_t)(s->count / PCI_PPROF_BLOCK));
    if (!block.pending)
        return PCOL_OK;
    pcol_status status = insert_pending(s, err);
    struct pci_pprof_pending_stack *pending = s->pending;
    uint32_t *groups = s->groups;
    if (status == PCOL_OK) {
        s->pending = block.pending;
        s->pending_count = block.count;
        s->groups = block.groups;
        s->count += block.count;
        s->reader.offset = block.offset;
        s->reader.end = block.end;
        status = insert_pending(s, err);
        s->pending = pending;
        s->groups = groups;
    }
    pci_free(block.pending);
    pci_free(block.groups);
    return status;
}

void pci_pprof_stacks_run(struct pci_pprof_stacks *stacks, uint64_t end, _Atomic uint64_t *stop)
{
    struct pci_pprof_stacks *s = stacks;
    pcol_error pending_error;
    for (int at_end = 0; s->status == PCOL_OK && !at_end && s->count < end;) {
        if (s->count > atomic_load(stop))
            break;
        uint64_t old_count = s->count;
        s->failed = old_count;
        s->status = insert_scanned_block(s, &s->error);
        if (s->status == PCOL_OK && s->count == old_count)
            s->status = scan_next_sample(s, &at_end, &s->error);
    }
    if (s->helper)
        pci_pprof_stack_helper_take(s->helper, SIZE_MAX);
    /* Errors of pending stacks precede the error of the last scanned sample. */
    uint64_t failed = s->failed;
    int failed_in_field = s->failed_in_field;
    pcol_status status = insert_pending(s, &pending_error);
    if (status != PCOL_OK) {
        s->status = status;
        s->error = pending_error;
        s->failed_in_field = 0;
    } else {
        s->failed = failed;
        s->failed_in_field = failed_in_field;
    }
    atomic_store(&s->seen, s->reader.offset);
    if (s->status != PCOL_OK && s->failed < atomic_load(stop))
        atomic_store(stop, s->failed);
}

/* ---- speculation ---- */

int pci_pprof_stacks_guess(struct pci_pprof_stacks *stacks)
{
    struct pci_pprof_stacks *s = stacks;
    _Atomic uint64_t stop = UINT64_MAX;
    uint64_t old_count = s->count;
    /* Only if the tree can be rebuilt from this source alone. */
    if (s->status != PCOL_OK || s->first_node != 1 || s->row - s->count)
        return 0;
    pci_pprof_stacks_run(s, s->count + GUESSED_AT_ONCE, &stop);
    return s->count != old_count;
}

static int is_guess_correct(const struct pci_pprof_stacks *s, const struct pci_pprof_ids *ids)
{
    int is_correct = s->status == PCOL_OK && s->guessed_highest < ids->dense;
    for (uint64_t id = 1; is_correct && id <= s->guessed_highest; id++)
        is_correct = ids->rows[id] == s->guessed_first + (uint32_t)id;
    return is_correct;
}

pcol_status pci_pprof_stacks_check_guess(struct pci_pprof_stacks *stacks,
                                         struct pci_pprof_reader *r, pcol_error *err)
{
    if (stacks->count && !is_guess_correct(stacks, &r->location_ids)) {
        pci_pprof_stacks_clear(stacks);
        pci_column_buffer_reset(r->b->columns[PCI_C_SAMPLE_STACK]);
        pci_call_tree_clear(&r->b->tree);
        PCI_TRY(pci_call_tree_init(&r->b->tree, err));
        PCI_TRY(pci_pprof_stacks_init(stacks, r, err));
    }
    stacks->location_ids = &r->location_ids;
    return PCOL_OK;
}

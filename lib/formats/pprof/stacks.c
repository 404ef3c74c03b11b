/*
 * stacks.c - the stacks of the samples, and nothing else of them
 *
 * A stack comes leaf first and is entered from the root inwards; what it shares with the one
 * entered before, or with another one that began alike, is not looked up again, and a stack met
 * lately not at all. Tables and tree are far larger than the caches: so stacks are looked at first
 * and entered some samples later, and what they will need is asked for in between.
 */
#include "format/load.h"
#include "formats/pprof/read.h"
#include "util/alloc.h"

#include <inttypes.h>

#define S_LOCATION_ID 1u
#define RECENT 32768u      /* stacks that are remembered */
#define WAITING 16u        /* stacks between looking and entering */
#define MOST_GROUPS 65536u /* theirs, together; but one may have more */
#define GUESSED_AT_ONCE 64u
#define MOST_GUESSED (UINT32_C(1) << 31) /* ids */

#define OUTERMOST 6u /* groups that tell which remembered path is compared */
#define PATHS 128u
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
    stacks->recent = pci_calloc(RECENT, sizeof *stacks->recent);
    stacks->waiting = pci_malloc(WAITING, sizeof *stacks->waiting);
    stacks->paths = pci_calloc(PATHS, sizeof *stacks->paths);
    /* Room from the start: a place within no array is none, not even for a stack of no frames. */
    if (!stacks->recent || !stacks->waiting || !stacks->paths ||
        pci_grow((void **)&stacks->groups, &stacks->group_capacity, 1, sizeof *stacks->groups))
        return pci_fail_memory(err);
    return PCOL_OK;
}

void pci_pprof_stacks_clear(struct pci_pprof_stacks *stacks)
{
    pci_spill_view_clear(&stacks->taker.view);
    pci_free(stacks->waiting);
    pci_free(stacks->groups);
    pci_free(stacks->path);
    pci_free(stacks->paths);
    pci_free(stacks->recent);
}

/* ---- entering ---- */

/* Is the stack of node `node` the one of these groups, leaf first? Parents mostly stand beside
 * their children; stepping there without waiting for the parent to be loaded saves a third of the
 * time. */
static int is_stack(const struct pci_call_tree *tree, uint32_t node, const uint32_t *groups,
                    size_t depth)
{
    for (size_t i = 0; i < depth; i++) {
        const struct pci_node *at = &tree->nodes[node];
        if (!node || at->group != groups[i])
            return 0;
        if (at->parent == node - 1) {
            node--;
            __asm__("" : "+r"(node)); /* keeps the compiler from seeing that both are the same */
        } else {
            node = at->parent;
        }
    }
    return !node;
}

/* How many groups of a stack, from the root inwards, a path has too. */
static size_t shared(const struct pci_pprof_step *path, size_t size, const uint32_t *groups,
                     size_t depth)
{
    size_t n = size < depth ? size : depth, i = 0;
    while (i < n && path[i].group == groups[depth - 1 - i])
        i++;
    return i;
}

/* From the root inwards, beginning where the stack leaves the one entered before, or one that began
 * like it: samples of many threads come in turn. */
static pcol_status enter(struct pci_pprof_stacks *s, const uint32_t *groups, size_t depth,
                         uint32_t *stack, pcol_error *err)
{
    size_t begin = depth < OUTERMOST ? depth : OUTERMOST;
    uint64_t outermost = pci_hash_bytes(groups + depth - begin, begin * sizeof *groups);
    struct pci_pprof_trail *like = &s->paths[outermost % PATHS];
    size_t i = shared(s->path, s->path_size, groups, depth);
    size_t kept = shared(like->steps, like->size, groups, depth);
    if (pci_grow((void **)&s->path, &s->path_capacity, depth, sizeof *s->path))
        return pci_fail_memory(err);
    for (; i < kept; i++)
        s->path[i] = like->steps[i];
    uint32_t node = i ? s->path[i - 1].node : 0;
    /* Hashes follow from the groups alone: so no lookup waits for what the one before has found. */
    uint32_t hash = s->tree->nodes[node].hash;
    for (; i < depth && node + 1 < s->tree->count; i++) {
        uint32_t group = groups[depth - 1 - i], child;
        uint64_t whole = pci_call_tree_hash(hash, group);
        const struct pci_node *guess = &s->tree->nodes[node + 1];
        hash = (uint32_t)(whole >> 32);
        if (guess->parent == node && guess->group == group)
            node++;
        else if ((child = pci_call_tree_find(s->tree, node, group, whole)) != PCI_HASH_NONE)
            node = child;
        else
            PCI_TRY(pci_call_tree_child(s->tree, node, group, &node, err));
        s->path[i] = (struct pci_pprof_step){group, node};
    }
    if (i < depth) { /* the tree's last node has no children: all others are new */
        PCI_TRY(pci_call_tree_append(s->tree, groups, depth - i, err));
        for (; i < depth; i++)
            s->path[i] = (struct pci_pprof_step){groups[depth - 1 - i], ++node};
    }
    s->path_size = depth;
    like->size = depth < PATH_STEPS ? (uint32_t)depth : PATH_STEPS;
    for (i = kept; i < like->size; i++)
        like->steps[i] = s->path[i];
    *stack = node;
    return PCOL_OK;
}

static pcol_status find(struct pci_pprof_stacks *s, const struct pci_pprof_waiting *w,
                        uint32_t *stack, pcol_error *err)
{
    const uint32_t *groups = s->groups + w->first;
    if (*w->known && is_stack(s->tree, *w->known, groups, w->depth)) {
        *stack = *w->known;
        return PCOL_OK;
    }
    PCI_TRY(enter(s, groups, w->depth, stack, err));
    *w->known = *stack;
    return PCOL_OK;
}

/* All that wait. The nodes at the end of remembered stacks are asked for before the first of some
 * is compared. */
static pcol_status enter_waiting(struct pci_pprof_stacks *s, pcol_error *err)
{
    size_t count = s->waiting_count;
    s->waiting_count = 0;
    for (size_t i = 0; i < count; i++) {
        for (size_t k = i; i % WAITING == 0 && k < count && k < i + WAITING; k++) {
            const struct pci_node *node = &s->tree->nodes[*s->waiting[k].known];
            __builtin_prefetch(node);
            __builtin_prefetch((const char *)node - 64);
        }
        uint32_t stack;
        s->failed = s->count - count + i;
        PCI_TRY(find(s, &s->waiting[i], &stack, err));
        PCI_TRY(pci_column_buffer_set(s->column, s->row++, stack, err));
    }
    s->group_count = 0;
    return PCOL_OK;
}

/* ---- looking ---- */

static pcol_status unknown_id(struct pci_pprof_stacks *s, const struct pci_pprof_message *m,
                              const uint8_t *at, uint64_t id, pcol_error *err)
{
    s->in_field = 0; /* what is wrong with the sample's fields comes first */
    return pci_fail_at_byte(err, PCOL_E_SYNTAX, pci_pprof_place(m, at),
                            "Sample.location_id %" PRIu64 " names no location", id);
}

static inline uint32_t group_of(struct pci_pprof_stacks *s, uint64_t id)
{
    if (s->location_ids)
        return pci_pprof_ids_find(s->location_ids, id);
    if (id - 1 >= MOST_GUESSED)
        return PCOL_NONE;
    if (id > s->guessed_highest)
        s->guessed_highest = id;
    return s->guessed_first + (uint32_t)(id - 1);
}

/* Groups of packed ids of one or two bytes, up to whatever is different; *to follows them. Writers
 * number locations as they appear, so nearly all ids are such; the two lengths come in no order
 * that a branch could follow. `known` is constant where this is used. */
static inline const uint8_t *map_short(struct pci_pprof_stacks *s, const uint8_t *p,
                                       const uint8_t *end, uint32_t **to, int known)
{
    const uint32_t *rows = known ? s->location_ids->rows : NULL;
    uint64_t dense = known ? s->location_ids->dense : 1u << 14, highest = s->guessed_highest;
    uint32_t *out = *to;
    while (end - p > 1) {
        uint32_t both = pcf_load16(p), two = both >> 7 & 1;
        uint32_t id = (both & 127) | ((both >> 1 & 0x3f80) & -two);
        uint32_t group = !known ? s->guessed_first + id - 1 : id < dense ? rows[id] - 1 : PCOL_NONE;
        if ((both & 0x8080) == 0x8080 || group == PCOL_NONE || !id)
            break;
        if (!known && id > highest)
            highest = id;
        *out++ = group;
        p += 1 + two;
    }
    s->guessed_highest = highest;
    *to = out;
    return p;
}

/* The groups of packed ids behind those at `to`. */
static pcol_status map_packed(struct pci_pprof_stacks *s, const struct pci_pprof_message *m,
                              const struct pci_pprof_field *field, uint32_t **to, pcol_error *err)
{
    const uint8_t *p = field->data, *end = p + field->size;
    uint32_t *out = *to;
    for (;;) {
        p = s->location_ids ? map_short(s, p, end, &out, 1) : map_short(s, p, end, &out, 0);
        if (p == end)
            break;
        const uint8_t *at = p;
        uint64_t id;
        p = pci_pprof_varint(p, end, &id);
        if (!p)
            return pci_fail_at_byte(err, PCOL_E_SYNTAX, pci_pprof_place(m, at),
                                    "Sample.location_id: bad varint");
        *out = group_of(s, id);
        if (*out++ == PCOL_NONE)
            return unknown_id(s, m, at, id, err);
    }
    *to = out;
    return PCOL_OK;
}

/* Ids are at most as many as their bytes. */
static pcol_status map_ids(struct pci_pprof_stacks *s, struct pci_pprof_waiting *w,
                           const struct pci_pprof_message *m, const struct pci_pprof_field *field,
                           pcol_error *err)
{
    if (pci_grow((void **)&s->groups, &s->group_capacity, s->group_count + field->size + 1,
                 sizeof *s->groups))
        return pci_fail_memory(err);
    uint32_t *to = s->groups + s->group_count;
    if (field->type == PCI_PB_VARINT) {
        *to = group_of(s, field->value);
        if (*to++ == PCOL_NONE)
            return unknown_id(s, m, field->key, field->value, err);
    } else if (field->type != PCI_PB_BYTES) {
        return pci_pprof_wrong_type(m, field, err);
    } else {
        PCI_TRY(map_packed(s, m, field, &to, err));
    }
    s->group_count = (size_t)(to - s->groups);
    w->depth = s->group_count - w->first;
    return PCOL_OK;
}

/* A field with a key and a size of one byte each, as nearly all have, is passed over in place. */
static pcol_status look_at(struct pci_pprof_stacks *s, struct pci_pprof_message *m, pcol_error *err)
{
    struct pci_pprof_waiting *w = &s->waiting[s->waiting_count];
    struct pci_pprof_field field;
    *w = (struct pci_pprof_waiting){.offset = m->offset, .first = s->group_count};
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
    w->known = &s->recent[hash % RECENT];
    s->waiting_count++;
    return PCOL_OK;
}

static pcol_status look_at_next(struct pci_pprof_stacks *s, int *end, pcol_error *err)
{
    struct pci_pprof_message m;
    PCI_TRY(pci_pprof_spool_look(s->samples, &s->taker, &m, end, err));
    if (*end)
        return PCOL_OK;
    s->in_field = 1;
    PCI_TRY(look_at(s, &m, err));
    s->in_field = 0;
    __builtin_prefetch(s->waiting[s->waiting_count - 1].known, 1);
    s->count++;
    if (s->waiting_count == WAITING || s->group_count >= MOST_GROUPS) {
        PCI_TRY(enter_waiting(s, err));
        atomic_store(&s->seen, s->taker.taken);
    }
    return PCOL_OK;
}

pcol_status pci_pprof_stacks_look(struct pci_pprof_stacks *stacks, size_t count, pcol_error *err)
{
    struct pci_pprof_message m;
    for (int end; count; count--) {
        PCI_TRY(pci_pprof_spool_look(stacks->samples, &stacks->taker, &m, &end, err));
        if (end)
            return PCOL_OK;
        PCI_TRY(look_at(stacks, &m, err));
    }
    return PCOL_OK;
}

/* The block of samples that begins here, if the other reader has looked at it. */
static pcol_status enter_shelved(struct pci_pprof_stacks *s, pcol_error *err)
{
    if (!s->shelf || s->count % PCI_PPROF_BLOCK)
        return PCOL_OK;
    struct pci_pprof_scanned_stack block =
        pci_pprof_stack_helper_take(s->shelf, (size_t)(s->count / PCI_PPROF_BLOCK));
    if (!block.waiting)
        return PCOL_OK;
    pcol_status status = enter_waiting(s, err);
    struct pci_pprof_waiting *waiting = s->waiting;
    uint32_t *groups = s->groups;
    if (status == PCOL_OK) {
        s->waiting = block.waiting;
        s->waiting_count = block.count;
        s->groups = block.groups;
        s->count += block.count;
        s->taker.taken = block.taken;
        s->taker.end = block.end;
        status = enter_waiting(s, err);
        s->waiting = waiting;
        s->groups = groups;
    }
    pci_free(block.waiting);
    pci_free(block.groups);
    return status;
}

void pci_pprof_stacks_run(struct pci_pprof_stacks *stacks, uint64_t end, _Atomic uint64_t *stop)
{
    struct pci_pprof_stacks *s = stacks;
    pcol_error early;
    for (int none = 0; s->status == PCOL_OK && !none && s->count < end;) {
        if (s->count > atomic_load(stop))
            break;
        uint64_t before = s->count;
        s->failed = before;
        s->status = enter_shelved(s, &s->error);
        if (s->status == PCOL_OK && s->count == before)
            s->status = look_at_next(s, &none, &s->error);
    }
    if (s->shelf)
        pci_pprof_stack_helper_take(s->shelf, SIZE_MAX);
    /* Those that still wait come before the one that has failed. */
    uint64_t failed = s->failed;
    int in_field = s->in_field;
    pcol_status status = enter_waiting(s, &early);
    if (status != PCOL_OK) {
        s->status = status;
        s->error = early;
        s->in_field = 0;
    } else {
        s->failed = failed;
        s->in_field = in_field;
    }
    atomic_store(&s->seen, s->taker.taken);
    if (s->status != PCOL_OK && s->failed < atomic_load(stop))
        atomic_store(stop, s->failed);
}

/* ---- ahead of the locations ---- */

int pci_pprof_stacks_guess(struct pci_pprof_stacks *stacks)
{
    struct pci_pprof_stacks *s = stacks;
    _Atomic uint64_t stop = UINT64_MAX;
    uint64_t before = s->count;
    /* Only in a tree that can be made anew. */
    if (s->status != PCOL_OK || s->first_node != 1 || s->row - s->count)
        return 0;
    pci_pprof_stacks_run(s, s->count + GUESSED_AT_ONCE, &stop);
    return s->count != before;
}

static int is_right(const struct pci_pprof_stacks *s, const struct pci_pprof_ids *ids)
{
    int right = s->status == PCOL_OK && s->guessed_highest < ids->dense;
    for (uint64_t id = 1; right && id <= s->guessed_highest; id++)
        right = ids->rows[id] == s->guessed_first + (uint32_t)id;
    return right;
}

pcol_status pci_pprof_stacks_settle(struct pci_pprof_stacks *stacks, struct pci_pprof_reader *r,
                                    pcol_error *err)
{
    if (stacks->count && !is_right(stacks, &r->location_ids)) {
        pci_pprof_stacks_clear(stacks);
        pci_column_buffer_reset(r->b->columns[PCI_C_SAMPLE_STACK]);
        pci_call_tree_clear(&r->b->tree);
        PCI_TRY(pci_call_tree_init(&r->b->tree, err));
        PCI_TRY(pci_pprof_stacks_init(stacks, r, err));
    }
    stacks->location_ids = &r->location_ids;
    return PCOL_OK;
}

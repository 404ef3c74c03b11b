/*
 * automaton.c - states made as they are met, and a table of where each byte leads from them
 *
 * A state holds the steps that are reached but not yet looked at, and what kind of byte came
 * before: assertions depend on the byte behind, too, so what a state leads to is worked out once
 * that byte is known. Bytes that no step tells apart are of one class, and have one place in a
 * state's table. A program that may begin anywhere begins anew at each byte: no state says so, but
 * every one of them goes also where the state without steps goes, which is worked out once.
 */
#include "query/automaton.h"

#include "util/alloc.h"
#include "util/hash.h"

#include <string.h>

#define MOST_WORDS ((size_t)1 << 20) /* of all states, 4 bytes each */
#define STEPS_FREE (UINT64_C(1) << 28)
#define STEPS_A_BYTE 64u

/* What a table of a state holds besides the places of states, which come behind. */
enum { UNKNOWN, NEVER, ALWAYS, FIRST_STATE };

/* What was before: the start, a byte of a word, another one. */
enum { AT_START, AT_WORD, AT_OTHER, BEFORES };

/* The words of a state: */
enum { STEPS, BEFORE, TABLE }; /* one for each class and for the end; behind them the steps */

struct pci_automaton {
    struct pci_step *steps;
    size_t step_count;
    struct pci_bytes *sets;
    int anchored;    /* it begins at the start only */
    int tells_words; /* it asks where words begin and end */

    uint8_t class_of[256], byte_of[256]; /* a byte, and one of its class */
    uint32_t classes;

    uint32_t *states; /* from FIRST_STATE on */
    size_t used, capacity;
    struct pci_hash index;
    uint32_t first;          /* the state in which a name begins; 0: not there */
    uint32_t empty[BEFORES]; /* the state without steps; likewise */

    uint64_t *next;        /* a bit for each step: the set that is being made */
    uint32_t *seen, round; /* in which round a step was last looked at */
    uint32_t *todo;        /* steps to look at */
    uint64_t taken, allowed;
};

/* ---- classes */

/* Bytes of one class stay together if the set has all or none of them. */
static void split_classes(struct pci_automaton *a, const struct pci_bytes *set)
{
    uint32_t inside[256] = {0}, count = a->classes; /* the class of those within, + 1 */
    uint8_t outside[256] = {0};
    for (int i = 0; i < 256; i++)
        if (!pci_bytes_has(set, (uint8_t)i))
            outside[a->class_of[i]] = 1;
    for (int i = 0; i < 256; i++) {
        uint8_t was = a->class_of[i];
        if (!pci_bytes_has(set, (uint8_t)i) || !outside[was])
            continue;
        if (!inside[was])
            inside[was] = ++count;
        a->class_of[i] = (uint8_t)(inside[was] - 1);
    }
    a->classes = count;
}

static void classify(struct pci_automaton *a, size_t set_count)
{
    struct pci_bytes words = {{0}};
    uint8_t own[256] = {0};
    a->classes = 1;
    for (size_t i = 0; i < a->step_count; i++) {
        if (a->steps[i].kind == PCI_STEP_BYTE)
            own[a->steps[i].byte] = 1;
        a->tells_words |=
            a->steps[i].kind == PCI_STEP_ASSERT && a->steps[i].byte >= PCI_ASSERT_WORD_EDGE;
    }
    for (int i = 0; i < 256; i++) {
        struct pci_bytes one = {{0}};
        pci_bytes_add(&one, (uint8_t)i);
        if (own[i])
            split_classes(a, &one);
        if (pci_is_word((uint8_t)i))
            pci_bytes_add(&words, (uint8_t)i);
    }
    if (a->tells_words)
        split_classes(a, &words);
    for (size_t i = 0; i < set_count && a->classes < 256; i++)
        split_classes(a, &a->sets[i]);
    for (int i = 0; i < 256; i++)
        a->byte_of[a->class_of[i]] = (uint8_t)i;
}

/* ---- states */

static size_t bit_words(const struct pci_automaton *a)
{
    return a->step_count / 64 + 1;
}

/* Memory for the states there may be: none is ever larger. */
static size_t most_of_a_state(const struct pci_automaton *a)
{
    return TABLE + a->classes + 1 + a->step_count;
}

static uint32_t *steps_of(struct pci_automaton *a, uint32_t state)
{
    return a->states + state + TABLE + a->classes + 1;
}

/* The state of the steps in `next`, which is empty afterwards. */
static pcol_status state_of_next(struct pci_automaton *a, uint32_t before, uint32_t *state,
                                 pcol_error *err)
{
    size_t head = TABLE + a->classes + 1, count = 0, at;
    if (pci_grow((void **)&a->states, &a->capacity, a->used + most_of_a_state(a),
                 sizeof *a->states)) {
        memset(a->next, 0, bit_words(a) * sizeof *a->next); /* a later name begins without it */
        return pci_fail_memory(err);
    }
    uint32_t *made = a->states + a->used;
    for (size_t i = 0; i < bit_words(a); i++) {
        for (uint64_t bits = a->next[i]; bits; bits &= bits - 1)
            made[head + count++] = (uint32_t)(i * 64 + (size_t)__builtin_ctzll(bits));
        a->next[i] = 0;
    }
    a->taken += bit_words(a) / 8 + head / 16 + count; /* what a step and these take is alike */
    memset(made, 0, head * sizeof *made);
    made[STEPS] = (uint32_t)count;
    made[BEFORE] = before;
    if (a->anchored && count == 0) {
        *state = NEVER;
        return PCOL_OK;
    }
    uint64_t hash = pci_hash_bytes(made + head, count * sizeof *made) + before;
    at = pci_hash_start(&a->index, hash);
    for (uint32_t id; (id = pci_hash_next(&a->index, hash, &at)) != PCI_HASH_NONE;) {
        if (a->states[id + STEPS] == count && a->states[id + BEFORE] == before &&
            memcmp(steps_of(a, id), made + head, count * sizeof *made) == 0) {
            *state = id;
            return PCOL_OK;
        }
    }
    PCI_TRY(pci_hash_add(&a->index, hash, (uint32_t)a->used, err));
    *state = (uint32_t)a->used;
    if (count == 0)
        a->empty[before] = *state;
    a->used += head + count;
    return PCOL_OK;
}

static void forget(struct pci_automaton *a)
{
    a->used = FIRST_STATE;
    pci_hash_clear(&a->index);
    memset(a->empty, 0, sizeof a->empty);
    a->first = 0;
}

/* Room for the three states that one byte may make. */
static pcol_status make_room(struct pci_automaton *a, uint32_t *state, pcol_error *err)
{
    if (a->used + 3 * most_of_a_state(a) <= MOST_WORDS)
        return PCOL_OK;
    uint32_t before = a->states[*state + BEFORE];
    for (uint32_t i = 0; i < a->states[*state + STEPS]; i++) {
        uint32_t step = steps_of(a, *state)[i];
        a->next[step / 64] |= UINT64_C(1) << step % 64;
    }
    forget(a);
    return state_of_next(a, before, state, err);
}

/* ---- steps */

static int holds(uint8_t assertion, uint32_t before, int word_behind, int at_end)
{
    int word_before = before == AT_WORD;
    switch (assertion) {
    case PCI_ASSERT_START:
        return before == AT_START;
    case PCI_ASSERT_END:
        return at_end;
    case PCI_ASSERT_WORD_EDGE:
        return word_before != word_behind;
    case PCI_ASSERT_NO_EDGE:
        return word_before == word_behind;
    case PCI_ASSERT_WORD_START:
        return !word_before && word_behind;
    default:
        return word_before && !word_behind;
    }
}

/* All that can be reached from the steps in `todo` without a byte, and then by one of this class,
 * into `next`. 1: it is a match before that byte. */
static int follow(struct pci_automaton *a, size_t count, uint32_t before, uint32_t class)
{
    int at_end = class == a->classes;
    uint8_t byte = at_end ? 0 : a->byte_of[class];
    int word = !at_end && pci_is_word(byte);
    while (count) {
        uint32_t i = a->todo[--count];
        const struct pci_step *step = &a->steps[i];
        int on = 0; /* by this byte to the next step */
        if (a->seen[i] == a->round)
            continue;
        a->seen[i] = a->round;
        a->taken++;
        switch (step->kind) {
        case PCI_STEP_MATCH:
            return 1;
        case PCI_STEP_ASSERT:
            if (holds(step->byte, before, word, at_end))
                a->todo[count++] = i + 1;
            break;
        case PCI_STEP_SPLIT:
            a->todo[count++] = i + 1;
            a->todo[count++] = i + (uint32_t)step->to;
            break;
        case PCI_STEP_JUMP:
            a->todo[count++] = i + (uint32_t)step->to;
            break;
        case PCI_STEP_BYTE:
            on = !at_end && step->byte == byte;
            break;
        case PCI_STEP_SET:
            on = !at_end && pci_bytes_has(&a->sets[step->to], byte);
            break;
        default:
            on = !at_end;
            break;
        }
        if (on)
            a->next[(i + 1) / 64] |= UINT64_C(1) << (i + 1) % 64;
    }
    return 0;
}

static pcol_status empty_state(struct pci_automaton *a, uint32_t before, uint32_t *state,
                               pcol_error *err)
{
    *state = a->empty[before];
    return *state ? PCOL_OK : state_of_next(a, before, state, err);
}

/* Where a state's steps lead, or, if it has none, the beginning: into the state's table. */
static pcol_status lead(struct pci_automaton *a, uint32_t state, uint32_t class, uint32_t *to,
                        pcol_error *err)
{
    uint32_t before = a->states[state + BEFORE], count = a->states[state + STEPS];
    uint32_t after = AT_OTHER;
    if (++a->round == 0) {
        memset(a->seen, 0, a->step_count * sizeof *a->seen);
        a->round = 1;
    }
    a->todo[0] = 0;
    if (count)
        memcpy(a->todo, steps_of(a, state), count * sizeof *a->todo);
    if (follow(a, count ? count : 1, before, class)) {
        memset(a->next, 0, bit_words(a) * sizeof *a->next);
        *to = ALWAYS;
    } else if (class == a->classes) {
        *to = NEVER;
    } else {
        if (a->tells_words && pci_is_word(a->byte_of[class]))
            after = AT_WORD;
        PCI_TRY(state_of_next(a, after, to, err));
    }
    a->states[state + TABLE + class] = *to;
    return PCOL_OK;
}

static pcol_status step(struct pci_automaton *a, uint32_t *state, uint32_t class, uint32_t *to,
                        pcol_error *err)
{
    uint32_t fresh, start;
    PCI_TRY(make_room(a, state, err));
    if (!a->anchored && a->states[*state + STEPS]) {
        PCI_TRY(empty_state(a, a->states[*state + BEFORE], &fresh, err));
        start = a->states[fresh + TABLE + class];
        if (!start)
            PCI_TRY(lead(a, fresh, class, &start, err));
        if (start == ALWAYS) {
            a->states[*state + TABLE + class] = *to = ALWAYS;
            return PCOL_OK;
        }
        for (uint32_t i = 0; start != NEVER && i < a->states[start + STEPS]; i++) {
            uint32_t also = steps_of(a, start)[i];
            a->next[also / 64] |= UINT64_C(1) << also % 64;
        }
    }
    return lead(a, *state, class, to, err);
}

pcol_status pci_automaton_test(struct pci_automaton *a, const char *what, pcol_str name,
                               int *matches, pcol_error *err)
{
    uint32_t state, to = UNKNOWN;
    *matches = 0;
    a->allowed += STEPS_A_BYTE * (uint64_t)name.size;
    if (!a->first) {
        a->next[0] = (uint64_t)a->anchored;
        PCI_TRY(state_of_next(a, AT_START, &a->first, err));
    }
    state = a->first;
    for (size_t i = 0; i <= name.size; i++) {
        uint32_t class = i < name.size ? a->class_of[(uint8_t)name.data[i]] : a->classes;
        to = a->states[state + TABLE + class];
        if (to == UNKNOWN && a->taken > a->allowed)
            return pci_fail(err, PCOL_E_LIMIT, "%s: the pattern takes too long over such names",
                            what);
        if (to == UNKNOWN)
            PCI_TRY(step(a, &state, class, &to, err));
        if (to == NEVER || to == ALWAYS)
            break;
        state = to;
    }
    *matches = to == ALWAYS;
    return PCOL_OK;
}

/* ---- */

pcol_status pci_automaton_new(struct pci_step *steps, size_t step_count, struct pci_bytes *sets,
                              size_t set_count, struct pci_automaton **automaton, pcol_error *err)
{
    struct pci_automaton *a = pci_calloc(1, sizeof *a);
    *automaton = a;
    if (!a) {
        pci_free(steps);
        pci_free(sets);
        return pci_fail_memory(err);
    }
    a->steps = steps;
    a->step_count = step_count;
    a->sets = sets;
    a->anchored = steps[0].kind == PCI_STEP_ASSERT && steps[0].byte == PCI_ASSERT_START;
    a->allowed = STEPS_FREE;
    a->next = pci_calloc(bit_words(a), sizeof *a->next);
    a->seen = pci_calloc(step_count, sizeof *a->seen);
    a->todo = pci_malloc(2 * step_count + 1, sizeof *a->todo);
    forget(a);
    classify(a, set_count);
    if (a->next && a->seen && a->todo)
        return PCOL_OK;
    pci_automaton_free(a);
    *automaton = NULL;
    return pci_fail_memory(err);
}

void pci_automaton_free(struct pci_automaton *a)
{
    if (!a)
        return;
    pci_hash_clear(&a->index);
    pci_free(a->steps);
    pci_free(a->sets);
    pci_free(a->next);
    pci_free(a->seen);
    pci_free(a->todo);
    pci_free(a->states);
    pci_free(a);
}

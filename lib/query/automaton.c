/*
 * automaton.c - lazy subset construction with byte classes
 *
 * A DFA state contains the steps that are reached but not yet followed, and the kind of the
 * previous byte. Assertions also depend on the next byte, so the closure over empty transitions is
 * computed when that byte is known. Bytes that no step distinguishes form a class with one entry in
 * a state's table.
 *
 * A program without an anchor also starts at each byte. No state contains the start; instead every
 * transition is the union with that of the empty state, which is computed once.
 */
#include "query/automaton.h"

#include "util/alloc.h"
#include "util/hash.h"

#include <string.h>

#define MAX_WORDS ((size_t)1 << 20) /* limit of all states, in words of 4 bytes */
#define FREE_STEPS (UINT64_C(1) << 28)
#define STEPS_PER_BYTE 64u

/* Entries of a transition table: three constants, otherwise the offset of a state in `states`. */
enum { UNKNOWN, NEVER, ALWAYS, FIRST_STATE };

/* Kind of the previous byte: none, of a word, other. */
enum { AT_START, AT_WORD, AT_OTHER, PREVIOUS_COUNT };

/* Offsets in a state. After the table (one entry for each class and one for the end) follow the
 * steps. */
enum { STEPS, PREVIOUS, TABLE };

struct pci_automaton {
    struct pci_pattern_step *steps;
    size_t step_count;
    struct pci_bytes *sets;
    int anchored;            /* matches begin at the start only */
    int has_word_assertions; /* has assertions about word boundaries */

    uint8_t class_of[256], byte_of[256]; /* class of a byte, and one byte of each class */
    uint32_t classes;

    uint32_t *states; /* states begin at offset FIRST_STATE */
    size_t used, capacity;
    struct pci_hash index;
    uint32_t first;                        /* state at the start of a name; 0: not built */
    uint32_t empty_states[PREVIOUS_COUNT]; /* state without steps, by previous byte; 0: not built */

    uint64_t *next;        /* bit set of the steps of the state under construction */
    uint32_t *seen, round; /* round in which a step was last visited */
    uint32_t *todo;        /* work list of steps */
    uint64_t steps_taken, steps_allowed;
};

/* ---- classes */

/* Splits each class into its bytes inside and outside of the set. */
static void split_classes(struct pci_automaton *a, const struct pci_bytes *set)
{
    uint32_t inside[256] = {0}, count = a->classes; /* inside: new class + 1 by old class */
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
    uint8_t is_single[256] = {0};
    a->classes = 1;
    for (size_t i = 0; i < a->step_count; i++) {
        if (a->steps[i].kind == PCI_STEP_BYTE)
            is_single[a->steps[i].byte] = 1;
        a->has_word_assertions |=
            a->steps[i].kind == PCI_STEP_ASSERT && a->steps[i].byte >= PCI_ASSERT_WORD_EDGE;
    }
    for (int i = 0; i < 256; i++) {
        struct pci_bytes single = {{0}};
        pci_bytes_add(&single, (uint8_t)i);
        if (is_single[i])
            split_classes(a, &single);
        if (pci_is_word((uint8_t)i))
            pci_bytes_add(&words, (uint8_t)i);
    }
    if (a->has_word_assertions)
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

/* Upper bound of the words of a state. */
static size_t max_state_words(const struct pci_automaton *a)
{
    return TABLE + a->classes + 1 + a->step_count;
}

static uint32_t *get_steps(struct pci_automaton *a, uint32_t state)
{
    return a->states + state + TABLE + a->classes + 1;
}

/* Finds or appends the state of the steps in `next`, and clears `next`. */
static pcol_status find_state(struct pci_automaton *a, uint32_t previous, uint32_t *state,
                              pcol_error *err)
{
    size_t head = TABLE + a->classes + 1, count = 0, position;
    if (pci_grow((void **)&a->states, &a->capacity, a->used + max_state_words(a),
                 sizeof *a->states)) {
        memset(a->next, 0, bit_words(a) * sizeof *a->next); /* a later name starts empty */
        return pci_fail_memory(err);
    }
    uint32_t *state_words = a->states + a->used;
    for (size_t i = 0; i < bit_words(a); i++) {
        for (uint64_t bits = a->next[i]; bits; bits &= bits - 1)
            state_words[head + count++] = (uint32_t)(i * 64 + (size_t)__builtin_ctzll(bits));
        a->next[i] = 0;
    }
    a->steps_taken +=
        bit_words(a) / 8 + head / 16 + count; /* scaled to the cost of a visited step */
    memset(state_words, 0, head * sizeof *state_words);
    state_words[STEPS] = (uint32_t)count;
    state_words[PREVIOUS] = previous;
    if (a->anchored && count == 0) {
        *state = NEVER;
        return PCOL_OK;
    }
    uint64_t hash = pci_hash_bytes(state_words + head, count * sizeof *state_words) + previous;
    position = pci_hash_start(&a->index, hash);
    for (uint32_t id; (id = pci_hash_next(&a->index, hash, &position)) != PCI_HASH_NONE;) {
        if (a->states[id + STEPS] == count && a->states[id + PREVIOUS] == previous &&
            memcmp(get_steps(a, id), state_words + head, count * sizeof *state_words) == 0) {
            *state = id;
            return PCOL_OK;
        }
    }
    PCI_TRY(pci_hash_add(&a->index, hash, (uint32_t)a->used, err));
    *state = (uint32_t)a->used;
    if (count == 0)
        a->empty_states[previous] = *state;
    a->used += head + count;
    return PCOL_OK;
}

static void discard_states(struct pci_automaton *a)
{
    a->used = FIRST_STATE;
    pci_hash_clear(&a->index);
    memset(a->empty_states, 0, sizeof a->empty_states);
    a->first = 0;
}

/* Makes space for the three states that one byte may add; discards the cache if it is full. */
static pcol_status reserve_states(struct pci_automaton *a, uint32_t *state, pcol_error *err)
{
    if (a->used + 3 * max_state_words(a) <= MAX_WORDS)
        return PCOL_OK;
    uint32_t previous = a->states[*state + PREVIOUS];
    for (uint32_t i = 0; i < a->states[*state + STEPS]; i++) {
        uint32_t step = get_steps(a, *state)[i];
        a->next[step / 64] |= UINT64_C(1) << step % 64;
    }
    discard_states(a);
    return find_state(a, previous, state, err);
}

/* ---- steps */

static int is_true(uint8_t assertion, uint32_t previous, int word_after, int at_end)
{
    int word_before = previous == AT_WORD;
    switch (assertion) {
    case PCI_ASSERT_START:
        return previous == AT_START;
    case PCI_ASSERT_END:
        return at_end;
    case PCI_ASSERT_WORD_EDGE:
        return word_before != word_after;
    case PCI_ASSERT_NO_EDGE:
        return word_before == word_after;
    case PCI_ASSERT_WORD_START:
        return !word_before && word_after;
    default:
        return word_before && !word_after;
    }
}

/* Follows the steps in `todo`: closure over empty transitions, then over a byte of `class`, into
 * `next`. 1: the closure before that byte contains the match. */
static int follow_steps(struct pci_automaton *a, size_t count, uint32_t previous, uint32_t class)
{
    int at_end = class == a->classes;
    uint8_t byte = at_end ? 0 : a->byte_of[class];
    int word_after = !at_end && pci_is_word(byte);
    while (count) {
        uint32_t i = a->todo[--count];
        const struct pci_pattern_step *step = &a->steps[i];
        int advances = 0; /* the byte leads to the next step */
        if (a->seen[i] == a->round)
            continue;
        a->seen[i] = a->round;
        a->steps_taken++;
        switch (step->kind) {
        case PCI_STEP_MATCH:
            return 1;
        case PCI_STEP_ASSERT:
            if (is_true(step->byte, previous, word_after, at_end))
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
            advances = !at_end && step->byte == byte;
            break;
        case PCI_STEP_SET:
            advances = !at_end && pci_bytes_has(&a->sets[step->to], byte);
            break;
        default:
            advances = !at_end;
            break;
        }
        if (advances)
            a->next[(i + 1) / 64] |= UINT64_C(1) << (i + 1) % 64;
    }
    return 0;
}

static pcol_status get_empty_state(struct pci_automaton *a, uint32_t previous, uint32_t *state,
                                   pcol_error *err)
{
    *state = a->empty_states[previous];
    return *state ? PCOL_OK : find_state(a, previous, state, err);
}

/* Computes the transition of a state without the implicit start and stores it in the table. The
 * empty state represents the start. */
static pcol_status compute_transition(struct pci_automaton *a, uint32_t state, uint32_t class,
                                      uint32_t *to, pcol_error *err)
{
    uint32_t previous = a->states[state + PREVIOUS], count = a->states[state + STEPS];
    uint32_t after = AT_OTHER;
    if (++a->round == 0) {
        memset(a->seen, 0, a->step_count * sizeof *a->seen);
        a->round = 1;
    }
    a->todo[0] = 0;
    if (count)
        memcpy(a->todo, get_steps(a, state), count * sizeof *a->todo);
    if (follow_steps(a, count ? count : 1, previous, class)) {
        memset(a->next, 0, bit_words(a) * sizeof *a->next);
        *to = ALWAYS;
    } else if (class == a->classes) {
        *to = NEVER;
    } else {
        if (a->has_word_assertions && pci_is_word(a->byte_of[class]))
            after = AT_WORD;
        PCI_TRY(find_state(a, after, to, err));
    }
    a->states[state + TABLE + class] = *to;
    return PCOL_OK;
}

static pcol_status compute_step(struct pci_automaton *a, uint32_t *state, uint32_t class,
                                uint32_t *to, pcol_error *err)
{
    uint32_t empty, start;
    PCI_TRY(reserve_states(a, state, err));
    if (!a->anchored && a->states[*state + STEPS]) {
        PCI_TRY(get_empty_state(a, a->states[*state + PREVIOUS], &empty, err));
        start = a->states[empty + TABLE + class];
        if (!start)
            PCI_TRY(compute_transition(a, empty, class, &start, err));
        if (start == ALWAYS) {
            a->states[*state + TABLE + class] = *to = ALWAYS;
            return PCOL_OK;
        }
        for (uint32_t i = 0; start != NEVER && i < a->states[start + STEPS]; i++) {
            uint32_t added = get_steps(a, start)[i];
            a->next[added / 64] |= UINT64_C(1) << added % 64;
        }
    }
    return compute_transition(a, *state, class, to, err);
}

pcol_status pci_automaton_test(struct pci_automaton *a, const char *owner, pcol_str name,
                               int *matches, pcol_error *err)
{
    uint32_t state, to = UNKNOWN;
    *matches = 0;
    a->steps_allowed += STEPS_PER_BYTE * (uint64_t)name.size;
    if (!a->first) {
        a->next[0] = (uint64_t)a->anchored;
        PCI_TRY(find_state(a, AT_START, &a->first, err));
    }
    state = a->first;
    for (size_t i = 0; i <= name.size; i++) {
        uint32_t class = i < name.size ? a->class_of[(uint8_t)name.data[i]] : a->classes;
        to = a->states[state + TABLE + class];
        if (to == UNKNOWN && a->steps_taken > a->steps_allowed)
            return pci_fail(err, PCOL_E_LIMIT,
                            "%s%sthe pattern needs too many steps for these names; simplify it",
                            owner, *owner ? ": " : "");
        if (to == UNKNOWN)
            PCI_TRY(compute_step(a, &state, class, &to, err));
        if (to == NEVER || to == ALWAYS)
            break;
        state = to;
    }
    *matches = to == ALWAYS;
    return PCOL_OK;
}

/* ---- construction */

pcol_status pci_automaton_new(struct pci_pattern_step *steps, size_t step_count,
                              struct pci_bytes *sets, size_t set_count,
                              struct pci_automaton **automaton, pcol_error *err)
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
    a->steps_allowed = FREE_STEPS;
    a->next = pci_calloc(bit_words(a), sizeof *a->next);
    a->seen = pci_calloc(step_count, sizeof *a->seen);
    a->todo = pci_malloc(2 * step_count + 1, sizeof *a->todo);
    discard_states(a);
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

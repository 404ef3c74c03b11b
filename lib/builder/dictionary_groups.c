/*
 * dictionary_groups.c - which columns of a table are written as codes that they share
 *
 * Tables of profiles repeat whole tuples: allocations of the same count and size, labels of the
 * same request. The first rows of each table are looked at. A column is a candidate until it has
 * shown too many distinct values, mostly within its first block. Candidates, those that take most
 * bytes first, join the group with which they take less than by themselves: that is guessed by how
 * often tuples occur, and believed when the rows encoded either way say the same.
 */
#include "builder/dictionary_groups.h"

#include "util/alloc.h"

#include <stdlib.h>

#define MIN_ROWS 1024u
#define SAMPLE_ROWS 4096u
#define GUESS_ROWS 1024u
#define SPARSE 128u    /* where fewer rows than one of so many have a value, codes save nothing */
#define MIN_BYTES 128u /* of a candidate */
#define MAX_CANDIDATES 64u
#define MAX_GROUPS 8u /* that a candidate is tried with */
#define CHILD_BYTES 24u

/* The first rows of a column. */
struct candidate {
    struct pci_value_source source;
    uint32_t column; /* of the builder */
    int64_t *values;
    uint8_t *valid;
    uint32_t *numbers; /* of distinct cells, by row */
    struct pci_value_ids distinct;
    size_t half;    /* distinct in the first half */
    uint64_t bytes; /* encoded by itself */
};

/* Rows of candidates that would share codes. */
struct trial {
    uint32_t members[PCI_CODES_COLUMNS]; /* candidates */
    size_t member_count;
    uint32_t *numbers;              /* of their tuples, by row */
    size_t count, half;             /* tuples; those of the first half */
    uint64_t code_bits, code_bytes; /* at most, by counts; encoded */
    uint64_t entry_bits;            /* of all dictionaries */
    uint64_t plain, total;          /* projected to all rows: column by column; with codes */
};

struct choice {
    pcol_builder *b;
    struct pci_container *w;
    uint64_t rows; /* of the table */
    size_t n;      /* that are looked at */
    struct candidate *candidates;
    size_t candidate_count;
    struct trial trials[MAX_CANDIDATES];
    size_t trial_count;
    /* for one trial after the other: */
    struct pci_value_ids pairs;
    uint64_t counts[SAMPLE_ROWS];
    uint32_t ranks[SAMPLE_ROWS];
};

/* ---- candidates ---- */

static pcol_status read_sample(void *context, uint64_t row, size_t n, int64_t *values,
                               uint8_t *valid, pcol_error *err)
{
    const struct candidate *c = context;
    (void)err;
    memcpy(values, c->values + row, n * sizeof *values);
    memcpy(valid, c->valid + row, n);
    return PCOL_OK;
}

static void candidate_clear(struct candidate *c)
{
    pci_free(c->values);
    pci_free(c->valid);
    pci_free(c->numbers);
    pci_value_ids_clear(&c->distinct);
    memset(c, 0, sizeof *c);
}

/* How many distinct values so many rows may have. */
static int too_many(size_t distinct, size_t rows)
{
    return distinct > rows / 4 + 192;
}

static int never_falls(const struct candidate *c, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (c->values[i] < c->values[i - 1])
            return 0;
    return memchr(c->valid, 0, n) == NULL;
}

/* Read the first rows; *ok: they are few values, and not in order, which other encodings serve. */
static pcol_status candidate_read(const struct choice *choice, struct candidate *c, int *ok,
                                  pcol_error *err)
{
    struct pci_column_buffer_source source;
    pci_column_source(choice->b, choice->b->columns[c->column], &source);
    *ok = 1;
    for (size_t row = 0, n; *ok && row < choice->n; row += n) {
        n = choice->n - row < PCF_BLOCK_ROWS ? choice->n - row : PCF_BLOCK_ROWS;
        PCI_TRY(source.source.read(source.source.context, row, n, c->values + row, c->valid + row,
                                   err));
        PCI_TRY(pci_value_ids_of(&c->distinct, c->values + row, c->valid + row, n, c->numbers + row,
                                 err));
        if (row < choice->n / 2)
            c->half = c->distinct.count;
        *ok = !too_many(c->distinct.count, row + n);
    }
    *ok = *ok && c->distinct.count > 1 && !never_falls(c, choice->n);
    return PCOL_OK;
}

static pcol_status candidate_new(struct choice *choice, uint32_t column, pcol_error *err)
{
    struct candidate *c = &choice->candidates[choice->candidate_count];
    size_t n = choice->n;
    int ok = 0;
    pcol_status status;
    c->column = column;
    c->values = pci_malloc(n, sizeof *c->values);
    c->valid = pci_malloc(n, 1);
    c->numbers = pci_malloc(n, sizeof *c->numbers);
    pci_value_ids_init(&c->distinct);
    c->source =
        (struct pci_value_source){n, choice->b->columns[column]->type, read_sample, c, NULL};
    status = c->values && c->valid && c->numbers ? PCOL_OK : pci_fail_memory(err);
    if (status == PCOL_OK)
        status = candidate_read(choice, c, &ok, err);
    if (status == PCOL_OK && ok)
        status = pci_encode_measure(choice->w, &c->source, &c->bytes, err);
    /* What takes little more than a bit a row is nearly all one value, and read in no time. */
    if (status == PCOL_OK && ok && c->bytes >= MIN_BYTES && c->bytes > n / 32 * 5)
        choice->candidate_count++;
    else
        candidate_clear(c);
    return status;
}

static pcol_status find_candidates(struct choice *choice, const struct pci_table_plan *plan,
                                   uint32_t table, pcol_error *err)
{
    pcol_builder *b = choice->b;
    for (uint32_t i = 0; i < b->column_count && choice->candidate_count < MAX_CANDIDATES; i++) {
        struct pci_column_buffer *c = b->columns[i];
        if (c->table != table || plan->columns[i] == PCOL_NONE || c->type == PCF_BYTES ||
            c->references == PCI_T_STACKS + 1) /* which few rows share, and all queries read */
            continue;
        if (c->present < plan->rows[table] / SPARSE) /* many such columns are not to be looked at */
            continue;
        PCI_TRY(pci_column_buffer_fill(c, plan->rows[table], err));
        if (!c->constant || c->present < c->rows)
            PCI_TRY(candidate_new(choice, i, err));
    }
    return PCOL_OK;
}

/* ---- trials ---- */

static void trial_clear(struct trial *t)
{
    pci_free(t->numbers);
    *t = (struct trial){0};
}

/* Bits of a candidate's cell in a dictionary. */
static uint64_t entry_bits(const struct choice *choice, const struct candidate *c)
{
    struct pci_column_stats shape = {0};
    uint64_t bits = c->distinct.null != PCI_HASH_NONE;
    if (c->source.type == PCF_F64)
        return bits + 64;
    pci_add_stats(&shape, c->source.type, c->values, c->valid, choice->n);
    return bits + pci_width_of((uint64_t)shape.max - (uint64_t)shape.min);
}

/* What is so many bytes or bits of the sample, of all rows. */
static uint64_t projected(const struct choice *choice, uint64_t size)
{
    return (uint64_t)((double)size * (double)choice->rows / (double)choice->n);
}

/* Bytes of the dictionaries of all rows, if twice the rows mean each time as many new tuples as the
 * second half of those that were looked at. */
static uint64_t dictionary_bytes(const struct choice *choice, const struct trial *t)
{
    uint64_t count = t->count;
    for (uint64_t rows = choice->n; rows < choice->rows; rows *= 2)
        count += t->count - t->half;
    return count * t->entry_bits / 8 + t->member_count * CHILD_BYTES;
}

struct ranked {
    struct pci_value_source source;
    const uint32_t *numbers;
    uint32_t *ranks;
};

static pcol_status read_ranked(void *context, uint64_t row, size_t n, int64_t *values,
                               uint8_t *valid, pcol_error *err)
{
    const struct ranked *r = context;
    (void)err;
    for (size_t i = 0; i < n; i++)
        values[i] = r->ranks[r->numbers[row + i]];
    memset(valid, 1, n);
    return PCOL_OK;
}

/* What `rows` codes take at most. `counts` has a place for each. */
static pcol_status guess(const struct trial *t, size_t rows, uint64_t *counts, uint64_t *bits,
                         pcol_error *err)
{
    memset(counts, 0, t->count * sizeof *counts);
    for (size_t i = 0; i < rows; i++)
        counts[t->numbers[i]]++;
    return pci_dictionary_bits(counts, t->count, bits, err);
}

static void add_up(const struct choice *choice, struct trial *t)
{
    t->total = projected(choice, t->code_bytes) + dictionary_bytes(choice, t);
}

/* What the codes take, and with that all of it. */
static pcol_status weigh(struct choice *choice, struct trial *t, pcol_error *err)
{
    struct ranked codes = {.numbers = t->numbers, .ranks = choice->ranks};
    codes.source = (struct pci_value_source){choice->n, PCF_U32, read_ranked, &codes, NULL};
    PCI_TRY(guess(t, choice->n, choice->counts, &t->code_bits, err));
    PCI_TRY(pci_ranks_by_frequency(choice->counts, t->count, choice->ranks, err));
    PCI_TRY(pci_encode_measure(choice->w, &codes.source, &t->code_bytes, err));
    add_up(choice, t);
    return PCOL_OK;
}

/* A candidate by itself: its codes are weighed only if nothing joins them. */
static pcol_status trial_new(struct choice *choice, uint32_t number, pcol_error *err)
{
    struct candidate *c = &choice->candidates[number];
    struct trial *t = &choice->trials[choice->trial_count++];
    *t = (struct trial){.members = {number}, .member_count = 1};
    t->numbers = c->numbers;
    t->count = c->distinct.count;
    t->half = c->half;
    t->entry_bits = entry_bits(choice, c);
    t->plain = projected(choice, c->bytes);
    c->numbers = NULL;
    PCI_TRY(guess(t, choice->n, choice->counts, &t->code_bits, err));
    t->code_bytes = t->code_bits / 8 < c->bytes ? t->code_bits / 8 : c->bytes;
    add_up(choice, t);
    return PCOL_OK;
}

/* What a trial takes as it is written. */
static uint64_t best_of(const struct trial *t)
{
    return t->member_count == 1 && t->plain < t->total ? t->plain : t->total;
}

/* Tuples of two trials; *ok: they are few, and their codes do not seem to take more than both. */
static pcol_status number_pairs(struct choice *choice, const struct trial *a, const struct trial *b,
                                struct trial *t, int *ok, pcol_error *err)
{
    struct pci_value_ids *pairs = &choice->pairs;
    pci_value_ids_clear(pairs);
    for (size_t row = 0, n; row < choice->n && *ok; row += n) {
        n = choice->n - row < GUESS_ROWS ? choice->n - row : GUESS_ROWS;
        PCI_TRY(pci_value_ids_of_pairs(pairs, a->numbers + row, b->numbers + row, n,
                                       t->numbers + row, err));
        t->count = pairs->count;
        if (row < choice->n / 2)
            t->half = t->count;
        *ok = !too_many(t->count, row + n);
        if (row == 0 && *ok) {
            uint64_t both = (a->code_bytes + b->code_bytes) * 8 * n / choice->n, bits;
            PCI_TRY(guess(t, n, choice->counts, &bits, err));
            *ok = bits < both + both / 4;
        }
    }
    return PCOL_OK;
}

/* Both trials as one; without numbers if that cannot be. */
static pcol_status joined(struct choice *choice, const struct trial *a, const struct trial *b,
                          struct trial *t, pcol_error *err)
{
    int ok = a->member_count + b->member_count <= PCI_CODES_COLUMNS;
    pcol_status status = PCOL_OK;
    *t = (struct trial){.member_count = a->member_count + b->member_count,
                        .entry_bits = a->entry_bits + b->entry_bits,
                        .plain = a->plain + b->plain};
    if (!ok)
        return PCOL_OK;
    memcpy(t->members, a->members, a->member_count * sizeof *t->members);
    memcpy(t->members + a->member_count, b->members, b->member_count * sizeof *t->members);
    t->numbers = pci_malloc(choice->n, sizeof *t->numbers);
    if (!t->numbers)
        return pci_fail_memory(err);
    status = number_pairs(choice, a, b, t, &ok, err);
    if (status == PCOL_OK && ok)
        status = weigh(choice, t, err);
    if (status != PCOL_OK || !ok)
        trial_clear(t);
    return status;
}

/* The candidate at the end joins the trial with which it takes least, or stays alone. */
static pcol_status place_last(struct choice *choice, pcol_error *err)
{
    struct trial *last = &choice->trials[choice->trial_count - 1], best = {0};
    size_t with = choice->trial_count, most = with - 1 < MAX_GROUPS ? with - 1 : MAX_GROUPS;
    uint64_t saved = 0;
    for (size_t i = 0; i < most; i++) {
        struct trial *other = &choice->trials[i], both;
        pcol_status status = joined(choice, other, last, &both, err);
        uint64_t apart = best_of(other) + best_of(last);
        if (status == PCOL_OK && both.numbers && both.total < apart - apart / 16 &&
            apart - both.total > saved) {
            struct trial worse = best;
            saved = apart - both.total;
            best = both;
            both = worse;
            with = i;
        }
        trial_clear(&both);
        if (status != PCOL_OK) {
            trial_clear(&best);
            return status;
        }
    }
    if (with < choice->trial_count) {
        trial_clear(&choice->trials[with]);
        trial_clear(last);
        choice->trials[with] = best;
        choice->trial_count--;
    }
    return PCOL_OK;
}

/* ---- groups ---- */

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static pcol_status group_new(const struct choice *choice, const struct trial *t,
                             struct pci_code_groups *groups, pcol_error *err)
{
    if (pci_grow((void **)&groups->groups, &groups->capacity, groups->count + 1,
                 sizeof *groups->groups))
        return pci_fail_memory(err);
    struct pci_codes *g = &groups->groups[groups->count++];
    *g = (struct pci_codes){.column_count = t->member_count,
                            .code_bits = t->code_bits,
                            .sample_rows = choice->n,
                            .plain_bytes = t->plain,
                            .code_bytes = projected(choice, t->code_bytes),
                            .entry_bits = t->entry_bits,
                            .used = 1};
    for (size_t i = 0; i < t->member_count; i++)
        g->columns[i] = choice->candidates[t->members[i]].column;
    qsort(g->columns, g->column_count, sizeof *g->columns, by_number);
    pci_spill_init(&g->numbers, &choice->b->store);
    return PCOL_OK;
}

static int by_bytes(const void *a, const void *b)
{
    const struct candidate *x = *(struct candidate *const *)a, *y = *(struct candidate *const *)b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return x->column < y->column ? -1 : x->column > y->column;
}

static pcol_status form_groups(struct choice *choice, struct pci_code_groups *groups,
                               pcol_error *err)
{
    struct candidate *order[MAX_CANDIDATES];
    for (size_t i = 0; i < choice->candidate_count; i++)
        order[i] = &choice->candidates[i];
    qsort(order, choice->candidate_count, sizeof *order, by_bytes);
    for (size_t i = 0; i < choice->candidate_count; i++) {
        PCI_TRY(trial_new(choice, (uint32_t)(order[i] - choice->candidates), err));
        PCI_TRY(place_last(choice, err));
    }
    for (size_t i = 0; i < choice->trial_count; i++) {
        struct trial *t = &choice->trials[i];
        if (t->member_count == 1 && t->total < t->plain)
            PCI_TRY(weigh(choice, t, err));
        /* Codes take longer to read: a column alone is to save more than several that share
         * them. */
        if (t->total < t->plain - t->plain / (t->member_count > 1 ? 4 : 3))
            PCI_TRY(group_new(choice, t, groups, err));
    }
    return PCOL_OK;
}

static pcol_status choose_of_table(pcol_builder *b, struct pci_container *w,
                                   const struct pci_table_plan *plan, uint32_t table,
                                   struct pci_code_groups *groups, pcol_error *err)
{
    uint64_t rows = plan->rows[table];
    struct choice *choice = pci_calloc(1, sizeof *choice);
    pcol_status status;
    if (!choice)
        return pci_fail_memory(err);
    choice->b = b;
    choice->w = w;
    choice->rows = rows;
    choice->n = rows < SAMPLE_ROWS ? (size_t)rows : SAMPLE_ROWS;
    choice->candidates = pci_calloc(MAX_CANDIDATES, sizeof *choice->candidates);
    status = choice->candidates ? find_candidates(choice, plan, table, err) : pci_fail_memory(err);
    if (status == PCOL_OK)
        status = form_groups(choice, groups, err);
    for (size_t i = 0; i < choice->candidate_count; i++)
        candidate_clear(&choice->candidates[i]);
    for (size_t i = 0; i < choice->trial_count; i++)
        trial_clear(&choice->trials[i]);
    pci_value_ids_clear(&choice->pairs);
    pci_free(choice->candidates);
    pci_free(choice);
    return status;
}

pcol_status pci_code_groups_choose(pcol_builder *b, struct pci_container *w,
                                   const struct pci_table_plan *plan,
                                   struct pci_code_groups *groups, pcol_error *err)
{
    for (uint32_t t = 0; t < b->table_count; t++)
        if (t != PCI_T_STRINGS && plan->table_number[t] && plan->rows[t] >= MIN_ROWS)
            PCI_TRY(choose_of_table(b, w, plan, t, groups, err));
    return PCOL_OK;
}

void pci_code_groups_clear(struct pci_code_groups *groups)
{
    for (size_t i = 0; i < groups->count; i++) {
        struct pci_codes *g = &groups->groups[i];
        for (size_t k = 0; k < g->column_count && g->values && g->pairs; k++) {
            pci_value_ids_clear(&g->values[k]);
            pci_value_ids_clear(&g->pairs[k]);
        }
        pci_spill_clear(&g->numbers);
        pci_free(g->values);
        pci_free(g->pairs);
        pci_free(g->counts);
        pci_free(g->ranks);
    }
    pci_free(groups->groups);
    *groups = (struct pci_code_groups){0};
}

const struct pci_codes *pci_code_group_of(const struct pci_code_groups *groups, uint32_t column,
                                          size_t *place)
{
    for (size_t i = 0; i < groups->count; i++)
        for (size_t k = 0; k < groups->groups[i].column_count; k++)
            if (groups->groups[i].used && groups->groups[i].columns[k] == column) {
                *place = k;
                return &groups->groups[i];
            }
    return NULL;
}

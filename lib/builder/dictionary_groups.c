/*
 * dictionary_groups.c - greedy choice of columns that are dictionary encoded with common codes
 *
 * Tables of profiles repeat whole tuples: allocations of the same count and size, labels of one
 * request. The first SAMPLE_ROWS rows of each table are tried. A column is a candidate unless it
 * has too many distinct values. Candidates, largest first, join the group that saves most:
 * estimated from the frequencies of tuples, confirmed by encoding the sampled rows both ways.
 */
#include "builder/dictionary_groups.h"

#include "util/alloc.h"
#include "util/control.h"

#include <stdlib.h>

#define MIN_ROWS 1024u
#define SAMPLE_ROWS 4096u
#define GUESS_ROWS 1024u
#define SPARSE 128u    /* codes save nothing if fewer than 1 in so many rows have a value */
#define MIN_BYTES 128u /* of a candidate */
#define MAX_CANDIDATES 64u
#define MAX_GROUPS 8u /* tried for each candidate */
#define CHILD_BYTES 24u

/* The sampled rows of a column. */
struct candidate {
    struct pci_value_source source;
    uint32_t column; /* of the builder */
    int64_t *values;
    uint8_t *valid;
    uint32_t *numbers; /* ids of cells, by row */
    struct pci_value_ids distinct;
    size_t half;    /* distinct values in the first half */
    uint64_t bytes; /* encoded alone */
};

/* A tentative group of candidates. */
struct trial {
    uint32_t members[PCI_DICTIONARY_GROUP_COLUMNS]; /* candidates */
    size_t member_count;
    uint32_t *numbers;              /* tuple ids, by row */
    size_t count, half;             /* distinct tuples; in the first half */
    uint64_t code_bits, code_bytes; /* upper bound by frequencies; encoded */
    uint64_t entry_bits;            /* of a tuple in all dictionaries */
    uint64_t plain, total;          /* bytes projected to all rows: encoded alone; as a group */
};

struct choice {
    pcol_builder *b;
    struct pci_container *w;
    uint64_t rows; /* of the table */
    size_t n;      /* sampled */
    struct candidate *candidates;
    size_t candidate_count;
    struct trial trials[MAX_CANDIDATES];
    size_t trial_count;
    /* Work space of one trial: */
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

/* Whether the number of distinct values exceeds the limit for so many rows. */
static int too_many(size_t distinct, size_t rows)
{
    return distinct > rows / 4 + 192;
}

static int is_ascending(const struct candidate *c, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (c->values[i] < c->values[i - 1])
            return 0;
    return memchr(c->valid, 0, n) == NULL;
}

/* Read the sampled rows; *ok: few distinct values, and not ascending, which other encodings
 * handle. */
static pcol_status candidate_read(const struct choice *choice, struct candidate *c, int *ok,
                                  pcol_error *err)
{
    struct pci_column_buffer_source source;
    pci_column_source_init(choice->b, choice->b->columns[c->column], &source);
    *ok = 1;
    for (size_t row = 0, n; *ok && row < choice->n; row += n) {
        n = choice->n - row < PCF_BLOCK_ROWS ? choice->n - row : PCF_BLOCK_ROWS;
        PCI_TRY(pci_work(n * sizeof *c->values, err));
        PCI_TRY(source.source.read(source.source.context, row, n, c->values + row, c->valid + row,
                                   err));
        PCI_TRY(pci_value_ids_assign(&c->distinct, c->values + row, c->valid + row, n,
                                     c->numbers + row, err));
        if (row < choice->n / 2)
            c->half = c->distinct.count;
        *ok = !too_many(c->distinct.count, row + n);
    }
    *ok = *ok && c->distinct.count > 1 && !is_ascending(c, choice->n);
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
    PCI_THEN(status, candidate_read(choice, c, &ok, err));
    if (status == PCOL_OK && ok)
        status = pci_encode_measure(choice->w, &c->source, &c->bytes, err);
    /* A column of little more than a bit per row is mostly one value and fast to read anyway. */
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
        /* Few rows have equal stacks, and all queries read them. */
        if (c->table != table || plan->columns[i] == PCOL_NONE || c->type == PCF_BYTES ||
            c->references == PCI_T_STACKS + 1)
            continue;
        if (c->present < plan->rows[table] / SPARSE)
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
    struct pci_column_stats stats = {0};
    uint64_t bits = c->distinct.null != PCI_HASH_NONE;
    if (c->source.type == PCF_F64)
        return bits + 64;
    pci_column_stats_add_range(&stats, c->source.type, c->values, c->valid, choice->n);
    return bits + pci_packed_width((uint64_t)stats.max - (uint64_t)stats.min);
}

/* A size in bytes or bits of the sample, projected to all rows. */
static uint64_t project(const struct choice *choice, uint64_t size)
{
    return (uint64_t)((double)size * (double)choice->rows / (double)choice->n);
}

/* Projected bytes of the dictionaries: each doubling of the rows adds as many new tuples as the
 * second half of the sample did. */
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

/* Upper bound of the bits of the codes of the first `rows` rows. `counts`: work space of
 * t->count. */
static pcol_status estimate_bits(const struct trial *t, size_t rows, uint64_t *counts,
                                 uint64_t *bits, pcol_error *err)
{
    memset(counts, 0, t->count * sizeof *counts);
    for (size_t i = 0; i < rows; i++)
        counts[t->numbers[i]]++;
    return pci_estimate_code_bits(counts, t->count, bits, err);
}

static void project_total(const struct choice *choice, struct trial *t)
{
    t->total = project(choice, t->code_bytes) + dictionary_bytes(choice, t);
}

/* Encode the codes of the sample and project the total. */
static pcol_status measure(struct choice *choice, struct trial *t, pcol_error *err)
{
    struct ranked codes = {.numbers = t->numbers, .ranks = choice->ranks};
    codes.source = (struct pci_value_source){choice->n, PCF_U32, read_ranked, &codes, NULL};
    PCI_TRY(estimate_bits(t, choice->n, choice->counts, &t->code_bits, err));
    PCI_TRY(pci_ranks_by_frequency(choice->counts, t->count, choice->ranks, err));
    PCI_TRY(pci_encode_measure(choice->w, &codes.source, &t->code_bytes, err));
    project_total(choice, t);
    return PCOL_OK;
}

/* A trial of a single candidate. Its codes are only estimated; measured if it stays alone. */
static pcol_status trial_new(struct choice *choice, uint32_t number, pcol_error *err)
{
    struct candidate *c = &choice->candidates[number];
    struct trial *t = &choice->trials[choice->trial_count++];
    *t = (struct trial){.members = {number}, .member_count = 1};
    t->numbers = c->numbers;
    t->count = c->distinct.count;
    t->half = c->half;
    t->entry_bits = entry_bits(choice, c);
    t->plain = project(choice, c->bytes);
    c->numbers = NULL;
    PCI_TRY(estimate_bits(t, choice->n, choice->counts, &t->code_bits, err));
    t->code_bytes = t->code_bits / 8 < c->bytes ? t->code_bits / 8 : c->bytes;
    project_total(choice, t);
    return PCOL_OK;
}

/* Bytes of a trial in its best encoding. */
static uint64_t best_bytes(const struct trial *t)
{
    return t->member_count == 1 && t->plain < t->total ? t->plain : t->total;
}

/* Ids of the tuples of two trials; *ok: few, and their estimated codes are not larger than those of
 * both. */
static pcol_status assign_pairs(struct choice *choice, const struct trial *a, const struct trial *b,
                                struct trial *t, int *ok, pcol_error *err)
{
    struct pci_value_ids *pairs = &choice->pairs;
    pci_value_ids_clear(pairs);
    for (size_t row = 0, n; row < choice->n && *ok; row += n) {
        n = choice->n - row < GUESS_ROWS ? choice->n - row : GUESS_ROWS;
        PCI_TRY(pci_value_ids_assign_pairs(pairs, a->numbers + row, b->numbers + row, n,
                                           t->numbers + row, err));
        t->count = pairs->count;
        if (row < choice->n / 2)
            t->half = t->count;
        *ok = !too_many(t->count, row + n);
        if (row == 0 && *ok) {
            uint64_t both = (a->code_bytes + b->code_bytes) * 8 * n / choice->n, bits;
            PCI_TRY(estimate_bits(t, n, choice->counts, &bits, err));
            *ok = bits < both + both / 4;
        }
    }
    return PCOL_OK;
}

/* The union of two trials; numbers == NULL: rejected. */
static pcol_status join_trials(struct choice *choice, const struct trial *a, const struct trial *b,
                               struct trial *t, pcol_error *err)
{
    int ok = a->member_count + b->member_count <= PCI_DICTIONARY_GROUP_COLUMNS;
    pcol_status status = PCOL_OK;
    *t = (struct trial){.member_count = a->member_count + b->member_count,
                        .entry_bits = a->entry_bits + b->entry_bits,
                        .plain = a->plain + b->plain};
    if (!ok)
        return PCOL_OK;
    memcpy(t->members, a->members, a->member_count * sizeof *t->members);
    memcpy(t->members + a->member_count, b->members, b->member_count * sizeof *t->members);
    PCI_TRY(PCI_MALLOC(t->numbers, choice->n, err));
    status = assign_pairs(choice, a, b, t, &ok, err);
    if (status == PCOL_OK && ok)
        status = measure(choice, t, err);
    if (status != PCOL_OK || !ok)
        trial_clear(t);
    return status;
}

/* Merge the last trial into the one with which it saves most, if any saves 1/16. */
static pcol_status merge_last(struct choice *choice, pcol_error *err)
{
    struct trial *last = &choice->trials[choice->trial_count - 1], best = {0};
    size_t with = choice->trial_count, most = with - 1 < MAX_GROUPS ? with - 1 : MAX_GROUPS;
    uint64_t saved = 0;
    for (size_t i = 0; i < most; i++) {
        struct trial *other = &choice->trials[i], both;
        pcol_status status = join_trials(choice, other, last, &both, err);
        uint64_t separate = best_bytes(other) + best_bytes(last);
        if (status == PCOL_OK && both.numbers && both.total < separate - separate / 16 &&
            separate - both.total > saved) {
            struct trial worse = best;
            saved = separate - both.total;
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

static int compare_numbers(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static pcol_status group_new(const struct choice *choice, const struct trial *t,
                             struct pci_dictionary_groups *groups, pcol_error *err)
{
    PCI_TRY(PCI_GROW(groups->groups, groups->capacity, groups->count + 1, err));
    struct pci_dictionary_group *g = &groups->groups[groups->count++];
    *g = (struct pci_dictionary_group){.column_count = t->member_count,
                                       .code_bits = t->code_bits,
                                       .sample_rows = choice->n,
                                       .plain_bytes = t->plain,
                                       .code_bytes = project(choice, t->code_bytes),
                                       .entry_bits = t->entry_bits,
                                       .used = 1};
    for (size_t i = 0; i < t->member_count; i++)
        g->columns[i] = choice->candidates[t->members[i]].column;
    qsort(g->columns, g->column_count, sizeof *g->columns, compare_numbers);
    pci_spill_init(&g->numbers, &choice->b->store);
    return PCOL_OK;
}

static int compare_bytes_descending(const void *a, const void *b)
{
    const struct candidate *x = *(struct candidate *const *)a, *y = *(struct candidate *const *)b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return x->column < y->column ? -1 : x->column > y->column;
}

static pcol_status form_groups(struct choice *choice, struct pci_dictionary_groups *groups,
                               pcol_error *err)
{
    struct candidate *order[MAX_CANDIDATES];
    for (size_t i = 0; i < choice->candidate_count; i++)
        order[i] = &choice->candidates[i];
    qsort(order, choice->candidate_count, sizeof *order, compare_bytes_descending);
    for (size_t i = 0; i < choice->candidate_count; i++) {
        PCI_TRY(trial_new(choice, (uint32_t)(order[i] - choice->candidates), err));
        PCI_TRY(merge_last(choice, err));
    }
    for (size_t i = 0; i < choice->trial_count; i++) {
        struct trial *t = &choice->trials[i];
        if (t->member_count == 1 && t->total < t->plain)
            PCI_TRY(measure(choice, t, err));
        /* Codes are slower to read: a single column must save a third, a group a quarter. */
        if (t->total < t->plain - t->plain / (t->member_count > 1 ? 4 : 3))
            PCI_TRY(group_new(choice, t, groups, err));
    }
    return PCOL_OK;
}

static pcol_status choose_for_table(pcol_builder *b, struct pci_container *w,
                                    const struct pci_table_plan *plan, uint32_t table,
                                    struct pci_dictionary_groups *groups, pcol_error *err)
{
    uint64_t rows = plan->rows[table];
    struct choice *choice;
    pcol_status status;
    PCI_TRY(PCI_CALLOC(choice, 1, err));
    choice->b = b;
    choice->w = w;
    choice->rows = rows;
    choice->n = rows < SAMPLE_ROWS ? (size_t)rows : SAMPLE_ROWS;
    choice->candidates = pci_calloc(MAX_CANDIDATES, sizeof *choice->candidates);
    status = choice->candidates ? find_candidates(choice, plan, table, err) : pci_fail_memory(err);
    PCI_THEN(status, form_groups(choice, groups, err));
    for (size_t i = 0; i < choice->candidate_count; i++)
        candidate_clear(&choice->candidates[i]);
    for (size_t i = 0; i < choice->trial_count; i++)
        trial_clear(&choice->trials[i]);
    pci_value_ids_clear(&choice->pairs);
    pci_free(choice->candidates);
    pci_free(choice);
    return status;
}

pcol_status pci_dictionary_groups_choose(pcol_builder *b, struct pci_container *w,
                                         const struct pci_table_plan *plan,
                                         struct pci_dictionary_groups *groups, pcol_error *err)
{
    for (uint32_t t = 0; t < b->table_count; t++)
        if (t != PCI_T_STRINGS && plan->table_number[t] && plan->rows[t] >= MIN_ROWS)
            PCI_TRY(choose_for_table(b, w, plan, t, groups, err));
    return PCOL_OK;
}

void pci_dictionary_groups_clear(struct pci_dictionary_groups *groups)
{
    for (size_t i = 0; i < groups->count; i++) {
        struct pci_dictionary_group *g = &groups->groups[i];
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
    *groups = (struct pci_dictionary_groups){0};
}

const struct pci_dictionary_group *pci_dictionary_groups_find(
    const struct pci_dictionary_groups *groups, uint32_t column, size_t *index)
{
    for (size_t i = 0; i < groups->count; i++)
        for (size_t k = 0; k < groups->groups[i].column_count; k++)
            if (groups->groups[i].used && groups->groups[i].columns[k] == column) {
                *index = k;
                return &groups->groups[i];
            }
    return NULL;
}

/*
 * encode_dictionary.c - dictionary encoding of a group of columns
 *
 * Tuples of a group's columns get ids in one pass over all rows. Codes are ranks of tuples by
 * descending frequency, so that frequent ones are small. Each column's dictionary is its cell of
 * every tuple. Tests: tests/format/columns.
 */
#include "builder/dictionary_groups.h"

#include "encode/encode_leaf.h"
#include "util/alloc.h"
#include "util/control.h"

#include <stdlib.h>

#define MAX_ENTRIES 131072u
#define ROWS_PER_ENTRY 4u

/* ---- the codes of all rows ---- */

struct rows {
    struct pci_column_buffer_source sources[PCI_DICTIONARY_GROUP_COLUMNS];
    struct pci_block_reader reader; /* used as a buffer of one block */
    uint32_t numbers[2][PCF_BLOCK_ROWS];
};

static pcol_status count_numbers(struct pci_dictionary_group *g, const uint32_t *numbers, size_t n,
                                 pcol_error *err)
{
    size_t before = g->count;
    g->count = g->column_count > 1 ? g->pairs[g->column_count - 1].count : g->values[0].count;
    PCI_TRY(PCI_GROW(g->counts, g->counts_capacity, g->count + 1, err));
    memset(g->counts + before, 0, (g->count - before) * sizeof *g->counts);
    for (size_t i = 0; i < n; i++)
        g->counts[numbers[i]]++;
    return PCOL_OK;
}

/* Assign ids to the tuples of rows [row, row + n), column by column. */
static pcol_status assign_block(struct pci_dictionary_group *g, struct rows *rows, uint64_t row,
                                size_t n, pcol_error *err)
{
    struct pci_block_reader *r = &rows->reader;
    uint32_t *tuples = rows->numbers[0], *cells = rows->numbers[1];
    for (size_t k = 0; k < g->column_count; k++) {
        const struct pci_value_source *source = &rows->sources[k].source;
        PCI_TRY(pci_work(n * sizeof *r->values, err));
        PCI_TRY(source->read(source->context, row, n, r->values, r->valid, err));
        PCI_TRY(
            pci_value_ids_assign(&g->values[k], r->values, r->valid, n, k ? cells : tuples, err));
        if (k)
            PCI_TRY(pci_value_ids_assign_pairs(&g->pairs[k], tuples, cells, n, tuples, err));
    }
    PCI_TRY(count_numbers(g, tuples, n, err));
    return pci_spill_append(&g->numbers, tuples, n * sizeof *tuples, err);
}

static pcol_status assign_rows(const pcol_builder *b, struct pci_dictionary_group *g,
                               struct rows *rows, pcol_error *err)
{
    uint64_t all = b->columns[g->columns[0]]->rows, limit = all / ROWS_PER_ENTRY, n;
    limit = limit < MAX_ENTRIES ? limit : MAX_ENTRIES;
    for (size_t k = 0; k < g->column_count; k++)
        pci_column_source_init(b, b->columns[g->columns[k]], &rows->sources[k]);
    for (uint64_t row = 0; row < all && g->used; row += n) {
        n = all - row < PCF_BLOCK_ROWS ? all - row : PCF_BLOCK_ROWS;
        PCI_TRY(assign_block(g, rows, row, (size_t)n, err));
        g->used = g->count <= limit;
    }
    return PCOL_OK;
}

static int compare_descending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? 1 : x > y ? -1 : 0;
}

pcol_status pci_estimate_code_bits(const uint64_t *counts, size_t count, uint64_t *bits,
                                   pcol_error *err)
{
    uint64_t by_width[65] = {0}, rows = 0;
    uint64_t *sorted = pci_malloc(count + 1, sizeof *sorted);
    unsigned whole = pci_packed_width(count ? count - 1 : 0), width;
    if (!sorted)
        return pci_fail_memory(err);
    memcpy(sorted, counts, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare_descending);
    for (size_t i = 0; i < count; i++) {
        by_width[pci_packed_width(i)] += sorted[i];
        rows += sorted[i];
    }
    pci_free(sorted);
    uint64_t split = pci_patch_cost(by_width, whole, 1, &width), packed = rows * whole;
    *bits = split < packed ? split : packed;
    return PCOL_OK;
}

/* Verify the choice of the group with all rows: later rows may differ from the sampled ones. */
static pcol_status assign_all(const pcol_builder *b, struct pci_dictionary_group *g,
                              struct rows *rows, pcol_error *err)
{
    uint64_t bits;
    PCI_TRY(assign_rows(b, g, rows, err));
    if (!g->used)
        return PCOL_OK;
    PCI_TRY(pci_estimate_code_bits(g->counts, g->count, &bits, err));
    uint64_t samples = b->columns[g->columns[0]]->rows / g->sample_rows + 1;
    g->used = g->code_bytes + g->count * g->entry_bits / 8 < g->plain_bytes &&
              (bits / 2 <= g->code_bits * samples || bits / 8 <= g->plain_bytes);
    g->ranks = pci_malloc(g->count + 1, sizeof *g->ranks);
    return g->ranks ? pci_ranks_by_frequency(g->counts, g->count, g->ranks, err)
                    : pci_fail_memory(err);
}

pcol_status pci_dictionary_group_fill(const pcol_builder *b, struct pci_dictionary_group *group,
                                      pcol_error *err)
{
    struct rows *rows = pci_malloc(1, sizeof *rows);
    size_t k = group->column_count;
    group->values = pci_calloc(k, sizeof *group->values);
    group->pairs = pci_calloc(k, sizeof *group->pairs);
    if (!rows || !group->values || !group->pairs) {
        pci_free(rows);
        return pci_fail_memory(err);
    }
    for (size_t i = 0; i < k; i++) {
        pci_value_ids_init(&group->values[i]);
        pci_value_ids_init(&group->pairs[i]);
    }
    pcol_status status = assign_all(b, group, rows, err);
    pci_free(rows);
    return status;
}

/* ---- codes and dictionaries as columns ---- */

static pcol_status read_codes(void *context, uint64_t row, size_t n, int64_t *values,
                              uint8_t *valid, pcol_error *err)
{
    const struct pci_dictionary_group *group = context;
    uint32_t numbers[PCF_BLOCK_ROWS];
    PCI_TRY(
        pci_spill_read(&group->numbers, row * sizeof *numbers, numbers, n * sizeof *numbers, err));
    for (size_t i = 0; i < n; i++)
        values[i] = group->ranks[numbers[i]];
    memset(valid, 1, n);
    return PCOL_OK;
}

struct entries {
    struct pci_value_source source;
    int64_t *values; /* by code; null entries get the minimum, which packs as 0 */
    uint8_t *valid;
    int all_valid; /* read null entries as values */
};

static pcol_status read_entries(void *context, uint64_t row, size_t n, int64_t *values,
                                uint8_t *valid, pcol_error *err)
{
    const struct entries *e = context;
    (void)err;
    memcpy(values, e->values + row, n * sizeof *values);
    memcpy(valid, e->valid + row, n);
    if (e->all_valid)
        memset(valid, 1, n);
    return PCOL_OK;
}

/* Fill the dictionary of column `index`; statistics and null count are those of the rows. */
static void fill_entries(const struct pci_dictionary_group *g, size_t index, struct entries *e,
                         struct pci_column_stats *stats)
{
    const struct pci_value_ids *values = &g->values[index];
    for (size_t i = 0; i < g->count; i++) {
        uint32_t number = (uint32_t)i, code = g->ranks[i];
        for (size_t k = g->column_count - 1; k > index; k--)
            number = (uint32_t)((uint64_t)g->pairs[k].keys[number] >> 32);
        if (index)
            number = (uint32_t)g->pairs[index].keys[number];
        e->values[code] = values->keys[number];
        e->valid[code] = number != values->null;
        stats->rows += g->counts[i];
        stats->nulls += e->valid[code] ? 0 : g->counts[i];
    }
    pci_column_stats_add_range(stats, e->source.type, e->values, e->valid, g->count);
}

/* Encode entries without nulls, bit-packed if possible, which is the fastest to look up. */
static pcol_status encode_all_valid(struct pci_container *w, uint32_t child,
                                    const struct entries *e, pcol_error *err)
{
    struct pci_column_stats stats;
    pcol_status status = PCOL_OK;
    PCI_TRY(pci_column_stats_compute(&e->source, 1, &stats, err));
    if (stats.constant || stats.linear || stats.nulls || e->source.type == PCF_F64)
        status = pci_encode_leaf(w, child, &e->source, err);
    else
        status = pci_emit_packed(w, child, &e->source, &stats, err);
    return status;
}

/* Encode entries with nulls: validity bits, and packed values with the minimum for nulls. */
static pcol_status encode_nullable(struct pci_container *w, uint32_t child, struct entries *e,
                                   int64_t least, pcol_error *err)
{
    uint64_t nulls = 0;
    for (uint64_t i = 0; i < e->source.rows; i++)
        nulls += !e->valid[i];
    w->columns[child].flags |= PCF_COLUMN_NULLABLE;
    w->columns[child].null_count = nulls;
    if (e->source.type == PCF_F64)
        return pci_emit_plain(w, child, &e->source, nulls, NULL, err);
    PCI_TRY(pci_emit_validity(w, child, &e->source, err));
    for (uint64_t i = 0; i < e->source.rows; i++)
        e->values[i] = e->valid[i] ? e->values[i] : least;
    e->all_valid = 1;
    return encode_all_valid(w, child, e, err);
}

static pcol_status encode_entries(struct pci_container *w, uint32_t number, uint32_t child,
                                  const struct pci_dictionary_group *group, size_t index,
                                  struct entries *e, pcol_error *err)
{
    struct pci_column_stats stats = {0};
    struct pcf_column *c = &w->columns[number];
    fill_entries(group, index, e, &stats);
    c->null_count = stats.nulls;
    if (stats.nulls)
        c->flags |= PCF_COLUMN_NULLABLE;
    if (stats.has_stats) {
        c->flags |= PCF_COLUMN_STATS;
        c->min = stats.min;
        c->max = stats.max;
    }
    w->columns[child].type = e->source.type;
    w->columns[child].rows = e->source.rows;
    if (stats.nulls && stats.nulls < stats.rows)
        return encode_nullable(w, child, e, stats.min, err);
    return w->archive ? pci_encode_leaf(w, child, &e->source, err)
                      : encode_all_valid(w, child, e, err);
}

pcol_status pci_encode_dictionary(struct pci_container *w, uint32_t number,
                                  const struct pci_dictionary_group *group, size_t index,
                                  uint32_t distance, pcol_error *err)
{
    size_t count = group->count;
    struct entries e = {.values = pci_malloc(count + 1, sizeof *e.values),
                        .valid = pci_malloc(count + 1, 1)};
    uint32_t child = 0;
    pcol_status status = e.values && e.valid ? PCOL_OK : pci_fail_memory(err);
    e.source = (struct pci_value_source){count, w->columns[number].type, read_entries, &e, NULL};
    w->columns[number].encoding = PCF_DICTIONARY;
    w->columns[number].base = distance;
    PCI_THEN(status, pci_container_children(w, number, distance ? 1 : 2, &child, err));
    PCI_THEN(status, encode_entries(w, number, child, group, index, &e, err));
    pci_free(e.values);
    pci_free(e.valid);
    if (status != PCOL_OK || distance)
        return status;
    struct pci_value_source codes = {pci_spill_size(&group->numbers) / sizeof(uint32_t), PCF_U32,
                                     read_codes, (void *)(uintptr_t)group, NULL};
    w->columns[child + 1].type = PCF_U32;
    w->columns[child + 1].rows = codes.rows;
    return pci_encode(w, child + 1, &codes, err);
}

/*
 * sums_result.c - sums as sources and samples of the builder
 *
 * Sources in order of first appearance, each with its rows in order of first appearance (a counting
 * sort by source). Tests: suite sums.
 */
#include "merge/sums.h"

#include "util/alloc.h"
#include "util/control.h"
#include "util/import_budget.h"
#include "util/strbuf.h"

#include <string.h>

static const char *get_text(const pcol_sums *sums, uint32_t code, struct pci_strbuf *text,
                            pcol_error *err)
{
    pcol_str string = pci_string_pool_get(&sums->builder->strings, code);
    size_t at = text->size;
    if (pci_strbuf_append(text, string.data, string.size, err) != PCOL_OK ||
        pci_strbuf_append(text, "", 1, err) != PCOL_OK)
        return NULL;
    return text->data + at;
}

static pcol_status set_text(pcol_sums *sums, const char *column, uint32_t source, uint32_t code,
                            pcol_error *err)
{
    uint32_t number;
    if (code == PCOL_NONE)
        return PCOL_OK;
    PCI_TRY(pci_builder_column(sums->builder, PCI_T_SOURCES, column, PCOL_STRING, 0, &number, err));
    return pci_builder_set_bits(sums->builder, number, source, code, err);
}

static pcol_status set_number(pcol_sums *sums, const char *column, uint32_t source,
                              const uint32_t words[3], pcol_error *err)
{
    uint32_t number;
    if (!words[0])
        return PCOL_OK;
    PCI_TRY(pci_builder_column(sums->builder, PCI_T_SOURCES, column, PCOL_I64, 0, &number, err));
    return pci_builder_set_bits(sums->builder, number, source, pci_sums_number(words), err);
}

/* Adds a source with its types; types: receives their rows in the builder. */
static pcol_status write_source(pcol_sums *sums, uint32_t number, uint32_t *types, uint32_t *count,
                                pcol_error *err)
{
    pcol_builder *b = sums->builder;
    pcol_str all = pci_string_pool_get(&sums->sources, number);
    size_t fixed = D_KEYS + sums->key_count;
    uint32_t *words, row;
    struct pci_strbuf text = {0};
    PCI_TRY(PCI_MALLOC(words, all.size / sizeof *words, err));
    memcpy(words, all.data, all.size);
    const char *type = get_text(sums, words[D_TYPE], &text, err);
    pcol_source source = {.size = sizeof source, .type = type};
    pcol_status status = type ? pcol_builder_source(b, &source, &row, err) : PCOL_E_NO_MEMORY;
    for (size_t i = D_TYPE + 1; status == PCOL_OK && i < D_TEXTS; i++)
        status = set_text(sums, pci_sums_text_columns[i], row, words[i], err);
    PCI_THEN(status, set_number(sums, "period", row, &words[D_PERIOD], err));
    PCI_THEN(status, set_number(sums, "interval_ns", row, &words[D_INTERVAL], err));
    for (size_t k = 0; status == PCOL_OK && k < sums->key_count; k++) {
        text.size = 0;
        const char *value =
            words[D_KEYS + k] == PCOL_NONE ? NULL : get_text(sums, words[D_KEYS + k], &text, err);
        if (value)
            status = pcol_builder_source_meta(b, row, sums->keys[k], value, err);
        else if (words[D_KEYS + k] != PCOL_NONE)
            status = PCOL_E_NO_MEMORY;
    }
    *count = 0;
    for (size_t at = fixed; status == PCOL_OK && at < all.size / sizeof *words; at += T_WORDS)
        status =
            pci_builder_sample_type(b, words[at + T_TYPE], words[at + T_UNIT], words[at + T_FLAGS],
                                    words[at + T_ORDINAL], &types[(*count)++], err);
    pci_strbuf_clear(&text);
    pci_free(words);
    return status;
}

static pcol_status write_row(pcol_sums *sums, const struct pci_sum_row *sum, const uint32_t *types,
                             pcol_value *values, pcol_error *err)
{
    pcol_builder *b = sums->builder;
    pcol_sample sample = {.size = sizeof sample,
                          .source = sum->source,
                          .stack = sum->stack,
                          .thread = PCOL_NONE,
                          .values = values};
    uint64_t row;
    for (uint32_t i = 0; i < sum->values; i++) {
        const struct pci_sum_value *value = &sums->values[sum->first + i];
        if (!value->valid)
            continue;
        values[sample.value_count].sample_type = types[i];
        values[sample.value_count++].as.i64 = value->bits;
    }
    PCI_TRY(pcol_builder_sample(b, &sample, &row, err));
    if (!sum->labels)
        return PCOL_OK;
    pcol_str list = pci_string_pool_get(&sums->labels, sum->labels);
    struct pci_label *labels = pci_malloc(list.size, 1);
    if (!labels)
        return pci_fail_memory(err);
    memcpy(labels, list.data, list.size);
    pcol_status status =
        pci_builder_labels(b, PCI_T_SAMPLES, row, labels, list.size / sizeof *labels, NULL, err);
    pci_free(labels);
    return status;
}

/* Counting sort: rows of each source in order of first appearance. */
static void sort_rows(const pcol_sums *sums, size_t *starts, uint32_t *order)
{
    size_t sources = sums->sources.count;
    for (size_t i = 0; i < sums->row_count; i++)
        starts[sums->rows[i].source + 2]++;
    for (size_t i = 1; i <= sources + 1; i++)
        starts[i] += starts[i - 1];
    for (size_t i = 0; i < sums->row_count; i++)
        order[starts[sums->rows[i].source + 1]++] = (uint32_t)i;
}

static pcol_status write_sources(pcol_sums *sums, const size_t *starts, const uint32_t *order,
                                 pcol_error *err)
{
    size_t most = 1;
    for (uint32_t s = 0; s < sums->sources.count; s++) {
        size_t size = pci_string_pool_get(&sums->sources, s).size / sizeof(uint32_t);
        most = size > most ? size : most;
    }
    uint32_t *types = pci_malloc(most, sizeof *types), count;
    pcol_value *values = pci_malloc(most, sizeof *values);
    pcol_status status = types && values ? PCOL_OK : pci_fail_memory(err);
    for (uint32_t s = 0; status == PCOL_OK && s < sums->sources.count; s++) {
        status = write_source(sums, s, types, &count, err);
        for (size_t i = starts[s]; status == PCOL_OK && i < starts[s + 1]; i++)
            status = write_row(sums, &sums->rows[order[i]], types, values, err);
    }
    pci_free(types);
    pci_free(values);
    return status;
}

pcol_status pci_sums_write(pcol_sums *sums, pcol_error *err)
{
    struct pci_budget *enclosing = pci_budget_enter(&sums->builder->budget);
    size_t *starts = pci_calloc(sums->sources.count + 3, sizeof *starts);
    uint32_t *order = pci_malloc(sums->row_count + 1, sizeof *order);
    pcol_status status = starts && order ? PCOL_OK : pci_fail_memory(err);
    if (status == PCOL_OK) {
        sort_rows(sums, starts, order);
        status = write_sources(sums, starts, order, err);
    }
    pci_free(starts);
    pci_free(order);
    pci_budget_leave(enclosing);
    for (size_t k = 0; status == PCOL_OK && k < sums->key_count; k++)
        if (!sums->key_seen[k])
            pci_notice(PCOL_NOTICE_INPUT, "", "", "no source and no sample has the key '%.100s'",
                       sums->keys[k]);
    if (status == PCOL_OK)
        pci_sums_report_losses(sums);
    return status;
}

/*
 * label_pairs.c - the values of a label of each sample of a batch
 *
 * Values with the same text and unit are one name, whatever their kind. A sample with several
 * values of the key, in several columns or in `extra`, has each distinct one once: the pairs
 * (sample, value) of a batch are sorted and deduplicated. Tests: suite answers.
 */
#include "query/label_pairs.h"

#include "util/alloc.h"

#include <stdlib.h>
#include <string.h>

/* Distinct numbers may take no bytes of the file, and about 130 bytes each in a result. */
#define FREE_NAMES (UINT64_C(1) << 21)

static pcol_status check_names(const struct pci_label_pairs *p, pcol_error *err)
{
    uint64_t most = FREE_NAMES + p->query->file->size;
    return p->names->count <= most
               ? PCOL_OK
               : pci_fail(err, PCOL_E_LIMIT,
                          "more than %llu values of the label are too many for a file of %llu "
                          "bytes",
                          (unsigned long long)most, (unsigned long long)p->query->file->size);
}

/* is_stored: the text is that of a string of the file. */
static pcol_status add_pair(struct pci_label_pairs *p, size_t at, pcol_str name, int is_stored,
                            pcol_error *err)
{
    uint32_t id;
    if (is_stored) {
        PCI_TRY(pci_string_pool_intern_stored(p->names, &p->long_names, name, &id, err));
    } else { /* a value with a long unit, or the path of a library */
        PCI_TRY(pci_count_long_text(&p->long_texts, name.size, err));
        PCI_TRY(pci_string_pool_intern(p->names, name.data, name.size, &id, err));
        PCI_TRY(check_names(p, err));
    }
    PCI_TRY(PCI_GROW(p->pairs, p->capacity, p->count + 1, err));
    p->pairs[p->count++] = (struct pci_label_pair){(uint32_t)at, id};
    return PCOL_OK;
}

static int compare_pairs(const void *pa, const void *pb)
{
    const struct pci_label_pair *a = pa, *b = pb;
    if (a->at != b->at)
        return a->at < b->at ? -1 : 1;
    return (a->name > b->name) - (a->name < b->name);
}

static void deduplicate(struct pci_label_pairs *p)
{
    size_t kept = 0;
    if ((p->columns.count <= 1 && !p->columns.members.roots) || !p->count)
        return;
    qsort(p->pairs, p->count, sizeof *p->pairs, compare_pairs);
    for (size_t i = 0; i < p->count; i++)
        if (!i || compare_pairs(&p->pairs[kept - 1], &p->pairs[i]))
            p->pairs[kept++] = p->pairs[i];
    p->count = kept;
}

static int passes(const struct pci_label_pairs *p, uint32_t stack)
{
    return !p->query->passes || p->query->passes[stack];
}

static pcol_status read_column(struct pci_label_pairs *p, const struct pci_sample_batch *batch,
                               const struct pci_label_column *column, pcol_error *err)
{
    uint64_t first = batch->row[0] / PCI_BATCH * PCI_BATCH;
    size_t n = (size_t)(batch->row[batch->count - 1] - first) + 1;
    PCI_TRY(pci_label_read(&p->columns, column, first, n, p->cells, p->valid, err));
    for (size_t i = 0; i < batch->count; i++) {
        uint64_t row = batch->row[i];
        size_t cell = (size_t)(row - first);
        char buffer[PCI_LABEL_TEXT];
        pcol_str text;
        if (!p->valid[cell] || !passes(p, batch->stack[i]))
            continue;
        PCI_TRY(pci_label_text(&p->columns, column, row, p->cells[cell], buffer, &text, err));
        int is_stored = !column->unit.size && pci_label_is_stored(&p->columns, column->kind, text);
        if (column->unit.size)
            PCI_TRY(pci_label_with_unit(column->unit, &p->with_unit, &text, err));
        p->labelled[i] = 1;
        PCI_TRY(add_pair(p, i, text, is_stored, err));
    }
    return PCOL_OK;
}

/* Reads the values of a batch that have no column. */
static pcol_status read_members(struct pci_label_pairs *p, const struct pci_sample_batch *batch,
                                pcol_error *err)
{
    const struct pci_column *roots = p->columns.members.roots;
    uint64_t first = batch->row[0] / PCI_BATCH * PCI_BATCH;
    size_t n = (size_t)(batch->row[batch->count - 1] - first) + 1;
    if (!roots)
        return PCOL_OK;
    PCI_TRY(pci_read(p->query->file, roots, first, n, p->cells, p->valid, err));
    for (size_t i = 0; i < batch->count; i++) {
        size_t cell = (size_t)(batch->row[i] - first);
        struct pci_label_value value = {.member = PCI_NO_NODE};
        if (!p->valid[cell] || !passes(p, batch->stack[i]))
            continue;
        for (;;) {
            PCI_TRY(pci_label_members_next(&p->columns, (uint64_t)p->cells[cell], &value, err));
            if (value.member == PCI_NO_NODE)
                break;
            int is_stored =
                !value.unit.size && pci_label_is_stored(&p->columns, value.kind, value.text);
            if (value.unit.size)
                PCI_TRY(pci_label_with_unit(value.unit, &p->with_unit, &value.text, err));
            p->labelled[i] = 1;
            PCI_TRY(add_pair(p, i, value.text, is_stored, err));
        }
    }
    return PCOL_OK;
}

pcol_status pci_label_pairs_open(struct pci_label_pairs *pairs, const pcol_query *query,
                                 const char *label, struct pci_string_pool *names, pcol_error *err)
{
    *pairs = (struct pci_label_pairs){.query = query, .names = names};
    PCI_TRY(pci_label_columns_open(&pairs->columns, query->file, label, strlen(label), err));
    for (size_t c = 0; c < pairs->columns.count; c++)
        PCI_TRY(pci_verify(query->file, pairs->columns.columns[c].column, err));
    return PCOL_OK;
}

pcol_status pci_label_pairs_read(struct pci_label_pairs *pairs,
                                 const struct pci_sample_batch *batch, pcol_error *err)
{
    pairs->count = 0;
    memset(pairs->labelled, 0, sizeof pairs->labelled);
    for (size_t c = 0; c < pairs->columns.count; c++)
        PCI_TRY(read_column(pairs, batch, &pairs->columns.columns[c], err));
    PCI_TRY(read_members(pairs, batch, err));
    deduplicate(pairs);
    return PCOL_OK;
}

void pci_label_pairs_close(struct pci_label_pairs *pairs)
{
    pci_label_columns_close(&pairs->columns);
    pci_strbuf_clear(&pairs->with_unit);
    pci_text_memo_clear(&pairs->long_names);
    pci_free(pairs->pairs);
}

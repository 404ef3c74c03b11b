/*
 * sums_losses.c - kinds of content that sums lack
 *
 * The schema assigns each column to a kind of content. A kind is lost if a column of it has a value
 * that is neither null, nor an empty text, nor the default. Kinds that are lost already are not
 * searched again, so that of thousands of inputs only the first are read for this. Tests: suite
 * sums.
 */
#include "merge/sums.h"

#include "util/control.h"
#include "util/strbuf.h"

#define BIT(name) (UINT64_C(1) << PCI_KIND_##name)

/* Content that sums have, and content that is found where it is left out: addresses, ranges and
 * build ids (sums_code.c), keys of metadata and of labels, sources. */
#define KEPT                                                                                  \
    (BIT(NONE) | BIT(PERIOD) | BIT(INTERVAL) | BIT(DEFAULT_TYPE) | BIT(DROP_FRAMES) |         \
     BIT(UNUSED) | BIT(NAMELESS) | BIT(PLACES) | BIT(SYSTEM_NAMES) | BIT(FILES) |             \
     BIT(START_LINES) | BIT(LINES) | BIT(COLUMNS) | BIT(INLINED) | BIT(LIBRARIES) |           \
     BIT(ADDRESSES) | BIT(RANGES) | BIT(BUILD_IDS) | BIT(META) | BIT(LABELS) | BIT(SOURCES) | \
     BIT(SPELLING))

/* With PCOL_SUMS_LOSSES: what of these sums by names lack, and what the program keeps besides. */
#define NOT_BY_NAMES                                                                          \
    (BIT(PERIOD) | BIT(INTERVAL) | BIT(DEFAULT_TYPE) | BIT(SYSTEM_NAMES) | BIT(START_LINES) | \
     BIT(COLUMNS) | BIT(LIBRARIES) | BIT(ADDRESSES) | BIT(RANGES) | BIT(BUILD_IDS))
#define KEPT_BY_NAMES (BIT(RECORDED) | BIT(TIME_NS))

static const char *const kind_texts[PCI_KIND_COUNT] = {
    [PCI_KIND_UNKNOWN] = "columns that this version does not know",
#define KIND_WORDS(name, text) [PCI_KIND_##name] = text,
    PCI_KINDS(KIND_WORDS)
#undef KIND_WORDS
};

static pcol_status has_content(const pcol_file *file, const struct pci_column *column, int *has,
                               pcol_error *err)
{
    int64_t values[PCI_MERGE_BATCH];
    uint8_t valid[PCI_MERGE_BATCH];
    uint64_t rows = column->desc->rows;
    int is_text = PCI_TYPE(column->desc->type) & PCI_TYPES_ANY_TEXT ? 1 : 0;
    *has = 0;
    if (!column->supported || column->desc->null_count == rows)
        return PCOL_OK;
    for (uint64_t row = 0, n; row < rows && !*has; row += n) {
        n = rows - row < PCI_MERGE_BATCH ? rows - row : PCI_MERGE_BATCH;
        if (!is_text)
            PCI_TRY(pci_read(file, column, row, n, values, valid, err));
        for (uint64_t i = 0; i < n && !*has; i++) {
            pcol_str text = {"", 0};
            int present = 0;
            if (is_text)
                PCI_TRY(pci_get_str(file, column, row + i, &text, &present, err));
            *has = is_text ? text.size > 0
                           : valid[i] && (values[i] || !(column->schema->flags & PCI_DEFAULT_0));
        }
    }
    return PCOL_OK;
}

static pcol_status check_columns(struct pci_sums_file *f, pcol_error *err)
{
    uint64_t kept = f->sums->only_losses ? (KEPT & ~NOT_BY_NAMES) | KEPT_BY_NAMES : KEPT;
    for (uint32_t i = 0; i < f->file->index.header.table_count; i++) {
        const struct pci_table *table = &f->file->tables[i];
        for (uint32_t k = 0; table->rows && k < table->column_count; k++) {
            const struct pci_column *column = &table->columns[k];
            uint64_t bit = UINT64_C(1) << column->schema->kind;
            int has = 0;
            if (bit & (kept | f->sums->lost))
                continue;
            PCI_TRY(has_content(f->file, column, &has, err));
            if (has)
                f->sums->lost |= bit;
        }
    }
    return PCOL_OK;
}

/* Keys of a table that are not kept. only: NULL, or the value of `table` in rows that count. */
static pcol_status check_keys(struct pci_sums_file *f, const char *table, const char *only,
                              uint64_t bit, pcol_error *err)
{
    const struct pci_column *key, *of = NULL;
    uint64_t rows = pci_rows(f->file, table);
    PCI_TRY(pci_find_verified_column(f->file, table, "key", PCI_TYPES_TEXT, &key, err));
    if (only)
        PCI_TRY(pci_find_verified_column(f->file, table, "table", PCI_TYPES_TEXT, &of, err));
    for (uint64_t row = 0; key && row < rows; row++) {
        pcol_str text;
        int valid;
        if (of) {
            PCI_TRY(pci_get_str(f->file, of, row, &text, &valid, err));
            if (!pci_str_is(text, only))
                continue;
        }
        PCI_TRY(pci_get_str(f->file, key, row, &text, &valid, err));
        if (valid && !pci_sums_keeps(f->sums, text))
            f->sums->lost |= bit;
    }
    return PCOL_OK;
}

pcol_status pci_sums_find_losses(struct pci_sums_file *f, pcol_error *err)
{
    const struct pci_column *uri;
    PCI_TRY(check_columns(f, err));
    PCI_TRY(check_keys(f, "source_meta", NULL, BIT(META), err));
    PCI_TRY(check_keys(f, "label_keys", "samples", BIT(LABELS), err));
    PCI_TRY(pci_find_verified_column(f->file, "sources", "uri", PCI_TYPES_TEXT, &uri, err));
    int has = 0;
    if (uri && !f->sums->only_losses) /* these may have a key "source_uri" */
        PCI_TRY(has_content(f->file, uri, &has, err));
    f->sums->lost |= has ? BIT(SOURCES) : 0;
    return PCOL_OK;
}

void pci_sums_report_losses(const pcol_sums *sums)
{
    uint64_t lost = sums->lost;
    if (lost & BIT(RECORDED))
        lost &= ~BIT(TIME_NS); /* the same time as a number: one loss */
    for (unsigned kind = 0; kind < PCI_KIND_COUNT; kind++)
        if (lost >> kind & 1)
            pci_notice(PCOL_NOTICE_LOSS, kind_texts[kind], "", "sums do not have %s",
                       kind_texts[kind]);
    if (sums->gauges_lost)
        pci_notice(PCOL_NOTICE_LOSS, "gauges", "",
                   "sums do not have gauges: they are never added up");
}

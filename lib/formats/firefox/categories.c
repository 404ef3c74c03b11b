/*
 * categories.c - the categories of a profile that is written for the Firefox Profiler
 */
#include "formats/firefox/write_native.h"

#include "util/alloc.h"
#include "util/strbuf.h"

static pcol_status category_text(const struct pci_ff_categories *f, uint32_t row,
                                 const char *column, pcol_str *text, pcol_error *err)
{
    const struct pci_column *source;
    int valid;
    *text = (pcol_str){"", 0};
    PCI_TRY(pci_want(f->file, "categories", column, PCI_TYPES_TEXT, &source, err));
    return source ? pci_get_str(f->file, source, row, text, &valid, err) : PCOL_OK;
}

/* The code of a string + 1; 0 where it is null or not there. */
static pcol_status text_key(const pcol_file *file, const char *table, const char *name,
                            uint64_t row, uint64_t *key, pcol_error *err)
{
    const struct pci_column *column;
    int64_t value;
    int valid;
    PCI_TRY(pci_want(file, table, name, PCI_TYPES_TEXT, &column, err));
    PCI_TRY(pci_ff_get(file, column, row, &value, &valid, err));
    *key = valid ? (uint64_t)value + 1 : 0;
    return PCOL_OK;
}

/* Counting sort of subcategories by category; each gets its number in the list of the target's
 * category, which has the names of all rows that became it, each once. */
static pcol_status find_parts(struct pci_ff_categories *f, struct pci_ff_code_tables *code,
                              const struct pci_column *of, uint32_t *numbers, pcol_error *err)
{
    uint64_t rows = pci_rows(f->file, "subcategories"), key;
    uint32_t *first = code->part_first;
    int64_t category;
    int valid, again;
    for (uint64_t row = 0; row < rows; row++) {
        PCI_TRY(pci_ff_get(f->file, of, row, &category, &valid, err));
        first[valid ? category + 2 : 0]++;
    }
    first[0] = 0;
    for (uint64_t i = 2; i <= pci_rows(f->file, "categories") + 1; i++)
        first[i] += first[i - 1];
    for (uint64_t row = 0; row < rows; row++) {
        PCI_TRY(pci_ff_get(f->file, of, row, &category, &valid, err));
        if (!valid)
            continue;
        uint32_t target = code->category_of[category];
        PCI_TRY(text_key(f->file, "subcategories", "name", row, &key, err));
        PCI_TRY(pci_pair_set_add(&f->parts, target, key, &again, err));
        uint32_t pair = pci_pair_set_find(&f->parts, target, key);
        if (!again)
            numbers[f->parts.count - 1 + f->count] = numbers[target]++;
        code->part_of[first[category + 1]++] = numbers[pair + f->count];
    }
    return PCOL_OK;
}

/* Of all sources: each name and color once. */
static pcol_status find_rows(struct pci_ff_categories *f, struct pci_ff_code_tables *code,
                             int *grey, pcol_error *err)
{
    uint64_t rows = pci_rows(code->file, "categories"), name, color;
    pcol_str text;
    int again;
    for (uint32_t row = 0; row < rows; row++) {
        PCI_TRY(text_key(f->file, "categories", "name", row, &name, err));
        PCI_TRY(text_key(f->file, "categories", "color", row, &color, err));
        PCI_TRY(pci_pair_set_add(&f->names, name, color, &again, err));
        code->category_of[row] = pci_pair_set_find(&f->names, name, color);
        if (again)
            continue;
        if (f->count >= 1000)
            return pci_fail(err, PCOL_E_LOSS, "more than 1000 categories");
        PCI_TRY(category_text(f, row, "color", &text, err));
        if (!*grey && pci_str_is(text, "grey")) {
            *grey = 1;
            code->other = (uint32_t)f->count;
        }
        f->rows[f->count++] = row;
    }
    return PCOL_OK;
}

pcol_status pci_ff_find_categories(struct pci_ff_categories *categories,
                                   struct pci_ff_code_tables *code, pcol_error *err)
{
    struct pci_ff_categories *f = categories;
    const struct pci_column *of;
    uint64_t rows = pci_rows(code->file, "categories"), parts;
    uint32_t *numbers;
    int grey = 0;
    f->file = code->file;
    PCI_TRY(pci_want(f->file, "subcategories", "category", PCI_TYPES_ROW, &of, err));
    parts = of ? pci_rows(f->file, "subcategories") : 0;
    f->rows = pci_malloc((size_t)rows + 1, sizeof *f->rows);
    code->part_first = pci_calloc((size_t)rows + 2, sizeof *code->part_first);
    if (!f->rows || !code->part_first)
        return pci_fail_memory(err);
    PCI_TRY(find_rows(f, code, &grey, err));
    numbers = pci_calloc((size_t)parts + f->count + 1, sizeof *numbers);
    if (!numbers)
        return pci_fail_memory(err);
    pcol_status status = parts ? find_parts(f, code, of, numbers, err) : PCOL_OK;
    pci_free(numbers);
    if (!grey) { /* one must be grey */
        code->other = (uint32_t)f->count;
        f->rows[f->count++] = PCOL_NONE;
    }
    return status;
}

void pci_ff_categories_close(struct pci_ff_categories *categories)
{
    pci_free(categories->rows);
    pci_pair_set_clear(&categories->names);
    pci_pair_set_clear(&categories->parts);
}

static pcol_status put_subcategories(const struct pci_ff_categories *f, struct pci_ff_emitter *out,
                                     size_t category, pcol_error *err)
{
    int any = 0;
    for (size_t i = 0; i < f->parts.count; i++) {
        pcol_str text = {"", 0};
        if (f->parts.pairs[i].first != category)
            continue;
        if (f->parts.pairs[i].second)
            PCI_TRY(pci_string(f->file, f->parts.pairs[i].second - 1, &text, err));
        pci_json_put_string(&out->w, text, err);
        any = 1;
    }
    if (!any)
        pci_json_put_string(&out->w, (pcol_str){"Other", 5}, err);
    return out->w.status;
}

pcol_status pci_ff_put_categories(const struct pci_ff_categories *categories,
                                  struct pci_ff_emitter *out, pcol_error *err)
{
    const struct pci_ff_categories *f = categories;
    struct pci_json_writer *w = &out->w;
    pci_json_put_key(w, "categories", err);
    pci_json_put_begin(w, '[', err);
    for (size_t i = 0; i < f->count; i++) {
        pcol_str name = {"Other", 5}, color = {"grey", 4};
        uint32_t row = f->rows[i];
        if (row != PCOL_NONE) {
            PCI_TRY(category_text(f, row, "name", &name, err));
            PCI_TRY(category_text(f, row, "color", &color, err));
        }
        pci_json_put_begin(w, '{', err);
        pci_json_put_key(w, "name", err);
        pci_json_put_string(w, name, err);
        pci_json_put_key(w, "color", err);
        pci_json_put_string(w, color, err);
        pci_json_put_key(w, "subcategories", err);
        pci_json_put_begin(w, '[', err);
        if (row == PCOL_NONE)
            pci_json_put_string(w, (pcol_str){"Other", 5}, err);
        else
            PCI_TRY(put_subcategories(f, out, row, err));
        pci_json_put_end(w, ']', err);
        pci_json_put_end(w, '}', err);
    }
    pci_json_put_end(w, ']', err);
    return w->status;
}

/*
 * categories.c - merges the categories of the exported sources for a generic Firefox profile
 *
 * A category is identified by its name and color, a subcategory by its category and name.
 */
#include "formats/firefox/write_native.h"
#include "formats/json_members.h"

#include "util/alloc.h"
#include "util/strbuf.h"

static pcol_status get_category_text(const struct pci_ff_categories *f, uint32_t row,
                                     const char *column, pcol_str *text, pcol_error *err)
{
    int valid;
    *text = (pcol_str){"", 0};
    return pci_get_named_str(f->file, "categories", column, row, text, &valid, err);
}

/* Number of the string + 1; 0 if it is null or the column is missing. */
static pcol_status get_text_key(const pcol_file *file, const char *table, const char *name,
                                uint64_t row, uint64_t *key, pcol_error *err)
{
    int64_t value;
    int valid;
    PCI_TRY(pci_get_named(file, table, name, PCI_TYPES_TEXT, row, &value, &valid, err));
    *key = valid ? (uint64_t)value + 1 : 0;
    return PCOL_OK;
}

/* Counting sort of subcategories by category. Each gets a number in the list of the target's
 * category, which contains the names of all categories merged into it, each once. */
static pcol_status number_subcategories(struct pci_ff_categories *f,
                                        struct pci_ff_code_tables *code,
                                        const struct pci_column *category_column, uint32_t *numbers,
                                        pcol_error *err)
{
    uint64_t rows = pci_rows(f->file, "subcategories"), key;
    uint32_t *first = code->part_first;
    int64_t category;
    int valid, is_known;
    for (uint64_t row = 0; row < rows; row++) {
        PCI_TRY(pci_get(f->file, category_column, row, &category, &valid, err));
        first[valid ? category + 2 : 0]++;
    }
    first[0] = 0;
    for (uint64_t i = 2; i <= pci_rows(f->file, "categories") + 1; i++)
        first[i] += first[i - 1];
    for (uint64_t row = 0; row < rows; row++) {
        PCI_TRY(pci_get(f->file, category_column, row, &category, &valid, err));
        if (!valid)
            continue;
        uint32_t target = code->category_of[category], pair;
        if (target == PCOL_NONE) {
            code->part_of[first[category + 1]++] = 0;
            continue;
        }
        PCI_TRY(get_text_key(f->file, "subcategories", "name", row, &key, err));
        PCI_TRY(pci_pair_set_index(&f->parts, target, key, &pair, &is_known, err));
        if (!is_known)
            numbers[f->parts.count - 1 + f->count] = numbers[target]++;
        code->part_of[first[category + 1]++] = numbers[pair + f->count];
    }
    return PCOL_OK;
}

/* Merge the categories of the exported sources; those of others get the number PCOL_NONE. */
static pcol_status merge_categories(struct pci_ff_categories *f, const struct pci_export *export,
                                    struct pci_ff_code_tables *code, int *grey, pcol_error *err)
{
    uint64_t rows = pci_rows(code->file, "categories"), name, color;
    pcol_str text;
    int is_known, valid;
    for (uint32_t row = 0; row < rows; row++) {
        int64_t source;
        PCI_TRY(pci_get_named(f->file, "categories", "source", PCI_TYPES_ROW, row, &source, &valid,
                              err));
        if (valid && (source < export->first_source || source > export->last_source)) {
            code->category_of[row] = PCOL_NONE;
            continue;
        }
        PCI_TRY(get_text_key(f->file, "categories", "name", row, &name, err));
        PCI_TRY(get_text_key(f->file, "categories", "color", row, &color, err));
        PCI_TRY(
            pci_pair_set_index(&f->names, name, color, &code->category_of[row], &is_known, err));
        if (is_known)
            continue;
        if (f->count >= 1000)
            return pci_fail(err, PCOL_E_LOSS, "more than 1000 categories");
        PCI_TRY(get_category_text(f, row, "color", &text, err));
        if (!*grey && pci_str_is(text, "grey")) {
            *grey = 1;
            code->other = (uint32_t)f->count;
        }
        f->rows[f->count++] = row;
    }
    return PCOL_OK;
}

pcol_status pci_ff_find_categories(struct pci_ff_categories *categories,
                                   const struct pci_export *export, struct pci_ff_code_tables *code,
                                   pcol_error *err)
{
    struct pci_ff_categories *f = categories;
    const struct pci_column *category_column;
    uint64_t rows = pci_rows(code->file, "categories"), subcategory_rows;
    uint32_t *numbers;
    int grey = 0;
    f->file = code->file;
    PCI_TRY(pci_find_column(f->file, "subcategories", "category", PCI_TYPES_ROW, &category_column,
                            err));
    subcategory_rows = category_column ? pci_rows(f->file, "subcategories") : 0;
    PCI_TRY(PCI_MALLOC(f->rows, (size_t)rows + 1, err));
    PCI_TRY(PCI_CALLOC(code->part_first, (size_t)rows + 2, err));
    PCI_TRY(merge_categories(f, export, code, &grey, err));
    PCI_TRY(PCI_CALLOC(numbers, (size_t)subcategory_rows + f->count + 1, err));
    pcol_status status =
        subcategory_rows ? number_subcategories(f, code, category_column, numbers, err) : PCOL_OK;
    pci_free(numbers);
    if (!grey) { /* the front end requires a grey category */
        code->other = (uint32_t)f->count;
        f->rows[f->count++] = PCOL_NONE;
    }
    for (uint64_t row = 0; row < rows; row++)
        if (code->category_of[row] == PCOL_NONE)
            code->category_of[row] = code->other;
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
    pci_json_put_begin_member(w, "categories", '[', err);
    for (size_t i = 0; i < f->count; i++) {
        pcol_str name = {"Other", 5}, color = {"grey", 4};
        uint32_t row = f->rows[i];
        if (row != PCOL_NONE) {
            PCI_TRY(get_category_text(f, row, "name", &name, err));
            PCI_TRY(get_category_text(f, row, "color", &color, err));
        }
        pci_json_put_begin(w, '{', err);
        pci_json_put_string_member(w, "name", name, err);
        pci_json_put_string_member(w, "color", color, err);
        pci_json_put_begin_member(w, "subcategories", '[', err);
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

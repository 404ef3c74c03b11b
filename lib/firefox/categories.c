/*
 * categories.c - the categories of a profile that is written for the Firefox Profiler
 */
#include "firefox/write.h"

#include "core/alloc.h"

static pcol_status category_text(const struct pci_ff_categories *f, uint32_t row,
                                 const char *column, pcol_str *text, pcol_error *err)
{
    const struct pci_column *source;
    int valid;
    *text = (pcol_str){"", 0};
    PCI_TRY(pci_want(f->file, "categories", column, PCI_TYPES_TEXT, &source, err));
    return source ? pci_get_str(f->file, source, row, text, &valid, err) : PCOL_OK;
}

/* Those of all sources, each name and color once; one must be grey. */
pcol_status pci_ff_find_categories(struct pci_ff_categories *categories, struct pci_ff_code *code,
                                   pcol_error *err)
{
    struct pci_ff_categories *f = categories;
    uint64_t rows = pci_rows(code->file, "categories");
    int grey = 0;
    f->file = code->file;
    f->rows = pci_malloc((size_t)rows + 1, sizeof *f->rows);
    if (!f->rows)
        return pci_fail_memory(err);
    for (uint32_t row = 0; row < rows; row++) {
        pcol_str name, color, other_name, other_color;
        size_t k = 0;
        PCI_TRY(category_text(f, row, "name", &name, err));
        PCI_TRY(category_text(f, row, "color", &color, err));
        for (; k < f->count; k++) {
            PCI_TRY(category_text(f, f->rows[k], "name", &other_name, err));
            PCI_TRY(category_text(f, f->rows[k], "color", &other_color, err));
            if (name.size == other_name.size && !memcmp(name.data, other_name.data, name.size) &&
                color.size == other_color.size && !memcmp(color.data, other_color.data, color.size))
                break;
        }
        code->category_of[row] = (uint32_t)k;
        if (k < f->count)
            continue;
        if (k >= 1000)
            return pci_fail(err, PCOL_E_LOSS, "more than 1000 categories");
        if (!grey && pci_ff_same(color, "grey")) {
            grey = 1;
            code->other = (uint32_t)k;
        }
        f->rows[f->count++] = row;
    }
    if (!grey) {
        code->other = (uint32_t)f->count;
        f->rows[f->count++] = PCOL_NONE;
    }
    return PCOL_OK;
}

static pcol_status put_subcategories(const struct pci_ff_categories *f, struct pci_ff_out *out,
                                     uint32_t category, pcol_error *err)
{
    const struct pci_column *of, *name;
    uint64_t rows = pci_rows(f->file, "subcategories"), count = 0;
    PCI_TRY(pci_want(f->file, "subcategories", "category", PCI_TYPES_ROW, &of, err));
    PCI_TRY(pci_want(f->file, "subcategories", "name", PCI_TYPES_TEXT, &name, err));
    for (uint64_t row = 0; row < rows; row++) {
        int64_t value;
        int valid;
        pcol_str text = {"", 0};
        PCI_TRY(pci_ff_get(f->file, of, row, &value, &valid, err));
        if (!valid || (uint64_t)value != category)
            continue;
        if (name)
            PCI_TRY(pci_get_str(f->file, name, row, &text, &valid, err));
        pci_json_put_string(&out->w, text, err);
        count++;
    }
    if (!count)
        pci_json_put_string(&out->w, (pcol_str){"Other", 5}, err);
    return out->w.status;
}

pcol_status pci_ff_put_categories(const struct pci_ff_categories *categories,
                                  struct pci_ff_out *out, pcol_error *err)
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

/*
 * meta.c - reads the member `meta`: stored as nodes; values that tables need are extracted
 *
 * The text of the object is parsed twice: once for version, units, times and categories, and once
 * for nodes.
 */
#include "formats/firefox/read.h"

#include "model/json_tree.h"
#include "util/alloc.h"

/* Builder tables and columns for categories. */
struct category_tables {
    uint32_t table, name, color, source, sub, sub_name, sub_category;
};

static pcol_status open_category_tables(struct pci_ff *ff, struct category_tables *t,
                                        pcol_error *err)
{
    PCI_TRY(pcol_builder_table(ff->b, "categories", &t->table, err));
    PCI_TRY(pci_builder_column(ff->b, t->table, "source", PCOL_U32, PCI_T_SOURCES + 1, &t->source,
                               err));
    PCI_TRY(pci_builder_column(ff->b, t->table, "name", PCOL_STRING, 0, &t->name, err));
    PCI_TRY(pci_builder_column(ff->b, t->table, "color", PCOL_STRING, 0, &t->color, err));
    PCI_TRY(pcol_builder_table(ff->b, "subcategories", &t->sub, err));
    PCI_TRY(pci_builder_column(ff->b, t->sub, "category", PCOL_U32, t->table + 1, &t->sub_category,
                               err));
    PCI_TRY(pci_builder_column(ff->b, t->sub, "name", PCOL_STRING, 0, &t->sub_name, err));
    ff->category_base = pci_builder_rows(ff->b, t->table);
    return PCOL_OK;
}

static pcol_status read_category(struct pci_ff *ff, struct pci_ff_stream *in,
                                 struct category_tables *t, uint64_t row, pcol_error *err)
{
    size_t number = (size_t)ff->category_count;
    int more;
    PCI_TRY(PCI_GROW(ff->subcategories, ff->subcategory_capacity, number + 1, err));
    ff->subcategories[number] = 0;
    if (in->type != PCI_JSON_OBJECT)
        return pci_ff_skip(in, err);
    for (;;) {
        PCI_TRY(pci_ff_member(in, &more, err));
        if (!more)
            return PCOL_OK;
        int name = pci_ff_text_is(in, "name"), color = pci_ff_text_is(in, "color");
        int sub = pci_ff_text_is(in, "subcategories");
        PCI_TRY(pci_ff_next(in, err));
        uint32_t column = name ? t->name : t->color;
        if ((name || color) && in->type == PCI_JSON_STRING && ff->b->columns[column]->rows <= row) {
            PCI_TRY(pcol_builder_set_str(ff->b, column, row, in->json->text.data,
                                         in->json->text.size, err));
        } else if (sub && in->type == PCI_JSON_ARRAY) {
            for (;;) {
                PCI_TRY(pci_ff_element(in, &more, err));
                if (!more)
                    break;
                uint64_t at = pci_builder_rows(ff->b, t->sub);
                ff->subcategories[number]++;
                PCI_TRY(pcol_builder_set_i64(ff->b, t->sub_category, at, (int64_t)row, err));
                if (in->type == PCI_JSON_STRING)
                    PCI_TRY(pcol_builder_set_str(ff->b, t->sub_name, at, in->json->text.data,
                                                 in->json->text.size, err));
                PCI_TRY(pci_ff_skip(in, err));
            }
        } else {
            PCI_TRY(pci_ff_skip(in, err));
        }
    }
}

static pcol_status read_categories(struct pci_ff *ff, struct pci_ff_stream *in, pcol_error *err)
{
    struct category_tables t;
    int more;
    if (in->type != PCI_JSON_ARRAY || ff->category_count)
        return pci_ff_skip(in, err);
    PCI_TRY(open_category_tables(ff, &t, err));
    for (;;) {
        PCI_TRY(pci_ff_element(in, &more, err));
        if (!more)
            return PCOL_OK;
        uint64_t row = ff->category_base + ff->category_count;
        if (row >= PCOL_NONE - 1)
            return pci_fail(err, PCOL_E_LIMIT, "more than 4294967294 categories");
        /* The source is added after the document was read, and will be row source_count. */
        PCI_TRY(pcol_builder_set_i64(ff->b, t.source, row, ff->b->source_count, err));
        PCI_TRY(read_category(ff, in, &t, row, err));
        ff->category_count++;
    }
}

static pcol_status read_units(struct pci_ff *ff, struct pci_ff_stream *in, pcol_error *err)
{
    int more;
    if (in->type != PCI_JSON_OBJECT)
        return pci_ff_skip(in, err);
    for (;;) {
        PCI_TRY(pci_ff_member(in, &more, err));
        if (!more)
            return PCOL_OK;
        int cpu = pci_ff_text_is(in, "threadCPUDelta");
        PCI_TRY(pci_ff_next(in, err));
        if (cpu && in->type == PCI_JSON_STRING)
            ff->cpu_unit = pci_ff_text_is(in, "ns")                    ? PCI_FF_CPU_NS
                           : pci_ff_text_is(in, "variable CPU cycles") ? PCI_FF_CPU_CYCLES
                                                                       : PCI_FF_CPU_US;
        PCI_TRY(pci_ff_skip(in, err));
    }
}

static pcol_status read_version(struct pci_ff *ff, const struct pci_ff_stream *in,
                                const struct pci_ff_position *position, pcol_error *err)
{
    if (in->type != PCI_JSON_INT || in->json->integer < 0)
        return pci_ff_fail_at(position, err,
                              "meta.preprocessedProfileVersion is not a version number");
    if (in->json->integer > PCI_FF_NEWEST) {
        pci_ff_fail_at(position, err,
                       "meta.preprocessedProfileVersion is %lld; versions up to %d are supported",
                       (long long)in->json->integer, PCI_FF_NEWEST);
        if (err)
            err->status = PCOL_E_UNSUPPORTED;
        return PCOL_E_UNSUPPORTED;
    }
    ff->has_version = 1;
    ff->version = in->json->integer;
    return PCOL_OK;
}

static int get_number(const struct pci_ff_stream *in, double *value)
{
    int is = in->type == PCI_JSON_INT || in->type == PCI_JSON_DOUBLE;
    if (is)
        *value = in->json->number;
    return is;
}

static pcol_status extract_values(struct pci_ff *ff, struct pci_ff_stream *in,
                                  const struct pci_ff_position *position, pcol_error *err)
{
    double begin = 0, end = 0;
    int more, has_begin = 0, has_end = 0;
    PCI_TRY(pci_ff_next(in, err));
    for (;;) {
        PCI_TRY(pci_ff_member(in, &more, err));
        if (!more)
            break;
        enum { VERSION, INTERVAL, START, BEGIN, END, UNITS, CATEGORIES, NONE } k = VERSION;
        static const char *const names[NONE] = {
            "preprocessedProfileVersion", "interval",    "startTime", "profilingStartTime",
            "profilingEndTime",           "sampleUnits", "categories"};
        while (k < NONE && !pci_ff_text_is(in, names[k]))
            k++;
        PCI_TRY(pci_ff_next(in, err));
        if (k == VERSION)
            PCI_TRY(read_version(ff, in, position, err));
        else if (k == INTERVAL)
            ff->has_interval = get_number(in, &ff->interval_ms);
        else if (k == START)
            ff->has_start = get_number(in, &ff->start_ms);
        else if (k == BEGIN)
            has_begin = get_number(in, &begin);
        else if (k == END)
            has_end = get_number(in, &end);
        if (k == UNITS)
            PCI_TRY(read_units(ff, in, err));
        else if (k == CATEGORIES)
            PCI_TRY(read_categories(ff, in, err));
        else
            PCI_TRY(pci_ff_skip(in, err));
    }
    if (has_begin && has_end && end >= begin)
        ff->duration_ms = end - begin;
    return PCOL_OK;
}

static pcol_status add_nodes(struct pci_ff *ff, uint32_t key, pcol_error *err)
{
    struct pci_ff_stream in;
    uint64_t node;
    PCI_TRY(pci_ff_stream_memory(&in, ff->text.data, ff->text.size, err));
    pcol_status status = pci_ff_next(&in, err);
    PCI_THEN(status, pci_json_to_nodes(in.json, ff->b, ff->root, key, &node, err));
    pci_ff_stream_close(&in);
    return status;
}

pcol_status pci_ff_read_meta(struct pci_ff *ff, pcol_error *err)
{
    struct pci_ff_stream in;
    struct pci_ff_position position = pci_ff_get_position(&ff->in);
    uint32_t key;
    PCI_TRY(pci_ff_require_type(&ff->in, PCI_JSON_OBJECT, "meta", err));
    PCI_TRY(pcol_builder_string(ff->b, "meta", 4, &key, err));
    ff->has_meta = 1;
    ff->text.size = 0;
    PCI_TRY(pci_ff_capture(&ff->in, &ff->text, err));
    PCI_TRY(pci_ff_stream_memory(&in, ff->text.data, ff->text.size, err));
    pcol_status status = extract_values(ff, &in, &position, err);
    pci_ff_stream_close(&in);
    PCI_TRY(status);
    return add_nodes(ff, key, err);
}

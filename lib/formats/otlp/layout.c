/*
 * layout.c - the layout of samples, which the wire does not name
 *
 *     field                  1.8, 1.9            1.10 and later
 *     stack_index            1 varint            1 varint
 *     values                 2 packed varints    4 packed varints
 *     attribute_indices      3 packed varints    2 packed varints
 *     link_index             4 varint            3 varint
 *     timestamps_unix_nano   5 packed fixed64    5 packed fixed64
 *
 * All samples of an input have one layout. Fields 3 and 4 decide it by their wire types; field 2
 * alone, without timestamps, can only be values. Otherwise, field 2 is values if there is one for
 * each timestamp, and one of them is no index of an attribute: a guess, with a warning.
 */
#include "formats/otlp/otlp.h"

struct evidence {
    const uint8_t *old_at, *new_at; /* the first sample that only this layout explains */
    uint64_t unclear, like_values;  /* samples without evidence; those whose field 2 is a guess */
    uint64_t beyond;                /* of these: a number that is no index of an attribute */
};

static pcol_status check_sample(struct pci_otlp *r, struct pci_otlp_span sample, struct evidence *e,
                                pcol_error *err)
{
    const uint8_t *at = sample.data;
    struct pci_otlp_field field;
    int is_old = 0, is_new = 0;
    r->values.count = r->times.count = 0;
    while (sample.size) {
        PCI_TRY(pci_otlp_next(r, &sample, &field, err));
        if (field.number == 2)
            PCI_TRY(pci_otlp_collect(r, &field, PCI_OTLP_VARINT, &r->values, err));
        if (field.number == 5)
            PCI_TRY(pci_otlp_collect(r, &field, PCI_OTLP_FIXED64, &r->times, err));
        is_new |= field.number == 4 && field.type == PCI_OTLP_BYTES;
        is_old |= field.number == 3 && field.type == PCI_OTLP_BYTES;
        is_old |= field.number == 4 && field.type == PCI_OTLP_VARINT;
    }
    is_old |= r->values.count && !r->times.count && !is_new;
    if (is_old && !e->old_at)
        e->old_at = at;
    if (is_new && !e->new_at)
        e->new_at = at;
    if (is_old || is_new || !r->values.count)
        return PCOL_OK;
    e->unclear++;
    if (r->values.count != r->times.count)
        return PCOL_OK;
    e->like_values++;
    for (size_t i = 0; i < r->values.count; i++)
        if (r->values.values[i] >= r->tables[PCI_OTLP_ATTRIBUTES].count) {
            e->beyond++;
            break;
        }
    return PCOL_OK;
}

/* Check the samples of a message, which are below resource_profiles, scope_profiles, profiles. */
static pcol_status check_message(struct pci_otlp *r, struct pci_otlp_span message,
                                 struct evidence *e, pcol_error *err)
{
    static const uint64_t path[] = {1, 2, 2, 2};
    struct pci_otlp_span levels[4] = {message};
    struct pci_otlp_field field;
    for (int depth = 0; depth >= 0;) {
        if (!levels[depth].size) {
            depth--;
            continue;
        }
        PCI_TRY(pci_otlp_next(r, &levels[depth], &field, err));
        if (field.number != path[depth])
            continue;
        PCI_TRY(pci_otlp_expect(r, &field, PCI_OTLP_BYTES, err));
        if (depth == 3)
            PCI_TRY(check_sample(r, field.bytes, e, err));
        else
            levels[++depth] = field.bytes;
    }
    return PCOL_OK;
}

pcol_status pci_otlp_find_layout(struct pci_otlp *r, pcol_error *err)
{
    struct evidence e = {0};
    r->has_old_samples = 0;
    if (r->is_json) /* it has names */
        return PCOL_OK;
    for (size_t i = 0; i < r->message_count; i++) {
        PCI_TRY(pci_otlp_scan_tables(r, r->messages[i], err));
        PCI_TRY(check_message(r, r->messages[i], &e, err));
    }
    if (e.old_at && e.new_at)
        return pci_otlp_fail(r, e.old_at > e.new_at ? e.old_at : e.new_at, err,
                             "this sample and earlier ones have the layouts of OTLP 1.9 and 1.10");
    r->has_old_samples = e.old_at || (!e.new_at && e.like_values == e.unclear && e.beyond);
    if (!e.old_at && !e.new_at && e.unclear && !r->is_export)
        pci_import_message("the version of OTLP is ambiguous: samples read as those of %s",
                           r->has_old_samples ? "1.8 and 1.9" : "1.10 and later");
    return PCOL_OK;
}

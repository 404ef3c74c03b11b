/*
 * pprof_encode.c - encoding as profile.proto
 *
 * The order is that of pprof's own writer: types, samples, mappings, locations, functions, header,
 * strings. Strings are numbered by appearance, without removal of duplicates, which readers accept.
 */
#include "formats/gperftools/profile.h"

#include "format/transform.h"
#include "util/strbuf.h"

#include <string.h>

/* field numbers of profile.proto */
enum {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLE,
    PROFILE_MAPPING,
    PROFILE_LOCATION,
    PROFILE_FUNCTION,
    PROFILE_STRING_TABLE,
    PROFILE_DROP_FRAMES,
    PROFILE_KEEP_FRAMES,
    PROFILE_DURATION_NANOS = 10,
    PROFILE_PERIOD_TYPE,
    PROFILE_PERIOD,
    TYPE_TYPE = 1,
    TYPE_UNIT,
    SAMPLE_LOCATION_ID = 1,
    SAMPLE_VALUE,
    SAMPLE_LABEL,
    LABEL_KEY = 1,
    LABEL_NUM = 3,
    MAPPING_ID = 1,
    MAPPING_START,
    MAPPING_LIMIT,
    MAPPING_OFFSET,
    MAPPING_FILENAME,
    MAPPING_BUILD_ID,
    LOCATION_ID = 1,
    LOCATION_MAPPING_ID,
    LOCATION_ADDRESS,
    LOCATION_LINE,
    LINE_FUNCTION_ID = 1,
    LINE_LINE,
    FUNCTION_ID = 1,
    FUNCTION_NAME,
    FUNCTION_SYSTEM_NAME,
    FUNCTION_FILENAME
};

#define VARINT_BYTES 10u

struct encoder {
    const struct pci_gp_profile *profile;
    struct pci_strbuf out, message, inner, strings;
    uint64_t string_count;
    pcol_error *err;
};

static pcol_status put_varint(struct encoder *e, struct pci_strbuf *b, uint64_t n)
{
    uint8_t bytes[VARINT_BYTES];
    return pci_strbuf_append(b, bytes, pcf_varint_put(bytes, n), e->err);
}

/* Write a varint field; 0 is the value of an absent field. */
static pcol_status put_number(struct encoder *e, struct pci_strbuf *b, unsigned field, uint64_t n)
{
    if (!n)
        return PCOL_OK;
    PCI_TRY(put_varint(e, b, field << 3));
    return put_varint(e, b, n);
}

static pcol_status put_bytes(struct encoder *e, struct pci_strbuf *b, unsigned field,
                             const void *data, size_t size)
{
    PCI_TRY(put_varint(e, b, field << 3 | 2));
    PCI_TRY(put_varint(e, b, size));
    return pci_strbuf_append(b, data, size, e->err);
}

/* Append a submessage to `b` and clear it. */
static pcol_status close_message(struct encoder *e, struct pci_strbuf *b, unsigned field,
                                 struct pci_strbuf *message)
{
    PCI_TRY(put_bytes(e, b, field, message->data, message->size));
    message->size = 0;
    return PCOL_OK;
}

/* Write the index of a string, which is appended to the string table. "" is string 0. */
static pcol_status put_string(struct encoder *e, struct pci_strbuf *b, unsigned field,
                              const void *put_text, size_t size)
{
    if (!size)
        return PCOL_OK;
    PCI_TRY(put_bytes(e, &e->strings, PROFILE_STRING_TABLE, put_text, size));
    return put_number(e, b, field, ++e->string_count);
}

static pcol_status put_text(struct encoder *e, struct pci_strbuf *b, unsigned field,
                            const struct pci_gp_text *t)
{
    return put_string(e, b, field, t->size ? e->profile->texts + t->at : (const uint8_t *)"",
                      t->size);
}

static pcol_status put_type(struct encoder *e, unsigned field, const struct pci_gp_type *t)
{
    PCI_TRY(put_string(e, &e->message, TYPE_TYPE, t->type, strlen(t->type)));
    PCI_TRY(put_string(e, &e->message, TYPE_UNIT, t->unit, strlen(t->unit)));
    return close_message(e, &e->out, field, &e->message);
}

static pcol_status put_samples(struct encoder *e)
{
    static const char bytes_key[] = "bytes";
    const struct pci_gp_profile *p = e->profile;
    const int64_t *values = p->values;
    uint64_t key = 0;
    if (p->has_bytes && p->sample_count) {
        PCI_TRY(put_bytes(e, &e->strings, PROFILE_STRING_TABLE, bytes_key, strlen(bytes_key)));
        key = ++e->string_count;
    }
    for (size_t s = 0; s < p->sample_count; s++) {
        const struct pci_gp_sample *sample = &p->samples[s];
        for (size_t i = sample->first; i < sample->end; i++)
            PCI_TRY(put_varint(e, &e->inner, p->locations[p->stack[i]].id));
        if (e->inner.size)
            PCI_TRY(close_message(e, &e->message, SAMPLE_LOCATION_ID, &e->inner));
        for (unsigned t = 0; t < p->type_count; t++)
            PCI_TRY(put_varint(e, &e->inner, (uint64_t)*values++));
        PCI_TRY(close_message(e, &e->message, SAMPLE_VALUE, &e->inner));
        if (p->has_bytes) {
            PCI_TRY(put_number(e, &e->inner, LABEL_KEY, key));
            PCI_TRY(put_number(e, &e->inner, LABEL_NUM, (uint64_t)*values++));
            PCI_TRY(close_message(e, &e->message, SAMPLE_LABEL, &e->inner));
        }
        PCI_TRY(close_message(e, &e->out, PROFILE_SAMPLE, &e->message));
    }
    return PCOL_OK;
}

static pcol_status put_mappings(struct encoder *e)
{
    const struct pci_gp_profile *p = e->profile;
    for (size_t i = 0; i < p->mapping_count; i++) {
        const struct pci_gp_mapping *m = &p->mappings[i];
        PCI_TRY(put_number(e, &e->message, MAPPING_ID, i + 1));
        PCI_TRY(put_number(e, &e->message, MAPPING_START, m->start));
        PCI_TRY(put_number(e, &e->message, MAPPING_LIMIT, m->limit));
        PCI_TRY(put_number(e, &e->message, MAPPING_OFFSET, m->offset));
        PCI_TRY(put_text(e, &e->message, MAPPING_FILENAME, &m->file));
        PCI_TRY(put_text(e, &e->message, MAPPING_BUILD_ID, &m->build_id));
        PCI_TRY(close_message(e, &e->out, PROFILE_MAPPING, &e->message));
    }
    return PCOL_OK;
}

static pcol_status put_locations(struct encoder *e)
{
    const struct pci_gp_profile *p = e->profile;
    for (size_t i = 0; i < p->order_count; i++) {
        const struct pci_gp_location *l = &p->locations[p->order[i]];
        PCI_TRY(put_number(e, &e->message, LOCATION_ID, l->id));
        PCI_TRY(put_number(e, &e->message, LOCATION_MAPPING_ID, l->mapping));
        /* Addresses of a Java profile are arbitrary ids. */
        PCI_TRY(put_number(e, &e->message, LOCATION_ADDRESS, p->hide_addresses ? 0 : l->address));
        if (l->function) {
            PCI_TRY(put_number(e, &e->inner, LINE_FUNCTION_ID, l->function));
            PCI_TRY(put_number(e, &e->inner, LINE_LINE, (uint64_t)l->line));
            PCI_TRY(close_message(e, &e->message, LOCATION_LINE, &e->inner));
        }
        PCI_TRY(close_message(e, &e->out, PROFILE_LOCATION, &e->message));
    }
    return PCOL_OK;
}

static pcol_status put_functions(struct encoder *e)
{
    const struct pci_gp_profile *p = e->profile;
    for (size_t i = 0; i < p->function_count; i++) {
        const struct pci_gp_add_function *f = &p->functions[i];
        PCI_TRY(put_number(e, &e->message, FUNCTION_ID, i + 1));
        PCI_TRY(put_text(e, &e->message, FUNCTION_NAME, &f->name));
        PCI_TRY(put_text(e, &e->message, FUNCTION_SYSTEM_NAME, &f->name));
        PCI_TRY(put_text(e, &e->message, FUNCTION_FILENAME, &f->file));
        PCI_TRY(close_message(e, &e->out, PROFILE_FUNCTION, &e->message));
    }
    return PCOL_OK;
}

static pcol_status encode(struct encoder *e)
{
    const struct pci_gp_profile *p = e->profile;
    PCI_TRY(put_bytes(e, &e->strings, PROFILE_STRING_TABLE, NULL, 0));
    for (unsigned i = 0; i < p->type_count; i++)
        PCI_TRY(put_type(e, PROFILE_SAMPLE_TYPE, &p->types[i]));
    PCI_TRY(put_samples(e));
    PCI_TRY(put_mappings(e));
    PCI_TRY(put_locations(e));
    PCI_TRY(put_functions(e));
    PCI_TRY(
        put_string(e, &e->message, PROFILE_DROP_FRAMES, p->drop_frames, strlen(p->drop_frames)));
    PCI_TRY(
        put_string(e, &e->message, PROFILE_KEEP_FRAMES, p->keep_frames, strlen(p->keep_frames)));
    PCI_TRY(pci_strbuf_append(&e->out, e->message.data, e->message.size, e->err));
    e->message.size = 0;
    PCI_TRY(put_number(e, &e->out, PROFILE_DURATION_NANOS, (uint64_t)p->duration_ns));
    PCI_TRY(put_type(e, PROFILE_PERIOD_TYPE, &p->period_type));
    PCI_TRY(put_number(e, &e->out, PROFILE_PERIOD, (uint64_t)p->period));
    return pci_strbuf_append(&e->out, e->strings.data, e->strings.size, e->err);
}

pcol_status pci_gp_encode(const struct pci_gp_profile *profile, uint8_t **data, size_t *size,
                          pcol_error *err)
{
    struct encoder e = {.profile = profile, .err = err};
    pcol_status status = encode(&e);
    pci_strbuf_clear(&e.message);
    pci_strbuf_clear(&e.inner);
    pci_strbuf_clear(&e.strings);
    if (status != PCOL_OK)
        pci_strbuf_clear(&e.out);
    *data = (uint8_t *)e.out.data;
    *size = e.out.size;
    return status;
}

/*
 * form.c - recognition of OpenTelemetry profiles, and their division into messages
 *
 * A protobuf input is one message, or a series of messages, each after its size in four bytes, most
 * significant first (the file exporter of the collector).
 */
#include "formats/otlp/otlp.h"

#include "util/alloc.h"

#define SIZE_BYTES 4u

/* ---- recognition */

/* Remove the key and the size of a field of type BYTES with one of two numbers; 0: another field.
 * *size: of the field, which may exceed the window. */
static int open_field(const uint8_t **at, const uint8_t *end, unsigned a, unsigned b,
                      uint64_t *size)
{
    const uint8_t *p = *at;
    *size = 0;
    if (p >= end || (*p != (a << 3 | 2) && *p != (b << 3 | 2)))
        return 0;
    p++;
    for (unsigned shift = 0; shift < 35; shift += 7) {
        if (p >= end)
            return 0;
        *size |= (uint64_t)(*p & 127) << shift;
        if (*p++ < 128) {
            *at = p;
            return 1;
        }
    }
    return 0;
}

/* Whether data begins like a message of `limit` bytes: resource_profiles that begin with a resource
 * or scope_profiles. The first field of profile.proto is a message of numbers. */
static int begins_message(const uint8_t *data, size_t size, uint64_t limit)
{
    const uint8_t *p = data, *end = data + size;
    uint64_t outer, inner, attribute;
    if (!open_field(&p, end, 1, 1, &outer) || outer > limit - (uint64_t)(p - data))
        return 0;
    uint64_t left = outer + (uint64_t)(p - data);
    int is_resource = p < end && *p == (1 << 3 | 2);
    if (!open_field(&p, end, 1, 2, &inner) || inner + (uint64_t)(p - data) > left)
        return 0;
    if (!inner)
        return 1;
    if (!is_resource) /* a scope or profiles */
        return open_field(&p, end, 1, 2, &attribute) && attribute < inner;
    return open_field(&p, end, 1, 3, &attribute) ? attribute < inner : p < end && *p == (2 << 3);
}

static uint64_t read_size(const uint8_t *data)
{
    return (uint64_t)data[0] << 24 | (uint64_t)data[1] << 16 | (uint64_t)data[2] << 8 | data[3];
}

int pci_otlp_sniff(const uint8_t *data, size_t size, int all)
{
    static const char *const profiles[] = {"\"resourceProfiles\"", NULL};
    static const char *const tables[] = {"\"dictionary\"", "Table\"", NULL};
    if (pci_document_begins(data, size, 0, profiles) || pci_document_begins(data, size, 0, tables))
        return 2;
    if (begins_message(data, size, all ? size : UINT64_MAX))
        return 2;
    if (size < SIZE_BYTES + 1)
        return 0;
    uint64_t message = read_size(data);
    size_t window = size - SIZE_BYTES < message ? size - SIZE_BYTES : (size_t)message;
    return (!all || message <= size - SIZE_BYTES) &&
                   begins_message(data + SIZE_BYTES, window, message)
               ? 2
               : 0;
}

/* ---- messages */

static pcol_status add_message(struct pci_otlp *r, const uint8_t *data, size_t size,
                               pcol_error *err)
{
    PCI_TRY(PCI_GROW(r->messages, r->message_capacity, r->message_count + 1, err));
    r->messages[r->message_count++] = (struct pci_otlp_span){data, size};
    return PCOL_OK;
}

/* Whether the input is a series of messages after their sizes: a size begins with 0 unless the
 * message has 16 MiB, and no message begins with 0. */
static int has_sizes(const struct pci_otlp *r)
{
    const uint8_t *data = r->input.data;
    size_t left = r->input.size;
    if (left && !data[0])
        return 1;
    while (left >= SIZE_BYTES && read_size(data) <= left - SIZE_BYTES) {
        size_t size = SIZE_BYTES + (size_t)read_size(data);
        data += size;
        left -= size;
    }
    return r->input.size && !left;
}

static pcol_status split(struct pci_otlp *r, pcol_error *err)
{
    const uint8_t *data = r->input.data;
    for (size_t left = r->input.size; left;) {
        if (left < SIZE_BYTES)
            return pci_otlp_fail(r, data, err, "the size of a message is truncated");
        uint64_t size = read_size(data);
        if (size > left - SIZE_BYTES)
            return pci_otlp_fail(r, data, err,
                                 "a message of %llu bytes, but only %zu follow: is the file "
                                 "truncated?",
                                 (unsigned long long)size, left - SIZE_BYTES);
        PCI_TRY(add_message(r, data + SIZE_BYTES, (size_t)size, err));
        data += SIZE_BYTES + size;
        left -= SIZE_BYTES + (size_t)size;
    }
    return PCOL_OK;
}

static int begins_json(const struct pci_otlp *r)
{
    size_t at = r->input.size >= 3 && !memcmp(r->input.data, "\xef\xbb\xbf", 3) ? 3 : 0;
    while (at < r->input.size && strchr(" \t\r\n", r->input.data[at]) && r->input.data[at])
        at++;
    /* "\n{" also begins a message of 123 bytes. */
    return at < r->input.size && r->input.data[at] == '{' &&
           !begins_message(r->input.data, r->input.size, r->input.size);
}

pcol_status pci_otlp_find_messages(struct pci_otlp *r, pcol_error *err)
{
    r->is_json = begins_json(r);
    if (r->is_json)
        return pci_otlp_read_json(r, err);
    return has_sizes(r) ? split(r, err) : add_message(r, r->input.data, r->input.size, err);
}

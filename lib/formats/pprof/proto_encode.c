/*
 * proto_encode.c - packing and framing of messages
 */
#include "formats/pprof/proto_encode.h"

#include "format/transform.h"
#include "util/alloc.h"

#include <string.h>

#define STRING_TABLE 6u
#define LONGEST_HEAD 20u

void pci_pprof_writer_init(struct pci_pprof_writer *w, pcol_sink sink)
{
    pci_out_open(&w->out, sink);
    w->strings = NULL;
    w->string_count = w->string_capacity = 0;
    w->hash = (struct pci_hash){0};
    w->copies = NULL;
    w->copy_count = w->copy_capacity = 0;
    w->copy_hash = (struct pci_hash){0};
    w->second_empty = 0;
    w->message = NULL;
    w->message_capacity = 0;
}

void pci_pprof_writer_clear(struct pci_pprof_writer *w)
{
    for (size_t i = 0; i < w->copy_count; i++)
        pci_free(w->copies[i]);
    pci_free(w->copies);
    pci_free(w->strings);
    pci_hash_clear(&w->hash);
    pci_hash_clear(&w->copy_hash);
    pci_free(w->message);
}

/* ---- strings ---- */

static pcol_status add_string(struct pci_pprof_writer *w, pcol_str string, int64_t *index,
                              pcol_error *err)
{
    size_t count = w->string_count ? w->string_count : 1; /* strings[0] is always "" */
    PCI_TRY(PCI_GROW(w->strings, w->string_capacity, count + 1, err));
    if (!w->string_count)
        w->strings[0] = (pcol_str){"", 0};
    w->strings[count] = string;
    w->string_count = count + 1;
    *index = (int64_t)count;
    return PCOL_OK;
}

pcol_status pci_pprof_index(struct pci_pprof_writer *w, pcol_str string, int64_t *index,
                            pcol_error *err)
{
    *index = 0;
    if (!string.size)
        return PCOL_OK;
    uint64_t hash = pci_hash_pair((uint64_t)(uintptr_t)string.data, string.size);
    size_t at = pci_hash_start(&w->hash, hash);
    uint32_t id;
    while ((id = pci_hash_next(&w->hash, hash, &at)) != PCI_HASH_NONE)
        if (w->strings[id].data == string.data && w->strings[id].size == string.size) {
            *index = id;
            return PCOL_OK;
        }
    PCI_TRY(add_string(w, string, index, err));
    return pci_hash_add(&w->hash, hash, (uint32_t)*index, err);
}

pcol_status pci_pprof_index_set(struct pci_pprof_writer *w, pcol_str string, int64_t *index,
                                pcol_error *err)
{
    if (string.size)
        return pci_pprof_index(w, string, index, err);
    if (!w->second_empty)
        PCI_TRY(add_string(w, (pcol_str){"", 0}, &w->second_empty, err));
    *index = w->second_empty;
    return PCOL_OK;
}

pcol_status pci_pprof_index_text(struct pci_pprof_writer *w, const char *text, size_t size,
                                 int64_t *index, pcol_error *err)
{
    uint64_t hash = pci_hash_bytes(text, size);
    size_t at = pci_hash_start(&w->copy_hash, hash);
    uint32_t id;
    *index = 0;
    if (!size)
        return PCOL_OK;
    while ((id = pci_hash_next(&w->copy_hash, hash, &at)) != PCI_HASH_NONE)
        if (w->strings[id].size == size && !memcmp(w->strings[id].data, text, size)) {
            *index = id;
            return PCOL_OK;
        }
    PCI_TRY(PCI_GROW(w->copies, w->copy_capacity, w->copy_count + 1, err));
    char *copy;
    PCI_TRY(PCI_MALLOC(copy, size, err));
    memcpy(copy, text, size);
    w->copies[w->copy_count++] = copy;
    PCI_TRY(add_string(w, (pcol_str){copy, size}, index, err));
    return pci_hash_add(&w->copy_hash, hash, (uint32_t)*index, err);
}

/* ---- messages ---- */

/* Encode key and length of a field of bytes. */
static size_t put_head(uint8_t *to, unsigned number, size_t size)
{
    size_t n = pcf_varint_put(to, (uint64_t)number << 3 | 2);
    return n + pcf_varint_put(to + n, size);
}

pcol_status pci_pprof_put(struct pci_pprof_writer *w, unsigned number,
                          const ProtobufCMessage *message, const void *rest, size_t size,
                          pcol_error *err)
{
    size_t packed = protobuf_c_message_get_packed_size(message);
    PCI_TRY(PCI_GROW(w->message, w->message_capacity, packed + LONGEST_HEAD, err));
    size_t head = put_head(w->message, number, packed + size);
    PCI_TRY(pci_out(&w->out, w->message, head, err));
    protobuf_c_message_pack(message, w->message);
    PCI_TRY(pci_out(&w->out, w->message, packed, err));
    return pci_out(&w->out, rest, size, err);
}

pcol_status pci_pprof_append(struct pci_strbuf *to, unsigned number,
                             const ProtobufCMessage *message, const struct pci_strbuf *rest,
                             pcol_error *err)
{
    size_t packed = protobuf_c_message_get_packed_size(message);
    PCI_TRY(PCI_GROW(to->data, to->capacity, to->size + packed + LONGEST_HEAD, err));
    uint8_t *data = (uint8_t *)to->data + to->size;
    size_t head = put_head(data, number, packed + rest->size);
    to->size += head + protobuf_c_message_pack(message, data + head);
    return rest->size ? pci_strbuf_append(to, rest->data, rest->size, err) : PCOL_OK;
}

pcol_status pci_pprof_put_end(struct pci_pprof_writer *w, const PciPprof__Profile *header,
                              const void *rest, size_t size, pcol_error *err)
{
    uint8_t head[LONGEST_HEAD];
    size_t count = w->string_count ? w->string_count : 1;
    for (size_t i = 0; i < count; i++) {
        pcol_str s = i ? w->strings[i] : (pcol_str){"", 0};
        PCI_TRY(pci_out(&w->out, head, put_head(head, STRING_TABLE, s.size), err));
        PCI_TRY(pci_out(&w->out, s.data, s.size, err));
    }
    size_t packed = protobuf_c_message_get_packed_size(&header->base);
    PCI_TRY(PCI_GROW(w->message, w->message_capacity, packed + 1, err));
    protobuf_c_message_pack(&header->base, w->message);
    PCI_TRY(pci_out(&w->out, w->message, packed, err));
    PCI_TRY(pci_out(&w->out, rest, size, err));
    return pci_out_flush(&w->out, err);
}

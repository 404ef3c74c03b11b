/*
 * proto_encode.h - output of the messages of a profile
 *
 * protobuf-c packs the messages of a profile one by one, each written at once. The string table is
 * collected meanwhile and written after them. A string gets its index at its first use.
 */
#ifndef PCI_PPROF_PROTO_ENCODE_H
#define PCI_PPROF_PROTO_ENCODE_H

#include "pprof/profile.pb-c.h"
#include "stream/out_buffer.h"
#include "util/hash.h"
#include "util/strbuf.h"

struct pci_pprof_writer {
    struct pci_out out;
    pcol_str *strings; /* the table, borrowed except for `copies`; strings[0] is "" */
    size_t string_count, string_capacity;
    struct pci_hash hash; /* by address: equal strings of a file have one address */
    char **copies;        /* owned texts, distinct */
    size_t copy_count, copy_capacity;
    struct pci_hash copy_hash;
    int64_t second_empty; /* index of a second "", since index 0 means absent; 0: none yet */
    uint8_t *message;     /* buffer for packing */
    size_t message_capacity;
};

void pci_pprof_writer_init(struct pci_pprof_writer *w, pcol_sink sink);
void pci_pprof_writer_clear(struct pci_pprof_writer *w);

/* Index of a string whose address stays valid until the end. */
pcol_status pci_pprof_index(struct pci_pprof_writer *w, pcol_str string, int64_t *index,
                            pcol_error *err);
/* The same; "" gets an index other than 0, which means absent. */
pcol_status pci_pprof_index_set(struct pci_pprof_writer *w, pcol_str string, int64_t *index,
                                pcol_error *err);
/* The same for a text, which is copied. */
pcol_status pci_pprof_index_text(struct pci_pprof_writer *w, const char *text, size_t size,
                                 int64_t *index, pcol_error *err);

/* Write field `number` of the profile: the message followed by `size` bytes of further fields. */
pcol_status pci_pprof_put(struct pci_pprof_writer *w, unsigned number,
                          const ProtobufCMessage *message, const void *rest, size_t size,
                          pcol_error *err);
/* The same, appended to a buffer, as field `number` of another message. */
pcol_status pci_pprof_append(struct pci_strbuf *to, unsigned number,
                             const ProtobufCMessage *message, const struct pci_strbuf *rest,
                             pcol_error *err);
/* Write the string table, the fields of `header`, whose only repeated field is `comment`, and
 * further fields; flush. */
pcol_status pci_pprof_put_end(struct pci_pprof_writer *w, const PciPprof__Profile *header,
                              const void *rest, size_t size, pcol_error *err);

#endif

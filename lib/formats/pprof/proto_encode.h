/*
 * proto_encode.h - messages of a profile on their way out
 *
 * The parts of a profile are packed one by one by protobuf-c and go out at once; the string table
 * grows meanwhile and comes behind them. A string gets its index when it is first named.
 */
#ifndef PCI_PPROF_PROTO_ENCODE_H
#define PCI_PPROF_PROTO_ENCODE_H

#include "pprof/profile.pb-c.h"
#include "stream/out_buffer.h"
#include "util/hash.h"

struct pci_pprof_writer {
    struct pci_out out;
    pcol_str *strings; /* the table, borrowed but for `made`; strings[0] is "" */
    size_t string_count, string_capacity;
    struct pci_hash hash; /* of their addresses: the strings of a file lie once in it */
    char **made;          /* texts of our own, each once */
    size_t made_count, made_capacity;
    struct pci_hash made_hash;
    int64_t second_empty; /* index of a "" that is not 0; 0: none yet */
    uint8_t *message;     /* room for packing */
    size_t message_capacity;
};

void pci_pprof_writer_init(struct pci_pprof_writer *w, pcol_sink sink);
void pci_pprof_writer_clear(struct pci_pprof_writer *w);

/* Index of a string that stays where it is until the end. */
pcol_status pci_pprof_index(struct pci_pprof_writer *w, pcol_str string, int64_t *index,
                            pcol_error *err);
/* The same for an empty one that must not be index 0, which stands for none. */
pcol_status pci_pprof_index_set(struct pci_pprof_writer *w, pcol_str string, int64_t *index,
                                pcol_error *err);
/* The same for a text that is copied. */
pcol_status pci_pprof_index_text(struct pci_pprof_writer *w, const char *text, size_t size,
                                 int64_t *index, pcol_error *err);

/* Field `number` of the profile: the message, and behind it `size` bytes of further fields. */
pcol_status pci_pprof_put(struct pci_pprof_writer *w, unsigned number,
                          const ProtobufCMessage *message, const void *rest, size_t size,
                          pcol_error *err);
struct pci_pprof_bytes {
    uint8_t *data;
    size_t size, capacity;
};
/* The same, as field `number` of another message, appended to bytes in memory. */
pcol_status pci_pprof_append(struct pci_pprof_bytes *bytes, unsigned number,
                             const ProtobufCMessage *message, const void *rest, size_t size,
                             pcol_error *err);
/* The string table, the fields of `header`, which has no repeated ones but comments, and further
 * fields of the profile. */
pcol_status pci_pprof_put_end(struct pci_pprof_writer *w, const PciPprof__Profile *header,
                              const void *rest, size_t size, pcol_error *err);

#endif

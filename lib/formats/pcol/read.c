/*
 * read.c - recognition and import of pcol files, by merging them into the builder
 */
#include "formats/pcol/pcol.h"

#include "format/layout.h"
#include "merge/merge.h"
#include "stream/input_open.h"
#include "util/alloc.h"

#include <inttypes.h>
#include <string.h>

int pci_pcol_sniff(const uint8_t *data, size_t size, int all)
{
    (void)all;
    /* Five bytes of the magic suffice: the reader reports further errors. */
    return size >= 5 && !memcmp(data, PCF_MAGIC, 5) ? 2 : 0;
}

pcol_status pci_pcol_read(struct pci_import *import, pcol_error *err)
{
    struct pci_input *input = import->input;
    pcol_file *file = NULL;
    pcol_open_options options = PCOL_INIT(pcol_open_options);
    void *all = NULL;
    size_t size;
    pcol_status status;
    options.flags = import->options->open_flags;
    if (pci_input_is_file(input)) {
        pci_input_grant(input);
        status = pci_file_open(input->name, &options, import->schemas, &file, err);
    } else if (pci_input_memory(input, &size)) {
        status = pci_file_open_memory(input->data, size, &options, import->schemas, &file, err);
    } else {
        status = pci_input_rest(input, &all, &size, err);
        PCI_THEN(status, pci_file_open_memory(all, size, &options, import->schemas, &file, err));
    }
    uint64_t limit = import->options->max_input_bytes;
    if (status == PCOL_OK && limit && pcol_file_size(file) > limit)
        status = pci_fail(err, PCOL_E_LIMIT, "input is larger than the limit of %" PRIu64 " bytes",
                          limit);
    PCI_THEN(status,
             pci_merge_file(import->builder, file, import->options, 0, UINT64_MAX - 1, err));
    PCI_THEN(status, pcol_file_intact(file, err));
    pcol_file_close(file);
    pci_free(all);
    return status;
}

/*
 * import.c - formats that are read by way of another
 *
 * The profiles that came before profile.proto mean what pprof makes of them. So their room turns an
 * input into profile.proto and the room of pprof reads that; neither knows the other.
 */
#include "stream/input_open.h"

#include "util/alloc.h"

pcol_status pci_gperftools_read(struct pci_import *import, pcol_error *err)
{
    struct pci_input input;
    struct pci_import inner = *import;
    uint8_t *data;
    size_t size;
    PCI_TRY(pci_gperftools_translate(import, &data, &size, err));
    pcol_status status = pci_input_open_memory(&input, data, size, import->input->name, NULL, err);
    if (status == PCOL_OK) {
        inner.input = &input;
        status = pci_pprof_read(&inner, err);
        import->source = inner.source;
        pci_input_close(&input);
    }
    pci_free(data);
    return status;
}

/*
 * emitter.h - writes Firefox profiles as JSON or as JSLB
 *
 * Both formats contain the same document. In JSLB, columns of numbers that are typed arrays in the
 * target version become slabs, referred to by {"$s": N}; the document itself is the last slab.
 */
#ifndef PCI_FIREFOX_EMITTER_H
#define PCI_FIREFOX_EMITTER_H

#include "formats/firefox/cell_buffer.h"
#include "formats/firefox/stream.h"
#include "formats/format.h"
#include "reader/file.h"
#include "util/spill_buffer.h"

struct pci_ff_slab_out {
    uint64_t offset, size; /* in `data` */
    uint8_t type;
};

struct pci_ff_emitter {
    const pcol_file *file;
    struct pci_json_writer w;
    int jslb;
    struct pci_spill_store store;
    struct pci_spill root, data;
    struct pci_ff_slab_out *slabs;
    size_t slab_count, slab_capacity;
    pcol_sink sink;
};

pcol_status pci_ff_emit_open(struct pci_ff_emitter *out, const pcol_file *file, pcol_sink sink,
                             int jslb, pcol_error *err);
/* Write the remaining bytes; for JSLB that is the whole file. */
pcol_status pci_ff_emit_finish(struct pci_ff_emitter *out, pcol_error *err);
void pci_ff_emit_close(struct pci_ff_emitter *out);

/* Write a member whose value is a column of cells. table and column determine the slab type. */
pcol_status pci_ff_emit_column(struct pci_ff_emitter *out, const char *table, pcol_str column,
                               const struct pci_ff_cells *cells, pcol_error *err);
/* Write one cell as a value. */
pcol_status pci_ff_emit_cell(struct pci_ff_emitter *out, int kind, int64_t value, pcol_error *err);

#endif

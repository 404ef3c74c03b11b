/*
 * frame_rows.h - the rows of locations, functions and mappings that frames represent
 */
#ifndef PCI_QUERY_FRAME_ROWS_H
#define PCI_QUERY_FRAME_ROWS_H

#include "query/query.h"

/* PCOL_NONE: none, or several. */
struct pci_frame_rows {
    uint32_t location, function, mapping;
};

/* Reads the rows of each frame; rows: frames->count. By function only `function` is set. */
pcol_status pci_frame_rows_read(const pcol_query *query, pcol_by by,
                                const struct pci_frames *frames, struct pci_frame_rows *rows,
                                pcol_error *err);
/* Sets functions whose name another function has, too, to PCOL_NONE. functions: rows of functions,
 * or PCOL_NONE; `stride` bytes apart. */
pcol_status pci_frame_rows_unique(const pcol_file *file, void *functions, size_t stride,
                                  size_t count, pcol_error *err);

#endif

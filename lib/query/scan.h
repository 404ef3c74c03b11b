/*
 * scan.h - scans for other parts of the library
 */
#ifndef PCI_QUERY_SCAN_H
#define PCI_QUERY_SCAN_H

#include "pcol.h"

/* As pcol_scan_new() with `options` of the library's own size. nanoseconds: times that the table
 * shows in milliseconds are read as stored: pcol_cells.i64. */
pcol_status pci_scan_new(const pcol_table *table, const pcol_scan_options *options, int nanoseconds,
                         pcol_scan **scan, pcol_error *err);

#endif

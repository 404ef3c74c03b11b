/*
 * file_tables.h - names, columns and tables of a file that is being opened (file.c), in this order
 */
#ifndef PCI_READER_FILE_TABLES_H
#define PCI_READER_FILE_TABLES_H

#include "reader/file.h"

/* Allocates NUL-terminated copies of all names: file->memory. */
pcol_status pci_file_new_names(pcol_file *file, pcol_error *err);
void pci_file_fill_columns(pcol_file *file);
pcol_status pci_file_fill_tables(pcol_file *file, pcol_error *err);

#endif

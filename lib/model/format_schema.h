/*
 * format_schema.h - properties of the sources of an outside format
 *
 * A format declares its schema in its own directory. The registry passes the list of all schemas to
 * each file that is opened, so that no component below the formats names one.
 */
#ifndef PCI_MODEL_FORMAT_SCHEMA_H
#define PCI_MODEL_FORMAT_SCHEMA_H

#include "reader/file.h"

struct pci_format_schema {
    const char *source_type; /* the text of sources.type */
    /* Tables of a source whose order its exporter needs, each with the table of the file that has
     * its rows: "function", "functions", ..., NULL. When sources are merged, the order of a source
     * that was alone in its file is written to source_rows. NULL: none. */
    const char *const *ordered_tables;
    unsigned last_type_is_default : 1; /* of a source without default_sample_type */
    unsigned renames_functions : 1;    /* data model v1 names functions as R does */
    unsigned row_is_sample : 1;        /* a row is one sample, whatever its values say */
};

/* The schema of a source type; NULL if it has none. */
const struct pci_format_schema *pci_format_schema(const pcol_file *file, pcol_str source_type);

#endif

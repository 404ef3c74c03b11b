/*
 * format_schema.c - the schema of a source type
 */
#include "model/format_schema.h"

#include <string.h>

const struct pci_format_schema *pci_format_schema(const pcol_file *file, pcol_str source_type)
{
    for (const struct pci_format_schema *const *at = file->schemas; at && *at; at++)
        if (strlen((*at)->source_type) == source_type.size &&
            !memcmp((*at)->source_type, source_type.data, source_type.size))
            return *at;
    return NULL;
}

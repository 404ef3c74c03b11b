/*
 * format_schema.c - lookup of the schema of a source type
 */
#include "model/format_schema.h"

#include <string.h>

const struct pci_format_schema *pci_format_schema(const pcol_file *file, pcol_str source_type)
{
    for (const struct pci_format_schema *const *schema = file->schemas; schema && *schema; schema++)
        if (strlen((*schema)->source_type) == source_type.size &&
            !memcmp((*schema)->source_type, source_type.data, source_type.size))
            return *schema;
    return NULL;
}

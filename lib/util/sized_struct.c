/*
 * sized_struct.c - reading and writing of public structs of any version
 */
#include "util/sized_struct.h"

#include <string.h>

#define LARGEST_STRUCT 4096u /* a greater size was not set by PCOL_INIT */

static pcol_status read_size(const void *given, const char *type, size_t *size, pcol_error *err)
{
    memcpy(size, given, sizeof *size);
    return *size >= sizeof *size && *size <= LARGEST_STRUCT
               ? PCOL_OK
               : pci_fail(err, PCOL_E_ARGUMENT, "size of the %s is not set", type);
}

pcol_status pci_struct_read(void *own, size_t own_size, const void *given, const char *type,
                            pcol_error *err)
{
    size_t size;
    memset(own, 0, own_size);
    memcpy(own, &own_size, sizeof own_size);
    if (!given)
        return PCOL_OK;
    PCI_TRY(read_size(given, type, &size, err));
    for (size_t i = own_size; i < size; i++)
        if (((const unsigned char *)given)[i])
            return pci_fail(err, PCOL_E_ARGUMENT,
                            "byte %zu of the %s is set: it needs a newer library", i, type);
    memcpy((char *)own + sizeof size, (const char *)given + sizeof size,
           (size < own_size ? size : own_size) - sizeof size);
    return PCOL_OK;
}

pcol_status pci_struct_write(void *given, const void *own, size_t own_size, const char *type,
                             pcol_error *err)
{
    size_t size;
    PCI_TRY(read_size(given, type, &size, err));
    memset((char *)given + sizeof size, 0, size - sizeof size);
    memcpy((char *)given + sizeof size, (const char *)own + sizeof size,
           (size < own_size ? size : own_size) - sizeof size);
    return PCOL_OK;
}

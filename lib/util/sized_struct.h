/*
 * sized_struct.h - public structs that grow: the first member is their size
 *
 * A caller may have been compiled with an earlier or a later pcol.h. Members that its struct lacks
 * are 0; bytes beyond the library's struct must be 0, since the library cannot do what they ask
 * for. Tests: tests/unit/test_sized_structs.c.
 */
#ifndef PCI_UTIL_SIZED_STRUCT_H
#define PCI_UTIL_SIZED_STRUCT_H

#include "util/error.h"

/* Copies the caller's struct `given`, NULL for the defaults, to `own`, and sets the size of `own`.
 * E_ARGUMENT, which names the type, if the size is not set or bytes beyond `own_size` are not 0. */
pcol_status pci_struct_read(void *own, size_t own_size, const void *given, const char *type,
                            pcol_error *err);

/* As pci_struct_read(), without a copy if the sizes agree: *given then stays what it is, else it
 * becomes `own`. For calls that are made once per row. */
static inline pcol_status pci_struct_view(const void **given, void *own, size_t own_size,
                                          const char *type, pcol_error *err)
{
    const size_t *size = *given;
    if (*size == own_size)
        return PCOL_OK;
    PCI_TRY(pci_struct_read(own, own_size, *given, type, err));
    *given = own;
    return PCOL_OK;
}

/* PCI_STRUCT_READ(pcol_x_options, own, given, err): the pcol_x_options `own` from the pointer
 * `given`. */
#define PCI_STRUCT_READ(type, own, given, err) \
    PCI_TRY(pci_struct_read(&(own), sizeof(type), given, #type, err))

/* PCI_STRUCT_VIEW(pcol_x, pointer, err): makes `pointer` lead to a whole struct. */
#define PCI_STRUCT_VIEW(type, pointer, err)                                                 \
    type pointer##_copy;                                                                    \
    do {                                                                                    \
        const void *given_struct = (pointer);                                               \
        PCI_TRY(pci_struct_view(&given_struct, &pointer##_copy, sizeof(type), #type, err)); \
        (pointer) = given_struct;                                                           \
    } while (0)

/* Copies the library's struct to the caller's, as far as both have members; the caller's size
 * stays. E_ARGUMENT if it is not set. */
pcol_status pci_struct_write(void *given, const void *own, size_t own_size, const char *type,
                             pcol_error *err);

#endif

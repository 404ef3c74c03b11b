/*
 * arg_check.h - checks of the arguments of public functions; internal callers are trusted
 */
#ifndef PCI_UTIL_ARG_CHECK_H
#define PCI_UTIL_ARG_CHECK_H

#include "util/error.h"

#include <string.h>

/* Return E_ARGUMENT from the calling function if a parameter is NULL; the message names it. */
#define PCI_REQUIRE(parameter, err)                                           \
    do {                                                                      \
        if (!(parameter))                                                     \
            return pci_fail(err, PCOL_E_ARGUMENT, "no " #parameter " given"); \
    } while (0)

/* NULL check of an array of `count` items, which may be NULL if it is empty. */
#define PCI_REQUIRE_MANY(parameter, count, err) \
    do {                                        \
        if (count)                              \
            PCI_REQUIRE(parameter, err);        \
    } while (0)

/* Sets or clears one flag of the public structs. */
static inline void pci_set_flag(uint32_t *flags, uint32_t flag, int on)
{
    *flags = on ? *flags | flag : *flags & ~flag;
}

#endif

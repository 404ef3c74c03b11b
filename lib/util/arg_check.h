/*
 * arg_check.h - what a caller has to give, and did not
 *
 * Every function of pcol.h says so instead of reading from nowhere: a program that forgot to look
 * at a status is told what it did. Inside the library nobody forgets.
 */
#ifndef PCI_UTIL_ARG_CHECK_H
#define PCI_UTIL_ARG_CHECK_H

#include "util/error.h"

#include <string.h>

/* Return E_ARGUMENT from the calling function if a parameter is NULL; the message has its name. */
#define PCI_REQUIRE(parameter, err)                                           \
    do {                                                                      \
        if (!(parameter))                                                     \
            return pci_fail(err, PCOL_E_ARGUMENT, "no " #parameter " given"); \
    } while (0)

/* The same for `count` items at `parameter`, which may be NULL if there are none. */
#define PCI_REQUIRE_MANY(parameter, count, err) \
    do {                                        \
        if (count)                              \
            PCI_REQUIRE(parameter, err);        \
    } while (0)

#endif

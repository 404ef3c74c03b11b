/*
 * message.h - one-sentence warnings and notes for the caller of a long operation
 */
#ifndef PCI_UTIL_MESSAGE_H
#define PCI_UTIL_MESSAGE_H

#include "pcol.h"

#include <stdarg.h>

/* Format one sentence, cut at 511 bytes, and pass it to `function`; NULL: no effect. */
void pci_message(pcol_message_fn function, void *context, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void pci_message_list(pcol_message_fn function, void *context, const char *format,
                      va_list arguments) __attribute__((format(printf, 3, 0)));

#endif

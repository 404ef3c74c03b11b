/*
 * message.c - formatting of one-sentence warnings and notes
 */
#include "util/message.h"

#include <stdio.h>

void pci_message_list(pcol_message_fn function, void *context, const char *format,
                      va_list arguments)
{
    char text[512];
    if (!function)
        return;
    vsnprintf(text, sizeof text, format, arguments);
    function(context, text);
}

void pci_message(pcol_message_fn function, void *context, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    pci_message_list(function, context, format, arguments);
    va_end(arguments);
}

/*
 * export.c - messages of exporters: losses and warnings
 */
#include "formats/format.h"

#include "util/message.h"

void pci_export_loss(const struct pci_export *export, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    pci_message_list(export->options->loss, export->options->context, format, arguments);
    va_end(arguments);
}

void pci_export_warning(const struct pci_export *export, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    pci_message_list(export->options->warning, export->options->context, format, arguments);
    va_end(arguments);
}

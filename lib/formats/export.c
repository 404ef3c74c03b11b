/*
 * export.c - services for exporters: type of the source, notices of losses, warnings
 */
#include "formats/format.h"
#include "model/table.h"
#include "util/control.h"
#include "util/strbuf.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

pcol_status pci_export_check_threads(const struct pci_export *export, uint64_t count,
                                     pcol_error *err)
{
    uint64_t most = pci_file_limit(export->file, UINT64_C(1) << 22, 1) / 4;
    if (count <= most)
        return PCOL_OK;
    return pci_fail(err, PCOL_E_LIMIT,
                    "more than %" PRIu64 " threads or sources are too many for this format and "
                    "the size of the file",
                    most);
}

pcol_status pci_export_is_only(const struct pci_export *export, const char *type, int *only,
                               pcol_error *err)
{
    const struct pci_column *column;
    pcol_str text;
    int valid;
    *only = 0;
    if (export->first_source != export->last_source)
        return PCOL_OK;
    PCI_TRY(pci_require_column(export->file, "sources", "type", PCI_TYPES_TEXT, &column, err));
    PCI_TRY(pci_get_str(export->file, column, export->first_source, &text, &valid, err));
    *only = pci_str_is(text, type);
    return PCOL_OK;
}

/* Copies the content that is lost: the words after the loss prefix of the format, without their
 * explanation after a colon, semicolon or parenthesis. */
static void get_subject(const char *prefix, const char *text, char *subject)
{
    size_t start = strlen(prefix), size;
    subject[0] = '\0';
    if (strncmp(text, prefix, start) || text[start] != ' ')
        return;
    size = strcspn(text + start + 1, ":;(");
    while (size && text[start + size] == ' ')
        size--;
    memcpy(subject, text + start + 1, size);
    subject[size] = '\0';
}

void pci_export_loss_option(const struct pci_export *export, const char *option, const char *format,
                            ...)
{
    char text[512], subject[sizeof text];
    va_list arguments;
    if (!pci_notices_wanted())
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    get_subject(export->capabilities->loss_prefix, text, subject);
    pci_notice(PCOL_NOTICE_LOSS, subject, option, "%s", text);
}

void pci_export_report(const struct pci_export *export, const struct pci_loss *losses, size_t count,
                       unsigned lost)
{
    for (size_t i = 0; i < count; i++)
        if (lost >> i & 1)
            pci_export_loss_option(export, losses[i].option, "%s %s",
                                   export->capabilities->loss_prefix, losses[i].text);
}

void pci_export_warning(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    pci_notice_list(PCOL_NOTICE_TARGET, "", "", format, arguments);
    va_end(arguments);
}

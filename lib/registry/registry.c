/*
 * registry.c - the ordered list of outside formats, and recognition of an input's format
 *
 * Recognition calls the sniffer of each format in order, then compares suffixes of the input's
 * name. Tests: tests/unit/test_unsupported.c, tests/cli.
 */
#include "registry/registry.h"

#include "registry/unsupported.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* One line per format: the constants pci_NAME_format and pci_NAME_schema of lib/formats. The order
 * is that of `pcol formats` and of recognition. The linker drops all importers from a program that
 * only reads pcol files, since schemas do not refer to them. */
#define FORMATS(X)  \
    X(rprof)        \
    X(rprofmem)     \
    X(jfr)          \
    X(tachyon)      \
    X(v1)           \
    X(perf)         \
    X(speedscope)   \
    X(chrome_trace) \
    X(trace_event)  \
    X(heapprofile)  \
    X(cpuprofile)   \
    X(otlp)         \
    X(pprof)        \
    X(perun)        \
    X(gperftools)   \
    X(firefox)      \
    X(jslb)         \
    X(dhat)         \
    X(pcol)         \
    X(callgrind)    \
    X(dot)          \
    X(folded)

#define DECLARE(name)                                   \
    extern const struct pci_format pci_##name##_format; \
    extern const struct pci_format_schema pci_##name##_schema;
#define ADDRESS(name) &pci_##name##_format,
#define SCHEMA(name) &pci_##name##_schema,

FORMATS(DECLARE)

static const struct pci_format *const formats[] = {FORMATS(ADDRESS)};
const struct pci_format_schema *const pci_schemas[] = {FORMATS(SCHEMA) NULL};

#define FORMAT_COUNT (sizeof formats / sizeof formats[0])

const pcol_format *pcol_format_at(size_t index)
{
    return index < FORMAT_COUNT ? &formats[index]->info : NULL;
}

const struct pci_format *pci_format_find(const char *name)
{
    for (size_t i = 0; i < FORMAT_COUNT; i++)
        if (!strcmp(formats[i]->info.name, name))
            return formats[i];
    return NULL;
}

void pci_format_names(int writable, char text[PCI_FORMAT_NAMES_SIZE])
{
    size_t used = 0, left = 0;
    text[0] = 0;
    for (size_t i = 0; i < FORMAT_COUNT; i++)
        left += (writable ? formats[i]->info.writes : formats[i]->info.reads) != 0;
    for (size_t i = 0; i < FORMAT_COUNT && used < PCI_FORMAT_NAMES_SIZE; i++) {
        if (!(writable ? formats[i]->info.writes : formats[i]->info.reads))
            continue;
        left--;
        const char *separator = left > 1 ? ", " : left ? " or " : "";
        int n = snprintf(text + used, PCI_FORMAT_NAMES_SIZE - used, "%s%s", formats[i]->info.name,
                         separator);
        used += n > 0 ? (size_t)n : PCI_FORMAT_NAMES_SIZE;
    }
}

/* Whether a name ends in one of the blank-separated suffixes, ignoring case and a final ".gz". */
static int has_suffix(const char *name, const char *suffixes)
{
    size_t size = strlen(name);
    if (size > 3 && !strcasecmp(name + size - 3, ".gz"))
        size -= 3;
    for (const char *suffix = suffixes; *suffix;) {
        size_t length = strcspn(suffix, " ");
        if (length < size && !strncasecmp(name + size - length, suffix, length))
            return 1;
        suffix += length;
        suffix += *suffix == ' ';
    }
    return 0;
}

pcol_status pci_format_detect(struct pci_input *input, const struct pci_format **format,
                              pcol_error *err)
{
    char names[PCI_FORMAT_NAMES_SIZE];
    const struct pci_format *maybe = NULL, *named = NULL;
    *format = NULL;
    /* As many bytes of a pipe as of a file, in whatever pieces they arrive. */
    while (input->size <= PCI_SNIFFED_BYTES && !input->end)
        PCI_TRY(pci_input_more(input, 0, err));
    int all = input->end && input->size <= PCI_SNIFFED_BYTES;
    size_t size = input->size < PCI_SNIFFED_BYTES ? input->size : PCI_SNIFFED_BYTES;
    const char *unsupported = pci_describe_unsupported(input->data, size, all, 1);
    for (size_t i = 0; !unsupported && i < FORMAT_COUNT; i++) {
        int sure = size && formats[i]->sniff ? formats[i]->sniff(input->data, size, all) : 0;
        if (sure > 1) {
            *format = formats[i];
            return PCOL_OK;
        }
        int suffix =
            pci_format_reads(formats[i]) && has_suffix(input->name, formats[i]->info.suffixes);
        if (sure && suffix && !maybe)
            maybe = formats[i];
        if (suffix && !named)
            named = formats[i];
    }
    if (!unsupported && !maybe)
        unsupported = pci_describe_unsupported(input->data, size, all, 0);
    if (unsupported)
        return pci_fail(err, PCOL_E_FORMAT, "this is %s", unsupported);
    *format = maybe ? maybe : named; /* its importer then reports errors of the content */
    if (*format)
        return PCOL_OK;
    if (!input->size)
        return pci_fail(err, PCOL_E_FORMAT, "input is empty");
    pci_format_names(0, names);
    return pci_error_option(
        err, "format",
        pci_fail(err, PCOL_E_FORMAT, "format not recognised: it looks like none of %s", names));
}

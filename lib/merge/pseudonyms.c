/*
 * pseudonyms.c - pseudonyms of names
 *
 * A pseudonym contains the kind of the name and its number in order of first use. File names keep
 * the extensions of programming languages, which tools depend on. Tests: tests/cli/filter.test.
 */
#include "merge/pseudonyms.h"

#include "model/frame_names.h"
#include "util/address_names.h"
#include "util/alloc.h"
#include "util/arg_check.h"
#include "util/control.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *kind, *prefix;
} kinds[PCI_NAME_COUNT] = {
    [PCI_NAME_FUNCTION] = {"function", "f"},  [PCI_NAME_FILE] = {"file", "file"},
    [PCI_NAME_MODULE] = {"module", "module"}, [PCI_NAME_BUILD] = {"build", "build"},
    [PCI_NAME_THREAD] = {"thread", "thread"}, [PCI_NAME_PROCESS] = {"process", "process"},
    [PCI_NAME_NUMBER] = {"number", ""},       [PCI_NAME_KEY] = {"key", "key"},
    [PCI_NAME_VALUE] = {"value", "value"},    [PCI_NAME_UNIT] = {"unit", "unit"},
    [PCI_NAME_SOURCE] = {"source", "source"},
};

static int is_one_of(pcol_str text, const char *const *list)
{
    for (; *list; list++)
        if (strlen(*list) == text.size && !memcmp(*list, text.data, text.size))
            return 1;
    return 0;
}

/* 1 if a name reveals nothing about a program. Addresses are kept, as in location_groups: with the
 * pseudonym of the mapping they identify a function, as with the mapping's name. */
static int is_public(int kind, pcol_str name)
{
    static const char *const units[] =
        {"bytes",       "byte",         "count",        "ns",      "us",        "ms",        "s",
         "nanoseconds", "microseconds", "milliseconds", "seconds", "kilobytes", "megabytes", NULL},
                             *const functions[] = {"<GC>", NULL};
    /* A path of slashes names no library, and neither must its copy. */
    return !name.size || (kind == PCI_NAME_MODULE && !pci_frame_base_name(name).size) ||
           (kind == PCI_NAME_UNIT && is_one_of(name, units)) ||
           (kind == PCI_NAME_FUNCTION && (is_one_of(name, functions) || pci_is_address_name(name)));
}

static const char *get_extension(int kind, pcol_str name)
{
    static const char *const endings[] = {
        ".R",    ".r",  ".c",  ".h",  ".cc", ".cpp", ".cxx", ".hpp", ".go", ".rs", ".py",
        ".java", ".js", ".ts", ".rb", ".jl", ".S",   ".s",   ".f90", ".kt", ".cs", ".Rprof"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t size = strlen(endings[i]);
        if ((kind == PCI_NAME_FILE || kind == PCI_NAME_SOURCE) && name.size > size &&
            !memcmp(name.data + name.size - size, endings[i], size))
            return endings[i];
    }
    return "";
}

static pcol_str format_pseudonym(struct pci_pseudonyms *names, int kind, pcol_str name,
                                 uint32_t code)
{
    int size = snprintf(names->text, sizeof names->text, "%s%lu%s", kinds[kind].prefix,
                        (unsigned long)code + 1, get_extension(kind, name));
    return (pcol_str){names->text, (size_t)size};
}

pcol_status pci_pseudonym(struct pci_pseudonyms *names, int kind, pcol_str name, pcol_str *to,
                          pcol_error *err)
{
    uint32_t code;
    *to = name;
    if (is_public(kind, name))
        return PCOL_OK;
    PCI_TRY(pci_string_pool_intern(&names->names[kind], name.data, name.size, &code, err));
    *to = format_pseudonym(names, kind, name, code);
    return PCOL_OK;
}

void pci_pseudonyms_report(struct pci_pseudonyms *names, pcol_pseudonym_fn report, void *context)
{
    for (int kind = 0; kind < PCI_NAME_COUNT; kind++)
        for (uint32_t code = 0; code < names->names[kind].count; code++) {
            pcol_str name = pci_string_pool_get(&names->names[kind], code);
            pcol_str pseudonym = format_pseudonym(names, kind, name, code);
            struct pci_left_scopes left = pci_leave_scopes();
            report(context, kinds[kind].kind, pseudonym, name);
            pci_enter_scopes(left);
        }
}

void pci_pseudonyms_clear(struct pci_pseudonyms *names)
{
    for (int kind = 0; kind < PCI_NAME_COUNT; kind++)
        pci_string_pool_clear(&names->names[kind]);
}

pcol_status pcol_pseudonyms_new(pcol_pseudonyms **names, pcol_error *err)
{
    PCI_REQUIRE(names, err);
    return PCI_CALLOC(*names, 1, err);
}

void pcol_pseudonyms_free(pcol_pseudonyms *names)
{
    if (!names)
        return;
    pci_pseudonyms_clear(&names->names);
    pci_free(names);
}

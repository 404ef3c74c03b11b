/*
 * frame_names.c - displayed name of a frame (frame_names.h)
 */
#include "model/frame_names.h"

#include "model/check.h"
#include "util/alloc.h"
#include "util/arg_check.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

pcol_status pci_frame_namer_open(struct pci_frame_namer *names, const pcol_file *file,
                                 pcol_error *err)
{
    struct pci_frame_namer *n = names;
    const struct pci_column_request columns[] = {
        {"locations", "function", PCI_TYPES_ROW, &n->function},
        {"locations", "line", PCI_TYPES_INT, &n->line},
        {"locations", "column", PCI_TYPES_INT, &n->column},
        {"locations", "filename", PCI_TYPES_TEXT, &n->filename},
        {"functions", "name", PCI_TYPES_TEXT, &n->name},
        {"functions", "filename", PCI_TYPES_TEXT, &n->function_file},
        {"functions", "start_line", PCI_TYPES_INT, &n->start_line},
        {"location_groups", "mapping", PCI_TYPES_ROW, &n->mapping},
        {"location_groups", "address", PCI_TYPES_INT, &n->address},
        {"mappings", "filename", PCI_TYPES_TEXT, &n->mapping_file},
    };
    memset(n, 0, sizeof *n);
    n->file = file;
    n->functions = pci_rows(file, "functions");
    n->mappings = pci_rows(file, "mappings");
    return pci_find_verified_columns(file, columns, sizeof columns / sizeof *columns, err);
}

void pci_frame_namer_close(struct pci_frame_namer *names)
{
    pci_free(names->made);
    names->made = NULL;
    names->made_capacity = 0;
}

pcol_status pci_frame_namer_mapping(struct pci_frame_namer *names, uint32_t group,
                                    pcol_str *filename, int *valid, pcol_error *err)
{
    int64_t mapping;
    *filename = (pcol_str){"", 0};
    PCI_TRY(pci_get(names->file, names->mapping, group, &mapping, valid, err));
    if (!*valid)
        return PCOL_OK;
    if ((uint64_t)mapping >= names->mappings)
        return pci_corrupt(err, "location_groups", "mapping", group,
                           "mapping %" PRId64 " does not exist", mapping);
    PCI_TRY(pci_get_str(names->file, names->mapping_file, (uint64_t)mapping, filename, valid, err));
    return pci_count_long_text(&names->long_texts, filename->size, err);
}

pcol_str pci_frame_base_name(pcol_str path)
{
    while (path.size && path.data[path.size - 1] == '/')
        path.size--;
    for (size_t i = path.size; i; i--)
        if (path.data[i - 1] == '/')
            return (pcol_str){path.data + i, path.size - i};
    return path;
}

/* Concatenates into the buffer of the last name. */
static pcol_status concatenate(struct pci_frame_namer *n, const char *before, pcol_str text,
                               const char *after, pcol_str *name, pcol_error *err)
{
    size_t head = strlen(before), tail = strlen(after);
    PCI_TRY(pci_count_long_text(&n->long_texts, text.size, err));
    PCI_TRY(PCI_GROW(n->made, n->made_capacity, head + text.size + tail + 1, err));
    memcpy(n->made, before, head);
    if (text.size)
        memcpy(n->made + head, text.data, text.size);
    memcpy(n->made + head + text.size, after, tail);
    *name = (pcol_str){n->made, head + text.size + tail};
    return PCOL_OK;
}

pcol_status pci_frame_namer_binary(struct pci_frame_namer *names, uint32_t group, pcol_str *name,
                                   pcol_error *err)
{
    int valid;
    PCI_TRY(pci_frame_namer_mapping(names, group, name, &valid, err));
    *name = pci_frame_base_name(*name);
    if (!name->size || name->data[0] == '[') /* [kernel.kallsyms], [vdso] */
        return PCOL_OK;
    return concatenate(names, "[", *name, "]", name, err);
}

/* Prepends the file name of the mapping to a name that is an address. */
static pcol_status name_address(struct pci_frame_namer *n, uint32_t group, struct pci_name *name,
                                pcol_error *err)
{
    char address[32];
    pcol_str path;
    int valid;
    PCI_TRY(pci_frame_namer_mapping(n, group, &path, &valid, err));
    path = pci_frame_base_name(path);
    if (!path.size || path.size > PCI_MAX_LIBRARY_SIZE)
        return PCOL_OK;
    snprintf(address, sizeof address, "+%.*s", (int)name->name.size, name->name.data);
    name->has_library = 1;
    return concatenate(n, "", path, address, &name->name, err);
}

/* The name of code without a named function. */
static pcol_status name_code(struct pci_frame_namer *n, uint32_t group, pcol_str *name,
                             pcol_error *err)
{
    char number[24];
    int64_t address;
    int valid;
    PCI_TRY(pci_frame_namer_binary(n, group, name, err));
    if (name->size)
        return PCOL_OK;
    PCI_TRY(pci_get(n->file, n->address, group, &address, &valid, err));
    *name = (pcol_str)PCI_NAME(PCI_NAME_UNKNOWN);
    if (!valid)
        return PCOL_OK;
    snprintf(number, sizeof number, "0x%" PRIx64, (uint64_t)address);
    return concatenate(n, number, (pcol_str){"", 0}, "", name, err);
}

pcol_status pci_frame_namer_is_code(const struct pci_frame_namer *names, uint32_t group,
                                    int *is_code, pcol_error *err)
{
    int64_t value;
    PCI_TRY(pci_get(names->file, names->mapping, group, &value, is_code, err));
    return *is_code ? PCOL_OK : pci_get(names->file, names->address, group, &value, is_code, err);
}

/* The name of a line of a file outside functions. */
static pcol_status name_place(struct pci_frame_namer *n, struct pci_name *name, pcol_error *err)
{
    char line[24] = "";
    if (name->has_line)
        snprintf(line, sizeof line, ":%" PRId64, name->line);
    return name->filename.size
               ? concatenate(n, "", name->filename, line, &name->name, err)
               : concatenate(n, PCI_NAME_TOP_LEVEL, name->filename, line, &name->name, err);
}

/* The name of function `row`, without a library. */
static pcol_status function_name(const struct pci_frame_namer *names, uint64_t row, pcol_str *name,
                                 int *valid, pcol_error *err)
{
    return pci_get_str(names->file, names->name, row, name, valid, err);
}

pcol_status pci_frame_namer_get(struct pci_frame_namer *names, uint64_t location, uint32_t group,
                                struct pci_name *name, pcol_error *err)
{
    struct pci_frame_namer *n = names;
    int64_t function;
    int has_function, has_name = 0;
    memset(name, 0, sizeof *name);
    name->function = PCOL_NONE;
    PCI_TRY(pci_get(n->file, n->line, location, &name->line, &name->has_line, err));
    PCI_TRY(pci_get(n->file, n->column, location, &name->column, &name->has_column, err));
    PCI_TRY(pci_get(n->file, n->function, location, &function, &has_function, err));
    if (has_function) {
        uint64_t row = (uint64_t)function;
        if (row >= n->functions)
            return pci_corrupt(err, "locations", "function", location,
                               "function %" PRId64 " does not exist", function);
        name->function = (uint32_t)row;
        PCI_TRY(function_name(n, row, &name->name, &has_name, err));
        PCI_TRY(
            pci_get_str(n->file, n->function_file, row, &name->filename, &name->has_filename, err));
        PCI_TRY(
            pci_get(n->file, n->start_line, row, &name->start_line, &name->has_start_line, err));
        if (name->name.size)
            return n->libraries && pci_is_address_name(name->name)
                       ? name_address(n, group, name, err)
                       : PCOL_OK;
    } else {
        PCI_TRY(
            pci_get_str(n->file, n->filename, location, &name->filename, &name->has_filename, err));
    }
    name->is_made = 1;
    int is_code = 1;
    if (!has_function && name->has_filename)
        PCI_TRY(pci_frame_namer_is_code(n, group, &is_code, err));
    name->is_place = !is_code;
    return name->is_place ? name_place(n, name, err) : name_code(n, group, &name->name, err);
}

/* ---- public functions */

struct pcol_names {
    struct pci_frame_namer names;
    struct pci_stacks stacks;
};

static pcol_status open_names(pcol_names *n, const pcol_file *file, pcol_error *err)
{
    PCI_TRY(pci_check_row_count(file, "functions", err));
    PCI_TRY(pci_stacks_open(file, &n->stacks, err));
    PCI_TRY(pci_frame_namer_open(&n->names, file, err));
    n->names.libraries = 1;
    return PCOL_OK;
}

pcol_status pcol_names_new(const pcol_file *file, pcol_names **names, pcol_error *err)
{
    PCI_REQUIRE(names, err);
    *names = NULL;
    PCI_REQUIRE(file, err);
    PCI_TRY(pci_schema_verify(file, err));
    pcol_names *n;
    PCI_TRY(PCI_CALLOC(n, 1, err));
    pcol_status status = open_names(n, file, err);
    if (status == PCOL_OK)
        *names = n;
    else
        pcol_names_free(n);
    return status;
}

pcol_status pcol_names_function(const pcol_names *names, uint64_t row, pcol_str *name, int *valid,
                                pcol_error *err)
{
    PCI_REQUIRE(name, err);
    PCI_REQUIRE(valid, err);
    *name = (pcol_str){"", 0};
    *valid = 0;
    PCI_REQUIRE(names, err);
    if (row >= names->names.functions)
        return pci_fail(err, PCOL_E_ARGUMENT, "functions has no row %" PRIu64, row);
    return function_name(&names->names, row, name, valid, err);
}

pcol_status pcol_names_location(pcol_names *names, uint64_t row, pcol_str *name, pcol_error *err)
{
    PCI_REQUIRE(name, err);
    *name = (pcol_str){"", 0};
    PCI_REQUIRE(names, err);
    struct pci_name found;
    uint64_t group;
    if (row >= names->stacks.locations)
        return pci_fail(err, PCOL_E_ARGUMENT, "locations has no row %" PRIu64, row);
    PCI_TRY(pci_stacks_group_of(&names->stacks, row, &group, err));
    PCI_TRY(pci_frame_namer_get(&names->names, row, (uint32_t)group, &found, err));
    *name = found.name;
    return PCOL_OK;
}

void pcol_names_free(pcol_names *names)
{
    if (!names)
        return;
    pci_frame_namer_close(&names->names);
    pci_free(names);
}

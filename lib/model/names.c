/*
 * names.c - what a line of a call stack is called (names.h)
 */
#include "model/names.h"

#include "core/alloc.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

pcol_status pci_names_open(struct pci_names *names, const pcol_file *file, pcol_error *err)
{
    struct pci_names *n = names;
    const struct {
        const char *table, *name;
        unsigned types;
        const struct pci_column **column;
    } columns[] = {
        {"locations", "function", PCI_TYPES_ROW, &n->function},
        {"locations", "line", PCI_TYPES_INT, &n->line},
        {"locations", "column", PCI_TYPES_INT, &n->column},
        {"locations", "filename", PCI_TYPES_TEXT, &n->filename},
        {"functions", "name", PCI_TYPES_TEXT, &n->name},
        {"functions", "filename", PCI_TYPES_TEXT, &n->function_file},
        {"functions", "start_line", PCI_TYPES_INT, &n->start_line},
        {"location_groups", "mapping", PCI_TYPES_ROW, &n->mapping},
        {"mappings", "filename", PCI_TYPES_TEXT, &n->mapping_file},
    };
    memset(n, 0, sizeof *n);
    n->file = file;
    n->functions = pci_rows(file, "functions");
    n->mappings = pci_rows(file, "mappings");
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        PCI_TRY(pci_want_whole(file, columns[i].table, columns[i].name, columns[i].types,
                               columns[i].column, err));
    return PCOL_OK;
}

pcol_status pci_names_libraries(struct pci_names *names, pcol_error *err)
{
    return pci_bare_open(names->file, names->name, &names->bare, err);
}

void pci_names_close(struct pci_names *names)
{
    pci_bare_close(&names->bare);
    pci_free(names->made);
    names->made = NULL;
    names->made_capacity = 0;
}

static pcol_status cell(const struct pci_names *n, const struct pci_column *column, uint64_t row,
                        int64_t *value, int *valid, pcol_error *err)
{
    *value = 0;
    *valid = 0;
    return column ? pci_get(n->file, column, row, value, valid, err) : PCOL_OK;
}

static pcol_status cell_str(const struct pci_names *n, const struct pci_column *column,
                            uint64_t row, pcol_str *value, int *valid, pcol_error *err)
{
    *value = (pcol_str){"", 0};
    *valid = 0;
    return column ? pci_get_str(n->file, column, row, value, valid, err) : PCOL_OK;
}

pcol_status pci_names_mapping(const struct pci_names *names, uint32_t group, pcol_str *filename,
                              int *valid, pcol_error *err)
{
    int64_t mapping;
    *filename = (pcol_str){"", 0};
    PCI_TRY(cell(names, names->mapping, group, &mapping, valid, err));
    if (!*valid)
        return PCOL_OK;
    if ((uint64_t)mapping >= names->mappings)
        return pci_fail_cell(err, PCOL_E_CORRUPT, "location_groups", "mapping", group,
                             "mapping %" PRId64 " does not exist", mapping);
    return cell_str(names, names->mapping_file, (uint64_t)mapping, filename, valid, err);
}

static pcol_str base_name(pcol_str path)
{
    while (path.size && path.data[path.size - 1] == '/')
        path.size--;
    for (size_t i = path.size; i; i--)
        if (path.data[i - 1] == '/')
            return (pcol_str){path.data + i, path.size - i};
    return path;
}

static pcol_status make_name(struct pci_names *n, uint32_t group, struct pci_name *name,
                             pcol_error *err)
{
    int has_mapping, in_file = name->has_filename && name->filename.size;
    char line[32] = "";
    pcol_str file;
    PCI_TRY(pci_names_mapping(n, group, &file, &has_mapping, err));
    file = in_file ? name->filename : base_name(file);
    name->is_made = 1;
    name->name = (pcol_str){"<unknown>", 9};
    if (!file.size)
        return PCOL_OK;
    if (pci_grow((void **)&n->made, &n->made_capacity, file.size + sizeof line, 1))
        return pci_fail_memory(err);
    if (in_file && name->has_line)
        snprintf(line, sizeof line, ":%" PRId64, name->line);
    int bare = in_file || file.data[0] == '['; /* [kernel.kallsyms], [vdso] */
    char *to = n->made;
    if (!bare)
        *to++ = '[';
    memcpy(to, file.data, file.size);
    to += file.size;
    if (!bare)
        *to++ = ']';
    memcpy(to, line, strlen(line));
    to += strlen(line);
    name->name = (pcol_str){n->made, (size_t)(to - n->made)};
    return PCOL_OK;
}

pcol_status pci_names_get(struct pci_names *names, uint64_t location, uint32_t group,
                          struct pci_name *name, pcol_error *err)
{
    struct pci_names *n = names;
    int64_t function;
    int has_function, has_name = 0;
    memset(name, 0, sizeof *name);
    name->function = PCOL_NONE;
    PCI_TRY(cell(n, n->line, location, &name->line, &name->has_line, err));
    PCI_TRY(cell(n, n->column, location, &name->column, &name->has_column, err));
    PCI_TRY(cell(n, n->function, location, &function, &has_function, err));
    if (has_function) {
        uint64_t row = (uint64_t)function;
        if (row >= n->functions)
            return pci_fail_cell(err, PCOL_E_CORRUPT, "locations", "function", location,
                                 "function %" PRIu64 " does not exist", row);
        name->function = (uint32_t)row;
        PCI_TRY(cell_str(n, n->name, row, &name->name, &has_name, err));
        name->name = pci_bare_name(&n->bare, row, name->name);
        PCI_TRY(cell_str(n, n->function_file, row, &name->filename, &name->has_filename, err));
        PCI_TRY(cell(n, n->start_line, row, &name->start_line, &name->has_start_line, err));
    } else {
        PCI_TRY(cell_str(n, n->filename, location, &name->filename, &name->has_filename, err));
    }
    return has_name ? PCOL_OK : make_name(n, group, name, err);
}

/*
 * names.h - what a line of a call stack is called
 *
 * A function's name; where there is none, what is known of the place instead: "file:line" of code
 * outside functions, "[libc.so.6]" of code without symbols, else "<unknown>".
 */
#ifndef PCI_NAMES_H
#define PCI_NAMES_H

#include "model/bare.h"
#include "model/table.h"

struct pci_names {
    const pcol_file *file;
    uint64_t functions, mappings;
    const struct pci_column *function, *line, *column, *filename; /* of locations */
    const struct pci_column *name, *function_file, *start_line;   /* of functions */
    const struct pci_column *mapping;                             /* of location_groups */
    const struct pci_column *mapping_file;
    struct pci_bare bare; /* after pci_names_libraries() */
    char *made;           /* the last name that was put together */
    size_t made_capacity;
};

struct pci_name {
    pcol_str name; /* valid until the next call */
    int is_made;   /* there is no function with a name */
    pcol_str filename;
    int has_filename, has_line, has_column, has_start_line;
    int64_t line, column, start_line;
    uint32_t function; /* PCOL_NONE: none */
};

pcol_status pci_names_open(struct pci_names *names, const pcol_file *file, pcol_error *err);
/* For targets that have no place for libraries: functions that are known by nothing but an address
 * are called with theirs, as answers have it. */
pcol_status pci_names_libraries(struct pci_names *names, pcol_error *err);
/* Row `location` of locations, which belongs to `group`. */
pcol_status pci_names_get(struct pci_names *names, uint64_t location, uint32_t group,
                          struct pci_name *name, pcol_error *err);
/* File of the group's mapping; *valid is 0 if it has none. */
pcol_status pci_names_mapping(const struct pci_names *names, uint32_t group, pcol_str *filename,
                              int *valid, pcol_error *err);
void pci_names_close(struct pci_names *names);

#endif

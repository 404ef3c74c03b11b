/*
 * frame_names.h - displayed name of a frame, the same in tables, answers and exports
 *
 * The function's name, or "libc.so.6+0x9a03e" if that is an address; else "FILE:LINE" or "<top
 * level>:LINE" for a line of a file outside functions (R), which has neither a mapping nor an
 * address; else "[libc.so.6]", the base name of the mapping (not bracketed twice); else the
 * address, "0x1234"; else "<unknown>". The empty stack is "<no stack>". Tests: suite names.
 */
#ifndef PCI_MODEL_FRAME_NAMES_H
#define PCI_MODEL_FRAME_NAMES_H

#include "model/table.h"
#include "util/address_names.h"
#include "util/long_texts.h"

/* Initializer of a pcol_str from a literal. */
#define PCI_NAME(literal)               \
    {                                   \
        literal, sizeof(literal "") - 1 \
    }
#define PCI_NAME_UNKNOWN "<unknown>"
#define PCI_NAME_TOP_LEVEL "<top level>"
#define PCI_NAME_NO_STACK "<no stack>"

struct pci_frame_namer {
    const pcol_file *file;
    uint64_t functions, mappings;
    const struct pci_column *function, *line, *column, *filename; /* of locations */
    const struct pci_column *name, *function_file, *start_line;   /* of functions */
    const struct pci_column *mapping, *address;                   /* of location_groups */
    const struct pci_column *mapping_file;
    /* Set by the caller for answers and for formats without libraries: a name that is an address
     * gets its library. */
    int libraries;
    char *made; /* buffer of the last generated name */
    size_t made_capacity;
    uint64_t long_texts; /* pci_count_long_text() of paths of mappings and of generated names */
};

struct pci_name {
    pcol_str name;   /* valid until the next call */
    int is_made;     /* generated: no function with a name */
    int has_library; /* "libc.so.6+0x9a03e": other frames of the function may have other names */
    int is_place;    /* a line of a file outside functions */
    pcol_str filename;
    int has_filename, has_line, has_column, has_start_line;
    int64_t line, column, start_line;
    uint32_t function; /* its row, also without a name; PCOL_NONE: none */
};

pcol_status pci_frame_namer_open(struct pci_frame_namer *names, const pcol_file *file,
                                 pcol_error *err);
/* The name of a location of `group`. */
pcol_status pci_frame_namer_get(struct pci_frame_namer *names, uint64_t location, uint32_t group,
                                struct pci_name *name, pcol_error *err);
/* *is_code: the group has a mapping or an address: none of its lines is outside functions. */
pcol_status pci_frame_namer_is_code(const struct pci_frame_namer *names, uint32_t group,
                                    int *is_code, pcol_error *err);
/* "[libc.so.6]" for the group's mapping, valid until the next call; empty if the mapping has no
 * name. */
pcol_status pci_frame_namer_binary(struct pci_frame_namer *names, uint32_t group, pcol_str *name,
                                   pcol_error *err);
/* File name of the group's mapping; *valid is 0 if it has none. */
pcol_status pci_frame_namer_mapping(struct pci_frame_namer *names, uint32_t group,
                                    pcol_str *filename, int *valid, pcol_error *err);
void pci_frame_namer_close(struct pci_frame_namer *names);
/* The last part of a path. */
pcol_str pci_frame_base_name(pcol_str path);

#endif

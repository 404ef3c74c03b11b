/*
 * container_writer.h - writer of a pcol file: tables, columns, sections, layout
 *
 * Encoded sections go to a spill buffer, because the index, which precedes them in the file, needs
 * their sizes and checksums. pci_container_finish() then writes header, index, sections and end
 * mark to a sink. A container belongs to one thread; containers of single columns
 * (pci_container_begin_part()) allow parallel encoding. Tests: tests/unit/test_encode.c.
 */
#ifndef PCI_ENCODE_CONTAINER_WRITER_H
#define PCI_ENCODE_CONTAINER_WRITER_H

#include "encode/archive_write.h"
#include "format/layout.h"
#include "util/spill_buffer.h"

struct pci_container {
    struct pci_spill out; /* concatenated sections without padding */
    struct pcf_table *tables;
    size_t table_count, table_capacity;
    struct pcf_column *columns; /* columns of tables, then children */
    size_t column_count, column_capacity;
    struct pcf_section *sections; /* offsets are set by pci_container_finish() */
    size_t section_count, section_capacity;
    char *names;
    size_t names_size, names_capacity;
    int plain; /* encode every column PLAIN */
    int quick; /* encode without a pass to choose encodings: PLAIN or LINEAR */
    struct pci_archive_writer *archive; /* borrowed; NULL: a plain file */
    struct pci_archive_writer_tree tree;
    uint8_t transform; /* archives: of VALUES of the current PLAIN column */
    int trial;         /* archives: sections are only measured, so compress faster */
};

/* Zeroes all members but `out`; the caller sets options. */
void pci_container_init(struct pci_container *writer, struct pci_spill_store *store);
void pci_container_clear(struct pci_container *writer);

/* Declares a table. All tables with their columns are declared in file order before any column is
 * encoded, because children have greater numbers. */
pcol_status pci_container_table(struct pci_container *writer, const char *name, uint16_t flags,
                                uint64_t rows, pcol_error *err);
/* Declares a column of the latest table. */
pcol_status pci_container_column(struct pci_container *writer, const char *name, uint8_t type,
                                 uint32_t ref_table, uint32_t *column, pcol_error *err);
/* Allocates `count` consecutive children of a column. */
pcol_status pci_container_children(struct pci_container *writer, uint32_t parent, uint8_t count,
                                   uint32_t *first, pcol_error *err);

/* A section being written; at most one at a time per container. */
struct pci_section {
    struct pci_container *writer;
    uint64_t start;
    void *state; /* XXH3 state, owned */
    uint8_t role;
    uint32_t column;
};
pcol_status pci_section_begin(struct pci_section *section, struct pci_container *writer,
                              uint32_t column, uint8_t role, pcol_error *err);
pcol_status pci_section_append(struct pci_section *section, const void *data, size_t size,
                               pcol_error *err);
/* Records size and checksum; an empty section is omitted. Frees the state even on failure. */
pcol_status pci_section_end(struct pci_section *section, pcol_error *err);
void pci_section_abort(struct pci_section *section);

/* A container for column `column` of `writer` only, as its number 0. Worker threads encode into
 * parts; take_part() in column order then yields the same file as sequential encoding. */
pcol_status pci_container_begin_part(struct pci_container *part, const struct pci_container *writer,
                                     uint32_t column, pcol_error *err);
pcol_status pci_container_take_part(struct pci_container *writer, uint32_t column,
                                    const struct pci_container *part, pcol_error *err);

pcol_status pci_container_finish(struct pci_container *writer, pcol_sink sink, pcol_error *err);

#endif

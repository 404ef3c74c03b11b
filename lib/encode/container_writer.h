/*
 * container_writer.h - the bytes of a file: encoded sections first, then header and index in front
 * of them
 *
 * Sections are encoded one after the other into a spool, because the index that stands before them
 * needs their sizes and checksums. pci_container_finish() then lays out header, index, sections and
 * end mark into a sink.
 */
#ifndef PCI_ENCODE_CONTAINER_WRITER_H
#define PCI_ENCODE_CONTAINER_WRITER_H

#include "encode/archive_write.h"
#include "format/layout.h"
#include "util/spill_buffer.h"

struct pci_container {
    struct pci_spill out; /* the sections' bytes, one after the other, without padding */
    struct pcf_table *tables;
    size_t table_count, table_capacity;
    struct pcf_column *columns; /* those of tables first, then children */
    size_t column_count, column_capacity;
    struct pcf_section *sections; /* offset: filled by finish */
    size_t section_count, section_capacity;
    char *names;
    size_t names_size, names_capacity;
    int plain; /* every column plain */
    int quick; /* columns as they are, without a pass over the values to choose by */
    struct pci_archive_writer *press; /* of an archive, borrowed; else NULL */
    struct pci_archive_writer_tree tree;
    uint8_t transform; /* archives: of the VALUES of the plain column that is being written */
    int trial;         /* archives: written to be measured only */
};

/* What is set beyond that is set by the caller. */
void pci_container_init(struct pci_container *writer, struct pci_spill_store *store);
void pci_container_clear(struct pci_container *writer);

/* Columns of all tables must be declared before any of them is encoded, so that children come after
 * them: first each table with its columns, in file order. */
pcol_status pci_container_table(struct pci_container *writer, const char *name, uint16_t flags,
                                uint64_t rows, pcol_error *err);
/* A column of the table declared last. */
pcol_status pci_container_column(struct pci_container *writer, const char *name, uint8_t type,
                                 uint32_t ref_table, uint32_t *column, pcol_error *err);
/* `count` child slots of a column, one behind the other. */
pcol_status pci_container_children(struct pci_container *writer, uint32_t parent, uint8_t count,
                                   uint32_t *first, pcol_error *err);

/* Begin a section of a column, append to it, end it: size and checksum are kept. */
struct pci_section {
    struct pci_container *writer;
    uint64_t start;
    void *state; /* of the checksum */
    uint8_t role;
    uint32_t column;
};
pcol_status pci_section_begin(struct pci_section *section, struct pci_container *writer,
                              uint32_t column, uint8_t role, pcol_error *err);
pcol_status pci_section_append(struct pci_section *section, const void *data, size_t size,
                               pcol_error *err);
/* An empty section leaves no trace. Frees the state also when it fails. */
pcol_status pci_section_end(struct pci_section *section, pcol_error *err);
void pci_section_abort(struct pci_section *section);

/* A writer for column `column` of `writer` alone, in which it is number 0: begin it anywhere, then
 * take over what was encoded, column after column. So columns may be encoded beside each other and
 * the file be the same as if they had been one after the other. */
pcol_status pci_container_begin_part(struct pci_container *part, const struct pci_container *writer,
                                     uint32_t column, pcol_error *err);
pcol_status pci_container_take_part(struct pci_container *writer, uint32_t column,
                                    const struct pci_container *part, pcol_error *err);

pcol_status pci_container_finish(struct pci_container *writer, pcol_sink sink, pcol_error *err);

#endif

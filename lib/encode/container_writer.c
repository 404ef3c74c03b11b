/*
 * container_writer.c - sections, descriptors and layout of a pcol file (container_writer.h)
 */
#include "encode/container_writer.h"

#include "format/index.h"
#include "format/range.h"
#include "util/alloc.h"

#include <inttypes.h>
#include <string.h>
#include <xxhash.h>

void pci_container_init(struct pci_container *writer, struct pci_spill_store *store)
{
    *writer = (struct pci_container){0};
    pci_spill_init(&writer->out, store);
}

void pci_container_clear(struct pci_container *writer)
{
    pci_spill_clear(&writer->out);
    pci_free(writer->tables);
    pci_free(writer->columns);
    pci_free(writer->sections);
    pci_free(writer->names);
}

static pcol_status add_name(struct pci_container *writer, const char *name, uint32_t *offset,
                            uint16_t *size, pcol_error *err)
{
    size_t n = strlen(name);
    if (!pcf_name_valid(name, n))
        return pci_fail(err, PCOL_E_ARGUMENT,
                        "name of a table or column is not 1 to 255 bytes of printable UTF-8");
    if (writer->names_size + n > PCF_MAX_RECORDS)
        return pci_fail(err, PCOL_E_LIMIT, "names and columns exceed the index size limit");
    PCI_TRY(PCI_GROW(writer->names, writer->names_capacity, writer->names_size + n, err));
    memcpy(writer->names + writer->names_size, name, n);
    *offset = (uint32_t)writer->names_size;
    *size = (uint16_t)n;
    writer->names_size += n;
    return PCOL_OK;
}

pcol_status pci_container_table(struct pci_container *writer, const char *name, uint16_t flags,
                                uint64_t rows, pcol_error *err)
{
    struct pcf_table table = {.flags = flags, .rows = rows};
    if (rows > PCF_MAX_ROWS || writer->table_count >= PCF_MAX_TABLES)
        return pci_fail(err, PCOL_E_LIMIT, "table %.40s exceeds the limits of the format", name);
    table.first_column = (uint32_t)writer->column_count;
    PCI_TRY(PCI_GROW(writer->tables, writer->table_capacity, writer->table_count + 1, err));
    PCI_TRY(add_name(writer, name, &table.name_offset, &table.name_size, err));
    writer->tables[writer->table_count++] = table;
    return PCOL_OK;
}

static pcol_status add_columns(struct pci_container *writer, size_t count, uint32_t *first,
                               pcol_error *err)
{
    if (writer->column_count + count > PCF_MAX_COLUMNS)
        return pci_fail(err, PCOL_E_LIMIT, "more than %u columns", PCF_MAX_COLUMNS);
    PCI_TRY(PCI_GROW(writer->columns, writer->column_capacity, writer->column_count + count, err));
    *first = (uint32_t)writer->column_count;
    memset(writer->columns + *first, 0, count * sizeof *writer->columns);
    writer->column_count += count;
    return PCOL_OK;
}

pcol_status pci_container_column(struct pci_container *writer, const char *name, uint8_t type,
                                 uint32_t ref_table, uint32_t *column, pcol_error *err)
{
    struct pcf_column *c;
    struct pcf_table *table = &writer->tables[writer->table_count - 1];
    PCI_TRY(add_columns(writer, 1, column, err));
    c = &writer->columns[*column];
    c->type = type;
    c->ref_table = ref_table;
    c->rows = table->rows;
    table->column_count++;
    return add_name(writer, name, &c->name_offset, &c->name_size, err);
}

pcol_status pci_container_children(struct pci_container *writer, uint32_t parent, uint8_t count,
                                   uint32_t *first, pcol_error *err)
{
    PCI_TRY(add_columns(writer, count, first, err));
    writer->columns[parent].first_child = *first;
    writer->columns[parent].child_count = count;
    return PCOL_OK;
}

pcol_status pci_section_begin(struct pci_section *section, struct pci_container *writer,
                              uint32_t column, uint8_t role, pcol_error *err)
{
    *section = (struct pci_section){writer, pci_spill_size(&writer->out), NULL, role, column};
    section->state = XXH3_createState();
    if (!section->state)
        return pci_fail_memory(err);
    XXH3_64bits_reset(section->state);
    if (writer->archive) {
        const struct pcf_column *c = &writer->columns[column];
        unsigned transform = role == PCF_ROLE_VALUES ? writer->transform : PCF_TRANSFORM_NONE;
        unsigned width = c->type == PCF_U32 || c->type == PCF_STRING ? 4 : 8;
        pci_archive_writer_begin(writer->archive, transform, width, &writer->tree, writer->trial);
    }
    return PCOL_OK;
}

/* Appends stored bytes to the spill buffer and the checksum. */
static pcol_status put_bytes(void *context, const void *data, size_t size, pcol_error *err)
{
    struct pci_section *section = context;
    XXH3_64bits_update(section->state, data, size);
    return pci_spill_append(&section->writer->out, data, size, err);
}

pcol_status pci_section_append(struct pci_section *section, const void *data, size_t size,
                               pcol_error *err)
{
    if (section->writer->archive)
        return pci_archive_writer_add(section->writer->archive, data, size, put_bytes, section,
                                      err);
    return put_bytes(section, data, size, err);
}

void pci_section_abort(struct pci_section *section)
{
    XXH3_freeState(section->state);
    section->state = NULL;
}

/* log2 of a section's alignment. Cache line alignment of all sections would cost a small file a
 * tenth of its size; compressed sections are not mapped. */
static uint8_t choose_alignment(const struct pci_container *writer, uint64_t size)
{
    if (writer->archive)
        return 3;
    if (size >= PCF_LARGE_SECTION)
        return 12;
    return writer->plain || size >= PCF_MEDIUM_SECTION ? 6 : 3;
}

pcol_status pci_section_end(struct pci_section *section, pcol_error *err)
{
    struct pci_container *writer = section->writer;
    struct pcf_column *column = &writer->columns[section->column];
    uint64_t raw_size = 0;
    uint8_t codec = PCF_CODEC_NONE;
    pcol_status status = PCOL_OK;
    if (writer->archive)
        status =
            pci_archive_writer_end(writer->archive, put_bytes, section, &codec, &raw_size, err);
    uint64_t size = pci_spill_size(&writer->out) - section->start;
    uint64_t checksum = XXH3_64bits_digest(section->state);
    pci_section_abort(section);
    if (status != PCOL_OK || !size)
        return status;
    PCI_TRY(PCI_GROW(writer->sections, writer->section_capacity, writer->section_count + 1, err));
    if (!column->section_count)
        column->first_section = (uint32_t)writer->section_count;
    column->section_count++;
    writer->sections[writer->section_count++] =
        (struct pcf_section){.size = size,
                             .raw_size = writer->archive ? raw_size : size,
                             .checksum = checksum,
                             .role = section->role,
                             .codec = codec,
                             .align_log2 = choose_alignment(writer, size),
                             .column = section->column};
    return PCOL_OK;
}

/* ---- parts ---- */

pcol_status pci_container_begin_part(struct pci_container *part, const struct pci_container *writer,
                                     uint32_t column, pcol_error *err)
{
    uint32_t first;
    pci_container_init(part, writer->out.store);
    part->plain = writer->plain;
    part->quick = writer->quick;
    PCI_TRY(add_columns(part, 1, &first, err));
    part->columns[first] = writer->columns[column];
    return PCOL_OK;
}

/* Column number in the whole container: number 0 of a part is `column`, its children begin at
 * `first`. */
static uint32_t map_column(uint32_t number, uint32_t column, uint32_t first)
{
    return number ? first + number - 1 : column;
}

static pcol_status copy_spill(struct pci_spill *to, const struct pci_spill *from, pcol_error *err)
{
    struct pci_spill_view view = {0};
    uint64_t size = pci_spill_size(from);
    pcol_status status = PCOL_OK;
    for (uint64_t offset = 0; offset < size && status == PCOL_OK; offset += PCI_PAGE_BYTES) {
        uint64_t n = size - offset < PCI_PAGE_BYTES ? size - offset : PCI_PAGE_BYTES;
        const uint8_t *data;
        status = pci_spill_view_range(from, &view, offset, (size_t)n, &data, err);
        PCI_THEN(status, pci_spill_append(to, data, (size_t)n, err));
    }
    pci_spill_view_clear(&view);
    return status;
}

pcol_status pci_container_take_part(struct pci_container *writer, uint32_t column,
                                    const struct pci_container *part, pcol_error *err)
{
    uint32_t first, sections = (uint32_t)writer->section_count;
    PCI_TRY(add_columns(writer, part->column_count - 1, &first, err));
    PCI_TRY(PCI_GROW(writer->sections, writer->section_capacity,
                     writer->section_count + part->section_count, err));
    for (uint32_t i = 0; i < part->column_count; i++) {
        struct pcf_column *c = &writer->columns[map_column(i, column, first)];
        *c = part->columns[i];
        c->first_child = c->child_count ? map_column(c->first_child, column, first) : 0;
        c->first_section = c->section_count ? c->first_section + sections : 0;
    }
    for (size_t i = 0; i < part->section_count; i++) {
        struct pcf_section *s = &writer->sections[writer->section_count++];
        *s = part->sections[i];
        s->column = map_column(s->column, column, first);
    }
    return copy_spill(&writer->out, &part->out, err);
}

/* ---- the file ---- */

static uint64_t align_up(uint64_t offset, unsigned log2)
{
    uint64_t mask = (UINT64_C(1) << log2) - 1;
    return (offset + mask) & ~mask;
}

/* The index with the counts in its header. Children are all columns after those of the tables. */
static struct pcf_index describe_index(const struct pci_container *w, const struct pcf_header *h)
{
    struct pcf_index index = {*h, w->tables, w->columns, w->sections, w->names};
    index.header.table_count = (uint32_t)w->table_count;
    index.header.column_count = index.header.child_count = (uint32_t)w->column_count;
    for (size_t i = 0; i < w->table_count; i++)
        index.header.child_count -= w->tables[i].column_count;
    index.header.section_count = (uint32_t)w->section_count;
    return index;
}

/* Sets aligned section offsets from `offset` on; returns the end of the last section. */
static uint64_t set_section_offsets(struct pci_container *w, uint64_t offset)
{
    for (size_t i = 0; i < w->section_count; i++) {
        offset = align_up(offset, w->sections[i].align_log2);
        w->sections[i].offset = offset;
        offset += w->sections[i].size;
    }
    return offset;
}

/* Encodes, and in an archive compresses, the index; sets the header's fields about it. */
static pcol_status encode_index(struct pci_container *w, struct pcf_header *h, uint8_t **index,
                                pcol_error *err)
{
    struct pcf_index x = describe_index(w, h);
    uint64_t records;
    size_t size = (size_t)pcf_index_store(&x, NULL, &records);
    if (records > PCF_MAX_RECORDS)
        return pci_fail(err, PCOL_E_LIMIT, "names and columns exceed the index size limit");
    PCI_TRY(PCI_MALLOC(*index, size + 1, err));
    pcf_index_store(&x, *index, &records);
    *h = x.header;
    if (w->archive) {
        uint8_t *raw = *index;
        *index = NULL;
        pcol_status status = pci_archive_writer_index(w->archive, raw, size, index, &size, err);
        pci_free(raw);
        if (status != PCOL_OK)
            return status;
        h->incompatible = PCF_INCOMPATIBLE_ARCHIVE;
    }
    h->records_size = (uint32_t)records;
    h->index_offset = sizeof *h;
    h->index_size = size;
    h->index_checksum = pcf_checksum(*index, size);
    h->file_size = align_up(set_section_offsets(w, sizeof *h + size), 3) + sizeof(struct pcf_end);
    return PCOL_OK;
}

static pcol_status put_padding(pcol_sink sink, uint64_t size, pcol_error *err)
{
    static const uint8_t zeros[PCF_ALIGN_LARGE];
    return size ? pci_sink_write(sink, zeros, (size_t)size, err) : PCOL_OK;
}

/* Copies the sections from the spill buffer to the sink; *position: offset in the file. */
static pcol_status put_sections(struct pci_container *w, pcol_sink sink, uint64_t *position,
                                pcol_error *err)
{
    struct pci_spill_view view = {0};
    pcol_status status = PCOL_OK;
    const uint8_t *data;
    uint64_t from = 0;
    for (size_t i = 0; i < w->section_count && status == PCOL_OK; i++) {
        const struct pcf_section *s = &w->sections[i];
        status = put_padding(sink, s->offset - *position, err);
        *position = s->offset;
        for (uint64_t left = s->size; left && status == PCOL_OK;) {
            size_t page_left = PCI_PAGE_BYTES - (size_t)(from % PCI_PAGE_BYTES);
            size_t n = left < page_left ? (size_t)left : page_left;
            status = pci_spill_view_range(&w->out, &view, from, n, &data, err);
            PCI_THEN(status, pci_sink_write(sink, data, n, err));
            from += n;
            left -= n;
            *position += n;
        }
    }
    pci_spill_view_clear(&view);
    return status;
}

/* Fails for row counts that readers would reject as implausible. */
static pcol_status check_rows(const struct pci_container *w, uint64_t file_size, pcol_error *err)
{
    uint64_t values = 0;
    for (size_t i = 0; i < w->table_count; i++)
        pcf_add_values(&values, w->tables[i].rows, w->tables[i].column_count);
    if (!pcf_values_plausible(values, file_size))
        return pci_fail(err, PCOL_E_LIMIT,
                        "the tables have %" PRIu64 " values, which is implausible in a file of "
                        "only %" PRIu64 " bytes: readers would reject it",
                        values, file_size);
    for (size_t i = 0; i < w->table_count; i++) {
        const struct pcf_table *t = &w->tables[i];
        const char *name = w->names + t->name_offset;
        if (pcf_table_plausible(name, t->name_size, t->rows, file_size))
            continue;
        return pci_fail(err, PCOL_E_LIMIT,
                        "table %.*s has %" PRIu64 " rows, which is implausible in a file of only "
                        "%" PRIu64 " bytes: readers would reject it",
                        (int)t->name_size, name, t->rows, file_size);
    }
    return PCOL_OK;
}

pcol_status pci_container_finish(struct pci_container *writer, pcol_sink sink, pcol_error *err)
{
    struct pcf_header header = {.magic = PCF_MAGIC,
                                .major = PCF_VERSION_MAJOR,
                                .minor = PCF_VERSION_MINOR,
                                .header_size = sizeof header,
                                .checksum_algorithm = PCF_CHECKSUM_XXH3_64};
    struct pcf_end end = {.mark = PCF_END_MARK};
    uint8_t *index = NULL;
    uint64_t position;
    pcol_status status = encode_index(writer, &header, &index, err);
    PCI_THEN(status, check_rows(writer, header.file_size, err));
    if (status != PCOL_OK)
        goto cleanup;
    header.header_checksum = pcf_checksum(&header, offsetof(struct pcf_header, header_checksum));
    position = sizeof header + header.index_size;
    status = pci_sink_write(sink, &header, sizeof header, err);
    PCI_THEN(status, pci_sink_write(sink, index, (size_t)header.index_size, err));
    PCI_THEN(status, put_sections(writer, sink, &position, err));
    PCI_THEN(status, put_padding(sink, header.file_size - sizeof end - position, err));
    end.file_size = header.file_size;
    PCI_THEN(status, pci_sink_write(sink, &end, sizeof end, err));
cleanup:
    pci_free(index);
    return status;
}

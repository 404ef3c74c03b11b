/*
 * seal.c - the checksums of a changed file made right again
 */
#include "seal.h"

#include "format/index.h"

#include <stdlib.h>
#include <string.h>

/* Whether [offset, offset + size) is in the file. */
static int inside(size_t total, uint64_t offset, uint64_t size)
{
    return offset <= total && size <= total - offset;
}

uint8_t *seal_index(uint8_t *data, const struct pcf_header *header)
{
    uint8_t *index = data + header->index_offset;
    uint64_t size = pcf_index_raw_size(header);
    if (!pcf_is_archive(header))
        return index;
    if (header->index_size != size + SEAL_STORED || size > UINT16_MAX || index[0] != 1 ||
        index[1] != (uint8_t)size || index[2] != (uint8_t)(size >> 8))
        return NULL;
    return index + SEAL_STORED;
}

/* Checksums of sections, which precede the index: if it is readable and not compressed. */
static void seal_sections(uint8_t *data, size_t size, const struct pcf_header *header)
{
    struct pcf_header checked = *header;
    struct pcf_fault fault;
    uint8_t head[sizeof *header], *index;
    checked.header_checksum = pcf_checksum(header, offsetof(struct pcf_header, header_checksum));
    memcpy(head, &checked, sizeof head);
    if (pcf_header_check(head, sizeof head, size, &checked, &fault) ||
        (index = seal_index(data, &checked)) == NULL)
        return;
    struct pcf_index x = {.header = checked};
    x.tables = calloc(checked.table_count + (size_t)1, sizeof *x.tables);
    x.columns = calloc(checked.column_count + (size_t)1, sizeof *x.columns);
    x.sections = calloc(checked.section_count + (size_t)1, sizeof *x.sections);
    uint32_t *scratch = calloc(pcf_index_scratch(&checked), sizeof *scratch);
    if (x.tables && x.columns && x.sections && scratch &&
        pcf_index_load(index, scratch, &x, &fault) == 0) {
        for (uint32_t i = 0; i < checked.section_count; i++) {
            uint64_t sum = pcf_checksum(data + x.sections[i].offset, x.sections[i].size);
            memcpy(index + (size_t)i * 8, &sum, sizeof sum);
        }
    }
    free(x.tables);
    free(x.columns);
    free(x.sections);
    free(scratch);
}

void seal(uint8_t *data, size_t size)
{
    struct pcf_header header;
    if (size < sizeof header)
        return;
    memcpy(&header, data, sizeof header);
    header.file_size = size;
    if (inside(size, header.index_offset, header.index_size)) {
        header.index_checksum = pcf_checksum(data + header.index_offset, header.index_size);
        seal_sections(data, size, &header);
        header.index_checksum = pcf_checksum(data + header.index_offset, header.index_size);
    }
    memcpy(data, &header, sizeof header);
    header.header_checksum = pcf_checksum(data, offsetof(struct pcf_header, header_checksum));
    memcpy(data, &header, sizeof header);
}

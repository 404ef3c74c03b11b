/*
 * seal.c - the checksums of a changed file made right again
 */
#include "seal.h"

#include "index.h"

#include <string.h>

/* Whether [offset, offset + size) lies in the file. */
static int inside(size_t total, uint64_t offset, uint64_t size)
{
    return offset <= total && size <= total - offset;
}

void seal(uint8_t *data, size_t size)
{
    struct pcf_header header;
    if (size < sizeof header)
        return;
    memcpy(&header, data, sizeof header);
    header.file_size = size;
    if (inside(size, header.index_offset, header.index_size)) {
        uint8_t *index = data + header.index_offset;
        uint64_t at = (uint64_t)header.table_count * header.table_stride +
                      (uint64_t)header.column_count * header.column_stride;
        uint32_t count = pcf_is_archive(&header) ? 0 : header.section_count; /* else compressed */
        for (uint32_t i = 0; i < count; i++, at += header.section_stride) {
            struct pcf_section section;
            if (!inside(header.index_size, at, sizeof section) || !header.section_stride)
                break;
            memcpy(&section, index + at, sizeof section);
            if (!inside(size, section.offset, section.size))
                continue;
            section.checksum = pcf_checksum(data + section.offset, section.size);
            memcpy(index + at, &section, sizeof section);
        }
        header.index_checksum = pcf_checksum(index, header.index_size);
    }
    memcpy(data, &header, sizeof header);
    header.header_checksum = pcf_checksum(data, offsetof(struct pcf_header, header_checksum));
    memcpy(data, &header, sizeof header);
}

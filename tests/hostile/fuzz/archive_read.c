/*
 * archive_read.c - fuzz target: decompression of one archive section
 *
 * A fuzzer cannot produce the checksums and the compressed index of an archive. The input is the
 * codec, the number of rows and the bytes of one section; a valid file with a tree is built around
 * it, so that every transform is reachable.
 */
#include "targets.h"

#include "format/index.h"
#include "pcol.h"

#include <stdlib.h>
#include <string.h>

/* Arrays of many rows take longer to clear than to fill: most inputs of a fuzzer get few. */
#define MOST_ROWS 400000u
#define FEW_ROWS 3000u

#define BEGIN UINT64_C(1024) /* of sections: the first one's alignment leads there */

struct parts {
    struct pcf_table table;
    struct pcf_column columns[2];
    struct pcf_section sections[2];
};

/* Table `stacks`: `parent` has half of each row's number, `group` is that of the input. */
static struct pcf_index fill(struct parts *x, uint32_t rows, uint8_t codec, uint64_t size)
{
    uint64_t parents = (uint64_t)rows * 4;
    *x = (struct parts){
        .table = {.name_size = 6, .flags = PCF_TABLE_PREORDER, .rows = rows, .column_count = 2}};
    for (uint32_t i = 0; i < 2; i++) {
        x->columns[i] = (struct pcf_column){.name_offset = i ? 12 : 6,
                                            .name_size = i ? 5 : 6,
                                            .type = PCF_U32,
                                            .first_section = i,
                                            .section_count = 1};
        x->sections[i] = (struct pcf_section){.offset = i ? BEGIN + (parents + 7) / 8 * 8 : BEGIN,
                                              .size = i ? size : parents,
                                              .raw_size = parents,
                                              .role = PCF_ROLE_VALUES,
                                              .codec = i ? codec : 0,
                                              .align_log2 = i ? 3 : 10};
    }
    return (struct pcf_index){.tables = &x->table,
                              .columns = x->columns,
                              .sections = x->sections,
                              .names = "stacksparentgroup"};
}

/* The index as a deflate stream of one stored block: nobody waits for a compressor. */
static size_t compress_index(const struct pcf_index *x, uint32_t *records_size, uint8_t *to,
                             size_t capacity)
{
    uint64_t records, size = pcf_index_store(x, NULL, &records);
    FUZZ_ASSERT(size + 5 <= capacity);
    pcf_index_store(x, to + 5, &records);
    *records_size = (uint32_t)records;
    to[0] = 1; /* the last block, stored */
    to[1] = (uint8_t)size;
    to[2] = (uint8_t)(size >> 8);
    to[3] = (uint8_t)~to[1];
    to[4] = (uint8_t)~to[2];
    return size + 5;
}

/* Recomputes the checksums of blocks if there are several and their entries locate them. */
static void seal_blocks(uint8_t *section, uint64_t size, uint64_t raw_size, uint8_t codec)
{
    uint64_t whole = pcf_archive_block(codec), count = (raw_size + whole - 1) / whole, begin = 0;
    if (count < 2 || count > size / sizeof(struct pcf_archive_entry))
        return;
    uint8_t *entry = section + size - count * sizeof(struct pcf_archive_entry);
    for (; count > 0; count--, entry += sizeof(struct pcf_archive_entry)) {
        struct pcf_archive_entry e;
        memcpy(&e, entry, sizeof e);
        if (e.end <= begin || e.end > size)
            return;
        e.checksum = pcf_checksum(section + begin, e.end - begin);
        memcpy(entry, &e, sizeof e);
        begin = e.end;
    }
}

static void read_column(const uint8_t *file, size_t size, uint32_t rows)
{
    const pcol_table *table;
    pcol_file *opened;
    int64_t *values;
    pcol_error err;
    if (pcol_file_open_memory(file, size, NULL, &opened, &err) != PCOL_OK)
        return;
    values = malloc((rows + (size_t)1) * sizeof *values);
    if (values &&
        pcol_file_table_by_name(opened, PCOL_MODEL_PHYSICAL, "stacks", &table, &err) == PCOL_OK) {
        const pcol_column *group = pcol_table_column_by_name(table, "group", NULL);
        FUZZ_ASSERT(group != NULL);
        if (pcol_column_read_i64(group, 0, rows, values, NULL, &err) == PCOL_OK)
            for (uint32_t i = 0; i < rows; i++)
                FUZZ_ASSERT(values[i] >= 0 && values[i] <= UINT32_MAX);
        uint64_t faults;
        FUZZ_ASSERT(pcol_file_check(opened, PCOL_CHECK_DEFAULT, NULL, NULL, NULL, &faults, &err) ==
                    PCOL_OK);
    }
    free(values);
    pcol_file_close(opened);
}

void fuzz_archive_read(const uint8_t *data, size_t size)
{
    struct pcf_header header = {.magic = PCF_MAGIC,
                                .major = PCF_VERSION_MAJOR,
                                .header_size = sizeof header,
                                .incompatible = PCF_INCOMPATIBLE_ARCHIVE,
                                .index_offset = sizeof header,
                                .table_count = 1,
                                .column_count = 2,
                                .section_count = 2,
                                .checksum_algorithm = PCF_CHECKSUM_XXH3_64};
    struct pcf_end end = {.mark = PCF_END_MARK};
    struct parts parts;
    uint32_t rows;
    if (size < 6 || data[0] == 0)
        return;
    memcpy(&rows, data + 1, sizeof rows);
    rows = rows % (fuzz_turn(8, 0) ? MOST_ROWS : FEW_ROWS) + 1;
    size -= 5;
    struct pcf_index index = fill(&parts, rows, data[0], size);
    uint64_t at = parts.sections[1].offset;
    header.file_size = (at + size + 7) / 8 * 8 + sizeof end;
    end.file_size = header.file_size;
    uint8_t *file = calloc(1, header.file_size);
    if (!file)
        return;
    for (uint32_t i = 0; i < rows; i++) {
        uint32_t parent = i / 2;
        memcpy(file + BEGIN + (size_t)i * 4, &parent, sizeof parent);
    }
    memcpy(file + at, data + 5, size);
    seal_blocks(file + at, size, parts.sections[1].raw_size, data[0]);
    parts.sections[0].checksum = pcf_checksum(file + BEGIN, parts.sections[0].size);
    parts.sections[1].checksum = pcf_checksum(file + at, size);
    index.header = header;
    header.index_size =
        compress_index(&index, &header.records_size, file + sizeof header, BEGIN - sizeof header);
    header.index_checksum = pcf_checksum(file + sizeof header, header.index_size);
    header.header_checksum = pcf_checksum(&header, offsetof(struct pcf_header, header_checksum));
    memcpy(file, &header, sizeof header);
    memcpy(file + header.file_size - sizeof end, &end, sizeof end);
    read_column(file, header.file_size, rows);
    free(file);
}

/*
 * image.c - a file with most encodings, to be changed byte by byte (image.h)
 */
#include "image.h"

#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the file */

const char *const image_columns[COLUMNS] = {"linear", "packed", "split",  "sparse", "sparse_null",
                                            "runs",   "string", "double", "own"};

int64_t image_cell(int column, uint64_t row)
{
    switch (column) {
    case LINEAR:
        return (int64_t)row * 3 + 7;
    case PACKED:
        return (int64_t)(row * 7919 % 1000);
    case SPLIT:
        return (int64_t)(row % 20 == 7 ? row * row * 31 : row * 7919 % 15);
    case SPARSE:
        return row % 50 == 3 ? (int64_t)(row * row * 31) : 5;
    case RUNS:
        return (int64_t)(row / 113 * 7919 % 1000);
    default:
        return (int64_t)row;
    }
}

static void fill(pcol_builder *builder, const uint32_t *columns)
{
    pcol_error err;
    for (uint64_t row = 0; row < ROWS; row++) {
        char text[32];
        int size = snprintf(text, sizeof text, "text %d", (int)(row * row % 37));
        for (int k = LINEAR; k <= RUNS; k++) {
            if (k != SPARSE_NULL || row % 40 == 1)
                MUST(pcol_builder_set_i64(builder, columns[k], row, image_cell(k, row), &err));
        }
        MUST(pcol_builder_set_str(builder, columns[STRING], row, text, (size_t)size, &err));
        MUST(pcol_builder_set_f64(builder, columns[DOUBLE], row, (double)row / 3, &err));
        if (row % 3)
            MUST(pcol_builder_set_str(builder, columns[OWN], row, text, (size_t)size, &err));
    }
}

struct image image_build(unsigned flags)
{
    static const pcol_type types[COLUMNS] = {PCOL_I64, PCOL_I64,    PCOL_I64, PCOL_I64,  PCOL_I64,
                                             PCOL_I64, PCOL_STRING, PCOL_F64, PCOL_BYTES};
    struct image image;
    pcol_builder *builder;
    pcol_error err;
    void *bytes;
    uint32_t table, columns[COLUMNS];
    MUST(pcol_builder_new(NULL, &builder, &err));
    MUST(pcol_builder_table(builder, "things", &table, &err));
    for (int k = 0; k < COLUMNS; k++)
        MUST(pcol_builder_column(builder, table, image_columns[k], types[k], 0, &columns[k], &err));
    fill(builder, columns);
    MUST(pcol_builder_write_memory(builder, flags, NULL, &bytes, &image.size, &err));
    pcol_builder_free(builder);
    image.bytes = bytes;
    return image;
}

struct image image_copy(const struct image *image, size_t size)
{
    struct image copy = {malloc(size ? size : 1), size};
    cr_assert_not_null(copy.bytes);
    memcpy(copy.bytes, image->bytes, size);
    return copy;
}

struct pcf_header image_header(const struct image *image)
{
    struct pcf_header h;
    memcpy(&h, image->bytes, sizeof h);
    return h;
}

void image_seal(struct image *image)
{
    struct pcf_header h = image_header(image);
    if (h.index_offset <= image->size && h.index_size <= image->size - h.index_offset)
        pcf_store64(image->bytes + HEADER(index_checksum),
                    pcf_checksum(image->bytes + h.index_offset, h.index_size));
    pcf_store64(image->bytes + HEADER(header_checksum),
                pcf_checksum(image->bytes, HEADER(header_checksum)));
}

static void *need(size_t count, size_t size)
{
    void *memory = calloc(count + 1, size);
    cr_assert_not_null(memory);
    return memory;
}

struct pcf_index *image_index(const struct image *image)
{
    struct pcf_index *x = need(1, sizeof *x);
    struct pcf_fault fault;
    x->header = image_header(image);
    x->tables = need(x->header.table_count, sizeof *x->tables);
    x->columns = need(x->header.column_count, sizeof *x->columns);
    x->sections = need(x->header.section_count, sizeof *x->sections);
    uint8_t *bytes = need(1, pcf_index_raw_size(&x->header));
    memcpy(bytes, image->bytes + x->header.index_offset, pcf_index_raw_size(&x->header));
    uint32_t *scratch = need(pcf_index_scratch(&x->header), sizeof *scratch);
    cr_assert_eq(pcf_index_load(bytes, scratch, x, &fault), 0, "%s", fault.message);
    free(scratch);
    return x;
}

void image_put_index(struct image *image, struct pcf_index *x)
{
    struct pcf_index *old = image_index(image);
    uint64_t records, size = pcf_index_store(x, NULL, &records);
    struct image made = {need(1, image->size + size + 8192), 0};
    struct pcf_header *h = &x->header;
    struct pcf_end end = {.mark = PCF_END_MARK};
    pcf_index_store(x, made.bytes + sizeof *h, &records);
    made.size = sizeof *h + size;
    for (uint32_t i = 0; i < old->header.section_count; i++) {
        const struct pcf_section *s = &old->sections[i];
        uint64_t mask = (UINT64_C(1) << s->align_log2) - 1;
        made.size = (made.size + mask) & ~mask;
        memcpy(made.bytes + made.size, image->bytes + s->offset, s->size);
        made.size += s->size;
    }
    made.size = (made.size + 7) / 8 * 8 + sizeof end;
    h->file_size = end.file_size = made.size;
    h->index_offset = sizeof *h;
    h->index_size = size;
    h->records_size = (uint32_t)records;
    memcpy(made.bytes, h, sizeof *h);
    memcpy(made.bytes + made.size - sizeof end, &end, sizeof end);
    free(image->bytes);
    *image = image_copy(&made, made.size); /* of its exact size */
    free(made.bytes);
    image_seal(image);
    for (int k = 0; k < 2; k++) {
        struct pcf_index *one = k ? old : x;
        free(one->tables);
        free(one->columns);
        free(one->sections);
        free((void *)(uintptr_t)one->names);
        free(one);
    }
}

pcol_status image_open(const struct image *image, pcol_file **file, pcol_error *err)
{
    return pcol_file_open_memory(image->bytes, image->size, NULL, file, err);
}

/* ---- reading everything */

static void walk_rows(const pcol_file *file, const struct pci_column *c, uint64_t row,
                      uint64_t count)
{
    int64_t values[1024], value;
    uint8_t valid[1024];
    pcol_str text;
    int is_valid;
    for (uint64_t i = 0; i < count; i++) {
        if (c->data->type != PCF_BYTES)
            (void)!pci_get(file, c, row + i, &value, &is_valid, NULL);
        if ((c->data->type == PCF_BYTES || c->data->type == PCF_STRING) &&
            pci_get_str(file, c, row + i, &text, &is_valid, NULL) == PCOL_OK) {
            for (size_t k = 0; k < text.size; k++)
                values[0] = text.data[k];
        }
    }
    for (uint64_t i = 0; i < count; i += 1024)
        (void)!pci_read(file, c, row + i, count - i < 1024 ? count - i : 1024, values, valid, NULL);
}

void image_walk(const pcol_file *file)
{
    for (uint32_t i = 0; i < file->index.header.column_count; i++) {
        const struct pci_column *c = &file->columns[i];
        uint64_t rows = c->data->rows, some = rows < ROWS ? rows : ROWS;
        walk_rows(file, c, 0, some);
        if (rows > some)
            walk_rows(file, c, rows - some, some);
    }
}

int image_refused(const struct image *image)
{
    pcol_file *file;
    pcol_error err = {.status = PCOL_OK};
    if (image_open(image, &file, &err) == PCOL_OK) {
        image_walk(file);
        pcol_file_close(file);
        return 0;
    }
    cr_assert_null(file);
    cr_assert(err.status >= PCOL_E_MAGIC && err.status <= PCOL_E_CHECKSUM);
    cr_assert(err.message[0] && err.offset != PCOL_POSITION_UNKNOWN);
    return 1;
}

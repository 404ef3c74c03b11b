/*
 * image.c - a file with most encodings in it, to be changed byte by byte (image.h)
 */
#include "image.h"

#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the file */

const char *const image_columns[COLUMNS] = {"linear", "packed", "blocked", "sparse", "sparse_null",
                                            "runs",   "string", "double",  "own"};

int64_t image_cell(int column, uint64_t row)
{
    switch (column) {
    case LINEAR:
        return (int64_t)row * 3 + 7;
    case PACKED:
        return (int64_t)(row * 7919 % 1000);
    case BLOCKED:
        return (int64_t)(row < 1024 ? row * 7919 % 97 : (row * 7919 % 89) << 40);
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
    MUST(pcol_builder_write_memory(builder, flags, &bytes, &image.size, &err));
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

size_t image_table_at(const struct image *image, uint32_t number, size_t field)
{
    struct pcf_header h = image_header(image);
    return h.index_offset + (size_t)number * h.table_stride + field;
}

size_t image_column_at(const struct image *image, uint32_t number, size_t field)
{
    struct pcf_header h = image_header(image);
    return image_table_at(image, h.table_count, 0) + (size_t)number * h.column_stride + field;
}

size_t image_section_at(const struct image *image, uint32_t number, size_t field)
{
    struct pcf_header h = image_header(image);
    return image_column_at(image, h.column_count, 0) + (size_t)number * h.section_stride + field;
}

size_t image_names_at(const struct image *image)
{
    return image_section_at(image, image_header(image).section_count, 0);
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
    cr_assert(err.message[0] && err.offset != PCOL_NOWHERE);
    return 1;
}

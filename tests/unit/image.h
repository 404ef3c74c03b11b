/*
 * image.h - a file with most encodings, to be changed byte by byte
 */
#ifndef IMAGE_H
#define IMAGE_H

#include "format/load.h"
#include "reader/file.h"

#define ROWS 1300u
#define HEADER(name) offsetof(struct pcf_header, name)
#define MUST(call) cr_assert_eq((call), PCOL_OK, "%s: %s", #call, err.message)

struct image {
    uint8_t *bytes;
    size_t size;
};

/* The columns of its table `things`. */
enum { LINEAR, PACKED, SPLIT, SPARSE, SPARSE_NULL, RUNS, STRING, DOUBLE, OWN, COLUMNS };
extern const char *const image_columns[COLUMNS];

int64_t image_cell(int column, uint64_t row);
struct image image_build(unsigned flags);
struct image image_copy(const struct image *image, size_t size);
struct pcf_header image_header(const struct image *image);
/* Make the checksums of index and header right again, where the index is in the file at all. */
void image_seal(struct image *image);
/* The index of a sound image, to be changed and put back: its entries of sections move none of
 * their bytes. Frees the index. */
struct pcf_index *image_index(const struct image *image);
void image_put_index(struct image *image, struct pcf_index *index);
pcol_status image_open(const struct image *image, pcol_file **file, pcol_error *err);
/* The first and the last cells of every column: a hostile file may claim any number of rows. */
void image_walk(const pcol_file *file);
/* 1 if the image was rejected. */
int image_refused(const struct image *image);

#endif

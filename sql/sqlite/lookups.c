/*
 * lookups.c - cells of single rows, which joins look up by row id or key
 *
 * The first cells of a column are read as ranges, which verify what they touch. After VERIFIED
 * cells the column is verified as a whole, once. When a quarter as many cells were read as the
 * column has rows, it is decoded into memory, so that each further cell is a load.
 * Tests: sql/tests.
 */
#include "sqlite.h"

#include <stdlib.h>

enum { MOST_BYTES = 64 << 20, CHUNK = 1024 };

void lookups_free(struct lookups *l)
{
    free(l->i64);
    free(l->codes);
    free(l->valid);
}

static pcol_status decode_chunk(const struct table *t, uint32_t column, uint64_t row, size_t count,
                                const struct lookups *l)
{
    const pcol_column *from = pcol_table_column(t->table, column);
    if (l->codes != NULL)
        return pcol_column_read_codes(from, row, count, l->codes + row, l->valid + row, NULL);
    return pcol_column_read_i64(from, row, count, l->i64 + row, l->valid + row, NULL);
}

/* Texts are decoded as codes of the pool of the file. A failure is none: cells are read one by one,
 * and those that cannot be give the error. */
static void decode(struct table *t, uint32_t column)
{
    struct lookups *l = &t->lookups[column];
    uint64_t rows = pcol_table_rows(t->table);
    int is_text = t->types[column] == PCOL_STRING;
    pcol_status status = PCOL_OK;
    l->is_decided = 1;
    if (rows > MOST_BYTES / (sizeof *l->i64 + 1) ||
        (is_text && (t->pool = files_pool(t->opened)) == NULL))
        return;
    l->valid = malloc((size_t)rows + 1);
    if (is_text)
        l->codes = malloc(((size_t)rows + 1) * sizeof *l->codes);
    else
        l->i64 = malloc(((size_t)rows + 1) * sizeof *l->i64);
    if (l->valid == NULL || (l->codes == NULL && l->i64 == NULL))
        status = PCOL_E_NO_MEMORY;
    for (uint64_t row = 0; row < rows && status == PCOL_OK; row += CHUNK)
        status = decode_chunk(t, column, row, rows - row < CHUNK ? (size_t)(rows - row) : CHUNK, l);
    if (status == PCOL_OK)
        status = pcol_file_intact(files_file(t->opened), NULL);
    if (status == PCOL_OK)
        return;
    lookups_free(l);
    l->i64 = NULL;
    l->codes = NULL;
    l->valid = NULL;
}

/* Counts a cell. Returns whether cells may be read without verifying them. */
static int is_verified(struct table *t, uint32_t column)
{
    struct lookups *l = &t->lookups[column];
    if (++l->count == VERIFIED &&
        pcol_column_verify(pcol_table_column(t->table, column), NULL) != PCOL_OK)
        l->count--; /* the cell is read so that its error is found again */
    if (l->count >= VERIFIED && !l->is_decided && l->count >= pcol_table_rows(t->table) / 4)
        decode(t, column);
    return l->count >= VERIFIED;
}

pcol_status lookup_i64(struct table *t, uint32_t column, uint64_t row, int64_t *value,
                       uint8_t *valid, pcol_error *err)
{
    const struct lookups *l = &t->lookups[column];
    int is_valid;
    if (l->i64 == NULL && !is_verified(t, column))
        return pcol_column_read_i64(pcol_table_column(t->table, column), row, 1, value, valid, err);
    if (l->i64 != NULL) {
        *value = l->i64[row];
        *valid = l->valid[row];
        return PCOL_OK;
    }
    pcol_status status =
        pcol_column_i64(pcol_table_column(t->table, column), row, value, &is_valid, err);
    *valid = (uint8_t)is_valid;
    return status;
}

pcol_status lookup_text(struct table *t, uint32_t column, uint64_t row, pcol_str *value,
                        uint8_t *valid, int *is_pooled, pcol_error *err)
{
    const struct lookups *l = &t->lookups[column];
    int is_valid;
    *is_pooled = 0;
    if (l->codes == NULL && !is_verified(t, column))
        return pcol_column_read_str(pcol_table_column(t->table, column), row, 1, value, valid, err);
    if (l->codes != NULL) {
        *valid = l->valid[row];
        if (*valid)
            *value = t->pool->strings[l->codes[row]];
        *is_pooled = 1;
        return PCOL_OK;
    }
    pcol_status status =
        pcol_column_str(pcol_table_column(t->table, column), row, value, &is_valid, err);
    *valid = (uint8_t)is_valid;
    return status;
}

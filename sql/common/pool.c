/*
 * pool.c - the strings of a file in private memory (pool.h)
 *
 * Tests: sql/tests/cut.c.
 */
#include "pool.h"

#include "common.h"

#include <stdlib.h>
#include <string.h>

static pcol_status no_memory(pcol_error *err)
{
    return pcol_error_set(err, PCOL_E_NO_MEMORY, 0, NULL);
}

/* Appends a string, and a NUL. */
static pcol_status append(struct sql_pool *pool, size_t *used, size_t *capacity, pcol_str string,
                          pcol_error *err)
{
    if (string.size >= *capacity - *used) {
        size_t size = 2 * *capacity + string.size + 1;
        char *grown = size > string.size ? realloc(pool->bytes, size) : NULL;
        if (grown == NULL)
            return no_memory(err);
        pool->bytes = grown;
        *capacity = size;
    }
    char *own = pool->bytes + *used;
    if (string.size > 0)
        memcpy(own, string.data, string.size);
    own[string.size] = '\0';
    int has_nul;
    pool->is_utf8 &= sql_is_utf8((pcol_str){own, string.size}, &has_nul);
    pool->has_nul |= has_nul;
    *used += string.size + 1;
    return PCOL_OK;
}

static pcol_status read_strings(const pcol_file *file, struct sql_pool *pool, pcol_error *err)
{
    size_t used = 0, capacity = 0;
    pcol_status status = PCOL_OK;
    for (uint64_t i = 0; i < pool->count && status == PCOL_OK; i++) {
        pcol_str *string = &pool->strings[i];
        status = pcol_file_string(file, i, string, err);
        if (status == PCOL_OK)
            status = append(pool, &used, &capacity, *string, err);
    }
    if (status != PCOL_OK)
        return status;
    used = 0;
    for (uint64_t i = 0; i < pool->count; i++) {
        pool->strings[i].data = pool->bytes + used;
        used += pool->strings[i].size + 1;
    }
    return pcol_file_intact(file, err);
}

pcol_status sql_pool_read(const pcol_file *file, struct sql_pool *pool, pcol_error *err)
{
    uint64_t count = pcol_file_string_count(file);
    *pool = (struct sql_pool){.count = count, .is_utf8 = 1};
    if (count < SIZE_MAX / sizeof *pool->strings)
        pool->strings = malloc(((size_t)count + 1) * sizeof *pool->strings);
    pcol_status status = pool->strings == NULL ? no_memory(err) : read_strings(file, pool, err);
    if (status != PCOL_OK)
        sql_pool_free(pool);
    return status;
}

void sql_pool_free(struct sql_pool *pool)
{
    free(pool->bytes);
    free(pool->strings);
    *pool = (struct sql_pool){0};
}

/*
 * custom_allocator.c - an example: give the library a limited amount of memory
 *
 *     custom_allocator FILE BYTES
 *
 * Imports the file with at most BYTES of memory and prints what is still allocated at the end:
 * nothing, also if the import has failed for lack of memory.
 */
#include <pcol.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Before each block: its size, in a space that keeps the block aligned for every type. */
#define HEADER 16

/* Without a lock, since only the calling thread allocates: no call is given `threads`. */
struct pool {
    size_t limit, used, blocks;
};

static void *allocate(void *context, size_t size)
{
    struct pool *pool = (struct pool *)context;
    char *block = size <= pool->limit - pool->used ? (char *)malloc(HEADER + size) : NULL;
    if (!block)
        return NULL;
    memcpy(block, &size, sizeof size);
    pool->used += size;
    pool->blocks++;
    return block + HEADER;
}

static void release(void *context, void *memory)
{
    struct pool *pool = (struct pool *)context;
    char *block = (char *)memory - HEADER;
    size_t size;
    memcpy(&size, block, sizeof size);
    pool->used -= size;
    pool->blocks--;
    free(block);
}

static void *reallocate(void *context, void *memory, size_t size)
{
    size_t before;
    void *grown = allocate(context, size);
    if (!grown)
        return NULL;
    memcpy(&before, (char *)memory - HEADER, sizeof before);
    memcpy(grown, memory, before < size ? before : size);
    release(context, memory);
    return grown;
}

int main(int argc, char **argv)
{
    static struct pool pool;
    pcol_allocator allocator = PCOL_INIT(pcol_allocator);
    pcol_file *file = NULL;
    pcol_error err;
    pcol_status status;

    if (argc != 3) {
        fprintf(stderr, "usage: custom_allocator FILE BYTES\n");
        return 2;
    }
    pool.limit = (size_t)strtoull(argv[2], NULL, 10);
    allocator.context = &pool;
    allocator.allocate = allocate;
    allocator.reallocate = reallocate;
    allocator.release = release;
    status = pcol_set_allocator(&allocator, &err); /* before any other call */
    if (status == PCOL_OK)
        status = pcol_open_any_path(argv[1], NULL, &file, &err);
    if (status != PCOL_OK)
        fprintf(stderr, "custom_allocator: %s: %s\n", argv[1], err.message);
    pcol_file_close(file);
    printf("%zu bytes in %zu blocks\n", pool.used, pool.blocks);
    return status != PCOL_OK || pool.blocks;
}

/*
 * engine.c - exports of the report page's engine for WebAssembly: profiles and requests as bytes
 *
 * Memory that the page fills comes from engine_allocate(). Replies are those of answer.h; 0 means
 * that memory ran out.
 */
#include "answer.h"

#include <stdlib.h>

#define EXPORT(name) __attribute__((export_name(#name)))

static answer *engine;
static pcol_file *files[2];
static void *contents[2];

EXPORT(engine_allocate) void *engine_allocate(size_t size)
{
    return malloc(size > 0 ? size : 1);
}

EXPORT(engine_free) void engine_free(void *memory)
{
    free(memory);
}

EXPORT(engine_request) const uint8_t *engine_request(const char *request, size_t size)
{
    size_t reply_size;

    if (engine == NULL)
        engine = answer_new();
    return engine != NULL ? answer_request(engine, request, size, &reply_size) : NULL;
}

/* Open the profile (slot 0) or its base (1). The bytes belong to the engine from now on. Returns
 * the reply to the request "info". */
EXPORT(engine_open) const uint8_t *engine_open(int slot, void *data, size_t size)
{
    static const char first[] = "op\0info\0slot\0000", second[] = "op\0info\0slot\0001";
    size_t reply_size;
    pcol_file *file;
    pcol_error err;

    if (engine == NULL)
        engine = answer_new();
    if (engine == NULL || slot < 0 || slot > 1)
        return NULL;
    if (pcol_file_open_memory(data, size, NULL, &file, &err) != PCOL_OK) {
        free(data);
        return answer_fail(engine, &err, &reply_size);
    }
    answer_set_file(engine, slot, file);
    pcol_file_close(files[slot]);
    free(contents[slot]);
    files[slot] = file;
    contents[slot] = data;
    return engine_request(slot == 0 ? first : second, sizeof first);
}

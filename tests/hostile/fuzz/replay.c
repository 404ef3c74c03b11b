/*
 * replay.c - run targets on files: fuzz-replay TARGET FILE...; without arguments, list the targets
 *
 * Every input that revealed a fault is committed and replayed by the tests.
 */
#include "targets.h"

#include <stdio.h>
#include <stdlib.h>

/* The whole of a file; NULL if it cannot be read. */
static uint8_t *slurp(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    size_t capacity = (size_t)1 << 16;
    uint8_t *data = malloc(capacity);
    *size = 0;
    while (file && data) {
        *size += fread(data + *size, 1, capacity - *size, file);
        if (*size < capacity)
            break;
        uint8_t *grown = realloc(data, capacity *= 2);
        if (!grown)
            free(data);
        data = grown;
    }
    if (file && !ferror(file) && data) {
        fclose(file);
        return data;
    }
    if (file)
        fclose(file);
    free(data);
    return NULL;
}

static int run_file(const struct fuzz_target *target, const char *path)
{
    size_t size;
    uint8_t *data = slurp(path, &size);
    if (!data) {
        fprintf(stderr, "fuzz-replay: %s: cannot be read\n", path);
        return 1;
    }
    fuzz_run(target, data, size);
    free(data);
    return 0;
}

int main(int argc, char **argv)
{
    struct fuzz_target target;
    int failed = 0;
    if (argc < 2) {
        for (size_t i = 0; fuzz_target_at(i, &target); i++)
            printf("%s\t%s\t%s\n", target.name, target.seeds, target.folder);
        return 0;
    }
    if (!fuzz_find(argv[1], &target)) {
        fprintf(stderr, "fuzz-replay: there is no target '%s'\n", argv[1]);
        return 2;
    }
    for (int i = 2; i < argc; i++)
        failed |= run_file(&target, argv[i]);
    return failed;
}

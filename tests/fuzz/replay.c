/*
 * replay.c - run targets over files: fuzz-replay TARGET FILE...; without arguments, list the targets
 *
 * Every input that a fuzzer ever broke something with is kept and run again by the tests.
 */
#include "targets.h"

#include <stdio.h>
#include <stdlib.h>

#define MAX_INPUT ((size_t)64 << 20)

static int run_file(const struct fuzz_target *target, const char *path)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data = malloc(MAX_INPUT);
    size_t size;
    if (!file || !data) {
        fprintf(stderr, "fuzz-replay: %s: cannot be read\n", path);
        if (file)
            fclose(file);
        free(data);
        return 1;
    }
    size = fread(data, 1, MAX_INPUT, file);
    fclose(file);
    fuzz_run(target, data, size);
    free(data);
    return 0;
}

int main(int argc, char **argv)
{
    int failed = 0;
    if (argc < 2) {
        for (const struct fuzz_target *t = fuzz_targets; t->name; t++)
            printf("%s\t%s\n", t->name, t->seeds);
        return 0;
    }
    const struct fuzz_target *target = fuzz_find(argv[1]);
    if (!target) {
        fprintf(stderr, "fuzz-replay: there is no target '%s'\n", argv[1]);
        return 2;
    }
    for (int i = 2; i < argc; i++)
        failed |= run_file(target, argv[i]);
    return failed;
}

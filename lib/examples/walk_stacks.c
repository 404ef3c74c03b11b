/*
 * walk_stacks.c - an example: print the call stack of each sample as names, outermost first
 *
 *     walk_stacks FILE
 */
#include <pcol.h>

#include <stdio.h>

#define SAMPLES 1024
#define LOCATIONS 65536

static pcol_status print_stack(pcol_names *names, const uint32_t *locations, uint64_t depth,
                               pcol_error *err)
{
    for (uint64_t i = depth; i-- > 0;) {
        pcol_str name;
        pcol_status status = pcol_names_location(names, locations[i], &name, err);
        if (status != PCOL_OK)
            return status;
        fwrite(name.data, 1, name.size, stdout);
        if (i)
            putchar(';');
    }
    putchar('\n');
    return PCOL_OK;
}

static pcol_status print_samples(const pcol_frames *frames, pcol_names *names, uint64_t samples,
                                 pcol_error *err)
{
    static uint64_t offsets[SAMPLES + 1];
    static uint32_t locations[LOCATIONS];
    pcol_status status = PCOL_OK;
    size_t read = 0;

    for (uint64_t row = 0; row < samples && status == PCOL_OK; row += read) {
        size_t count = samples - row < SAMPLES ? (size_t)(samples - row) : SAMPLES;
        status = pcol_frames_read(frames, row, count, offsets, locations, LOCATIONS, &read, err);
        if (status == PCOL_OK && !read)
            return pcol_error_set(err, PCOL_E_LIMIT, 0, "more than %d frames", LOCATIONS);
        for (size_t i = 0; i < read && status == PCOL_OK; i++)
            status = print_stack(names, locations + offsets[i], offsets[i + 1] - offsets[i], err);
    }
    return status;
}

int main(int argc, char **argv)
{
    pcol_file *file = NULL;
    const pcol_table *samples = NULL;
    pcol_frames *frames = NULL;
    pcol_names *names = NULL;
    pcol_error err;
    pcol_status status;

    if (argc != 2) {
        fprintf(stderr, "usage: walk_stacks FILE\n");
        return 2;
    }
    status = pcol_open_any_path(argv[1], NULL, &file, &err);
    if (status == PCOL_OK)
        status = pcol_file_table_by_name(file, PCOL_MODEL_V2, "samples", &samples, &err);
    if (status == PCOL_OK)
        status = pcol_frames_open(file, NULL, &frames, &err);
    if (status == PCOL_OK)
        status = pcol_names_new(file, &names, &err);
    if (status == PCOL_OK)
        status = print_samples(frames, names, pcol_table_rows(samples), &err);
    if (status != PCOL_OK)
        fprintf(stderr, "walk_stacks: %s: %s\n", argv[1], err.message);
    pcol_names_free(names);
    pcol_frames_free(frames);
    pcol_file_close(file);
    return status != PCOL_OK;
}

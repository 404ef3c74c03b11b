/*
 * interleaved.c - write a pcol file in which the samples of three sources alternate
 *
 *     interleaved OUT
 */
#include <pcol.h>

#include <stdio.h>

static pcol_status add_stack(pcol_builder *b, const char *name, uint32_t parent, uint32_t *stack,
                             pcol_error *err)
{
    pcol_function function = PCOL_INIT(pcol_function);
    pcol_group group = PCOL_INIT(pcol_group);
    pcol_line line = {.filename = PCOL_NONE};
    pcol_status status = pcol_builder_string(b, name, 1, &function.name, err);

    function.system_name = function.filename = group.mapping = PCOL_NONE;
    group.lines = &line;
    group.line_count = 1;
    if (status == PCOL_OK)
        status = pcol_builder_function(b, &function, &line.function, err);
    if (status == PCOL_OK)
        status = pcol_builder_group(b, &group, &stack[0], err);
    return status == PCOL_OK ? pcol_builder_stack(b, parent, stack[0], &stack[0], err) : status;
}

static pcol_status build(pcol_builder *b, pcol_error *err)
{
    uint32_t sources[3], stacks[2], type;
    pcol_status status = PCOL_OK;

    for (int i = 0; i < 3 && status == PCOL_OK; i++) {
        pcol_source source = PCOL_INIT(pcol_source);
        char host[2] = {(char)('a' + i), '\0'};
        source.type = "folded";
        source.timestamp = "2026-11-21T12:00:00Z";
        status = pcol_builder_source(b, &source, &sources[i], err);
        if (status == PCOL_OK)
            status = pcol_builder_source_meta(b, sources[i], "host", host, err);
    }
    if (status == PCOL_OK)
        status = pcol_builder_sample_type(b, "samples", "count", 0, 0, &type, err);
    if (status == PCOL_OK)
        status = add_stack(b, "m", 0, &stacks[0], err);
    if (status == PCOL_OK)
        status = add_stack(b, "f", stacks[0], &stacks[1], err);
    for (int i = 0; i < 100 && status == PCOL_OK; i++) {
        pcol_value value = {.sample_type = type, .as.i64 = i};
        pcol_sample sample = PCOL_INIT(pcol_sample);
        sample.source = sources[i % 3];
        sample.stack = stacks[i % 2];
        sample.values = &value;
        sample.value_count = 1;
        sample.thread = PCOL_NONE;
        status = pcol_builder_sample(b, &sample, NULL, err);
    }
    return status;
}

int main(int argc, char **argv)
{
    pcol_builder *b = NULL;
    pcol_output *out = NULL;
    pcol_error err;
    pcol_status status = argc == 2 ? pcol_builder_new(NULL, &b, &err) : PCOL_E_ARGUMENT;

    if (status == PCOL_OK)
        status = build(b, &err);
    if (status == PCOL_OK)
        status = pcol_output_open(argv[1], PCOL_OUTPUT_NO_SYNC, &out, &err);
    if (status == PCOL_OK)
        status = pcol_builder_write(b, 0, NULL, pcol_output_sink(out), &err);
    if (status == PCOL_OK)
        status = pcol_output_commit(out, &err);
    pcol_builder_free(b);
    if (status != PCOL_OK)
        fprintf(stderr, "interleaved: %s\n", argc == 2 ? err.message : "usage: interleaved OUT");
    return status != PCOL_OK;
}

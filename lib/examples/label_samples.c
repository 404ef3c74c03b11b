/*
 * label_samples.c - an example: samples of requests, each with the labels route and bytes
 *
 *     label_samples OUTPUT.pcol
 */
#include <pcol.h>

#include <stdio.h>
#include <string.h>

static const struct request {
    const char *route;
    int64_t bytes, time_ms;
} requests[] = {{"/login", 512, 30}, {"/search", 20480, 120}, {"/login", 640, 25}};

/* Codes of strings, and rows, that all samples share. */
struct rows {
    uint32_t source, sample_type, stack, route, bytes, unit;
};

static pcol_status add_string(pcol_builder *b, const char *text, uint32_t *code, pcol_error *err)
{
    return pcol_builder_string(b, text, strlen(text), code, err);
}

static pcol_status add_rows(pcol_builder *b, struct rows *rows, pcol_error *err)
{
    pcol_source source = PCOL_INIT(pcol_source);
    pcol_function function = PCOL_INIT(pcol_function);
    pcol_group group = PCOL_INIT(pcol_group);
    pcol_line line;
    uint32_t row;

    memset(&line, 0, sizeof line);
    line.filename = PCOL_NONE;
    source.type = "example";
    function.system_name = function.filename = PCOL_NONE;
    group.lines = &line;
    group.line_count = 1;
    group.mapping = PCOL_NONE;
    if (pcol_builder_source(b, &source, &rows->source, err) != PCOL_OK ||
        pcol_builder_sample_type(b, "wall", "milliseconds", 0, 0, &rows->sample_type, err) !=
            PCOL_OK ||
        add_string(b, "serve", &function.name, err) != PCOL_OK ||
        pcol_builder_function(b, &function, &line.function, err) != PCOL_OK ||
        pcol_builder_group(b, &group, &row, err) != PCOL_OK ||
        pcol_builder_stack(b, 0, row, &rows->stack, err) != PCOL_OK ||
        add_string(b, "route", &rows->route, err) != PCOL_OK ||
        add_string(b, "bytes", &rows->bytes, err) != PCOL_OK)
        return err->status;
    return add_string(b, "B", &rows->unit, err);
}

static pcol_status add_request(pcol_builder *b, const struct rows *rows,
                               const struct request *request, pcol_error *err)
{
    pcol_sample sample = PCOL_INIT(pcol_sample);
    pcol_value value;
    pcol_label labels[2];
    uint64_t row;
    uint32_t route;

    value.sample_type = rows->sample_type;
    value.as.i64 = request->time_ms;
    sample.source = rows->source;
    sample.stack = rows->stack;
    sample.values = &value;
    sample.value_count = 1;
    sample.thread = PCOL_NONE;
    memset(labels, 0, sizeof labels);
    labels[0].key = rows->route;
    labels[0].unit = PCOL_NONE;
    labels[0].type = PCOL_STRING;
    labels[1].key = rows->bytes;
    labels[1].unit = rows->unit;
    labels[1].type = PCOL_I64;
    labels[1].as.i64 = request->bytes;
    if (add_string(b, request->route, &route, err) != PCOL_OK ||
        pcol_builder_sample(b, &sample, &row, err) != PCOL_OK)
        return err->status;
    labels[0].as.string = route;
    return pcol_builder_labels(b, row, labels, 2, err);
}

static pcol_status write_file(pcol_builder *b, const char *path, pcol_error *err)
{
    pcol_output *output;
    pcol_status status = pcol_output_open(path, PCOL_OUTPUT_OVERWRITE, &output, err);
    if (status != PCOL_OK)
        return status;
    status = pcol_builder_write(b, 0, NULL, pcol_output_sink(output), err);
    if (status == PCOL_OK)
        return pcol_output_commit(output, err);
    pcol_output_abort(output);
    return status;
}

int main(int argc, char **argv)
{
    pcol_builder *builder;
    struct rows rows;
    pcol_error err;
    pcol_status status;

    if (argc != 2) {
        fprintf(stderr, "usage: label_samples OUTPUT.pcol\n");
        return 2;
    }
    status = pcol_builder_new(NULL, &builder, &err);
    if (status == PCOL_OK)
        status = add_rows(builder, &rows, &err);
    for (size_t i = 0; i < sizeof requests / sizeof *requests && status == PCOL_OK; i++)
        status = add_request(builder, &rows, &requests[i], &err);
    if (status == PCOL_OK)
        status = write_file(builder, argv[1], &err);
    pcol_builder_free(builder);
    if (status != PCOL_OK)
        fprintf(stderr, "label_samples: %s: %s\n", argv[1], err.message);
    return status != PCOL_OK;
}

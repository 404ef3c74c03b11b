/*
 * arrow_print.c - an example: print a table from its Arrow stream, as tab-separated text
 *
 *     arrow_print FILE TABLE [v2|v1|physical|joined]
 *
 * joined: v2, with names before the ids that they stand for, as `pcol cat --join` shows them.
 * Nothing but the structs of the Arrow C interfaces is used once the stream is open: any library
 * that reads Arrow can do the same. Nulls are printed as \N.
 */
#include <pcol.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int bit(const void *bits, int64_t at)
{
    return ((const uint8_t *)bits)[at / 8] >> (at % 8) & 1;
}

static void print_text(const struct ArrowArray *array, int64_t at)
{
    static const char special[] = "\t\n\r\\", escapes[] = "tnr\\";
    const int64_t *offsets = (const int64_t *)array->buffers[1];
    const char *text = (const char *)array->buffers[2];
    for (int64_t i = offsets[at]; i < offsets[at + 1]; i++) {
        const char *found = text[i] ? strchr(special, text[i]) : NULL;
        if (found)
            printf("\\%c", escapes[found - special]);
        else
            putchar(text[i]);
    }
}

static void print_integers(const struct ArrowArray *list, int64_t at)
{
    const struct ArrowArray *items = list->children[0];
    const int64_t *offsets = (const int64_t *)list->buffers[1];
    const int64_t *values = (const int64_t *)items->buffers[1] + items->offset;
    putchar('[');
    for (int64_t i = offsets[at]; i < offsets[at + 1]; i++)
        printf("%s%" PRId64, i > offsets[at] ? "," : "", values[i]);
    putchar(']');
}

/* Element `row` of an array; the format is one of those in the table of docs/api.md. */
static void print_value(const struct ArrowSchema *schema, const struct ArrowArray *array,
                        int64_t row)
{
    int64_t at = array->offset + row;
    const void *values = array->n_buffers > 1 ? array->buffers[1] : NULL;
    if (array->null_count && array->buffers[0] && !bit(array->buffers[0], at))
        printf("\\N");
    else if (schema->dictionary)
        print_text(array->dictionary,
                   array->dictionary->offset + (int64_t)((const uint32_t *)values)[at]);
    else if (!strcmp(schema->format, "l"))
        printf("%" PRId64, ((const int64_t *)values)[at]);
    else if (!strcmp(schema->format, "L"))
        printf("%" PRIu64, ((const uint64_t *)values)[at]);
    else if (!strcmp(schema->format, "I"))
        printf("%" PRIu32, ((const uint32_t *)values)[at]);
    else if (!strcmp(schema->format, "g"))
        printf("%.17g", ((const double *)values)[at]);
    else if (!strcmp(schema->format, "b"))
        printf("%s", bit(values, at) ? "true" : "false");
    else if (!strcmp(schema->format, "+L"))
        print_integers(array, at);
    else
        print_text(array, at);
}

static int print_stream(struct ArrowArrayStream *stream)
{
    struct ArrowSchema schema;
    struct ArrowArray batch;
    int code = stream->get_schema(stream, &schema);
    if (code)
        return code;
    for (int64_t k = 0; k < schema.n_children; k++)
        printf("%s%s", k ? "\t" : "", schema.children[k]->name);
    putchar('\n');
    while (!(code = stream->get_next(stream, &batch)) && batch.release) {
        for (int64_t row = 0; row < batch.length; row++)
            for (int64_t k = 0; k < batch.n_children; k++) {
                print_value(schema.children[k], batch.children[k], row);
                putchar(k + 1 < batch.n_children ? '\t' : '\n');
            }
        batch.release(&batch);
    }
    schema.release(&schema);
    return code;
}

static pcol_status find_table(const pcol_file *file, const char *name, const char *model,
                              const pcol_table **table, pcol_error *err)
{
    pcol_status status;

    if (strcmp(model, "v1") == 0)
        return pcol_file_table_by_name(file, PCOL_MODEL_V1, name, table, err);
    if (strcmp(model, "physical") == 0)
        return pcol_file_table_by_name(file, PCOL_MODEL_PHYSICAL, name, table, err);
    status = pcol_file_table_by_name(file, PCOL_MODEL_V2, name, table, err);
    if (status == PCOL_E_NOT_FOUND)
        status = pcol_file_table_by_name(file, PCOL_MODEL_FURTHER, name, table, err);
    if (status == PCOL_OK && strcmp(model, "joined") == 0)
        status = pcol_table_joined(*table, table, err);
    return status;
}

int main(int argc, char **argv)
{
    pcol_file *file = NULL;
    const pcol_table *table;
    struct ArrowArrayStream stream;
    pcol_error err;
    pcol_status status;
    int code = 0;

    if (argc != 3 && argc != 4) {
        fprintf(stderr, "usage: arrow_print FILE TABLE [v2|v1|physical|joined]\n");
        return 2;
    }
    status = pcol_open_any_path(argv[1], NULL, &file, &err);
    if (status == PCOL_OK)
        status = find_table(file, argv[2], argc == 4 ? argv[3] : "v2", &table, &err);
    if (status == PCOL_OK)
        status = pcol_table_arrow(table, NULL, &stream, &err);
    pcol_file_close(file); /* the stream keeps it open */
    if (status != PCOL_OK) {
        fprintf(stderr, "arrow_print: %s: %s\n", argv[1], err.message);
        return 1;
    }
    code = print_stream(&stream);
    if (code)
        fprintf(stderr, "arrow_print: %s: %s\n", argv[1], stream.get_last_error(&stream));
    stream.release(&stream);
    return code != 0;
}

/*
 * import.c - fuzz targets: profiles of other formats
 *
 * An imported file must be valid: `check` reports nothing, packing again gives the same bytes, and
 * the export to the source format can be imported again with the same samples.
 */
#include "targets.h"

#include "pcol.h"

#include <stdlib.h>
#include <string.h>

/* The input in a builder; NULL if it is rejected. */
static pcol_builder *take(const uint8_t *data, size_t size, const char *format, int lenient)
{
    pcol_import_options options = PCOL_INIT(pcol_import_options);
    pcol_builder *builder;
    options.format = format;
    options.lenient = lenient;
    options.max_input_bytes = (uint64_t)1 << 24;
    if (pcol_builder_new(NULL, &builder, NULL) != PCOL_OK)
        return NULL;
    if (pcol_import_memory(builder, data, size, "input", &options, NULL) == PCOL_OK)
        return builder;
    pcol_builder_free(builder);
    return NULL;
}

/* The packed file, or NULL if the input is rejected; to be freed. */
static void *pack(const uint8_t *data, size_t size, const char *format, int lenient, size_t *packed)
{
    pcol_builder *builder = take(data, size, format, lenient);
    void *file = NULL;
    if (builder)
        FUZZ_ASSERT(pcol_builder_write_memory(builder, 0, NULL, &file, packed, NULL) == PCOL_OK);
    pcol_builder_free(builder);
    return file;
}

static uint64_t rows_of(const pcol_file *file, const char *name)
{
    const pcol_table *table;
    return pcol_file_table_by_name(file, PCOL_MODEL_V2, name, &table, NULL) == PCOL_OK
               ? pcol_table_rows(table)
               : 0;
}

/* The source's own format again. */
static void back(const pcol_file *file, const char *format, struct fuzz_text *text)
{
    pcol_sink sink = {fuzz_gather, text};
    const pcol_format *f = NULL;
    for (size_t i = 0; format && pcol_format_at(i); i++)
        if (!strcmp(pcol_format_at(i)->name, format))
            f = pcol_format_at(i);
    if (!f || !f->writes || pcol_export(file, format, NULL, sink, NULL) != PCOL_OK)
        text->size = 0;
}

/* An export must be read again, to as many samples. */
static void there_and_back(const pcol_file *open, const char *format, int lenient)
{
    struct fuzz_text text = {0};
    size_t size = 0;
    pcol_file *reopened;
    back(open, format, &text);
    void *other = text.size ? pack(text.data, text.size, format, 1, &size) : NULL;
    FUZZ_ASSERT(other || !text.size);
    free(text.data);
    if (!other)
        return;
    FUZZ_ASSERT(pcol_file_open_memory(other, size, NULL, &reopened, NULL) == PCOL_OK);
    /* An import with tolerated faults may be exported with some. */
    FUZZ_ASSERT(lenient || rows_of(open, "samples") == rows_of(reopened, "samples"));
    FUZZ_ASSERT(lenient ||
                rows_of(open, "sample_locations") == rows_of(reopened, "sample_locations"));
    pcol_file_close(reopened);
    pcol_free(other);
}

static void import(const uint8_t *data, size_t size, const char *format, int lenient)
{
    size_t packed = 0, again = 0;
    void *file, *same;
    pcol_file *open;
    uint64_t faults = 0;
    if (!fuzz_turn(8, 3)) { /* reading is a fifth of the work, and where the bytes are hostile */
        pcol_builder_free(take(data, size, format, lenient));
        return;
    }
    file = pack(data, size, format, lenient, &packed);
    if (!file)
        return;
    if (fuzz_turn(16, 3)) {
        same = pack(data, size, format, lenient, &again);
        FUZZ_ASSERT(same && again == packed && !memcmp(file, same, packed));
        pcol_free(same);
    }
    FUZZ_ASSERT(pcol_file_open_memory(file, packed, NULL, &open, NULL) == PCOL_OK);
    FUZZ_ASSERT(pcol_file_check(open, PCOL_CHECK_STRICT, NULL, NULL, NULL, &faults, NULL) ==
                PCOL_OK);
    FUZZ_ASSERT(faults == 0);
    if (fuzz_turn(3, 1))
        there_and_back(open, format, lenient);
    pcol_file_close(open);
    pcol_free(file);
}

void fuzz_import(const uint8_t *data, size_t size, const char *format)
{
    import(data, size, format, size && (data[size - 1] & 1));
}

void fuzz_import_any(const uint8_t *data, size_t size)
{
    fuzz_import(data, size, NULL);
}

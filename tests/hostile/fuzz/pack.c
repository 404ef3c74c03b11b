/*
 * pack.c - fuzz targets: pcol files packed again
 *
 * An archive has the same content as the plain file, merged files are valid, and exports are
 * well-formed.
 */
#include "targets.h"

#include "pcol.h"

#include <stdlib.h>
#include <string.h>

#define MAX_BYTES ((uint64_t)16 << 20)

static void assert_sound(const pcol_file *file)
{
    uint64_t faults = 0;
    FUZZ_ASSERT(pcol_file_check(file, PCOL_CHECK_STRICT, NULL, NULL, NULL, &faults, NULL) ==
                PCOL_OK);
    FUZZ_ASSERT(!faults);
}

static int add(pcol_builder *builder, const uint8_t *data, size_t size, const char *format)
{
    pcol_import_options options = PCOL_INIT(pcol_import_options);
    options.format = format;
    options.max_input_bytes = MAX_BYTES;
    return pcol_import_memory(builder, data, size, "input", &options, NULL) == PCOL_OK;
}

static pcol_file *reopen(pcol_builder *builder, unsigned flags, void **bytes)
{
    pcol_file *file;
    size_t size = 0;
    FUZZ_ASSERT(pcol_builder_write_memory(builder, flags, NULL, bytes, &size, NULL) == PCOL_OK);
    FUZZ_ASSERT(pcol_file_open_memory(*bytes, size, NULL, &file, NULL) == PCOL_OK);
    return file;
}

/* ---- archives */

#define ROWS 256

static void compare_columns(const pcol_column *a, const pcol_column *b, uint64_t rows)
{
    static int64_t values[2][ROWS];
    static pcol_str texts[2][ROWS];
    uint8_t valid[2][ROWS];
    pcol_column_info info = PCOL_INIT(pcol_column_info);
    if (pcol_column_describe(a, &info, NULL) != PCOL_OK)
        abort();
    int is_text = info.type == PCOL_STRING || info.type == PCOL_BYTES;
    for (uint64_t row = 0; row < rows; row += ROWS) {
        size_t n = rows - row < ROWS ? (size_t)(rows - row) : ROWS;
        for (int i = 0; i < 2; i++) {
            const pcol_column *c = i ? b : a;
            FUZZ_ASSERT((is_text ? pcol_column_read_str(c, row, n, texts[i], valid[i], NULL)
                                 : pcol_column_read_i64(c, row, n, values[i], valid[i], NULL)) ==
                            PCOL_OK ||
                        info.type == PCOL_F64);
        }
        if (info.type == PCOL_F64)
            return;
        FUZZ_ASSERT(!memcmp(valid[0], valid[1], n));
        for (size_t i = 0; i < n; i++) {
            if (!valid[0][i])
                continue;
            FUZZ_ASSERT(is_text ? texts[0][i].size == texts[1][i].size
                                : values[0][i] == values[1][i]);
            FUZZ_ASSERT(!is_text || !texts[0][i].size ||
                        !memcmp(texts[0][i].data, texts[1][i].data, texts[0][i].size));
        }
    }
}

static void compare_files(const pcol_file *a, const pcol_file *b)
{
    uint32_t count = pcol_file_table_count(a, PCOL_MODEL_PHYSICAL);
    FUZZ_ASSERT(count == pcol_file_table_count(b, PCOL_MODEL_PHYSICAL));
    for (uint32_t i = 0; i < count; i++) {
        const pcol_table *x, *y;
        FUZZ_ASSERT(pcol_file_table(a, PCOL_MODEL_PHYSICAL, i, &x, NULL) == PCOL_OK);
        FUZZ_ASSERT(pcol_file_table(b, PCOL_MODEL_PHYSICAL, i, &y, NULL) == PCOL_OK);
        FUZZ_ASSERT(pcol_table_rows(x) == pcol_table_rows(y));
        FUZZ_ASSERT(pcol_table_column_count(x) == pcol_table_column_count(y));
        for (uint32_t k = 0; k < pcol_table_column_count(x); k++)
            compare_columns(pcol_table_column(x, k), pcol_table_column(y, k), pcol_table_rows(x));
    }
}

static pcol_file *packed(const uint8_t *data, size_t size, unsigned flags, void **bytes)
{
    pcol_builder *builder;
    pcol_file *file = NULL;
    *bytes = NULL;
    if (pcol_builder_new(NULL, &builder, NULL) != PCOL_OK)
        return NULL;
    if (add(builder, data, size, "pcol"))
        file = reopen(builder, flags, bytes);
    pcol_builder_free(builder);
    return file;
}

static void archive_file(const uint8_t *data, size_t size)
{
    static const unsigned kinds[] = {PCOL_WRITE_ARCHIVE, PCOL_WRITE_ARCHIVE_LZ4,
                                     PCOL_WRITE_ARCHIVE_ZLIB};
    void *bytes[2];
    pcol_file *plain = fuzz_open_file(data, size);
    if (!plain)
        return;
    pcol_file_close(plain);
    plain = packed(data, size, 0, &bytes[0]);
    for (unsigned i = 0; plain && i < 3; i++) {
        if (!fuzz_turn(3, i))
            continue;
        pcol_file *archive = packed(data, size, kinds[i], &bytes[1]);
        FUZZ_ASSERT(archive && pcol_file_is_archive(archive));
        assert_sound(archive);
        compare_files(plain, archive);
        pcol_file_close(archive);
        pcol_free(bytes[1]);
    }
    pcol_file_close(plain);
    pcol_free(bytes[0]);
}

/* ---- merging */

static const char folded[] = "main;parse;read 3\nmain;write 1\n";

/* After a source of another kind, and after itself. */
static void merge_file(const uint8_t *data, size_t size)
{
    pcol_builder *builder;
    void *bytes = NULL;
    pcol_file *file = fuzz_open_file(data, size);
    pcol_file_close(file);
    if (!file || pcol_builder_new(NULL, &builder, NULL) != PCOL_OK)
        return;
    int whole = add(builder, (const uint8_t *)folded, sizeof folded - 1, "folded") &&
                add(builder, data, size, "pcol") && add(builder, data, size, "pcol");
    if (whole) {
        file = reopen(builder, 0, &bytes);
        assert_sound(file);
        pcol_file_close(file);
        pcol_free(bytes);
    }
    pcol_builder_free(builder);
}

/* ---- other formats */

static void assert_readable(const struct fuzz_text *text, const pcol_format *format)
{
    pcol_builder *builder;
    if (!format->reads || pcol_builder_new(NULL, &builder, NULL) != PCOL_OK)
        return;
    pcol_import_options options = PCOL_INIT(pcol_import_options);
    options.format = format->name;
    options.lenient = 1;
    FUZZ_ASSERT(pcol_import_memory(builder, text->data, text->size, "out", &options, NULL) ==
                PCOL_OK);
    pcol_builder_free(builder);
}

/* Documents of speedscope and V8 are restored as the file has them: one that no import made may
 * lack what readers need. */
static int restores_document(const pcol_file *file, const char *format)
{
    const pcol_table *sources;
    const char *const formats[] = {"speedscope", "cpuprofile", "heapprofile"};
    pcol_str type;
    int valid = 0, is_document = 0;
    for (size_t i = 0; i < 3; i++)
        is_document |= !strcmp(format, formats[i]);
    if (!is_document ||
        pcol_file_table_by_name(file, PCOL_MODEL_V2, "sources", &sources, NULL) != PCOL_OK ||
        pcol_column_str(pcol_table_column_by_name(sources, "source_type", NULL), 0, &type, &valid,
                        NULL) != PCOL_OK)
        return 0;
    return valid && type.size == strlen(format) && !memcmp(type.data, format, type.size);
}

/* Of a sound file, what was written can be read. */
static void unpack(const pcol_file *file, const char *name)
{
    pcol_export_options options = PCOL_INIT(pcol_export_options);
    struct fuzz_text text = {0};
    pcol_sink sink = {fuzz_gather, &text};
    const pcol_format *format = NULL;
    uint64_t faults = 0;
    for (size_t i = 0; pcol_format_at(i); i++)
        if (!strcmp(pcol_format_at(i)->name, name))
            format = pcol_format_at(i);
    FUZZ_ASSERT(format && format->writes);
    options.expand_idle = fuzz_turn(2, 1);
    if (pcol_export(file, name, &options, sink, NULL) == PCOL_OK) {
        int is_json = strstr(format->suffixes, ".json") || !strcmp(name, "perun");
        FUZZ_ASSERT(!is_json || fuzz_is_json(&text, 1));
        if (fuzz_turn(4, 2) && !restores_document(file, name) &&
            pcol_file_check(file, PCOL_CHECK_STRICT, NULL, NULL, NULL, &faults, NULL) == PCOL_OK &&
            !faults)
            assert_readable(&text, format);
    }
    free(text.data);
}

static const char *unpacked_format;

static void unpack_file(const uint8_t *data, size_t size)
{
    pcol_file *file = fuzz_open_file(data, size);
    if (file)
        unpack(file, unpacked_format);
    pcol_file_close(file);
}

void fuzz_unpack(const uint8_t *data, size_t size, const char *format)
{
    unpacked_format = format;
    fuzz_twice(unpack_file, data, size);
}

void fuzz_archive(const uint8_t *data, size_t size)
{
    fuzz_twice(archive_file, data, size);
}

void fuzz_merge(const uint8_t *data, size_t size)
{
    fuzz_twice(merge_file, data, size);
}

/*
 * testing.c - growing text and temporary directories (testing.h)
 */
#include "testing.h"

#include "../hostile/faults/seal.h"

#include "format/index.h"
#include "format/load.h"

#include <criterion/criterion.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void text_add(struct text *t, const void *data, size_t size)
{
    if (t->size + size + 1 > t->capacity) {
        t->capacity = 2 * (t->size + size + 1);
        t->data = realloc(t->data, t->capacity);
        cr_assert_not_null(t->data);
    }
    if (size)
        memcpy(t->data + t->size, data, size);
    t->size += size;
    t->data[t->size] = 0;
}

void text_addf(struct text *t, const char *format, ...)
{
    char line[256];
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    cr_assert(size >= 0 && (size_t)size < sizeof line);
    text_add(t, line, (size_t)size);
}

pcol_status text_gather(void *context, const void *data, size_t size, pcol_error *err)
{
    (void)err;
    text_add(context, data, size);
    return PCOL_OK;
}

void text_notice(void *context, const pcol_notice *notice)
{
    text_addf(context, "%s\n", notice->text);
}

/* ---- the folder */

char folder[] = "/tmp/pcol-test-XXXXXX";

void folder_begin(void)
{
    strcpy(folder + strlen(folder) - 6, "XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
}

void folder_end(void)
{
    char command[160];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    cr_assert_eq(system(command), 0);
}

char *folder_path(const char *name)
{
    static char paths[4][512];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

const char *folder_file(const char *name, const void *data, size_t size)
{
    const char *path = folder_path(name);
    FILE *file = fopen(path, "wb");
    cr_assert_not_null(file);
    cr_assert_eq(fwrite(data, 1, size, file), size);
    cr_assert_eq(fclose(file), 0);
    return path;
}

void reseal(uint8_t *data, size_t size)
{
    struct pcf_header header;
    struct pcf_fault fault;
    cr_assert_eq(pcf_header_check(data, size, size, &header, &fault), 0);
    seal(data, size);
}

int rejects_or_repairs(const void *data, size_t size)
{
    pcol_builder *builder;
    pcol_error err = {0};
    pcol_file *file;
    void *packed = NULL;
    size_t packed_size;
    uint64_t faults = 0;
    cr_assert_eq(pcol_builder_new(NULL, &builder, NULL), PCOL_OK);
    pcol_status status = pcol_import_memory(builder, data, size, "file", NULL, &err);
    if (status == PCOL_OK)
        status = pcol_builder_write_memory(builder, 0, NULL, &packed, &packed_size, &err);
    pcol_builder_free(builder);
    if (status != PCOL_OK) {
        cr_assert(status == PCOL_E_CORRUPT || status == PCOL_E_LIMIT ||
                      status == PCOL_E_UNSUPPORTED,
                  "%d: %s", (int)status, err.message);
        cr_assert_neq(err.message[0], 0);
        return 1;
    }
    cr_assert_eq(pcol_file_open_memory(packed, packed_size, NULL, &file, &err), PCOL_OK, "%s",
                 err.message);
    cr_assert_eq(pcol_file_check(file, PCOL_CHECK_STRICT, NULL, NULL, NULL, &faults, &err),
                 PCOL_OK);
    cr_assert_eq(faults, 0, "what is packed of a faulty file has %llu faults",
                 (unsigned long long)faults);
    pcol_file_close(file);
    pcol_free(packed);
    return 0;
}

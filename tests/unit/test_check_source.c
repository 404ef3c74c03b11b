/*
 * test_check_source.c - samples without the column `source` in a file without sources
 *
 * The builder rejects such samples, so a name in the index of a valid file is changed.
 */
#include <criterion/criterion.h>

#include "check_case.h"
#include "image.h"

#include <stdlib.h>
#include <string.h>

/* Three samples of the only source, so without the column samples.source. is_hidden: no reader
 * finds the table of sources, since the last letter of its name is another one. */
static struct image samples_of(int is_hidden)
{
    struct image image;
    void *bytes = NULL;
    int found = 0;
    case_begin();
    OK(pcol_builder_write_memory(case_builder, 0, NULL, &bytes, &image.size, NULL));
    pcol_builder_free(case_builder);
    image.bytes = bytes;
    struct pcf_index *x = image_index(&image);
    for (uint32_t t = 0; t < x->header.table_count; t++) {
        const struct pcf_table *table = &x->tables[t];
        char *name = (char *)(uintptr_t)x->names + table->name_offset;
        if (table->name_size != 7 || memcmp(name, "sources", 7) != 0)
            continue;
        name[6] = is_hidden ? '_' : 's';
        found++;
    }
    cr_assert_eq(found, 1);
    image_put_index(&image, x);
    return image;
}

Test(check_source, samples_of_no_source)
{
    for (int is_hidden = 0; is_hidden < 2; is_hidden++) {
        struct image image = samples_of(is_hidden);
        for (int depth = PCOL_CHECK_DEFAULT; depth <= PCOL_CHECK_STRICT; depth++) {
            struct case_found found = {.expected =
                                           "samples.source -1: without it samples are of source 0"};
            uint64_t faults;
            pcol_file *file;
            pcol_error err;
            MUST(image_open(&image, &file, &err));
            MUST(pcol_file_check(file, (pcol_check_depth)depth, case_take, &found, NULL, &faults,
                                 &err));
            cr_expect_eq(found.seen, is_hidden, "%s", found.all);
            cr_expect_eq(faults != 0, is_hidden, "%s", found.all);
            pcol_file_close(file);
        }
        free(image.bytes);
    }
}

/* What copies samples rejects them, too. */
Test(check_source, merged)
{
    struct image image = samples_of(1);
    pcol_builder *builder;
    pcol_file *file;
    pcol_error err;
    MUST(image_open(&image, &file, &err));
    MUST(pcol_builder_new(NULL, &builder, &err));
    cr_assert_eq(pcol_builder_add_file(builder, file, NULL, &err), PCOL_E_CORRUPT);
    cr_expect(strstr(err.message, "source 0"), "%s", err.message);
    pcol_builder_free(builder);
    pcol_file_close(file);
    free(image.bytes);
}

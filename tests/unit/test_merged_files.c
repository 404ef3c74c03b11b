/*
 * test_merged_files.c - merges of pcol files, compared with each source alone
 *
 * A merged file must describe each source as its own file does. A file that is packed alone must
 * come back with the same bytes.
 */
#include "merge_case.h"

#include "testing.h"
#include "util/alloc.h"

#include <stdlib.h>
#include <string.h>

Test(together, a_file_alone_stays_as_it_is)
{
    for (uint64_t i = 1; i <= 8; i++) {
        struct together_made one, again;
        pcol_builder *b = together_builder();
        together_make(&one, i, i & 1, (i & 2) != 0);
        pcol_import_options options = PCOL_INIT(pcol_import_options);
        OK(pcol_import_memory(b, one.data, one.size, "a.pcol", &options, e));
        together_finish(b, &again);
        cr_assert(one.size == again.size && !memcmp(one.data, again.data, one.size));
        together_drop(&one);
        together_drop(&again);
    }
}

static void expect_merged(const struct together_made *parts, size_t count,
                          const struct together_made *all)
{
    for (size_t i = 0; i < count; i++) {
        char *alone = together_describe(parts[i].file, 0, 0);
        char *merged = together_describe(all->file, (uint32_t)i, (uint32_t)i);
        size_t at = 0;
        while (merged[at] && merged[at] == alone[at])
            at++;
        cr_assert(merged[at] == alone[at], "source %zu: %.200s\n--- instead of ---\n%.200s", i,
                  merged + (at > 60 ? at - 60 : 0), alone + (at > 60 ? at - 60 : 0));
        free(alone);
        free(merged);
    }
}

Test(together, each_source_keeps_its_values)
{
    for (uint64_t i = 1; i <= 12; i++) {
        struct together_made parts[3], all, again;
        pcol_builder *b = together_builder();
        for (size_t k = 0; k < 3; k++) {
            together_make(&parts[k], i * 10 + k, (i + k) % 2 != 0, (i >> k & 1) != 0);
            together_add(b, &parts[k]);
        }
        together_finish(b, &all);
        expect_merged(parts, 3, &all);
        /* And once more, as one file of several sources. */
        b = together_builder();
        together_add(b, &all);
        together_finish(b, &again);
        cr_assert(all.size == again.size && !memcmp(all.data, again.data, all.size));
        together_drop(&again);
        b = together_builder();
        together_add(b, &parts[1]);
        together_add(b, &all);
        together_finish(b, &again);
        char *alone = together_describe(parts[2].file, 0, 0),
             *merged = together_describe(again.file, 3, 3);
        cr_assert_str_eq(merged, alone);
        free(alone);
        free(merged);
        together_drop(&again);
        for (size_t k = 0; k < 3; k++)
            together_drop(&parts[k]);
        together_drop(&all);
    }
}

Test(together, one_source_of_several)
{
    struct together_made parts[3], all, one;
    pcol_builder *b = together_builder();
    for (size_t k = 0; k < 3; k++) {
        together_make(&parts[k], 50 + k, (int)(k & 1), 0);
        together_add(b, &parts[k]);
    }
    together_finish(b, &all);
    for (uint32_t k = 0; k < 3; k++) {
        b = together_builder();
        OK(pci_merge_file(b, all.file, NULL, k, k, e));
        together_finish(b, &one);
        char *alone = together_describe_samples(parts[k].file, 0),
             *copied = together_describe_samples(one.file, 0);
        cr_assert_str_eq(copied, alone);
        cr_assert_eq(pci_rows(one.file, "sources"), 1);
        cr_assert_eq(pci_rows(one.file, "threads"), 1);
        cr_assert_eq(pci_rows(one.file, "markers"), 0);
        free(alone);
        free(copied);
        together_drop(&one);
        together_drop(&parts[k]);
    }
    together_drop(&all);
}

Test(together, equal_code_becomes_one)
{
    struct together_made part, all;
    pcol_builder *b = together_builder();
    together_make(&part, 5, 0, 1);
    together_add(b, &part);
    together_add(b, &part);
    together_finish(b, &all);
    cr_assert_eq(pci_rows(all.file, "functions"), pci_rows(part.file, "functions"));
    cr_assert_eq(pci_rows(all.file, "location_groups"), pci_rows(part.file, "location_groups"));
    cr_assert_eq(pci_rows(all.file, "mappings"), pci_rows(part.file, "mappings"));
    cr_assert_eq(pci_rows(all.file, "stacks"), pci_rows(part.file, "stacks"));
    cr_assert_eq(pci_rows(all.file, "markers"), 2 * pci_rows(part.file, "markers"));
    together_drop(&all);
    together_drop(&part);
}

static unsigned countdown;

static int fail_one(void)
{
    return countdown-- == 0;
}

Test(together, every_failed_allocation_is_reported)
{
    struct together_made parts[2];
    unsigned failed = 0;
    together_make(&parts[0], 3, 0, 1);
    together_make(&parts[1], 4, 1, 0);
    for (unsigned n = 0;; n += STEP(3) + n / 16) {
        pcol_builder *b = together_builder();
        pcol_error err = {0};
        void *data = NULL;
        size_t bytes;
        countdown = n;
        pci_alloc_hook = fail_one;
        pcol_status status =
            pcol_import_memory(b, parts[0].data, parts[0].size, "a.pcol", NULL, &err);
        if (status == PCOL_OK)
            status = pcol_import_memory(b, parts[1].data, parts[1].size, "b.pcol", NULL, &err);
        if (status == PCOL_OK)
            status = pcol_builder_write_memory(b, 0, NULL, &data, &bytes, &err);
        pci_alloc_hook = NULL;
        pcol_builder_free(b);
        pcol_free(data);
        if (status == PCOL_OK)
            break;
        cr_assert_eq(status, PCOL_E_NO_MEMORY, "%u: %s", n, err.message);
        failed++;
    }
    cr_assert_gt(failed, 50);
    together_drop(&parts[0]);
    together_drop(&parts[1]);
}

/* Everything that reads labels, trees and orders, on a file in which anything may be wrong. */
static void read_all(const pcol_file *file)
{
    static const char *const tables[] = {"samples", "markers", "location_groups", "sources"};
    struct pci_json_writer w;
    struct pci_order o;
    uint64_t faults;
    (void)!pcol_file_check(file, PCOL_CHECK_STRICT, NULL, NULL, NULL, &faults, NULL);
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        struct pci_label_reader reader;
        pcol_status status = pci_labels_open(&reader, file, tables[i], NULL);
        for (uint64_t row = 0; status == PCOL_OK && row < pci_rows(file, tables[i]) && row < 500;
             row++)
            (void)!pci_labels_row(&reader, row, NULL);
        pci_labels_close(&reader);
    }
    for (uint64_t row = 0; row < 300; row++) {
        struct text json = {0};
        OK(pci_json_writer_open(&w, (pcol_sink){text_gather, &json}, 0, e));
        (void)!pci_json_from_nodes(file, row, &w, NULL, NULL, NULL);
        pci_json_writer_close(&w);
        free(json.data);
    }
    (void)!pci_order_read(file, 0, 0, "stackTable", &o, NULL);
    pci_order_clear(&o);
    (void)!pci_order_read(file, 0, PCOL_NONE, "function", &o, NULL);
    pci_order_clear(&o);
}

Test(together, damaged_files)
{
    struct together_made whole;
    unsigned taken = 0, rejected = 0;
    together_make(&whole, 7, 0, 0);
    uint8_t *copy = malloc(whole.size);
    cr_assert_not_null(copy);
    const struct pcf_header *header = &whole.file->index.header;
    uint64_t first = header->index_offset + header->index_size;
    for (unsigned n = 0; n < 1200; n++) {
        pcol_file *file;
        memcpy(copy, whole.data, whole.size);
        together_seed = n;
        for (uint32_t k = together_dice(3) + 1; k > 0; k--)
            copy[first + together_dice((uint32_t)(whole.size - first - 16))] ^=
                (uint8_t)(1u << together_dice(8));
        reseal(copy, whole.size);
        if (pcol_file_open_memory(copy, whole.size, NULL, &file, NULL) != PCOL_OK)
            continue;
        read_all(file);
        pcol_file_close(file);
        pcol_builder *b = together_builder();
        void *data = NULL;
        size_t bytes;
        pcol_error err = {0};
        pcol_status status = pcol_import_memory(b, whole.data, whole.size, "a.pcol", NULL, &err);
        cr_assert_eq(status, PCOL_OK);
        status = pcol_import_memory(b, copy, whole.size, "b.pcol", NULL, &err);
        if (status == PCOL_OK)
            status = pcol_builder_write_memory(b, 0, NULL, &data, &bytes, &err);
        cr_assert(status != PCOL_E_STATE && status != PCOL_E_ARGUMENT && status != PCOL_E_NO_MEMORY,
                  "%u: %s: %s", n, pcol_status_name(status), err.message);
        taken += status == PCOL_OK;
        rejected += status != PCOL_OK;
        pcol_free(data);
        pcol_builder_free(b);
    }
    cr_assert(taken > 20 && rejected > 20, "%u taken, %u rejected", taken, rejected);
    free(copy);
    together_drop(&whole);
}

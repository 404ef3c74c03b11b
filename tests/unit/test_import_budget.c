/*
 * test_import_budget.c - import budget: charged memory, rejected inputs, messages
 */
#include "builder/builder.h"
#include "util/alloc.h"
#include "util/error.h"
#include "util/import_budget.h"
#include "util/thread_pool.h"

#include "testing.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MB ((size_t)1 << 20)

static struct pci_budget budget;

static int64_t held(void)
{
    return atomic_load(&budget.memory);
}

Test(budget, memory_is_charged_and_credited)
{
    struct pci_budget *before = pci_budget_enter(&budget);
    void *array = NULL;
    size_t capacity = 0;
    cr_assert_null(before);
    char *block = pci_malloc(100 * MB, 1);
    cr_assert_not_null(block);
    cr_assert_geq(held(), (int64_t)(100 * MB));
    cr_assert_eq(pci_grow(&array, &capacity, 50 * MB, 1), 0);
    cr_assert_null(pci_malloc(120 * MB, 1));
    cr_assert_null(pci_calloc(120 * MB, 1));
    memset(block, 7, 64);
    cr_assert_null(pci_realloc(block, 250, MB));
    cr_assert_eq(block[63], 7, "a block that could not grow stays");
    cr_assert_eq(pci_grow(&array, &capacity, 250 * MB, 1), -1);
    pci_free(block);
    pci_free(array);
    cr_assert_lt(held(), (int64_t)MB);
    pci_budget_leave(before);
    cr_assert_lt(held(), (int64_t)MB);
    block = pci_malloc(300 * MB, 1);
    cr_assert_not_null(block, "nothing is rejected without a budget");
    pci_free(block);
}

Test(budget, refused_memory_is_a_limit)
{
    pcol_error err = {0};
    struct pci_budget *before = pci_budget_enter(&budget);
    cr_assert_eq(pci_fail_memory(&err), PCOL_E_NO_MEMORY);
    pci_budget_grant(&budget, 1000);
    cr_assert_null(pci_malloc(257 * MB, 1));
    cr_assert_eq(pci_fail_memory(&err), PCOL_E_LIMIT);
    cr_assert_not_null(strstr(err.message, "more than 256 MiB"), "%s", err.message);
    cr_assert_not_null(strstr(err.message, "1000 bytes"), "%s", err.message);
    cr_assert_str_eq(err.option, "PCOL_IMPORT_TRUSTED", "%s", err.message);
    pci_budget_leave(before);
    cr_assert_eq(pci_fail_memory(&err), PCOL_E_NO_MEMORY);
}

Test(budget, input_and_trust_raise_it)
{
    pcol_error err = {0};
    struct pci_budget *before = pci_budget_enter(&budget);
    cr_assert_null(pci_malloc(257 * MB, 1));
    pci_budget_grant(&budget, MB);
    void *block = pci_malloc(310 * MB, 1);
    cr_assert_not_null(block);
    pci_free(block);
    cr_assert_null(pci_malloc(321 * MB, 1));
    cr_assert_eq(pci_budget_charge_expansion(&budget, 264 * MB, &err), PCOL_OK);
    cr_assert_eq(pci_budget_charge_expansion(&budget, MB, &err), PCOL_E_LIMIT);
    cr_assert_not_null(strstr(err.message, "200 times"), "%s", err.message);
    budget.trusted = 1;
    cr_assert_eq(pci_budget_charge_expansion(&budget, MB, &err), PCOL_OK);
    block = pci_malloc(400 * MB, 1);
    cr_assert_not_null(block);
    pci_free(block);
    pci_budget_leave(before);
    cr_assert_eq(pci_budget_charge_expansion(NULL, UINT64_MAX, &err), PCOL_OK);
}

Test(budget, cells_of_many_columns_are_limited)
{
    pcol_error err = {0};
    uint64_t most = (uint64_t)64 << 20;
    cr_assert_eq(pci_budget_check_cells(&budget, most, 65, &err), PCOL_OK);
    cr_assert_eq(pci_budget_check_cells(&budget, most + 64, 65, &err), PCOL_E_LIMIT);
    cr_assert_not_null(strstr(err.message, "65 sample types"), "%s", err.message);
    cr_assert_str_eq(err.option, "PCOL_IMPORT_TRUSTED", "%s", err.message);
    cr_assert_eq(pci_budget_check_cells(&budget, (uint64_t)1 << 48, 64, &err), PCOL_OK);
    pci_budget_grant(&budget, 1);
    cr_assert_eq(pci_budget_check_cells(&budget, most + 64, 65, &err), PCOL_OK);
    cr_assert_eq(pci_budget_check_cells(&budget, (uint64_t)1 << 48, 32768, &err), PCOL_E_LIMIT);
    budget.trusted = 1;
    cr_assert_eq(pci_budget_check_cells(&budget, (uint64_t)1 << 48, 32768, &err), PCOL_OK);
    cr_assert_eq(pci_budget_check_cells(NULL, (uint64_t)1 << 48, 32768, &err), PCOL_OK);
}

static void *blocks[4];

static pcol_status allocate(void *context, size_t number, pcol_error *err)
{
    (void)context;
    blocks[number] = pci_malloc(100 * MB, 1);
    return blocks[number] ? PCOL_OK : pci_fail_memory(err);
}

Test(budget, threads_inherit_it)
{
    pcol_error err = {0};
    struct pci_budget *before = pci_budget_enter(&budget);
    cr_assert_eq(pci_parallel_for(4, 4, allocate, NULL, &err), PCOL_E_LIMIT, "%s", err.message);
    for (size_t i = 0; i < 4; i++)
        pci_free(blocks[i]);
    cr_assert_lt(held(), (int64_t)MB);
    pci_budget_leave(before);
}

/* ---- two builders at the same time ---- */

#ifndef PCOL_NO_THREADS

struct importer {
    pcol_builder *builder;
    pthread_barrier_t *together; /* NULL: alone */
    size_t lines;
    pcol_status status;
};

/* Import distinct lines twice, in step with the other thread. */
static void *import_lines(void *context)
{
    struct importer *importer = context;
    pcol_import_options options = PCOL_INIT(pcol_import_options);
    size_t size = 0, capacity = importer->lines * 32;
    char *text = malloc(capacity);
    pcol_error err = {0};
    options.format = "folded";
    options.threads = 1;
    for (size_t i = 0; i < importer->lines; i++)
        size += (size_t)snprintf(text + size, capacity - size, "main;f%zu 1\n", i);
    for (int i = 0; i < 2 && importer->status == PCOL_OK; i++) {
        if (importer->together)
            pthread_barrier_wait(importer->together);
        importer->status =
            pcol_import_memory(importer->builder, text, size, "x.folded", &options, &err);
    }
    free(text);
    return NULL;
}

static struct importer new_importer(size_t lines, pthread_barrier_t *together)
{
    struct importer importer = {.lines = lines, .together = together};
    pcol_error err = {0};
    cr_assert_eq(pcol_builder_new(NULL, &importer.builder, &err), PCOL_OK);
    return importer;
}

static void compare_and_free(struct importer *importer, struct importer *alone)
{
    const struct pci_budget *got = &importer->builder->budget, *wanted = &alone->builder->budget;
    cr_assert_eq(importer->status, PCOL_OK);
    cr_assert_eq(alone->status, PCOL_OK);
    cr_assert_gt(atomic_load(&wanted->memory), (int64_t)(alone->lines * 8));
    /* malloc() rounds sizes as its free lists allow. */
    cr_assert_lt(atomic_load(&got->memory), 2 * atomic_load(&wanted->memory));
    cr_assert_gt(2 * atomic_load(&got->memory), atomic_load(&wanted->memory));
    cr_assert_eq(atomic_load(&got->input_bytes), atomic_load(&wanted->input_bytes));
    cr_assert_eq(atomic_load(&got->expanded), atomic_load(&wanted->expanded));
    pcol_builder_free(importer->builder);
    pcol_builder_free(alone->builder);
}

Test(budget, builders_in_two_threads_are_charged_apart)
{
    pthread_barrier_t barrier;
    pthread_t thread;
    cr_assert_eq(pthread_barrier_init(&barrier, NULL, 2), 0);
    struct importer few = new_importer(2000, &barrier), many = new_importer(50000, &barrier);
    struct importer few_alone = new_importer(2000, NULL), many_alone = new_importer(50000, NULL);
    import_lines(&few_alone);
    import_lines(&many_alone);
    cr_assert_eq(pthread_create(&thread, NULL, import_lines, &many), 0);
    import_lines(&few);
    cr_assert_eq(pthread_join(thread, NULL), 0);
    compare_and_free(&few, &few_alone);
    compare_and_free(&many, &many_alone);
    pthread_barrier_destroy(&barrier);
}

/* Exceed a budget of its own while the other thread holds most of `budget`. */
static void *exceed_another(void *context)
{
    static struct pci_budget another;
    pcol_status *status = context;
    pcol_error err = {0};
    struct pci_budget *before = pci_budget_enter(&another);
    void *block = pci_malloc(200 * MB, 1);
    int fits = block != NULL && pci_malloc(100 * MB, 1) == NULL;
    *status = fits ? pci_fail_memory(&err) : PCOL_OK;
    pci_free(block);
    pci_budget_leave(before);
    return NULL;
}

Test(budget, a_thread_exceeds_only_its_own)
{
    pthread_t thread;
    pcol_status status = PCOL_OK;
    pcol_error err = {0};
    struct pci_budget *before = pci_budget_enter(&budget);
    void *block = pci_malloc(200 * MB, 1);
    cr_assert_not_null(block);
    cr_assert_eq(pthread_create(&thread, NULL, exceed_another, &status), 0);
    cr_assert_eq(pthread_join(thread, NULL), 0);
    cr_assert_eq(status, PCOL_E_LIMIT);
    cr_assert_eq(pci_fail_memory(&err), PCOL_E_NO_MEMORY);
    cr_assert_geq(held(), (int64_t)(200 * MB));
    cr_assert_lt(held(), (int64_t)(210 * MB)); /* in whole huge pages */
    pci_free(block);
    pci_budget_leave(before);
}

#endif

/* A limit on the size of an input does not make it trusted. */
Test(budget, an_import_is_within_it)
{
    static const char text[] = "main;f 1\nmain;g 2\n";
    for (int trusted = 0; trusted < 2; trusted++) {
        pcol_import_options options = PCOL_INIT(pcol_import_options);
        pcol_builder *builder;
        pcol_error err = {0};
        void *data;
        size_t size;
        options.max_input_bytes = 1000;
        options.flags = trusted ? PCOL_IMPORT_TRUSTED : 0;
        options.format = "folded";
        cr_assert_eq(pcol_builder_new(NULL, &builder, &err), PCOL_OK);
        for (int i = 0; i < 3; i++)
            cr_assert_eq(
                pcol_import_memory(builder, text, sizeof text - 1, "x.folded", &options, &err),
                PCOL_OK, "%s", err.message);
        cr_assert_null(pci_thread_budget);
        cr_assert_eq(pcol_builder_write_memory(builder, 0, NULL, &data, &size, &err), PCOL_OK);
        cr_assert_null(pci_thread_budget);
        pcol_builder_free(builder);
        pcol_free(data);
    }
}

Test(budget, unknown_flags)
{
    pcol_import_options options = PCOL_INIT(pcol_import_options);
    pcol_builder *builder;
    pcol_error err = {0};
    options.flags = 8;
    cr_assert_eq(pcol_builder_new(NULL, &builder, &err), PCOL_OK);
    cr_assert_eq(pcol_import_memory(builder, "a 1\n", 4, "x", &options, &err), PCOL_E_ARGUMENT);
    pcol_builder_free(builder);
}

/*
 * test_value_ids.c - ids of distinct values and of pairs against a linear search
 */
#include "util/value_ids.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>

#define KEYS 6000u

/* Dense values upwards, dense ones at random, some far away, negative ones, and ones that are far
 * when they first appear and dense later. */
static int64_t make_key(uint64_t *state, size_t i)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    uint64_t random = *state >> 33;
    switch (random % 8) {
    case 0:
        return (int64_t)(random << 40);
    case 1:
        return -(int64_t)(random % 100) - 1;
    case 2:
        return i % 2 ? INT64_MIN : INT64_MAX;
    case 3:
        return (int64_t)(random % 40000);
    default:
        return (int64_t)(i + random % 3);
    }
}

static uint32_t search(const int64_t *keys, const uint8_t *valid, size_t count, int64_t key,
                       int is_valid)
{
    uint32_t id = 0;
    while (id < count && (valid[id] != is_valid || (is_valid && keys[id] != key)))
        id++;
    return id;
}

Test(value_ids, agree_with_a_linear_search)
{
    static int64_t keys[KEYS], distinct[KEYS];
    static uint8_t valid[KEYS], is_valid[KEYS];
    static uint32_t ids[KEYS];
    struct pci_value_ids table;
    uint64_t state = 1;
    size_t count = 0;
    pci_value_ids_init(&table);
    for (size_t i = 0; i < KEYS; i++) {
        keys[i] = make_key(&state, i);
        valid[i] = i % 50 != 7;
    }
    for (size_t i = 0; i < KEYS; i += 500)
        cr_assert_eq(pci_value_ids_assign(&table, keys + i, valid + i, 500, ids + i, NULL),
                     PCOL_OK);
    for (size_t i = 0; i < KEYS; i++) {
        uint32_t id = search(distinct, is_valid, count, keys[i], valid[i]);
        cr_assert_eq(ids[i], id, "value %zu has id %u, not %u", i, ids[i], id);
        if (id == count) {
            distinct[count] = keys[i];
            is_valid[count++] = valid[i];
        }
    }
    cr_assert_eq(table.count, count);
    pci_value_ids_clear(&table);
}

Test(value_ids, pairs_agree_with_a_linear_search)
{
    static uint32_t first[KEYS], second[KEYS], ids[KEYS];
    static int64_t distinct[KEYS];
    static uint8_t all[KEYS];
    struct pci_value_ids table;
    uint64_t state = 2;
    size_t count = 0;
    pci_value_ids_init(&table);
    memset(all, 1, sizeof all);
    for (size_t i = 0; i < KEYS; i++) { /* equal numbers, swapped ones, and the largest */
        uint64_t key = (uint64_t)make_key(&state, i);
        first[i] = (uint32_t)(i % 3 ? key % 70 : i / 2);
        second[i] = (uint32_t)(i % 5 ? i / 3 : key >> 32);
        if (i % 7 == 0)
            second[i] = first[i];
        if (i % 11 == 0)
            first[i] = UINT32_MAX - (uint32_t)(i % 22);
    }
    for (size_t i = 0; i < KEYS; i += 500)
        cr_assert_eq(pci_value_ids_assign_pairs(&table, first + i, second + i, 500, ids + i, NULL),
                     PCOL_OK);
    for (size_t i = 0; i < KEYS; i++) {
        int64_t key = pci_pair_key(first[i], second[i]);
        uint32_t id = search(distinct, all, count, key, 1);
        cr_assert_eq(ids[i], id, "pair %zu has id %u, not %u", i, ids[i], id);
        if (id == count)
            distinct[count++] = key;
    }
    pci_value_ids_clear(&table);
}

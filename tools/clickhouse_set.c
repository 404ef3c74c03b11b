/*
 * clickhouse_set.c - sets of byte strings in the order of insertion
 *
 * Open addressing with linear probing, at most half full; the strings are in one arena. SipHash-1-3
 * (Aumasson and Bernstein) with a random key: texts of profiles are untrusted, and without a key an
 * input could have texts that all collide. Results do not depend on the key.
 * Tests: tests/cli/clickhouse.test.
 */
#include "clickhouse.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* ---- SipHash-1-3 ---- */

static uint64_t rotate(uint64_t value, unsigned bits)
{
    return value << bits | value >> (64 - bits);
}

static void sip_round(uint64_t v[4])
{
    v[0] += v[1];
    v[1] = rotate(v[1], 13) ^ v[0];
    v[0] = rotate(v[0], 32);
    v[2] += v[3];
    v[3] = rotate(v[3], 16) ^ v[2];
    v[0] += v[3];
    v[3] = rotate(v[3], 21) ^ v[0];
    v[2] += v[1];
    v[1] = rotate(v[1], 17) ^ v[2];
    v[2] = rotate(v[2], 32);
}

static const uint64_t *hash_key(void)
{
    static uint64_t key[2];
    FILE *random;

    if (key[0] != 0)
        return key;
    random = fopen("/dev/urandom", "rb");
    if (random == NULL || fread(key, sizeof key, 1, random) != 1) {
        key[0] = (uint64_t)time(NULL);
        key[1] = (uint64_t)getpid();
    }
    if (random != NULL)
        fclose(random);
    key[0] |= 1; /* it is set */
    return key;
}

static uint64_t hash_bytes(const void *data, size_t size)
{
    const uint64_t *key = hash_key();
    const char *at = data;
    uint64_t v[4] = {key[0] ^ 0x736f6d6570736575u, key[1] ^ 0x646f72616e646f6du,
                     key[0] ^ 0x6c7967656e657261u, key[1] ^ 0x7465646279746573u};
    uint64_t word;

    for (size_t left = size; left >= 8; left -= 8, at += 8) {
        memcpy(&word, at, 8);
        v[3] ^= word;
        sip_round(v);
        v[0] ^= word;
    }
    word = 0;
    if (size % 8 > 0)
        memcpy(&word, at, size % 8);
    word |= (uint64_t)size << 56;
    v[3] ^= word;
    sip_round(v);
    v[0] ^= word;
    v[2] ^= 0xff;
    for (int i = 0; i < 3; i++)
        sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* ---- the set ---- */

static int grow_slots(struct ch_set *set)
{
    size_t count = set->slot_count > 0 ? 2 * set->slot_count : 1024;
    uint32_t *slots = calloc(count, sizeof *slots);

    if (slots == NULL)
        return cli_fail_memory();
    for (size_t i = 0; i < set->count; i++) {
        size_t at = set->items[i].hash & (count - 1);
        while (slots[at] != 0)
            at = (at + 1) & (count - 1);
        slots[at] = (uint32_t)i + 1;
    }
    free(set->slots);
    set->slots = slots;
    set->slot_count = count;
    return CLI_OK;
}

/* A few bytes may be the unit of many numbers, or the name of many sample types: texts have the
 * budget of an import. */
static int check_bytes(uint64_t bytes)
{
    if (!cli_is_beyond(bytes, CLI_FREE_BYTES, CLI_BYTES_PER_BYTE))
        return CLI_OK;
    return cli_fail(CLI_INPUT,
                    "labels and names take more than %llu MB, too much for the size of the input; "
                    "if you trust it, use --trusted",
                    (unsigned long long)(bytes >> 20));
}

/* Reserves memory for one more item of this size. */
static int reserve(struct ch_set *set, size_t size)
{
    if (set->count >= UINT32_MAX - 1)
        return cli_fail(CLI_INPUT, "more than %u distinct values; use several commands",
                        UINT32_MAX - 1);
    if (set->count == set->capacity) {
        size_t capacity = set->capacity > 0 ? 2 * set->capacity : 256;
        struct ch_item *items = realloc(set->items, capacity * sizeof *items);
        if (items == NULL)
            return cli_fail_memory();
        set->items = items;
        set->capacity = capacity;
    }
    if (size > set->bytes_capacity - set->used) {
        size_t capacity = set->bytes_capacity + set->bytes_capacity / 2 + size + 4096;
        if (set->is_limited && check_bytes((uint64_t)set->used + size) != CLI_OK)
            return CLI_INPUT;
        char *bytes = realloc(set->bytes, capacity);
        if (bytes == NULL)
            return cli_fail_memory();
        set->bytes = bytes;
        set->bytes_capacity = capacity;
    }
    return 2 * (set->count + 1) > set->slot_count ? grow_slots(set) : CLI_OK;
}

int ch_set_add(struct ch_set *set, const void *data, size_t size, uint32_t *index)
{
    uint64_t hash = hash_bytes(data, size);
    int code = reserve(set, size);

    if (code != CLI_OK)
        return code;
    size_t at = hash & (set->slot_count - 1);
    for (; set->slots[at] != 0; at = (at + 1) & (set->slot_count - 1)) {
        const struct ch_item *item = &set->items[set->slots[at] - 1];
        if (item->hash == hash && item->size == size &&
            (size == 0 || memcmp(set->bytes + item->at, data, size) == 0)) {
            *index = set->slots[at] - 1;
            return CLI_OK;
        }
    }
    set->items[set->count] = (struct ch_item){hash, set->used, size};
    if (size > 0)
        memcpy(set->bytes + set->used, data, size);
    set->used += size;
    *index = (uint32_t)set->count++;
    set->slots[at] = *index + 1;
    return CLI_OK;
}

void ch_set_clear(struct ch_set *set)
{
    /* Few items of a large set: clear their slots only. */
    if (set->count < set->slot_count / 16) {
        for (size_t i = set->count; i-- > 0;) {
            size_t at = set->items[i].hash & (set->slot_count - 1);
            while (set->slots[at] != i + 1)
                at = (at + 1) & (set->slot_count - 1);
            set->slots[at] = 0;
        }
    } else if (set->slot_count > 0) {
        memset(set->slots, 0, set->slot_count * sizeof *set->slots);
    }
    set->count = set->used = 0;
}

void ch_set_free(struct ch_set *set)
{
    free(set->slots);
    free(set->items);
    free(set->bytes);
    *set = (struct ch_set){0};
}

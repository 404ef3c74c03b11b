/*
 * test_util.c - util: errors and their positions, allocation, the hash table, integers of texts,
 * long texts
 */
#include <criterion/criterion.h>

#include "pcol.h"
#include "util/alloc.h"
#include "util/control.h"
#include "util/error.h"
#include "util/hash.h"
#include "util/integer.h"
#include "util/long_texts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- errors */

static void expect_place(const pcol_error *err, const char *expected)
{
    char text[192];
    cr_assert_eq(pcol_error_place(err, text, sizeof text), text);
    cr_assert_str_eq(text, expected);
}

Test(error, names_of_everything)
{
    cr_assert_str_eq(pcol_version(), "1.0.0" PCOL_VERSION_SUFFIX);
    cr_assert_str_eq(pcol_status_name(PCOL_E_CORRUPT), "E_CORRUPT");
    cr_assert_str_eq(pcol_status_name(PCOL_OK), "OK");
    cr_assert_str_eq(pcol_status_text(PCOL_E_TRUNCATED), "file is cut");
    cr_assert_str_eq(pcol_status_name((pcol_status)77), "E_UNKNOWN");
    cr_assert_str_eq(pcol_status_text((pcol_status)77), "unknown error");
    for (int i = PCOL_I64; i <= PCOL_LIST; i++)
        cr_assert_str_neq(pcol_type_name((pcol_type)i), "unknown");
    cr_assert_str_eq(pcol_type_name((pcol_type)9), "unknown");
}

Test(error, blank_fields_say_nothing)
{
    pcol_error err;
    memset(&err, 0x5a, sizeof err);
    cr_assert_eq(pci_fail(&err, PCOL_E_STATE, "step %d", 3), PCOL_E_STATE);
    cr_assert(err.status == PCOL_E_STATE && err.offset == PCOL_POSITION_UNKNOWN &&
              err.inflated_offset == PCOL_POSITION_UNKNOWN && err.line == 0 &&
              err.text_column == 0 && err.row == PCOL_POSITION_UNKNOWN && !err.table[0] &&
              !err.column[0]);
    cr_assert_str_eq(err.message, "step 3");
    expect_place(&err, "");
    cr_assert_eq(pci_fail(NULL, PCOL_E_STATE, "nobody listens"), PCOL_E_STATE);
    cr_assert_eq(pci_fail_cell(NULL, PCOL_E_STATE, "t", NULL, 0, "nor here"), PCOL_E_STATE);
}

Test(error, places)
{
    pcol_error err;
    pci_fail_text(&err, PCOL_E_SYNTAX, 1842, 17, "quote is not closed");
    expect_place(&err, "1842:17");
    pci_fail_text(&err, PCOL_E_SYNTAX, 3, 0, "no");
    expect_place(&err, "3");
    pci_fail_at_byte(&err, PCOL_E_SYNTAX, 40213, "no");
    expect_place(&err, "byte 40213");
    err.inflated_offset = 311870;
    expect_place(&err, "byte 40213 (inflated 311870)");
    pci_fail_cell(&err, PCOL_E_CORRUPT, "samples", "stack", 5, "no");
    expect_place(&err, "table samples, column stack, row 5");
    pci_fail_cell(&err, PCOL_E_CORRUPT, "samples", NULL, PCOL_POSITION_UNKNOWN, "no");
    expect_place(&err, "table samples");
    pci_fail_cell(&err, PCOL_E_CORRUPT, "samples", NULL, 0, "no");
    expect_place(&err, "table samples, row 0");
    pci_fail_cell(&err, PCOL_E_CORRUPT, NULL, NULL, 9, "no");
    expect_place(&err, "row 9");
    expect_place(NULL, "");
    char small[4];
    pci_fail_at_byte(&err, PCOL_E_SYNTAX, 1, "no");
    cr_assert_str_eq(pcol_error_place(&err, small, sizeof small), "byt");
}

Test(error, long_text_is_cut_between_characters)
{
    pcol_error err;
    char text[1000];
    for (size_t lead = 0; lead < 4; lead++) {
        memset(text, 'x', lead);
        for (size_t i = lead; i + 3 < sizeof text; i += 3)
            memcpy(text + i, "\xe2\x82\xac", 4);
        pci_fail_cell(&err, PCOL_E_CORRUPT, text, text, 1, "%s", text);
        cr_assert(strlen(err.message) > 315);
        cr_assert(strlen(err.table) > 43);
        cr_assert_eq((strlen(err.message) - lead) % 3, 0);
        cr_assert_eq((strlen(err.table) - lead) % 3, 0);
        cr_assert_eq((strlen(err.column) - lead) % 3, 0);
    }
    /* An error may be filled again with its own text. */
    pci_fail(&err, PCOL_E_IO, "short");
    pci_fail(&err, PCOL_E_IO, "again: %s", err.message);
    cr_assert_str_eq(err.message, "again: short");
}

Test(error, system_errors)
{
    pcol_error err;
    errno = ENOENT;
    cr_assert_eq(pci_fail_errno(&err, "open the file"), PCOL_E_IO);
    cr_assert_str_eq(err.message, "cannot open the file: No such file or directory");
    cr_assert_eq(err.os_error, ENOENT);
    errno = ENOMEM;
    cr_assert_eq(pci_fail_errno(&err, "map the file"), PCOL_E_NO_MEMORY);
    cr_assert_eq(err.os_error, ENOMEM);
    cr_assert_eq(pci_fail_errno(NULL, "map the file"), PCOL_E_NO_MEMORY);
    cr_assert_eq(pci_fail_memory(&err), PCOL_E_NO_MEMORY);
}

/* Failed system calls below public functions; other errors have no errno. */
Test(error, system_errors_of_calls)
{
    pcol_error err;
    pcol_file *file;
    pcol_output *output;
    pcol_builder *builder;
    cr_assert_eq(pcol_file_open("/nowhere/a.pcol", NULL, &file, &err), PCOL_E_IO);
    cr_expect_eq(err.os_error, ENOENT);
    cr_assert_eq(pcol_file_open_memory("x", 1, NULL, &file, &err), PCOL_E_MAGIC);
    cr_expect_eq(err.os_error, 0);
    cr_assert_eq(pcol_output_open("/nowhere/a.pcol", 0, &output, &err), PCOL_E_IO);
    cr_expect_eq(err.os_error, ENOENT);
    cr_assert_eq(pcol_builder_new(NULL, &builder, &err), PCOL_OK);
    cr_assert_eq(pcol_import_fd(builder, 999999, "x", NULL, &err), PCOL_E_IO);
    cr_expect_eq(err.os_error, EBADF);
    pcol_builder_free(builder);
}

Test(error, set_by_callers)
{
    pcol_error err;
    memset(&err, 0xff, sizeof err);
    cr_assert_eq(pcol_error_set(&err, PCOL_E_IO, EPIPE, "peer %s left", "a"), PCOL_E_IO);
    cr_expect_eq(err.status, PCOL_E_IO);
    cr_expect_eq(err.os_error, EPIPE);
    cr_expect_str_eq(err.message, "peer a left");
    cr_expect_str_eq(err.table, "");
    cr_expect_eq(err.row, PCOL_POSITION_UNKNOWN);
    cr_expect_eq(err.offset, PCOL_POSITION_UNKNOWN);
    cr_expect_eq(err.line, 0);
    for (size_t i = 0; i < sizeof err.reserved / sizeof *err.reserved; i++)
        cr_expect_eq(err.reserved[i], 0);
    cr_expect_eq(pcol_error_set(&err, PCOL_E_LIMIT, 0, "again: %s", err.message), PCOL_E_LIMIT);
    cr_expect_str_eq(err.message, "again: peer a left");
    cr_expect_eq(err.os_error, 0);
    cr_expect_eq(pcol_error_set(&err, PCOL_E_LOSS, 0, NULL), PCOL_E_LOSS);
    cr_expect_str_eq(err.message, pcol_status_text(PCOL_E_LOSS));
    cr_expect_eq(pcol_error_set(&err, PCOL_OK, 0, "x"), PCOL_E_ARGUMENT);
    cr_expect_eq(pcol_error_set(&err, (pcol_status)999, 0, "x"), PCOL_E_ARGUMENT);
    cr_expect_eq(pcol_error_set(NULL, PCOL_E_IO, 0, "x %d", 1), PCOL_E_IO);
}

/* ---- allocation */

static int refuse(void)
{
    return 1;
}

Test(alloc, sizes_that_cannot_be)
{
    void *array = NULL;
    size_t capacity = 0;
    cr_assert_null(pci_malloc(SIZE_MAX, 2));
    cr_assert_null(pci_malloc(SIZE_MAX / 2 + 1, 1));
    cr_assert_null(pci_calloc(SIZE_MAX / 8, 16));
    cr_assert_null(pci_realloc(NULL, SIZE_MAX / 4, 8));
    cr_assert_eq(pci_grow(&array, &capacity, SIZE_MAX / 4, 8), -1);
    cr_assert(!array && capacity == 0);
    void *empty = pci_malloc(0, 8);
    cr_assert_not_null(empty);
    pci_free(empty);
    pci_free(NULL);
    pcol_free(pci_calloc(3, 5));
}

Test(alloc, grow)
{
    void *array = NULL;
    size_t capacity = 0, moves = 0;
    for (size_t n = 1; n <= 100000; n++) {
        size_t before = capacity;
        cr_assert_eq(pci_grow(&array, &capacity, n, sizeof(uint32_t)), 0);
        cr_assert_geq(capacity, n);
        moves += capacity != before;
        ((uint32_t *)array)[n - 1] = (uint32_t)n;
    }
    cr_assert_lt(moves, 20);
    cr_assert_eq(((uint32_t *)array)[777], 778);
    pci_alloc_hook = refuse;
    size_t before = capacity;
    cr_assert_eq(pci_grow(&array, &capacity, capacity + 1, sizeof(uint32_t)), -1);
    cr_assert_eq(capacity, before);
    pci_alloc_hook = NULL;
    cr_assert_eq(((uint32_t *)array)[777], 778);
    pci_free(array);
}

static int cancel_at_third(void *context, const char *phase, uint64_t done, uint64_t total)
{
    (void)phase, (void)done, (void)total;
    return ++*(unsigned *)context == 3;
}

/* The copy of a large array into a larger one takes long where the system clears its pages. */
Test(alloc, growth_is_work_that_can_be_cancelled)
{
    unsigned calls = 0;
    const pcol_control control = {
        .size = sizeof control, .context = &calls, .progress = cancel_at_third};
    struct pci_control scope;
    pcol_error error = {0};
    uint8_t *array = pci_calloc(1, 8 << 20);
    size_t capacity = 8 << 20;
    cr_assert_eq(pci_control_init(&scope, &control, "test", NULL), PCOL_OK);
    cr_assert_eq(pci_control_enter(&scope, NULL), PCOL_OK); /* the first call of progress */
    cr_assert_eq(PCI_GROW(array, capacity, capacity + 1, &error), PCOL_E_CANCELLED);
    cr_assert_eq(error.status, PCOL_E_CANCELLED);
    pci_control_leave(&scope);
    cr_assert_eq(calls, 3);
    cr_assert_eq(capacity, 8 << 20);
    array[capacity - 1] = 7;
    cr_assert_eq(PCI_GROW(array, capacity, capacity + 1, NULL), PCOL_OK);
    cr_assert_eq(array[(8 << 20) - 1], 7);
    pci_free(array);
}

/* ---- hash table */

static uint32_t find(const struct pci_hash *h, const uint64_t *keys, uint64_t key, uint64_t hash)
{
    uint32_t id;
    for (size_t at = pci_hash_start(h, hash);
         (id = pci_hash_next(h, hash, &at)) != PCI_HASH_NONE;) {
        if (keys[id] == key)
            return id;
    }
    return PCI_HASH_NONE;
}

Test(hash, keys_keep_their_ids)
{
    enum { KEYS = 200000 };
    struct pci_hash h = {0};
    uint64_t *keys = malloc(KEYS * sizeof *keys);
    for (uint32_t i = 0; i < KEYS; i++) {
        keys[i] = (uint64_t)i * 4096;
        uint64_t hash = pci_hash_pair(keys[i], i % 3);
        cr_assert_eq(find(&h, keys, keys[i], hash), PCI_HASH_NONE);
        cr_assert_eq(pci_hash_add(&h, hash, i, NULL), PCOL_OK);
    }
    cr_assert_eq(h.count, KEYS);
    cr_assert_geq(h.mask + 1, h.count / 5 * 8);
    for (uint32_t i = 0; i < KEYS; i++)
        cr_assert_eq(find(&h, keys, keys[i], pci_hash_pair(keys[i], i % 3)), i);
    pci_hash_clear(&h);
    cr_assert(!h.slots && h.count == 0);
    cr_assert_eq(find(&h, keys, 1, 1), PCI_HASH_NONE);
    free(keys);
}

/* Equal hashes are distinguished by the caller, and a full table of them still ends. */
Test(hash, equal_hashes)
{
    struct pci_hash h = {0};
    uint64_t keys[300];
    for (uint32_t i = 0; i < 300; i++) {
        keys[i] = i;
        cr_assert_eq(pci_hash_add(&h, UINT64_C(0x1234567800000000), i, NULL), PCOL_OK);
    }
    for (uint32_t i = 0; i < 300; i++)
        cr_assert_eq(find(&h, keys, i, UINT64_C(0x12345678ffffffff)), i);
    cr_assert_eq(find(&h, keys, 0, UINT64_C(0x1234567900000000)), PCI_HASH_NONE);
    pci_hash_clear(&h);
}

Test(hash, without_memory_nothing_changes)
{
    struct pci_hash h = {0};
    pcol_error err;
    uint32_t id = 0;
    pci_alloc_hook = refuse;
    cr_assert_eq(pci_hash_add(&h, 1, 0, &err), PCOL_E_NO_MEMORY);
    pci_alloc_hook = NULL;
    for (; h.count < 40; id++)
        cr_assert_eq(pci_hash_add(&h, (uint64_t)id << 32, id, &err), PCOL_OK);
    pci_alloc_hook = refuse;
    cr_assert_eq(pci_hash_add(&h, UINT64_C(99) << 32, id, &err), PCOL_E_NO_MEMORY);
    pci_alloc_hook = NULL;
    cr_assert_eq(h.count, 40);
    pci_hash_clear(&h);
}

/* Small dense pairs, as parents and groups are, spread over the upper half that the table uses. */
Test(hash, pairs_spread)
{
    enum { SIDE = 512, BUCKETS = 1 << 16 };
    static uint32_t buckets[BUCKETS];
    uint32_t fullest = 0;
    for (uint64_t a = 0; a < SIDE; a++) {
        for (uint64_t b = 0; b < SIDE; b++) {
            uint32_t n = ++buckets[pci_hash_pair(a, b) >> 32 & (BUCKETS - 1)];
            fullest = n > fullest ? n : fullest;
        }
    }
    cr_assert_lt(fullest, 24, "four pairs a bucket on average, %u in one", fullest);
    cr_assert(pci_hash_seed[0] && pci_hash_seed[1] && pci_hash_seed[0] != pci_hash_seed[1]);
    cr_assert_neq(pci_hash_bytes("a", 1), pci_hash_bytes("b", 1));
    cr_assert_eq(pci_hash_bytes("abc", 2), pci_hash_bytes("abd", 2));
}

/* ---- integers */

Test(integer, takes_the_whole_range_and_nothing_else)
{
    static const struct {
        const char *text;
        int64_t value;
    } good[] = {{"0", 0},
                {"-0", 0},
                {"007", 7},
                {"-12", -12},
                {"9223372036854775807", INT64_MAX},
                {"-9223372036854775808", INT64_MIN},
                {"0000000000000000000000000042", 42}};
    static const char *const bad[] = {"",
                                      "-",
                                      "+1",
                                      " 1",
                                      "1 ",
                                      "1.0",
                                      "0x1",
                                      "--1",
                                      "1:",
                                      "1/",
                                      "1\x80",
                                      "9223372036854775808",
                                      "-9223372036854775809",
                                      "99999999999999999999999"};
    int64_t value;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        cr_assert(pci_parse_i64(good[i].text, strlen(good[i].text), &value), "%s", good[i].text);
        cr_assert_eq(value, good[i].value, "%s", good[i].text);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        cr_assert(!pci_parse_i64(bad[i], strlen(bad[i]), &value), "%s", bad[i]);
}

Test(util, parse_decimal)
{
    static const struct {
        const char *text;
        int64_t value;
    } good[] = {{"0", 0},
                {"1.5", 1500},
                {"-1.5", -1500},
                {"-0.0006", -1},
                {"2.0004", 2000},
                {"2.0005", 2001},
                {"2.999999", 3000},
                {"1700000000000000.1", 1700000000000000100},
                {"9223372036854775.807", INT64_MAX},
                {"-9223372036854775.808", INT64_MIN}};
    static const char *const bad[] = {"",
                                      "-",
                                      ".5",
                                      "-.5",
                                      "1e3",
                                      "1.5e0",
                                      "1.x",
                                      "1.0000x",
                                      "9223372036854775.8075",
                                      "+1",
                                      "1 ",
                                      "0x1",
                                      "9223372036854776",
                                      "99999999999999999999999999999999999999999999"};
    int64_t value;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        cr_assert(pci_parse_decimal(good[i].text, strlen(good[i].text), 3, &value), "%s",
                  good[i].text);
        cr_assert_eq(value, good[i].value, "%s", good[i].text);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        cr_assert(!pci_parse_decimal(bad[i], strlen(bad[i]), 3, &value), "%s", bad[i]);
}

/* ---- long texts */

/* Texts of equal bytes in different places. */
static pcol_str filled(size_t number, size_t size)
{
    static char places[42][2 * PCI_LONG_TEXT];
    memset(places[number], 'n', size);
    return (pcol_str){places[number], size};
}

Test(long_texts, memo_knows_long_texts_by_their_place)
{
    struct pci_text_memo memo = {0};
    pcol_error err;
    pcol_str texts[40], copy = filled(40, 2 * PCI_LONG_TEXT), brief = filled(41, PCI_LONG_TEXT);
    cr_assert_eq(pci_text_memo_find(&memo, copy), PCI_HASH_NONE);
    for (uint32_t i = 0; i < 40; i++) {
        texts[i] = filled(i, 2 * PCI_LONG_TEXT);
        cr_assert_eq(pci_text_memo_add(&memo, texts[i], i, &err), PCOL_OK);
    }
    for (uint32_t i = 0; i < 40; i++) {
        pcol_str head = {texts[i].data, texts[i].size - 1};
        cr_assert_eq(pci_text_memo_find(&memo, texts[i]), i);
        cr_assert_eq(pci_text_memo_find(&memo, head), PCI_HASH_NONE, "the size is compared, too");
    }
    cr_assert_eq(pci_text_memo_find(&memo, copy), PCI_HASH_NONE, "the bytes are not compared");
    cr_assert_eq(pci_text_memo_add(&memo, texts[7], 70, &err), PCOL_OK);
    cr_assert_eq(pci_text_memo_find(&memo, texts[7]), 70);
    cr_assert_eq(pci_text_memo_add(&memo, brief, 1, &err), PCOL_OK);
    cr_assert_eq(pci_text_memo_find(&memo, brief), PCI_HASH_NONE, "short texts are not kept");
    pci_text_memo_clear(&memo);
    cr_assert_eq(pci_text_memo_find(&memo, texts[7]), PCI_HASH_NONE);
}

Test(long_texts, hash_of_a_stored_text_is_that_of_its_bytes)
{
    struct pci_text_memo memo = {0};
    pcol_error err;
    for (size_t size = PCI_LONG_TEXT - 1; size < PCI_LONG_TEXT + 3; size++) {
        pcol_str text = filled(0, size), copy = filled(1, size);
        uint64_t first, again;
        cr_assert_eq(pci_text_memo_hash(&memo, text, &first, &err), PCOL_OK);
        cr_assert_eq(pci_text_memo_hash(&memo, text, &again, &err), PCOL_OK);
        cr_assert_eq(first, again);
        cr_assert_eq(first, pci_text_hash(copy));
        pci_text_memo_clear(&memo);
    }
}

Test(long_texts, limit_counts_long_texts_only)
{
    uint64_t bytes = 0;
    pcol_error err;
    for (size_t i = 0; i < 1000000; i++)
        cr_assert_eq(pci_count_long_text(&bytes, PCI_LONG_TEXT, &err), PCOL_OK);
    cr_assert_eq(bytes, 0);
    cr_assert_eq(pci_count_long_text(&bytes, PCI_LONG_TEXT_BYTES, &err), PCOL_OK);
    cr_assert_eq(pci_count_long_text(&bytes, PCI_LONG_TEXT, &err), PCOL_OK);
    cr_assert_eq(pci_count_long_text(&bytes, PCI_LONG_TEXT + 1, &err), PCOL_E_LIMIT);
}

Test(integers, integers_of_json)
{
    static const char *const integers[] = {"0", "-0", "7", "-118059162071741130424"};
    static const char *const others[] = {"", "-", "00", "-01", "+1", "1 ", "1.0", "1e3", "0x1"};
    for (size_t i = 0; i < sizeof integers / sizeof *integers; i++)
        cr_assert(pci_is_integer(integers[i], strlen(integers[i])));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        cr_assert(!pci_is_integer(others[i], strlen(others[i])));
    cr_assert(!pci_is_integer("1\0", 2));
}

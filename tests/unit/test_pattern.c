/*
 * test_pattern.c - patterns: matches, and patterns that are rejected before they cost time
 */
#include <criterion/criterion.h>

#include "pcol.h"
#include "util/alloc.h"

#include <stdlib.h>
#include <string.h>

/* Whether the pattern matches; -1: rejected, with the error in *err. */
static int matches(const char *text, int whole, const char *name, size_t size, pcol_error *err)
{
    pcol_pattern *pattern;
    pcol_str s = {name, size};
    int yes = -1;
    if (pcol_pattern_new(text, strlen(text), "--x", whole, &pattern, err) != PCOL_OK) {
        cr_expect_null(pattern);
        return -1;
    }
    cr_expect_eq(pcol_pattern_test(pattern, s, &yes, err), PCOL_OK);
    pcol_pattern_free(pattern);
    return yes;
}

static void expect(const char *text, int whole, const char *name, int yes)
{
    pcol_error err = {0};
    cr_expect_eq(matches(text, whole, name, strlen(name), &err), yes, "%s on %s: %s", text, name,
                 err.message);
}

Test(pattern, part_and_whole)
{
    expect("a", 0, "bab", 1);
    expect("a", 1, "bab", 0);
    expect("b|a", 1, "a", 1);
    expect("", 0, "x", 1);
    expect("", 1, "x", 0);
    expect("", 1, "", 1);
}

Test(pattern, spellings_of_others)
{
    expect("(?:ab)+?c", 1, "ababc", 1);
    expect("(?i)MAIN", 0, "xmainx", 1);
    expect("v\\d+", 1, "v12", 1);
    expect("[\\d.]+", 1, "1.2", 1);
    expect("a)", 0, "a)", 1); /* what closes no group is itself */
    expect("main::{{closure}}$", 0, "app::main::{{closure}}",
           1); /* nor one that begins no repeat */
    expect("x(?i)ab(?-i:c)", 1, "xABc", 1);
    expect("x(?i)ab(?-i:c)", 1, "xABC", 0);
    expect("x(?i:a)b", 1, "xAB", 0);
    expect("[\\w-]+\\s\\D\\t", 1, "a-_9 x\t", 1);
    expect("[[:word:]]{2}[[:cntrl:]]", 1, "a_\x7f", 1);
    expect("\\Aa\\b.\\Bb?\\z", 1, "a-", 1);
    expect("\xc3\xa9+", 1, "\xc3\xa9\xc3\xa9", 1); /* a character is repeated, not its last byte */
}

Test(pattern, repeats_of_repeats)
{
    expect("(ab?){2,4}", 1, "aabab", 1);
    expect("(ab?){2,4}", 1, "ab", 0);
    expect("(ab?){2,4}", 1, "aaaaa", 0);
    expect("(a{3,}b){2}", 1, "aaaabaaab", 1);
    expect("(a{3,}b){2}", 1, "aabaaab", 0);
    expect("a{2}{3}", 1, "aaaaaa", 1);
    expect("x{0}y", 1, "y", 1);
    expect("x{,2}y", 1, "xxy", 1);
    expect("(a|b|){3}", 1, "ab", 1);
    expect("a+*b?+", 1, "bbb", 1);
}

Test(pattern, a_set_in_all_its_ways)
{
    expect("[]a-]+", 1, "]-a", 1);
    expect("[^]]", 1, "]", 0);
    expect("[[.a.]-c]", 1, "b", 1);
    expect("(?i)[^a]", 1, "A", 0);
    expect("[[:upper:][=z=]]", 1, "z", 1);
    expect("[[:upper:][=z=]]", 1, "y", 0);
}

Test(pattern, states_are_forgotten_and_made_again)
{
    pcol_error err;
    pcol_pattern *pattern;
    size_t size = 200000;
    char *name = malloc(size);
    pcol_str text = {name, size};
    int yes;
    uint32_t x = 1;
    cr_assert_not_null(name);
    for (size_t i = 0; i < size; i++) {
        x = x * 1664525 + 1013904223;
        name[i] = x >> 31 ? 'a' : 'b';
    }
    name[size - 20] = 'a';
    name[size - 1] = 'c';
    cr_assert_eq(pcol_pattern_new("a(a|b){18}c", 11, "--x", 0, &pattern, &err), PCOL_OK);
    cr_expect_eq(pcol_pattern_test(pattern, text, &yes, &err), PCOL_OK);
    cr_expect_eq(yes, 1);
    text.size--;
    cr_expect_eq(pcol_pattern_test(pattern, text, &yes, &err), PCOL_OK);
    cr_expect_eq(yes, 0);
    pcol_pattern_free(pattern);
    free(name);
}

static int fail_at;

static int fail_once(void)
{
    return fail_at-- == 0;
}

/* A test that ran out of memory leaves no state that a later one would use. */
Test(pattern, memory_that_is_out_spoils_no_later_name)
{
    static const char text[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    enum { SIZE = sizeof text - 1 };
    pcol_error err;
    pcol_pattern *pattern;
    int yes, failed = 0;
    for (int at = 0; at < 12; at++) {
        for (size_t from = 1; from < SIZE; from++) {
            char rest[SIZE] = {'#'};
            pcol_str nearly = {text, SIZE - 1}, name = {rest, SIZE - from + 1};
            memcpy(rest + 1, text + from, SIZE - from);
            cr_assert_eq(pcol_pattern_new(text, SIZE, "--x", 0, &pattern, &err), PCOL_OK);
            fail_at = at;
            pci_alloc_hook = fail_once;
            failed += pcol_pattern_test(pattern, nearly, &yes, &err) == PCOL_E_NO_MEMORY;
            pci_alloc_hook = NULL;
            cr_expect_eq(pcol_pattern_test(pattern, name, &yes, &err), PCOL_OK);
            cr_expect_eq(yes, 0, "allocation %d, from %zu", at, from);
            pcol_pattern_free(pattern);
        }
    }
    cr_expect_gt(failed, 1);
}

Test(pattern, time_is_bounded)
{
    static const char text[] = "((a|b){1000}){15}c";
    pcol_error err;
    pcol_pattern *pattern;
    char *name = malloc(100000);
    pcol_str long_one = {name, 100000};
    int yes;
    cr_assert_not_null(name);
    memset(name, 'a', 100000);
    cr_assert_eq(pcol_pattern_new(text, sizeof text - 1, "--x", 0, &pattern, &err), PCOL_OK);
    cr_expect_eq(pcol_pattern_test(pattern, long_one, &yes, &err), PCOL_E_LIMIT);
    cr_expect_str_eq(err.message,
                     "--x: the pattern needs too many steps for these names; simplify it");
    pcol_pattern_free(pattern);
    free(name);
}

Test(pattern, a_nul_ends_no_name)
{
    pcol_error err;
    cr_expect_eq(matches("b$", 0, "a\0b", 3, &err), 1);
    cr_expect_eq(matches("^a$", 0, "a\0b", 3, &err), 0);
    cr_expect_eq(matches("^a.b$", 0, "a\0b", 3, &err), 1);
}

Test(pattern, refusals_name_whose_it_is)
{
    static const char *const rejected[][2] = {
        {"((a{1000}){100})", "--x: the pattern is too large with all of its repeats"},
        {"a{1001}", "--x: the pattern repeats an item more than 1000 times"},
        {"a{3,2}", "--x: the pattern has a repeat whose minimum is above its maximum"},
        {"a|*", "--x: the pattern repeats nothing"},
        {"^{2}", "--x: the pattern repeats nothing"},
        {"a\\p", "--x: the pattern has an unknown escape"},
        {"[\\q]", "--x: the pattern has an unknown escape within brackets"},
        {"[[:foo:]]", "--x: the pattern has an unknown class of characters"},
        {"[[.ab.]]",
         "--x: the pattern has a collating element of several characters: only one is supported"},
        {"[z-a]", "--x: the pattern has a range of characters that ends before it begins"},
        {"[a-c-e]", "--x: the pattern has a range of characters that begins with another's end"},
        {"[\xc3\xa9]",
         "--x: the pattern has a non-ASCII character within brackets: write (x|y) instead"},
        {"(a)\\1", "--x: the pattern has a back reference"},
        {"(a", "--x: the pattern has an unmatched ("},
        {"[a", "--x: the pattern has an unmatched ["},
        {"a\\", "--x: the pattern ends in a backslash"},
        {"(?=a)", "--x: the pattern has an unsupported (? group"},
        {"(?P<a>b)", "--x: the pattern has an unsupported (? group"},
    };
    for (size_t i = 0; i < sizeof rejected / sizeof *rejected; i++) {
        pcol_error err;
        cr_expect_eq(matches(rejected[i][0], 0, "", 0, &err), -1, "%s", rejected[i][0]);
        cr_expect_eq(err.status, PCOL_E_ARGUMENT);
        cr_expect_str_eq(err.message, rejected[i][1]);
    }
}

Test(pattern, arguments)
{
    pcol_error err;
    pcol_pattern *pattern;
    char *large = malloc(65537);
    cr_assert_not_null(large);
    memset(large, 'a', 65537);
    cr_expect_eq(pcol_pattern_new("a", 1, "--x", 0, NULL, &err), PCOL_E_ARGUMENT);
    cr_expect_eq(pcol_pattern_new(NULL, 0, "--x", 0, &pattern, &err), PCOL_E_ARGUMENT);
    cr_expect_eq(pcol_pattern_new("a", 1, NULL, 0, &pattern, &err), PCOL_E_ARGUMENT);
    cr_expect_eq(pcol_pattern_new("a\0b", 3, "--x", 0, &pattern, &err), PCOL_E_ARGUMENT);
    cr_expect_str_eq(err.message, "--x: the pattern contains a NUL byte");
    cr_expect_eq(pcol_pattern_new(large, 65537, "--x", 0, &pattern, &err), PCOL_E_ARGUMENT);
    cr_expect_str_eq(err.message, "--x: the pattern is longer than 65536 bytes");
    pcol_pattern_free(NULL);
    free(large);
}

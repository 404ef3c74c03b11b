/*
 * test_pattern.c - patterns: what matches, and what is refused before it costs anything
 */
#include <criterion/criterion.h>

#include "pcol.h"

#include <stdlib.h>
#include <string.h>

/* Whether the pattern matches; -1: refused, with the error in *err. */
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
    static const char *const refused[][2] = {
        {"((a{100}){100})", "--x: the pattern repeats something more than 1000 times"},
        {"(a)\\1", "--x: the pattern has a back reference"},
        {"(a", "--x: the pattern has an unmatched ("},
        {"[a", "--x: the pattern has an unmatched ["},
        {"a\\", "--x: the pattern ends in a backslash"},
        {"(?=a)", "--x: the pattern has a (? that is not known here"},
        {"(((((a*)*)*)*)*)*", "--x: the pattern repeats what may be empty in too many ways"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        pcol_error err;
        cr_expect_eq(matches(refused[i][0], 0, "", 0, &err), -1, "%s", refused[i][0]);
        cr_expect_eq(err.status, PCOL_E_ARGUMENT);
        cr_expect_str_eq(err.message, refused[i][1]);
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
    cr_expect_str_eq(err.message, "--x: the pattern holds a NUL");
    cr_expect_eq(pcol_pattern_new(large, 65537, "--x", 0, &pattern, &err), PCOL_E_ARGUMENT);
    cr_expect_str_eq(err.message, "--x: the pattern is longer than 65536 bytes");
    pcol_pattern_free(NULL);
    free(large);
}

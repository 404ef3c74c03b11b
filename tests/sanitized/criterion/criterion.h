/*
 * criterion.h - the part of Criterion's interface that tests/unit uses, for sanitizers
 *
 * Criterion starts each test in a sandbox that ThreadSanitizer does not support and that starts
 * slowly under AddressSanitizer. The variants `tsan` and `asan` compile tests/unit with this header
 * instead; tests/sanitized/unit.c forks a process for each test.
 * Failed assertions end the process of the test, failed expectations only count.
 */
#ifndef SANITIZED_CRITERION_H
#define SANITIZED_CRITERION_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct unit_test {
    const char *suite, *name;
    void (*run)(void);
    struct unit_test *next;
};

struct unit_options {
    void (*init)(void), (*fini)(void);
};

struct unit_suite {
    const char *name;
    struct unit_options options;
    struct unit_suite *next;
};

void unit_add_test(struct unit_test *test);
void unit_add_suite(struct unit_suite *suite);
/* Reports a failure; ends the test if it is fatal. */
void unit_fail(int fatal, const char *file, int line, const char *condition, const char *format,
               ...) __attribute__((format(printf, 5, 6)));

#define Test(suite_, name_)                                                              \
    static void suite_##_##name_##_test(void);                                           \
    __attribute__((constructor)) static void suite_##_##name_##_add(void)                \
    {                                                                                    \
        static struct unit_test test = {#suite_, #name_, suite_##_##name_##_test, NULL}; \
        unit_add_test(&test);                                                            \
    }                                                                                    \
    static void suite_##_##name_##_test(void)

#define TestSuite(suite_, ...)                                           \
    __attribute__((constructor)) static void suite_##_suite(void)        \
    {                                                                    \
        static struct unit_suite suite = {#suite_, {__VA_ARGS__}, NULL}; \
        unit_add_suite(&suite);                                          \
    }                                                                    \
    _Static_assert(1, "a semicolon follows")

#define UNIT_CHECK(fatal, condition, text, ...)                         \
    do {                                                                \
        if (!(condition))                                               \
            unit_fail(fatal, __FILE__, __LINE__, text, "" __VA_ARGS__); \
    } while (0)

#define UNIT_COMPARE(fatal, a, operator, b, ...) \
    UNIT_CHECK(fatal, (a) operator(b), #a " " #operator" " #b, __VA_ARGS__)

#define cr_assert(x, ...) UNIT_CHECK(1, x, #x, __VA_ARGS__)
#define cr_expect(x, ...) UNIT_CHECK(0, x, #x, __VA_ARGS__)
#define cr_assert_not(x, ...) UNIT_CHECK(1, !(x), "!" #x, __VA_ARGS__)
#define cr_expect_not(x, ...) UNIT_CHECK(0, !(x), "!" #x, __VA_ARGS__)
#define cr_assert_fail(...) UNIT_CHECK(1, 0, "unreachable", __VA_ARGS__)
#define cr_assert_eq(a, b, ...) UNIT_COMPARE(1, a, ==, b, __VA_ARGS__)
#define cr_expect_eq(a, b, ...) UNIT_COMPARE(0, a, ==, b, __VA_ARGS__)
#define cr_assert_neq(a, b, ...) UNIT_COMPARE(1, a, !=, b, __VA_ARGS__)
#define cr_expect_neq(a, b, ...) UNIT_COMPARE(0, a, !=, b, __VA_ARGS__)
#define cr_assert_lt(a, b, ...) UNIT_COMPARE(1, a, <, b, __VA_ARGS__)
#define cr_expect_lt(a, b, ...) UNIT_COMPARE(0, a, <, b, __VA_ARGS__)
#define cr_assert_gt(a, b, ...) UNIT_COMPARE(1, a, >, b, __VA_ARGS__)
#define cr_expect_gt(a, b, ...) UNIT_COMPARE(0, a, >, b, __VA_ARGS__)
#define cr_assert_leq(a, b, ...) UNIT_COMPARE(1, a, <=, b, __VA_ARGS__)
#define cr_assert_geq(a, b, ...) UNIT_COMPARE(1, a, >=, b, __VA_ARGS__)
#define cr_expect_geq(a, b, ...) UNIT_COMPARE(0, a, >=, b, __VA_ARGS__)
#define cr_assert_null(a, ...) UNIT_COMPARE(1, a, ==, NULL, __VA_ARGS__)
#define cr_expect_null(a, ...) UNIT_COMPARE(0, a, ==, NULL, __VA_ARGS__)
#define cr_assert_not_null(a, ...) UNIT_COMPARE(1, a, !=, NULL, __VA_ARGS__)
#define cr_assert_str_eq(a, b, ...) UNIT_CHECK(1, !strcmp(a, b), #a " is " #b, __VA_ARGS__)
#define cr_expect_str_eq(a, b, ...) UNIT_CHECK(0, !strcmp(a, b), #a " is " #b, __VA_ARGS__)
#define cr_assert_str_neq(a, b, ...) UNIT_CHECK(1, strcmp(a, b), #a " is not " #b, __VA_ARGS__)
#define cr_assert_str_empty(a, ...) UNIT_CHECK(1, !*(a), #a " is empty", __VA_ARGS__)
#define cr_expect_str_empty(a, ...) UNIT_CHECK(0, !*(a), #a " is empty", __VA_ARGS__)
#define cr_assert_arr_eq(a, b, n, ...) \
    UNIT_CHECK(1, !memcmp(a, b, n), #a " equals " #b, __VA_ARGS__)
#define cr_expect_arr_eq(a, b, n, ...) \
    UNIT_CHECK(0, !memcmp(a, b, n), #a " equals " #b, __VA_ARGS__)
#define cr_assert_float_eq(a, b, epsilon, ...) \
    UNIT_CHECK(1, fabs((a) - (b)) <= (epsilon), #a " is " #b, __VA_ARGS__)
#define cr_expect_float_eq(a, b, epsilon, ...) \
    UNIT_CHECK(0, fabs((a) - (b)) <= (epsilon), #a " is " #b, __VA_ARGS__)
#define cr_log_warn(...) fprintf(stderr, __VA_ARGS__)

#endif

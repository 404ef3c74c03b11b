/*
 * unit.c - runs the tests of tests/unit without Criterion: unit-tests [SUITE[/NAME]...]
 *
 * Each test is a process of its own and starts without threads. It fails by an assertion, an
 * expectation, a signal, or the exit code of the sanitizer. The last line is "N passed, N failed".
 */
#include "criterion/criterion.h"

#include <stdarg.h>
#include <sys/wait.h>
#include <unistd.h>

static struct unit_test *tests;
static struct unit_suite *suites;
static int failures; /* of the current test */

void unit_add_test(struct unit_test *test)
{
    test->next = tests;
    tests = test;
}

void unit_add_suite(struct unit_suite *suite)
{
    suite->next = suites;
    suites = suite;
}

void unit_fail(int fatal, const char *file, int line, const char *condition, const char *format,
               ...)
{
    va_list arguments;
    va_start(arguments, format);
    printf("%s:%d: not %s: ", file, line, condition);
    vprintf(format, arguments);
    putchar('\n');
    va_end(arguments);
    failures++;
    if (fatal)
        exit(1);
}

static void run(const struct unit_test *test)
{
    const struct unit_suite *suite = suites;
    while (suite != NULL && strcmp(suite->name, test->suite) != 0)
        suite = suite->next;
    if (suite != NULL && suite->options.init != NULL)
        suite->options.init();
    test->run();
    if (suite != NULL && suite->options.fini != NULL)
        suite->options.fini();
    exit(failures != 0);
}

static int is_selected(const struct unit_test *test, char **names, int count)
{
    size_t size = strlen(test->suite);
    for (int i = 0; i < count; i++)
        if (strncmp(names[i], test->suite, size) == 0 &&
            (names[i][size] == '\0' ||
             (names[i][size] == '/' && strcmp(names[i] + size + 1, test->name) == 0)))
            return 1;
    return count == 0;
}

int main(int argc, char **argv)
{
    unsigned passed = 0, failed = 0;
    for (const struct unit_test *test = tests; test != NULL; test = test->next) {
        int status = 0;
        if (!is_selected(test, argv + 1, argc - 1))
            continue;
        fflush(stdout);
        pid_t child = fork();
        if (child == 0)
            run(test);
        if (child > 0 && waitpid(child, &status, 0) == child && status == 0) {
            passed++;
            continue;
        }
        failed++;
        printf("FAIL %s/%s, wait status %d\n", test->suite, test->name, status);
    }
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0;
}

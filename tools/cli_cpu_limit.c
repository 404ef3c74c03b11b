/*
 * cli_cpu_limit.c - limit of a command's CPU time, for untrusted inputs
 *
 * The library limits counts of an input, the same on every machine, before it works on them. This
 * limit is the last one: it covers all that a command does, also products of counts that have no
 * limit of their own. A timer of the CPU time sends SIGPROF; the handler (cli_output.c) removes the
 * temporary file and ends the command. Tests: suite file_handling.
 */
#include "cli.h"
#include "cli_folder.h"

#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#ifndef __has_feature
#define __has_feature(name) 0
#endif
/* Sanitizers slow programs down. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__ ||         \
    __has_feature(address_sanitizer) || __has_feature(memory_sanitizer) || \
    __has_feature(thread_sanitizer)
#define FREE_US (UINT64_C(20) * 10000000)
#else
#define FREE_US UINT64_C(10000000)
#endif
#define US_PER_BYTE 10u
#define MOST_US (UINT64_C(1) << 50)

static const char *command; /* NULL: no limit */
static int is_running;      /* the limit applies now */
static uint64_t begin_us;   /* what this process used before, also as another program */
static uint64_t input_bytes, input_samples;
static char message[256];
static volatile sig_atomic_t message_size;

static uint64_t add(uint64_t a, uint64_t b)
{
    return a < MOST_US && b < MOST_US ? a + b : MOST_US;
}

/* The limit: 10 s, for more than 1 MB 10 s for each MB, and a microsecond for each sample, as a few
 * bytes of a pcol file may be millions of equal ones. */
static uint64_t allowed_us(void)
{
    uint64_t us = input_bytes < MOST_US / US_PER_BYTE ? input_bytes * US_PER_BYTE : MOST_US;

    return add(us > FREE_US ? us : FREE_US, input_samples);
}

static uint64_t used_us(void)
{
    struct timespec now;

    if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now) != 0)
        return 0;
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/* The message and the timer change without the signal in between. */
static void set_timer(void)
{
    struct itimerval timer = {.it_value = {0, 0}};
    sigset_t old;

    cli_signals_hold(&old);
    message_size = 0;
    if (command != NULL && is_running) {
        uint64_t us = allowed_us(), used = used_us() - begin_us;
        uint64_t left = us > used ? us - used : 1;
        timer.it_value.tv_sec = (time_t)(left / 1000000);
        timer.it_value.tv_usec = (suseconds_t)(left % 1000000);
        int size = snprintf(message, sizeof message,
                            "pcol %s: more than %llu s of CPU time, too much for the size of the "
                            "input; if you trust it, use --trusted\n",
                            command, (unsigned long long)(us / 1000000));
        message_size = size > 0 && (size_t)size < sizeof message ? size : 0;
    }
    (void)setitimer(ITIMER_PROF, &timer, NULL); /* cannot fail with valid times */
    cli_signals_release(&old);
}

void cli_cpu_limit_begin(const struct cli_args *args)
{
    if (args->trusted)
        return;
    command = args->command;
    input_bytes = input_samples = 0;
    cli_cpu_limit_renew();
}

void cli_cpu_limit_renew(void)
{
    begin_us = used_us();
    is_running = 1;
    set_timer();
}

void cli_cpu_limit_end(void)
{
    is_running = 0;
    set_timer();
}

void cli_cpu_limit_lift(void)
{
    command = NULL;
    set_timer();
}

void cli_cpu_limit_input(const char *path)
{
    struct stat info;

    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode))
        command = NULL;
    else
        input_bytes = add(input_bytes, (uint64_t)info.st_size);
    set_timer();
}

void cli_cpu_limit_samples(uint64_t samples)
{
    input_samples = add(input_samples, samples);
    set_timer();
}

int cli_cpu_limit_report(void)
{
    if (message_size > 0 && write(STDERR_FILENO, message, (size_t)message_size) < 0)
        return 1; /* stderr is closed */
    return message_size > 0;
}

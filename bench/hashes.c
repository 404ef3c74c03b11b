/*
 * hashes.c - time of the content hashes of a file, for bench/cases/fleet.py
 *
 *     hashes FILE
 *
 * Prints {"stacks": rows, "ns": CPU time of each}: the least of nine runs, each on a newly opened
 * file, with the hashes of functions and locations that stacks need.
 */
#include <pcol.h>

#include <stdio.h>
#include <time.h>

#define RUNS 9

static double cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

int main(int argc, char **argv)
{
    double least = 0;
    uint64_t count = 0;
    if (argc != 2) {
        fprintf(stderr, "usage: hashes FILE\n");
        return 2;
    }
    for (int run = 0; run < RUNS; run++) {
        pcol_error err;
        pcol_file *file;
        const pcol_hash *hashes;
        pcol_status status = pcol_file_open(argv[1], NULL, &file, &err);
        double before = cpu_ns();
        if (status == PCOL_OK)
            status = pcol_file_hashes(file, PCOL_HASH_STACKS, NULL, &hashes, &count, &err);
        double spent = cpu_ns() - before;
        if (status != PCOL_OK) {
            fprintf(stderr, "hashes: %s: %s\n", argv[1], err.message);
            return 3;
        }
        pcol_file_close(file);
        if (!run || spent < least)
            least = spent;
    }
    printf("{\"stacks\": %llu, \"ns\": %.2f}\n", (unsigned long long)count,
           count ? least / (double)count : 0);
    return 0;
}

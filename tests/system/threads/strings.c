/*
 * strings.c - eight threads that read the same strings at once: strings FILE
 *
 * Strings that are put together block by block count against a limit in an archive. All threads ask
 * for one of each block, in the same order, so that they meet at each; what one thread alone could
 * read, each of them has to. The last line is "N passed, N failed", of rounds.
 */
#include "pcol.h"

#include <pthread.h>
#include <stdio.h>

enum { THREADS = 8, ROUNDS = 3, BLOCK_ROWS = 64 };

static const pcol_column *column;
static uint64_t rows;
static pthread_barrier_t start;

static void *read_all(void *context)
{
    pcol_status *status = context;
    pcol_str text;
    pthread_barrier_wait(&start);
    for (uint64_t row = 0; *status == PCOL_OK && row < rows; row += BLOCK_ROWS)
        *status = pcol_column_str(column, row, &text, NULL, NULL);
    return NULL;
}

/* 1: a thread could not read them. */
static int one_round(const char *path)
{
    pcol_status status[THREADS] = {PCOL_OK};
    pthread_t threads[THREADS];
    const pcol_table *table;
    pcol_file *file;
    int failed = 0;
    if (pcol_file_open(path, NULL, &file, NULL) != PCOL_OK)
        return 1;
    if (pcol_file_table_by_name(file, PCOL_MODEL_PHYSICAL, "strings", &table, NULL) != PCOL_OK) {
        pcol_file_close(file);
        return 1;
    }
    column = pcol_table_column(table, 0);
    rows = pcol_table_rows(table);
    pthread_barrier_init(&start, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, read_all, &status[i]))
            return 1;
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        failed |= status[i] != PCOL_OK;
    }
    pthread_barrier_destroy(&start);
    pcol_file_close(file);
    return failed;
}

int main(int argc, char **argv)
{
    int failed = 0;
    for (int i = 0; i < ROUNDS; i++)
        failed += argc != 2 || one_round(argv[1]);
    printf("%d passed, %d failed\n", ROUNDS - failed, failed);
    return failed != 0;
}

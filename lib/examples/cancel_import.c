/*
 * cancel_import.c - an example: cancel a long call from another thread
 *
 *     cancel_import FILE        a line on standard input cancels the import
 *
 * The library calls progress() in the thread that imports, at least once a millisecond or so. Other
 * threads only set a flag. A call that is cancelled releases all that it has allocated.
 */
#include <pcol.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int cancelled;

static int progress(void *context, const char *phase, uint64_t done, uint64_t total)
{
    (void)phase;
    (void)total;
    *(uint64_t *)context = done;
    return atomic_load(&cancelled);
}

static void *wait_for_line(void *unused)
{
    if (getchar() != EOF)
        atomic_store(&cancelled, 1);
    return unused;
}

int main(int argc, char **argv)
{
    pcol_import_options options = PCOL_INIT(pcol_import_options);
    pcol_control control = PCOL_INIT(pcol_control);
    pcol_file *file;
    pcol_error err;
    pcol_status status;
    pthread_t thread;
    uint64_t done = 0;

    if (argc != 2) {
        fprintf(stderr, "usage: cancel_import FILE\n");
        return 2;
    }
    control.context = &done;
    control.progress = progress;
    options.control = &control;
    if (pthread_create(&thread, NULL, wait_for_line, NULL) != 0) {
        fprintf(stderr, "cancel_import: no thread\n");
        return 1;
    }
    pthread_detach(thread);
    status = pcol_open_any_path(argv[1], &options, &file, &err);
    if (status == PCOL_E_CANCELLED)
        printf("cancelled\n");
    else if (status != PCOL_OK)
        fprintf(stderr, "cancel_import: %s: %s\n", argv[1], err.message);
    else
        printf("imported\n");
    pcol_file_close(file);
    return status == PCOL_OK ? 0 : status == PCOL_E_CANCELLED ? 130 : 1;
}

/*
 * cli_folder.h - a directory as output, renamed into place when it is complete
 */
#ifndef PCOL_TOOLS_CLI_FOLDER_H
#define PCOL_TOOLS_CLI_FOLDER_H

#include "cli.h"

#include <signal.h>

#define CLI_FOLDER_BUFFER 65536u

struct cli_folder_file {
    const char *name; /* borrowed */
    int fd;           /* -1: not open */
    size_t used;
    char *buffer; /* CLI_FOLDER_BUFFER bytes */
};

/* Errors of writing are sticky: later data is discarded, and cli_folder_finish() fails. */
struct cli_folder {
    const char *name; /* as given, for messages */
    char *path, *temporary, *aside;
    struct cli_folder_file *files;
    size_t count;
    int (*is_own)(const char *name); /* a file that such an output may have */
    int is_made;                     /* the temporary directory exists */
    int is_replaced;                 /* the directory exists, and is not empty */
    int sync;
    int code; /* 0, or the exit code of the first failure */
    uint64_t written;
};

/* Open all files of the output args->output. Also after a failure cli_folder_finish() must be
 * called; the struct must stay at its address until then. */
int cli_folder_open(struct cli_folder *folder, const struct cli_args *args,
                    const char *const *names, size_t count, int (*is_own)(const char *name));
/* Write the buffer, and data that does not fit. */
void cli_folder_flush(struct cli_folder *folder, struct cli_folder_file *file, const void *data,
                      size_t size);
static inline void cli_folder_write(struct cli_folder *folder, struct cli_folder_file *file,
                                    const void *data, size_t size)
{
    if (size > CLI_FOLDER_BUFFER - file->used) {
        cli_folder_flush(folder, file, data, size);
    } else if (size > 0) {
        memcpy(file->buffer + file->used, data, size);
        file->used += size;
    }
}
/* Rename the complete directory into place if `code` is 0, else remove it; returns the exit
 * code. */
int cli_folder_finish(struct cli_folder *folder, int code);

/* For signal handlers: remove the temporary directory; async-signal-safe. */
void cli_folder_unlink(void);

/* Block the signals that end the program (cli_output.c). */
void cli_signals_hold(sigset_t *old);
void cli_signals_release(const sigset_t *old);

#endif

/*
 * tasks.h - what a program may ask of the library, each as one call that makes a digest of the
 * answers
 */
#ifndef FAULTS_TASKS_H
#define FAULTS_TASKS_H

#include "pcol.h"

#include <stddef.h>
#include <stdint.h>

struct task {
    const char *path;
    const char *what;
    const char *format; /* to export to or import from, or NULL */
    pcol_status (*run)(const struct task *task, pcol_error *err);
    const uint8_t *bytes;
    size_t size;
};

extern uint64_t task_made; /* digest of what the task made */
extern int task_reported;  /* damage or a lost file was reported and tolerated */

/* Do `each` with all tasks that there are for a file's bytes. */
void tasks_each(const char *path, const uint8_t *bytes, size_t size,
                void (*each)(const struct task *task));

#endif

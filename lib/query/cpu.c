/*
 * cpu.c - CPU time of threads in a range of time
 *
 * The CPU delta of a sample was used between the end of the previous sample of its thread and its
 * own time; it is spread evenly over that interval, and its part in the range counts. The first
 * sample of a thread, and one that does not start after the end of the previous one, have no
 * interval: their delta counts whole if their time is in the range. The CPU is idle from the time
 * of a sample to the end of its duration. Tests: suite answers.
 */
#include "query/query.h"

#include "util/alloc.h"

#include <string.h>

__extension__ typedef __int128 wide;

struct thread {
    double cpu_ns;
    uint64_t samples, without_delta; /* in the range; `without_delta`: those without a delta */
    int64_t end;                     /* end of the previous sample */
    int has_end, seen;
};

struct cpu_counter {
    pcol_query *query;
    struct pci_samples *samples;
    const struct pci_column *thread, *time, *duration, *delta;
    struct thread *threads; /* one more for samples without a thread */
    uint64_t thread_count;
    int64_t from, to;
    /* the current batch of samples */
    int64_t threads_of_samples[PCI_BATCH], times[PCI_BATCH], durations[PCI_BATCH],
        deltas[PCI_BATCH];
    uint8_t has_thread[PCI_BATCH], has_time[PCI_BATCH], has_duration[PCI_BATCH],
        has_delta[PCI_BATCH], alive[PCI_BATCH];
};

static pcol_status read_cells(struct cpu_counter *c, const struct pci_column *column, uint64_t row,
                              size_t n, int64_t *cells, uint8_t *valid, pcol_error *err)
{
    if (column)
        return pci_read(c->query->file, column, row, n, cells, valid, err);
    memset(valid, 0, n);
    return PCOL_OK;
}

static pcol_status read_batch(struct cpu_counter *c, uint64_t row, size_t n, pcol_error *err)
{
    PCI_TRY(read_cells(c, c->thread, row, n, c->threads_of_samples, c->has_thread, err));
    PCI_TRY(read_cells(c, c->time, row, n, c->times, c->has_time, err));
    PCI_TRY(read_cells(c, c->duration, row, n, c->durations, c->has_duration, err));
    PCI_TRY(read_cells(c, c->delta, row, n, c->deltas, c->has_delta, err));
    return pci_samples_pick(c->samples, row, n, 0, c->alive, err);
}

/* The part of a delta that is in the range. */
static double compute_share(const struct cpu_counter *c, const struct thread *thread, int64_t time,
                            int64_t delta)
{
    if (!thread->has_end || time <= thread->end)
        return time >= c->from && time < c->to ? (double)delta : 0;
    wide begin = c->from > thread->end ? c->from : thread->end;
    wide end = c->to < time ? c->to : time;
    wide whole = (wide)time - thread->end;
    if (end <= begin)
        return 0;
    return end - begin == whole ? (double)delta
                                : (double)delta * (double)(end - begin) / (double)whole;
}

static void count_sample(struct cpu_counter *c, struct thread *thread, size_t i)
{
    int64_t time = c->times[i], duration = c->has_duration[i] ? c->durations[i] : 0;
    if (duration < 0)
        duration = 0;
    if (c->alive[i]) {
        int in_range = duration ? time < c->to && (wide)time + duration > c->from
                                : time >= c->from && time < c->to;
        thread->seen = 1;
        thread->samples += (uint64_t)in_range;
        if (c->has_delta[i])
            thread->cpu_ns += compute_share(c, thread, time, c->deltas[i]);
        else
            thread->without_delta += (uint64_t)in_range;
    }
    if (__builtin_add_overflow(time, duration, &thread->end))
        thread->end = INT64_MAX;
    thread->has_end = 1;
}

static pcol_status count_batch(struct cpu_counter *c, uint64_t row, size_t n, pcol_error *err)
{
    PCI_TRY(read_batch(c, row, n, err));
    for (size_t i = 0; i < n; i++) {
        uint64_t thread = c->has_thread[i] ? (uint64_t)c->threads_of_samples[i] : c->thread_count;
        if (c->has_time[i])
            count_sample(c, &c->threads[thread], i);
    }
    return PCOL_OK;
}

static pcol_status count_samples(struct cpu_counter *c, pcol_error *err)
{
    const pcol_file *file = c->query->file;
    uint64_t rows = pci_rows(file, "samples");
    PCI_TRY(pci_check_row_count(file, "samples", err));
    PCI_TRY(pci_check_row_count(file, "threads", err));
    c->thread_count = pci_rows(file, "threads");
    PCI_TRY(PCI_CALLOC(c->threads, (size_t)c->thread_count + 1, err));
    PCI_TRY(pci_find_column(file, "samples", "thread", PCI_TYPES_ROW, &c->thread, err));
    PCI_TRY(pci_find_column(file, "samples", "time", PCI_TYPE(PCF_I64), &c->time, err));
    PCI_TRY(pci_find_column(file, "samples", "duration", PCI_TYPE(PCF_I64), &c->duration, err));
    PCI_TRY(pci_find_column(file, "samples", "cpu_delta", PCI_TYPE(PCF_I64), &c->delta, err));
    for (uint64_t row = 0; c->time && c->delta && row < rows; row += PCI_BATCH) {
        size_t n = rows - row < PCI_BATCH ? (size_t)(rows - row) : PCI_BATCH;
        PCI_TRY(count_batch(c, row, n, err));
    }
    return PCOL_OK;
}

/* A text of a row of threads; data NULL if absent. */
static pcol_status get_thread_text(const pcol_file *file, const char *column, uint64_t row,
                                   pcol_str *text, pcol_error *err)
{
    int valid = 0;
    PCI_TRY(pci_get_named_str(file, "threads", column, row, text, &valid, err));
    if (!valid)
        *text = (pcol_str){NULL, 0};
    return PCOL_OK;
}

static pcol_status build_rows(const struct cpu_counter *c, struct pci_cpu *cpu, pcol_error *err)
{
    const pcol_file *file = c->query->file;
    PCI_TRY(PCI_MALLOC(cpu->rows, (size_t)c->thread_count + 1, err));
    for (uint64_t i = 0; i <= c->thread_count; i++) {
        const struct thread *thread = &c->threads[i];
        struct pci_cpu_row *row = &cpu->rows[cpu->count];
        if (!thread->seen)
            continue;
        *row = (struct pci_cpu_row){.thread = i < c->thread_count ? (uint32_t)i : PCOL_NONE,
                                    .samples = thread->samples,
                                    .samples_without = thread->without_delta,
                                    .cpu_ns = thread->cpu_ns};
        cpu->count++;
        if (i == c->thread_count)
            continue;
        PCI_TRY(get_thread_text(file, "name", i, &row->name, err));
        PCI_TRY(get_thread_text(file, "tid", i, &row->tid, err));
        PCI_TRY(get_thread_text(file, "pid", i, &row->pid, err));
    }
    return PCOL_OK;
}

static pcol_status build_cpu(struct cpu_counter *c, struct pci_cpu *cpu, pcol_error *err)
{
    PCI_TRY(pci_query_samples(c->query, &c->samples, err));
    PCI_TRY(count_samples(c, err));
    return build_rows(c, cpu, err);
}

pcol_status pci_query_cpu(pcol_query *query, struct pci_cpu **cpu, pcol_error *err)
{
    *cpu = NULL;
    struct cpu_counter *c = pci_calloc(1, sizeof *c);
    struct pci_cpu *result = pci_calloc(1, sizeof *result);
    pcol_status status = c && result ? PCOL_OK : pci_fail_memory(err);
    if (status == PCOL_OK) {
        c->query = query;
        c->from = query->sample_filter.has_time ? query->sample_filter.from : INT64_MIN;
        c->to = query->sample_filter.has_time ? query->sample_filter.to : INT64_MAX;
        PCI_CONTROLLED(&query->control, status, build_cpu(c, result, err), err);
        pci_samples_close(c->samples);
        pci_free(c->threads);
    }
    pci_free(c);
    if (status == PCOL_OK)
        *cpu = result;
    else
        pci_cpu_free(result);
    return status;
}

void pci_cpu_free(struct pci_cpu *cpu)
{
    if (!cpu)
        return;
    pci_free(cpu->rows);
    pci_free(cpu);
}

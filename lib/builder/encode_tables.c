/*
 * encode_tables.c - encoding of all columns of a builder, in parallel if threads are available
 *
 * A column depends only on the builder, which does not change meanwhile. Each one is a task that
 * encodes into a container part of its own; parts are appended to the writer in column order, so
 * that the file does not depend on the number of threads. The choice of dictionary groups runs in
 * parallel with strings and the columns of the call tree, which are never in a group. Tests:
 * tests/system/threads, tests/system/reproducible.
 */
#include "builder/builder.h"

#include "builder/dictionary_groups.h"
#include "util/alloc.h"
#include "util/lock.h"
#include "util/simd_kernels.h"
#include "util/thread_pool.h"

#include <stdatomic.h>
#include <stdlib.h>

/* ---- columns of the call tree ---- */

struct tree_source {
    struct pci_value_source source;
    const uint32_t *rows;
};

static pcol_status read_tree(void *context, uint64_t row, size_t n, int64_t *values, uint8_t *valid,
                             pcol_error *err)
{
    (void)err;
    pci_simd_widen_u32(((const struct tree_source *)context)->rows + row, n, values);
    memset(valid, 1, n);
    return PCOL_OK;
}

/* ---- one column ---- */

static pcol_status encode_tree(const uint32_t *rows, size_t count, struct pci_container *w,
                               uint32_t number, pcol_error *err)
{
    struct tree_source s = {.rows = rows};
    s.source = (struct pci_value_source){count, PCF_U32, read_tree, &s, NULL};
    return pci_encode(w, number, &s.source, err);
}

/* Offsets of a bytes column: 0, then the end of each row; a null is empty. */
struct ends_source {
    struct pci_value_source source;
    struct pci_column_buffer_source ends;
    struct pci_block_reader reader;
    int64_t last;
};

static pcol_status read_ends(void *context, uint64_t row, size_t n, int64_t *values, uint8_t *valid,
                             pcol_error *err)
{
    struct ends_source *s = context;
    size_t i = 0;
    if (row == 0) {
        pci_block_reader_init(&s->reader, &s->ends.source);
        s->last = values[i++] = 0;
        s->reader.n = 0;
        PCI_TRY(pci_block_reader_next(&s->reader, err));
    }
    for (; i < n; i++) {
        size_t index = (size_t)(row + i - 1 - s->reader.row);
        if (index >= s->reader.n) {
            PCI_TRY(pci_block_reader_next(&s->reader, err));
            index = 0;
        }
        if (s->reader.valid[index])
            s->last = s->reader.values[index];
        values[i] = s->last;
    }
    memset(valid, 1, n);
    return PCOL_OK;
}

static pcol_status read_data(void *context, uint64_t offset, uint8_t *data, size_t size,
                             pcol_error *err)
{
    return pci_spill_read(context, offset, data, size, err);
}

static pcol_status encode_bytes(struct pci_column_buffer *c, struct pci_container *w,
                                uint32_t number, pcol_error *err)
{
    struct pci_column_buffer_source validity;
    struct ends_source *s = pci_malloc(1, sizeof *s);
    struct pci_bytes_source bytes = {.rows = c->rows,
                                     .data_size = pci_spill_size(&c->data),
                                     .read = read_data,
                                     .context = &c->data,
                                     .null_count = c->rows - c->present};
    pcol_status status;
    if (!s)
        return pci_fail_memory(err);
    pci_column_buffer_source_init(&s->ends, c, NULL);
    s->source = (struct pci_value_source){c->rows + 1, PCF_U64, read_ends, s, NULL};
    pci_column_buffer_source_init(&validity, c, NULL);
    bytes.offsets = &s->source;
    bytes.validity = &validity.source;
    status = pci_encode_bytes(w, number, &bytes, err);
    pci_free(s);
    return status;
}

/* Final rows of the table that a column refers to; NULL: unchanged. */
static const uint32_t *final_rows_of(const pcol_builder *b, const struct pci_column_buffer *c)
{
    if (c->type == PCF_STRING)
        return b->strings.rank;
    return c->references ? pci_final_rows(b, c->references - 1) : NULL;
}

void pci_column_source_init(const pcol_builder *b, const struct pci_column_buffer *column,
                            struct pci_column_buffer_source *source)
{
    pci_column_buffer_source_init(source, column, final_rows_of(b, column));
}

static void release_values(struct pci_column_buffer *c)
{
    pci_spill_clear(&c->values);
    pci_spill_clear(&c->runs);
    pci_spill_clear(&c->data);
}

/* A column that is released as soon as the encoder has read its values for the last time. */
struct last_reading {
    struct pci_column_buffer_source source;
    struct pci_column_buffer *column;
};

static void release_after_reading(void *context)
{
    release_values(((struct last_reading *)context)->column);
}

static pcol_status encode_column(pcol_builder *b, struct pci_column_buffer *c,
                                 struct pci_container *w, uint32_t number, pcol_error *err)
{
    struct last_reading last = {.column = c};
    struct pci_value_source *source = &last.source.source;
    if (c->type == PCF_BYTES)
        return encode_bytes(c, w, number, err);
    const uint32_t *map = final_rows_of(b, c);
    pci_column_source_init(b, c, &last.source);
    source->done = release_after_reading;
    int64_t first = c->present && map ? map[c->first] : c->first;
    if (w->quick)
        return pci_encode_quick(w, number, source, c->rows - c->present,
                                c->constant ? &first : NULL, err);
    if (c->constant && c->present == c->rows)
        return pci_encode_constant(w, number, source, first, err);
    return pci_encode(w, number, source, err);
}

/* ---- all columns ---- */

/* A column of the file: one task. */
struct job {
    uint32_t number;                  /* index in the file */
    uint32_t index;                   /* of the column in the builder */
    struct pci_column_buffer *column; /* NULL: strings or a column of the call tree */
    const uint32_t *tree;             /* values of a column of the call tree, or NULL */
    unsigned transform;               /* of that column in archives */
    uint64_t rows;
    const struct pci_dictionary_group *codes; /* dictionary group; NULL: none */
    size_t index_in_group;                    /* index in the group */
    uint32_t distance;                        /* to the column before it that has the codes */
    struct pci_container part;
    int done;
};

/* Order in which jobs are started. */
struct turn {
    uint32_t number;
    uint64_t work; /* estimated number of values */
};

/* State of the tasks. Parts are appended to the writer in order, by the thread that finishes the
 * next one. */
struct jobs {
    pcol_builder *b;
    struct pci_container *writer;
    const struct pci_table_plan *plan;
    struct job *all;
    size_t count;
    struct pci_dictionary_groups groups;
    struct turn *order;       /* jobs that are never in a group come first */
    size_t first;             /* number of those */
    struct pci_latch *chosen; /* open: groups are chosen, or that failed */
    struct pci_latch *filled; /* open: tuples of all groups have ids, or that failed */
    atomic_size_t filling;    /* tasks that fill groups and have not ended */
    pci_mutex lock;           /* protects `taken` and the writer */
    size_t taken;
};

static pcol_status encode_job(pcol_builder *b, const struct job *job, struct pci_container *w,
                              uint32_t number, pcol_error *err)
{
    struct pci_column_buffer *c = job->column;
    w->tree = (struct pci_archive_writer_tree){0};
    if (job->tree) {
        w->tree = (struct pci_archive_writer_tree){b->tree.parents, b->tree.groups, job->transform};
        return encode_tree(job->tree, b->tree.count, w, number, err);
    }
    if (!c)
        return pci_encode_strings(&b->strings, w, number, err);
    PCI_TRY(pci_column_buffer_fill(c, job->rows, err));
    PCI_TRY(job->codes ? pci_encode_dictionary(w, number, job->codes, job->index_in_group,
                                               job->distance, err)
                       : encode_column(b, c, w, number, err));
    release_values(c);
    return PCOL_OK;
}

static pcol_status append_parts(struct jobs *jobs, struct job *job, pcol_error *err)
{
    pcol_status status = PCOL_OK;
    pci_mutex_lock(&jobs->lock);
    job->done = 1;
    while (status == PCOL_OK && jobs->taken < jobs->count && jobs->all[jobs->taken].done) {
        struct job *next = &jobs->all[jobs->taken++];
        status = pci_container_take_part(jobs->writer, next->number, &next->part, err);
        pci_container_clear(&next->part);
        pci_container_init(&next->part, &jobs->b->store);
    }
    pci_mutex_unlock(&jobs->lock);
    return status;
}

/* Set the dictionary group of a column, if it is in one. */
static void assign_group(const struct jobs *jobs, struct job *job)
{
    const uint32_t *numbers = jobs->plan->columns;
    job->codes = pci_dictionary_groups_find(&jobs->groups, job->index, &job->index_in_group);
    if (job->codes)
        job->distance = numbers[job->index] - numbers[job->codes->columns[0]];
}

static pcol_status run_job(struct jobs *jobs, struct job *job, pcol_error *err)
{
    pcol_status status = PCOL_OK;
    if (job->column)
        assign_group(jobs, job);
    if (jobs->writer->archive) /* a compressor is not thread-safe */
        status = pci_archive_writer_new(pci_archive_writer_flags(jobs->writer->archive),
                                        &job->part.archive, err);
    PCI_THEN(status, encode_job(jobs->b, job, &job->part, 0, err));
    pci_archive_writer_free(job->part.archive);
    job->part.archive = NULL;
    if (status != PCOL_OK)
        return status;
    return append_parts(jobs, job, err);
}

static void list_jobs(struct jobs *jobs)
{
    pcol_builder *b = jobs->b;
    const struct pci_table_plan *plan = jobs->plan;
    struct job *job = jobs->all;
    if (plan->table_number[PCI_T_STRINGS])
        *job++ = (struct job){.number = plan->strings};
    for (uint32_t t = 0; t < b->table_count; t++) {
        if (t == PCI_T_STACKS && plan->rows[t]) {
            *job++ = (struct job){
                .number = plan->parent, .tree = b->tree.parents, .transform = PCF_TRANSFORM_PARENT};
            *job++ = (struct job){
                .number = plan->group, .tree = b->tree.groups, .transform = PCF_TRANSFORM_RANK};
        }
        for (uint32_t i = 0; i < b->column_count; i++) {
            if (b->columns[i]->table != t || plan->columns[i] == PCOL_NONE)
                continue;
            *job++ = (struct job){.number = plan->columns[i],
                                  .index = i,
                                  .column = b->columns[i],
                                  .rows = plan->rows[t]};
        }
    }
    jobs->count = (size_t)(job - jobs->all);
}

static uint64_t estimate_work(const struct pci_column_buffer *c)
{
    return c->constant ? 0 : pci_spill_size(&c->values) / sizeof(int32_t);
}

/* Longest job first, so that no thread is busy with it while the others are idle. */
static int compare_work_descending(const void *a, const void *b)
{
    const struct turn *x = a, *y = b;
    if (x->work != y->work)
        return x->work > y->work ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static void order_jobs(struct jobs *jobs)
{
    size_t last;
    for (size_t i = 0; i < jobs->count; i++)
        if (!jobs->all[i].column)
            jobs->order[jobs->first++] = (struct turn){(uint32_t)i, 0};
    last = jobs->first;
    for (size_t i = 0; i < jobs->count; i++)
        if (jobs->all[i].column)
            jobs->order[last++] = (struct turn){(uint32_t)i, estimate_work(jobs->all[i].column)};
    qsort(jobs->order + jobs->first, last - jobs->first, sizeof *jobs->order,
          compare_work_descending);
}

#define FILLERS 4u /* tasks that fill groups */

static pcol_status choose_groups(struct jobs *jobs, pcol_error *err)
{
    struct pci_container *w = jobs->writer;
    return w->plain || w->quick
               ? PCOL_OK
               : pci_dictionary_groups_choose(jobs->b, w, jobs->plan, &jobs->groups, err);
}

static pcol_status fill_groups(struct jobs *jobs, size_t first, size_t step, pcol_error *err)
{
    pcol_status status = PCOL_OK;
    for (size_t i = first; i < jobs->groups.count && status == PCOL_OK; i += step)
        status = pci_dictionary_group_fill(jobs->b, &jobs->groups.groups[i], err);
    return status;
}

/* Tasks in this order: choice of groups, jobs that are never in a group, filling of groups, all
 * other jobs. A task that waits for a latch has a higher number than those that open it. */
static pcol_status run_task(void *context, size_t number, pcol_error *err)
{
    struct jobs *jobs = context;
    pcol_status status;
    if (number == 0) {
        status = choose_groups(jobs, err);
        if (status != PCOL_OK)
            jobs->groups.count = 0;
        pci_latch_open(jobs->chosen);
        return status;
    }
    if (--number < jobs->first)
        return run_job(jobs, &jobs->all[jobs->order[number].number], err);
    if ((number -= jobs->first) < FILLERS) {
        pci_latch_wait(jobs->chosen);
        status = fill_groups(jobs, number, FILLERS, err);
        if (atomic_fetch_sub(&jobs->filling, 1) == 1)
            pci_latch_open(jobs->filled);
        return status;
    }
    pci_latch_wait(jobs->filled);
    return run_job(jobs, &jobs->all[jobs->order[number - FILLERS + jobs->first].number], err);
}

/* All parts are initialized before the first is appended, as that moves the writer's
 * descriptors. */
static pcol_status run_parallel(struct jobs *jobs, pcol_error *err)
{
    pcol_status status = PCOL_OK;
    if (pci_mutex_init(&jobs->lock) != 0)
        return pci_fail_memory(err);
    order_jobs(jobs);
    atomic_init(&jobs->filling, FILLERS);
    jobs->chosen = pci_latch_new();
    jobs->filled = pci_latch_new();
    if (!jobs->chosen || !jobs->filled)
        status = pci_fail_memory(err);
    for (size_t i = 0; i < jobs->count; i++)
        pci_container_init(&jobs->all[i].part, &jobs->b->store);
    for (size_t i = 0; i < jobs->count && status == PCOL_OK; i++)
        status =
            pci_container_begin_part(&jobs->all[i].part, jobs->writer, jobs->all[i].number, err);
    PCI_THEN(status,
             pci_parallel_for(jobs->b->threads, 1 + FILLERS + jobs->count, run_task, jobs, err));
    for (size_t i = 0; i < jobs->count; i++)
        pci_container_clear(&jobs->all[i].part);
    pci_latch_free(jobs->chosen);
    pci_latch_free(jobs->filled);
    pci_mutex_destroy(&jobs->lock);
    return status;
}

/* Encode one column after the other directly into the writer. */
static pcol_status run_sequential(struct jobs *jobs, pcol_error *err)
{
    PCI_TRY(choose_groups(jobs, err));
    PCI_TRY(fill_groups(jobs, 0, 1, err));
    for (size_t i = 0; i < jobs->count; i++) {
        struct job *job = &jobs->all[i];
        if (job->column)
            assign_group(jobs, job);
        PCI_TRY(encode_job(jobs->b, job, jobs->writer, job->number, err));
    }
    return PCOL_OK;
}

/* Fewer rows are encoded before a thread has started. */
#define MIN_PARALLEL_ROWS 16384u

pcol_status pci_encode_columns(pcol_builder *b, struct pci_container *w,
                               const struct pci_table_plan *plan, pcol_error *err)
{
    struct jobs jobs = {.b = b, .writer = w, .plan = plan};
    pcol_status status = PCOL_OK;
    jobs.all = pci_malloc(b->column_count + 3, sizeof *jobs.all);
    jobs.order = pci_malloc(b->column_count + 3, sizeof *jobs.order);
    if (jobs.all && jobs.order)
        list_jobs(&jobs);
    else
        status = pci_fail_memory(err);
    PCI_THEN(status, b->threads > 1 && b->sample_count + b->tree.count >= MIN_PARALLEL_ROWS
                         ? run_parallel(&jobs, err)
                         : run_sequential(&jobs, err));
    pci_dictionary_groups_clear(&jobs.groups);
    pci_free(jobs.all);
    pci_free(jobs.order);
    return status;
}

/*
 * read.c - import of binary profiles of CPython: header, tables, samples
 */
#include "formats/tachyon/tachyon.h"

#include "util/alloc.h"

#include <inttypes.h>
#include <stdio.h>

#define HEADER_BYTES 64u
#define FOOTER_BYTES 32u
#define NO_OPCODE 255

enum { REPEAT, FULL, SUFFIX, POP_PUSH };
enum { END_LINE, END_COLUMN, OPCODE, LABELS };
static const char *const label_names[LABELS] = {"end_line", "end_column", "opcode"};

struct thread {
    uint64_t id;
    uint32_t interpreter;
    uint32_t row;     /* of threads */
    uint64_t time_us; /* of its latest sample */
    uint32_t *stacks; /* its stack and those of its callers, outermost first */
    size_t depth, capacity;
};

struct reader {
    struct pci_import *import;
    pcol_builder *builder;
    struct pci_spill spill;
    struct pci_tachyon_bytes bytes;
    uint64_t size, start_us, interval_us, sample_count, strings_at, frames_at, compression;
    uint32_t *strings, *groups; /* by number */
    uint64_t string_count, group_count;
    struct thread *threads;
    size_t thread_count, thread_capacity;
    struct pci_hash by_id;
    uint32_t *frames; /* of a record, innermost first */
    size_t frame_capacity;
    uint64_t samples;
    uint32_t label_columns[LABELS];
    uint32_t type, status_key, interpreter_key;
};

/* ---- header and footer ---- */

static pcol_status store_input(struct reader *r, pcol_error *err)
{
    struct pci_input *input = r->import->input;
    for (;;) {
        if (input->size)
            PCI_TRY(pci_spill_append(&r->spill, input->data, input->size, err));
        if (input->end)
            break;
        PCI_TRY(pci_input_more(input, input->size, err));
    }
    r->size = pci_spill_size(&r->spill);
    return r->size >= HEADER_BYTES + FOOTER_BYTES
               ? PCOL_OK
               : pci_fail_at_byte(err, PCOL_E_SYNTAX, r->size,
                                  "the file is shorter than its header and footer");
}

static pcol_status read_numbers(struct pci_tachyon_bytes *b, const unsigned *sizes, size_t count,
                                uint64_t *values, pcol_error *err)
{
    for (size_t i = 0; i < count; i++)
        PCI_TRY(pci_tachyon_fixed(b, sizes[i], &values[i], err));
    return PCOL_OK;
}

static pcol_status read_header(struct reader *r, pcol_error *err)
{
    static const unsigned sizes[] = {4, 4, 4, 8, 8, 8, 4, 8, 8, 4, 4};
    uint64_t v[11];
    uint8_t first;
    PCI_TRY(pci_spill_read(&r->spill, 0, &first, 1, err));
    r->bytes.is_big_endian = first == 'T';
    PCI_TRY(pci_tachyon_open(&r->bytes, &r->spill, 0, HEADER_BYTES, NULL, err));
    PCI_TRY(read_numbers(&r->bytes, sizes, 11, v, err));
    if (v[0] != 0x54414348)
        return pci_fail_at_byte(err, PCOL_E_SYNTAX, 0, "not the magic number TACH");
    if (v[1] != 1)
        return pci_fail_at_byte(err, PCOL_E_SYNTAX, 4,
                                "version %" PRIu64 " of the format; pcol reads version 1", v[1]);
    r->start_us = v[3];
    r->interval_us = v[4];
    r->sample_count = v[5];
    r->strings_at = v[7];
    r->frames_at = v[8];
    r->compression = v[9];
    if (r->strings_at < HEADER_BYTES || r->frames_at < r->strings_at ||
        r->frames_at > r->size - FOOTER_BYTES)
        return pci_fail_at_byte(err, PCOL_E_SYNTAX, 40,
                                "the tables are not within the file: it is truncated or damaged");
    if (r->compression > 1)
        return pci_fail_at_byte(err, PCOL_E_SYNTAX, 56,
                                "compression %" PRIu64 " is unknown; pcol reads 0 and 1 (zstd)",
                                r->compression);
    return PCOL_OK;
}

static pcol_status read_footer(struct reader *r, pcol_error *err)
{
    static const unsigned sizes[] = {4, 4, 8};
    uint64_t v[3], at = r->size - FOOTER_BYTES;
    pci_tachyon_close(&r->bytes);
    PCI_TRY(pci_tachyon_open(&r->bytes, &r->spill, at, r->size, NULL, err));
    PCI_TRY(read_numbers(&r->bytes, sizes, 3, v, err));
    if (v[2] != r->size)
        return pci_fail_at_byte(err, PCOL_E_SYNTAX, at + 8,
                                "the file should have %" PRIu64 " bytes, but has %" PRIu64, v[2],
                                r->size);
    if (v[0] > r->frames_at - r->strings_at || v[1] > at - r->frames_at)
        return pci_fail_at_byte(err, PCOL_E_SYNTAX, at,
                                "more strings or frames than the tables have bytes");
    r->string_count = v[0];
    r->group_count = v[1];
    return PCOL_OK;
}

/* ---- tables ---- */

static pcol_status read_strings(struct reader *r, pcol_error *err)
{
    uint8_t *text = NULL;
    size_t capacity = 0;
    pcol_status status = PCOL_OK;
    r->strings = pci_malloc((size_t)r->string_count, sizeof *r->strings);
    pci_tachyon_close(&r->bytes);
    PCI_TRY(r->strings ? PCOL_OK : pci_fail_memory(err));
    PCI_TRY(pci_tachyon_open(&r->bytes, &r->spill, r->strings_at, r->frames_at, NULL, err));
    for (uint64_t i = 0; status == PCOL_OK && i < r->string_count; i++) {
        uint64_t size;
        status = pci_tachyon_varint(&r->bytes, r->frames_at - r->strings_at, &size, err);
        if (status == PCOL_OK && pci_grow((void **)&text, &capacity, (size_t)size + 1, 1))
            status = pci_fail_memory(err);
        if (status == PCOL_OK)
            status = pci_tachyon_copy(&r->bytes, text, (size_t)size, err);
        if (status == PCOL_OK)
            status =
                pcol_builder_string(r->builder, (char *)text, (size_t)size, &r->strings[i], err);
    }
    pci_free(text);
    return status;
}

static pcol_status add_cell(struct reader *r, int label, int64_t value, uint32_t *columns,
                            struct pci_cell_value *cells, size_t *count, pcol_error *err)
{
    uint32_t key, number, *column = &r->label_columns[label];
    if (*column == PCOL_NONE) {
        const char *name = label_names[label];
        PCI_TRY(pcol_builder_string(r->builder, name, strlen(name), &key, err));
        PCI_TRY(pci_label_key_row(r->builder, PCI_T_GROUPS, key, PCOL_NONE, PCI_LABEL_INTEGER, 0,
                                  &number, err));
        PCI_TRY(pci_label_column(r->builder, number, column, err));
    }
    columns[*count] = *column;
    cells[(*count)++] = (struct pci_cell_value){value, 1};
    return PCOL_OK;
}

/* positions: line, end_line - line, column, end_column - column; -1 for no line or column. */
static pcol_status add_group(struct reader *r, pcol_function *function, const int32_t *positions,
                             uint64_t opcode, uint32_t *row, pcol_error *err)
{
    struct pci_cell_value cells[LABELS];
    uint32_t columns[LABELS];
    size_t count = 0;
    pcol_group group = PCOL_INIT(pcol_group);
    pcol_line line = {.filename = PCOL_NONE};
    PCI_TRY(pcol_builder_function(r->builder, function, &line.function, err));
    if (positions[0] >= 0) {
        line.flags |= PCOL_LINE_HAS_LINE;
        line.line = positions[0];
        PCI_TRY(add_cell(r, END_LINE, (int64_t)positions[0] + positions[1], columns, cells, &count,
                         err));
    }
    if (positions[2] >= 0) {
        line.flags |= PCOL_LINE_HAS_COLUMN;
        line.column = (int64_t)positions[2] + 1;
        PCI_TRY(add_cell(r, END_COLUMN, (int64_t)positions[2] + positions[3] + 1, columns, cells,
                         &count, err));
    }
    if (opcode != NO_OPCODE)
        PCI_TRY(add_cell(r, OPCODE, (int64_t)opcode, columns, cells, &count, err));
    group.lines = &line;
    group.line_count = 1;
    group.mapping = PCOL_NONE;
    return pci_builder_group(r->builder, 0, &group, columns, cells, count, row, NULL, err);
}

static pcol_status read_frame(struct reader *r, uint32_t *row, pcol_error *err)
{
    pcol_function function = PCOL_INIT(pcol_function);
    uint64_t file, name, opcode;
    int32_t positions[4];
    PCI_TRY(pci_tachyon_varint(&r->bytes, UINT32_MAX, &file, err));
    PCI_TRY(pci_tachyon_varint(&r->bytes, UINT32_MAX, &name, err));
    if (file >= r->string_count || name >= r->string_count)
        return pci_tachyon_fail(&r->bytes, err, "the frame names a string that does not exist");
    for (int i = 0; i < 4; i++)
        PCI_TRY(pci_tachyon_zigzag(&r->bytes, &positions[i], err));
    PCI_TRY(pci_tachyon_fixed(&r->bytes, 1, &opcode, err));
    function.filename = r->strings[file];
    function.name = r->strings[name];
    function.system_name = PCOL_NONE;
    return add_group(r, &function, positions, opcode, row, err);
}

static pcol_status read_frames(struct reader *r, pcol_error *err)
{
    r->groups = pci_malloc((size_t)r->group_count, sizeof *r->groups);
    pci_tachyon_close(&r->bytes);
    PCI_TRY(r->groups ? PCOL_OK : pci_fail_memory(err));
    PCI_TRY(
        pci_tachyon_open(&r->bytes, &r->spill, r->frames_at, r->size - FOOTER_BYTES, NULL, err));
    for (uint64_t i = 0; i < r->group_count; i++)
        PCI_TRY(read_frame(r, &r->groups[i], err));
    return PCOL_OK;
}

/* ---- samples ---- */

static pcol_status find_thread(struct reader *r, uint64_t id, uint32_t interpreter,
                               struct thread **thread, pcol_error *err)
{
    uint64_t hash = pci_hash_pair(id, interpreter);
    size_t slot = pci_hash_start(&r->by_id, hash);
    struct pci_import_thread cells = {PCOL_NONE, PCOL_NONE, PCOL_NONE, PCOL_NONE, 0};
    char text[24];
    uint32_t at;
    while ((at = pci_hash_next(&r->by_id, hash, &slot)) != PCI_HASH_NONE)
        if (r->threads[at].id == id && r->threads[at].interpreter == interpreter) {
            *thread = &r->threads[at];
            return PCOL_OK;
        }
    if (pci_grow((void **)&r->threads, &r->thread_capacity, r->thread_count + 1,
                 sizeof *r->threads))
        return pci_fail_memory(err);
    *thread = &r->threads[r->thread_count];
    **thread = (struct thread){.id = id, .interpreter = interpreter, .time_us = r->start_us};
    PCI_TRY(pci_hash_add(&r->by_id, hash, (uint32_t)r->thread_count, err));
    r->thread_count++;
    int size = snprintf(text, sizeof text, "%" PRIu64, id);
    PCI_TRY(pcol_builder_string(r->builder, text, (size_t)size, &cells.tid, err));
    return pci_import_thread(r->import, &cells, &(*thread)->row, err);
}

/* Replace the frames of a thread's stack above the `keep` outermost ones. */
static pcol_status read_stack(struct reader *r, struct thread *t, uint64_t keep, pcol_error *err)
{
    uint64_t count, frame;
    size_t n = 0;
    PCI_TRY(pci_tachyon_varint(&r->bytes, UINT32_MAX, &count, err));
    for (; n < count; n++) {
        PCI_TRY(pci_tachyon_varint(&r->bytes, UINT32_MAX, &frame, err));
        if (frame >= r->group_count)
            return pci_tachyon_fail(&r->bytes, err, "the stack names a frame that does not exist");
        if (pci_grow((void **)&r->frames, &r->frame_capacity, n + 1, sizeof *r->frames))
            return pci_fail_memory(err);
        r->frames[n] = (uint32_t)frame;
    }
    t->depth = (size_t)keep;
    if (pci_grow((void **)&t->stacks, &t->capacity, t->depth + n, sizeof *t->stacks))
        return pci_fail_memory(err);
    for (; n; n--, t->depth++)
        PCI_TRY(pcol_builder_stack(r->builder, t->depth ? t->stacks[t->depth - 1] : 0,
                                   r->groups[r->frames[n - 1]], &t->stacks[t->depth], err));
    return PCOL_OK;
}

static pcol_status add_sample(struct reader *r, const struct thread *t, uint64_t status,
                              pcol_error *err)
{
    pcol_sample sample = PCOL_INIT(pcol_sample);
    pcol_value value = {.sample_type = r->type, .as.i64 = 1};
    struct pci_label labels[] = {{.key = r->status_key,
                                  .unit = PCOL_NONE,
                                  .kind = PCI_LABEL_INTEGER,
                                  .text = PCOL_NONE,
                                  .as.i64 = (int64_t)status},
                                 {.key = r->interpreter_key,
                                  .unit = PCOL_NONE,
                                  .kind = PCI_LABEL_INTEGER,
                                  .text = PCOL_NONE,
                                  .as.i64 = t->interpreter}};
    uint64_t row;
    sample.source = r->import->source;
    sample.stack = t->depth ? t->stacks[t->depth - 1] : 0;
    sample.thread = t->row;
    sample.values = &value;
    sample.value_count = 1;
    sample.flags = PCOL_SAMPLE_HAS_TIME;
    sample.time_ns = (int64_t)t->time_us * 1000;
    r->samples++;
    PCI_TRY(pcol_builder_sample(r->builder, &sample, &row, err));
    return pci_builder_labels(r->builder, PCI_T_SAMPLES, row, labels, 2, NULL, err);
}

/* Read the time and the status of a sample. */
static pcol_status read_time(struct reader *r, struct thread *t, uint64_t *status, pcol_error *err)
{
    uint64_t delta;
    PCI_TRY(pci_tachyon_varint(&r->bytes, UINT64_MAX, &delta, err));
    if (__builtin_add_overflow(t->time_us, delta, &t->time_us) || t->time_us > INT64_MAX / 1000)
        return pci_tachyon_fail(&r->bytes, err, "a time beyond 64 bits of nanoseconds");
    return pci_tachyon_fixed(&r->bytes, 1, status, err);
}

static pcol_status read_repeats(struct reader *r, struct thread *t, pcol_error *err)
{
    uint64_t count, status;
    PCI_TRY(pci_tachyon_varint(&r->bytes, UINT32_MAX, &count, err));
    for (uint64_t i = 0; i < count; i++) {
        PCI_TRY(read_time(r, t, &status, err));
        PCI_TRY(add_sample(r, t, status, err));
    }
    return PCOL_OK;
}

static pcol_status read_record(struct reader *r, pcol_error *err)
{
    struct thread *t = NULL;
    uint64_t id, interpreter, encoding, status, keep = 0;
    PCI_TRY(pci_tachyon_fixed(&r->bytes, 8, &id, err));
    PCI_TRY(pci_tachyon_fixed(&r->bytes, 4, &interpreter, err));
    PCI_TRY(pci_tachyon_fixed(&r->bytes, 1, &encoding, err));
    PCI_TRY(find_thread(r, id, (uint32_t)interpreter, &t, err));
    if (encoding == REPEAT)
        return read_repeats(r, t, err);
    if (encoding > POP_PUSH)
        return pci_tachyon_fail(&r->bytes, err, "an unknown kind of record");
    PCI_TRY(read_time(r, t, &status, err));
    if (encoding != FULL)
        PCI_TRY(pci_tachyon_varint(&r->bytes, t->depth, &keep, err));
    PCI_TRY(read_stack(r, t, encoding == POP_PUSH ? t->depth - keep : keep, err));
    return add_sample(r, t, status, err);
}

static pcol_status read_samples(struct reader *r, pcol_error *err)
{
    pci_tachyon_close(&r->bytes);
    PCI_TRY(pci_tachyon_open(&r->bytes, &r->spill, HEADER_BYTES, r->strings_at,
                             r->compression ? r->import->input : NULL, err));
    for (;;) {
        int more;
        PCI_TRY(pci_tachyon_more(&r->bytes, &more, err));
        if (!more)
            break;
        PCI_TRY(read_record(r, err));
    }
    return r->samples == r->sample_count
               ? PCOL_OK
               : pci_fail_at_byte(err, PCOL_E_SYNTAX, 28,
                                  "the header promises %" PRIu64 " samples, the file has %" PRIu64,
                                  r->sample_count, r->samples);
}

/* ---- the file ---- */

static pcol_status add_source(struct reader *r, pcol_error *err)
{
    pcol_source source = {.flags = 0};
    if (r->start_us > INT64_MAX / 1000)
        return pci_fail_at_byte(err, PCOL_E_SYNTAX, 12, "a time beyond 64 bits of nanoseconds");
    if (r->interval_us && r->interval_us <= INT64_MAX / 1000) {
        source.flags = PCOL_SOURCE_HAS_INTERVAL;
        source.interval_ns = (int64_t)r->interval_us * 1000;
    }
    PCI_TRY(pci_import_source(r->import, &source, err));
    PCI_TRY(pcol_builder_sample_type(r->builder, "samples", "count", 0, 0, &r->type, err));
    PCI_TRY(pcol_builder_string(r->builder, "status", 6, &r->status_key, err));
    return pcol_builder_string(r->builder, "interpreter", 11, &r->interpreter_key, err);
}

static pcol_status read_file(struct reader *r, pcol_error *err)
{
    PCI_TRY(store_input(r, err));
    PCI_TRY(read_header(r, err));
    PCI_TRY(read_footer(r, err));
    PCI_TRY(add_source(r, err));
    PCI_TRY(read_strings(r, err));
    PCI_TRY(read_frames(r, err));
    return read_samples(r, err);
}

pcol_status pci_tachyon_read(struct pci_import *import, pcol_error *err)
{
    struct reader r = {.import = import, .builder = import->builder};
    for (int i = 0; i < LABELS; i++)
        r.label_columns[i] = PCOL_NONE;
    pci_spill_init(&r.spill, &import->builder->store);
    pcol_status status = read_file(&r, err);
    pci_tachyon_close(&r.bytes);
    pci_spill_clear(&r.spill);
    for (size_t i = 0; i < r.thread_count; i++)
        pci_free(r.threads[i].stacks);
    pci_free(r.threads);
    pci_hash_clear(&r.by_id);
    pci_free(r.frames);
    pci_free(r.strings);
    pci_free(r.groups);
    return status;
}

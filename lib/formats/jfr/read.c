/*
 * read.c - import of Java Flight Recorder files: chunks, and events with a stack as samples
 */
#include "formats/jfr/jfr.h"

#include "util/alloc.h"
#include "util/utc_text.h"

#include <inttypes.h>
#include <stdio.h>

#define LONGEST_PREFIX 18u /* size and type of an event */

enum named { NAME_OF_TYPE, NAME_OF_EVENT };

struct reader {
    struct pci_import *import;
    struct pci_jfr_chunk chunk;
    int64_t start_ns; /* of the first chunk, since 1970 */
    int64_t end_ns;   /* of the last chunk, relative to start_ns */
    uint64_t other, without_stack, lost_stacks;
    struct pci_hash by_name; /* of names: by sample type and by event */
    struct names {
        uint32_t string[2]; /* by enum named */
    } * names;
    size_t name_count, name_capacity;
    uint32_t truncated_key, default_type; /* strings; PCOL_NONE: none */
    int default_rank;
};

/* Types of samples that are the default, the first one before the second. */
static const char *const defaults[] = {"jdk.ExecutionSample", "jdk.CPUTimeSample"};

static uint64_t load(const uint8_t *p, unsigned size)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < size; i++)
        value = value << 8 | p[i];
    return value;
}

/* ---- chunks ---- */

/* Read to the end of the header, or to the end of the input. */
static pcol_status fill_header(struct pci_input *input, pcol_error *err)
{
    while (input->size < PCI_JFR_HEADER_BYTES && !input->end)
        PCI_TRY(pci_input_more(input, 0, err));
    return PCOL_OK;
}

static pcol_status check_header(const struct pci_input *input, const struct pci_jfr_chunk *c,
                                pcol_error *err)
{
    const uint8_t *p = input->data;
    if (input->size < PCI_JFR_HEADER_BYTES || memcmp(p, "FLR", 4) != 0)
        return pci_fail_at_byte(err, PCOL_E_SYNTAX, c->offset, "not the header of a chunk");
    if (load(p + 4, 2) != 2)
        return pci_fail_at_byte(
            err, PCOL_E_SYNTAX, c->offset + 4,
            "version %u of the format; pcol reads version 2, of JDK 11 and later",
            (unsigned)load(p + 4, 2));
    if (p[64] == 0xff || !c->size || !c->metadata_at)
        return pci_fail_at_byte(err, PCOL_E_SYNTAX, c->offset,
                                "the chunk is unfinished: stop the recording before copying it");
    if (c->size < PCI_JFR_HEADER_BYTES || c->metadata_at >= c->size)
        return pci_fail_at_byte(err, PCOL_E_SYNTAX,
                                c->offset + (c->size < PCI_JFR_HEADER_BYTES ? 8 : 24),
                                "the header is damaged: an offset or size is out of range");
    return c->ticks_per_second > 0
               ? PCOL_OK
               : pci_fail_at_byte(err, PCOL_E_SYNTAX, c->offset + 56, "the clock has no frequency");
}

/* Copy the chunk to the spill. */
static pcol_status store_chunk(struct pci_input *input, struct pci_jfr_chunk *c, pcol_error *err)
{
    for (uint64_t left = c->size; left;) {
        size_t size = input->size < left ? input->size : (size_t)left;
        PCI_TRY(pci_spill_append(&c->bytes, input->data, size, err));
        left -= size;
        if (left && input->end)
            return pci_fail_at_byte(err, PCOL_E_SYNTAX, c->offset,
                                    "the input ends inside the chunk that begins here");
        PCI_TRY(pci_input_more(input, size, err));
    }
    return PCOL_OK;
}

static pcol_status open_chunk(struct reader *r, int64_t *duration_ns, pcol_error *err)
{
    struct pci_jfr_chunk *c = &r->chunk;
    struct pci_input *input = r->import->input;
    const uint8_t *p = input->data;
    c->offset = input->offset;
    if (input->size >= PCI_JFR_HEADER_BYTES) {
        c->size = load(p + 8, 8);
        c->metadata_at = load(p + 24, 8);
        c->start_ns = (int64_t)load(p + 32, 8);
        *duration_ns = (int64_t)load(p + 40, 8);
        c->start_ticks = (int64_t)load(p + 48, 8);
        c->ticks_per_second = (int64_t)load(p + 56, 8);
        c->is_compressed = p[67] & 1;
    }
    PCI_TRY(check_header(input, c, err));
    return store_chunk(input, c, err);
}

/* ---- events ---- */

/* Read size and type of the event at *at; the cursor begins after them. *at: the next event. */
static pcol_status next_event(struct pci_jfr_chunk *c, uint64_t *at, int64_t *type,
                              struct pci_jfr_cursor *cursor, pcol_error *err)
{
    uint64_t left = c->size - *at;
    int64_t size;
    PCI_TRY(pci_jfr_view(c, &c->event_view, *at, left < LONGEST_PREFIX ? left : LONGEST_PREFIX,
                         cursor, err));
    PCI_TRY(pci_jfr_integer(cursor, 4, &size, err));
    PCI_TRY(pci_jfr_integer(cursor, 8, type, err));
    size_t prefix = (size_t)(cursor->p - cursor->start);
    size = (uint32_t)size;
    if ((uint64_t)size < prefix || (uint64_t)size > left)
        return pci_fail_at_byte(err, PCOL_E_SYNTAX, c->offset + *at,
                                "the size of the event is %" PRId64 ", but %" PRIu64
                                " bytes of the chunk are left",
                                size, left);
    PCI_TRY(pci_jfr_view(c, &c->event_view, *at, (uint64_t)size, cursor, err));
    cursor->p += prefix;
    *at += (uint64_t)size;
    return PCOL_OK;
}

static pcol_status read_metadata(struct pci_jfr_chunk *c, pcol_error *err)
{
    uint64_t at = c->metadata_at;
    int64_t type;
    struct pci_jfr_cursor cursor;
    PCI_TRY(next_event(c, &at, &type, &cursor, err));
    if (type != PCI_JFR_METADATA_TYPE)
        return pci_fail_at_byte(err, PCOL_E_SYNTAX, c->offset + c->metadata_at,
                                "the metadata of the chunk should be here");
    return pci_jfr_read_metadata(&c->classes, &cursor, err);
}

static pcol_status index_constants(struct pci_jfr_chunk *c, pcol_error *err)
{
    for (uint64_t at = PCI_JFR_HEADER_BYTES; at < c->size;) {
        struct pci_jfr_cursor cursor;
        int64_t type;
        PCI_TRY(next_event(c, &at, &type, &cursor, err));
        if (type == PCI_JFR_CHECKPOINT_TYPE)
            PCI_TRY(pci_jfr_read_checkpoint(c, &cursor, err));
    }
    return PCOL_OK;
}

/* ---- samples ---- */

/* Ticks after `since` as nanoseconds, plus `to_ns` - `from_ns`. */
static pcol_status convert_ticks(const struct pci_jfr_chunk *c, int64_t ticks, int64_t since,
                                 int64_t from_ns, int64_t to_ns, int64_t *ns, pcol_error *err)
{
    __extension__ typedef __int128 wide;
    wide product = ((wide)ticks - since) * 1000000000, result = product / c->ticks_per_second;
    result += (wide)to_ns - from_ns - (product % c->ticks_per_second < 0);
    if (result != (int64_t)result)
        return pci_fail(err, PCOL_E_SYNTAX, "a time beyond 64 bits of nanoseconds");
    *ns = (int64_t)result;
    return PCOL_OK;
}

/* The entry of `names` with this string as sample type or event; PCI_HASH_NONE: there is none. */
static uint32_t find_name(const struct reader *r, enum named kind, uint32_t string)
{
    uint64_t hash = pci_hash_pair(string, kind);
    size_t slot = pci_hash_start(&r->by_name, hash);
    uint32_t at;
    while ((at = pci_hash_next(&r->by_name, hash, &slot)) != PCI_HASH_NONE)
        if (r->names[at].string[kind] == string)
            break;
    return at;
}

/* A name of the metadata, which any number of its classes may have. */
static pcol_status intern_event(struct pci_jfr_chunk *c, pcol_str event, uint32_t *name,
                                pcol_error *err)
{
    *name = pci_text_memo_find(&c->events, event);
    if (*name != PCI_HASH_NONE)
        return PCOL_OK;
    PCI_TRY(pcol_builder_string(c->builder, event.data, event.size, name, err));
    return pci_text_memo_add(&c->events, event, *name, err);
}

/* The name without the package, or the whole name, or that and a number: the first one that no
 * other event has. */
static pcol_status name_type(struct reader *r, pcol_str event, uint32_t *type, pcol_error *err)
{
    size_t start = event.size;
    uint32_t name;
    PCI_TRY(intern_event(&r->chunk, event, &name, err));
    uint32_t known = find_name(r, NAME_OF_EVENT, name); /* of a chunk before */
    if (known != PCI_HASH_NONE) {
        *type = r->names[known].string[NAME_OF_TYPE];
        return PCOL_OK;
    }
    while (start && event.data[start - 1] != '.')
        start--;
    PCI_TRY(
        pcol_builder_string(r->chunk.builder, event.data + start, event.size - start, type, err));
    for (int i = 1; find_name(r, NAME_OF_TYPE, *type) != PCI_HASH_NONE; i++) {
        struct pci_strbuf numbered = {0};
        char number[16];
        int digits = i > 1 ? snprintf(number, sizeof number, "#%d", i) : 0;
        pcol_status status = pci_strbuf_append(&numbered, event.data, event.size, err);
        PCI_THEN(status, pci_strbuf_append(&numbered, number, (size_t)digits, err));
        PCI_THEN(status,
                 pcol_builder_string(r->chunk.builder, numbered.data, numbered.size, type, err));
        pci_strbuf_clear(&numbered);
        PCI_TRY(status);
    }
    if (pci_grow((void **)&r->names, &r->name_capacity, r->name_count + 1, sizeof *r->names))
        return pci_fail_memory(err);
    uint32_t at = (uint32_t)r->name_count++;
    r->names[at] = (struct names){{[NAME_OF_TYPE] = *type, [NAME_OF_EVENT] = name}};
    PCI_TRY(pci_hash_add(&r->by_name, pci_hash_pair(*type, NAME_OF_TYPE), at, err));
    PCI_TRY(pci_hash_add(&r->by_name, pci_hash_pair(name, NAME_OF_EVENT), at, err));
    return PCOL_OK;
}

/* The sample type of an event's class. */
static pcol_status find_type(struct reader *r, struct pci_jfr_class *class, pcol_error *err)
{
    uint32_t type, unit;
    if (class->sample_type != PCOL_NONE)
        return PCOL_OK;
    pcol_str event = {(const char *)class->name.data, class->name.size};
    const struct pci_jfr_weight *weight = pci_jfr_find_weight(event);
    if (weight && (class->has_weight || !weight->field)) {
        class->has_duration = 0;
    } else {
        weight = NULL;
        class->has_weight = 0;
    }
    const char *unit_name = weight ? weight->unit : class->has_duration ? "nanoseconds" : "count";
    PCI_TRY(name_type(r, event, &type, err));
    PCI_TRY(pcol_builder_string(r->chunk.builder, unit_name, strlen(unit_name), &unit, err));
    for (int i = 0; i < r->default_rank; i++)
        if (pci_str_is(event, defaults[i])) {
            r->default_rank = i;
            r->default_type = type;
        }
    return pci_builder_sample_type(r->chunk.builder, type, unit, 0, 0, &class->sample_type, err);
}

static pcol_status add_sample(struct reader *r, struct pci_jfr_class *class,
                              const struct pci_jfr_value *values, pcol_error *err)
{
    struct pci_jfr_chunk *c = &r->chunk;
    const struct pci_jfr_constant *stack;
    pcol_sample sample = PCOL_INIT(pcol_sample);
    pcol_value value = {.as.i64 = 1};
    uint64_t row;
    const struct pci_jfr_value *thread = &values[PCI_JFR_SAMPLED_THREAD];
    thread = thread->is_set ? thread : &values[PCI_JFR_EVENT_THREAD];
    PCI_TRY(pci_jfr_find_stack(c, &values[PCI_JFR_STACK], &stack, err));
    if (!stack) {
        r->without_stack += !values[PCI_JFR_STACK].number;
        r->lost_stacks += values[PCI_JFR_STACK].number != 0;
        return PCOL_OK;
    }
    PCI_TRY(find_type(r, class, err));
    sample.source = c->import->source;
    sample.stack = stack->row;
    int is_truncated = stack->is_truncated;
    PCI_TRY(pci_jfr_find_thread(c, thread, &sample.thread, err));
    if (values[PCI_JFR_START_TIME].is_set) {
        sample.flags |= PCOL_SAMPLE_HAS_TIME;
        PCI_TRY(convert_ticks(c, values[PCI_JFR_START_TIME].number, c->start_ticks, r->start_ns,
                              c->start_ns, &sample.time_ns, err));
    }
    if (values[PCI_JFR_DURATION].is_set) {
        PCI_TRY(
            convert_ticks(c, values[PCI_JFR_DURATION].number, 0, 0, 0, &sample.duration_ns, err));
        pci_set_flag(&sample.flags, PCOL_SAMPLE_HAS_DURATION, sample.duration_ns >= 0);
    }
    value.sample_type = class->sample_type;
    if (class->has_weight)
        value.as.i64 = values[PCI_JFR_WEIGHT].number;
    else if (class->has_duration)
        value.as.i64 = sample.duration_ns;
    sample.values = &value;
    sample.value_count = 1;
    PCI_TRY(pcol_builder_sample(c->builder, &sample, &row, err));
    if (!is_truncated)
        return PCOL_OK;
    struct pci_label label = {.key = r->truncated_key,
                              .unit = PCOL_NONE,
                              .kind = PCI_LABEL_BOOL,
                              .text = PCOL_NONE,
                              .as.i64 = 1};
    return pci_builder_labels(c->builder, PCI_T_SAMPLES, row, &label, 1, NULL, err);
}

static pcol_status read_events(struct reader *r, pcol_error *err)
{
    struct pci_jfr_chunk *c = &r->chunk;
    for (uint64_t at = PCI_JFR_HEADER_BYTES; at < c->size;) {
        struct pci_jfr_value values[PCI_JFR_SLOTS];
        struct pci_jfr_cursor cursor;
        int64_t type;
        uint64_t start = at;
        PCI_TRY(next_event(c, &at, &type, &cursor, err));
        if (type == PCI_JFR_METADATA_TYPE || type == PCI_JFR_CHECKPOINT_TYPE)
            continue;
        uint32_t class = pci_jfr_find_class(&c->classes, type);
        if (class == PCOL_NONE)
            return pci_fail_at_byte(
                err, PCOL_E_SYNTAX, c->offset + start,
                "an event of type %" PRId64 ", which the metadata does not describe", type);
        if (!c->classes.classes[class].has_stack) {
            r->other++;
            continue;
        }
        PCI_TRY(pci_jfr_read_value(&c->classes, class, &cursor, values, err));
        pcol_status status = add_sample(r, &c->classes.classes[class], values, err);
        if (status != PCOL_OK && err && err->offset == PCOL_POSITION_UNKNOWN)
            err->offset = c->offset + start;
        PCI_TRY(status);
    }
    return PCOL_OK;
}

static void close_chunk(struct pci_jfr_chunk *c)
{
    pci_spill_clear(&c->bytes);
    pci_jfr_classes_clear(&c->classes);
    pci_text_memo_clear(&c->events);
    pci_hash_clear(&c->by_key);
    pci_free(c->constants);
    pci_free(c->groups);
    pci_spill_view_clear(&c->event_view);
    pci_spill_view_clear(&c->stack_view);
    pci_spill_view_clear(&c->view);
    pci_strbuf_clear(&c->text);
}

/* ---- the recording ---- */

static pcol_status add_source(struct reader *r, pcol_error *err)
{
    char timestamp[PCI_UTC_TEXT_BYTES];
    pcol_source source = {.timestamp = timestamp};
    r->start_ns = r->chunk.start_ns;
    pci_utc_text_ns(r->start_ns, timestamp);
    PCI_TRY(pci_import_source(r->import, &source, err));
    return pcol_builder_string(r->import->builder, "truncated", 9, &r->truncated_key, err);
}

static pcol_status read_chunk(struct reader *r, int is_first, pcol_error *err)
{
    struct pci_jfr_chunk *c = &r->chunk;
    int64_t duration = 0;
    *c = (struct pci_jfr_chunk){.import = r->import,
                                .builder = r->import->builder,
                                .bytecode_index = c->bytecode_index,
                                .frame_type = c->frame_type};
    pci_spill_init(&c->bytes, &c->builder->store);
    pcol_status status = open_chunk(r, &duration, err);
    if (status == PCOL_OK && is_first)
        status = add_source(r, err);
    if (status == PCOL_OK)
        status = read_metadata(c, err);
    if (status == PCOL_OK)
        status = index_constants(c, err);
    if (status == PCOL_OK)
        status = read_events(r, err);
    if (__builtin_sub_overflow(c->start_ns, r->start_ns, &r->end_ns) ||
        __builtin_add_overflow(r->end_ns, duration, &r->end_ns))
        r->end_ns = -1;
    close_chunk(c);
    return status;
}

static pcol_status finish(struct reader *r, pcol_error *err)
{
    struct pci_column_buffer **columns = r->import->builder->columns;
    if (r->other || r->without_stack)
        pci_import_message("events without a stack were omitted: %" PRIu64,
                           r->other + r->without_stack);
    if (r->lost_stacks)
        pci_import_message("events whose stack the recording lacks were omitted: %" PRIu64,
                           r->lost_stacks);
    if (r->end_ns >= 0)
        PCI_TRY(pci_column_buffer_set(columns[PCI_C_SOURCE_DURATION], r->import->source, r->end_ns,
                                      err));
    return r->default_type == PCOL_NONE
               ? PCOL_OK
               : pci_column_buffer_set(columns[PCI_C_SOURCE_DEFAULT_TYPE], r->import->source,
                                       r->default_type, err);
}

pcol_status pci_jfr_read(struct pci_import *import, pcol_error *err)
{
    struct reader r = {.import = import, .default_type = PCOL_NONE, .default_rank = 2};
    struct pci_input *input = import->input;
    pcol_status status = fill_header(input, err);
    r.chunk.bytecode_index = r.chunk.frame_type = PCOL_NONE;
    for (int is_first = 1; status == PCOL_OK && (is_first || input->size); is_first = 0) {
        status = read_chunk(&r, is_first, err);
        if (status == PCOL_OK)
            status = fill_header(input, err);
    }
    if (status == PCOL_OK)
        status = finish(&r, err);
    pci_hash_clear(&r.by_name);
    pci_free(r.names);
    return status;
}

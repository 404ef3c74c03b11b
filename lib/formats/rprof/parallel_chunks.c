/*
 * parallel_chunks.c - worker threads that parse chunks of an Rprof file (parallel_chunks.h)
 */
#include "formats/rprof/parallel_chunks.h"

#include "builder/builder.h"
#include "stream/input_open.h"
#include "util/alloc.h"
#include "util/thread_pool.h"

#define MAX_PARTS 7u                        /* worker threads */
#define MIN_CHUNK_BYTES (UINT64_C(1) << 18) /* less takes no longer than starting a thread */
#define MAX_CHUNK_BYTES (UINT64_C(1) << 23)
#define MAX_FAILURES 3u /* consecutive rounds; then the reader works alone */

/* The builder's node for a node of a part. */
struct mapped_node {
    uint32_t node, hash;
};

struct part {
    struct pci_input input;
    struct pci_rprof_text text;
    pcol_builder *builder; /* strings, functions, groups and nodes of this part */
    int is_rejected;       /* its last result was not used: its tables may have wrong rows */
    uint32_t *nodes;       /* of the previous line, outermost first */
    size_t node_capacity;
    /* the chunk */
    struct pci_rprof_parse_state state; /* at its begin */
    uint64_t from, to;                  /* of the chunk: lines that begin there */
    uint64_t begin, end;                /* of the lines that were read */
    uint64_t lines, too_long;
    uint32_t *stacks; /* of the samples; PCOL_NONE: none */
    uint8_t *present; /* with memory columns: bits of those present, and their values */
    int64_t *memory;
    size_t count, capacity, present_capacity, memory_capacity;
    pcol_status status;
    pcol_error error;
    /* rows of the reader's builder, by row of this one */
    uint32_t *groups, *functions; /* PCOL_NONE: not added yet */
    struct mapped_node *mapped;
    size_t group_count, group_capacity, function_count, function_capacity, mapped_count,
        mapped_capacity;
};

struct pci_rprof_chunks {
    const struct pci_import *import;
    uint64_t bytes; /* of the input */
    unsigned threads, count;
    unsigned used;     /* parts of this round */
    unsigned failures; /* consecutive rounds without a usable result */
    struct part part[MAX_PARTS];
    pcol_status (*own)(void *context, pcol_error *err);
    void *context;
};

/* ---- setup */

pcol_status pci_rprof_chunks_new(const struct pci_import *import, struct pci_rprof_chunks **parts,
                                 pcol_error *err)
{
    unsigned threads = import->options->threads;
    uint64_t bytes = threads > 1 ? pci_input_bytes(import->input) : 0;
    *parts = NULL;
    if (bytes < PCI_PARALLEL_MIN_BYTES)
        return PCOL_OK;
    struct pci_rprof_chunks *p;
    PCI_TRY(PCI_CALLOC(p, 1, err));
    p->import = import;
    p->bytes = bytes;
    p->threads = threads;
    p->count = threads - 1 < MAX_PARTS ? threads - 1 : MAX_PARTS;
    *parts = p;
    return PCOL_OK;
}

static void close_part(struct part *part)
{
    if (part->builder)
        pci_rprof_text_clear(&part->text);
    pcol_builder_free(part->builder);
    pci_input_close(&part->input);
    pci_free(part->nodes);
    pci_free(part->stacks);
    pci_free(part->present);
    pci_free(part->memory);
    pci_free(part->groups);
    pci_free(part->functions);
    pci_free(part->mapped);
    *part = (struct part){0};
}

void pci_rprof_chunks_free(struct pci_rprof_chunks *parts)
{
    if (!parts)
        return;
    for (unsigned i = 0; i < parts->count; i++)
        close_part(&parts->part[i]);
    pci_free(parts);
}

static pcol_status open_part(const struct pci_rprof_chunks *p, struct part *part, pcol_error *err)
{
    struct pci_import import = {.input = &part->input};
    PCI_TRY(pci_input_open_part(&part->input, p->import->input, err));
    PCI_TRY(pcol_builder_new(NULL, &part->builder, err));
    import.builder = part->builder;
    pci_rprof_text_init(&part->text, &import);
    part->text.frames.by_number = 1;
    return PCOL_OK;
}

pcol_status pci_rprof_chunks_plan(struct pci_rprof_chunks *parts, uint64_t at,
                                  const struct pci_rprof_parse_state *state, uint64_t *stop,
                                  pcol_error *err)
{
    struct pci_rprof_chunks *p = parts;
    uint64_t left = p->bytes > at ? p->bytes - at : 0, several = p->count + 1;
    uint64_t rounds = (left + several * MAX_CHUNK_BYTES - 1) / (several * MAX_CHUNK_BYTES);
    uint64_t bytes = rounds ? left / (several * rounds) : 0;
    p->used = 0;
    *stop = UINT64_MAX;
    if (bytes < MIN_CHUNK_BYTES || p->failures == MAX_FAILURES)
        return PCOL_OK;
    for (unsigned i = 0; i < p->count; i++) {
        struct part *part = &p->part[i];
        if (part->is_rejected || part->state.files != state->files)
            close_part(part);
        if (!part->builder)
            PCI_TRY(open_part(p, part, err));
        part->state = *state;
        part->from = at + (i + 1) * bytes;
        part->to = part->from + bytes;
        part->begin = part->end = UINT64_MAX;
        part->count = 0;
        part->lines = part->too_long = 0;
        part->status = PCOL_OK;
    }
    p->used = p->count;
    *stop = at + bytes;
    return PCOL_OK;
}

/* ---- worker thread */

/* *plain: the line is a sample that exports as the same bytes; then its frames are added. */
static pcol_status read_sample(struct part *part, const struct pci_rprof_line *line,
                               struct pci_rprof_int memory[4], int *has_memory, int *plain,
                               pcol_error *err)
{
    struct pci_rprof_text *t = &part->text;
    const uint8_t *p = pci_rprof_at(&t->lines, line->start);
    const uint8_t *end = pci_rprof_at(&t->lines, line->end);
    const uint8_t *before =
        t->frames.previous_size ? pci_rprof_at(&t->lines, t->previous_end) : NULL;
    struct pci_rprof_fault fault;
    *plain = *has_memory = 0;
    if (p == end || line->eol != (part->state.crlf ? PCI_RPROF_CRLF : PCI_RPROF_LF))
        return PCOL_OK;
    if (*p == ':' && part->state.memory) {
        p = pci_rprof_memory(p, end, memory, &fault.at);
        *has_memory = p && memory[0].canonical & memory[1].canonical & memory[2].canonical &
                               memory[3].canonical;
        if (!*has_memory)
            return PCOL_OK;
    } else if (*p != '"' && (unsigned)(*p - '0') >= 10) {
        return PCOL_OK;
    }
    PCI_TRY(pci_rprof_frames_scan(&t->frames, p, end, before, PCI_RPROF_LOOSE, &fault, err));
    if (fault.kind != PCI_RPROF_NO_FAULT)
        return PCOL_OK;
    return pci_rprof_frames_add(&t->frames, p, end, 1, plain, err);
}

/* Find or add the node of the stack of the last line. */
static pcol_status find_node(struct part *part, uint32_t *node, pcol_error *err)
{
    const struct pci_rprof_frames *frames = &part->text.frames;
    struct pci_call_tree *tree = &part->builder->tree;
    size_t depth = frames->common_depth, count = frames->new_count;
    PCI_TRY(PCI_GROW(part->nodes, part->node_capacity, depth + count + 1, err));
    *node = depth ? part->nodes[depth - 1] : 0;
    uint32_t hash = tree->nodes[*node].hash;
    for (size_t i = count; i-- > 0;)
        hash = pci_call_tree_prefetch(
            tree, pci_call_tree_hash(hash, frames->units[frames->new_units[i].unit].group));
    for (size_t i = count; i-- > 0;) {
        PCI_TRY(pci_call_tree_child(tree, *node, frames->units[frames->new_units[i].unit].group,
                                    node, err));
        part->nodes[depth++] = *node;
    }
    return PCOL_OK;
}

static pcol_status append_sample(struct part *part, const struct pci_rprof_int memory[4],
                                 int has_memory, pcol_error *err)
{
    uint32_t node;
    size_t n = part->count;
    PCI_TRY(find_node(part, &node, err));
    PCI_TRY(PCI_GROW(part->stacks, part->capacity, n + 1, err));
    part->stacks[n] = part->text.frames.depth ? node : PCOL_NONE;
    part->count++;
    if (!part->state.memory)
        return PCOL_OK;
    if (pci_grow((void **)&part->present, &part->present_capacity, n + 1, 1) ||
        pci_grow((void **)&part->memory, &part->memory_capacity, n + 1, 4 * sizeof *part->memory))
        return pci_fail_memory(err);
    part->present[n] = 0;
    for (unsigned i = 0; has_memory && i < 4; i++) {
        part->present[n] |= (uint8_t)(memory[i].known << i);
        part->memory[4 * n + i] = memory[i].value;
    }
    return PCOL_OK;
}

/* Find the first line of the chunk: it follows the first line feed from the byte before `from`. */
static pcol_status find_begin(struct part *part, pcol_error *err)
{
    struct pci_rprof_text *t = &part->text;
    struct pci_rprof_line line;
    int got;
    PCI_TRY(pci_input_skip(&part->input, part->from - 1, err));
    part->input.pause = part->to;
    t->lines.at = t->lines.keep = part->from - 1;
    t->frames.previous_size = 0;
    PCI_TRY(pci_rprof_peek(&t->lines, t->lines.at, &line, &got, err));
    if (!got || line.eol == PCI_RPROF_NO_EOL)
        return PCOL_OK;
    part->begin = part->end = t->lines.at = t->lines.keep = line.next;
    return PCOL_OK;
}

static pcol_status read_part(struct part *part, pcol_error *err)
{
    struct pci_rprof_text *t = &part->text;
    PCI_TRY(find_begin(part, err));
    while (part->end < part->to) {
        struct pci_rprof_int memory[4];
        struct pci_rprof_line line;
        int got, has_memory, plain;
        PCI_TRY(pci_rprof_peek(&t->lines, part->end, &line, &got, err));
        if (!got)
            return PCOL_OK;
        PCI_TRY(read_sample(part, &line, memory, &has_memory, &plain, err));
        if (!plain)
            return PCOL_OK;
        PCI_TRY(append_sample(part, memory, has_memory, err));
        part->too_long += line.next - line.start >= part->state.longest;
        part->lines++;
        part->end = t->lines.at = line.next;
        /* The next line is compared with the frames of this one. */
        t->previous_end = line.end;
        t->lines.keep = t->frames.previous_size ? line.end - t->frames.previous_size : line.next;
    }
    return PCOL_OK;
}

static pcol_status run_task(void *context, size_t number, pcol_error *err)
{
    struct pci_rprof_chunks *p = context;
    if (!number)
        return p->own(p->context, err);
    struct part *part = &p->part[number - 1];
    part->status = read_part(part, &part->error);
    return PCOL_OK;
}

pcol_status pci_rprof_chunks_run(struct pci_rprof_chunks *parts,
                                 pcol_status (*own)(void *context, pcol_error *err), void *context,
                                 pcol_error *err)
{
    struct pci_rprof_chunks *p = parts;
    p->own = own;
    p->context = context;
    PCI_TRY(pci_parallel_for(p->threads, (size_t)p->used + 1, run_task, p, err));
    for (unsigned i = 0; i < p->used; i++)
        if (p->part[i].status == PCOL_E_NO_MEMORY)
            return pci_fail_memory(err);
    return PCOL_OK;
}

/* ---- merging results */

/* Append PCOL_NONE to a map for the rows that the part has added since the last merge. */
static pcol_status extend_map(uint32_t **map, size_t *count, size_t *capacity, size_t wanted,
                              pcol_error *err)
{
    PCI_TRY(PCI_GROW(*map, *capacity, wanted + 1, err));
    for (; *count < wanted; ++*count)
        (*map)[*count] = PCOL_NONE;
    return PCOL_OK;
}

/* Path of the file whose number is the string `code` of the part (pci_rprof_frames.by_number). */
static uint32_t merge_path(const struct part *part, const struct pci_rprof_frames *frames,
                           uint32_t code)
{
    uint64_t number = 0;
    if (code == PCOL_NONE)
        return PCOL_NONE;
    pcol_str digits = pci_string_pool_get(&part->builder->strings, code);
    for (size_t i = digits.data[0] == '-'; i < digits.size; i++)
        number = number * 10 + (uint64_t)(digits.data[i] - '0');
    return pci_rprof_frames_path(frames, (int64_t)(digits.data[0] == '-' ? 0 - number : number));
}

static pcol_status merge_function(const struct part *part, const struct pci_rprof_frames *frames,
                                  pcol_builder *b, uint32_t row, pcol_error *err)
{
    const struct pci_function_record *from = &part->builder->functions[row];
    pcol_function function = PCOL_INIT(pcol_function);
    pcol_str name = pci_string_pool_get(&part->builder->strings, from->name);
    PCI_TRY(pcol_builder_string(b, name.data, name.size, &function.name, err));
    function.filename = merge_path(part, frames, from->filename);
    function.system_name = PCOL_NONE;
    return pcol_builder_function(b, &function, &part->functions[row], err);
}

/* A location group of Rprof has one line. */
static pcol_status merge_group(const struct part *part, const struct pci_rprof_frames *frames,
                               pcol_builder *b, uint32_t row, pcol_error *err)
{
    const struct pci_group_record *from = &part->builder->groups[row];
    pcol_line line = part->builder->lines[from->first_line];
    pcol_group group = PCOL_INIT(pcol_group);
    if (line.function != PCOL_NONE) {
        if (part->functions[line.function] == PCOL_NONE)
            PCI_TRY(merge_function(part, frames, b, line.function, err));
        line.function = part->functions[line.function];
    }
    line.filename = merge_path(part, frames, line.filename);
    group.lines = &line;
    group.line_count = 1;
    group.mapping = PCOL_NONE;
    pci_set_flag(&group.flags, PCOL_GROUP_HAS_FILE_NUMBER, from->bits >> 2 & 1);
    group.file_number = from->file_number;
    return pcol_builder_group(b, &group, &part->groups[row], err);
}

/* Add the part's new nodes in their order, which is that of a sequential reader. */
static pcol_status merge_nodes(struct part *part, const struct pci_rprof_frames *frames,
                               pcol_builder *b, pcol_error *err)
{
    enum { PREFETCHED = 16 };
    const pcol_builder *from = part->builder;
    size_t count = from->tree.count;
    PCI_TRY(extend_map(&part->functions, &part->function_count, &part->function_capacity,
                       from->function_count, err));
    PCI_TRY(extend_map(&part->groups, &part->group_count, &part->group_capacity, from->group_count,
                       err));
    PCI_TRY(PCI_GROW(part->mapped, part->mapped_capacity, count, err));
    if (!part->mapped_count)
        part->mapped[part->mapped_count++] = (struct mapped_node){0, b->tree.nodes[0].hash};
    for (size_t i = part->mapped_count, end; i < count; i = end) {
        end = count - i < PREFETCHED ? count : i + PREFETCHED;
        for (size_t k = i; k < end; k++) {
            const struct pci_node *node = &from->tree.nodes[k];
            if (part->groups[node->group] == PCOL_NONE)
                PCI_TRY(merge_group(part, frames, b, node->group, err));
            part->mapped[k].hash =
                pci_call_tree_prefetch(&b->tree, pci_call_tree_hash(part->mapped[node->parent].hash,
                                                                    part->groups[node->group]));
        }
        for (size_t k = i; k < end; k++) {
            const struct pci_node *node = &from->tree.nodes[k];
            PCI_TRY(pci_call_tree_child(&b->tree, part->mapped[node->parent].node,
                                        part->groups[node->group], &part->mapped[k].node, err));
        }
        part->mapped_count = end;
    }
    return PCOL_OK;
}

static pcol_status merge_samples(const struct part *part, struct pci_rprof_pipeline *queue,
                                 pcol_error *err)
{
    pcol_value values[PCI_RPROF_TYPES] = {{.sample_type = queue->types[0], .as.i64 = 1}};
    for (size_t n = 0; n < part->count; n++) {
        uint32_t stack = part->stacks[n];
        size_t count = 1;
        for (unsigned i = 0; part->state.memory && i < 4; i++)
            if (part->present[n] >> i & 1) {
                values[count].sample_type = queue->types[1 + i];
                values[count++].as.i64 = part->memory[4 * n + i];
            }
        PCI_TRY(pci_rprof_record_sample(queue->record,
                                        stack == PCOL_NONE ? PCOL_NONE : part->mapped[stack].node,
                                        values, count, err));
    }
    return PCOL_OK;
}

pcol_status pci_rprof_chunks_merge(struct pci_rprof_chunks *parts,
                                   const struct pci_rprof_parse_state *state,
                                   struct pci_rprof_pipeline *queue, uint64_t *at, uint64_t *lines,
                                   uint64_t *too_long, pcol_error *err)
{
    struct pci_rprof_chunks *p = parts;
    uint64_t before = *at;
    *lines = *too_long = 0;
    for (unsigned i = 0; i < p->used; i++) {
        struct part *part = &p->part[i];
        part->is_rejected = part->status != PCOL_OK || part->begin != *at ||
                            part->state.headers != state->headers ||
                            (part->mapped_count && part->state.files != state->files);
        if (part->is_rejected) /* later parts do not begin at *at, either */
            continue;
        part->state.files = state->files;
        PCI_TRY(merge_nodes(part, state->frames, p->import->builder, err));
        PCI_TRY(merge_samples(part, queue, err));
        *at = part->end;
        *lines += part->lines;
        *too_long += part->too_long;
    }
    p->failures = *at == before ? p->failures + 1 : 0;
    return PCOL_OK;
}

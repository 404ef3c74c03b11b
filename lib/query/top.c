/*
 * top.c - self and total of each distinct frame, and their columns
 *
 * The total of a frame is the sum over the stacks that contain it. A counter per frame tracks how
 * often it is on the path of the walk (walk.h); only the outermost occurrence counts, so a
 * recursive function counts once per sample. Tests: tests/unit/test_query.c, suite answers.
 */
#include "query/top.h"

#include "query/result.h"
#include "query/walk.h"
#include "util/alloc.h"

struct top_builder {
    pcol_query *query;
    struct pci_frames *frames;
    uint32_t *on_path;          /* by frame */
    struct pci_top_item *items; /* by frame */
};

/* Functions of the visitor, specialized for integers and doubles. */

/* Each weight is added to a frame's self or total once, so integers cannot overflow (walk.h). */
PCI_INLINE void add_amount(int is_double, pcol_amount *sum, pcol_amount value)
{
    if (is_double)
        sum->f64 += value.f64;
    else
        sum->i64 += value.i64;
}

PCI_INLINE pcol_status leave_frame(struct top_builder *c, int is_double, uint32_t frame,
                                   pcol_amount sum)
{
    if (--c->on_path[frame] == 0)
        add_amount(is_double, &c->items[frame].total, sum);
    return PCOL_OK;
}

PCI_INLINE pcol_status add_stack(struct top_builder *c, int is_double, uint32_t row, uint32_t leaf)
{
    pcol_amount weight = c->query->weight[row];
    if (leaf != PCOL_NONE) {
        add_amount(is_double, &c->items[leaf].self, weight);
    } else if (c->frames->stackless != PCOL_NONE) {
        add_amount(is_double, &c->items[c->frames->stackless].self, weight);
        add_amount(is_double, &c->items[c->frames->stackless].total, weight);
    }
    return PCOL_OK;
}

PCI_INLINE pcol_status enter_frame(void *context, uint32_t frame, uint32_t caller, pcol_error *err)
{
    struct top_builder *c = context;
    (void)caller;
    (void)err;
    c->on_path[frame]++;
    return PCOL_OK;
}

PCI_INLINE pcol_status leave_integer(void *context, uint32_t frame, uint32_t caller,
                                     pcol_amount sum, pcol_error *err)
{
    (void)caller;
    (void)err;
    return leave_frame(context, 0, frame, sum);
}

PCI_INLINE pcol_status leave_double(void *context, uint32_t frame, uint32_t caller, pcol_amount sum,
                                    pcol_error *err)
{
    (void)caller;
    (void)err;
    return leave_frame(context, 1, frame, sum);
}

PCI_INLINE pcol_status stack_integer(void *context, uint32_t row, uint32_t leaf, uint32_t caller,
                                     pcol_error *err)
{
    (void)caller;
    (void)err;
    return add_stack(context, 0, row, leaf);
}

PCI_INLINE pcol_status stack_double(void *context, uint32_t row, uint32_t leaf, uint32_t caller,
                                    pcol_error *err)
{
    (void)caller;
    (void)err;
    return add_stack(context, 1, row, leaf);
}

static pcol_status walk_integers(struct top_builder *c, pcol_error *err)
{
    const struct pci_walker walker = {c, 0, enter_frame, stack_integer, leave_integer};
    return pci_walk(c->query, c->frames, &walker, err);
}

static pcol_status walk_doubles(struct top_builder *c, pcol_error *err)
{
    const struct pci_walker walker = {c, 1, enter_frame, stack_double, leave_double};
    return pci_walk(c->query, c->frames, &walker, err);
}

static pcol_status count_frames(struct top_builder *c, pcol_error *err)
{
    struct pci_top_item *empty = &c->items[c->frames->empty];
    PCI_TRY(PCI_CALLOC(c->on_path, (size_t)c->frames->count + 1, err));
    /* The walk does not visit the root, the empty stack. */
    if (c->query->calls.count)
        empty->self = empty->total = c->query->weight[0];
    return c->query->measure.is_double ? walk_doubles(c, err) : walk_integers(c, err);
}

/* ---- rows */

struct pci_frame *pci_top_append(struct pci_top *top, size_t group)
{
    struct pci_top_item item = top->items[group];
    if (pci_amount_is_zero(top->is_double, item.self) &&
        pci_amount_is_zero(top->is_double, item.total))
        return NULL;
    struct pci_frame *frame = &top->frames.frames[group];
    item.by.frame = frame;
    top->items[top->count++] = item;
    return frame;
}

pcol_status pci_top_add_columns(pcol_result *result, const struct pci_top *top, pcol_error *err)
{
    static const struct pci_member columns[] = {
        {"self", PCOL_I64, offsetof(struct pci_top_item, self), 0, 1},
        {"total", PCOL_I64, offsetof(struct pci_top_item, total), 0, 1}};
    const struct pci_elements items = {top->items, sizeof *top->items, top->order, 0};
    return pci_result_add(result, &items, columns, sizeof columns / sizeof *columns, err);
}

static pcol_status build_frames(pcol_query *query, pcol_by by, struct pci_top *top, pcol_error *err)
{
    struct top_builder c = {.query = query, .frames = &top->frames};
    if (by == PCOL_BY_FUNCTION && query->function_sums)
        return pci_top_of_sums(query, top, err);
    PCI_TRY(pci_query_load(query, err));
    PCI_TRY(pci_frames_open(query, by, 0, &top->frames, err));
    PCI_TRY(PCI_CALLOC(top->items, (size_t)top->frames.count + 1, err));
    c.items = top->items;
    pcol_status status = count_frames(&c, err);
    pci_free(c.on_path);
    for (uint32_t i = 0; status == PCOL_OK && i < top->frames.count; i++)
        pci_top_append(top, i);
    return status;
}

pcol_status pci_query_top(pcol_query *query, const pcol_top_options *options, struct pci_top **top,
                          pcol_error *err)
{
    const pcol_by by = options->by;
    const char *label = options->label;
    struct pci_top *t;
    pcol_status status;
    *top = NULL;
    PCI_TRY(PCI_CALLOC(t, 1, err));
    t->is_double = query->measure.is_double;
    status = pci_control_enter(&query->control, err);
    PCI_THEN(status, by == PCOL_BY_LABEL    ? pci_top_of_label(query, label, t, err)
                     : by > PCOL_BY_MAPPING ? pci_top_of_samples(query, by, label, t, err)
                                            : build_frames(query, by, t, err));
    PCI_THEN(status, pci_top_sort(t, options->order, err));
    pci_control_leave(&query->control);
    if (status == PCOL_OK)
        *top = t;
    else
        pci_top_free(t);
    return status;
}

void pci_top_free(struct pci_top *top)
{
    if (!top)
        return;
    pci_frames_close(&top->frames);
    pci_string_pool_clear(&top->names);
    pci_free(top->texts);
    pci_free(top->functions);
    pci_free(top->items);
    pci_free(top->order);
    pci_free(top);
}

size_t pci_top_count(const struct pci_top *top)
{
    return top->count;
}

void pci_top_get(const struct pci_top *top, size_t index, struct pci_top_row *row)
{
    const struct pci_top_item *item = &top->items[top->order[index]];
    if (top->texts)
        *row = (struct pci_top_row){
            {.name = *item->by.name, .flags = PCI_FRAME_HAS_NAME}, item->self, item->total};
    else
        *row = (struct pci_top_row){*item->by.frame, item->self, item->total};
}

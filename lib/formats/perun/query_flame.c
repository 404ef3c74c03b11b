/*
 * query_flame.c - Perun's input for flame graphs: a line for each resource
 *
 * A line has the uid, the reversed trace and the amount. Texts of traces and uids are cached. Lines
 * are sorted by snapshot; if resources already are, they are streamed, and otherwise buffered.
 */
#include "formats/perun/query_answers.h"
#include "util/alloc.h"
#include "util/control.h"
#include "util/strbuf.h"

#include <string.h>

/* Whether a value can be part of a line. */
static int is_scalar(const struct pci_value *value)
{
    return value->kind < PCI_VALUE_FRAME || value->kind == PCI_VALUE_TEXT;
}

/* Members of a frame's object. */
struct parts {
    struct pci_value function, source, line, func;
    unsigned has; /* a bit for each, in this order */
};

static pcol_status read_parts(struct pcol_answers *a, const struct pci_value *object,
                              struct parts *p, pcol_error *err)
{
    static const char *const keys[] = {"function", "source", "line", "func"};
    struct pci_value *values[] = {&p->function, &p->source, &p->line, &p->func};
    struct pci_member_iterator each;
    struct pci_member member;
    int more = 1;
    p->has = 0;
    pcol_status status = pci_member_iterator_open(&each, &a->resources.values, object, err);
    while (status == PCOL_OK) {
        status = pci_member_iterator_next(&each, &member, &more, err);
        if (status != PCOL_OK || !more)
            break;
        for (unsigned i = 0; i < 4 && is_scalar(&member.value); i++)
            if (pci_str_is(member.key, keys[i])) {
                *values[i] = member.value;
                p->has |= 1u << i;
            }
    }
    pci_member_iterator_close(&each);
    return status;
}

/* Append "function()~source~line", or else the func; *ok is 0 if the object has neither. */
static pcol_status put_frame(struct pcol_answers *a, const struct pci_value *object,
                             struct pci_strbuf *to, int *ok, pcol_error *err)
{
    struct parts p;
    PCI_TRY(read_parts(a, object, &p, err));
    *ok = 1;
    if ((p.has & 7) == 7) {
        PCI_TRY(pci_flat_text(&p.function, to, err));
        PCI_TRY(pci_strbuf_append(to, "()~", 3, err));
        PCI_TRY(pci_flat_text(&p.source, to, err));
        PCI_TRY(pci_strbuf_append(to, "~", 1, err));
        return pci_flat_text(&p.line, to, err);
    }
    if (p.has & 8)
        return pci_flat_text(&p.func, to, err);
    *ok = 0;
    return PCOL_OK;
}

/* Append the reversed trace, with a semicolon before each frame. */
static pcol_status put_trace(struct pcol_answers *a, const struct pci_value *trace,
                             struct pci_strbuf *to, int *ok, pcol_error *err)
{
    struct pci_member_iterator each;
    struct pci_member member;
    int more = 1, object, array;
    *ok = 0;
    PCI_TRY(pci_value_classify(&a->resources.values, trace, &object, &array, err));
    if (!array)
        return PCOL_OK;
    a->found_count = 0;
    pcol_status status = pci_member_iterator_open(&each, &a->resources.values, trace, err);
    while (status == PCOL_OK) {
        void *found = a->found;
        status = pci_member_iterator_next(&each, &member, &more, err);
        if (status != PCOL_OK || !more)
            break;
        if (pci_grow(&found, &a->found_capacity, a->found_count + 1, sizeof *a->found))
            status = pci_fail_memory(err);
        a->found = found;
        if (status == PCOL_OK)
            a->found[a->found_count++] = member.value;
    }
    pci_member_iterator_close(&each);
    PCI_TRY(status);
    *ok = 1;
    for (size_t i = a->found_count; i-- > 0 && *ok;) {
        PCI_TRY(pci_strbuf_append(to, ";", 1, err));
        PCI_TRY(put_frame(a, &a->found[i], to, ok, err));
    }
    return PCOL_OK;
}

/* Get the text of a uid or trace; that of shared values is cached. */
static pcol_status get_line_part(struct pcol_answers *a, const struct pci_value *value, int trace,
                                 pcol_str *text, int *ok, pcol_error *err)
{
    struct pci_cached_value *shared = NULL;
    int is_new = 1;
    if (pci_value_shared(value))
        PCI_TRY(pci_result_cache_find(a, trace ? PCI_USE_TRACE_LINE : PCI_USE_FRAME_LINE, value,
                                      &shared, &is_new, err));
    if (!is_new) {
        *ok = shared->count != 0;
        if (*ok)
            *text = a->shared_items[shared->first].value.as.text;
        return PCOL_OK;
    }
    a->text.size = 0;
    if (trace)
        PCI_TRY(put_trace(a, value, &a->text, ok, err));
    else
        PCI_TRY(put_frame(a, value, &a->text, ok, err));
    *text = (pcol_str){a->text.data, a->text.size};
    if (!shared || !*ok)
        return PCOL_OK;
    struct pci_value cached = {.kind = PCI_VALUE_TEXT, .as.text = *text};
    return pci_result_cache_add(a, shared, 0, &cached, err);
}

enum { UID, TRACE, AMOUNT, SUBTYPE };

static int is_own_member(const struct pcol_answers *a, int which)
{
    const struct pci_resources *r = &a->resources;
    for (size_t i = 0; i < r->own_count; i++)
        if (r->own_slots[i] == a->line_roles[which])
            return 1;
    return 0;
}

/* A member that the line consists of, or NULL. Its index is cached for the plan. */
static const struct pci_value *get_role(struct pcol_answers *a, int which)
{
    static const char *const keys[PCI_LINE_ROLES] = {"uid", "trace", "amount", "subtype"};
    const struct pci_resources *r = &a->resources;
    if (a->plan != r->plan) {
        for (int i = 0; i < PCI_LINE_ROLES; i++) {
            const struct pci_value *value = pci_resources_find(r, keys[i]);
            a->line_roles[i] = SIZE_MAX;
            for (size_t k = 0; value && k < r->count; k++)
                if (&r->members[k].value == value)
                    a->line_roles[i] = k;
        }
        a->plan = r->plan;
        a->roles_shared =
            !is_own_member(a, UID) && !is_own_member(a, TRACE) && !is_own_member(a, SUBTYPE);
    }
    size_t at = a->line_roles[which];
    return at == SIZE_MAX ? NULL : &r->members[at].value;
}

/* Write the part before the amount to a->other; *ok is 0 if the resource has no line. */
static pcol_status make_stack_text(struct pcol_answers *a, const struct pci_value *uid,
                                   const struct pci_value *trace, int *ok, pcol_error *err)
{
    pcol_str text;
    int object, array;
    a->other.size = 0;
    *ok = uid && trace;
    if (!*ok)
        return PCOL_OK;
    PCI_TRY(pci_value_classify(&a->resources.values, uid, &object, &array, err));
    if (object) {
        PCI_TRY(get_line_part(a, uid, 0, &text, ok, err));
        if (*ok)
            PCI_TRY(pci_strbuf_append(&a->other, text.data, text.size, err));
    } else {
        *ok = is_scalar(uid) && uid->kind != PCI_VALUE_NULL;
        if (*ok)
            PCI_TRY(pci_flat_text(uid, &a->other, err));
    }
    if (*ok)
        PCI_TRY(get_line_part(a, trace, 1, &text, ok, err));
    if (!*ok)
        return PCOL_OK;
    PCI_TRY(pci_strbuf_append(&a->other, text.data, text.size, err));
    return pci_strbuf_append(&a->other, " ", 1, err);
}

static int is_same_value(const struct pci_value *a, const struct pci_value *b)
{
    return a->kind == b->kind && (pci_value_shared(a) ? a->as.i64 == b->as.i64
                                                      : a->kind == PCI_VALUE_STRING &&
                                                            a->as.text.data == b->as.text.data &&
                                                            a->as.text.size == b->as.text.size);
}

/* The resource has the stack, the subtype and the plan of the previous one. */
static int has_same_stack(const struct pcol_answers *a)
{
    return a->resources.own_only && a->roles_shared && a->plan == a->resources.plan;
}

/* Find the stack of the current resource, which may be the cached one. */
static pcol_status find_stack(struct pcol_answers *a, int *ok, pcol_error *err)
{
    const struct pci_value *uid = get_role(a, UID), *trace = get_role(a, TRACE);
    *ok = a->stack_size && uid && trace && is_same_value(uid, &a->cached_stack[0]) &&
          is_same_value(trace, &a->cached_stack[1]);
    if (*ok)
        return PCOL_OK;
    a->stack_size = 0;
    PCI_TRY(make_stack_text(a, uid, trace, ok, err));
    if (!*ok || !uid || !trace)
        return PCOL_OK;
    a->cached_stack[0] = *uid;
    a->cached_stack[1] = *trace;
    a->stack_size = a->other.size;
    return PCOL_OK;
}

/* Write the line of the current resource to a->other; *ok is 0 if it has none. */
static pcol_status make_line(struct pcol_answers *a, int *ok, pcol_error *err)
{
    const struct pci_value *amount = get_role(a, AMOUNT);
    *ok = a->stack_size != 0;
    if (!has_same_stack(a))
        PCI_TRY(find_stack(a, ok, err));
    a->other.size = a->stack_size;
    *ok = *ok && amount && is_scalar(amount) && amount->kind != PCI_VALUE_NULL;
    return *ok ? pci_flat_text(amount, &a->other, err) : PCOL_OK;
}

static int is_free(struct pcol_answers *a)
{
    if (has_same_stack(a))
        return a->was_free_row;
    const struct pci_value *subtype = get_role(a, SUBTYPE);
    return a->was_free_row =
               subtype && subtype->kind == PCI_VALUE_STRING && pci_str_is(subtype->as.text, "free");
}

static void report_skipped(struct pcol_answers *a)
{
    if (a->skipped)
        pci_notice(PCOL_NOTICE_SELECTION, "", "", "%s",
                   "resources without a uid, a trace of frames or an amount are skipped");
    a->skipped = 0;
}

/* Resources in the order of their snapshots: lines are streamed. */
static pcol_status next_line(struct pcol_answers *a, int *more, pcol_error *err)
{
    for (;;) {
        int ok;
        PCI_TRY(pci_resources_next(&a->resources, more, err));
        if (!*more) {
            report_skipped(a);
            return PCOL_OK;
        }
        if (is_free(a))
            continue;
        PCI_TRY(make_line(a, &ok, err));
        a->skipped += !ok;
        if (!ok)
            continue;
        struct pci_value line = {
            .kind = PCI_VALUE_TEXT, .brief = 1, .as.text = {a->other.data, a->other.size}};
        return pci_result_set(a, 0, &line, err);
    }
}

/* Whether all resources of the run have the line of the first one, except for an integral
 * amount. */
static int has_one_stack(const struct pcol_answers *a)
{
    const struct pci_resources *r = &a->resources;
    for (size_t i = 0; i < r->run_part_count; i++) {
        const struct pci_run_part *part = &r->run_parts[i];
        if (part->slot == a->line_roles[UID] || part->slot == a->line_roles[TRACE] ||
            (part->slot == a->line_roles[AMOUNT] && part->kind != PCI_VALUE_INTEGER))
            return 0;
    }
    return 1;
}

/* A block with the line of the current resource, and of the following ones with the same stack. */
static pcol_status put_block(struct pcol_answers *a, pcol_answer_block *block, pcol_error *err)
{
    const struct pci_resources *r = &a->resources;
    pcol_answer *cells = pci_block_cells(a, 1);
    if (!cells)
        return pci_fail_memory(err);
    cells[0] = (pcol_answer){.kind = PCOL_ANSWER_TEXT, .as.text = {a->other.data, a->other.size}};
    for (size_t i = 0; i < r->run_part_count; i++) {
        if (r->run_parts[i].slot != a->line_roles[AMOUNT] || block->times == 1)
            continue;
        PCI_TRY(pci_block_part(a, 0, 0, &r->run_parts[i], err));
        a->block_parts[a->block_part_count - 1].before = (pcol_str){a->other.data, a->stack_size};
    }
    block->rows = 1;
    block->cells = cells;
    return PCOL_OK;
}

static pcol_status line_block(struct pcol_answers *a, pcol_answer_block *block, pcol_error *err)
{
    struct pci_resources *r = &a->resources;
    for (;;) {
        int ok, more;
        PCI_TRY(pci_resources_next(r, &more, err));
        if (!more) {
            report_skipped(a);
            return PCOL_OK;
        }
        int free = is_free(a);
        if (!free)
            PCI_TRY(make_line(a, &ok, err));
        PCI_TRY(pci_resources_run(r, &block->times, err));
        if (!has_one_stack(a))
            block->times = 1;
        if (!free && ok)
            PCI_TRY(put_block(a, block, err));
        a->skipped += free || ok ? 0 : block->times;
        pci_resources_skip(r, block->times);
        if (block->rows)
            return PCOL_OK;
    }
}

/* Other resources: lines are buffered and sorted, as a list of (snapshot, index of the line). */
static pcol_status next_buffered(struct pcol_answers *a, int *more, pcol_error *err)
{
    *more = a->list_at < a->list_count;
    if (!*more) {
        report_skipped(a);
        return PCOL_OK;
    }
    const struct pci_flat_cell *cell = &a->flat_cells[a->list[a->list_at++].b];
    return pci_result_set(a, 0, &cell->value, err);
}

static pcol_status buffer_lines(struct pcol_answers *a, pcol_error *err)
{
    for (;;) {
        int more, ok;
        PCI_TRY(pci_resources_next(&a->resources, &more, err));
        if (!more)
            break;
        if (is_free(a))
            continue;
        PCI_TRY(make_line(a, &ok, err));
        a->skipped += !ok;
        if (!ok)
            continue;
        char *text;
        PCI_TRY(PCI_GROW(a->flat_cells, a->flat_capacity, a->flat_count + 1, err));
        PCI_TRY(pci_arena_alloc(&a->cache_arena, a->other.size, &text, err));
        memcpy(text, a->other.data, a->other.size);
        a->flat_cells[a->flat_count] =
            (struct pci_flat_cell){0, {.kind = PCI_VALUE_TEXT, .as.text = {text, a->other.size}}};
        PCI_TRY(pci_result_push(a, pci_snapshot_of(&a->resources), (int64_t)a->flat_count++, err));
    }
    return pci_result_sort(a, err);
}

pcol_status pci_perun_query_flame(struct pcol_answers *a, pcol_error *err)
{
    static const pcol_str wanted[] = {
        {"uid", 3}, {"trace", 5}, {"amount", 6}, {"subtype", 7}, {"snapshot", 8}};
    int sorted;
    PCI_TRY(pci_result_column(a, "line", err));
    PCI_TRY(pci_result_sorted(a, &sorted, err));
    pci_resources_want(&a->resources, wanted, sizeof wanted / sizeof *wanted);
    a->next = sorted ? next_line : next_buffered;
    a->block = sorted ? line_block : NULL;
    return sorted ? PCOL_OK : buffer_lines(a, err);
}

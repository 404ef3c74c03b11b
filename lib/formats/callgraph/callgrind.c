/*
 * callgrind.c - export of any profile as a Callgrind profile (version 1 of its format)
 *
 * A function is a name with its file and binary. A cost line is the self value of a frame (a line
 * of a function, with its address if any frame has one), a call the total of a function below a
 * frame, with one event for each sample type. As in Callgrind a call costs what its function does
 * until it returns, calls within it that reach the function again cost 0: the calls of a function
 * add up to its total. A function that begins some stacks and is called in others gets a caller
 * "(root)" for the former, since readers take the cost of called functions from their calls.
 *
 *     fl=(1) main.c      file             fn=(1) main       function
 *     12 3               line 12: self 3  cfi=(2) b.c, cfn=(2) work, calls=1 0, 14 5: line 14
 *                                         calls work: 5
 *
 * Names are given once, then by number. Tests: suite call_graphs, tests/cli/callgraph.test.
 */
#include "formats/callgraph/callgrind.h"

#include "query/labels.h"
#include "util/alloc.h"
#include "util/control.h"

#include <inttypes.h>
#include <stdio.h>

#define ROOT "(root)"

enum {
    LOSS_NAME = PCI_CALLGRIND_LOSS_NAME,
    LOSS_NEGATIVE = 2,
    LOSS_FRACTION = 4,
    LOSS_GAUGE = 8,
    LOSS_TYPES = 16,
    LOSS_STACK = 32,
    LOSS_EVENTS = 64,
    LOSS_STACKS = 128,
    LOSS_STACKLESS = 256
};

static const struct pci_loss losses[] = {
    {"line ends and outer blanks of names: they become blanks or are removed", ""},
    {"values below 0", ""},
    {"fractions of values", ""},
    {"sample types that are gauges", ""},
    {"sample types other than the chosen one", ""},
    {"samples with an empty call stack: it gets a frame", ""},
    {"more than 64 sample types, or those whose names contain a NUL byte", ""},
    {"whole call stacks: it has callers and their callees", ""},
    {"samples without a call stack: they are left out", ""},
};

/* ---- events ---- */

static int is_taken(const struct pci_callgrind *w, const char *name)
{
    for (uint32_t i = 0; i < w->event_count; i++)
        if (!strcmp(w->events[i].name, name))
            return 1;
    return 0;
}

/* Letters and digits of a sample type, made unique. */
static void name_event(const struct pci_callgrind *w, pcol_str type, char *name, size_t capacity)
{
    size_t used = 0;
    for (size_t i = 0; i < type.size && used + 4 < capacity; i++) {
        char c = type.data[i];
        int is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (is_letter || (used && c >= '0' && c <= '9'))
            name[used++] = c;
    }
    name[used] = '\0';
    if (!used)
        used = (size_t)snprintf(name, capacity, "value");
    for (unsigned k = 2; is_taken(w, name); k++)
        snprintf(name + used, capacity - used, "%u", k);
}

static void add_event(struct pci_callgrind *w, uint32_t type)
{
    const struct pci_types *types = &w->graph.types;
    for (uint32_t i = 0; i < w->event_count; i++)
        if (pci_types_equal(types, w->events[i].type, type))
            return;
    if (w->event_count == PCI_CALLGRIND_EVENTS ||
        memchr(types->type[type].data, 0, types->type[type].size) ||
        memchr(types->unit[type].data, 0, types->unit[type].size)) {
        w->lost |= LOSS_EVENTS;
        return;
    }
    struct pci_callgrind_event event = {.type = type, .unit = types->unit[type]};
    name_event(w, types->type[type], event.name, sizeof event.name);
    w->events[w->event_count++] = event;
}

/* The chosen or default type, then the others in the order of the sources. */
static pcol_status add_events(struct pci_callgrind *w, pcol_error *err)
{
    const struct pci_export *export = w->graph.export;
    const struct pci_types *types = &w->graph.types;
    uint32_t *list, count;
    if (w->graph.chosen.count)
        add_event(w, w->graph.chosen.rows[0]);
    PCI_TRY(PCI_MALLOC(list, (size_t)types->count + 1, err));
    pcol_status status = PCOL_OK;
    for (uint64_t s = export->first_source; s <= export->last_source && status == PCOL_OK; s++) {
        status = pci_types_of_source(types, s, list, &count, err);
        for (uint32_t i = 0; status == PCOL_OK && i < count; i++) {
            int is_chosen = w->event_count && pci_types_equal(types, w->events[0].type, list[i]);
            if (types->is_gauge[list[i]])
                w->lost |= types->columns[list[i]] ? LOSS_GAUGE : 0u;
            else if (export->options->sample_type && !is_chosen)
                w->lost |= LOSS_TYPES;
            else
                add_event(w, list[i]);
        }
    }
    pci_free(list);
    return status;
}

/* ---- sums ---- */

static pcol_status to_integer(struct pci_callgrind *w, const struct pci_callgrind_event *event,
                              pcol_amount amount, int is_double, int64_t *whole, pcol_error *err)
{
    int fraction = 0;
    PCI_TRY(pci_work(sizeof *whole, err));
    const struct pci_integer_form form = {"callgrind", event->scale, 1};
    PCI_TRY(pci_types_to_integer(amount.i64, is_double, &form, PCOL_POSITION_UNKNOWN, whole,
                                 &fraction, err));
    w->lost |= fraction ? LOSS_FRACTION : 0u;
    return PCOL_OK;
}

/* Sums by frame and by call of the weights of the view. */
struct sums {
    pcol_amount *node, *selfs, *costs; /* node: self, then total */
    uint32_t *counted_to;              /* by function: end of its last outermost node */
    int is_double;
};

static int add_nodes(struct pci_callgrind *w, struct sums *s)
{
    const pcol_view *view = w->graph.view;
    const struct pci_view_side *side = &view->side[0];
    int overflow = 0;
    for (uint32_t i = 1; i < view->node_count; i++) {
        s->node[i] = side->self[i];
        if (s->is_double ? s->node[i].f64 < 0 : s->node[i].i64 < 0) {
            w->lost |= LOSS_NEGATIVE;
            s->node[i] = (pcol_amount){0};
        }
        w->weighed[i] |= !pci_amount_is_zero(s->is_double, s->node[i]);
        if (view->node_frame[i] == side->empty && w->weighed[i])
            w->lost |= LOSS_STACK;
        overflow |= pci_amount_add(s->is_double, &s->selfs[view->node_frame[i]], s->node[i]);
    }
    for (uint32_t i = view->node_count; i-- > 1;)
        overflow |= pci_amount_add(s->is_double, &s->node[view->parent[i]], s->node[i]);
    for (uint32_t i = 1; i < view->node_count; i++) {
        uint32_t function = w->function_of[view->node_frame[i]];
        if (i < s->counted_to[function])
            continue;
        s->counted_to[function] = view->end[i];
        if (w->call_of[i] != PCOL_NONE)
            overflow |= pci_amount_add(s->is_double, &s->costs[w->call_of[i]], s->node[i]);
    }
    return overflow;
}

static pcol_status store(struct pci_callgrind *w, struct pci_callgrind_event *event,
                         const struct sums *s, pcol_error *err)
{
    uint32_t frames = w->graph.view->frame_count;
    PCI_TRY(PCI_MALLOC(event->selfs, (size_t)frames + 1, err));
    PCI_TRY(PCI_MALLOC(event->costs, (size_t)w->calls.count + 1, err));
    for (uint32_t i = 0; i < frames; i++)
        PCI_TRY(to_integer(w, event, s->selfs[i], s->is_double, &event->selfs[i], err));
    for (uint32_t i = 0; i < w->calls.count; i++)
        PCI_TRY(to_integer(w, event, s->costs[i], s->is_double, &event->costs[i], err));
    return to_integer(w, event, s->node[0], s->is_double, &event->total, err);
}

static pcol_status sum(struct pci_callgrind *w, struct pci_callgrind_event *event, struct sums *s,
                       pcol_error *err)
{
    const pcol_view *view = w->graph.view;
    PCI_TRY(PCI_CALLOC(s->node, (size_t)view->node_count + 1, err));
    PCI_TRY(PCI_CALLOC(s->selfs, (size_t)view->frame_count + 1, err));
    PCI_TRY(PCI_CALLOC(s->costs, (size_t)w->calls.count + 1, err));
    PCI_TRY(PCI_CALLOC(s->counted_to, (size_t)w->function_count + 1, err));
    if (add_nodes(w, s))
        return pci_fail(err, PCOL_E_LOSS, "a sum exceeds 64 bits: callgrind cannot hold it");
    PCI_TRY(pci_work((uint64_t)view->node_count * sizeof *s->node, err));
    event->scale = pci_label_integer_scale(s->is_double, &event->unit);
    return store(w, event, s, err);
}

static pcol_status weigh(struct pci_callgrind *w, struct pci_callgrind_event *event,
                         pcol_error *err)
{
    pcol_query *query = NULL;
    struct sums s = {0};
    PCI_TRY(pci_callgraph_query(&w->graph, event->type, &query, err));
    pcol_status status = pcol_view_weigh(w->graph.view, query, NULL, err);
    if (status == PCOL_E_LIMIT) {
        status = PCOL_E_LOSS; /* a sum */
        if (err)
            err->status = status;
    }
    s.is_double = w->graph.view->side[0].is_double;
    PCI_THEN(status, sum(w, event, &s, err));
    pci_free(s.node);
    pci_free(s.selfs);
    pci_free(s.costs);
    pci_free(s.counted_to);
    pcol_query_free(query);
    return status;
}

/* ---- output ---- */

static pcol_status put_name(struct pci_callgrind *w, const char *key, int pool, uint32_t string,
                            pcol_error *err)
{
    uint32_t *number = &w->defined[pool][string];
    int is_new = !*number;
    if (is_new)
        *number = ++w->numbers[pool];
    PCI_TRY(
        pci_callgraph_print(&w->graph, err, "%s=(%" PRIu32 ")%s", key, *number, is_new ? " " : ""));
    if (is_new) {
        pcol_str name = pci_string_pool_get(&w->pools[pool], string);
        PCI_TRY(pci_out(w->graph.out, name.data, name.size, err));
    }
    return pci_callgraph_text(&w->graph, "\n", err);
}

static pcol_status put_function(struct pci_callgrind *w,
                                const struct pci_callgrind_function *function, int is_called,
                                pcol_error *err)
{
    if (w->has_objects)
        PCI_TRY(put_name(w, is_called ? "cob" : "ob", PCI_CG_OBJECTS, function->object, err));
    PCI_TRY(put_name(w, is_called ? "cfi" : "fl", PCI_CG_FILES, function->file, err));
    return put_name(w, is_called ? "cfn" : "fn", PCI_CG_FUNCTIONS, function->name, err);
}

/* frame: PCOL_NONE for (root). */
static pcol_status put_position(struct pci_callgrind *w, uint32_t frame, pcol_error *err)
{
    static const struct pci_frame nowhere = {0};
    const struct pci_frame *f = frame == PCOL_NONE ? &nowhere : w->graph.view->frames[frame];
    int64_t line = f->flags & PCI_FRAME_HAS_LINE && f->line > 0 ? f->line : 0;
    if (w->has_addresses)
        PCI_TRY(pci_callgraph_print(&w->graph, err, "0x%" PRIx64 " ",
                                    f->flags & PCI_FRAME_HAS_ADDRESS ? f->address : 0));
    return pci_out_int(w->graph.out, line, err);
}

static pcol_status put_call(struct pci_callgrind *w, uint32_t call, uint32_t frame, pcol_error *err)
{
    const struct pci_callgrind_function *callee = &w->functions[w->calls.pairs[call].second];
    PCI_TRY(put_function(w, callee, 1, err));
    PCI_TRY(pci_callgraph_print(&w->graph, err, "calls=1 %s%" PRId64 "\n",
                                w->has_addresses ? "0x0 " : "", callee->start_line));
    PCI_TRY(put_position(w, frame, err));
    for (uint32_t e = 0; e < w->event_count; e++)
        PCI_TRY(pci_callgraph_print(&w->graph, err, " %" PRId64, w->events[e].costs[call]));
    return pci_callgraph_text(&w->graph, "\n", err);
}

/* Whether nodes of a call have weight: a call that is only recursive has cost 0. */
static pcol_status find_used_calls(struct pci_callgrind *w, uint8_t **used, pcol_error *err)
{
    const pcol_view *view = w->graph.view;
    PCI_TRY(PCI_CALLOC(*used, (size_t)w->calls.count + 1, err));
    for (uint32_t i = view->node_count; i-- > 1;) {
        uint32_t parent = view->parent[i];
        if (!w->weighed[i])
            continue;
        w->weighed[parent] = 1;
        if (parent && view->parent[parent])
            w->lost |= LOSS_STACKS;
        if (w->call_of[i] != PCOL_NONE)
            (*used)[w->call_of[i]] = 1;
    }
    return PCOL_OK;
}

static int has_self(const struct pci_callgrind *w, uint32_t frame)
{
    for (uint32_t e = 0; e < w->event_count; e++)
        if (w->events[e].selfs[frame])
            return 1;
    return 0;
}

static int has_call(const struct pci_callgrind *w, uint32_t caller, const uint8_t *used)
{
    for (uint32_t i = w->first[caller]; i < w->first[caller + 1]; i++)
        if (used[w->sorted[i]])
            return 1;
    return 0;
}

static pcol_status put_calls(struct pci_callgrind *w, uint32_t caller, uint32_t frame,
                             const uint8_t *used, pcol_error *err)
{
    for (uint32_t i = w->first[caller]; i < w->first[caller + 1]; i++)
        if (used[w->sorted[i]])
            PCI_TRY(put_call(w, w->sorted[i], frame, err));
    return PCOL_OK;
}

static pcol_status put_frames(struct pci_callgrind *w, const uint8_t *used, pcol_error *err)
{
    const pcol_view *view = w->graph.view;
    uint32_t last = PCOL_NONE;
    for (uint32_t i = 0; i < view->frame_count; i++) {
        uint32_t frame = w->order[i], function = w->function_of[frame];
        if (!has_self(w, frame) && !has_call(w, frame, used))
            continue;
        if (function != last) {
            PCI_TRY(pci_callgraph_text(&w->graph, "\n", err));
            PCI_TRY(put_function(w, &w->functions[function], 0, err));
        }
        last = function;
        if (has_self(w, frame)) {
            PCI_TRY(put_position(w, frame, err));
            for (uint32_t e = 0; e < w->event_count; e++)
                PCI_TRY(
                    pci_callgraph_print(&w->graph, err, " %" PRId64, w->events[e].selfs[frame]));
            PCI_TRY(pci_callgraph_text(&w->graph, "\n", err));
        }
        PCI_TRY(put_calls(w, frame, frame, used, err));
    }
    return PCOL_OK;
}

static pcol_status put_root(struct pci_callgrind *w, const uint8_t *used, pcol_error *err)
{
    struct pci_callgrind_function root = {0};
    uint32_t caller = w->graph.view->frame_count;
    if (!has_call(w, caller, used))
        return PCOL_OK;
    PCI_TRY(pci_callgraph_text(&w->graph, "\n", err));
    PCI_TRY(pci_callgrind_intern(w, PCI_CG_FUNCTIONS, (pcol_str){ROOT, strlen(ROOT)}, ROOT,
                                 &root.name, err));
    PCI_TRY(pci_callgrind_intern(w, PCI_CG_FILES, (pcol_str){"", 0}, PCI_CALLGRIND_UNKNOWN,
                                 &root.file, err));
    PCI_TRY(pci_callgrind_intern(w, PCI_CG_OBJECTS, (pcol_str){"", 0}, PCI_CALLGRIND_UNKNOWN,
                                 &root.object, err));
    PCI_TRY(put_function(w, &root, 0, err));
    return put_calls(w, caller, PCOL_NONE, used, err);
}

/* The rest of a header line: a text without line ends. */
static pcol_status put_text(struct pci_callgrind *w, pcol_str text, pcol_error *err)
{
    for (size_t i = 0; i < text.size; i++) {
        char c = text.data[i] && !strchr("\n\r\v\f", text.data[i]) ? text.data[i] : ' ';
        PCI_TRY(pci_out(w->graph.out, &c, 1, err));
    }
    return PCOL_OK;
}

static pcol_status put_header(struct pci_callgrind *w, pcol_error *err)
{
    PCI_TRY(pci_callgraph_text(&w->graph, "# callgrind format\nversion: 1\ncreator: pcol ", err));
    PCI_TRY(pci_callgraph_text(&w->graph, pcol_version(), err));
    PCI_TRY(pci_callgraph_text(&w->graph, "\npositions: ", err));
    PCI_TRY(pci_callgraph_text(&w->graph, w->has_addresses ? "instr line\n" : "line\n", err));
    for (uint32_t e = 0; e < w->event_count; e++) {
        pcol_str type = w->graph.types.type[w->events[e].type], unit = w->events[e].unit;
        PCI_TRY(pci_callgraph_print(&w->graph, err, "event: %s : ", w->events[e].name));
        PCI_TRY(put_text(w, type, err));
        PCI_TRY(pci_callgraph_text(&w->graph, unit.size ? " (" : "", err));
        PCI_TRY(put_text(w, unit, err));
        PCI_TRY(pci_callgraph_text(&w->graph, unit.size ? ")\n" : "\n", err));
    }
    PCI_TRY(pci_callgraph_text(&w->graph, "events:", err));
    for (uint32_t e = 0; e < w->event_count; e++)
        PCI_TRY(pci_callgraph_print(&w->graph, err, " %s", w->events[e].name));
    if (!w->event_count)
        PCI_TRY(pci_callgraph_text(&w->graph, " samples", err));
    PCI_TRY(pci_callgraph_text(&w->graph, "\nsummary:", err));
    for (uint32_t e = 0; e < w->event_count; e++)
        PCI_TRY(pci_callgraph_print(&w->graph, err, " %" PRId64, w->events[e].total));
    return pci_callgraph_text(&w->graph, w->event_count ? "\n" : " 0\n", err);
}

static pcol_status put_file(struct pci_callgrind *w, pcol_error *err)
{
    uint8_t *used = NULL;
    pcol_status status = PCOL_OK;
    for (int i = 0; i < PCI_CG_POOLS; i++) /* three more names are those of (root) */
        PCI_THEN(status, PCI_CALLOC(w->defined[i], w->pools[i].count + 3, err));
    PCI_THEN(status, find_used_calls(w, &used, err));
    PCI_THEN(status, put_header(w, err));
    PCI_THEN(status, put_frames(w, used, err));
    PCI_THEN(status, put_root(w, used, err));
    PCI_THEN(status, pci_out_flush(w->graph.out, err));
    pci_free(used);
    return status;
}

/* ---- export ---- */

static pcol_status write_profile(struct pci_callgrind *w, const struct pci_export *export,
                                 pcol_error *err)
{
    int left_out;
    PCI_TRY(pci_callgraph_open(&w->graph, export, PCOL_BY_LOCATION, err));
    PCI_TRY(pci_callgrind_build(w, err));
    PCI_TRY(add_events(w, err));
    for (uint32_t e = 0; e < w->event_count; e++)
        PCI_TRY(weigh(w, &w->events[e], err));
    PCI_TRY(put_file(w, err));
    PCI_TRY(pci_callgraph_leaves_out(&w->graph, &left_out, err));
    w->lost |= left_out ? LOSS_STACKLESS : 0u;
    pci_export_report(w->graph.export, losses, sizeof losses / sizeof *losses, w->lost);
    return pci_export_losses(w->graph.export, NULL, err);
}

pcol_status pci_callgrind_write(const struct pci_export *export, pcol_error *err)
{
    struct pci_callgrind *w;
    PCI_TRY(PCI_CALLOC(w, 1, err));
    pcol_status status = write_profile(w, export, err);
    for (uint32_t e = 0; e < w->event_count; e++) {
        pci_free(w->events[e].selfs);
        pci_free(w->events[e].costs);
    }
    for (int i = 0; i < PCI_CG_POOLS; i++) {
        pci_string_pool_clear(&w->pools[i]);
        pci_text_memo_clear(&w->long_names[i]);
        pci_free(w->defined[i]);
    }
    pci_frame_namer_close(&w->names);
    pci_hash_clear(&w->function_hash);
    pci_pair_set_clear(&w->calls);
    pci_free(w->functions);
    pci_free(w->function_of);
    pci_free(w->order);
    pci_free(w->call_of);
    pci_free(w->weighed);
    pci_free(w->sorted);
    pci_free(w->first);
    pci_free(w->clean);
    pci_callgraph_close(&w->graph);
    pci_free(w);
    return status;
}

/*
 * view_weights.c - weights of the nodes and frames of a view, and its marks
 *
 * Weighing adds the weight of each stack to its node, and then totals from the last node to the
 * first: parents precede children. A frame's total counts the outermost nodes of the frame: in
 * pre-order, those that are not before the end of the last one counted. Tests:
 * tests/unit/test_view.c.
 */
#include "query/view.h"

#include "query/tree_pair.h"
#include "util/alloc.h"
#include "util/arg_check.h"
#include "util/control.h"
#include "util/sized_struct.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- weights of nodes */

/* A value as a width: NaN is 0, infinity is the largest double. */
static double to_width(pcol_amount amount, int is_double)
{
    double value = pci_amount_to_double(amount, is_double);
    return isnan(value) ? 0 : fmin(fabs(value), DBL_MAX);
}

static int has_self(const pcol_view *view, int s, uint32_t node)
{
    const struct pci_view_side *side = &view->side[s];
    return side->file && !pci_amount_is_zero(side->is_double, side->self[node]);
}

/* The width of the stacks that end in a node, before the exponent. */
static double get_own(const pcol_view *view, uint32_t node)
{
    const struct pci_view_side *side = view->side;
    if (has_self(view, 0, node) || !side[1].file)
        return to_width(side[0].self[node], side[0].is_double);
    double own = to_width(side[1].self[node], side[1].is_double);
    double whole[2] = {to_width(side[0].whole, side[0].is_double),
                       to_width(side[1].whole, side[1].is_double)};
    if (whole[0] > 0 && whole[1] > 0)
        own = fmin(own / whole[1] * whole[0], DBL_MAX);
    return own;
}

double pci_view_own(const pcol_view *view, uint32_t node)
{
    if (!view->width)
        return (double)view->side[0].self[node].i64;
    double own = get_own(view, node);
    return view->exponent ? ldexp(own, view->exponent) : own;
}

/* Scales the largest weight to [1, 2): sums of large doubles do not overflow, and sums of denormals
 * stay exact. */
static void choose_exponent(pcol_view *view)
{
    double largest = 0;
    view->exponent = 0;
    if (!view->side[0].is_double && !(view->side[1].file && view->side[1].is_double))
        return;
    for (uint32_t i = 0; i < view->node_count; i++)
        largest = fmax(largest, get_own(view, i));
    if (largest > 0)
        view->exponent = -ilogb(largest);
}

/* Adds the weights of a query to nodes; returns bits: 1 overflow, 2 some weight is negative (also
 * of doubles: their sign bit is that of the integer). is_double: a constant at the call, so that
 * the loops are specialized. */
static inline __attribute__((always_inline)) int sum_weights(const pcol_view *view,
                                                             struct pci_view_side *side,
                                                             const pcol_amount *weight,
                                                             int is_double)
{
    int overflow = 0;
    int64_t any = 0;
    for (uint32_t row = 0; row < side->stack_count; row++) {
        any |= weight[row].i64;
        overflow |= pci_amount_add(is_double, &side->self[side->node_of_stack[row]], weight[row]);
    }
    memcpy(side->total, side->self, (size_t)view->node_count * sizeof *side->self);
    for (uint32_t i = view->node_count; i-- > 1;)
        overflow |= pci_amount_add(is_double, &side->total[view->parent[i]], side->total[i]);
    return (overflow != 0) | (any < 0) << 1;
}

static pcol_status add_weights(pcol_view *view, struct pci_view_side *side, const pcol_query *query,
                               int *negative, pcol_error *err)
{
    size_t bytes = (size_t)view->node_count * sizeof *side->self;
    memset(side->self, 0, bytes);
    side->is_double = query->measure.is_double;
    side->whole = query->total;
    int state = side->is_double ? sum_weights(view, side, query->weight, 1)
                                : sum_weights(view, side, query->weight, 0);
    *negative |= state >> 1;
    if (state & 1)
        return pci_amount_overflow(query->measure.type, err);
    return pci_work(2 * (uint64_t)bytes, err);
}

static pcol_status add_widths(pcol_view *view, pcol_error *err)
{
    choose_exponent(view);
    if (!view->width)
        PCI_TRY(PCI_MALLOC(view->width, view->node_count, err));
    for (uint32_t i = 0; i < view->node_count; i++)
        view->width[i] = pci_view_own(view, i);
    for (uint32_t i = view->node_count; i-- > 1;)
        view->width[view->parent[i]] += view->width[i];
    if (!view->side[1].file)
        return PCOL_OK;
    if (!view->in)
        PCI_TRY(PCI_MALLOC(view->in, view->node_count, err));
    for (uint32_t i = 0; i < view->node_count; i++)
        view->in[i] = (uint8_t)(has_self(view, 0, i) | has_self(view, 1, i) << 1);
    for (uint32_t i = view->node_count; i-- > 1;)
        view->in[view->parent[i]] |= view->in[i];
    return PCOL_OK;
}

static void add_matched(pcol_view *view)
{
    for (int s = 0; s < 2 && view->side[s].file; s++) {
        struct pci_view_side *side = &view->side[s];
        memset(&side->matched, 0, sizeof side->matched);
        /* Cannot overflow: the magnitudes of all weights have a sum. */
        for (uint32_t i = 0; view->marked_path && i < view->node_count; i++)
            if (pci_view_is_marked_path(view, i))
                (void)pci_amount_add(side->is_double, &side->matched, side->self[i]);
    }
}

/* Releases what was computed from the weights. */
static void forget_derived(pcol_view *view)
{
    pci_view_forget(view);
    pci_free(view->width);
    view->width = NULL;
    for (int s = 0; s < 2; s++) {
        struct pci_view_side *side = &view->side[s];
        pci_free(side->frame_self);
        pci_free(side->frame_total);
        side->frame_self = side->frame_total = NULL;
    }
}

static void clear_weights(pcol_view *view)
{
    forget_derived(view);
    for (int s = 0; s < 2; s++) {
        struct pci_view_side *side = &view->side[s];
        size_t bytes = (size_t)view->node_count * sizeof *side->self;
        if (side->self && side->total) {
            memset(side->self, 0, bytes);
            memset(side->total, 0, bytes);
        }
        memset(&side->matched, 0, sizeof side->matched);
        memset(&side->whole, 0, sizeof side->whole);
        side->is_double = 0;
    }
    if (view->in)
        memset(view->in, 0, view->node_count);
}

static pcol_status weigh(pcol_view *view, pcol_query *query, pcol_query *base, pcol_error *err)
{
    pcol_query *queries[2] = {query, base};
    int negative = 0;
    forget_derived(view);
    for (int s = 0; s < (base ? 2 : 1); s++) {
        struct pci_view_side *side = &view->side[s];
        if (!side->self)
            PCI_TRY(PCI_CALLOC(side->self, view->node_count, err));
        if (!side->total)
            PCI_TRY(PCI_CALLOC(side->total, view->node_count, err));
        PCI_TRY(add_weights(view, side, queries[s], &negative, err));
    }
    view->type = query->measure.type;
    view->unit = query->measure.unit;
    if (negative || base || query->measure.is_double)
        PCI_TRY(add_widths(view, err));
    add_matched(view);
    return PCOL_OK;
}

static pcol_status check_queries(const pcol_view *view, pcol_query *query, pcol_query *base,
                                 pcol_error *err)
{
    PCI_TRY(pci_query_load(query, err));
    PCI_TRY(pci_view_accepts(&view->side[0], query, err));
    if (!base)
        return PCOL_OK;
    PCI_TRY(pci_query_load(base, err));
    PCI_TRY(pci_view_accepts(&view->side[1], base, err));
    const pcol_query_info types[2] = {{.type = query->measure.type, .unit = query->measure.unit},
                                      {.type = base->measure.type, .unit = base->measure.unit}};
    return pci_tree_pair_same_type(&types[1], &types[0], err);
}

static pcol_status check_and_weigh(pcol_view *view, pcol_query *query, pcol_query *base,
                                   pcol_error *err)
{
    PCI_TRY(check_queries(view, query, base, err));
    pcol_status status = weigh(view, query, base, err);
    if (status != PCOL_OK)
        clear_weights(view);
    return status;
}

pcol_status pcol_view_weigh(pcol_view *view, pcol_query *query, pcol_query *base, pcol_error *err)
{
    pcol_status status;
    PCI_REQUIRE(view, err);
    PCI_REQUIRE(query, err);
    if (!base != !view->side[1].file)
        return pci_fail(err, PCOL_E_ARGUMENT,
                        base ? "the view has no base" : "the view has a base, but none is given");
    PCI_CONTROLLED(&query->control, status, check_and_weigh(view, query, base, err), err);
    return status;
}

/* ---- frames */

static pcol_status add_frame_sums(const pcol_view *view, struct pci_view_side *side,
                                  uint32_t *counted_to, pcol_error *err)
{
    int overflow = 0;
    memset(counted_to, 0, (size_t)view->frame_count * sizeof *counted_to);
    for (uint32_t i = 1; i < view->node_count; i++) {
        uint32_t frame = view->node_frame[i];
        overflow |= pci_amount_add(side->is_double, &side->frame_self[frame], side->self[i]);
        if (i < counted_to[frame])
            continue;
        counted_to[frame] = view->end[i];
        overflow |= pci_amount_add(side->is_double, &side->frame_total[frame], side->total[i]);
    }
    return overflow ? pci_amount_overflow(view->type, err) : PCOL_OK;
}

pcol_status pci_view_frame_sums(pcol_view *view, pcol_error *err)
{
    uint32_t *counted_to = NULL;
    pcol_status status = PCOL_OK;
    for (int s = 0; s < 2 && view->side[s].file && status == PCOL_OK; s++) {
        struct pci_view_side *side = &view->side[s];
        if (side->frame_total)
            continue;
        if (!counted_to)
            status = PCI_MALLOC(counted_to, (size_t)view->frame_count + 1, err);
        PCI_THEN(status, PCI_CALLOC(side->frame_self, (size_t)view->frame_count + 1, err));
        PCI_THEN(status, PCI_CALLOC(side->frame_total, (size_t)view->frame_count + 1, err));
        PCI_THEN(status, add_frame_sums(view, side, counted_to, err));
        if (status == PCOL_OK)
            continue;
        pci_free(side->frame_self);
        pci_free(side->frame_total);
        side->frame_self = side->frame_total = NULL;
    }
    pci_free(counted_to);
    return status;
}

/* The row of functions of a row of locations, or PCOL_NONE. */
static pcol_status get_function(const pcol_file *file, uint32_t location, uint32_t *function,
                                pcol_error *err)
{
    int64_t value;
    int valid = 0;
    *function = PCOL_NONE;
    if (location == PCOL_NONE)
        return PCOL_OK;
    PCI_TRY(
        pci_get_named(file, "locations", "function", PCI_TYPES_ROW, location, &value, &valid, err));
    if (valid)
        *function = (uint32_t)value;
    return PCOL_OK;
}

static pcol_status fill_frame(pcol_view *view, uint32_t index, pcol_view_frame *to, pcol_error *err)
{
    const struct pci_frame *from = view->frames[index];
    const struct pci_view_side *side = view->side;
    PCI_TRY(pci_view_frame_sums(view, err));
    *to = (pcol_view_frame){.name = from->name,
                            .file = from->file,
                            .line = from->line,
                            .address = from->address,
                            .location = view->location[0][index],
                            .base_location = PCOL_NONE,
                            .base_function = PCOL_NONE,
                            .self = side[0].frame_self[index],
                            .total = side[0].frame_total[index]};
    pci_set_flag(&to->flags, PCOL_VIEW_FRAME_HAS_FILE, (from->flags & PCI_FRAME_HAS_FILE) != 0);
    pci_set_flag(&to->flags, PCOL_VIEW_FRAME_HAS_LINE, (from->flags & PCI_FRAME_HAS_LINE) != 0);
    pci_set_flag(&to->flags, PCOL_VIEW_FRAME_HAS_ADDRESS,
                 (from->flags & PCI_FRAME_HAS_ADDRESS) != 0);
    pci_set_flag(&to->flags, PCOL_VIEW_FRAME_IS_MARKED, view->marked && view->marked[index]);
    PCI_TRY(get_function(side[0].file, to->location, &to->function, err));
    if (!side[1].file)
        return PCOL_OK;
    to->base_location = view->location[1][index];
    to->base_self = side[1].frame_self[index];
    to->base_total = side[1].frame_total[index];
    return get_function(side[1].file, to->base_location, &to->base_function, err);
}

pcol_status pcol_view_get(pcol_view *view, uint32_t index, pcol_view_frame *frame, pcol_error *err)
{
    pcol_view_frame own = {0};
    PCI_REQUIRE(view, err);
    PCI_REQUIRE(frame, err);
    pcol_status status = index < view->frame_count
                             ? fill_frame(view, index, &own, err)
                             : pci_fail(err, PCOL_E_ARGUMENT, "the view has only %lu frames",
                                        (unsigned long)view->frame_count);
    if (status != PCOL_OK)
        own = (pcol_view_frame){0};
    pcol_status written = pci_struct_write(frame, &own, sizeof own, "pcol_view_frame",
                                           status == PCOL_OK ? err : NULL);
    return status == PCOL_OK ? written : status;
}

pcol_status pcol_view_describe(const pcol_view *view, pcol_view_info *info, pcol_error *err)
{
    pcol_view_info own = {0};
    PCI_REQUIRE(view, err);
    PCI_REQUIRE(info, err);
    const struct pci_view_side *side = view->side;
    own.type = view->type;
    own.unit = view->unit;
    pci_set_flag(&own.flags, PCOL_VIEW_IS_DOUBLE, side[0].is_double);
    pci_set_flag(&own.flags, PCOL_VIEW_BASE_IS_DOUBLE, side[1].is_double);
    pci_set_flag(&own.flags, PCOL_VIEW_HAS_BASE, side[1].file != NULL);
    own.frame_count = view->frame_count;
    own.marked_count = view->marked_count;
    own.node_count = view->node_count;
    own.total = side[0].whole;
    own.base_total = side[1].whole;
    own.matched = side[0].matched;
    own.base_matched = side[1].matched;
    return pci_struct_write(info, &own, sizeof own, "pcol_view_info", err);
}

/* ---- marks */

static void mark_frame(pcol_view *view, uint8_t *marked, uint32_t frame)
{
    view->marked_count += !marked[frame];
    marked[frame] = 1;
}

/* Marks the frames of the locations of some functions. */
static pcol_status mark_locations(pcol_view *view, const struct pci_view_side *side,
                                  const uint8_t *functions, uint8_t *marked, pcol_error *err)
{
    int64_t cells[PCI_BATCH];
    uint8_t valid[PCI_BATCH];
    const struct pci_column *column;
    PCI_TRY(pci_find_column(side->file, "locations", "function", PCI_TYPES_ROW, &column, err));
    for (uint32_t row = 0; column && row < side->location_count; row += PCI_BATCH) {
        uint32_t left = side->location_count - row;
        size_t n = left < PCI_BATCH ? left : PCI_BATCH;
        PCI_TRY(pci_read(side->file, column, row, n, cells, valid, err));
        for (size_t i = 0; i < n; i++) {
            uint32_t frame = side->frame_of_location[row + i];
            if (valid[i] && functions[cells[i]] && frame != PCOL_NONE)
                mark_frame(view, marked, frame);
        }
    }
    return PCOL_OK;
}

static pcol_status mark_functions(pcol_view *view, const struct pci_view_side *side,
                                  const uint32_t *rows, size_t count, uint8_t *marked,
                                  pcol_error *err)
{
    if (!count)
        return PCOL_OK;
    if (!side->file)
        return pci_fail(err, PCOL_E_ARGUMENT, "the view has no base");
    uint64_t functions = pci_rows(side->file, "functions");
    uint8_t *set;
    PCI_TRY(PCI_CALLOC(set, (size_t)functions + 1, err));
    pcol_status status = PCOL_OK;
    for (size_t i = 0; i < count && status == PCOL_OK; i++) {
        if (rows[i] < functions)
            set[rows[i]] = 1;
        else
            status = pci_fail_cell(err, PCOL_E_ARGUMENT, "functions", NULL, rows[i],
                                   "the table has %llu rows", (unsigned long long)functions);
    }
    PCI_THEN(status, mark_locations(view, side, set, marked, err));
    pci_free(set);
    return status;
}

static pcol_status mark_frames(pcol_view *view, const pcol_marks *marks, uint8_t *marked,
                               pcol_error *err)
{
    const struct pci_view_side *side = view->side;
    PCI_TRY(mark_functions(view, &side[0], marks->functions, marks->function_count, marked, err));
    PCI_TRY(mark_functions(view, &side[1], marks->base_functions, marks->base_function_count,
                           marked, err));
    for (size_t i = 0; i < marks->frame_count; i++) {
        if (marks->frames[i] >= view->frame_count)
            return pci_fail(err, PCOL_E_ARGUMENT, "the view has only %lu frames",
                            (unsigned long)view->frame_count);
        mark_frame(view, marked, marks->frames[i]);
    }
    return PCOL_OK;
}

static void mark_paths(const pcol_view *view, const uint8_t *marked, uint8_t *path)
{
    for (uint32_t i = 1; i < view->node_count; i++) {
        uint32_t parent = view->parent[i];
        int on = marked[view->node_frame[i]] | (path[parent / 8] >> parent % 8 & 1);
        path[i / 8] |= (uint8_t)(on << i % 8);
    }
}

static pcol_status make_marks(pcol_view *view, const pcol_marks *marks, uint8_t **marked,
                              uint8_t **path, pcol_error *err)
{
    if (!marks->function_count && !marks->base_function_count && !marks->frame_count)
        return PCOL_OK;
    PCI_TRY(PCI_CALLOC(*marked, (size_t)view->frame_count + 1, err));
    PCI_TRY(PCI_CALLOC(*path, (size_t)view->node_count / 8 + 1, err));
    PCI_TRY(mark_frames(view, marks, *marked, err));
    mark_paths(view, *marked, *path);
    return PCOL_OK;
}

pcol_status pcol_view_mark(pcol_view *view, const pcol_marks *marks, pcol_error *err)
{
    pcol_marks own;
    uint8_t *marked = NULL, *path = NULL;
    PCI_REQUIRE(view, err);
    PCI_STRUCT_READ(pcol_marks, own, marks, err);
    const uint32_t *functions = own.functions, *base_functions = own.base_functions;
    const uint32_t *frames = own.frames;
    PCI_REQUIRE_MANY(functions, own.function_count, err);
    PCI_REQUIRE_MANY(base_functions, own.base_function_count, err);
    PCI_REQUIRE_MANY(frames, own.frame_count, err);
    uint32_t old_count = view->marked_count;
    view->marked_count = 0;
    pcol_status status = make_marks(view, &own, &marked, &path, err);
    if (status != PCOL_OK) {
        view->marked_count = old_count;
        pci_free(marked);
        pci_free(path);
        return status;
    }
    pci_free(view->marked);
    pci_free(view->marked_path);
    view->marked = marked;
    view->marked_path = path;
    add_matched(view);
    return PCOL_OK;
}

/*
 * test_view.c - views and windows against a model that lists stacks one by one
 *
 * The model: each distinct stack of functions with its weights on both sides. A kind of window
 * turns a stack into a path of frames; each beginning of a path is a box.
 */
#include "view_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the model */

struct stack {
    char name[VIEW_DEPTH + 1];
    double weight[2];
    double width;
};

struct model {
    struct stack stacks[2 * VIEW_SAMPLES];
    int count, sides;
    double whole[2];
};

/* Samples [from, to) of a profile, of one thread or of all (-1), with a function or of all (0). */
struct part {
    int from, to, thread;
    char focus;
};

static int is_in_part(const struct part *part, const struct view_sample *s, int number)
{
    return number >= part->from && number < part->to &&
           (part->thread < 0 || s->thread == part->thread) &&
           (!part->focus || strchr(s->stack, part->focus));
}

static void add_side(struct model *m, const struct view_case *c, int side, const struct part *part)
{
    for (int i = 0; i < c->count; i++) {
        const struct view_sample *s = &c->samples[i];
        int k = 0;
        struct part all = *part;
        all.focus = 0;
        if (is_in_part(&all, s, i))
            m->whole[side] += fabs((double)s->value);
        if (!is_in_part(part, s, i))
            continue;
        while (k < m->count && strcmp(m->stacks[k].name, s->stack))
            k++;
        if (k == m->count)
            strcpy(m->stacks[m->count++].name, s->stack);
        m->stacks[k].weight[side] += (double)s->value;
    }
    m->sides = side + 1 > m->sides ? side + 1 : m->sides;
}

static void add_model_widths(struct model *m)
{
    for (int i = 0; i < m->count; i++) {
        struct stack *s = &m->stacks[i];
        s->width = fabs(s->weight[0]);
        if (s->weight[0] == 0 && m->sides > 1 && m->whole[1] > 0 && m->whole[0] > 0)
            s->width = fabs(s->weight[1]) / m->whole[1] * m->whole[0];
        else if (s->weight[0] == 0)
            s->width = fabs(s->weight[1]);
    }
}

/* The path of a stack, "|a|b" after the root; the frame "<no stack>" is '0'. NULL: not in it. */
static const char *derive(pcol_view_kind kind, char of, const char *stack, char path[40])
{
    char frames[VIEW_DEPTH + 2];
    strcpy(frames, *stack ? stack : "0");
    size_t size = strlen(frames), begin = 0, end = size;
    if (kind == PCOL_VIEW_CALLEES || kind == PCOL_VIEW_CALLERS) {
        const char *at = strchr(frames, of);
        if (!at)
            return NULL;
        begin = (size_t)(at - frames);
    }
    size_t n = 0;
    path[n++] = '|';
    if (kind == PCOL_VIEW_CALLERS)
        for (size_t i = begin + 1; i-- > 0;)
            path[n++] = frames[i];
    else
        for (size_t i = begin; i < end; i++)
            path[n++] = kind == PCOL_VIEW_INVERTED ? frames[size - 1 - i] : frames[i];
    path[n] = 0;
    /* The root of a frame's window is that frame itself. */
    return kind == PCOL_VIEW_CALLEES || kind == PCOL_VIEW_CALLERS ? path + 1 : path;
}

struct sums {
    double self[2], total[2], width;
    int in;
};

/* Sums of the box of a path; the path of the root is "|" or the letter of the frame. */
static struct sums get_sums(const struct model *m, pcol_view_kind kind, char of, const char *box)
{
    struct sums sums = {{0, 0}, {0, 0}, 0, 0};
    for (int i = 0; i < m->count; i++) {
        char buffer[40];
        const char *path = derive(kind, of, m->stacks[i].name, buffer);
        if (!path || strncmp(path, box, strlen(box)))
            continue;
        for (int s = 0; s < 2; s++) {
            sums.total[s] += m->stacks[i].weight[s];
            sums.self[s] += strlen(path) == strlen(box) ? m->stacks[i].weight[s] : 0;
            sums.in |= (m->stacks[i].weight[s] != 0) << s;
        }
        sums.width += m->stacks[i].width;
    }
    return sums;
}

/* ---- comparison */

static double amount(pcol_amount a, int is_double)
{
    return is_double ? a.f64 : (double)a.i64;
}

static uint32_t frame_of(pcol_view *view, char name)
{
    pcol_view_info info = PCOL_INIT(pcol_view_info);
    MUST(pcol_view_describe(view, &info, err));
    for (uint32_t i = 0; i < info.frame_count; i++)
        if (view_letter(view, i) == name)
            return i;
    return PCOL_NONE;
}

static void check_near(double a, double b, const char *what, const char *path)
{
    cr_assert(fabs(a - b) < 1e-9, "%s of %s: %.17g, not %.17g", what, path, a, b);
}

struct seen {
    char path[40];
    double from, to;
    int child_count;
    double children_to;
    double last_key;
    char last_name;
};

/* Whether a box and all outside of it are wide enough and reach into the window. */
static int is_expected(const struct model *m, const pcol_window *w, char of, const char *path,
                       double from, double whole)
{
    struct sums sums = get_sums(m, w->kind, of, path);
    double px = sums.width / whole * w->width_px / (w->to - w->from);
    return px >= w->least_px && from / whole < w->to && (from + sums.width) / whole > w->from;
}

static void check_box(const struct model *m, pcol_view *view, const pcol_window *w, char of,
                      const pcol_box *box, const char *path, const int is_double[2])
{
    struct sums sums = get_sums(m, w->kind, of, path), root = get_sums(m, w->kind, of, "");
    double whole = root.width > 0 ? root.width : 1;
    check_near(amount(box->self, is_double[0]), sums.self[0], "self", path);
    check_near(amount(box->total, is_double[0]), sums.total[0], "total", path);
    check_near(amount(box->base_self, is_double[1]), sums.self[1], "base self", path);
    check_near(amount(box->base_total, is_double[1]), sums.total[1], "base total", path);
    check_near(box->to - box->from, sums.width / whole, "width", path);
    check_near(box->width_px, sums.width / whole * w->width_px / (w->to - w->from), "px", path);
    check_near(box->x_px, (box->from - w->from) * w->width_px / (w->to - w->from), "x", path);
    cr_assert_eq((box->flags & PCOL_BOX_IS_NEW) != 0, m->sides > 1 && sums.in == 1, "%s", path);
    cr_assert_eq((box->flags & PCOL_BOX_IS_GONE) != 0, m->sides > 1 && sums.in == 2, "%s", path);
    (void)view;
}

/* All letters that a child of a path may have. */
static const char alphabet[] = "abcdefxy0";

/* The number of boxes that the window should have from a path on, whose left end is `from`. */
static int count_boxes(const struct model *m, pcol_view *view, const pcol_window *w, char of,
                       const char *path, uint32_t depth, double from, double whole)
{
    struct sibling {
        char path[40];
        double key, base_key, width;
    } children[sizeof alphabet];
    int count = 0, boxes = depth >= w->first_depth;
    if (w->max_depth && depth == w->max_depth)
        return boxes;
    for (const char *next = alphabet; *next; next++) {
        struct sibling s;
        snprintf(s.path, sizeof s.path, "%s%c", path, *next);
        struct sums sums = get_sums(m, w->kind, of, s.path);
        s.width = sums.width;
        s.key = w->order == PCOL_ORDER_NAME ? 0 : fabs(sums.total[0]);
        s.base_key = w->order == PCOL_ORDER_NAME ? 0 : fabs(sums.total[1]);
        if (s.width <= 0)
            continue;
        int at = count++;
        /* "<no stack>" sorts before letters. */
        while (at > 0 && (children[at - 1].key < s.key ||
                          (children[at - 1].key == s.key &&
                           (children[at - 1].base_key < s.base_key ||
                            (children[at - 1].base_key == s.base_key && *next == '0'))))) {
            children[at] = children[at - 1];
            at--;
        }
        children[at] = s;
    }
    for (int i = 0; i < count; i++) {
        if (is_expected(m, w, of, children[i].path, from, whole))
            boxes += count_boxes(m, view, w, of, children[i].path, depth + 1, from, whole);
        from += children[i].width;
    }
    return boxes;
}

static void check_window(const struct model *m, pcol_view *view, const pcol_window *window, char of,
                         const int is_double[2])
{
    const pcol_box *boxes;
    size_t count;
    static struct seen seen[5000];
    pcol_window w = *window;
    MUST(pcol_view_window(view, &w, &boxes, &count, err));
    w.to = w.to == 0 ? 1 : w.to;
    cr_assert_lt(count, sizeof seen / sizeof *seen);
    const char *root =
        w.kind == PCOL_VIEW_FLAME || w.kind == PCOL_VIEW_INVERTED ? "|" : (char[2]){of, 0};
    double whole = get_sums(m, w.kind, of, "").width;
    for (size_t i = 0; i < count && !w.first_depth; i++) {
        const pcol_box *box = &boxes[i];
        struct seen *self = &seen[i];
        *self = (struct seen){.from = box->from, .to = box->to, .children_to = box->from};
        if (i == 0) {
            cr_assert_eq(box->parent, PCOL_NONE);
            cr_assert_eq(box->depth, 0);
            strcpy(self->path, root);
        } else {
            cr_assert_lt(box->parent, i);
            struct seen *parent = &seen[box->parent];
            cr_assert_eq(box->depth, boxes[box->parent].depth + 1);
            cr_assert(box->depth > boxes[i - 1].depth ||
                      (box->depth == boxes[i - 1].depth && box->from >= boxes[i - 1].to - 1e-12));
            cr_assert(box->from >= parent->children_to - 1e-12 && box->to <= parent->to + 1e-12);
            snprintf(self->path, sizeof self->path, "%.30s%c", parent->path,
                     view_letter(view, box->frame));
            double key = w.order == PCOL_ORDER_NAME ? 0 : fabs(amount(box->total, is_double[0]));
            char name = view_letter(view, box->frame);
            cr_assert(!parent->child_count || parent->last_key > key ||
                      (parent->last_key == key && (m->sides > 1 || parent->last_name < name)));
            parent->last_key = key;
            parent->last_name = name;
            parent->children_to = box->to;
            parent->child_count++;
        }
        check_box(m, view, &w, of, box, self->path, is_double);
        for (size_t k = 0; k < i; k++)
            cr_assert_str_neq(seen[k].path, self->path);
    }
    for (size_t i = 0; i < count; i++)
        cr_assert(boxes[i].depth >= w.first_depth &&
                  (!w.max_depth || boxes[i].depth <= w.max_depth));
    int expected = count_boxes(m, view, &w, of, root, 0, 0, whole > 0 ? whole : 1);
    cr_assert_eq((int)count, expected, "kind %d: %zu boxes, not %d", (int)w.kind, count, expected);
}

/* All kinds, whole and zoomed. */
static void check_view(const struct model *m, pcol_view *view, const int is_double[2])
{
    for (int round = 0; round < 24; round++) {
        pcol_window w = PCOL_INIT(pcol_window);
        char of = "abcdef"[view_dice(6)];
        w.kind = (pcol_view_kind)(round % 4);
        w.order = view_dice(2) ? PCOL_ORDER_NAME : PCOL_ORDER_TOTAL;
        w.width_px = 700;
        w.least_px = -1;
        w.to = 1;
        w.frame = frame_of(view, of);
        if (w.frame == PCOL_NONE)
            continue;
        if (round >= 4) {
            w.from = view_dice(1000) / 1013.0;
            w.to = w.from + (1 - w.from) * (1 + view_dice(1000)) / 1007.0;
            w.least_px = view_dice(100) + 0.123456789;
            w.max_depth = view_dice(4);
            w.first_depth = view_dice(3) ? 0 : view_dice(3);
        }
        check_window(m, view, &w, of, is_double);
    }
}

static void check_frames(const struct model *m, pcol_view *view, const int is_double[2])
{
    pcol_view_info info = PCOL_INIT(pcol_view_info);
    MUST(pcol_view_describe(view, &info, err));
    check_near(amount(info.total, is_double[0]), m->whole[0], "the whole", "");
    check_near(amount(info.base_total, is_double[1]), m->whole[1], "the whole base", "");
    for (uint32_t i = 0; i < info.frame_count; i++) {
        pcol_view_frame f = PCOL_INIT(pcol_view_frame);
        MUST(pcol_view_get(view, i, &f, err));
        char name[2] = {view_letter(view, i), 0};
        double self[2] = {0, 0}, total[2] = {0, 0};
        for (int k = 0; k < m->count; k++) {
            const char *stack = *m->stacks[k].name ? m->stacks[k].name : "0";
            for (int s = 0; s < 2; s++) {
                total[s] += strchr(stack, *name) ? m->stacks[k].weight[s] : 0;
                self[s] += stack[strlen(stack) - 1] == *name ? m->stacks[k].weight[s] : 0;
            }
        }
        check_near(amount(f.self, is_double[0]), self[0], "self", name);
        check_near(amount(f.total, is_double[0]), total[0], "total", name);
        check_near(amount(f.base_self, is_double[1]), self[1], "base self", name);
        check_near(amount(f.base_total, is_double[1]), total[1], "base total", name);
        for (uint32_t k = 0; k < i; k++)
            cr_assert_neq(view_letter(view, k), *name, "two frames named %s", name);
    }
}

static pcol_query *ask(const struct view_case *c, const struct part *part)
{
    pcol_selection selection = PCOL_INIT(pcol_selection);
    pcol_query *query;
    char thread[8], focus[] = {'^', part->focus, '$', 0}; /* not of "<no stack>" */
    snprintf(thread, sizeof thread, "t%d", part->thread);
    selection.thread = part->thread >= 0 ? thread : NULL;
    selection.focus = part->focus ? focus : NULL;
    if (part->from > 0 || part->to < c->count) {
        selection.flags = PCOL_SELECTION_HAS_ORDER;
        selection.order_from = (uint64_t)part->from + 1;
        selection.order_to = (uint64_t)part->to + 1;
    }
    MUST(pcol_query_new(c->file, &selection, NULL, &query, err));
    return query;
}

static struct part whole(const struct view_case *c)
{
    return (struct part){0, c->count, -1, 0};
}

static struct part some(const struct view_case *c)
{
    struct part part = whole(c);
    part.from = (int)view_dice((uint32_t)c->count);
    part.to = part.from + (int)view_dice((uint32_t)(c->count - part.from) + 1);
    part.thread = view_dice(3) ? -1 : (int)view_dice(VIEW_THREADS);
    part.focus = view_dice(3) ? 0 : 'c';
    return part;
}

static void check_query(const struct view_case *c, const struct part *part, pcol_view **view,
                        const struct view_case *base, const struct part *base_part)
{
    struct model m = {0};
    const int is_double[2] = {c->is_double, base && base->is_double};
    pcol_query *query = ask(c, part), *of_base = base ? ask(base, base_part) : NULL;
    add_side(&m, c, 0, part);
    if (base)
        add_side(&m, base, 1, base_part);
    add_model_widths(&m);
    if (*view)
        MUST(pcol_view_weigh(*view, query, of_base, err));
    else
        MUST(pcol_view_new(query, of_base, NULL, view, err));
    pcol_query_free(query);
    pcol_query_free(of_base);
    check_frames(&m, *view, is_double);
    check_view(&m, *view, is_double);
}

static void check_profile(unsigned what)
{
    struct view_case c;
    pcol_view *view = NULL;
    view_begin(&c, what);
    struct part part = whole(&c);
    check_query(&c, &part, &view, NULL, NULL);
    for (int i = 0; i < 4; i++) {
        part = some(&c);
        check_query(&c, &part, &view, NULL, NULL);
    }
    pcol_view_free(view);
    view_end(&c);
}

Test(view, windows_match_the_model)
{
    for (view_seed = 1; view_seed < 40; view_seed = view_seed % 1000 + 1) {
        uint64_t seed = view_seed;
        check_profile(0);
        view_seed = seed + 1000;
        check_profile(VIEW_NEGATIVE);
        view_seed = seed + 2000;
        check_profile(VIEW_DOUBLE);
        view_seed = seed + 3000;
        check_profile(VIEW_DOUBLE | VIEW_NEGATIVE);
        view_seed = seed;
    }
}

Test(view, two_files_are_joined_by_name)
{
    static const unsigned kinds[][2] = {{0, VIEW_OTHERS},
                                        {VIEW_NEGATIVE, VIEW_OTHERS | VIEW_NEGATIVE},
                                        {VIEW_DOUBLE, VIEW_OTHERS},
                                        {0, VIEW_OTHERS | VIEW_DOUBLE}};
    for (uint64_t seed = 1; seed < 30; seed++) {
        for (int k = 0; k < 4; k++) {
            struct view_case c[2];
            pcol_view *view = NULL;
            view_seed = seed * 16 + (uint64_t)k;
            view_begin(&c[0], kinds[k][0]);
            view_begin(&c[1], kinds[k][1]);
            struct part part[2] = {whole(&c[0]), whole(&c[1])};
            check_query(&c[0], &part[0], &view, &c[1], &part[1]);
            for (int i = 0; i < 2; i++) {
                part[0] = some(&c[0]);
                part[1] = some(&c[1]);
                check_query(&c[0], &part[0], &view, &c[1], &part[1]);
            }
            pcol_view_free(view);
            view_end(&c[0]);
            view_end(&c[1]);
        }
    }
}

Test(view, two_selections_of_one_file)
{
    for (view_seed = 500; view_seed < 530;) {
        uint64_t seed = view_seed;
        struct view_case c;
        pcol_view *view = NULL;
        view_begin(&c, 0);
        for (int i = 0; i < 3; i++) {
            struct part part[2] = {some(&c), some(&c)};
            check_query(&c, &part[0], &view, &c, &part[1]);
        }
        pcol_view_free(view);
        view_end(&c);
        view_seed = seed + 1;
    }
}

/* Callers and callees of a frame whose weight, as a part of the largest, has no finite inverse. */
Test(view, boxes_of_tiny_doubles_are_finite)
{
    static const char text[] = "a;b 1e300\nx;y 1e-10\nx;z 3e-10\n";
    pcol_file *file;
    pcol_query *query;
    pcol_view *view;
    MUST(pcol_open_any_memory(text, sizeof text - 1, "x.folded", NULL, &file, err));
    MUST(pcol_query_new(file, NULL, NULL, &query, err));
    MUST(pcol_view_new(query, NULL, NULL, &view, err));
    pcol_window window = PCOL_INIT(pcol_window);
    window.kind = PCOL_VIEW_CALLEES;
    while (view_letter(view, window.frame) != 'x')
        window.frame++;
    const double parts[][2] = {{0, 1}, {0.75, 1}, {0, 0.75}}; /* of x, y and z */
    const pcol_box *boxes;
    size_t count;
    for (int from = 0; from < 2; from++) {
        window.from = from * 0.875; /* then z is to the left of the window */
        window.to = 1;
        window.first_depth = (uint32_t)from;
        MUST(pcol_view_window(view, &window, &boxes, &count, err));
        cr_assert_eq(count, from ? 1 : 3, "%zu boxes", count);
        for (size_t i = 0; i < count; i++) {
            char name = view_letter(view, boxes[i].frame);
            cr_assert(name >= 'x' && name <= 'z');
            const double *part = parts[name - 'x'];
            double px = 1200 / (1 - window.from);
            cr_expect_float_eq(boxes[i].from, part[0], 1e-9, "%c from %g", name, boxes[i].from);
            cr_expect_float_eq(boxes[i].to, part[1], 1e-9, "%c to %g", name, boxes[i].to);
            cr_expect_float_eq(boxes[i].x_px, (part[0] - window.from) * px, 1e-6);
            cr_expect_float_eq(boxes[i].width_px, (part[1] - part[0]) * px, 1e-6);
        }
    }
    window = (pcol_window){.size = sizeof window, .kind = PCOL_VIEW_CALLERS};
    while (view_letter(view, window.frame) != 'y')
        window.frame++;
    MUST(pcol_view_window(view, &window, &boxes, &count, err));
    cr_assert_eq(count, 2);
    cr_expect_eq(boxes[1].from, 0);
    cr_expect_eq(boxes[1].to, 1);
    cr_expect_eq(boxes[1].width_px, 1200);
    window.max_boxes = 1;
    cr_expect_eq(pcol_view_window(view, &window, &boxes, &count, NULL), PCOL_E_LIMIT);
    window.max_boxes = 2;
    MUST(pcol_view_window(view, &window, &boxes, &count, err));
    window.to = 5e-324;
    MUST(pcol_view_window(view, &window, &boxes, &count, err));
    for (size_t i = 0; i < count; i++)
        cr_expect(isfinite(boxes[i].x_px) && isfinite(boxes[i].width_px));
    pcol_view_free(view);
    pcol_query_free(query);
    pcol_file_close(file);
}

/* ---- marks */

static void check_marks(struct view_case *c, struct view_case *base)
{
    pcol_view *view;
    pcol_marks marks = PCOL_INIT(pcol_marks);
    pcol_view_info info = PCOL_INIT(pcol_view_info);
    const pcol_table *functions;
    uint32_t rows[2][8], frames[1];
    size_t count[2] = {0, 0};
    char marked[16] = "";
    struct view_case *cases[2] = {c, base};
    struct part part[2] = {whole(c), whole(base)};
    pcol_query *query = ask(c, &part[0]), *of_base = ask(base, &part[1]);
    MUST(pcol_view_new(query, of_base, NULL, &view, err));
    for (int s = 0; s < 2; s++) {
        pcol_names *names;
        MUST(pcol_file_table_by_name(cases[s]->file, PCOL_MODEL_PHYSICAL, "functions", &functions,
                                     err));
        MUST(pcol_names_new(cases[s]->file, &names, err));
        for (uint32_t i = 0; i < pcol_table_rows(functions); i++) {
            pcol_str name;
            int valid;
            MUST(pcol_names_function(names, i, &name, &valid, err));
            if (view_dice(4))
                continue;
            rows[s][count[s]++] = i;
            strncat(marked, name.data, 1);
        }
        pcol_names_free(names);
    }
    marks.functions = rows[0];
    marks.function_count = count[0];
    marks.base_functions = rows[1];
    marks.base_function_count = count[1];
    frames[0] = view_dice(3) ? PCOL_NONE : frame_of(view, 'd');
    if (frames[0] != PCOL_NONE) {
        marks.frames = frames;
        marks.frame_count = 1;
        strcat(marked, "d");
    }
    MUST(pcol_view_mark(view, &marks, err));
    MUST(pcol_view_describe(view, &info, err));
    double matched[2] = {0, 0};
    for (int s = 0; s < 2; s++)
        for (int i = 0; i < cases[s]->count; i++)
            if (strpbrk(cases[s]->samples[i].stack, marked))
                matched[s] += (double)cases[s]->samples[i].value;
    check_near(amount(info.matched, 0), matched[0], "matched", marked);
    check_near(amount(info.base_matched, 0), matched[1], "base matched", marked);
    pcol_window w = PCOL_INIT(pcol_window);
    const pcol_box *boxes;
    size_t box_count;
    w.least_px = -1;
    MUST(pcol_view_window(view, &w, &boxes, &box_count, err));
    for (size_t i = 1; i < box_count; i++)
        cr_assert_eq((boxes[i].flags & PCOL_BOX_IS_MARKED) != 0,
                     strchr(marked, view_letter(view, boxes[i].frame)) != NULL);
    MUST(pcol_view_mark(view, NULL, err));
    MUST(pcol_view_describe(view, &info, err));
    cr_assert(info.matched.i64 == 0 && info.marked_count == 0);
    pcol_query_free(query);
    pcol_query_free(of_base);
    pcol_view_free(view);
}

Test(view, marks_match_the_model)
{
    for (view_seed = 900; view_seed < 930;) {
        uint64_t seed = view_seed;
        struct view_case c, base;
        view_begin(&c, VIEW_NEGATIVE);
        view_begin(&base, VIEW_OTHERS);
        check_marks(&c, &base);
        view_end(&c);
        view_end(&base);
        view_seed = seed + 1;
    }
}

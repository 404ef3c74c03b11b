/*
 * test_view_errors.c - views: rejected arguments, lifetimes, failures of memory
 */
#include "view_case.h"

#include "util/alloc.h"

#include <math.h>
#include <stdlib.h>

/* ---- errors */

Test(view_errors, wrong_arguments_are_rejected)
{
    struct view_case c, other;
    pcol_query *query, *hidden, *of_other;
    pcol_view *view;
    pcol_view_options options = PCOL_INIT(pcol_view_options);
    pcol_selection hide = PCOL_INIT(pcol_selection);
    pcol_window w = PCOL_INIT(pcol_window);
    pcol_marks marks = PCOL_INIT(pcol_marks);
    pcol_view_frame frame = PCOL_INIT(pcol_view_frame);
    const pcol_box *boxes;
    size_t count;
    uint32_t far = 1000;
    view_seed = 7;
    view_begin(&c, 0);
    view_begin(&other, 0);
    hide.hide = "a";
    MUST(pcol_query_new(c.file, NULL, NULL, &query, err));
    MUST(pcol_query_new(other.file, NULL, NULL, &of_other, err));
    MUST(pcol_query_new(c.file, &hide, NULL, &hidden, err));
    options.by = PCOL_BY_THREAD;
    FAILS(E_ARGUMENT, pcol_view_new(query, NULL, &options, &view, err));
    cr_assert_null(view);
    FAILS(E_ARGUMENT, pcol_view_new(NULL, NULL, NULL, &view, err));
    MUST(pcol_view_new(query, NULL, NULL, &view, err));
    FAILS(E_ARGUMENT, pcol_view_weigh(view, hidden, NULL, err));
    FAILS(E_ARGUMENT, pcol_view_weigh(view, of_other, NULL, err));
    FAILS(E_ARGUMENT, pcol_view_weigh(view, query, query, err));
    marks.functions = &far;
    marks.function_count = 1;
    FAILS(E_ARGUMENT, pcol_view_mark(view, &marks, err));
    marks.functions = NULL;
    FAILS(E_ARGUMENT, pcol_view_mark(view, &marks, err));
    FAILS(E_ARGUMENT, pcol_view_get(view, far, &frame, err));
    w.kind = (pcol_view_kind)4;
    FAILS(E_ARGUMENT, pcol_view_window(view, &w, &boxes, &count, err));
    w.kind = PCOL_VIEW_CALLERS;
    w.frame = far;
    FAILS(E_ARGUMENT, pcol_view_window(view, &w, &boxes, &count, err));
    w = (pcol_window)PCOL_INIT(pcol_window);
    w.from = 0.5;
    w.to = 0.5;
    FAILS(E_ARGUMENT, pcol_view_window(view, &w, &boxes, &count, err));
    w.from = w.to = (double)NAN;
    FAILS(E_ARGUMENT, pcol_view_window(view, &w, &boxes, &count, err));
    cr_assert_null(boxes);
    pcol_view_free(view);
    pcol_query_free(query);
    pcol_query_free(hidden);
    pcol_query_free(of_other);
    view_end(&c);
    view_end(&other);
}

/* A view and its boxes need neither the queries nor the caller's reference to the file. */
Test(view_errors, outlives_query_and_file)
{
    struct view_case c;
    pcol_query *query;
    pcol_view *view;
    pcol_window w = PCOL_INIT(pcol_window);
    const pcol_box *boxes;
    size_t count;
    view_seed = 11;
    view_begin(&c, 0);
    MUST(pcol_query_new(c.file, NULL, NULL, &query, err));
    MUST(pcol_view_new(query, NULL, NULL, &view, err));
    pcol_query_free(query);
    view_end(&c);
    MUST(pcol_view_window(view, &w, &boxes, &count, err));
    cr_assert_gt(count, 1);
    cr_assert_neq(view_letter(view, boxes[1].frame), 0);
    pcol_view_free(view);
}

/* ---- failures of memory, cancellation */

static int allocations_left;

static int fail_later(void)
{
    return allocations_left-- == 0;
}

static pcol_status use_view(const struct view_case *c, pcol_error *err)
{
    pcol_query *query = NULL;
    pcol_view *view = NULL;
    const pcol_box *boxes;
    size_t count;
    pcol_marks marks = PCOL_INIT(pcol_marks);
    uint32_t frame = 0;
    marks.frames = &frame;
    marks.frame_count = 1;
    pcol_status status = pcol_query_new(c->file, NULL, NULL, &query, err);
    if (status == PCOL_OK)
        status = pcol_view_new(query, query, NULL, &view, err);
    if (status == PCOL_OK)
        status = pcol_view_mark(view, &marks, err);
    for (int kind = 0; kind < 4 && status == PCOL_OK; kind++) {
        pcol_window w = PCOL_INIT(pcol_window);
        w.kind = (pcol_view_kind)kind;
        w.least_px = -1;
        status = pcol_view_window(view, &w, &boxes, &count, err);
    }
    pcol_view_free(view);
    pcol_query_free(query);
    return status;
}

Test(view_errors, any_allocation_may_fail)
{
    struct view_case c;
    pcol_status status = PCOL_E_NO_MEMORY;
    int failures = 0;
    view_seed = 21;
    view_begin(&c, VIEW_NEGATIVE);
    for (int i = 0; status != PCOL_OK; i++) {
        pcol_error err = {0};
        allocations_left = i;
        pci_alloc_hook = fail_later;
        status = use_view(&c, &err);
        pci_alloc_hook = NULL;
        cr_assert(status == PCOL_OK || status == PCOL_E_NO_MEMORY, "%s", err.message);
        failures += status != PCOL_OK;
    }
    cr_assert_gt(failures, 20);
    view_end(&c);
}

/* A window that fails leaves a view that answers the same window in full. */
Test(view_errors, a_failed_window_can_be_repeated)
{
    struct view_case c;
    pcol_query *query;
    view_seed = 22;
    view_begin(&c, 0);
    MUST(pcol_query_new(c.file, NULL, NULL, &query, err));
    for (int kind = 0; kind < 4; kind++) {
        pcol_window w = PCOL_INIT(pcol_window);
        const pcol_box *boxes;
        size_t count, expected;
        pcol_view *view;
        w.kind = (pcol_view_kind)kind;
        w.least_px = -1;
        MUST(pcol_view_new(query, NULL, NULL, &view, err));
        MUST(pcol_view_window(view, &w, &boxes, &expected, err));
        pcol_view_free(view);
        for (int i = 0; i < 12; i++) {
            MUST(pcol_view_new(query, NULL, NULL, &view, err));
            allocations_left = i;
            pci_alloc_hook = fail_later;
            pcol_status status = pcol_view_window(view, &w, &boxes, &count, NULL);
            pci_alloc_hook = NULL;
            cr_assert(status == PCOL_OK || (status == PCOL_E_NO_MEMORY && !boxes && !count));
            MUST(pcol_view_window(view, &w, &boxes, &count, err));
            cr_assert_eq(count, expected);
            pcol_view_free(view);
        }
    }
    pcol_query_free(query);
    view_end(&c);
}

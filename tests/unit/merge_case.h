/*
 * merge_case.h - pseudo-random profiles with all content that importers can add, and the
 * description of a source as text without row numbers
 */
#ifndef MERGE_CASE_H
#define MERGE_CASE_H

#include <criterion/criterion.h>

#include "builder/builder.h"
#include "merge/merge.h"
#include "model/json_tree.h"
#include "model/row_details.h"

#define OK(call)                                                                        \
    do {                                                                                \
        pcol_error err_ = {0}, *e = &err_;                                              \
        pcol_status s_ = (call);                                                        \
        char place_[192];                                                               \
        cr_assert_eq(s_, PCOL_OK, #call ": %s %s: %s", pcol_status_name(s_),            \
                     s_ ? pcol_error_place(e, place_, sizeof place_) : "", e->message); \
    } while (0)

extern uint64_t together_seed;
uint32_t together_dice(uint32_t sides);

struct together_made {
    pcol_file *file;
    void *data;
    size_t size;
};

/* reversed: keys of labels are met in another order; silent: the order of tables is left unsaid. */
void together_make(struct together_made *made, uint64_t number, int reversed, int silent);
pcol_builder *together_builder(void);
void together_add(pcol_builder *b, const struct together_made *made);
/* Written, opened and strictly checked. */
void together_finish(pcol_builder *b, struct together_made *made);
void together_drop(struct together_made *made);
/* All content of a source in a file, whose thread is given; the same of its samples alone. To be
 * freed by the caller. */
char *together_describe(const pcol_file *f, uint32_t source, uint32_t thread);
char *together_describe_samples(const pcol_file *f, uint32_t source);

#endif

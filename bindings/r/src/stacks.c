/*
 * stacks.c - call stacks of samples: frames, stacks of version 1.0, sums of summary(), rows of profvis
 *
 * The call tree is read as arrays by row of the table stacks. A parent has a smaller row than its children, and rows are in
 * depth-first pre-order, so one pass with the rows from the root to the present one (`struct path`) visits every stack.
 */
#include "rpcol.h"

#include <stdio.h>
#include <string.h>

#define NONE UINT32_MAX
#define BATCH 4096
#define POLL_ROWS 65536
#define MANY_FRAMES "the profile has more than 2147483647 frames"

struct tree {
    uint32_t rows, samples, locations;
    uint32_t *parent;
    uint32_t *first, *end; /* locations of the innermost frame: [first, end), the innermost first */
    uint32_t *sample;      /* row of the stack of each sample; NONE: no stack */
};

/* ---- reading */

/* A physical table; NULL if the file has none of this name, as profiles without samples. */
static const pcol_table *physical_table(struct call *c, const pcol_file *file, const char *name)
{
    const pcol_table *table = NULL;
    pcol_status st = pcol_file_table_by_name(file, PCOL_MODEL_PHYSICAL, name, &table, &c->err);
    if (st != PCOL_E_NOT_FOUND)
        failed(c, st);
    return table;
}

/* Report a value that refers to a missing row; returns NULL. */
static uint32_t *corrupt(struct call *c, const char *table, const char *column, uint64_t row)
{
    fail(c, PCOL_E_CORRUPT, "the value refers to a row that does not exist");
    snprintf(c->err.table, sizeof c->err.table, "%s", table);
    snprintf(c->err.column, sizeof c->err.column, "%s", column);
    c->err.row = row;
    return NULL;
}

/*
 * A column of row numbers in a block of hold(): NONE for null, and everywhere if the table lacks the column. Values are below
 * @limit. NULL after recording an error.
 */
static uint32_t *read_rows(struct call *c, const pcol_table *table, const char *name,
                           uint64_t limit)
{
    uint64_t rows = pcol_table_rows(table);
    uint32_t *out = hold(c, (size_t)rows, sizeof *out);
    const pcol_column *column = pcol_table_column_by_name(table, name, NULL);
    int64_t values[BATCH];
    uint8_t valid[BATCH];
    if (out && !column)
        memset(out, 0xff, (size_t)rows * sizeof *out);
    for (uint64_t row = 0; out && column && row < rows; row += BATCH) {
        size_t n = rows - row < BATCH ? (size_t)(rows - row) : BATCH;
        if ((row % (BATCH * 64) == 0 && interrupted(c)) ||
            failed(c, pcol_column_read_i64(column, row, n, values, valid, &c->err)))
            return NULL;
        for (size_t i = 0; i < n; i++) {
            if (valid[i] && (uint64_t)values[i] >= limit)
                return corrupt(c, pcol_table_name(table), name, row + i);
            out[row + i] = valid[i] ? (uint32_t)values[i] : NONE;
        }
    }
    return out;
}

/* Locations of each group as [first, end): one location for each group where the file has no column for them. */
static int read_groups(struct call *c, struct tree *t, const pcol_table *groups,
                       const uint32_t *group)
{
    uint64_t count = pcol_table_rows(groups);
    int single = !pcol_table_column_by_name(groups, "first_location", NULL);
    const uint32_t *start =
        single ? NULL : read_rows(c, groups, "first_location", (uint64_t)t->locations);
    t->first = hold(c, t->rows, sizeof *t->first);
    t->end = hold(c, t->rows, sizeof *t->end);
    if ((!single && !start) || !t->first || !t->end)
        return 0;
    for (uint32_t i = 1; i < t->rows; i++) {
        uint32_t g = group[i];
        t->first[i] = single ? g : start[g];
        t->end[i] = single ? g + 1 : g + 1 < count ? start[g + 1] : t->locations;
        if (t->end[i] > t->locations || t->first[i] >= t->end[i])
            return corrupt(c, "location_groups", "first_location", g) != NULL;
    }
    return 1;
}

/* Whether it succeeded. A file without stacks has an empty tree. */
static int read_tree(struct call *c, const pcol_file *file, struct tree *t)
{
    const pcol_table *samples = physical_table(c, file, "samples");
    const pcol_table *stacks = physical_table(c, file, "stacks");
    const pcol_table *groups = physical_table(c, file, "location_groups");
    const pcol_table *locations = physical_table(c, file, "locations");
    uint64_t rows = pcol_table_rows(stacks), count = pcol_table_rows(samples);
    memset(t, 0, sizeof *t);
    if (c->status != PCOL_OK)
        return 0;
    if (rows >= INT32_MAX || count >= INT32_MAX || pcol_table_rows(locations) >= INT32_MAX) {
        fail(c, PCOL_E_LIMIT, "the profile has more rows than a vector of integers can number");
        return 0;
    }
    t->rows = (uint32_t)rows;
    t->samples = (uint32_t)count;
    t->locations = (uint32_t)pcol_table_rows(locations);
    t->parent = read_rows(c, stacks, "parent", rows);
    const uint32_t *group =
        t->parent ? read_rows(c, stacks, "group", pcol_table_rows(groups)) : NULL;
    if (!group)
        return 0;
    for (uint32_t i = 1; i < t->rows; i++)
        if (t->parent[i] >= i || group[i] == NONE)
            return corrupt(c, "stacks", "parent", i) != NULL;
    t->sample = read_rows(c, samples, "stack", rows);
    return t->sample && read_groups(c, t, groups, group);
}

/* ---- the rows from the root to a stack */

struct path {
    const struct tree *tree;
    uint32_t *rows; /* rows[0] is the root, 0 */
    uint32_t depth; /* of the last one */
};

static int path_open(struct call *c, struct path *p, const struct tree *t)
{
    p->tree = t;
    p->depth = 0;
    return (p->rows = hold(c, t->rows, sizeof *p->rows)) != NULL;
}

/* Drop the last row unless it is the parent of @row; whether one was dropped. */
static int path_leave(struct path *p, uint32_t row)
{
    if (p->depth == 0 || p->rows[p->depth] == p->tree->parent[row])
        return 0;
    p->depth--;
    return 1;
}

/* After path_leave() gave 0. Fails where the rows are not in pre-order. */
static int path_enter(struct call *c, struct path *p, uint32_t row)
{
    if (p->rows[p->depth] != p->tree->parent[row])
        return corrupt(c, "stacks", "parent", row) != NULL;
    p->rows[++p->depth] = row;
    return row % POLL_ROWS != 0 || !interrupted(c);
}

/* ---- frames of samples */

/* Depth of each stack in frames that have an id, in a block of hold(); ids: by location, 0: none;
 * NULL: all locations count. NULL after recording an error, such as a depth that no vector has. */
static uint32_t *depths_of(struct call *c, const struct tree *t, const int *ids)
{
    uint32_t *depth = hold(c, t->rows, sizeof *depth);
    for (uint32_t i = 1; depth && i < t->rows; i++) {
        uint32_t frames = ids ? 0 : t->end[i] - t->first[i];
        for (uint32_t l = t->first[i]; ids && l < t->end[i]; l++)
            frames += ids[l] != 0;
        if (frames > INT32_MAX - depth[t->parent[i]]) {
            fail(c, PCOL_E_LIMIT, MANY_FRAMES);
            return NULL;
        }
        depth[i] = depth[t->parent[i]] + frames;
    }
    return depth;
}

/* Frames of all samples; -1 after recording an error. */
static R_xlen_t count_frames(struct call *c, const struct tree *t, const uint32_t *depth)
{
    R_xlen_t count = 0;
    for (uint32_t i = 0; i < t->samples; i++)
        count += t->sample[i] == NONE ? 0 : depth[t->sample[i]];
    if (count <= INT32_MAX)
        return count;
    fail(c, PCOL_E_LIMIT, MANY_FRAMES);
    return -1;
}

/* (handle) -> list(sample_id, depth, location_id): a row for each frame of each sample, innermost first */
SEXP op_frames(struct call *c, SEXP args)
{
    pcol_file *file = handle_of(c, arg(args, 0));
    struct tree t;
    if (!file || !read_tree(c, file, &t))
        return R_NilValue;
    const uint32_t *depth = depths_of(c, &t, NULL);
    R_xlen_t n = depth ? count_frames(c, &t, depth) : -1;
    if (n < 0)
        return R_NilValue;
    const char *names[] = {"sample_id", "depth", "location_id"};
    SEXP out = PROTECT(named_list(names, 3));
    int *columns[3];
    for (int k = 0; k < 3; k++) {
        SET_VECTOR_ELT(out, k, Rf_allocVector(INTSXP, n));
        columns[k] = INTEGER(VECTOR_ELT(out, k));
    }
    R_xlen_t to = 0;
    for (uint32_t i = 0; i < t.samples && c->status == PCOL_OK; i++) {
        int level = 0;
        for (uint32_t s = t.sample[i] == NONE ? 0 : t.sample[i]; s; s = t.parent[s])
            for (uint32_t l = t.first[s]; l < t.end[s]; l++, to++) {
                columns[0][to] = (int)i + 1;
                columns[1][to] = ++level;
                columns[2][to] = (int)l + 1;
            }
        if (i % POLL_ROWS == 0)
            (void)interrupted(c);
    }
    verify_intact(c, arg(args, 0));
    UNPROTECT(1);
    return out;
}

/* ---- stacks of version 1.0 */

/* A data frame of one column without rows, to be copied for stacks of @depth frames. */
static SEXP frame_template(SEXP name, SEXP class, int depth)
{
    SEXP frame = PROTECT(Rf_allocVector(VECSXP, 1)), rows = PROTECT(Rf_allocVector(INTSXP, 2));
    INTEGER(rows)[0] = NA_INTEGER;
    INTEGER(rows)[1] = -depth;
    Rf_setAttrib(frame, R_NamesSymbol, name);
    Rf_setAttrib(frame, R_RowNamesSymbol, rows);
    Rf_setAttrib(frame, R_ClassSymbol, class);
    UNPROTECT(2);
    return frame;
}

/* Ids of the frames on the path, innermost first, that have one (not 0). */
static SEXP path_ids(const struct path *p, const int *ids, uint32_t depth)
{
    SEXP out = Rf_allocVector(INTSXP, (R_xlen_t)depth);
    int *to = INTEGER(out);
    for (uint32_t level = p->depth; level; level--)
        for (uint32_t l = p->tree->first[p->rows[level]]; l < p->tree->end[p->rows[level]]; l++)
            if (ids[l])
                *to++ = ids[l];
    return out;
}

/* The data frame of each stack of a sample, at the row of its first sample in @out; @depth: kept frames of each stack. */
static void make_stacks(struct call *c, const struct tree *t, const int *ids, const uint32_t *depth,
                        SEXP class, SEXP out)
{
    struct path p;
    uint32_t *first = hold(c, t->rows, sizeof *first), deepest = 0;
    if (!first || !path_open(c, &p, t))
        return;
    for (uint32_t i = 0; i < t->samples; i++)
        if (t->sample[i] != NONE && depth[t->sample[i]]) {
            first[t->sample[i]] = first[t->sample[i]] ? first[t->sample[i]] : i + 1;
            deepest = depth[t->sample[i]] > deepest ? depth[t->sample[i]] : deepest;
        }
    SEXP name = PROTECT(Rf_mkString("location_id"));
    SEXP templates = PROTECT(Rf_allocVector(VECSXP, (R_xlen_t)deepest + 1));
    for (uint32_t row = 1; row < t->rows && c->status == PCOL_OK; row++) {
        while (path_leave(&p, row))
            ;
        if (!path_enter(c, &p, row) || !first[row])
            continue;
        SEXP template = VECTOR_ELT(templates, depth[row]);
        if (template == R_NilValue) {
            template = frame_template(name, class, (int)depth[row]);
            SET_VECTOR_ELT(templates, depth[row], template);
        }
        SEXP frame = Rf_shallow_duplicate(template);
        SET_VECTOR_ELT(out, first[row] - 1, frame);
        SET_VECTOR_ELT(frame, 0, path_ids(&p, ids, depth[row]));
    }
    for (uint32_t i = 0; i < t->samples && c->status == PCOL_OK; i++)
        if (t->sample[i] != NONE && first[t->sample[i]])
            SET_VECTOR_ELT(out, i, VECTOR_ELT(out, first[t->sample[i]] - 1));
    UNPROTECT(2);
}

/* (handle, id of each location or 0, class) -> a data frame for each sample; NULL where it has no frame with an id */
SEXP op_stacks(struct call *c, SEXP args)
{
    pcol_file *file = handle_of(c, arg(args, 0));
    SEXP ids = arg(args, 1);
    struct tree t;
    if (!file || !read_tree(c, file, &t))
        return R_NilValue;
    if (XLENGTH(ids) < (R_xlen_t)t.locations)
        return fail(c, PCOL_E_ARGUMENT, "an id for each location is needed");
    const uint32_t *depth = depths_of(c, &t, INTEGER(ids));
    if (!depth)
        return R_NilValue;
    SEXP out = PROTECT(Rf_allocVector(VECSXP, (R_xlen_t)t.samples));
    make_stacks(c, &t, INTEGER(ids), depth, arg(args, 2), out);
    verify_intact(c, arg(args, 0));
    UNPROTECT(1);
    return out;
}

/* ---- sums of summary() */

/* Sums by token: a matrix [tokens x columns] each. */
struct totals {
    const struct tree *tree;
    const int *tokens; /* two by location, NA for none: tokens[l], tokens[l + locations] */
    uint32_t columns, count;
    double *self, *total; /* [token + column * count] */
    double *weights;      /* [stack * columns + column] */
    uint32_t *outermost;  /* by token: row of the last stack that begins with it; 0: none */
    int *self_token;      /* by stack, 0: none */
};

static void add_weights(const struct totals *s, double *sums, int token, uint32_t stack)
{
    for (uint32_t k = 0; k < s->columns; k++)
        sums[(uint32_t)(token - 1) + k * s->count] += s->weights[(size_t)stack * s->columns + k];
}

/* Token @i of a frame, 0 <= i < 2 * its locations, innermost first; 0: none. */
static int token_at(const struct totals *s, uint32_t row, uint32_t i)
{
    int token = s->tokens[s->tree->first[row] + i / 2 + (i % 2) * s->tree->locations];
    return token == NA_INTEGER ? 0 : token;
}

/* Sums of self, of the innermost token. @fallback: 0: none. */
static void sum_self(const struct totals *s, int fallback)
{
    for (uint32_t row = 0; row < s->tree->rows; row++) {
        uint32_t n = row ? 2 * (s->tree->end[row] - s->tree->first[row]) : 0;
        int token = 0;
        for (uint32_t i = 0; i < n && !token; i++)
            token = token_at(s, row, i);
        if (!token && row)
            token = s->self_token[s->tree->parent[row]];
        s->self_token[row] = token;
        if (token || fallback)
            add_weights(s, s->self, token ? token : fallback, row);
        if (!token && fallback)
            add_weights(s, s->total, fallback, row);
    }
}

/* Weights of stacks to those of all stacks from them on. */
static void add_callees(const struct totals *s)
{
    for (uint32_t row = s->tree->rows; row-- > 1;)
        for (uint32_t k = 0; k < s->columns; k++)
            s->weights[(size_t)s->tree->parent[row] * s->columns + k] +=
                s->weights[(size_t)row * s->columns + k];
}

/* A token counts at its outermost frame, which has the samples of all others. */
static void sum_total(struct call *c, const struct totals *s)
{
    struct path p;
    uint32_t *depth = hold(c, s->tree->rows, sizeof *depth); /* rows on the path before this one */
    if (!depth || !path_open(c, &p, s->tree))
        return;
    for (uint32_t row = 1; row < s->tree->rows; row++) {
        uint32_t n = 2 * (s->tree->end[row] - s->tree->first[row]);
        while (path_leave(&p, row))
            ;
        if (!path_enter(c, &p, row))
            return;
        depth[row] = p.depth;
        for (uint32_t i = 0; i < n; i++) {
            int token = token_at(s, row, i);
            uint32_t outer = token ? s->outermost[token - 1] : 0;
            /* The path has its outermost row, or had it before. */
            if (!token || (outer && depth[outer] <= p.depth && p.rows[depth[outer]] == outer))
                continue;
            s->outermost[token - 1] = row;
            add_weights(s, s->total, token, row);
        }
    }
}

/* Weights of the stacks: a column for each interval, and one for the growth of memory. */
static void weigh_stacks(const struct totals *s, SEXP first_sample, SEXP column, SEXP growth)
{
    R_xlen_t segment = 0, segments = XLENGTH(first_sample);
    for (uint32_t i = 0; i < s->tree->samples; i++) {
        while (segment + 1 < segments && REAL(first_sample)[segment + 1] <= (double)i)
            segment++;
        if (s->tree->sample[i] == NONE)
            continue;
        double *w = s->weights + (size_t)s->tree->sample[i] * s->columns;
        w[segments ? INTEGER(column)[segment] - 1 : 0] += 1;
        if (growth != R_NilValue)
            w[s->columns - 1] += REAL(growth)[i];
    }
}

static int check_totals(struct call *c, const struct totals *s, SEXP args)
{
    SEXP tokens = arg(args, 1), first = arg(args, 2), column = arg(args, 3), growth = arg(args, 5);
    int good = XLENGTH(tokens) == 2 * (R_xlen_t)s->tree->locations &&
               XLENGTH(first) == XLENGTH(column) &&
               (growth == R_NilValue || XLENGTH(growth) == (R_xlen_t)s->tree->samples);
    for (R_xlen_t i = 0; good && i < XLENGTH(tokens); i++)
        good = INTEGER(tokens)[i] == NA_INTEGER ||
               (INTEGER(tokens)[i] > 0 && INTEGER(tokens)[i] <= (int)s->count);
    for (R_xlen_t i = 0; good && i < XLENGTH(column); i++)
        good = INTEGER(column)[i] > 0 && INTEGER(column)[i] <= (int)s->columns;
    if (!good)
        fail(c, PCOL_E_ARGUMENT, "tokens, segments and growth do not fit the profile");
    return good;
}

/*
 * (handle, matrix of 2 tokens of each location, first sample of each segment, its column, number of columns, growth of memory by
 * sample or NULL: the last column, number of tokens, token of stacks without any or NA) -> list(self, total): sums by token
 */
SEXP op_totals(struct call *c, SEXP args)
{
    pcol_file *file = handle_of(c, arg(args, 0));
    int fallback = Rf_asInteger(arg(args, 7));
    struct tree t;
    if (!file || !read_tree(c, file, &t))
        return R_NilValue;
    struct totals s = {.tree = &t, .tokens = INTEGER(arg(args, 1))};
    s.columns = (uint32_t)Rf_asInteger(arg(args, 4)) + (arg(args, 5) != R_NilValue);
    s.count = (uint32_t)Rf_asInteger(arg(args, 6));
    s.weights = hold(c, (size_t)t.rows * s.columns, sizeof *s.weights);
    s.outermost = hold(c, s.count, sizeof *s.outermost);
    s.self_token = hold(c, t.rows, sizeof *s.self_token);
    if (c->status != PCOL_OK || !check_totals(c, &s, args))
        return R_NilValue;
    const char *names[] = {"self", "total"};
    SEXP out = PROTECT(named_list(names, 2));
    for (int k = 0; k < 2; k++) {
        SET_VECTOR_ELT(out, k, Rf_allocMatrix(REALSXP, (int)s.count, (int)s.columns));
        memset(REAL(VECTOR_ELT(out, k)), 0, (size_t)s.count * s.columns * sizeof(double));
    }
    s.self = REAL(VECTOR_ELT(out, 0));
    s.total = REAL(VECTOR_ELT(out, 1));
    weigh_stacks(&s, arg(args, 2), arg(args, 3), arg(args, 5));
    sum_self(&s, fallback == NA_INTEGER ? 0 : fallback);
    add_callees(&s);
    sum_total(c, &s);
    verify_intact(c, arg(args, 0));
    UNPROTECT(1);
    return out;
}

/* ---- rows of profvis */

/* The known values of each location, and the columns that are filled. */
struct rows {
    SEXP labels, running, files; /* character: name, text of its line, file */
    const int *file, *line;      /* NA unless the file's text is there */
    const int *collector;        /* 1: the location is R's garbage collector */
    const double *level;         /* memory of each sample */
    SEXP out;                    /* the columns as below */
    int *time, *depth, *filenum, *linenum;
    double *memory, *growth;
    R_xlen_t count;
};

/* A call shows the line that makes it, which is the line of the next outer frame, @outer (NONE: none). */
static void add_row(struct rows *r, uint32_t sample, uint32_t depth, SEXP label, uint32_t outer)
{
    int known = outer != NONE && r->file[outer] != NA_INTEGER;
    R_xlen_t i = r->count++;
    r->time[i] = (int)sample + 1;
    r->depth[i] = (int)depth;
    SET_STRING_ELT(VECTOR_ELT(r->out, 2), i, label);
    r->filenum[i] = known ? r->file[outer] : NA_INTEGER;
    r->linenum[i] = known ? r->line[outer] : NA_INTEGER;
    r->memory[i] = r->level[sample];
    r->growth[i] = 0;
    SET_STRING_ELT(VECTOR_ELT(r->out, 7), i, known ? STRING_ELT(r->files, outer) : NA_STRING);
}

/* Whether a row with the text of the line that runs comes before frame @inner, the innermost call that is not the collector. */
static int runs(const struct rows *r, const uint32_t *frames, uint32_t *inner)
{
    *inner = frames[0] != NONE && r->collector[frames[0]] ? 1 : 0;
    uint32_t l = frames[*inner];
    return l != NONE && !r->collector[l] && r->file[l] != NA_INTEGER;
}

/* Frames of a stack, innermost first, and NONE after the last; at most @most. Returns their number. */
static uint32_t list_frames(const struct tree *t, uint32_t stack, uint32_t *frames, uint32_t most)
{
    uint32_t n = 0;
    for (; stack && n < most; stack = t->parent[stack])
        for (uint32_t l = t->first[stack]; l < t->end[stack] && n < most; l++)
            frames[n++] = l;
    frames[n] = NONE;
    return n;
}

/* The rows of a sample, innermost first. The line before the collector is the running one, not that of its call. */
static void add_sample(struct rows *r, const struct tree *t, uint32_t sample, uint32_t *frames)
{
    uint32_t inner, n = list_frames(t, t->sample[sample], frames, NONE);
    int has_text = runs(r, frames, &inner);
    R_xlen_t first = r->count;
    for (uint32_t i = 0; i < n; i++) {
        if (has_text && i == inner)
            add_row(r, sample, n - i + 1, STRING_ELT(r->running, frames[i]), frames[i]);
        add_row(r, sample, n - i + (has_text && i < inner), STRING_ELT(r->labels, frames[i]),
                i < inner ? NONE : frames[i + 1]);
    }
    if (r->count > first && first > 0)
        r->growth[first] = r->level[sample] - r->memory[first - 1];
}

/* Rows with the text of a line: one for each sample whose stack has it. */
static R_xlen_t count_texts(const struct rows *r, const struct tree *t)
{
    R_xlen_t count = 0;
    uint32_t frames[3], inner;
    for (uint32_t i = 0; i < t->samples; i++)
        if (t->sample[i] != NONE) {
            (void)list_frames(t, t->sample[i], frames, 2);
            count += runs(r, frames, &inner);
        }
    return count;
}

static void bind_rows(struct rows *r, R_xlen_t n)
{
    static const SEXPTYPE TYPES[] = {INTSXP, INTSXP,  STRSXP,  INTSXP,
                                     INTSXP, REALSXP, REALSXP, STRSXP};
    for (int k = 0; k < 8; k++)
        SET_VECTOR_ELT(r->out, k, Rf_allocVector(TYPES[k], n));
    r->time = INTEGER(VECTOR_ELT(r->out, 0));
    r->depth = INTEGER(VECTOR_ELT(r->out, 1));
    r->filenum = INTEGER(VECTOR_ELT(r->out, 3));
    r->linenum = INTEGER(VECTOR_ELT(r->out, 4));
    r->memory = REAL(VECTOR_ELT(r->out, 5));
    r->growth = REAL(VECTOR_ELT(r->out, 6));
}

/*
 * (handle, label of each location, text of its line, file, number of the file, line, memory of each sample): the columns of
 * profvis. The last two are NA unless the text of the file is there.
 */
SEXP op_profvis(struct call *c, SEXP args)
{
    pcol_file *file = handle_of(c, arg(args, 0));
    struct tree t;
    if (!file || !read_tree(c, file, &t))
        return R_NilValue;
    for (int k = 1; k < 6; k++)
        if (XLENGTH(arg(args, k)) < (R_xlen_t)t.locations ||
            XLENGTH(arg(args, 6)) < (R_xlen_t)t.samples)
            return fail(c, PCOL_E_ARGUMENT, "locations or samples without a row");
    const uint32_t *depth = depths_of(c, &t, NULL);
    R_xlen_t n = depth ? count_frames(c, &t, depth) : -1;
    int *collector = n < 0 ? NULL : hold(c, t.locations, sizeof *collector);
    uint32_t deepest = 0;
    for (uint32_t i = 0; collector && i < t.rows; i++)
        deepest = depth[i] > deepest ? depth[i] : deepest;
    uint32_t *frames = collector ? hold(c, (size_t)deepest + 1, sizeof *frames) : NULL;
    if (!frames)
        return R_NilValue;
    struct rows r = {arg(args, 1),          arg(args, 2), arg(args, 3),      INTEGER(arg(args, 4)),
                     INTEGER(arg(args, 5)), collector,    REAL(arg(args, 6))};
    for (uint32_t l = 0; l < t.locations; l++)
        collector[l] = strcmp(CHAR(STRING_ELT(r.labels, l)), "<GC>") == 0;
    const char *names[] = {"time",    "depth",    "label",  "filenum",
                           "linenum", "memalloc", "meminc", "filename"};
    r.out = PROTECT(named_list(names, 8));
    n += count_texts(&r, &t);
    if (n > INT32_MAX)
        fail(c, PCOL_E_LIMIT, MANY_FRAMES);
    else
        bind_rows(&r, n);
    for (uint32_t i = 0; i < t.samples && c->status == PCOL_OK; i++) {
        if (t.sample[i] != NONE)
            add_sample(&r, &t, i, frames);
        if (i % POLL_ROWS == 0)
            (void)interrupted(c);
    }
    verify_intact(c, arg(args, 0));
    UNPROTECT(1);
    return r.out;
}

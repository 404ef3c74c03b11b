/*
 * frame_filter.c - focus, ignore, hide, show and pprof's drop_frames
 *
 * The rules are those of pprof. They change the weights before any answer is computed:
 *     drop_frames  from the root inwards, the first dropped frame after one that is not dropped is
 *                  joined with its caller, and so are its descendants. A group whose inner lines
 *                  match, but not its outermost, loses these lines everywhere.
 *     ignore       clears the weight of stacks with a matching frame; focus: of those without one.
 *     hide, show   remove lines of groups; a stack without any line left has no weight.
 * Names are matched once per row of functions and mappings; groups and stacks combine bits.
 */
#include "query/query.h"

#include "util/alloc.h"
#include "util/strbuf.h"

#include <stdlib.h>
#include <string.h>

enum { DROP, KEEP, FOCUS, IGNORE, HIDE, SHOW, PATTERNS };

/* Members of pcol_selection. */
static const char *const options[PATTERNS] = {
    [FOCUS] = "focus", [IGNORE] = "ignore", [HIDE] = "hide", [SHOW] = "show"};

/* Flags of a function: no name; or a name that is only an address, displayed with its library. */
enum { UNNAMED = 1 << PATTERNS, ADDRESS_ONLY = UNNAMED << 1 };

/* State of a group or stack. */
enum {
    JOINED = 1,        /* group: dropped; stack: joined with its caller */
    JOINS_CALLEES = 2, /* its callees are dropped */
    NOT_DROPPED = 4,   /* stack: has a frame that is not dropped */
    FOCUSED = 8,
    IGNORED = 16,
    SHOWN = 32 /* has a visible line */
};

/* Limit of different drop_frames, for each of which a filter or a scan makes a query. */
#define DROP_GROUPS 16

struct frame_filter {
    pcol_query *query;
    pcol_pattern *match[PATTERNS];
    const pcol_rows *sets[PATTERNS]; /* rows of functions that match as well; NULL: not given */
    pcol_str *made_names;            /* sorted; that FOCUS matches as well */
    size_t made_name_count;
    uint8_t *functions, *mappings; /* by row: one bit per pattern */
    uint64_t function_count, mapping_count;
    struct pci_frame_namer names;
    int matched;              /* one bit per pattern that matches some frame */
    uint8_t *groups, *stacks; /* by row */
    int drops;
};

static int bit(int pattern)
{
    return 1 << pattern;
}

static int is_given(const struct frame_filter *f, int pattern)
{
    return f->match[pattern] || f->sets[pattern] || (pattern == FOCUS && f->made_name_count);
}

/* ---- patterns */

/* The form of a name that drop_frames is matched with: no leading dot, no argument list.
 * "(anonymous namespace)" and "operator()" do not start an argument list. */
static pcol_str simplify_name(pcol_str name)
{
    static const char *const parts[] = {"(anonymous namespace)", "operator()"};
    if (name.size && name.data[0] == '.') {
        name.data++;
        name.size--;
    }
    for (size_t i = 0; i < name.size;) {
        size_t skip = 0;
        for (size_t p = 0; p < 2 && !skip; p++) {
            size_t size = strlen(parts[p]);
            if (name.size - i >= size && !memcmp(name.data + i, parts[p], size))
                skip = size;
        }
        if (!skip && name.data[i] == '(') {
            name.size = i;
            break;
        }
        i += skip ? skip : 1;
    }
    return name;
}

static pcol_status test_pattern(struct frame_filter *f, int pattern,
                                const struct pci_coded_text *text, uint8_t *bits, pcol_error *err)
{
    int matches = 0;
    if (!f->match[pattern] || (*bits & bit(pattern)))
        return PCOL_OK;
    PCI_TRY(pci_pattern_test_coded(f->match[pattern], f->query->file, text, &matches, err));
    if (matches)
        *bits |= (uint8_t)bit(pattern);
    f->matched |= *bits;
    return PCOL_OK;
}

static pcol_status test_frame(struct frame_filter *f, const struct pci_coded_text *text,
                              uint8_t *bits, pcol_error *err)
{
    for (int p = FOCUS; p < PATTERNS; p++)
        PCI_TRY(test_pattern(f, p, text, bits, err));
    return PCOL_OK;
}

/* Tests a text that is no string of the file. */
static pcol_status test_shown(struct frame_filter *f, pcol_str text, uint8_t *bits, pcol_error *err)
{
    return test_frame(f, &(struct pci_coded_text){text, PCI_NO_CODE}, bits, err);
}

static int compare_names(const void *a, const void *b)
{
    return pci_str_compare(*(const pcol_str *)a, *(const pcol_str *)b);
}

/* Tests the name of a frame without a function's name. */
static pcol_status test_made_name(struct frame_filter *f, pcol_str name, uint8_t *bits,
                                  pcol_error *err)
{
    if (f->made_name_count &&
        bsearch(&name, f->made_names, f->made_name_count, sizeof *f->made_names, compare_names)) {
        *bits |= (uint8_t)bit(FOCUS);
        f->matched |= bit(FOCUS);
    }
    return test_shown(f, name, bits, err);
}

/* Tests drop_frames and keep_frames, whose patterns only see simplified names. */
static pcol_status test_drops(struct frame_filter *f, struct pci_coded_text name, uint8_t *bits,
                              pcol_error *err)
{
    if (!f->match[DROP])
        return PCOL_OK;
    if (!pci_pattern_knows(f->match[DROP], name.code))
        name.text = simplify_name(name.text);
    PCI_TRY(test_pattern(f, DROP, &name, bits, err));
    return test_pattern(f, KEEP, &name, bits, err);
}

/* Matches the name and path of a function; a library that is displayed with it is matched per
 * line. */
static pcol_status match_function(struct frame_filter *f, uint64_t row, pcol_error *err)
{
    const pcol_file *file = f->query->file;
    uint8_t *bits = &f->functions[row];
    struct pci_coded_text name, path;
    PCI_TRY(pci_get_coded(file, f->names.name, row, &name, err));
    PCI_TRY(pci_get_coded(file, f->names.function_file, row, &path, err));
    if (name.text.size)
        PCI_TRY(test_drops(f, name, bits, err));
    else
        *bits |= UNNAMED;
    *bits |= pci_is_address_name(name.text) ? ADDRESS_ONLY : 0;
    PCI_TRY(test_frame(f, &name, bits, err));
    return test_frame(f, &path, bits, err);
}

/* Sets the bits of functions that are given by row. */
static pcol_status match_rows(struct frame_filter *f, pcol_error *err)
{
    for (int p = 0; p < PATTERNS; p++) {
        for (size_t i = 0; f->sets[p] && i < f->sets[p]->count; i++) {
            uint32_t row = f->sets[p]->rows[i];
            if (row >= f->names.functions)
                return pci_fail_cell(err, PCOL_E_ARGUMENT, "functions", NULL, row,
                                     "the table has %llu rows",
                                     (unsigned long long)f->names.functions);
            f->functions[row] |= (uint8_t)bit(p);
            f->matched |= bit(p);
        }
    }
    return PCOL_OK;
}

static pcol_status match_functions(struct frame_filter *f, pcol_error *err)
{
    PCI_TRY(pci_check_row_count(f->query->file, "functions", err));
    PCI_TRY(PCI_CALLOC(f->functions, (size_t)f->names.functions + 1, err));
    PCI_TRY(match_rows(f, err));
    for (uint64_t row = 0; row < f->names.functions; row++)
        PCI_TRY(match_function(f, row, err));
    return PCOL_OK;
}

static pcol_status match_mappings(struct frame_filter *f, pcol_error *err)
{
    PCI_TRY(pci_check_row_count(f->query->file, "mappings", err));
    PCI_TRY(PCI_CALLOC(f->mappings, (size_t)f->names.mappings + 1, err));
    for (uint64_t row = 0; row < f->names.mappings; row++) {
        struct pci_coded_text text;
        PCI_TRY(pci_get_coded(f->query->file, f->names.mapping_file, row, &text, err));
        PCI_TRY(test_frame(f, &text, &f->mappings[row], err));
    }
    return PCOL_OK;
}

/* A pattern that matches nothing is probably a typing error. */
static void note_unmatched(struct frame_filter *f)
{
    for (int p = FOCUS; p < PATTERNS; p++) {
        if (is_given(f, p) && !(f->matched & bit(p)))
            pci_query_set_note(f->query, options[p], "%s matches no frame", options[p]);
    }
}

/* ---- groups */

/* Bits of a line. *named: it has a function or a file. Lines without either are subject to --show
 * only if a pattern matches their displayed name. */
static pcol_status get_line_bits(struct frame_filter *f, uint32_t location, uint32_t group,
                                 uint8_t *bits, int *named, pcol_error *err)
{
    const pcol_file *file = f->query->file;
    struct pci_name name;
    int64_t function;
    int valid = 0;
    *bits = 0;
    PCI_TRY(pci_get(file, f->names.function, location, &function, &valid, err));
    if (valid) {
        *bits = f->functions[function];
        *named = 1;
        if (!(*bits & (UNNAMED | ADDRESS_ONLY)))
            return PCOL_OK;
    }
    PCI_TRY(pci_frame_namer_get(&f->names, location, group, &name, err));
    *named = valid || name.has_filename;
    PCI_TRY(test_made_name(f, name.name, bits, err));
    if (valid || !name.has_filename)
        return PCOL_OK;
    PCI_TRY(test_shown(f, name.filename, bits, err));
    return name.is_place ? test_shown(f, (pcol_str)PCI_NAME(PCI_NAME_TOP_LEVEL), bits, err)
                         : PCOL_OK;
}

static pcol_status get_mapping_bits(struct frame_filter *f, uint32_t group, uint8_t *bits,
                                    pcol_error *err)
{
    int64_t mapping;
    int valid = 0;
    *bits = 0;
    PCI_TRY(pci_get(f->query->file, f->names.mapping, group, &mapping, &valid, err));
    if (!valid)
        return PCOL_OK;
    *bits = f->mappings[mapping];
    return PCOL_OK;
}

/* Applies drop_frames to a group: hides the lines from the innermost to the outermost that matches,
 * or drops the whole group if that is its outermost line. */
static void drop_lines(struct frame_filter *f, uint32_t first, uint32_t end, const uint8_t *bits,
                       uint8_t *group)
{
    uint32_t line_end = end;
    while (line_end > first &&
           !((bits[line_end - 1 - first] & bit(DROP)) && !(bits[line_end - 1 - first] & bit(KEEP))))
        line_end--;
    if (line_end == first)
        return;
    f->drops = 1;
    *group |= line_end == end ? JOINED | JOINS_CALLEES : JOINS_CALLEES;
    if (line_end < end)
        memset(f->query->shown_locations + first, 0, line_end - first);
}

/* Applies focus, ignore, hide and show to a group. */
static void filter_lines(struct frame_filter *f, uint32_t first, uint32_t end, const uint8_t *bits,
                         const uint8_t *named, uint8_t mapping_bits, uint8_t *group)
{
    int has_lines = 0;
    uint8_t all = mapping_bits;
    for (uint32_t line = first; line < end; line++) {
        uint8_t *shown = &f->query->shown_locations[line];
        if (!*shown)
            continue;
        has_lines |= named[line - first];
        all |= bits[line - first];
        if (is_given(f, HIDE) && ((mapping_bits | bits[line - first]) & bit(HIDE)))
            *shown = 0;
        if (is_given(f, SHOW) && !((mapping_bits | bits[line - first]) & bit(SHOW)) &&
            named[line - first])
            *shown = 0;
        *group |= *shown ? SHOWN : 0;
    }
    /* The line of a group that has only an address. */
    if (!has_lines && end - first == 1 && is_given(f, SHOW) &&
        !((mapping_bits | bits[0]) & bit(SHOW))) {
        f->query->shown_locations[first] = 0;
        *group &= (uint8_t)~SHOWN;
    }
    if (is_given(f, IGNORE) && (all & bit(IGNORE)))
        *group |= IGNORED;
    else if (!is_given(f, FOCUS) || (all & bit(FOCUS)))
        *group |= FOCUSED;
}

static pcol_status filter_groups(struct frame_filter *f, pcol_error *err)
{
    const struct pci_stack_table *calls = &f->query->calls;
    uint8_t *bits = pci_malloc((size_t)calls->location_count + 1, 1);
    uint8_t *named = pci_malloc((size_t)calls->location_count + 1, 1);
    pcol_status status = bits && named ? PCOL_OK : pci_fail_memory(err);
    for (uint32_t group = 0; group < calls->group_count && status == PCOL_OK; group++) {
        uint32_t first = calls->first[group], end = calls->first[group + 1];
        uint8_t mapping_bits;
        status = get_mapping_bits(f, group, &mapping_bits, err);
        for (uint32_t line = first; line < end && status == PCOL_OK; line++) {
            int has_name = 0;
            status = get_line_bits(f, line, group, &bits[line - first], &has_name, err);
            named[line - first] = (uint8_t)has_name;
        }
        if (status != PCOL_OK)
            break;
        drop_lines(f, first, end, bits, &f->groups[group]);
        filter_lines(f, first, end, bits, named, mapping_bits, &f->groups[group]);
    }
    pci_free(bits);
    pci_free(named);
    return status;
}

/* ---- stacks */

/* State of a stack, from the states of its caller and its group. */
static uint8_t compute_state(uint8_t caller, uint8_t group)
{
    uint8_t state = caller & (uint8_t)(NOT_DROPPED | FOCUSED | IGNORED | SHOWN);
    if (caller & (JOINED | JOINS_CALLEES))
        return state | JOINED; /* joined, and so are its callees */
    if (!(group & (JOINED | JOINS_CALLEES)))
        state |= NOT_DROPPED;
    else if (caller & NOT_DROPPED) {
        if (group & JOINED)
            return state | JOINED;
        state |= JOINS_CALLEES;
    }
    return state | (group & (uint8_t)(FOCUSED | IGNORED | SHOWN));
}

static pcol_status move_weights(struct frame_filter *f, pcol_error *err)
{
    pcol_query *query = f->query;
    const struct pci_stack_table *calls = &query->calls;
    int is_double = query->measure.is_double;
    /* Backward pass: a joined stack includes the weight of its joined descendants. */
    for (uint32_t row = calls->count; f->drops && row-- > 1;) {
        if (!(f->stacks[row] & JOINED))
            continue;
        if (pci_amount_add(is_double, &query->weight[calls->parent[row]], query->weight[row]))
            return pci_amount_overflow(query->measure.type, err);
        memset(&query->weight[row], 0, sizeof *query->weight);
    }
    return PCOL_OK;
}

/* Like pprof, filters drop the empty stack, unless a focus matches its displayed name. */
static pcol_status compute_empty_state(struct frame_filter *f, uint8_t *state, pcol_error *err)
{
    uint8_t bits = 0;
    PCI_TRY(test_shown(f, (pcol_str)PCI_NAME(PCI_NAME_NO_STACK), &bits, err));
    *state = (bits & bit(FOCUS)) && !(bits & (bit(IGNORE) | bit(HIDE))) &&
                     (!is_given(f, SHOW) || (bits & bit(SHOW)))
                 ? FOCUSED | SHOWN
                 : 0;
    return PCOL_OK;
}

static pcol_status filter_stacks(struct frame_filter *f, pcol_error *err)
{
    pcol_query *query = f->query;
    const struct pci_stack_table *calls = &query->calls;
    f->stacks[0] = 0;
    for (uint32_t row = 1; row < calls->count; row++)
        f->stacks[row] = compute_state(f->stacks[calls->parent[row]], f->groups[calls->group[row]]);
    PCI_TRY(move_weights(f, err));
    if (f->drops) {
        PCI_TRY(PCI_MALLOC(query->joined_stacks, (size_t)calls->count + 1, err));
        for (uint32_t row = 0; row < calls->count; row++)
            query->joined_stacks[row] = f->stacks[row] & JOINED;
    }
    if (!is_given(f, FOCUS) && !is_given(f, IGNORE) && !is_given(f, HIDE) && !is_given(f, SHOW))
        return PCOL_OK;
    PCI_TRY(PCI_MALLOC(query->passes, (size_t)calls->count + 1, err));
    PCI_TRY(compute_empty_state(f, &f->stacks[0], err));
    for (uint32_t row = 0; row < calls->count; row++) {
        uint8_t state = f->stacks[row];
        query->passes[row] = (state & FOCUSED) && !(state & IGNORED) && (state & SHOWN);
        if (!query->passes[row])
            memset(&query->weight[row], 0, sizeof *query->weight);
    }
    return PCOL_OK;
}

/* ---- drop_frames of the sources */

/* What a source drops and keeps; equal texts of a file are at one address. */
struct drop_patterns {
    pcol_str drop, keep;
};

struct drop_columns {
    const pcol_file *file;
    const struct pci_column *drops, *keeps; /* NULL: the file has no such column */
};

static pcol_status drop_columns_open(const pcol_file *file, struct drop_columns *columns,
                                     pcol_error *err)
{
    columns->file = file;
    PCI_TRY(pci_find_column(file, "sources", "drop_frames", PCI_TYPES_TEXT, &columns->drops, err));
    return pci_find_column(file, "sources", "keep_frames", PCI_TYPES_TEXT, &columns->keeps, err);
}

static pcol_status get_source_text(const pcol_file *file, const struct pci_column *column,
                                   uint64_t source, pcol_str *text, pcol_error *err)
{
    int valid;
    *text = (pcol_str){"", 0};
    return pci_get_str(file, column, source, text, &valid, err);
}

static pcol_status get_drop_patterns(const struct drop_columns *columns, uint64_t source,
                                     struct drop_patterns *patterns, pcol_error *err)
{
    PCI_TRY(get_source_text(columns->file, columns->drops, source, &patterns->drop, err));
    return get_source_text(columns->file, columns->keeps, source, &patterns->keep, err);
}

static int equal_patterns(const struct drop_patterns *a, const struct drop_patterns *b)
{
    return pci_str_same(a->drop, b->drop) && pci_str_same(a->keep, b->keep);
}

/* *has_type: 1 if the source has values of the query's sample type. list: space for all types. */
static pcol_status source_has_type(pcol_query *query, uint64_t source, uint32_t *list,
                                   int *has_type, pcol_error *err)
{
    uint32_t count;
    *has_type = !query->sample_filter.sources || query->sample_filter.sources[source];
    if (!*has_type || !query->measure.column_count)
        return PCOL_OK;
    return pci_query_type_in(&query->measure, &query->types, source, list, &count, has_type, err);
}

/* Reads the patterns of the first source of the query, as pprof does when it merges profiles. A
 * note reports different patterns of another source: a stack that both share cannot be joined for
 * one of them only. */
static pcol_status read_first_drops(pcol_query *query, uint32_t *list,
                                    struct drop_patterns *patterns, pcol_error *err)
{
    struct drop_columns columns;
    int first = 1;
    *patterns = (struct drop_patterns){{"", 0}, {"", 0}};
    PCI_TRY(drop_columns_open(query->file, &columns, err));
    for (uint64_t source = 0; columns.drops && source < query->sample_filter.source_count;
         source++) {
        struct drop_patterns own;
        int has_type;
        PCI_TRY(source_has_type(query, source, list, &has_type, err));
        if (!has_type)
            continue;
        PCI_TRY(get_drop_patterns(&columns, source, &own, err));
        if (first) {
            *patterns = own;
            first = 0;
        } else if (!equal_patterns(patterns, &own)) {
            pci_query_set_note(query, "keep_dropped",
                               "the sources of this sample type differ in their drop_frames; "
                               "those of the first one are applied, as pprof does");
            break;
        }
    }
    return PCOL_OK;
}

static pcol_status find_drops(pcol_query *query, struct drop_patterns *patterns, pcol_error *err)
{
    uint32_t *list = pci_malloc((size_t)query->types.count + 1, sizeof *list);
    pcol_status status = list ? read_first_drops(query, list, patterns, err) : pci_fail_memory(err);
    pci_free(list);
    return status;
}

pcol_status pci_drop_frames_groups(const pcol_query *query, uint32_t *groups, uint32_t *count,
                                   pcol_error *err)
{
    struct drop_patterns known[DROP_GROUPS], own;
    const uint8_t *selected = query->sample_filter.sources;
    struct drop_columns columns;
    *count = 0;
    PCI_TRY(drop_columns_open(query->file, &columns, err));
    for (uint64_t source = 0; source < query->sample_filter.source_count; source++) {
        uint32_t group = 0;
        groups[source] = PCOL_NONE;
        if (selected && !selected[source])
            continue;
        PCI_TRY(get_drop_patterns(&columns, source, &own, err));
        while (group < *count && !equal_patterns(&known[group], &own))
            group++;
        if (group == DROP_GROUPS)
            return pci_error_option(
                err, "keep_dropped",
                pci_fail(err, PCOL_E_ARGUMENT,
                         "the sources have more than %d different drop_frames; select fewer "
                         "sources or keep the dropped frames",
                         DROP_GROUPS));
        if (group == *count)
            known[(*count)++] = own;
        groups[source] = group;
    }
    return PCOL_OK;
}

/* ---- public functions */

static int is_set(const char *pattern)
{
    return pattern && *pattern;
}

int pci_selects_frames(const pcol_selection *selection)
{
    return is_set(selection->focus) || is_set(selection->ignore) || is_set(selection->hide) ||
           is_set(selection->show) || selection->focus_functions || selection->ignore_functions ||
           selection->hide_functions || selection->show_functions || selection->focus_name_count;
}

pcol_status pci_frame_filter_any(pcol_query *query, const pcol_selection *selection, int *any,
                                 pcol_error *err)
{
    struct drop_patterns patterns = {{"", 0}, {"", 0}};
    *any = selection && pci_selects_frames(selection);
    if (!*any && !(selection && selection->keep_dropped))
        PCI_TRY(find_drops(query, &patterns, err));
    *any |= patterns.drop.size > 0;
    return PCOL_OK;
}

static pcol_status compile_pattern(struct frame_filter *f, int pattern, const char *text,
                                   pcol_error *err)
{
    return is_set(text) ? pci_pattern_new(text, options[pattern], &f->match[pattern], err)
                        : PCOL_OK;
}

/* A pattern of the profile that is none is a fault of the profile. */
static pcol_status compile_own(struct frame_filter *f, int pattern, pcol_str text,
                               const char *owner, pcol_error *err)
{
    pcol_status status = pcol_pattern_new(text.data, text.size, owner, 1, &f->match[pattern], err);
    if (status != PCOL_E_ARGUMENT)
        return status;
    if (err)
        err->status = PCOL_E_UNSUPPORTED;
    return PCOL_E_UNSUPPORTED;
}

static pcol_status compile_patterns(struct frame_filter *f, const pcol_selection *selection,
                                    pcol_error *err)
{
    struct drop_patterns own;
    if (!selection || !selection->keep_dropped) {
        PCI_TRY(find_drops(f->query, &own, err));
        if (own.drop.size)
            PCI_TRY(compile_own(f, DROP, own.drop, "drop_frames of the profile", err));
        if (own.drop.size && own.keep.size)
            PCI_TRY(compile_own(f, KEEP, own.keep, "keep_frames of the profile", err));
    }
    if (!selection)
        return PCOL_OK;
    f->sets[FOCUS] = selection->focus_functions;
    f->sets[IGNORE] = selection->ignore_functions;
    f->sets[HIDE] = selection->hide_functions;
    f->sets[SHOW] = selection->show_functions;
    f->made_name_count = selection->focus_name_count;
    PCI_TRY(PCI_MALLOC(f->made_names, f->made_name_count + 1, err));
    for (size_t i = 0; i < f->made_name_count; i++)
        f->made_names[i] = selection->focus_names[i];
    qsort(f->made_names, f->made_name_count, sizeof *f->made_names, compare_names);
    PCI_TRY(compile_pattern(f, FOCUS, selection->focus, err));
    PCI_TRY(compile_pattern(f, IGNORE, selection->ignore, err));
    PCI_TRY(compile_pattern(f, HIDE, selection->hide, err));
    return compile_pattern(f, SHOW, selection->show, err);
}

static pcol_status apply_patterns(struct frame_filter *f, pcol_error *err)
{
    const struct pci_stack_table *calls = &f->query->calls;
    PCI_TRY(pci_stack_table_load(&f->query->calls, err));
    PCI_TRY(pci_frame_namer_open(&f->names, f->query->file, err));
    f->names.libraries = 1;
    PCI_TRY(PCI_CALLOC(f->groups, (size_t)calls->group_count + 1, err));
    PCI_TRY(PCI_CALLOC(f->stacks, (size_t)calls->count + 1, err));
    PCI_TRY(PCI_MALLOC(f->query->shown_locations, (size_t)calls->location_count + 1, err));
    memset(f->query->shown_locations, 1, (size_t)calls->location_count + 1);
    PCI_TRY(match_functions(f, err));
    PCI_TRY(match_mappings(f, err));
    PCI_TRY(filter_groups(f, err));
    PCI_TRY(filter_stacks(f, err));
    note_unmatched(f);
    return pci_add_filtered(f->query, err);
}

pcol_status pci_frame_filter(pcol_query *query, const pcol_selection *selection, pcol_error *err)
{
    struct frame_filter f = {.query = query};
    pcol_status status = compile_patterns(&f, selection, err);
    int any = 0;
    for (int p = 0; p < PATTERNS; p++)
        any |= is_given(&f, p);
    if (status == PCOL_OK && any)
        status = apply_patterns(&f, err);
    for (int p = 0; p < PATTERNS; p++)
        pcol_pattern_free(f.match[p]);
    pci_frame_namer_close(&f.names);
    pci_free(f.made_names);
    pci_free(f.functions);
    pci_free(f.mappings);
    pci_free(f.groups);
    pci_free(f.stacks);
    return status;
}

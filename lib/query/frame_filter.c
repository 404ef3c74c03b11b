/*
 * frame_filter.c - what focus, ignore, hide, show and a pprof's drop_frames leave of the stacks
 *
 * The rules are pprof's. They are applied to the weights before any answer is made:
 *
 *   drop_frames  Going inwards from the root, the first frame that is dropped after one that is not
 *                cuts the stack: it and all it calls are joined with their caller. A group whose
 *                inner lines match but not its outermost keeps its outer lines, everywhere.
 *   ignore       takes the weight of stacks with a matching frame,
 *   focus        of those without any.
 *   hide, show   take lines out of groups; a stack left without frames has no weight.
 *
 * Names are matched once for each row of functions and mappings; groups and stacks then only
 * combine bits, one pass each.
 */
#include "query/query.h"

#include "util/alloc.h"

#include <string.h>

enum { DROP, KEEP, FOCUS, IGNORE, HIDE, SHOW, PATTERNS };

/* function: it has no name; or nothing but an address, which frames show with their library */
enum { UNNAMED = 1 << PATTERNS, BARE = UNNAMED << 1 };

/* What is known of a group, and of a stack. */
enum {
    CUT = 1,   /* group: dropped; stack: joined with its caller */
    BELOW = 2, /* what it calls is dropped */
    FOUND = 4, /* stack: has a frame that is not dropped */
    FOCUSED = 8,
    IGNORED = 16,
    SHOWN = 32 /* has a line that is shown */
};

struct filter {
    pcol_query *query;
    pcol_pattern *match[PATTERNS];
    uint8_t *functions, *mappings; /* by row: a bit for each pattern */
    uint64_t function_count, mapping_count;
    struct pci_names names;
    int seen;                 /* a bit for each pattern: something matches */
    uint8_t *groups, *stacks; /* by row */
    int drops;
};

static int bit(int pattern)
{
    return 1 << pattern;
}

/* ---- patterns */

/* What drop_frames is matched against: no leading dot, no list of arguments. "(anonymous
 * namespace)" and "operator()" are parts of names. */
static pcol_str simplify(pcol_str name)
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

static pcol_status test(struct filter *f, int pattern, pcol_str text, uint8_t *bits,
                        pcol_error *err)
{
    int yes = 0;
    if (!f->match[pattern] || (*bits & bit(pattern)))
        return PCOL_OK;
    PCI_TRY(pcol_pattern_test(f->match[pattern], text, &yes, err));
    if (yes)
        *bits |= (uint8_t)bit(pattern);
    f->seen |= *bits;
    return PCOL_OK;
}

static pcol_status test_frame(struct filter *f, pcol_str text, uint8_t *bits, pcol_error *err)
{
    for (int p = FOCUS; p < PATTERNS; p++)
        PCI_TRY(test(f, p, text, bits, err));
    return PCOL_OK;
}

/* Without the library that a frame may show. */
static pcol_status match_function(struct filter *f, uint64_t row, pcol_error *err)
{
    const pcol_file *file = f->query->file;
    uint8_t *bits = &f->functions[row];
    pcol_str own = {"", 0}, path = own;
    int valid;
    if (f->names.name)
        PCI_TRY(pci_get_str(file, f->names.name, row, &own, &valid, err));
    if (f->names.function_file)
        PCI_TRY(pci_get_str(file, f->names.function_file, row, &path, &valid, err));
    if (own.size) {
        PCI_TRY(test(f, DROP, simplify(own), bits, err));
        PCI_TRY(test(f, KEEP, simplify(own), bits, err));
    } else {
        *bits |= UNNAMED;
    }
    *bits |= pci_address_names_is(own) ? BARE : 0;
    PCI_TRY(test_frame(f, own, bits, err));
    return test_frame(f, path, bits, err);
}

static pcol_status match_functions(struct filter *f, pcol_error *err)
{
    PCI_TRY(pci_plausible(f->query->file, "functions", err));
    f->functions = pci_calloc((size_t)f->names.functions + 1, 1);
    if (!f->functions)
        return pci_fail_memory(err);
    for (uint64_t row = 0; row < f->names.functions; row++)
        PCI_TRY(match_function(f, row, err));
    return PCOL_OK;
}

static pcol_status match_mappings(struct filter *f, pcol_error *err)
{
    PCI_TRY(pci_plausible(f->query->file, "mappings", err));
    f->mappings = pci_calloc((size_t)f->names.mappings + 1, 1);
    if (!f->mappings)
        return pci_fail_memory(err);
    for (uint64_t row = 0; row < f->names.mappings; row++) {
        pcol_str text = {"", 0};
        int valid;
        if (f->names.mapping_file)
            PCI_TRY(pci_get_str(f->query->file, f->names.mapping_file, row, &text, &valid, err));
        PCI_TRY(test_frame(f, text, &f->mappings[row], err));
    }
    return PCOL_OK;
}

/* A pattern without effect is mostly a slip. */
static void note_unmatched(struct filter *f)
{
    static const char *const notes[PATTERNS] = {
        [FOCUS] = "--focus matches no frame",
        [IGNORE] = "--ignore matches no frame",
        [HIDE] = "--hide matches no frame",
        [SHOW] = "--show matches no frame",
    };
    for (int p = FOCUS; p < PATTERNS; p++) {
        if (f->match[p] && !(f->seen & bit(p)))
            f->query->note = notes[p];
    }
}

/* ---- groups */

/* Bits of a line. *named: it has a function or a file; else no pattern of --show was meant for it
 * unless one matches the name that it is shown with. */
static pcol_status line_bits(struct filter *f, uint32_t location, uint32_t group, uint8_t *bits,
                             int *named, pcol_error *err)
{
    const pcol_file *file = f->query->file;
    struct pci_name name;
    int64_t function;
    int valid = 0;
    *bits = 0;
    if (f->names.function)
        PCI_TRY(pci_get(file, f->names.function, location, &function, &valid, err));
    if (valid) {
        *bits = f->functions[function];
        *named = 1;
        if (!(*bits & (UNNAMED | BARE)))
            return PCOL_OK;
    }
    PCI_TRY(pci_names_get(&f->names, location, group, &name, err));
    *named = valid || name.is_place;
    PCI_TRY(test_frame(f, name.name, bits, err));
    if (!name.is_place)
        return PCOL_OK;
    PCI_TRY(test_frame(f, name.filename, bits, err));
    return test_frame(f, (pcol_str)PCI_NAME(PCI_NAME_TOP_LEVEL), bits, err);
}

static pcol_status mapping_bits(struct filter *f, uint32_t group, uint8_t *bits, pcol_error *err)
{
    int64_t mapping;
    int valid = 0;
    *bits = 0;
    if (f->names.mapping)
        PCI_TRY(pci_get(f->query->file, f->names.mapping, group, &mapping, &valid, err));
    if (!valid)
        return PCOL_OK;
    *bits = f->mappings[mapping];
    return PCOL_OK;
}

/* drop_frames on one group: lines go from the innermost to the outermost that matches, unless that
 * is the outermost of all, where the whole group goes. */
static void drop_lines(struct filter *f, uint32_t first, uint32_t end, const uint8_t *bits,
                       uint8_t *group)
{
    uint32_t at = end;
    while (at > first &&
           !((bits[at - 1 - first] & bit(DROP)) && !(bits[at - 1 - first] & bit(KEEP))))
        at--;
    if (at == first)
        return;
    f->drops = 1;
    *group |= at == end ? CUT | BELOW : BELOW;
    if (at < end)
        memset(f->query->kept + first, 0, at - first);
}

/* focus, ignore, hide and show on one group. */
static void look_at_lines(struct filter *f, uint32_t first, uint32_t end, const uint8_t *bits,
                          const uint8_t *named, uint8_t of_mapping, uint8_t *group)
{
    int has_lines = 0;
    uint8_t all = of_mapping;
    for (uint32_t at = first; at < end; at++) {
        uint8_t *kept = &f->query->kept[at];
        if (!*kept)
            continue;
        has_lines |= named[at - first];
        all |= bits[at - first];
        if (f->match[HIDE] && ((of_mapping | bits[at - first]) & bit(HIDE)))
            *kept = 0;
        if (f->match[SHOW] && !((of_mapping | bits[at - first]) & bit(SHOW)) && named[at - first])
            *kept = 0;
        *group |= *kept ? SHOWN : 0;
    }
    /* A group of which nothing is known but its address has no line that could be shown. */
    if (!has_lines && end - first == 1 && f->match[SHOW] && !(bits[0] & bit(SHOW))) {
        f->query->kept[first] = 0;
        *group &= (uint8_t)~SHOWN;
    }
    if (f->match[IGNORE] && (all & bit(IGNORE)))
        *group |= IGNORED;
    else if (!f->match[FOCUS] || (all & bit(FOCUS)))
        *group |= FOCUSED;
}

static pcol_status filter_groups(struct filter *f, pcol_error *err)
{
    const struct pci_stack_table *calls = &f->query->calls;
    uint8_t *bits = pci_malloc((size_t)calls->location_count + 1, 1);
    uint8_t *named = pci_malloc((size_t)calls->location_count + 1, 1);
    pcol_status status = bits && named ? PCOL_OK : pci_fail_memory(err);
    for (uint32_t g = 0; g < calls->group_count && status == PCOL_OK; g++) {
        uint32_t first = calls->first[g], end = calls->first[g + 1];
        uint8_t of_mapping;
        status = mapping_bits(f, g, &of_mapping, err);
        for (uint32_t at = first; at < end && status == PCOL_OK; at++) {
            int has_name = 0;
            status = line_bits(f, at, g, &bits[at - first], &has_name, err);
            named[at - first] = (uint8_t)has_name;
        }
        if (status != PCOL_OK)
            break;
        drop_lines(f, first, end, bits, &f->groups[g]);
        look_at_lines(f, first, end, bits, named, of_mapping, &f->groups[g]);
    }
    pci_free(bits);
    pci_free(named);
    return status;
}

/* ---- stacks */

/* State of a stack from that of its caller and its group. */
static uint8_t state_of(uint8_t caller, uint8_t group)
{
    uint8_t state = caller & (uint8_t)(FOUND | FOCUSED | IGNORED | SHOWN);
    if (caller & (CUT | BELOW))
        return state | CUT; /* cut, and so is what it calls */
    if (!(group & (CUT | BELOW)))
        state |= FOUND;
    else if (caller & FOUND) {
        if (group & CUT)
            return state | CUT;
        state |= BELOW;
    }
    return state | (group & (uint8_t)(FOCUSED | IGNORED | SHOWN));
}

static pcol_status move_weights(struct filter *f, pcol_error *err)
{
    pcol_query *query = f->query;
    const struct pci_stack_table *calls = &query->calls;
    int is_double = query->measure.is_double;
    /* From the back: a joined stack hands over what it has got from those below it. */
    for (uint32_t row = calls->count; f->drops && row-- > 1;) {
        if (!(f->stacks[row] & CUT))
            continue;
        if (pci_amount_add(is_double, &query->weight[calls->parent[row]], query->weight[row]))
            return pci_amount_overflow(query->measure.type, err);
        memset(&query->weight[row], 0, sizeof *query->weight);
    }
    return PCOL_OK;
}

/* Like pprof, filters drop the empty stack; a focus on the name that it is shown with keeps it. */
static pcol_status state_of_empty(struct filter *f, uint8_t *state, pcol_error *err)
{
    uint8_t bits = 0;
    PCI_TRY(test_frame(f, (pcol_str)PCI_NAME(PCI_NAME_NO_STACK), &bits, err));
    *state = (bits & bit(FOCUS)) && !(bits & (bit(IGNORE) | bit(HIDE))) &&
                     (!f->match[SHOW] || (bits & bit(SHOW)))
                 ? FOCUSED | SHOWN
                 : 0;
    return PCOL_OK;
}

static pcol_status filter_stacks(struct filter *f, pcol_error *err)
{
    pcol_query *query = f->query;
    const struct pci_stack_table *calls = &query->calls;
    f->stacks[0] = 0;
    for (uint32_t row = 1; row < calls->count; row++)
        f->stacks[row] = state_of(f->stacks[calls->parent[row]], f->groups[calls->group[row]]);
    PCI_TRY(move_weights(f, err));
    if (f->drops) {
        query->cut = pci_malloc((size_t)calls->count + 1, 1);
        if (!query->cut)
            return pci_fail_memory(err);
        for (uint32_t row = 0; row < calls->count; row++)
            query->cut[row] = f->stacks[row] & CUT;
    }
    if (!f->match[FOCUS] && !f->match[IGNORE] && !f->match[HIDE] && !f->match[SHOW])
        return PCOL_OK;
    query->passes = pci_malloc((size_t)calls->count + 1, 1);
    if (!query->passes)
        return pci_fail_memory(err);
    PCI_TRY(state_of_empty(f, &f->stacks[0], err));
    for (uint32_t row = 0; row < calls->count; row++) {
        uint8_t state = f->stacks[row];
        query->passes[row] = (state & FOCUSED) && !(state & IGNORED) && (state & SHOWN);
        if (!query->passes[row])
            memset(&query->weight[row], 0, sizeof *query->weight);
    }
    return PCOL_OK;
}

/* ---- drop_frames of the sources */

static pcol_status source_text(const pcol_file *file, const struct pci_column *column,
                               uint64_t source, pcol_str *text, pcol_error *err)
{
    int valid;
    *text = (pcol_str){"", 0};
    return column ? pci_get_str(file, column, source, text, &valid, err) : PCOL_OK;
}

/* Whether a source has values of the sample type that is asked about. list: room for all types. */
static pcol_status takes_part(const pcol_query *query, uint64_t source, uint32_t *list, int *part,
                              pcol_error *err)
{
    const struct pci_query_type *measure = &query->measure;
    uint32_t count;
    *part = !query->picks.sources || query->picks.sources[source];
    if (!*part || !measure->column_count)
        return PCOL_OK;
    *part = 0;
    PCI_TRY(pci_types_of(&query->types, source, list, &count, err));
    for (uint32_t i = 0; i < count && !*part; i++)
        for (uint32_t k = 0; k < measure->column_count; k++)
            *part |= list[i] == measure->columns[k];
    return PCOL_OK;
}

/* The patterns of the first source asked about, as pprof keeps those of the first profile where it
 * merges several. Where another one's differ the query says so: a stack that two sources share
 * cannot be cut for one of them only. */
static pcol_status first_drops(pcol_query *query, uint32_t *list, pcol_str *drop, pcol_str *keep,
                               pcol_error *err)
{
    const struct pci_column *drops, *keeps;
    int first = 1;
    *drop = *keep = (pcol_str){"", 0};
    PCI_TRY(pci_want(query->file, "sources", "drop_frames", PCI_TYPES_TEXT, &drops, err));
    PCI_TRY(pci_want(query->file, "sources", "keep_frames", PCI_TYPES_TEXT, &keeps, err));
    for (uint64_t source = 0; drops && source < query->picks.source_count; source++) {
        pcol_str own_drop, own_keep;
        int part;
        PCI_TRY(takes_part(query, source, list, &part, err));
        if (!part)
            continue;
        PCI_TRY(source_text(query->file, drops, source, &own_drop, err));
        PCI_TRY(source_text(query->file, keeps, source, &own_keep, err));
        if (first) {
            *drop = own_drop;
            *keep = own_keep;
            first = 0;
        } else if (pci_str_compare(*drop, own_drop) || pci_str_compare(*keep, own_keep)) {
            query->note =
                "the sources of this sample type differ in their drop_frames; those of the "
                "first one are applied, as pprof does";
            break;
        }
    }
    return PCOL_OK;
}

static pcol_status find_drops(pcol_query *query, pcol_str *drop, pcol_str *keep, pcol_error *err)
{
    uint32_t *list = pci_malloc((size_t)query->types.count + 1, sizeof *list);
    pcol_status status = list ? first_drops(query, list, drop, keep, err) : pci_fail_memory(err);
    pci_free(list);
    return status;
}

/* ---- all */

static int is_given(const char *pattern)
{
    return pattern && *pattern;
}

pcol_status pci_frame_filter_any(pcol_query *query, const pcol_selection *selection, int *any,
                                 pcol_error *err)
{
    pcol_str drop = {"", 0}, keep;
    *any = selection && (is_given(selection->focus) || is_given(selection->ignore) ||
                         is_given(selection->hide) || is_given(selection->show));
    if (!*any && !(selection && selection->keep_dropped))
        PCI_TRY(find_drops(query, &drop, &keep, err));
    *any |= drop.size > 0;
    return PCOL_OK;
}

static pcol_status compile(struct filter *f, int pattern, const char *text, const char *what,
                           pcol_error *err)
{
    return is_given(text) ? pcol_pattern_new(text, strlen(text), what, 0, &f->match[pattern], err)
                          : PCOL_OK;
}

static pcol_status compile_all(struct filter *f, const pcol_selection *selection, pcol_error *err)
{
    pcol_str drop, keep;
    if (!selection || !selection->keep_dropped) {
        PCI_TRY(find_drops(f->query, &drop, &keep, err));
        if (drop.size)
            PCI_TRY(pcol_pattern_new(drop.data, drop.size, "drop_frames of the profile", 1,
                                     &f->match[DROP], err));
        if (drop.size && keep.size)
            PCI_TRY(pcol_pattern_new(keep.data, keep.size, "keep_frames of the profile", 1,
                                     &f->match[KEEP], err));
    }
    if (!selection)
        return PCOL_OK;
    PCI_TRY(compile(f, FOCUS, selection->focus, "--focus", err));
    PCI_TRY(compile(f, IGNORE, selection->ignore, "--ignore", err));
    PCI_TRY(compile(f, HIDE, selection->hide, "--hide", err));
    return compile(f, SHOW, selection->show, "--show", err);
}

static pcol_status apply(struct filter *f, pcol_error *err)
{
    const struct pci_stack_table *calls = &f->query->calls;
    PCI_TRY(pci_stack_table_load(&f->query->calls, err));
    PCI_TRY(pci_names_open(&f->names, f->query->file, err));
    f->names.libraries = 1;
    f->groups = pci_calloc((size_t)calls->group_count + 1, 1);
    f->stacks = pci_calloc((size_t)calls->count + 1, 1);
    f->query->kept = pci_malloc((size_t)calls->location_count + 1, 1);
    if (!f->groups || !f->stacks || !f->query->kept)
        return pci_fail_memory(err);
    memset(f->query->kept, 1, (size_t)calls->location_count + 1);
    PCI_TRY(match_functions(f, err));
    PCI_TRY(match_mappings(f, err));
    PCI_TRY(filter_groups(f, err));
    PCI_TRY(filter_stacks(f, err));
    note_unmatched(f);
    return pci_add_filtered(f->query, err);
}

pcol_status pci_frame_filter(pcol_query *query, const pcol_selection *selection, pcol_error *err)
{
    struct filter f = {.query = query};
    pcol_status status = compile_all(&f, selection, err);
    int any = 0;
    for (int p = 0; p < PATTERNS; p++)
        any |= f.match[p] != NULL;
    if (status == PCOL_OK && any)
        status = apply(&f, err);
    for (int p = 0; p < PATTERNS; p++)
        pcol_pattern_free(f.match[p]);
    pci_names_close(&f.names);
    pci_free(f.functions);
    pci_free(f.mappings);
    pci_free(f.groups);
    pci_free(f.stacks);
    return status;
}

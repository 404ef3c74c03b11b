/*
 * read.c - import of speedscope's JSON, sampled and evented profiles
 *
 * Members come in any order, and `shared` often follows `profiles`: stacks are kept as a call tree
 * of frame numbers, samples as numbers in spill buffers, until the document ends. Each profile
 * becomes a thread. A sampled profile yields a row for each sample, an evented one a row for each
 * interval with open frames. The document is stored with them (formats/document.h), with a compact
 * form of events; stacks and weights follow from the rows.
 *
 * read_values.c reads the arrays of profiles, build_rows.c makes the rows. Tests:
 * tests/roundtrip/json_formats.
 */
#include "formats/speedscope/read.h"

#include "util/alloc.h"

static const char *const members[] = {"type",    "name",    "unit",  "startValue",
                                      "samples", "weights", "events"};

/* ---- profiles ---- */

static pcol_status read_type(struct pci_ss_reader *r, struct pci_ss_current *c, pcol_error *err)
{
    PCI_TRY(pci_json_expect(&r->json, PCI_JSON_STRING, "type", err));
    c->type = pci_json_is(&r->json, "sampled")   ? PCI_SS_TYPE_SAMPLED
              : pci_json_is(&r->json, "evented") ? PCI_SS_TYPE_EVENTED
                                                 : PCI_SS_TYPE_UNKNOWN;
    return c->type ? PCOL_OK
                   : pci_json_fail(&r->json, err,
                                   "the type of a profile must be \"sampled\" or \"evented\"");
}

static pcol_status read_unit(struct pci_ss_reader *r, struct pci_ss_current *c, pcol_error *err)
{
    PCI_TRY(pci_json_expect(&r->json, PCI_JSON_STRING, "unit", err));
    for (c->profile.unit = 0; c->profile.unit < PCI_SPEEDSCOPE_UNITS; c->profile.unit++)
        if (pci_json_is(&r->json, pci_speedscope_units[c->profile.unit].name))
            return PCOL_OK;
    return pci_json_fail(&r->json, err,
                         "the unit of a profile must be none, bytes, nanoseconds, microseconds, "
                         "milliseconds or seconds");
}

static pcol_status read_profile_member(struct pci_ss_reader *r, struct pci_ss_current *c,
                                       pcol_error *err)
{
    struct pci_json *json = &r->json;
    unsigned member = 0;
    while (member < PCI_SS_OTHER && !pci_json_is(json, members[member]))
        member++;
    if (member < PCI_SS_OTHER && c->seen & 1u << member)
        return pci_json_fail(json, err, "the profile has this member twice");
    c->seen |= 1u << member;
    if (member < PCI_SS_SAMPLES || member == PCI_SS_OTHER) {
        PCI_TRY(pci_document_member(&r->document, json, c->node, err));
        if (member == PCI_SS_TYPE)
            return read_type(r, c, err);
        if (member == PCI_SS_UNIT)
            return read_unit(r, c, err);
        if (member == PCI_SS_NAME && json->type == PCI_JSON_STRING)
            return pcol_builder_string(r->builder, json->text.data, json->text.size,
                                       &c->profile.name, err);
        if (member == PCI_SS_START)
            return pci_number_of_token(json, "startValue", &c->profile.start,
                                       &c->profile.start_is_double, err);
        return PCOL_OK;
    }
    if (c->seen & 1u << PCI_SS_EVENTS && c->seen & (1u << PCI_SS_SAMPLES | 1u << PCI_SS_WEIGHTS))
        return pci_json_fail(json, err, "a profile has either events, or samples and weights");
    PCI_TRY(pci_json_next(json, err));
    return member == PCI_SS_SAMPLES   ? pci_ss_read_samples(r, c, err)
           : member == PCI_SS_WEIGHTS ? pci_ss_read_weights(r, c, err)
                                      : pci_ss_read_events(r, c, err);
}

static pcol_status read_members(struct pci_ss_reader *r, struct pci_ss_current *c, pcol_error *err)
{
    int more;
    for (;;) {
        PCI_TRY(pci_json_member(&r->json, &more, err));
        if (!more)
            break;
        PCI_TRY(read_profile_member(r, c, err));
    }
    if (!c->type || !(c->seen & 1u << PCI_SS_UNIT))
        return pci_fail_text(err, PCOL_E_SYNTAX, c->profile.line, c->profile.column,
                             "a profile needs a type and a unit");
    c->profile.evented = c->type == PCI_SS_TYPE_EVENTED;
    PCI_TRY(c->profile.evented ? pci_ss_end_evented(c, err) : pci_ss_end_sampled(r, c, err));
    c->profile.count = pci_ss_sample_count(r) - c->profile.first;
    PCI_TRY(PCI_GROW(r->profiles, r->profile_capacity, r->profile_count + 1, err));
    r->profiles[r->profile_count++] = c->profile;
    return PCOL_OK;
}

static pcol_status read_profile(struct pci_ss_reader *r, uint64_t parent, pcol_error *err)
{
    struct pci_ss_current c = {.others = PCI_NO_NODE,
                               .profile = {.first = pci_ss_sample_count(r),
                                           .first_start = r->starts.count,
                                           .name = PCOL_NONE,
                                           .line = r->json.line,
                                           .column = r->json.column}};
    PCI_TRY(pci_json_expect(&r->json, PCI_JSON_OBJECT, "a profile", err));
    PCI_TRY(pci_document_node(&r->document, parent, NULL, PCI_NODE_OBJECT, &c.node, err));
    pci_number_array_init(&c.at, r->builder);
    pci_number_array_init(&c.frames, r->builder);
    pcol_status status = read_members(r, &c, err);
    pci_number_array_clear(&c.at);
    pci_number_array_clear(&c.frames);
    return status;
}

/* ---- frames ---- */

/* The members of a frame that tables have. */
struct frame {
    uint32_t name, file;
    int64_t line, column;
    unsigned has_line : 1, has_column : 1;
};

static pcol_status read_frame_member(struct pci_ss_reader *r, struct frame *f, pcol_error *err)
{
    struct pci_json *json = &r->json;
    uint32_t *text = pci_json_is(json, "name")   ? &f->name
                     : pci_json_is(json, "file") ? &f->file
                                                 : NULL;
    int is_line = pci_json_is(json, "line"), is_column = pci_json_is(json, "col");
    PCI_TRY(pci_records_key(&r->records, json, err));
    PCI_TRY(pci_json_next(json, err));
    PCI_TRY(pci_records_value(&r->records, json, err));
    if (text && json->type == PCI_JSON_STRING)
        *text = r->records.string;
    else if (text == &f->name)
        return pci_json_expect(json, PCI_JSON_STRING, "the name of a frame", err);
    int64_t number;
    if (is_line && pci_json_whole(json, &number))
        f->has_line = 1, f->line = number;
    if (is_column && pci_json_whole(json, &number))
        f->has_column = 1, f->column = number;
    return PCOL_OK;
}

static pcol_status add_group(struct pci_ss_reader *r, const struct frame *f, pcol_error *err)
{
    struct pci_cell_value column = {f->column, (uint8_t)f->has_column};
    pcol_line line = {.filename = PCOL_NONE};
    pcol_function function = PCOL_INIT(pcol_function);
    pcol_group group = PCOL_INIT(pcol_group);
    function.name = f->name;
    function.system_name = PCOL_NONE;
    function.filename = f->file;
    function.flags = f->has_line ? PCOL_FUNCTION_HAS_START_LINE : 0;
    function.start_line = f->line;
    group.lines = &line;
    group.line_count = 1;
    group.mapping = PCOL_NONE;
    if (f->has_column && r->column == PCOL_NONE)
        PCI_TRY(pci_builder_column(r->builder, PCI_T_FUNCTIONS, "column", PCOL_I64, 0, &r->column,
                                   err));
    PCI_TRY(pci_builder_function(r->builder, 0, &function, &r->column, &column,
                                 f->has_column ? 1 : 0, &line.function, NULL, err));
    PCI_TRY(PCI_GROW(r->groups, r->group_capacity, r->frame_count + 1, err));
    return pci_builder_group(r->builder, 1, &group, NULL, NULL, 0, &r->groups[r->frame_count++],
                             NULL, err);
}

static pcol_status read_frame(struct pci_ss_reader *r, pcol_error *err)
{
    struct frame frame = {.name = PCOL_NONE, .file = PCOL_NONE};
    int more;
    PCI_TRY(pci_json_expect(&r->json, PCI_JSON_OBJECT, "a frame", err));
    PCI_TRY(pci_records_enter(&r->records, &r->json, err));
    for (;;) {
        PCI_TRY(pci_json_member(&r->json, &more, err));
        if (!more)
            break;
        PCI_TRY(read_frame_member(r, &frame, err));
    }
    if (frame.name == PCOL_NONE)
        return pci_json_fail(&r->json, err, "a frame needs a name");
    PCI_TRY(pci_records_leave(&r->records, err));
    return add_group(r, &frame, err);
}

static pcol_status read_frames(struct pci_ss_reader *r, uint64_t parent, pcol_error *err)
{
    int more;
    PCI_TRY(pci_json_next(&r->json, err));
    PCI_TRY(pci_json_expect(&r->json, PCI_JSON_ARRAY, "frames", err));
    PCI_TRY(pci_records_begin(&r->records, &r->document, parent, "frames", err));
    PCI_TRY(pci_records_enter(&r->records, &r->json, err));
    for (;;) {
        PCI_TRY(pci_json_element(&r->json, &more, err));
        if (!more)
            break;
        PCI_TRY(read_frame(r, err));
    }
    PCI_TRY(pci_records_leave(&r->records, err));
    return pci_records_end(&r->records, err);
}

/* From the key `shared`. */
static pcol_status read_shared(struct pci_ss_reader *r, pcol_error *err)
{
    uint64_t node;
    int more;
    pcol_status status = PCOL_OK;
    PCI_TRY(pci_json_next(&r->json, err));
    PCI_TRY(pci_json_expect(&r->json, PCI_JSON_OBJECT, "shared", err));
    PCI_TRY(
        pci_document_node(&r->document, r->document.root, "shared", PCI_NODE_OBJECT, &node, err));
    while (status == PCOL_OK) {
        status = pci_json_member(&r->json, &more, err);
        if (status != PCOL_OK || !more)
            break;
        if (!pci_json_is(&r->json, "frames"))
            status = pci_document_member(&r->document, &r->json, node, err);
        else if (r->has_frames)
            status = pci_json_fail(&r->json, err, "frames are there twice");
        else
            r->has_frames = 1, status = read_frames(r, node, err);
    }
    return status;
}

/* ---- document ---- */

/* A member that tables do not have. */
static pcol_status read_other(struct pci_ss_reader *r, pcol_error *err)
{
    int is_active = pci_json_is(&r->json, "activeProfileIndex");
    PCI_TRY(pci_document_member(&r->document, &r->json, r->document.root, err));
    int64_t number;
    if (is_active && pci_json_whole(&r->json, &number))
        r->active = number;
    return PCOL_OK;
}

/* From the key `profiles`. */
static pcol_status read_profiles(struct pci_ss_reader *r, pcol_error *err)
{
    uint64_t array;
    int more;
    PCI_TRY(pci_json_next(&r->json, err));
    PCI_TRY(pci_json_expect(&r->json, PCI_JSON_ARRAY, "profiles", err));
    PCI_TRY(
        pci_document_node(&r->document, r->document.root, "profiles", PCI_NODE_ARRAY, &array, err));
    for (;;) {
        PCI_TRY(pci_json_element(&r->json, &more, err));
        if (!more)
            return PCOL_OK;
        PCI_TRY(read_profile(r, array, err));
    }
}

static pcol_status read_document(struct pci_ss_reader *r, pcol_error *err)
{
    static const struct pci_json_options options = {PCI_JSON_FINITE, 0};
    pcol_source source = PCOL_INIT(pcol_source);
    int more, profiles = 0, shared = 0;
    PCI_TRY(pci_call_tree_init(&r->tree, err));
    PCI_TRY(pci_json_open(&r->json, r->import->input, &options, err));
    PCI_TRY(pci_import_source(r->import, &source, err));
    PCI_TRY(pci_document_begin(&r->document, r->builder, err));
    PCI_TRY(pci_json_next(&r->json, err));
    PCI_TRY(pci_json_expect(&r->json, PCI_JSON_OBJECT, "a speedscope file", err));
    for (;;) {
        PCI_TRY(pci_json_member(&r->json, &more, err));
        if (!more)
            break;
        int *part = pci_json_is(&r->json, "profiles") ? &profiles
                    : pci_json_is(&r->json, "shared") ? &shared
                                                      : NULL;
        if (part && (*part)++)
            return pci_json_fail(&r->json, err, "the file has this member twice");
        PCI_TRY(part == &profiles ? read_profiles(r, err)
                : part == &shared ? read_shared(r, err)
                                  : read_other(r, err));
    }
    if (!profiles || !shared)
        return pci_json_fail(&r->json, err,
                             "a speedscope file needs the members profiles and shared");
    PCI_TRY(pci_json_finish(&r->json, err));
    return pci_ss_build(r, err);
}

pcol_status pci_speedscope_read(struct pci_import *import, pcol_error *err)
{
    struct pci_ss_reader r = {.import = import, .builder = import->builder, .column = PCOL_NONE};
    pci_spill_init(&r.stacks, &import->builder->store);
    pci_number_array_init(&r.values, import->builder);
    pci_number_array_init(&r.starts, import->builder);
    pcol_status status = read_document(&r, err);
    pci_json_close(&r.json);
    pci_records_clear(&r.records);
    pci_call_tree_clear(&r.tree);
    pci_spill_clear(&r.stacks);
    pci_number_array_clear(&r.values);
    pci_number_array_clear(&r.starts);
    pci_free(r.profiles);
    pci_free(r.groups);
    pci_free(r.path);
    pci_free(r.list);
    return status;
}

int pci_speedscope_sniff(const uint8_t *data, size_t size, int all)
{
    static const char *const texts[] = {"\"$schema\"", "www.speedscope.app/file-format-schema.json",
                                        NULL};
    (void)all;
    return pci_document_begins(data, size, 0, texts) ? 2 : 0;
}

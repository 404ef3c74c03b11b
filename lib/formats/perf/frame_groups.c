/*
 * frame_groups.c - frames of perf script to location groups (frame_groups.h)
 */
#include "formats/perf/frame_groups.h"

#include "builder/builder.h"
#include "builder/rows.h"
#include "util/alloc.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Labels of location groups. */
enum { OFFSET, OBJECT_OFFSET, INLINED, NO_SYMBOL, NO_OBJECT };

static const struct {
    const char *key;
    uint8_t kind;
} group_keys[PCI_PERF_GROUP_LABELS] = {
    [OFFSET] = {"offset", PCI_LABEL_INTEGER},
    [OBJECT_OFFSET] = {"object_offset", PCI_LABEL_INTEGER},
    [INLINED] = {"inlined_offsets", PCI_LABEL_STRING},
    [NO_SYMBOL] = {"no_symbol", PCI_LABEL_BOOL},
    [NO_OBJECT] = {"no_object", PCI_LABEL_BOOL},
};

int pci_perf_is_group_label(pcol_str key, int kind)
{
    for (int i = 0; i < PCI_PERF_GROUP_LABELS; i++)
        if (group_keys[i].kind == kind && pci_str_is(key, group_keys[i].key))
            return 1;
    return 0;
}

pcol_status pci_perf_groups_init(struct pci_perf_groups *groups, pcol_builder *builder,
                                 pcol_error *err)
{
    *groups = (struct pci_perf_groups){.builder = builder};
    for (int i = 0; i < PCI_PERF_GROUP_LABELS; i++)
        groups->label_columns[i] = PCOL_NONE;
    groups->mapping_columns[1] = PCOL_NONE;
    return pci_builder_column(builder, PCI_T_MAPPINGS, "filename", PCOL_STRING, 0,
                              &groups->mapping_columns[0], err);
}

void pci_perf_groups_clear(struct pci_perf_groups *groups)
{
    pci_strbuf_clear(&groups->inlined);
    pci_free(groups->rows);
    pci_free(groups->lines);
    pci_free(groups->objects);
}

pcol_status pci_perf_string(pcol_builder *builder, pcol_str text, uint32_t *code, pcol_error *err)
{
    return pcol_builder_string(builder, text.data, text.size, code, err);
}

pcol_status pci_perf_string_entry(uint32_t **array, size_t *capacity, uint32_t code,
                                  uint32_t **entry, pcol_error *err)
{
    if (code >= *capacity) {
        size_t had = *capacity;
        PCI_TRY(PCI_GROW(*array, *capacity, (size_t)code + 1, err));
        memset(*array + had, 0, (*capacity - had) * sizeof **array);
    }
    *entry = *array + code;
    return PCOL_OK;
}

/* Find or add the mapping of an object. Where addresses are offsets in a file, it has the range of
 * all offsets. */
static pcol_status find_mapping(struct pci_perf_groups *g, uint32_t object, uint32_t *mapping,
                                pcol_error *err)
{
    struct pci_cell_value cells[2] = {{object, 1}, {PCI_ALL_OFFSETS, 1}};
    uint32_t *entry;
    int is_new;
    *mapping = PCOL_NONE;
    if (object == PCOL_NONE)
        return PCOL_OK;
    PCI_TRY(pci_perf_string_entry(&g->objects, &g->object_capacity,
                                  object * 2 + (uint32_t)g->has_offsets, &entry, err));
    if (!*entry) {
        if (g->has_offsets && g->mapping_columns[1] == PCOL_NONE)
            PCI_TRY(pci_builder_column(g->builder, PCI_T_MAPPINGS, "limit", PCOL_U64, 0,
                                       &g->mapping_columns[1], err));
        PCI_TRY(pci_builder_intern(g->builder, PCI_T_MAPPINGS, g->mapping_columns, cells,
                                   g->has_offsets ? 2 : 1, 0, entry, &is_new, err));
        ++*entry;
    }
    *mapping = *entry - 1;
    return PCOL_OK;
}

struct group_cells {
    uint32_t columns[PCI_PERF_GROUP_LABELS];
    struct pci_cell_value cells[PCI_PERF_GROUP_LABELS];
    size_t count;
};

static pcol_status add_cell(struct pci_perf_groups *g, struct group_cells *cells, int label,
                            int64_t bits, pcol_error *err)
{
    uint32_t *column = &g->label_columns[label], key, number;
    if (*column == PCOL_NONE) {
        pcol_str text = {group_keys[label].key, strlen(group_keys[label].key)};
        PCI_TRY(pci_perf_string(g->builder, text, &key, err));
        PCI_TRY(pci_label_key_row(g->builder, PCI_T_GROUPS, key, PCOL_NONE, group_keys[label].kind,
                                  0, &number, err));
        PCI_TRY(pci_label_column(g->builder, number, column, err));
    }
    cells->columns[cells->count] = *column;
    cells->cells[cells->count++] = (struct pci_cell_value){bits, 1};
    return PCOL_OK;
}

static pcol_status find_cells(struct pci_perf_groups *g, struct group_cells *cells, pcol_error *err)
{
    const struct pci_perf_frame *f = &g->frame;
    uint32_t text;
    cells->count = 0;
    if (f->has_offset && !f->inlined)
        PCI_TRY(add_cell(g, cells, OFFSET, (int64_t)f->offset, err));
    if (f->has_object_offset)
        PCI_TRY(add_cell(g, cells, OBJECT_OFFSET, (int64_t)f->object_offset, err));
    if (g->inlined_offset || f->inlined) {
        PCI_TRY(
            pci_perf_string(g->builder, (pcol_str){g->inlined.data, g->inlined.size}, &text, err));
        PCI_TRY(add_cell(g, cells, INLINED, text, err));
    }
    if (!f->in_symbol)
        PCI_TRY(add_cell(g, cells, NO_SYMBOL, 1, err));
    if (!f->in_object && !f->inlined)
        PCI_TRY(add_cell(g, cells, NO_OBJECT, 1, err));
    return PCOL_OK;
}

static pcol_status add_lines(struct pci_perf_groups *g, pcol_line *lines, pcol_error *err)
{
    for (size_t i = 0; i < g->line_count; i++) {
        const struct pci_perf_group_line *line = &g->lines[i];
        pcol_function function = PCOL_INIT(pcol_function);
        lines[i] = (pcol_line){.function = PCOL_NONE, .filename = PCOL_NONE};
        pci_set_flag(&lines[i].flags, PCOL_LINE_HAS_LINE, line->file != PCOL_NONE);
        lines[i].line = line->number;
        if (line->name == PCOL_NONE) {
            lines[i].filename = line->file;
            continue;
        }
        function.name = line->name;
        function.system_name = PCOL_NONE;
        function.filename = line->file;
        PCI_TRY(pcol_builder_function(g->builder, &function, &lines[i].function, err));
    }
    return PCOL_OK;
}

pcol_status pci_perf_groups_end(struct pci_perf_groups *groups, pcol_error *err)
{
    struct pci_perf_groups *g = groups;
    pcol_group group = PCOL_INIT(pcol_group);
    struct group_cells cells;
    pcol_line few[8], *lines = few;
    uint32_t row;
    if (!g->line_count)
        return PCOL_OK;
    if (g->line_count > sizeof few / sizeof *few) {
        PCI_TRY(PCI_MALLOC(lines, g->line_count, err));
    }
    const struct pci_perf_frame *f = &g->frame;
    pcol_status status = add_lines(g, lines, err);
    PCI_THEN(status, find_mapping(g, g->object, &group.mapping, err));
    group.lines = lines;
    group.line_count = g->line_count;
    group.address = f->address;
    pci_set_flag(&group.flags, PCOL_GROUP_HAS_ADDRESS, f->has_address);
    PCI_THEN(status, find_cells(g, &cells, err));
    PCI_THEN(status, pci_builder_group(g->builder, 0, &group, cells.columns, cells.cells,
                                       cells.count, &row, NULL, err));
    if (lines != few)
        pci_free(lines);
    g->line_count = g->inlined_count = g->inlined.size = 0;
    g->is_complete = g->inlined_offset = 0;
    PCI_TRY(status);
    PCI_TRY(PCI_GROW(g->rows, g->capacity, g->count + 1, err));
    g->rows[g->count++] = row;
    return PCOL_OK;
}

static pcol_status add_inlined(struct pci_perf_groups *g, const struct pci_perf_frame *frame,
                               pcol_error *err)
{
    char text[24];
    int size = g->inlined_count++ ? snprintf(text, sizeof text, ",") : 0;
    if (frame->has_offset)
        size += snprintf(text + size, sizeof text - (size_t)size, "%" PRIx64, frame->offset);
    g->inlined_offset |= frame->has_offset;
    return pci_strbuf_append(&g->inlined, text, (size_t)size, err);
}

pcol_status pci_perf_groups_inline(struct pci_perf_groups *groups, pcol_error *err)
{
    groups->frame.inlined = 1;
    groups->is_complete = 0;
    return add_inlined(groups, &groups->frame, err);
}

pcol_status pci_perf_groups_add(struct pci_perf_groups *groups, const struct pci_perf_frame *frame,
                                int in_chain, pcol_error *err)
{
    struct pci_perf_groups *g = groups;
    struct pci_perf_group_line line = {PCOL_NONE, PCOL_NONE, 0};
    if (g->is_complete || (g->line_count && (frame->address != g->frame.address ||
                                             frame->has_address != g->frame.has_address)))
        PCI_TRY(pci_perf_groups_end(g, err));
    if (frame->inlined)
        PCI_TRY(add_inlined(g, frame, err));
    g->addressed |= frame->has_address;
    g->frame = *frame;
    g->is_complete = !frame->inlined;
    g->object = PCOL_NONE;
    g->has_offsets = in_chain && frame->has_object && frame->object.size &&
                     frame->object.data[0] == '/' && frame->has_address &&
                     frame->address < PCI_ALL_OFFSETS; /* else of the kernel */
    if (frame->has_symbol)
        PCI_TRY(pci_perf_string(g->builder, frame->symbol, &line.name, err));
    if (frame->has_object)
        PCI_TRY(pci_perf_string(g->builder, frame->object, &g->object, err));
    PCI_TRY(PCI_GROW(g->lines, g->line_capacity, g->line_count + 1, err));
    g->lines[g->line_count++] = line;
    return PCOL_OK;
}

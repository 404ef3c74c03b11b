/*
 * build_tables.c - builds frames, functions and stacks of the Firefox Profiler for any profile
 *
 * A pcol stack has a group of lines; the front end needs a frame for each, so an inlined call gets
 * a stack row of its own. Only stacks that samples refer to are added, with their callers.
 */
#include "formats/firefox/write_native.h"

#include "util/alloc.h"

static pcol_status new_map(const pcol_file *file, const char *table, uint32_t **map,
                           pcol_error *err)
{
    PCI_TRY(pci_check_row_count(file, table, err));
    return PCI_CALLOC(*map, (size_t)pci_rows(file, table) + 1, err);
}

pcol_status pci_ff_code_tables_open(struct pci_ff_code_tables *code, const pcol_file *file,
                                    int newest, pcol_error *err)
{
    memset(code, 0, sizeof *code);
    code->file = file;
    code->newest = newest;
    PCI_TRY(pci_stacks_open(file, &code->stacks, err));
    PCI_TRY(pci_frame_namer_open(&code->names, file, err));
    PCI_TRY(new_map(file, "stacks", &code->stack_rows, err));
    PCI_TRY(new_map(file, "locations", &code->frame_of, err));
    PCI_TRY(new_map(file, "functions", &code->function_of, err));
    PCI_TRY(new_map(file, "mappings", &code->lib_of, err));
    PCI_TRY(new_map(file, "subcategories", &code->part_of, err));
    return new_map(file, "categories", &code->category_of, err);
}

void pci_ff_code_tables_close(struct pci_ff_code_tables *code)
{
    if (!code->file)
        return;
    pci_frame_namer_close(&code->names);
    pci_string_pool_clear(&code->strings);
    pci_text_memo_clear(&code->long_strings);
    pci_free(code->chain);
    pci_free(code->stack_rows);
    pci_free(code->parents);
    pci_free(code->stack_frames);
    pci_free(code->frames);
    pci_free(code->frame_of);
    pci_free(code->functions);
    pci_free(code->function_of);
    pci_pair_set_clear(&code->function_libs);
    pci_free(code->libs);
    pci_free(code->lib_of);
    pci_free(code->sources);
    pci_free(code->source_of);
    pci_free(code->category_of);
    pci_free(code->part_first);
    pci_free(code->part_of);
    memset(code, 0, sizeof *code);
}

/* ---- libraries and files */

static pcol_status add_lib(struct pci_ff_code_tables *c, uint32_t group, uint32_t *lib,
                           pcol_error *err)
{
    int64_t mapping;
    int valid;
    *lib = PCOL_NONE;
    PCI_TRY(pci_get(c->file, c->names.mapping, group, &mapping, &valid, err));
    if (!valid)
        return PCOL_OK;
    if ((uint64_t)mapping >= pci_rows(c->file, "mappings"))
        return pci_corrupt(err, "location_groups", "mapping", group, "no such mapping");
    if (!c->lib_of[mapping]) {
        PCI_TRY(PCI_GROW(c->libs, c->lib_capacity, c->lib_count + 1, err));
        c->libs[c->lib_count++] = (uint32_t)mapping;
        c->lib_of[mapping] = (uint32_t)c->lib_count;
    }
    *lib = c->lib_of[mapping] - 1;
    return PCOL_OK;
}

static pcol_status add_source(struct pci_ff_code_tables *c, uint32_t file, uint32_t *source,
                              pcol_error *err)
{
    size_t old_capacity = c->source_of_capacity;
    PCI_TRY(PCI_GROW(c->source_of, c->source_of_capacity, (size_t)file + 1, err));
    if (c->source_of_capacity > old_capacity)
        memset(c->source_of + old_capacity, 0,
               (c->source_of_capacity - old_capacity) * sizeof *c->source_of);
    if (!c->source_of[file]) {
        PCI_TRY(PCI_GROW(c->sources, c->source_capacity, c->source_count + 1, err));
        c->sources[c->source_count++] = file;
        c->source_of[file] = (uint32_t)c->source_count;
    }
    *source = c->source_of[file] - 1;
    return PCOL_OK;
}

/* ---- functions and frames */

/* A function of the target has one library, so a row of functions is one for each of its libraries.
 * Each location without a function with a name gets one. */
static pcol_status add_function(struct pci_ff_code_tables *c, const struct pci_name *name,
                                uint64_t location, uint32_t group, uint32_t *function,
                                pcol_error *err)
{
    struct pci_ff_function f = {.row = name->function,
                                .file = PCOL_NONE,
                                .source = PCOL_NONE,
                                .line = name->start_line,
                                .has_line = name->has_start_line};
    int found;
    PCI_TRY(add_lib(c, group, &f.resource, err));
    uint64_t row = name->is_made ? PCOL_NONE : f.row, key = name->is_made ? location : f.resource;
    PCI_TRY(pci_pair_set_add(&c->function_libs, row, key, &found, err));
    *function = pci_pair_set_find(&c->function_libs, row, key);
    if (found)
        return PCOL_OK;
    if (name->is_made || name->has_library)
        PCI_TRY(
            pci_string_pool_intern(&c->strings, name->name.data, name->name.size, &f.name, err));
    else
        PCI_TRY(
            pci_string_pool_intern_stored(&c->strings, &c->long_strings, name->name, &f.name, err));
    if (name->has_filename) {
        PCI_TRY(pci_string_pool_intern_stored(&c->strings, &c->long_strings, name->filename,
                                              &f.file, err));
        PCI_TRY(add_source(c, f.file, &f.source, err));
    }
    PCI_TRY(PCI_GROW(c->functions, c->function_capacity, c->function_count + 1, err));
    c->functions[c->function_count++] = f;
    if (f.row != PCOL_NONE)
        c->function_of[f.row] = *function + 1;
    return PCOL_OK;
}

static pcol_status add_frame(struct pci_ff_code_tables *c, uint64_t location, uint32_t group,
                             uint32_t depth, uint32_t *frame, pcol_error *err)
{
    struct pci_ff_frame f = {location, group, 0, depth};
    struct pci_name name;
    if (!c->frame_of[location]) {
        PCI_TRY(pci_frame_namer_get(&c->names, location, group, &name, err));
        PCI_TRY(add_function(c, &name, location, group, &f.function, err));
        PCI_TRY(PCI_GROW(c->frames, c->frame_capacity, c->frame_count + 1, err));
        c->frames[c->frame_count++] = f;
        c->frame_of[location] = (uint32_t)c->frame_count;
    }
    *frame = c->frame_of[location] - 1;
    return PCOL_OK;
}

/* ---- stacks */

static pcol_status append_stack_row(struct pci_ff_code_tables *c, uint32_t parent, uint32_t frame,
                                    pcol_error *err)
{
    if (c->stack_count >= PCOL_NONE - 1)
        return pci_fail(err, PCOL_E_LOSS, "more than 4294967294 stacks");
    PCI_TRY(PCI_GROW(c->parents, c->parent_capacity, c->stack_count + 1, err));
    PCI_TRY(PCI_GROW(c->stack_frames, c->frame_ref_capacity, c->stack_count + 1, err));
    c->parents[c->stack_count] = parent;
    c->stack_frames[c->stack_count++] = frame;
    return PCOL_OK;
}

/* Mark the callers of used stacks. A caller has a lower row number. */
static pcol_status mark_callers(struct pci_ff_code_tables *c, uint8_t *marked, pcol_error *err)
{
    for (uint64_t row = c->stacks.stacks; row-- > 1;) {
        uint64_t first, count;
        uint32_t parent;
        if (!marked[row])
            continue;
        PCI_TRY(pci_stacks_node(&c->stacks, row, &parent, &first, &count, err));
        marked[parent] = 1;
    }
    return PCOL_OK;
}

/* Add a stack whose caller was added. */
static pcol_status add_stack(struct pci_ff_code_tables *c, uint64_t row, pcol_error *err)
{
    uint64_t first, count;
    int64_t group;
    uint32_t parent, frame = 0;
    PCI_TRY(pci_stacks_node(&c->stacks, row, &parent, &first, &count, err));
    PCI_TRY(pci_get(c->file, c->stacks.group, row, &group, &(int){0}, err));
    uint32_t parent_row = c->stack_rows[parent] - 1; /* PCOL_NONE if the parent is the root */
    for (uint64_t line = count; line-- > 0;) {
        PCI_TRY(
            add_frame(c, first + line, (uint32_t)group, (uint32_t)(count - 1 - line), &frame, err));
        PCI_TRY(append_stack_row(c, parent_row, frame, err));
        PCI_TRY(pci_stacks_check_frames(&c->stacks, c->stack_count, err));
        parent_row = (uint32_t)c->stack_count - 1;
    }
    c->stack_rows[row] = (uint32_t)c->stack_count;
    return PCOL_OK;
}

pcol_status pci_ff_code_tables_add_stack(struct pci_ff_code_tables *code, uint64_t stack,
                                         pcol_error *err)
{
    struct pci_ff_code_tables *c = code;
    size_t count = 0;
    while (stack && !c->stack_rows[stack]) {
        uint64_t first, lines;
        uint32_t parent;
        PCI_TRY(PCI_GROW(c->chain, c->chain_capacity, count + 1, err));
        c->chain[count++] = stack;
        PCI_TRY(pci_stacks_node(&c->stacks, stack, &parent, &first, &lines, err));
        stack = parent; /* a lower row number */
    }
    while (count)
        PCI_TRY(add_stack(c, c->chain[--count], err));
    return PCOL_OK;
}

static pcol_status add_stacks(struct pci_ff_code_tables *c, const uint8_t *marked, pcol_error *err)
{
    for (uint64_t row = 1; row < c->stacks.stacks; row++)
        if (marked[row] && !c->stack_rows[row])
            PCI_TRY(add_stack(c, row, err));
    return PCOL_OK;
}

pcol_status pci_ff_code_tables_add_used(struct pci_ff_code_tables *code, const uint8_t *used,
                                        pcol_error *err)
{
    uint8_t *marked;
    PCI_TRY(PCI_MALLOC(marked, (size_t)code->stacks.stacks + 1, err));
    memcpy(marked, used, (size_t)code->stacks.stacks);
    pcol_status status = mark_callers(code, marked, err);
    PCI_THEN(status, add_stacks(code, marked, err));
    pci_free(marked);
    return status;
}

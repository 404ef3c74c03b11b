/*
 * build_tables.c - the code of any profile as frames, functions and stacks of the Firefox Profiler
 *
 * A node of our tree has a group of lines, the front end one frame for each: an inlined call is a
 * stack row of its own. Only what samples name is taken, callers with it.
 */
#include "formats/firefox/write_native.h"

#include "util/alloc.h"

#include <inttypes.h>
#include <stdio.h>

static pcol_status new_map(const pcol_file *file, const char *table, uint32_t **map,
                           pcol_error *err)
{
    PCI_TRY(pci_plausible(file, table, err));
    *map = pci_calloc((size_t)pci_rows(file, table) + 1, sizeof **map);
    return *map ? PCOL_OK : pci_fail_memory(err);
}

pcol_status pci_ff_code_tables_open(struct pci_ff_code_tables *code, const pcol_file *file,
                                    int newest, pcol_error *err)
{
    memset(code, 0, sizeof *code);
    code->file = file;
    code->newest = newest;
    PCI_TRY(pci_stacks_open(file, &code->stacks, err));
    PCI_TRY(pci_names_open(&code->names, file, err));
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
    pci_names_close(&code->names);
    pci_string_pool_clear(&code->strings);
    pci_free(code->chain);
    pci_free(code->stack_rows);
    pci_free(code->parents);
    pci_free(code->stack_frames);
    pci_free(code->frames);
    pci_free(code->frame_of);
    pci_free(code->functions);
    pci_free(code->function_of);
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

static pcol_status take_lib(struct pci_ff_code_tables *c, uint32_t group, uint32_t *lib,
                            pcol_error *err)
{
    int64_t mapping;
    int valid;
    *lib = PCOL_NONE;
    PCI_TRY(pci_ff_get(c->file, c->names.mapping, group, &mapping, &valid, err));
    if (!valid)
        return PCOL_OK;
    if ((uint64_t)mapping >= pci_rows(c->file, "mappings"))
        return pci_fail_cell(err, PCOL_E_CORRUPT, "location_groups", "mapping", group,
                             "no such mapping");
    if (!c->lib_of[mapping]) {
        if (pci_grow((void **)&c->libs, &c->lib_capacity, c->lib_count + 1, sizeof *c->libs))
            return pci_fail_memory(err);
        c->libs[c->lib_count++] = (uint32_t)mapping;
        c->lib_of[mapping] = (uint32_t)c->lib_count;
    }
    *lib = c->lib_of[mapping] - 1;
    return PCOL_OK;
}

static pcol_status take_source(struct pci_ff_code_tables *c, uint32_t file, uint32_t *source,
                               pcol_error *err)
{
    size_t old = c->source_of_capacity;
    if (pci_grow((void **)&c->source_of, &c->source_of_capacity, (size_t)file + 1,
                 sizeof *c->source_of))
        return pci_fail_memory(err);
    if (c->source_of_capacity > old)
        memset(c->source_of + old, 0, (c->source_of_capacity - old) * sizeof *c->source_of);
    if (!c->source_of[file]) {
        if (pci_grow((void **)&c->sources, &c->source_capacity, c->source_count + 1,
                     sizeof *c->sources))
            return pci_fail_memory(err);
        c->sources[c->source_count++] = file;
        c->source_of[file] = (uint32_t)c->source_count;
    }
    *source = c->source_of[file] - 1;
    return PCOL_OK;
}

/* ---- functions and frames */

static pcol_status take_function(struct pci_ff_code_tables *c, const struct pci_name *name,
                                 uint32_t group, uint32_t *function, pcol_error *err)
{
    struct pci_ff_function f = {.file = PCOL_NONE,
                                .source = PCOL_NONE,
                                .line = name->start_line,
                                .has_line = name->has_start_line};
    if (name->function != PCOL_NONE && c->function_of[name->function]) {
        *function = c->function_of[name->function] - 1;
        return PCOL_OK;
    }
    PCI_TRY(pci_string_pool_intern(&c->strings, name->name.data, name->name.size, &f.name, err));
    if (name->has_filename) {
        PCI_TRY(pci_string_pool_intern(&c->strings, name->filename.data, name->filename.size,
                                       &f.file, err));
        PCI_TRY(take_source(c, f.file, &f.source, err));
    }
    PCI_TRY(take_lib(c, group, &f.resource, err));
    if (pci_grow((void **)&c->functions, &c->function_capacity, c->function_count + 1,
                 sizeof *c->functions))
        return pci_fail_memory(err);
    c->functions[c->function_count++] = f;
    if (name->function != PCOL_NONE)
        c->function_of[name->function] = (uint32_t)c->function_count;
    *function = (uint32_t)c->function_count - 1;
    return PCOL_OK;
}

static pcol_status take_frame(struct pci_ff_code_tables *c, uint64_t location, uint32_t group,
                              uint32_t depth, uint32_t *frame, pcol_error *err)
{
    struct pci_ff_frame f = {location, group, 0, depth};
    struct pci_name name;
    if (!c->frame_of[location]) {
        PCI_TRY(pci_names_get(&c->names, location, group, &name, err));
        PCI_TRY(take_function(c, &name, group, &f.function, err));
        if (pci_grow((void **)&c->frames, &c->frame_capacity, c->frame_count + 1,
                     sizeof *c->frames))
            return pci_fail_memory(err);
        c->frames[c->frame_count++] = f;
        c->frame_of[location] = (uint32_t)c->frame_count;
    }
    *frame = c->frame_of[location] - 1;
    return PCOL_OK;
}

/* ---- stacks */

static pcol_status add_stack(struct pci_ff_code_tables *c, uint32_t parent, uint32_t frame,
                             pcol_error *err)
{
    if (c->stack_count >= PCOL_NONE - 1)
        return pci_fail(err, PCOL_E_LOSS, "more than 4294967294 stacks");
    if (pci_grow((void **)&c->parents, &c->parent_capacity, c->stack_count + 1,
                 sizeof *c->parents) ||
        pci_grow((void **)&c->stack_frames, &c->frame_ref_capacity, c->stack_count + 1,
                 sizeof *c->stack_frames))
        return pci_fail_memory(err);
    c->parents[c->stack_count] = parent;
    c->stack_frames[c->stack_count++] = frame;
    return PCOL_OK;
}

/* Callers of what is used are used; a caller stands before what it calls. */
static pcol_status use_callers(struct pci_ff_code_tables *c, uint8_t *all, pcol_error *err)
{
    for (uint64_t row = c->stacks.stacks; row-- > 1;) {
        uint64_t first, count;
        uint32_t parent;
        if (!all[row])
            continue;
        PCI_TRY(pci_stacks_node(&c->stacks, row, &parent, &first, &count, err));
        all[parent] = 1;
    }
    return PCOL_OK;
}

/* One stack, whose caller has been taken. */
static pcol_status take_stack(struct pci_ff_code_tables *c, uint64_t row, pcol_error *err)
{
    uint64_t first, count;
    int64_t group;
    uint32_t parent, frame = 0;
    PCI_TRY(pci_stacks_node(&c->stacks, row, &parent, &first, &count, err));
    PCI_TRY(pci_get(c->file, c->stacks.group, row, &group, &(int){0}, err));
    uint32_t above = c->stack_rows[parent] - 1; /* the root: PCOL_NONE */
    for (uint64_t line = count; line-- > 0;) {
        PCI_TRY(take_frame(c, first + line, (uint32_t)group, (uint32_t)(count - 1 - line), &frame,
                           err));
        PCI_TRY(add_stack(c, above, frame, err));
        above = (uint32_t)c->stack_count - 1;
    }
    c->stack_rows[row] = (uint32_t)c->stack_count;
    return PCOL_OK;
}

pcol_status pci_ff_code_tables_use(struct pci_ff_code_tables *code, uint64_t stack, pcol_error *err)
{
    struct pci_ff_code_tables *c = code;
    size_t count = 0;
    while (stack && !c->stack_rows[stack]) {
        uint64_t first, lines;
        uint32_t parent;
        if (pci_grow((void **)&c->chain, &c->chain_capacity, count + 1, sizeof *c->chain))
            return pci_fail_memory(err);
        c->chain[count++] = stack;
        PCI_TRY(pci_stacks_node(&c->stacks, stack, &parent, &first, &lines, err));
        stack = parent; /* which stands before it */
    }
    while (count)
        PCI_TRY(take_stack(c, c->chain[--count], err));
    return PCOL_OK;
}

static pcol_status take_stacks(struct pci_ff_code_tables *c, const uint8_t *all, pcol_error *err)
{
    for (uint64_t row = 1; row < c->stacks.stacks; row++)
        if (all[row] && !c->stack_rows[row])
            PCI_TRY(take_stack(c, row, err));
    return PCOL_OK;
}

pcol_status pci_ff_code_tables_take(struct pci_ff_code_tables *code, const uint8_t *used,
                                    pcol_error *err)
{
    uint8_t *all = pci_malloc((size_t)code->stacks.stacks + 1, 1);
    if (!all)
        return pci_fail_memory(err);
    memcpy(all, used, (size_t)code->stacks.stacks);
    pcol_status status = use_callers(code, all, err);
    if (status == PCOL_OK)
        status = take_stacks(code, all, err);
    pci_free(all);
    return status;
}

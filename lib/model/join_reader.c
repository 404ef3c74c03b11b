/*
 * join_reader.c - cells of joined columns (joins.h)
 *
 * The ids of a chunk of rows are read once for all columns that they stand for. Direct-mapped
 * caches keep cells and names by id, since rows of a profile repeat few of them. Texts of stacks
 * follow a path in the call tree: only frames that the previous stack does not have are named.
 * Composed texts are in an arena until it is released; their cache entries then expire. A reader
 * belongs to one thread.
 */
#include "model/frame_names.h"
#include "model/joins.h"
#include "model/stack_path.h"

#include "util/alloc.h"
#include "util/arena.h"
#include "util/control.h"

#include <string.h>

enum { CELLS = 1024, NAMES = 4096, STACKS = 512 }; /* entries of caches */
#define CACHED_ROWS 16u                            /* fewer rows than this are read without */

/* Limit of the text of a stack, and, with a part for each byte of the file, of all texts that are
 * held: stacks and names expand a few bytes to any size. */
#define TEXT_BYTES ((uint64_t)64 << 20)
#define TEXT_BYTES_PER_BYTE 64u

struct cached_cell {
    int64_t id;
    uint8_t has_id, has_bits, has_text, valid;
    int64_t bits; /* number, or code of the text */
    pcol_str text;
};

struct cached_name {
    uint64_t location, epoch; /* epoch 0: none; UINT64_MAX: the text is of the file */
    pcol_str text;
};

struct cached_stack {
    uint64_t stack, epoch;
    pcol_str text;
};

struct pci_join_reader {
    const pcol_table *table;
    struct pci_arena texts;
    uint64_t epoch; /* number of releases of the texts, from 1 */
    const pcol_column *ids_of;
    uint64_t ids_row;
    size_t ids_count;
    int64_t ids[PCI_BATCH];
    uint8_t has_id[PCI_BATCH];
    struct cached_cell **cells; /* by column; NULL: not cached */
    int has_frames;
    struct pci_frame_namer namer;
    struct pci_stack_path path;
    struct cached_name *names;
    struct cached_stack *stacks;
    char *text; /* of the path */
    size_t text_capacity;
    size_t *ends; /* of the text of each node */
    size_t end_capacity;
};

pcol_status pci_join_reader_open(const pcol_table *table, struct pci_join_reader **reader,
                                 pcol_error *err)
{
    struct pci_join_reader *r;
    PCI_TRY(PCI_CALLOC(r, 1, err));
    *reader = r;
    r->table = table;
    r->epoch = 1;
    return PCI_CALLOC(r->cells, table->column_count, err);
}

void pci_join_reader_close(struct pci_join_reader *reader)
{
    if (!reader)
        return;
    for (uint32_t i = 0; reader->cells && i < reader->table->column_count; i++)
        pci_free(reader->cells[i]);
    pci_frame_namer_close(&reader->namer);
    pci_stack_path_close(&reader->path);
    pci_arena_clear(&reader->texts);
    pci_free(reader->cells);
    pci_free(reader->names);
    pci_free(reader->stacks);
    pci_free(reader->text);
    pci_free(reader->ends);
    pci_free(reader);
}

uint64_t pci_join_text_bytes(const struct pci_join_reader *reader)
{
    return reader->texts.total;
}

void pci_join_release_texts(struct pci_join_reader *reader)
{
    pci_arena_clear(&reader->texts);
    reader->epoch++;
}

/* ---- ids */

static pcol_status read_ids(const struct pci_rows *rows, const pcol_column *column, uint64_t row,
                            size_t count, pcol_error *err)
{
    struct pci_join_reader *r = rows->joins;
    const pcol_column *ids = column->join->ids;
    if (r->ids_of == ids && r->ids_row == row && r->ids_count == count)
        return PCOL_OK;
    r->ids_of = NULL;
    PCI_TRY(pci_rows_read_bits(rows, ids, row, count, r->ids, r->has_id, err));
    r->ids_of = ids;
    r->ids_row = row;
    r->ids_count = count;
    return PCOL_OK;
}

static pcol_status fail_id(const pcol_column *column, uint64_t row, int64_t id, pcol_error *err)
{
    return pci_corrupt(err, column->table->name, column->join->ids->name, row,
                       "there is no row with the id %lld", (long long)id);
}

/* ---- composed texts */

/* A copy that is valid until the texts are released. */
static pcol_status keep_text(struct pci_join_reader *r, const pcol_column *column, uint64_t row,
                             pcol_str *text, pcol_error *err)
{
    uint64_t most = pci_file_limit(r->table->file, TEXT_BYTES, TEXT_BYTES_PER_BYTE);
    char *copy;
    if (text->size > most || r->texts.total > most - text->size)
        return pci_fail_cell(err, PCOL_E_LIMIT, column->table->name, column->name, row,
                             "the texts of this column take implausibly many bytes");
    PCI_TRY(pci_work(text->size, err));
    PCI_TRY(pci_arena_alloc(&r->texts, text->size + 1, &copy, err));
    if (text->size)
        memcpy(copy, text->data, text->size);
    copy[text->size] = '\0';
    text->data = copy;
    return PCOL_OK;
}

static pcol_status open_frames(struct pci_join_reader *r, pcol_error *err)
{
    const pcol_file *file = r->table->file;
    if (r->has_frames)
        return PCOL_OK;
    /* Rows may be read any number of times. */
    r->path.written =
        (struct pci_written_stacks){.most = PCI_WRITTEN_FRAMES, .input_bytes = UINT64_MAX};
    PCI_TRY(pci_stacks_open(file, &r->path.tree, err));
    PCI_TRY(pci_frame_namer_open(&r->namer, file, err));
    r->namer.libraries = 1;
    r->has_frames = 1;
    return PCOL_OK;
}

/* The name of the frame of a location. group: UINT64_MAX: not known. */
static pcol_status name_frame(struct pci_join_reader *r, const pcol_column *column, uint64_t row,
                              uint64_t location, uint64_t group, pcol_str *text, pcol_error *err)
{
    struct cached_name *cached = r->names ? &r->names[location % NAMES] : NULL;
    struct pci_name name;
    if (cached && cached->location == location && cached->epoch >= r->epoch) {
        *text = cached->text;
        return PCOL_OK;
    }
    if (group == UINT64_MAX)
        PCI_TRY(pci_stacks_group_of(&r->path.tree, location, &group, err));
    PCI_TRY(pci_frame_namer_get(&r->namer, location, (uint32_t)group, &name, err));
    *text = name.name;
    int is_made = name.is_made || name.has_library;
    if (is_made)
        PCI_TRY(keep_text(r, column, row, text, err));
    if (cached)
        *cached = (struct cached_name){location, is_made ? r->epoch : UINT64_MAX, *text};
    return PCOL_OK;
}

static pcol_status append(struct pci_join_reader *r, const pcol_column *column, uint64_t row,
                          size_t *used, pcol_str text, pcol_error *err)
{
    if (text.size > TEXT_BYTES || *used > TEXT_BYTES - text.size)
        return pci_fail_cell(err, PCOL_E_LIMIT, column->table->name, column->name, row,
                             "the names of the frames of this stack take implausibly many bytes");
    PCI_TRY(pci_work(text.size, err));
    PCI_TRY(PCI_GROW(r->text, r->text_capacity, *used + text.size, err));
    if (text.size)
        memcpy(r->text + *used, text.data, text.size);
    *used += text.size;
    return PCOL_OK;
}

/* Moves the path and its text to a stack; *size receives the length of the text. */
static pcol_status move_path(struct pci_join_reader *r, const pcol_column *column, uint64_t row,
                             uint64_t stack, size_t *size, pcol_error *err)
{
    PCI_TRY(pci_stack_path_to(&r->path, stack, err));
    PCI_TRY(PCI_GROW(r->ends, r->end_capacity, r->path.depth + 1, err));
    *size = r->path.common_depth ? r->ends[r->path.common_depth - 1] : 0;
    for (size_t depth = r->path.common_depth; depth < r->path.depth; depth++) {
        const struct pci_stack_step *step = &r->path.steps[depth];
        for (uint64_t line = step->count; line-- > 0;) {
            pcol_str name;
            if (*size)
                PCI_TRY(append(r, column, row, size, (pcol_str){";", 1}, err));
            PCI_TRY(name_frame(r, column, row, step->first + line, step->group, &name, err));
            PCI_TRY(append(r, column, row, size, name, err));
        }
        r->ends[depth] = *size;
    }
    return PCOL_OK;
}

static pcol_status compose_stack(struct pci_join_reader *r, const pcol_column *column, uint64_t row,
                                 uint64_t stack, pcol_str *text, pcol_error *err)
{
    struct cached_stack *cached = r->stacks ? &r->stacks[stack % STACKS] : NULL;
    size_t size;
    *text = (pcol_str)PCI_NAME(PCI_NAME_NO_STACK);
    if (!stack)
        return PCOL_OK;
    if (cached && cached->stack == stack && cached->epoch == r->epoch) {
        *text = cached->text;
        return PCOL_OK;
    }
    PCI_TRY(move_path(r, column, row, stack, &size, err));
    *text = (pcol_str){r->text, size};
    PCI_TRY(keep_text(r, column, row, text, err));
    if (cached)
        *cached = (struct cached_stack){stack, r->epoch, *text};
    return PCOL_OK;
}

/* Allocates the caches of names once there are rows to repeat them. */
static pcol_status open_caches(struct pci_join_reader *r, size_t count, pcol_error *err)
{
    if (count < CACHED_ROWS)
        return PCOL_OK;
    if (!r->names)
        PCI_TRY(PCI_CALLOC(r->names, NAMES, err));
    return r->stacks ? PCOL_OK : PCI_CALLOC(r->stacks, STACKS, err);
}

static pcol_status compose(struct pci_join_reader *r, const pcol_column *column, uint64_t row,
                           size_t count, pcol_str *values, uint8_t *valid, pcol_error *err)
{
    const struct pci_join *join = column->join;
    if (join->kind == PCI_JOIN_STACK) /* the path has memory for each node */
        PCI_TRY(pci_check_row_count(r->table->file, "stacks", err));
    PCI_TRY(open_frames(r, err));
    PCI_TRY(open_caches(r, count, err));
    for (size_t i = 0; i < count; i++) {
        uint64_t at = join->by_row ? row + i : (uint64_t)(r->ids[i] - join->first_id);
        values[i] = (pcol_str){"", 0};
        valid[i] = r->has_id[i];
        if (!valid[i])
            continue;
        if (join->rows)
            at = join->rows[at];
        if (at >= (join->kind == PCI_JOIN_STACK ? r->path.tree.stacks : r->path.tree.locations))
            return fail_id(column, row + i, r->ids[i], err);
        if (join->kind == PCI_JOIN_STACK)
            PCI_TRY(compose_stack(r, column, row + i, at, &values[i], err));
        else
            PCI_TRY(name_frame(r, column, row + i, at, UINT64_MAX, &values[i], err));
    }
    return PCOL_OK;
}

/* ---- cells of other tables */

enum what { BITS, CODE, TEXT };

static pcol_status read_target(const pcol_column *target, uint64_t row, enum what what,
                               struct cached_cell *cell, pcol_error *err)
{
    if (what == TEXT)
        return target->str(target, row, 1, &cell->text, &cell->valid, err);
    return (what == CODE ? target->codes : target->bits)(target, row, 1, &cell->bits, &cell->valid,
                                                         err);
}

static pcol_status is_empty(const pcol_column *target, enum what what,
                            const struct cached_cell *cell, int *empty, pcol_error *err)
{
    pcol_str text = cell->text;
    if (what == CODE)
        PCI_TRY(pci_string(target->table->file, (uint64_t)cell->bits, &text, err));
    *empty = what != BITS && !text.size;
    return PCOL_OK;
}

/* Reads the cell that the paths lead to from an id: the first that is neither null nor an empty
 * text, else the first that is not null. The other of bits and text stays. */
static pcol_status follow(const pcol_column *column, uint64_t row, int64_t id, enum what what,
                          struct cached_cell *cell, pcol_error *err)
{
    const struct pci_join *join = column->join;
    struct cached_cell first = {0};
    int empty = 1;
    for (size_t i = 0; i < PCI_JOIN_PATHS && empty; i++) {
        const struct pci_join_path *path = &join->paths[i];
        uint64_t at = (uint64_t)(id - join->first_id);
        uint8_t has_row = 1;
        if (!path->cell)
            continue;
        if (at >= (path->via ? path->via : path->cell)->table->rows)
            return fail_id(column, row, id, err);
        if (path->via) {
            int64_t further;
            PCI_TRY(path->via->bits(path->via, at, 1, &further, &has_row, err));
            at = (uint64_t)further - 1;
            if (has_row && at >= path->cell->table->rows)
                return fail_id(column, row, id, err);
        }
        cell->valid = 0;
        if (has_row)
            PCI_TRY(read_target(path->cell, at, what, cell, err));
        if (cell->valid)
            PCI_TRY(is_empty(path->cell, what, cell, &empty, err));
        if (cell->valid && empty && !first.valid)
            first = *cell;
    }
    if (!empty)
        return PCOL_OK;
    cell->valid = first.valid;
    if (first.valid && what == TEXT)
        cell->text = first.text;
    else if (first.valid)
        cell->bits = first.bits;
    return PCOL_OK;
}

/* The cells of a chunk; `bits` or `texts` receives them. */
static pcol_status look_up(struct pci_join_reader *r, const pcol_column *column, uint64_t row,
                           size_t count, enum what what, int64_t *bits, pcol_str *texts,
                           uint8_t *valid, pcol_error *err)
{
    struct cached_cell **cells = &r->cells[column->index], single;
    if (!*cells && count >= CACHED_ROWS)
        PCI_TRY(PCI_CALLOC(*cells, CELLS, err));
    for (size_t i = 0; i < count; i++) {
        int64_t id = r->ids[i];
        struct cached_cell *cell = *cells ? &(*cells)[(uint64_t)id % CELLS] : &single;
        int is_known = *cells && cell->has_id && cell->id == id;
        valid[i] = 0;
        if (r->has_id[i] && !(is_known && (what == TEXT ? cell->has_text : cell->has_bits))) {
            if (!is_known)
                *cell = (struct cached_cell){.id = id, .has_id = 1};
            PCI_TRY(follow(column, row + i, id, what, cell, err));
            *(what == TEXT ? &cell->has_text : &cell->has_bits) = 1;
        }
        if (r->has_id[i])
            valid[i] = cell->valid;
        if (bits)
            bits[i] = valid[i] ? cell->bits : 0;
        if (texts)
            texts[i] = valid[i] ? cell->text : (pcol_str){"", 0};
    }
    return PCOL_OK;
}

/* ---- interface */

pcol_status pci_join_read_bits(const struct pci_rows *rows, const pcol_column *column, uint64_t row,
                               size_t count, int64_t *values, uint8_t *valid, pcol_error *err)
{
    PCI_TRY(read_ids(rows, column, row, count, err));
    return look_up(rows->joins, column, row, count, BITS, values, NULL, valid, err);
}

pcol_status pci_join_read_codes(const struct pci_rows *rows, const pcol_column *column,
                                uint64_t row, size_t count, int64_t *codes, uint8_t *valid,
                                pcol_error *err)
{
    PCI_TRY(read_ids(rows, column, row, count, err));
    return look_up(rows->joins, column, row, count, CODE, codes, NULL, valid, err);
}

pcol_status pci_join_read_str(const struct pci_rows *rows, const pcol_column *column, uint64_t row,
                              size_t count, pcol_str *values, uint8_t *valid, pcol_error *err)
{
    PCI_TRY(read_ids(rows, column, row, count, err));
    if (column->is_composed)
        return compose(rows->joins, column, row, count, values, valid, err);
    return look_up(rows->joins, column, row, count, TEXT, NULL, values, valid, err);
}

static pcol_status verify_frames(const pcol_file *file, pcol_error *err)
{
    struct pci_stacks tree;
    struct pci_frame_namer namer;
    PCI_TRY(pci_stacks_open(file, &tree, err));
    PCI_TRY(pci_stacks_verify(&tree, err));
    PCI_TRY(pci_frame_namer_open(&namer, file, err));
    pci_frame_namer_close(&namer);
    return PCOL_OK;
}

pcol_status pci_join_verify(const pcol_column *column, pcol_error *err)
{
    const struct pci_join *join = column->join;
    PCI_TRY(pci_verify_column(join->ids, err));
    for (size_t i = 0; i < PCI_JOIN_PATHS; i++) {
        const pcol_column *columns[] = {join->paths[i].via, join->paths[i].cell};
        for (size_t k = 0; k < 2; k++)
            if (columns[k])
                PCI_TRY(pci_verify_column(columns[k], err));
    }
    return column->is_composed ? verify_frames(column->table->file, err) : PCOL_OK;
}

pcol_status pci_join_is_of_pool(const pcol_file *file, int *yes, pcol_error *err)
{
    struct pci_frame_namer namer;
    PCI_TRY(pci_frame_namer_open(&namer, file, err));
    const struct pci_column *const texts[] = {namer.filename, namer.name, namer.function_file,
                                              namer.mapping_file};
    *yes = 1;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        *yes &= !texts[i] || texts[i]->desc->type == PCF_STRING;
    pci_frame_namer_close(&namer);
    return PCOL_OK;
}

/*
 * stacks.c - the call tree of a file as arrays, and the names of its locations
 *
 * A row of `stacks` has a parent and a group of locations; rows of a group are its inlined calls,
 * innermost first. Names are interned in a hash table, then sorted, so that the order of their
 * numbers is the order of the texts. Bytes that are not UTF-8, and NUL, are shown as \xNN: members
 * of an ENUM are texts that C can end. Tests: sql/tests.
 */
#include "extension.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 4096 };

static pcol_status no_memory(pcol_error *err)
{
    return pcol_error_set(err, PCOL_E_NO_MEMORY, 0, NULL);
}

/* ---- interning */

struct interning {
    char *bytes;
    size_t used, capacity;
    struct interned {
        size_t offset, size;
    } * list;
    uint32_t count;
    uint32_t *slots; /* number + 1 */
    uint32_t slot_count;
};

static uint64_t hash_bytes(const char *data, size_t size)
{
    uint64_t hash = 14695981039346656037u; /* FNV-1a */
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ (unsigned char)data[i]) * 1099511628211u;
    return hash ^ hash >> 29;
}

static int grow_slots(struct interning *t)
{
    uint32_t count = t->slot_count == 0 ? 1024 : 2 * t->slot_count;
    uint32_t *slots = calloc(count, sizeof *slots);
    struct interned *list = realloc(t->list, count * sizeof *list);
    if (list != NULL)
        t->list = list;
    if (slots == NULL || list == NULL || count > 1u << 30) {
        free(slots);
        return 0;
    }
    for (uint32_t i = 0; i < t->count; i++) {
        uint64_t at = hash_bytes(t->bytes + list[i].offset, list[i].size) & (count - 1);
        while (slots[at] != 0)
            at = (at + 1) & (count - 1);
        slots[at] = i + 1;
    }
    free(t->slots);
    t->slots = slots;
    t->slot_count = count;
    return 1;
}

/* Reserves @size bytes and a NUL after the interned texts. */
static int reserve(struct interning *t, size_t size)
{
    if (size < t->capacity - t->used)
        return 1;
    size_t capacity = 2 * t->capacity + size + 1024;
    char *bytes = capacity > size ? realloc(t->bytes, capacity) : NULL;
    if (bytes == NULL)
        return 0;
    t->bytes = bytes;
    t->capacity = capacity;
    return 1;
}

/* The number of the text of @size bytes after the interned ones; PCOL_NONE: out of memory. */
static uint32_t intern_next(struct interning *t, size_t size)
{
    if (2 * (uint64_t)t->count >= t->slot_count && !grow_slots(t))
        return PCOL_NONE;
    char *text = t->bytes + t->used;
    uint64_t at = hash_bytes(text, size) & (t->slot_count - 1);
    for (; t->slots[at] != 0; at = (at + 1) & (t->slot_count - 1)) {
        const struct interned *known = &t->list[t->slots[at] - 1];
        if (known->size == size && memcmp(t->bytes + known->offset, text, size) == 0)
            return t->slots[at] - 1;
    }
    text[size] = '\0';
    t->list[t->count] = (struct interned){t->used, size};
    t->used += size + 1;
    t->slots[at] = ++t->count;
    return t->count - 1;
}

/* Copies the text first: its memory changes if the file is cut. PCOL_NONE: out of memory. */
static uint32_t intern(struct interning *t, pcol_str text)
{
    int has_nul;
    if (!reserve(t, text.size))
        return PCOL_NONE;
    char *own = t->bytes + t->used;
    if (text.size > 0)
        memcpy(own, text.data, text.size);
    if (sql_is_utf8((pcol_str){own, text.size}, &has_nul) && !has_nul)
        return intern_next(t, text.size);
    if (text.size > SIZE_MAX / 8 || !reserve(t, 5 * text.size))
        return PCOL_NONE;
    own = t->bytes + t->used;
    const char *from = memmove(own + 4 * text.size, own, text.size);
    size_t used = 0; /* at most 4 for each byte read, so that none is overwritten before */
    for (size_t i = 0; i < text.size; i++) {
        unsigned char byte = (unsigned char)from[i];
        if (byte != 0 && byte < 0x80)
            own[used++] = (char)byte;
        else
            used += (size_t)snprintf(own + used, 5, "\\x%02x", (unsigned)byte);
    }
    return intern_next(t, used);
}

struct numbered {
    pcol_str text;
    uint32_t number;
};

static int compare_texts(const void *a, const void *b)
{
    const struct numbered *x = a, *y = b;
    size_t shorter = x->text.size < y->text.size ? x->text.size : y->text.size;
    int order = memcmp(x->text.data, y->text.data, shorter);
    return order != 0 ? order : x->text.size < y->text.size ? -1 : x->text.size > y->text.size;
}

/* Makes a dictionary of the texts and of @count codes in the order of interning; both are taken. */
static int finish(struct interning *t, uint32_t *codes, uint64_t count, struct dictionary *d)
{
    struct numbered *list = malloc((t->count + (size_t)1) * sizeof *list);
    uint32_t *order = malloc((t->count + (size_t)1) * sizeof *order);
    *d = (struct dictionary){t->bytes, malloc((t->count + (size_t)1) * sizeof *d->texts), t->count,
                             codes};
    int is_made = list != NULL && order != NULL && d->texts != NULL;
    for (uint32_t i = 0; i < t->count && is_made; i++)
        list[i] = (struct numbered){{t->bytes + t->list[i].offset, t->list[i].size}, i};
    if (is_made && t->count > 0)
        qsort(list, t->count, sizeof *list, compare_texts);
    for (uint32_t i = 0; i < t->count && is_made; i++) {
        d->texts[i] = list[i].text;
        order[list[i].number] = i;
    }
    for (uint64_t i = 0; i < count && is_made; i++)
        codes[i] = codes[i] == PCOL_NONE ? PCOL_NONE : order[codes[i]];
    free(list);
    free(order);
    free(t->slots);
    free(t->list);
    return is_made;
}

/* ---- reading columns */

static const pcol_column *find(const pcol_file *file, pcol_model model, const char *table,
                               const char *column, uint64_t *rows, pcol_status *status,
                               pcol_error *err)
{
    const pcol_table *found;
    *rows = 0;
    *status = pcol_file_table_by_name(file, model, table, &found, err);
    if (*status == PCOL_E_NOT_FOUND)
        *status = PCOL_OK; /* no rows */
    else if (*status == PCOL_OK) {
        *rows = pcol_table_rows(found);
        return pcol_table_column_by_name(found, column, NULL);
    }
    return NULL;
}

/* A column of row numbers as an array of @rows + 1 numbers; a null is PCOL_NONE. */
static pcol_status read_numbers(const pcol_column *column, uint64_t rows, uint32_t **numbers,
                                pcol_error *err)
{
    int64_t values[CHUNK];
    uint8_t valid[CHUNK];
    *numbers = malloc((rows + 1) * sizeof **numbers);
    if (*numbers == NULL)
        return no_memory(err);
    for (uint64_t row = 0; row < rows; row += CHUNK) {
        size_t count = rows - row < CHUNK ? (size_t)(rows - row) : CHUNK;
        memset(valid, 0, sizeof valid);
        if (column != NULL) {
            pcol_status status = pcol_column_read_i64(column, row, count, values, valid, err);
            if (status != PCOL_OK)
                return status;
        }
        for (size_t i = 0; i < count; i++)
            (*numbers)[row + i] = valid[i] ? (uint32_t)values[i] : PCOL_NONE;
    }
    return PCOL_OK;
}

static pcol_status read_arrays(const pcol_file *file, struct stacks *s, pcol_error *err)
{
    pcol_status status;
    const pcol_column *column =
        find(file, PCOL_MODEL_PHYSICAL, "stacks", "parent", &s->stack_count, &status, err);
    if (status == PCOL_OK)
        status = read_numbers(column, s->stack_count, &s->parents, err);
    if (status == PCOL_OK)
        column = find(file, PCOL_MODEL_PHYSICAL, "stacks", "group", &s->stack_count, &status, err);
    if (status == PCOL_OK)
        status = read_numbers(column, s->stack_count, &s->groups, err);
    if (status == PCOL_OK)
        column = find(file, PCOL_MODEL_PHYSICAL, "location_groups", "first_location",
                      &s->group_count, &status, err);
    if (status == PCOL_OK && column == NULL)
        s->group_count = s->location_count; /* one location each */
    if (status == PCOL_OK)
        status = read_numbers(column, s->group_count, &s->first_locations, err);
    for (uint64_t i = 0; status == PCOL_OK && column == NULL && i < s->group_count; i++)
        s->first_locations[i] = (uint32_t)i;
    if (status == PCOL_OK)
        s->first_locations[s->group_count] = (uint32_t)s->location_count;
    return status;
}

/* Invariants of later code: parents precede, groups and locations exist. */
static pcol_status check_tree(const struct stacks *s, pcol_error *err)
{
    const char *text = NULL;
    for (uint64_t i = 1; i < s->stack_count && text == NULL; i++)
        if (s->parents[i] >= i || s->groups[i] >= s->group_count)
            text = "stacks: a row refers to no row before it, or to no location group";
    for (uint64_t i = 0; i < s->group_count && text == NULL; i++)
        if (s->first_locations[i] > s->first_locations[i + 1] ||
            s->first_locations[i + 1] > s->location_count)
            text = "location_groups: locations are not in order";
    return text == NULL ? PCOL_OK : pcol_error_set(err, PCOL_E_CORRUPT, 0, "%s", text);
}

static pcol_status find_leaves(struct stacks *s, pcol_error *err)
{
    s->leaves = malloc((s->stack_count + 1) * sizeof *s->leaves);
    if (s->leaves == NULL)
        return no_memory(err);
    s->leaves[0] = PCOL_NONE;
    for (uint64_t i = 1; i < s->stack_count; i++) {
        const uint32_t *first = &s->first_locations[s->groups[i]];
        s->leaves[i] = first[0] < first[1] ? first[0] : s->leaves[s->parents[i]];
    }
    return PCOL_OK;
}

static void free_tree(struct stacks *s)
{
    free(s->parents);
    free(s->groups);
    free(s->first_locations);
    free(s->leaves);
    s->parents = s->groups = s->first_locations = s->leaves = NULL;
}

pcol_status stacks_read_tree(const pcol_file *file, struct stacks *s, pcol_error *err)
{
    pcol_status status = read_arrays(file, s, err);
    if (status == PCOL_OK)
        status = check_tree(s, err);
    if (status == PCOL_OK)
        status = find_leaves(s, err);
    if (status != PCOL_OK)
        free_tree(s);
    s->has_tree = status == PCOL_OK;
    return status;
}

/* ---- names of locations */

static pcol_status read_names(const pcol_file *file, struct stacks *s, pcol_error *err)
{
    struct interning t = {0};
    pcol_names *names = NULL;
    uint32_t *codes = malloc((s->location_count + 1) * sizeof *codes);
    pcol_status status = codes == NULL ? no_memory(err) : pcol_names_new(file, &names, err);
    for (uint64_t row = 0; row < s->location_count && status == PCOL_OK; row++) {
        pcol_str name;
        status = pcol_names_location(names, row, &name, err);
        if (status == PCOL_OK && (codes[row] = intern(&t, name)) == PCOL_NONE)
            status = no_memory(err);
    }
    pcol_names_free(names);
    if (status == PCOL_OK) {
        codes[s->location_count] = intern(&t, (pcol_str){"<no stack>", strlen("<no stack>")});
        if (codes[s->location_count] == PCOL_NONE)
            status = no_memory(err);
    }
    uint64_t count = status == PCOL_OK ? s->location_count + 1 : 0;
    if (!finish(&t, codes, count, &s->names) && status == PCOL_OK)
        status = no_memory(err);
    if (status == PCOL_OK)
        s->no_stack = codes[s->location_count];
    return status;
}

/* The file of a location: that of its function, else its own. */
static pcol_status read_file(const pcol_column *function, const pcol_column *of_function,
                             const pcol_column *own, uint64_t row, pcol_str *text, uint8_t *valid,
                             pcol_error *err)
{
    int64_t id = 0;
    uint8_t has_function = 0;
    pcol_status status = PCOL_OK;
    *valid = 0;
    if (function != NULL)
        status = pcol_column_read_i64(function, row, 1, &id, &has_function, err);
    if (status == PCOL_OK && has_function && of_function != NULL && id > 0)
        status = pcol_column_read_str(of_function, (uint64_t)id - 1, 1, text, valid, err);
    else if (status == PCOL_OK && own != NULL)
        status = pcol_column_read_str(own, row, 1, text, valid, err);
    return status;
}

static pcol_status read_files(const pcol_file *file, struct stacks *s, pcol_error *err)
{
    struct interning t = {0};
    uint64_t rows;
    pcol_status status;
    const pcol_column *own = NULL, *of_function = NULL;
    const pcol_column *function =
        find(file, PCOL_MODEL_V2, "locations", "function_id", &rows, &status, err);
    if (status == PCOL_OK)
        own = find(file, PCOL_MODEL_V2, "locations", "filename", &rows, &status, err);
    if (status == PCOL_OK)
        of_function = find(file, PCOL_MODEL_V2, "functions", "filename", &rows, &status, err);
    uint32_t *codes = malloc((s->location_count + 1) * sizeof *codes);
    if (status == PCOL_OK && codes == NULL)
        status = no_memory(err);
    for (uint64_t row = 0; row < s->location_count && status == PCOL_OK; row++) {
        pcol_str text = {NULL, 0};
        uint8_t valid;
        status = read_file(function, of_function, own, row, &text, &valid, err);
        if (status == PCOL_OK) {
            codes[row] = valid ? intern(&t, text) : PCOL_NONE;
            if (valid && codes[row] == PCOL_NONE)
                status = no_memory(err);
        }
    }
    if (!finish(&t, codes, status == PCOL_OK ? s->location_count : 0, &s->files) &&
        status == PCOL_OK)
        status = no_memory(err);
    return status;
}

static pcol_status read_lines(const pcol_file *file, struct stacks *s, pcol_error *err)
{
    uint64_t rows;
    pcol_status status;
    const pcol_column *line = find(file, PCOL_MODEL_V2, "locations", "line", &rows, &status, err);
    s->lines = calloc(s->location_count + 1, sizeof *s->lines);
    s->has_line = calloc(s->location_count + 1, 1);
    if (status == PCOL_OK && (s->lines == NULL || s->has_line == NULL))
        status = no_memory(err);
    if (status == PCOL_OK && line != NULL && s->location_count > 0)
        status = pcol_column_read_i64(line, 0, s->location_count, s->lines, s->has_line, err);
    return status;
}

pcol_status stacks_read(const pcol_file *file, struct stacks **stacks, pcol_error *err)
{
    struct stacks *s = calloc(1, sizeof *s);
    *stacks = NULL;
    if (s == NULL)
        return no_memory(err);
    pcol_status status;
    (void)find(file, PCOL_MODEL_V2, "locations", "line", &s->location_count, &status, err);
    if (status == PCOL_OK)
        status = read_names(file, s, err);
    if (status == PCOL_OK)
        status = read_files(file, s, err);
    if (status == PCOL_OK)
        status = read_lines(file, s, err);
    if (status == PCOL_OK)
        status = pcol_file_intact(file, err);
    if (status == PCOL_OK)
        *stacks = s;
    else
        stacks_free(s);
    return status;
}

static void free_dictionary(struct dictionary *d)
{
    free(d->bytes);
    free(d->texts);
    free(d->codes);
}

void stacks_free(struct stacks *s)
{
    if (s == NULL)
        return;
    free_tree(s);
    free_dictionary(&s->names);
    free_dictionary(&s->files);
    free(s->lines);
    free(s->has_line);
    free(s);
}

/* ---- stacks */

size_t stacks_frames(const struct stacks *s, uint64_t stack, const pcol_str **names,
                     size_t capacity)
{
    size_t depth = 0;
    for (; stack > 0 && stack < s->stack_count; stack = s->parents[stack]) {
        uint32_t group = s->groups[stack];
        for (uint32_t row = s->first_locations[group]; row < s->first_locations[group + 1]; row++) {
            if (names != NULL && depth < capacity)
                names[depth] = &s->names.texts[s->names.codes[row]];
            depth++;
        }
    }
    return depth;
}

/*
 * frames.c - stack text of a line to a node of the stack tree (frames.h)
 *
 * The path of a referenced file is part of the key of a cached unit, since a file number may get
 * another path in the next segment. Cached units therefore stay valid for the whole input.
 */
#include "formats/rprof/frames.h"

#include "format/load.h"
#include "util/alloc.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void pci_rprof_frames_clear(struct pci_rprof_frames *frames)
{
    pci_hash_clear(&frames->hash);
    pci_hash_clear(&frames->path_hash);
    pci_free(frames->units);
    pci_free(frames->arena);
    pci_free(frames->levels);
    pci_free(frames->new_units);
    pci_free(frames->paths);
    memset(frames, 0, sizeof *frames);
}

/* ---- file numbers ---- */

void pci_rprof_frames_segment(struct pci_rprof_frames *frames)
{
    pci_hash_clear(&frames->path_hash);
    frames->path_count = 0;
    frames->previous_size = 0;
}

static struct pci_rprof_path *find_path(const struct pci_rprof_frames *frames, int64_t number,
                                        uint64_t hash)
{
    if (frames->path_count == 0)
        return NULL;
    size_t at = pci_hash_start(&frames->path_hash, hash);
    for (;;) {
        uint32_t id = pci_hash_next(&frames->path_hash, hash, &at);
        if (id == PCI_HASH_NONE)
            return NULL;
        if (frames->paths[id].number == number)
            return &frames->paths[id];
    }
}

pcol_status pci_rprof_frames_file(struct pci_rprof_frames *frames, int64_t number, uint32_t path,
                                  pcol_error *err)
{
    uint64_t hash = pci_hash_pair((uint64_t)number, 0);
    struct pci_rprof_path *old = find_path(frames, number, hash);
    frames->previous_size = 0;
    if (old) {
        old->path = path;
        return PCOL_OK;
    }
    PCI_TRY(PCI_GROW(frames->paths, frames->path_capacity, frames->path_count + 1, err));
    PCI_TRY(pci_hash_add(&frames->path_hash, hash, (uint32_t)frames->path_count, err));
    frames->paths[frames->path_count++] = (struct pci_rprof_path){number, path};
    return PCOL_OK;
}

uint32_t pci_rprof_frames_path(const struct pci_rprof_frames *frames, int64_t number)
{
    const struct pci_rprof_path *path =
        find_path(frames, number, pci_hash_pair((uint64_t)number, 0));
    return path ? path->path : PCOL_NONE;
}

/* Path of the file of a unit's reference; PCOL_NONE: none. */
static uint32_t unit_path(const struct pci_rprof_frames *frames, const uint8_t *p,
                          const uint8_t *end)
{
    struct pci_rprof_int number;
    if (*p == '"' || frames->by_number || !pci_rprof_int(p, end, 0, &number) || !number.known)
        return PCOL_NONE;
    return pci_rprof_frames_path(frames, number.value);
}

/* ---- units ---- */

static pcol_status add_group(struct pci_rprof_frames *frames, const struct pci_rprof_parts *parts,
                             uint32_t path, uint32_t *group, pcol_error *err)
{
    pcol_line line = {.function = PCOL_NONE, .filename = PCOL_NONE};
    if (frames->by_number && parts->has_ref && parts->file.known) {
        char digits[24];
        int size = snprintf(digits, sizeof digits, "%" PRId64, parts->file.value);
        PCI_TRY(pcol_builder_string(frames->builder, digits, (size_t)size, &path, err));
    }
    if (parts->has_name) {
        pcol_function function = PCOL_INIT(pcol_function);
        PCI_TRY(pcol_builder_string(frames->builder, (const char *)parts->name, parts->name_size,
                                    &function.name, err));
        function.system_name = PCOL_NONE;
        function.filename = path;
        PCI_TRY(pcol_builder_function(frames->builder, &function, &line.function, err));
    } else {
        line.filename = path;
    }
    pcol_group unit = PCOL_INIT(pcol_group);
    if (parts->has_ref && parts->file.known && parts->line.known) {
        line.line = parts->line.value;
        line.flags |= PCOL_LINE_HAS_LINE;
        unit.file_number = parts->file.value;
        unit.flags |= PCOL_GROUP_HAS_FILE_NUMBER;
    }
    unit.lines = &line;
    unit.line_count = 1;
    unit.mapping = PCOL_NONE;
    return pcol_builder_group(frames->builder, &unit, group, err);
}

static pcol_status new_unit(struct pci_rprof_frames *frames, const uint8_t *p, size_t size,
                            uint32_t path, uint64_t hash, uint32_t *id, pcol_error *err)
{
    struct pci_rprof_parts parts;
    struct pci_rprof_cached_unit unit = {.text = frames->arena_size, .path = path};
    size_t count = frames->hash.count;
    if (size > UINT32_MAX || count >= PCI_HASH_NONE - 1)
        return pci_fail(err, PCOL_E_LIMIT, "more than 2^32 different frames");
    PCI_TRY(PCI_GROW(frames->units, frames->unit_capacity, count + 1, err));
    PCI_TRY(PCI_GROW(frames->arena, frames->arena_capacity, frames->arena_size + size, err));
    memcpy(frames->arena + frames->arena_size, p, size);
    frames->arena_size += size;
    unit.size = (uint32_t)size;
    pci_rprof_parts(p, p + size, &parts);
    unit.exact = (uint32_t)parts.exact;
    PCI_TRY(add_group(frames, &parts, path, &unit.group, err));
    PCI_TRY(pci_hash_add(&frames->hash, hash, (uint32_t)count, err));
    frames->units[count] = unit;
    *id = (uint32_t)count;
    return PCOL_OK;
}

/* *id: number of the unit in frames->units. */
static pcol_status find_unit(struct pci_rprof_frames *frames, const uint8_t *p, size_t size,
                             uint32_t *id, pcol_error *err)
{
    uint32_t path = *p == '"' ? PCOL_NONE : unit_path(frames, p, p + size);
    uint64_t hash = pci_hash_text(p, size);
    if (path != PCOL_NONE)
        hash = pci_hash_pair(hash, path);
    size_t at = pci_hash_start(&frames->hash, hash);
    for (;;) {
        *id = pci_hash_next(&frames->hash, hash, &at);
        if (*id == PCI_HASH_NONE)
            return new_unit(frames, p, size, path, hash, id, err);
        const struct pci_rprof_cached_unit *unit = &frames->units[*id];
        if (unit->size == size && unit->path == path &&
            pci_bytes_equal(frames->arena + unit->text, p, size))
            return PCOL_OK;
    }
}

/* ---- lines ---- */

/* 1 if the 64 bytes at a and b are equal. */
static inline int equal_64(const uint8_t *a, const uint8_t *b)
{
    typedef uint64_t word __attribute__((vector_size(16)));
    word x[4], y[4];
    memcpy(x, a, sizeof x);
    memcpy(y, b, sizeof y);
    word differ = (x[0] ^ y[0]) | (x[1] ^ y[1]) | (x[2] ^ y[2]) | (x[3] ^ y[3]);
    return (differ[0] | differ[1]) == 0;
}

/* Length of the common suffix of the texts that end at a and b, at most `limit`. */
static size_t common_suffix(const uint8_t *a, const uint8_t *b, size_t limit)
{
    size_t n = 0;
    while (limit - n >= 64 && equal_64(a - n - 64, b - n - 64))
        n += 64;
    for (; limit - n >= 8; n += 8) {
        uint64_t differ = pcf_load64(a - n - 8) ^ pcf_load64(b - n - 8);
        if (differ)
            return n + ((unsigned)__builtin_clzll(differ) >> 3);
    }
    while (n < limit && *(a - n - 1) == *(b - n - 1))
        n++;
    return n;
}

static pcol_status grow_new_units(struct pci_rprof_frames *frames, pcol_error *err)
{
    return PCI_GROW(frames->new_units, frames->new_capacity, frames->new_count + 1, err);
}

pcol_status pci_rprof_frames_scan(struct pci_rprof_frames *frames, const uint8_t *text,
                                  const uint8_t *end, const uint8_t *previous_end, unsigned flags,
                                  struct pci_rprof_fault *fault, pcol_error *err)
{
    const struct pci_rprof_level *levels = frames->levels;
    size_t size = (size_t)(end - text);
    size_t limit = size < frames->previous_size ? size : frames->previous_size;
    /* A line without line end is parsed without PCI_RPROF_LOOSE, so its boundaries may differ. */
    size_t same = flags & PCI_RPROF_LOOSE ? common_suffix(end, previous_end, limit) : 0;
    size_t depth = same ? frames->depth : 0;
    while (depth > 0 && levels[depth - 1].distance > same)
        depth--;
    frames->new_count = 0;
    fault->kind = PCI_RPROF_NO_FAULT;
    fault->at = end;
    for (const uint8_t *p = text;;) {
        /* A unit may span boundaries of the previous line; at `end` no level remains. */
        size_t distance = (size_t)(end - p);
        while (depth > 0 && levels[depth - 1].distance > distance)
            depth--;
        if (p == end || (depth > 0 && levels[depth - 1].distance == distance))
            break;
        const uint8_t *next = pci_rprof_usual_unit(p, end);
        if (!next)
            next = pci_rprof_unit(p, end, flags, fault);
        if (!next) {
            depth = 0;
            break;
        }
        if (frames->new_count == frames->new_capacity)
            PCI_TRY(grow_new_units(frames, err));
        frames->new_units[frames->new_count++] =
            (struct pci_rprof_new_unit){p, (size_t)(next - p), 0};
        p = next;
    }
    frames->depth = depth;
    return PCOL_OK;
}

pcol_status pci_rprof_frames_append(struct pci_rprof_frames *frames, const uint8_t *unit,
                                    const uint8_t *end, pcol_error *err)
{
    PCI_TRY(grow_new_units(frames, err));
    frames->new_units[frames->new_count++] =
        (struct pci_rprof_new_unit){unit, (size_t)(end - unit), 0};
    return PCOL_OK;
}

pcol_status pci_rprof_frames_add(struct pci_rprof_frames *frames, const uint8_t *text,
                                 const uint8_t *end, int whole, int *exact, pcol_error *err)
{
    size_t depth = frames->depth, needed = depth + frames->new_count;
    struct pci_rprof_level level = {0, 1};
    if (needed > frames->level_capacity) {
        PCI_TRY(PCI_GROW(frames->levels, frames->level_capacity, needed, err));
    }
    if (depth > 0)
        level = frames->levels[depth - 1];
    frames->common_depth = depth;
    for (size_t i = frames->new_count; i-- > 0;) {
        struct pci_rprof_new_unit *piece = &frames->new_units[i];
        PCI_TRY(find_unit(frames, piece->text, piece->size, &piece->unit, err));
        level.distance = (size_t)(end - piece->text);
        level.exact &= frames->units[piece->unit].exact;
        frames->levels[depth++] = level;
    }
    *exact = (int)level.exact;
    frames->depth = depth;
    frames->previous_size = whole ? (size_t)(end - text) : 0;
    return PCOL_OK;
}

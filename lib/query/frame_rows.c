/*
 * frame_rows.c - the rows of locations, functions and mappings that frames represent
 *
 * One pass over the locations of the query; a frame with locations of two functions has no row of
 * functions, and so on. By function the answer must be the same where a file's sums of functions
 * are read instead of its locations, so it depends on names alone. Tests: tests/unit/test_result.c.
 */
#include "query/frame_rows.h"

#include "util/alloc.h"

#include <string.h>

#define UNSEEN (PCOL_NONE - 1)

struct row_reader {
    const pcol_file *file;
    const struct pci_column *function, *mapping; /* of locations, of location_groups */
    struct pci_frame_rows *rows;
    const struct pci_frames *frames;
};

static void join(uint32_t *row, uint32_t other)
{
    *row = *row == UNSEEN || *row == other ? other : PCOL_NONE;
}

/* Reads cells [row, row + n) as rows of a table. */
static pcol_status read_rows(const pcol_file *file, const struct pci_column *column, uint64_t row,
                             size_t n, uint32_t *cells, pcol_error *err)
{
    int64_t values[PCI_BATCH];
    uint8_t valid[PCI_BATCH];
    memset(cells, 0xff, n * sizeof *cells);
    if (!column)
        return PCOL_OK;
    PCI_TRY(pci_read(file, column, row, n, values, valid, err));
    for (size_t i = 0; i < n; i++)
        if (valid[i])
            cells[i] = (uint32_t)values[i];
    return PCOL_OK;
}

static pcol_status read_functions(const struct row_reader *r, uint32_t locations, pcol_error *err)
{
    uint32_t functions[PCI_BATCH];
    for (uint32_t first = 0; first < locations; first += PCI_BATCH) {
        size_t n = locations - first < PCI_BATCH ? locations - first : PCI_BATCH;
        PCI_TRY(read_rows(r->file, r->function, first, n, functions, err));
        for (size_t i = 0; i < n; i++) {
            uint32_t frame = r->frames->of_location[first + i];
            if (frame != PCOL_NONE) {
                join(&r->rows[frame].function, functions[i]);
                join(&r->rows[frame].location, (uint32_t)(first + i));
            }
        }
    }
    return PCOL_OK;
}

static pcol_status read_mappings(const struct row_reader *r, const struct pci_stack_table *calls,
                                 pcol_error *err)
{
    uint32_t mappings[PCI_BATCH];
    for (uint32_t first = 0; first < calls->group_count; first += PCI_BATCH) {
        size_t n = calls->group_count - first < PCI_BATCH ? calls->group_count - first : PCI_BATCH;
        PCI_TRY(read_rows(r->file, r->mapping, first, n, mappings, err));
        for (size_t i = 0; i < n; i++)
            for (uint32_t row = calls->first[first + i]; row < calls->first[first + i + 1]; row++)
                if (r->frames->of_location[row] != PCOL_NONE)
                    join(&r->rows[r->frames->of_location[row]].mapping, mappings[i]);
    }
    return PCOL_OK;
}

pcol_status pci_frame_rows_read(const pcol_query *query, pcol_by by,
                                const struct pci_frames *frames, struct pci_frame_rows *rows,
                                pcol_error *err)
{
    struct row_reader r = {.file = query->file, .rows = rows, .frames = frames};
    for (uint32_t i = 0; i < frames->count; i++)
        rows[i] = (struct pci_frame_rows){UNSEEN, UNSEEN, UNSEEN};
    PCI_TRY(pci_find_column(r.file, "locations", "function", PCI_TYPES_ROW, &r.function, err));
    PCI_TRY(read_functions(&r, query->calls.location_count, err));
    if (by != PCOL_BY_FUNCTION) {
        PCI_TRY(
            pci_find_column(r.file, "location_groups", "mapping", PCI_TYPES_ROW, &r.mapping, err));
        PCI_TRY(read_mappings(&r, &query->calls, err));
    }
    for (uint32_t i = 0; i < frames->count; i++) {
        struct pci_frame_rows *row = &rows[i];
        if (row->location == UNSEEN || by == PCOL_BY_FUNCTION)
            row->location = PCOL_NONE;
        if (row->function == UNSEEN)
            row->function = PCOL_NONE;
        if (row->mapping == UNSEEN)
            row->mapping = PCOL_NONE;
    }
    return by == PCOL_BY_FUNCTION
               ? pci_frame_rows_unique(r.file, &rows->function, sizeof *rows, frames->count, err)
               : PCOL_OK;
}

/* Counts the functions of each name, up to 2. counts: by code of the name. */
static pcol_status count_names(const pcol_file *file, const struct pci_column *name,
                               uint8_t *counts, uint32_t *names, pcol_error *err)
{
    uint64_t rows = name->desc->rows;
    for (uint64_t row = 0; row < rows; row += PCI_BATCH) {
        size_t n = rows - row < PCI_BATCH ? (size_t)(rows - row) : PCI_BATCH;
        PCI_TRY(read_rows(file, name, row, n, names + row, err));
        for (size_t i = 0; i < n; i++)
            if (names[row + i] != PCOL_NONE && counts[names[row + i]] < 2)
                counts[names[row + i]]++;
    }
    return PCOL_OK;
}

pcol_status pci_frame_rows_unique(const pcol_file *file, void *functions, size_t stride,
                                  size_t count, pcol_error *err)
{
    const struct pci_column *name;
    PCI_TRY(pci_check_row_count(file, "functions", err));
    PCI_TRY(pci_check_row_count(file, "strings", err));
    PCI_TRY(pci_find_verified_column(file, "functions", "name", PCI_TYPES_TEXT, &name, err));
    int has_codes = name && name->desc->type == PCF_STRING;
    uint64_t rows = has_codes ? name->desc->rows : 0;
    uint8_t *counts = pci_calloc((size_t)pci_rows(file, "strings") + 1, 1);
    uint32_t *names = pci_malloc((size_t)rows + 1, sizeof *names);
    pcol_status status = counts && names ? PCOL_OK : pci_fail_memory(err);
    if (status == PCOL_OK && has_codes)
        status = count_names(file, name, counts, names, err);
    for (size_t i = 0; status == PCOL_OK && i < count; i++) {
        uint32_t *function = (uint32_t *)(void *)((char *)functions + i * stride);
        if (*function != PCOL_NONE &&
            (*function >= rows || names[*function] == PCOL_NONE || counts[names[*function]] != 1))
            *function = PCOL_NONE;
    }
    pci_free(counts);
    pci_free(names);
    return status;
}

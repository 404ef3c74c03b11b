/*
 * bare.c - what functions are called that are known by nothing but an address
 *
 * A profile without symbols calls its functions "0x9a03e", and every library has such a one. With
 * the library that the address lies in, "libc.so.6+0x9a03e", the name says where to look, and
 * functions of two libraries are not taken for one. The library is that of all locations of the
 * function; one with locations in several, or in none that is known, keeps its own name. Where a
 * mapping says at which address it begins, the address becomes one of the file, which is the same
 * in the next run.
 */
#include "model/bare.h"

#include "core/alloc.h"

#include <string.h>

#define UNSEEN UINT32_MAX
#define SEVERAL (UINT32_MAX - 1)
#define LONGEST 1000u /* name of a library */

int pci_bare_is(pcol_str name)
{
    if (name.size < 3 || name.size > 18 || name.data[0] != '0' || name.data[1] != 'x')
        return 0;
    for (size_t i = 2; i < name.size; i++) {
        char c = name.data[i];
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')))
            return 0;
    }
    return 1;
}

pcol_str pci_bare_address(pcol_str name)
{
    size_t at = name.size;
    while (at && name.data[at - 1] != '+')
        at--;
    pcol_str tail = {name.data + at, name.size - at};
    return at && pci_bare_is(tail) ? tail : (pcol_str){"", 0};
}

/* ---- the mapping of each function */

static pcol_status see_location(const pcol_file *file, const struct pci_column *function,
                                uint64_t row, uint32_t mapping, uint32_t *of, pcol_error *err)
{
    int64_t number;
    int valid;
    PCI_TRY(pci_get(file, function, row, &number, &valid, err));
    if (!valid)
        return PCOL_OK;
    uint32_t *known = &of[number];
    *known = *known == UNSEEN || *known == mapping ? mapping : SEVERAL;
    return PCOL_OK;
}

static pcol_status see_groups(const struct pci_stacks *tree, uint32_t *of, pcol_error *err)
{
    const pcol_file *file = tree->file;
    const struct pci_column *function, *mapping;
    PCI_TRY(pci_want(file, "locations", "function", PCI_TYPES_ROW, &function, err));
    PCI_TRY(pci_want(file, "location_groups", "mapping", PCI_TYPES_ROW, &mapping, err));
    for (uint64_t group = 0; function && mapping && group < tree->groups; group++) {
        uint64_t first, rows;
        int64_t number;
        int valid;
        PCI_TRY(pci_get(file, mapping, group, &number, &valid, err));
        uint32_t where = valid && number < SEVERAL ? (uint32_t)number : SEVERAL;
        PCI_TRY(pci_stacks_group(tree, group, &first, &rows, err));
        for (uint64_t row = first; row < first + rows; row++)
            PCI_TRY(see_location(file, function, row, where, of, err));
    }
    return PCOL_OK;
}

/* ---- names */

/* "LIBRARY+0x123"; the text is made in the arena. */
static pcol_status make_name(struct pci_bare *bare, pcol_str path, pcol_str own, pcol_str *name,
                             pcol_error *err)
{
    char *text;
    while (path.size && path.data[path.size - 1] == '/')
        path.size--;
    for (size_t i = path.size; i-- > 0;)
        if (path.data[i] == '/') {
            path.data += i + 1;
            path.size -= i + 1;
            break;
        }
    if (!path.size || path.size > LONGEST)
        return PCOL_OK;
    *name = (pcol_str){NULL, path.size + 1 + own.size};
    PCI_TRY(pci_arena_take(&bare->texts, name->size, &text, err));
    memcpy(text, path.data, path.size);
    text[path.size] = '+';
    memcpy(text + path.size + 1, own.data, own.size);
    name->data = text;
    return PCOL_OK;
}

static pcol_status make_names(struct pci_bare *bare, const pcol_file *file,
                              const struct pci_column *names, const uint32_t *of, pcol_error *err)
{
    uint64_t mappings = pci_rows(file, "mappings");
    const struct pci_column *paths;
    PCI_TRY(pci_plausible(file, "mappings", err));
    PCI_TRY(pci_want(file, "mappings", "filename", PCI_TYPES_TEXT, &paths, err));
    for (uint64_t row = 0; row < bare->count && paths; row++) {
        pcol_str own, path = {"", 0};
        int valid;
        if (of[row] >= mappings) /* UNSEEN or SEVERAL, too */
            continue;
        PCI_TRY(pci_get_str(file, names, row, &own, &valid, err));
        if (!valid || !pci_bare_is(own))
            continue;
        PCI_TRY(pci_get_str(file, paths, of[row], &path, &valid, err));
        PCI_TRY(make_name(bare, path, own, &bare->names[row], err));
    }
    return PCOL_OK;
}

/* ---- all */

/* Whether any function has but an address for a name. */
static pcol_status any_bare(const pcol_file *file, const struct pci_column *names, uint64_t count,
                            int *any, pcol_error *err)
{
    pcol_str own[PCI_BATCH];
    uint8_t valid[PCI_BATCH];
    *any = 0;
    for (uint64_t row = 0; row < count && !*any; row += PCI_BATCH) {
        size_t n = count - row < PCI_BATCH ? (size_t)(count - row) : PCI_BATCH;
        PCI_TRY(pci_read_str(file, names, row, n, own, valid, err));
        for (size_t i = 0; i < n && !*any; i++)
            *any = valid[i] && pci_bare_is(own[i]);
    }
    return PCOL_OK;
}

static pcol_status look(struct pci_bare *bare, const pcol_file *file,
                        const struct pci_column *names, uint32_t *of, pcol_error *err)
{
    struct pci_stacks tree;
    for (uint64_t row = 0; row < bare->count; row++)
        of[row] = UNSEEN;
    PCI_TRY(pci_stacks_open(file, &tree, err));
    PCI_TRY(pci_plausible(file, "location_groups", err));
    PCI_TRY(pci_plausible(file, "locations", err));
    PCI_TRY(see_groups(&tree, of, err));
    return make_names(bare, file, names, of, err);
}

pcol_status pci_bare_open(const pcol_file *file, const struct pci_column *names,
                          struct pci_bare *bare, pcol_error *err)
{
    int any = 0;
    *bare = (struct pci_bare){.count = pci_rows(file, "functions")};
    if (!names || !pci_rows(file, "mappings"))
        return PCOL_OK;
    PCI_TRY(pci_plausible(file, "functions", err));
    PCI_TRY(any_bare(file, names, bare->count, &any, err));
    if (!any)
        return PCOL_OK;
    uint32_t *of = pci_malloc((size_t)bare->count + 1, sizeof *of);
    bare->names = pci_calloc((size_t)bare->count + 1, sizeof *bare->names);
    pcol_status status =
        of && bare->names ? look(bare, file, names, of, err) : pci_fail_memory(err);
    pci_free(of);
    if (status != PCOL_OK)
        pci_bare_close(bare);
    return status;
}

void pci_bare_close(struct pci_bare *bare)
{
    pci_arena_clear(&bare->texts);
    pci_free(bare->names);
    *bare = (struct pci_bare){0};
}

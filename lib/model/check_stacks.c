/*
 * check_stacks.c - the call tree: parents precede children, pre-order, and siblings have distinct
 * groups
 *
 * Tests: tests/unit/test_check.c, suite golden.
 */
#include "model/check.h"

#include "util/alloc.h"
#include "util/control.h"
#include "util/hash.h"

struct walk {
    uint32_t *path; /* the previous row and its ancestors, starting with the root */
    size_t depth, capacity;
    struct pci_hash hash; /* of parent and group */
    struct pci_tally parent, group;
};

/* Reports an earlier row with the same parent and group. */
static pcol_status check_sibling(struct walk *walk, const struct pci_stacks *stacks, uint32_t row,
                                 int64_t parent, int64_t group, pcol_error *err)
{
    uint64_t hash = pci_hash_pair((uint64_t)parent, (uint64_t)group);
    size_t at = pci_hash_start(&walk->hash, hash);
    uint32_t other;
    while ((other = pci_hash_next(&walk->hash, hash, &at)) != PCI_HASH_NONE) {
        int64_t other_parent, other_group; /* 0 if the file changed meanwhile */
        (void)!pci_get(stacks->file, stacks->parent, other, &other_parent, &(int){0}, NULL);
        (void)!pci_get(stacks->file, stacks->group, other, &other_group, &(int){0}, NULL);
        if (other_parent == parent && other_group == group) {
            pci_fault(&walk->group, row, "row %u is the same stack", (unsigned)other);
            return PCOL_OK;
        }
    }
    return pci_hash_add(&walk->hash, hash, row, err);
}

static pcol_status check_row(struct walk *walk, const struct pci_stacks *stacks, uint32_t row,
                             int64_t parent, int64_t group, pcol_error *err)
{
    PCI_TRY(pci_work(PCI_ITEM_WORK, err));
    if ((uint64_t)parent >= row) {
        pci_fault(&walk->parent, row, "parent %llu is not before its child",
                  (unsigned long long)parent);
        return PCOL_OK;
    }
    while (walk->path[walk->depth - 1] > parent) /* ends at the root */
        walk->depth--;
    if (walk->path[walk->depth - 1] != parent)
        pci_fault(&walk->parent, row,
                  "parent %llu is neither the row before nor one of its ancestors",
                  (unsigned long long)parent);
    PCI_TRY(PCI_GROW(walk->path, walk->capacity, walk->depth + 1, err));
    walk->path[walk->depth++] = row;
    return check_sibling(walk, stacks, row, parent, group, err);
}

static pcol_status check_rows(struct pci_check *check, struct walk *walk,
                              const struct pci_stacks *stacks, pcol_error *err)
{
    size_t n, m;
    for (uint64_t row = 0; row < stacks->stacks; row += n) {
        PCI_TRY(pci_check_read(check, stacks->parent, row, stacks->stacks, 0, &n, err));
        PCI_TRY(pci_check_read(check, stacks->group, row, stacks->stacks, 1, &m, err));
        if (!n || !m)
            break;
        for (size_t i = 0; i < n; i++) {
            int64_t parent = check->values[0][i], group = check->values[1][i];
            if (row + i)
                PCI_TRY(check_row(walk, stacks, (uint32_t)(row + i), parent, group, err));
            else if (parent || group)
                pci_fault(&walk->parent, 0, "parent and group of the empty stack are not 0");
        }
    }
    return PCOL_OK;
}

pcol_status pci_check_stacks(struct pci_check *check, pcol_error *err)
{
    const struct pci_table *table = pci_table_find(check->file, "stacks");
    struct walk walk = {.parent = PCI_TALLY(check, "stacks", "parent"),
                        .group = PCI_TALLY(check, "stacks", "group")};
    struct pci_stacks stacks;
    pcol_error error = {0};
    pcol_status status;
    if (!table || !table->rows || !pci_check_table(check, "stacks"))
        return PCOL_OK;
    if (!(table->flags & PCF_TABLE_PREORDER))
        pci_fault(&walk.parent, PCOL_POSITION_UNKNOWN,
                  "the table is not marked as being in pre-order");
    if (pci_stacks_open(check->file, &stacks, &error) != PCOL_OK ||
        pci_check_row_count(check->file, "stacks", &error) != PCOL_OK)
        return pci_fault_error(check, &error, err);
    walk.path = pci_calloc(16, sizeof *walk.path);
    walk.capacity = 16;
    walk.depth = 1; /* the root */
    status = walk.path ? check_rows(check, &walk, &stacks, err) : pci_fail_memory(err);
    if (walk.parent.count)
        check->untrusted[stacks.parent->number] = 1;
    pci_tally_end(&walk.parent);
    pci_tally_end(&walk.group);
    pci_hash_clear(&walk.hash);
    pci_free(walk.path);
    return status;
}

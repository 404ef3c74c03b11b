/*
 * query_paths.c - values at a path of keys, in every resource or model
 *
 * A path is resolved part by part: each part maps a list of values to the list of their members.
 */
#include "formats/perun/query_answers.h"
#include "util/alloc.h"
#include "util/strbuf.h"

#include <math.h>
#include <string.h>

static pcol_status append_value(struct pci_value **list, size_t *count, size_t *capacity,
                                const struct pci_value *value, pcol_error *err)
{
    PCI_TRY(PCI_GROW(*list, *capacity, *count + 1, err));
    (*list)[(*count)++] = *value;
    return PCOL_OK;
}

/* Append the members of one value that a part of the path selects. */
static pcol_status resolve_part(struct pcol_answers *a, const struct pci_value *value,
                                pcol_str part, pcol_error *err)
{
    struct pci_member_iterator each;
    struct pci_member member;
    struct pci_value last = {.kind = PCI_VALUE_NULL};
    int object, array, more = 1, found = 0;
    PCI_TRY(pci_value_classify(&a->resources.values, value, &object, &array, err));
    if (!object && (part.size || !array))
        return PCOL_OK;
    pcol_status status = pci_member_iterator_open(&each, &a->resources.values, value, err);
    while (status == PCOL_OK) {
        status = pci_member_iterator_next(&each, &member, &more, err);
        if (status != PCOL_OK || !more)
            break;
        if (array) {
            status =
                append_value(&a->found_next, &a->next_count, &a->next_capacity, &member.value, err);
        } else if (pci_str_equal(member.key, part)) { /* of equal keys the last one counts */
            last = member.value;
            found = 1;
        }
    }
    pci_member_iterator_close(&each);
    if (status == PCOL_OK && found)
        status = append_value(&a->found_next, &a->next_count, &a->next_capacity, &last, err);
    return status;
}

/* Resolve the rest of the path, from the values in a->found on. */
static pcol_status resolve_rest(struct pcol_answers *a, pcol_error *err)
{
    for (size_t part = 1; part < a->part_count && a->found_count; part++) {
        a->next_count = 0;
        for (size_t i = 0; i < a->found_count; i++) {
            struct pci_value value = a->found[i];
            PCI_TRY(resolve_part(a, &value, a->parts[part], err));
        }
        struct pci_value *list = a->found;
        size_t capacity = a->found_capacity;
        a->found = a->found_next;
        a->found_count = a->next_count;
        a->found_capacity = a->next_capacity;
        a->found_next = list;
        a->next_capacity = capacity;
    }
    return PCOL_OK;
}

/* Resolve the path from a shared frame or stack; the result is cached. */
static pcol_status resolve_shared(struct pcol_answers *a, pcol_error *err)
{
    struct pci_cached_value *shared;
    struct pci_value value = a->found[0];
    int is_new;
    PCI_TRY(pci_result_cache_find(a, PCI_USE_PATH, &value, &shared, &is_new, err));
    if (is_new) {
        PCI_TRY(resolve_rest(a, err));
        for (size_t i = 0; i < a->found_count; i++)
            PCI_TRY(pci_result_cache_add(a, shared, 0, &a->found[i], err));
        return PCOL_OK;
    }
    a->found_count = 0;
    if (a->options.unique) /* its values, or equal ones, were returned before */
        return PCOL_OK;
    for (size_t i = 0; i < shared->count; i++)
        PCI_TRY(append_value(&a->found, &a->found_count, &a->found_capacity,
                             &a->shared_items[shared->first + i].value, err));
    return PCOL_OK;
}

/* Resolve the path in the current object; the values are in a->found. */
static pcol_status resolve_path(struct pcol_answers *a, pcol_error *err)
{
    const struct pci_resources *r = &a->resources;
    a->found_count = 0;
    if (a->plan != r->plan) {
        a->plan = r->plan;
        a->path_slot = SIZE_MAX;
        for (size_t i = 0; i < r->count; i++)
            if (pci_str_equal(r->members[i].key, a->parts[0]))
                a->path_slot = i;
    }
    if (a->path_slot == SIZE_MAX)
        return PCOL_OK;
    PCI_TRY(append_value(&a->found, &a->found_count, &a->found_capacity,
                         &r->members[a->path_slot].value, err));
    return a->part_count > 1 && pci_value_shared(&a->found[0]) ? resolve_shared(a, err)
                                                               : resolve_rest(a, err);
}

/* Whether a value with the same identity was seen before, which is faster than comparing texts.
 * Strings of the pool have unique addresses. */
static pcol_status check_identity(struct pcol_answers *a, const struct pci_value *value, int *seen,
                                  pcol_error *err)
{
    int text = value->kind == PCI_VALUE_STRING || value->kind == PCI_VALUE_BIG;
    struct pci_pair id = {value->kind, value->as.i64};
    *seen = 0;
    if (text)
        id.a |= (int64_t)value->as.text.size << 8, id.b = (int64_t)(intptr_t)value->as.text.data;
    if (value->kind == PCI_VALUE_DOUBLE && isnan(value->as.f64))
        return PCOL_OK; /* not equal to anything, not even itself */
    if (value->kind == PCI_VALUE_NULL)
        id.b = 0;
    const struct pci_integer_pair *ids = a->seen_ids.pairs, pair = {(uint64_t)id.a, (uint64_t)id.b};
    size_t count = a->seen_ids.count;
    *seen = count && ids[count - 1].first == pair.first && ids[count - 1].second == pair.second;
    return *seen ? PCOL_OK : pci_pair_set_add(&a->seen_ids, pair.first, pair.second, seen, err);
}

static pcol_status check_new(struct pcol_answers *a, const struct pci_value *value, int *new,
                             pcol_error *err)
{
    uint32_t code;
    int seen;
    *new = 0;
    PCI_TRY(check_identity(a, value, &seen, err));
    if (seen)
        return PCOL_OK;
    *new = value->kind == PCI_VALUE_DOUBLE &&isnan(value->as.f64);
    if (*new)
        return PCOL_OK;
    a->other.size = 0;
    PCI_TRY(pci_equal_text(&a->resources.values, value, &a->other, err));
    size_t known = a->seen.count;
    PCI_TRY(pci_string_pool_intern(&a->seen, a->other.data, a->other.size, &code, err));
    *new = a->seen.count > known;
    return PCOL_OK;
}

/* Skip the resources that are equal to the current one. */
static pcol_status skip_run(struct pcol_answers *a, pcol_error *err)
{
    size_t count;
    PCI_TRY(pci_resources_run(&a->resources, &count, err));
    if (!a->resources.run_part_count)
        pci_resources_skip(&a->resources, count);
    return PCOL_OK;
}

static pcol_status next_value(struct pcol_answers *a, int *more, pcol_error *err)
{
    for (;;) {
        while (a->found_at >= a->found_count) {
            PCI_TRY(pci_result_object(a, a->options.models, more, err));
            if (!*more)
                return PCOL_OK;
            if (a->resources.same && !a->options.models) {
                if (a->options.unique) /* all of them, or equal ones, were returned */
                    PCI_TRY(skip_run(a, err));
                else /* the values found for the previous object */
                    a->found_at = 0;
                continue;
            }
            PCI_TRY(resolve_path(a, err));
            a->found_at = 0;
        }
        *more = 1;
        const struct pci_value value = a->found[a->found_at++];
        if (!a->options.unique) {
            PCI_TRY(pci_result_int(a, 0, (int64_t)a->resources.number, err));
            return pci_result_set(a, 1, &value, err);
        }
        int new;
        PCI_TRY(check_new(a, &value, &new, err));
        if (new)
            return pci_result_set(a, 0, &value, err);
    }
}

/* 1 + index of the run's part that the path selects, 0: none. */
static size_t find_run_part(const struct pcol_answers *a)
{
    const struct pci_resources *r = &a->resources;
    for (size_t i = 0; i < r->run_part_count; i++)
        if (r->run_parts[i].slot == a->path_slot)
            return i + 1;
    return 0;
}

/* A block of the values found in the current resource, for `times` resources. */
static pcol_status make_found_block(struct pcol_answers *a, pcol_answer_block *block,
                                    pcol_error *err)
{
    struct pci_run_part number;
    pcol_answer *cells = pci_block_cells(a, a->found_count);
    size_t own = find_run_part(a);
    if (!cells)
        return pci_fail_memory(err);
    PCI_TRY(pci_block_numbers(a, block->times, &number, err));
    for (size_t i = 0; i < a->found_count; i++) {
        cells[2 * i] = (pcol_answer){.kind = PCOL_ANSWER_I64, .as.i64 = number.values[0]};
        PCI_TRY(pci_block_part(a, i, 0, &number, err));
        PCI_TRY(pci_result_cell(a, &cells[2 * i + 1], &a->found[i], err));
    }
    if (own && block->times > 1)
        PCI_TRY(pci_block_part(a, 0, 1, &a->resources.run_parts[own - 1], err));
    block->rows = a->found_count;
    block->cells = cells;
    return PCOL_OK;
}

/* A block of the values of a resource, and of the following ones that differ only in numbers. */
static pcol_status value_block(struct pcol_answers *a, pcol_answer_block *block, pcol_error *err)
{
    struct pci_resources *r = &a->resources;
    int more;
    if (a->found_at < a->found_count) { /* begun by rows */
        const pcol_answer *row;
        PCI_TRY(pcol_answers_next(a, &row, err));
        block->rows = row != NULL;
        block->cells = row;
        return PCOL_OK;
    }
    for (;;) {
        PCI_TRY(pci_resources_next(r, &more, err));
        if (!more)
            return PCOL_OK;
        if (!r->same)
            PCI_TRY(resolve_path(a, err));
        a->found_at = a->found_count;
        PCI_TRY(pci_resources_run(r, &block->times, err));
        if (a->found_count)
            PCI_TRY(make_found_block(a, block, err));
        pci_resources_skip(r, block->times);
        if (block->rows)
            return PCOL_OK;
    }
}

pcol_status pci_perun_query_values(struct pcol_answers *a, pcol_error *err)
{
    const char *path = a->options.path;
    if (!path)
        return pci_fail(err, PCOL_E_ARGUMENT, "the query for values requires a path");
    for (;;) {
        size_t size = strcspn(path, ":");
        if (a->part_count == sizeof a->parts / sizeof *a->parts)
            return pci_fail(err, PCOL_E_ARGUMENT, "the path has more than %zu parts",
                            sizeof a->parts / sizeof *a->parts);
        a->parts[a->part_count++] = (pcol_str){path, size};
        if (!path[size])
            break;
        path += size + 1;
    }
    pci_resources_only(&a->resources, a->parts[0]);
    if (!a->options.unique)
        PCI_TRY(pci_result_column(a, "row", err));
    a->next = next_value;
    a->block = a->options.unique || a->options.models ? NULL : value_block;
    return pci_result_column(a, "value", err);
}

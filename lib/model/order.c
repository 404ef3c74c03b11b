/*
 * order.c - the order of a source's own tables, from source_rows
 *
 * Rows of one (source, thread, table) are contiguous runs. The first call builds a hash index of
 * the runs, cached in the file under its lock; each call then reads one run. Tests:
 * tests/unit/test_check_labels.c, suite merge.
 */
#include "model/row_details.h"

#include "util/alloc.h"
#include "util/hash.h"
#include "util/long_texts.h"
#include "util/strbuf.h"

#include <string.h>

struct run {
    uint32_t source, thread;
    pcol_str table;
    uint64_t first, count;
};

struct pci_order_index {
    struct run *runs;
    size_t count, capacity;
    struct pci_hash hash;
    struct pci_text_memo long_tables;
};

struct columns {
    const struct pci_column *source, *thread, *table, *target, *ordinal, *row, *id;
};

static pcol_status fail_row(uint64_t row, const char *column, const char *problem, pcol_error *err)
{
    return pci_corrupt(err, "source_rows", column, row, "%s", problem);
}

void pci_order_index_free(struct pci_order_index *index)
{
    if (!index)
        return;
    pci_free(index->runs);
    pci_hash_clear(&index->hash);
    pci_text_memo_clear(&index->long_tables);
    pci_free(index);
}

static pcol_status open_columns(const pcol_file *file, struct columns *c, pcol_error *err)
{
    const char *table = "source_rows";
    PCI_TRY(pci_require_column(file, table, "source", PCI_TYPES_ROW, &c->source, err));
    PCI_TRY(pci_find_column(file, table, "thread", PCI_TYPES_ROW, &c->thread, err));
    PCI_TRY(pci_require_column(file, table, "table", PCI_TYPES_TEXT, &c->table, err));
    PCI_TRY(pci_require_column(file, table, "target", PCI_TYPES_TEXT, &c->target, err));
    PCI_TRY(pci_require_column(file, table, "ordinal", PCI_TYPES_ROW, &c->ordinal, err));
    PCI_TRY(pci_require_column(file, table, "row", PCI_TYPES_ROW, &c->row, err));
    PCI_TRY(pci_find_column(file, table, "id", PCI_TYPES_ROW, &c->id, err));
    return pci_check_row_count(file, table, err);
}

static uint64_t hash_run(uint32_t source, uint32_t thread, uint64_t table)
{
    return pci_hash_pair((uint64_t)source << 32 | thread, table);
}

static const struct run *find_run(const struct pci_order_index *index, uint64_t hash,
                                  uint32_t source, uint32_t thread, pcol_str table)
{
    size_t slot = pci_hash_start(&index->hash, hash);
    uint32_t id;
    while ((id = pci_hash_next(&index->hash, hash, &slot)) != PCI_HASH_NONE) {
        const struct run *run = &index->runs[id];
        if (run->source == source && run->thread == thread && pci_str_equal(run->table, table))
            return run;
    }
    return NULL;
}

static pcol_status add_row(struct pci_order_index *index, const struct run *row, pcol_error *err)
{
    struct run *last = index->count ? &index->runs[index->count - 1] : NULL;
    if (last && last->source == row->source && last->thread == row->thread &&
        pci_str_equal(last->table, row->table)) {
        last->count++;
        return PCOL_OK;
    }
    uint64_t hash;
    PCI_TRY(pci_text_memo_hash(&index->long_tables, row->table, &hash, err));
    hash = hash_run(row->source, row->thread, hash);
    if (find_run(index, hash, row->source, row->thread, row->table))
        return fail_row(row->first, NULL, "the rows of a table are not contiguous", err);
    if (index->count >= PCOL_NONE - 1)
        return pci_fail(err, PCOL_E_LIMIT, "too many tables in source_rows");
    PCI_TRY(PCI_GROW(index->runs, index->capacity, index->count + 1, err));
    PCI_TRY(pci_hash_add(&index->hash, hash, (uint32_t)index->count, err));
    index->runs[index->count++] = *row;
    return PCOL_OK;
}

struct batch {
    int64_t source[PCI_BATCH], thread[PCI_BATCH];
    pcol_str table[PCI_BATCH];
    uint8_t valid[PCI_BATCH], has_thread[PCI_BATCH];
};

static pcol_status index_batch(const pcol_file *file, const struct columns *c, struct batch *b,
                               struct pci_order_index *index, uint64_t row, size_t n,
                               pcol_error *err)
{
    PCI_TRY(pci_read_str(file, c->table, row, n, b->table, b->valid, err));
    PCI_TRY(pci_read(file, c->source, row, n, b->source, b->valid, err));
    memset(b->has_thread, 0, n);
    if (c->thread)
        PCI_TRY(pci_read(file, c->thread, row, n, b->thread, b->has_thread, err));
    for (size_t i = 0; i < n; i++) {
        uint32_t thread = b->has_thread[i] ? (uint32_t)b->thread[i] : PCOL_NONE;
        struct run run = {(uint32_t)b->source[i], thread, b->table[i], row + i, 1};
        PCI_TRY(add_row(index, &run, err));
    }
    return PCOL_OK;
}

static pcol_status build_index(const pcol_file *file, const struct columns *c,
                               struct pci_order_index **out, pcol_error *err)
{
    uint64_t rows = pci_rows(file, "source_rows");
    struct pci_order_index *index = pci_calloc(1, sizeof *index);
    struct batch *batch = pci_malloc(1, sizeof *batch);
    pcol_status status = index && batch ? PCOL_OK : pci_fail_memory(err);
    for (uint64_t row = 0; row < rows && status == PCOL_OK; row += PCI_BATCH) {
        size_t n = rows - row < PCI_BATCH ? (size_t)(rows - row) : PCI_BATCH;
        status = index_batch(file, c, batch, index, row, n, err);
    }
    pci_free(batch);
    if (status == PCOL_OK)
        *out = index;
    else
        pci_order_index_free(index);
    return status;
}

static pcol_status get_index(const pcol_file *file, const struct columns *c,
                             const struct pci_order_index **index, pcol_error *err)
{
    /* The cache does not change the file as the caller sees it. */
    pcol_file *writable_file = (pcol_file *)(uintptr_t)file;
    struct pci_models *models = NULL;
    pcol_status status;
    pci_mutex_lock(&writable_file->lock);
    status = pci_models_open(writable_file, &models, err);
    if (status == PCOL_OK && !models->orders)
        status = build_index(file, c, &models->orders, err);
    *index = status == PCOL_OK ? models->orders : NULL;
    pci_mutex_unlock(&writable_file->lock);
    return status;
}

/* Rows of the table that the rows of a run refer to. */
static pcol_status get_target_rows(const pcol_file *file, const struct columns *c, uint64_t row,
                                   uint64_t *rows, pcol_error *err)
{
    pcol_str name;
    int valid;
    PCI_TRY(pci_get_str(file, c->target, row, &name, &valid, err));
    *rows = 0;
    for (uint32_t i = 0; valid && i < file->index.header.table_count; i++)
        if (pci_str_equal(name, (pcol_str){file->tables[i].name, strlen(file->tables[i].name)}))
            *rows = file->tables[i].rows;
    return PCOL_OK;
}

static pcol_status read_run(const pcol_file *file, const struct columns *c, const struct run *run,
                            struct pci_order *order, pcol_error *err)
{
    int64_t ordinal[PCI_BATCH];
    uint8_t valid[PCI_BATCH];
    uint64_t rows;
    PCI_TRY(get_target_rows(file, c, run->first, &rows, err));
    for (uint64_t done = 0; done < run->count;) {
        uint64_t left = run->count - done, row = run->first + done;
        size_t n = left < PCI_BATCH ? (size_t)left : PCI_BATCH;
        PCI_TRY(pci_read(file, c->ordinal, row, n, ordinal, valid, err));
        PCI_TRY(pci_read(file, c->row, row, n, (int64_t *)order->rows + done, valid, err));
        for (size_t i = 0; i < n; i++) {
            if ((uint64_t)ordinal[i] != done + i)
                return fail_row(row + i, "ordinal", "ordinals do not count from 0", err);
            if (order->rows[done + i] >= rows)
                return fail_row(row + i, "row", "this row does not exist", err);
        }
        if (c->id)
            PCI_TRY(pci_read(file, c->id, row, n, (int64_t *)order->ids + done,
                             order->has_id + done, err));
        done += n;
    }
    return PCOL_OK;
}

pcol_status pci_order_read(const pcol_file *file, uint32_t source, uint32_t thread,
                           const char *table, struct pci_order *order, pcol_error *err)
{
    const struct pci_order_index *index;
    const struct run *run;
    struct columns c;
    *order = (struct pci_order){0};
    if (!pci_rows(file, "source_rows"))
        return PCOL_OK;
    PCI_TRY(open_columns(file, &c, err));
    PCI_TRY(get_index(file, &c, &index, err));
    pcol_str name = {table, strlen(table)};
    run = find_run(index, hash_run(source, thread, pci_text_hash(name)), source, thread, name);
    if (!run)
        return PCOL_OK;
    order->known = 1;
    order->count = run->count;
    PCI_TRY(PCI_MALLOC(order->rows, (size_t)run->count, err));
    PCI_TRY(PCI_CALLOC(order->ids, (size_t)run->count, err));
    PCI_TRY(PCI_CALLOC(order->has_id, (size_t)run->count, err));
    return read_run(file, &c, run, order, err);
}

/* Verifies a run, and that it refers to one target. */
static pcol_status check_run(const pcol_file *file, const struct columns *c, const struct run *run,
                             pcol_error *err)
{
    pcol_str first = {"", 0}, target[PCI_BATCH];
    int64_t ordinal[PCI_BATCH], value[PCI_BATCH];
    uint8_t valid[PCI_BATCH];
    uint64_t rows;
    PCI_TRY(get_target_rows(file, c, run->first, &rows, err));
    for (uint64_t done = 0; done < run->count;) {
        uint64_t left = run->count - done, row = run->first + done;
        size_t n = left < PCI_BATCH ? (size_t)left : PCI_BATCH;
        PCI_TRY(pci_read_str(file, c->target, row, n, target, valid, err));
        PCI_TRY(pci_read(file, c->ordinal, row, n, ordinal, valid, err));
        PCI_TRY(pci_read(file, c->row, row, n, value, valid, err));
        if (!done)
            first = target[0];
        for (size_t i = 0; i < n; i++) {
            if ((uint64_t)ordinal[i] != done + i)
                return fail_row(row + i, "ordinal", "ordinals do not count from 0", err);
            if (!pci_str_equal(target[i], first))
                return fail_row(row + i, "target", "rows of one table have two targets", err);
            if ((uint64_t)value[i] >= rows)
                return fail_row(row + i, "row", "this row does not exist", err);
        }
        done += n;
    }
    return PCOL_OK;
}

pcol_status pci_verify_source_rows(const pcol_file *file, pcol_error *err)
{
    const struct pci_order_index *index;
    struct columns c;
    PCI_TRY(open_columns(file, &c, err));
    PCI_TRY(get_index(file, &c, &index, err));
    for (size_t i = 0; i < index->count; i++)
        PCI_TRY(check_run(file, &c, &index->runs[i], err));
    return PCOL_OK;
}

void pci_order_clear(struct pci_order *order)
{
    pci_free(order->rows);
    pci_free(order->ids);
    pci_free(order->has_id);
    *order = (struct pci_order){0};
}

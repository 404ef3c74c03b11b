/*
 * arrow.c - tables as streams of the Arrow C stream interface
 *
 * A column is a slice of an array that the table owns (in place, or texts that are computed), or
 * copied from the batches of a scan. Every exported array and dictionary holds a reference to the
 * file, or to the result that owns the table, so that consumers may move and release them in any
 * order. Tests: tests/unit/test_arrow.c,
 * tests/oracle/arrow.
 */
#include "model/arrays.h"
#include "model/joins.h"
#include "query/scan.h"

#include "util/alloc.h"
#include "util/arg_check.h"
#include "util/control.h"
#include "util/sized_struct.h"
#include "json/utf8.h"

#include <errno.h>
#include <string.h>

#define ARROW_BATCH_ROWS 8192u /* fits caches, and allocators keep the memory */

enum { MAX_BUFFERS = 3 };

struct stream_column {
    const pcol_column *column;
    const struct pci_array *array; /* slices; NULL: copied from the scan */
    uint32_t scanned;              /* number in the scan */
    int coded;                     /* codes of the dictionary */
    int is_utf8;                   /* texts */
    const char *format;
    char *name;
};

struct stream {
    const pcol_table *table; /* held */
    pcol_scan *scan;
    const struct pci_array *pool;
    uint32_t count;
    struct stream_column *columns;
    int error; /* errno value of the first failure, which is returned from then on */
    char message[512];
};

/* Retains the table's result or file, and releases it. */
static void hold(const pcol_table *table)
{
    if (table->owner)
        (void)table->retain_owner(table->owner);
    else
        (void)pcol_file_retain(table->file);
}

static void unhold(const pcol_table *table)
{
    if (table->owner)
        table->release_owner(table->owner);
    else
        pcol_file_close((pcol_file *)(uintptr_t)table->file);
}

/* ---- schema */

/* The memory that an exported schema owns; children and dictionary may be moved out of it. */
struct schema_data {
    struct ArrowSchema *children, **list, dictionary;
    char *name, *metadata;
};

static void release_schema(struct ArrowSchema *schema)
{
    struct schema_data *d = schema->private_data;
    for (int64_t i = 0; i < schema->n_children; i++)
        if (d->children[i].release)
            d->children[i].release(&d->children[i]);
    if (d->dictionary.release)
        d->dictionary.release(&d->dictionary);
    pci_free(d->children);
    pci_free(d->list);
    pci_free(d->name);
    pci_free(d->metadata);
    pci_free(d);
    schema->release = NULL;
}

/* Key-value pairs as the C data interface encodes them. */
static char *encode_metadata(const char *const *pairs, size_t count)
{
    size_t size = sizeof(int32_t);
    int32_t number = (int32_t)count;
    for (size_t i = 0; i < 2 * count; i++)
        size += sizeof(int32_t) + strlen(pairs[i]);
    char *text = pci_malloc(size, 1), *at = text;
    if (!text)
        return NULL;
    memcpy(at, &number, sizeof number);
    at += sizeof number;
    for (size_t i = 0; i < 2 * count; i++) {
        size_t length = strlen(pairs[i]);
        number = (int32_t)length;
        memcpy(at, &number, sizeof number);
        memcpy(at + sizeof number, pairs[i], length);
        at += sizeof number + length;
    }
    return text;
}

static int init_schema(struct ArrowSchema *schema, const char *format, const char *name,
                       int64_t children)
{
    struct schema_data *d = pci_calloc(1, sizeof *d);
    memset(schema, 0, sizeof *schema);
    if (!d)
        return ENOMEM;
    schema->private_data = d;
    schema->release = release_schema;
    schema->format = format;
    d->name = pci_malloc(strlen(name) + 1, 1);
    d->children = pci_calloc((size_t)children + 1, sizeof *d->children);
    d->list = pci_calloc((size_t)children + 1, sizeof(struct ArrowSchema *));
    if (!d->name || !d->children || !d->list)
        return ENOMEM;
    schema->name = strcpy(d->name, name);
    schema->children = children ? d->list : NULL;
    schema->n_children = children;
    for (int64_t i = 0; i < children; i++)
        d->list[i] = &d->children[i];
    return 0;
}

static const char *text_format(int is_utf8)
{
    return is_utf8 ? "U" : "Z";
}

static int set_metadata(struct ArrowSchema *schema, const char *const *pairs, size_t count)
{
    struct schema_data *d = schema->private_data;
    schema->metadata = d->metadata = encode_metadata(pairs, count);
    return d->metadata ? 0 : ENOMEM;
}

static int never_null(const pcol_column *column)
{
    return column->primary_key || (column->direct && !column->nullable);
}

static int fill_column_schema(const struct stream *s, const struct stream_column *c,
                              struct ArrowSchema *schema)
{
    const char *pairs[6] = {"pcol.type", pcol_type_name(c->column->type)};
    size_t count = 1;
    int status = init_schema(schema, c->format, c->name, c->column->type == PCOL_LIST);
    if (c->column->order == PCI_STORED_MS) {
        pairs[1] = "i64";
        pairs[2] = "unit";
        pairs[3] = "ns";
        count = 2;
    }
    if (c->column->references) {
        pairs[2 * count] = "pcol.references";
        pairs[2 * count + 1] = c->column->references;
        count++;
    }
    schema->flags = never_null(c->column) ? 0 : ARROW_FLAG_NULLABLE;
    if (!status)
        status = set_metadata(schema, pairs, count);
    if (!status && c->column->type == PCOL_LIST)
        status = init_schema(schema->children[0], "l", "item", 0);
    if (status || !c->coded)
        return status;
    struct schema_data *d = schema->private_data;
    schema->dictionary = &d->dictionary;
    return init_schema(&d->dictionary, text_format(s->pool->is_utf8), "", 0);
}

static int fill_schema(const struct stream *s, struct ArrowSchema *schema)
{
    const char *const pairs[] = {"pcol.table", s->table->name};
    int status = init_schema(schema, "+s", "", s->count);
    if (!status)
        status = set_metadata(schema, pairs, 1);
    for (uint32_t i = 0; !status && i < s->count; i++)
        status = fill_column_schema(s, &s->columns[i], schema->children[i]);
    return status;
}

/* ---- arrays */

struct array_data {
    const pcol_table *table; /* held */
    const void *buffers[MAX_BUFFERS];
    void *owned[MAX_BUFFERS];
    struct ArrowArray *children, **list, dictionary;
};

static void release_array(struct ArrowArray *array)
{
    struct array_data *d = array->private_data;
    for (int64_t i = 0; i < array->n_children; i++)
        if (d->children[i].release)
            d->children[i].release(&d->children[i]);
    if (d->dictionary.release)
        d->dictionary.release(&d->dictionary);
    for (size_t i = 0; i < MAX_BUFFERS; i++)
        pci_free(d->owned[i]);
    pci_free(d->children);
    pci_free(d->list);
    unhold(d->table);
    pci_free(d);
    array->release = NULL;
}

static int init_array(const struct stream *s, struct ArrowArray *array, size_t length,
                      int64_t buffers, int64_t children)
{
    struct array_data *d = pci_calloc(1, sizeof *d);
    memset(array, 0, sizeof *array);
    if (!d)
        return ENOMEM;
    d->table = s->table;
    hold(d->table);
    array->private_data = d;
    array->release = release_array;
    array->length = (int64_t)length;
    array->n_buffers = buffers;
    array->buffers = d->buffers;
    d->children = pci_calloc((size_t)children + 1, sizeof *d->children);
    d->list = pci_calloc((size_t)children + 1, sizeof(struct ArrowArray *));
    if (!d->children || !d->list)
        return ENOMEM;
    array->n_children = children;
    array->children = children ? d->list : NULL;
    for (int64_t i = 0; i < children; i++)
        d->list[i] = &d->children[i];
    return 0;
}

/* Rows [first, first + length) of an array of the file. */
static int slice_array(const struct stream *s, const struct pci_array *a, uint64_t first,
                       size_t length, struct ArrowArray *array)
{
    int status = init_array(s, array, length, a->is_text ? 3 : 2, 0);
    if (status)
        return status;
    array->offset = (int64_t)first;
    array->null_count = a->validity ? -1 : 0;
    array->buffers[0] = a->validity;
    array->buffers[1] = a->values;
    if (a->is_text)
        array->buffers[2] = a->data;
    return 0;
}

static int set_validity(struct ArrowArray *array, const uint8_t *valid, size_t rows)
{
    struct array_data *d = array->private_data;
    uint8_t *bits;
    array->null_count = 0;
    if (!rows || !memchr(valid, 0, rows))
        return 0;
    d->owned[0] = bits = pci_calloc(rows / 8 + 1, 1);
    if (!bits)
        return ENOMEM;
    for (size_t i = 0; i < rows; i++) {
        bits[i / 8] = (uint8_t)(bits[i / 8] | (unsigned)valid[i] << i % 8);
        array->null_count += !valid[i];
    }
    d->buffers[0] = bits;
    return 0;
}

/* A buffer of `count` values of `size` bytes, which the array owns and the caller fills; NULL: out
 * of memory. */
static void *add_buffer(struct ArrowArray *array, size_t number, size_t count, size_t size)
{
    struct array_data *d = array->private_data;
    d->owned[number] = pci_malloc(count + 1, size);
    d->buffers[number] = d->owned[number];
    return d->owned[number];
}

static int copy_texts(struct ArrowArray *array, const pcol_cells *cells, size_t rows)
{
    int64_t *offsets = add_buffer(array, 1, rows + 1, sizeof *offsets);
    size_t size = 0;
    if (!offsets)
        return ENOMEM;
    offsets[0] = 0;
    for (size_t i = 0; i < rows; i++) {
        if (cells->valid[i] && __builtin_add_overflow(size, cells->str[i].size, &size))
            return ENOMEM;
        offsets[i + 1] = (int64_t)size;
    }
    char *data = add_buffer(array, 2, size, 1);
    for (size_t i = 0; data && i < rows; i++)
        if (cells->valid[i] && cells->str[i].size)
            memcpy(data + offsets[i], cells->str[i].data, cells->str[i].size);
    return data ? 0 : ENOMEM;
}

static int copy_lists(const struct stream *s, struct ArrowArray *array, const pcol_cells *cells,
                      size_t rows)
{
    size_t count = (size_t)cells->list[rows];
    int64_t *offsets = add_buffer(array, 1, rows + 1, sizeof *offsets);
    if (!offsets)
        return ENOMEM;
    memcpy(offsets, cells->list, (rows + 1) * sizeof *offsets);
    int status = init_array(s, array->children[0], count, 2, 0);
    int64_t *values = status ? NULL : add_buffer(array->children[0], 1, count, sizeof *values);
    if (values && count)
        memcpy(values, cells->list_values, count * sizeof *values);
    return values ? 0 : ENOMEM;
}

static int copy_numbers(const struct stream_column *c, struct ArrowArray *array,
                        const pcol_cells *cells, size_t rows)
{
    if (c->column->type == PCOL_BOOL) {
        uint8_t *bits = add_buffer(array, 1, rows / 8 + 1, 1);
        if (bits)
            memset(bits, 0, rows / 8 + 1);
        for (size_t i = 0; bits && i < rows; i++)
            bits[i / 8] = (uint8_t)(bits[i / 8] | (unsigned)(cells->i64[i] != 0) << i % 8);
        return bits ? 0 : ENOMEM;
    }
    if (c->coded || c->column->type == PCOL_U32) {
        uint32_t *values = add_buffer(array, 1, rows, sizeof *values);
        if (values && c->coded)
            memcpy(values, cells->codes, rows * sizeof *values);
        for (size_t i = 0; values && !c->coded && i < rows; i++)
            values[i] = (uint32_t)cells->i64[i];
        return values ? 0 : ENOMEM;
    }
    int64_t *values = add_buffer(array, 1, rows, sizeof *values);
    if (values)
        memcpy(values, cells->f64 ? (const void *)cells->f64 : cells->i64, rows * sizeof *values);
    return values ? 0 : ENOMEM;
}

static int copy_column(const struct stream *s, const struct stream_column *c,
                       const pcol_cells *cells, size_t rows, struct ArrowArray *array)
{
    int lists = c->column->type == PCOL_LIST;
    int status = init_array(s, array, rows, cells->str ? 3 : 2, lists);
    if (!status)
        status = set_validity(array, cells->valid, rows);
    if (status)
        return status;
    if (lists)
        return copy_lists(s, array, cells, rows);
    return cells->str ? copy_texts(array, cells, rows) : copy_numbers(c, array, cells, rows);
}

static int fill_batch(const struct stream *s, const pcol_batch *batch, struct ArrowArray *array)
{
    int status = init_array(s, array, batch->rows, 1, s->count);
    for (uint32_t i = 0; !status && i < s->count; i++) {
        const struct stream_column *c = &s->columns[i];
        struct ArrowArray *child = array->children[i];
        if (c->array)
            status = slice_array(s, c->array, batch->first_row, batch->rows, child);
        else
            status = copy_column(s, c, &batch->columns[c->scanned], batch->rows, child);
        if (status || !c->coded)
            continue;
        struct array_data *d = child->private_data;
        child->dictionary = &d->dictionary;
        status = slice_array(s, s->pool, 0, (size_t)s->pool->rows, &d->dictionary);
    }
    return status;
}

/* ---- the stream */

static int fail(struct stream *s, int error, const pcol_error *err)
{
    char place[192];
    size_t used = 0;
    const char *parts[] = {"", "", "out of memory"};
    s->error = error;
    if (err) {
        parts[0] = pcol_error_place(err, place, sizeof place);
        parts[1] = *parts[0] ? ": " : "";
        parts[2] = err->message;
    }
    for (size_t i = 0; i < 3; i++)
        for (const char *at = parts[i]; *at && used + 1 < sizeof s->message; at++)
            s->message[used++] = *at;
    s->message[used] = '\0';
    return error;
}

static int to_errno(pcol_status status)
{
    return status == PCOL_E_NO_MEMORY ? ENOMEM : status == PCOL_E_CANCELLED ? ECANCELED : EIO;
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    struct stream *s = stream->private_data;
    int status = fill_schema(s, out);
    if (!status)
        return 0;
    if (out->release)
        out->release(out);
    return fail(s, status, NULL);
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    struct stream *s = stream->private_data;
    pcol_batch batch = PCOL_INIT(pcol_batch);
    pcol_error err;
    memset(out, 0, sizeof *out);
    if (s->error)
        return s->error;
    pcol_status status = pcol_scan_next(s->scan, &batch, &err);
    if (status != PCOL_OK)
        return fail(s, to_errno(status), &err);
    if (!batch.rows)
        return 0;
    if (!fill_batch(s, &batch, out))
        return 0;
    if (out->release)
        out->release(out);
    return fail(s, ENOMEM, NULL);
}

static const char *get_last_error(struct ArrowArrayStream *stream)
{
    const struct stream *s = stream->private_data;
    return s->error ? s->message : NULL;
}

static void close_stream(struct stream *s)
{
    if (!s)
        return;
    pcol_scan_free(s->scan);
    for (uint32_t i = 0; s->columns && i < s->count; i++)
        pci_free(s->columns[i].name);
    pci_free(s->columns);
    unhold(s->table);
    pci_free(s);
}

static void release_stream(struct ArrowArrayStream *stream)
{
    close_stream(stream->private_data);
    stream->release = NULL;
}

/* ---- opening */

static const int64_t no_offsets[1];
static const struct pci_array empty_pool = {
    .values = no_offsets, .data = "", .width_bits = 64, .is_text = 1, .is_utf8 = 1};

/* A copy of the name; bytes that are not UTF-8, as labels may have, become '?'. */
static char *copy_name(const char *name)
{
    size_t size = strlen(name), step;
    char *copy = pci_malloc(size + 1, 1);
    if (!copy)
        return NULL;
    memcpy(copy, name, size + 1);
    for (size_t i = 0; i < size; i += step) {
        step = pci_utf8_size((const uint8_t *)copy + i, size - i, 0);
        if (!step) {
            copy[i] = '?';
            step = 1;
        }
    }
    return copy;
}

static const char *find_format(const struct stream *s, const struct stream_column *c)
{
    switch (c->column->type) {
    case PCOL_U64:
        return "L";
    case PCOL_F64:
        return c->column->order == PCI_STORED_MS ? "l" : "g";
    case PCOL_U32:
        return "I";
    case PCOL_BOOL:
        return "b";
    case PCOL_LIST:
        return "+L";
    case PCOL_BYTES:
        return "Z";
    case PCOL_STRING:
        return !c->coded ? text_format(c->is_utf8) : s->pool->rows > INT32_MAX ? "I" : "i";
    case PCOL_I64:
        break;
    }
    return "l";
}

/* Chooses how a column is exported. `whole`: its rows are contiguous. */
static pcol_status open_column(struct stream *s, struct stream_column *c, int whole,
                               pcol_error *err)
{
    const pcol_column *column = c->column;
    c->name = copy_name(column->name);
    if (!c->name)
        return pci_fail_memory(err);
    PCI_TRY(pci_check_column_supported(column, err));
    c->coded = pci_column_has_codes(column);
    if ((c->coded || column->is_composed) && !s->pool)
        PCI_TRY(pci_array_of_pool(s->table->file, &s->pool, err));
    if ((c->coded || column->is_composed) && !s->pool)
        s->pool = &empty_pool;
    /* Computed texts are made before, since the schema depends on whether they are UTF-8; not
     * composed ones, which take more memory than the file. */
    if (column->is_composed) {
        PCI_TRY(pci_join_is_of_pool(s->table->file, &c->is_utf8, err));
        c->is_utf8 &= s->pool->is_utf8;
    } else if ((whole && pci_array_is_in_place(column)) ||
               (column->type == PCOL_STRING && !c->coded)) {
        PCI_TRY(pci_array_open(column, &c->array, err));
        c->is_utf8 = c->array->is_utf8;
    }
    c->format = find_format(s, c);
    c->array = whole ? c->array : NULL;
    return PCOL_OK;
}

static pcol_status open_columns(struct stream *s, const pcol_scan_options *o, uint32_t *scanned,
                                uint32_t *scanned_count, pcol_error *err)
{
    for (uint32_t i = 0; i < s->count; i++) {
        struct stream_column *c = &s->columns[i];
        uint32_t number = o->columns ? o->columns[i] : i;
        c->column = pcol_table_column(s->table, number);
        if (!c->column)
            return pci_fail(err, PCOL_E_ARGUMENT, "table %s has no column number %u",
                            s->table->name, (unsigned)number);
        PCI_TRY(open_column(s, c, !o->where_count && !o->selection, err));
        c->scanned = *scanned_count;
        if (!c->array)
            scanned[(*scanned_count)++] = number;
    }
    return PCOL_OK;
}

static pcol_status open_stream(struct stream *s, const pcol_scan_options *given, pcol_error *err)
{
    pcol_scan_options o = *given;
    uint32_t count = 0;
    s->count = o.columns ? o.column_count : s->table->column_count;
    s->columns = pci_calloc(s->count + (size_t)1, sizeof *s->columns);
    uint32_t *scanned = pci_malloc(s->count + (size_t)1, sizeof *scanned);
    pcol_status status =
        s->columns && scanned ? open_columns(s, &o, scanned, &count, err) : pci_fail_memory(err);
    if (status == PCOL_OK) {
        o.columns = scanned;
        o.column_count = count;
        o.batch_rows = o.batch_rows ? o.batch_rows : ARROW_BATCH_ROWS;
        o.flags |= PCOL_SCAN_CODES;
        status = pci_scan_new(s->table, &o, 1, &s->scan, err);
    }
    pci_free(scanned);
    return status;
}

pcol_status pcol_table_arrow(const pcol_table *table, const pcol_scan_options *options,
                             struct ArrowArrayStream *out, pcol_error *err)
{
    pcol_scan_options own;
    struct pci_control scope;
    PCI_REQUIRE(out, err);
    memset(out, 0, sizeof *out);
    PCI_REQUIRE(table, err);
    PCI_STRUCT_READ(pcol_scan_options, own, options, err);
    PCI_TRY(pci_control_init(&scope, own.control, "read", err));
    struct stream *s;
    pcol_status status;
    PCI_TRY(PCI_CALLOC(s, 1, err));
    s->table = table;
    hold(table);
    PCI_CONTROLLED(&scope, status, open_stream(s, &own, err), err);
    if (status != PCOL_OK) {
        close_stream(s);
        return status;
    }
    *out = (struct ArrowArrayStream){.get_schema = get_schema,
                                     .get_next = get_next,
                                     .get_last_error = get_last_error,
                                     .release = release_stream,
                                     .private_data = s};
    return PCOL_OK;
}

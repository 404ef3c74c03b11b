/*
 * builder.c - interning of functions, groups, stacks and sample types; sources and samples
 *
 * Rows are interned through hash tables over arrays of structs; every reference is checked against
 * the rows that exist. Tests: tests/unit/test_builder.c.
 */
#include "builder/builder.h"

#include "builder/idle_samples.h"
#include "util/alloc.h"
#include "util/control.h"
#include "util/sized_struct.h"

#include <stdio.h>

#define DEFAULT_MEMORY (UINT64_C(24) << 20)

static const char *const known_tables[PCI_T_COUNT] = {
    [PCI_T_STRINGS] = "strings",
    [PCI_T_SOURCES] = "sources",
    [PCI_T_SOURCE_META] = "source_meta",
    [PCI_T_SAMPLE_TYPES] = "sample_types",
    [PCI_T_SOURCE_TYPES] = "source_types",
    [PCI_T_FUNCTIONS] = "functions",
    [PCI_T_LOCATIONS] = "locations",
    [PCI_T_GROUPS] = "location_groups",
    [PCI_T_MAPPINGS] = "mappings",
    [PCI_T_THREADS] = "threads",
    [PCI_T_STACKS] = "stacks",
    [PCI_T_SAMPLES] = "samples",
    [PCI_T_STACK_SUMS] = "stack_sums",
    [PCI_T_FUNCTION_SUMS] = "function_sums",
    [PCI_T_SAMPLE_ZONES] = "sample_zones",
    [PCI_T_SAMPLE_VALUES] = "sample_values",
    [PCI_T_SAMPLE_LOCATIONS] = "sample_locations",
};

/* Columns filled by the builder's own functions. */
static const struct known_column {
    uint8_t table, type, references, drop;
    const char *name;
} known_columns[PCI_C_COUNT] = {
    [PCI_C_SOURCE_TYPE] = {PCI_T_SOURCES, PCF_STRING, 0, PCI_DROP_NEVER, "type"},
    [PCI_C_SOURCE_URI] = {PCI_T_SOURCES, PCF_STRING, 0, PCI_DROP_NULL, "uri"},
    [PCI_C_SOURCE_TIMESTAMP] = {PCI_T_SOURCES, PCF_STRING, 0, PCI_DROP_NULL, "timestamp"},
    [PCI_C_SOURCE_PERIOD] = {PCI_T_SOURCES, PCF_I64, 0, PCI_DROP_NULL, "period"},
    [PCI_C_SOURCE_PERIOD_TYPE] = {PCI_T_SOURCES, PCF_STRING, 0, PCI_DROP_NULL, "period_type"},
    [PCI_C_SOURCE_PERIOD_UNIT] = {PCI_T_SOURCES, PCF_STRING, 0, PCI_DROP_NULL, "period_unit"},
    [PCI_C_SOURCE_INTERVAL] = {PCI_T_SOURCES, PCF_I64, 0, PCI_DROP_NULL, "interval_ns"},
    [PCI_C_SOURCE_DURATION] = {PCI_T_SOURCES, PCF_I64, 0, PCI_DROP_NULL, "duration_ns"},
    [PCI_C_SOURCE_DEFAULT_TYPE] = {PCI_T_SOURCES, PCF_STRING, 0, PCI_DROP_NULL,
                                   "default_sample_type"},
    [PCI_C_SOURCE_COLLAPSED] = {PCI_T_SOURCES, PCF_BOOL, 0, PCI_DROP_ZERO, "collapsed"},
    [PCI_C_META_SOURCE] = {PCI_T_SOURCE_META, PCF_U32, PCI_T_SOURCES + 1, PCI_DROP_NEVER, "source"},
    [PCI_C_META_KEY] = {PCI_T_SOURCE_META, PCF_STRING, 0, PCI_DROP_NEVER, "key"},
    [PCI_C_META_VALUE] = {PCI_T_SOURCE_META, PCF_STRING, 0, PCI_DROP_NEVER, "value"},
    [PCI_C_TYPES_SOURCE] = {PCI_T_SOURCE_TYPES, PCF_U32, PCI_T_SOURCES + 1, PCI_DROP_NEVER,
                            "source"},
    [PCI_C_TYPES_TYPE] = {PCI_T_SOURCE_TYPES, PCF_U32, PCI_T_SAMPLE_TYPES + 1, PCI_DROP_NEVER,
                          "sample_type"},
    [PCI_C_SAMPLE_SOURCE] = {PCI_T_SAMPLES, PCF_U32, PCI_T_SOURCES + 1, PCI_DROP_ZERO, "source"},
    [PCI_C_SAMPLE_STACK] = {PCI_T_SAMPLES, PCF_U32, PCI_T_STACKS + 1, PCI_DROP_NULL, "stack"},
    [PCI_C_SAMPLE_THREAD] = {PCI_T_SAMPLES, PCF_U32, PCI_T_THREADS + 1, PCI_DROP_NULL, "thread"},
    [PCI_C_SAMPLE_TIME] = {PCI_T_SAMPLES, PCF_I64, 0, PCI_DROP_NULL, "time"},
    [PCI_C_SAMPLE_DURATION] = {PCI_T_SAMPLES, PCF_I64, 0, PCI_DROP_NULL, "duration"},
    [PCI_C_SAMPLE_CPU] = {PCI_T_SAMPLES, PCF_I64, 0, PCI_DROP_NULL, "cpu_delta"},
};

static pcol_status add_known_tables(pcol_builder *b, pcol_error *err)
{
    uint32_t column;
    for (size_t i = 0; i < PCI_T_COUNT; i++) {
        PCI_TRY(pci_builder_add_table(b, known_tables[i], err));
        b->tables[i].fixed = i != PCI_T_MAPPINGS && i != PCI_T_THREADS;
    }
    for (size_t i = 0; i < PCI_C_COUNT; i++) {
        const struct known_column *k = &known_columns[i];
        PCI_TRY(pci_column_buffer_new(b, k->table, k->name, k->type, k->references, k->drop,
                                      &column, err));
    }
    return PCOL_OK;
}

pcol_status pcol_builder_new(const pcol_builder_options *options, pcol_builder **builder,
                             pcol_error *err)
{
    PCI_REQUIRE(builder, err);
    pcol_builder_options used;
    pcol_builder *b;
    pcol_status status;
    *builder = NULL;
    PCI_STRUCT_READ(pcol_builder_options, used, options, err);
    uint64_t memory = used.memory_bytes ? used.memory_bytes : DEFAULT_MEMORY;
    const char *directory = used.temporary_folder ? used.temporary_folder : "/tmp";
    PCI_TRY(PCI_CALLOC(b, 1, err));
    b->threads = used.threads;
    status = pci_spill_store_init(&b->store, memory, directory, err);
    PCI_THEN(status, pci_call_tree_init(&b->tree, err));
    pci_node_store_init(&b->nodes, &b->store);
    pci_source_order_init(&b->order);
    PCI_THEN(status, add_known_tables(b, err));
    if (status != PCOL_OK)
        pcol_builder_free(b);
    else
        *builder = b;
    return status;
}

void pcol_builder_free(pcol_builder *builder)
{
    if (!builder)
        return;
    for (size_t i = 0; i < builder->column_count; i++)
        pci_column_buffer_free(builder->columns[i]);
    for (size_t i = 0; i < builder->table_count; i++)
        pci_free(builder->tables[i].name), pci_free(builder->tables[i].uses.marks);
    pci_free(builder->columns);
    pci_free(builder->tables);
    pci_free(builder->functions);
    pci_free(builder->groups);
    pci_free(builder->lines);
    pci_free(builder->types);
    pci_hash_clear(&builder->type_hash);
    pci_hash_clear(&builder->column_hash);
    pci_row_index_clear(&builder->function_index);
    pci_row_index_clear(&builder->group_index);
    pci_pair_set_clear(&builder->source_types);
    pci_string_pool_clear(&builder->meta_keys);
    pci_pair_set_clear(&builder->metas);
    pci_source_order_clear(&builder->order);
    pci_string_pool_clear(&builder->strings);
    pci_call_tree_clear(&builder->tree);
    pci_interned_free(builder);
    pci_intern_clear(&builder->variants);
    pci_label_store_clear(&builder->labels);
    pci_node_store_clear(&builder->nodes);
    pci_spill_store_close(&builder->store);
    pci_free(builder);
}

pcol_status pcol_builder_string(pcol_builder *builder, const char *data, size_t size,
                                uint32_t *string, pcol_error *err)
{
    PCI_REQUIRE(string, err);
    *string = 0;
    PCI_TRY(pci_builder_check_open(builder, err));
    PCI_REQUIRE_MANY(data, size, err);
    return pci_string_pool_intern(&builder->strings, data, size, string, err);
}

/* ---- functions, groups, stacks ---- */

void pci_row_index_clear(struct pci_row_index *index)
{
    pci_free(index->first);
    pci_hash_clear(&index->hash);
    *index = (struct pci_row_index){0};
}

/* Where `first` has the row of a key; NULL: the hash table has it. PCOL_NONE has no place. */
static pcol_status find_first(struct pci_row_index *index, uint32_t key, uint32_t **first,
                              pcol_error *err)
{
    *first = NULL;
    if (key == PCOL_NONE)
        return PCOL_OK;
    if (key >= index->size) {
        PCI_TRY(PCI_GROW(index->first, index->capacity, (size_t)key + 1, err));
        memset(index->first + index->size, 0,
               (index->capacity - index->size) * sizeof *index->first);
        index->size = index->capacity;
    }
    *first = &index->first[key];
    return PCOL_OK;
}

static pcol_status add_to_index(struct pci_row_index *index, uint32_t *first, uint64_t hash,
                                size_t row, pcol_error *err)
{
    if (!first || *first)
        return pci_hash_add(&index->hash, hash, (uint32_t)row, err);
    *first = (uint32_t)row + 1;
    return PCOL_OK;
}

static int same_function(const struct pci_function_record *a, const struct pci_function_record *b)
{
    return a->name == b->name && a->system_name == b->system_name && a->filename == b->filename &&
           ((a->bits ^ b->bits) & 1) == 0 && a->start_line == b->start_line &&
           a->variant == b->variant;
}

static int has_string(const pcol_builder *b, uint32_t string)
{
    return string == PCOL_NONE || string < b->strings.count;
}

static pcol_status check_flags(uint32_t flags, uint32_t known, const char *type, pcol_error *err)
{
    return flags & ~known ? pci_fail(err, PCOL_E_ARGUMENT, "unknown flags of the %s: 0x%x", type,
                                     (unsigned)flags)
                          : PCOL_OK;
}

pcol_status pcol_builder_function(pcol_builder *builder, const pcol_function *function,
                                  uint32_t *row, pcol_error *err)
{
    PCI_REQUIRE(row, err);
    *row = 0;
    PCI_TRY(pci_builder_check_open(builder, err));
    PCI_REQUIRE(function, err);
    pcol_builder *b = builder;
    struct pci_function_record f;
    uint64_t hash = 0;
    size_t slot;
    uint32_t id, *first;
    PCI_STRUCT_VIEW(pcol_function, function, err);
    PCI_TRY(check_flags(function->flags, PCOL_FUNCTION_HAS_START_LINE | PCOL_FUNCTION_HAS_ID,
                        "pcol_function", err));
    f = (struct pci_function_record){.name = function->name,
                                     .system_name = function->system_name,
                                     .filename = function->filename,
                                     .variant = function->variant};
    if (!has_string(b, f.name) || !has_string(b, f.system_name) || !has_string(b, f.filename))
        return pci_fail(err, PCOL_E_ARGUMENT, "function refers to a string that does not exist");
    if (f.system_name == PCOL_NONE)
        f.system_name = f.name;
    if (function->flags & PCOL_FUNCTION_HAS_START_LINE)
        f.bits |= 1, f.start_line = function->start_line;
    id = b->function_index.last + 1;
    if (id < b->function_count && same_function(&b->functions[id], &f)) {
        *row = b->function_index.last = id;
        return PCOL_OK;
    }
    PCI_TRY(find_first(&b->function_index, f.name, &first, err));
    if (first && *first && same_function(&b->functions[*first - 1], &f)) {
        *row = b->function_index.last = *first - 1;
        return PCOL_OK;
    }
    if (!first || *first) {
        hash = pci_hash_bytes(&f, sizeof f);
        slot = pci_hash_start(&b->function_index.hash, hash);
        while ((id = pci_hash_next(&b->function_index.hash, hash, &slot)) != PCI_HASH_NONE)
            if (same_function(&b->functions[id], &f)) {
                *row = b->function_index.last = id;
                return PCOL_OK;
            }
    }
    if (function->flags & PCOL_FUNCTION_HAS_ID) /* not part of the key: the first id is stored */
        f.bits |= 2, f.id = function->id;
    if (b->function_count >= PCOL_NONE - 1)
        return pci_fail(err, PCOL_E_LIMIT, "more than 4294967294 functions");
    PCI_TRY(PCI_GROW(b->functions, b->function_capacity, b->function_count + 1, err));
    PCI_TRY(add_to_index(&b->function_index, first, hash, b->function_count, err));
    b->functions[b->function_count] = f;
    *row = (uint32_t)b->function_count++;
    return PCOL_OK;
}

static int same_line(const pcol_line *a, const pcol_line *b)
{
    return a->function == b->function && a->filename == b->filename && a->line == b->line &&
           a->column == b->column && a->flags == b->flags;
}

/* Copy a line with all other bytes 0, padding included, as it is hashed bytewise. */
static void normalize_line(pcol_line *normal, const pcol_line *line)
{
    memset(normal, 0, sizeof *normal);
    normal->function = line->function;
    normal->filename = line->function == PCOL_NONE ? line->filename : PCOL_NONE;
    normal->flags = line->flags;
    normal->line = line->flags & PCOL_LINE_HAS_LINE ? line->line : 0;
    normal->column = line->flags & PCOL_LINE_HAS_COLUMN ? line->column : 0;
}

static int same_group(const pcol_builder *b, uint32_t id, const struct pci_group_record *g,
                      const pcol_line *lines)
{
    const struct pci_group_record *o = &b->groups[id];
    if (o->line_count != g->line_count || o->mapping != g->mapping || ((o->bits ^ g->bits) & ~2u) ||
        o->address != g->address || o->variant != g->variant || o->file_number != g->file_number)
        return 0;
    for (uint32_t i = 0; i < g->line_count; i++)
        if (!same_line(&b->lines[o->first_line + i], &lines[i]))
            return 0;
    return 1;
}

static pcol_status check_group(const pcol_builder *b, const pcol_group *group, pcol_error *err)
{
    PCI_TRY(check_flags(group->flags,
                        PCOL_GROUP_HAS_ADDRESS | PCOL_GROUP_HAS_ID | PCOL_GROUP_HAS_FILE_NUMBER |
                            PCOL_GROUP_FOLDED,
                        "pcol_group", err));
    for (size_t i = 0; i < group->line_count; i++) {
        const pcol_line *l = &group->lines[i];
        PCI_TRY(check_flags(l->flags, PCOL_LINE_HAS_LINE | PCOL_LINE_HAS_COLUMN, "pcol_line", err));
        if ((l->function != PCOL_NONE && l->function >= b->function_count) ||
            (l->function == PCOL_NONE && !has_string(b, l->filename)))
            return pci_fail(
                err, PCOL_E_ARGUMENT,
                "line %zu of a group refers to a function or string that does not exist", i);
    }
    if (b->group_count >= PCOL_NONE - 1 || group->line_count > PCOL_NONE - 2 - b->line_count)
        return pci_fail(err, PCOL_E_LIMIT, "more than 4294967294 locations");
    return PCOL_OK;
}

pcol_status pcol_builder_group(pcol_builder *builder, const pcol_group *group, uint32_t *row,
                               pcol_error *err)
{
    PCI_REQUIRE(row, err);
    *row = 0;
    PCI_TRY(pci_builder_check_open(builder, err));
    PCI_REQUIRE(group, err);
    pcol_builder *b = builder;
    struct pci_group_record g;
    uint64_t hash = 0;
    size_t slot;
    uint32_t id, *first;
    pcol_line *lines;
    PCI_STRUCT_VIEW(pcol_group, group, err);
    PCI_REQUIRE_MANY(group->lines, group->line_count, err);
    PCI_TRY(check_group(b, group, err));
    memset(&g, 0, sizeof g);
    g.line_count = (uint32_t)group->line_count;
    g.mapping = group->mapping;
    g.variant = group->variant;
    g.bits = group->flags & ~PCOL_GROUP_HAS_ID;
    g.address = group->flags & PCOL_GROUP_HAS_ADDRESS ? group->address : 0;
    g.file_number = group->flags & PCOL_GROUP_HAS_FILE_NUMBER ? group->file_number : 0;
    /* The lines are appended first, and not kept if the group is known. */
    PCI_TRY(PCI_GROW(b->lines, b->line_capacity, b->line_count + g.line_count + 1, err));
    lines = b->lines + b->line_count;
    for (size_t i = 0; i < g.line_count; i++)
        normalize_line(&lines[i], &group->lines[i]);
    id = b->group_index.last + 1;
    if (id < b->group_count && same_group(b, id, &g, lines)) {
        *row = b->group_index.last = id;
        return PCOL_OK;
    }
    PCI_TRY(find_first(&b->group_index, g.line_count ? lines[0].function : PCOL_NONE, &first, err));
    if (first && *first && same_group(b, *first - 1, &g, lines)) {
        *row = b->group_index.last = *first - 1;
        return PCOL_OK;
    }
    if (!first || *first) {
        hash = pci_hash_pair(pci_hash_bytes(&g, sizeof g),
                             pci_hash_bytes(lines, g.line_count * sizeof *lines));
        slot = pci_hash_start(&b->group_index.hash, hash);
        while ((id = pci_hash_next(&b->group_index.hash, hash, &slot)) != PCI_HASH_NONE)
            if (same_group(b, id, &g, lines)) {
                *row = b->group_index.last = id;
                return PCOL_OK;
            }
    }
    PCI_TRY(PCI_GROW(b->groups, b->group_capacity, b->group_count + 1, err));
    PCI_TRY(add_to_index(&b->group_index, first, hash, b->group_count, err));
    g.first_line = (uint32_t)b->line_count;
    if (group->flags & PCOL_GROUP_HAS_ID)
        g.bits |= 2, g.id = group->id;
    b->line_count += g.line_count;
    if (g.mapping != PCOL_NONE && g.mapping >= b->mapping_row_limit)
        b->mapping_row_limit = (uint64_t)g.mapping + 1;
    b->groups[b->group_count] = g;
    *row = (uint32_t)b->group_count++;
    return PCOL_OK;
}

pcol_status pcol_builder_stack(pcol_builder *builder, uint32_t parent, uint32_t group,
                               uint32_t *stack, pcol_error *err)
{
    PCI_REQUIRE(stack, err);
    *stack = 0;
    PCI_TRY(pci_builder_check_open(builder, err));
    if (parent >= builder->tree.count || group >= builder->group_count)
        return pci_fail(err, PCOL_E_ARGUMENT,
                        "stack refers to a parent or location group that does not exist");
    return pci_call_tree_child(&builder->tree, parent, group, stack, err);
}

/* ---- sources and sample types ---- */

static pcol_status set_text(pcol_builder *b, enum pci_known_column column, uint64_t row,
                            const char *text, pcol_error *err)
{
    uint32_t code;
    if (!text)
        return PCOL_OK;
    PCI_TRY(pci_string_pool_intern(&b->strings, text, strlen(text), &code, err));
    return pci_column_buffer_set(b->columns[column], row, code, err);
}

static pcol_status set_number(pcol_builder *b, enum pci_known_column column, uint64_t row,
                              int has_value, int64_t value, pcol_error *err)
{
    return has_value ? pci_column_buffer_set(b->columns[column], row, value, err) : PCOL_OK;
}

pcol_status pcol_builder_source(pcol_builder *builder, const pcol_source *source, uint32_t *row,
                                pcol_error *err)
{
    PCI_REQUIRE(row, err);
    *row = 0;
    PCI_TRY(pci_builder_check_open(builder, err));
    PCI_REQUIRE(source, err);
    uint32_t r = builder->source_count;
    PCI_STRUCT_VIEW(pcol_source, source, err);
    const pcol_source *s = source;
    PCI_TRY(check_flags(source->flags,
                        PCOL_SOURCE_HAS_PERIOD | PCOL_SOURCE_HAS_INTERVAL |
                            PCOL_SOURCE_HAS_DURATION | PCOL_SOURCE_COLLAPSED,
                        "pcol_source", err));
    if (!s->type)
        return pci_fail(err, PCOL_E_ARGUMENT, "the type of a source is NULL");
    if (r >= PCOL_NONE - 1)
        return pci_fail(err, PCOL_E_LIMIT, "more than 4294967294 sources");
    if (r)
        PCI_TRY(pci_source_order_flush(builder, err));
    PCI_TRY(set_text(builder, PCI_C_SOURCE_TYPE, r, s->type, err));
    PCI_TRY(set_text(builder, PCI_C_SOURCE_URI, r, s->uri, err));
    PCI_TRY(set_text(builder, PCI_C_SOURCE_TIMESTAMP, r, s->timestamp, err));
    PCI_TRY(set_text(builder, PCI_C_SOURCE_PERIOD_TYPE, r, s->period_type, err));
    PCI_TRY(set_text(builder, PCI_C_SOURCE_PERIOD_UNIT, r, s->period_unit, err));
    PCI_TRY(set_text(builder, PCI_C_SOURCE_DEFAULT_TYPE, r, s->default_sample_type, err));
    PCI_TRY(set_number(builder, PCI_C_SOURCE_PERIOD, r, s->flags & PCOL_SOURCE_HAS_PERIOD,
                       s->period, err));
    PCI_TRY(set_number(builder, PCI_C_SOURCE_INTERVAL, r, s->flags & PCOL_SOURCE_HAS_INTERVAL,
                       s->interval_ns, err));
    PCI_TRY(set_number(builder, PCI_C_SOURCE_DURATION, r, s->flags & PCOL_SOURCE_HAS_DURATION,
                       s->duration_ns, err));
    PCI_TRY(
        set_number(builder, PCI_C_SOURCE_COLLAPSED, r, s->flags & PCOL_SOURCE_COLLAPSED, 1, err));
    builder->source_count++;
    *row = r;
    return PCOL_OK;
}

/* Types named before the first source belong to the sources whose samples use them. */
static pcol_status record_type(pcol_builder *b, uint32_t type, pcol_error *err)
{
    if (b->source_count == 0 || b->types[type].recorded == b->source_count)
        return PCOL_OK;
    return pci_source_type_record(b, b->source_count - 1, type, err);
}

pcol_status pci_builder_sample_type(pcol_builder *b, uint32_t type, uint32_t unit, unsigned flags,
                                    uint32_t ordinal, uint32_t *row, pcol_error *err)
{
    struct pci_sample_type_record t = {
        .type = type, .unit = unit, .flags = flags, .ordinal = ordinal};
    uint64_t hash = pci_hash_pair((uint64_t)type << 32 | unit, (uint64_t)flags << 32 | ordinal);
    size_t slot = pci_hash_start(&b->type_hash, hash);
    char name[32];
    while ((*row = pci_hash_next(&b->type_hash, hash, &slot)) != PCI_HASH_NONE) {
        const struct pci_sample_type_record *o = &b->types[*row];
        if (o->type == t.type && o->unit == t.unit && o->flags == flags && o->ordinal == ordinal)
            return record_type(b, *row, err);
    }
    *row = 0;
    if (b->type_count >= PCF_MAX_COLUMNS / 2)
        return pci_fail(err, PCOL_E_LIMIT, "more than %u sample types", PCF_MAX_COLUMNS / 2);
    PCI_TRY(PCI_GROW(b->types, b->type_capacity, b->type_count + 1, err));
    snprintf(name, sizeof name, "value.%zu", b->type_count);
    PCI_TRY(pci_column_buffer_new(b, PCI_T_SAMPLES, name,
                                  flags & PCOL_SAMPLE_TYPE_DOUBLE ? PCF_F64 : PCF_I64, 0,
                                  PCI_DROP_NEVER, &t.column, err));
    PCI_TRY(pci_hash_add(&b->type_hash, hash, (uint32_t)b->type_count, err));
    *row = (uint32_t)b->type_count;
    b->types[b->type_count++] = t;
    return record_type(b, *row, err);
}

pcol_status pcol_builder_sample_type(pcol_builder *builder, const char *type, const char *unit,
                                     unsigned flags, uint32_t ordinal, uint32_t *row,
                                     pcol_error *err)
{
    PCI_REQUIRE(row, err);
    *row = 0;
    PCI_TRY(pci_builder_check_open(builder, err));
    PCI_REQUIRE(type, err);
    PCI_REQUIRE(unit, err);
    uint32_t type_string, unit_string;
    if (flags & ~(PCOL_SAMPLE_TYPE_GAUGE | PCOL_SAMPLE_TYPE_DOUBLE))
        return pci_fail(err, PCOL_E_ARGUMENT, "unknown flags of a sample type: 0x%x", flags);
    PCI_TRY(pci_string_pool_intern(&builder->strings, type, strlen(type), &type_string, err));
    PCI_TRY(pci_string_pool_intern(&builder->strings, unit, strlen(unit), &unit_string, err));
    return pci_builder_sample_type(builder, type_string, unit_string, flags, ordinal, row, err);
}

/* ---- samples ---- */

static pcol_status check_sample(const pcol_builder *b, const pcol_sample *s, pcol_error *err)
{
    PCI_TRY(check_flags(s->flags,
                        PCOL_SAMPLE_HAS_TIME | PCOL_SAMPLE_HAS_DURATION | PCOL_SAMPLE_HAS_CPU_DELTA,
                        "pcol_sample", err));
    if (s->source >= b->source_count)
        return pci_fail(err, PCOL_E_ARGUMENT, "sample refers to source %u, which does not exist",
                        s->source);
    if (s->stack != PCOL_NONE && s->stack >= b->tree.count)
        return pci_fail(err, PCOL_E_ARGUMENT, "sample refers to a stack that does not exist");
    if ((s->flags & PCOL_SAMPLE_HAS_DURATION) && s->duration_ns < 0)
        return pci_fail(err, PCOL_E_ARGUMENT, "the duration of a sample is negative");
    if ((s->flags & PCOL_SAMPLE_HAS_TIME) && (s->flags & PCOL_SAMPLE_HAS_DURATION) &&
        !pci_sample_ends(s->time_ns, s->duration_ns))
        return pci_fail(err, PCOL_E_ARGUMENT, "a sample ends beyond 64 bits of nanoseconds");
    if (b->sample_count >= PCF_MAX_ROWS)
        return pci_fail(err, PCOL_E_LIMIT, "more than 2^48 samples");
    return PCOL_OK;
}

/* Checked before anything is appended, so that a rejected sample does not affect later ones. */
static pcol_status check_values(pcol_builder *b, const pcol_sample *s, pcol_error *err)
{
    PCI_REQUIRE_MANY(s->values, s->value_count, err);
    uint64_t turn = ++b->sample_serial;
    for (size_t i = 0; i < s->value_count; i++) {
        uint32_t type = s->values[i].sample_type;
        if (type >= b->type_count)
            return pci_fail(err, PCOL_E_ARGUMENT, "sample type %u does not exist", type);
        if (b->types[type].last_sample == turn)
            return pci_fail(err, PCOL_E_ARGUMENT, "a sample has two values of sample type %u",
                            type);
        b->types[type].last_sample = turn;
    }
    return PCOL_OK;
}

enum { SAMPLES_OF_WORK = 256 };

pcol_status pcol_builder_sample(pcol_builder *builder, const pcol_sample *sample, uint64_t *row,
                                pcol_error *err)
{
    PCI_TRY(pci_builder_check_open(builder, err));
    PCI_REQUIRE(sample, err);
    pcol_builder *b = builder;
    uint64_t r = b->sample_count;
    PCI_STRUCT_VIEW(pcol_sample, sample, err);
    if (r % SAMPLES_OF_WORK == 0) /* of an import */
        PCI_TRY(pci_work(SAMPLES_OF_WORK * sizeof *sample, err));
    PCI_TRY(check_sample(b, sample, err));
    PCI_TRY(check_values(b, sample, err));
    PCI_TRY(pci_column_buffer_set(b->columns[PCI_C_SAMPLE_SOURCE], r, sample->source, err));
    if (sample->stack != PCOL_NONE)
        PCI_TRY(pci_column_buffer_set(b->columns[PCI_C_SAMPLE_STACK], r, sample->stack, err));
    if (sample->thread != PCOL_NONE) {
        struct pci_column_buffer *thread = b->columns[PCI_C_SAMPLE_THREAD];
        if (sample->thread >= thread->named)
            thread->named = (uint64_t)sample->thread + 1;
        PCI_TRY(pci_column_buffer_set(thread, r, sample->thread, err));
    }
    if (sample->flags & PCOL_SAMPLE_HAS_TIME)
        PCI_TRY(pci_column_buffer_set(b->columns[PCI_C_SAMPLE_TIME], r, sample->time_ns, err));
    if (sample->flags & PCOL_SAMPLE_HAS_DURATION)
        PCI_TRY(
            pci_column_buffer_set(b->columns[PCI_C_SAMPLE_DURATION], r, sample->duration_ns, err));
    if (sample->flags & PCOL_SAMPLE_HAS_CPU_DELTA)
        PCI_TRY(pci_column_buffer_set(b->columns[PCI_C_SAMPLE_CPU], r, sample->cpu_delta_ns, err));
    for (size_t i = 0; i < sample->value_count; i++) {
        const pcol_value *v = &sample->values[i];
        if (b->types[v->sample_type].recorded != sample->source + 1)
            PCI_TRY(pci_source_type_record(b, sample->source, v->sample_type, err));
        PCI_TRY(
            pci_column_buffer_set(b->columns[b->types[v->sample_type].column], r, v->as.i64, err));
    }
    b->sample_count++;
    if (row)
        *row = r;
    return PCOL_OK;
}

/*
 * merge_case.c - generation and description of profiles (merge_case.h)
 */
#include "merge_case.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t together_seed;

uint32_t together_dice(uint32_t sides)
{
    together_seed = together_seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(together_seed >> 33) % sides;
}

static uint32_t str(pcol_builder *b, const char *text)
{
    uint32_t code;
    OK(pcol_builder_string(b, text, strlen(text), &code, e));
    return code;
}

static uint32_t word(pcol_builder *b)
{
    char text[16];
    snprintf(text, sizeof text, "w%u", together_dice(12));
    return str(b, text);
}

static uint32_t column(pcol_builder *b, uint32_t table, const char *name, pcol_type type,
                       const char *to)
{
    uint32_t c, references = 0;
    if (to) {
        OK(pcol_builder_table(b, to, &references, e));
        references++;
    }
    OK(pcol_builder_column(b, table, name, type, references, &c, e));
    return c;
}

static uint32_t table(pcol_builder *b, const char *name)
{
    uint32_t t;
    OK(pcol_builder_table(b, name, &t, e));
    return t;
}

/* ---- making a profile */

enum { FUNCTIONS = 12, GROUPS = 20, STACKS = 40, SAMPLES = 60, MARKERS = 30 };

struct profile {
    pcol_builder *b;
    uint32_t source, thread;
    uint32_t functions[FUNCTIONS], groups[GROUPS], stacks[STACKS];
    int reversed; /* keys are met in another order */
    int silent;   /* the order of tables is left unsaid */
};

static uint64_t tree(struct profile *p, int rows)
{
    pcol_builder *b = p->b;
    struct pci_new_node node = {.parent = PCI_NO_NODE, .tag = PCI_NODE_OBJECT};
    uint64_t root, member;
    OK(pci_builder_node(b, &node, &root, e));
    for (uint32_t i = 0; i < together_dice(4); i++) {
        node = (struct pci_new_node){.parent = root, .key = word(b), .tag = PCI_NODE_STRING};
        node.text = word(b);
        OK(pci_builder_node(b, &node, &member, e));
        node = (struct pci_new_node){.parent = root, .key = word(b)};
        node.tag = together_dice(2) ? PCI_NODE_INTEGERS : PCI_NODE_DOUBLES;
        OK(pci_builder_node(b, &node, &member, e));
        for (uint32_t k = 0; k < together_dice(5); k++) {
            if (node.tag == PCI_NODE_INTEGERS)
                OK(pci_builder_node_integer(b, member, together_dice(100), e));
            else
                OK(pci_builder_node_double(b, member, together_dice(100) / 8.0, e));
        }
    }
    if (rows) {
        node = (struct pci_new_node){.parent = root, .key = str(b, "cause"), .tag = PCI_NODE_ROW};
        node.text = str(b, "stacks");
        node.as.i64 = p->stacks[together_dice(STACKS)];
        OK(pci_builder_node(b, &node, &member, e));
    }
    return root;
}

/* named: the row is a group with a function. */
static void labels(struct profile *p, uint32_t t, uint64_t row, const char *prefix, int trees,
                   int named)
{
    pcol_builder *b = p->b;
    struct pci_label list[6];
    uint32_t count = together_dice(6);
    uint64_t extra = PCI_NO_NODE;
    memset(list, 0, sizeof list);
    if (together_dice(8) == 0)
        return;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t k = p->reversed ? 5 - i : i;
        char key[32];
        snprintf(key, sizeof key, "%s%u", prefix, together_dice(4) ? k : together_dice(3));
        list[i] =
            (struct pci_label){.key = str(b, key), .unit = PCOL_NONE, .joined = !together_dice(12)};
        list[i].kind = k % 3 == 0   ? PCI_LABEL_INTEGER
                       : k % 3 == 1 ? PCI_LABEL_STRING
                                    : PCI_LABEL_STACK;
        if (t == PCI_T_GROUPS && list[i].kind == PCI_LABEL_STACK) /* groups come before stacks */
            list[i].kind = named ? PCI_LABEL_NAME : PCI_LABEL_NULL;
        list[i].text = word(b);
        list[i].as.i64 = list[i].kind == PCI_LABEL_STACK ? p->stacks[together_dice(STACKS)]
                                                         : together_dice(1000);
    }
    if (trees && together_dice(3) == 0) {
        extra = tree(p, 1);
        if (count < 6 && together_dice(2))
            list[count++] = (struct pci_label){
                .kind = PCI_LABEL_NULL, .key = str(b, "none"), .unit = PCOL_NONE};
    }
    OK(pci_builder_labels(b, t, row, list, count, &extra, e));
    if (extra != PCI_NO_NODE)
        OK(pci_builder_extra(b, t, row, extra, e));
}

static void code(struct profile *p)
{
    pcol_builder *b = p->b;
    pci_builder_begin_input(b);
    uint32_t mappings = table(b, "mappings"), categories = table(b, "categories");
    uint32_t of_mapping[2] = {column(b, mappings, "filename", PCOL_STRING, NULL),
                              column(b, mappings, "start", PCOL_U64, NULL)};
    uint32_t mapping_id = column(b, mappings, "id", PCOL_U64, NULL);
    uint32_t of_category[1] = {column(b, categories, "name", PCOL_STRING, NULL)};
    uint32_t of_function[2] = {column(b, PCI_T_FUNCTIONS, "is_js", PCOL_BOOL, NULL),
                               column(b, PCI_T_FUNCTIONS, "category", PCOL_U32, "categories")};
    for (uint32_t i = 0; i < FUNCTIONS; i++) {
        pcol_function f = PCOL_INIT(pcol_function);
        struct pci_cell_value cells[2] = {{together_dice(2), 1}, {0, 1}}, name = {word(b), 1};
        uint32_t row;
        OK(pci_builder_intern(b, categories, of_category, &name, 1, 0, &row, NULL, e));
        cells[1] = (struct pci_cell_value){row, together_dice(2) != 0};
        f.name = word(b);
        f.system_name = PCOL_NONE;
        f.filename = together_dice(2) ? PCOL_NONE : word(b);
        f.id = 100 + together_dice(1000);
        f.flags |= PCOL_FUNCTION_HAS_ID;
        OK(pci_builder_function(b, 1, &f, of_function, cells, 2, &p->functions[i], NULL, e));
    }
    for (uint32_t i = 0; i < GROUPS; i++) {
        pcol_group g = PCOL_INIT(pcol_group);
        pcol_line lines[3];
        struct pci_cell_value cells[2] = {{word(b), 1}, {together_dice(3), together_dice(2) != 0}};
        int is_new;
        memset(lines, 0, sizeof lines);
        g.lines = lines;
        g.line_count = together_dice(3);
        for (size_t k = 0; k < g.line_count; k++)
            lines[k] = (pcol_line){
                p->functions[together_dice(FUNCTIONS)], PCOL_NONE, together_dice(3), 0, 1, 0};
        OK(pci_builder_intern_distinct(b, mappings, of_mapping, cells, 2, &g.mapping, &is_new, e));
        if (is_new)
            OK(pcol_builder_set_i64(b, mapping_id, g.mapping, 1 + together_dice(50), e));
        g.id = i + 1000 * together_dice(2);
        g.flags |= PCOL_GROUP_HAS_ID;
        uint64_t before = b->group_count;
        OK(pci_builder_group(b, 1, &g, NULL, NULL, 0, &p->groups[i], &is_new, e));
        if (is_new && together_dice(3) == 0)
            labels(p, PCI_T_GROUPS, before, "g", 0, g.line_count > 0);
    }
}

static void order(struct profile *p, const char *name, uint32_t target, const uint32_t *rows,
                  uint32_t count)
{
    for (uint32_t i = 0; i < 2 * count; i++) {
        struct pci_source_row row = {.source = p->source, .thread = p->thread};
        row.table = str(p->b, name);
        row.target = target + 1;
        row.ordinal = i;
        row.row = rows[together_dice(count)];
        row.has_id = together_dice(3) == 0;
        row.id = together_dice(100);
        OK(pci_builder_source_row(p->b, &row, e));
    }
}

static void profile(struct profile *p)
{
    pcol_builder *b = p->b;
    pcol_source source = PCOL_INIT(pcol_source);
    uint32_t threads = PCI_T_THREADS, markers = table(b, "markers"), type;
    uint64_t root;
    source.type = p->silent ? "pprof" : "other";
    OK(pcol_builder_source(b, &source, &p->source, e));
    OK(pcol_builder_sample_type(b, "samples", "count", 0, 0, &type, e));
    OK(pcol_builder_set_i64(b, column(b, PCI_T_SOURCES, "time_ns", PCOL_I64, NULL), p->source,
                            together_dice(1000), e));
    code(p);
    p->stacks[0] = 0;
    for (uint32_t i = 1; i < STACKS; i++)
        OK(pcol_builder_stack(b, p->stacks[together_dice(i)], p->groups[together_dice(GROUPS)],
                              &p->stacks[i], e));
    p->thread = (uint32_t)pci_builder_rows(b, threads);
    OK(pcol_builder_set_i64(b, column(b, threads, "source", PCOL_U32, "sources"), p->thread,
                            p->source, e));
    for (uint32_t i = 0; i < SAMPLES; i++) {
        pcol_sample s = PCOL_INIT(pcol_sample);
        pcol_value value = {.sample_type = type, .as.i64 = together_dice(10)};
        uint64_t row;
        s.source = p->source;
        s.stack = p->stacks[together_dice(STACKS)];
        s.values = &value;
        s.value_count = 1;
        s.thread = together_dice(2) ? p->thread : PCOL_NONE;
        s.cpu_delta_ns = together_dice(100);
        s.flags |= together_dice(2) != 0 ? PCOL_SAMPLE_HAS_CPU_DELTA : 0;
        OK(pcol_builder_sample(b, &s, &row, e));
        labels(p, PCI_T_SAMPLES, row, "s", 1, 0);
    }
    for (uint32_t i = 0; i < MARKERS; i++) {
        uint64_t row = pci_builder_rows(b, markers);
        OK(pcol_builder_set_i64(b, column(b, markers, "source", PCOL_U32, "sources"), row,
                                p->source, e));
        OK(pcol_builder_set_i64(b, column(b, markers, "thread", PCOL_U32, "threads"), row,
                                p->thread, e));
        labels(p, markers, row, "m", 1, 0);
    }
    root = tree(p, 1);
    OK(pci_builder_extra(b, PCI_T_SOURCES, p->source, root, e));
    if (p->silent)
        return;
    order(p, "stackTable", PCI_T_STACKS, p->stacks, STACKS);
    order(p, "frameTable", PCI_T_GROUPS, p->groups, GROUPS);
    p->thread = PCOL_NONE;
    order(p, "function", PCI_T_FUNCTIONS, p->functions, FUNCTIONS);
    OK(pci_builder_source_column(b, p->source, PCOL_NONE, str(b, "function"), str(b, "name"),
                                 together_dice(2) ? PCOL_NONE : str(b, "form"), e));
}

/* ---- describing one */

static char *text;
static size_t size, capacity;

__attribute__((format(printf, 1, 2))) static void print(const char *format, ...)
{
    va_list arguments;
    if (capacity - size < 4096) {
        capacity = capacity * 2 + 65536;
        text = realloc(text, capacity);
        cr_assert_not_null(text);
    }
    va_start(arguments, format);
    int n = vsnprintf(text + size, capacity - size, format, arguments);
    va_end(arguments);
    cr_assert(n >= 0 && (size_t)n < capacity - size);
    size += (size_t)n;
}

static const pcol_column *physical(const pcol_file *f, const char *t, const char *c)
{
    const pcol_table *found;
    if (pcol_file_table_by_name(f, PCOL_MODEL_PHYSICAL, t, &found, NULL) != PCOL_OK)
        return NULL;
    return pcol_table_column_by_name(found, c, NULL);
}

static int number(const pcol_file *f, const char *t, const char *c, uint64_t row, int64_t *value)
{
    const pcol_column *found = physical(f, t, c);
    int valid = 0;
    *value = 0;
    if (found)
        OK(pcol_column_i64(found, row, value, &valid, e));
    return valid;
}

static void say_number(const pcol_file *f, const char *t, const char *c, uint64_t row)
{
    int64_t value;
    if (number(f, t, c, row, &value))
        print(" %s=%lld", c, (long long)value);
}

static void say_text(const pcol_file *f, const char *t, const char *c, uint64_t row)
{
    const pcol_column *found = physical(f, t, c);
    pcol_str value;
    int valid = 0;
    if (found)
        OK(pcol_column_str(found, row, &value, &valid, e));
    if (valid)
        print(" %s=%.*s", c, (int)value.size, value.data);
}

static void say_function(const pcol_file *f, uint64_t row)
{
    int64_t category;
    print("(");
    say_text(f, "functions", "name", row);
    say_text(f, "functions", "filename", row);
    if (number(f, "functions", "is_js", row, &category) && category)
        print(" js");
    if (number(f, "functions", "category", row, &category))
        say_text(f, "categories", "name", (uint64_t)category);
    print(")");
}

static void say_stack(const pcol_file *f, uint64_t row);

static void say_labels(const pcol_file *f, struct pci_label_reader *reader, uint64_t row);

static void say_group(const pcol_file *f, uint64_t row)
{
    struct pci_stacks tree;
    struct pci_label_reader reader;
    uint64_t first, count;
    int64_t value;
    OK(pci_stacks_open(f, &tree, e));
    OK(pci_stacks_group(&tree, row, &first, &count, e));
    print("[");
    for (uint64_t i = 0; i < count; i++) {
        if (number(f, "locations", "function", first + i, &value))
            say_function(f, (uint64_t)value);
        say_number(f, "locations", "line", first + i);
    }
    if (number(f, "location_groups", "mapping", row, &value)) {
        say_text(f, "mappings", "filename", (uint64_t)value);
        say_number(f, "mappings", "start", (uint64_t)value);
    }
    OK(pci_labels_open(&reader, f, "location_groups", e));
    say_labels(f, &reader, row);
    pci_labels_close(&reader);
    print("]");
}

static void say_stack(const pcol_file *f, uint64_t row)
{
    int64_t value;
    while (row) {
        cr_assert(number(f, "stacks", "group", row, &value));
        say_group(f, (uint64_t)value);
        cr_assert(number(f, "stacks", "parent", row, &value));
        row = (uint64_t)value;
    }
}

static pcol_status take(void *context, const void *data, size_t bytes, pcol_error *err)
{
    (void)context;
    (void)err;
    print("%.*s", (int)bytes, (const char *)data);
    return PCOL_OK;
}

static const pcol_file *place_file;

static pcol_status put_place(void *context, const struct pci_node_value *node,
                             struct pci_json_writer *w, pcol_error *err)
{
    (void)context;
    print("<");
    say_stack(place_file, (uint64_t)node->integer);
    print(">");
    pci_json_put_string(w, node->text, err);
    return PCOL_OK;
}

static void say_tree(const pcol_file *f, uint64_t node)
{
    struct pci_json_writer w;
    OK(pci_json_writer_open(&w, (pcol_sink){take, NULL}, 0, e));
    place_file = f;
    OK(pci_json_from_nodes(f, node, &w, put_place, NULL, e));
    OK(pci_json_writer_finish(&w, e));
    pci_json_writer_close(&w);
}

static void say_labels(const pcol_file *f, struct pci_label_reader *reader, uint64_t row)
{
    OK(pci_labels_row(reader, row, e));
    if (reader->has_shape && !reader->cell_count)
        print(" {}");
    for (size_t i = 0; i < reader->cell_count; i++) {
        const struct pci_label_cell *c = &reader->cells[i];
        if (!c->key) {
            struct pci_node_value node;
            OK(pci_node_get(f, c->node, &node, e));
            print(" +%.*s", (int)node.key.size, node.key.data);
            continue;
        }
        print(" %.*s:%u%s=", (int)c->key->key.size, c->key->key.data, c->key->kind,
              c->joined ? "+" : "");
        if (c->key->kind == PCI_LABEL_STRING)
            print("%.*s", (int)c->as.text.size, c->as.text.data);
        else if (c->key->kind == PCI_LABEL_STACK)
            say_stack(f, (uint64_t)c->as.i64);
        else if (c->key->kind != PCI_LABEL_NAME)
            print("%lld", (long long)c->as.i64);
    }
    if (reader->extra != PCI_NO_NODE)
        say_tree(f, reader->extra);
}

static void say_rows(const pcol_file *f, const char *t, uint32_t source)
{
    const pcol_table *found;
    struct pci_label_reader reader;
    OK(pcol_file_table_by_name(f, PCOL_MODEL_PHYSICAL, t, &found, e));
    OK(pci_labels_open(&reader, f, t, e));
    for (uint64_t row = 0; row < pcol_table_rows(found); row++) {
        int64_t value;
        number(f, t, "source", row, &value);
        if ((uint64_t)value != source)
            continue;
        print("%s", t);
        if (!strcmp(t, "samples")) {
            say_number(f, t, "value.0", row);
            say_number(f, t, "cpu_delta", row);
            if (number(f, t, "stack", row, &value))
                say_stack(f, (uint64_t)value);
        }
        if (number(f, t, "thread", row, &value))
            print(" of a thread");
        say_labels(f, &reader, row);
        print("\n");
    }
    pci_labels_close(&reader);
}

static void say_order(const pcol_file *f, uint32_t source, uint32_t thread, const char *name,
                      const char *target)
{
    struct pci_order o;
    uint64_t count;
    OK(pci_order_read(f, source, thread, name, &o, e));
    count = o.known ? o.count : pci_rows(f, target);
    if (!o.known && thread != PCOL_NONE)
        count = 0; /* threads are not left unsaid */
    print("%s %llu:\n", name, (unsigned long long)count);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t row = o.known ? o.rows[i] : i;
        int64_t id;
        if (!strcmp(target, "functions"))
            say_function(f, row);
        else if (!strcmp(target, "stacks"))
            say_stack(f, row);
        else if (!strcmp(target, "mappings"))
            say_text(f, target, "filename", row);
        else
            say_group(f, row);
        if (o.known && o.has_id[i])
            print(" id=%llu\n", (unsigned long long)o.ids[i]);
        else if (number(f, target, "id", row, &id))
            print(" id=%lld\n", (long long)id);
    }
    pci_order_clear(&o);
}

/* The content of a source in a file; the caller frees it. */
char *together_describe(const pcol_file *f, uint32_t source, uint32_t thread)
{
    int64_t node;
    pcol_str type;
    text = NULL;
    size = capacity = 0;
    print("source");
    say_number(f, "sources", "time_ns", source);
    if (number(f, "sources", "extra", source, &node))
        say_tree(f, (uint64_t)node);
    say_rows(f, "samples", source);
    say_rows(f, "markers", source);
    say_order(f, source, thread, "stackTable", "stacks");
    say_order(f, source, thread, "frameTable", "location_groups");
    say_order(f, source, PCOL_NONE, "function", "functions");
    OK(pcol_column_str(physical(f, "sources", "type"), source, &type, NULL, e));
    if (type.data[0] == 'p') { /* pprof: what its way back needs */
        say_order(f, source, PCOL_NONE, "location", "location_groups");
        say_order(f, source, PCOL_NONE, "mapping", "mappings");
    }
    return text;
}

/* The rows that samples refer to are copied: labels, trees, threads, mappings. */
char *together_describe_samples(const pcol_file *f, uint32_t source)
{
    int64_t node;
    text = NULL;
    size = capacity = 0;
    say_number(f, "sources", "time_ns", source);
    if (number(f, "sources", "extra", source, &node))
        say_tree(f, (uint64_t)node);
    say_rows(f, "samples", source);
    return text;
}

/* ---- files */

static int say_fault(void *context, const pcol_fault *fault)
{
    (void)context;
    if (!fault->note)
        fprintf(stderr, "%s.%s row %lld: %s\n", fault->table, fault->column, (long long)fault->row,
                fault->message);
    return 0;
}

void together_finish(pcol_builder *b, struct together_made *made)
{
    uint64_t faults;
    OK(pcol_builder_write_memory(b, 0, NULL, &made->data, &made->size, e));
    pcol_builder_free(b);
    OK(pcol_file_open_memory(made->data, made->size, NULL, &made->file, e));
    OK(pcol_file_check(made->file, PCOL_CHECK_STRICT, say_fault, NULL, NULL, &faults, e));
    cr_assert_eq(faults, 0);
}

void together_drop(struct together_made *made)
{
    pcol_file_close(made->file);
    pcol_free(made->data);
}

pcol_builder *together_builder(void)
{
    pcol_builder *b;
    OK(pcol_builder_new(NULL, &b, e));
    return b;
}

void together_make(struct together_made *made, uint64_t number, int reversed, int silent)
{
    struct profile p = {.b = together_builder(), .reversed = reversed, .silent = silent};
    together_seed = number;
    profile(&p);
    together_finish(p.b, made);
}

void together_add(pcol_builder *b, const struct together_made *made)
{
    OK(pcol_import_memory(b, made->data, made->size, "a.pcol", NULL, e));
}

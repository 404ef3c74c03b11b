/*
 * metadata.c - classes of a chunk, and values of them
 *
 * The metadata event is a tree of elements with attributes, all names and values being numbers of
 * strings. Only the elements `class` and their children `field` matter here. The tree is read with
 * a stack of levels. A value is read by the fields of its class; as each field takes at least a
 * byte, and fields are nested to a limited depth, the time is linear in the size of the event.
 */
#include "formats/jfr/jfr.h"

#include "util/alloc.h"

#define MOST_NESTED 16

static const char *const role_names[PCI_JFR_ROLES] = {
    [PCI_JFR_BOOLEAN] = "boolean",
    [PCI_JFR_BYTE] = "byte",
    [PCI_JFR_CHAR] = "char",
    [PCI_JFR_SHORT] = "short",
    [PCI_JFR_INT] = "int",
    [PCI_JFR_LONG] = "long",
    [PCI_JFR_FLOAT] = "float",
    [PCI_JFR_DOUBLE] = "double",
    [PCI_JFR_STRING] = "java.lang.String",
    [PCI_JFR_STACK_TRACE] = "jdk.types.StackTrace",
    [PCI_JFR_STACK_FRAME] = "jdk.types.StackFrame",
    [PCI_JFR_METHOD] = "jdk.types.Method",
    [PCI_JFR_CLASS] = "java.lang.Class",
    [PCI_JFR_SYMBOL] = "jdk.types.Symbol",
    [PCI_JFR_FRAME_TYPE] = "jdk.types.FrameType",
    [PCI_JFR_THREAD] = "java.lang.Thread",
};

/* Events whose samples are not measured by their duration, or else counted. Field NULL: counted. */
static const struct pci_jfr_weight weights[] = {
    {"jdk.ObjectAllocationSample", "weight", "bytes"},
    {"jdk.ObjectAllocationInNewTLAB", "tlabSize", "bytes"},
    {"jdk.ObjectAllocationOutsideTLAB", "allocationSize", "bytes"},
    {"jdk.JavaExceptionThrow", NULL, "count"},
    {"jdk.JavaErrorThrow", NULL, "count"},
    {"jdk.OldObjectSample", NULL, "count"},
    {"profiler.Malloc", "size", "bytes"},
    {"profiler.WallClockSample", "samples", "count"},
};

/* Members of classes: what the reader uses. KIND determines which fields have a meaning. */
enum member_kind { NUMBER, TEXT, CONSTANT, ARRAY };
static const struct member {
    enum pci_jfr_role of; /* OTHER: an event */
    const char *name;
    enum pci_jfr_slot slot;
    enum member_kind kind;
    enum pci_jfr_role class; /* of CONSTANT and ARRAY */
} members[] = {
    {PCI_JFR_OTHER, "startTime", PCI_JFR_START_TIME, NUMBER, PCI_JFR_OTHER},
    {PCI_JFR_OTHER, "duration", PCI_JFR_DURATION, NUMBER, PCI_JFR_OTHER},
    {PCI_JFR_OTHER, "stackTrace", PCI_JFR_STACK, CONSTANT, PCI_JFR_STACK_TRACE},
    {PCI_JFR_OTHER, "eventThread", PCI_JFR_EVENT_THREAD, CONSTANT, PCI_JFR_THREAD},
    {PCI_JFR_OTHER, "sampledThread", PCI_JFR_SAMPLED_THREAD, CONSTANT, PCI_JFR_THREAD},
    {PCI_JFR_STACK_TRACE, "truncated", PCI_JFR_TRUNCATED, NUMBER, PCI_JFR_OTHER},
    {PCI_JFR_STACK_TRACE, "frames", PCI_JFR_FRAMES, ARRAY, PCI_JFR_STACK_FRAME},
    {PCI_JFR_STACK_FRAME, "method", PCI_JFR_FRAME_METHOD, CONSTANT, PCI_JFR_METHOD},
    {PCI_JFR_STACK_FRAME, "lineNumber", PCI_JFR_LINE, NUMBER, PCI_JFR_OTHER},
    {PCI_JFR_STACK_FRAME, "bytecodeIndex", PCI_JFR_BYTECODE_INDEX, NUMBER, PCI_JFR_OTHER},
    {PCI_JFR_STACK_FRAME, "type", PCI_JFR_TYPE, CONSTANT, PCI_JFR_FRAME_TYPE},
    {PCI_JFR_METHOD, "type", PCI_JFR_METHOD_CLASS, CONSTANT, PCI_JFR_CLASS},
    {PCI_JFR_METHOD, "name", PCI_JFR_METHOD_NAME, CONSTANT, PCI_JFR_SYMBOL},
    {PCI_JFR_CLASS, "name", PCI_JFR_NAME, CONSTANT, PCI_JFR_SYMBOL},
    {PCI_JFR_SYMBOL, "string", PCI_JFR_NAME, TEXT, PCI_JFR_OTHER},
    {PCI_JFR_FRAME_TYPE, "description", PCI_JFR_NAME, TEXT, PCI_JFR_OTHER},
    {PCI_JFR_THREAD, "osName", PCI_JFR_OS_NAME, TEXT, PCI_JFR_OTHER},
    {PCI_JFR_THREAD, "osThreadId", PCI_JFR_OS_ID, NUMBER, PCI_JFR_OTHER},
    {PCI_JFR_THREAD, "javaName", PCI_JFR_JAVA_NAME, TEXT, PCI_JFR_OTHER},
    {PCI_JFR_THREAD, "javaThreadId", PCI_JFR_JAVA_ID, NUMBER, PCI_JFR_OTHER},
};

static int text_is(const struct pci_jfr_text *text, const char *word)
{
    return pci_str_is((pcol_str){(const char *)text->data, text->size}, word);
}

const struct pci_jfr_weight *pci_jfr_find_weight(pcol_str event)
{
    for (size_t i = 0; i < sizeof weights / sizeof *weights; i++)
        if (pci_str_is(event, weights[i].event))
            return &weights[i];
    return NULL;
}

void pci_jfr_classes_clear(struct pci_jfr_classes *classes)
{
    pci_strbuf_clear(&classes->texts);
    pci_hash_clear(&classes->by_id);
    pci_free(classes->classes);
    pci_free(classes->fields);
}

uint32_t pci_jfr_find_class(const struct pci_jfr_classes *classes, int64_t id)
{
    uint64_t hash = pci_hash_pair((uint64_t)id, 0);
    size_t slot = pci_hash_start(&classes->by_id, hash);
    uint32_t class;
    while ((class = pci_hash_next(&classes->by_id, hash, &slot)) != PCI_HASH_NONE)
        if (classes->classes[class].id == id)
            return class;
    return PCOL_NONE;
}

/* ---- the tree of elements ---- */

struct level {
    uint64_t left;  /* elements that follow in it */
    uint32_t class; /* the class around; PCOL_NONE: none */
};

struct tree {
    struct pci_jfr_classes *classes;
    struct pci_jfr_cursor *cursor;
    struct pci_jfr_text *strings;
    size_t string_count;
    struct level *levels;
    size_t depth, capacity;
};

static pcol_status read_string(struct tree *t, const struct pci_jfr_text **text, pcol_error *err)
{
    struct pci_jfr_cursor start = *t->cursor;
    int64_t number;
    PCI_TRY(pci_jfr_integer(t->cursor, 4, &number, err));
    if (number < 0 || (uint64_t)number >= t->string_count)
        return pci_jfr_fail(&start, err, "the metadata has no string of this number");
    *text = &t->strings[number];
    return PCOL_OK;
}

/* A decimal number; *bad is set if the text is none. */
static int64_t parse_id(const struct pci_jfr_text *text, int *bad)
{
    uint64_t value = 0;
    size_t at = text->size && text->data[0] == '-' ? 1 : 0;
    *bad = at == text->size || text->size > 20;
    for (size_t i = at; i < text->size && !*bad; i++) {
        *bad = text->data[i] < '0' || text->data[i] > '9';
        value = value * 10 + (uint64_t)(text->data[i] - '0');
    }
    return (int64_t)(at ? 0 - value : value);
}

static pcol_status add_class(struct tree *t, const struct pci_jfr_class *class, pcol_error *err)
{
    struct pci_jfr_classes *k = t->classes;
    if (pci_jfr_find_class(k, class->id) != PCOL_NONE)
        return pci_jfr_fail(t->cursor, err, "the metadata has two classes of one id");
    if (pci_grow((void **)&k->classes, &k->capacity, k->count + 1, sizeof *class))
        return pci_fail_memory(err);
    PCI_TRY(
        pci_hash_add(&k->by_id, pci_hash_pair((uint64_t) class->id, 0), (uint32_t)k->count, err));
    k->classes[k->count] = *class;
    k->classes[k->count++].first_field = k->field_count;
    return PCOL_OK;
}

static pcol_status add_field(struct tree *t, const struct pci_jfr_field *field, pcol_error *err)
{
    struct pci_jfr_classes *k = t->classes;
    if (pci_grow((void **)&k->fields, &k->field_capacity, k->field_count + 1, sizeof *field))
        return pci_fail_memory(err);
    k->fields[k->field_count++] = *field;
    k->classes[field->of].field_count++;
    return PCOL_OK;
}

/* Read the name and the attributes of an element, and open it. */
static pcol_status read_element(struct tree *t, pcol_error *err)
{
    const struct pci_jfr_text *name, *key, *value;
    struct pci_jfr_class class = {.sample_type = PCOL_NONE};
    struct pci_jfr_field field = {.of = t->levels[t->depth - 1].class, .slot = PCI_JFR_NO_SLOT};
    struct level inner = {0, PCOL_NONE};
    struct pci_jfr_cursor start = *t->cursor;
    int has_id = 0, bad = 0;
    uint64_t count;
    PCI_TRY(read_string(t, &name, err));
    PCI_TRY(pci_jfr_count(t->cursor, &count, err));
    for (uint64_t i = 0; i < count; i++) {
        PCI_TRY(read_string(t, &key, err));
        PCI_TRY(read_string(t, &value, err));
        if (text_is(key, "name"))
            class.name = field.name = *value;
        else if (text_is(key, "id"))
            class.id = parse_id(value, &bad), has_id = !bad;
        else if (text_is(key, "class"))
            field.class_id = parse_id(value, &bad), has_id = !bad;
        else if (text_is(key, "constantPool"))
            field.is_constant = text_is(value, "true") != 0;
        else if (text_is(key, "dimension"))
            field.is_array = text_is(value, "0") == 0;
    }
    int is_class = text_is(name, "class"),
        is_field = text_is(name, "field") && field.of != PCOL_NONE;
    if ((is_class || is_field) && !has_id)
        return pci_jfr_fail(&start, err, "a class or field without the id of its class");
    if (!is_class && is_field && field.of + 1 != t->classes->count)
        return pci_jfr_fail(&start, err, "a field after a class within its class");
    if (is_class) {
        inner.class = (uint32_t)t->classes->count;
        PCI_TRY(add_class(t, &class, err));
    } else if (is_field) {
        PCI_TRY(add_field(t, &field, err));
    }
    PCI_TRY(pci_jfr_count(t->cursor, &inner.left, err));
    if (pci_grow((void **)&t->levels, &t->capacity, t->depth + 1, sizeof inner))
        return pci_fail_memory(err);
    t->levels[t->depth++] = inner;
    return PCOL_OK;
}

static pcol_status read_tree(struct tree *t, pcol_error *err)
{
    if (pci_grow((void **)&t->levels, &t->capacity, 1, sizeof *t->levels))
        return pci_fail_memory(err);
    t->levels[t->depth++] = (struct level){1, PCOL_NONE};
    while (t->depth) {
        struct level *level = &t->levels[t->depth - 1];
        if (!level->left) {
            t->depth--;
            continue;
        }
        level->left--;
        PCI_TRY(read_element(t, err));
    }
    return PCOL_OK;
}

/* All strings, as UTF-8 in classes->texts. */
static pcol_status read_strings(struct tree *t, pcol_error *err)
{
    uint64_t count;
    struct pci_strbuf *texts = &t->classes->texts;
    PCI_TRY(pci_jfr_count(t->cursor, &count, err));
    t->strings = pci_calloc((size_t)count + 1, sizeof *t->strings);
    if (!t->strings)
        return pci_fail_memory(err);
    for (size_t i = 0; i < count; i++) {
        size_t start = texts->size;
        PCI_TRY(pci_jfr_text(t->cursor, &t->strings[i], err));
        PCI_TRY(pci_jfr_append(&t->strings[i], texts, err));
        t->strings[i] =
            (struct pci_jfr_text){.encoding = PCI_JFR_UTF8, .size = texts->size - start};
    }
    const char *text = texts->data ? texts->data : ""; /* NULL: all are empty */
    for (; t->string_count < count; t->string_count++) {
        t->strings[t->string_count].data = (const uint8_t *)text;
        text += t->strings[t->string_count].size;
    }
    return PCOL_OK;
}

/* ---- meaning ---- */

static int is_number(enum pci_jfr_role role)
{
    return role >= PCI_JFR_BOOLEAN && role <= PCI_JFR_LONG;
}

static int is_of_kind(const struct member *member, const struct pci_jfr_field *field,
                      enum pci_jfr_role role)
{
    if (field->is_array != (member->kind == ARRAY) ||
        field->is_constant != (member->kind == CONSTANT))
        return 0;
    return member->kind == NUMBER ? is_number(role)
           : member->kind == TEXT ? role == PCI_JFR_STRING
                                  : role == member->class;
}

static void set_slot(struct pci_jfr_classes *k, struct pci_jfr_field *field)
{
    struct pci_jfr_class *of = &k->classes[field->of];
    pcol_str event = {(const char *)of->name.data, of->name.size};
    field->class = pci_jfr_find_class(k, field->class_id);
    enum pci_jfr_role role =
        field->class == PCOL_NONE ? PCI_JFR_OTHER : k->classes[field->class].role;
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (members[i].of == of->role && text_is(&field->name, members[i].name) &&
            is_of_kind(&members[i], field, role))
            field->slot = (uint8_t)members[i].slot;
    if (of->role != PCI_JFR_OTHER)
        return;
    const struct pci_jfr_weight *weight = pci_jfr_find_weight(event);
    if (weight && weight->field && text_is(&field->name, weight->field) && is_number(role) &&
        !field->is_array && !field->is_constant) {
        field->slot = PCI_JFR_WEIGHT;
        of->has_weight = 1;
    }
    of->has_stack |= field->slot == PCI_JFR_STACK;
    of->has_duration |= field->slot == PCI_JFR_DURATION;
}

static void set_roles(struct pci_jfr_classes *k)
{
    for (size_t i = 0; i < k->count; i++)
        for (int role = 1; role < PCI_JFR_ROLES; role++)
            if (text_is(&k->classes[i].name, role_names[role]))
                k->classes[i].role = (enum pci_jfr_role)role;
    for (size_t i = 0; i < k->field_count; i++)
        set_slot(k, &k->fields[i]);
}

pcol_status pci_jfr_read_metadata(struct pci_jfr_classes *classes, struct pci_jfr_cursor *cursor,
                                  pcol_error *err)
{
    struct tree t = {.classes = classes, .cursor = cursor};
    int64_t ignored;
    for (int i = 0; i < 3; i++) /* start, duration, id */
        PCI_TRY(pci_jfr_integer(cursor, 8, &ignored, err));
    pcol_status status = read_strings(&t, err);
    if (status == PCOL_OK)
        status = read_tree(&t, err);
    pci_free(t.strings);
    pci_free(t.levels);
    if (status == PCOL_OK)
        set_roles(classes);
    return status;
}

/* ---- values ---- */

struct walk {
    const struct pci_jfr_classes *classes;
    struct pci_jfr_cursor *cursor;
    int depth;
};

static pcol_status walk_value(struct walk *w, uint32_t class, struct pci_jfr_value *values,
                              pcol_error *err);

/* A value that is not a constant, not an array. */
static pcol_status walk_single(struct walk *w, uint32_t class, struct pci_jfr_value *value,
                               pcol_error *err)
{
    struct pci_jfr_cursor *c = w->cursor;
    static const unsigned widths[PCI_JFR_ROLES] = {
        [PCI_JFR_CHAR] = 2, [PCI_JFR_SHORT] = 2, [PCI_JFR_INT] = 4, [PCI_JFR_LONG] = 8};
    enum pci_jfr_role role = w->classes->classes[class].role;
    if (widths[role])
        return pci_jfr_integer(c, widths[role], &value->number, err);
    if (role == PCI_JFR_BOOLEAN || role == PCI_JFR_BYTE) {
        PCI_TRY(pci_jfr_skip(c, 1, err));
        value->number = c->p[-1];
        return PCOL_OK;
    }
    if (role == PCI_JFR_FLOAT || role == PCI_JFR_DOUBLE)
        return pci_jfr_skip(c, role == PCI_JFR_FLOAT ? 4 : 8, err);
    return role == PCI_JFR_STRING ? pci_jfr_text(c, &value->text, err)
                                  : walk_value(w, class, NULL, err);
}

static pcol_status walk_field(struct walk *w, const struct pci_jfr_field *field,
                              struct pci_jfr_value *value, pcol_error *err)
{
    uint64_t count = 1;
    struct pci_jfr_value element = {0};
    if (field->class == PCOL_NONE)
        return pci_jfr_fail(w->cursor, err,
                            "a value of a class that the metadata does not describe");
    if (field->is_array) {
        PCI_TRY(pci_jfr_count(w->cursor, &count, err));
        value->elements = w->cursor->p;
    }
    for (uint64_t i = 0; i < count; i++)
        if (field->is_constant)
            PCI_TRY(pci_jfr_integer(w->cursor, 8, &element.number, err));
        else
            PCI_TRY(walk_single(w, field->class, &element, err));
    if (field->is_array)
        value->number = (int64_t)count;
    else
        value->number = element.number, value->text = element.text;
    value->class = field->class;
    value->is_set = 1;
    return PCOL_OK;
}

static pcol_status walk_value(struct walk *w, uint32_t class, struct pci_jfr_value *values,
                              pcol_error *err)
{
    const struct pci_jfr_class *of = &w->classes->classes[class];
    struct pci_jfr_value ignored = {0};
    if (!of->field_count)
        return pci_jfr_fail(w->cursor, err, "a value of a class without fields");
    if (w->depth == MOST_NESTED)
        return pci_jfr_fail(w->cursor, err, "values nested deeper than 16");
    w->depth++;
    for (size_t i = 0; i < of->field_count; i++) {
        const struct pci_jfr_field *field = &w->classes->fields[of->first_field + i];
        int wanted = values && field->slot < PCI_JFR_SLOTS;
        PCI_TRY(walk_field(w, field, wanted ? &values[field->slot] : &ignored, err));
    }
    w->depth--;
    return PCOL_OK;
}

pcol_status pci_jfr_read_value(const struct pci_jfr_classes *classes, uint32_t class,
                               struct pci_jfr_cursor *cursor, struct pci_jfr_value *values,
                               pcol_error *err)
{
    struct walk w = {classes, cursor, 0};
    if (values)
        memset(values, 0, PCI_JFR_SLOTS * sizeof *values);
    if (classes->classes[class].role == PCI_JFR_STRING) { /* the constants of java.lang.String */
        struct pci_jfr_value value = {0};
        PCI_TRY(walk_single(&w, class, &value, err));
        value.class = class;
        if (values)
            values[PCI_JFR_NAME] = value;
        return PCOL_OK;
    }
    return walk_value(&w, class, values, err);
}

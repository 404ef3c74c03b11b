/*
 * column_rules.c - validation of a column's sections, children and parameters (spec.md, 4)
 *
 * The roles and sizes of sections and the types and rows of children must match the column's type,
 * encoding and number of rows. Afterwards a decoder that has compared a row number with `rows`
 * cannot leave a section. Tests: tests/unit/test_index.c, tests/format/golden.
 */
#include "format/column_rules.h"

#include "format/range.h"

#define BIT(role) (1u << (role))
#define LAST_ROLE PCF_ROLE_DATA

/* Only archives may have compressed sections. */
static int is_codec_known(const struct pcf_index *index, const struct pcf_section *s)
{
    unsigned codec = s->codec & 15u, transform = s->codec >> 4;
    if (s->codec == 0)
        return 1;
    return pcf_is_archive(&index->header) && codec >= PCF_CODEC_ZLIB && codec <= PCF_CODEC_LZ4 &&
           transform <= PCF_TRANSFORM_LAST;
}

/* Transforms apply to PLAIN integers and doubles, transforms of trees to u32 only. */
static int is_transform_allowed(const struct pcf_column *c, const struct pcf_section *s)
{
    unsigned transform = s->codec >> 4;
    if (transform == PCF_TRANSFORM_NONE)
        return 1;
    if (s->role != PCF_ROLE_VALUES || c->encoding != PCF_PLAIN || c->type == PCF_BOOL)
        return 0;
    return transform < PCF_TRANSFORM_PARENT || c->type == PCF_U32;
}

int pcf_column_known(const struct pcf_index *index, uint32_t column)
{
    const struct pcf_column *c = &index->columns[column];
    if (c->type < PCF_I64 || c->type > PCF_BOOL || c->encoding > PCF_TREE)
        return 0;
    if ((c->flags & ~PCF_COLUMN_KNOWN_FLAGS) && (c->flags & PCF_COLUMN_MUST_UNDERSTAND))
        return 0;
    for (uint32_t i = 0; i < c->section_count; i++) {
        const struct pcf_section *s = &index->sections[c->first_section + i];
        int known = s->role >= PCF_ROLE_VALUES && s->role <= LAST_ROLE;
        if (!known && !(s->flags & PCF_SECTION_OPTIONAL))
            return 0;
        if (!is_codec_known(index, s)) /* even of a section with an unknown role */
            return 0;
    }
    return 1;
}

/* Bit sets of the required and the allowed section roles of a column. */
static void find_roles(const struct pcf_column *c, unsigned *required, unsigned *allowed)
{
    unsigned validity = c->flags & PCF_COLUMN_NULLABLE && !(c->flags & PCF_COLUMN_DEFAULT_NULL)
                            ? BIT(PCF_ROLE_VALIDITY)
                            : 0;
    *required = 0;
    *allowed = 0;
    switch ((enum pcf_encoding)c->encoding) {
    case PCF_PLAIN:
        *allowed = validity;
        if (c->type == PCF_BYTES)
            *allowed |= BIT(PCF_ROLE_DATA);
        else
            *required = BIT(PCF_ROLE_VALUES);
        break;
    case PCF_LINEAR:
        *allowed = validity;
        break;
    case PCF_PACKED:
        *required = BIT(PCF_ROLE_VALUES);
        *allowed = validity;
        break;
    case PCF_SPARSE:
    case PCF_CHAIN:
    case PCF_DELTAS:
    case PCF_SPLIT:
    case PCF_TREE:
        *required = BIT(PCF_ROLE_MARKS);
        break;
    case PCF_RUNS:
    case PCF_DICTIONARY:
        break;
    case PCF_FRONT:
        *allowed = BIT(PCF_ROLE_DATA); /* none: one row, which is empty */
        break;
    }
    *allowed |= *required;
}

/* Bits per row of the VALUES section of a PLAIN or PACKED column. */
static uint64_t bits_per_row(const struct pcf_column *c)
{
    if (c->encoding == PCF_PACKED)
        return c->width;
    if (c->type == PCF_BOOL)
        return 1;
    return c->type == PCF_U32 || c->type == PCF_STRING ? 32 : 64;
}

/* Whether a section's size follows from the column's encoding and rows. */
static int is_size_valid(const struct pcf_column *c, uint8_t role, uint64_t size)
{
    uint64_t needed = 0, extra = 0;
    switch ((enum pcf_role)role) {
    case PCF_ROLE_VALUES:
        if (!pcf_multiply(c->rows, bits_per_row(c), &needed))
            return 0;
        extra = c->encoding == PCF_PACKED ? PCF_PACK_PADDING : 0;
        return pcf_add(pcf_bits_to_bytes(needed), extra, &needed) && size == needed;
    case PCF_ROLE_VALIDITY:
        return size == pcf_bits_to_bytes(c->rows);
    case PCF_ROLE_MARKS: /* cannot overflow: at most 2^48 rows */
        return size == pcf_bits_to_bytes(c->rows) + (c->rows - 1) / PCF_RANK_ROWS * 8;
    case PCF_ROLE_DATA:
        return 1;
    }
    return 0;
}

static int check_sections(const struct pcf_check *check, uint32_t column)
{
    const struct pcf_column *c = &check->index->columns[column];
    unsigned required, allowed, seen = 0;
    find_roles(c, &required, &allowed);
    for (uint32_t i = 0; i < c->section_count; i++) {
        uint32_t number = c->first_section + i;
        const struct pcf_section *s = &check->index->sections[number];
        if (s->role == 0 || s->role > LAST_ROLE)
            continue; /* unknown role of an optional section */
        if (!(allowed & BIT(s->role)))
            return pcf_fault_section(check, number,
                                     "column's encoding has no section of this role");
        if (seen & BIT(s->role))
            return pcf_fault_section(check, number, "second section of the same role");
        if (!is_transform_allowed(c, s))
            return pcf_fault_section(check, number, "transform does not apply to this section");
        if (!is_size_valid(c, s->role, s->raw_size))
            return pcf_fault_section(check, number,
                                     "section size does not match its column's number of rows");
        seen |= BIT(s->role);
    }
    if (required & ~seen)
        return pcf_fault_column(check, column, "column lacks a section that its encoding needs");
    if (c->flags & PCF_COLUMN_NULLABLE && !(c->flags & PCF_COLUMN_DEFAULT_NULL) &&
        c->encoding != PCF_DICTIONARY && !(seen & BIT(PCF_ROLE_VALIDITY)) && c->null_count)
        return pcf_fault_column(check, column, "column counts nulls but has no validity section");
    return 0;
}

/* A child has the required type and no nulls. */
static int check_child(const struct pcf_check *check, uint32_t child, uint8_t type)
{
    const struct pcf_column *c = &check->index->columns[child];
    if (c->type != type)
        return pcf_fault_column(check, child, "child column of the wrong type");
    if (c->flags & (PCF_COLUMN_NULLABLE | PCF_COLUMN_DEFAULT_NULL))
        return pcf_fault_column(check, child, "child column has nulls");
    return 0;
}

/* CHAIN, DELTAS, SPLIT. Child 0: values of marked rows. Child 1: successors, differences or values
 * of the other rows; an encoding with O(1) random access, because each row reads it. */
static int check_marked_and_others(const struct pcf_check *check, uint32_t column)
{
    const struct pcf_column *c = &check->index->columns[column];
    const struct pcf_column *child = check->index->columns + c->first_child;
    if (child[0].rows > c->rows)
        return pcf_fault_column(check, c->first_child, "more marked rows than rows");
    if (child[1].encoding > PCF_PACKED)
        return pcf_fault_column(check, c->first_child + 1,
                                c->encoding == PCF_SPLIT
                                    ? "values of unmarked rows must be plain, linear or packed"
                                    : "successors and differences must be plain, linear or packed");
    if (c->encoding == PCF_CHAIN ? child[1].rows > PCF_MAX_U32_ROWS
                                 : child[1].rows != c->rows - child[0].rows)
        return pcf_fault_column(check, c->first_child + 1,
                                c->encoding == PCF_SPLIT
                                    ? "number of values does not match the unmarked rows"
                                    : "number of successors or differences does not match");
    if (check_child(check, c->first_child, c->type))
        return -1;
    return check_child(check, c->first_child + 1, c->encoding == PCF_DELTAS ? PCF_I64 : c->type);
}

/* DICTIONARY: entries, which are nullable only if the column is, and codes unless they are shared
 * with another column (check_shared_codes()). */
static int check_dictionary(const struct pcf_check *check, uint32_t column)
{
    const struct pcf_column *c = &check->index->columns[column];
    const struct pcf_column *entries = check->index->columns + c->first_child;
    const uint32_t nulls = PCF_COLUMN_NULLABLE | PCF_COLUMN_DEFAULT_NULL;
    if (entries->type != c->type)
        return pcf_fault_column(check, c->first_child, "child column of the wrong type");
    if (entries->rows == 0 || entries->rows > PCF_MAX_U32_ROWS)
        return pcf_fault_column(check, c->first_child, "dictionary has no or too many entries");
    if (entries->encoding > PCF_PACKED)
        return pcf_fault_column(check, c->first_child,
                                "dictionary must be plain, linear or packed");
    if ((entries->flags & nulls) && !(c->flags & PCF_COLUMN_NULLABLE))
        return pcf_fault_column(check, c->first_child,
                                "dictionary of a column without nulls has nulls");
    if (c->child_count == 1)
        return 0;
    if (entries[1].rows != c->rows)
        return pcf_fault_column(check, c->first_child + 1, "number of codes differs from rows");
    return check_child(check, c->first_child + 1, PCF_U32);
}

/* FRONT: strings are strictly ascending, so every row but an empty first one has a nonempty suffix;
 * the bytes of data therefore bound the rows. */
static int check_front(const struct pcf_check *check, uint32_t column)
{
    const struct pcf_column *c = &check->index->columns[column];
    const struct pcf_column *child = check->index->columns + c->first_child;
    uint64_t data = 0;
    for (uint32_t i = 0; i < c->section_count; i++) {
        const struct pcf_section *s = &check->index->sections[c->first_section + i];
        if (s->role == PCF_ROLE_DATA)
            data = s->raw_size;
    }
    if (c->rows - 1 > data)
        return pcf_fault_column(check, column, "front-coded column has more rows than bytes");
    if (child[0].rows != c->rows + 1 || child[1].rows != c->rows)
        return pcf_fault_column(check, c->first_child,
                                "column of n rows needs n + 1 offsets and n prefix lengths");
    if (check_child(check, c->first_child, PCF_U64))
        return -1;
    return check_child(check, c->first_child + 1, PCF_U32);
}

/* Children by encoding. PLAIN byte strings have one, DICTIONARY columns with shared codes too. */
static const uint8_t child_counts[] = {
    [PCF_SPARSE] = 1, [PCF_RUNS] = 2,  [PCF_CHAIN] = 2,      [PCF_DELTAS] = 2,
    [PCF_FRONT] = 2,  [PCF_SPLIT] = 2, [PCF_DICTIONARY] = 2, [PCF_TREE] = 1,
};

static int check_children(const struct pcf_check *check, uint32_t column)
{
    const struct pcf_column *c = &check->index->columns[column];
    const struct pcf_column *child = check->index->columns + c->first_child;
    uint32_t first = c->first_child;
    unsigned needed = child_counts[c->encoding];
    if ((c->encoding == PCF_PLAIN && c->type == PCF_BYTES) ||
        (c->encoding == PCF_DICTIONARY && c->child_count == 1 && c->name_size))
        needed = 1;
    if (c->child_count != needed)
        return pcf_fault_column(check, column, "wrong number of child columns for the encoding");
    if (needed == 0)
        return 0;
    if (c->encoding == PCF_PLAIN) {
        if (child[0].rows != c->rows + 1)
            return pcf_fault_column(check, first, "column of n rows needs n + 1 byte offsets");
        return check_child(check, first, PCF_U64);
    }
    if (c->encoding == PCF_SPARSE) {
        if (child[0].rows > c->rows)
            return pcf_fault_column(check, first, "sparse column has more values than rows");
        if ((c->flags & PCF_COLUMN_DEFAULT_NULL) && c->null_count != c->rows - child[0].rows)
            return pcf_fault_column(check, column,
                                    "null count does not match the number of values");
        return check_child(check, first, c->type);
    }
    if (c->encoding == PCF_TREE) {
        if (child[0].rows >= c->rows)
            return pcf_fault_column(check, first, "every row is marked, even the root");
        return check_child(check, first, PCF_U64);
    }
    if (c->encoding == PCF_CHAIN || c->encoding == PCF_DELTAS || c->encoding == PCF_SPLIT)
        return check_marked_and_others(check, column);
    if (c->encoding == PCF_FRONT)
        return check_front(check, column);
    if (c->encoding == PCF_DICTIONARY)
        return check_dictionary(check, column);
    if (child[0].rows > c->rows || child[0].rows != child[1].rows)
        return pcf_fault_column(check, first,
                                "numbers of run ends and run values differ or exceed the rows");
    if (check_child(check, first, PCF_U64))
        return -1;
    return check_child(check, first + 1, c->type);
}

/* Parameters that the encoding does not use are 0. */
static int has_unused_parameter(const struct pcf_column *c)
{
    int packed = c->encoding == PCF_PACKED;
    int linear = (c->encoding == PCF_LINEAR || c->encoding == PCF_SPARSE) &&
                 !(c->flags & PCF_COLUMN_DEFAULT_NULL);
    int has_base = packed || linear || c->encoding == PCF_DICTIONARY;
    return (!packed && (c->width != 0 || c->scale != 0)) || (!linear && c->step != 0) ||
           (!has_base && c->base != 0);
}

/* Combinations of type, encoding, width, scale and step. */
static int check_parameters(const struct pcf_check *check, uint32_t column)
{
    const struct pcf_column *c = &check->index->columns[column];
    if (c->rows == 0 && c->encoding != PCF_LINEAR)
        return pcf_fault_column(check, column, "column without rows must be linear");
    if (c->encoding == PCF_FRONT && c->type != PCF_BYTES)
        return pcf_fault_column(check, column, "front coding requires type bytes");
    if (c->type == PCF_BYTES && c->encoding != PCF_PLAIN && c->encoding != PCF_FRONT &&
        (c->encoding != PCF_LINEAR || (c->rows && !(c->flags & PCF_COLUMN_DEFAULT_NULL))))
        return pcf_fault_column(check, column, "byte strings cannot have this encoding");
    if (c->encoding == PCF_TREE && c->type != PCF_U32)
        return pcf_fault_column(check, column, "tree encoding requires type u32");
    if (c->encoding == PCF_CHAIN && c->type != PCF_U32 && c->type != PCF_STRING)
        return pcf_fault_column(check, column, "chain encoding requires type u32 or string");
    if (c->type == PCF_F64) {
        if (c->encoding == PCF_PACKED || c->encoding == PCF_DELTAS)
            return pcf_fault_column(check, column, "doubles cannot have this encoding");
        if (c->step != 0)
            return pcf_fault_column(check, column, "doubles cannot have a step");
    }
    if (c->encoding == PCF_PACKED) {
        if (c->width == 0 || (c->width > PCF_MAX_PACKED_WIDTH && c->width != 64))
            return pcf_fault_column(check, column, "width of packed values is not 1 to 57 or 64");
        if (c->scale == 0)
            return pcf_fault_column(check, column, "scale is 0");
        if (c->step != 0)
            return pcf_fault_column(check, column, "packed values cannot have a step");
    }
    if (has_unused_parameter(c))
        return pcf_fault_column(check, column, "column has a parameter that its encoding lacks");
    return 0;
}

static int check_nulls(const struct pcf_check *check, uint32_t column)
{
    const struct pcf_column *c = &check->index->columns[column];
    int nullable = (c->flags & PCF_COLUMN_NULLABLE) != 0;
    int by_default = (c->flags & PCF_COLUMN_DEFAULT_NULL) != 0;
    if (c->null_count > c->rows || (c->null_count && !nullable))
        return pcf_fault_column(check, column, "more nulls than the column can have");
    if (c->null_count &&
        (c->encoding == PCF_RUNS || c->encoding == PCF_CHAIN || c->encoding == PCF_DELTAS ||
         c->encoding == PCF_SPLIT || c->encoding == PCF_FRONT || c->encoding == PCF_TREE))
        return pcf_fault_column(check, column, "column of this encoding cannot have nulls");
    if (nullable && !by_default && c->encoding == PCF_SPARSE && c->null_count)
        return pcf_fault_column(check, column, "sparse column with nulls must be null by default");
    if (by_default && (!nullable || (c->encoding != PCF_SPARSE && c->encoding != PCF_LINEAR)))
        return pcf_fault_column(check, column,
                                "column cannot be null by default with this encoding");
    if (by_default && c->encoding == PCF_LINEAR && c->null_count != c->rows)
        return pcf_fault_column(check, column,
                                "null count of an all-null column differs from its rows");
    if ((c->flags & PCF_COLUMN_ASCENDING) && c->null_count)
        return pcf_fault_column(check, column, "ascending column has nulls");
    if ((c->flags & PCF_COLUMN_ASCENDING) && (c->type == PCF_F64 || c->type == PCF_BYTES))
        return pcf_fault_column(check, column, "column of this type cannot be ascending");
    if ((c->flags & PCF_COLUMN_STATS) && (c->type == PCF_BYTES || c->null_count == c->rows))
        return pcf_fault_column(check, column, "column has statistics without values");
    return 0;
}

int pcf_column_check(const struct pcf_check *check, uint32_t column)
{
    if (check_parameters(check, column) || check_nulls(check, column) ||
        check_children(check, column))
        return -1;
    return check_sections(check, column);
}

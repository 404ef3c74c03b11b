/*
 * column_rules.c - what a column may consist of (spec.md, "Encodings")
 *
 * Everything that a record says about its own sections and children is held against the type,
 * the encoding and the number of rows. After this no decoder can leave a section by a row number
 * that it has compared with `rows`.
 */
#include "format/column_rules.h"

#include "format/range.h"

#define BIT(role) (1u << (role))
#define LAST_ROLE PCF_ROLE_DATA

/* Compressed sections stand in archives only. */
static int codec_known(const struct pcf_index *index, const struct pcf_section *s)
{
    unsigned codec = s->codec & 15u, transform = s->codec >> 4;
    if (s->codec == 0)
        return 1;
    return pcf_is_archive(&index->header) && codec >= PCF_CODEC_ZLIB && codec <= PCF_CODEC_LZ4 &&
           transform <= PCF_TRANSFORM_LAST;
}

/* Transforms are of arrays of integers or doubles, those of trees of row numbers. */
static int transform_fits(const struct pcf_column *c, const struct pcf_section *s)
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
        if (!codec_known(index, s)) /* of a section that is skipped, too */
            return 0;
    }
    return 1;
}

/* Roles that the column must and may have. */
static void roles(const struct pcf_column *c, unsigned *must, unsigned *may)
{
    unsigned validity = c->flags & PCF_COLUMN_NULLABLE && !(c->flags & PCF_COLUMN_DEFAULT_NULL)
                            ? BIT(PCF_ROLE_VALIDITY)
                            : 0;
    *must = 0;
    *may = 0;
    switch ((enum pcf_encoding)c->encoding) {
    case PCF_PLAIN:
        *may = validity;
        if (c->type == PCF_BYTES)
            *may |= BIT(PCF_ROLE_DATA);
        else
            *must = BIT(PCF_ROLE_VALUES);
        break;
    case PCF_LINEAR:
        *may = validity;
        break;
    case PCF_PACKED:
        *must = BIT(PCF_ROLE_VALUES);
        *may = validity;
        break;
    case PCF_BLOCKED:
        *must = BIT(PCF_ROLE_VALUES) | BIT(PCF_ROLE_BLOCKS);
        *may = validity;
        break;
    case PCF_SPARSE:
    case PCF_CHAIN:
    case PCF_DELTAS:
    case PCF_SPLIT:
    case PCF_TREE:
        *must = BIT(PCF_ROLE_MARKS);
        break;
    case PCF_RUNS:
    case PCF_DICTIONARY:
        break;
    case PCF_FRONT:
        *may = BIT(PCF_ROLE_DATA); /* none: one row, which is empty */
        break;
    }
    *may |= *must;
}

/* Bits of a row of VALUES: PLAIN or PACKED. */
static uint64_t bits_per_row(const struct pcf_column *c)
{
    if (c->encoding == PCF_PACKED)
        return c->width;
    if (c->type == PCF_BOOL)
        return 1;
    return c->type == PCF_U32 || c->type == PCF_STRING ? 32 : 64;
}

/* Whether a section of a role has the size that the column needs. */
static int size_fits(const struct pcf_column *c, uint8_t role, uint64_t size)
{
    uint64_t need = 0, extra = 0;
    switch ((enum pcf_role)role) {
    case PCF_ROLE_VALUES:
        if (c->encoding == PCF_BLOCKED) /* each block is checked when it is used */
            return size >= PCF_PACK_PADDING;
        if (!pcf_multiply(c->rows, bits_per_row(c), &need))
            return 0;
        extra = c->encoding == PCF_PACKED ? PCF_PACK_PADDING : 0;
        return pcf_add(pcf_bytes_of_bits(need), extra, &need) && size == need;
    case PCF_ROLE_VALIDITY:
        return size == pcf_bytes_of_bits(c->rows);
    case PCF_ROLE_BLOCKS:
        return pcf_multiply(pcf_ceil_div(c->rows, PCF_BLOCK_ROWS), sizeof(struct pcf_block),
                            &need) &&
               size == need;
    case PCF_ROLE_MARKS: /* 2^48 rows at most */
        return size == pcf_bytes_of_bits(c->rows) + (c->rows - 1) / PCF_RANK_ROWS * 8;
    case PCF_ROLE_DATA:
        return 1;
    }
    return 0;
}

static int check_sections(const struct pcf_check *check, uint32_t column)
{
    const struct pcf_column *c = &check->index->columns[column];
    unsigned must, may, seen = 0;
    roles(c, &must, &may);
    for (uint32_t i = 0; i < c->section_count; i++) {
        uint32_t number = c->first_section + i;
        const struct pcf_section *s = &check->index->sections[number];
        if (s->role == 0 || s->role > LAST_ROLE)
            continue; /* unknown and optional */
        if (!(may & BIT(s->role)))
            return pcf_fault_section(check, number,
                                     "section of a role that its column's encoding does not have");
        if (seen & BIT(s->role))
            return pcf_fault_section(check, number, "second section of the same role");
        if (!transform_fits(c, s))
            return pcf_fault_section(check, number, "transform that the section cannot have");
        if (!size_fits(c, s->role, s->raw_size))
            return pcf_fault_section(check, number,
                                     "size of a section does not follow from its column's rows");
        seen |= BIT(s->role);
    }
    if (must & ~seen)
        return pcf_fault_column(check, column, "column lacks a section that its encoding needs");
    if (c->flags & PCF_COLUMN_NULLABLE && !(c->flags & PCF_COLUMN_DEFAULT_NULL) &&
        c->encoding != PCF_DICTIONARY && !(seen & BIT(PCF_ROLE_VALIDITY)) && c->null_count)
        return pcf_fault_column(check, column, "column counts nulls but has no validity section");
    return 0;
}

/* A child: values of a type, without nulls. */
static int check_child(const struct pcf_check *check, uint32_t child, uint8_t type)
{
    const struct pcf_column *c = &check->index->columns[child];
    if (c->type != type)
        return pcf_fault_column(check, child, "child column of the wrong type");
    if (c->flags & (PCF_COLUMN_NULLABLE | PCF_COLUMN_DEFAULT_NULL))
        return pcf_fault_column(check, child, "child column with nulls");
    return 0;
}

/* Values of the marked rows, and successors, differences or values of the other rows, which are
 * looked up for each of them and so must be had without looking up others. */
static int check_follow(const struct pcf_check *check, uint32_t column)
{
    const struct pcf_column *c = &check->index->columns[column];
    const struct pcf_column *child = check->index->columns + c->first_child;
    if (child[0].rows > c->rows)
        return pcf_fault_column(check, c->first_child, "more marked rows than rows");
    if (child[1].encoding > PCF_BLOCKED)
        return pcf_fault_column(
            check, c->first_child + 1,
            c->encoding == PCF_SPLIT
                ? "values of other rows must be plain, linear, packed or blocked"
                : "successors and differences must be plain, linear, packed or blocked");
    if (c->encoding == PCF_CHAIN ? child[1].rows > PCF_MAX_U32_ROWS
                                 : child[1].rows != c->rows - child[0].rows)
        return pcf_fault_column(check, c->first_child + 1,
                                c->encoding == PCF_SPLIT
                                    ? "values of other rows are not as many as there can be"
                                    : "successors or differences are not as many as there can be");
    if (check_child(check, c->first_child, c->type))
        return -1;
    return check_child(check, c->first_child + 1, c->encoding == PCF_DELTAS ? PCF_I64 : c->type);
}

/* The entries, which may be null where the column may, and the codes, if they are its own. */
static int check_dictionary(const struct pcf_check *check, uint32_t column)
{
    const struct pcf_column *c = &check->index->columns[column];
    const struct pcf_column *entries = check->index->columns + c->first_child;
    const uint32_t nulls = PCF_COLUMN_NULLABLE | PCF_COLUMN_DEFAULT_NULL;
    if (entries->type != c->type)
        return pcf_fault_column(check, c->first_child, "child column of the wrong type");
    if (entries->rows == 0 || entries->rows > PCF_MAX_U32_ROWS)
        return pcf_fault_column(check, c->first_child, "dictionary of no or of too many entries");
    if (entries->encoding > PCF_BLOCKED)
        return pcf_fault_column(check, c->first_child,
                                "dictionary must be plain, linear, packed or blocked");
    if ((entries->flags & nulls) && !(c->flags & PCF_COLUMN_NULLABLE))
        return pcf_fault_column(check, c->first_child,
                                "nulls in the dictionary of a column without nulls");
    if (c->child_count == 1) /* that they are there is found with the table */
        return 0;
    if (entries[1].rows != c->rows)
        return pcf_fault_column(check, c->first_child + 1, "codes are not as many as rows");
    return check_child(check, c->first_child + 1, PCF_U32);
}

/* Each row but an empty first one has a byte of its own, so that rows are bounded by bytes. */
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
        return pcf_fault_column(check, column, "more strings in order than bytes");
    if (child[0].rows != c->rows + 1 || child[1].rows != c->rows)
        return pcf_fault_column(check, c->first_child,
                                "offsets must be one more than rows, shared bytes as many");
    if (check_child(check, c->first_child, PCF_U64))
        return -1;
    return check_child(check, c->first_child + 1, PCF_U32);
}

static int check_children(const struct pcf_check *check, uint32_t column)
{
    const struct pcf_column *c = &check->index->columns[column];
    const struct pcf_column *child = check->index->columns + c->first_child;
    uint32_t first = c->first_child;
    unsigned need = c->encoding == PCF_SPARSE                          ? 1
                    : c->encoding == PCF_TREE                          ? 1
                    : c->encoding == PCF_RUNS                          ? 2
                    : c->encoding == PCF_CHAIN                         ? 2
                    : c->encoding == PCF_DELTAS                        ? 2
                    : c->encoding == PCF_FRONT                         ? 2
                    : c->encoding == PCF_SPLIT                         ? 2
                    : c->encoding == PCF_DICTIONARY                    ? 2
                    : c->encoding == PCF_PLAIN && c->type == PCF_BYTES ? 1
                                                                       : 0;
    if (c->encoding == PCF_DICTIONARY && c->child_count == 1 && c->name_size)
        need = 1; /* the codes are those of another column */
    if (c->child_count != need)
        return pcf_fault_column(check, column, "wrong number of child columns for the encoding");
    if (need == 0)
        return 0;
    if (c->encoding == PCF_PLAIN) {
        if (child[0].rows != c->rows + 1)
            return pcf_fault_column(check, first, "byte offsets must be one more than rows");
        return check_child(check, first, PCF_U64);
    }
    if (c->encoding == PCF_SPARSE) {
        if (child[0].rows > c->rows)
            return pcf_fault_column(check, first, "sparse column has more values than rows");
        if ((c->flags & PCF_COLUMN_DEFAULT_NULL) && c->null_count != c->rows - child[0].rows)
            return pcf_fault_column(check, column,
                                    "null count disagrees with the number of values");
        return check_child(check, first, c->type);
    }
    if (c->encoding == PCF_TREE) {
        if (child[0].rows >= c->rows)
            return pcf_fault_column(check, first, "more marked rows than can be");
        return check_child(check, first, PCF_U64);
    }
    if (c->encoding == PCF_CHAIN || c->encoding == PCF_DELTAS || c->encoding == PCF_SPLIT)
        return check_follow(check, column);
    if (c->encoding == PCF_FRONT)
        return check_front(check, column);
    if (c->encoding == PCF_DICTIONARY)
        return check_dictionary(check, column);
    if (child[0].rows > c->rows || child[0].rows != child[1].rows)
        return pcf_fault_column(check, first,
                                "run ends and run values must be equally many, at most one a row");
    if (check_child(check, first, PCF_U64))
        return -1;
    return check_child(check, first + 1, c->type);
}

static int has_scale(const struct pcf_column *c)
{
    return c->encoding == PCF_PACKED || c->encoding == PCF_BLOCKED;
}

/* Parameters that type and encoding allow. */
static int check_parameters(const struct pcf_check *check, uint32_t column)
{
    const struct pcf_column *c = &check->index->columns[column];
    if (c->rows == 0 && c->encoding != PCF_LINEAR)
        return pcf_fault_column(check, column, "column without rows must be linear");
    if (c->encoding == PCF_FRONT && c->type != PCF_BYTES)
        return pcf_fault_column(check, column, "shared bytes of other than byte strings");
    if (c->type == PCF_BYTES && c->encoding != PCF_PLAIN && c->encoding != PCF_FRONT &&
        (c->encoding != PCF_LINEAR || (c->rows && !(c->flags & PCF_COLUMN_DEFAULT_NULL))))
        return pcf_fault_column(check, column, "byte strings cannot have this encoding");
    if (c->encoding == PCF_TREE && c->type != PCF_U32)
        return pcf_fault_column(check, column, "tree of other than row numbers");
    if (c->encoding == PCF_CHAIN && c->type != PCF_U32 && c->type != PCF_STRING)
        return pcf_fault_column(check, column, "chain of other than row numbers");
    if (c->type == PCF_F64) {
        if (has_scale(c) || c->encoding == PCF_DELTAS)
            return pcf_fault_column(check, column, "doubles cannot have this encoding");
        if (c->step != 0)
            return pcf_fault_column(check, column, "doubles cannot have a step");
    }
    if (c->encoding == PCF_PACKED &&
        (c->width == 0 || (c->width > PCF_MAX_PACKED_WIDTH && c->width != 64)))
        return pcf_fault_column(check, column, "width of packed values is not 1 to 57 or 64");
    if (has_scale(c) && c->scale == 0)
        return pcf_fault_column(check, column, "scale is 0");
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
                                "null count of an empty column is not its number of rows");
    if ((c->flags & PCF_COLUMN_ASCENDING) && c->null_count)
        return pcf_fault_column(check, column, "ascending column has nulls");
    return 0;
}

int pcf_column_check(const struct pcf_check *check, uint32_t column)
{
    if (check_parameters(check, column) || check_nulls(check, column) ||
        check_children(check, column))
        return -1;
    return check_sections(check, column);
}

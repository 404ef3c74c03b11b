/* combine.c - profiles made of others: merge, sums, filter, added frames, symbols */
#include "rpcol.h"

#include <stdio.h>
#include <string.h>

/* The file that the builder of the call makes, opened in memory. */
static SEXP finish_builder(struct call *c)
{
    if (c->status != PCOL_OK ||
        failed(c, pcol_builder_file(c->builder, PCOL_WRITE_QUICK, &c->control, &c->file, &c->err)))
        return R_NilValue;
    return give_handle(c);
}

/* ---- merge */

static void add_profiles(struct call *c, SEXP pointers, SEXP options)
{
    pcol_import_options io = PCOL_INIT(pcol_import_options);
    io.control = &c->control;
    io.flags = (flag_of(member(options, "trusted")) ? PCOL_IMPORT_TRUSTED : 0u) |
               (flag_of(member(options, "rebase")) ? PCOL_IMPORT_REBASE : 0u);
    if (!new_builder(c, options))
        return;
    for (R_xlen_t i = 0; i < XLENGTH(pointers) && c->status == PCOL_OK; i++) {
        pcol_file *file = handle_of(c, VECTOR_ELT(pointers, i));
        if (file && !failed(c, pcol_builder_add_file(c->builder, file, &io, &c->err)))
            verify_intact(c, VECTOR_ELT(pointers, i));
    }
}

static void sum_profiles(struct call *c, SEXP pointers, SEXP keys, SEXP options)
{
    pcol_sums_options so = PCOL_INIT(pcol_sums_options);
    pcol_builder_options bo = PCOL_INIT(pcol_builder_options);
    bo.temporary_folder = text_of(member(options, "tempdir"));
    so.builder = &bo;
    so.keys = texts_of(c, keys, &so.key_count);
    so.flags = (flag_of(member(options, "trusted")) ? PCOL_SUMS_TRUSTED : 0u) |
               (flag_of(member(options, "rebase")) ? PCOL_SUMS_REBASE : 0u);
    if (!so.keys || failed(c, pcol_sums_new(&so, &c->sums, &c->err)))
        return;
    for (R_xlen_t i = 0; i < XLENGTH(pointers) && c->status == PCOL_OK; i++) {
        pcol_file *file = handle_of(c, VECTOR_ELT(pointers, i));
        if (file && !failed(c, pcol_sums_add(c->sums, file, &c->control, &c->err)))
            verify_intact(c, VECTOR_ELT(pointers, i));
    }
    if (c->status == PCOL_OK)
        failed(c, pcol_sums_finish(c->sums, &c->control, &c->builder, &c->err));
}

/* (list of handles, keys of sums or NULL, options) -> external pointer */
SEXP op_merge(struct call *c, SEXP args)
{
    if (arg(args, 1) == R_NilValue)
        add_profiles(c, arg(args, 0), arg(args, 2));
    else
        sum_profiles(c, arg(args, 0), arg(args, 1), arg(args, 2));
    return finish_builder(c);
}

/* ---- filter, added frames */

/* (handle, selection, drop_labels, keys of labels to drop, anonymize, options) -> external pointer */
SEXP op_filter(struct call *c, SEXP args)
{
    pcol_file *file = handle_of(c, arg(args, 0));
    pcol_filter_options o = PCOL_INIT(pcol_filter_options);
    pcol_selection sel = PCOL_INIT(pcol_selection);
    read_selection(c, arg(args, 1), &sel);
    o.selection = &sel;
    o.drop_labels = flag_of(arg(args, 2));
    o.drop_label_keys = texts_of(c, arg(args, 3), &o.drop_label_key_count);
    o.anonymize = flag_of(arg(args, 4));
    o.control = &c->control;
    if (!file || !o.drop_label_keys || !new_builder(c, arg(args, 5)) ||
        failed(c, pcol_filter(c->builder, file, &o, &c->err)))
        return R_NilValue;
    verify_intact(c, arg(args, 0));
    return finish_builder(c);
}

/* (handle, frames above the root, frames below the leaf, keep_dropped, options) -> external pointer */
SEXP op_add_frames(struct call *c, SEXP args)
{
    pcol_file *file = handle_of(c, arg(args, 0));
    pcol_add_frames_options o = PCOL_INIT(pcol_add_frames_options);
    o.roots = texts_of(c, arg(args, 1), &o.root_count);
    o.leaves = o.roots ? texts_of(c, arg(args, 2), &o.leaf_count) : NULL;
    o.keep_dropped = flag_of(arg(args, 3));
    o.control = &c->control;
    if (!file || !o.leaves || !new_builder(c, arg(args, 4)) ||
        failed(c, pcol_add_frames(c->builder, file, &o, &c->err)))
        return R_NilValue;
    verify_intact(c, arg(args, 0));
    return finish_builder(c);
}

/* ---- symbols */

/* Cells of a physical table, one by one; a column that the table lacks is null. */
static int cell(struct call *c, const pcol_table *table, const char *name, uint64_t row,
                uint64_t *value)
{
    const pcol_column *column = pcol_table_column_by_name(table, name, NULL);
    int64_t bits = 0;
    int valid = 0;
    if (column && row < pcol_table_rows(table))
        failed(c, pcol_column_i64(column, row, &bits, &valid, &c->err));
    *value = (uint64_t)bits;
    return valid;
}

static SEXP text_cell(struct call *c, const pcol_table *table, const char *name, uint64_t row)
{
    const pcol_column *column = pcol_table_column_by_name(table, name, NULL);
    pcol_str text = {NULL, 0};
    int valid = 0;
    if (column && row < pcol_table_rows(table))
        failed(c, pcol_column_str(column, row, &text, &valid, &c->err));
    return valid ? make_char(text) : NA_STRING;
}

/* Whether the locations of a group have neither functions nor lines. */
static int is_nameless(struct call *c, const pcol_table *groups, const pcol_table *locations,
                       uint64_t group)
{
    static const char *const NUMBERS[] = {"function", "line"};
    uint64_t first, end, number;
    first = cell(c, groups, "first_location", group, &first) ? first : group;
    end = cell(c, groups, "first_location", group + 1, &end)          ? end
          : pcol_table_column_by_name(groups, "first_location", NULL) ? pcol_table_rows(locations)
                                                                      : group + 1;
    for (uint64_t row = first; row < end && row < pcol_table_rows(locations); row++) {
        for (int k = 0; k < 2; k++)
            if (cell(c, locations, NUMBERS[k], row, &number))
                return 0;
        if (text_cell(c, locations, "filename", row) != NA_STRING)
            return 0;
    }
    return 1;
}

/* Offset in the binary, as a text; NA outside of the mapping. Mappings of the whole address space have offsets as addresses. */
static SEXP offset_text(struct call *c, const pcol_table *mappings, uint64_t mapping,
                        uint64_t address)
{
    uint64_t start, limit, offset;
    char text[24];
    (void)cell(c, mappings, "start", mapping, &start);
    (void)cell(c, mappings, "limit", mapping, &limit);
    (void)cell(c, mappings, "file_offset", mapping, &offset);
    if (start == 0 && offset == 0 && (limit == 0 || limit == UINT64_MAX))
        limit = UINT64_MAX;
    else if (address < start || address >= limit || address - start > UINT64_MAX - offset)
        return NA_STRING;
    snprintf(text, sizeof text, "0x%llx", (unsigned long long)(address - start + offset));
    return Rf_mkChar(text);
}

/* Row @to of the answer of op_addresses(); 0: the group is not one of those. */
static int add_address(struct call *c, const pcol_table *const tables[3], uint64_t group, SEXP out,
                       R_xlen_t to)
{
    uint64_t mapping, address;
    char text[24];
    if (!cell(c, tables[0], "address", group, &address) ||
        !is_nameless(c, tables[0], tables[1], group))
        return 0;
    if (!cell(c, tables[0], "mapping", group, &mapping))
        mapping = UINT64_MAX;
    snprintf(text, sizeof text, "0x%llx", (unsigned long long)address);
    INTEGER(VECTOR_ELT(out, 0))[to] = (int)group;
    INTEGER(VECTOR_ELT(out, 1))[to] = mapping == UINT64_MAX ? NA_INTEGER : (int)mapping;
    SET_STRING_ELT(VECTOR_ELT(out, 2), to, text_cell(c, tables[2], "filename", mapping));
    SET_STRING_ELT(VECTOR_ELT(out, 3), to, text_cell(c, tables[2], "build_id", mapping));
    SET_STRING_ELT(VECTOR_ELT(out, 4), to, Rf_mkChar(text));
    SET_STRING_ELT(VECTOR_ELT(out, 5), to,
                   mapping < pcol_table_rows(tables[2])
                       ? offset_text(c, tables[2], mapping, address)
                       : NA_STRING);
    return 1;
}

/*
 * (handle) -> list(group, mapping_row, mapping, build_id, address, offset): the location groups that have an address and neither
 * functions nor lines; rows count from 0
 */
SEXP op_addresses(struct call *c, SEXP args)
{
    static const char *const NAMES[] = {"group",    "mapping_row", "mapping",
                                        "build_id", "address",     "offset"};
    static const char *const TABLES[] = {"location_groups", "locations", "mappings"};
    pcol_file *file = handle_of(c, arg(args, 0));
    const pcol_table *tables[3] = {NULL, NULL, NULL};
    for (int k = 0; file && k < 3; k++) {
        pcol_status st =
            pcol_file_table_by_name(file, PCOL_MODEL_PHYSICAL, TABLES[k], &tables[k], &c->err);
        for (uint32_t i = 0; st == PCOL_OK && i < pcol_table_column_count(tables[k]); i++)
            st = pcol_column_verify(pcol_table_column(tables[k], i), &c->err);
        if (st != PCOL_E_NOT_FOUND && failed(c, st))
            return R_NilValue;
    }
    uint64_t n = file ? pcol_table_rows(tables[0]) : 0;
    if (n > INT32_MAX)
        return fail(c, PCOL_E_LIMIT,
                    "the profile has more locations than a vector of integers can number");
    SEXP out = PROTECT(named_list(NAMES, 6));
    for (int k = 0; k < 6; k++)
        SET_VECTOR_ELT(out, k, Rf_allocVector(k < 2 ? INTSXP : STRSXP, (R_xlen_t)n));
    R_xlen_t count = 0;
    for (uint64_t group = 0; group < n && c->status == PCOL_OK; group++)
        count += add_address(c, tables, group, out, count);
    for (int k = 0; k < 6; k++)
        SET_VECTOR_ELT(out, k, Rf_xlengthgets(VECTOR_ELT(out, k), count));
    if (file)
        verify_intact(c, arg(args, 0));
    UNPROTECT(1);
    return out;
}

static void read_symbols(SEXP names, SEXP files, SEXP lines, pcol_symbol *symbols)
{
    for (R_xlen_t i = 0; i < XLENGTH(names); i++) {
        const char *name = Rf_translateCharUTF8(STRING_ELT(names, i));
        SEXP file = STRING_ELT(files, i);
        const char *path = file == NA_STRING ? NULL : Rf_translateCharUTF8(file);
        symbols[i].function = (pcol_str){name, strlen(name)};
        symbols[i].filename = (pcol_str){path, path ? strlen(path) : 0};
        symbols[i].line = INTEGER(lines)[i] == NA_INTEGER ? 0 : INTEGER(lines)[i];
    }
}

/*
 * (handle, number of symbols of each group, names, files, lines: by group, innermost first; PCOL_SYMBOLS_* of each mapping, options)
 * -> external pointer
 */
SEXP op_symbolize(struct call *c, SEXP args)
{
    pcol_file *file = handle_of(c, arg(args, 0));
    SEXP counts = arg(args, 1), names = arg(args, 2), flags = arg(args, 5);
    size_t groups = (size_t)XLENGTH(counts), mappings = (size_t)XLENGTH(flags);
    pcol_symbolize_options o = PCOL_INIT(pcol_symbolize_options);
    pcol_symbol *symbols = hold(c, (size_t)XLENGTH(names), sizeof *symbols);
    uint64_t *first = hold(c, groups + 1, sizeof *first);
    uint8_t *bits = hold(c, mappings, 1);
    if (!file || !symbols || !first || !bits)
        return R_NilValue;
    read_symbols(names, arg(args, 3), arg(args, 4), symbols);
    for (size_t i = 0; i < groups; i++)
        first[i + 1] = first[i] + (uint64_t)INTEGER(counts)[i];
    for (size_t i = 0; i < mappings; i++)
        bits[i] = (uint8_t)INTEGER(flags)[i];
    o.symbols = symbols;
    o.first = first;
    o.group_count = groups;
    o.mapping_flags = bits;
    o.mapping_count = mappings;
    o.control = &c->control;
    if (!new_builder(c, arg(args, 6)) || failed(c, pcol_symbolize(c->builder, file, &o, &c->err)))
        return R_NilValue;
    verify_intact(c, arg(args, 0));
    return finish_builder(c);
}

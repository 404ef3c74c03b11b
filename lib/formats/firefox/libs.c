/*
 * libs.c - converts libraries to rows of mappings
 *
 * The seven usual keys, each a string or null, have columns. A library with other keys, or without
 * one of these, is preserved as JSON text in addition. The start, end and offset that older
 * versions have are no range of the mapping: addresses of frames are offsets from the start.
 */
#include "formats/firefox/read.h"

#include "util/alloc.h"

enum { L_NAME, L_PATH, L_DEBUG_NAME, L_DEBUG_PATH, L_BREAKPAD, L_CODE, L_ARCH, L_TEXT, L_COUNT };

static const struct {
    const char *key, *column;
} fields[L_COUNT] = {
    [L_NAME] = {"name", "name"},
    [L_PATH] = {"path", "filename"},
    [L_DEBUG_NAME] = {"debugName", "debug_name"},
    [L_DEBUG_PATH] = {"debugPath", "debug_path"},
    [L_BREAKPAD] = {"breakpadId", "breakpad_id"},
    [L_CODE] = {"codeId", "build_id"},
    [L_ARCH] = {"arch", "arch"},
    [L_TEXT] = {NULL, "json"},
};

/* Read the members of a library from `in`, a copy of its text. *usual: no JSON text is needed. */
static pcol_status read_lib_members(struct pci_ff *ff, struct pci_ff_stream *in,
                                    struct pci_cell_value *cells, int *usual, pcol_error *err)
{
    unsigned seen = 0;
    int more;
    *usual = 1;
    PCI_TRY(pci_ff_next(in, err));
    if (in->type != PCI_JSON_OBJECT)
        return pci_ff_fail(&ff->in, err, "a library must be an object");
    for (;;) {
        int k = 0;
        uint32_t code;
        PCI_TRY(pci_ff_member(in, &more, err));
        if (!more)
            break;
        while (k < L_TEXT && !pci_ff_text_is(in, fields[k].key))
            k++;
        PCI_TRY(pci_ff_next(in, err));
        int text = in->type == PCI_JSON_STRING;
        if (k < L_TEXT && text) {
            PCI_TRY(
                pcol_builder_string(ff->b, in->json->text.data, in->json->text.size, &code, err));
            cells[k] = (struct pci_cell_value){code, 1};
        }
        *usual &= k < L_TEXT && (text || in->type == PCI_JSON_NULL) && !(seen >> k & 1);
        seen |= 1u << k;
        PCI_TRY(pci_ff_skip(in, err));
    }
    *usual &= seen == (1u << L_TEXT) - 1;
    return PCOL_OK;
}

static pcol_status open_columns(struct pci_ff *ff, uint32_t *columns, pcol_error *err)
{
    for (int k = 0; k < L_COUNT; k++)
        PCI_TRY(pci_builder_column(ff->b, PCI_T_MAPPINGS, fields[k].column, PCOL_STRING, 0,
                                   &columns[k], err));
    return PCOL_OK;
}

static pcol_status add_lib(struct pci_ff *ff, const uint32_t *columns, uint32_t *row,
                           pcol_error *err)
{
    struct pci_cell_value cells[L_COUNT] = {{0}};
    struct pci_ff_stream in;
    uint32_t code, before;
    int usual;
    ff->text.size = 0;
    PCI_TRY(pci_ff_capture(&ff->in, &ff->text, err));
    PCI_TRY(pci_ff_stream_memory(&in, ff->text.data, ff->text.size, err));
    pcol_status status = read_lib_members(ff, &in, cells, &usual, err);
    pci_ff_stream_close(&in);
    PCI_TRY(status);
    if (!usual) {
        PCI_TRY(pcol_builder_string(ff->b, ff->text.data, ff->text.size, &code, err));
        cells[L_TEXT] = (struct pci_cell_value){code, 1};
    }
    PCI_TRY(pci_builder_intern(ff->b, PCI_T_MAPPINGS, columns, cells, L_COUNT, 0, row, NULL, err));
    PCI_TRY(pci_ff_count_duplicate(&ff->duplicates[PCI_FF_LIBS], *row, &before, err));
    return before ? pci_builder_intern(ff->b, PCI_T_MAPPINGS, columns, cells, L_COUNT, before, row,
                                       NULL, err)
                  : PCOL_OK;
}

pcol_status pci_ff_read_libs(struct pci_ff *ff, struct pci_ff_scope *scope, pcol_error *err)
{
    struct pci_ff_table *table = &scope->tables[PCI_FF_LIBS];
    uint32_t columns[L_COUNT];
    size_t capacity = 0, count = 0;
    int more;
    table->present = 1;
    table->position = pci_ff_get_position(&ff->in);
    ff->duplicates[PCI_FF_LIBS].epoch++;
    PCI_TRY(open_columns(ff, columns, err));
    for (;; count++) {
        PCI_TRY(pci_ff_element(&ff->in, &more, err));
        if (!more)
            break;
        if (count >= PCOL_NONE - 1)
            return pci_fail(err, PCOL_E_LIMIT, "more than 4294967294 libraries");
        PCI_TRY(PCI_GROW(scope->map[PCI_FF_LIBS], capacity, count + 1, err));
        PCI_TRY(add_lib(ff, columns, &scope->map[PCI_FF_LIBS][count], err));
    }
    table->rows = scope->rows[PCI_FF_LIBS] = count;
    return PCOL_OK;
}

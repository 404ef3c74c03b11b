/*
 * cursor.c - integers and text of Java Flight Recorder files
 */
#include "formats/jfr/jfr.h"

pcol_status pci_jfr_fail(const struct pci_jfr_cursor *cursor, pcol_error *err, const char *problem)
{
    return pci_fail_at_byte(err, PCOL_E_SYNTAX,
                            cursor->offset + (uint64_t)(cursor->p - cursor->start), "%s", problem);
}

static pcol_status fail_end(const struct pci_jfr_cursor *c, pcol_error *err)
{
    return pci_jfr_fail(c, err, "the event ends inside this value");
}

/* LEB128 with a ninth byte of 8 bits. */
static pcol_status read_leb128(struct pci_jfr_cursor *c, int64_t *value, pcol_error *err)
{
    uint64_t bits = 0;
    const uint8_t *p = c->p;
    for (unsigned i = 0; i < 9; i++) {
        if (p == c->end)
            return fail_end(c, err);
        uint8_t byte = *p++;
        bits |= (uint64_t)(i < 8 ? byte & 0x7f : byte) << 7 * i;
        if (i == 8 || !(byte & 0x80))
            break;
    }
    c->p = p;
    *value = (int64_t)bits;
    return PCOL_OK;
}

static int64_t narrow(uint64_t bits, unsigned width)
{
    return width == 4   ? (int32_t)(uint32_t)bits
           : width == 2 ? (int16_t)(uint16_t)bits
                        : (int64_t)bits;
}

pcol_status pci_jfr_integer(struct pci_jfr_cursor *cursor, unsigned width, int64_t *value,
                            pcol_error *err)
{
    uint64_t bits = 0;
    if (cursor->is_compressed) {
        PCI_TRY(read_leb128(cursor, value, err));
        *value = narrow((uint64_t)*value, width);
        return PCOL_OK;
    }
    if ((size_t)(cursor->end - cursor->p) < width)
        return fail_end(cursor, err);
    for (unsigned i = 0; i < width; i++)
        bits = bits << 8 | *cursor->p++;
    *value = narrow(bits, width);
    return PCOL_OK;
}

pcol_status pci_jfr_count(struct pci_jfr_cursor *cursor, uint64_t *count, pcol_error *err)
{
    struct pci_jfr_cursor start = *cursor;
    int64_t value;
    PCI_TRY(pci_jfr_integer(cursor, 4, &value, err));
    if (value < 0 || value > cursor->end - cursor->p)
        return pci_jfr_fail(&start, err, "a count or size beyond the end of the event");
    *count = (uint64_t)value;
    return PCOL_OK;
}

pcol_status pci_jfr_skip(struct pci_jfr_cursor *cursor, uint64_t size, pcol_error *err)
{
    if (size > (uint64_t)(cursor->end - cursor->p))
        return fail_end(cursor, err);
    cursor->p += size;
    return PCOL_OK;
}

pcol_status pci_jfr_text(struct pci_jfr_cursor *cursor, struct pci_jfr_text *text, pcol_error *err)
{
    uint64_t count = 0;
    int64_t character;
    struct pci_jfr_cursor start = *cursor;
    PCI_TRY(pci_jfr_skip(cursor, 1, err));
    *text = (struct pci_jfr_text){.encoding = *start.p, .is_compressed = cursor->is_compressed};
    if (text->encoding > PCI_JFR_LATIN1)
        return pci_jfr_fail(&start, err, "an unknown encoding of text");
    if (text->encoding == PCI_JFR_CONSTANT)
        return pci_jfr_integer(cursor, 8, &text->key, err);
    if (text->encoding >= PCI_JFR_UTF8)
        PCI_TRY(pci_jfr_count(cursor, &count, err));
    text->data = cursor->p;
    if (text->encoding != PCI_JFR_UTF16)
        PCI_TRY(pci_jfr_skip(cursor, count, err));
    else
        for (uint64_t i = 0; i < count; i++)
            PCI_TRY(pci_jfr_integer(cursor, 2, &character, err));
    text->size = (size_t)(cursor->p - text->data);
    return PCOL_OK;
}

static pcol_status append_character(uint32_t code, struct pci_strbuf *to, pcol_error *err)
{
    uint8_t bytes[4];
    size_t size = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const uint8_t first[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = size; i-- > 1; code >>= 6)
        bytes[i] = (uint8_t)(0x80 | (code & 0x3f));
    bytes[0] = (uint8_t)(first[size] | code);
    return pci_strbuf_append(to, bytes, size, err);
}

/* Surrogates without a partner are encoded as they are, as in other formats. */
static pcol_status append_utf16(const struct pci_jfr_text *text, struct pci_strbuf *to,
                                pcol_error *err)
{
    struct pci_jfr_cursor c = {text->data, text->data, text->data + text->size, 0,
                               text->is_compressed};
    uint32_t high = 0;
    while (c.p < c.end) {
        int64_t value;
        PCI_TRY(pci_jfr_integer(&c, 2, &value, err));
        uint32_t code = (uint16_t)value;
        if (high && (code & 0xfc00) == 0xdc00) {
            code = 0x10000 + ((high & 0x3ff) << 10 | (code & 0x3ff));
            high = 0;
        }
        if (high)
            PCI_TRY(append_character(high, to, err));
        high = (code & 0xfffffc00) == 0xd800 ? code : 0;
        if (!high)
            PCI_TRY(append_character(code, to, err));
    }
    return high ? append_character(high, to, err) : PCOL_OK;
}

pcol_status pci_jfr_append(const struct pci_jfr_text *text, struct pci_strbuf *to, pcol_error *err)
{
    if (text->encoding == PCI_JFR_UTF16)
        return append_utf16(text, to, err);
    if (text->encoding != PCI_JFR_LATIN1)
        return pci_strbuf_append(to, text->data, text->size, err);
    for (size_t i = 0; i < text->size; i++)
        PCI_TRY(append_character(text->data[i], to, err));
    return PCOL_OK;
}

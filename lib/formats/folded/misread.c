/*
 * misread.c - output of folded stacks, with what the reader would take for something else
 */
#include "formats/folded/misread.h"

#include "formats/format.h"

#include <string.h>

pcol_status pci_folded_put(struct pci_folded_output *output, const void *text, size_t size,
                           pcol_error *err)
{
    if (output->size < sizeof output->head && size) {
        size_t left = sizeof output->head - (size_t)output->size;
        memcpy(output->head + output->size, text, size < left ? size : left);
    }
    output->size += size;
    return pci_out(output->out, text, size, err);
}

/* Whether a text begins like UTF-8 with a mark, UTF-16 or gzip. */
static int begins_encoded(const void *text, size_t size)
{
    static const char marks[][4] = {"\xef\xbb\xbf", "\xff\xfe", "\xfe\xff", "\x1f\x8b"};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (size >= strlen(marks[i]) && !memcmp(text, marks[i], strlen(marks[i])))
            return 1;
    return 0;
}

int pci_folded_replace_separators(char *text, size_t size, int carriage_returns)
{
    int found = 0;
    for (size_t at = 0; at < size; at++) {
        if (text[at] != ';' && text[at] != '\n' && (text[at] != '\r' || !carriage_returns))
            continue;
        text[at] = text[at] == ';' ? ':' : ' ';
        found = 1;
    }
    return found;
}

/* Whether a stack ends in a blank and a number: its line looks like one of two counts. */
static int is_numbered(const char *stack, size_t size)
{
    size_t start = size;
    while (start && memchr("0123456789,.-", stack[start - 1], 13))
        start--;
    return start < size && start && (stack[start - 1] == ' ' || stack[start - 1] == '\t');
}

pcol_status pci_folded_put_stack(struct pci_folded_output *output, const void *text, size_t size,
                                 int begins, pcol_error *err)
{
    const char *stack = text;
    if (output->size + size < PCI_UNSUPPORTED_BYTES) {
        output->lines++;
        output->numbered += size && is_numbered(stack, size);
    }
    /* A blank follows the stack. */
    output->is_misread |=
        begins && size && stack[0] == '#' && (size == 1 || stack[1] == ' ' || stack[1] == '\t');
    output->is_misread |= !output->size && begins_encoded(text, size);
    return pci_folded_put(output, text, size, err);
}

int pci_folded_is_misread(const struct pci_folded_output *output, enum pci_folded_form form)
{
    int is_whole = output->size <= sizeof output->head;
    enum pci_folded_form read = pci_folded_find_form(
        output->head, is_whole ? (size_t)output->size : sizeof output->head, is_whole);
    return output->is_misread || (output->lines && output->numbered == output->lines) ||
           (read != form && (read || output->has_parts));
}

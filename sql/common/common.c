/*
 * common.c - opening, names, texts and errors of the SQL extensions
 *
 * Tests: sql/tests.
 */
#include "common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

pcol_status sql_open(const char *path, const char *format, const pcol_control *control,
                     pcol_file **file, pcol_error *err)
{
    pcol_import_options options = PCOL_INIT(pcol_import_options);
    options.format = format;
    options.control = control;
    options.open_flags = PCOL_OPEN_GUARD;
    return pcol_open_any_path(path, &options, file, err);
}

pcol_status sql_find_table(const pcol_file *file, pcol_model model, const char *name,
                           const pcol_table **table, pcol_error *err)
{
    pcol_status status = pcol_file_table_by_name(file, model, name, table, err);
    if (status == PCOL_E_NOT_FOUND && model == PCOL_MODEL_V2)
        status = pcol_file_table_by_name(file, PCOL_MODEL_FURTHER, name, table, err);
    return status;
}

int sql_model(const char *name)
{
    static const char *const names[] = {"v2", "v1", "physical"};
    static const pcol_model models[] = {PCOL_MODEL_V2, PCOL_MODEL_V1, PCOL_MODEL_PHYSICAL};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return (int)models[i];
    return -1;
}

/* ---- texts */

/* Length of the UTF-8 character at the start of @size > 0 bytes; 0: not UTF-8. */
static size_t utf8_length(const unsigned char *s, size_t size)
{
    if (s[0] < 0x80)
        return 1;
    if (s[0] < 0xc2 || s[0] > 0xf4)
        return 0;
    size_t length = s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
    if (length > size)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    int is_long = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xf0 && s[1] < 0x90);
    int is_beyond = (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf4 && s[1] > 0x8f);
    return is_long || is_beyond ? 0 : length;
}

int sql_is_utf8(pcol_str text, int *has_nul)
{
    const unsigned char *s = (const unsigned char *)text.data;
    size_t at = 0;
    if (has_nul != NULL)
        *has_nul = text.size > 0 && memchr(text.data, 0, text.size) != NULL;
    while (at < text.size) {
        uint64_t word;
        if (text.size - at >= sizeof word) {
            memcpy(&word, s + at, sizeof word);
            if ((word & 0x8080808080808080u) == 0) {
                at += sizeof word;
                continue;
            }
        }
        size_t length = utf8_length(s + at, text.size - at);
        if (length == 0)
            return 0;
        at += length;
    }
    return 1;
}

char *sql_name(const char *data, size_t size)
{
    char *name = malloc(size + 1);
    if (name == NULL)
        return NULL;
    for (size_t at = 0; at < size;) {
        size_t length = utf8_length((const unsigned char *)data + at, size - at);
        if (length == 0 || data[at] == '\0')
            name[at++] = '?';
        else {
            memcpy(name + at, data + at, length);
            at += length;
        }
    }
    name[size] = '\0';
    return name;
}

struct named {
    char *name;
    size_t index;
};

static int compare_names(const void *a, const void *b)
{
    const struct named *x = a, *y = b;
    int order = strcasecmp(x->name, y->name);
    return order != 0 ? order : x->index < y->index ? -1 : x->index > y->index;
}

static int is_taken(char **names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcasecmp(names[i], name) == 0)
            return 1;
    return 0;
}

int sql_unique(char **names, size_t count)
{
    struct named *list = malloc((count + 1) * sizeof *list);
    int is_made = list != NULL;
    for (size_t i = 0; i < count && is_made; i++)
        list[i] = (struct named){names[i], i};
    if (is_made)
        qsort(list, count, sizeof *list, compare_names);
    unsigned number = 2;
    for (size_t i = 1; i < count && is_made; i++) {
        if (strcasecmp(list[i].name, list[i - 1].name) != 0) {
            number = 2;
            continue;
        }
        size_t size = strlen(list[i].name) + 16;
        char *renamed = malloc(size);
        if (renamed == NULL) {
            is_made = 0;
            break;
        }
        do
            snprintf(renamed, size, "%s_%u", list[i].name, number++);
        while (is_taken(names, count, renamed));
        /* The list keeps the old name, which the next ones are compared with. */
        names[list[i].index] = renamed;
    }
    for (size_t i = 0; i < count && list != NULL; i++)
        if (names[list[i].index] != list[i].name)
            free(list[i].name);
    free(list);
    return is_made;
}

/* ---- errors */

char *sql_message(char *text, size_t size, const char *path, const pcol_error *err)
{
    char place[192], whole[SQL_MESSAGE_SIZE];
    pcol_error_place(err, place, sizeof place);
    snprintf(whole, sizeof whole, "%.4000s: %s%s%s", path, place, place[0] != '\0' ? ": " : "",
             err->message[0] != '\0' ? err->message : pcol_status_text(err->status));
    size_t length = strlen(whole), at = 0;
    while (at < length && at + 1 < size) {
        size_t step = utf8_length((const unsigned char *)whole + at, length - at);
        if (at + step + 1 > size)
            break;
        if (step == 0) {
            text[at++] = '?';
            continue;
        }
        memcpy(text + at, whole + at, step);
        at += step;
    }
    text[at] = '\0';
    return text;
}

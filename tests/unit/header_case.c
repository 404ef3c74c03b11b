/*
 * header_case.c - declarations of the public headers (header_case.h)
 */
#include "header_case.h"
#include "testing.h"

#include <criterion/criterion.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The text of a header without comments. */
static char *read_header(const char *path)
{
    struct text text = {0};
    FILE *file = fopen(path, "r");
    int in_comment = 0, before = 0;
    cr_assert_not_null(file);
    for (int c; (c = fgetc(file)) != EOF; before = c) {
        char byte = (char)c;
        if (!in_comment && before == '/' && c == '*') {
            in_comment = 1;
            text.size--;
        } else if (in_comment && before == '*' && c == '/') {
            in_comment = 0;
            c = ' ';
        } else if (!in_comment) {
            text_add(&text, &byte, 1);
        }
    }
    fclose(file);
    text_add(&text, "", 1);
    return text.data;
}

int header_has_word(const char *text, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = text; (at = strstr(at, word)); at += length)
        if ((at == text || !(isalnum((unsigned char)at[-1]) || at[-1] == '_')) &&
            !(isalnum((unsigned char)at[length]) || at[length] == '_'))
            return 1;
    return 0;
}

/* Whether a declaration has a parameter through which a control is in force. structs: names of
 * those that hold one. */
static int is_controlled(const char *declaration, const char *structs)
{
    if (strstr(declaration, "const pcol_control *") || strstr(declaration, "pcol_query *query") ||
        strstr(declaration, "pcol_query *base"))
        return strstr(declaration, "const pcol_query *") == NULL;
    for (const char *at = declaration; (at = strstr(at, "const pcol_")); at += 6) {
        char name[96];
        if (sscanf(at + 6, "%95[a-z_]", name) == 1 && header_has_word(structs, name))
            return 1;
    }
    return 0;
}

size_t header_controlled(const char *path, void (*each)(const char *function))
{
    char *text = read_header(path);
    struct text structs = {0};
    size_t found = 0;
    for (char *at = text; (at = strstr(at, "typedef struct pcol_")); at++) {
        char *body = strchr(at, '{'), *end = strstr(at, "\n}"), name[96];
        cr_assert_eq(sscanf(at, "typedef struct %95[a-z_]", name), 1);
        if (!body || body > strchr(at, ';') || !end)
            continue;
        char *member = strstr(body, "const pcol_control *control;");
        if (member && member < end)
            text_addf(&structs, "%s ", name);
    }
    text_add(&structs, "", 1);
    for (char *at = text; (at = strstr(at, "PCOL_API ")); at++) {
        char *end = strchr(at, ';'), *open = strchr(at, '('), *name = open;
        if (!end || !open || open > end)
            continue;
        *end = '\0';
        while (isalnum((unsigned char)name[-1]) || name[-1] == '_')
            name--;
        if (is_controlled(open, structs.data)) {
            *open = '\0';
            each(name);
            *open = '(';
            found++;
        }
        *end = ';';
    }
    free(structs.data);
    free(text);
    return found;
}

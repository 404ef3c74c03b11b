/*
 * header_case.h - what the public headers declare, for tests that none of it may be missing from
 */
#ifndef HEADER_CASE_H
#define HEADER_CASE_H

#include <stddef.h>

/* 1 if a text has a word: letters, digits and _. */
int header_has_word(const char *text, const char *word);
/* Calls `each` for the functions with a pcol_control in force: a parameter, a member of options, or
 * that of a query that is not const. Returns their number. */
size_t header_controlled(const char *path, void (*each)(const char *function));

#endif

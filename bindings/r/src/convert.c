/* convert.c - texts, lists and numbers of R */
#include "rpcol.h"

#include <stdio.h>
#include <string.h>

#define EXACT_DOUBLE ((int64_t)1 << 53)

/* Length of the UTF-8 sequence at @s, at most 4; 0 if it is none, or a NUL. */
static size_t utf8_length(const unsigned char *s, size_t size)
{
    if (s[0] < 0x80)
        return s[0] != 0;
    size_t n = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
    if (s[0] < 0xc2 || s[0] > 0xf4 || size < n)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    unsigned second = s[1];
    if ((s[0] == 0xe0 && second < 0xa0) || (s[0] == 0xed && second > 0x9f) ||
        (s[0] == 0xf0 && second < 0x90) || (s[0] == 0xf4 && second > 0x8f))
        return 0;
    return n;
}

/* A string marked as UTF-8; bytes that are not UTF-8 become \xNN. */
SEXP make_char(pcol_str text)
{
    const unsigned char *s = (const unsigned char *)text.data;
    size_t i = 0, n = 1;
    for (; i < text.size && n; i += n)
        n = utf8_length(s + i, text.size - i);
    if (n || text.size == 0)
        return Rf_mkCharLenCE(text.size ? text.data : "", (int)text.size, CE_UTF8);
    const void *top = vmaxget();
    char *out = R_alloc(text.size, 4), *to = out;
    for (i = 0; i < text.size; i += n) {
        n = utf8_length(s + i, text.size - i);
        if (n) {
            memcpy(to, s + i, n);
            to += n;
        } else {
            static const char hex[] = "0123456789abcdef";
            *to++ = '\\';
            *to++ = 'x';
            *to++ = hex[s[i] >> 4];
            *to++ = hex[s[i] & 15];
            n = 1;
        }
    }
    SEXP made = Rf_mkCharLenCE(out, (int)(to - out), CE_UTF8);
    vmaxset(top);
    return made;
}

SEXP make_char_z(const char *text)
{
    return text ? make_char((pcol_str){text, strlen(text)}) : NA_STRING;
}

SEXP make_string(const char *text)
{
    return Rf_ScalarString(make_char_z(text));
}

/* Text argument: NULL or NA gives NULL. */
const char *text_of(SEXP value)
{
    if (TYPEOF(value) != STRSXP || XLENGTH(value) == 0 || STRING_ELT(value, 0) == NA_STRING)
        return NULL;
    return Rf_translateCharUTF8(STRING_ELT(value, 0));
}

const char **texts_of(struct call *c, SEXP vector, size_t *count)
{
    *count = TYPEOF(vector) == STRSXP ? (size_t)XLENGTH(vector) : 0;
    const char **texts = hold(c, *count, sizeof *texts);
    for (size_t i = 0; texts && i < *count; i++)
        texts[i] = Rf_translateCharUTF8(STRING_ELT(vector, (R_xlen_t)i));
    return texts;
}

int flag_of(SEXP value)
{
    return Rf_asLogical(value) == TRUE;
}

/* Member of a named list; R_NilValue if there is none. */
SEXP member(SEXP list, const char *name)
{
    SEXP names = Rf_getAttrib(list, R_NamesSymbol);
    for (R_xlen_t i = 0; i < Rf_xlength(names); i++)
        if (strcmp(CHAR(STRING_ELT(names, i)), name) == 0)
            return VECTOR_ELT(list, i);
    return R_NilValue;
}

/* A list with the @count names; members are set by the caller. Not protected. */
SEXP named_list(const char *const *names, int count)
{
    SEXP list = PROTECT(Rf_allocVector(VECSXP, count));
    SEXP labels = Rf_allocVector(STRSXP, count);
    Rf_setAttrib(list, R_NamesSymbol, labels);
    for (int i = 0; i < count; i++)
        SET_STRING_ELT(labels, i, Rf_mkCharCE(names[i], CE_UTF8));
    UNPROTECT(1);
    return list;
}

/* ---- numbers: collected as the bits of int64 in a vector of doubles, then converted as a whole */

static int64_t bits_at(SEXP vector, R_xlen_t i)
{
    int64_t bits;
    memcpy(&bits, REAL(vector) + i, sizeof bits);
    return bits;
}

/* INT64_MIN is NA, as in bit64. */
void set_bits(SEXP vector, R_xlen_t i, int64_t bits, int valid)
{
    if (!valid)
        bits = INT64_MIN;
    memcpy(REAL(vector) + i, &bits, sizeof bits);
}

static int fits(SEXP vector, int64_t limit)
{
    for (R_xlen_t i = 0; i < XLENGTH(vector); i++) {
        int64_t v = bits_at(vector, i);
        if (v != INT64_MIN && (v > limit || v < -limit))
            return 0;
    }
    return 1;
}

/* Integer, logical, double, or integer64 beyond 2^53 if @bit64. */
SEXP finish_numbers(SEXP vector, enum number_kind kind, int bit64)
{
    R_xlen_t n = XLENGTH(vector);
    if (kind == NUMBER_LOGICAL || (kind == NUMBER_INTEGER && fits(vector, INT32_MAX))) {
        SEXP out = Rf_allocVector(kind == NUMBER_LOGICAL ? LGLSXP : INTSXP, n);
        int *to = kind == NUMBER_LOGICAL ? LOGICAL(out) : INTEGER(out);
        for (R_xlen_t i = 0; i < n; i++) {
            int64_t v = bits_at(vector, i);
            to[i] = v == INT64_MIN ? NA_INTEGER : (int)v;
        }
        return out;
    }
    if (kind != NUMBER_UNSIGNED && bit64 && !fits(vector, EXACT_DOUBLE)) {
        Rf_setAttrib(vector, R_ClassSymbol, Rf_mkString("integer64"));
        return vector;
    }
    for (R_xlen_t i = 0; i < n; i++) {
        int64_t v = bits_at(vector, i);
        REAL(vector)
        [i] = v == INT64_MIN ? NA_REAL : kind == NUMBER_UNSIGNED ? (double)(uint64_t)v : (double)v;
    }
    return vector;
}

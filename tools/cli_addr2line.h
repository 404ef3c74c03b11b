/*
 * cli_addr2line.h - functions and lines of addresses, from the program addr2line
 */
#ifndef PCOL_TOOLS_CLI_ADDR2LINE_H
#define PCOL_TOOLS_CLI_ADDR2LINE_H

#include <pcol.h>

/* Answers for the addresses of one binary. */
struct cli_symbols {
    char *text; /* what the program wrote; the texts of `symbols` are in it */
    size_t size;
    pcol_symbol *symbols; /* innermost first */
    size_t count, capacity;
    size_t *first; /* by address: symbols [first[i], first[i + 1]) */
};

/* Run `program -a -f -i -e binary`, at most so many seconds, for ascending distinct addresses.
 * trusted: the answers may take any memory. */
int cli_addr2line(struct cli_symbols *symbols, const char *program, const char *binary,
                  const uint64_t *addresses, size_t count, uint64_t seconds, int trusted);
void cli_symbols_free(struct cli_symbols *symbols);

#endif

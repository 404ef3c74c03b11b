/*
 * cli_losses.h - notices of the library: warnings, and one warning for all content that a target
 * format cannot represent
 */
#ifndef PCOL_TOOLS_CLI_LOSSES_H
#define PCOL_TOOLS_CLI_LOSSES_H

#include "cli.h"

struct loss {
    char *text;
    size_t subject; /* offset of the content that is lost; 0: the text names none */
};

struct losses {
    struct loss *items;
    size_t count, stored; /* number reported; stored: fewer only if memory runs out */
    char warning[512];    /* a warning about the output that is not a loss; "": none */
};

/* The context of the control of a call of the library. */
struct cli_notices {
    const struct cli_args *args;
    const char *name;      /* the input */
    struct losses *losses; /* receives losses; NULL: they are warnings like others */
    int lost;              /* a loss was reported */
};

/* Control that shows the progress of reading, and turns notices into warnings and losses. */
pcol_control cli_control(struct cli_notices *notices);

/* subject: a part of the text, or ""; member: see cli_hint(). */
void losses_add(struct losses *losses, const char *text, const char *subject, const char *member);
/* Print one warning for all, or with -v one for each. */
void losses_warn(const struct losses *losses, const struct cli_args *args, const char *name);
void losses_clear(struct losses *losses);

#endif

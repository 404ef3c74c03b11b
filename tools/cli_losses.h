/*
 * cli_losses.h - one warning for all content that a target format cannot represent
 */
#ifndef PCOL_TOOLS_CLI_LOSSES_H
#define PCOL_TOOLS_CLI_LOSSES_H

#include "cli.h"

struct losses {
    char **messages;
    size_t count, stored; /* number reported; stored: fewer only if memory runs out */
    char warning[512];    /* a warning about the output that is not a loss; "": none */
};

void losses_add(struct losses *losses, const char *message);
/* Print one warning for all, or with -v one for each. */
void losses_tell(const struct losses *losses, const struct cli_args *args, const char *name);
void losses_clear(struct losses *losses);

#endif

/*
 * cli_losses.h - what a target format cannot hold, told in one line
 */
#ifndef PCOL_TOOLS_CLI_LOSSES_H
#define PCOL_TOOLS_CLI_LOSSES_H

#include "cli.h"

struct losses {
    char **messages;
    size_t count, kept; /* told of; remembered: fewer only if memory is out */
    char warning[512];  /* about what is written, which is no loss; "": none */
};

void losses_add(struct losses *losses, const char *message);
/* One warning for all, or with -v one for each. */
void losses_tell(const struct losses *losses, const struct cli_args *args, const char *name);
void losses_clear(struct losses *losses);

#endif

/*
 * cmd_view.h - the server of `pcol view`: its files, the page, and the answers to the page
 */
#ifndef PCOL_TOOLS_CMD_VIEW_H
#define PCOL_TOOLS_CMD_VIEW_H

#include "answer.h"
#include "cli.h"

#include <sys/types.h>

enum {
    VIEW_TOKEN_SIZE = 32,      /* hexadecimal digits */
    VIEW_SESSION_SIZE = 16,    /* longest name of a session */
    VIEW_SESSIONS = 8,         /* pages at a time; a further one replaces that unused the longest */
    VIEW_BODY_BYTES = 1 << 26, /* largest request: the rows of all matching functions */
    VIEW_CONNECTIONS = 32,
    VIEW_DESCRIPTORS = VIEW_CONNECTIONS + 32 /* for connections and temporary files */
};

struct view_session;

struct view {
    const struct cli_args *args;
    struct cli_input *inputs;
    size_t count;
    struct view_session *sessions; /* VIEW_SESSIONS */
    size_t session_count;          /* of them in use: fewer for files with many call stacks */
    answer *last;                  /* has the reply of the last request; NULL: none */
    char token[VIEW_TOKEN_SIZE + 1];
    char *policy; /* content security policy */
    char *page;
    size_t page_size;
};

/**
 * view_answer() - answer a request of the page (web/answer.h)
 * @place: SESSION/PROFILE/BASE: a name that the page chose, and numbers of files; without a base -
 * @reply: receives the reply, valid until view_release()
 * Returns 0, or the status of HTTP.
 */
int view_answer(struct view *view, const char *place, const char *request, size_t size,
                const uint8_t **reply, size_t *reply_size);

/* Free the reply, of which there may be one for each session otherwise. */
void view_release(struct view *view);

/* Load the HTTP server; to be called first. */
int view_load(void);
/* Serve connections to a listening socket until a signal ends the process. browser: a child that
 * shows the page, 0: none. */
int view_serve(struct view *view, int listener, pid_t browser);

#endif

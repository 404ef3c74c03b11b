/*
 * cmd_view.c - view: the report page from a server on this machine, for files of any size
 *
 * The page is that of report; libpcol answers it here, without a copy of the profile. Each page has
 * a session with its selection; all sessions share the open files. One thread.
 * Tests: tests/system/view, tests/web.
 */
#include "cmd_view.h"

#include "cmd.h"
#include "cmd_report.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

const struct cli_option cmd_view_options[] = {
    CLI_COUNT_OPTION(0, "port", "N", port, "port of the server (default: any free one)"),
    CLI_FLAG_OPTION(0, "open", open, "show the page in the browser (xdg-open)"),
    CLI_OPTIONS_SELECTION,
    CLI_OPTION_DEMANGLE,
    CLI_OPTION_FROM,
    CLI_OPTION_STRICT_IMPORT,
    CLI_OPTION_LENIENT,
    CLI_OPTION_END,
};

/* ---- sessions ---- */

struct view_session {
    char name[VIEW_SESSION_SIZE + 1]; /* "": unused */
    answer *answer;
    size_t files[2];   /* numbers of the profile and its base; SIZE_MAX: none */
    uint64_t last_use; /* number of the request */
};

static struct view_session *find_session(struct view *view, const char *name, size_t size)
{
    static uint64_t uses;
    struct view_session *oldest = view->sessions;

    uses++;
    for (size_t i = 0; i < view->session_count; i++) {
        struct view_session *session = &view->sessions[i];
        if (strlen(session->name) == size && memcmp(session->name, name, size) == 0) {
            session->last_use = uses;
            return session;
        }
        if (session->last_use < oldest->last_use)
            oldest = session;
    }
    answer_free(oldest->answer);
    *oldest = (struct view_session){.files = {SIZE_MAX, SIZE_MAX}, .last_use = uses};
    oldest->answer = answer_new();
    if (oldest->answer == NULL)
        return NULL;
    memcpy(oldest->name, name, size);
    return oldest;
}

/* Read the number of a file and the character after it; 0 on success. */
static int parse_file(const char **text, size_t count, char end, size_t *number)
{
    size_t value = 0, digits = 0;

    for (; **text >= '0' && **text <= '9' && digits < 9; ++*text, digits++)
        value = value * 10 + (size_t)(**text - '0');
    if (digits == 0 || value >= count || **text != end)
        return -1;
    *number = value;
    *text += end != '\0';
    return 0;
}

/* Another profile or base: what was selected of the previous ones ends. */
static void set_files(struct view *view, struct view_session *session, const size_t *wanted)
{
    for (int i = 0; i < 2; i++)
        if (session->files[i] != wanted[i]) {
            session->files[i] = wanted[i];
            answer_set_file(session->answer, i,
                            wanted[i] != SIZE_MAX ? view->inputs[wanted[i]].file : NULL);
        }
}

int view_answer(struct view *view, const char *place, const char *request, size_t size,
                const uint8_t **reply, size_t *reply_size)
{
    size_t length = strspn(place, "0123456789abcdef"), wanted[2] = {0, SIZE_MAX};
    const char *at = place + length;
    struct view_session *session;
    pcol_error err;

    if (length == 0 || length > VIEW_SESSION_SIZE || *at++ != '/' ||
        parse_file(&at, view->count, '/', &wanted[0]) != 0)
        return 404;
    if (strcmp(at, "-") != 0 && parse_file(&at, view->count, '\0', &wanted[1]) != 0)
        return 404;
    session = find_session(view, place, length);
    if (session == NULL)
        return 503;
    set_files(view, session, wanted);
    view->last = session->answer;
    *reply = answer_request(session->answer, request, size, reply_size);
    for (int i = 0; i < 2; i++)
        if (wanted[i] != SIZE_MAX &&
            pcol_file_intact(view->inputs[wanted[i]].file, &err) != PCOL_OK)
            *reply = answer_fail(session->answer, &err, reply_size);
    return *reply != NULL ? 0 : 503;
}

void view_release(struct view *view)
{
    if (view->last != NULL)
        answer_release(view->last);
    view->last = NULL;
}

/* A session takes some 140 bytes for each node of the call stacks, as a query does: together they
 * may have the nodes of one import (lib/util/import_budget.h). */
static size_t count_sessions(const struct view *view)
{
    uint64_t bytes = cli_input_bytes(), nodes = 0, most = UINT64_C(4) << 20;
    const pcol_table *table;

    most = bytes < (UINT64_MAX - most) / 4 ? most + 4 * bytes : UINT64_MAX;
    for (size_t i = 0; i < view->count; i++)
        if (pcol_file_table_by_name(view->inputs[i].file, PCOL_MODEL_PHYSICAL, "stacks", &table,
                                    NULL) == PCOL_OK &&
            pcol_table_rows(table) > nodes)
            nodes = pcol_table_rows(table);
    return most / VIEW_SESSIONS >= nodes ? VIEW_SESSIONS : most > nodes ? most / nodes : 1;
}

/* ---- the page ---- */

struct text {
    char *data;
    size_t used, capacity;
};

static pcol_status append(void *context, const void *data, size_t size, pcol_error *err)
{
    struct text *text = context;

    if (size >= text->capacity - text->used) {
        size_t capacity = text->capacity + text->capacity / 2 + size + 4096;
        char *grown = realloc(text->data, capacity);
        if (grown == NULL)
            return cli_set_memory(err);
        text->data = grown;
        text->capacity = capacity;
    }
    memcpy(text->data + text->used, data, size);
    text->used += size;
    text->data[text->used] = '\0';
    return PCOL_OK;
}

static void put_title(struct cli_out *out, const void *context)
{
    const struct view *view = context;
    const char *name = report_base_name(view->inputs[0].name);

    report_text(out, name, strlen(name));
    if (view->count > 1)
        cli_out_printf(out, " and %zu more", view->count - 1);
}

static int put_static(struct cli_out *out, const void *context)
{
    (void)context;
    cli_out_text(out, "<p>This page requires JavaScript. <code>pcol report</code> writes a table "
                      "and a flame graph that do not.</p>\n");
    return CLI_OK;
}

static int put_data(struct cli_out *out, const void *context)
{
    const struct view *view = context;
    int code = CLI_OK;

    cli_out_text(out, "<pre id=\"plain-names\" hidden>");
    for (size_t i = 0; i < view->count && code == CLI_OK; i++)
        code = report_plain_names(out, view->args, &view->inputs[i]);
    cli_out_text(out, view->args->keep_dropped
                          ? "</pre>\n<ul id=\"server\" data-keep-dropped hidden>"
                          : "</pre>\n<ul id=\"server\" hidden>");
    for (size_t i = 0; i < view->count; i++) {
        cli_out_text(out, "<li>");
        report_text(out, view->inputs[i].name, strlen(view->inputs[i].name));
        cli_out_text(out, "</li>");
    }
    cli_out_text(out, "</ul>\n");
    return code;
}

/* Browsers request an icon; blocking that would be a message in their logs. */
static const char allowed[] = "'self'; img-src 'self'";

/* Build the page and its policy, once. */
static int build_page(struct view *view)
{
    static struct cli_out out;
    const struct report_page page = {allowed, view, put_title, put_static, put_data};
    struct text text = {NULL, 0, 0}, policy = {NULL, 0, 0};

    cli_out_open_sink(&out, (pcol_sink){append, &text});
    int code = cli_out_finish(&out, report_put_page(&out, &page));
    view->page = text.data;
    view->page_size = text.used;
    if (code != CLI_OK)
        return code;
    cli_out_open_sink(&out, (pcol_sink){append, &policy});
    report_put_policy(&out, allowed);
    cli_out_text(&out, "; frame-ancestors 'none'");
    code = cli_out_finish(&out, CLI_OK);
    view->policy = policy.data;
    return code;
}

/* ---- the server ---- */

static int make_token(char *token)
{
    unsigned char bytes[VIEW_TOKEN_SIZE / 2];
    FILE *source = fopen("/dev/urandom", "rb");
    size_t got = source != NULL ? fread(bytes, 1, sizeof bytes, source) : 0;

    if (source != NULL)
        fclose(source);
    if (got != sizeof bytes)
        return cli_fail(CLI_IO, "/dev/urandom: %s", strerror(errno));
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(token + 2 * i, 3, "%02x", bytes[i]);
    return CLI_OK;
}

/* Listen on 127.0.0.1; *port: 0 is any. */
static int open_listener(unsigned *port, int *listener)
{
    struct sockaddr_in address;
    socklen_t size = sizeof address;
    int on = 1, fd = socket(AF_INET, SOCK_STREAM, 0);

    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_port = htons((uint16_t)*port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
        bind(fd, (const struct sockaddr *)&address, sizeof address) != 0 || listen(fd, 64) != 0 ||
        getsockname(fd, (struct sockaddr *)&address, &size) != 0) {
        int code = cli_fail(CLI_IO, "127.0.0.1, port %u: %s", *port, strerror(errno));
        if (fd >= 0)
            close(fd);
        return code;
    }
    *port = ntohs(address.sin_port);
    *listener = fd;
    return CLI_OK;
}

/* Print the address, and start the browser. */
static int announce(const struct view *view, unsigned port, pid_t *browser)
{
    char address[96];

    snprintf(address, sizeof address, "http://127.0.0.1:%u/%s/", port, view->token);
    if (printf("%s\n", address) < 0 || fflush(stdout) != 0)
        return cli_fail(CLI_IO, "stdout: %s", strerror(errno));
    if (!view->args->quiet && isatty(STDERR_FILENO))
        fputs("Ctrl-C ends the server.\n", stderr);
    if (!view->args->open)
        return CLI_OK;
    int failed = cli_browser_start(address, browser);
    if (failed != 0)
        return cli_fail(CLI_IO,
                        "xdg-open cannot be started: %s; without --open the address is "
                        "printed only",
                        strerror(failed));
    return CLI_OK;
}

/* The server waits with select(), which takes descriptors below 1024 only: some are kept for it
 * while any number of profiles is opened. -1: none left, the profiles will report that. */
static void reserve_descriptors(int *reserved)
{
    for (size_t i = 0; i < VIEW_DESCRIPTORS; i++)
        reserved[i] = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void release_descriptors(const int *reserved)
{
    for (size_t i = 0; i < VIEW_DESCRIPTORS; i++)
        if (reserved[i] >= 0)
            close(reserved[i]);
}

static int open_inputs(struct view *view, const struct cli_args *args)
{
    int code = CLI_OK;

    for (; view->count < args->operand_count && code == CLI_OK; view->count++) {
        struct cli_input *input = &view->inputs[view->count];
        code = cli_input_open(input, args->operands[view->count], args);
        if (code != CLI_OK)
            return code;
        if (cli_selects(args))
            code = cli_input_filter(input, args);
    }
    return code;
}

static int serve(struct view *view, unsigned port)
{
    int listener = -1;
    pid_t browser = 0;
    int code = make_token(view->token);

    if (code == CLI_OK)
        code = open_listener(&port, &listener);
    if (code != CLI_OK)
        return code;
    code = announce(view, port, &browser);
    if (code == CLI_OK)
        code = view_serve(view, listener, browser);
    close(listener);
    return code;
}

int cmd_view(struct cli_args *args)
{
    struct view_session sessions[VIEW_SESSIONS] = {{.last_use = 0}};
    struct view view = {.args = args, .sessions = sessions};
    uint64_t port = args->port != CLI_UNSET ? args->port : 0;
    int code, reserved[VIEW_DESCRIPTORS];

    if (port > 65535)
        return cli_usage("--port %" PRIu64 " is not a port: 0 to 65535", port);
    code = view_load();
    if (code != CLI_OK)
        return code;
    view.inputs = calloc(args->operand_count, sizeof *view.inputs);
    if (view.inputs == NULL)
        return cli_fail_memory();
    reserve_descriptors(reserved);
    code = open_inputs(&view, args);
    release_descriptors(reserved);
    if (code == CLI_OK)
        code = build_page(&view);
    view.session_count = count_sessions(&view);
    if (code == CLI_OK)
        code = serve(&view, (unsigned)port);
    for (size_t i = 0; i < VIEW_SESSIONS; i++)
        answer_free(sessions[i].answer);
    for (size_t i = 0; i < view.count; i++)
        cli_input_close(&view.inputs[i]);
    free(view.inputs);
    free(view.page);
    free(view.policy);
    return code;
}

/*
 * cmd_view_http.c - HTTP of `pcol view`, over libmicrohttpd
 *
 * libmicrohttpd is loaded when the command starts: linked, it and the libraries that it needs would
 * delay every start of pcol by several times its duration. NO_VIEW=1 builds without its header.
 *
 * A request must have a host name of this machine (against DNS rebinding), no foreign Origin, and
 * the token in its path, which is compared in constant time. Limits: connections, bytes of headers
 * and bodies, seconds until a request is complete and without progress of a reply. Each response
 * ends its connection. Tests: tests/system/view.
 */
#include "cmd_view.h"

#ifdef PCOL_NO_VIEW

int view_load(void)
{
    return cli_usage("this pcol was built without view (NO_VIEW=1); report writes the same page to "
                     "a file");
}

int view_serve(struct view *view, int listener, pid_t browser)
{
    (void)view, (void)listener, (void)browser;
    return CLI_OK;
}

#else

#include <dlfcn.h>
#include <errno.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

enum {
    CONNECTION_BYTES = 32768, /* headers, and parts of bodies */
    RECEIVE_SECONDS = 15,     /* until a request is complete */
    CROWDED_SECONDS = 1,      /* the same while others wait for a connection */
    IDLE_SECONDS = 30         /* without progress of a reply */
};

/* ---- the library ---- */

#define FUNCTIONS(X)           \
    X(start_daemon)            \
    X(stop_daemon)             \
    X(get_fdset2)              \
    X(get_timeout)             \
    X(run_from_select)         \
    X(get_connection_info)     \
    X(lookup_connection_value) \
    X(create_response_from_buffer) X(add_response_header) X(queue_response) X(destroy_response)

/* mhd.x is MHD_x(). */
static struct {
#define MEMBER(name) __typeof__(&MHD_##name) name;
    FUNCTIONS(MEMBER)
#undef MEMBER
} mhd;

int view_load(void)
{
    static const char *const names[] = {"libmicrohttpd.so.12", "libmicrohttpd.12.dylib",
                                        "libmicrohttpd.so"};
    void *library = NULL, *symbol;

    for (size_t i = 0; i < sizeof names / sizeof *names && library == NULL; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        return cli_fail(CLI_IO, "libmicrohttpd is not installed (Debian: libmicrohttpd12); report "
                                "writes the same page to a file");
        /* POSIX guarantees this conversion; C has none between the two kinds of pointers. */
#define LOAD(name)                                                 \
    symbol = dlsym(library, "MHD_" #name);                         \
    if (symbol == NULL)                                            \
        return cli_fail(CLI_IO, "libmicrohttpd lacks MHD_" #name); \
    memcpy(&mhd.name, &symbol, sizeof symbol);
    FUNCTIONS(LOAD)
#undef LOAD
    return CLI_OK;
}

/* ---- connections ---- */

struct client {
    int fd;
    int received; /* the request is complete */
    time_t since;
    struct client *next;
};

struct server {
    struct view *view;
    int listener;
    struct client *clients;
    size_t client_count;
    size_t token_size;
};

static time_t now(void)
{
    struct timespec time;

    return clock_gettime(CLOCK_MONOTONIC, &time) == 0 ? time.tv_sec : 0;
}

static void on_connection(void *context, struct MHD_Connection *connection, void **own,
                          enum MHD_ConnectionNotificationCode code)
{
    struct server *server = context;
    struct client **at = &server->clients;

    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *info =
            mhd.get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
        struct client *client = info != NULL ? malloc(sizeof *client) : NULL;
        *own = client;
        if (client == NULL)
            return;
        *client = (struct client){info->connect_fd, 0, now(), server->clients};
        server->clients = client;
        server->client_count++;
        return;
    }
    while (*at != NULL && *at != *own)
        at = &(*at)->next;
    if (*at != NULL) {
        *at = (*at)->next;
        server->client_count--;
    }
    free(*own);
    *own = NULL;
}

/* Shut connections down that have not sent a whole request in time. */
static void end_slow(const struct server *server)
{
    time_t time = now();
    time_t most = server->client_count >= VIEW_CONNECTIONS ? CROWDED_SECONDS : RECEIVE_SECONDS;

    for (const struct client *client = server->clients; client != NULL; client = client->next)
        if (!client->received && time - client->since > most)
            shutdown(client->fd, SHUT_RDWR);
}

/* An answer has taken its time: clients that had to wait get theirs again. */
static void restart_clocks(struct server *server)
{
    for (struct client *client = server->clients; client != NULL; client = client->next)
        client->since = now();
}

/* ---- requests ---- */

/* The body of a request while it arrives. */
struct body {
    char *data;
    size_t used, capacity;
};

static enum MHD_Result respond(const struct server *server, struct MHD_Connection *connection,
                               unsigned status, const char *type, const void *data, size_t size)
{
    const char *const headers[][2] = {{"Content-Type", type},
                                      {"Content-Security-Policy", server->view->policy},
                                      {"X-Content-Type-Options", "nosniff"},
                                      {"Cache-Control", "no-store"},
                                      {"Cross-Origin-Resource-Policy", "same-origin"},
                                      {"Cross-Origin-Opener-Policy", "same-origin"},
                                      {"Referrer-Policy", "no-referrer"},
                                      {"Connection", "close"}};
    /* The copy of the data is freed with the response; the library does not write to it. */
    struct MHD_Response *response =
        mhd.create_response_from_buffer(size, (void *)(uintptr_t)data, MHD_RESPMEM_MUST_COPY);
    enum MHD_Result result = response != NULL ? MHD_YES : MHD_NO;

    for (size_t i = 0; i < sizeof headers / sizeof *headers && result == MHD_YES; i++)
        result = mhd.add_response_header(response, headers[i][0], headers[i][1]);
    if (result == MHD_YES && status == 405)
        result = mhd.add_response_header(response, "Allow", "GET, POST");
    if (result == MHD_YES)
        result = mhd.queue_response(connection, status, response);
    if (response != NULL)
        mhd.destroy_response(response);
    return result;
}

static enum MHD_Result refuse(const struct server *server, struct MHD_Connection *connection,
                              unsigned status)
{
    const char *text = status == 403   ? "not a page of this server\n"
                       : status == 404 ? "not found\n"
                       : status == 405 ? "only GET and POST\n"
                       : status == 413 ? "the request is too large\n"
                       : status == 204 ? ""
                                       : "out of memory\n";

    return respond(server, connection, status, "text/plain; charset=utf-8", text, strlen(text));
}

/* Whether the value of Host is this machine, with any port: it may be forwarded. */
static int is_local(const char *host)
{
    static const char *const names[] = {"127.0.0.1", "localhost", "[::1]"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t size = strlen(names[i]);
        if (strncasecmp(host, names[i], size) == 0 &&
            (host[size] == '\0' ||
             (host[size] == ':' && host[size + 1] != '\0' &&
              host[size + 1 + strspn(host + size + 1, "0123456789")] == '\0')))
            return 1;
    }
    return 0;
}

/* Compares all bytes, whichever differ. */
static int is_token(const struct server *server, const char *text)
{
    unsigned char differs = 0;

    if (strlen(text) < server->token_size)
        return 0;
    for (size_t i = 0; i < server->token_size; i++)
        differs |= (unsigned char)(text[i] ^ server->view->token[i]);
    return differs == 0;
}

/* The part of the path after "/TOKEN/"; NULL: another path. */
static const char *place_of(const struct server *server, const char *path)
{
    if (path[0] != '/' || !is_token(server, path + 1) || path[1 + server->token_size] != '/')
        return NULL;
    return path + server->token_size + 2;
}

/* 0, or the status of a refusal. */
static unsigned check(const struct server *server, struct MHD_Connection *connection,
                      const char *path, const char *method)
{
    const char *host = mhd.lookup_connection_value(connection, MHD_HEADER_KIND, "Host");
    const char *origin = mhd.lookup_connection_value(connection, MHD_HEADER_KIND, "Origin");
    const char *length = mhd.lookup_connection_value(connection, MHD_HEADER_KIND, "Content-Length");
    uint64_t bytes;

    if (host == NULL || !is_local(host))
        return 403;
    if (origin != NULL && (strncmp(origin, "http://", 7) != 0 || strcasecmp(origin + 7, host) != 0))
        return 403;
    const char *place = place_of(server, path);
    int is_get = strcmp(method, "GET") == 0;
    if (is_get && strcmp(path, "/favicon.ico") == 0)
        return 204; /* browsers request it, and would log another answer */
    if (place == NULL || (is_get && *place != '\0'))
        return 404;
    if (!is_get && strcmp(method, "POST") != 0)
        return 405;
    if (length != NULL && (cli_parse_u64(length, &bytes) != 0 || bytes > VIEW_BODY_BYTES))
        return 413;
    return 0;
}

/* Append to a body; 0 on success. */
static int add_part(struct body *body, const char *data, size_t size)
{
    if (size > VIEW_BODY_BYTES - body->used)
        return -1;
    if (size > body->capacity - body->used) {
        size_t capacity = body->used + body->used / 2 + size;
        char *grown = realloc(body->data, capacity);
        if (grown == NULL)
            return -1;
        body->data = grown;
        body->capacity = capacity;
    }
    memcpy(body->data + body->used, data, size);
    body->used += size;
    return 0;
}

static enum MHD_Result answer_whole(struct server *server, struct MHD_Connection *connection,
                                    const char *path, const char *method, const struct body *body)
{
    struct view *view = server->view;
    const uint8_t *reply;
    size_t size;

    if (strcmp(method, "GET") == 0)
        return respond(server, connection, 200, "text/html; charset=utf-8", view->page,
                       view->page_size);
    cli_cpu_limit_renew(); /* each request may take as long as a command */
    int status = view_answer(view, place_of(server, path), body->data, body->used, &reply, &size);
    if (status != 0)
        return refuse(server, connection, (unsigned)status);
    enum MHD_Result result =
        respond(server, connection, 200, "application/octet-stream", reply, size);
    view_release(view);
    restart_clocks(server);
    return result;
}

/* Called when the headers are there, for each part of the body, and at the end. */
static enum MHD_Result on_request(void *context, struct MHD_Connection *connection,
                                  const char *path, const char *method, const char *version,
                                  const char *data, size_t *size, void **own)
{
    struct server *server = context;
    struct body *body = *own;

    (void)version;
    if (body == NULL) {
        unsigned status = check(server, connection, path, method);
        if (status != 0)
            return refuse(server, connection, status);
        *own = calloc(1, sizeof *body);
        return *own != NULL ? MHD_YES : MHD_NO;
    }
    if (*size > 0) {
        int failed = add_part(body, data, *size);
        *size = 0;
        return failed ? MHD_NO : MHD_YES;
    }
    const union MHD_ConnectionInfo *info =
        mhd.get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    if (info != NULL && info->socket_context != NULL)
        ((struct client *)info->socket_context)->received = 1;
    return answer_whole(server, connection, path, method, body);
}

static void on_completed(void *context, struct MHD_Connection *connection, void **own,
                         enum MHD_RequestTerminationCode code)
{
    struct body *body = *own;

    (void)context, (void)connection, (void)code;
    if (body != NULL)
        free(body->data);
    free(body);
    *own = NULL;
}

/* ---- the loop ---- */

/* Wait for something to do, and do it. */
static int serve_once(struct MHD_Daemon *daemon, const struct server *server, int impatient)
{
    fd_set reads, writes, errors;
    MHD_UNSIGNED_LONG_LONG ms = 1000;
    MHD_socket most = 0;

    FD_ZERO(&reads);
    FD_ZERO(&writes);
    FD_ZERO(&errors);
    if (mhd.get_fdset2(daemon, &reads, &writes, &errors, &most, FD_SETSIZE) != MHD_YES)
        return cli_fail(CLI_IO, "too many open files");
    if (server->client_count >=
        VIEW_CONNECTIONS) /* further ones wait; the library would close them */
        FD_CLR(server->listener, &reads);
    int limited = mhd.get_timeout(daemon, &ms) == MHD_YES || server->clients != NULL || impatient;
    if (ms > 1000)
        ms = 1000;
    struct timeval wait = {(time_t)(ms / 1000), (suseconds_t)(ms % 1000 * 1000)};
    if (select(most + 1, &reads, &writes, &errors, limited ? &wait : NULL) < 0) {
        if (errno != EINTR)
            return cli_fail(CLI_IO, "select: %s", strerror(errno));
        return CLI_OK;
    }
    if (mhd.run_from_select(daemon, &reads, &writes, &errors) != MHD_YES)
        return cli_fail(CLI_IO, "the server failed: %s", strerror(errno));
    end_slow(server);
    return CLI_OK;
}

/* Whether the browser's starter still runs; its failure is a warning. */
static int browser_runs(struct view *view, pid_t *browser)
{
    int status;

    if (*browser <= 0 || waitpid(*browser, &status, WNOHANG) != *browser)
        return *browser > 0;
    *browser = 0;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        cli_warn(view->args, "xdg-open", "failed; open the address in a browser");
    return 0;
}

int view_serve(struct view *view, int listener, pid_t browser)
{
    struct server server = {view, listener, NULL, 0, VIEW_TOKEN_SIZE};
    struct MHD_Daemon *daemon = mhd.start_daemon(
        MHD_NO_FLAG, 0, NULL, NULL, on_request, &server, MHD_OPTION_LISTEN_SOCKET,
        (MHD_socket)listener, MHD_OPTION_CONNECTION_LIMIT, (unsigned)VIEW_CONNECTIONS + 1,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)IDLE_SECONDS, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_NOTIFY_CONNECTION,
        on_connection, &server, MHD_OPTION_NOTIFY_COMPLETED, on_completed, NULL, MHD_OPTION_END);
    int code = CLI_OK;

    if (daemon == NULL)
        return cli_fail(CLI_IO, "the server cannot be started: %s", strerror(errno));
    while (code == CLI_OK) {
        cli_cpu_limit_renew();
        code = serve_once(daemon, &server, browser_runs(view, &browser));
    }
    mhd.stop_daemon(daemon);
    return code;
}

#endif

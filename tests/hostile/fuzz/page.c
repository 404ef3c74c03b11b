/*
 * page.c - fuzz targets: requests of the page of `report` and `view` (web/answer.h)
 *
 * `page`: lines with a request each, words between tabs; after an empty line a profile, else a
 * small one is asked. `views`: a pcol file that gets one request of each kind. Each reply has the
 * form of answer.h, and its first buffer is JSON.
 */
#include "targets.h"

#include "pcol.h"
#include "web/answer.h"

#include <stdlib.h>
#include <string.h>

static const char profile[] =
    "{\"meta\":{\"interval\":1,\"preprocessedProfileVersion\":60,\"version\":31,\"product\":\"x\","
    "\"startTime\":0,\"categories\":[{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":"
    "[\"Other\"]}],\"sampleUnits\":{\"threadCPUDelta\":\"ns\"}},\"libs\":[],\"shared\":{"
    "\"stringArray\":[\"main\",\"run\",\"Paint\"],\"resourceTable\":{\"length\":0,\"lib\":[],"
    "\"name\":[],\"host\":[],\"type\":[]},\"funcTable\":{\"length\":2,\"name\":[0,1],"
    "\"isJS\":[false,true],\"relevantForJS\":[false,false],\"resource\":[-1,-1],\"source\":[null,"
    "null],\"lineNumber\":[null,3],\"columnNumber\":[null,null]},\"frameTable\":{\"length\":2,"
    "\"address\":[-1,-1],\"inlineDepth\":[0,0],\"category\":[0,0],\"subcategory\":[0,0],\"func\":"
    "[0,1],\"nativeSymbol\":[null,null],\"innerWindowID\":[null,null],\"line\":[null,17],"
    "\"column\":[null,null]},\"stackTable\":{\"length\":2,\"frame\":[0,1],\"prefix\":[null,0]}},"
    "\"counters\":[{\"name\":\"malloc\",\"category\":\"Memory\",\"description\":\"d\",\"pid\":"
    "\"7\",\"mainThreadIndex\":0,\"samples\":{\"length\":2,\"time\":[100,101],\"count\":[5,-2]}}],"
    "\"threads\":[{\"name\":\"A\",\"pid\":\"7\",\"tid\":12,\"samples\":{\"length\":3,\"stack\":[1,"
    "0,1],\"time\":[100.5,101.5,102],\"weight\":[1,4,2],\"weightType\":\"samples\","
    "\"threadCPUDelta\":[700,0,5]},\"markers\":{\"length\":3,\"name\":[2,0,2],\"startTime\":[101,"
    "100,101],\"endTime\":[101.25,103,null],\"phase\":[1,1,0],\"category\":[0,0,0],\"data\":["
    "{\"type\":\"Layout\",\"n\":3},null,{\"type\":\"Text\",\"name\":\"x\"}]}}]}";

static pcol_file *packed(void)
{
    static pcol_file *file;
    pcol_import_options options = PCOL_INIT(pcol_import_options);
    pcol_builder *builder;
    void *bytes = NULL;
    size_t size = 0;
    options.format = "firefox";
    if (file || pcol_builder_new(NULL, &builder, NULL) != PCOL_OK)
        return file;
    FUZZ_ASSERT(pcol_import_memory(builder, profile, sizeof profile - 1, "a.json", &options,
                                   NULL) == PCOL_OK);
    FUZZ_ASSERT(pcol_builder_write_memory(builder, 0, NULL, &bytes, &size, NULL) == PCOL_OK);
    FUZZ_ASSERT(pcol_file_open_memory(bytes, size, NULL, &file, NULL) == PCOL_OK);
    pcol_builder_free(builder);
    return file; /* with its bytes, for all inputs */
}

#define MOST_BUFFERS 16

static uint32_t number_at(const uint8_t *reply, size_t at)
{
    uint32_t number;
    memcpy(&number, reply + at, sizeof number);
    return number;
}

static void judge(const uint8_t *reply, size_t size)
{
    FUZZ_ASSERT(reply && size >= 8);
    uint32_t count = number_at(reply, 4);
    size_t at = 8 + 4 * (size_t)count;
    FUZZ_ASSERT(count >= 1 && count <= MOST_BUFFERS && at <= size);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t part = number_at(reply, 8 + 4 * (size_t)i);
        at = (at + 7) & ~(size_t)7;
        FUZZ_ASSERT(at <= size && part <= size - at);
        if (i == 0) {
            struct fuzz_text json = {(uint8_t *)(uintptr_t)reply + at, part, part};
            FUZZ_ASSERT(fuzz_is_json(&json, 0));
        }
        at += part;
    }
    FUZZ_ASSERT(at == size);
}

/* The line is overwritten: words between tabs become a request. */
static void ask(answer *a, char *line, size_t size)
{
    size_t reply_size = 0;
    line[size] = '\0'; /* over the line feed */
    for (size_t i = 0; i < size; i++)
        if (line[i] == '\t')
            line[i] = '\0';
    const uint8_t *reply = answer_request(a, line, size + 1, &reply_size);
    judge(reply, reply_size);
}

/* Requests are text up to an empty line; `text` has space for a byte after its end. */
static void ask_lines(answer *a, char *text, size_t size)
{
    for (size_t at = 0; at < size;) {
        char *end = memchr(text + at, '\n', size - at);
        size_t length = end ? (size_t)(end - text) - at : size - at;
        ask(a, text + at, length);
        at += length + 1;
    }
}

static void ask_files(pcol_file *file, pcol_file *base, const char *requests, size_t size)
{
    answer *a = answer_new();
    char *text = malloc(size + 1);
    FUZZ_ASSERT(a && text);
    memcpy(text, requests, size);
    answer_set_file(a, ANSWER_NEW, file);
    answer_set_file(a, ANSWER_BASE, base);
    ask_lines(a, text, size);
    answer_free(a);
    free(text);
}

static size_t text_size(const uint8_t *data, size_t size)
{
    for (size_t i = 0; i + 1 < size; i++)
        if (data[i] == '\n' && data[i + 1] == '\n')
            return i;
    return size;
}

void fuzz_page(const uint8_t *data, size_t size)
{
    size_t requests = text_size(data, size);
    pcol_file *own =
        requests + 2 < size ? fuzz_open_file(data + requests + 2, size - requests - 2) : NULL;
    pcol_file *file = own ? own : packed();
    if (file && requests < 4096)
        ask_files(file, requests & 1 ? packed() : NULL, (const char *)data, requests);
    pcol_file_close(own);
}

static const char one_of_each[] =
    "op\tinfo\nop\tinfo\tslot\t1\nop\tfunctions\nop\tselect\tby\tfunction\nop\tnames\n"
    "op\tmark\tframes\t0,1,2\nop\twindow\tkind\tflame\nop\twindow\tkind\tinverted\n"
    "op\twindow\tkind\tcallers\tframe\t1\nop\twindow\tkind\tcallees\tframe\t0\tleast\t-1\n"
    "op\ttop\tby\tline\nop\ttop\tby\tthread\nop\ttop\tby\tsource\nop\tpeek\tframe\t1\n"
    "op\tlanes\tby\tthread\nop\tbins\tlanes\t0,1\tfrom\t0\tto\t9223372036854775807\tcount\t50\n"
    "op\tstacks\tfrom\t0\tto\t200000000\tcount\t50\nop\tlanes\tby\tsource\taxis\torder\n"
    "op\tbins\tlanes\t0\tfrom\t1\tto\t9\tcount\t9\nop\tstacks\tfrom\t1\tto\t100\tcount\t7\n"
    "op\tselect\tby\tline\tfrom\t1\tto\t999999999\tfocus\t0,1\nop\twindow\nop\tnames\n"
    "op\tselect\tby\tlocation\taxis\torder\tfrom\t1\tto\t5\nop\ttop\tby\tmapping\nop\ttracks\n"
    "op\ttrackbins\tmarkers\t0,1\tcounters\t0\tfrom\t-9223372036854775808\tto\t"
    "9223372036854775807\ncount\t40\nop\ttrackbins\tmarkers\t0\tcounters\t0\tfrom\t100000000\tto\t"
    "103000000\tcount\t1000\nop\tmarker\trow\t0\nop\tmarker\trow\t2\n";

static void view_file(const uint8_t *data, size_t size)
{
    pcol_file *file = fuzz_open_file(data, size);
    if (file && fuzz_turn(2, 0))
        ask_files(file, NULL, one_of_each, sizeof one_of_each - 1);
    if (file && fuzz_turn(2, 1))
        ask_files(file, packed(), one_of_each, sizeof one_of_each - 1);
    pcol_file_close(file);
}

void fuzz_views(const uint8_t *data, size_t size)
{
    fuzz_twice(view_file, data, size);
}

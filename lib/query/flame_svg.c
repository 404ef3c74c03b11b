/*
 * flame_svg.c - a flame graph as SVG
 *
 *     <g class="r" transform="translate(0,36)">                              a depth
 *      <g><title>sort (12 samples, 3.97%)</title><rect x= width= class=/><text>sort</text></g>
 *
 * With a base, the colour shows the change of a frame's share: red for more, blue for less, in five
 * steps up to the largest change drawn. New and removed frames have a dashed edge. Tests:
 * tests/cli/flame.test.
 */
#include "query/flame.h"
#include "query/svg.h"

#include "util/alloc.h"
#include "util/long_texts.h"
#include "util/strbuf.h"

#include <math.h>
#include <string.h>

enum { TOP = 56, BOTTOM = 30, ROW = 18 };
#define WINDOW_HEIGHT 900u   /* px of a document that most screens show */
#define CHARACTER_WIDTH 7.25 /* approximate px of a character */
#define MAX_NAME 2000u

struct drawing {
    const struct pci_flame *flame;
    const char *title;
    struct pci_out *out;
};

/* ---- frames ---- */

static int ends_with(pcol_str name, const char *end)
{
    size_t size = strlen(end);
    return name.size >= size && !memcmp(name.data + name.size - size, end, size);
}

/* [libc.so.6], <GC>: not a function of the program */
static int is_bracketed(pcol_str name)
{
    char first = name.size > 2 ? name.data[0] : 0, last = first ? name.data[name.size - 1] : 0;
    return (first == '[' && last == ']') || (first == '<' && last == '>');
}

/* The class of a frame with a base: the sign of its change and the step of its size. */
static pcol_status put_change_class(const struct drawing *d, uint32_t node, pcol_error *err)
{
    const struct pci_flame *f = d->flame;
    double change = pci_flame_share(f, node, 1) - pci_flame_share(f, node, 0);
    /* The square root makes small changes visible next to a large one. */
    double ratio = f->largest > 0 && fabs(change) >= 1e-9 ? fabs(change) / f->largest : 0;
    /* NaN if values are infinite. */
    int step = ratio <= 1 ? (int)ceil(5 * sqrt(ratio)) : ratio > 1 ? 5 : 0;
    const char text[] = {(char)(step == 0    ? 'z'
                                : change > 0 ? 'p'
                                             : 'n'),
                         (char)(step == 0 ? 0 : '0' + step), 0};
    if (!pci_flame_is_in(f, node, 1))
        return pci_svg_raw(d->out, "g", err);
    PCI_TRY(pci_svg_raw(d->out, text, err));
    return pci_flame_is_in(f, node, 0) ? PCOL_OK : pci_svg_raw(d->out, " w", err);
}

/* The class of a frame without a base: its kind, or one of eight colours by a hash (FNV-1a) of its
 * name, so that equal names have equal colours; of a long one, which many frames may have, of its
 * beginning. */
static pcol_status put_name_class(const struct drawing *d, uint32_t node, pcol_str name,
                                  pcol_error *err)
{
    char text[8] = "c0";
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < name.size && i < PCI_LONG_TEXT; i++)
        hash = (hash ^ (uint8_t)name.data[i]) * 16777619u;
    unsigned shade = (hash >> 13) % 8;
    text[1] = (char)('0' + shade);
    if (!node)
        text[1] = 'a';
    else if (ends_with(name, "_[k]"))
        text[1] = 'k';
    else if (ends_with(name, "_[j]"))
        text[1] = 'j';
    else if (ends_with(name, "_[i]"))
        text[1] = 'i';
    else if (is_bracketed(name))
        text[1] = 'u';
    if (node && text[1] > '9' && shade % 4) /* a kind has one colour in four shades */
        memcpy(text + 2, " v0", 4), text[4] = (char)('0' + shade % 4);
    return pci_svg_raw(d->out, text, err);
}

/* "12 samples", "1.25 s", "3.4 MB" */
static pcol_status put_amount(const struct drawing *d, const pcol_query_info *info,
                              pcol_amount amount, pcol_error *err)
{
    double value = pci_amount_to_double(amount, pci_info_is_double(info));
    int is_count = pci_str_is(info->unit, "count");
    if (pci_str_is(info->unit, "bytes"))
        return pci_svg_bytes(d->out, value, err);
    if (info->seconds_per_value > 0 && !is_count && !pci_str_is(info->unit, "samples"))
        return pci_svg_seconds(d->out, value * info->seconds_per_value, err);
    if (pci_info_is_double(info))
        PCI_TRY(pci_svg_number(d->out, value, 3, err));
    else
        PCI_TRY(pci_svg_grouped(d->out, amount.i64, err));
    PCI_TRY(pci_svg_raw(d->out, " ", err));
    if (!pci_info_is_double(info) && amount.i64 == 1 && pci_str_is(info->type, "samples"))
        return pci_svg_raw(d->out, "sample", err);
    return pci_svg_text(d->out, is_count || !info->unit.size ? info->type : info->unit, 40, err);
}

static pcol_status put_percent(const struct drawing *d, double part, pcol_error *err)
{
    PCI_TRY(pci_svg_number(d->out, 100 * part, 2, err));
    return pci_svg_raw(d->out, "%", err);
}

/* Amount and share of one side, in the parentheses after the name. */
static pcol_status put_side(const struct drawing *d, uint32_t i, int side, pcol_error *err)
{
    const struct pci_flame *f = d->flame;
    PCI_TRY(put_amount(d, side ? &f->info : &f->base_info, pci_flame_total(f, i, side), err));
    PCI_TRY(pci_svg_raw(d->out, ", ", err));
    return put_percent(d, pci_flame_share(f, i, side), err);
}

static pcol_status put_values(const struct drawing *d, uint32_t i, pcol_error *err)
{
    const struct pci_flame *f = d->flame;
    if (f->joined && !pci_flame_is_in(f, i, 1)) {
        PCI_TRY(pci_svg_raw(d->out, "gone; base ", err));
        return put_side(d, i, 0, err);
    }
    PCI_TRY(put_side(d, i, 1, err));
    if (!f->joined)
        return PCOL_OK;
    if (!pci_flame_is_in(f, i, 0))
        return pci_svg_raw(d->out, "; not in base", err);
    double change = pci_flame_share(f, i, 1) - pci_flame_share(f, i, 0);
    PCI_TRY(pci_svg_raw(d->out, "; base ", err));
    PCI_TRY(put_side(d, i, 0, err));
    PCI_TRY(pci_svg_raw(d->out, change >= 0 ? "; +" : "; ", err));
    return put_percent(d, change, err);
}

static pcol_status put_frame(const struct drawing *d, uint32_t i, pcol_error *err)
{
    const struct pci_flame *f = d->flame;
    struct pci_out *out = d->out;
    pcol_str profile_name = pci_flame_name(f, i);
    pcol_str name =
        i && f->options.rename ? f->options.rename(f->options.context, profile_name) : profile_name;
    double width = f->weight[i] * f->scale, x = f->start[i] * f->scale;
    PCI_TRY(pci_svg_raw(out, "<g><title>", err));
    PCI_TRY(pci_svg_text(out, name, MAX_NAME, err));
    PCI_TRY(pci_svg_raw(out, " (", err));
    PCI_TRY(put_values(d, i, err));
    PCI_TRY(pci_svg_raw(out, ")</title><rect x=\"", err));
    PCI_TRY(pci_svg_number(out, x, 3, err));
    PCI_TRY(pci_svg_raw(out, "\" width=\"", err));
    PCI_TRY(pci_svg_number(out, width, 3, err));
    PCI_TRY(pci_svg_raw(out, "\" height=\"17\" class=\"", err));
    PCI_TRY(f->joined ? put_change_class(d, i, err) : put_name_class(d, i, profile_name, err));
    if (width < 2)
        PCI_TRY(pci_svg_raw(out, " t", err));
    PCI_TRY(pci_svg_raw(out, "\"/>", err));
    size_t characters = width > 6 ? (size_t)((width - 6) / CHARACTER_WIDTH) : 0;
    if (pci_svg_fits(name, characters)) {
        PCI_TRY(pci_svg_raw(out, "<text x=\"", err));
        PCI_TRY(pci_svg_number(out, x + 3, 2, err));
        PCI_TRY(pci_svg_raw(out, "\" y=\"13\">", err));
        PCI_TRY(pci_svg_name(out, name, characters, err));
        PCI_TRY(pci_svg_raw(out, "</text>", err));
    }
    return pci_svg_raw(out, "</g>\n", err);
}

/* ---- the document ---- */

/* Squares in the colours of the frames. */
static const char legend[] =
    "; against the base: <tspan class=\"p4\">&#9632;</tspan> larger share"
    " <tspan class=\"n4\">&#9632;</tspan> smaller"
    " <tspan class=\"l\">&#9633;</tspan> new <tspan class=\"o\">&#9633;</tspan> gone";

static pcol_status put_subtitle(const struct drawing *d, pcol_error *err)
{
    const struct pci_flame *f = d->flame;
    struct pci_out *out = d->out;
    int is_count = pci_str_is(f->info.unit, "count");
    if (!is_count) {
        PCI_TRY(pci_svg_text(out, f->info.type, 60, err));
        PCI_TRY(pci_svg_raw(out, ", ", err));
    }
    PCI_TRY(put_amount(d, &f->info, f->info.selected, err));
    if (is_count && f->info.seconds_per_value > 0) {
        PCI_TRY(pci_svg_raw(out, ", ", err));
        PCI_TRY(
            pci_svg_seconds(out,
                            pci_amount_to_double(f->info.selected, pci_info_is_double(&f->info)) *
                                f->info.seconds_per_value,
                            err));
    }
    if ((f->options.flags & PCOL_FLAME_REVERSE))
        PCI_TRY(pci_svg_raw(out, ", bottom-up: callers on top of callees", err));
    if (f->joined)
        PCI_TRY(pci_svg_raw(out, legend, err));
    if (f->is_truncated)
        PCI_TRY(pci_svg_raw(out, "; frames deeper than 1000 are not shown", err));
    return PCOL_OK;
}

static pcol_status put_head(const struct drawing *d, unsigned height, pcol_error *err)
{
    const struct pci_flame *f = d->flame;
    struct pci_out *out = d->out;
    const char *title = d->title ? d->title : "Flame graph";
    pcol_str name = {title, strlen(title)};
    PCI_TRY(pci_svg_raw(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"", err));
    PCI_TRY(pci_out_int(out, f->options.width_px, err));
    PCI_TRY(pci_svg_raw(out, "\" height=\"", err));
    PCI_TRY(pci_out_int(out, height, err));
    PCI_TRY(pci_svg_raw(out, "\" viewBox=\"0 0 ", err));
    PCI_TRY(pci_out_int(out, f->options.width_px, err));
    PCI_TRY(pci_svg_raw(out, " ", err));
    PCI_TRY(pci_out_int(out, height, err));
    PCI_TRY(pci_svg_raw(out,
                        "\" font-family=\"ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',"
                        "monospace\" font-size=\"12\">\n<title>",
                        err));
    PCI_TRY(pci_svg_text(out, name, 200, err));
    PCI_TRY(pci_svg_raw(out, "</title>\n<style>", err));
    PCI_TRY(pci_svg_raw(out, pci_svg_style, err));
    PCI_TRY(
        pci_svg_raw(out,
                    "</style>\n<g class=\"top\"><rect class=\"k\" width=\"100%\" height=\"50\"/>"
                    "<text x=\"10\" y=\"24\" class=\"h\">",
                    err));
    PCI_TRY(pci_svg_text(out, name, (f->options.width_px - 20) / 10, err));
    PCI_TRY(pci_svg_raw(out, "</text><text x=\"10\" y=\"43\" class=\"s\">", err));
    PCI_TRY(put_subtitle(d, err));
    PCI_TRY(pci_svg_raw(out, "</text></g>\n<g class=\"foot\" transform=\"translate(0,", err));
    PCI_TRY(pci_out_int(out, height, err));
    return pci_svg_raw(out,
                       ")\"><rect class=\"k\" y=\"-24\" width=\"100%\" height=\"24\"/>"
                       "<text x=\"10\" y=\"-8\" class=\"s\"></text></g>\n",
                       err);
}

static unsigned get_height(const struct pci_flame *f)
{
    return TOP + (f->depth + 1) * ROW + BOTTOM;
}

/* By default, a graph that exceeds a window starts with the root at the top. */
static int is_inverted(const struct pci_flame *f)
{
    return f->options.flags & PCOL_FLAME_INVERTED_HIGH
               ? get_height(f) > WINDOW_HEIGHT
               : (f->options.flags & PCOL_FLAME_INVERTED) != 0;
}

static pcol_status put_rows(const struct drawing *d, pcol_error *err)
{
    const struct pci_flame *f = d->flame;
    struct pci_out *out = d->out;
    int inverted = is_inverted(f);
    PCI_TRY(pci_svg_raw(out, "<g transform=\"translate(10,56)\">\n", err));
    for (uint32_t depth = 0; depth <= f->depth; depth++) {
        uint32_t row = inverted ? depth : f->depth - depth;
        PCI_TRY(pci_svg_raw(out, "<g class=\"r\" transform=\"translate(0,", err));
        PCI_TRY(pci_out_int(out, (int64_t)row * ROW, err));
        PCI_TRY(pci_svg_raw(out, ")\">\n", err));
        for (uint32_t i = f->row[depth]; i < f->row[depth + 1]; i++)
            PCI_TRY(put_frame(d, f->order[i], err));
        PCI_TRY(pci_svg_raw(out, "</g>\n", err));
    }
    return pci_svg_raw(out, "</g>\n", err);
}

static pcol_status put_document(const struct drawing *d, pcol_error *err)
{
    const struct pci_flame *f = d->flame;
    PCI_TRY(put_head(d, get_height(f), err));
    PCI_TRY(put_rows(d, err));
    PCI_TRY(pci_svg_raw(d->out, "<script><![CDATA[\n", err));
    for (int i = 0; pci_svg_script[i]; i++)
        PCI_TRY(pci_svg_raw(d->out, pci_svg_script[i], err));
    PCI_TRY(pci_svg_raw(d->out, "]]></script>\n</svg>\n", err));
    return pci_out_flush(d->out, err);
}

pcol_status pci_flame_svg(const struct pci_flame *flame, const char *title, pcol_sink sink,
                          pcol_error *err)
{
    struct drawing d = {flame, title, NULL};
    PCI_TRY(PCI_MALLOC(d.out, 1, err));
    pci_out_open(d.out, sink);
    pcol_status status = put_document(&d, err);
    pci_free(d.out);
    return status;
}

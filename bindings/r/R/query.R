# query.R - questions: top, tree, peek, diff, flame

BY <- c("function" = 0L, file = 1L, line = 2L, srcline = 3L, location = 4L, mapping = 5L, thread = 6L, process = 7L,
        source = 8L, label = 9L, meta = 11L, stack = 10L)
ORDER <- c(self = 0L, total = 1L, name = 2L)

choose <- function(value, table, what, call = sys.call(sys.parent())) {
    found <- if (is.character(value) && length(value) == 1) pmatch(value, names(table)) else NA
    if (is.na(found)) stop_usage(what, " must be one of ", paste0('"', names(table), '"', collapse = ", "), call = call, argument = what)
    table[[found]]
}

# One whole number as an integer.
whole_number <- function(value, what, call = sys.call(sys.parent())) {
    if (!is.numeric(value) || length(value) != 1 || is.na(value) || value < 0 || value > .Machine$integer.max || value != trunc(value))
        stop_usage(what, " must be one whole number from 0 to ", .Machine$integer.max, call = call, argument = what)
    as.integer(value)
}

SELECTION <- c("sample_type", "focus", "ignore", "hide", "show", "thread", "source", "labels", "source_metas", "time", "keep_dropped")

# The selection of `...`: names are those of pcol's command line options; time is two numbers of ms.
selection_of <- function(..., call = sys.call(sys.parent())) {
    given <- list(...)
    unknown <- setdiff(names(given), SELECTION)
    if (length(unknown) || (length(given) && (is.null(names(given)) || any(!nzchar(names(given)))))) {
        stop_usage("unknown argument ", paste(c(unknown, if (!length(unknown)) "without a name"), collapse = ", "),
                   "; selections: ", paste(SELECTION, collapse = ", "), call = call)
    }
    if (is.numeric(given[["source"]]) && !anyNA(given[["source"]])) given[["source"]] <- number_text(given[["source"]])
    strings <- setdiff(names(given), c("labels", "source_metas", "time", "keep_dropped"))
    given[strings] <- do.call(strings_of, c(given[strings], list(call = call)), quote = TRUE)
    if (!is.null(given$keep_dropped)) flags_of(keep_dropped = given$keep_dropped, call = call)
    for (name in c("labels", "source_metas")) {
        value <- given[[name]]
        if (!is.null(value) && (!is.character(value) || anyNA(value))) stop_usage(name, " must be strings", call = call, argument = name)
    }
    if (!is.null(given$time)) {
        if (!is.numeric(given$time) || length(given$time) != 2 || anyNA(given$time))
            stop_usage("time must be two numbers in ms", call = call, argument = "time")
        given$time <- as.double(given$time) * 1e6
    }
    given
}

# bit64 warns where a number beyond 2^53 is rounded: shares and times are.
to_double <- function(values) suppressWarnings(as.double(values))

FRAME <- c("name", "file", "line", "address")
ROWS <- c("location", "function", "mapping", "thread", "source")

# Columns in use, names first and ids (rows of the tables, from 1) last.
arrange_columns <- function(answer) {
    for (name in c(FRAME[-1], ROWS)) if (all(is.na(answer[[name]]))) answer[[name]] <- NULL
    rows <- intersect(ROWS, names(answer))
    ids <- lapply(answer[rows], function(row) row + 1L)
    answer[rows] <- NULL
    first <- intersect(FRAME, names(answer))
    c(answer[first], answer[setdiff(names(answer), first)], setNames(ids, if (length(rows)) paste0(rows, "_id")))
}

# Columns in use, shares in percent and seconds of an answer.
finish_answer <- function(answer, n = NULL, amounts = c("self", "total"), call = sys.call(sys.parent())) {
    info <- attr(answer, "info")
    answer <- arrange_columns(answer)
    for (name in intersect(amounts, names(answer))) {
        share <- if (!(info$total %in% 0)) 100 * to_double(answer[[name]]) / info$total else NA_real_
        answer[[paste0(name, "_pct")]] <- share + numeric(length(answer$name))
    }
    if (info$seconds > 0) for (name in intersect(amounts, names(answer)))
        answer[[paste0(name, "_time")]] <- to_double(answer[[name]]) * info$seconds
    answer <- as_table(ids_last(answer))
    if (!is.null(n)) answer <- head(answer, whole_number(n, "n", call = call))
    attr(answer, "info") <- info
    as_answer(answer)
}

as_answer <- function(table) {
    class(table) <- c("pcol_answer", class(table))
    table
}

# Paths as shown keep their end, which has the file and the line.
shorten_paths <- function(text, widest) {
    long <- !is.na(text) & nchar(text) > widest & grepl("/", text, fixed = TRUE)
    text[long] <- paste0("...", substring(text[long], nchar(text[long]) - widest + 4))
    text
}

# Whether names are FILE#LINE, so that these columns repeat them.
names_have_lines <- function(x)
    all(c("file", "line") %in% names(x)) && all(is.na(x$line) | x$name == paste0(x$file, "#", x$line))

# Names in full, without ids and other columns that only joins need.
print.pcol_answer <- function(x, ...) {
    answer <- x
    class(x) <- setdiff(class(x), "pcol_answer")
    hidden <- intersect(c(if (names_have_lines(x)) c("file", "line"), paste0(ROWS, "_id"), "in_base", "in_new"), names(x))
    widest <- max(30, getOption("width") - 50)
    for (name in intersect(c("name", "file"), names(x))) x[[name]] <- shorten_paths(x[[name]], widest)
    old <- options(pillar.min_chars = widest, pillar.min_title_chars = 20) # no name of a column is cut
    on.exit(options(old))
    print(x[setdiff(names(x), hidden)], ...)
    if (length(hidden)) cat("# columns not shown: ", paste(hidden, collapse = ", "), "\n", sep = "")
    invisible(answer)
}

ids_last <- function(answer) {
    ids <- intersect(paste0(ROWS, "_id"), names(answer))
    answer[c(setdiff(names(answer), ids), ids)]
}

# The code of `by`; only rows by label or metadata have a key.
rows_by <- function(by, table, label, call = sys.call(sys.parent())) {
    code <- choose(by, table, "by", call = call)
    strings_of(label = label, call = call)
    if ((code %in% BY[c("label", "meta")]) == is.null(label))
        stop_usage("label is the key of by = \"label\" and by = \"meta\", which require it", call = call, argument = "label")
    code
}

profile_top <- function(x, by = "function", order = "self", n = NULL, label = NULL, ...) {
    x <- as_profile(x)
    state <- state_of(x)
    answer <- native("top", state$handle, selection_of(...), rows_by(by, BY[1:11], label), label, choose(order, ORDER, "order"),
                     has_package("bit64"), what = state$path)
    finish_answer(answer, n)
}

profile_tree <- function(x, by = "function", order = "total", bottom_up = FALSE, max_depth = 0, ...) {
    x <- as_profile(x)
    state <- state_of(x)
    answer <- native("tree", state$handle, selection_of(...), choose(by, BY[1:6], "by"), choose(order, ORDER, "order"),
                     flags_of(bottom_up = bottom_up)$bottom_up, whole_number(max_depth, "max_depth"), has_package("bit64"), what = state$path)
    answer$name[1] <- "<all>"
    answer$parent <- answer$parent + 1L
    answer$end <- answer$frame_id <- NULL
    finish_answer(answer)
}

profile_peek <- function(x, name, ...) {
    x <- as_profile(x)
    state <- state_of(x)
    if (is.null(name)) stop_usage("name must be one string", argument = "name")
    answer <- native("peek", state$handle, selection_of(...), strings_of(name = name)$name, has_package("bit64"), what = state$path)
    answer$relation <- factor(answer$relation, c("caller", "function", "callee"))
    finish_answer(answer)
}

profile_diff <- function(base, new, by = "function", order = "self", normalize = FALSE, n = NULL, label = NULL, ...) {
    bases <- profiles_of(base)
    if (!length(bases)) stop_usage("profile_diff() needs a base")
    new <- as_profile(new)
    answer <- native("diff", lapply(bases, function(b) state_of(b)$handle), state_of(new)$handle, selection_of(...), rows_by(by, BY, label), label,
                     flags_of(normalize = normalize)$normalize, choose(order, ORDER, "order"), has_package("bit64"), what = state_of(new)$path)
    totals <- attr(answer, "totals")
    info <- attr(answer, "info")
    answer <- arrange_columns(answer)
    share <- function(values, total) if (!(total %in% 0)) 100 * to_double(values) / total else rep(NA_real_, length(values))
    answer$self_pct_base <- share(answer$self_base, totals[1])
    answer$self_pct_new <- share(answer$self_new, totals[2])
    answer <- as_table(ids_last(answer))
    if (!is.null(n)) answer <- head(answer, whole_number(n, "n"))
    attr(answer, "info") <- info
    attr(answer, "totals") <- totals
    as_answer(answer)
}

profile_flame <- function(x, file = NULL, base = NULL, inverted = FALSE, reverse = FALSE, width = 1200, min_width = 0.3,
                          title = NULL, overwrite = FALSE, ...) {
    x <- as_profile(x)
    state <- state_of(x)
    if (!is.numeric(min_width) || length(min_width) != 1 || is.na(min_width)) stop_usage("min_width must be one number", argument = "min_width")
    other <- if (!is.null(base)) list(state_of(as_profile(base))$handle)
    strings <- strings_of(file = file, title = title)
    flags <- flags_of(inverted = inverted, reverse = reverse, overwrite = overwrite)
    path <- if (!is.null(file)) path.expand(strings$file)
    answer <- native("flame", state$handle, selection_of(...), other, flags$inverted, flags$reverse, whole_number(width, "width"),
                     as.double(min_width), strings$title, path, flags$overwrite,
                     has_package("bit64"), what = state$path)
    if (!is.null(path)) return(invisible(file))
    names(answer) <- sub("_px$", "", names(answer))
    answer$name[1] <- "<all>"
    finish_answer(answer)
}

# A warm colour by name, the same in every picture.
flame_colour <- function(names) {
    hash <- vapply(names, function(n) sum(utf8ToInt(n) * seq_len(nchar(n))) %% 997, 0, USE.NAMES = FALSE)
    hcl(h = 10 + 50 * hash / 997, c = 70, l = 65 + 20 * ((hash * 7) %% 997) / 997)
}

plot.pcol_profile <- function(x, ..., viewer = FALSE, main = NULL) {
    flags_of(viewer = viewer)
    if (viewer) {
        file <- tempfile("pcol-", fileext = ".svg")
        profile_flame(x, file, title = main, ...)
        view <- getOption("viewer", browseURL)
        view(file)
        return(invisible(x))
    }
    boxes <- profile_flame(x, ...)
    info <- attr(boxes, "info")
    old <- par(mar = c(0.5, 0.5, 2, 0.5))
    on.exit(par(old))
    plot.new()
    plot.window(c(0, max(boxes$x + boxes$width)), c(0, max(boxes$depth) + 1), xaxs = "i", yaxs = "i")
    colour <- flame_colour(boxes$name)
    if (any(boxes$change != 0)) colour <- hcl(h = ifelse(boxes$change > 0, 10, 250), c = pmin(100, 20 + 400 * abs(boxes$change)), l = 80)
    rect(boxes$x, boxes$depth, boxes$x + boxes$width, boxes$depth + 1, col = colour, border = "white", lwd = 0.5)
    wide <- boxes$width > strwidth("mm")
    labels <- boxes$name[wide]
    fit <- pmax(1, floor(nchar(labels) * boxes$width[wide] / (strwidth(labels) + 1)))
    labels <- ifelse(fit < nchar(labels), substr(labels, 1, pmax(1, fit - 2)), labels)
    if (any(wide)) text(boxes$x[wide], boxes$depth[wide] + 0.5, labels, adj = c(-0.05, 0.5), cex = 0.8)
    if (is.null(main)) main <- paste0(info$type, "/", info$unit, ", total ", format(info$selected, big.mark = ","))
    title(main)
    invisible(x)
}

# summary.R - the tables of summaryRprof(), and the same for other profiles

summary.pcol_profile <- function(object, lines = "hide", memory = "none", ...) {
    lines <- choose(lines, c(hide = "hide", show = "show", both = "both"), "lines")
    memory <- choose(memory, c(none = "none", both = "both"), "memory")
    state <- state_of(object)
    segments <- read_columns(state, "physical", "rprof_segments")
    is_rprof <- length(segments$source) && all(object$sources$source_type %in% "rprof")
    if (!is_rprof || ...length()) {
        if (lines != "hide" || memory != "none")
            stop_usage(if (lines != "hide") "lines" else "memory", " is of a whole Rprof profile; profile_top() answers by = \"srcline\" and ",
                       "sample_type = \"memory\" of any")
        return(summary_of_top(object, ...))
    }
    if (lines != "hide" && !isTRUE(any(segments$line))) stop_usage("the profile has no lines; record it with line.profiling = TRUE")
    if (memory == "both" && !isTRUE(any(segments$memory)))
        stop_usage("the profile has no memory; record it with memory.profiling = TRUE")
    summary_of_rprof(object, segments, lines, memory)
}

# Tokens of each location, a matrix with two columns, in the order in which a line of Rprof has them.
tokens_of <- function(frames, lines) {
    tokens <- matrix(NA_character_, length(frames$name), 2)
    if (lines != "hide") {
        known <- !is.na(frames$line)
        tokens[known, 1] <- paste0(basename(or_else(frames$file[known], "")), "#", number_text(frames$line[known]))
    }
    if (lines != "show") {
        known <- !is.na(frames$fun)
        tokens[known, 2] <- paste0("\"", frames$fun[known], "\"")
    }
    tokens
}

# Bytes that each sample has more than the one before it; the first of each segment has none.
memory_growth <- function(state, samples, first_samples) {
    growth <- numeric(samples)
    for (type in c("small_v", "big_v", "nodes")) {
        level <- values_of_type(state, type)
        if (length(level)) growth <- growth + pmax(c(0, diff(level)), 0) * if (type == "nodes") 1 else 8
    }
    growth[first_samples[first_samples < length(growth)] + 1] <- 0
    growth
}

summary_of_rprof <- function(x, segments, lines, memory) {
    state <- state_of(x)
    seconds <- as.double(segments$interval_us) / 1e6
    intervals <- unique(seconds)
    first <- as.double(segments$first_sample)
    growth <- if (memory == "both") memory_growth(state, sample_count(x), first)
    tokens <- tokens_of(frames_of(x), lines)
    keys <- sort(unique(c(tokens[!is.na(tokens)], if (isTRUE(any(segments$line))) "<no location>")))
    sums <- native("totals", state$handle, match(tokens, keys), first, match(seconds, intervals), length(intervals), growth,
                   length(keys), match("<no location>", keys), what = state$path)
    times <- lapply(sums, function(m) as.vector(m[, seq_along(intervals), drop = FALSE] %*% intervals))
    used <- rowSums(sums$total[, seq_along(intervals), drop = FALSE]) > 0
    growth <- if (memory == "both") sums$total[used, length(intervals) + 1]
    tables_of_summary(keys[used], times$self[used], times$total[used], growth, intervals, lines)
}

tables_of_summary <- function(keys, self, total, growth, intervals, lines) {
    sum <- sum(self)
    digits <- if (min(intervals) < 0.01) 3L else 2L
    columns <- list(self.time = round(self, digits), self.pct = round(100 * self / sum, 2),
                    total.time = round(total, digits), total.pct = round(100 * total / sum, 2))
    if (!is.null(growth)) columns$mem.total <- round(growth / 1048576, 1)
    names <- make.unique(sub("^\"(.*)\"$", "\\1", keys))
    table <- function(rows, shown = names(columns))
        structure(lapply(columns[shown], `[`, rows), class = "data.frame", row.names = names[rows])
    by_self <- order(-self, -total)
    result <- list(by.self = table(by_self[columns$self.time[by_self] > 0]),
                   by.total = table(order(-total, -self),
                                    c("total.time", "total.pct", if (!is.null(growth)) "mem.total", "self.time", "self.pct")))
    if (lines == "show") {
        file <- sub("#[^#]*$", "", keys)
        line <- ifelse(file == keys, 0, suppressWarnings(as.numeric(sub("^.*#", "", keys))))
        result$by.line <- table(order(file, line))
    }
    structure(c(result, list(sample.interval = intervals, sampling.time = sum)), class = "pcol_summary")
}

summary_of_top <- function(x, ...) {
    top <- profile_top(x, ...)
    info <- attr(top, "info")
    table <- data.frame(self = as.double(top$self), self.pct = round(top$self_pct, 2), total = as.double(top$total),
                        total.pct = round(top$total_pct, 2))
    if (info$seconds > 0) table <- cbind(table, self.time = top$self_time, total.time = top$total_time)
    rownames(table) <- make.unique(as.character(or_else(top$name, "<unknown>")))
    total_first <- c("total", "total.pct", "self", "self.pct", intersect(c("total.time", "self.time"), names(table)))
    structure(list(by.self = table[!(table$self %in% 0), , drop = FALSE],
                   by.total = table[order(-abs(table$total), -abs(table$self)), total_first, drop = FALSE],
                   sample.type = paste0(info$type, "/", info$unit), total = info$total), class = "pcol_summary")
}

print.pcol_summary <- function(x, n = 10, ...) {
    for (name in intersect(c("by.self", "by.total", "by.line"), names(x))) {
        cat("$", name, "\n", sep = "")
        print(head(x[[name]], n), ...)
        rest <- nrow(x[[name]]) - n
        if (rest > 0) cat("... and", rest, "more rows\n")
        cat("\n")
    }
    if (!is.null(x$sampling.time))
        cat("sampling time", format(x$sampling.time), "s, interval", format(x$sample.interval), "s\n")
    else cat("values are ", x$sample.type, ", total ", format(x$total, big.mark = ","), "\n", sep = "")
    invisible(x)
}

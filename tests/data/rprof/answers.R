#!/usr/bin/env -S Rscript --vanilla
# Record what R's summaryRprof() answers for the profiles of this folder, so that the tests compare with it where R is missing.
#
#     answers/NAME.tsv   a comment: which R; then of each function and, with line profiling, of each source line
#                        KIND TAB SELF TAB TOTAL TAB MEMORY TAB NAME
#
# KIND is function or line, SELF and TOTAL are samples, MEMORY is the bytes of memory = "both" (- without memory profiling).
# R makes seconds and megabytes of them and rounds; its function runs here with a round() that leaves numbers as they are.
# A file is read in one chunk: for the first sample of each chunk, R counts no memory. Each segment of an appended file is
# read as a file of its own: R takes the second header for a sample.
#
# Left out: names.Rprof, whose names R splits at blanks and line ends, and empty.Rprof, for which it fails.

setwd(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))))
summary_of <- utils::summaryRprof
environment(summary_of) <- list2env(list(round = function(x, digits) x), parent = asNamespace("utils"))

answer <- function(text, lines) {
    path <- tempfile()
    on.exit(unlink(path))
    writeLines(text, path, useBytes = TRUE)
    memory <- startsWith(text[1], "memory")
    result <- summary_of(path, chunksize = 1e6, memory = if (memory) "both" else "none", lines = lines)
    rows <- if (lines == "show") result$by.line else result$by.total
    stopifnot(identical(result$by.self$self.time, rows[rownames(result$by.self), "self.time"]))
    data.frame(kind = if (lines == "show") "line" else "function",
               self = base::round(rows$self.time / result$sample.interval),
               total = base::round(rows$total.time / result$sample.interval),
               memory = if (memory) as.vector(rows$mem.total) * 1048576 else NA,
               name = if (lines == "show") rownames(rows) else sub('^"(.*)"$', "\\1", rownames(rows)))
}

unlink("answers", recursive = TRUE)
dir.create("answers")
for (name in setdiff(Sys.glob("*.Rprof"), c("names.Rprof", "empty.Rprof"))) {
    text <- readLines(name)
    segments <- split(text, cumsum(grepl("sample.interval=", text, fixed = TRUE)))
    rows <- do.call(rbind, lapply(unname(segments), function(segment) {
        rbind(answer(segment, "hide"), if (grepl("line profiling", segment[1])) answer(segment, "show"))
    }))
    rows <- aggregate(cbind(self, total, memory) ~ kind + name, rows, sum, na.action = na.pass)
    rows <- rows[order(rows$kind, -rows$self, -rows$total, rows$name, method = "radix"), ]
    digits <- function(x) ifelse(is.na(x), "-", sprintf("%.0f", x))
    writeLines(c(paste("#", R.version.string),
                 paste(rows$kind, digits(rows$self), digits(rows$total), digits(rows$memory), rows$name, sep = "\t")),
               file.path("answers", paste0(name, ".tsv")), useBytes = TRUE)
}

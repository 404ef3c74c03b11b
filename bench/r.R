# Rscript bench/r.R FILE RUNS - the R package on a profile of Rprof against R's own functions, in one session
#
# Each line of the output: name, median of the elapsed seconds of RUNS turns (slow peers: at most 2), runs. Turns are
# alternated after one turn of each that is not counted, except for peers of more than a second. Every turn opens the file again.
arguments <- commandArgs(TRUE)
path <- arguments[1]
runs <- as.integer(arguments[2])
library(pcol)

elapsed <- function(f) {
    gc(full = TRUE)
    system.time(f(), gcFirst = FALSE)[["elapsed"]]
}

calls <- list(
    v1 = function() read_profile(path, "1.0"),
    summary = function() summary(open_profile(path)),
    frames = function() as.data.frame(open_profile(path)),
    summaryRprof = function() utils::summaryRprof(path))
if (requireNamespace("profvis", quietly = TRUE)) {
    calls$as_profvis <- function() as_profvis(path)
    calls$profvis <- function() profvis::profvis(prof_input = path)
}
if (requireNamespace("profile", quietly = TRUE)) calls$read_rprof <- function() profile::read_rprof(path)

seen <- lapply(calls, function(f) numeric())
first <- vapply(calls, elapsed, 0)
for (turn in seq_len(runs)) {
    for (name in names(calls)) {
        if (first[[name]] < 1 || (first[[name]] < 5 && turn <= 2)) seen[[name]] <- c(seen[[name]], elapsed(calls[[name]]))
    }
}
for (name in names(calls)) {
    times <- if (length(seen[[name]])) seen[[name]] else first[[name]]
    cat(name, median(times), length(times), "\n")
}

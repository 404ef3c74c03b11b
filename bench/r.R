# Rscript bench/r.R FILE RUNS - the R package on a profile of Rprof against R's own functions, in one session
#
# Each line of the output: name, median of the seconds of CPU time of RUNS turns (slow peers: at most 2), runs. Turns are
# alternated after one turn of each that is not counted, except for peers of more than 5 s. Every turn opens the file again.
arguments <- commandArgs(TRUE)
path <- arguments[1]
runs <- as.integer(arguments[2])
library(pcol)

cpu <- function(f) {
    gc(full = TRUE)
    sum(system.time(f(), gcFirst = FALSE)[1:2])
}

calls <- list(
    v1 = function() read_profile(path, "1.0"),
    open = function() open_profile(path),
    summary = function() summary(open_profile(path)),
    summary_full = function() summary(open_profile(path), lines = "both", memory = "both"),
    frames = function() as.data.frame(open_profile(path)),
    summaryRprof = function() utils::summaryRprof(path),
    summaryRprof_full = function() utils::summaryRprof(path, lines = "both", memory = "both"))
if (requireNamespace("profvis", quietly = TRUE)) {
    calls$as_profvis <- function() as_profvis(path)
    calls$profvis <- function() profvis::profvis(prof_input = path)
}
if (requireNamespace("profile", quietly = TRUE)) calls$read_rprof <- function() profile::read_rprof(path)

seen <- lapply(calls, function(f) numeric())
first <- vapply(calls, cpu, 0)
for (turn in seq_len(runs)) {
    for (name in names(calls)) {
        if (first[[name]] < 1 || (first[[name]] < 5 && turn <= 2)) seen[[name]] <- c(seen[[name]], cpu(calls[[name]]))
    }
}
for (name in names(calls)) {
    times <- if (length(seen[[name]])) seen[[name]] else first[[name]]
    cat(name, median(times), length(times), "\n")
}

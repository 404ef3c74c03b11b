# Rscript make.R KIND OUT - profile some work and leave R's own file in OUT. make.sh calls it for every kind.
#
# What the profiler sees must not depend on this script: nothing here is a function, so a stack starts with the work.

arguments <- commandArgs(trailingOnly = TRUE)
kind <- arguments[[1]]
out <- arguments[[2]]

options(keep.source = TRUE)
set.seed(20261121)
source("work.R")
source("other.R")
source("demo.R")

if (kind == "plain") {
    Rprof(out, interval = 0.01)
    busy(3)
    Rprof(NULL)
}

if (kind == "line") {
    Rprof(out, interval = 0.01, line.profiling = TRUE)
    busy(3)
    Rprof(NULL)
}

if (kind == "memory") {
    Rprof(out, interval = 0.01, memory.profiling = TRUE)
    busy(3)
    Rprof(NULL)
}

if (kind == "gc") {
    Rprof(out, interval = 0.01, gc.profiling = TRUE)
    busy(3)
    Rprof(NULL)
}

if (kind == "all") {
    Rprof(out, interval = 0.01, memory.profiling = TRUE, gc.profiling = TRUE, line.profiling = TRUE)
    busy(2)
    Rprof(NULL)
}

# Two segments: another interval, another first file, other switches.
if (kind == "append") {
    Rprof(out, interval = 0.01, line.profiling = TRUE)
    busy(1)
    Rprof(NULL)
    Rprof(out, append = TRUE, interval = 0.02, line.profiling = TRUE, gc.profiling = TRUE)
    other(1)
    Rprof(NULL)
}

if (kind == "toplevel") {
    Rprof(out, interval = 0.01, line.profiling = TRUE)
    source("toplevel.R", keep.source = TRUE)
    Rprof(NULL)
}

# No function on the stack: a sample is its memory columns and nothing else.
if (kind == "stackless") {
    keep <- list()
    Rprof(out, interval = 0.01, memory.profiling = TRUE)
    for (i in 1:12000000) {
        if (i %% 100000 == 0) keep[[length(keep) + 1]] <- c(i, i + 0.5)
    }
    Rprof(NULL)
}

# R escapes nothing, so names can hold all that the file format uses itself.
if (kind == "names") {
    names <- c("sp ace", "q\"uote", "\"", "back\\slash", "tab\there", "new\nline", "cr\rhere", "gr\u00f6\u00dfe",
               "\u6570\u3048\u308b", "1#2", "#File 1: x.R", ":1:2:3:4:", "<GC>", "[[", "f.g", "f_g", "sample.interval=1")
    env <- new.env()
    for (name in names) {
        assign(name, function(n) { s <- 0; for (i in seq_len(n)) s <- s + sqrt(i); s }, envir = env)
    }
    lst <- list(k = env[["sp ace"]], `two words` = env[["f.g"]])
    Rprof(out, interval = 0.01)
    for (name in names) eval(call(name, 2000000), env)
    for (k in 1:3) lst$k(2000000)
    lst[["k"]](2000000)
    lst[[2]](2000000)
    lst$`two words`(2000000)
    (function(n) for (i in seq_len(n)) sqrt(i))(3000000)
    stats::lowess(runif(60000), runif(60000))
    base::sort(runif(1000000))
    utils:::head.default(sort(runif(500000)))
    Rprof(NULL)
}

if (kind == "empty") {
    Rprof(out, interval = 0.02)
    Rprof(NULL)
}

if (kind == "rprofmem") {
    fit_lines(80)
    fit_lines(80)
    Rprofmem(out, threshold = 600)
    words <- clean_text(60)
    residual <- fit_lines(80)
    for (k in 1:20) numeric(1000 * k)
    Rprofmem(NULL)
}

if (kind == "demo") {
    Rprof(out, interval = 0.005, memory.profiling = TRUE, gc.profiling = TRUE, line.profiling = TRUE)
    for (year in 1:12) result <- analyse(60000)
    Rprof(NULL)
}

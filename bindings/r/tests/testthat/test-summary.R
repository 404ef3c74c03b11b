# Oracle: utils::summaryRprof(), in one chunk. Left out: files that R reads wrongly (appended runs, names with blanks).
reference <- function(path, lines, memory) {
    result <- suppressWarnings(utils::summaryRprof(path, chunksize = 1e7, lines = lines, memory = memory))
    for (name in intersect(names(result), c("by.self", "by.total", "by.line"))) {
        rows <- sub("^\"(.*)\"$", "\\1", rownames(result[[name]]))
        result[[name]] <- data.frame(lapply(result[[name]], as.vector), row.names = rows)
    }
    result
}

for (name in c("plain.Rprof", "gc.Rprof", "line.Rprof", "memory.Rprof", "all.Rprof", "demo.Rprof", "crlf.Rprof", "toplevel.Rprof",
               "stackless.Rprof")) {
    test_that(paste("summary() of", name, "equals summaryRprof()"), {
        path <- data_file(name)
        header <- readLines(path, 1)
        p <- open_profile(path)
        for (lines in c("hide", if (grepl("line", header)) c("show", "both"))) {
            for (memory in c("none", if (grepl("memory", header)) "both")) {
                expect_equal(unclass(summary(p, lines = lines, memory = memory)), reference(path, lines, memory), tolerance = 1e-12)
            }
        }
    })
}

test_that("samples without functions, or without lines, have no location", {
    path <- tempfile(fileext = ".Rprof")
    writeLines(c("line profiling: sample.interval=20000", "#File 1: /a/b.R", '1#100000 "f" 1#5 ', "1#7 ", '"g" "f" '), path)
    p <- open_profile(path)
    for (lines in c("hide", "show", "both"))
        expect_equal(unclass(summary(p, lines = lines)), reference(path, lines, "none"), tolerance = 1e-12)
    expect_equal(summary(p)$by.self["<no location>", "self.time"], 0.02)
})

test_that("each run of an appended file has its own interval", {
    path <- rprof('"f" "g" ', '"f" "g" ', "sample.interval=50000", '"h" "g" ')
    s <- summary(open_profile(path))
    expect_equal(s$by.self[c("f", "h"), "self.time"], c(0.02, 0.05))
    expect_equal(s$sampling.time, 0.07)
})

test_that("runs of an appended file without memory add nothing to that of the others", {
    runs <- list(c("memory profiling: sample.interval=20000", ':0:200:5600:0:"f" ', ':0:131272:5600:0:"f" '),
                 c("sample.interval=5000", '"f" ', '"g" '))
    path <- tempfile(fileext = ".Rprof")
    for (order in list(1:2, 2:1)) {
        writeLines(unlist(runs[order]), path)
        s <- summary(open_profile(path), memory = "both")
        expect_equal(s$by.total[c("f", "g"), "mem.total"], c(1, 0)) # 131,072 cells of 8 bytes
        expect_equal(s$by.total[c("f", "g"), "total.time"], c(0.045, 0.005))
    }
})

test_that("lines and memory that were not recorded are errors", {
    p <- open_profile(rprof('"f" "g" '))
    expect_error(summary(p, lines = "show"), "line.profiling = TRUE", class = "pcol_e_argument")
    expect_error(summary(p, memory = "both"), "memory.profiling = TRUE", class = "pcol_e_argument")
})

test_that("other profiles have a summary by their sample type", {
    s <- summary(open_profile(data_file("cpu.pb.gz")))
    expect_s3_class(s, "pcol_summary")
    expect_true(all(diff(s$by.total$total) <= 0))
    expect_output(print(s), "values are")
})

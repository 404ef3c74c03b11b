busy <- function() for (i in 1:60) sort(runif(1e5))

test_that("profile_run() records an expression and keeps its value", {
    p <- profile_run({ busy(); 42 }, memory = FALSE, gc = FALSE)
    expect_identical(attr(p, "value"), 42)
    expect_true("busy" %in% profile_top(p)$name)
    expect_output(print(p), "(in memory)", fixed = TRUE)
    expect_error(profile_run(stop("inner")), "inner")
})

test_that("as_profvis() has the rows of profvis()", {
    skip_if_not_installed("profvis")
    for (name in c("plain.Rprof", "memory.Rprof")) {
        path <- data_file(name)
        ours <- as_profvis(path)$x$message
        theirs <- profvis::profvis(prof_input = path)$x$message
        expect_equal(ours$interval, theirs$interval)
        expect_equal(ours$prof[names(theirs$prof)], theirs$prof, ignore_attr = TRUE)
    }
})

test_that("as_profvis() shows the lines of sources as profvis() does", {
    skip_if_not_installed("profvis")
    source <- tempfile(fileext = ".R")
    writeLines(c("f <- function() {", "    g(1)", "}", "  g <- function(x) x"), source)
    path <- tempfile(fileext = ".Rprof")
    writeLines(c("memory profiling: GC profiling: line profiling: sample.interval=10000", paste0("#File 1: ", source), "#File 2: none.R",
                 ':10:20:1024:0:1#4 "g" 1#2 "f" ', ':20:20:2048:0:"<GC>" 1#4 "g" 1#2 "f" ', ':20:10:2048:0:"<GC>" "<GC>" 1#2 "f" ',
                 ':20:10:2048:0:2#1 "h" 2#7 "f" ', ':20:30:2048:0:"h" 1#2 "f" ', ":20:90:4096:0:", ':20:40:4096:0:"<GC>" '), path)
    ours <- as_profvis(path)$x$message
    theirs <- profvis::profvis(prof_input = path)$x$message
    expect_equal(ours$prof[names(theirs$prof)], theirs$prof, ignore_attr = TRUE)
    expect_equal(lapply(ours$files, `[[`, "content"), lapply(theirs$files, `[[`, "content"))
    expect_true("g <- function(x) x" %in% ours$prof$label)
})

test_that("as_profvis() shows no text for lines that a source does not have", {
    skip_if_not_installed("profvis")
    source <- tempfile(fileext = ".R")
    writeLines(c("first", "second"), source)
    path <- tempfile(fileext = ".Rprof")
    writeLines(c("line profiling: sample.interval=10000", paste0("#File 1: ", source), '1#0 "f" ', '1#2 "f" ', '1#3 "f" '), path)
    expect_identical(as_profvis(path)$x$message$prof$label, c(NA, "f", "second", "f", NA, "f"))
})

test_that("knitr prints tables", {
    skip_if_not_installed("knitr")
    p <- open_profile(rprof('"f" "g" '))
    expect_match(knitr::knit_print(p), "|name", fixed = TRUE)
    expect_match(knitr::knit_print(summary(p)), "by.self", fixed = TRUE)
})

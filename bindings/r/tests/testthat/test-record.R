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

test_that("knitr prints tables", {
    skip_if_not_installed("knitr")
    p <- open_profile(rprof('"f" "g" '))
    expect_match(knitr::knit_print(p), "|name", fixed = TRUE)
    expect_match(knitr::knit_print(summary(p)), "by.self", fixed = TRUE)
})

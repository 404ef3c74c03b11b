p <- open_profile(rprof('"f" "g" "main" ', '"f" "g" "main" ', '"h" "main" ', '"g" "main" '))

test_that("profile_top() counts self and total", {
    top <- profile_top(p, order = "total")
    expect_identical(top$name, c("main", "g", "f", "h"))
    expect_identical(top$self, c(0, 1, 2, 1))
    expect_identical(top$total, c(4, 3, 2, 1))
    expect_equal(top$total_pct, c(100, 75, 50, 25))
    expect_equal(top$total_time, c(0.04, 0.03, 0.02, 0.01))
    expect_identical(nrow(profile_top(p, n = 2)), 2L)
    expect_identical(p$functions$name[top$function_id], top$name)
})

test_that("selections are those of the command", {
    expect_setequal(profile_top(p, focus = "^f$")$name, c("f", "g", "main"))
    expect_setequal(profile_top(p, ignore = "f")$name, c("g", "h", "main"))
    expect_setequal(profile_top(p, hide = "main")$name, c("f", "g", "h"))
    expect_warning(none <- profile_top(p, focus = "nowhere"), "focus matches no frame", class = "pcol_warning_selection")
    expect_identical(none$name, character(0))
    expect_warning(profile_top(p, ignore = "."), "no sample passes the selection", class = "pcol_warning_selection")
    expect_error(profile_top(p, source = 100000), "100000", class = "pcol_e_argument")
    expect_error(profile_top(p, fokus = "f"), "unknown argument fokus; selections: sample_type, focus", class = "pcol_e_argument")
    expect_error(profile_top(p, focus = c("a", "b")), "focus must be one string", class = "pcol_e_argument")
    expect_error(profile_top(p, focus = "("), "the pattern has an unmatched", class = "pcol_e_argument")
    expect_error(profile_top(p, by = "colour"), "by must be one of", class = "pcol_e_argument")
    expect_error(profile_top(p, sample_type = "cpu"), class = "pcol_e_argument")
})

test_that("profile_tree() is in pre-order with parents", {
    tree <- profile_tree(p)
    expect_identical(tree$name, c("<all>", "main", "g", "f", "h"))
    expect_identical(tree$depth, c(0L, 1L, 2L, 3L, 2L))
    expect_identical(tree$parent, c(NA, 1L, 2L, 3L, 2L))
    expect_identical(tree$total, c(4, 4, 3, 2, 1))
    expect_identical(profile_tree(p, bottom_up = TRUE, max_depth = 1)$depth, c(0L, 1L, 1L, 1L))
})

test_that("numbers must be whole and fit", {
    for (wrong in list(-1, 1.5, 2^31, 2^32 + 1, NA, Inf, "1", c(1, 2), TRUE)) {
        expect_error(profile_tree(p, max_depth = wrong), "max_depth must be one whole number", class = "pcol_e_argument")
        expect_error(profile_flame(p, width = wrong), "width must be one whole number", class = "pcol_e_argument")
    }
    expect_identical(nrow(profile_tree(p, max_depth = 2^31 - 1)), 5L)
    expect_error(profile_flame(p, min_width = NaN), "min_width must be one number", class = "pcol_e_argument")
})

test_that("a time beyond 64 bits of nanoseconds is an open end", {
    events <- paste0('{"name": "', c("a", "b", "c"), '", "ph": "X", "pid": 1, "tid": 1, "ts": ', c(0, 1001, 2000), ', "dur": 1}')
    timed <- open_profile(charToRaw(paste0('{"traceEvents": [', paste(events, collapse = ", "), "]}")))
    selected <- function(...) suppressWarnings(attr(profile_top(timed, sample_type = "spans", time = c(...)), "info")$selected)
    all <- selected(-Inf, Inf)
    expect_identical(all, selected(-1e300, 1e300))
    expect_identical(all, selected(0, 1e13))
    expect_identical(selected(Inf, Inf), 0)
    expect_identical(selected(-Inf, -Inf), 0)
    expect_identical(selected(1e300, Inf), 0)
    expect_identical(selected(1.001, 1.002), all / 3)
    expect_identical(selected(0, 1.001), all / 3)
})

test_that("profile_peek() has callers and callees", {
    peek <- profile_peek(p, "g")
    expect_identical(as.character(peek$relation), c("caller", "function", "callee"))
    expect_identical(peek$name, c("main", "g", "f"))
})

test_that("profile_diff() subtracts", {
    other <- rprof('"f" "g" "main" ', '"h" "main" ', '"h" "main" ', '"k" "main" ')
    diff <- profile_diff(p, other)
    delta <- setNames(diff$self_delta, diff$name)
    expect_identical(delta[c("f", "g", "h", "k")], c(f = -1, g = -1, h = 1, k = 1))
    expect_identical(diff$in_base[diff$name == "k"], FALSE)
    expect_true("main;k" %in% profile_diff(p, other, by = "stack")$name)
})

test_that("flame graphs are boxes, SVG and plots", {
    boxes <- profile_flame(p)
    expect_identical(boxes$depth[1], 0L)
    expect_equal(sum(boxes$width[boxes$depth == 1]), boxes$width[1])
    file <- tempfile(fileext = ".svg")
    expect_identical(profile_flame(p, file, title = "T\u00eatle"), file)
    expect_match(readLines(file, 1, warn = FALSE), "<svg|<[?]xml")
    expect_error(profile_flame(p, file), class = "pcol_e_exists")
    expect_silent(profile_flame(p, file, overwrite = TRUE))
    grDevices::pdf(NULL)
    on.exit(grDevices::dev.off())
    expect_identical(plot(p), p)
    expect_silent(plot(p, base = p))
})

test_that("answers print names in full and no ids", {
    long <- strrep("n", 40)
    q <- open_profile(rprof(sprintf('"%s" "main" ', long)))
    top <- profile_top(q)
    shown <- capture.output(print(top))
    expect_true(any(grepl(paste0("n{25}"), shown)))
    expect_false(any(grepl("function_id <|function_id$", shown[seq_len(length(shown) - 1)])))
    expect_match(shown[length(shown)], "# columns not shown: function_id", fixed = TRUE)
    expect_identical(top$function_id, match(top$name, q$functions$name))
    expect_output(print(top["name"]), "main")
})

test_that("names of columns are printed in full", {
    skip_if_not_installed("tibble")
    old <- options(width = 80)
    on.exit(options(old))
    shown <- paste(capture.output(print(profile_diff(p, p))), collapse = " ")
    for (name in c("self_base", "self_new", "self_delta", "total_delta", "self_pct_new")) expect_match(shown, name, fixed = TRUE)
    expect_no_match(shown, "abbreviated")
})

test_that("rows by label or metadata require a key", {
    for (by in c("label", "meta")) {
        expect_error(profile_top(p, by = by), "which require it", class = "pcol_e_argument")
        expect_error(profile_diff(p, p, by = by), "which require it", class = "pcol_e_argument")
    }
    expect_error(profile_top(p, label = "kind"), "which require it", class = "pcol_e_argument")
})

test_that("answers print the end of long paths", {
    path <- paste0("/usr/", strrep("long/", 10), "end.R")
    file <- tempfile()
    writeLines(c("line profiling: sample.interval=10000", paste0("#File 1: ", path), '1#7 "f" '), file)
    top <- profile_top(file, by = "srcline")
    expect_identical(top$name, paste0(path, "#7"))
    expect_match(paste(capture.output(print(top)), collapse = " "), "[.]{3}[a-z/]*/end[.]R#7 .*not shown: file, line")
    expect_match(paste(capture.output(print(profile_top(file, by = "line"))), collapse = " "), "f .*/end[.]R +7 ")
    expect_identical(print(top), top)
})

test_that("errors have the call of the user", {
    call <- function(expr) tryCatch(expr, pcol_error = function(e) as.character(conditionCall(e)[[1]]))
    expect_identical(call(profile_top(p, by = "colour")), "profile_top")
    expect_identical(call(profile_tree(p, focus = 1)), "profile_tree")
    expect_identical(call(profile_top(p, focus = "(")), "profile_top")
    expect_identical(call(p$nothing), "$.pcol_profile")
})

test_that("a total that is not a number has shares that are none", {
    answer <- finish_answer(structure(list(name = c("f", "g"), self = c(NaN, 1), total = c(NaN, 1)),
                                      info = list(total = NaN, seconds = 0)))
    expect_identical(answer$self_pct, c(NaN, NaN))
    expect_identical(nrow(answer), 2L)
})

test_that("profiles without samples are plotted", {
    grDevices::pdf(NULL)
    on.exit(grDevices::dev.off())
    p <- open_profile(rprof())
    expect_identical(plot(p), p)
})

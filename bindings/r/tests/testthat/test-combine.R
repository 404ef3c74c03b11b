a <- rprof('"f" "g" "main" ', '"f" "g" "main" ', '"h" "main" ')
b <- rprof('"f" "main" ', '"k" "main" ')
selves <- function(x) {
    top <- profile_top(x, order = "name")
    setNames(top$self, top$name)
}

test_that("profile_merge() has the samples and sources of all", {
    merged <- profile_merge(a, open_profile(b), list(a))
    expect_s3_class(merged, "pcol_profile")
    expect_identical(merged$sources$source_uri, c(a, b, a))
    expect_identical(nrow(merged$samples), 8L)
    expect_identical(selves(merged), c(f = 5, g = 0, h = 2, k = 1, main = 0))
    expect_identical(profile_merge(c(a, b))$sources$source_uri, c(a, b))
    expect_error(profile_merge(), "at least one profile", class = "pcol_e_argument")
    expect_error(profile_merge(a, tempfile("no")), class = "pcol_e_io")
    expect_error(profile_merge(a, 1), "expected a profile", class = "pcol_e_argument")
})

test_that("profile_merge(sums =) has one sample for each stack and values of the keys", {
    summed <- suppressWarnings(profile_merge(a, b, a, sums = TRUE))
    expect_identical(nrow(summed$samples), 4L)
    expect_identical(selves(summed), selves(profile_merge(a, b, a)))
    path <- data_file("cpu.pb.gz")
    whole <- open_profile(path)
    by_kind <- suppressWarnings(profile_merge(path, path, sums = "kind"))
    expect_lt(nrow(by_kind$samples), nrow(whole$samples))
    kinds <- function(x) {
        top <- profile_top(x, by = "label", label = "kind", order = "name")
        setNames(as.double(top$self), top$name)
    }
    expect_equal(kinds(by_kind), 2 * kinds(whole))
    expect_warning(profile_merge(path, sums = TRUE), class = "pcol_warning_loss") |> suppressWarnings()
    expect_error(profile_merge(a, sums = 1), "sums must be", class = "pcol_e_argument")
})

heap <- function(start) {
    path <- tempfile(fileext = ".heap")
    line <- function(...) sprintf(" 0x%x", start + c(...) + 1)
    # The reader takes the call before each return address, one byte below it.
    writeLines(c("heap profile: 2: 300 [2: 300] @ heap/1", paste0("1: 100 [1: 100] @", paste(line(0x1000, 0x2000), collapse = "")),
                 paste0("1: 200 [1: 200] @", paste(line(0x1100, 0x2000), collapse = "")), "MAPPED_LIBRARIES:",
                 sprintf("%08x-%08x r-xp 00000000 00:00 0  /bin/prog", start, start + 0x100000)), path)
    path
}

test_that("profile_merge(rebase = TRUE) makes code at different addresses the same", {
    paths <- c(heap(0x400000), heap(0x700000))
    expect_identical(nrow(profile_merge(paths)$locations), 6L)
    expect_identical(nrow(profile_merge(paths, rebase = TRUE)$locations), 3L)
    expect_identical(nrow(suppressWarnings(profile_merge(paths, sums = TRUE, rebase = TRUE))$samples), 2L)
})

test_that("profile_filter() keeps what the selection takes", {
    part <- profile_filter(a, focus = "g")
    expect_identical(selves(part), c(f = 2, g = 0, main = 0))
    p <- open_profile(data_file("cpu.pb.gz"))
    expect_true("label.kind" %in% names(p$samples))
    expect_false("label.kind" %in% names(profile_filter(p, drop_labels = "kind")$samples))
    expect_false(any(grepl("^label", names(profile_filter(p, drop_labels = TRUE)$samples))))
    expect_identical(sort(profile_filter(a, anonymize = TRUE)$functions$name), paste0("f", 1:4))
    expect_error(profile_filter(a, drop_labels = 1), "drop_labels must be", class = "pcol_e_argument")
    error <- tryCatch(profile_filter(a, focus = "("), pcol_error = identity)
    expect_identical(error$argument, "focus")
})

test_that("profile_add_frames() adds frames at the root and at the leaf", {
    p <- open_profile(data_file("cpu.pb.gz"))
    rooted <- profile_tree(profile_add_frames(p, root = "label:kind"), max_depth = 1)
    kinds <- profile_top(p, by = "label", label = "kind")
    expect_setequal(setdiff(rooted$name, c("<all>", "<unknown>")), kinds$name[!is.na(kinds$name)])
    both <- profile_merge(a, b)
    leaves <- selves(profile_add_frames(both, leaf = "source"))
    expect_identical(leaves[leaves > 0][c(a, b)], setNames(c(3, 2), c(a, b)))
    expect_error(profile_add_frames(a), "root or leaf is needed", class = "pcol_e_argument")
    expect_error(profile_add_frames(a, root = "colour"), class = "pcol_e_argument")
    expect_error(profile_add_frames(a, root = "label:none"), class = "pcol_e_argument")
})

test_that("profile_symbolize() names addresses, with inlined calls", {
    p <- open_profile(heap(0x400000))
    addresses <- profile_addresses(p)
    expect_setequal(addresses$offset, c("0x1000", "0x1100", "0x2000"))
    expect_identical(strtoi(addresses$address) - strtoi(addresses$offset), rep(0x400000L, 3))
    expect_identical(addresses$mapping, rep("/bin/prog", 3))
    row <- function(offset) match(offset, addresses$offset)
    symbols <- data.frame(row = c(row("0x2000"), row("0x1000"), row("0x1000")), name = c("main", "inlined", "work"),
                          file = c("main.c", NA, "work.c"), line = c(12, NA, 7))
    named <- profile_symbolize(p, symbols)
    top <- profile_top(named, sample_type = "space", order = "total")
    expect_identical(top$total[match(c("main", "work", "inlined"), top$name)], c(300, 100, 100))
    expect_identical(top$self[match("inlined", top$name)], 100)
    expect_identical(profile_addresses(named)$offset, "0x1100")
    expect_identical(named$locations$line[match("work", named$functions$name[named$locations$function_id])], 7L)
    expect_error(profile_symbolize(p, data.frame(row = 9, name = "x")), "from 1 to 3", class = "pcol_e_argument")
    for (wrong in list(7.5, -1, 2^31, Inf, "x", TRUE)) {
        expect_error(profile_symbolize(p, data.frame(row = 1, name = "x", line = wrong)), "line must be whole numbers", class = "pcol_e_argument")
    }
    expect_identical(max(profile_symbolize(p, data.frame(row = 1, name = "x", line = "2147483647"))$locations$line, na.rm = TRUE), 2147483647L)
    expect_error(profile_symbolize(p, data.frame(row = 1)), "columns row and name", class = "pcol_e_argument")
    expect_identical(nrow(profile_addresses(a)), 0L)
})

test_that("profile_diff() compares with the median of several bases", {
    bases <- c(a, rprof('"f" "main" ', '"f" "main" ', '"f" "main" ', '"f" "main" '), rprof('"h" "main" '))
    diff <- profile_diff(bases, b)
    f <- diff[diff$name == "f", ]
    expect_identical(c(f$self_base, f$self_min, f$self_max, f$self_new), c(2, 0, 4, 1))
    expect_identical(f$total_mad, 2)
    expect_identical(as.data.frame(profile_diff(list(open_profile(a)), b)), as.data.frame(profile_diff(a, b)))
    expect_error(profile_diff(list(), b), "needs a base", class = "pcol_e_argument")
    both <- profile_merge(heap(0x400000), a) # the default of both is that of the heap profile
    expect_identical(attr(profile_diff(both, both), "info")$unit, "bytes")
    expect_identical(attr(profile_diff(list(both, a), both), "info")$unit, "count")
    expect_error(profile_diff(list(a, heap(0x400000)), both), "in common: base 2 has", class = "pcol_e_argument")
})

test_that("conditions name the argument", {
    argument <- function(expr) tryCatch(expr, pcol_error = function(e) e$argument)
    expect_identical(argument(profile_top(a, hide = "(")), "hide")
    expect_identical(argument(profile_top(a, source = "none")), "source")
    expect_identical(argument(profile_top(a, by = "colour")), "by")
    expect_identical(argument(open_profile(tempfile("no"))), NA_character_)
    expect_error(profile_top(a, show = "["), "show: ")
    stackless <- tempfile()
    writeLines(c("threadcreate profile: total 1", "1 @", ""), stackless)
    expect_identical(argument(open_profile(stackless)), "lenient")
    expect_error(open_profile(stackless), "the sample has no addresses (lenient = TRUE permits it)", fixed = TRUE)
    expect_s3_class(suppressWarnings(open_profile(stackless, lenient = TRUE)), "pcol_profile")
})

test_that("missing and unknown files are conditions of their own", {
    expect_error(open_profile(tempfile("no")), "file not found", class = "pcol_e_io")
    expect_error(open_profile(tempdir()), class = "pcol_error")
    path <- tempfile()
    writeLines("not a profile", path)
    expect_error(open_profile(path), class = "pcol_error_input")
    expect_error(open_profile(1), "path must be one file name", class = "pcol_e_argument")
    expect_error(profile_top(1), "expected a profile of open_profile", class = "pcol_e_argument")
})

test_that("errors have a place", {
    path <- rprof('"f" "g" ', 'nonsense', '"f" ')
    error <- tryCatch(open_profile(path, format = "rprof"), pcol_error = identity)
    expect_s3_class(error, "pcol_e_syntax")
    expect_identical(error$line, 3)
    expect_match(conditionMessage(error), paste0(basename(path), ": 3:"))
})

test_that("damaged pcol files are errors", {
    path <- tempfile(fileext = ".pcol")
    write_profile(data_file("all.Rprof"), path)
    bytes <- readBin(path, "raw", 1e6)
    for (size in c(1, 64, length(bytes) / 2, length(bytes) - 1)) {
        cut <- tempfile()
        writeBin(bytes[seq_len(size)], cut)
        expect_error(open_profile(cut), class = "pcol_error")
    }
    for (at in seq(200, length(bytes), by = 997)) {
        broken <- bytes
        broken[at] <- xor(broken[at], as.raw(0x55))
        writeBin(broken, cut)
        result <- tryCatch({ p <- open_profile(cut); for (t in names(p)) p[[t]]; profile_top(p); as.data.frame(p); "read" },
                           pcol_error = function(e) "error")
        expect_true(result %in% c("read", "error"))
    }
})

test_that("a file that is cut while it is open is an error, never zeros", {
    path <- tempfile(fileext = ".pcol")
    write_profile(data_file("demo.Rprof"), path)
    p <- open_profile(path)
    samples <- p$samples
    writeBin(readBin(path, "raw", 4096), path)
    expect_error(p$sample_locations, class = "pcol_error")
    expect_error(profile_top(p), class = "pcol_error")
    expect_error(as.data.frame(p), class = "pcol_error")
    expect_identical(p$samples, samples)
})

test_that("a profile of another session asks to be opened again", {
    path <- tempfile()
    saveRDS(open_profile(rprof('"f" ')), path)
    expect_error(profile_top(readRDS(path)), "open it again with open_profile", class = "pcol_e_state")
})

test_that("profiles are read after fork", {
    skip_on_os("windows")
    p <- open_profile(data_file("all.Rprof"))
    answers <- parallel::mclapply(1:2, function(i) profile_top(p)$name, mc.cores = 2)
    expect_identical(answers, list(profile_top(p)$name, profile_top(p)$name))
})

test_that("the native part keeps its objects alive under gctorture", {
    path <- rprof('"f\xe9" "g" ', '"h" "g" ')
    expected <- profile_top(open_profile(path))$name
    op <- function(...) .Call(pcol:::rp_call, ...)$value
    gctorture(TRUE)
    handle <- op("open", list(path, path, list(tempdir = tempdir())))
    top <- op("top", list(handle, list(), 0L, NULL, 0L, FALSE))
    table <- op("table", list(handle, 0L, "functions", NULL, FALSE))
    stacks <- op("stacks", list(handle, 1:3, "data.frame"))
    frames <- op("frames", list(handle))
    totals <- op("totals", list(handle, c(1:3, rep(NA, 3)), 0, 1L, 1L, NULL, 3L, NA))
    rows <- op("profvis", list(handle, letters[1:3], letters[4:6], letters[7:9], c(1L, 1L, 1L), 4:6, c(1, 3)))
    names <- op("names", list(handle))
    tree <- op("tree", list(handle, list(), 0L, 1L, FALSE, 0L, FALSE))
    flame <- op("flame", list(handle, list(), NULL, FALSE, FALSE, 1200L, 0.3, NULL, NULL, FALSE, FALSE))
    failure <- .Call(pcol:::rp_call, "table", list(handle, 0L, "none", NULL, FALSE))
    options <- list(tempdir = tempdir())
    made <- list(op("merge", list(list(handle, handle), NULL, options)), op("merge", list(list(handle), "k", options)),
                 op("filter", list(handle, list(), FALSE, character(), FALSE, options)),
                 op("add_frames", list(handle, "source", character(), FALSE, options)),
                 op("symbolize", list(handle, c(0L, 0L, 0L), character(), character(), integer(), integer(), options)))
    addresses <- op("addresses", list(made[[1]]))
    tables <- op("tables", list(handle, 0L))
    size <- op("size", list(handle, 0L, "samples"))
    diff <- op("diff", list(made[1:2], handle, list(), 0L, NULL, FALSE, 0L, FALSE))
    gctorture(FALSE)
    expect_identical(top$name, expected)
    expect_setequal(table$name, c("f\\xe9", "g", "h"))
    expect_identical(vapply(stacks, nrow, 1L), c(2L, 2L))
    expect_identical(frames$sample_id, c(1L, 1L, 2L, 2L))
    expect_identical(unname(colSums(totals$total)), 4)
    expect_identical(rows$time[!is.na(rows$filenum)], c(1L, 1L, 2L, 2L))
    expect_setequal(names, c("f\\xe9", "g", "h"))
    expect_identical(tree$total[1], 2)
    expect_identical(flame$total[1], 2)
    expect_identical(failure$error$status, "E_NOT_FOUND")
    expect_true("samples" %in% tables)
    expect_identical(size[1], 2)
    samples <- vapply(made, function(h) op("size", list(h, 0L, "samples"))[1], 0)
    expect_identical(samples, c(4, 2, 2, 2, 2))
    expect_length(addresses$group, 0)
    expect_identical(sum(diff$self_base), 3)
})

test_that("an interrupt ends a call and leaves no file", {
    skip_on_cran()
    script <- tempfile(fileext = ".R")
    big <- tempfile(fileext = ".Rprof")
    stacks <- sprintf("\"f%d\" \"g%d\" \"main\" ", 1:200000, 200000:1)
    writeLines(c("sample.interval=1000", rep(stacks, 20)), big)
    folder <- tempfile()
    dir.create(folder)
    writeLines(c(sprintf(".libPaths(c(%s)); library(pcol)", paste(deparse(.libPaths()), collapse = "")),
                 "cat('ready\\n'); flush(stdout())",
                 "answer <- tryCatch({",
                 sprintf("  write_profile(%s, %s); 'done' }, interrupt = function(e) 'interrupted')", deparse(big),
                         deparse(file.path(folder, "out.pcol"))),
                 "cat(answer, '\\n')"), script)
    command <- sprintf("%s --vanilla %s > %s 2>&1 & pid=$!; for i in $(seq 100); do grep -q ready %s && break; sleep 0.1; done; sleep 0.2; kill -INT $pid; wait $pid; exit 0",
                       shQuote(file.path(R.home("bin"), "Rscript")), shQuote(script), shQuote(file.path(tempdir(), "log")),
                       shQuote(file.path(tempdir(), "log")))
    system2("bash", c("-m", "-c", shQuote(command)))
    log <- readLines(file.path(tempdir(), "log"))
    if (any(grepl("done", log))) skip("the interrupt came after the end of the call")
    expect_true(any(grepl("interrupted", log)))
    expect_length(list.files(folder, all.files = TRUE, no.. = TRUE), 0)
})

test_that("a file that was changed since it was opened is not checked", {
    path <- tempfile(fileext = ".pcol")
    write_profile(rprof('"f" "main" '), path)
    p <- open_profile(path)
    expect_equal(nrow(check_profile(p)), 0)
    cat("x", file = path, append = TRUE)
    expect_error(check_profile(p), "changed while being read")
})

test_that("a stack of more frames than a vector holds is an error", {
    packed <- test_path("hostile", "deep-frames.pcol.gz") # of make_deep_frames.py
    path <- tempfile(fileext = ".pcol")
    writeBin(memDecompress(readBin(packed, "raw", file.size(packed)), "gzip"), path)
    p <- open_profile(path)
    expect_equal(nrow(check_profile(p)), 0)
    expect_error(read_profile(path), "more than 2147483647 frames")
    expect_error(summary(p), "implausibly many inlined calls")
})

test_that("arguments of another type are errors, not the default", {
    x <- data_file("cpu.pb.gz")
    p <- open_profile(x)
    refused <- function(expr, name) {
        error <- tryCatch(expr, error = identity)
        expect_s3_class(error, "pcol_e_argument")
        expect_identical(error$argument, name)
    }
    folded <- function() tempfile(fileext = ".folded")
    for (value in list(NA, "yes", c(FALSE, TRUE), logical(0), NULL, list(TRUE), 1)) {
        refused(profile_filter(p, anonymize = value), "anonymize")
        refused(write_profile(p, folded(), fail_on_loss = value), "fail_on_loss")
        refused(write_profile(p, folded(), overwrite = value), "overwrite")
        refused(profile_merge(p, rebase = value), "rebase")
        refused(profile_tree(p, bottom_up = value), "bottom_up")
        refused(profile_diff(p, p, normalize = value), "normalize")
        refused(profile_flame(p, inverted = value), "inverted")
        refused(check_profile(p, strict = value), "strict")
        refused(open_profile(x, lenient = value), "lenient")
        if (!is.null(value)) refused(profile_top(p, keep_dropped = value), "keep_dropped")
    }
    refused(profile_filter(p, drop_labels = c(TRUE, FALSE)), "drop_labels")
    for (value in list(NA, NA_character_, 1, factor("samples"), character(), c("cpu", "samples"), TRUE)) {
        refused(write_profile(p, folded(), sample_type = value), "sample_type")
        refused(write_profile(p, folded(), format = value), "format")
        refused(open_profile(x, format = value), "format")
        refused(profile_top(p, by = "label", label = value), "label")
        refused(profile_flame(p, title = value), "title")
        refused(profile_flame(p, file = value), "file")
        if (!identical(value, 1)) refused(profile_top(p, source = value), "source")
    }
    file <- tempfile(fileext = ".pcol")
    refused(write_profile(p, file, sample_type = "cpu"), "sample_type")
    refused(write_profile(p, file, compress = "gzip"), "compress")
    refused(write_profile(p, file, keep_dropped = TRUE), "keep_dropped")
    refused(write_profile(p, paste0(file, ".gz")), "path")
    refused(write_profile(p, folded(), write = "plain"), "write")
    refused(profile_run(1, interval = -1), "interval")
    refused(plot(p, viewer = 1), "viewer")
    refused(summary(p, lines = 1), "lines")
    refused(summary(p, memory = c("none", "both")), "memory")
    if (has_package("htmlwidgets")) refused(as_profvis(p, split = 2), "split")
    bytes <- "caf\xe9"
    Encoding(bytes) <- "bytes"
    refused(profile_top(p, focus = bytes), "focus")
    for (i in list(0, 100, -1, NA, 1.5, TRUE, c(1, 2), list(1), NULL)) refused(p[[i]], "i")
    expect_error(summary(p, lines = "show"), class = "pcol_e_argument")
    expect_error(summary(p, memory = "both"), class = "pcol_e_argument")
    for (value in list(-1, NA, 1.5, "2", c(1, 2))) {
        refused(profile_top(p, n = value), "n")
        refused(profile_diff(p, p, n = value), "n")
    }
})

# The rules of validate_profile() of the package profile, written out, since that package is not on CRAN mirrors everywhere.
expect_valid <- function(x) {
    expect_s3_class(x, "profile_data")
    expect_identical(names(x), c("meta", "sample_types", "samples", "locations", "functions"))
    expect_identical(as.list(x$meta), list(key = "version", value = "1.0"))
    expect_identical(as.list(x$sample_types), list(type = "samples", unit = "count"))
    expect_identical(names(x$samples), c("value", "locations"))
    expect_type(x$samples$value, "integer")
    expect_true(all(x$samples$value > 0))
    expect_true(all(vapply(x$samples$locations, function(l) is.data.frame(l) && identical(names(l), "location_id") &&
                               is.integer(l$location_id), NA)))
    expect_true(all(unlist(lapply(x$samples$locations, `[[`, "location_id")) %in% x$locations$location_id))
    expect_identical(vapply(x$locations, typeof, ""), c(location_id = "integer", function_id = "integer", line = "integer"))
    expect_false(anyDuplicated(x$locations$location_id) > 0)
    expect_true(all(is.na(x$locations$function_id) | x$locations$function_id %in% x$functions$function_id))
    expect_true(all(is.na(x$locations$line) | x$locations$line >= 0))
    expect_identical(vapply(x$functions, typeof, ""), c(function_id = "integer", name = "character", system_name = "character",
                                                        filename = "character", start_line = "integer"))
    expect_false(anyDuplicated(x$functions$function_id) > 0)
    expect_true(all(x$functions$name != "" & x$functions$system_name != "" & x$functions$start_line >= 0))
}

test_that("read_profile() gives profile_data that follows the rules", {
    for (name in c("plain.Rprof", "all.Rprof", "line.Rprof", "toplevel.Rprof", "stackless.Rprof", "empty.Rprof", "cpu.pb.gz")) {
        path <- data_file(name)
        x <- tryCatch(read_profile(path), pcol_e_loss = function(e) NULL)
        if (!is.null(x)) {
            expect_valid(x)
            library_v1 <- pcol:::read_columns(pcol:::state_of(open_profile(path)), "v1", "samples")
            expect_identical(lapply(x$samples$locations, `[[`, "location_id"), library_v1$locations)
            expect_identical(x$samples$value, as.integer(library_v1$value))
        }
        else expect_identical(name, "cpu.pb.gz")
    }
})

test_that("the samples of version 1.0 are the stacks of version 2.0", {
    p <- open_profile(data_file("plain.Rprof"))
    x <- read_profile(p, "1.0")
    v2 <- read_profile(p, "2.0", dm = FALSE)
    expect_identical(unlist(lapply(x$samples$locations, `[[`, "location_id")), v2$sample_locations$location_id)
    expect_identical(names(v2), c("meta", "sources", "samples", "sample_values", "sample_locations", "locations", "functions"))
    keys <- attr(v2, "keys")
    for (name in names(keys$primary)) expect_false(anyDuplicated(as.data.frame(v2[[name]])[keys$primary[[name]]]) > 0)
    for (i in seq_len(nrow(keys$foreign))) {
        values <- v2[[keys$foreign$table[i]]][[keys$foreign$column[i]]]
        expect_true(all(is.na(values) | values %in% v2[[keys$foreign$references[i]]][[keys$foreign$column[i]]]))
    }
    expect_error(read_profile(p, "3.0"), "version must be", class = "pcol_e_argument")
    for (version in list(numeric(0), 2, NULL, NA_character_, list("1.0", "2.0"))) expect_error(read_profile(p, version), "version must be", class = "pcol_e_argument")
})

test_that("the package profile accepts version 1.0", {
    skip_if_not_installed("profile")
    x <- read_profile(data_file("all.Rprof"))
    profile::validate_profile(x)
    profile::write_rprof(x, tempfile())
    profile::write_pprof(x, tempfile())
    succeed()
})

test_that("version 2.0 is a dm", {
    skip_if_not_installed("dm")
    expect_s3_class(read_profile(data_file("all.Rprof"), "2.0", dm = TRUE), "dm")
})

test_that("profile_data is written to every format", {
    x <- read_profile(data_file("plain.Rprof"))
    # As in the package profile, names of version 1.0 have _ for each . of R's names.
    counts <- function(path) {
        top <- profile_top(open_profile(path))
        name <- gsub(".", "_", sub("<GC>", "gc", top$name, fixed = TRUE), fixed = TRUE)
        sort(paste(name, top$self, top$total), method = "radix")
    }
    expected <- counts(data_file("plain.Rprof"))
    for (suffix in c(".pb.gz", ".Rprof", ".pcol", ".folded", ".v1.json")) {
        path <- tempfile(fileext = suffix)
        suppressWarnings(write_profile(x, path))
        expect_identical(counts(path), expected)
    }
    x$functions$name[1] <- "quote \" back \\ tab \t \u00ef"
    x$functions$system_name[1] <- "s"
    path <- tempfile(fileext = ".pcol")
    write_profile(x, path)
    expect_true(x$functions$name[1] %in% open_profile(path)$functions$name)
    x$samples$value[1] <- 1234567.8
    expect_error(write_profile(x, path, overwrite = TRUE), "value must be an integer", class = "pcol_e_syntax")
    x$samples$value <- NULL
    expect_error(write_profile(x, path, overwrite = TRUE), "profile_data without samples\\$value", class = "pcol_e_argument")
})

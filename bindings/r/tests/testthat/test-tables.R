test_that("tables are data frames with integer ids and double values", {
    p <- open_profile(rprof('"f" "g" ', '"f" "g" ', '"h" '))
    expect_identical(names(p)[1:7], c("meta", "sources", "samples", "sample_values", "sample_locations", "locations", "functions"))
    expect_identical(p$samples$sample_id, 1:3)
    expect_identical(p$sample_values$value, c(1, 1, 1))
    expect_identical(p$sample_locations$depth, c(1L, 2L, 1L, 2L, 1L))
    expect_setequal(p$functions$name, c("f", "g", "h"))
    expect_s3_class(p$functions, "data.frame")
    expect_identical(p[["samples"]], p$samples)
    expect_error(p$sample, "no table sample; tables: meta", class = "pcol_e_not_found")
    expect_output(print(p), "\\$samples +3 rows")
})

test_that("as.data.frame() has a row per frame, equal to the tables", {
    p <- open_profile(data_file("all.Rprof"))
    frames <- as.data.frame(p)
    expect_identical(frames[c("sample_id", "depth", "location_id")], as.data.frame(p$sample_locations)[c("sample_id", "depth", "location_id")])
    functions <- p$functions$name[match(p$locations$function_id[frames$location_id], p$functions$function_id)]
    expect_identical(as.character(frames$name)[!is.na(functions)], functions[!is.na(functions)])
    expect_s3_class(frames$name, "factor")
})

test_that("frames of code outside any function have a file and a line", {
    path <- tempfile(fileext = ".Rprof")
    writeLines(c("line profiling: sample.interval=20000", "#File 1: /a/b.R", "#File 2: c.R", '1#3 "f" 2#5 ', "1#7 "), path)
    frames <- as.data.frame(open_profile(path))
    expect_identical(as.character(frames$name), c("f", "c.R:5", "/a/b.R:7"))
    expect_identical(as.character(frames$file), c("/a/b.R", "c.R", "/a/b.R"))
    expect_equal(frames$line, c(3, 5, 7))
})

test_that("names are UTF-8, other bytes are shown as \\xNN", {
    p <- open_profile(rprof('"na\xc3\xafve" ', '"a\xe9b" ', '"\xff" '))
    expect_setequal(p$functions$name, c("na\u00efve", "a\\xe9b", "\\xff"))
    expect_identical(Encoding(p$functions$name[grepl("ve$", p$functions$name)]), "UTF-8")
    expect_true(all(validUTF8(profile_top(p)$name)))
})

test_that("values beyond 2^53 are integer64", {
    skip_if_not_installed("bit64")
    path <- tempfile(fileext = ".folded")
    writeLines(c("a;b 9007199254740993", "a 1"), path)
    p <- open_profile(path)
    expect_s3_class(p$sample_values$value, "integer64")
    expect_identical(as.character(p$sample_values$value), c("9007199254740993", "1"))
    expect_identical(as.character(profile_top(p)$self[1]), "9007199254740993")
})

test_that("empty profiles have empty tables", {
    p <- open_profile(rprof())
    expect_identical(nrow(p$samples), 0L)
    expect_identical(nrow(as.data.frame(p)), 0L)
    expect_identical(nrow(profile_top(p)), 0L)
    expect_identical(nrow(summary(p)$by.self), 0L)
    expect_identical(nrow(read_profile(p)$samples), 0L)
})

test_that("a raw vector is a profile, too", {
    path <- rprof('"f" "g" ')
    raw <- readBin(path, "raw", file.size(path))
    expect_identical(open_profile(raw)$functions, open_profile(path)$functions)
})

test_that("every sample profile of the tests opens and gives all tables and answers", {
    for (name in list.files(test_path("data"))) {
        p <- open_profile(data_file(name))
        for (table in names(p)) expect_identical(nrow(p[[table]]), as.integer(profile_tables(p)$rows[match(table, names(p))]))
        if (nrow(p$sample_values)) expect_gte(nrow(profile_top(p)), 1)
    }
})

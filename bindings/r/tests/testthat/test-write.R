test_that("Rprof comes back byte for byte, through .pcol and archives", {
    for (name in c("all.Rprof", "append.Rprof", "names.Rprof")) {
        path <- data_file(name)
        for (write in c("small", "plain", "archive")) {
            packed <- tempfile(fileext = ".pcol")
            again <- tempfile(fileext = ".Rprof")
            write_profile(path, packed, write = write)
            write_profile(packed, again)
            expect_identical(readBin(again, "raw", 1e6), readBin(path, "raw", 1e6))
        }
    }
})

test_that("losses are warnings, or errors if asked", {
    path <- tempfile(fileext = ".folded")
    expect_warning(expect_warning(write_profile(data_file("memory.Rprof"), path), class = "pcol_warning_loss"), class = "pcol_warning_loss") |>
        suppressWarnings()
    unlink(path)
    expect_error(suppressWarnings(write_profile(data_file("memory.Rprof"), path, fail_on_loss = TRUE)), class = "pcol_e_loss")
    expect_false(file.exists(path))
})

test_that("existing files stay, unknown suffixes are errors", {
    p <- open_profile(rprof('"f" '))
    path <- tempfile(fileext = ".pcol")
    write_profile(p, path)
    size <- file.size(path)
    expect_error(write_profile(p, path), class = "pcol_e_exists")
    expect_identical(file.size(path), size)
    expect_error(write_profile(p, tempfile(fileext = ".xyz")), "no format for the suffix", class = "pcol_e_argument")
    expect_error(write_profile(p, tempfile(), format = "xyz"), class = "pcol_e_not_found")
})

# Profiles of the repository's tests/data, copied here by bindings/r/rules.mk.
data_file <- function(name) {
    path <- testthat::test_path("data", name)
    if (!file.exists(path)) testthat::skip(paste0(name, ", not copied into the package (make r)"))
    path
}
rprof <- function(...) {
    path <- tempfile(fileext = ".Rprof")
    writeLines(c("sample.interval=10000", ...), path, useBytes = TRUE)
    path
}

# Rscript testthat-all.R DIRECTORY - tests of the installed package; skipped ones are lines "skipped: WHAT, WHY", the last line is
# "N passed, N failed"
Sys.setenv(NOT_CRAN = "true")
results <- as.data.frame(testthat::test_dir(commandArgs(TRUE)[1], package = "pcol", load_package = "installed",
                                            reporter = "check", stop_on_failure = FALSE))
for (test in results$result) for (r in test) if (inherits(r, "expectation_skip"))
    cat("skipped: ", r$test, ", ", sub("^Reason: ", "", conditionMessage(r)), "\n", sep = "")
bad <- results$failed > 0 | results$error
cat(sum(!bad & !results$skipped), "passed,", sum(bad), "failed\n")
quit(status = as.integer(any(bad)))

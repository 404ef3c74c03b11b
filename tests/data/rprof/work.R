# Small work for the profiler: text, tables, models. `busy` repeats it until enough CPU time is used.

clean_text <- function(n) {
    words <- paste0(sample(letters, n, TRUE), sample(LETTERS, n, TRUE), sample(100, n, TRUE))
    words <- gsub("[aeiou]", "*", words)
    parts <- strsplit(words, "")
    vapply(parts, function(p) paste(rev(p), collapse = ""), "")
}

group_means <- function(n) {
    d <- data.frame(g = sample(20, n, TRUE), x = rnorm(n), y = runif(n))
    a <- aggregate(cbind(x, y) ~ g, data = d, FUN = mean)
    a[order(-a$x), ]
}

fit_lines <- function(n) {
    d <- data.frame(x = rnorm(n), z = runif(n))
    d$y <- 2 * d$x + d$z + rnorm(n)
    m <- lm(y ~ x + z, data = d)
    sum(residuals(m)^2)
}

fib <- function(n) if (n < 2) n else fib(n - 1) + fib(n - 2)

busy <- function(seconds) {
    end <- proc.time()[["user.self"]] + seconds
    while (proc.time()[["user.self"]] < end) {
        clean_text(1500)
        group_means(4000)
        fit_lines(3000)
        fib(14)
    }
}

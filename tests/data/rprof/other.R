# A second source file, for the segment that is appended.

sort_matrix <- function(n) {
    m <- matrix(rnorm(n * n), n)
    m <- m[order(m[, 1]), ]
    apply(m, 2, function(column) sum(sort(column)))
}

invert <- function(n) {
    m <- crossprod(matrix(rnorm(n * n), n)) + diag(n)
    solve(m)
}

other <- function(seconds) {
    end <- proc.time()[["user.self"]] + seconds
    while (proc.time()[["user.self"]] < end) {
        sort_matrix(200)
        invert(120)
    }
}

# Code outside any function: source() with references gives samples that hold a line and no frame of ours.
total <- 0
for (i in 1:2500000) {
    total <- total + i %% 7
}
x <- sort(runif(400000))
square <- function(v) {
    v * v
}
for (i in 1:60) {
    y <- square(x)
    x <- rev(y)
}
words <- sprintf("%06d", 1:150000)
pairs <- paste(words, rev(words))

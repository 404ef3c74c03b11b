# A little analysis of made-up orders: build the tables, clean them, join, summarise, model, report.

regions <- c("north", "south", "east", "west", "centre")

make_orders <- function(n) {
    data.frame(
        id = seq_len(n),
        customer = sample(n %/% 8, n, replace = TRUE),
        region = sample(regions, n, replace = TRUE),
        day = as.Date("2026-01-01") + sample(300, n, replace = TRUE),
        units = rpois(n, 4) + 1L,
        note = make_notes(n)
    )
}

make_notes <- function(n) {
    first <- sample(c("Urgent", "normal", " gift ", "RETURN?", "n/a"), n, replace = TRUE)
    paste0(first, " #", sprintf("%05d", sample(99999, n, replace = TRUE)))
}

make_customers <- function(n) {
    data.frame(
        customer = seq_len(n),
        age = pmin(90, pmax(18, round(rnorm(n, 45, 15)))),
        segment = sample(c("home", "office", "school"), n, replace = TRUE)
    )
}

clean_notes <- function(notes) {
    notes <- trimws(tolower(notes))
    notes <- gsub("[^a-z0-9# ]", "", notes)
    code <- sub(".*#([0-9]+).*", "\\1", notes)
    word <- vapply(strsplit(notes, " "), function(parts) parts[[1]], "")
    list(word = word, code = as.integer(code))
}

add_prices <- function(orders) {
    base <- c(north = 10, south = 9, east = 11, west = 12, centre = 8)
    season <- 1 + 0.2 * sin(as.numeric(format(orders$day, "%j")) / 365 * 2 * pi)
    orders$price <- base[orders$region] * season * exp(rnorm(nrow(orders), 0, 0.1))
    orders$revenue <- orders$price * orders$units
    orders
}

summarise <- function(orders) {
    by_month <- aggregate(revenue ~ region + format(day, "%m"), data = orders, FUN = sum)
    by_word <- tapply(orders$revenue, orders$word, mean)
    wide <- reshape(by_month, direction = "wide", idvar = "region", timevar = names(by_month)[2])
    list(month = by_month, word = by_word, wide = wide)
}

best_customers <- function(orders, n) {
    total <- sapply(split(orders$revenue, orders$customer), sum)
    head(sort(total, decreasing = TRUE), n)
}

fit_models <- function(orders) {
    linear <- lm(log(revenue) ~ region + segment + age + units, data = orders)
    returned <- glm(I(word == "return") ~ age + units, data = orders, family = binomial())
    smooth <- loess(revenue ~ age, data = orders[seq_len(1500), ])
    list(linear = summary(linear), returned = anova(returned), smooth = predict(smooth))
}

bootstrap <- function(orders, times) {
    one <- function(k) {
        pick <- sample(nrow(orders), 2000, replace = TRUE)
        coef(lm(revenue ~ age + units, data = orders[pick, ]))
    }
    do.call(rbind, lapply(seq_len(times), one))
}

report <- function(parts, top) {
    lines <- character()
    for (name in names(top)) {
        lines <- c(lines, sprintf("%-8s %12.2f", name, top[[name]]))
    }
    c(lines, capture.output(print(parts$wide, digits = 4)))
}

analyse <- function(n) {
    orders <- make_orders(n)
    orders[c("word", "code")] <- clean_notes(orders$note)
    orders <- add_prices(orders)
    orders <- merge(orders, make_customers(n %/% 8), by = "customer")
    parts <- summarise(orders)
    top <- best_customers(orders, 40)
    fit_models(orders)
    bootstrap(orders, 60)
    report(parts, top)
}

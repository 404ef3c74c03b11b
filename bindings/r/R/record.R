# record.R - recording a profile, and showing it in profvis and knitr

profile_run <- function(expr, interval = 0.01, memory = TRUE, gc = TRUE, lines = TRUE, file = NULL, ...) {
    if (!is.numeric(interval) || length(interval) != 1 || is.na(interval) || interval <= 0) # Rprof() ends R
        stop_usage("interval must be one number of seconds above 0", argument = "interval")
    path <- if (is.null(file)) tempfile("pcol-", fileext = ".Rprof") else file
    if (is.null(file)) on.exit(unlink(path), add = TRUE)
    Rprof(path, interval = interval, memory.profiling = memory, gc.profiling = gc, line.profiling = lines, ...)
    on.exit(Rprof(NULL), add = TRUE, after = FALSE)
    value <- force(expr)
    Rprof(NULL)
    x <- open_profile(path, format = "rprof")
    if (is.null(file)) assign("path", NULL, envir = state_of(x))
    attr(x, "value") <- value
    x
}

as_profvis <- function(x, width = NULL, height = NULL, split = "h") {
    need_package("profvis", "as_profvis()")
    need_package("htmlwidgets", "as_profvis()")
    x <- as_profile(x)
    message <- profvis_message(x)
    message$split <- choose(split, c(h = "h", v = "v"), "split")
    htmlwidgets::createWidget("profvis", list(message = message), width = width, height = height, package = "profvis",
        sizingPolicy = htmlwidgets::sizingPolicy(padding = 0, browser.fill = TRUE, viewer.suppress = TRUE,
            knitr.defaultWidth = "100%", knitr.defaultHeight = "600px", knitr.figure = FALSE))
}

# profvis shows at each call the line that makes it, which is the line of the next outer frame, and below the innermost call
# a row of its own with the text of the line that runs.
profvis_message <- function(x) {
    state <- state_of(x)
    frames <- frames_of(x)
    contents <- source_files(unique(frames$file[!is.na(frames$file)]))
    number <- match(frames$file, names(contents))
    number[is.na(frames$line)] <- NA_integer_
    running <- rep(NA_character_, length(number))
    lines <- strsplit(as.character(contents), "\n", fixed = TRUE, useBytes = TRUE)
    at <- replace(frames$line, frames$line < 1, NA)
    for (i in which(!is.na(number))) running[i] <- sub("^ +", "", lines[[number[i]]][at[i]])
    prof <- native("profvis", state$handle, frames$name, running, frames$file, number, suppressWarnings(as.integer(frames$line)),
                   memory_level(state, x), what = state$path)
    attr(prof, "row.names") <- .set_row_names(length(prof$time))
    class(prof) <- "data.frame"
    files <- lapply(names(contents), function(name) {
        list(filename = name, content = contents[[name]], normpath = normalizePath(name, mustWork = FALSE))
    })
    segments <- read_columns(state, "physical", "rprof_segments", "interval_us")
    interval <- if (length(segments$interval_us)) as.double(segments$interval_us[1]) / 1000 else 10
    list(prof = prof, interval = interval, files = files, prof_output = state$path,
         highlight = list(gc = "^<GC>$", stacktrace = "^\\.\\.stacktraceo(n|ff)\\.\\.$"))
}

# MB in vectors at each sample; 0 without memory profiling.
memory_level <- function(state, x) {
    level <- numeric(sample_count(x))
    for (type in c("small_v", "big_v")) {
        values <- values_of_type(state, type)
        if (length(values)) level <- level + values * 8 / 1024^2
    }
    level
}

source_files <- function(paths) {
    paths <- paths[nzchar(paths) & file.exists(paths) & !dir.exists(paths)]
    lapply(setNames(paths, paths), function(path) readChar(path, file.size(path), useBytes = TRUE))
}

knit_print.pcol_profile <- function(x, n = 10, ...) {
    top <- profile_top(x)
    info <- attr(top, "info")
    caption <- paste0(info$type, "/", info$unit, ", total ", format(info$total, big.mark = ","), "; ", nrow(top), " functions")
    table <- knitr::kable(as.data.frame(head(top, n)), digits = 2, caption = caption)
    knitr::asis_output(paste0("\n", paste(table, collapse = "\n"), "\n\n"))
}

knit_print.pcol_summary <- function(x, n = 10, ...) {
    parts <- vapply(intersect(c("by.self", "by.total", "by.line"), names(x)), function(name) {
        paste(knitr::kable(head(x[[name]], n), digits = 2, caption = name), collapse = "\n")
    }, "")
    knitr::asis_output(paste0("\n", paste(parts, collapse = "\n\n"), "\n\n"))
}

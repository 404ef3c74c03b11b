# record.R - recording a profile, and showing it in profvis and knitr

profile_run <- function(expr, interval = 0.01, memory = TRUE, gc = TRUE, lines = TRUE, file = NULL, ...) {
    path <- if (is.null(file)) tempfile("pcol-", fileext = ".Rprof") else file
    if (is.null(file)) on.exit(unlink(path), add = TRUE)
    Rprof(path, interval = interval, memory.profiling = memory, gc.profiling = gc, line.profiling = lines, ...)
    on.exit(Rprof(NULL), add = TRUE, after = FALSE)
    value <- force(expr)
    Rprof(NULL)
    x <- open_profile(path, format = "rprof")
    attr(x, "value") <- value
    x
}

as_profvis <- function(x, width = NULL, height = NULL, split = c("h", "v")) {
    need_package("profvis", "as_profvis()")
    need_package("htmlwidgets", "as_profvis()")
    x <- as_profile(x)
    message <- profvis_message(x)
    message$split <- match.arg(split)
    htmlwidgets::createWidget("profvis", list(message = message), width = width, height = height, package = "profvis",
        sizingPolicy = htmlwidgets::sizingPolicy(padding = 0, browser.fill = TRUE, viewer.suppress = TRUE,
            knitr.defaultWidth = "100%", knitr.defaultHeight = "600px", knitr.figure = FALSE))
}

# profvis shows at each call the line that makes it: that of the next outer frame.
profvis_message <- function(x) {
    state <- state_of(x)
    stacks <- stacks_of(state)
    frames <- frames_of(x)
    data <- as.data.frame(x)
    outer <- c(data$location_id[-1], NA)
    outer[c(data$sample_id[-1] != data$sample_id[-nrow(data)], TRUE)[seq_len(nrow(data))]] <- NA
    line <- frames$line[outer]
    file <- ifelse(is.na(line), NA_character_, frames$file[outer])
    contents <- source_files(unique(file[!is.na(file)]))
    known <- file %in% names(contents)
    alloc <- memory_level(x, length(stacks$stack))
    depths <- lengths(stacks$locations)[stacks$stack[data$sample_id]]
    prof <- data.frame(time = data$sample_id, depth = depths - data$depth + 1L, label = as.character(data$name),
                       filenum = ifelse(known, match(file, names(contents)), NA_integer_),
                       linenum = ifelse(known, line, NA_integer_), memalloc = alloc[data$sample_id],
                       meminc = c(0, diff(alloc))[data$sample_id] * (data$depth == 1L),
                       filename = ifelse(known, file, NA_character_), stringsAsFactors = FALSE)
    files <- lapply(names(contents), function(name) {
        list(filename = name, content = contents[[name]], normpath = normalizePath(name, mustWork = FALSE))
    })
    segments <- read_columns(state, "physical", "rprof_segments", "interval_us")
    interval <- if (length(segments$interval_us)) as.double(segments$interval_us[1]) / 1000 else 10
    list(prof = prof, interval = interval, files = files, prof_output = state$path,
         highlight = list(gc = c("^<GC>$"), stacktrace = c("^\\.\\.stacktraceo(n|ff)\\.\\.$")))
}

# MB in vectors at each sample; 0 without memory profiling.
memory_level <- function(x, samples) {
    level <- numeric(samples)
    values <- x$sample_values
    for (type in c("small_v", "big_v")) {
        rows <- which(values$type == type)
        level[values$sample_id[rows]] <- level[values$sample_id[rows]] + as.double(values$value[rows]) * 8 / 1024^2
    }
    level
}

source_files <- function(paths) {
    paths <- paths[nzchar(paths) & file.exists(paths) & !dir.exists(paths)]
    lapply(setNames(paths, paths), function(path) paste(readLines(path, warn = FALSE), collapse = "\n"))
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

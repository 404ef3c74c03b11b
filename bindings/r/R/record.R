# record.R - recording a profile, and showing it in profvis and knitr

profile_run <- function(expr, interval = 0.01, memory = TRUE, gc = TRUE, lines = TRUE, file = NULL, ...) {
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

# profvis shows at each call the line that makes it, which is the line of the next outer frame, and below the innermost call
# a row of its own with the text of the line that runs.
profvis_message <- function(x) {
    state <- state_of(x)
    stacks <- stacks_of(state)
    frames <- frames_of(x)
    data <- as.data.frame(x)
    data$label <- as.character(data$name)
    rows <- nrow(data)
    ends <- data$sample_id != c(data$sample_id[-1], 0L)[seq_len(rows)]
    outer <- c(data$location_id[-1], NA)[seq_len(rows)]
    outer[ends] <- NA
    contents <- source_files(unique(frames$file[!is.na(frames$file)]))
    alloc <- memory_level(x, length(stacks$stack))
    data$call_line <- frames$line[outer]
    data$call_file <- frames$file[outer]
    data$height <- lengths(stacks$locations)[stacks$stack[data$sample_id]] - data$depth + 1L
    running <- running_lines(data, contents)
    collecting <- data$depth == 1L & data$label %in% "<GC>" & data$sample_id %in% running$sample_id
    data$height[collecting] <- data$height[collecting] + 1L
    if (nrow(running)) {
        data <- rbind(data, running)
        data <- data[order(data$sample_id, -data$height), ]
    }
    known <- !is.na(data$call_line) & data$call_file %in% names(contents)
    first <- !duplicated(data$sample_id)
    prof <- data.frame(time = data$sample_id, depth = data$height, label = data$label,
                       filenum = ifelse(known, match(data$call_file, names(contents)), NA_integer_),
                       linenum = ifelse(known, data$call_line, NA_integer_), memalloc = alloc[data$sample_id],
                       meminc = c(0, diff(alloc))[data$sample_id] * first,
                       filename = ifelse(known, data$call_file, NA_character_), stringsAsFactors = FALSE)
    files <- lapply(names(contents), function(name) {
        list(filename = name, content = paste(contents[[name]], collapse = "\n"),
             normpath = normalizePath(name, mustWork = FALSE))
    })
    segments <- read_columns(state, "physical", "rprof_segments", "interval_us")
    interval <- if (length(segments$interval_us)) as.double(segments$interval_us[1]) / 1000 else 10
    list(prof = prof, interval = interval, files = files, prof_output = state$path,
         highlight = list(gc = "^<GC>$", stacktrace = "^\\.\\.stacktraceo(n|ff)\\.\\.$"))
}

# One row for the innermost call of each sample that is not R's garbage collector, if its source is there.
running_lines <- function(data, contents) {
    candidates <- data[!data$label %in% "<GC>", ]
    candidates <- candidates[!duplicated(candidates$sample_id) & candidates$depth <= 2L, ]
    file <- as.character(candidates$file)
    candidates <- candidates[!is.na(candidates$line) & file %in% names(contents), ]
    candidates$call_line <- candidates$line
    candidates$call_file <- as.character(candidates$file)
    candidates$height <- candidates$height + 1L
    candidates$label <- trimws(mapply(function(file, line) contents[[file]][line], candidates$call_file,
                                      candidates$line, USE.NAMES = FALSE))[seq_len(nrow(candidates))]
    candidates
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
    lapply(setNames(paths, paths), readLines, warn = FALSE)
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

# conditions.R - calls of the native part, and conditions made of its errors and notices

# Each status of the library has a class of its own, and classes of what helps: pcol_error_file, ...
status_classes <- function(status) {
    group <- switch(status,
        E_MAGIC = , E_VERSION = , E_TRUNCATED = , E_CORRUPT = , E_CHECKSUM = , E_UNSUPPORTED = "pcol_error_file",
        E_FORMAT = , E_SYNTAX = "pcol_error_input",
        E_ARGUMENT = , E_STATE = , E_NOT_FOUND = "pcol_error_call",
        "pcol_error_system")
    c(paste0("pcol_", tolower(status)), group, "pcol_error", "error", "condition")
}

raise <- function(error, call, what = NULL) {
    if (error$status == "E_CANCELLED") {
        interrupt <- structure(list(message = "", call = call), class = c("interrupt", "condition"))
        signalCondition(interrupt)
        invokeRestart("abort")
    }
    parts <- c(what, error$place, error$message)
    condition <- c(list(message = paste(parts[nzchar(parts)], collapse = ": "), call = call, path = what), error["status"],
                   error[c("place", "table", "column", "row", "line", "offset")], argument = c(error[["argument"]], NA_character_)[1],
                   reason = error$message)
    stop(structure(condition, class = status_classes(error$status)))
}

stop_usage <- function(..., call = sys.call(sys.parent()), argument = NA_character_) {
    raise(list(status = "E_ARGUMENT", place = "", message = paste0(...), argument = argument), call)
}

# Arguments that must be TRUE or FALSE, as a list.
flags_of <- function(..., call = sys.call(sys.parent())) {
    given <- list(...)
    for (name in names(given)) {
        value <- given[[name]]
        if (!is.logical(value) || length(value) != 1 || is.na(value)) stop_usage(name, " must be TRUE or FALSE", call = call, argument = name)
    }
    given
}

# Exact decimal text, whatever options(digits, scipen, OutDec) are: 100000, not 1e+05.
number_text <- function(values) {
    if (inherits(values, "integer64")) as.character(values) else sprintf("%.17g", as.double(values))
}

# Arguments that must be one string, or NULL if they are not given, as a list of UTF-8.
strings_of <- function(..., call = sys.call(sys.parent())) {
    given <- list(...)
    for (name in names(given)) {
        value <- given[[name]]
        if (is.null(value)) next
        if (!is.character(value) || length(value) != 1 || is.na(value)) stop_usage(name, " must be one string", call = call, argument = name)
        if (Encoding(value) == "bytes") stop_usage(name, " must have an encoding other than bytes", call = call, argument = name)
        given[[name]] <- enc2utf8(value)
    }
    given
}

notice_classes <- c("pcol_warning_input", "pcol_warning_loss", "pcol_warning_target", "pcol_warning_selection")

# The library names members of its structs and flags; arguments here have these names but for the few below.
argument_of <- function(option) {
    name <- switch(option, time_from_ns = "time", PCOL_IMPORT_TRUSTED = "trusted", option)
    if (name %in% c(SELECTION, "format", "lenient", "trusted")) name else NA_character_
}

# Advice, appended to a message.
hint_of <- function(argument) {
    if (is.na(argument)) ""
    else if (argument %in% c("lenient", "trusted")) paste0(" (", argument, " = TRUE permits it)")
    else if (argument == "keep_dropped") " (keep_dropped = TRUE keeps all frames)"
    else paste0(" (argument ", argument, ")")
}

# One call of the native part. `what` precedes messages: the path of a profile.
native <- function(op, ..., what = NULL, call = sys.call(sys.parent())) {
    result <- .Call(rp_call, op, list(...))
    for (i in seq_along(result$notices)) {
        class <- notice_classes[min(result$codes[i], length(notice_classes))]
        argument <- argument_of(result$options[i])
        text <- paste0(paste(c(what, result$notices[i]), collapse = ": "), hint_of(argument))
        warning(structure(list(message = text, call = call, argument = argument),
                          class = c(class, "pcol_warning", "warning", "condition")))
    }
    if (!is.null(result$error)) {
        error <- result$error
        error$argument <- argument_of(error$option)
        if (!is.na(error$argument)) {
            error$message <- if (error$status == "E_ARGUMENT") paste0(error$argument, ": ", error$message)
                             else paste0(error$message, hint_of(error$argument))
        }
        raise(error, call, what)
    }
    result$value
}

has_package <- function(name) requireNamespace(name, quietly = TRUE)

need_package <- function(name, why) {
    if (!has_package(name)) stop_usage(why, " needs the package ", name, "; install.packages(\"", name, "\")", call = sys.call(-2))
}

# A list of columns as a tibble, or as a data frame where tibble is missing.
as_table <- function(columns) {
    rows <- if (length(columns)) length(columns[[1]]) else 0L
    attr(columns, "row.names") <- .set_row_names(rows)
    class(columns) <- if (has_package("tibble")) c("tbl_df", "tbl", "data.frame") else "data.frame"
    columns
}

# data.R - the data models of the package profile: version 1.0 as `profile_data`, version 2.0 as tables with keys

KEYS_V2 <- list(
    primary = list(meta = "key", sources = "source_id", samples = "sample_id", sample_values = c("sample_id", "type", "unit"),
                   sample_locations = c("sample_id", "depth"), locations = "location_id", functions = "function_id"),
    foreign = data.frame(table = c("samples", "sample_values", "sample_locations", "sample_locations", "locations"),
                         column = c("source_id", "sample_id", "sample_id", "location_id", "function_id"),
                         references = c("sources", "samples", "samples", "locations", "functions")))

read_profile <- function(path, version = "1.0", ..., dm = has_package("dm")) {
    version <- choose(version, c("1.0" = 1L, "2.0" = 2L), "version")
    flags_of(dm = dm)
    x <- if (inherits(path, "pcol_profile")) path else open_profile(path, ...)
    if (version == 1L) profile_v1(x) else profile_v2(x, dm)
}

or_else <- function(values, replacement) {
    values[is.na(values)] <- replacement
    values
}

profile_v1 <- function(x) {
    state <- state_of(x)
    tables <- lapply(c(meta = "meta", sample_types = "sample_types", locations = "locations", functions = "functions"),
                     function(name) read_columns(state, "v1", name))
    value <- as.double(read_columns(state, "v1", "samples", "value")$value)
    if (anyNA(value) || any(value < 1 | value > .Machine$integer.max)) {
        raise(list(status = "E_LOSS", place = "table samples, column value",
                   message = "version 1.0 holds values from 1 to 2147483647 only; read version 2.0"), sys.call(sys.parent()), state$path)
    }
    # Version 1.0 has no code outside of functions: its ids number the other locations. Samples without frames are left out.
    inside <- !is.na(x$locations$function_id)
    locations <- native("stacks", state$handle, as.integer(cumsum(inside) * inside), class(as_table(list())), what = state$path)
    if (length(locations) > length(value)) locations <- locations[lengths(locations) > 0]
    stopifnot(length(value) == length(locations))
    functions <- tables$functions
    functions$name <- or_else(functions$name, "<unknown>")
    empty <- is.na(functions$system_name) | functions$system_name == ""
    functions$system_name[empty] <- functions$name[empty]
    functions$filename <- or_else(functions$filename, "")
    functions$start_line <- or_else(functions$start_line, 0L)
    structure(list(meta = as_table(list(key = "version", value = "1.0")), sample_types = as_table(tables$sample_types),
                   samples = as_table(list(value = as.integer(value), locations = locations)),
                   locations = as_table(tables$locations), functions = as_table(functions)), class = "profile_data")
}

profile_v2 <- function(x, dm) {
    names <- names(KEYS_V2$primary)
    tables <- lapply(setNames(names, names), function(name) table_of(x, name))
    if (!dm) return(structure(tables, keys = KEYS_V2, class = "profile_tables"))
    need_package("dm", "dm = TRUE")
    model <- do.call(dm::dm, tables)
    for (name in names) {
        model <- do.call(dm::dm_add_pk, list(model, as.name(name), as.call(lapply(c("c", KEYS_V2$primary[[name]]), as.name))))
    }
    for (i in seq_len(nrow(KEYS_V2$foreign))) {
        model <- do.call(dm::dm_add_fk, c(list(model), lapply(unlist(KEYS_V2$foreign[i, ]), as.name)))
    }
    model
}

print.profile_tables <- function(x, ...) {
    keys <- attr(x, "keys")$primary
    for (name in names(x)) {
        cat(sprintf("%-17s %10s rows  key: %s\n", name, format(nrow(x[[name]]), big.mark = ","),
                    paste(keys[[name]], collapse = ", ")))
    }
    invisible(x)
}

# ---- profile_data as JSON of the format v1, which the library imports

json_text <- function(text) {
    text <- gsub("\\", "\\\\", enc2utf8(as.character(text)), fixed = TRUE)
    text <- gsub("\"", "\\\"", text, fixed = TRUE)
    for (i in grep("[\001-\037]", text)) {
        codes <- utf8ToInt(text[i])
        parts <- ifelse(codes < 32, sprintf("\\u%04x", codes), vapply(codes, intToUtf8, ""))
        text[i] <- paste(parts, collapse = "")
    }
    ifelse(is.na(text), "null", paste0("\"", text, "\""))
}

json_numbers <- function(values) ifelse(is.na(values), "null", number_text(values))

json_rows <- function(table) {
    cells <- lapply(names(table), function(name) {
        values <- table[[name]]
        text <- if (is.list(values)) vapply(values, function(v) paste0("[", paste(json_numbers(v$location_id), collapse = ","), "]"), "")
                else if (is.numeric(values)) json_numbers(values)
                else json_text(values)
        paste0(json_text(name), ":", text)
    })
    rows <- if (length(cells) && length(cells[[1]]) && length(table[[1]])) paste0("{", do.call(paste, c(cells, sep = ",")), "}") else character()
    paste0("[", paste(rows, collapse = ",\n"), "]")
}

profile_from_data <- function(x) {
    columns <- list(meta = c("key", "value"), sample_types = c("type", "unit"), samples = c("value", "locations"),
                    locations = c("location_id", "function_id", "line"),
                    functions = c("function_id", "name", "system_name", "filename", "start_line"))
    for (name in names(columns)) {
        lacking <- setdiff(columns[[name]], names(x[[name]]))
        if (length(lacking)) stop_usage("profile_data without ", name, "$", lacking[1])
    }
    parts <- vapply(names(columns), function(name) {
        paste0(json_text(name), ":", json_rows(unclass(x[[name]])[columns[[name]]]))
    }, "")
    open_profile(charToRaw(enc2utf8(paste0("{", paste(parts, collapse = ",\n"), "}"))), format = "v1")
}

# open.R - profiles and their tables, which are copied when they are first requested

MODEL <- c(v2 = 0L, v1 = 1L, physical = 2L, further = 3L)

open_profile <- function(path, format = NULL, lenient = FALSE, trusted = FALSE) {
    raw <- is.raw(path)
    if (!raw && !(is.character(path) && length(path) == 1 && !is.na(path)))
        stop_usage("path must be one file name or a raw vector")
    name <- if (raw) "<raw>" else enc2utf8(path.expand(path))
    if (!raw && !file.exists(path)) {
        raise(list(status = "E_IO", place = "", message = "file not found"), sys.call(), path)
    }
    options <- c(strings_of(format = format), flags_of(lenient = lenient, trusted = trusted), list(tempdir = tempdir()))
    handle <- native("open", if (raw) path else name, name, options, what = if (!raw) path)
    profile_of(handle, if (!raw) path)
}

# The profile of an external pointer; path: NULL of one in memory.
profile_of <- function(handle, path = NULL) {
    state <- new.env(parent = emptyenv())
    state$handle <- handle
    state$path <- if (!is.null(path)) normalizePath(path)
    v2 <- native("tables", handle, MODEL[["v2"]], what = path)
    further <- native("tables", handle, MODEL[["further"]], what = path)
    further <- setdiff(further, v2)
    state$model <- rep(MODEL[c("v2", "further")], c(length(v2), length(further)))
    names(state$model) <- c(v2, further)
    state$cache <- new.env(parent = emptyenv())
    structure(list(), state = state, class = "pcol_profile")
}

state_of <- function(x) attr(x, "state", exact = TRUE)

check_is_profile <- function(x, call = sys.call(sys.parent())) {
    if (!inherits(x, "pcol_profile")) stop_usage("expected a profile of open_profile(), not ", class(x)[1], call = call)
    x
}

# A path or raw vector where a profile is expected is opened.
as_profile <- function(x) {
    if (inherits(x, "pcol_profile")) x
    else if (is.character(x) || is.raw(x)) open_profile(x)
    else if (inherits(x, "profile_data")) profile_from_data(x)
    else stop_usage("expected a profile of open_profile() or a path, not ", class(x)[1])
}

# The result of `make()`, made once for this profile.
cached <- function(state, key, make) {
    if (is.null(state$cache[[key]])) assign(key, make(), envir = state$cache)
    state$cache[[key]]
}

table_of <- function(x, name, call = sys.call(sys.parent())) {
    state <- state_of(x)
    if (!name %in% names(state$model)) {
        raise(list(status = "E_NOT_FOUND", place = "",
                   message = paste0("no table ", name, "; tables: ", paste(names(state$model), collapse = ", "))),
              call, state$path)
    }
    cached(state, paste0("table ", name), function() {
        columns <- native("table", state$handle, state$model[[name]], name, NULL, has_package("bit64"),
                          what = state$path, call = call)
        names(columns) <- sub("^[.]", "", names(columns))
        as_table(columns)
    })
}

`$.pcol_profile` <- function(x, name) table_of(x, name)

`[[.pcol_profile` <- function(x, i, ...) {
    if (is.numeric(i) && length(i) == 1 && i %in% seq_along(names(x))) i <- names(x)[[i]]
    if (!is.character(i) || length(i) != 1 || is.na(i))
        stop_usage("a table is chosen by its name, or by a number from 1 to ", length(names(x)), argument = "i")
    table_of(x, i)
}

names.pcol_profile <- function(x) names(state_of(x)$model)

# Rows and columns of a table; the rows of some tables are counted.
size_of <- function(state, name, model = state$model[[name]]) native("size", state$handle, model, name, what = state$path)

profile_tables <- function(x) {
    state <- state_of(check_is_profile(x))
    sizes <- vapply(names(x), size_of, c(0, 0), state = state, USE.NAMES = FALSE)
    as_table(list(table = names(x), rows = sizes[1, ], columns = as.integer(sizes[2, ])))
}

print.pcol_profile <- function(x, ...) {
    state <- state_of(x)
    tables <- profile_tables(x)
    cat("<pcol profile> ", if (is.null(state$path)) "(in memory)" else state$path, "\n", sep = "")
    width <- max(nchar(tables$table))
    cat(sprintf("  $%-*s %12s rows, %d columns\n", width, tables$table, format(tables$rows, big.mark = ",", trim = TRUE),
                tables$columns), sep = "")
    cat("profile_top(), profile_tree(), summary(), plot() and as.data.frame() answer questions\n")
    invisible(x)
}

check_profile <- function(x, strict = FALSE) {
    x <- as_profile(x)
    flags_of(strict = strict)
    as_table(native("check", state_of(x)$handle, strict, what = state_of(x)$path))
}

profile_label_keys <- function(x) {
    x <- as_profile(x)
    native("label_keys", state_of(x)$handle, what = state_of(x)$path)
}

profile_formats <- function() as_table(native("formats"))

sample_count <- function(x) size_of(state_of(x), "samples")[1]

# Values of a sample type at each sample, without its zeros and missing values; NULL where the profile has no such type.
values_of_type <- function(state, type) {
    row <- match(type, read_columns(state, "physical", "sample_types", "type")$type)
    if (is.na(row)) return(NULL)
    column <- paste0("value.", row - 1L)
    values <- as.double(read_columns(state, "physical", "samples", column)[[column]])
    values[is.na(values)] <- 0
    values
}

# Columns of a table of a model, NULL where the file has no such table.
read_columns <- function(state, model, table, columns = NULL) {
    tryCatch(native("table", state$handle, MODEL[[model]], table, columns, has_package("bit64"), what = state$path),
             pcol_e_not_found = function(e) NULL)
}

# The texts of every location: name, function, file and line.
frames_of <- function(x) {
    state <- state_of(x)
    cached(state, "frames", function() {
        locations <- x$locations
        functions <- x$functions
        row <- match(locations$function_id, functions$function_id)
        file <- functions$filename[row]
        own <- locations[["filename"]] # of code outside any function
        if (!is.null(own)) file[is.na(row)] <- own[is.na(row)]
        list(name = native("names", state$handle, what = state$path), fun = functions$name[row], file = file, line = locations$line)
    })
}

factor_of <- function(values, index) {
    levels <- unique(values[!is.na(values)])
    structure(match(values, levels)[index], levels = levels, class = "factor")
}

as.data.frame.pcol_profile <- function(x, row.names = NULL, optional = FALSE, ...) {
    state <- state_of(x)
    frames <- frames_of(x)
    rows <- native("frames", state$handle, what = state$path)
    location <- rows$location_id
    columns <- list(sample_id = rows$sample_id, depth = rows$depth, name = factor_of(frames$name, location),
                    file = factor_of(frames$file, location), line = frames$line[location], location_id = location)
    structure(columns, class = "data.frame", row.names = if (is.null(row.names)) .set_row_names(length(location)) else row.names)
}

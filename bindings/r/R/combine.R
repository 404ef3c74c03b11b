# combine.R - profiles made of others: merge, filter, frames of labels, symbols of addresses

build_options <- function(...) list(tempdir = tempdir(), ...)

# Arguments that are profiles, paths, or lists of these.
profiles_of <- function(...) {
    given <- list(...)
    flat <- list()
    for (x in given) {
        if (inherits(x, c("pcol_profile", "profile_data")) || is.raw(x)) flat <- c(flat, list(x))
        else if (is.list(x) || is.character(x)) flat <- c(flat, as.list(x))
        else flat <- c(flat, list(x))
    }
    lapply(flat, as_profile)
}

profile_merge <- function(..., sums = NULL, rebase = FALSE, trusted = FALSE) {
    flags <- flags_of(rebase = rebase, trusted = trusted)
    profiles <- profiles_of(...)
    if (!length(profiles)) stop_usage("profile_merge() needs at least one profile")
    if (isTRUE(sums)) sums <- character()
    if (identical(sums, FALSE)) sums <- NULL
    if (!is.null(sums) && (!is.character(sums) || anyNA(sums))) stop_usage("sums must be TRUE or keys of labels and metadata")
    profile_of(native("merge", lapply(profiles, function(x) state_of(x)$handle), sums,
                             do.call(build_options, flags)))
}

profile_filter <- function(x, ..., drop_labels = FALSE, anonymize = FALSE) {
    x <- as_profile(x)
    flags_of(anonymize = anonymize)
    if (!is.character(drop_labels) && !isTRUE(drop_labels) && !isFALSE(drop_labels) || anyNA(drop_labels))
        stop_usage("drop_labels must be TRUE, FALSE or keys of labels", argument = "drop_labels")
    keys <- if (is.character(drop_labels)) drop_labels else character()
    profile_of(native("filter", state_of(x)$handle, selection_of(...), isTRUE(drop_labels), keys, anonymize,
                             build_options(), what = state_of(x)$path))
}

profile_add_frames <- function(x, root = NULL, leaf = NULL, keep_dropped = FALSE) {
    x <- as_profile(x)
    for (frames in list(root, leaf)) {
        if (!is.null(frames) && (!is.character(frames) || anyNA(frames)))
            stop_usage("root and leaf must be \"label:KEY\", \"thread\", \"process\", \"source\" or \"mapping\"")
    }
    flags_of(keep_dropped = keep_dropped)
    if (!length(c(root, leaf))) stop_usage("root or leaf is needed")
    profile_of(native("add_frames", state_of(x)$handle, as.character(root), as.character(leaf), keep_dropped,
                             build_options(), what = state_of(x)$path))
}

profile_addresses <- function(x) {
    x <- as_profile(x)
    found <- native("addresses", state_of(x)$handle, what = state_of(x)$path)
    as_table(found[c("mapping", "build_id", "address", "offset")])
}

profile_symbolize <- function(x, symbols) {
    x <- as_profile(x)
    state <- state_of(x)
    lacking <- setdiff(c("row", "name"), names(symbols))
    if (!is.data.frame(symbols) || length(lacking)) stop_usage("symbols must be a data frame with the columns row and name")
    found <- native("addresses", state$handle, what = state$path)
    rows <- symbols$row
    if (!is.numeric(rows) || anyNA(rows) || any(rows < 1 | rows > length(found$group) | rows != trunc(rows)))
        stop_usage("symbols$row must be rows of profile_addresses(), from 1 to ", length(found$group))
    if (anyNA(symbols$name)) stop_usage("symbols$name must not be NA")
    symbols <- as.data.frame(symbols)[order(rows), , drop = FALSE]
    column <- function(name, none) if (is.null(symbols[[name]])) rep(none, nrow(symbols)) else symbols[[name]]
    file <- as.character(column("file", NA_character_))
    given <- column("line", NA_integer_)
    line <- suppressWarnings(as.double(as.character(given)))
    if (any(is.na(line) & !is.na(given)) || any(line < 0 | line > .Machine$integer.max | line != trunc(line), na.rm = TRUE))
        stop_usage("symbols$line must be whole numbers from 0 to ", .Machine$integer.max, ", or NA")
    line <- as.integer(line)
    tables <- native("tables", state$handle, MODEL[["physical"]], what = state$path)
    row_count <- function(name) if (name %in% tables) size_of(state, name, MODEL[["physical"]])[1] else 0
    counts <- integer(row_count("location_groups"))
    of_group <- table(factor(found$group[symbols$row], levels = found$group))
    counts[found$group + 1L] <- as.integer(of_group)
    # Mappings declare what is known of them: functions 1, files 2, lines 4, inlined calls 8.
    flags <- integer(row_count("mappings"))
    known <- 1L + 2L * !is.na(file) + 12L * !is.na(line)
    of_mapping <- found$mapping_row[symbols$row] + 1L
    for (i in which(!is.na(of_mapping))) flags[of_mapping[i]] <- bitwOr(flags[of_mapping[i]], known[i])
    profile_of(native("symbolize", state$handle, counts, enc2utf8(as.character(symbols$name)), enc2utf8(file), line, flags,
                             build_options(), what = state$path))
}

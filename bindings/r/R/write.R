# write.R - profiles in every format that pcol writes

COMPRESS <- c(auto = 0L, none = 1L, gzip = 2L)
WRITE <- c(small = 0L, plain = 1L, archive = 4L)

# The format that writes the longest suffix of a path.
format_of_path <- function(path) {
    formats <- native("formats")
    formats$suffixes[formats$format == "pcol"] <- ".pcol"
    usable <- formats$writes | formats$format == "pcol"
    name <- tolower(sub("[.]gz$", "", basename(path), ignore.case = TRUE))
    best <- c(suffix = "", format = NA)
    for (i in which(usable)) {
        for (suffix in strsplit(formats$suffixes[i], " ", fixed = TRUE)[[1]]) {
            if (endsWith(name, tolower(suffix)) && nchar(suffix) > nchar(best[["suffix"]])) best <- c(suffix = suffix, format = formats$format[i])
        }
    }
    if (is.na(best[["format"]])) {
        stop_usage("no format for the suffix of ", basename(path), "; set format to one of ",
                   paste(formats$format[usable], collapse = ", "), call = sys.call(sys.parent()))
    }
    best[["format"]]
}

write_profile <- function(x, path, format = NULL, overwrite = FALSE, compress = "auto", sample_type = NULL, write = "small",
                          keep_dropped = FALSE, fail_on_loss = FALSE) {
    x <- as_profile(x)
    if (!is.character(path) || length(path) != 1 || is.na(path)) stop_usage("path must be one file name")
    options <- c(strings_of(sample_type = sample_type), flags_of(keep_dropped = keep_dropped, fail_on_loss = fail_on_loss))
    flags_of(overwrite = overwrite)
    format <- if (is.null(format)) format_of_path(path) else strings_of(format = format)$format
    compression <- choose(compress, COMPRESS, "compress")
    flags <- choose(write, WRITE, "write")
    if (format != "pcol" && flags != 0L) stop_usage("write is how a pcol file is written, not ", format, argument = "write")
    given <- c(sample_type = !is.null(sample_type), compress = compression == 2L, keep_dropped = keep_dropped)
    if (format == "pcol" && any(given))
        stop_usage(names(which(given))[1], " does not go with a pcol file, which has the whole profile; see profile_filter()",
                   argument = names(which(given))[1])
    if (format == "pcol" && grepl("[.]gz$", path, ignore.case = TRUE))
        stop_usage("pcol files are not compressed with gzip; write = \"archive\" makes a small file", argument = "path")
    if (compression == 0L && grepl("[.]gz$", path, ignore.case = TRUE)) compression <- 2L
    options <- c(options, list(compress = compression, write_flags = flags, tempdir = tempdir()))
    native("export", state_of(x)$handle, format, enc2utf8(path.expand(path)), overwrite, options, what = path)
    invisible(path)
}

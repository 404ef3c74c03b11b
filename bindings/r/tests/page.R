# Rscript page.R PAGE DATA PICTURE [--update] - are the sessions on a page (docs/r.md) what R prints?
#
# An indented block that begins with "    > " is a session: commands, and after each what it prints. All blocks run in order, in a
# copy of DATA. --update writes the present output. The last line is "N passed, N failed". PICTURE (docs/flame.svg, which
# tests/docs/pages/run --update writes) is what the page's call of profile_flame() writes as flame.svg.
arguments <- commandArgs(TRUE)
page <- normalizePath(arguments[1])
picture <- file.path(normalizePath(dirname(arguments[3])), basename(arguments[3]))
update <- "--update" %in% arguments
work <- tempfile()
dir.create(work)
invisible(file.copy(list.files(arguments[2], full.names = TRUE), work))
text <- readLines(page)
setwd(work)
options(width = 100, cli.unicode = FALSE, pillar.advice = FALSE)

session <- grepl("^    [>+] ", text)
indented <- grepl("^    ", text)
counts <- c(passed = 0, failed = 0)
present <- character()

# The output of R for a command, errors included.
printed <- function(command) {
    tryCatch(utils::capture.output(for (e in parse(text = command)) {
        shown <- withVisible(eval(e, globalenv()))
        if (shown$visible) print(shown$value)
    }), error = function(e) paste0("Error in ", paste(deparse(conditionCall(e)), collapse = " "), " : ", conditionMessage(e)))
}

line <- 1
while (line <= length(text)) {
    if (!session[line]) {
        present <- c(present, text[line])
        line <- line + 1
        next
    }
    last <- line
    while (last < length(text) && grepl("^    [+] ", text[last + 1])) last <- last + 1
    command <- sub("^    [>+] ", "", text[line:last])
    end <- last
    while (end < length(text) && indented[end + 1] && !session[end + 1]) end <- end + 1
    now <- sub(" +$", "", paste0("    ", printed(command), recycle0 = TRUE))
    same <- identical(now, text[seq_len(end - last) + last])
    counts[if (same) "passed" else "failed"] <- counts[if (same) "passed" else "failed"] + 1
    if (!same && !update) cat("failed: ", basename(page), ":", line, ": another output:\n", paste0(now, "\n"), sep = "")
    present <- c(present, text[line:last], now)
    line <- end + 1
}
drawn <- file.path(work, "flame.svg")
same <- file.exists(picture) && identical(readLines(picture), readLines(drawn))
if (update) writeLines(present, page)
counts[if (same) "passed" else "failed"] <- counts[if (same) "passed" else "failed"] + 1
if (!same) cat("failed: ", picture, " is another picture\n", sep = "")
cat(counts["passed"], "passed,", counts["failed"], "failed\n")
quit(status = as.integer(counts["failed"] > 0 && !update))

test_that("labels are selected by values, patterns, their negations and ranges", {
    p <- open_profile(data_file("cpu.pb.gz"))
    kinds <- as.character(p$samples[["label.kind"]])
    whole <- sum(profile_top(p)$self)
    known <- setdiff(unique(kinds), NA)
    expect_gt(length(known), 1)
    for (kind in known) {
        equal <- sum(profile_top(p, labels = paste0("kind=", kind))$self)
        expect_gt(equal, 0)
        expect_equal(sum(profile_top(p, labels = paste0("kind~^", kind, "$"))$self), equal)
        expect_equal(sum(profile_top(p, labels = paste0("kind!=", kind))$self), whole - equal)
        expect_equal(sum(profile_top(p, labels = c(paste0("kind!=", kind), paste0("kind!~^", kind)))$self), whole - equal)
    }
})

test_that("profile_label_keys() lists what labels and by = \"label\" take", {
    p <- open_profile(data_file("cpu.pb.gz"))
    expect_identical(profile_label_keys(p), c("kind", "none", "request"))
    expect_equal(sum(profile_top(p, by = "label", label = "kind")$self), sum(profile_top(p)$self))
    expect_identical(profile_label_keys(data_file("demo.Rprof")), character())
    expect_error(profile_label_keys(5))
})

test_that("conditions must be strings, and sources must have the metadata", {
    p <- open_profile(data_file("cpu.pb.gz"))
    expect_error(profile_top(p, labels = 5), "labels must be strings")
    expect_error(profile_top(p, source_metas = NA_character_), "source_metas must be strings")
    expect_error(profile_top(p, source_metas = "no such key=1"), class = "pcol_e_argument")
})

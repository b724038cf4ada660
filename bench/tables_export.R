# Writes data sets of R's packages as CSV files for bench/tables.
#
# usage: Rscript bench/tables_export.R FOLDER [GROUP]
#
# GROUP is test (default: the data sets of the table) or dev (other data sets, by which the default
# settings were chosen). Each file has a header, the label is the last column, a missing value is an
# empty field. Identifiers of rows are left out. Needs `scripts/setup tables`.

from <- function(package, name) {
    scope <- new.env()
    data(list = name, package = package, envir = scope)
    as.data.frame(scope[[name]])
}

# The data frame with its label last, without the columns in `drop`.
labeled <- function(package, name, label, drop = character()) {
    table <- from(package, name)
    inputs <- table[setdiff(names(table), c(label, drop))]
    answer <- do.call(paste, c(lapply(label, function(column) as.character(table[[column]])), sep = ":"))
    answer[!stats::complete.cases(table[label])] <- NA
    cbind(inputs, label = answer)[!is.na(answer), ]
}

# Every k-th row of each class, so that about n rows remain.
thinned <- function(table, n) {
    place <- stats::ave(seq_len(nrow(table)), table$label, FUN = seq_along)
    table[place %% (nrow(table) %/% n) == 1, ]
}

# Without the classes of fewer than n rows.
frequent <- function(table, n) table[table$label %in% names(which(table(table$label) >= n)), ]

test <- list(
    sonar = function() labeled("mlbench", "Sonar", "Class"),
    vehicle = function() labeled("mlbench", "Vehicle", "Class"),
    satellite = function() labeled("mlbench", "Satellite", "classes"),
    soybean = function() labeled("mlbench", "Soybean", "Class"),
    letter = function() thinned(labeled("mlbench", "LetterRecognition", "lettr"), 5000),
    spam = function() labeled("kernlab", "spam", "type"),
    biopsy = function() labeled("MASS", "biopsy", "class", "ID"),
    attrition = function() labeled("modeldata", "attrition", "Attrition"),
    credit = function() labeled("modeldata", "credit_data", "Status"),
    penguins = function() labeled("modeldata", "penguins", "species"),
    scat = function() labeled("modeldata", "scat", "Species")
)

dev <- list(
    ionosphere = function() labeled("mlbench", "Ionosphere", "Class"),
    pima = function() labeled("mlbench", "PimaIndiansDiabetes2", "diabetes"),
    vowel = function() labeled("mlbench", "Vowel", "Class"),
    glass = function() labeled("mlbench", "Glass", "Type"),
    zoo = function() labeled("mlbench", "Zoo", "type"),
    votes = function() labeled("mlbench", "HouseVotes84", "Class"),
    dna = function() labeled("mlbench", "DNA", "Class"),
    crabs = function() labeled("MASS", "crabs", c("sp", "sex"), "index"),
    musk = function() labeled("kernlab", "musk", "Class"),
    promoters = function() labeled("kernlab", "promotergene", "Class"),
    churn = function() labeled("modeldata", "mlc_churn", "churn"),
    hpc = function() labeled("modeldata", "hpc_data", "class"),
    cells = function() labeled("modeldata", "cells", "class", "case"),
    alzheimer = function() labeled("modeldata", "ad_data", "Class"),
    stackoverflow = function() labeled("modeldata", "stackoverflow", "Remote"),
    stagec = function() labeled("rpart", "stagec", "pgstat", "pgtime"),
    survey = function() labeled("MASS", "survey", "Sex"),
    income = function() thinned(labeled("kernlab", "income", "INCOME"), 3000),
    oils = function() labeled("modeldata", "oils", "class"),
    parabolic = function() labeled("modeldata", "parabolic", "class"),
    wa_churn = function() labeled("modeldata", "wa_churn", "churn"),
    ames = function() frequent(labeled("modeldata", "ames", "Neighborhood", c("Longitude", "Latitude")), 20)
)

arguments <- commandArgs(trailingOnly = TRUE)
group <- if (length(arguments) > 1) arguments[2] else "test"
if (length(arguments) < 1 || !group %in% c("test", "dev"))
    stop("usage: Rscript bench/tables_export.R FOLDER [test|dev]", call. = FALSE)
sets <- list(test = test, dev = dev)[[group]]
dir.create(arguments[1], recursive = TRUE, showWarnings = FALSE)
for (name in names(sets))
    write.csv(sets[[name]](), file.path(arguments[1], paste0(name, ".csv")), na = "", row.names = FALSE)

# Trains on iris.csv and prints the species of the flowers in new.csv, in R.
#
#   enhope examples .
#   PKG_CFLAGS=$(pkg-config --cflags enhope) PKG_LIBS=$(pkg-config --libs enhope) R CMD SHLIB iris_r.c
#   Rscript iris.R
dyn.load("iris_r.so")
most <- 64L
result <- .C("iris_classify", train = "iris.csv", new = "new.csv", name = character(most), n = most, message = "")
if (nzchar(result$message)) stop(result$message)
writeLines(result$name[seq_len(result$n)])

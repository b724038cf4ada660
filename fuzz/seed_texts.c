/* The seeds that are texts: tables, settings, requests, descriptions. */
#include "seeds.h"

const char seed_table[] = "size,color,day,fit,species\n1.5,red,2024-01-31,yes,a\n2.25,green,2023-07-02,no,b\n"
                          ",blue,2024-02-29,yes,a\n4.5,red,,no,b\n3.125,green,2022-12-31,yes,a\n"
                          "2.5,\"blue, dark\",2024-05-06,no,b\n1.75,red,2021-03-04,yes,a\n-2,green,2020-10-11,,b\n";

#define SEED(target, name, text)             \
    {                                        \
        target, name, text, sizeof(text) - 1 \
    }
const seed seed_text[] = {
    SEED("csv", "types",
         "\xf0\nsize,color,day,fit,species\n1.5,red,2024-01-31,yes,a\n2.25,green,2023-07-02,no,b\n"
         ",blue,2024-02-29,yes,a\n4.5,red,,no,b\n3.125,green,2022-12-31,yes,a\n"),
    SEED("csv", "options",
         "\x50label=3|header=no|id=1|categorical=2|missing=drop|skip\n7,1,a\n8,2,b\n9,1,a\nbad\n10,,b\n"),
    SEED("csv", "named",
         "\x40label=y|ignore=b,\"c, d\"|weight=w|keep=a\na,b,\"c, d\",w,y\n1,2,3,0.5,x\n4,5,6,1,z\n7,8,9,2,x\n"),
    SEED("csv", "decimal-comma", "\x20|decimal=,|delimiter=;\na;b;label\n1,5;2,25;x\n3,75;4;y\n\"6,5\";7;x\n"),
    SEED("csv", "tabs", "\x31\na\tb\ty\n1\t2\tn\n3\t4\tm\n5\t6\tn\n"),
    SEED("csv", "packed", "\x64\n1,2,0\n3,4,1\n5,6,0\n"),
    SEED("csv", "labels", "\x18\nb\na\nb\n"),
    SEED("csv", "percent", "\x20label=none\n12%,31.12.2020,1e-3\n7.5%,01.02.2021,2\n50%,15.06.1999,3\n"),
    SEED("csv", "classes",
         "\x40"
         "classes=0,cat\n1,dog\n2.5,0\n3.5,1\n4,0\n"),
    SEED("reader", "table", "\1\7\0size,color,day,fit\n1,red,2024-02-03,yes\n2.5,pink,,no\n,green,2020-01-01,\n"),
    SEED("reader", "class",
         "\1\3\1size,color,day,fit,class\n1,red,2024-02-03,yes,a\n2.5,\"blue, dark\",2021-12-31,no,b\n"),
    SEED("reader", "order", "\5\2\0fit,day,color,size\nyes,2024-02-03,red,1\nbad\nno,2024-02-03,\"re\nd\",2\n"),
    SEED("reader", "objects",
         "\0\5\0{\"size\": 1.5, \"color\": \"red\", \"day\": \"2024-01-31\", \"fit\": true}\n"
         "{\"fit\": null, \"size\": \"3\", \"color\": \"b\\u00e4\", \"day\": null, \"x\": [1, {}]}\n"),
    SEED("reader", "arrays", "\0\5\0[1.5, \"red\", \"2024-01-31\", true]\n[2, null, null, false]\n"),
    SEED("libsvm", "plain",
         "\xf0"
         "1 1:0.5 3:2\n-1 2:1e-3\n1\n-1 1:3 2:4 3:5 # comment\n"),
    SEED("libsvm", "qid", "\x21+1 qid:3 1:1 7:2\n2 qid:4 2:3\n"),
    SEED("settings", "all",
         "recipe=best\nmethod=en-hope\nn_factors=800\nhidden_layer_sizes=500-500-2000\nclass_weight=a=2,\"b,c\"=0.5\n"
         "learning_rate=1e-3\nsimilarity=gaussian\nsolver=cg\nrate=0.1\nn_exemplars=20\nrandom_state=7\n"),
    SEED("settings", "bounds",
         "n_epochs=0\nbatch_size=1073741824\ndropout=0.95\norder=17\ndof=3\nclass_weight=balanced\n"),
    SEED("request", "plain",
         "{\"id\": \"7\", \"inputs\": [{\"name\": \"input\", \"shape\": [1, 3], \"datatype\": \"FP32\", "
         "\"data\": [5.1, 3.5, 1.4]}], \"outputs\": [{\"name\": \"label\"}]}"),
    SEED("request", "nested",
         "{\"inputs\":[{\"name\":\"a\",\"shape\":[2,2],\"datatype\":\"FP64\",\"data\":[[1,null],[-2.5e-3,4]]},"
         "{\"name\":\"b\",\"datatype\":\"BYTES\",\"data\":[null,\"x\\u00e4\\ud83d\\ude00\"]},"
         "{\"name\":\"c\",\"datatype\":\"BOOL\",\"data\":[true,false]}],\"parameters\":{\"k\":[1,{}]},"
         "\"outputs\":[{\"name\":\"probabilities\"},{\"name\":\"embedding\",\"parameters\":{}}]}"),
    SEED("request", "binary",
         "#\n{\"inputs\":[{\"name\":\"a\",\"shape\":[1,2],\"datatype\":\"FP32\",\"parameters\":{\"binary_data_size\":8}"
         "},"
         "{\"name\":\"b\",\"datatype\":\"BYTES\",\"parameters\":{\"binary_data_size\":7}}],\"parameters\":{"
         "\"binary_data_output\":true}}\0\0\0\x80\x3f\0\0\x20\x41\3\0\0\0c\xc3\xa4"),
    SEED("request", "header", "#2\n{}abc"),
    SEED("texts", "split",
         "\0"
         "9@5"),
    SEED("texts", "split-fraction",
         "\0"
         "0.75@12"),
    SEED("texts", "number", "\1-12.5e-3"),
    SEED("texts", "date",
         "\2"
         "2024-02-29T23:59:59.5+02:00"),
    SEED("texts", "date-day",
         "\2"
         "31.12.2020"),
    SEED("texts", "utf8",
         "\3"
         "a\xc3\xa4\xf0\x9f\x98\x80\xff\x1b[0m"),
    SEED("texts", "synthetic",
         "\4"
         "blobs,n=9,classes=3,inputs=4,spread=2,seed=7"),
    SEED("texts", "columns",
         "\5"
         "a,\"b, c\",3,\"d\"\"e\",4"),
    SEED("texts", "json", "\6{\"a\": [1, -2.5e3, true, null, \"x\\n\"], \"b\": {}}"),
    SEED("encoding", "types",
         "{\"named\": true, \"label\": \"species\", \"label_place\": 5, \"columns\": ["
         "{\"name\": \"age\", \"type\": \"number\", \"fill\": 29.5, \"missing\": true, \"offset\": 3},"
         "{\"name\": \"color\", \"type\": \"category\", \"categories\": [\"red\", \"blue\", \"1\"], \"other\": true},"
         "{\"name\": \"day\", \"type\": \"date\", \"fill\": 19782, \"offset\": 19782, \"time\": true},"
         "{\"name\": \"member\", \"type\": \"boolean\", \"fill\": 1},"
         "{\"name\": \"rate\", \"type\": \"number\", \"form\": \"percent\", \"constant\": true}]}"
         "\0"
         "1.5\n\nred\n1.0\n19000.25\n\n1\n0\n47\n\n"),
    SEED("encoding", "unnamed",
         "{\"columns\": [{\"name\": \"column 1\", \"type\": \"number\"}, {\"name\": \"column 2\", \"type\": "
         "\"number\"}]}"
         "\0"
         "1\n2\n3\n4\n"),
    SEED("figure", "svg",
         "\x0c\x09\x50\x50\x02"
         "A title <&>\nserif\ncat\ndog \"x\"\nb\x1b[0m\n"
         "\x0a"
         "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
    SEED("figure", "pdf",
         "\x1d\xfb\x50\x50\x02"
         "A title (\\)\n\nc\xc3\xa4t\nd(o)g\nb\xff\n"
         "\x0a"
         "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
    SEED("figure", "png",
         "\xe6\xfa\x50\x50\x03"
         "\n\n1\n2\n3\n4\n5\n"
         "\x0a"
         "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
    SEED("train", "defaults",
         "n_factors=5\nn_hidden=4\nn_epochs=2\nbatch_size=10\n\n\x05\0abcdefghijklmnopqrstuvwxyz0123456789"
         "abcdefghijklmnopqrstuvwxyz0123456789"),
    SEED("train", "large",
         "method=mcml\nsolver=lbfgs\n\n\x13\2abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
    SEED("train", "eigen", "method=lpp\ngraph_k=3\n\n\x07\7zyxwvutsrqponmlkjihgfedcbaZYXWVUTSRQPONMLKJIHGFEDCBA987654"),
    SEED("train", "tuples",
         "method=lmnn\nlmnn_k=2\nsolver=cg\n\n\x09\5Zzyxwvutsrqponmlkjihgfedcba9YXWVUTSRQPONMLKJIHGFED"),
    SEED("train", "perplexity",
         "method=pt-sne\nperplexity=3\nhidden_layer_sizes=4-"
         "3\n\n\x03\0zyxwvutsrqponmlkjihgfedcbaZYXWVUTSRQPONMLKJIHGFE"),
};
const size_t seed_texts = sizeof seed_text / sizeof *seed_text;

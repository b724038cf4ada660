/* The sink that writes shards. Internal to src/data. */
#ifndef EH_SHARD_WRITER_H
#define EH_SHARD_WRITER_H

#include <zlib.h>

#include "data/shards.h"

/* One file of a shard while it is written. */
typedef struct eh_shard_file {
    int fd; /* -1: not open */
    char path[EH_PATH];
    int64_t bytes; /* after the header */
    uLong crc;     /* of these */
} eh_shard_file;

typedef struct eh_shard_writer {
    eh_sink sink; /* first: the sink is the writer */
    const char *folder;
    const char *source;         /* for messages about its rows */
    const enhope_dataset *data; /* names of the inputs, likewise */
    int64_t seen;               /* rows that came, wanted or not */
    eh_shards to;
    eh_shard shard; /* the one being written; rows 0: none */
    bool writing;   /* its files exist and are not yet in the list */
    eh_shard_file file[EH_ARRAYS];
    bool begun; /* the kind and whether there are labels are known */
    bool labelled;
    int64_t shard_rows, shard_bytes; /* of a shard: so many rows, or, if that is 0, bytes */
    int64_t limit;                   /* rows in all; 0: any number */
    enhope_conversion at;
    double start, share_start; /* when, and at which share of the source, rows began to be written */
    enhope_conversion_fn progress;
    void *user;
} eh_shard_writer;

/* folder and source must outlive the writer; limits, progress and what is resumed are set by the caller. */
void eh_shard_writer_open(eh_shard_writer *w, const char *folder, const char *source);
/* Completes the shard that is being written, if any: its files are on disk, then the partial list. */
enhope_status eh_shard_writer_flush(enhope_context *ctx, eh_shard_writer *w);
/* Removes the files of a shard that is not complete and frees the list. */
void eh_shard_writer_close(eh_shard_writer *w);

#endif

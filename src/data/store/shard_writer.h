/* The sink that writes shards. Internal to src/data. */
#ifndef EH_SHARD_WRITER_H
#define EH_SHARD_WRITER_H

#include <zlib.h>

#include "data/store/shards.h"

/* An open file of a shard. */
typedef struct eh_shard_file {
    int fd; /* -1: not open */
    char path[EH_PATH];
    int64_t bytes; /* written after the header */
    uLong crc;     /* CRC-32 of these bytes */
} eh_shard_file;

typedef struct eh_shard_writer {
    eh_sink sink; /* first member: the sink is the writer */
    const char *folder;
    const char *source;         /* name of the source, for messages about its rows */
    const enhope_dataset *data; /* names of the inputs, for messages */
    int64_t seen;               /* rows received, including skipped ones */
    eh_shards to;
    eh_shard shard; /* the current shard; rows 0: none */
    bool writing;   /* its files exist but are not in the list yet */
    eh_shard_file file[EH_ARRAYS];
    bool begun; /* kind and presence of labels are known */
    bool labeled;
    int64_t shard_rows, shard_bytes; /* rows per shard, or, if that is 0, bytes per shard */
    int64_t limit;                   /* maximum number of rows; 0: no limit */
    enhope_conversion at;
    double start, share_start; /* time and share of the source when writing started, for progress */
    enhope_conversion_fn progress;
    void *user;
} eh_shard_writer;

/* folder and source must outlive the writer. The caller sets limits, progress and the state to
 * resume. */
void eh_shard_writer_open(eh_shard_writer *w, const char *folder, const char *source);
/* Completes the current shard, if any: syncs its files, then writes the partial list. */
enhope_status eh_shard_writer_flush(enhope_context *ctx, eh_shard_writer *w);
/* Removes the files of an incomplete shard and frees the list. */
void eh_shard_writer_close(eh_shard_writer *w);

#endif

/* A folder of shards: data in files of a size that can be handled, checked and streamed. Internal to src/data.
 *
 *   shards.json       what is there; written last, so that a folder is complete or has none
 *   00000.x.npy       the inputs of the first shard, uint8 or float32 (rows, H)
 *   00000.y.npy       int32 numbers of the names in shards.json, -1: unlabelled
 *   00000.start.npy   sparse inputs instead of x: int64 row starts (rows + 1) from 0, int32 columns, float32 values;
 *   00000.column.npy  without the last two where there are none
 *   00000.value.npy
 *   shards.partial.json   while it is being written: the same, of the shards that are complete
 */
#ifndef EH_SHARDS_H
#define EH_SHARDS_H

#include "data/store_files.h"

#define EH_SHARDS_NAME    "shards.json"
#define EH_SHARDS_PARTIAL "shards.partial.json"
#define EH_SHARDS_FORMAT  "enhope shards"
enum { EH_SHARDS_VERSION = 1, EH_SHARD_FILES = 4, EH_SHARD_NAME = 32 };

/* The ends of names, by array (EH_VALUES ...), dense and sparse. */
extern const char *const eh_shard_ends[2][EH_ARRAYS];

typedef struct eh_shard {
    int64_t rows, stored;
    struct {
        char name[EH_SHARD_NAME]; /* "": there is none */
        int64_t bytes;
        uint32_t crc;
    } file[EH_ARRAYS];
} eh_shard;

typedef struct eh_shards {
    char *source; /* what it was made from, in words that are compared; or NULL */
    enhope_kind kind;
    int64_t n, H, stored;
    int64_t image_rows, image_columns;
    eh_labels labels;  /* names by the numbers of the files; none: unlabelled */
    char **input_name; /* (H), or NULL */
    eh_shard *shard;   /* (shards) */
    int64_t shards, room;
} eh_shards;

void eh_shards_free(eh_shards *s);
/* folder/name; fails if it is too long. */
enhope_status eh_shards_path(enhope_context *ctx, const char *folder, const char *name, char path[EH_PATH]);
/* shards.c: folder/name; refuses what is damaged, or sizes that cannot be. */
enhope_status eh_shards_load(enhope_context *ctx, const char *folder, const char *name, eh_shards *out);
/* Written beside, synced and renamed. */
enhope_status eh_shards_save(enhope_context *ctx, const eh_shards *s, const char *folder, const char *name);
enhope_status eh_shards_append(enhope_context *ctx, eh_shards *s, const eh_shard *shard);

/* store_shards.c: a folder with shards.json becomes data->store. */
enhope_status eh_store_open_shards(enhope_context *ctx, const char *folder, bool labelled, enhope_dataset *data);

#endif

/* A folder of shards: data in files of moderate size that can be checked and streamed. Internal to
 * src/data.
 *
 *   shards.json       the list; written last, so that only a complete folder has it
 *   00000.x.npy       the inputs of the first shard, uint8 or float32 (rows, H)
 *   00000.y.npy       int32 indices of the class names in shards.json, -1: unlabeled
 *   00000.start.npy   sparse inputs instead of x: int64 row starts (rows + 1) from 0,
 *   00000.column.npy  int32 columns and float32 values; the last two are missing
 *   00000.value.npy   if there are no values
 *   shards.partial.json   during conversion: the list of the complete shards */
#ifndef EH_SHARDS_H
#define EH_SHARDS_H

#include "data/store/store_files.h"

#define EH_SHARDS_NAME    "shards.json"
#define EH_SHARDS_PARTIAL "shards.partial.json"
#define EH_SHARDS_FORMAT  "enhope shards"
enum { EH_SHARDS_VERSION = 1, EH_SHARDS_ENCODED = 2 }; /* encoded: with columns that are not plain numbers */
enum { EH_SHARD_FILES = 4, EH_SHARD_NAME = 32 };

/* File name suffixes by array (EH_VALUES ...), dense and sparse. */
extern const char *const eh_shard_ends[2][EH_ARRAYS];

typedef struct eh_shard {
    int64_t rows, stored;
    struct {
        char name[EH_SHARD_NAME]; /* "": no file */
        int64_t bytes;
        uint32_t crc;
    } file[EH_ARRAYS];
} eh_shard;

typedef struct eh_shards {
    char *source; /* description of the source, compared for equality; or NULL */
    enhope_kind kind;
    int64_t n, H, stored;
    int64_t image_rows, image_columns;
    eh_labels labels;      /* class names by their index in the files; none: unlabeled */
    char **input_name;     /* (H), or NULL */
    eh_encoding *encoding; /* of the columns that became inputs; NULL: of H plain numbers */
    eh_shard *shard;       /* (shards) */
    int64_t shards, capacity;
} eh_shards;

void eh_shards_free(eh_shards *s);
/* Writes folder/name to path; fails if it is too long. */
enhope_status eh_shards_path(enhope_context *ctx, const char *folder, const char *name, char path[EH_PATH]);
/* shards.c: loads the list folder/name. Fails if it is damaged or its sizes are impossible. */
enhope_status eh_shards_load(enhope_context *ctx, const char *folder, const char *name, eh_shards *out);
/* Replaces the list atomically. */
enhope_status eh_shards_save(enhope_context *ctx, const eh_shards *s, const char *folder, const char *name);
enhope_status eh_shards_append(enhope_context *ctx, eh_shards *s, const eh_shard *shard);

/* store_shards.c: opens a folder with shards.json as data->store. */
enhope_status eh_store_open_shards(enhope_context *ctx, const char *folder, bool labeled, enhope_dataset *data);

#endif

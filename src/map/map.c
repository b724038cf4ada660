/* Maps by name, the offsets of tensors in theta, and workspaces. */
#include <stdio.h>
#include <string.h>

#include "map/map.h"

const eh_map *eh_map_find(const char *name)
{
    static const eh_map *const all[] = {&eh_map_hope, &eh_map_mlp, &eh_map_linear, &eh_map_identity};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!strcmp(all[i]->name, name)) return all[i];
    return NULL;
}

/* Number of scalars in tensor i; -1 on overflow. */
static int64_t tensor_count(const eh_map *map, const eh_map_shape *s, int i)
{
    const eh_tensor t = map->tensor(s, i);
    int64_t count = 1;
    for (int r = 0; r < t.rank; r++)
        if (!eh_mul(count, t.shape[r], &count)) return -1;
    return count;
}

int64_t eh_map_offset(const eh_map *map, const eh_map_shape *s, int i)
{
    int64_t offset = 0;
    for (int t = 0; t < i; t++) {
        const int64_t count = tensor_count(map, s, t);
        if (count < 0 || __builtin_add_overflow(offset, count, &offset)) return -1;
    }
    return offset;
}

int64_t eh_map_parameters(const eh_map *map, const eh_map_shape *s)
{
    return eh_map_offset(map, s, map->tensors(s));
}

bool eh_map_layers_parse(const char *text, eh_map_shape *s)
{
    const int64_t widest = 1 << 20;
    s->layers = 0;
    for (int count = 0; count < EH_MAP_LAYERS; text++) {
        int64_t units = 0;
        for (; *text >= '0' && *text <= '9' && units <= widest; text++) units = 10 * units + (*text - '0');
        if (units < 1 || units > widest) return false;
        s->width[count++] = units;
        if (!*text) {
            s->layers = count;
            return true;
        }
        if (*text != '-') return false;
    }
    return false;
}

void eh_map_layers_print(const eh_map_shape *s, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (int l = 0; l < s->layers && used < size; l++)
        used += (size_t)snprintf(text + used, size - used, "%s%lld", l ? "-" : "", (long long)s->width[l]);
}

int64_t eh_map_size(const eh_compute *c, int64_t count, size_t size)
{
    enum { LINE = 64 };
    int64_t bytes;
    if (!eh_mul(count, (int64_t)size, &bytes) || bytes > INT64_MAX - LINE) return -1;
    return (bytes + LINE - 1) / LINE * (int64_t)(LINE / c->op->real_size);
}

int64_t eh_map_packed_size(const eh_compute *c, int64_t count)
{
    return c->packed_is_real ? 0 : eh_map_size(c, count, c->packed_size);
}

const eh_packed *eh_map_packed(eh_compute *c, int64_t rows, int64_t columns, const eh_real *from, eh_packed *packed,
                               bool fresh)
{
    if (c->packed_is_real) return (const eh_packed *)from;
    if (fresh) c->op->pack(c, rows, columns, from, packed);
    return packed;
}

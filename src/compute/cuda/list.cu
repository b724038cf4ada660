/* The list of kernel launches, and the graphs of lists that repeat.
 *
 * A list is identified by its kernels, their grids and all parameters that are not `varying`.
 * The first time, it is launched kernel by kernel. The second time, it becomes a graph. After
 * that, only varying parameters that changed are set and the graph is launched, which takes a
 * few microseconds of host time for a whole training step. */
#include "compute/cuda/cuda.h"

enum { GRAPHS = 64 };

struct cuda_graph {
    uint64_t key;
    size_t launches;
    cudaGraph_t graph;    /* owner of the nodes */
    cudaGraphExec_t exec; /* NULL: seen once, or the graph could not be created */
    bool never;           /* the graph could not be created */
    std::vector<cudaGraphNode_t> nodes;
    std::vector<char> bytes; /* the current parameters of the graph */
};

static uint64_t mix(uint64_t key, const void *data, size_t bytes)
{
    const unsigned char *p = (const unsigned char *)data;
    for (; bytes >= 8; bytes -= 8, p += 8) {
        uint64_t word;
        memcpy(&word, p, 8);
        key = (key ^ word) * 0x9E3779B97F4A7C15u;
        key ^= key >> 29;
    }
    for (; bytes; bytes--) key = (key ^ *p++) * 0x100000001B3u;
    return key;
}

static uint64_t key_of(const cuda_list &list)
{
    uint64_t key = 0xCBF29CE484222325u;
    for (const cuda_launch &n : list.launches) {
        const uint64_t shape[] = {(uint64_t)(uintptr_t)n.kernel, (uint64_t)n.grid.x << 32 | n.grid.y << 16 | n.grid.z,
                                  (uint64_t)n.block.x << 32 | n.block.y << 16 | n.shared};
        key = mix(key, shape, sizeof shape);
        for (unsigned i = n.first; i < n.first + n.params; i++)
            if (!list.params[i].varying) key = mix(key, list.bytes.data() + list.params[i].at, list.params[i].size);
    }
    return key;
}

enum { MAX_PARAMS = 24 };

static void arguments(const cuda_list &list, const cuda_launch &n, void **out)
{
    for (unsigned i = 0; i < n.params; i++) out[i] = (void *)(list.bytes.data() + list.params[n.first + i].at);
}

static cudaError_t launch(cuda_state *s, const cuda_launch &n)
{
    void *args[MAX_PARAMS];
    arguments(s->list, n, args);
    cudaLaunchAttribute early = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = n.grid;
    config.blockDim = n.block;
    config.dynamicSmemBytes = n.shared;
    config.stream = s->stream;
    config.attrs = &early;
    config.numAttrs = s->early ? 1 : 0;
    return cudaLaunchKernelExC(&config, n.kernel, args);
}

/* The node of the last captured launch. */
static cudaError_t last_node(cuda_state *s, cudaGraphNode_t *out)
{
    cudaStreamCaptureStatus status;
    const cudaGraphNode_t *nodes = NULL;
    const cudaGraphEdgeData *edges = NULL;
    size_t count = 0;
#if CUDART_VERSION >= 13000
    const cudaError_t error = cudaStreamGetCaptureInfo(s->stream, &status, NULL, NULL, &nodes, &edges, &count);
#else
    const cudaError_t error = cudaStreamGetCaptureInfo_v3(s->stream, &status, NULL, NULL, &nodes, &edges, &count);
#endif
    *out = count ? nodes[0] : NULL;
    return error;
}

/* Turns the list into a graph. If that fails, it is not tried again, and the list is launched as
 * before. */
static void record(cuda_state *s, cuda_graph *g)
{
    cudaError_t error = cudaStreamBeginCapture(s->stream, cudaStreamCaptureModeThreadLocal);
    if (!error) {
        for (const cuda_launch &n : s->list.launches) {
            cudaGraphNode_t node = NULL;
            if (!error) error = launch(s, n);
            if (!error) error = last_node(s, &node);
            g->nodes.push_back(node);
        }
        const cudaError_t ended = cudaStreamEndCapture(s->stream, &g->graph);
        if (!error) error = ended;
        if (!error) error = cudaGraphInstantiate(&g->exec, g->graph, 0);
    }
    g->bytes = s->list.bytes;
    g->never = error != cudaSuccess;
    if (g->never) cudaGetLastError();
}

/* Sets the varying parameters that differ from those of the graph. */
static void renew(cuda_state *s, cuda_graph *g)
{
    for (size_t i = 0; i < s->list.launches.size(); i++) {
        const cuda_launch &n = s->list.launches[i];
        bool changed = false;
        for (unsigned p = n.first; n.varying && p < n.first + n.params; p++) {
            const cuda_param &at = s->list.params[p];
            changed |= at.varying && memcmp(g->bytes.data() + at.at, s->list.bytes.data() + at.at, at.size) != 0;
        }
        if (!changed) continue;
        void *args[MAX_PARAMS];
        arguments(s->list, n, args);
        cudaKernelNodeParams params = {};
        params.func = (void *)(uintptr_t)n.kernel;
        params.gridDim = n.grid;
        params.blockDim = n.block;
        params.sharedMemBytes = n.shared;
        params.kernelParams = args;
        cuda_ok(s, cudaGraphExecKernelNodeSetParams(g->exec, g->nodes[i], &params), "changing a graph");
    }
    g->bytes = s->list.bytes;
}

static void graph_free(cuda_graph *g)
{
    if (g->exec) cudaGraphExecDestroy(g->exec);
    if (g->graph) cudaGraphDestroy(g->graph);
    delete g;
}

/* The entry of the list. Entries are sorted by last use; the oldest is removed if there are too
 * many. */
static cuda_graph *find(cuda_state *s)
{
    const uint64_t key = key_of(s->list);
    for (size_t i = s->graphs.size(); i-- > 0;) {
        cuda_graph *g = s->graphs[i];
        if (g->key != key || g->launches != s->list.launches.size()) continue;
        s->graphs.erase(s->graphs.begin() + (long)i);
        s->graphs.push_back(g);
        return g;
    }
    if (s->graphs.size() == GRAPHS) {
        if (s->graphs[0]->exec) cudaStreamSynchronize(s->stream);
        graph_free(s->graphs[0]);
        s->graphs.erase(s->graphs.begin());
    }
    s->graphs.push_back(new cuda_graph{key, s->list.launches.size(), NULL, NULL, false, {}, {}});
    return NULL;
}

void cuda_run(cuda_state *s)
{
    s->open_split = -1;
    cudaSetDevice(s->device); /* the caller may be in another thread than the one that opened the device */
    if (s->list.launches.empty()) return;
    if (!s->failed) {
        enum { FEW = 3 }; /* number of kernels up to which a graph gains nothing */
        cuda_graph *g = s->list.launches.size() > FEW ? find(s) : NULL;
        if (g && g->exec)
            renew(s, g);
        else if (g && !g->never)
            record(s, g);
        if (g && g->exec)
            cuda_ok(s, cudaGraphLaunch(g->exec, s->stream), "starting a graph");
        else
            for (const cuda_launch &n : s->list.launches) cuda_ok(s, launch(s, n), "starting a kernel");
    }
    s->list.launches.clear();
    s->list.params.clear();
    s->list.bytes.clear();
}

void cuda_list_free(cuda_state *s)
{
    for (cuda_graph *g : s->graphs) graph_free(g);
    s->graphs.clear();
}

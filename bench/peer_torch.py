#!/usr/bin/env python3
"""Times the same computations in PyTorch, for comparison in `bench/gpu`.

usage: peer_torch.py [step] [rate] [knn]

Each line of output is `name value unit`. The step is a training step of the model of bench/gpu.c
(order 2, joint Student similarities, learned exemplars, Adam) in idiomatic PyTorch: it gathers a
batch from uint8 data on the device, maps it together with the exemplars and makes one Adam step. It
is timed as eager code and as a compiled forward and backward pass with a fused Adam in a replayed
CUDA graph.
"""
import sys
import time

import torch

DEVICE = torch.device("cuda")
H, F, M, OUT, Z, BATCH, N, CLASSES = 784, 800, 400, 2, 20, 1000, 60000, 10


def best_of(work, repeats=5):
    """Seconds of the fastest of several runs of work()."""
    fastest = float("inf")
    for _ in range(repeats):
        torch.cuda.synchronize()
        start = time.perf_counter()
        work()
        torch.cuda.synchronize()
        fastest = min(fastest, time.perf_counter() - start)
    return fastest


def set_precision(name):
    torch.backends.cuda.matmul.allow_tf32 = name == "tf32"
    return torch.autocast("cuda", dtype=torch.bfloat16, enabled=name == "bf16")


class Step:
    """Parameters, data on the device, and one training step."""

    def __init__(self, features=F, hidden=M, batch=BATCH, n=N):
        torch.manual_seed(1)
        self.data = torch.randint(0, 256, (n, H), dtype=torch.uint8, device=DEVICE)
        self.label = torch.randint(0, CLASSES, (n,), device=DEVICE)
        self.exemplar_label = torch.arange(Z, device=DEVICE) % CLASSES
        new = lambda *shape, sd: torch.nn.Parameter(torch.randn(*shape, device=DEVICE) * sd)
        self.C, self.W = new(H + 1, features, sd=0.05), new(features, hidden, sd=0.02)
        self.b, self.V = new(hidden, sd=0), new(OUT, hidden, sd=0.2)
        self.E = torch.nn.Parameter(torch.rand(Z, H, device=DEVICE))
        self.parameters = [self.C, self.W, self.b, self.V, self.E]
        self.rows = torch.zeros(batch, dtype=torch.int64, device=DEVICE)
        self.order = torch.randperm(n, device=DEVICE)
        self.batch, self.batches = batch, n // batch

    def loss(self, rows):
        x = torch.cat([self.data[rows].float() * (1 / 255), self.E])
        u = torch.nn.functional.linear(x, self.C[:H].T, None) + self.C[H]
        y = torch.sigmoid((u * u) @ self.W + self.b) @ self.V.T
        y, g = y[: self.batch].float(), y[self.batch :].float()
        d = (y[:, None, :] - g[None, :, :]).square().sum(2)
        same = (self.label[rows][:, None] == self.exemplar_label[None, :]).float()
        log_w = -torch.log1p(d)
        p = same / same.sum(1, keepdim=True).clamp(min=1) / self.batch
        return torch.logsumexp(log_w.flatten(), 0) - (p * log_w).sum()

    def run_epoch(self, one):
        for i in range(self.batches):
            self.rows.copy_(self.order[i * self.batch : (i + 1) * self.batch])
            one()


def eager_epoch(precision):
    cast = set_precision(precision)
    s = Step()
    adam = torch.optim.Adam(s.parameters, lr=1e-3)

    def one():
        adam.zero_grad(set_to_none=True)
        with cast:
            loss = s.loss(s.rows)
        loss.backward()
        adam.step()

    s.run_epoch(one)
    return best_of(lambda: s.run_epoch(one))


def graphed(precision, **shape):
    """One compiled step as a CUDA graph: (state of the step, function that replays it)."""
    torch._dynamo.reset()
    cast = set_precision(precision)
    s = Step(**shape)
    adam = torch.optim.Adam(s.parameters, lr=torch.tensor(1e-3), fused=True, capturable=True)
    compiled = torch.compile(s.loss)

    def one():
        adam.zero_grad(set_to_none=True)
        with cast:
            loss = compiled(s.rows)
        loss.backward()
        adam.step()

    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(5):
            one()
    torch.cuda.current_stream().wait_stream(side)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        one()
    return s, graph.replay


def bench_step():
    for precision in ("fp32", "tf32", "bf16"):
        if precision == "fp32":
            print(f"torch_eager_epoch_{precision} {eager_epoch(precision) * 1e3:.3f} ms", flush=True)
        s, replay = graphed(precision)
        print(f"torch_compiled_epoch_{precision} {best_of(lambda: s.run_epoch(replay)) * 1e3:.3f} ms", flush=True)


def bench_rate():
    """The rate of one large product, for comparison with large batches and predictions."""
    size = 8192
    for precision in ("fp32", "tf32", "bf16"):
        set_precision(precision)
        kind = torch.bfloat16 if precision == "bf16" else torch.float32
        a, b = (torch.randn(size, size, device=DEVICE, dtype=kind) for _ in range(2))
        a @ b
        seconds = best_of(lambda: [a @ b for _ in range(5)]) / 5
        print(f"gemm_rate_{precision} {2 * size**3 / seconds * 1e-12:.1f} TFLOP/s", flush=True)


def bench_knn():
    """Exact nearest neighbors of random points. Blocks limit the memory."""
    set_precision("fp32")
    refs, queries = (torch.randint(0, 256, (n, H), device=DEVICE).float() / 255 for n in (60000, 10000))

    def search():
        for block in queries.split(2500):
            torch.cdist(block, refs).topk(5, dim=1, largest=False)

    search()
    print(f"torch_cdist_topk {best_of(search) * 1e3:.2f} ms", flush=True)


if __name__ == "__main__":
    parts = {"step": bench_step, "rate": bench_rate, "knn": bench_knn}
    for name in sys.argv[1:] or parts:
        parts[name]()

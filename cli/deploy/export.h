/* enhope export: programs that it starts, and the comparison with the library. */
#ifndef ENHOPE_CLI_EXPORT_H
#define ENHOPE_CLI_EXPORT_H

#include "core/cli.h"

/* ---- programs in a temporary folder (sandbox.c) ---- */

enum { SANDBOX_PATH = 512 };
typedef struct sandbox {
    char folder[SANDBOX_PATH];
} sandbox;
/* Functions return 0, or print a message and return an exit code. */
int sandbox_open(sandbox *s);
void sandbox_close(sandbox *s); /* removes the folder */
/* The path of a file in the folder; valid until the next call. */
const char *sandbox_path(const sandbox *s, const char *name);
int sandbox_write(const sandbox *s, const char *name, const void *data, size_t size);
/* Reads exactly `size` bytes. */
int sandbox_read(const sandbox *s, const char *name, void *data, size_t size);
/* Runs a program in the folder; its output goes to the file "log". *status is its exit code, 127 if
 * it was not found. argv ends with NULL. */
int sandbox_run(const sandbox *s, const char *const *argv, int *status);
/* Prints "WHAT failed: " and the last lines of the log; returns CLI_FAILED. */
int sandbox_fail(const sandbox *s, const char *what);

/* ---- export ---- */

/* Writes a WebAssembly module (wasm.c). */
int export_wasm(const cli_session *session, const cli_options *options, const enhope_export_options *export);

/* The rows of a check, and what an exported model computes for them. */
typedef struct check_rows {
    int64_t n, H, h;
    int32_t c;
    float *x;          /* (n, H) */
    int32_t *label;    /* (n) */
    float *proba, *Y;  /* (n, c), (n, h) */
    char runtime[128]; /* what computed them: "cc", "node", "onnxruntime-node 1.16.3" */
} check_rows;

/* Compares the exported file with the library on the data of --check (check.c). */
int export_check(cli_session *session, const cli_options *options, const enhope_export_options *export);
/* Runs the exported file on rows->x and fills label, proba, Y and runtime (check_run.c). */
int export_run(const cli_session *session, const cli_options *options, const enhope_export_options *export,
               check_rows *rows);
/* The ending of the output file: "onnx", "c", ... */
const char *export_format(const cli_options *options);

#endif

/* Runs exported models on rows: C with the C compiler of the system, JavaScript, JSON and
 * WebAssembly with node, ONNX with onnxruntime of python3 or node.
 *
 * The programs (check_programs.c) read x.f32 (n, H) and write label.i32 (n), proba.f32 (n, c) and
 * y.f32 (n, h) in the folder in which they run. */
#define _DEFAULT_SOURCE 1
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "deploy/check_programs.h"
#include "deploy/export.h"

enum { NOT_FOUND = 127 };

/* ---- rows and results ---- */

static int open_file(const sandbox *s, const char *name, FILE **file)
{
    *file = fopen(sandbox_path(s, name), "w");
    return *file ? 0 : cli_error("%s: cannot write", sandbox_path(s, name));
}

static int close_file(const sandbox *s, const char *name, FILE *file)
{
    const bool failed = ferror(file);
    return fclose(file) || failed ? cli_error("%s: cannot write", sandbox_path(s, name)) : 0;
}

static int write_rows(const cli_session *session, const sandbox *s, const check_rows *rows)
{
    FILE *file = NULL;
    int code = sandbox_write(s, "x.f32", rows->x, (size_t)(rows->n * rows->H) * sizeof *rows->x);
    if (!code) code = open_file(s, "about.json", &file);
    if (code) return code;
    cli_json(file, "{\"n\": %lld, \"H\": %lld, \"h\": %lld, \"c\": %d, \"classes\": [", (long long)rows->n,
             (long long)rows->H, (long long)rows->h, rows->c);
    for (int32_t k = 0; k < rows->c; k++) cli_json(file, k ? ", %s" : "%s", enhope_model_class_name(session->model, k));
    fprintf(file, "]}\n");
    return close_file(s, "about.json", file);
}

static int read_results(const sandbox *s, check_rows *rows)
{
    int code = sandbox_read(s, "label.i32", rows->label, (size_t)rows->n * sizeof *rows->label);
    if (!code) code = sandbox_read(s, "proba.f32", rows->proba, (size_t)(rows->n * rows->c) * sizeof *rows->proba);
    if (!code) code = sandbox_read(s, "y.f32", rows->Y, (size_t)(rows->n * rows->h) * sizeof *rows->Y);
    return code;
}

/* Writes a program and runs it. */
static int run_program(const sandbox *s, const char *file, const char *text, const char *const *argv, int *status)
{
    const int code = sandbox_write(s, file, text, strlen(text));
    return code ? code : sandbox_run(s, argv, status);
}

/* ---- C ---- */

static int run_c(const sandbox *s, const char *path, const char *name, check_rows *rows)
{
    char folder[PATH_MAX + 2], header[PATH_MAX + 32], prefix[128];
    const char *cc = getenv("CC"), *slash = strrchr(path, '/');
    cc = cc && *cc ? cc : "cc";
    snprintf(folder, sizeof folder, "-I%.*s", (int)(slash - path), path);
    snprintf(header, sizeof header, "-DMODEL_HEADER=\"%.*sh\"", (int)strlen(slash + 1) - 1, slash + 1);
    snprintf(prefix, sizeof prefix, "-DMODEL(x)=%s_##x", name);
    const char *const build[] = {cc,     "-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-pedantic", folder,
                                 header, prefix,     "-o",  "check", path,      "check.c", "-lm",       NULL};
    const char *const run[] = {"./check", NULL};
    int status = 0, code = run_program(s, "check.c", check_c, build, &status);
    if (!code && status == NOT_FOUND) return cli_error("--check needs a C compiler: %s was not found; set CC", cc);
    if (!code && status) return sandbox_fail(s, cc);
    if (!code) code = sandbox_run(s, run, &status);
    if (!code && status) code = sandbox_fail(s, "the compiled model");
    snprintf(rows->runtime, sizeof rows->runtime, "%s", cc);
    return code;
}

/* ---- JavaScript, JSON, WebAssembly ---- */

static int run_node(const cli_session *session, const sandbox *s, const char *format, const char *path,
                    const enhope_export_options *export, check_rows *rows)
{
    const char *const argv[] = {"node", "check.mjs", format, path, NULL};
    int status = 0;
    if (!strcmp(format, "json")) { /* the code that computes with the object */
        const enhope_status failed =
            enhope_model_export(session->ctx, session->model, sandbox_path(s, "runtime.js"), export);
        if (failed) return cli_fail(session->ctx, failed);
    }
    const int code = run_program(s, "check.mjs", check_node, argv, &status);
    if (code) return code;
    if (status == NOT_FOUND) return cli_error("--check of .%s needs node, which was not found", format);
    snprintf(rows->runtime, sizeof rows->runtime, "node");
    return status ? sandbox_fail(s, "node") : 0;
}

/* ---- ONNX ---- */

static bool is_text(const enhope_column_info *c)
{
    return !strcmp(c->type, "category");
}

/* Whether the graph has one input for all columns: each becomes one input, its value. */
static bool one_input(const cli_session *session, const enhope_export_options *export)
{
    enhope_column_info c;
    for (int64_t j = 0; !export->encoded && enhope_model_column(session->model, j, &c); j++)
        if (is_text(&c) || c.constant || c.missing || c.offset != 0) return false;
    return true;
}

/* The value of a column that became the inputs x; NULL: missing, or a number (*number). */
static const char *text_of(const enhope_column_info *c, const float *x)
{
    for (int32_t k = 0; !c->constant && k < c->categories; k++)
        if (x[k] == 1) return c->category[k];
    if (!c->constant && c->other && x[c->categories] == 1) return "\x01 another text";
    return c->missing && x[c->inputs - 1] == 1 ? "" : c->missing ? "\x01 another text" : "";
}

static void put_value(FILE *file, const enhope_column_info *c, const float *x)
{
    const bool missing = c->missing && x[c->inputs - 1] == 1;
    if (is_text(c))
        cli_json(file, "%s", text_of(c, x));
    else
        fprintf(file, missing ? "null" : "%.17g", c->constant ? 0.0 : (double)x[0] + c->offset);
}

/* The inputs of the graph, found from the encoded inputs of the rows. */
static int write_columns(const cli_session *session, const sandbox *s, const check_rows *rows)
{
    enhope_column_info c;
    FILE *file = NULL;
    bool comma = false;
    const int code = open_file(s, "columns.json", &file);
    if (code) return code;
    fprintf(file, "[");
    for (int64_t j = 0; enhope_model_column(session->model, j, &c); j++) {
        if (!c.inputs) continue;
        cli_json(file, comma ? ",\n{\"type\": %s, \"values\": [" : "{\"type\": %s, \"values\": [",
                 is_text(&c)     ? "string"
                 : c.offset != 0 ? "float64"
                                 : "float32");
        for (int64_t i = 0; i < rows->n; i++) {
            if (i) fprintf(file, ", ");
            put_value(file, &c, rows->x + i * rows->H + c.first);
        }
        fprintf(file, "]}");
        comma = true;
    }
    fprintf(file, "]\n");
    return close_file(s, "columns.json", file);
}

/* Python's onnxruntime if python3 finds it, else that of node, which is searched in the current
 * folder and in NODE_PATH. */
static int run_onnx(const cli_session *session, const sandbox *s, const char *path, const enhope_export_options *export,
                    check_rows *rows)
{
    char here[PATH_MAX];
    if (!getcwd(here, sizeof here)) here[0] = '\0';
    const char *const argv[2][5] = {{"python3", "check.py", path, NULL}, {"node", "onnx.mjs", path, here, NULL}};
    const char *const file[2] = {"check.py", "onnx.mjs"}, *const text[2] = {check_python, check_node_onnx};
    int code = one_input(session, export) ? 0 : write_columns(session, s, rows), status = NOT_FOUND;
    for (int i = 0; i < 2 && !code && status == NOT_FOUND; i++) {
        code = run_program(s, file[i], text[i], argv[i], &status);
        if (!code && status && status != NOT_FOUND) code = sandbox_fail(s, argv[i][0]);
    }
    if (code) return code;
    if (status)
        return cli_error("--check of .onnx needs a runtime: install the Python package onnxruntime, or the npm package "
                         "onnxruntime-node in this folder or in one of NODE_PATH");
    FILE *named = fopen(sandbox_path(s, "runtime"), "r");
    if (!named || !fgets(rows->runtime, sizeof rows->runtime, named)) rows->runtime[0] = '\0';
    if (named) fclose(named);
    return 0;
}

int export_run(const cli_session *session, const cli_options *options, const enhope_export_options *export,
               check_rows *rows)
{
    const char *format = export_format(options);
    char *path = realpath(options->output, NULL);
    sandbox s;
    if (!path) return cli_error("%s: cannot read", options->output);
    int code = sandbox_open(&s);
    if (!code) code = write_rows(session, &s, rows);
    if (!code)
        code = !strcmp(format, "c")      ? run_c(&s, path, export->name, rows)
               : !strcmp(format, "onnx") ? run_onnx(session, &s, path, export, rows)
                                         : run_node(session, &s, format, path, export, rows);
    if (!code) code = read_results(&s, rows);
    sandbox_close(&s);
    free(path);
    return code;
}

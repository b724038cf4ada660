/* enhope export -o model.wasm: compiles the exported C for WebAssembly with clang and its linker.
 * The module imports nothing. Its inputs and outputs are two arrays in its memory:
 *
 *   inputs() outputs() classes()    the sizes
 *   input() output()                addresses of float[inputs] and float[max(outputs, classes)]
 *   predict() proba() embed()       read input and, but for predict, write output; return the class
 *                                   (embed: 0), or -1 if an input is not finite
 *   class_name(k)                   address of the name of class k, UTF-8, zero at its end
 */
#include <stdlib.h>
#include <string.h>

#include "deploy/export.h"

static const char wrapper[] = "#include \"model.h\"\n"
                              "#define EXPORT(name) __attribute__((export_name(#name)))\n"
                              "static float x[model_INPUTS];\n"
                              "static float y[model_OUTPUTS > model_CLASSES ? model_OUTPUTS : model_CLASSES];\n"
                              "EXPORT(inputs) int model_inputs(void) { return model_INPUTS; }\n"
                              "EXPORT(outputs) int model_outputs(void) { return model_OUTPUTS; }\n"
                              "EXPORT(classes) int model_classes(void) { return model_CLASSES; }\n"
                              "EXPORT(input) float *model_input(void) { return x; }\n"
                              "EXPORT(output) float *model_output(void) { return y; }\n"
                              "EXPORT(predict) int model_run_predict(void) { return model_predict(x); }\n"
                              "EXPORT(proba) int model_run_proba(void) { return model_proba(x, y); }\n"
                              "EXPORT(embed) int model_run_embed(void) { return model_embed(x, y); }\n"
                              "EXPORT(class_name) const char *model_name_of(int k) { return model_class_name[k]; }\n";

/* The stack comes first in the memory, so that an overflow traps. */
static int compile(const sandbox *s)
{
    const char *clang = getenv("ENHOPE_CLANG");
    const char *const argv[] = {clang && *clang ? clang : "clang",
                                "--target=wasm32",
                                "-std=c99",
                                "-O3",
                                "-msimd128",
                                "-nostdlib",
                                "-fno-builtin",
                                "-Wl,--no-entry",
                                "-Wl,--strip-all",
                                "-Wl,--stack-first",
                                "-Wl,-z,stack-size=1048576",
                                "-o",
                                "model.wasm",
                                "model.c",
                                "wrapper.c",
                                NULL};
    int status = 0;
    const int code = sandbox_run(s, argv, &status);
    if (code) return code;
    if (status == 127)
        return cli_error(
            "clang was not found; .wasm needs clang and wasm-ld (Debian: clang and lld); .js needs neither");
    return status ? sandbox_fail(s, "clang --target=wasm32 (wasm-ld is in Debian's package lld)") : 0;
}

static int copy_out(const sandbox *s, const char *path)
{
    enum { BLOCK = 1 << 16 };
    cli_output output = {0};
    FILE *from = fopen(sandbox_path(s, "model.wasm"), "rb");
    char *block = cli_alloc("a block", BLOCK, 1, 1);
    int code = from && block ? cli_output_open(&output, path) : cli_error("%s: clang wrote no module", path);
    for (size_t count; !code && (count = fread(block, 1, BLOCK, from)) > 0;) fwrite(block, 1, count, output.file);
    if (!code) code = cli_output_close(&output);
    cli_output_abandon(&output);
    if (from) fclose(from);
    free(block);
    return code;
}

int export_wasm(const cli_session *session, const cli_options *options, const enhope_export_options *export)
{
    sandbox s;
    enhope_export_options own = *export;
    own.name = "model";
    own.encoded = 1; /* the module takes the encoded inputs, and has no strcmp */
    int code = sandbox_open(&s);
    if (code) return code;
    const enhope_status status = enhope_model_export(session->ctx, session->model, sandbox_path(&s, "model.c"), &own);
    if (status) code = cli_fail(session->ctx, status);
    if (!code) code = sandbox_write(&s, "wrapper.c", wrapper, strlen(wrapper));
    if (!code) code = compile(&s);
    if (!code) code = copy_out(&s, options->output);
    sandbox_close(&s);
    return code;
}

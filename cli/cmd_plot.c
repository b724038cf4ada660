/* enhope plot: draws the embedding as SVG, PNG or PDF, or writes the page of enhope view. */
#include <string.h>
#include <strings.h>

#include "core/cli.h"

static const char *output_path(const cli_options *options)
{
    return options->output ? options->output : "map.svg";
}

/* --format, else the extension of the output file, else svg. */
static const char *explicit_format(const cli_options *options)
{
    const char *path = output_path(options), *slash = strrchr(path, '/');
    const char *dot = strrchr(slash ? slash : path, '.');
    return options->picture.format ? options->picture.format : dot ? dot + 1 : "svg";
}

static int find_format(const cli_options *options, canvas_format *out)
{
    static const char *const formats[] = {[CANVAS_SVG] = "svg", [CANVAS_PNG] = "png", [CANVAS_PDF] = "pdf"};
    const char *format_name = explicit_format(options);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (!strcasecmp(format_name, formats[i])) {
            *out = (canvas_format)i;
            if (*out != CANVAS_PNG && options->picture.scale > 0)
                return cli_usage_error(options->command, "--scale applies to PNG only: remove it for %s", formats[i]);
            return 0;
        }
    if (options->picture.format)
        return cli_usage_error(options->command, "--format is '%s': expected svg, png, pdf or html", format_name);
    return cli_usage_error(options->command,
                           "%s: unknown format; use a name that ends in .svg, .png, .pdf or .html, or --format",
                           options->output);
}

/* Options that do not apply to the HTML page. */
static int write_page(const cli_options *options)
{
    const struct {
        const char *name;
        bool is_explicit;
    } of_pictures[] = {
        {"errors", options->picture.mark_errors},  {"regions", options->picture.regions},
        {"width", options->picture.width > 0},     {"height", options->picture.height > 0},
        {"scale", options->picture.scale > 0},     {"point", options->picture.point > 0},
        {"font", options->picture.font != NULL},   {"font-size", options->picture.font_size > 0},
        {"no-legend", options->picture.no_legend}, {"labels", options->picture.labels != NULL},
    };
    for (size_t i = 0; i < sizeof of_pictures / sizeof *of_pictures; i++)
        if (of_pictures[i].is_explicit)
            return cli_usage_error(options->command, "--%s does not apply to html: remove it, or use svg, png or pdf",
                                   of_pictures[i].name);
    return cmd_view(options);
}

/* Large letters would leave no space for the map. */
static int check_letters(const cli_options *options)
{
    const int64_t width = options->picture.width ? options->picture.width : CLI_PICTURE_WIDTH,
                  height = options->picture.height ? options->picture.height : CLI_PICTURE_HEIGHT;
    const double max_size = (double)(width < height ? width : height) / 12;
    if (options->picture.font_size <= max_size) return 0;
    return cli_usage_error(options->command,
                           "--font-size is %g: expected at most %.4g for a picture of %lld x %lld pixels",
                           options->picture.font_size, max_size, (long long)width, (long long)height);
}

int cmd_plot(const cli_options *options)
{
    cli_session session;
    cli_output output = {0};
    canvas_format format = CANVAS_SVG;
    if (!strcasecmp(explicit_format(options), "html")) return write_page(options);
    int code = find_format(options, &format); /* before the computation */
    if (!code) code = check_letters(options);
    if (!code && !cli_labels_of_options(options, &(cli_labels){0})) code = CLI_USAGE;
    if (code) return code;
    code = cli_session_open(&session, options);
    if (!code) code = cli_session_model(&session, options->positional[0]);
    if (!code && session.model_info.outputs < 2)
        code = cli_error("%s maps to 1 dimension, a figure needs 2: train with two or more dimensions",
                         options->positional[0]);
    if (!code && session.model_info.outputs > 2)
        cli_print(stderr, "enhope: %s maps to %lld dimensions; the first two are drawn\n", options->positional[0],
                  (long long)session.model_info.outputs);
    if (!code) code = cli_session_data(&session, options, options->data, "test");
    if (!code) code = cli_session_in_memory(&session, options);
    if (!code) code = cli_output_differs(output_path(options), options->data);
    if (!code) code = cli_output_differs(output_path(options), options->positional[0]);
    if (!code) code = cli_output_open(&output, output_path(options));
    if (!code) code = cli_draw(&session, options, format, output.file);
    if (!code) code = cli_output_close(&output);
    cli_output_abandon(&output);
    cli_session_close(&session);
    return code;
}

/* Writes a document as Markdown and as one HTML page. */
#define _DEFAULT_SOURCE 1
#include <stdarg.h>

#include "reproduce.h"

void document_head(document *d, const char *title)
{
    fprintf(d->md, "# %s\n", title);
    fputs("<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width\">\n<title>",
          d->html);
    cli_put_xml(d->html, title);
    fputs("</title>\n<style>\n"
          ":root{color-scheme:light dark}\n"
          "body{font:16px/1.5 sans-serif;max-width:76rem;margin:2rem auto;padding:0 1rem}\n"
          "div{overflow-x:auto}\n"
          "table{border-collapse:collapse;font-size:.9rem;margin:1rem 0}\n"
          "th,td{border-bottom:1px solid #8886;padding:.25rem .7rem;text-align:left;vertical-align:top}\n"
          "td:not(:first-child){font-variant-numeric:tabular-nums}\n"
          "td:not(:first-child):not(:last-child){white-space:nowrap}\n"
          "figure{margin:1rem 0;display:grid;grid-template-columns:repeat(auto-fit,minmax(20rem,1fr));gap:1rem}\n"
          "svg{width:100%;height:auto}\npre{overflow-x:auto}\n"
          "</style>\n<h1>",
          d->html);
    cli_put_xml(d->html, title);
    fputs("</h1>\n", d->html);
}

void document_heading(document *d, const char *title)
{
    fprintf(d->md, "\n## %s\n", title);
    fputs("<h2>", d->html);
    cli_put_xml(d->html, title);
    fputs("</h2>\n", d->html);
}

void document_paragraph(document *d, const char *format, ...)
{
    char text[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fputc('\n', d->md);
    cli_put_wrapped(d->md, text, 0, 0, 100);
    fputs("<p>", d->html);
    cli_put_xml(d->html, text);
    fputs("</p>\n", d->html);
}

void document_code(document *d, const char *line)
{
    fprintf(d->md, "\n```sh\n%s\n```\n", line);
    fputs("<pre>", d->html);
    cli_put_xml(d->html, line);
    fputs("</pre>\n", d->html);
}

void document_open_table(document *d)
{
    fputc('\n', d->md);
    fputs("<div><table>\n", d->html);
    d->column = 0;
    d->heading = true;
}

void document_cell(document *d, const char *text)
{
    fputs(d->column ? " | " : "| ", d->md);
    for (const char *at = text; *at; at++) fprintf(d->md, *at == '|' ? "\\%c" : "%c", *at);
    if (!d->column) fputs("<tr>", d->html);
    fputs(d->heading ? "<th>" : "<td>", d->html);
    cli_put_xml(d->html, text);
    d->column++;
}

void document_end_row(document *d)
{
    fputs(" |\n", d->md);
    if (d->heading) {
        for (int i = 0; i < d->column; i++) fputs(i ? "---|" : "|---|", d->md);
        fputc('\n', d->md);
    }
    fputc('\n', d->html);
    d->heading = false;
    d->column = 0;
}

void document_close_table(document *d)
{
    fputs("</table></div>\n", d->html);
}

void document_headings(document *d, const char *first, ...)
{
    va_list args;
    va_start(args, first);
    document_open_table(d);
    for (const char *title = first; title; title = va_arg(args, const char *)) document_cell(d, title);
    va_end(args);
    document_end_row(d);
}

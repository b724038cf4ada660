/* The page of enhope view: a frame built from viewer/ with the data in between (page.c). */
#ifndef ENHOPE_CLI_PAGE_H
#define ENHOPE_CLI_PAGE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Built by viewer/build: the text before and after the data. missing is the reason if the page is
 * not built, else "". */
extern const unsigned char cli_page_head[], cli_page_tail[];
extern const size_t cli_page_head_size, cli_page_tail_size;
extern const char cli_page_missing[];

/* Position of y between low and high, 0 to 65535; the middle if undefined. */
uint16_t cli_page_place(double y, double low, double high);
/* Writes JSON as an element of the page, escaped so that it cannot end the element. */
void cli_page_put_json(FILE *out, const char *id, const char *json, size_t size);
/* Writes count numbers of width bytes as an element of the page: all first bytes, then all second
 * bytes and so on, compressed by zlib, in base64. Returns 0, or an exit code after a message. */
int cli_page_put_block(FILE *out, const char *id, const void *numbers, size_t count, size_t width);

#endif

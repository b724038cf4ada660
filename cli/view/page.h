/* The page that enhope view writes: a frame that the build made out of viewer/, and data in its middle (page.c). */
#ifndef ENHOPE_CLI_PAGE_H
#define ENHOPE_CLI_PAGE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Made by viewer/build: what comes before and after the data. missing tells why there is no page; "": there is one. */
extern const unsigned char cli_page_head[], cli_page_tail[];
extern const size_t cli_page_head_size, cli_page_tail_size;
extern const char cli_page_missing[];

/* Where y lies between low and high, in 65535ths; the middle where that cannot be said. */
uint16_t cli_page_place(double y, double low, double high);
/* A JSON text as an element of the page; no text in it can end the element. */
void cli_page_put_json(FILE *out, const char *id, const char *json, size_t size);
/* count numbers of width bytes as an element of the page: all first bytes, then all second ones (that packs better), packed
 * by zlib, in base64. 0 or an exit code after a sentence. */
int cli_page_put_block(FILE *out, const char *id, const void *numbers, size_t count, size_t width);

#endif

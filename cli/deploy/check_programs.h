/* Programs that run an exported model (check_programs.c). */
#ifndef ENHOPE_CLI_CHECK_PROGRAMS_H
#define ENHOPE_CLI_CHECK_PROGRAMS_H

extern const char check_c[];         /* C; MODEL(x) is the name of x, MODEL_HEADER the header */
extern const char check_node[];      /* JavaScript: FORMAT PATH, for js, json and wasm */
extern const char check_node_onnx[]; /* JavaScript: PATH FOLDER, the folder in which the package is searched */
extern const char check_python[];    /* Python: PATH */

#endif

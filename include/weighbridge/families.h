/*
 * weighbridge/families.h: tables of families that the library does not have.
 *
 * A family is a group of architectures with the same tensors and the same computation. Its table
 * states everything that the library knows about it: the names that identify its models, the names
 * and shapes of its tensors in each format, and the rules that translate its config. The library
 * has tables for many families. A program can add tables, which are text without code, so that a
 * new family needs no new version of the library. docs/dev/adding-a-family.md describes the
 * language.
 *
 *     wb_family_table table = WB_FAMILY_TABLE_INIT;
 *     wb_families *families;
 *     table.path = "my.family";
 *     if (wb_families_read(&table, 1, NULL, &families, &error) == WB_OK) {
 *         wb_open_options options = WB_OPEN_OPTIONS_INIT;
 *         options.families = families;
 *         status = wb_open("my-model/", &options, &model, &error);
 *         wb_families_free(families);
 *     }
 */
#ifndef WEIGHBRIDGE_FAMILIES_H
#define WEIGHBRIDGE_FAMILIES_H

#include "weighbridge/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Limits of tables, which may come from untrusted sources. Expressions, lists and names have
 * further limits, which docs/dev/adding-a-family.md lists. */
#define WB_FAMILY_TABLES_MAX 256      /* number of tables of a wb_families */
#define WB_FAMILY_TABLE_BYTES 1048576 /* size of the text of a table, in bytes */
#define WB_FAMILY_STATEMENTS_MAX 1024 /* number of statements of a table and its bases together */
#define WB_FAMILY_CHAIN_MAX 12        /* number of tables in a chain of bases */

/* The text of a table. */
typedef struct wb_family_table {
    size_t size;      /* sizeof(wb_family_table) */
    const char *path; /* path of the file with the text; or the name of `text` in messages */
    const char *text; /* NULL: the text is read from the file */
    size_t text_len;  /* SIZE_MAX: strlen(text) */
} wb_family_table;
#define WB_FAMILY_TABLE_INIT WB_INIT(wb_family_table)

/*
 * Reads the tables of families. The result never changes: any number of threads and models may use
 * it at the same time (wb_open_options.families).
 *
 * tables    array of `count` tables, read only during the call. A model is compared with the tables
 *           in this order, and then with those of the library. A table hides all later tables with
 *           the same name, and the table of the library with this name. The base of a table may be
 *           any other table of the array, or a table of the library. If a table has the name of its
 *           base, the base is the next table with this name
 * options   only the allocator and the files are used; NULL: defaults. The allocator must stay
 *           usable until the tables and all models that were opened with them are freed
 * families  owned, release with wb_families_free
 *
 * If a table is invalid, fails with FORMAT, or with LIMIT if it is too large: error->file is the
 * path of the table, and error->message has the line, the statement and what is wrong. Also fails
 * with ARGUMENT, IO, NOT_FOUND or MEMORY.
 */
WB_API wb_status wb_families_read(const wb_family_table *tables, size_t count,
                                  const wb_open_options *options, wb_families **families,
                                  wb_error *error) WB_MUST_CHECK;

/* Frees the tables when the last model that was opened with them is closed. The caller must not use
 * `families` again. NULL is ignored. Thread-safe. */
WB_API void wb_families_free(wb_families *families);

#ifdef __cplusplus
}
#endif

#endif

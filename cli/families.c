#define _POSIX_C_SOURCE 200809L
#include "families.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "edit.h"
#include "exit.h"
#include "messages.h"
#include "report.h"
#include "text.h"

typedef struct family_file {
    text path, contents;
} family_file;

static family_file *files;
static size_t count;
static wb_families *families;

/* ---- texts ---- */

static family_file *append(void)
{
    files = need_memory(files, count + 1, sizeof *files);
    files[count] = (family_file){0};
    return &files[count++];
}

/* Reads the files from number `first` on. */
static int read_files(size_t first)
{
    int code = 0;
    for (size_t i = first; i < count && code == 0; i++)
        code = edit_read_text(files[i].path.ptr, &files[i].contents);
    return code;
}

/* Sets *folder to the path of the user's folder. Returns false if the environment names none. */
static bool find_folder(text *folder)
{
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    if (config != NULL && config[0] == '/') /* other values are invalid: XDG base directories */
        text_addf(folder, "%s/weighbridge/families", config);
    else if (home != NULL && home[0] != '\0')
        text_addf(folder, "%s/.config/weighbridge/families", home);
    return folder->len > 0;
}

static int by_path(const void *a, const void *b)
{
    const family_file *x = a, *y = b;
    return strcmp(x->path.ptr, y->path.ptr);
}

/* Adds the paths of the tables in a folder, sorted. A folder that does not exist is empty. */
static int list_folder(const char *folder)
{
    size_t first = count;
    DIR *dir = opendir(folder);
    if (dir == NULL)
        return errno == ENOENT || errno == ENOTDIR
                   ? 0
                   : report_path(EXIT_IO, folder, MSG_CANNOT_READ_FILE, strerror(errno));
    for (const struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        if (entry->d_name[0] != '.' && text_ends_with(entry->d_name, ".family"))
            text_addf(&append()->path, "%s/%s", folder, entry->d_name);
    }
    (void)closedir(dir);
    if (count > first)
        qsort(files + first, count - first, sizeof *files, by_path);
    return 0;
}

static int read_folder(void)
{
    text folder = {0};
    size_t first = count;
    int code = find_folder(&folder) ? list_folder(folder.ptr) : 0;
    text_free(&folder);
    return code != 0 ? code : read_files(first);
}

int families_collect(const arguments *args)
{
    if (!option_is_in(OPTION_FAMILY, args->command))
        return 0;
    for (size_t i = 0; i < args->family_count; i++)
        text_adds(&append()->path, args->families[i]);
    int code = read_files(0);
    return code != 0 ? code : read_folder();
}

/* ---- tables ---- */

int families_parse(void)
{
    wb_error error;
    if (count == 0)
        return 0;
    wb_family_table *tables = need_memory(NULL, count, sizeof *tables);
    for (size_t i = 0; i < count; i++)
        tables[i] = (wb_family_table){.size = sizeof *tables,
                                      .path = files[i].path.ptr,
                                      .text = files[i].contents.ptr,
                                      .text_len = files[i].contents.len};
    wb_status status = wb_families_read(tables, count, NULL, &families, &error);
    free(tables);
    if (status == WB_OK)
        return 0;
    report_error("", &error);
    return exit_code_of_opening(status);
}

wb_families *families_opened(void)
{
    return families;
}

void families_end(void)
{
    wb_families_free(families);
    for (size_t i = 0; i < count; i++) {
        text_free(&files[i].path);
        text_free(&files[i].contents);
    }
    free(files);
}

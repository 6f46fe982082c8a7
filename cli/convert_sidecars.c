/* The sidecar files of a model that is converted: those in its directory, or at its address. */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "convert.h"
#include "exit.h"
#include "messages.h"
#include "output.h"
#include "paths.h"
#include "remote.h"
#include "report.h"
#include "text.h"

static bool is_weights(const char *name)
{
    static const char *const ends[] = {".safetensors", ".gguf", ".index.json", ".bin", ".pt",
                                       ".pth",         ".h5",   ".msgpack",    ".onnx"};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        if (text_ends_with(name, ends[i]))
            return true;
    }
    return false;
}

/* Adds the file `name` to the output. If the input is a directory, every file that contains no
 * weights is added. If the input is a single file, only the sidecar files that the model was read
 * from are added.
 */
static wb_status add_beside(const convert_job *job, wb_writer *writer, const char *folder,
                            const char *name, wb_error *error)
{
    text path = {0};
    text_addf(&path, "%s/%s", folder, name);
    wb_status status = WB_OK;
    if (job->in_is_folder || wb_net_owns(job->in) || replaces_model(path.ptr, job->model))
        status = wb_writer_add_sidecar(writer, job->model, name, error);
    if (status == WB_ERROR_FORMAT) /* a link that leads outside the directory */
        report_error(path.ptr, error);
    text_free(&path);
    return status == WB_ERROR_FORMAT || status == WB_ERROR_NOT_FOUND ? WB_OK : status;
}

/* Appends the path of the directory that contains the file `path`. */
static void add_folder_of(text *t, const char *path)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL)
        text_adds(t, ".");
    else
        text_add(t, path, slash == path ? 1 : (size_t)(slash - path));
}

/* Finds the directory that contains the model. Returns false if the model is not a file in a
 * directory. If the input is a repository of a Hugging Face cache, the files are in a snapshot of
 * it.
 */
static bool find_folder(const convert_job *job, text *path)
{
    struct stat st;
    wb_file file = WB_FILE_INIT;
    bool is_file = !job->in_is_folder && strcmp(job->in, STDIN_PATH) != 0 &&
                   stat(job->in, &st) == 0 && S_ISREG(st.st_mode);
    if (is_file)
        add_folder_of(path, job->in);
    else if (job->in_is_folder && wb_file_at(job->model, 0, &file, NULL) == WB_OK)
        add_folder_of(path, file.path);
    return path->len > 0;
}

/* Adds sidecar files by their known names: a directory that cannot be listed can have files that
 * can be opened by name.
 */
static wb_status add_known(const convert_job *job, wb_writer *writer, const char *folder,
                           wb_error *error)
{
    const char *name;
    wb_status status = WB_OK;
    for (size_t i = 0; (name = wb_sidecar_name(i)) != NULL && status == WB_OK; i++) {
        if (strchr(name, '/') == NULL && !is_weights(name))
            status = add_beside(job, writer, folder, name, error);
    }
    return status;
}

/* Warns about known sidecar files in subdirectories. They are not copied, because the writer
 * creates no subdirectories.
 */
static void tell_left_out(const char *folder)
{
    const char *name;
    for (size_t i = 0; (name = wb_sidecar_name(i)) != NULL; i++) {
        struct stat st;
        text path = {0};
        text_addf(&path, "%s/%s", folder, name);
        if (strchr(name, '/') != NULL && stat(path.ptr, &st) == 0 && S_ISREG(st.st_mode))
            (void)report_path(0, path.ptr, MSG_SUBFOLDER_NOT_COPIED);
        text_free(&path);
    }
}

static int add_local(const convert_job *job, wb_writer *writer, wb_status *status, wb_error *error)
{
    const struct dirent *entry;
    text path = {0};
    int code = 0;
    if (!find_folder(job, &path))
        return 0;
    DIR *folder = opendir(path.ptr);
    if (folder == NULL && errno == EACCES && !job->in_is_folder) {
        (void)report_path(0, path.ptr, MSG_FOLDER_NOT_READABLE);
        *status = add_known(job, writer, path.ptr, error);
    } else if (folder == NULL) {
        code = report_path(EXIT_IO, path.ptr, "%s", strerror(errno));
    }
    while (folder != NULL && *status == WB_OK && (entry = readdir(folder)) != NULL) {
        if (entry->d_name[0] != '.' && !is_weights(entry->d_name))
            *status = add_beside(job, writer, path.ptr, entry->d_name, error);
    }
    if (folder != NULL)
        (void)closedir(folder);
    if (job->in_is_folder && *status == WB_OK && code == 0)
        tell_left_out(path.ptr);
    text_free(&path);
    return code;
}

/* ---- models at addresses ---- */

typedef struct remote_names {
    const convert_job *job;
    wb_writer *writer;
    const char *folder;
    wb_error *error;
    wb_status status; /* of the last file */
} remote_names;

static bool is_known(const char *name)
{
    const char *known;
    for (size_t i = 0; (known = wb_sidecar_name(i)) != NULL; i++) {
        if (strcmp(known, name) == 0)
            return true;
    }
    return false;
}

static wb_status add_listed(void *ctx, const char *name)
{
    remote_names *n = ctx;
    if (name[0] != '.' && !is_weights(name) && !is_known(name))
        n->status = add_beside(n->job, n->writer, n->folder, name, n->error);
    return n->status;
}

/* Adds the files with known names, and all others that the server lists. Most web servers list
 * none. */
static wb_status add_remote(const convert_job *job, wb_writer *writer, wb_error *error)
{
    wb_error unlisted;
    const wb_files *files = remote_files();
    text folder = {0};
    size_t n = strlen(job->in);
    while (n > 0 && (job->in_is_folder ? job->in[n - 1] == '/' : job->in[n - 1] != '/'))
        n--;
    text_add(&folder, job->in, job->in_is_folder || n == 0 ? n : n - 1);
    remote_names names = {.job = job, .writer = writer, .folder = folder.ptr, .error = error};
    names.status = add_known(job, writer, folder.ptr, error);
    if (job->in_is_folder && names.status == WB_OK)
        (void)files->list(files->ctx, folder.ptr, add_listed, &names, &unlisted);
    text_free(&folder);
    return names.status;
}

int convert_add_beside(const convert_job *job, wb_writer *writer)
{
    wb_error error;
    wb_status status = WB_OK;
    int code = 0;
    if (job->out_is_folder && wb_net_owns(job->in))
        status = add_remote(job, writer, &error);
    else if (job->out_is_folder)
        code = add_local(job, writer, &status, &error);
    return status == WB_OK ? code : convert_fail(job, status, &error);
}

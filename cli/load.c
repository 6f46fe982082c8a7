/* wb load: measures the cost of loading a model and compares it with the limits of the machine. */
#define _POSIX_C_SOURCE 200809L
#include "load.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "exit.h"
#include "messages.h"
#include "paths.h"
#include "report.h"
#include "table.h"
#include "terminal.h"
#include "threads.h"
#include "upload.h"

typedef struct digest {
    bool is_known;
    uint8_t sha256[32];
} digest;

typedef struct loading {
    const arguments *args;
    wb_open_options open;
    wb_limits limits;
    wb_load_options options;
    const char *path, *label;
    wb_model *model;
    machine_limits machine;
    wb_load_report report;
    /* files: number of files of the model; file_bytes: their total size; cached: number of these
     * bytes that are in the page cache before loading
     */
    uint64_t files, cached, file_bytes;
    uint64_t open_ns, load_ns;
    uint64_t resident;       /* peak resident memory of the load, in bytes */
    unsigned char **images;  /* --device host: one buffer per file */
    const wb_device *device; /* the device, unless it is the host; NULL: none */
    upload_plan uploads;
    uint64_t compared;  /* number of bytes read back from the device and compared with the files */
    double upload_rate; /* measured upper limit of the upload rate, in bytes per second */
    digest *digests;
    _Alignas(8) _Atomic uint64_t sum; /* sum of all loaded data, so that the compiler cannot drop
                                       * the reads */
} loading;

/* ---- callbacks of wb_load ---- */

static int consume(void *ctx, const wb_piece *piece)
{
    loading *l = ctx;
    atomic_fetch_add_explicit(&l->sum, add_up(piece->data, (size_t)piece->bytes),
                              memory_order_relaxed);
    return 0;
}

static void *place(void *ctx, uint64_t file, uint64_t offset, uint64_t bytes)
{
    loading *l = ctx;
    (void)bytes;
    return l->images[file] + offset;
}

static void *target(void *ctx, const wb_piece *piece, uint64_t *offset)
{
    const loading *l = ctx;
    return uploads_target(&l->uploads, piece, offset);
}

static void take_digest(void *ctx, uint64_t file, const uint8_t sha256[32])
{
    loading *l = ctx;
    l->digests[file].is_known = true;
    memcpy(l->digests[file].sha256, sha256, sizeof l->digests[file].sha256);
}

/* ---- results ---- */

static void text_add_rate(text *t, double bytes_a_second)
{
    text_addf(t, "%.2f GB/s", bytes_a_second / 1e9);
}

static void text_add_time(text *t, uint64_t ns)
{
    if (ns < 10000000)
        text_addf(t, "%.2f ms", (double)ns / 1e6);
    else
        text_addf(t, "%.3f s", (double)ns / 1e9);
}

static double load_rate(const loading *l)
{
    return l->load_ns == 0 ? 0 : (double)l->report.bytes * 1e9 / (double)l->load_ns;
}

static uint64_t resident_bytes(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (uint64_t)usage.ru_maxrss * 1024 : 0;
}

/* One line of the table: a name, and a time, a size or a rate. Columns that are 0 are empty. */
typedef struct line {
    const char *name;
    uint64_t ns, bytes; /* ns: a duration; bytes: data transferred in this time, or a size if ns
                         * is 0 */
    double rate;        /* in bytes per second */
    bool is_always_shown;
} line;

enum { LINES = 20 };

static void lines_of(const loading *l, line lines[LINES])
{
    const wb_load_report *r = &l->report;
    const line all[LINES] = {
        {"opening", l->open_ns, 0, 0, true},
        {"loading", l->load_ns, r->bytes, load_rate(l), true},
        {"  processor time", r->processor_ns, 0, 0, true},
        {"  fetching, all threads", r->read_ns, 0, 0, false},
        {"  SHA-256, all threads", r->digest_ns, 0, 0, false},
        {"  converting, all threads", r->convert_ns, 0, 0, false},
        {"  checksums, all threads", r->consume_ns, 0, 0, false},
        {"  uploading, all threads", r->upload_ns, r->uploaded, 0, false},
        {"buffers on the device", l->uploads.ns, l->uploads.bytes, 0, false},
        {"used in place (no copy)", 0, l->uploads.borrowed, 0, false},
        {"read back and verified", 0, l->compared, 0, false},
        {"fetched: already in memory", 0, r->in_memory, 0, false},
        {"fetched: mapped", 0, r->mapped, 0, false},
        {"fetched: page cache", 0, r->copied, 0, false},
        {"fetched: direct I/O", 0, r->direct, 0, false},
        {"peak resident memory", 0, l->resident, 0, true},
        {"limit: memcpy", 0, 0, l->machine.copy, false},
        {"limit: checksum", 0, 0, l->machine.read, false},
        {"limit: disk, direct I/O", 0, 0, l->machine.disk, false},
        {"limit: copies to the device", 0, 0, l->upload_rate, false},
    };
    memcpy(lines, all, sizeof all);
}

static bool table_row(void *ctx, uint64_t index, text cells[TABLE_COLUMNS])
{
    const line *row = (const line *)ctx + index;
    if (!row->is_always_shown && row->ns == 0 && row->bytes == 0 && row->rate <= 0)
        return false;
    text_adds(&cells[0], row->name);
    if (row->ns != 0)
        text_add_time(&cells[1], row->ns);
    if (row->bytes != 0)
        text_add_size(&cells[2], row->bytes);
    if (row->rate > 0)
        text_add_rate(&cells[3], row->rate);
    return true;
}

static void text_add_hex(text *t, const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        text_addf(t, "%02x", bytes[i]);
}

static const char *file_path(const loading *l, uint64_t i)
{
    wb_file file = WB_FILE_INIT;
    return wb_file_at(l->model, i, &file, NULL) == WB_OK ? file.path : "";
}

static void present(const loading *l)
{
    line lines[LINES];
    text t = {0};
    out *o = out_stdout();
    lines_of(l, lines);
    text_add_shown(&t, l->label, strlen(l->label));
    text_adds(&t, ": ");
    text_add_count(&t, l->files);
    text_addf(&t, " file%s, ", l->files == 1 ? "" : "s");
    text_add_size(&t, l->file_bytes);
    text_addf(&t, ", %.0f %% in the page cache before\n",
              l->file_bytes == 0 ? 0 : 100 * (double)l->cached / (double)l->file_bytes);
    for (uint64_t i = 0; l->digests != NULL && i < l->files; i++) {
        const char *path = file_path(l, i);
        if (!l->digests[i].is_known)
            continue;
        text_add_hex(&t, l->digests[i].sha256, sizeof l->digests[i].sha256);
        text_adds(&t, "  ");
        text_add_shown(&t, path, strlen(path));
        text_adds(&t, "\n");
    }
    out_text(o, &t);
    text_free(&t);
    table_print(o, &(table){.columns = 4,
                            .titles = {"", "time", "bytes", "rate"},
                            .align = "lrrr",
                            .rows = LINES,
                            .row = table_row,
                            .ctx = lines});
}

static void json_rate(wb_json *json, const char *key, double rate)
{
    wb_json_key(json, key, SIZE_MAX);
    if (rate > 0)
        wb_json_uint(json, (uint64_t)rate);
    else
        wb_json_null(json);
}

static void answer(const loading *l)
{
    const wb_load_report *r = &l->report;
    wb_json json = out_json(out_stdout());
    json_answer(&json, "load");
    json_text(&json, "path", l->path);
    json_number(&json, "files", l->files);
    json_number(&json, "file_bytes", l->file_bytes);
    json_number(&json, "cached_before", l->cached);
    json_number(&json, "open_ns", l->open_ns);
    json_number(&json, "load_ns", l->load_ns);
    json_number(&json, "processor_ns", r->processor_ns);
    json_number(&json, "bytes", r->bytes);
    json_rate(&json, "bytes_per_second", load_rate(l));
    json_number(&json, "in_memory", r->in_memory);
    json_number(&json, "mapped", r->mapped);
    json_number(&json, "copied", r->copied);
    json_number(&json, "direct", r->direct);
    json_number(&json, "read_ns", r->read_ns);
    json_number(&json, "digest_ns", r->digest_ns);
    json_number(&json, "convert_ns", r->convert_ns);
    json_number(&json, "consume_ns", r->consume_ns);
    json_optional(&json, "device",
                  l->args->given[OPTION_DEVICE] ? l->args->value[OPTION_DEVICE] : "");
    json_number(&json, "buffers_ns", l->uploads.ns);
    json_number(&json, "borrowed", l->uploads.borrowed);
    json_number(&json, "uploaded", r->uploaded);
    json_number(&json, "upload_ns", r->upload_ns);
    json_number(&json, "compared", l->compared);
    json_number(&json, "resident_bytes", l->resident);
    wb_json_key(&json, "limits", SIZE_MAX);
    wb_json_begin(&json, '{');
    json_rate(&json, "memcpy", l->machine.copy);
    json_rate(&json, "read_sum", l->machine.read);
    json_rate(&json, "disk", l->machine.disk);
    json_rate(&json, "upload", l->upload_rate);
    wb_json_end(&json, '}');
    wb_json_key(&json, "sha256", SIZE_MAX);
    wb_json_begin(&json, '[');
    for (uint64_t i = 0; l->digests != NULL && i < l->files; i++) {
        text hex = {0};
        wb_json_begin(&json, '{');
        json_text(&json, "file", file_path(l, i));
        text_add_hex(&hex, l->digests[i].sha256, sizeof l->digests[i].sha256);
        json_text(&json, "sha256", l->digests[i].is_known ? hex.ptr : "");
        wb_json_end(&json, '}');
        text_free(&hex);
    }
    wb_json_end(&json, ']');
    wb_json_end(&json, '}');
    out_json_end(&json);
}

/* ---- loading ---- */

/* Sums up the sizes of the files. Reads the files into the page cache (--warm) or drops them from
 * the page cache (--cold). Returns the path of the largest file.
 */
static const char *prepare_files(loading *l)
{
    const char *largest = NULL;
    uint64_t most = 0;
    l->files = wb_file_count(l->model);
    for (uint64_t i = 0; i < l->files; i++) {
        wb_file file = WB_FILE_INIT;
        uint64_t cached;
        if (wb_file_at(l->model, i, &file, NULL) != WB_OK)
            continue;
        if (l->args->given[OPTION_COLD])
            make_cold(file.path);
        if (l->args->given[OPTION_WARM])
            make_warm(file.path);
        if (wb_file_cached(l->model, i, &cached, NULL) == WB_OK)
            l->cached += cached;
        l->file_bytes += file.bytes;
        if (file.bytes >= most)
            largest = file.path;
        most = file.bytes > most ? file.bytes : most;
    }
    return largest;
}

/* Allocates a buffer for each file and touches its pages, so that page faults are not measured. */
static void make_images(loading *l)
{
    enum { ALIGNMENT = 4096 };
    l->images = need_memory(NULL, (size_t)l->files + 1, sizeof *l->images);
    for (uint64_t i = 0; i < l->files; i++) {
        wb_file file = WB_FILE_INIT;
        void *image = NULL;
        if (wb_file_at(l->model, i, &file, NULL) != WB_OK ||
            file.bytes > SIZE_MAX - 2 * ALIGNMENT ||
            posix_memalign(&image, ALIGNMENT, (size_t)file.bytes + ALIGNMENT) != 0)
            die_of_memory();
        memset(image, 0, (size_t)file.bytes + ALIGNMENT);
        l->images[i] = image;
    }
}

/* Creates the device buffers, to which wb_load copies the data. There is no `consume` callback, so
 * l->sum is not computed.
 */
static wb_status make_uploads(loading *l, wb_error *error)
{
    bool converts = (l->options.flags & WB_LOAD_CONVERT) != 0;
    l->options.device = l->device;
    l->options.target = target;
    l->options.consume = NULL;
    return uploads_make(&l->uploads, l->device, l->model, converts ? l->options.dtype : -1,
                        l->options.io == WB_IO_MAP, error);
}

static wb_status load(loading *l, wb_error *error)
{
    const wb_progress progress = progress_of(l->label);
    l->options.progress = &progress;
    l->options.ctx = l;
    l->report = (wb_load_report){.size = sizeof l->report};
    uint64_t start = clock_ns();
    wb_status status = wb_load(l->model, &l->options, &l->report, error);
    l->load_ns = clock_ns() - start;
    progress_clear();
    return status == WB_OK ? wb_model_check(l->model, error) : status;
}

static void clean_up(loading *l)
{
    for (uint64_t i = 0; l->images != NULL && i < l->files; i++)
        free(l->images[i]);
    free(l->images);
    free(l->digests);
    uploads_free(&l->uploads);
    wb_close(l->model);
}

static int load_path(void *ctx, paths *seen, const char *path)
{
    const loading *given = ctx;
    loading l = {.args = given->args,
                 .open = given->open,
                 .options = given->options,
                 .device = given->device};
    wb_error error;
    l.path = path;
    l.label = path_label(path);
    uint64_t start = clock_ns();
    wb_status status = open_path(path, &l.open, &l.model, &error);
    l.open_ns = clock_ns() - start;
    int code = exit_code_of_opening(status);
    if (status == WB_OK) {
        paths_cover(seen, l.model);
        const char *largest = prepare_files(&l);
        if (l.device != NULL) {
            status = make_uploads(&l, &error);
        } else if (l.args->given[OPTION_DEVICE]) {
            make_images(&l);
            l.options.place = place;
        }
        if (l.args->given[OPTION_VERIFY_FILES]) {
            l.digests = need_memory(NULL, (size_t)l.files + 1, sizeof *l.digests);
            memset(l.digests, 0, ((size_t)l.files + 1) * sizeof *l.digests);
        }
        if (status == WB_OK)
            status = load(&l, &error);
        code = exit_code_of(status);
        l.resident = resident_bytes(); /* before the steps below allocate memory */
        if (status == WB_OK && l.device != NULL && l.args->given[OPTION_VERIFY_FILES])
            code = uploads_compare(&l.uploads, l.label, &l.compared);
        if (status == WB_OK)
            l.machine = measure_machine(largest);
        if (status == WB_OK && l.device != NULL)
            l.upload_rate = measure_upload(l.device);
    }
    if (status != WB_OK) {
        report_error(l.label, &error);
        if (l.args->given[OPTION_JSON])
            json_failure(path, &error);
    } else if (l.args->given[OPTION_JSON]) {
        answer(&l);
    } else {
        present(&l);
    }
    clean_up(&l);
    return code;
}

int command_load(const arguments *args)
{
    static const char *const ios[] = {"auto", "map", "read", "direct"};
    loading l = {.args = args};
    int code = open_options_of(args, &l.open, &l.limits);
    if (code != 0)
        return code;
    l.options = (wb_load_options){.size = sizeof l.options,
                                  .lanes = threads_count() > THREADS_WAITING ? threads_count()
                                                                             : THREADS_WAITING,
                                  .executor = threads_waiting(),
                                  .consume = consume,
                                  .digest = take_digest};
    for (int i = 0; args->given[OPTION_IO] && i < 4; i++) {
        if (strcmp(args->value[OPTION_IO], ios[i]) == 0)
            l.options.io = (wb_io)i;
    }
    /* Files are mapped only on request (--io map): a mapping faults if another program truncates
     * the file.
     */
    l.open.access = l.options.io == WB_IO_MAP ? WB_ACCESS_MAP : WB_ACCESS_READ;
    if (args->given[OPTION_COLD] && args->given[OPTION_WARM])
        return report_usage(MSG_COLD_AND_WARM);
    if (args->given[OPTION_VERIFY_FILES])
        l.options.flags |= WB_LOAD_DIGEST;
    if (args->given[OPTION_DTYPE]) {
        l.options.flags |= WB_LOAD_CONVERT;
        l.options.dtype = wb_dtype_find(args->value[OPTION_DTYPE], SIZE_MAX);
        if (l.options.dtype < 0)
            return report_usage(MSG_DTYPE_UNKNOWN);
    }
    if (!args->given[OPTION_DEVICE] || strcmp(args->value[OPTION_DEVICE], "host") == 0)
        return paths_each(args, load_path, &l);
    wb_device device;
    code = device_open(args->value[OPTION_DEVICE], &device);
    l.device = &device;
    if (code == EXIT_CLEAN)
        code = paths_each(args, load_path, &l);
    wb_device_close(&device);
    return code;
}

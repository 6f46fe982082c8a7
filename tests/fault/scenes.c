/*
 * The scenes (world.h) for the fault tests: each runs one operation of the library. Together they
 * cover every operation that writes files, and the reading operations that these depend on.
 */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include "world.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

uint64_t read_digest, all_given_at, bytes_given;

static wb_allocator allocator;

/* ---- what is written ---- */

typedef struct recipe {
    const char *format, *path;
    uint32_t flags;
    uint64_t max_file_tensors;
    const char *source; /* model to copy tensors from; NULL: the caller provides the bytes */
} recipe;

#define BYTES 9000
#define PART_BYTES 1000 /* small enough that a conversion writes three parts */

static wb_status give_tensors(wb_writer *writer, wb_error *error)
{
    static uint8_t bytes[BYTES];
    wb_status status = WB_OK;
    for (size_t i = 0; i < BYTES; i++)
        bytes[i] = (uint8_t)(i * 31 + 7);
    /* Writes the tensors in reverse order, and the second half of each before the first half. */
    for (uint64_t i = 3; i-- > 0 && status == WB_OK;) {
        size_t n = i == 0 ? 40 : i == 1 ? BYTES : 8;
        status = wb_writer_put(writer, i, n / 2, bytes + n / 2, n - n / 2, error);
        if (status == WB_OK)
            status = wb_writer_put(writer, i, 0, bytes, n / 2, error);
    }
    return status;
}

static wb_status declare_tensors(wb_writer *writer, wb_error *error)
{
    static const char *const names[] = {"a.weight", "b.weight", "c.weight"};
    static const uint64_t shapes[] = {40, BYTES, 8};
    wb_status status = WB_OK;
    for (size_t i = 0; i < 3 && status == WB_OK; i++)
        status = wb_writer_add(writer, names[i], SIZE_MAX, WB_DTYPE_I8, &shapes[i], 1, NULL, error);
    return status;
}

static wb_status declare_source(wb_writer *writer, const wb_model *source, wb_error *error)
{
    wb_status status = WB_OK;
    for (uint64_t i = 0; i < wb_tensor_count(source) && status == WB_OK; i++) {
        wb_tensor t = {.size = sizeof t};
        status = wb_tensor_at(source, i, &t, error);
        if (status == WB_OK)
            status = wb_writer_add(writer, t.name, t.name_len, (int32_t)t.dtype, t.shape, t.rank,
                                   NULL, error);
    }
    return status;
}

static wb_status fill(wb_writer *writer, const recipe *r, const wb_model *source, wb_error *error)
{
    wb_status status = WB_OK;
    if (strcmp(r->format, "ollama") != 0 && strcmp(r->format, "npz") != 0)
        status = wb_writer_set_string(writer, "general.name", SIZE_MAX, "n", 1, error);
    if (status == WB_OK)
        status =
            source != NULL ? declare_source(writer, source, error) : declare_tensors(writer, error);
    if (status == WB_OK && (r->flags & WB_WRITE_FOLDER || strcmp(r->format, "ollama") == 0))
        status =
            wb_writer_add_bytes(writer, "config.json", "{\"architectures\":[\"X\"]}", 23, error);
    if (status == WB_OK && r->flags & WB_WRITE_FOLDER)
        status = wb_writer_add_file(writer, "beside.txt", at("in/beside.txt"), error);
    if (status == WB_OK)
        status =
            wb_writer_plan(writer, strcmp(r->format, "ollama") == 0 ? "m" : at(r->path), error);
    if (status == WB_OK)
        status = wb_writer_begin(writer, error);
    if (status == WB_OK && source == NULL)
        status = give_tensors(writer, error);
    for (uint64_t i = 0; source != NULL && i < wb_tensor_count(source) && status == WB_OK; i++)
        status = wb_writer_copy(writer, i, source, i, error);
    if (status == WB_OK)
        status = wb_writer_commit(writer, error);
    return status;
}

static wb_status write_model(const recipe *r, wb_error *error)
{
    wb_model *source = NULL;
    wb_writer *writer = NULL;
    const wb_open_options open = {
        .size = sizeof open, .access = WB_ACCESS_READ, .allocator = &allocator};
    wb_status status = WB_OK;
    if (r->source != NULL)
        status = wb_open(at(r->source), &open, &source, error);
    const wb_writer_options options = {.size = sizeof options,
                                       .format = r->format,
                                       .flags = r->flags | WB_WRITE_FORCE,
                                       .max_file_tensors = r->max_file_tensors,
                                       .source = source,
                                       .store = at("out/store"),
                                       .allocator = &allocator};
    if (status == WB_OK)
        status = wb_writer_create(&options, &writer, error);
    if (status == WB_OK)
        status = fill(writer, r, source, error);
    wb_writer_free(writer);
    wb_close(source);
    return status;
}

#define WRITES(name, ...)                                                                          \
    static wb_status name(wb_error *error)                                                         \
    {                                                                                              \
        const recipe r = {__VA_ARGS__};                                                            \
        return write_model(&r, error);                                                             \
    }

WRITES(write_safetensors, .format = "safetensors", .path = "out/m.safetensors")
WRITES(write_gguf, .format = "gguf", .path = "out/m.gguf")
WRITES(write_npz, .format = "npz", .path = "out/m.safetensors")
WRITES(write_shards, .format = "safetensors", .path = "out/m.safetensors", .max_file_tensors = 1)
WRITES(write_splits, .format = "gguf", .path = "out/m.gguf", .max_file_tensors = 1)
WRITES(write_folder, .format = "safetensors", .path = "out/m",
       .flags = WB_WRITE_FOLDER | WB_WRITE_FORCE, .max_file_tensors = 2)
WRITES(write_store, .format = "ollama", .flags = WB_WRITE_FORCE)
WRITES(reshard, .format = "safetensors", .path = "out/m.safetensors", .source = "in/m.safetensors",
       .max_file_tensors = 2)
WRITES(merge, .format = "gguf", .path = "out/m.gguf", .source = "in/m.gguf")

static wb_status write_sink(wb_error *error)
{
    wb_sink *sink;
    wb_status status = wb_sink_open(at("out/m.safetensors"), 3, &allocator, &sink, error);
    for (int i = 0; i < 3 && status == WB_OK; i++) {
        status = wb_sink_write(sink, "x", 1, error);
        if (status != WB_OK) {
            wb_sink_discard(sink);
            return status;
        }
    }
    return status == WB_OK ? wb_sink_commit(sink, error) : status;
}

/* ---- edits ---- */

#define SHARD "set-00002-of-00003.safetensors"
#define SHARDS_INDEX "set.safetensors.index.json"

static char longer[6001];

static wb_status edit(const char *path, const wb_edit *edits, uint64_t count, uint32_t flags,
                      wb_error *error)
{
    const wb_edit_options options = {
        .size = sizeof options, .flags = flags, .allocator = &allocator};
    return wb_edit_file(at(path), edits, count, &options, NULL, error);
}

static wb_status set(const char *path, const char *to, uint32_t flags, wb_error *error)
{
    const wb_value value = {
        .size = sizeof value, .type = WB_META_STRING, .text = to, .text_len = strlen(to)};
    const wb_edit one = {.size = sizeof one,
                         .kind = WB_EDIT_SET,
                         .name = "general.name",
                         .name_len = 12,
                         .value = &value};
    return edit(path, &one, 1, flags, error);
}

static wb_status edit_gguf_header(wb_error *error)
{
    return set("out/m.gguf", "o", WB_EDIT_IN_PLACE, error);
}

static wb_status edit_gguf_insert(wb_error *error)
{
    return set("out/m.gguf", longer, WB_EDIT_IN_PLACE, error);
}

static wb_status edit_gguf_new(wb_error *error)
{
    return set("out/m.gguf", longer, 0, error);
}

static wb_status edit_safetensors_header(wb_error *error)
{
    return set("out/m.safetensors", "o", WB_EDIT_IN_PLACE, error);
}

static wb_status edit_safetensors_insert(wb_error *error)
{
    return set("out/m.safetensors", longer, WB_EDIT_IN_PLACE, error);
}

static wb_status edit_safetensors_drop(wb_error *error)
{
    const wb_edit one = {
        .size = sizeof one, .kind = WB_EDIT_DROP, .name = "b.weight", .name_len = 8};
    return edit("out/m.safetensors", &one, 1, WB_EDIT_IN_PLACE, error);
}

/* Renames a tensor of a shard: the shard and the index change together. */
static wb_status edit_shard(uint32_t flags, wb_error *error)
{
    const wb_edit one = {.size = sizeof one,
                         .kind = WB_EDIT_RENAME,
                         .name = "b.weight",
                         .name_len = 8,
                         .to = "renamed",
                         .to_len = 7};
    return edit("out/" SHARD, &one, 1, flags, error);
}

static wb_status edit_shard_header(wb_error *error)
{
    return edit_shard(WB_EDIT_IN_PLACE, error);
}

static wb_status edit_shard_new(wb_error *error)
{
    return edit_shard(0, error);
}

static wb_status recover(wb_error *error)
{
    return wb_edit_recover(at("out/m.gguf"), NULL, error);
}

/* ---- converting ---- */

/* Progress callback. At the first report that all tensors are complete, records the number of
 * system calls so far and the total size. If a file is copied unchanged, does this at the report
 * before the first byte. */
static int hear(void *ctx, uint64_t done, uint64_t total)
{
    (void)ctx;
    if (all_given_at == 0 && (done == total || done == 0)) {
        all_given_at = layer.calls;
        bytes_given = total;
    }
    return 0;
}

static uint64_t max_file_bytes;
static bool replaces = true;

/* Converts the model `from`, which is a name in `store` or, if `store` is NULL, a path. */
static wb_status convert_of(const char *from, const char *store, wb_target target,
                            const char *quant, const char *to, uint32_t flags, wb_error *error)
{
    const wb_progress progress = {NULL, hear};
    wb_model *model;
    wb_conversion *conversion = NULL;
    const wb_open_options open = {
        .size = sizeof open, .access = WB_ACCESS_READ, .store = store, .allocator = &allocator};
    const wb_convert_policy policy = {.size = sizeof policy,
                                      .quant = quant,
                                      .flags = (replaces ? WB_CONVERT_FORCE : 0) | flags,
                                      .max_file_bytes = max_file_bytes,
                                      .store = at("out/store")};
    all_given_at = 0;
    wb_status status = wb_open(from, &open, &model, error);
    if (status == WB_OK)
        status = wb_convert_plan(model, target, &policy, &conversion, error);
    if (status == WB_OK)
        status = wb_convert(conversion, to, &progress, error);
    wb_conversion_free(conversion);
    wb_close(model);
    return status;
}

static wb_status convert(wb_target target, const char *quant, const char *to, uint32_t flags,
                         wb_error *error)
{
    return convert_of(TEST_DATA "/twins/llama", NULL, target, quant, to, flags, error);
}

static wb_status convert_gguf(wb_error *error)
{
    return convert(WB_TARGET_GGUF, "Q8_0", at("out/m.gguf"), 0, error);
}

static wb_status convert_mlx(wb_error *error)
{
    return convert(WB_TARGET_MLX, NULL, at("out/m"), 0, error);
}

/* Converts so that an interrupted run keeps its partial files and the next run can resume. */
static wb_status resume_gguf(wb_error *error)
{
    return convert(WB_TARGET_GGUF, "Q8_0", at("out/m.gguf"), WB_CONVERT_RESUME, error);
}

static wb_status resume_mlx(wb_error *error)
{
    return convert(WB_TARGET_MLX, NULL, at("out/m"), WB_CONVERT_RESUME, error);
}

static wb_status in_parts(wb_target target, const char *to, wb_error *error)
{
    max_file_bytes = PART_BYTES;
    wb_status status = convert(target, "F16", to, WB_CONVERT_RESUME, error);
    max_file_bytes = 0;
    return status;
}

static wb_status resume_splits(wb_error *error)
{
    return in_parts(WB_TARGET_GGUF, at("out/m.gguf"), error);
}

static wb_status resume_shards(wb_error *error)
{
    return in_parts(WB_TARGET_SAFETENSORS, at("out/m.safetensors"), error);
}

static wb_status resume_folder(wb_error *error)
{
    return in_parts(WB_TARGET_SAFETENSORS, at("out/m"), error);
}

static wb_status resume_store(wb_error *error)
{
    return convert(WB_TARGET_OLLAMA, "F16", "m", WB_CONVERT_RESUME, error);
}

/* Like resume_store, but refuses to replace an existing model of the same name. */
static wb_status resume_new_store(wb_error *error)
{
    replaces = false;
    wb_status status = resume_store(error);
    replaces = true;
    return status;
}

/* Copies a GGUF file unchanged into a store. */
static wb_status whole_in(wb_error *error)
{
    return convert_of(at("in/m.gguf"), NULL, WB_TARGET_OLLAMA, NULL, "m", WB_CONVERT_RESUME, error);
}

static wb_status whole_into_new(wb_error *error)
{
    replaces = false;
    wb_status status = whole_in(error);
    replaces = true;
    return status;
}

static wb_status whole_out(wb_error *error)
{
    return convert_of("m", at("in/store"), WB_TARGET_GGUF, NULL, at("out/m.gguf"),
                      WB_CONVERT_RESUME, error);
}

static wb_status convert_store(wb_error *error)
{
    return convert(WB_TARGET_OLLAMA, NULL, "m", 0, error);
}

/* ---- reading ---- */

static wb_status read_model(wb_model *model, wb_error *error)
{
    uint64_t digest = 7;
    wb_status status = WB_OK;
    for (uint64_t i = 0; i < wb_tensor_count(model) && status == WB_OK; i++) {
        uint64_t elements, bytes;
        static uint8_t to[1 << 16];
        wb_tensor t = {.size = sizeof t};
        status = wb_tensor_at(model, i, &t, error);
        if (status == WB_OK)
            status = wb_tensor_read_size(model, i, NULL, -1, &elements, &bytes, error);
        if (status == WB_OK)
            status = wb_tensor_read(model, i, NULL, -1, to, sizeof to, error);
        if (status == WB_OK)
            digest = mix(mix(digest, t.name, t.name_len), to, (size_t)bytes);
    }
    read_digest = digest;
    return status;
}

static wb_status read_with(wb_access access, wb_error *error)
{
    wb_model *model;
    const wb_open_options open = {.size = sizeof open, .access = access, .allocator = &allocator};
    wb_status status = wb_open(TEST_DATA "/twins/llama.gguf", &open, &model, error);
    if (status == WB_OK)
        status = read_model(model, error);
    wb_close(model);
    return status;
}

static wb_status read_file(wb_error *error)
{
    return read_with(WB_ACCESS_READ, error);
}

static wb_status read_snapshot(wb_error *error)
{
    return read_with(WB_ACCESS_SNAPSHOT, error);
}

/* Opens a model from a pipe. The library buffers a stream in memory, and on disk above a limit. */
static wb_status read_stream(wb_error *error)
{
    int ends[2];
    wb_limits limits;
    wb_model *model = NULL;
    wb_limits_default(&limits);
    limits.spool_memory = 20000;
    const wb_open_options open = {
        .size = sizeof open, .limits = &limits, .access = WB_ACCESS_READ, .allocator = &allocator};
    bool was = layer.on;
    layer.on = false;
    static uint8_t bytes[60000];
    int fd = open64(TEST_DATA "/twins/llama.gguf", O_RDONLY);
    ssize_t n = read(fd, bytes, sizeof bytes);
    if (n <= 0 || pipe(ends) != 0 || write(ends[1], bytes, (size_t)n) != n || close(ends[1]) != 0)
        broken("filling", "a pipe");
    (void)close(fd);
    layer.on = was;
    wb_status status = wb_open_fd(ends[0], "stream", &open, &model, error);
    layer.on = false;
    (void)close(ends[0]);
    layer.on = was;
    if (status == WB_OK)
        status = read_model(model, error);
    wb_close(model);
    return status;
}

static wb_status read_values(wb_error *error)
{
    wb_model *model;
    wb_hashes *hashes = NULL;
    const wb_open_options open = {
        .size = sizeof open, .access = WB_ACCESS_READ, .allocator = &allocator};
    const wb_hash_options options = {.size = sizeof options, .flags = WB_HASH_VALUES};
    uint8_t digest[WB_DIGEST_BYTES];
    wb_status status = wb_open(TEST_DATA "/twins/llama", &open, &model, error);
    if (status == WB_OK)
        status = wb_hash_model(model, &options, &hashes, error);
    if (status == WB_OK)
        status = wb_hash_values(hashes, digest);
    if (status == WB_OK)
        read_digest = mix(7, digest, sizeof digest);
    wb_hashes_free(hashes);
    wb_close(model);
    return status;
}

/* ---- initial contents of the directory ---- */

static void nothing(void) {}

static void copy(const char *from, const char *to)
{
    static uint8_t bytes[1 << 17];
    int fd = open64(at(from), O_RDONLY);
    ssize_t n = read(fd, bytes, sizeof bytes);
    if (n < 0 || n == sizeof bytes || close(fd) != 0)
        broken("reading", from);
    put(to, bytes, (size_t)n);
}

static void old_file(void)
{
    copy("in/old.safetensors", "out/m.safetensors");
    (void)chmod(at("out/m.safetensors"), 0640);
}

static void old_gguf(void)
{
    copy("in/old.gguf", "out/m.gguf");
}

static void same_gguf(void)
{
    copy("in/m.gguf", "out/m.gguf");
    (void)chmod(at("out/m.gguf"), 0600);
}

static void same_safetensors(void)
{
    copy("in/m.safetensors", "out/m.safetensors");
}

static void old_folder(void)
{
    empty_folder("out/m");
    copy("in/old.safetensors", "out/m/model.safetensors");
    put("out/m/config.json", "{}", 2);
}

static void old_store(void)
{
    wb_error error;
    if (write_store(&error) != WB_OK)
        broken("writing", "a store");
    put("out/store/manifests/registry.ollama.ai/library/m/latest", "{\"old\":1}", 9);
}

static void same_shards(void)
{
    copy("in/set-00001-of-00003.safetensors", "out/set-00001-of-00003.safetensors");
    copy("in/" SHARD, "out/" SHARD);
    copy("in/set-00003-of-00003.safetensors", "out/set-00003-of-00003.safetensors");
    copy("in/" SHARDS_INDEX, "out/" SHARDS_INDEX);
}

/* Creates the journal and the half-written header of a killed edit, as saved by break_edit. */
static void half_edit(void)
{
    copy("in/half.gguf", "out/m.gguf");
    copy("in/half.journal", "out/.m.gguf.wb-journal");
}

#define MANIFEST "store/manifests/registry.ollama.ai/library/m/latest"

const scene scenes[] = {
    {"a sink over a file", old_file, write_sink, NULL, false, false, false},
    {"a sink, new", nothing, write_sink, NULL, false, false, false},
    {"safetensors over a file", old_file, write_safetensors, NULL, false, false, false},
    {"safetensors, new", nothing, write_safetensors, NULL, false, false, false},
    {"GGUF over a file", old_gguf, write_gguf, NULL, false, false, false},
    {"shards", nothing, write_shards, "m.safetensors.index.json", false, true, false},
    {"splits", nothing, write_splits, "m-00001-of-00003.gguf", false, true, false},
    {"a folder over another", old_folder, write_folder, NULL, false, false, false},
    {"a folder, new", nothing, write_folder, NULL, false, false, false},
    {"a store, new", nothing, write_store, MANIFEST, false, false, true},
    {"a model in a store replaced", old_store, write_store, MANIFEST, false, false, true},
    {"resharding", nothing, reshard, "m.safetensors.index.json", false, true, false},
    {"copying over a file", old_gguf, merge, NULL, false, false, false},
    {"edit of GGUF, header", same_gguf, edit_gguf_header, NULL, false, false, false},
    {"edit of GGUF, room made", same_gguf, edit_gguf_insert, NULL, false, false, false},
    {"edit of GGUF, new file", same_gguf, edit_gguf_new, NULL, false, false, false},
    {"edit of safetensors, header", same_safetensors, edit_safetensors_header, NULL, false, false,
     false},
    {"edit of safetensors, room made", same_safetensors, edit_safetensors_insert, NULL, false,
     false, false},
    {"edit of safetensors, dropped", same_safetensors, edit_safetensors_drop, NULL, false, true,
     false},
    {"edit of a shard, header", same_shards, edit_shard_header, NULL, false, true, false},
    {"edit of a shard, new file", same_shards, edit_shard_new, NULL, false, true, false},
    {"undoing an edit", half_edit, recover, NULL, false, false, false},
    {"converting to GGUF", old_gguf, convert_gguf, NULL, false, false, false},
    {"converting to MLX", old_folder, convert_mlx, NULL, false, false, false},
    {"converting to GGUF, resumable", old_gguf, resume_gguf, NULL, false, false, false},
    {"converting to MLX, resumable", old_folder, resume_mlx, NULL, false, false, false},
    {"converting to splits, resumable", nothing, resume_splits, "m-00001-of-00003.gguf", false,
     true, false},
    {"converting to shards, resumable", nothing, resume_shards, "m.safetensors.index.json", false,
     true, false},
    {"converting to a folder of shards, resumable", old_folder, resume_folder, NULL, false, false,
     false},
    {"converting into a store, resumable", nothing, resume_store, MANIFEST, false, false, true},
    {"a file into a store as it is, resumable", nothing, whole_in, MANIFEST, false, false, true},
    {"converting into a store without the model, resumable", nothing, resume_new_store, MANIFEST,
     false, true, true},
    {"a file into a store without the model as it is, resumable", nothing, whole_into_new, MANIFEST,
     false, true, true},
    {"a file out of a store as it is, resumable", old_gguf, whole_out, NULL, false, false, false},
    {"an .npz over a file", old_file, write_npz, NULL, false, false, false},
    {"converting into a store", nothing, convert_store, MANIFEST, false, false, true},
    {"reading", nothing, read_file, NULL, true, false, false},
    {"reading a snapshot", nothing, read_snapshot, NULL, true, false, false},
    {"reading a stream", nothing, read_stream, NULL, true, false, false},
    {"digests of values", nothing, read_values, NULL, true, false, false},
};
const size_t scene_count = sizeof scenes / sizeof *scenes;

/* ---- once ---- */

static void need(wb_status status, const char *what, const wb_error *error)
{
    if (status != WB_OK) {
        fprintf(stderr, "%s\n", error->message);
        broken("making", what);
    }
}

/* Runs an edit that is killed while it writes the header, and saves the files for half_edit. */
static void break_edit(void)
{
    static layer_call kinds[1000];
    wb_error error;
    uint64_t last = 0;
    for (int round = 0; round < 2; round++) {
        empty_folder("out");
        same_gguf();
        layer.kinds = round == 0 ? kinds : NULL;
        layer.capacity = 1000;
        layer_reset();
        if (round == 1)
            layer.fault[0] = (layer_fault){LAYER_TEAR, last, 0};
        pid_t child = round == 1 ? fork() : 0;
        if (child == 0) {
            layer.on = true;
            (void)edit_gguf_insert(&error);
            layer.on = false;
            if (round == 1)
                _exit(0);
        } else {
            (void)waitpid(child, NULL, 0);
        }
        for (uint64_t i = 0; round == 0 && i < layer.calls; i++)
            last = kinds[i] == LAYER_PWRITE ? i + 1 : last;
    }
    layer.kinds = NULL;
    layer_reset();
    copy("out/m.gguf", "in/half.gguf");
    copy("out/.m.gguf.wb-journal", "in/half.journal");
}

void scenes_begin(void)
{
    wb_error error;
    allocator = layer_allocator();
    memset(longer, 'x', sizeof longer - 1);
    empty_folder("in");
    empty_folder("out");
    empty_folder("state");
    if (setenv("XDG_STATE_HOME", at("state"), 1) != 0)
        broken("setting", "XDG_STATE_HOME");
    put("in/beside.txt", "beside", 6);
    const recipe st = {.format = "safetensors", .path = "in/m.safetensors"};
    const recipe gguf = {.format = "gguf", .path = "in/m.gguf"};
    put("in/old.safetensors", "\x08\0\0\0\0\0\0\0{}      ", 16);
    need(write_model(&st, &error), "in/m.safetensors", &error);
    need(write_model(&gguf, &error), "in/m.gguf", &error);
    const recipe set_of_shards = {
        .format = "safetensors", .path = "in/set.safetensors", .max_file_tensors = 1};
    need(write_model(&set_of_shards, &error), "in/" SHARDS_INDEX, &error);
    copy("in/m.gguf", "in/old.gguf");
    /* The first edit in place also creates the secret key for journals. */
    need(set("in/old.gguf", "old", WB_EDIT_IN_PLACE, &error), "in/old.gguf", &error);
    need(convert_of(at("in/m.gguf"), NULL, WB_TARGET_OLLAMA, NULL, "m", 0, &error), "out/store",
         &error);
    if (rename(at("out/store"), at("in/store")) != 0)
        broken("moving", "out/store");
    break_edit();
    empty_folder("out");
}

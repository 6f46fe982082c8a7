#define _GNU_SOURCE
#include "load/load.h"
#include "bundles/ollama/blob_name.h"
#include "core/call_options.h"
#include "load/load_messages.h"

#include <time.h>

#define DEFAULT_LANES 4u
#define DEFAULT_MEMORY ((uint64_t)32 << 20)
#define CONVERT_MEMORY ((uint64_t)64 << 20)
#define PIECE_MIN ((uint64_t)64 << 10)
#define PIECE_MAX ((uint64_t)8 << 20)

/* Returns the processor time of the calling thread, or 0 if it is not available. */
static uint64_t processor_time(void)
{
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- files ---- */

static void close_file(wb__load_file *file)
{
    if (!file->is_open)
        return;
    wb__direct_close(&file->direct);
    wb__sha256_lane_close(&file->sha256);
    wb__order_free(&file->order);
    file->is_open = false;
}

/* Finishes a file after all its pieces are finished. The lock is held. */
static wb_status finish_file(wb__load *load, wb__lane *lane, size_t number)
{
    wb__load_file *file = &load->files[number];
    const char *path = load->model->catalog.files[number].path;
    uint8_t expected[WB__SHA256_BYTES];
    wb_status status = WB_OK;
    if (load->options->flags & WB_LOAD_DIGEST) {
        if (wb__digest_of_name(path, expected) &&
            memcmp(expected, file->digest, sizeof expected) != 0)
            status = wb__fail(&lane->context, WB_ERROR_FORMAT, WB__FINDING_OLLAMA_BLOB_DIGEST,
                              WB_NO_OFFSET, WB__STR(""), WB__MSG_LOAD_DIGEST);
        else if (load->options->digest != NULL)
            load->options->digest(load->options->ctx, number, file->digest);
    }
    close_file(file);
    return status;
}

/* ---- pieces ---- */

/* Ends the work on a piece: reports progress or the error, and frees the slot. */
static void finish_piece(wb__lane *lane, wb__load_piece *piece, wb_status status)
{
    wb__load *load = lane->load;
    const wb_progress *progress = load->options->progress;
    (void)pthread_mutex_lock(&load->lock);
    load->done += piece->end - piece->begin;
    if (status == WB_OK && !load->failed && progress != NULL && progress->report != NULL &&
        progress->report(progress->ctx, load->done, load->total) != 0)
        status = wb__fail(&lane->context, WB_ERROR_CANCELLED, WB__FINDING_CANCELLED, WB_NO_OFFSET,
                          WB__STR(""), WB__MSG_LOAD_CANCELLED);
    piece->file->in_hand--;
    if (status == WB_OK && !load->failed && piece->file->in_hand == 0 &&
        piece->file->taken == piece->file->end)
        status = finish_file(load, lane, piece->number);
    if (status != WB_OK)
        wb__load_fail_at(load, &lane->error, piece->number, piece->begin);
    if (lane->upload == NULL)
        wb__slots_give_back(load, piece);
    (void)pthread_mutex_unlock(&load->lock);
    if (lane->upload != NULL)
        wb__upload_finish(lane, piece);
}

/* ---- workers ---- */

static wb_status make_buffers(wb__lane *lane)
{
    if (lane->load->options->device != NULL)
        return wb__upload_open(lane);
    if (lane->load->dtype == NULL)
        return WB_OK;
    lane->memory_bytes = WB__CONVERT_BYTES;
    lane->memory = wb__alloc(&lane->context.allocator, lane->memory_bytes);
    lane->convert = lane->memory;
    return lane->memory != NULL ? WB_OK : wb__fail_memory(&lane->context);
}

static void add_spent(wb_load_report *to, const wb_load_report *from)
{
    to->in_memory += from->in_memory;
    to->mapped += from->mapped;
    to->copied += from->copied;
    to->direct += from->direct;
    to->bytes = to->in_memory + to->mapped + to->copied + to->direct;
    to->read_ns += from->read_ns;
    to->digest_ns += from->digest_ns;
    to->convert_ns += from->convert_ns;
    to->consume_ns += from->consume_ns;
    to->uploaded += from->uploaded;
    to->upload_ns += from->upload_ns;
    to->processor_ns += from->processor_ns;
}

/* Makes `piece` the piece that the worker processes. */
static void turn_to(wb__lane *lane, const wb__load_piece *piece)
{
    lane->context.file = lane->load->model->catalog.files[piece->number].path;
    lane->at = piece;
    lane->buffer = piece->buffer;
}

static wb_status fetch(wb__lane *lane, wb__load_piece *piece)
{
    uint64_t start = wb__now();
    wb_status status = WB_OK;
    if (lane->upload != NULL && !wb__stage_ready(lane, piece))
        status = wb__fail_memory(&lane->context);
    lane->buffer = piece->buffer;
    if (status == WB_OK && wb__load_needs_bytes(lane->load, piece))
        status = wb__load_fetch(lane, piece);
    else if (status == WB_OK)
        /* The tensors will be read separately. Count the bytes as wb_load_report.copied. */
        lane->spent.copied += piece->end - piece->begin;
    lane->spent.read_ns += wb__now() - start;
    return status;
}

static void finish_handing_over(wb__lane *lane, wb__load_piece *piece)
{
    turn_to(lane, piece);
    finish_piece(lane, piece, wb__load_hand_over(lane, piece));
}

/* Processes n pieces of the worker together. If a piece fails, the work on the other pieces
 * continues. */
static void work_on(wb__lane *lane, wb__load_piece **hand, size_t n)
{
    size_t fetched = 0;
    if (hand[0]->is_digested) {
        finish_handing_over(lane, hand[0]);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        turn_to(lane, hand[i]);
        wb_status status = fetch(lane, hand[i]);
        if (status == WB_OK)
            hand[fetched++] = hand[i];
        else
            finish_piece(lane, hand[i], status);
    }
    if (lane->load->options->flags & WB_LOAD_DIGEST)
        wb__load_digest(lane, hand, fetched);
    for (size_t i = 0; i < fetched; i++) {
        if (!wb__slots_pass_on(lane, hand[i]))
            finish_handing_over(lane, hand[i]);
    }
}

static void run_lane(void *arg, size_t number)
{
    wb__load *load = arg;
    wb__load_piece *hand[WB__LOAD_HAND];
    wb__lane lane = {.load = load, .context = *load->context};
    uint64_t busy = processor_time();
    (void)number;
    (void)wb__error_reset(&lane.error, &lane.error);
    lane.context.error = &lane.error;
    bool ready = false;
    while ((hand[0] = wb__slots_take(&lane, true)) != NULL) {
        turn_to(&lane, hand[0]);
        wb_status status = ready ? WB_OK : make_buffers(&lane);
        ready = status == WB_OK;
        if (!ready) {
            finish_piece(&lane, hand[0], status);
            continue;
        }
        size_t n = 1;
        while (!hand[0]->is_digested && n < load->hand &&
               (hand[n] = wb__slots_take(&lane, false)) != NULL)
            n++;
        work_on(&lane, hand, n);
    }
    wb__ring_close(lane.ring);
    wb__free(&lane.context.allocator, lane.memory, lane.memory_bytes);
    wb__upload_close(&lane);
    lane.spent.processor_ns = processor_time() - busy;
    (void)pthread_mutex_lock(&load->lock);
    add_spent(load->report, &lane.spent);
    (void)pthread_mutex_unlock(&load->lock);
}

static void run(wb__load *load)
{
    const wb_executor *executor = &load->context->executor;
    if (load->options->executor != NULL)
        executor = load->options->executor;
    if (executor->parallel_for != NULL)
        executor->parallel_for(executor->ctx, load->options->lanes, run_lane, load);
    else
        run_lane(load, 0);
}

/* ---- the load ---- */

static wb_status check_device(wb__context *context, const wb_load_options *options)
{
    const wb_device *device = options->device;
    if (options->target == NULL)
        return wb__fail_argument(context, WB__MSG_LOAD_TARGET);
    if (device->map == NULL && device->upload == NULL)
        return wb__fail_argument(context, WB__MSG_LOAD_DEVICE_UPLOAD);
    if ((device->stage == NULL) != (device->unstage == NULL))
        return wb__fail_argument(context, WB__MSG_LOAD_DEVICE_STAGE);
    return WB_OK;
}

static wb_status check_options(wb__load *load)
{
    const wb_load_options *options = load->options;
    wb__context *context = load->context;
    if (options->io > WB_IO_DIRECT)
        return wb__fail_argument(context, WB__MSG_LOAD_OPTIONS_IO);
    if (options->io == WB_IO_MAP && load->model->access == WB_ACCESS_READ)
        return wb__fail_argument(context, WB__MSG_LOAD_MAP_READ);
    if (options->flags & ~(WB_LOAD_DIGEST | WB_LOAD_CONVERT))
        return wb__fail_argument(context, WB__MSG_LOAD_OPTIONS_FLAGS);
    if (options->device != NULL) {
        wb_status status = check_device(context, options);
        if (status != WB_OK)
            return status;
    }
    if (!(options->flags & WB_LOAD_CONVERT))
        return WB_OK;
    load->dtype = wb__dtype_get(options->dtype);
    if (load->dtype == NULL || !wb__dtype_is_float(load->dtype) || load->dtype->block_bits % 8 != 0)
        return wb__fail_argument(context, WB__MSG_LOAD_OPTIONS_DTYPE);
    return WB_OK;
}

static wb_status set_up_files(wb__load *load)
{
    const wb_model *model = load->model;
    load->file_count = model->source_count;
    load->files =
        wb__alloc_zeroed(&load->context->allocator, load->file_count * sizeof *load->files);
    if (load->files == NULL)
        return wb__fail_memory(load->context);
    for (size_t i = 0; i < load->file_count; i++) {
        wb__load_file *file = &load->files[i];
        const wb__catalog_file *in = &model->catalog.files[i];
        bool whole = (load->options->flags & WB_LOAD_DIGEST) != 0;
        file->source = model->sources[i];
        file->end = wb__source_bytes(file->source);
        file->begin = whole || in->data_begin > file->end ? 0 : in->data_begin;
        /* The first piece begins at a multiple of the alignment, because an unaligned piece takes
         * longer to read. */
        file->begin -= file->begin % WB__DIRECT_ALIGNMENT;
        file->taken = file->digested = file->begin;
        load->total += file->end - file->begin;
    }
    return WB_OK;
}

wb_status wb__load_model(const wb_model *model, wb__context *context,
                         const wb_load_options *options, wb_load_report *report)
{
    wb_load_options own = {.size = sizeof own};
    wb_device device = {.size = sizeof device};
    wb__load load = {.model = model, .context = context, .options = &own, .report = report};
    if (!WB__TAKE(wb_load_options, options, &own))
        return WB__FAIL_SIZE(context, wb_load_options, options);
    if (!WB__TAKE(wb_device, own.device, &device))
        return WB__FAIL_SIZE(context, wb_device, own.device);
    if (own.device != NULL)
        own.device = &device;
    wb_status status = check_options(&load);
    if (status != WB_OK)
        return status;
    if (own.lanes == 0)
        own.lanes = DEFAULT_LANES;
    if (own.lanes > WB__LANES_MAX)
        own.lanes = WB__LANES_MAX;
    /* Each worker needs two slots in three cases. With digests of several files, a processor
     * computes two digests in little more time than one. With a device, a transfer occupies one
     * slot. With conversion, the disk reads into one slot while the worker converts the other. */
    bool pairs = (own.flags & WB_LOAD_DIGEST) && model->source_count > 1 && own.device == NULL;
    bool converts = wb__load_only_converts(&load);
    load.hand = pairs ? WB__LOAD_HAND : 1;
    uint32_t slots = own.lanes * (own.device != NULL || converts ? 2 : (uint32_t)load.hand);
    uint64_t most = own.memory != 0 ? own.memory : converts ? CONVERT_MEMORY : DEFAULT_MEMORY;
    uint64_t piece = most / slots;
    piece = piece < PIECE_MIN ? PIECE_MIN : piece > PIECE_MAX ? PIECE_MAX : piece;
    load.piece_bytes = (size_t)(piece - piece % WB__DIRECT_ALIGNMENT);
    if (pthread_mutex_init(&load.lock, NULL) != 0)
        return wb__fail_memory(context);
    if (pthread_cond_init(&load.turn, NULL) != 0) {
        (void)pthread_mutex_destroy(&load.lock);
        return wb__fail_memory(context);
    }
    if (pthread_cond_init(&load.more, NULL) != 0) {
        (void)pthread_cond_destroy(&load.turn);
        (void)pthread_mutex_destroy(&load.lock);
        return wb__fail_memory(context);
    }
    status = set_up_files(&load);
    if (status == WB_OK)
        status = wb__slots_open(&load, slots);
    if (status == WB_OK)
        run(&load);
    if (load.failed)
        status = context->error->status;
    wb__slots_close(&load);
    for (size_t i = 0; load.files != NULL && i < load.file_count; i++)
        close_file(&load.files[i]);
    wb__free(&context->allocator, load.files, load.file_count * sizeof *load.files);
    (void)pthread_cond_destroy(&load.more);
    (void)pthread_cond_destroy(&load.turn);
    (void)pthread_mutex_destroy(&load.lock);
    return status;
}

/*
 * results.json: an array of objects, one per line. Entries of other cases are copied byte for
 * byte, so that a run of some cases changes nothing else.
 */
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "json/json.h"

/* ---- the entry of a case ---- */

static bool put(void *ctx, const char *text, size_t n)
{
    return fwrite(text, 1, n, ctx) == n;
}

/* Rounds to four significant digits; the clock is not more precise. */
static double rounded(double value)
{
    char text[32];
    (void)snprintf(text, sizeof text, "%.4g", value);
    return strtod(text, NULL);
}

static void write_number(wb__json_writer *json, const char *key, double value)
{
    wb__json_write_key(json, key);
    wb__json_write_double(json, rounded(value));
}

static void write_samples(wb__json_writer *json, const char *key, const double *samples, size_t n)
{
    wb__json_write_key(json, key);
    wb__json_write_begin(json, '[');
    for (size_t i = 0; samples != NULL && i < n; i++)
        wb__json_write_double(json, rounded(samples[i]));
    wb__json_write_end(json, ']');
}

static void write_text(wb__json_writer *json, const char *key, const char *text)
{
    wb__json_write_key(json, key);
    wb__json_write_str(json, wb__str_from(text, SIZE_MAX));
}

static void write_processor_time(wb__json_writer *json, const bench_result *result, bool has_peer)
{
    write_number(json, "cpu_ours", result->cpu_median[BENCH_OURS]);
    write_number(json, "cpu_peer", has_peer ? result->cpu_median[BENCH_PEER] : NAN);
    write_number(json, "cpu_ratio", has_peer ? result->cpu_paired[BENCH_PEER] : NAN);
    bool has_floor = result->cpu_median[BENCH_FLOOR] > 0;
    write_number(json, "cpu_floor", has_floor ? result->cpu_median[BENCH_FLOOR] : NAN);
    write_number(json, "cpu_floor_ratio", has_floor ? result->cpu_paired[BENCH_FLOOR] : NAN);
    write_samples(json, "samples_cpu_ours", result->cpu[BENCH_OURS], result->samples);
    write_samples(json, "samples_cpu_peer", result->cpu[BENCH_PEER], result->samples);
    write_samples(json, "samples_cpu_floor", result->cpu[BENCH_FLOOR], result->samples);
}

static bool write_entry(const bench_result *result, FILE *out)
{
    wb__json_writer json = {.write = put, .ctx = out};
    const double *median = result->median;
    bool has_peer = result->sample[BENCH_PEER] != NULL;
    char command[160];
    (void)snprintf(command, sizeof command, "bench/run.sh %s", result->what->name);
    wb__json_write_begin(&json, '{');
    write_text(&json, "case", result->what->name);
    write_number(&json, "ours", median[BENCH_OURS]);
    write_number(&json, "peer", has_peer ? median[BENCH_PEER] : NAN);
    write_number(&json, "ratio", has_peer ? median[BENCH_PEER] / median[BENCH_OURS] : NAN);
    write_number(&json, "floor", median[BENCH_FLOOR]);
    write_number(&json, "floor_ratio", median[BENCH_FLOOR] / median[BENCH_OURS]);
    write_number(&json, "paired_ratio", has_peer ? result->paired[BENCH_PEER] : NAN);
    write_number(&json, "paired_floor_ratio", result->paired[BENCH_FLOOR]);
    write_text(&json, "unit", result->what->unit);
    write_samples(&json, "samples_ours", result->sample[BENCH_OURS], result->samples);
    write_samples(&json, "samples_peer", result->sample[BENCH_PEER], result->samples);
    write_samples(&json, "samples_floor", result->sample[BENCH_FLOOR], result->samples);
    if (result->cpu_median[BENCH_OURS] > 0)
        write_processor_time(&json, result, has_peer);
    write_text(&json, "peer_name", result->peer_name);
    write_text(&json, "command", command);
    wb__json_write_end(&json, '}');
    return !json.failed;
}

/* ---- existing entries ---- */

static char *read_file(const char *path, size_t *n)
{
    char *text = NULL;
    *n = 0;
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return calloc(1, 1);
    if (fseek(file, 0, SEEK_END) == 0) {
        long bytes = ftell(file);
        rewind(file);
        text = bytes < 0 ? NULL : malloc((size_t)bytes + 1);
        if (text != NULL)
            *n = fread(text, 1, (size_t)bytes, file);
    }
    (void)fclose(file);
    return text;
}

/* Reads an entry after its opening brace. Sets *is_case to whether it is the entry of case
 * `name`. */
static bool pass_entry(wb__json *json, const char *name, bool *is_case)
{
    *is_case = false;
    while (wb__json_next(json) == WB__JSON_KEY) {
        if (!wb__str_equal(json->text, WB__STR("case"))) {
            if (!wb__json_skip(json))
                return false;
            continue;
        }
        if (wb__json_next(json) != WB__JSON_STRING)
            return false;
        *is_case = wb__str_equal(json->text, wb__str_from(name, SIZE_MAX));
    }
    return json->token == WB__JSON_OBJECT_END;
}

static bool write_all(const bench_result *result, const char *old, size_t n, FILE *out)
{
    wb__cursor cursor = wb__cursor_over(old, n);
    wb__json json;
    bool is_first = true, is_stored = false;
    wb__json_start(&json, &cursor, &wb__default_allocator);
    bool sound = n == 0 || wb__json_next(&json) == WB__JSON_ARRAY;
    (void)fputs("[\n", out);
    while (sound && n != 0 && wb__json_next(&json) == WB__JSON_OBJECT) {
        size_t begin = (size_t)json.at;
        bool is_case;
        sound = pass_entry(&json, result->what->name, &is_case);
        if (!sound || (is_case && is_stored))
            continue;
        (void)fputs(is_first ? "" : ",\n", out);
        is_first = false;
        is_stored |= is_case;
        if (is_case)
            sound = write_entry(result, out);
        else
            (void)fwrite(old + begin, 1, (size_t)wb__cursor_at(&cursor) - begin, out);
    }
    sound = sound && (n == 0 || json.token == WB__JSON_ARRAY_END);
    wb__json_stop(&json);
    if (sound && !is_stored) {
        (void)fputs(is_first ? "" : ",\n", out);
        sound = write_entry(result, out);
    }
    return fputs("\n]\n", out) >= 0 && sound;
}

bool bench_result_store(const bench_result *result, const char *path)
{
    char beside[4096];
    size_t n;
    int length = snprintf(beside, sizeof beside, "%s.new", path);
    char *old = read_file(path, &n);
    FILE *out = length < 0 || (size_t)length >= sizeof beside ? NULL : fopen(beside, "w");
    bool sound = old != NULL && out != NULL && write_all(result, old, n, out);
    if (out != NULL)
        sound = fclose(out) == 0 && sound;
    free(old);
    if (sound && rename(beside, path) == 0)
        return true;
    fprintf(stderr, "bench: cannot add to %s\n", path);
    return false;
}

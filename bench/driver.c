/*
 * driver: measures cases and prints one line for each.
 *
 *   driver -c CASES -p PEERS [-n SAMPLES] [-o RESULTS] [-w] CASE…
 *
 * The workers of a case take one sample each in turn. The order rotates with each round, so that
 * disturbances of the machine affect all workers alike. Results are medians over the number of
 * samples given by -n or the case. With -w no peers run, and the entries in RESULTS contain no
 * peer. Without -w, a case whose peer is not installed is printed, but its entry in RESULTS does
 * not change.
 */
#define _POSIX_C_SOURCE 200809L
#include "bench.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SAMPLES 31 /* default, unless -n or the case sets another number */

typedef struct driver {
    const char *cases, *peers, *results;
    size_t samples; /* number of samples; 0: the number given by the case */
    bool without_peers;
} driver;

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Returns the median of n samples, or NaN if memory allocation fails. */
static double median_of(const double *samples, size_t n)
{
    double *sorted = malloc(n * sizeof *sorted);
    if (sorted == NULL)
        return 0.0 / 0.0;
    memcpy(sorted, samples, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, compare);
    double median = n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
    free(sorted);
    return median;
}

/* ---- one case ---- */

/* Builds the command of the case's peer. Returns false if the peer is not installed. */
static bool peer_command(const driver *d, const bench_case *what, char *command, size_t capacity)
{
    char path[4096];
    int folder = (int)strcspn(what->peer, " ");
    if (d->without_peers || folder == 0)
        return false;
    (void)snprintf(path, sizeof path, "%s/%.*s/run", d->peers, folder, what->peer);
    if (access(path, X_OK) != 0) {
        fprintf(stderr, "bench: %.*s is not installed (make peers)\n", folder, what->peer);
        return false;
    }
    int n = snprintf(command, capacity, "%s%s", path, what->peer + folder);
    return n >= 0 && (size_t)n < capacity;
}

static bool start_all(const driver *d, const bench_case *what, bench_worker *workers)
{
    char peer[5000];
    if (!bench_worker_start(&workers[BENCH_OURS], what->ours) ||
        !bench_worker_start(&workers[BENCH_FLOOR], what->floor))
        return false;
    if (!peer_command(d, what, peer, sizeof peer))
        return true;
    if (!bench_worker_start(&workers[BENCH_PEER], peer))
        return false;
    if (strcmp(workers[BENCH_OURS].work, workers[BENCH_PEER].work) == 0)
        return true;
    fprintf(stderr, "bench: %s: ours found %s, the peer %s\n", what->name, workers[BENCH_OURS].work,
            workers[BENCH_PEER].work);
    return false;
}

static bool measure(bench_worker *workers, bench_result *result)
{
    for (size_t i = 0; i < result->samples; i++) {
        for (size_t turn = 0; turn < BENCH_SIDES; turn++) {
            size_t side = (i + turn) % BENCH_SIDES;
            double ns, cpu_ns;
            if (workers[side].pid == 0)
                continue;
            if (!bench_worker_run(&workers[side], &ns, &cpu_ns))
                return false;
            result->sample[side][i] = ns / result->what->unit_ns;
            result->cpu[side][i] = cpu_ns / result->what->unit_ns;
        }
    }
    return true;
}

static void print_line(const char *name, const double *median, const double *paired,
                       const char *unit, const bench_worker *peer)
{
    printf("%-32s %10.4f", name, median[BENCH_OURS]);
    if (peer->pid != 0)
        printf(" %10.4f %6.1fx", median[BENCH_PEER], paired[BENCH_PEER]);
    else
        printf(" %10s %7s", "-", "-");
    printf(" %10.4f %6.2fx  %-2s  %s\n", median[BENCH_FLOOR], paired[BENCH_FLOOR], unit,
           peer->name);
}

static void print_row(const bench_result *result, const bench_worker *workers)
{
    const bench_case *what = result->what;
    print_line(what->name, result->median, result->paired, what->unit, &workers[BENCH_PEER]);
    if (result->cpu_median[BENCH_OURS] > 0)
        print_line("  processor time", result->cpu_median, result->cpu_paired, what->unit,
                   &workers[BENCH_PEER]);
    (void)fflush(stdout);
}

/* Computes the median of the samples of a side (our worker, peer or floor), and the median of the
 * ratios of each sample to our sample of the same round. */
static bool find_medians(double *const *samples, size_t n, size_t side, double *median,
                         double *paired)
{
    double *ratios = malloc(n * sizeof *ratios);
    if (ratios == NULL)
        return false;
    for (size_t i = 0; i < n; i++)
        ratios[i] = samples[side][i] / samples[BENCH_OURS][i];
    median[side] = median_of(samples[side], n);
    paired[side] = median_of(ratios, n);
    free(ratios);
    return true;
}

static bool measure_and_report(const driver *d, bench_worker *workers, bench_result *result)
{
    for (size_t side = 0; side < BENCH_SIDES; side++) {
        if (workers[side].pid == 0)
            continue;
        result->sample[side] = calloc(result->samples, sizeof(double));
        result->cpu[side] = calloc(result->samples, sizeof(double));
        if (result->sample[side] == NULL || result->cpu[side] == NULL)
            return false;
    }
    if (!measure(workers, result))
        return false;
    for (size_t side = 0; side < BENCH_SIDES; side++) {
        if (result->sample[side] != NULL &&
            (!find_medians(result->sample, result->samples, side, result->median, result->paired) ||
             !find_medians(result->cpu, result->samples, side, result->cpu_median,
                           result->cpu_paired)))
            return false;
    }
    (void)snprintf(result->peer_name, sizeof result->peer_name, "%s", workers[BENCH_PEER].name);
    print_row(result, workers);
    if (workers[BENCH_PEER].pid == 0 && result->what->peer[0] != '\0' && !d->without_peers)
        return true;
    return d->results == NULL || bench_result_store(result, d->results);
}

static bool run_case(const driver *d, const char *name)
{
    bench_case what;
    bench_worker workers[BENCH_SIDES] = {{0}};
    if (!bench_case_read(d->cases, name, &what))
        return false;
    if (what.prepare[0] != '\0' && system(what.prepare) != 0) {
        fprintf(stderr, "bench: %s: failed: %s\n", name, what.prepare);
        return false;
    }
    size_t samples = (size_t)strtoul(what.samples, NULL, 10);
    if (d->samples != 0)
        samples = d->samples;
    bench_result result = {.what = &what, .samples = samples != 0 ? samples : SAMPLES};
    bool done = start_all(d, &what, workers) && measure_and_report(d, workers, &result);
    for (size_t side = 0; side < BENCH_SIDES; side++) {
        bench_worker_stop(&workers[side]);
        free(result.sample[side]);
        free(result.cpu[side]);
    }
    return done;
}

int main(int argc, char **argv)
{
    driver d = {0};
    int option;
    while ((option = getopt(argc, argv, "c:p:n:o:w")) != -1) {
        switch (option) {
        case 'c': d.cases = optarg; break;
        case 'p': d.peers = optarg; break;
        case 'n': d.samples = (size_t)strtoul(optarg, NULL, 10); break;
        case 'o': d.results = optarg; break;
        case 'w': d.without_peers = true; break;
        default: return 4;
        }
    }
    if (d.cases == NULL || (d.peers == NULL && !d.without_peers)) {
        fputs("usage: driver -c CASES -p PEERS [-n SAMPLES] [-o RESULTS] [-w] CASE...\n", stderr);
        return 4;
    }
    (void)signal(SIGPIPE, SIG_IGN); /* bench_worker_run reports a worker that died */
    printf("%-32s %10s %10s %7s %10s %7s  (medians; ratios: of each round)\n", "case", "ours",
           "peer", "ratio", "floor", "ratio");
    bool all = true;
    for (int i = optind; i < argc; i++)
        all = run_case(&d, argv[i]) && all;
    return all ? 0 : 1;
}

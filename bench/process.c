#define _GNU_SOURCE /* pipe2 */
#include "bench.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Replaces the process with the worker. The pipes are close-on-exec, so that no worker keeps
 * another worker's pipe open. */
static void become(const char *command, int in, int out)
{
    char line[600];
    (void)snprintf(line, sizeof line, "exec %s", command);
    if (dup2(in, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0)
        (void)execl("/bin/sh", "sh", "-c", line, (char *)NULL);
    _exit(127);
}

static bool launch(bench_worker *worker, const char *command)
{
    int to[2], from[2];
    if (pipe2(to, O_CLOEXEC) != 0 || pipe2(from, O_CLOEXEC) != 0)
        return false;
    worker->pid = fork();
    if (worker->pid == 0)
        become(command, to[0], from[1]);
    (void)close(to[0]);
    (void)close(from[1]);
    worker->to = fdopen(to[1], "w");
    worker->from = fdopen(from[0], "r");
    return worker->pid > 0 && worker->to != NULL && worker->from != NULL;
}

static void keep(char *out, size_t capacity, const char *line, const char *key)
{
    size_t n = strlen(key);
    if (strncmp(line, key, n) == 0)
        (void)snprintf(out, capacity, "%.*s", (int)strcspn(line + n, "\n"), line + n);
}

bool bench_worker_start(bench_worker *worker, const char *command)
{
    char line[256];
    memset(worker, 0, sizeof *worker);
    if (launch(worker, command)) {
        while (fgets(line, sizeof line, worker->from) != NULL) {
            if (strcmp(line, "ready\n") == 0)
                return true;
            keep(worker->name, sizeof worker->name, line, "name ");
            keep(worker->work, sizeof worker->work, line, "work ");
        }
    }
    fprintf(stderr, "bench: the worker did not start: %s\n", command);
    bench_worker_stop(worker);
    return false;
}

bool bench_worker_run(bench_worker *worker, double *ns, double *cpu_ns)
{
    char line[96];
    char *end;
    if (fputs("run\n", worker->to) < 0 || fflush(worker->to) != 0 ||
        fgets(line, sizeof line, worker->from) == NULL) {
        fprintf(stderr, "bench: a worker ended early: %s\n", worker->name);
        return false;
    }
    *ns = strtod(line, &end);
    *cpu_ns = 0;
    if (*end == ' ')
        *cpu_ns = strtod(end, &end);
    if (end == line || *end != '\n' || !(*ns > 0)) {
        fprintf(stderr, "bench: %s answered: %s", worker->name, line);
        return false;
    }
    return true;
}

void bench_worker_stop(bench_worker *worker)
{
    if (worker->to != NULL)
        (void)fclose(worker->to); /* the worker ends when its standard input ends */
    if (worker->from != NULL)
        (void)fclose(worker->from);
    if (worker->pid > 0)
        (void)waitpid(worker->pid, NULL, 0);
    memset(worker, 0, sizeof *worker);
}

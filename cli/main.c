/* Entry point of the command weighbridge (wb). The command uses only the public headers in
 * include/.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <time.h>

#include "exit.h"
#include "families.h"
#include "messages.h"
#include "options.h"
#include "paths.h"
#include "remote.h"
#include "report.h"
#include "sandbox.h"
#include "terminal.h"
#include "threads.h"

/* Applies the options that all commands have. Returns 0 or an exit code. */
static int prepare(const arguments *args)
{
    const char *jobs = args->value[OPTION_JOBS];
    uint64_t count;
    if (args->value[OPTION_COLOR] != NULL)
        terminal_color(args->value[OPTION_COLOR]);
    if (args->given[OPTION_WIDE])
        terminal_set_wide();
    if (args->value[OPTION_PROGRESS] != NULL)
        progress_mode(args->value[OPTION_PROGRESS]);
    if (jobs == NULL)
        return 0;
    if (!option_number(jobs, &count) || count == 0 || count > THREADS_MAX)
        return report_usage(MSG_JOBS_INVALID, THREADS_MAX);
    threads_set((unsigned)count);
    return 0;
}

/* Prints the time that the command took (--verbose). */
static void tell_time(const struct timespec *begin)
{
    struct timespec end;
    (void)clock_gettime(CLOCK_MONOTONIC, &end);
    double seconds =
        (double)(end.tv_sec - begin->tv_sec) + (double)(end.tv_nsec - begin->tv_nsec) / 1e9;
    report_note("%.2f s, %u thread%s", seconds, threads_count(), threads_count() == 1 ? "" : "s");
}

static int run(arguments *args)
{
    int code;
    if (args->given[OPTION_VERSION]) {
        out_printf(out_stdout(), "weighbridge %s\n", wb_version());
        return EXIT_CLEAN;
    }
    if (args->given[OPTION_GENERATE])
        return command_generate(args);
    if (args->given[OPTION_HELP_OPTION]) {
        if (args->command == COMMAND_COUNT)
            print_overview();
        else
            print_command_help(args->command);
        return EXIT_CLEAN;
    }
    if (args->command == COMMAND_COUNT)
        return report_usage(MSG_COMMAND_MISSING);
    if ((code = remote_start(args)) != EXIT_CLEAN)
        return code;
    if ((code = families_collect(args)) != EXIT_CLEAN)
        return code;
    if (args->given[OPTION_SANDBOX] && (code = sandbox_enter(args)) != EXIT_CLEAN)
        return code;
    if ((code = families_parse()) != EXIT_CLEAN)
        return code;
    code = paths_settle(args);
    return code != EXIT_CLEAN ? code : command_table[args->command].run(args);
}

int main(int argc, char **argv)
{
    arguments args;
    struct timespec begin;
    (void)clock_gettime(CLOCK_MONOTONIC, &begin);
    terminal_start();
    int code = arguments_parse(&args, argc, argv);
    if (code == EXIT_CLEAN)
        code = prepare(&args);
    if (code == EXIT_CLEAN)
        code = run(&args);
    remote_end();
    families_end();
    if (args.given[OPTION_VERBOSE])
        tell_time(&begin);
    report_end(args.given[OPTION_JSON], code);
    arguments_free(&args);
    progress_clear();
    return terminal_end(out_finish(out_stdout(), code));
}

/* Entry point of the command weighbridge (wb). The command uses only the public headers in
 * include/.
 */
#include "exit.h"
#include "messages.h"
#include "options.h"
#include "paths.h"
#include "report.h"
#include "sandbox.h"
#include "terminal.h"

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
    if (args->given[OPTION_SANDBOX] && (code = sandbox_enter()) != EXIT_CLEAN)
        return code;
    code = paths_settle(args);
    return code != EXIT_CLEAN ? code : command_table[args->command].run(args);
}

int main(int argc, char **argv)
{
    arguments args;
    terminal_start();
    int code = arguments_parse(&args, argc, argv);
    if (code == EXIT_CLEAN)
        code = run(&args);
    report_end(args.given[OPTION_JSON], code);
    arguments_free(&args);
    progress_clear();
    return terminal_end(out_finish(out_stdout(), code));
}

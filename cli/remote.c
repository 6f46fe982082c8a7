#include "remote.h"

#include "exit.h"
#include "messages.h"
#include "report.h"
#include "terminal.h"

static wb_net *network;
static wb_files files = WB_FILES_INIT;

static void note(void *ctx, const char *message)
{
    (void)ctx;
    report_line("%s", message);
}

/* Returns false if the value of --retries is not valid. */
static bool take_retries(const arguments *args, uint32_t *retries)
{
    uint64_t count;
    const char *typed = args->value[OPTION_RETRIES];
    if (typed == NULL)
        return true;
    if (!option_number(typed, &count) || count > 1000)
        return false;
    *retries = count == 0 ? UINT32_MAX : (uint32_t)count;
    return true;
}

static int open_net(const arguments *args, wb_net **net)
{
    wb_error error;
    wb_net_options options = WB_NET_OPTIONS_INIT;
    options.note = note;
    if (!take_retries(args, &options.retries))
        return report_usage(MSG_REMOTE_RETRIES);
    if (args->given[OPTION_PLAIN_HTTP])
        options.flags |= WB_NET_PLAIN_HTTP;
    if (args->given[OPTION_NETRC])
        options.flags |= WB_NET_NETRC;
    if (wb_net_open(&options, net, &error) == WB_OK)
        return 0;
    report_error("", &error);
    return exit_code_of(error.status);
}

int remote_run(const arguments *args,
               wb_status (*work)(const arguments *args, wb_net *net, wb_error *error))
{
    wb_net *net = NULL;
    wb_error error;
    int code = open_net(args, &net);
    if (code != 0)
        return code;
    wb_status status = work(args, net, &error);
    wb_net_close(net);
    if (status == WB_OK)
        return EXIT_CLEAN;
    if (args->given[OPTION_JSON])
        json_failure(args->operands[0], &error);
    else
        report_error(args->operands[0], &error);
    return exit_code_of(status);
}

int remote_start(const arguments *args)
{
    bool any = false;
    for (size_t i = 0; i < args->count && !any; i++)
        any = wb_net_owns(args->operands[i]) != 0;
    bool opens_itself = args->command == COMMAND_PULL || args->command == COMMAND_PUSH;
    if (!any || opens_itself)
        return 0;
    if (!(option_table[OPTION_PLAIN_HTTP].commands >> args->command & 1))
        return report_usage(MSG_REMOTE_COMMAND, command_table[args->command].name);
    if (args->command == COMMAND_CONVERT && args->count > 1 && wb_net_owns(args->operands[1]))
        return report_usage(MSG_REMOTE_OUTPUT);
    if (args->given[OPTION_SANDBOX])
        return report_usage(MSG_REMOTE_SANDBOX);
    wb_error error;
    int code = open_net(args, &network);
    if (code == 0 && wb_net_files(network, &files, &error) != WB_OK) {
        report_error("", &error);
        code = exit_code_of(error.status);
    }
    return code;
}

const wb_files *remote_files(void)
{
    return network == NULL ? NULL : &files;
}

bool remote_is_folder(const char *path)
{
    int is_folder = 0;
    wb_error error;
    wb_source source = WB_SOURCE_INIT;
    if (network == NULL || !wb_net_owns(path) ||
        files.open(files.ctx, path, &source, &is_folder, &error) != WB_OK)
        return false;
    if (!is_folder && source.close != NULL)
        source.close(source.ctx);
    return is_folder != 0;
}

void remote_end(void)
{
    wb_net_close(network);
    network = NULL;
}

/*
 * net/settings.h: what environment variables and files of the user say about the network.
 *
 * The variables are those of huggingface_hub, of curl and of the AWS command line tools;
 * docs/net.md lists them. Everything is read once, when a wb_net is opened.
 */
#ifndef WB_NET_SETTINGS_H
#define WB_NET_SETTINGS_H

#include "core/core.h"
#include "net/url.h"

#define WB__TOKEN_MAX 4096 /* maximum length of a token in bytes */

/* Looks up an environment variable. */
typedef struct wb__environment {
    const char *(*get)(void *ctx, const char *name);
    void *ctx;
} wb__environment;

/* Strings are in the arena or static; NULL or empty if not set. */
typedef struct wb__settings {
    wb__arena arena;
    wb__url endpoint; /* URL of the hub; its path has no '/' at the end, unless it is "/" */
    const char *endpoint_text; /* text of `endpoint`; never ends with '/' */
    bool is_default_endpoint;
    const char *token;        /* for the endpoint */
    const char *token_source; /* where the token was found, for messages: "HF_TOKEN" */
    const char *hub_cache;    /* directory of the hub's cache */
    const char *cache_home;   /* XDG_CACHE_HOME, or ~/.cache */
    bool offline;
    uint32_t connect_timeout; /* seconds */
    uint32_t stall_timeout;   /* seconds without a received byte after which a transfer fails */
    const char *ca_file, *ca_folder;
    const char *aws_key, *aws_secret, *aws_token, *aws_region, *aws_endpoint;
} wb__settings;

/*
 * Fills in the settings. `endpoint` and `token` replace those of the environment; NULL: none. Fails
 * with ARGUMENT if a variable has an invalid value. The message contains the name of the variable,
 * but never a secret value. Release with wb__settings_free, also after a failure.
 */
wb_status wb__settings_read(wb__settings *settings, wb__context *context,
                            const wb__environment *environment, const char *endpoint,
                            const char *token);
void wb__settings_free(wb__settings *settings);

/* The environment of the process. */
wb__environment wb__process_environment(void);

/* ---- internal functions ---- */

/* Returns the value of a variable, or NULL if it is not set or empty. */
const char *wb__variable(const wb__environment *environment, const char *name);

/* Stores "FOLDER/NAME" in the arena, or "FOLDER" if `name` is NULL. Replaces environment variables
 * in it, and "~" at its front. */
wb_status wb__settings_path(wb__settings *settings, wb__context *context,
                            const wb__environment *environment, const char *folder,
                            const char *name, const char **out);

/* Reads a small text file into the arena. *text is NULL if the file does not exist. */
wb_status wb__read_small_file(wb__context *context, wb__arena *arena, const char *path,
                              size_t limit, const char **text);

/* Reads credentials of AWS from the environment, else from ~/.aws/credentials and ~/.aws/config.
 * Called when the first address with s3:// or gs:// is used. */
wb_status wb__settings_read_aws(wb__settings *settings, wb__context *context,
                                const wb__environment *environment);

/* Finds KEY = VALUE in the section of a file in the format of AWS ("[default]", "[profile x]"). The
 * value is borrowed from the text; empty if there is none. */
wb__str wb__ini_find(wb__str text, const char *section, const char *key);

#endif

/* wb verify: prints each finding as a line, and a verdict. */
#include <string.h>

#include "check.h"
#include "exit.h"
#include "report.h"
#include "terminal.h"

static void present(const arguments *args, const check *c)
{
    static const char *const colors[] = {STYLE_GREEN, STYLE_YELLOW, STYLE_RED};
    out *o = out_stdout();
    bool is_quiet = args->given[OPTION_QUIET];
    wb_finding finding;
    for (uint64_t i = 0; check_finding(c, i, &finding); i++) {
        if (!is_quiet || finding.severity > WB_INFO)
            print_finding(o, c->label, &finding);
    }
    if (is_quiet && c->code == EXIT_CLEAN)
        return;
    text line = {0};
    text_add_shown(&line, c->label, strlen(c->label));
    text_addf(&line, ": %s%s%s", style(colors[c->code]), check_verdict(c), style(STYLE_END));
    if (c->model != NULL) {
        text_adds(&line, " (");
        text_add_content(&line, c);
        text_adds(&line, ")");
    }
    text_adds(&line, "\n");
    out_text(o, &line);
    text_free(&line);
}

int command_verify(const arguments *args)
{
    return check_paths(args, present);
}

/* heapprof_runner: see device_bin/README.md. */
#include <string.h>
#include <unistd.h>

#include "exits.h"
#include "files.h"
#include "options.h"
#include "say.h"
#include "supervisor.h"
#include "version.h"

int main(int argc, char **argv) {
    struct options options;
    char problem[512];
    int code = EXIT_OK;
    if (!parse_options(argc, argv, &options, problem, sizeof(problem))) {
        say("usage: %s", problem);
        code = EXIT_USAGE;
    } else if (options.help) {
        print_help();
    } else if (options.version) {
        static const char version[] = "heapprof_runner " RUNNER_VERSION " " RUNNER_TARGET "\n";
        write_all(STDOUT_FILENO, version, sizeof(version) - 1);
    } else {
        code = supervise(&options);
    }
    free_options(&options);
    return code;
}

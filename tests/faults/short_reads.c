/* Lets every read of a file by a running process return at most so many bytes, as a network file system may:
 *
 *     short_reads PID BYTES
 *
 * Changes the length on entry to read and pread64, so that the kernel itself reads less. Not of recvfrom: a short answer
 * there means that nothing is left, and epoll would not wake the reader again. Ends, and lets go of the process, with
 * SIGTERM. x86-64 only. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/user.h>
#include <sys/wait.h>

static volatile sig_atomic_t ended;
static unsigned long shortened;

static void end(int signal) { (void)signal, ended = 1; }

static void shorten(pid_t thread, unsigned long most) {
    struct __ptrace_syscall_info info;
    if (ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof info, &info) <= 0 || info.op != PTRACE_SYSCALL_INFO_ENTRY) return;
    if (info.entry.nr != SYS_read && info.entry.nr != SYS_pread64) return;
    struct user_regs_struct registers;
    if (ptrace(PTRACE_GETREGS, thread, 0, &registers)) return;
    if (registers.rdx <= most) return;
    registers.rdx = most;
    ptrace(PTRACE_SETREGS, thread, 0, &registers);
    shortened++;
}

int main(int count, char **arguments) {
    if (count != 3) return fprintf(stderr, "short_reads PID BYTES\n"), 2;
    pid_t process = atoi(arguments[1]);
    unsigned long most = strtoul(arguments[2], 0, 10);
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", process);
    DIR *tasks = opendir(path);
    if (!tasks) return perror(path), 1;
    struct sigaction action = {.sa_handler = end};
    sigaction(SIGTERM, &action, 0);
    for (struct dirent *task; (task = readdir(tasks));) {
        pid_t thread = atoi(task->d_name);
        if (!thread) continue;
        if (ptrace(PTRACE_SEIZE, thread, 0, PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE)) return perror("ptrace"), 1;
        ptrace(PTRACE_INTERRUPT, thread, 0, 0);
    }
    printf("attached\n"), fflush(stdout);
    while (!ended) {
        int status;
        pid_t thread = waitpid(-1, &status, __WALL);
        if (thread < 0 && errno == EINTR) continue;
        if (thread < 0) break;
        if (!WIFSTOPPED(status)) continue;
        int signal = WSTOPSIG(status), event = status >> 16;
        if (signal == (SIGTRAP | 0x80)) shorten(thread, most), signal = 0;
        else if (event) signal = 0;
        ptrace(PTRACE_SYSCALL, thread, 0, signal);
    }
    /* The kernel lets go of all threads when this process ends. */
    printf("%lu reads shortened\n", shortened);
    return 0;
}

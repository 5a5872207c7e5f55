/* The loop of the tracker in C: the same timer and system calls.
 *
 * loop TICKS PERIOD_NS LOCK STEPS: at absolute times that are PERIOD_NS apart it takes the datagram
 * of a LowState frame, computes so many STEPS, and sends a datagram of a LowCommand frame, both on
 * loopback. Late ticks are skipped as runtime.clock.RealTimeClock skips them. It writes two doubles
 * a tick to standard output: how late it woke up, NaN where it was late before it slept, and how
 * long the tick took [s]. LOCK 1 locks its memory.
 */

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { STATE_BYTES = 771, COMMAND_BYTES = 610, LONGEST = 1024, WORDS = 1 << 16 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

static void sleep_until(double due) {
    struct timespec t = {.tv_sec = (time_t)due};
    t.tv_nsec = (long)(1e9 * (due - t.tv_sec));
    while (now() < due && clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR) {
    }
    while (now() < due) { /* the last nanosecond, that rounding has cut off */
    }
}

/* Reads its way through half a megabyte, each place told by the one before. */
static unsigned compute(long steps) {
    static unsigned numbers[2 * WORDS], place = 1;
    for (long k = 0; k < steps; k++) {
        place = place * 1664525u + 1013904223u + numbers[place >> 15];
        numbers[place >> 15] ^= place & 1;
    }
    return place;
}

static int open_socket(struct sockaddr_in *address) {
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0), on = 1;
    socklen_t size = sizeof *address;
    memset(address, 0, sizeof *address);
    address->sin_family = AF_INET;
    address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0 || bind(fd, (struct sockaddr *)address, size) ||
        getsockname(fd, (struct sockaddr *)address, &size) ||
        setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on)) {
        perror("socket");
        exit(1);
    }
    return fd;
}

static void drain(int fd) {
    char data[LONGEST], control[CMSG_SPACE(sizeof(struct timespec))];
    struct sockaddr_in sender;
    struct iovec part = {data, sizeof data};
    struct msghdr message;
    do {
        memset(&message, 0, sizeof message);
        message.msg_name = &sender, message.msg_namelen = sizeof sender;
        message.msg_iov = &part, message.msg_iovlen = 1;
        message.msg_control = control, message.msg_controllen = sizeof control;
    } while (recvmsg(fd, &message, 0) >= 0);
}

static void send_to(int fd, size_t bytes, const struct sockaddr_in *to) {
    static const char frame[LONGEST];
    if (sendto(fd, frame, bytes, 0, (const struct sockaddr *)to, sizeof *to) < 0) {
        perror("sendto");
        exit(1);
    }
}

int main(int count, char **arguments) {
    if (count != 5) {
        fprintf(stderr, "usage: loop TICKS PERIOD_NS LOCK STEPS\n");
        return 2;
    }
    long ticks = atol(arguments[1]), steps = atol(arguments[4]), tick = -1;
    double period = 1e-9 * atol(arguments[2]), start;
    double *times = malloc(2 * ticks * sizeof *times);
    struct sockaddr_in here_at, robot_at;
    int here = open_socket(&here_at), robot = open_socket(&robot_at);
    if (!times) {
        return 1;
    }
    memset(times, 0, 2 * ticks * sizeof *times);
    if (atoi(arguments[3])) {
        mlockall(MCL_CURRENT | MCL_FUTURE);
    }
    volatile unsigned sink = compute(WORDS);
    start = now();
    for (long k = 0; k < ticks; k++) {
        drain(robot);
        send_to(robot, STATE_BYTES, &here_at);
        double due = start + (tick + 1) * period;
        int sleeps = now() < due;
        sleep_until(due);
        double woke = now();
        long passed = (long)((woke - start) / period);
        tick = passed > tick + 1 ? passed : tick + 1;
        double begin = now();
        drain(here);
        sink = compute(steps);
        send_to(here, COMMAND_BYTES, &robot_at);
        times[2 * k] = sleeps ? woke - due : NAN;
        times[2 * k + 1] = now() - begin;
    }
    (void)sink;
    return fwrite(times, 2 * sizeof *times, ticks, stdout) == (size_t)ticks ? 0 : 1;
}

// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"lathe/internal/atomicfile"
)

// grace is how long a command may take to end by itself after a signal, in which it stops its tools and removes what it
// has half written.
const grace = time.Second

// interrupted is the cause of a context that a signal has cancelled.
type interrupted struct{ signal syscall.Signal }

func (i interrupted) Error() string { return "interrupted" }

// status is what shells show for a program that a signal has ended: 130 for Ctrl-C, 143 for SIGTERM.
func (i interrupted) status() int { return 128 + int(i.signal) }

// interruptible is a context that Ctrl-C and SIGTERM cancel. Work that does not look at it ends with the program, after
// the grace or at the second signal.
func interruptible(name string) context.Context {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		first, _ := (<-signals).(syscall.Signal)
		why := interrupted{first}
		cancel(why)
		select {
		case <-time.After(grace):
		case <-signals:
		}
		atomicfile.Abandon()
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, why)
		os.Exit(why.status())
	}()
	return ctx
}

// abandoned runs work that does not look at contexts. After a signal it is left alone, to end with the program, and
// what it has half written is gone.
func abandoned(ctx context.Context, work func() error) error {
	done := make(chan error, 1)
	go func() { done <- work() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		atomicfile.Abandon()
		return context.Cause(ctx)
	}
}

// interruption is the exit status of a command whose context ended with a signal.
func interruption(ctx context.Context) (status int, ok bool) {
	var why interrupted
	if errors.As(context.Cause(ctx), &why) {
		return why.status(), true
	}
	return exitNo, ctx.Err() != nil
}

// SPDX-License-Identifier: Apache-2.0

// Package child runs a tool that may take minutes: in a folder, with its output in a file, as a group of processes that
// ends as a whole when it is interrupted or takes too long.
package child

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// ErrTimeout says that a tool ran longer than it was given.
var ErrTimeout = errors.New("not finished in time")

// Tool is one run.
type Tool struct {
	Path    string
	Args    []string
	Env     []string // "NAME=value", beside the environment
	Folder  string   // where it runs; what it keeps for a while goes there, too
	Log     string   // the file for all that it prints
	Timeout time.Duration
}

// Run waits for the end of the tool. Errors are ErrTimeout, that of the context, or that of package exec.
func (t Tool) Run(ctx context.Context) error {
	log, err := os.Create(t.Log)
	if err != nil {
		return err
	}
	defer log.Close()
	ctx, cancel := context.WithTimeoutCause(ctx, t.Timeout, ErrTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, t.Path, t.Args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = t.Folder, log, log
	// what a killed tool leaves goes with the folder
	cmd.Env = append(append(cmd.Environ(), "TMPDIR="+t.Folder), t.Env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	err = cmd.Run()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// SPDX-License-Identifier: Apache-2.0

// Package worker talks to processes that try trials: what ends such a process, a fault or a lack of memory, ends nobody
// else. Requests and answers are JSON values on the pipes of the process.
package worker

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Gone says how a process ended that should have answered.
type Gone struct{ How string }

func (g *Gone) Error() string { return "the process has ended: " + g.How }

// Process is one that answers requests. It leads a group, which ends as a whole.
type Process struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *json.Decoder
	log tail
}

// Start starts a program.
func Start(path string, args ...string) (*Process, error) {
	p := &Process{cmd: exec.Command(path, args...)}
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p.cmd.Stderr = &p.log
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.out = json.NewDecoder(out)
	return p, p.cmd.Start()
}

// Do sends a request. each gets the answers, one after the other, until it says that there is no more; a reply that is
// not nil is sent back. Where ctx ends, or the process does, it is no more: errors are those of ctx, *Gone, and each.
func (p *Process) Do(ctx context.Context, request any,
	each func(answer json.RawMessage) (reply any, last bool, err error)) error {
	stop := context.AfterFunc(ctx, p.kill)
	defer stop()
	gone := func() error {
		if ctx.Err() != nil {
			p.Close()
			return context.Cause(ctx)
		}
		return &Gone{p.Close()}
	}
	for {
		if request != nil && json.NewEncoder(p.in).Encode(request) != nil {
			return gone()
		}
		var answer json.RawMessage
		if p.out.Decode(&answer) != nil {
			return gone()
		}
		reply, last, err := each(answer)
		if last || err != nil {
			return err
		}
		request = reply
	}
}

func (p *Process) kill() { _ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) }

// grace is how long a process may take to see that nobody asks any more.
const grace = time.Second

// Close ends the process, and says how it ended, with the last line that it wrote to its log.
func (p *Process) Close() string {
	_ = p.in.Close()
	late := time.AfterFunc(grace, p.kill)
	err := p.cmd.Wait()
	late.Stop()
	how := "exit status 0"
	if err != nil {
		how = err.Error()
	}
	if line := p.log.line(); line != "" {
		how += ": " + line
	}
	return how
}

// tail keeps the beginning of a log and how it went on: of a panic, the first line says why.
type tail struct {
	sync.Mutex
	text []byte
}

// mostLog bounds what is kept.
const mostLog = 1 << 16

func (t *tail) Write(data []byte) (int, error) {
	t.Lock()
	defer t.Unlock()
	t.text = append(t.text, data[:min(len(data), mostLog-len(t.text))]...)
	return len(data), nil
}

// line is that of a panic, or else the last.
func (t *tail) line() string {
	t.Lock()
	defer t.Unlock()
	lines := strings.Split(strings.TrimSpace(string(bytes.ToValidUTF8(t.text, nil))), "\n")
	for _, l := range lines {
		if strings.HasPrefix(l, "panic: ") || strings.HasPrefix(l, "fatal error: ") {
			return l
		}
	}
	return lines[len(lines)-1]
}

// String names the process.
func (p *Process) String() string { return fmt.Sprintf("process %d", p.cmd.Process.Pid) }

// SPDX-License-Identifier: Apache-2.0

// Package pjrt runs StableHLO programs on a PJRT plugin. The plugin lives in a child process, so that its aborts,
// hangs and faults become diagnostics here:
//
//	L0801  the plugin file is missing or cannot be used
//	L0802  the plugin fails the self-test
//	L0803  the child process ended, hung, or sent what is no reply
//	L0804  a program does not compile
//	L0805  a program got wrong arguments, or its execution failed
//	L0806  the request was cancelled
package pjrt

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"lathe/internal/diag"
)

// defaultTimeout bounds one request.
const defaultTimeout = 10 * time.Minute

// Config says how to start an engine.
type Config struct {
	// Command starts a process that calls Worker on its standard input and output with Plugin, which is appended to it
	// as the last argument.
	Command []string
	// Plugin is the absolute path of the PJRT plugin, a shared object.
	Plugin string
	// Devices is the number of devices of the CPU that programs run on; 0 means 1.
	Devices int
	// Timeout bounds each request (start, compilation, run); 0 means 10 minutes.
	Timeout time.Duration
}

// Info describes a running plugin.
type Info struct {
	Major, Minor int    // PJRT C API version of the plugin
	Platform     string // "cpu"
	Version      string // the platform's own version text
}

// Engine is one child process with the plugin loaded. Its methods may be called from several goroutines; requests run
// one after the other. After a failure of the process (L0803, L0806) every call gives the same error: start a new
// engine.
type Engine struct {
	cfg  Config
	info Info

	cmd    *exec.Cmd
	in     io.WriteCloser
	out    io.ReadCloser
	stderr *tail
	exited chan struct{} // closed after Wait

	mu     sync.Mutex // one request at a time
	seq    uint32
	broken error
}

// Start starts the child, which loads the plugin and runs the self-test. ctx bounds the start only. Close ends the
// child.
func Start(ctx context.Context, cfg Config) (*Engine, error) {
	if cfg.Timeout <= 0 {
		cfg.Timeout = defaultTimeout
	}
	if err := checkPlugin(cfg.Plugin); err != nil {
		return nil, err
	}
	if len(cfg.Command) == 0 {
		return nil, diag.New(diag.PJRTWorker, cfg.Plugin, "no command to start the PJRT worker")
	}
	e := &Engine{cfg: cfg, stderr: &tail{}, exited: make(chan struct{})}
	e.cmd = exec.Command(cfg.Command[0], append(append([]string{}, cfg.Command[1:]...), cfg.Plugin)...)
	e.cmd.Stderr = e.stderr
	e.cmd.WaitDelay = 500 * time.Millisecond // a grandchild may keep stderr open
	in, out, err := e.spawn()
	if err != nil {
		return nil, diag.New(diag.PJRTWorker, cfg.Command[0], "the PJRT worker does not start: %v", err)
	}
	go func() {
		e.cmd.Wait()                        // ProcessState has the verdict
		late := time.Now().Add(time.Second) // what the child wrote is read; a grandchild cannot hold the pipes open
		in.SetWriteDeadline(late)
		out.SetReadDeadline(late)
		close(e.exited)
	}()
	c, err := e.request(ctx, kindHello, binary.LittleEndian.AppendUint32(nil, uint32(e.Devices())))
	if err == nil {
		e.info = Info{int(c.u32()), int(c.u32()), c.text(), c.text()}
		if c.end() != nil {
			err = diag.New(diag.PJRTWorker, cfg.Command[0], "the PJRT worker sent an invalid reply: %v", c.err)
		}
	}
	if err != nil {
		e.Close()
		return nil, err
	}
	return e, nil
}

// spawn starts the child with pipes that this side owns, since those of exec would be closed by Wait under the reader.
func (e *Engine) spawn() (in, out *os.File, err error) {
	childIn, in, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	out, childOut, err := os.Pipe()
	if err != nil {
		childIn.Close()
		in.Close()
		return nil, nil, err
	}
	e.cmd.Stdin, e.cmd.Stdout = childIn, childOut
	err = e.cmd.Start()
	childIn.Close()
	childOut.Close()
	if err != nil {
		in.Close()
		out.Close()
		return nil, nil, err
	}
	e.in, e.out = in, out
	return in, out, nil
}

// checkPlugin finds the mistakes that need no child.
func checkPlugin(path string) error {
	if !filepath.IsAbs(path) {
		return diag.New(diag.PJRTPlugin, path, "the PJRT plugin path %q is not absolute", path)
	}
	st, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return diag.New(diag.PJRTPlugin, path, "the PJRT plugin is missing").
			WithHint("scripts/setup fetches it; without it: run --engine ref, verify --engines ref,rtl")
	case err != nil:
		return diag.New(diag.PJRTPlugin, path, "the PJRT plugin cannot be read: %v", err)
	case !st.Mode().IsRegular():
		return diag.New(diag.PJRTPlugin, path, "the PJRT plugin is not a regular file").
			WithHint("name the shared object itself, such as xla_cpu_pjrt.so")
	}
	return nil
}

// Devices is the number of devices that programs run on.
func (e *Engine) Devices() int { return max(e.cfg.Devices, 1) }

// Info describes the plugin.
func (e *Engine) Info() Info { return e.info }

// Close ends the child process and waits for it. It may be called twice.
func (e *Engine) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.broken == nil {
		e.broken = diag.New(diag.PJRTWorker, e.cfg.Plugin, "the PJRT engine is closed")
	}
	e.in.Close() // the child's loop ends with its input
	select {
	case <-e.exited:
	case <-time.After(2 * time.Second):
		e.cmd.Process.Kill()
		<-e.exited
	}
	e.out.Close()
	return nil
}

// request sends one message and waits for its reply. A process failure breaks the engine for good.
func (e *Engine) request(ctx context.Context, k kind, parts ...[]byte) (*cursor, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.broken != nil {
		return nil, e.broken
	}
	if err := ctx.Err(); err != nil {
		return nil, diag.New(diag.PJRTCancelled, e.cfg.Plugin, "the PJRT request was cancelled before it was sent: %v", err)
	}
	var timedOut atomic.Bool
	clock := time.AfterFunc(e.cfg.Timeout, func() {
		timedOut.Store(true)
		e.cmd.Process.Kill()
	})
	stop := context.AfterFunc(ctx, func() { e.cmd.Process.Kill() })
	e.seq++
	c, err := e.exchange(k, parts)
	if onTime, kept := clock.Stop(), stop(); err == nil && !(onTime && kept) {
		err = io.EOF // the child was killed just after its reply
	}
	if err != nil {
		e.cmd.Process.Kill()
		<-e.exited
		e.broken = e.explain(ctx, k, err, timedOut.Load())
		return nil, e.broken
	}
	if c != nil && c.err != nil { // the child is well and refuses
		return nil, c.err
	}
	return c, nil
}

// exchange writes a request and reads the reply; its error means that the process is of no more use.
func (e *Engine) exchange(k kind, parts [][]byte) (*cursor, error) {
	sent := writeFrame(e.in, k, e.seq, parts...)
	f, err := readFrame(e.out)
	switch {
	case err != nil && sent != nil:
		return nil, fmt.Errorf("%w (%v)", err, sent)
	case err != nil:
		return nil, err
	case f.seq != e.seq:
		return nil, fmt.Errorf("reply %d to request %d", f.seq, e.seq)
	case f.kind == kindOK:
		return &cursor{rest: f.payload}, nil
	case f.kind == kindFail:
		c := &cursor{rest: f.payload}
		d := &diag.Error{Code: diag.Code(c.text()), Msg: c.text(), Hint: c.text(), Pos: e.cfg.Plugin}
		if err := c.end(); err != nil {
			return nil, err
		}
		if k != kindHello && k != kindDrop {
			d.Pos = ""
		}
		return &cursor{err: d}, nil
	}
	return nil, fmt.Errorf("reply of kind %d", f.kind)
}

// explain says why the process failed, after it has ended.
func (e *Engine) explain(ctx context.Context, k kind, err error, timedOut bool) error {
	what := [...]string{kindHello: "starting", kindCompile: "compiling", kindBind: "binding weights",
		kindRun: "running", kindDrop: "releasing a program", kindUpload: "uploading", kindStep: "running",
		kindDownload: "downloading", kindFree: "releasing a buffer"}[k]
	var d *diag.Error
	switch {
	case ctx.Err() != nil:
		return diag.New(diag.PJRTCancelled, e.cfg.Plugin, "the PJRT worker was stopped while %s: %v", what, ctx.Err())
	case timedOut:
		d = diag.New(diag.PJRTWorker, e.cfg.Plugin, "the PJRT worker did not answer within %v while %s", e.cfg.Timeout, what)
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, os.ErrDeadlineExceeded):
		d = diag.New(diag.PJRTWorker, e.cfg.Plugin, "the PJRT worker ended while %s (%v)", what, e.cmd.ProcessState)
	default:
		d = diag.New(diag.PJRTWorker, e.cfg.Plugin, "the PJRT worker sent garbage while %s: %v", what, err)
	}
	for _, line := range e.stderr.last(8) {
		d.WithNote("worker: %s", line)
	}
	return d
}

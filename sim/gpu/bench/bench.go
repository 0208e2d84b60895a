// SPDX-License-Identifier: Apache-2.0

// Package bench checks the cases of the kernel library on a device and, where it is a GPU, times them: against the
// bandwidth of a plain copy measured in the same run, with operands that the cache does not hold, and with no gap of
// the host in the measured time. What it finds is appended to a file, one line a case, so that a run can be taken up
// again.
package bench

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"lathe/cuda"
	"lathe/internal/diag"
	"lathe/sim/gpu"
)

// Schema is the version of a Record.
const Schema = 1

// Record is one line of the results: a case, on one device, in one run.
type Record struct {
	Schema int    `json:"schema"`
	Commit string `json:"commit"`
	GPU    string `json:"gpu"`
	Driver string `json:"driver"`
	SM     string `json:"sm"`
	// Clocks are those of multiprocessors and memory in MHz, and the power cap in W, before and after; all 0 if unknown.
	Clocks [2]Clocks `json:"clocks"`

	Case    string `json:"case"`
	Kernel  string `json:"kernel"` // the templates, joined by +
	Config  string `json:"config"` // the instances
	Shape   string `json:"shape"`
	Formats string `json:"formats"`
	// Status is ok (checked and timed), checked (not timed), wrong, failed, late (no answer in time) or skipped.
	Status string `json:"status"`
	// Error says what is wrong, or why it was skipped; one line.
	Error string `json:"error,omitempty"`

	Cold     bool    `json:"cold"`  // operands do not lie in the L2 cache
	Graph    int     `json:"graph"` // launches of a graph that were timed together; 0 for single launches between events
	N        int     `json:"n"`     // samples
	Median   float64 `json:"us_median"`
	P20      float64 `json:"us_p20"`
	P80      float64 `json:"us_p80"`
	Hot      float64 `json:"us_hot"` // median with operands in the L2 cache; 0 where they do not fit
	Bytes    int64   `json:"bytes"`
	Flops    int64   `json:"flops"`
	Floor    float64 `json:"floor_us"`  // by the ceilings of the same run
	PctFloor float64 `json:"pct_floor"` // 100 is at the floor
	CopyBW   float64 `json:"copy_bw"`   // bytes read and written a second by a copy on the device
	GemmTF   float64 `json:"gemm_tf"`   // 10^12 flop/s of a bf16 matrix product; 0 if it was not measured

	Baselines []Baseline `json:"baseline"`
	Correct   Correct    `json:"correct"`
	Registers int        `json:"registers"`
	Shared    int        `json:"smem"`
	Image     string     `json:"image"`
	Hash      string     `json:"cubin_sha256"` // of the image
}

// Baseline is the time of another library for the same work.
type Baseline struct {
	Name   string  `json:"name"`
	Median float64 `json:"us"`
}

// Correct is what the check found.
type Correct struct {
	MaxErr   float64 `json:"max_err"`
	Tol      float64 `json:"tol"`
	BitEqual bool    `json:"bit_equal"`
}

// Clocks are those of a GPU at one moment.
type Clocks struct {
	SM     int     `json:"sm_mhz"`
	Memory int     `json:"mem_mhz"`
	Power  float64 `json:"power_w"`
}

// Options say what a run does.
type Options struct {
	// Open opens the device; it is called again after a kernel has broken it.
	Open func() (gpu.Device, error)
	// Program returns the compiled kernels of a case.
	Program func(c *cuda.Case) (*gpu.Program, error)
	Cases   []cuda.Case
	Commit  string
	// Done says whether a case has its line already.
	Done func(device string, c *cuda.Case) bool
	// Append keeps a record.
	Append func(r *Record) error
	// Limit is the time after which no case is begun. CaseLimit is that in which the device must be done with a case,
	// without the time of references on the CPU; else the run is given up, since a GPU that hangs cannot be interrupted.
	// Run takes no longer than the sum of both: a case for which the CPU still works then is left for another run. After
	// either the program should end: what was given up goes on.
	Limit, CaseLimit time.Duration
	Protocol         Protocol
	// Compared are times of another library; nil for none.
	Compared *Compared
	// CheckOnly leaves the timing out.
	CheckOnly bool
	// Clocks reads the clocks of the GPU; nil if nothing can.
	Clocks func() Clocks
	// Note is told of progress, one line at a time.
	Note func(line string)
	// CopyBytes bounds the size of the copy that measures bandwidth; 4 GiB if 0.
	CopyBytes int64
}

// Summary counts the cases of a run by what became of them.
type Summary struct {
	OK, Checked, Wrong, Failed, Skipped, Before, Left int
}

// String is one line.
func (s Summary) String() string {
	return fmt.Sprintf("%d timed, %d checked, %d wrong, %d failed, %d skipped, %d had their line before, %d left for "+
		"another run", s.OK, s.Checked, s.Wrong, s.Failed, s.Skipped, s.Before, s.Left)
}

// run is the state of one.
type run struct {
	o       Options
	device  gpu.Device
	timer   gpu.Timer // nil where the device has no clock
	started time.Time
	begun   atomic.Int64 // when the device was asked, in time since started; -1 while the CPU works
	copyBW  float64
	hangs   bool     // a case that was given up still goes on, and uses the device
	bad     []string // instances that gave wrong results or failed
	sum     Summary
}

// Run checks all cases first, the small ones before the large, then times those whose kernels were right everywhere. It
// returns an error where the device cannot be opened, a record cannot be kept, or a case took too long; a kernel that
// is wrong is a record, and counted.
func Run(ctx context.Context, o Options) (Summary, error) {
	r := &run{o: o, started: time.Now()}
	if err := r.open(); err != nil {
		return r.sum, err
	}
	defer func() {
		if !r.hangs {
			_ = r.device.Close() // every answer is in by then
		}
	}()
	for _, timed := range []bool{false, true} {
		for i := range o.Cases {
			if o.Cases[i].Timed != timed {
				continue
			}
			if err := r.one(ctx, &o.Cases[i]); err != nil {
				return r.sum, err
			}
		}
	}
	return r.sum, nil
}

func (r *run) open() error {
	d, err := r.o.Open()
	if err != nil {
		return err
	}
	r.device = d
	r.timer, _ = d.(gpu.Timer)
	if r.timer != nil && !r.o.CheckOnly && r.copyBW == 0 {
		if r.copyBW, err = r.o.Protocol.copyCeiling(r.timer, r.o.CopyBytes); err != nil {
			_ = d.Close() // the first error is the one to tell
			return err
		}
		r.o.Note(fmt.Sprintf("%s: a copy reaches %.0f GB/s", d.Name(), r.copyBW/1e9))
	}
	return nil
}

// one runs a case, bounded in time.
func (r *run) one(ctx context.Context, c *cuda.Case) error {
	switch {
	case r.hangs:
		r.sum.Left++
		return nil
	case r.o.Done != nil && r.o.Done(r.device.Name(), c):
		r.sum.Before++
		return nil
	case time.Since(r.started) > r.o.Limit || ctx.Err() != nil:
		r.sum.Left++
		return nil
	}
	rec, late := r.blank(c), r.blank(c)
	done := make(chan error, 1)
	r.begun.Store(int64(time.Since(r.started)))
	go func() { done <- r.attempt(c, rec) }()
	outcome, err := r.await(done)
	switch outcome {
	case tooLong:
		r.hangs = true
		r.sum.Left++
		return nil
	case noAnswer:
		r.hangs = true
		late.Status, late.Error = "late", fmt.Sprintf("no answer in %v", r.o.CaseLimit)
		if err := r.o.Append(late); err != nil {
			return err
		}
		return diag.New(diag.GPUTimeout, c.Name, "no answer in %v: the run is given up, another one will leave this case out",
			r.o.CaseLimit).WithHint("scripts/gpu-bench -emulated -match %s tries it without a GPU", c.Name)
	}
	if rec.Status == "" { // an error of the run, before anything was found
		return err
	}
	r.note(rec)
	if e := r.o.Append(rec); err == nil {
		err = e
	}
	return err
}

// outcome is what came of waiting for an attempt.
type outcome int

const (
	ended    outcome = iota
	noAnswer         // the device took longer than CaseLimit
	tooLong          // the time of the run is up, and the CPU works
)

// await waits for an attempt, whose error it returns.
func (r *run) await(done <-chan error) (outcome, error) {
	tick := time.NewTicker(min(r.o.CaseLimit/4+1, time.Second))
	defer tick.Stop()
	for {
		select {
		case err := <-done:
			return ended, err
		case <-tick.C:
			passed := time.Since(r.started)
			if since := r.begun.Load(); since >= 0 && passed-time.Duration(since) > r.o.CaseLimit {
				return noAnswer, nil
			}
			if passed > r.o.Limit+r.o.CaseLimit {
				return tooLong, nil
			}
		}
	}
}

// alone runs work of the CPU, for which no device is to blame.
func (r *run) alone(work func()) {
	r.begun.Store(-1)
	work()
	r.begun.Store(int64(time.Since(r.started)))
}

// blank is a record of what is known before anything ran.
func (r *run) blank(c *cuda.Case) *Record {
	rec := &Record{Schema: Schema, Commit: r.o.Commit, GPU: r.device.Name(), SM: r.device.Arch(), Case: c.Name,
		Kernel: Templates(c), Config: strings.Join(instances(c), " + "), Shape: c.Shape, Formats: c.Formats,
		Bytes: c.Bytes, Flops: c.Flops, CopyBW: r.copyBW, Baselines: r.o.Compared.Of(c.Name)}
	if r.o.Compared != nil {
		rec.GemmTF = r.o.Compared.GemmTF
	}
	if r.timer != nil {
		rec.Driver = r.timer.Facts().Driver
	}
	return rec
}

func instances(c *cuda.Case) []string {
	var out []string
	for _, i := range c.Instances {
		out = append(out, i.String())
	}
	return out
}

// Templates are the names of the kernels of a case, joined by +; its own name where it has a source in their place.
func Templates(c *cuda.Case) string {
	if len(c.Instances) == 0 {
		return c.Name
	}
	var out []string
	for _, i := range c.Instances {
		out = append(out, i.Template.Name)
	}
	return strings.Join(out, "+")
}

// attempt checks and times a case. What the kernel does wrong goes into the record; an error is one of the run.
func (r *run) attempt(c *cuda.Case, rec *Record) error {
	bad := r.badOf(c)
	if c.Timed && bad != "" {
		rec.Status, rec.Error = "skipped", bad+" was wrong, or failed, in another case"
		return nil
	}
	if r.o.Clocks != nil && c.Timed {
		rec.Clocks[0] = r.o.Clocks()
	}
	err := r.measure(c, rec)
	if r.o.Clocks != nil && c.Timed {
		rec.Clocks[1] = r.o.Clocks()
	}
	if rec.Status == "" && err == nil {
		rec.Status = "checked"
	}
	if err == nil && rec.Status != "wrong" {
		return nil
	}
	if diag.CodeOf(err) == diag.GPUMemory { // no fault of the kernel
		rec.Status, rec.Error = "skipped", oneLine(err)
		return nil
	}
	r.bad = append(r.bad, instances(c)...)
	if err == nil {
		return nil
	}
	rec.Status, rec.Error = "failed", oneLine(err)
	if diag.CodeOf(err) != diag.GPUFault {
		return nil
	}
	_ = r.device.Close() // its context is lost
	return r.open()
}

// badOf is an instance of the case that was wrong before; "" if none was.
func (r *run) badOf(c *cuda.Case) string {
	for _, i := range instances(c) {
		for _, b := range r.bad {
			if i == b {
				return i
			}
		}
	}
	return ""
}

func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

// note tells of a case and counts it.
func (r *run) note(rec *Record) {
	line := rec.Case + ": " + rec.Status
	switch rec.Status {
	case "ok":
		r.sum.OK++
		line += fmt.Sprintf(", %.2f us, %.0f %% of the floor of %.2f us", rec.Median, rec.PctFloor, rec.Floor)
		for _, b := range rec.Baselines {
			line += fmt.Sprintf(", %.2f x %s", b.Median/rec.Median, b.Name)
		}
	case "checked":
		r.sum.Checked++
	case "wrong":
		r.sum.Wrong++
	case "failed":
		r.sum.Failed++
	case "skipped":
		r.sum.Skipped++
	}
	if rec.Error != "" {
		line += ": " + rec.Error
	}
	r.o.Note(line)
}

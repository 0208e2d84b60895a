// SPDX-License-Identifier: Apache-2.0

package record

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"syscall"

	"lathe/cuda"
	"lathe/internal/atomicfile"
	"lathe/internal/diag"
	"lathe/sim/gpu"
)

// Report is what a replay has found.
type Report struct {
	Device string `json:"device"`
	Arch   string `json:"arch"`
	// Recorded is the device that gave the expected answers.
	Recorded string `json:"recorded"`
	// Images are what was loaded of each program.
	Images   []string `json:"images"`
	Launches int      `json:"launches"`
	Reads    []Read   `json:"reads"`
}

// Read is one comparison.
type Read struct {
	Step   int   `json:"step"`
	Buffer int   `json:"buffer"`
	Bytes  int64 `json:"bytes"`
	// Differ counts bytes that are not as recorded.
	Differ int64 `json:"differ"`
	// MaxErr is the largest error of a value, where a tolerance says what the values are; Outside counts those beyond it,
	// or the bytes that differ where all bits must be equal.
	MaxErr  float64 `json:"max_err"`
	Outside int64   `json:"outside"`
}

// replay is the state of one.
type replay struct {
	dir    string
	m      *Manifest
	device gpu.Device
	temp   string       // the folder for what is read, until all is; empty where it is not kept
	held   []gpu.Buffer // by index
	there  []bool
	codes  []gpu.Code
	report *Report
}

// Replay asks a device for everything in a recording and compares what it answers. Where out is not empty, what was
// read is written into that folder as read-STEP.bin, at the end. ctx is looked at between steps. Errors: L0986 for a
// recording that is broken, L0987 for answers beyond their tolerance, after all have been compared, with the report;
// those of the device. Nothing of the replay is left on the device.
func Replay(ctx context.Context, dir string, device gpu.Device, out string) (*Report, error) {
	m, err := Open(dir)
	if err != nil {
		return nil, err
	}
	r := &replay{dir: dir, m: m, device: device, held: make([]gpu.Buffer, len(m.Buffers)),
		there: make([]bool, len(m.Buffers)), codes: make([]gpu.Code, len(m.Programs)),
		report: &Report{Device: device.Name(), Arch: device.Arch(), Recorded: m.Device}}
	if out != "" {
		if r.temp, err = beside(out); err != nil {
			return nil, unkept(out, err)
		}
		defer atomicfile.Remove(r.temp)
	}
	for i := range m.Steps {
		if err = ctx.Err(); err != nil {
			break
		}
		if err = r.do(i, &m.Steps[i]); err != nil {
			break
		}
	}
	if e := r.clear(); err == nil {
		err = e
	}
	if err != nil {
		return nil, err
	}
	if out != "" {
		if err := move(r.temp, out); err != nil {
			return nil, unkept(out, err)
		}
	}
	return r.report, r.report.verdict(dir)
}

// beside makes a folder on the file system of dir, which an interruption removes: within dir where that is a folder.
func beside(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	switch info, err := os.Stat(abs); {
	case err == nil && info.IsDir():
		return atomicfile.Folder(abs, ".replay-*")
	case err == nil:
		return "", syscall.ENOTDIR
	}
	if err := os.MkdirAll(filepath.Dir(abs), 0o755); err != nil {
		return "", err
	}
	return atomicfile.Folder(filepath.Dir(abs), "."+filepath.Base(abs)+"-*")
}

// move puts the files of a folder into another one, which may be absent.
func move(from, to string) error {
	if _, err := os.Stat(to); os.IsNotExist(err) {
		if err := os.Chmod(from, 0o755); err != nil {
			return err
		}
		return os.Rename(from, to)
	}
	files, err := os.ReadDir(from)
	for _, f := range files {
		if err == nil {
			err = os.Rename(filepath.Join(from, f.Name()), filepath.Join(to, f.Name()))
		}
	}
	return err
}

// Verdict says in words how the answers compare with the recording.
func (r *Report) Verdict() string {
	differ, outside := 0, 0
	for _, c := range r.Reads {
		if c.Differ > 0 {
			differ++
		}
		if c.Outside > 0 {
			outside++
		}
	}
	switch {
	case outside > 0:
		return fmt.Sprintf("DIFFERENT: %d of %d reads", outside, len(r.Reads))
	case differ > 0:
		return fmt.Sprintf("within tolerance: %d of %d reads, %d not to the last bit", len(r.Reads), len(r.Reads), differ)
	}
	return fmt.Sprintf("equal: %d of %d reads, bit for bit", len(r.Reads), len(r.Reads))
}

// verdict is error L0987 for the first answer beyond its tolerance.
func (r *Report) verdict(dir string) error {
	bad := 0
	var first *Read
	for i := range r.Reads {
		if r.Reads[i].Outside > 0 {
			if bad++; first == nil {
				first = &r.Reads[i]
			}
		}
	}
	if first == nil {
		return nil
	}
	return diag.New(diag.RecordingDiffers, dir,
		"the results of %s differ from those of %s: %d of %d reads differ, the first in step "+
			"%d: buffer %d, %d of %d bytes, largest error %s", r.Device, r.Recorded, bad, len(r.Reads), first.Step,
		first.Buffer, first.Differ, first.Bytes, diag.Number(first.MaxErr, -1)).
		WithHint("with -o DIR the results are kept, to be compared with those in data/")
}

// unkept is the error of answers that cannot be written.
func unkept(dir string, err error) error {
	return diag.New(diag.RecordingWrite, dir, "the answers of the device cannot be written: %v", err).WithHint(elsewhere)
}

// clear frees what a recording, or an error, has left.
func (r *replay) clear() error {
	var first error
	for i, there := range r.there {
		if there {
			if err := r.device.Free(r.held[i]); first == nil {
				first = err
			}
		}
	}
	for _, c := range r.codes {
		if c != nil {
			if err := r.device.Unload(c); first == nil {
				first = err
			}
		}
	}
	return first
}

// do replays step number i.
func (r *replay) do(i int, s *Step) (err error) {
	switch s.Do {
	case "alloc":
		r.held[s.Buffer], err = r.device.Alloc(r.m.Buffers[s.Buffer])
		r.there[s.Buffer] = err == nil
	case "free":
		r.there[s.Buffer] = false
		err = r.device.Free(r.held[s.Buffer])
	case "write":
		data, err := s.Data.content(r.dir)
		if err != nil {
			return err
		}
		return r.device.Write(r.held[s.Buffer].Slice(s.Offset, s.Data.Bytes), data)
	case "fill":
		err = r.device.Fill(r.held[s.Buffer].Slice(s.Offset, s.Bytes), s.Value)
	case "read":
		err = r.read(i, s)
	case "load":
		p, err := r.m.Programs[s.Program].Open(r.dir)
		if err != nil {
			return err
		}
		if r.codes[s.Program], err = r.device.Load(p); err != nil {
			return err
		}
		r.report.Images = append(r.report.Images, r.codes[s.Program].Image())
	case "unload":
		c := r.codes[s.Program]
		r.codes[s.Program] = nil
		err = r.device.Unload(c)
	case "launch":
		r.report.Launches += len(s.Launches)
		launches := make([]cuda.Launch, len(s.Launches))
		for k := range launches {
			launches[k] = s.Launches[k].launch()
		}
		err = r.device.Launch(r.codes[s.Program], r.held, launches...)
	}
	return err
}

func (l *Launch) launch() cuda.Launch {
	out := cuda.Launch{Kernel: l.Kernel, Grid: l.Grid, Block: l.Block, Shared: l.Shared}
	for _, a := range l.Args {
		switch {
		case a.Buffer != nil && a.Map != nil:
			out.Args = append(out.Args, cuda.Tensor(cuda.BufferAt(*a.Buffer, a.Offset), *a.Map, 0))
		case a.Buffer != nil:
			out.Args = append(out.Args, cuda.BufferAt(*a.Buffer, a.Offset))
		default:
			out.Args = append(out.Args, cuda.Arg{Buffer: -1, Size: a.Size, Bits: a.Bits})
		}
	}
	return out
}

// read compares what the device holds with what was recorded.
func (r *replay) read(i int, s *Step) error {
	want, err := s.Data.content(r.dir)
	if err != nil {
		return err
	}
	got := make([]byte, len(want))
	if err := r.device.Read(r.held[s.Buffer].Slice(s.Offset, s.Data.Bytes), got); err != nil {
		return err
	}
	if r.temp != "" {
		if err := os.WriteFile(filepath.Join(r.temp, fmt.Sprintf("read-%d.bin", i)), got, 0o644); err != nil {
			return unkept(r.temp, err)
		}
	}
	c := Read{Step: i, Buffer: s.Buffer, Bytes: s.Data.Bytes}
	for k := range want {
		if got[k] != want[k] {
			c.Differ++
		}
	}
	if c.Outside = c.Differ; s.Tolerance != nil && c.Differ > 0 {
		c.MaxErr, c.Outside = s.Tolerance.Compare(got, want)
	}
	r.report.Reads = append(r.report.Reads, c)
	return nil
}

// width is the size of a type in bytes; 0 for an unknown one.
func width(typ string) int {
	switch typ {
	case "f32":
		return 4
	case "bf16", "f16":
		return 2
	}
	return 0
}

// Compare returns the largest error, and how many values lie beyond the tolerance. NaN equals NaN only; bytes behind
// the last whole value must be equal.
func (t *Tolerance) Compare(got, want []byte) (maxErr float64, outside int64) {
	w := width(t.Type)
	whole := len(want) / w * w
	abs := t.Abs
	for k := 0; k < whole; k += w {
		if v := t.OfMax * math.Abs(t.Value(want[k:])); v < math.Inf(1) { // nor is it NaN
			abs = max(abs, v)
		}
	}
	for k := 0; k < whole; k += w {
		a, b := t.Value(got[k:]), t.Value(want[k:])
		err := math.Abs(a - b)
		switch {
		case a == b || math.IsNaN(a) && math.IsNaN(b):
			continue
		case math.IsNaN(err) || math.IsInf(err, 0):
			outside++
			maxErr = math.Inf(1)
		case err > max(abs, t.Rel*math.Abs(b)):
			outside++
		}
		maxErr = max(maxErr, err)
	}
	for k := whole; k < len(want); k++ {
		if got[k] != want[k] {
			outside++
		}
	}
	return maxErr, outside
}

// Value reads the value at the start of b.
func (t *Tolerance) Value(b []byte) float64 {
	switch t.Type {
	case "f32":
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	case "bf16":
		return float64(math.Float32frombits(uint32(binary.LittleEndian.Uint16(b)) << 16))
	}
	h := binary.LittleEndian.Uint16(b)
	sign, exponent, fraction := 1-2*float64(h>>15), int(h>>10&31), float64(h&1023)
	switch exponent {
	case 0:
		return sign * math.Ldexp(fraction, -24)
	case 31:
		if fraction != 0 {
			return math.NaN()
		}
		return math.Inf(int(sign))
	}
	return sign * math.Ldexp(1024+fraction, exponent-25)
}

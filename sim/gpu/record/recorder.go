// SPDX-License-Identifier: Apache-2.0

package record

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"

	"lathe/cuda"
	"lathe/internal/atomicfile"
	"lathe/internal/diag"
	"lathe/sim/gpu"
)

// Recorder is a device that passes everything on to another one and writes it down. The folder appears at Close, whole,
// or not at all where anything failed.
type Recorder struct {
	gpu.Device
	dir, temp string
	failed    error
	m         Manifest
	alive     []gpu.Buffer // by index; Addr 0 once freed
	codes     []gpu.Code   // by index of programs; nil once unloaded
	tolerance []Tolerance  // by index of buffers; Type "" for none
	allowed   []Tolerance  // of buffers to come
}

// New begins a recording into dir, which must be absent or empty, of what is asked of device. The device is the
// recorder's from then on. Error L0985.
func New(device gpu.Device, dir string) (*Recorder, error) {
	r := &Recorder{Device: device, m: Manifest{Schema: Schema, Device: device.Name(), Arch: device.Arch()}}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, unwritable(dir, err)
	}
	r.dir = abs
	switch have, err := os.ReadDir(abs); {
	case err == nil && len(have) > 0:
		return nil, diag.New(diag.RecordingWrite, dir, "there is something already; a recording wants a new folder").
			WithHint("choose another folder, or remove this one")
	case err != nil && !os.IsNotExist(err):
		return nil, unwritable(dir, err)
	}
	if err := os.MkdirAll(filepath.Dir(abs), 0o755); err != nil {
		return nil, unwritable(dir, err)
	}
	if r.temp, err = atomicfile.Folder(filepath.Dir(abs), "."+filepath.Base(abs)+"-*"); err != nil {
		return nil, unwritable(dir, err)
	}
	return r, nil
}

const elsewhere = "choose a folder in which you may write"

func unwritable(dir string, err error) error {
	return diag.New(diag.RecordingWrite, dir, "the recording cannot be written: %v", err).WithHint(elsewhere)
}

// note keeps the first error, after which nothing is written, and returns err.
func (r *Recorder) note(err error) error {
	if r.failed == nil {
		r.failed = err
	}
	return err
}

func (r *Recorder) step(s Step) { r.m.Steps = append(r.m.Steps, s) }

// keep stores data under their hash.
func (r *Recorder) keep(data []byte) (*File, error) {
	f, err := save(r.temp, data)
	return f, r.note(err)
}

func save(dir string, data []byte) (*File, error) {
	f := hash(data)
	if _, err := os.Stat(f.path(dir)); err == nil {
		return &f, nil
	}
	if err := os.MkdirAll(filepath.Join(dir, dataDir), 0o755); err != nil {
		return nil, unwritable(dir, err)
	}
	if err := os.WriteFile(f.path(dir), data, 0o644); err != nil {
		return nil, unwritable(dir, err)
	}
	return &f, nil
}

// Save writes the images of a program into a folder, where Program.Open finds them. Error L0985.
func Save(dir string, p *gpu.Program) (*Program, error) {
	text, err := save(dir, p.PTX)
	if err != nil {
		return nil, err
	}
	out := &Program{Name: p.Name, PTX: *text}
	for _, c := range p.Cubins {
		f, err := save(dir, c.Data)
		if err != nil {
			return nil, err
		}
		out.Cubins = append(out.Cubins, Cubin{Arch: c.Arch, File: *f})
	}
	return out, nil
}

// find locates a buffer, or a part of one, among those that are alive. A buffer itself comes before what it may be a
// part of: an empty one may begin where another ends.
func (r *Recorder) find(b gpu.Buffer) (index int, offset int64, ok bool) {
	if i := slices.Index(r.alive, b); i >= 0 && b.Addr != 0 {
		return i, 0, true
	}
	for i, have := range r.alive {
		if have.Addr != 0 && b.Addr >= have.Addr && b.Addr-have.Addr <= uint64(have.Bytes) {
			if offset := int64(b.Addr - have.Addr); b.Bytes <= have.Bytes-offset {
				return i, offset, true
			}
		}
	}
	return 0, 0, false
}

// stray is the error of a buffer that the device takes and that the recorder has not given out.
func (r *Recorder) stray(what string) error {
	return r.note(diag.New(diag.ForeignBuffer, r.Name(), "%s: a buffer that was not allocated in the recording", what).
		WithHint("allocate it after record.New"))
}

// Alloc passes on and writes down.
func (r *Recorder) Alloc(bytes int64) (gpu.Buffer, error) {
	b, err := r.Device.Alloc(bytes)
	if err != nil {
		return b, r.note(err)
	}
	r.step(Step{Do: "alloc", Buffer: len(r.alive)})
	r.m.Buffers = append(r.m.Buffers, bytes)
	r.alive = append(r.alive, b)
	r.tolerance = append(r.tolerance, Tolerance{})
	if len(r.allowed) > 0 {
		r.tolerance[len(r.tolerance)-1], r.allowed = r.allowed[0], r.allowed[1:]
	}
	return b, nil
}

// Free passes on and writes down.
func (r *Recorder) Free(b gpu.Buffer) error {
	if err := r.Device.Free(b); err != nil {
		return r.note(err)
	}
	i := slices.Index(r.alive, b)
	if i < 0 {
		return r.stray("free")
	}
	r.alive[i] = gpu.Buffer{}
	r.step(Step{Do: "free", Buffer: i})
	return nil
}

// Write passes on and writes down.
func (r *Recorder) Write(to gpu.Buffer, data []byte) error {
	if err := r.Device.Write(to, data); err != nil {
		return r.note(err)
	}
	f, err := r.keep(data)
	if err != nil {
		return err
	}
	i, offset, ok := r.find(to)
	if !ok {
		return r.stray("write")
	}
	r.step(Step{Do: "write", Buffer: i, Offset: offset, Data: f})
	return nil
}

// Read passes on; what was read is what a replay must read.
func (r *Recorder) Read(from gpu.Buffer, into []byte) error {
	if err := r.Device.Read(from, into); err != nil {
		return r.note(err)
	}
	f, err := r.keep(into)
	if err != nil {
		return err
	}
	i, offset, ok := r.find(from)
	if !ok {
		return r.stray("read")
	}
	s := Step{Do: "read", Buffer: i, Offset: offset, Data: f}
	if t := r.tolerance[i]; t.Type != "" {
		s.Tolerance = &t
	}
	r.step(s)
	return nil
}

// unknown is the error of code that was loaded before the recording began.
func (r *Recorder) unknown(what string) error {
	return r.note(diag.New(diag.ForeignBuffer, r.Name(), "%s: a program that was not loaded in the recording", what).
		WithHint("load it after record.New"))
}

// Allow lets later reads of a buffer differ in a replay.
func (r *Recorder) Allow(b gpu.Buffer, t Tolerance) {
	if i, _, ok := r.find(b); ok {
		r.tolerance[i] = t
	}
}

// AllowNext lets reads of the buffers that are allocated next differ, in this order; Type "" means not at all.
func (r *Recorder) AllowNext(t []Tolerance) { r.allowed = t }

// Fill passes on and writes down.
func (r *Recorder) Fill(b gpu.Buffer, value byte) error {
	if err := r.Device.Fill(b, value); err != nil {
		return r.note(err)
	}
	i, offset, ok := r.find(b)
	if !ok {
		return r.stray("fill")
	}
	r.step(Step{Do: "fill", Buffer: i, Offset: offset, Bytes: b.Bytes, Value: value})
	return nil
}

// Load passes on and keeps all images of the program, not only that which this device takes.
func (r *Recorder) Load(p *gpu.Program) (gpu.Code, error) {
	c, err := r.Device.Load(p)
	if err != nil {
		return nil, r.note(err)
	}
	out, err := Save(r.temp, p)
	if err != nil {
		return nil, r.note(err)
	}
	r.step(Step{Do: "load", Program: len(r.codes)})
	r.m.Programs = append(r.m.Programs, *out)
	r.codes = append(r.codes, c)
	return c, nil
}

// Unload passes on and writes down.
func (r *Recorder) Unload(c gpu.Code) error {
	if err := r.Device.Unload(c); err != nil {
		return r.note(err)
	}
	i := slices.Index(r.codes, c)
	if i < 0 {
		return r.unknown("unload")
	}
	r.codes[i] = nil
	r.step(Step{Do: "unload", Program: i})
	return nil
}

// Launch passes on and writes down.
func (r *Recorder) Launch(c gpu.Code, buffers []gpu.Buffer, launches ...cuda.Launch) error {
	if err := r.Device.Launch(c, buffers, launches...); err != nil {
		return r.note(err)
	}
	s := Step{Do: "launch", Program: slices.Index(r.codes, c)}
	if s.Program < 0 {
		return r.unknown("launch")
	}
	for _, l := range launches {
		out := Launch{Kernel: l.Kernel, Grid: l.Grid, Block: l.Block, Shared: l.Shared, Args: []Arg{}}
		for _, a := range l.Args {
			if a.Buffer < 0 {
				out.Args = append(out.Args, Arg{Size: a.Size, Bits: a.Bits})
				continue
			}
			i, offset, ok := r.find(buffers[a.Buffer])
			if !ok {
				return r.stray("launch")
			}
			out.Args = append(out.Args, Arg{Buffer: &i, Offset: offset + a.Offset, Map: a.Map})
		}
		s.Launches = append(s.Launches, out)
	}
	r.step(s)
	return nil
}

// Sync passes on.
func (r *Recorder) Sync() error { return r.note(r.Device.Sync()) }

// Fail says that the work on the device has ended with an error of another's: no folder appears.
func (r *Recorder) Fail(err error) { _ = r.note(err) }

// Close closes the device and puts the recording into its place.
func (r *Recorder) Close() error {
	if r.temp == "" {
		return nil
	}
	defer func() { _ = atomicfile.Remove(r.temp); r.temp = "" }() // moved away, or given up
	if err := r.note(r.Device.Close()); err != nil {
		return err
	}
	if r.failed != nil { // was told when it happened
		return nil
	}
	text, err := json.MarshalIndent(&r.m, "", " ")
	if err == nil {
		err = os.WriteFile(filepath.Join(r.temp, manifestName), append(text, '\n'), 0o644)
	}
	if err == nil {
		err = os.Chmod(r.temp, 0o755)
	}
	if err == nil {
		if err = os.Remove(r.dir); os.IsNotExist(err) { // an empty folder may be there
			err = nil
		}
	}
	if err == nil {
		err = os.Rename(r.temp, r.dir)
	}
	if err != nil {
		return unwritable(r.dir, err)
	}
	return nil
}

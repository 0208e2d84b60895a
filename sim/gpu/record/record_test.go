// SPDX-License-Identifier: Apache-2.0

package record_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lathe/internal/diag"
	"lathe/sim/gpu"
	"lathe/sim/gpu/gputest"
	"lathe/sim/gpu/record"
)

func device(t *testing.T) (*gputest.Fake, gpu.Device) {
	t.Helper()
	f := gputest.New(t)
	d, err := gpu.OpenDriver(gpu.DriverOptions{Library: f.Path, Staging: 4096})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return f, d
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// floats are n values of v, as f32.
func floats(n int, v float32) []byte {
	var out []byte
	for range n {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(v))
	}
	return out
}

// session adds k to 1000 floats' bits on a device, and reads all and a part.
func session(t *testing.T, d gpu.Device, k int, allow func(b gpu.Buffer)) {
	t.Helper()
	const n = 1000
	var b [3]gpu.Buffer
	for i := range b {
		var err error
		b[i], err = d.Alloc(4 * n)
		must(t, err)
	}
	allow(b[0])
	code, err := d.Load(gputest.Words("7.4", 80, 90))
	must(t, err)
	must(t, d.Write(b[1], floats(n, 1.5)))
	must(t, d.Fill(b[0], 0x55))
	must(t, d.Free(b[2]))
	must(t, d.Launch(code, b[:2], gputest.Add(n-1, k)))
	part := []gpu.Buffer{b[0].Slice(4*(n-1), 4), b[1].Slice(4*(n-1), 4)}
	must(t, d.Launch(code, part, gputest.Copy("copy_words", 1)))
	must(t, d.Sync())
	must(t, d.Read(b[0], make([]byte, 4*n)))
	must(t, d.Read(b[0].Slice(8, 12), make([]byte, 12)))
	must(t, d.Unload(code))
}

func recorded(t *testing.T, k int, allow func(r *record.Recorder, b gpu.Buffer)) string {
	t.Helper()
	_, d := device(t)
	dir := filepath.Join(t.TempDir(), "deep", "rec")
	r, err := record.New(d, dir)
	must(t, err)
	session(t, r, k, func(b gpu.Buffer) { allow(r, b) })
	if _, err := os.Stat(dir); err == nil {
		t.Error("the folder is there before Close")
	}
	must(t, r.Close())
	must(t, r.Close())
	return dir
}

func exact(*record.Recorder, gpu.Buffer) {}

func TestReplay(t *testing.T) {
	dir := recorded(t, 7, exact)
	f, d := device(t)
	out := filepath.Join(t.TempDir(), "out")
	rep, err := record.Replay(t.Context(), dir, d, out)
	must(t, err)
	if len(rep.Reads) != 2 || rep.Reads[0].Bytes != 4000 || rep.Reads[1].Bytes != 12 || rep.Launches != 2 ||
		strings.Join(rep.Images, ",") != "cubin sm_90" || rep.Recorded != "Fake H200" {
		t.Errorf("%+v", rep)
	}
	want := append(floats(999, math.Float32frombits(math.Float32bits(1.5)+7)), floats(1, 1.5)...)
	got, err := os.ReadFile(filepath.Join(out, "read-9.bin"))
	if must(t, err); string(got) != string(want) {
		t.Errorf("%d bytes, other than the session's", len(got))
	}
	_, err = record.Replay(t.Context(), dir, d, out) // again
	if names, _ := os.ReadDir(out); err != nil || len(names) != 2 {
		t.Error(names, err)
	}
	if free, total, err := d.MemInfo(); err != nil || free != total {
		t.Errorf("%d of %d free", free, total)
	}
	if _, text := f.Live(); !strings.Contains(text, "memory 0") || !strings.Contains(text, "modules 0") {
		t.Error("left over: " + text)
	}
	entries, err := os.ReadDir(filepath.Dir(dir))
	if must(t, err); len(entries) != 1 {
		t.Errorf("more than the recording was left: %v", entries)
	}
}

// packed is a device whose buffers lie one behind the other, as those of GPUs may.
type packed struct {
	gpu.Device
	next uint64
}

func (p *packed) Alloc(bytes int64) (gpu.Buffer, error) {
	p.next += uint64(bytes)
	return gpu.Buffer{Addr: p.next - uint64(bytes), Bytes: bytes}, nil
}

func (p *packed) Free(gpu.Buffer) error         { return nil }
func (p *packed) Read(gpu.Buffer, []byte) error { return nil }

// TestEmptyBuffer: a buffer without bytes may begin where another one ends, and is not that one.
func TestEmptyBuffer(t *testing.T) {
	_, d := device(t)
	dir := filepath.Join(t.TempDir(), "rec")
	r, err := record.New(&packed{Device: d, next: 1 << 20}, dir)
	must(t, err)
	full, err := r.Alloc(512)
	must(t, err)
	empty, err := r.Alloc(0)
	must(t, err)
	must(t, r.Free(empty))
	must(t, r.Read(full, make([]byte, 512)))
	must(t, r.Close())
	text, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	must(t, err)
	var m record.Manifest
	must(t, json.Unmarshal(text, &m))
	if s := m.Steps; len(s) != 4 || s[2].Do != "free" || s[2].Buffer != 1 || s[3].Buffer != 0 {
		t.Errorf("%+v", s)
	}
}

// TestOutside refuses buffers and programs that were there before the recording.
func TestOutside(t *testing.T) {
	_, d := device(t)
	b, err := d.Alloc(16)
	must(t, err)
	code, err := d.Load(gputest.Words("7.4", 90))
	must(t, err)
	dir := filepath.Join(t.TempDir(), "rec")
	for what, use := range map[string]func(r *record.Recorder) error{
		"write":  func(r *record.Recorder) error { return r.Write(b, []byte{1}) },
		"read":   func(r *record.Recorder) error { return r.Read(b, []byte{1}) },
		"fill":   func(r *record.Recorder) error { return r.Fill(b, 1) },
		"launch": func(r *record.Recorder) error { return r.Launch(code, []gpu.Buffer{b, b}, gputest.Add(4, 1)) },
	} {
		r, err := record.New(d, dir)
		must(t, err)
		if err := use(r); diag.CodeOf(err) != "L0984" || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestReplayCancelled: an interrupted replay ends, and leaves nothing on the device.
func TestReplayCancelled(t *testing.T) {
	dir := recorded(t, 7, exact)
	f, d := device(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if rep, err := record.Replay(ctx, dir, d, ""); rep != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%+v, %v", rep, err)
	}
	if _, text := f.Live(); !strings.Contains(text, "memory 0") || !strings.Contains(text, "modules 0") {
		t.Error("left over: " + text)
	}
}

// edit changes the manifest of a recording.
func edit(t *testing.T, dir string, change func(m *record.Manifest)) {
	t.Helper()
	path := filepath.Join(dir, "manifest.json")
	text, err := os.ReadFile(path)
	must(t, err)
	var m record.Manifest
	must(t, json.Unmarshal(text, &m))
	change(&m)
	text, err = json.Marshal(&m)
	must(t, err)
	must(t, os.WriteFile(path, text, 0o644))
}

// TestTolerance has a device that computes otherwise: one more unit in the last place.
func TestTolerance(t *testing.T) {
	other := func(m *record.Manifest) {
		for i := range m.Steps {
			if m.Steps[i].Do == "launch" && m.Steps[i].Launches[0].Kernel == "add_words" {
				m.Steps[i].Launches[0].Args[3].Bits++
			}
		}
	}
	for _, c := range []struct {
		tolerance record.Tolerance
		outside   int64
	}{
		{record.Tolerance{}, 999},
		{record.Tolerance{Type: "f32", Abs: 1e-8, Rel: 1e-8}, 999},
		{record.Tolerance{Type: "f32", Abs: 2e-7}, 0},
		{record.Tolerance{Type: "f32", Rel: 1e-7}, 0},
		{record.Tolerance{Type: "bf16"}, 999},
		{record.Tolerance{Type: "f32", OfMax: 1e-7}, 0},
		{record.Tolerance{Type: "f32", OfMax: 1e-8}, 999},
	} {
		dir := recorded(t, 7, func(r *record.Recorder, b gpu.Buffer) {
			if c.tolerance.Type != "" {
				r.Allow(b, c.tolerance)
			}
		})
		edit(t, dir, other)
		_, d := device(t)
		rep, err := record.Replay(t.Context(), dir, d, "")
		if rep == nil || rep.Reads[0].Differ != 999 || rep.Reads[0].Outside != c.outside {
			t.Fatalf("%+v: %+v, %v", c, rep, err)
		}
		if (err == nil) != (c.outside == 0) || err != nil && diag.CodeOf(err) != "L0987" {
			t.Errorf("%+v: %v", c, err)
		}
		if c.tolerance.Type == "f32" && math.Abs(rep.Reads[0].MaxErr-0x1p-23) > 1e-12 {
			t.Errorf("largest error %g, want 2^-23", rep.Reads[0].MaxErr)
		}
	}
}

// first is the first step of a kind.
func first(m *record.Manifest, do string) *record.Step {
	return &m.Steps[slices.IndexFunc(m.Steps, func(s record.Step) bool { return s.Do == do })]
}

// TestBroken breaks a recording in every way, and finds it before the device is asked for what makes no sense.
func TestBroken(t *testing.T) {
	dir := recorded(t, 7, exact)
	manifest := filepath.Join(dir, "manifest.json")
	sound, err := os.ReadFile(manifest)
	must(t, err)
	far := 9
	for name, change := range map[string]func(m *record.Manifest){
		"schema 2":          func(m *record.Manifest) { m.Schema = 2 },
		"is not a step":     func(m *record.Manifest) { m.Steps[0].Do = "dance" },
		"buffer 3":          func(m *record.Manifest) { m.Steps[0].Buffer = 3 },
		"buffer -1":         func(m *record.Manifest) { m.Steps[0].Buffer = -1 },
		"(write): buffer 1": func(m *record.Manifest) { m.Steps[1].Do = "fill"; m.Steps[1].Buffer = 0 },
		"leaves its buffer": func(m *record.Manifest) { first(m, "write").Offset = 1 },
		"a buffer of -4":    func(m *record.Manifest) { m.Buffers[2] = -4 },
		"no data":           func(m *record.Manifest) { first(m, "read").Data = nil },
		"program 1":         func(m *record.Manifest) { first(m, "launch").Program = 1 },
		"program 0":         func(m *record.Manifest) { first(m, "load").Do = "unload" },
		"of 3 bytes":        func(m *record.Manifest) { first(m, "launch").Launches[0].Args[2].Size = 3 },
		"buffer 9":          func(m *record.Manifest) { first(m, "launch").Launches[0].Args[0].Buffer = &far },
		"type \"f64\"":      func(m *record.Manifest) { first(m, "read").Tolerance = &record.Tolerance{Type: "f64"} },
		"is not a sha256":   func(m *record.Manifest) { m.Programs[0].PTX.SHA256 = "../../x" },
		"no such file":      func(m *record.Manifest) { m.Programs[0].Cubins[0].SHA256 = strings.Repeat("0", 64) },
		"bytes, not":        func(m *record.Manifest) { m.Programs[0].PTX.Bytes++ },
	} {
		edit(t, dir, change)
		_, d := device(t)
		rep, err := record.Replay(t.Context(), dir, d, "")
		if rep != nil || diag.CodeOf(err) != "L0986" || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
		if free, total, _ := d.MemInfo(); free != total {
			t.Errorf("%s: memory is left", name)
		}
		must(t, os.WriteFile(manifest, sound, 0o644))
	}
	files, err := filepath.Glob(filepath.Join(dir, "data", "*"))
	must(t, err)
	for _, path := range files {
		data, err := os.ReadFile(path)
		must(t, err)
		data[0] ^= 1
		must(t, os.WriteFile(path, data, 0o644))
		_, d := device(t)
		_, err = record.Replay(t.Context(), dir, d, "")
		if diag.CodeOf(err) != "L0986" || !strings.Contains(err.Error(), "another content") {
			t.Errorf("a changed %s: %v", filepath.Base(path), err)
		}
		data[0] ^= 1
		must(t, os.WriteFile(path, data, 0o644))
	}
	must(t, os.WriteFile(manifest, []byte("{"), 0o644))
	if _, err := record.Open(dir); diag.CodeOf(err) != "L0986" {
		t.Error(err)
	}
	if _, err := record.Open(t.TempDir()); diag.CodeOf(err) != "L0986" {
		t.Error(err)
	}
}

// TestWhole leaves no folder behind a session that failed, and none in the way of one that is there.
func TestWhole(t *testing.T) {
	f, d := device(t)
	parent := t.TempDir()
	r, err := record.New(d, filepath.Join(parent, "rec"))
	must(t, err)
	b, err := r.Alloc(16)
	must(t, err)
	f.Fail("cuMemcpyHtoDAsync_v2", 0, 1)
	if err := r.Write(b, []byte{1}); diag.CodeOf(err) != "L0979" {
		t.Error(err)
	}
	must(t, r.Write(b, []byte{1}))
	must(t, r.Close())
	if left, _ := os.ReadDir(parent); len(left) != 0 {
		t.Errorf("left over: %v", left)
	}
	if n, what := f.Live(); n != 0 {
		t.Error("left over: " + what)
	}
	_, d = device(t)
	r, err = record.New(d, filepath.Join(parent, "rec"))
	must(t, err)
	r.Fail(context.Canceled) // beside the device, which has done all that it was asked for
	must(t, r.Close())
	if left, _ := os.ReadDir(parent); len(left) != 0 {
		t.Errorf("left over after an interruption: %v", left)
	}
	must(t, os.Mkdir(filepath.Join(parent, "full"), 0o755))
	must(t, os.WriteFile(filepath.Join(parent, "full", "x"), nil, 0o644))
	_, d = device(t)
	for dir, cause := range map[string]string{"full": "there is something already", "full/x": "not a directory",
		"full/x/y": "not a directory"} {
		_, err := record.New(d, filepath.Join(parent, dir))
		if diag.CodeOf(err) != "L0985" || !strings.Contains(err.Error(), cause) {
			t.Errorf("%s: %v", dir, err)
		}
	}
	whole := recorded(t, 7, exact)
	_, d = device(t)
	_, err = record.Replay(t.Context(), whole, d, filepath.Join(parent, "full", "x"))
	if diag.CodeOf(err) != "L0985" || !strings.Contains(err.Error(), "the answers of the device cannot be written") {
		t.Error(err)
	}
}

// TestHalves reads all codes of half precision against their definition.
func TestHalves(t *testing.T) {
	tol := record.Tolerance{Type: "f16", OfMax: 1e-9} // of the finite values
	for code := range 1 << 16 {
		sign, e, f := 1.0, code>>10&31, float64(code&1023)/1024
		if code>>15 == 1 {
			sign = -1
		}
		want := sign * (1 + f) * math.Pow(2, float64(e-15))
		switch {
		case e == 0:
			want = sign * f * math.Pow(2, -14)
		case e == 31 && f == 0:
			want = math.Inf(int(sign))
		case e == 31:
			want = math.NaN()
		}
		got := tol.Value([]byte{byte(code), byte(code >> 8)})
		if got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Fatalf("%#04x: %g, want %g", code, got, want)
		}
	}
	for _, c := range []struct {
		got, want []byte
		outside   int64
	}{
		{[]byte{0, 0x7e}, []byte{1, 0x7e}, 0}, // two NaN
		{[]byte{0, 0x7c}, []byte{0, 0xfc}, 1}, // two infinities
		{[]byte{0, 0x7c}, []byte{0, 0x7c}, 0}, // one infinity
		{[]byte{0, 0x7e}, []byte{0, 0x3c}, 1}, // NaN for 1
		{[]byte{0, 0x80}, []byte{0, 0}, 0},    // zeros
		{[]byte{0, 0x7c, 1, 0}, []byte{0, 0x7c, 0, 0}, 1},
		{[]byte{0, 0, 1}, []byte{0, 0, 2}, 1},       // a byte too many
		{[]byte{1, 0x3c, 0}, []byte{0, 0x3c, 0}, 1}, // one unit in the last place
	} {
		if _, n := tol.Compare(c.got, c.want); n != c.outside {
			t.Errorf("%x for %x: %d outside", c.got, c.want, n)
		}
	}
}

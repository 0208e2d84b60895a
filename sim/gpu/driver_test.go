// SPDX-License-Identifier: Apache-2.0

package gpu_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"lathe/cuda"
	"lathe/internal/diag"
	"lathe/sim/gpu"
	"lathe/sim/gpu/gputest"
	"lathe/sim/gpu/libcuda"
)

func open(t *testing.T, f *gputest.Fake, o gpu.DriverOptions) *gpu.Driver {
	t.Helper()
	o.Library = f.Path
	d, err := gpu.OpenDriver(o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// demand wants an error of a code whose text holds every part, in one line.
func demand(t *testing.T, err error, code diag.Code, parts ...string) {
	t.Helper()
	if diag.CodeOf(err) != code {
		t.Fatalf("%v, want %s", err, code)
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("%q lacks %q", err, p)
		}
	}
	lined(t, err)
}

// session uses every method of a device, and checks what comes of it.
func session(d *gpu.Driver) error {
	const n = 3000 // words: more than the pinned memory holds
	var b [2]gpu.Buffer
	for i := range b {
		var err error
		if b[i], err = d.Alloc(4 * n); err != nil {
			return err
		}
	}
	code, err := d.Load(gputest.Words("7.4", 80, 90))
	if err != nil {
		return err
	}
	if err := d.Write(b[1], words(n, 40)); err != nil {
		return err
	}
	wide := gputest.Copy("copy_words", n)
	wide.Shared = 60000 // more than a launch may have unless the kernel was told before
	if err := d.Launch(code, b[:], wide, gputest.Add(n, 2)); err != nil {
		return err
	}
	if err := expect(d, b[0], 42, "launches"); err != nil {
		return err
	}
	if err := timed(d, code, b); err != nil {
		return err
	}
	if err := d.Copy(b[0], b[1]); err != nil {
		return err
	}
	if err := expect(d, b[0], 40, "copy"); err != nil {
		return err
	}
	free, total, err := d.MemInfo()
	if err == nil && total-free != 8*n {
		err = fmt.Errorf("%d of %d bytes free", free, total)
	}
	if err != nil {
		return err
	}
	if err := d.Unload(code); err != nil {
		return err
	}
	return d.Free(b[0])
}

// timed measures a launch between events, and a graph of two.
func timed(d *gpu.Driver, code gpu.Code, b [2]gpu.Buffer) error {
	work := func() error { return d.Launch(code, b[:], gputest.Copy("copy_words", 256)) }
	g, err := d.Capture(func() error {
		if err := work(); err != nil {
			return err
		}
		return d.Fill(b[0].Slice(0, 1021), 1)
	})
	if err != nil {
		return err
	}
	before := func() error { return d.Fill(b[0], 0) }
	us, err := d.Elapsed(before, work)
	if err == nil && (us < 5 || us > 5.01) {
		err = fmt.Errorf("the launch took %g us, want 5", us)
	}
	if err != nil {
		return err
	}
	if _, err := d.Elapsed(before, g.Launch); err != nil {
		return err
	}
	if err := d.Sync(); err != nil {
		return err
	}
	if err := expect(d, b[0].Slice(0, 1020), 0x01010101, "graph"); err != nil {
		return err
	}
	return g.Close()
}

func expect(d gpu.Device, b gpu.Buffer, v int, what string) error {
	got := make([]byte, b.Bytes)
	if err := d.Read(b, got); err != nil {
		return err
	}
	if want := words(len(got)/4, v); !bytes.Equal(got, want) {
		return fmt.Errorf("%s: %x, want %x", what, got[:4], want[:4])
	}
	return nil
}

func TestDriver(t *testing.T) {
	f := gputest.New(t)
	d := open(t, f, gpu.DriverOptions{Wait: true, Staging: 4096})
	if facts := d.Facts(); d.Name() != "Fake H200" || d.Arch() != "sm_90" || facts.SMs != 132 || facts.L2Bytes != 60<<20 ||
		facts.SharedBytes != 232448 || facts.Driver != "CUDA 12.9" || facts.MemoryBytes != 64<<20 {
		t.Errorf("%+v", facts)
	}
	if err := session(d); err != nil {
		t.Fatal(err)
	}
	if n, what := f.Live(); n < 5 {
		t.Errorf("alive before Close: %s", what)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if n, what := f.Live(); n != 0 {
		t.Errorf("left over: %s", what)
	}
	if err := d.Close(); err != nil {
		t.Errorf("closed twice: %v", err)
	}
}

// TestFaults fails every call of the driver in turn: the error comes out in one line, and nothing stays allocated.
func TestFaults(t *testing.T) {
	f := gputest.New(t)
	run := func() error {
		d, err := gpu.OpenDriver(gpu.DriverOptions{Library: f.Path, Staging: 4096})
		if err != nil {
			return err
		}
		err = session(d)
		if e := d.Close(); err == nil {
			err = e
		}
		return err
	}
	if err := run(); err != nil {
		t.Fatal(err)
	}
	log := f.Log()
	seen := map[string]bool{}
	for n, call := range log {
		name, _, _ := strings.Cut(call, "(")
		seen[name] = true
		for _, code := range []int{1, 2, 719} {
			f.Reset()
			f.FailAt(n, code)
			err := run()
			where := fmt.Sprintf("call %d, %s, gives %d", n, call, code)
			switch diag.CodeOf(err) {
			case "L0975", "L0977", "L0979", "L0980":
			default:
				t.Fatalf("%s: %v", where, err)
			}
			if lined(t, err); !strings.Contains(err.Error(), "CUDA") && code != 2 {
				t.Errorf("%s: %v", where, err)
			}
			if strings.Contains(err.Error(), "CUDA_ERROR") && !strings.Contains(err.Error(), name) {
				t.Errorf("%s: %v does not name it", where, err)
			}
			left, what := f.Live()
			if left != 0 && !(name == "cuDevicePrimaryCtxRelease_v2" && left == 1) {
				t.Errorf("%s: left over: %s", where, what)
			}
			if n := f.Taken(); n > 1 || n == 1 && !ends(name) {
				t.Errorf("%s: %d things went with the context", where, n)
			}
		}
	}
	// A driver must have what is called, and nothing else.
	unlogged := []string{"cuDriverGetVersion", "cuGetErrorName", "cuGetErrorString"}
	for _, s := range (&libcuda.Library{}).Symbols() {
		if called := seen[s.Name] || slices.Contains(unlogged, s.Name); called == s.Optional {
			t.Errorf("%s is called: %v, optional: %v", s.Name, called, s.Optional)
		}
	}
}

// ends says whether a function frees something: if it fails for good, that one thing is left for the context to take.
func ends(name string) bool {
	return strings.Contains(name, "Destroy") || strings.Contains(name, "Free") || strings.Contains(name, "Unload")
}

func TestNoDriver(t *testing.T) {
	_, err := gpu.OpenDriver(gpu.DriverOptions{Library: "libcuda-of-no-machine.so.1"})
	demand(t, err, "L0975", "no CUDA driver", "cannot open shared object file")
	f := gputest.New(t)
	for _, c := range []struct {
		set   string
		value int64
		code  diag.Code
		part  string
	}{
		{"devices", 0, "L0975", "no GPU: CUDA_ERROR_NO_DEVICE (100)"},
		{"driver", 11020, "L0976", "the driver is of CUDA 11.2; CUDA 11.4 (driver 470) or later is needed"},
	} {
		f.Reset()
		f.Set(c.set, c.value)
		_, err := gpu.OpenDriver(gpu.DriverOptions{Library: f.Path})
		demand(t, err, c.code, c.part)
	}
	f.Reset()
	_, err = gpu.OpenDriver(gpu.DriverOptions{Library: f.Path, Ordinal: 3})
	demand(t, err, "L0975", "GPU 3 is asked for, there are 1")
}

// TestImages loads what suits the device best.
func TestImages(t *testing.T) {
	f := gputest.New(t)
	for _, c := range []struct {
		major, minor, ptx int64
		archs             []string
		version, want     string
	}{
		{9, 0, 88, []string{"sm_80", "sm_90", "sm_90a", "sm_120"}, "7.4", "cubin sm_90a"},
		{9, 0, 88, []string{"sm_80", "sm_90", "sm_100"}, "7.4", "cubin sm_90"},
		{8, 9, 88, []string{"sm_80", "sm_86", "sm_90a"}, "7.4", "cubin sm_86"},
		{8, 6, 88, []string{"sm_80", "sm_89"}, "7.4", "cubin sm_80"},
		{12, 1, 88, []string{"sm_90a", "sm_120a"}, "7.4", "PTX sm_80"},
		{12, 1, 74, []string{"sm_100"}, "8.8", ""},
		{7, 5, 74, nil, "8.8", ""},
	} {
		f.Reset()
		f.Set("major", c.major)
		f.Set("minor", c.minor)
		f.Set("ptx", c.ptx)
		p := gputest.Words(c.version)
		for _, a := range c.archs {
			var n int
			fmt.Sscanf(a, "sm_%d", &n)
			p.Cubins = append(p.Cubins, gpu.Cubin{Arch: a, Data: gputest.Cubin(n, gputest.CopyWords, gputest.WrongWords,
				gputest.AddWords, gputest.FaultWords)})
		}
		d := open(t, f, gpu.DriverOptions{})
		code, err := d.Load(p)
		if c.want == "" {
			demand(t, err, "L0978", fmt.Sprintf("sm_%d%d", c.major, c.minor), "CUDA 12.9", "PTX for sm_80",
				"CUDA_ERROR_UNSUPPORTED_PTX_VERSION (222)", "nothing assembles here")
		} else if err != nil || code.Image() != c.want {
			t.Errorf("%+v: %v, %v", c, code, err)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestRefusals are errors that are found before the driver is asked.
func TestRefusals(t *testing.T) {
	f := gputest.New(t)
	d := open(t, f, gpu.DriverOptions{})
	defer d.Close()
	_, err := d.Alloc(1 << 40)
	demand(t, err, "L0977", "1099511627776 bytes needed, 67108864 of 67108864 free")
	b, err := d.Alloc(1000)
	if err != nil {
		t.Fatal(err)
	}
	code, err := d.Load(gputest.Words("7.4", 90))
	if err != nil {
		t.Fatal(err)
	}
	calls := f.Calls()
	launch := func(change func(l *cuda.Launch)) error {
		l := gputest.Copy("copy_words", 100)
		change(&l)
		return d.Launch(code, []gpu.Buffer{b, b}, l)
	}
	demand(t, launch(func(l *cuda.Launch) { l.Kernel = "copy_word" }), "L0981", "did you mean copy_words?")
	demand(t, launch(func(l *cuda.Launch) { l.Args = l.Args[:2] }), "L0982", "takes 3 arguments, the launch has 2")
	demand(t, launch(func(l *cuda.Launch) { l.Args[2] = cuda.U64(1) }), "L0982", "has 4 bytes, the launch gives 8")
	demand(t, launch(func(l *cuda.Launch) { l.Block[1] = 5 }), "L0982", "1 to 1024 threads a block, the launch has 1280")
	demand(t, launch(func(l *cuda.Launch) { l.Shared = 232440 }), "L0982", "needs 232456 bytes", "has 232448")
	demand(t, launch(func(l *cuda.Launch) { l.Grid[1] = 65536 }), "L0982", "no GPU has a grid")
	demand(t, launch(func(l *cuda.Launch) { l.Args[1] = cuda.Buffer(2) }), "L0933", "argument 1 is buffer 2 of 2")
	demand(t, d.Read(b, make([]byte, 1001)), "L0984", "read")
	demand(t, d.Write(b.Slice(999, 2), make([]byte, 2)), "L0984", "write")
	demand(t, d.Fill(gpu.Buffer{Addr: 5, Bytes: 1}, 0), "L0984", "fill")
	demand(t, d.Free(b.Slice(0, 999)), "L0984", "free")
	demand(t, d.Copy(b, gpu.Buffer{Addr: b.Addr, Bytes: 1001}), "L0984", "copy")
	demand(t, d.Unload(nil), "L0984", "unload")
	demand(t, d.Launch(nil, nil), "L0984", "launch")
	if err := launch(func(l *cuda.Launch) { l.Grid[0] = 0 }); err != nil {
		t.Error(err)
	}
	if slices.ContainsFunc(f.Log()[calls:], func(c string) bool { return !strings.HasPrefix(c, "cuCtxSetCurrent") }) {
		t.Errorf("the driver was asked: %q", f.Log()[calls:])
	}
	f.Set("local", 8)
	if _, err := d.Load(gputest.Words("7.4")); err != nil {
		t.Error(err)
	}
	strict := open(t, f, gpu.DriverOptions{RefuseLocal: true})
	defer strict.Close()
	_, err = strict.Load(gputest.Words("7.4"))
	demand(t, err, "L0983", "kernel copy_words of PTX sm_80 uses 8 bytes of local memory")
}

// TestBrokenKernel names the kernels that an error may come from, and the device frees itself all the same.
func TestBrokenKernel(t *testing.T) {
	f := gputest.New(t)
	d := open(t, f, gpu.DriverOptions{})
	b, err := d.Alloc(4000)
	if err != nil {
		t.Fatal(err)
	}
	code, err := d.Load(gputest.Words("7.4"))
	if err != nil {
		t.Fatal(err)
	}
	fault := cuda.Launch{Kernel: "fault_words", Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{32, 1, 1}}
	if err := d.Launch(code, []gpu.Buffer{b, b}, gputest.Copy("copy_words", 10), fault); err != nil {
		t.Fatal(err)
	}
	demand(t, d.Sync(), "L0980", "Fake H200", "kernel copy_words, fault_words: cuStreamSynchronize gives "+
		"CUDA_ERROR_ILLEGAL_ADDRESS (700), an illegal memory access", "[driver of CUDA 12.9]")
	if err := d.Close(); err == nil {
		t.Error("Close does not tell that the context was lost")
	}
	if n, what := f.Live(); n != 0 {
		t.Errorf("left over: %s", what)
	}
}

// TestSignatures reads entries as NVRTC prints them.
func TestSignatures(t *testing.T) {
	ptx := ".version 7.4\n.target sm_80\n.visible .entry a$b(\n\t.param .u64 .ptr .align 1 p0,\n\t.param .u32 p1,\n" +
		"\t.param .align 8 .b8 p2[24],\n\t.param .f32 p3\n)\n.maxntid 64, 2, 1\n.minnctapersm 2\n{\n\tret;\n}\n" +
		".entry none()\n{\n\tret;\n}\n"
	got, err := gpu.Signatures("x", []byte(ptx))
	if err != nil || len(got) != 2 || got[0].Name != "a$b" || !slices.Equal(got[0].Params, []int{8, 4, 24, 4}) ||
		got[0].Threads != 128 || got[1].Name != "none" || got[1].Params != nil || got[1].Threads != 1024 {
		t.Errorf("%+v, %v", got, err)
	}
	_, err = gpu.Signatures("x.cu", []byte("nothing"))
	demand(t, err, "L0978", "x.cu", "no kernels")
}

// TestMissingKernels loads machine code that lacks some kernels of the PTX, and some that lacks all.
func TestMissingKernels(t *testing.T) {
	f := gputest.New(t)
	d := open(t, f, gpu.DriverOptions{})
	defer d.Close()
	p := gputest.Words("7.4")
	p.Cubins = []gpu.Cubin{{Arch: "sm_90", Data: gputest.Cubin(90, gputest.CopyWords)}}
	code, err := d.Load(p)
	if err != nil {
		t.Fatal(err)
	}
	if k := code.Kernels(); len(k) != 1 || k[0].Name != "copy_words" || k[0].Registers != 40 {
		t.Errorf("%+v", k)
	}
	demand(t, d.Launch(code, nil, gputest.Add(1, 1)), "L0981", "add_words")
	p.Cubins[0].Data = gputest.Cubin(90, "other()")
	_, err = d.Load(p)
	demand(t, err, "L0978", "cubin sm_90 holds none")
}

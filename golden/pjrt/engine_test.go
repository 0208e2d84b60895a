// SPDX-License-Identifier: Apache-2.0

package pjrt_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"lathe/golden/pjrt"
	"lathe/golden/pjrt/pjrttest"
	"lathe/internal/diag"
	"lathe/internal/tools"
	"lathe/ir/hlo"
	"lathe/ir/hlo/text"
)

// TestMain serves as one of the bad workers where the process was started as one.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && badWorkers[os.Args[1]] != nil {
		badWorkers[os.Args[1]]()
		os.Exit(0)
	}
	pjrttest.Main(m)
}

func hello() { pjrt.Reply(os.Stdin, os.Stdout, false, 0, pjrt.HelloPayload()) }

var badWorkers = map[string]func(){
	"exits":   func() { fmt.Fprintln(os.Stderr, "cannot go on"); os.Exit(3) },
	"closes":  func() { os.Stdout.Close(); time.Sleep(2 * time.Minute) },
	"hangs":   func() { time.Sleep(2 * time.Minute) },
	"babbles": func() { fmt.Println(strings.Repeat("this is not a frame ", 10)); time.Sleep(2 * time.Minute) },
	"skews":   func() { pjrt.Reply(os.Stdin, os.Stdout, false, 1, pjrt.HelloPayload()) },
	"short":   func() { pjrt.Reply(os.Stdin, os.Stdout, false, 0, []byte("abc")) },
	"fails":   func() { pjrt.Reply(os.Stdin, os.Stdout, true, 0, []byte("abc")) },
	"cuts": func() {
		hello()
		pjrt.Reply(os.Stdin, os.Stdout, false, 0, make([]byte, 8))
		os.Stdout.Write([]byte("LHPJ\x01\x06"))
	},
	"dies": func() {
		hello()
		fmt.Fprintln(os.Stderr, "F0000 00:00:00 shape.cc:12] Check failed: rank < 5")
		syscall.Kill(os.Getpid(), syscall.SIGABRT)
		time.Sleep(2 * time.Minute)
	},
	"orphans": func() { // leaves a process that holds all its pipes
		c := exec.Command("sleep", "60")
		c.Stdout, c.Stderr = os.Stdout, os.Stderr
		if err := c.Start(); err != nil {
			panic(err)
		}
	},
}

func TestBadWorkers(t *testing.T) {
	cfg := pjrttest.Config(t)
	cfg.Timeout = 6 * time.Second
	for _, c := range []struct {
		name string
		want []string
	}{
		{"exits", []string{"ended while starting (exit status 3)", "cannot go on"}},
		{"closes", []string{"ended while starting"}},
		{"hangs", []string{"did not answer within 6s while starting"}},
		{"babbles", []string{"sent garbage while starting", "this is"}},
		{"skews", []string{"sent garbage while starting: reply 2 to request 1"}},
		{"short", []string{"sent an invalid reply"}},
		{"fails", []string{"sent garbage while starting: payload ends early"}},
		{"cuts", []string{"ended while running (exit status 0)"}},
		{"dies", []string{"ended while compiling (exit status 2)", "Check failed: rank < 5"}},
		{"orphans", []string{"ended while starting (exit status 0)"}},
		{"/no/such/file", []string{"does not start"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cfg := cfg
			cfg.Command = []string{cfg.Command[0], c.name}
			if strings.HasPrefix(c.name, "/") {
				cfg.Command = []string{c.name}
			}
			begin := time.Now()
			e, err := pjrt.Start(t.Context(), cfg)
			if err == nil {
				defer e.Close()
				var p *pjrt.Program
				if p, err = e.CompileText(t.Context(), "text"); err == nil {
					_, err = p.Run(t.Context(), nil)
				}
				if _, again := e.CompileText(t.Context(), "text"); again == nil || again.Error() != err.Error() {
					t.Errorf("second request: %v", again)
				}
			}
			if diag.CodeOf(err) != diag.PJRTWorker {
				t.Fatal(err)
			}
			for _, w := range c.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("%v\nlacks %q", err, w)
				}
			}
			if d := time.Since(begin); d > 30*time.Second {
				t.Errorf("took %v", d)
			}
		})
	}
}

const otherAPI = `
#include <stddef.h>
static int ok(void *args) { return 0; }
static struct {
  size_t size; void *ext;
  struct { size_t size; void *ext; int major, minor; } version;
  void *fn[300];
} api;
void *GetPjrtApi(void) {
  api.size = sizeof api; api.version.size = sizeof api.version; api.version.minor = 12;
  for (int i = 0; i < 300; i++) api.fn[i] = (void *)ok;
  return &api;
}
`

func TestBadPlugins(t *testing.T) {
	tools.Need(t, "gcc")
	cfg := pjrttest.Config(t)
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	build := func(name, text string) string {
		source, out := write(name+".c", text), filepath.Join(dir, name+".so")
		if msg, err := exec.Command("gcc", "-shared", "-fPIC", "-o", out, source).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, msg)
		}
		return out
	}
	for want, path := range map[string]string{
		"is missing":                 filepath.Join(dir, "none.so"),
		"is not absolute":            "plugin.so",
		"not a regular file":         dir,
		"invalid ELF header":         write("text.so", strings.Repeat("not a library\n", 100)),
		"GetPjrtApi":                 build("stranger", "int x;"),
		"no reason given":            build("null", "void *GetPjrtApi(void) { return 0; }"),
		"has PJRT C API 0.12":        build("other", otherAPI),
		"ended while starting (exit": build("crash", "#include <stdlib.h>\nvoid *GetPjrtApi(void) { abort(); }"),
	} {
		cfg.Plugin = path
		_, err := pjrt.Start(t.Context(), cfg)
		code := diag.PJRTPlugin
		if strings.HasPrefix(want, "ended") {
			code = diag.PJRTWorker
		}
		if diag.CodeOf(err) != code || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// increment adds 1 to a vector of n.
func increment(n int) *hlo.Program {
	b := hlo.New("increment")
	x := b.Arg("x", hlo.TypeOf(hlo.I32, n))
	b.Return(b.Add(x, b.Int(hlo.I32, 1)), x)
	return b.Program()
}

func TestRefusals(t *testing.T) {
	e := pjrttest.Engine(t)
	ctx := t.Context()
	nonsense := strings.Replace(text.Print(increment(3)), "stablehlo.add", "stablehlo.nonsense", 1)
	for _, wrong := range []string{"", "module {", nonsense} {
		if _, err := e.CompileText(ctx, wrong); diag.CodeOf(err) != diag.PJRTCompile {
			t.Errorf("%q: %v", wrong, err)
		}
	}
	p, err := e.Compile(ctx, increment(3))
	if err != nil {
		t.Fatal(err)
	}
	vector := func(d hlo.DType, n int) hlo.Array { return hlo.FromInt64s(d, []int{n}, make([]int64, n)) }
	for name, args := range map[string][]hlo.Array{
		"none": nil, "two": {vector(hlo.I32, 3), vector(hlo.I32, 3)}, "short": {vector(hlo.I32, 2)},
		"long": {vector(hlo.I32, 4)}, "type": {vector(hlo.I64, 3)}, "same bytes": {vector(hlo.F32, 3)},
		"shape": {hlo.FromInt64s(hlo.I32, []int{1, 3}, make([]int64, 3))}, "unsound": {{}},
	} {
		if _, err := p.Run(ctx, args); diag.CodeOf(err) != diag.PJRTRun {
			t.Errorf("%s: %v", name, err)
		}
	}
	out, err := p.Run(ctx, []hlo.Array{hlo.FromInt64s(hlo.I32, []int{3}, []int64{5, -1, 7})})
	if err != nil || !slices.Equal(out[0].Int64s(), []int64{6, 0, 8}) || len(out) != 2 {
		t.Errorf("%v, %v", out, err)
	}
	if err := p.Drop(ctx); err != nil {
		t.Error(err)
	}
	if _, err := p.Run(ctx, nil); diag.CodeOf(err) != diag.PJRTRun {
		t.Errorf("dropped program: %v", err)
	}
}

func TestBind(t *testing.T) {
	e := pjrttest.Engine(t)
	b := hlo.New("bind")
	b.Return(b.Mul(b.Arg("x", hlo.TypeOf(hlo.F64)), b.Weight(hlo.FromFloat64s(hlo.F64, nil, []float64{3}))))
	p, err := e.Compile(t.Context(), b.Program())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Drop(t.Context())
	wrong := []hlo.Array{hlo.FromInt64s(hlo.I64, nil, []int64{3})}
	for _, arrays := range [][]hlo.Array{wrong, append(wrong, append(wrong, wrong...)...)} {
		if err := p.Bind(t.Context(), arrays); diag.CodeOf(err) != diag.PJRTRun {
			t.Errorf("bind %d: %v", len(arrays), err)
		}
	}
	for _, w := range []float64{3, 5, -2} {
		if err := p.Bind(t.Context(), []hlo.Array{hlo.FromFloat64s(hlo.F64, nil, []float64{w})}); err != nil {
			t.Fatal(err)
		}
		for _, x := range []float64{7, 0.5} {
			out, err := p.Run(t.Context(), []hlo.Array{hlo.FromFloat64s(hlo.F64, nil, []float64{x})})
			if err != nil || out[0].Float64s()[0] != x*w {
				t.Errorf("%v * %v: %v, %v", x, w, out, err)
			}
		}
	}
}

// TestBindLarge binds weights that travel in several frames: each one must arrive in its place.
func TestBindLarge(t *testing.T) {
	const n = 5 << 20 // 20 MiB
	b := hlo.New("bind")
	sum := b.Arg("x", hlo.TypeOf(hlo.F32))
	for i := range 5 {
		w := make([]float32, n)
		w[i] = float32(int(1) << (4 * i))
		v := b.Slice(b.Weight(hlo.FromFloat32s([]int{n}, w)), []int{i}, []int{i + 1}, []int{1})
		sum = b.Add(sum, b.Reshape(v))
	}
	b.Return(sum)
	for range 2 {
		out := pjrttest.Run(t, b, hlo.FromFloat32s(nil, []float32{0}))
		if got := out[0].Float64s()[0]; got != 0x11111 {
			t.Errorf("%v, not 0x11111", got)
		}
	}
}

func TestConcurrent(t *testing.T) {
	e := pjrttest.Engine(t)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			p, err := e.Compile(context.Background(), increment(g+1))
			if err != nil {
				t.Error(err)
				return
			}
			for i := range 20 {
				x := hlo.FromInt64s(hlo.I32, []int{g + 1}, slices.Repeat([]int64{int64(1000*g + i)}, g+1))
				out, err := p.Run(context.Background(), []hlo.Array{x})
				if err != nil || out[0].Int64s()[g] != int64(1000*g+i+1) {
					t.Errorf("%d, %d: %v, %v", g, i, out, err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// slow is a program that runs for many seconds.
func slow(t *testing.T, e *pjrt.Engine) *pjrt.Program {
	t.Helper()
	b := hlo.New("slow")
	x := b.Convert(b.Iota(hlo.TypeOf(hlo.I32, 2500, 2500), 0), hlo.I64)
	for range 8 {
		x = b.DotGeneral(x, x, hlo.Dot{LhsContract: []int{1}, RhsContract: []int{0}}, hlo.I64)
	}
	b.Return(b.Add(x, b.Arg("x", hlo.TypeOf(hlo.I64))))
	p, err := e.Compile(t.Context(), b.Program())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestInterrupted(t *testing.T) {
	one := []hlo.Array{hlo.FromInt64s(hlo.I64, nil, []int64{1})}
	for _, c := range []struct {
		name string
		code diag.Code
		want string
		act  func(e *pjrt.Engine, cancel func())
	}{
		{"killed", diag.PJRTWorker, "ended while running (signal: killed)",
			func(e *pjrt.Engine, _ func()) { syscall.Kill(e.Pid(), syscall.SIGKILL) }},
		{"fault", diag.PJRTWorker, "worker: SIGABRT",
			func(e *pjrt.Engine, _ func()) { syscall.Kill(e.Pid(), syscall.SIGABRT) }},
		{"cancelled", diag.PJRTCancelled, "stopped while running", func(_ *pjrt.Engine, cancel func()) { cancel() }},
		{"timeout", diag.PJRTWorker, "did not answer within 3s while running", func(*pjrt.Engine, func()) {}},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, err := pjrt.Start(t.Context(), pjrttest.Config(t))
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			p := slow(t, e)
			e.SetTimeout(3 * time.Second)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			time.AfterFunc(700*time.Millisecond, func() { c.act(e, cancel) })
			_, err = p.Run(ctx, one)
			if diag.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v\nwant %s, %q", err, c.code, c.want)
			}
			if _, again := e.Compile(t.Context(), increment(2)); again == nil || again.Error() != err.Error() {
				t.Errorf("after it: %v", again)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := pjrttest.Engine(t).Compile(ctx, increment(2)); diag.CodeOf(err) != diag.PJRTCancelled {
		t.Error(err)
	}
	if _, err := pjrttest.Engine(t).Compile(t.Context(), increment(2)); err != nil {
		t.Errorf("a request that was never sent broke the engine: %v", err)
	}
}

func TestClose(t *testing.T) {
	e, err := pjrt.Start(t.Context(), pjrttest.Config(t))
	if err != nil {
		t.Fatal(err)
	}
	if i := e.Info(); i.Platform != "cpu" || i.Major != 0 || i.Minor < 81 {
		t.Errorf("%+v", i)
	}
	pid := e.Pid()
	for range 2 {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := syscall.Kill(pid, 0); err != syscall.ESRCH {
		t.Errorf("the child lives on: %v", err)
	}
	if _, err := e.Compile(t.Context(), increment(1)); diag.CodeOf(err) != diag.PJRTWorker {
		t.Error(err)
	}
}

// SPDX-License-Identifier: Apache-2.0

//go:build cgo && linux

package pjrt

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/gomlx/gopjrt/pjrt"

	"lathe/internal/diag"
	"lathe/ir/hlo"
)

// xlaFlags must be in the environment before the plugin loads. Without the first, floats may keep more precision than
// their type; without the second, large f32 dots may use a stale copy of an operand (see canary). The third keeps LLVM
// from vectorizing loops: its planner visits shared terms of an expression once a path, so that the fused arithmetic of
// 120 residual layers, or of one norm in integers, takes minutes to compile.
const xlaFlags = "--xla_allow_excess_precision=false --xla_cpu_use_xnnpack=false " +
	"--xla_backend_extra_options=xla_cpu_optimize_for_size"

// patientFlags are for several devices, which wait for each other in sums: on a machine that others use, too, one may
// come late.
const patientFlags = " --xla_cpu_collective_call_warn_stuck_timeout_seconds=300" +
	" --xla_cpu_collective_call_terminate_timeout_seconds=600"

// The plugin must speak the C API that the binding was compiled for: the same major version, and at least the minor
// one, since later minor versions only append.
const apiMajor, apiMinor = 0, 81

// Worker is the main loop of the child process: it answers the frames of an Engine until in ends. It sets XLA_FLAGS
// and, where out is standard output, leaves that descriptor to standard error, as the plugin may print.
func Worker(in io.Reader, out io.Writer, plugin string) error {
	if err := os.Setenv("XLA_FLAGS", xlaFlags); err != nil {
		return diag.New(diag.PJRTWorker, plugin, "XLA_FLAGS cannot be set: %v", err)
	}
	if f, ok := out.(*os.File); ok && f.Fd() == 1 {
		fd, err := syscall.Dup(1)
		if err == nil {
			syscall.CloseOnExec(fd)
			err = syscall.Dup3(2, 1, 0)
		}
		if err != nil {
			return diag.New(diag.PJRTWorker, plugin, "standard output cannot be set aside: %v", err)
		}
		out = os.NewFile(uintptr(fd), "replies")
	}
	s := &server{plugin: plugin, programs: map[uint32]*loaded{}, buffers: map[uint32]shared{}}
	for {
		f, err := readFrame(in)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return diag.New(diag.PJRTWorker, plugin, "request: %v", err)
		}
		parts, err := s.answer(f)
		k := kindOK
		if err != nil {
			k, parts = kindFail, [][]byte{failure(err)}
		}
		if err := writeFrame(out, k, f.seq, parts...); err != nil {
			return diag.New(diag.PJRTWorker, plugin, "reply: %v", err)
		}
		size := len(f.payload)
		for _, p := range parts {
			size += len(p)
		}
		if f, parts = (frame{}), nil; size > returned {
			debug.FreeOSMemory()
		}
	}
}

// returned is the size of frames whose memory goes back to the system at once: between two transfers of parameters lie
// many steps, in which the device needs it.
const returned = 4 << 20

// failure encodes an error as code, message, hint.
func failure(err error) []byte {
	var d *diag.Error
	if !errors.As(err, &d) {
		d = diag.New(diag.PJRTWorker, "", "%v", err)
	}
	return appendText(appendText(appendText(nil, string(d.Code)), d.Msg), d.Hint)
}

// server is the state of the child.
type server struct {
	plugin   string
	client   *pjrt.Client
	devices  int
	programs map[uint32]*loaded
	buffers  map[uint32]shared // that clients hold
	next     uint32            // the last number given to a program or buffer
}

// loaded is a program with its resident arguments.
type loaded struct {
	exec  *pjrt.LoadedExecutable
	bound []shared
}

// shared is an array that devices hold, by device: all of it, or their part.
type shared []*pjrt.Buffer

// answer handles one request; a panic of the binding becomes an error.
func (s *server) answer(f frame) (parts [][]byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = diag.New(diag.PJRTWorker, "", "the PJRT binding panics: %v", p)
		}
	}()
	c := &cursor{rest: f.payload}
	if (f.kind == kindHello) == (s.client != nil) {
		return nil, diag.New(diag.PJRTWorker, "", "request of kind %d out of order", f.kind)
	}
	switch f.kind {
	case kindHello:
		return s.hello(c)
	case kindCompile:
		return s.compile(f.payload)
	case kindUpload, kindDownload, kindFree:
		return s.transfer(f.kind, c)
	case kindBind, kindRun, kindStep, kindDrop:
		id := c.u32()
		p := s.programs[id]
		if p == nil {
			return nil, diag.New(diag.PJRTRun, "", "unknown program %d", id)
		}
		if f.kind == kindDrop {
			delete(s.programs, id)
			p.drop()
			return nil, p.exec.Destroy()
		}
		if f.kind == kindStep {
			return s.step(p, c)
		}
		from := 0
		if f.kind == kindBind {
			from = int(c.u32())
		}
		arrays := c.arrays()
		if err := c.end(); err != nil {
			return nil, err
		}
		if f.kind == kindBind {
			return nil, s.bind(p, from, arrays)
		}
		return s.run(p, arrays)
	}
	return nil, diag.New(diag.PJRTWorker, "", "request of kind %d", f.kind)
}

// hello loads the plugin, tests it, and describes it.
func (s *server) hello(c *cursor) ([][]byte, error) {
	s.devices = int(c.u32())
	if err := c.end(); err != nil {
		return nil, err
	}
	options, err := s.severalDevices()
	if err != nil {
		return nil, err
	}
	runtime.LockOSThread() // the linker keeps its reason by thread
	plugin, err := pjrt.GetPlugin(s.plugin)
	runtime.UnlockOSThread()
	if err != nil || plugin == nil {
		return nil, diag.New(diag.PJRTPlugin, "", "the PJRT plugin does not load: %s", unloadable(s.plugin, err)).
			WithHint("scripts/setup fetches a matching plugin")
	}
	major, minor := plugin.Version()
	if major != apiMajor || minor < apiMinor {
		return nil, diag.New(diag.PJRTPlugin, "", "the plugin has PJRT C API %d.%d, needed is %d.%d or a later %d.x",
			major, minor, apiMajor, apiMinor, apiMajor).WithHint("scripts/setup fetches a matching plugin")
	}
	client, err := plugin.NewClient(options)
	if err != nil {
		return nil, diag.New(diag.PJRTPlugin, "", "the PJRT plugin makes no client: %s", brief(err))
	}
	if n := len(client.AddressableDevices()); n < s.devices {
		return nil, diag.New(diag.PJRTPlugin, "", "the PJRT plugin has %d devices, not %d", n, s.devices).
			WithHint("use --devices %d or less", n)
	}
	if err := selfTest(client); err != nil {
		return nil, diag.New(diag.PJRTCanary, "", "the PJRT plugin fails the self-test: %s", brief(err)).
			WithHint("use the plugin that scripts/setup fetches")
	}
	s.client = client
	p := binary.LittleEndian.AppendUint32(nil, uint32(major))
	p = binary.LittleEndian.AppendUint32(p, uint32(minor))
	return [][]byte{appendText(appendText(p, client.Platform()), client.PlatformVersion())}, nil
}

// severalDevices has the plugin make several devices of one processor, and not give up too early where they wait for
// each other.
func (s *server) severalDevices() (pjrt.NamedValuesMap, error) {
	if s.devices < 2 {
		return nil, nil
	}
	if err := os.Setenv("XLA_FLAGS", xlaFlags+patientFlags); err != nil {
		return nil, diag.New(diag.PJRTWorker, "", "XLA_FLAGS cannot be set: %v", err)
	}
	return pjrt.NamedValuesMap{"cpu_device_count": int64(s.devices)}, nil
}

func (s *server) compile(text []byte) ([][]byte, error) {
	c := s.client.Compile().WithStableHLO(text)
	if s.devices > 1 {
		c = c.WithShardy(s.devices)
	}
	exec, err := c.Done()
	if err != nil {
		return nil, diag.New(diag.PJRTCompile, "", "the program does not compile: %s", brief(err))
	}
	s.next++
	s.programs[s.next] = &loaded{exec: exec}
	p := binary.LittleEndian.AppendUint32(nil, s.next)
	return [][]byte{binary.LittleEndian.AppendUint32(p, uint32(exec.NumOutputs))}, nil
}

func (s *server) bind(p *loaded, from int, arrays []hlo.Array) error {
	if from == 0 {
		p.drop()
	}
	if from != len(p.bound) {
		return diag.New(diag.PJRTRun, "", "%d arrays are bound, not %d", len(p.bound), from)
	}
	buffers, err := s.toDevices(0, arrays)
	if err != nil {
		return err
	}
	p.bound = append(p.bound, buffers...)
	return nil
}

func (s *server) run(p *loaded, arrays []hlo.Array) ([][]byte, error) {
	args, err := s.toDevices(0, arrays)
	defer destroyAll(args)
	if err != nil {
		return nil, err
	}
	results, err := s.execute(p, args, nil)
	defer destroyAll(results)
	if err != nil {
		return nil, err
	}
	out := make([]hlo.Array, len(results))
	for i, r := range results {
		if out[i], err = toHost(r[0]); err != nil {
			return nil, err
		}
	}
	return arrayParts(out)
}

// toDevices copies arrays to all devices: each gets its part of an axis, counted from 1, or with 0 the whole.
func (s *server) toDevices(split int, arrays []hlo.Array) ([]shared, error) {
	out := make([]shared, len(arrays))
	for d := range s.devices {
		parts := make([]hlo.Array, len(arrays))
		for i, a := range arrays {
			parts[i] = part(a, split, d, s.devices)
		}
		held, err := toDevice(s.client, d, parts)
		if err != nil {
			destroyAll(out)
			return nil, err
		}
		for i, b := range held {
			out[i] = append(out[i], b)
		}
	}
	return out, nil
}

// execute runs a program on all devices, in front of its bound arrays; donated are arguments that are used up.
func (s *server) execute(p *loaded, args []shared, donated []int) ([]shared, error) {
	all := slices.Concat(args, p.bound)
	var flat []*pjrt.Buffer
	var lost []int
	for d := range s.devices {
		for _, i := range donated {
			lost = append(lost, len(flat)+i)
		}
		for _, a := range all {
			flat = append(flat, a[d])
		}
	}
	results, err := p.exec.Execute(flat...).Donate(lost...).Done()
	if err != nil {
		destroy(results)
		return nil, diag.New(diag.PJRTRun, "", "the program fails: %s", brief(err))
	}
	n := len(results) / s.devices
	out := make([]shared, n)
	for i, r := range results {
		out[i%n] = append(out[i%n], r)
	}
	return out, nil
}

func (p *loaded) drop() {
	destroyAll(p.bound)
	p.bound = nil
}

func destroyAll(held []shared) {
	for _, h := range held {
		destroy(h)
	}
}

func destroy(buffers []*pjrt.Buffer) {
	for _, b := range buffers {
		b.Destroy()
	}
}

// brief is the first 2000 bytes of an error's text.
func brief(err error) string {
	if err == nil {
		return "no reason given"
	}
	s := strings.TrimSpace(fmt.Sprint(err))
	return s[:min(len(s), 2000)]
}

// loading is what the binding says where dlopen fails: the path, the linker's reason behind it, and both once more.
var loading = regexp.MustCompile(`failed to dynamically load PJRT plugin from "([^"]*)"`)

// unloadable is the linker's reason why a plugin does not load, without the path.
func unloadable(path string, err error) string {
	s := brief(err)
	if m := loading.FindStringSubmatch(s); m != nil {
		return strings.TrimPrefix(m[1], path+": ")
	}
	return s
}

// SPDX-License-Identifier: Apache-2.0

package nvrtc

import (
	"fmt"
	"path/filepath"
	"runtime"

	"github.com/ebitengine/purego"
)

// api are the functions of the library; a result of 0 is success.
type api struct {
	nvrtcVersion           func(major, minor *int32) int32
	nvrtcGetErrorString    func(result int32) string
	nvrtcCreateProgram     func(prog *uintptr, src, name string, headers int32, texts, names **byte) int32
	nvrtcDestroyProgram    func(prog *uintptr) int32
	nvrtcCompileProgram    func(prog uintptr, count int32, options **byte) int32
	nvrtcGetProgramLogSize func(prog uintptr, size *uint64) int32
	nvrtcGetProgramLog     func(prog uintptr, log *byte) int32
	nvrtcGetPTXSize        func(prog uintptr, size *uint64) int32
	nvrtcGetPTX            func(prog uintptr, ptx *byte) int32
	nvrtcGetCUBINSize      func(prog uintptr, size *uint64) int32
	nvrtcGetCUBIN          func(prog uintptr, cubin *byte) int32

	signals handlers
}

// load opens the library in a folder and binds its functions. The library with the built-in headers is opened first,
// since not every version finds it by itself.
func load(dir string) (*api, error) {
	const mode = purego.RTLD_NOW | purego.RTLD_GLOBAL
	runtime.LockOSThread() // the loader keeps the reason of a failure for the thread that called it
	defer runtime.UnlockOSThread()
	if _, err := purego.Dlopen(filepath.Join(dir, builtins), mode); err != nil {
		return nil, err
	}
	lib, err := purego.Dlopen(filepath.Join(dir, library), mode)
	if err != nil {
		return nil, err
	}
	a := &api{}
	if err := a.signals.bind(); err != nil {
		return nil, err
	}
	for _, f := range []struct {
		to   any
		name string
	}{
		{&a.nvrtcVersion, "nvrtcVersion"}, {&a.nvrtcGetErrorString, "nvrtcGetErrorString"},
		{&a.nvrtcCreateProgram, "nvrtcCreateProgram"}, {&a.nvrtcDestroyProgram, "nvrtcDestroyProgram"},
		{&a.nvrtcCompileProgram, "nvrtcCompileProgram"},
		{&a.nvrtcGetProgramLogSize, "nvrtcGetProgramLogSize"}, {&a.nvrtcGetProgramLog, "nvrtcGetProgramLog"},
		{&a.nvrtcGetPTXSize, "nvrtcGetPTXSize"}, {&a.nvrtcGetPTX, "nvrtcGetPTX"},
		{&a.nvrtcGetCUBINSize, "nvrtcGetCUBINSize"}, {&a.nvrtcGetCUBIN, "nvrtcGetCUBIN"},
	} {
		at, err := purego.Dlsym(lib, f.name)
		if err != nil {
			return nil, err
		}
		purego.RegisterFunc(f.to, at)
	}
	return a, nil
}

// version is "major.minor".
func (a *api) version() string {
	var major, minor int32
	a.nvrtcVersion(&major, &minor)
	return fmt.Sprintf("%d.%d", major, minor)
}

// output is what a compilation leaves.
type output struct {
	ptx, cubin []byte
	log        string
}

// compile compiles one program; false means that the log says why not.
func (a *api) compile(name, source string, options []string, machine bool) (out output, ok bool) {
	var prog uintptr
	if r := a.nvrtcCreateProgram(&prog, source, name, 0, nil, nil); r != 0 {
		return output{log: "error: " + a.nvrtcGetErrorString(r)}, false
	}
	defer a.nvrtcDestroyProgram(&prog)
	var pin runtime.Pinner
	defer pin.Unpin()
	args := make([]*byte, len(options)+1)
	for i, o := range options {
		text := append([]byte(o), 0)
		pin.Pin(&text[0])
		args[i] = &text[0]
	}
	a.signals.enter()
	result := a.nvrtcCompileProgram(prog, int32(len(options)), &args[0])
	a.signals.leave()
	log, failed := fetch(prog, a.nvrtcGetProgramLogSize, a.nvrtcGetProgramLog)
	out.log = string(zeroEnded(log))
	if result != 0 {
		if out.log == "" {
			out.log = "error: " + a.nvrtcGetErrorString(result)
		}
		return out, false
	}
	refuse := func(what string) (output, bool) {
		return output{log: fmt.Sprintf("error: NVRTC does not hand out %s: %s", what, a.nvrtcGetErrorString(failed))}, false
	}
	if failed != 0 { // a log that cannot be read may hold warnings and spills
		return refuse("its log")
	}
	if out.ptx, failed = fetch(prog, a.nvrtcGetPTXSize, a.nvrtcGetPTX); failed != 0 {
		return refuse("PTX")
	}
	out.ptx = zeroEnded(out.ptx)
	if machine {
		if out.cubin, failed = fetch(prog, a.nvrtcGetCUBINSize, a.nvrtcGetCUBIN); failed != 0 {
			return refuse("machine code")
		}
	}
	if len(out.ptx) == 0 || machine && len(out.cubin) == 0 {
		return refuse("any code")
	}
	return out, true
}

// fetch reads a result by the pair of functions that tell its size and copy it, of which failed is the first result
// that is no success.
func fetch(prog uintptr, size func(uintptr, *uint64) int32, get func(uintptr, *byte) int32) (data []byte,
	failed int32) {
	var n uint64
	if failed = size(prog, &n); failed != 0 || n == 0 {
		return nil, failed
	}
	data = make([]byte, n)
	return data, get(prog, &data[0])
}

// zeroEnded cuts the zero off the end of a text.
func zeroEnded(text []byte) []byte {
	for len(text) > 0 && text[len(text)-1] == 0 {
		text = text[:len(text)-1]
	}
	return text
}

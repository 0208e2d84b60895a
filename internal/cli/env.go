// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"lathe/emit/pdf"
	"lathe/golden/pjrt"
	"lathe/internal/atomicfile"
	"lathe/internal/diag"
	"lathe/sim/nvrtc"
)

// Env is what the surroundings decide.
type Env struct {
	// Cache is the folder for compiled simulations and the plugin: LATHE_CACHE, else lathe in the user's cache folder.
	Cache string
	// Plugin is the path of the PJRT plugin: LATHE_PJRT_PLUGIN, else pjrt/xla_cpu_pjrt.so in Cache.
	Plugin string
	// Self is this executable, which serves as the worker of PJRT and of NVRTC; empty where it is not known.
	Self string
	// Terminal says that progress may redraw a line on standard error.
	Terminal bool
}

func hostEnv() Env {
	e := Env{Cache: os.Getenv("LATHE_CACHE"), Plugin: os.Getenv("LATHE_PJRT_PLUGIN")}
	if e.Cache == "" {
		dir, err := os.UserCacheDir()
		if err != nil {
			dir = os.TempDir()
		}
		e.Cache = filepath.Join(dir, "lathe")
	}
	if abs, err := filepath.Abs(e.Cache); err == nil { // tools run in folders of it
		e.Cache = abs
	}
	if e.Plugin == "" {
		e.Plugin = filepath.Join(e.Cache, "pjrt", "xla_cpu_pjrt.so")
	}
	if abs, err := filepath.Abs(e.Plugin); err == nil {
		e.Plugin = abs
	}
	if self, err := os.Executable(); err == nil {
		e.Self = self
	}
	if info, err := os.Stderr.Stat(); err == nil {
		e.Terminal = info.Mode()&os.ModeCharDevice != 0
	}
	return e
}

// pjrtConfig starts this executable as the worker. emit-verilog and emit-cuda never need it.
func (e Env) pjrtConfig() pjrt.Config {
	return pjrt.Config{Command: []string{e.Self, workerName}, Plugin: e.Plugin}
}

// writeJSON writes v to the file of --json, if that was given.
func (a *App) writeJSON(v any) error {
	if a.json == "" {
		return nil
	}
	if a.json == "-" {
		enc := json.NewEncoder(a.facts)
		enc.SetIndent("", "  ")
		return enc.Encode(v)
	}
	return saveJSON(a.json, v)
}

// saveJSON is writeFile of v as JSON.
func saveJSON(path string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return diag.New(diag.FileWrite, path, "cannot encode: %v", err)
	}
	return writeFile(path, append(data, '\n'))
}

// writeFile writes a file that appears whole or not at all.
func writeFile(path string, data []byte) error {
	if err := atomicfile.WriteBytes(path, data); err != nil {
		return diag.New(diag.FileWrite, path, "cannot write: %v", reason(err))
	}
	return nil
}

// makeFolder makes a folder, unless it is there.
func makeFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return diag.New(diag.FileWrite, dir, "cannot make the folder: %v", reason(err))
	}
	return nil
}

// writeDrawn writes a picture as SVG and as PDF, and its numbers, if they are not nil, as CSV: files of one name but
// for their ends.
func writeDrawn(name string, svg, csv []byte) (files []string, err error) {
	for _, file := range []struct {
		end  string
		data []byte
	}{{".svg", svg}, {".pdf", svg}, {".csv", csv}} {
		if file.data == nil {
			continue
		}
		if err := writePicture(name+file.end, file.data); err != nil {
			return nil, err
		}
		files = append(files, name+file.end)
	}
	return files, nil
}

// writePicture writes a picture that is an SVG, or as a PDF where the path ends in .pdf.
func writePicture(path string, svg []byte) error {
	if filepath.Ext(path) != ".pdf" {
		return writeFile(path, svg)
	}
	data, err := pdf.Of(svg)
	if err != nil {
		return diag.New(diag.UnitFault, path, "cannot print the picture: %v", err)
	}
	return writeFile(path, data)
}

// reason is the cause of an error of package os without the paths, one of which is that of a temporary file.
func reason(err error) error {
	var path *os.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &link):
		return link.Err
	}
	return err
}

// writable finds out before the work what would only fail after it: a file in a folder that does not exist, or a
// folder in the place of a file. An empty path is no file.
func writable(path string, code diag.Code) error {
	if path == "" {
		return nil
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return diag.New(code, path, "cannot write: it is a folder")
	}
	dir := filepath.Dir(path)
	if info, err := os.Stat(dir); err != nil {
		return diag.New(code, path, "cannot write: %v", reason(err)).WithHint("make the folder %s first", dir)
	} else if !info.IsDir() {
		return diag.New(code, path, "cannot write: %s is not a folder", dir)
	}
	return nil
}

// workerName is the hidden command that hosts the PJRT plugin in a process of its own.
const workerName = "pjrt-worker"

func (a *App) worker() *cobra.Command {
	return &cobra.Command{Use: workerName + " PLUGIN", Hidden: true, Args: exactly("PLUGIN"),
		RunE: func(_ *cobra.Command, args []string) error {
			return pjrt.Worker(os.Stdin, os.Stdout, args[0])
		}}
}

// toolchain is the folder in which scripts/setup --cuda puts NVRTC.
func (e Env) toolchain() string { return filepath.Join(e.Cache, "cuda") }

// routeTools is the folder in which scripts/setup --route puts nextpnr.
func (e Env) routeTools() string { return filepath.Join(e.Cache, "route") }

// compilerName is the first argument of the process that compiles kernels, of each of the programs.
const compilerName = "nvrtc-worker"

// nvrtc loads the compiler of kernels, which works in processes of its own.
func (e Env) nvrtc() (*nvrtc.Compiler, error) {
	c, err := nvrtc.Open(e.toolchain(), filepath.Join(e.toolchain(), "modules"))
	if err == nil && e.Self != "" {
		c.Worker = []string{e.Self, compilerName}
	}
	return c, err
}

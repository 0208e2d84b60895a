// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed" // the harness
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"lathe/internal/atomicfile"
	"lathe/internal/diag"
	"lathe/internal/workers"
)

//go:embed harness/harness.h
var harnessH string

//go:embed harness/harness.cc
var harnessCC string

// cxxFlags are those of all that is compiled.
var cxxFlags = []string{"-std=c++17", "-DVERILATOR=1", "-DVM_COVERAGE=0", "-DVM_SC=0"}

// A model is compiled once and mostly runs for a second, so what compiles fast is best: for digits-cnn, -Og takes three
// quarters of the processor time of -O1, and the model does 0.96 of its cycles in the same time; in a fully unrolled
// network (40 MB of C++ in 46 files, two of them timed alone) it took less than half of -O1, as little as -O0, and the
// model did 16 times the cycles of -O0. A precompiled header is only taken when flags are equal.
// The runtime is compiled once for all models.
const (
	modelLevel   = "-Og"
	runtimeLevel = "-O2"
)

// toolchain is what compiles models: versions and paths, asked once a process.
type toolchain struct {
	verilator string   // version line
	cxx       string   // version line
	include   string   // folder of verilated.h
	link      []string // flags for a program
}

var findToolchain = sync.OnceValues(newToolchain)

func newToolchain() (*toolchain, error) {
	ask := func(name string, args ...string) (string, error) {
		if _, err := exec.LookPath(name); err != nil {
			return "", diag.New(diag.NoSimulator, "", "%s is not in PATH", name).
				WithHint("install it (Debian: apt-get install verilator g++), or compute without a simulator: " +
					"lathe run --engine ref or pjrt")
		}
		out, err := exec.Command(name, args...).Output()
		if err != nil {
			return "", diag.New(diag.NoSimulator, "", "%s %s fails: %v", name, strings.Join(args, " "), err)
		}
		return strings.TrimSpace(string(out)), nil
	}
	var t toolchain
	var err error
	if t.verilator, err = ask("verilator", "--version"); err != nil {
		return nil, err
	}
	if t.cxx, err = ask("g++", "-dumpfullversion"); err != nil {
		return nil, err
	}
	root, err := ask("verilator", "--getenv", "VERILATOR_ROOT")
	if err != nil {
		return nil, err
	}
	t.include = filepath.Join(root, "include")
	if _, err := exec.LookPath("ld.gold"); err == nil { // in a third of the time
		t.link = []string{"-fuse-ld=gold"}
	}
	return &t, nil
}

var versions sync.Map

// version is the first line that a tool prints about itself, asked once a process; empty if it cannot be had.
func version(name, flag string) string {
	if known, ok := versions.Load(name); ok {
		return known.(string)
	}
	out, _ := exec.Command(name, flag).Output()
	line, _, _ := strings.Cut(string(out), "\n")
	versions.Store(name, line)
	return line
}

// digest hashes the parts with their lengths.
func digest(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil))[:32]
}

// runtime returns the folder with the compiled harness, Verilator's runtime (runtime.o) and a precompiled header
// (pch.h), made at first use.
func (t *toolchain) runtime(ctx context.Context, cache string, trace bool) (string, error) {
	sources := []string{"verilated.cpp", "verilated_threads.cpp"}
	header := "#include \"verilated.h\"\n"
	if trace {
		sources = append(sources, "verilated_fst_c.cpp")
		header += "#include \"verilated_fst_c.h\"\n"
	}
	flags := append([]string{"-I", t.include, "-I", filepath.Join(t.include, "vltstd"), "-I", "."}, cxxFlags...)
	key := digest(t.verilator, t.cxx, t.include, harnessH, harnessCC, header, strings.Join(flags, " "), modelLevel,
		runtimeLevel)
	return cached(ctx, cache, "runtime-"+key, func(dir string) error {
		files := map[string]string{"harness.h": harnessH, "harness.cc": harnessCC, "pch.h": header}
		for name, text := range files {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				return err
			}
		}
		jobs := [][]string{append([]string{"-c", "pch.h", "-o", "pch.h.gch", modelLevel}, flags...)}
		objects := []string{"-r", "-nostdlib", "-o", "runtime.o", "harness.o"}
		jobs = append(jobs, append([]string{"-c", "harness.cc", "-o", "harness.o", runtimeLevel}, flags...))
		for _, src := range sources {
			object := strings.TrimSuffix(src, ".cpp") + ".o"
			jobs = append(jobs, append([]string{"-c", filepath.Join(t.include, src), "-o", object, runtimeLevel}, flags...))
			objects = append(objects, object)
		}
		err := workers.Try(ctx, len(jobs), runtime.GOMAXPROCS(0), func(i int) error { return compile(ctx, dir, jobs[i]...) })
		if err != nil {
			return err
		}
		return compile(ctx, dir, objects...)
	})
}

// verilatorBinary is the program that verilator, a script, starts: Perl takes a third of the time of a small design,
// and of what the script does only lifting the limit of the stack matters here. Empty where the program does not lie
// beside the script, which then finds it.
var verilatorBinary = sync.OnceValue(func() string {
	script, err := exec.LookPath("verilator")
	if err == nil {
		script, err = filepath.EvalSymlinks(script)
	}
	if err != nil {
		return ""
	}
	binary, err := exec.LookPath(filepath.Join(filepath.Dir(script), "verilator_bin"))
	if err != nil {
		return ""
	}
	return binary
})

func compile(ctx context.Context, dir string, args ...string) error {
	return tool(ctx, dir, diag.CompilerFailed, "g++", args...)
}

// toolError is a failed external program, before it is known where its output will be kept.
type toolError struct {
	code   diag.Code
	name   string
	dir    string // where it ran, and tool.log lies
	output []byte
	err    error
}

func (e *toolError) Error() string { return e.name + ": " + e.firstError() }

// firstError is the first line that speaks of an error, else the first warning, else the first line.
func (e *toolError) firstError() string {
	lines := strings.Split(strings.TrimSpace(string(e.output)), "\n")
	for _, sign := range []string{"error", "warning"} {
		for _, line := range lines {
			if strings.Contains(strings.ToLower(line), sign) && !strings.Contains(line, "Exiting due to") {
				return strings.TrimSpace(line)
			}
		}
	}
	if lines[0] == "" {
		return e.err.Error()
	}
	return lines[0]
}

// tool runs a program in dir; its output is appended to dir/tool.log.
func tool(ctx context.Context, dir string, code diag.Code, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	if binary := verilatorBinary(); name == "verilator" && binary != "" {
		cmd = exec.CommandContext(ctx, "/bin/sh", append([]string{"-c",
			"ulimit -s unlimited 2>/dev/null; exec \"$0\" \"$@\"", binary}, args...)...)
	}
	cmd.Dir = dir
	cmd.Env = append(cmd.Environ(), "TMPDIR="+dir) // what a killed compiler leaves goes with the folder
	// A tool is a driver with children of its own: on cancellation all of them end.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	log, logErr := os.OpenFile(filepath.Join(dir, "tool.log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if logErr == nil {
		fmt.Fprintf(log, "$ %s %s\n%s", name, strings.Join(args, " "), out.Bytes())
		log.Close()
	}
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, exec.ErrNotFound):
		return diag.New(diag.NoSimulator, "", "%s is not in PATH", name)
	}
	return &toolError{code: code, name: name, dir: dir, output: out.Bytes(), err: err}
}

// cached returns the folder cache/sim/name, which fill makes at first use in a folder of its own; several processes
// may ask at once. A folder whose making failed is kept as failed-name, and the error names it.
func cached(ctx context.Context, cache, name string, fill func(dir string) error) (string, error) {
	if cache == "" {
		return "", diag.New(diag.SimulationRequest, "", "no cache folder given")
	}
	root := filepath.Join(cache, "sim")
	final := filepath.Join(root, name)
	if _, err := os.Stat(final); err == nil {
		return final, nil
	}
	if err := os.MkdirAll(root, 0o755); err != nil {
		return "", unwritable(err)
	}
	unlock, err := lock(ctx, final+".lock")
	if err != nil {
		return "", err
	}
	defer unlock()
	if _, err := os.Stat(final); err == nil {
		return final, nil
	}
	dir, err := atomicfile.Folder(root, "making-")
	if err != nil {
		return "", unwritable(err)
	}
	defer atomicfile.Remove(dir)
	if err := fill(dir); err != nil {
		var failure *toolError
		var known *diag.Error
		switch {
		case errors.As(err, &failure):
		case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.As(err, &known):
			return "", err
		default:
			return "", unwritable(err)
		}
		failed := filepath.Join(root, "failed-"+name)
		os.RemoveAll(failed)
		os.Rename(dir, failed)
		ran, _ := filepath.Rel(dir, failure.dir)
		return "", diag.New(failure.code, "", "%s: %s", failure.name, failure.firstError()).
			WithNote("whole output: %s", filepath.Join(failed, ran, "tool.log"))
	}
	if err := os.Rename(dir, final); err != nil {
		return "", unwritable(err)
	}
	return final, nil
}

// unwritable is the error of a cache folder that does not take files; err names the path.
func unwritable(err error) error {
	return diag.New(diag.CacheFolder, "", "cannot write to the cache folder: %v",
		err).WithHint("name another one by LATHE_CACHE")
}

// lock holds an exclusive lock on a file until the returned function is called.
func lock(ctx context.Context, path string) (func(), error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, unwritable(err)
	}
	for syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		select {
		case <-ctx.Done():
			f.Close()
			return nil, ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
	return func() { io.Closer(f).Close() }, nil
}

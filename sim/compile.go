// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sort"
	"strings"

	"lathe/internal/diag"
	"lathe/internal/workers"
)

// A design whose generated C++ has more than partBytes is compiled in several parts at once, with the flags of
// largeFlags. In a fully unrolled network (40 MB of C++ in 46 files, two of them timed alone) -Og took as much
// processor time as -O0 and less than half of -O1; the model then did 16 times the cycles of -O0 in the same time.
var (
	partBytes  = int64(2_000_000)
	largeFlags = []string{"-Og"}
)

// part is one translation unit of a model.
type part struct {
	files []string // generated .cpp files, included one after the other
	bytes int64
}

// compile makes dir/model.
func (s *Spec) compile(ctx context.Context, tools *toolchain, runtimeDir, dir string) error {
	if err := s.write(dir); err != nil {
		return err
	}
	if err := tool(ctx, dir, diag.VerilatorFailed, "verilator", s.verilatorArgs()...); err != nil {
		return err
	}
	parts, err := split(filepath.Join(dir, "obj"), max(2, runtime.NumCPU()))
	if err != nil {
		return err
	}
	flags := []string{"-I", tools.include, "-I", filepath.Join(tools.include, "vltstd"), "-I", "obj", "-I", runtimeDir,
		"-include", filepath.Join(runtimeDir, "pch.h")}
	flags = append(flags, cxxFlags...)
	if len(parts) > 1 {
		flags = append(flags, largeFlags...)
	}
	objects := []string{"-o", "model"}
	for i := range parts {
		objects = append(objects, fmt.Sprintf("obj/part%d.o", i))
	}
	err = workers.Try(ctx, len(parts), runtime.GOMAXPROCS(0), func(i int) error {
		text := includes(parts[i].files)
		if i == 0 {
			text += s.glue()
		}
		name := fmt.Sprintf("obj/part%d", i)
		if err := os.WriteFile(filepath.Join(dir, name+".cc"), []byte(text), 0o644); err != nil {
			return unwritable(err)
		}
		return compile(ctx, dir, append(slices.Clone(flags), "-c", name+".cc", "-o", name+".o")...)
	})
	if err != nil {
		return err
	}
	objects = append(objects, filepath.Join(runtimeDir, "runtime.o"), "-pthread")
	if s.Trace {
		objects = append(objects, "-lz")
	}
	if err := compile(ctx, dir, objects...); err != nil {
		return err
	}
	return os.RemoveAll(filepath.Join(dir, "obj"))
}

// split distributes the generated files over at most n parts of about the same size; a small design is one part.
func split(dir string, n int) ([]part, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	sizes := map[string]int64{}
	var names []string
	var total int64
	for _, e := range entries {
		if info, err := e.Info(); err == nil && filepath.Ext(e.Name()) == ".cpp" {
			names = append(names, e.Name())
			sizes[e.Name()] = info.Size()
			total += info.Size()
		}
	}
	sort.SliceStable(names, func(i, j int) bool { return sizes[names[i]] > sizes[names[j]] })
	parts := make([]part, max(1, min(int64(n), total/partBytes)))
	for _, name := range names {
		least := &parts[0]
		for i := range parts {
			if parts[i].bytes < least.bytes {
				least = &parts[i]
			}
		}
		least.files = append(least.files, name)
		least.bytes += sizes[name]
	}
	return parts, nil
}

func includes(files []string) string {
	var b strings.Builder
	for _, name := range files {
		fmt.Fprintf(&b, "#include \"%s\"\n", name)
	}
	return b.String()
}

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

// partBytes is how large a part is: a design with more generated C++ is compiled in several parts at once.
var partBytes = int64(2_000_000)

// part is one translation unit of a model.
type part struct {
	files []string // generated .cpp files, included one after the other
	bytes int64
}

// buildProgram makes the program of one or more designs in dir.
func buildProgram(ctx context.Context, tools *toolchain, runtimeDir, dir string, specs []Spec) error {
	flags := []string{"-I", tools.include, "-I", filepath.Join(tools.include, "vltstd")}
	var generated []string
	for i := range specs {
		own := filepath.Join(dir, folder(specs, i))
		if err := os.MkdirAll(own, 0o755); err != nil {
			return unwritable(err)
		}
		if err := specs[i].write(own); err != nil {
			return err
		}
		if err := tool(ctx, own, diag.VerilatorFailed, "verilator", specs[i].verilatorArgs(i)...); err != nil {
			return err
		}
		generated = append(generated, filepath.Join(folder(specs, i), "obj"))
		flags = append(flags, "-I", generated[i])
	}
	parts, err := split(dir, generated, max(2, runtime.NumCPU()))
	if err != nil {
		return err
	}
	flags = append(flags, "-I", ".", "-I", runtimeDir, "-include", filepath.Join(runtimeDir, "pch.h"))
	flags = append(append(flags, modelLevel), cxxFlags...)
	objects := append(slices.Clone(tools.link), "-o", programName)
	for i := range parts {
		objects = append(objects, fmt.Sprintf("part%d.o", i))
	}
	err = workers.Try(ctx, len(parts), runtime.GOMAXPROCS(0), func(i int) error {
		text := includes(parts[i].files)
		if i == 0 {
			text += glueAll(specs)
		}
		name := fmt.Sprintf("part%d", i)
		if err := os.WriteFile(filepath.Join(dir, name+".cc"), []byte(text), 0o644); err != nil {
			return unwritable(err)
		}
		return compile(ctx, dir, append(slices.Clone(flags), "-c", name+".cc", "-o", name+".o")...)
	})
	if err != nil {
		return err
	}
	objects = append(objects, filepath.Join(runtimeDir, "runtime.o"), "-pthread")
	if specs[0].Trace {
		objects = append(objects, "-lz")
	}
	if err := compile(ctx, dir, objects...); err != nil {
		return err
	}
	for i := range parts {
		generated = append(generated, fmt.Sprintf("part%d.cc", i), fmt.Sprintf("part%d.o", i))
	}
	return removeAll(dir, generated)
}

// removeAll removes files and folders of dir.
func removeAll(dir string, names []string) error {
	for _, name := range names {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			return unwritable(err)
		}
	}
	return nil
}

// split distributes the generated files, which lie in folders of dir, over at most n parts of about the same size; a
// small design is one part.
func split(dir string, folders []string, n int) ([]part, error) {
	sizes := map[string]int64{}
	var names []string
	var total int64
	for _, folder := range folders {
		entries, err := os.ReadDir(filepath.Join(dir, folder))
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if info, err := e.Info(); err == nil && filepath.Ext(e.Name()) == ".cpp" {
				name := filepath.Join(folder, e.Name())
				names = append(names, name)
				sizes[name] = info.Size()
				total += info.Size()
			}
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

// Program compiles a module with a main of its own in C++, whose class is V and the module's name, into a program of
// the cache, once for the same files; its memory images lie beside it, where it must run. Errors as Build.
func Program(ctx context.Context, cache, top string, files []File, class string, main []byte) (path string, err error) {
	all := append(slices.Clone(files), File{Name: "main.cc", Data: main})
	args := []string{"--cc", "--exe", "--build", "-O3", "--x-assign", "unique", "--x-initial", "unique", "-Wno-lint",
		"-Wno-style", "-fno-const-bit-op-tree", "--top-module", top, "--prefix", class, "-CFLAGS", modelLevel, "-j", "2",
		"-Mdir", "obj", "-o", programName}
	args = append(append(args, sources(files)...), "main.cc")
	dir, err := read(ctx, cache, "program", version("verilator", "--version")+strings.Join(args, " "), all,
		func(dir string) error { return tool(ctx, dir, diag.VerilatorFailed, "verilator", args...) })
	return filepath.Join(dir, "obj", programName), err
}

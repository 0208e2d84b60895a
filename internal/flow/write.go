// SPDX-License-Identifier: Apache-2.0

package flow

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"lathe/emit"
	"lathe/emit/cuda"
	"lathe/emit/verilog"
	"lathe/internal/diag"
	"lathe/rtl"
)

// Write puts a design into dir: into a new folder beside it first, which then takes its place, so that no half of a
// design is ever seen. A folder that holds anything but an earlier design is left alone.
func Write(d *emit.Design, dir string) error { return writeFolder(d.All(), dir) }

// writeFolder puts files into dir as Write does.
func writeFolder(files []rtl.File, dir string) error {
	given := dir
	fail := func(err error) error { return diag.New("L0625", given, "cannot write the design: %v", cause(err)) }
	dir, err := filepath.Abs(dir)
	if err != nil {
		return fail(err)
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real // a link stays a link
	}
	if err := replaceable(dir, given); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return fail(err)
	}
	temp, err := os.MkdirTemp(filepath.Dir(dir), "."+filepath.Base(dir)+"-*")
	if err != nil {
		return fail(err)
	}
	defer os.RemoveAll(temp)
	if err := os.Chmod(temp, 0o755); err != nil {
		return fail(err)
	}
	if err := fillFolder(files, temp); err != nil {
		return fail(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		return fail(err)
	}
	if err := os.Rename(temp, dir); err != nil {
		return fail(err)
	}
	return nil
}

func fillFolder(files []rtl.File, dir string) error {
	var group sync.WaitGroup
	failed := make([]error, len(files))
	next := make(chan int)
	for range min(runtime.GOMAXPROCS(0), len(files)) { // the text of large images is made here
		group.Go(func() {
			for i := range next {
				failed[i] = writeFile(files[i], filepath.Join(dir, filepath.FromSlash(files[i].Name)))
			}
		})
	}
	for i := range files {
		next <- i
	}
	close(next)
	group.Wait()
	for _, err := range failed {
		if err != nil {
			return err
		}
	}
	return nil
}

func writeFile(f rtl.File, path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	err = f.Write(out)
	if e := out.Close(); err == nil {
		err = e
	}
	return err
}

// replaceable refuses folders that hold a file of somebody else: one that the design.json or report.json in them does
// not list. given is the folder as the caller names it.
func replaceable(dir, given string) error {
	if _, err := os.ReadDir(dir); os.IsNotExist(err) {
		return nil
	} else if err != nil {
		return diag.New("L0625", given, "cannot write the design: %v", cause(err))
	}
	var listed []string
	for _, d := range []struct {
		file string
		list func(text []byte) []string
	}{{"design.json", verilog.Listed}, {"report.json", cuda.Listed}} {
		text, err := os.ReadFile(filepath.Join(dir, d.file))
		if err != nil && !os.IsNotExist(err) {
			return diag.New("L0625", given, "cannot write the design: %v", cause(err))
		}
		listed = append(listed, d.list(text)...)
	}
	name, err := foreign(dir, "", listed)
	if err != nil {
		return diag.New("L0625", given, "cannot write the design: %v", cause(err))
	}
	if name != "" {
		return diag.New("L0626", given, "the folder holds %q, which is no part of a design and would be lost", name).
			WithHint("choose an empty or a new folder")
	}
	return nil
}

// foreign finds the first file in the folder below dir whose slashed path is not listed; "" if there is none. What is
// built in an emitted folder, by its Makefile, is not foreign.
func foreign(dir, below string, listed []string) (string, error) {
	entries, err := os.ReadDir(filepath.Join(dir, filepath.FromSlash(below)))
	if err != nil {
		return "", err
	}
	for _, e := range entries {
		name := below + e.Name()
		switch {
		case !e.IsDir() && slices.Contains(listed, name):
		case !e.IsDir():
			return name, nil
		case len(listed) > 0 && disposable(filepath.Join(dir, filepath.FromSlash(name))):
		case slices.ContainsFunc(listed, func(l string) bool { return strings.HasPrefix(l, name+"/") }):
			if inside, err := foreign(dir, name+"/", listed); inside != "" || err != nil {
				return inside, err
			}
		default:
			return name, nil
		}
	}
	return "", nil
}

// disposable says that a folder is marked as one of things that can be made again: https://bford.info/cachedir/.
func disposable(dir string) bool {
	tag, err := os.ReadFile(filepath.Join(dir, "CACHEDIR.TAG"))
	return err == nil && bytes.HasPrefix(tag, []byte("Signature: 8a477f597d28d172789f06886806bc55"))
}

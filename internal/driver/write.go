// SPDX-License-Identifier: Apache-2.0

package driver

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"lathe/emit"
	"lathe/emit/cuda"
	"lathe/emit/verilog"
	"lathe/internal/atomicfile"
	"lathe/internal/diag"
	"lathe/internal/workers"
	"lathe/rtl"
	"lathe/sim/route"
)

// Write puts a design into dir: into a new folder beside it first, which then takes its place, so that no half of a
// design is ever seen. A folder that holds anything but an earlier design of Verilog is left alone. Errors as Check.
func Write(d *emit.Design, dir string) error { return writeFolder(Verilog, d.All(), dir) }

// Kind is who writes a folder; each replaces its own ones only.
type Kind struct {
	command string
	// index is the file that lists the others, list reads it; nothing where it is another one's.
	index string
	list  func(text []byte) []string
}

// The kinds of folders.
var (
	Verilog = Kind{"emit-verilog", "design.json", verilog.Listed}
	CUDA    = Kind{"emit-cuda", "report.json", cuda.Listed}
)

// Check finds out before the work whether a folder can be written. Errors: L0625 where it cannot, L0626 where it holds
// files of others.
func (k Kind) Check(dir string) error {
	real, err := resolved(dir)
	if err != nil {
		return unwritable(dir, err)
	}
	if err := k.replaceable(real, dir); err != nil {
		return err
	}
	at := filepath.Dir(real)
	for { // the first folder that is there: the others are made
		info, err := os.Stat(at)
		if err == nil && !info.IsDir() {
			err = syscall.ENOTDIR
		}
		if err == nil {
			err = syscall.Access(at, mayWrite)
		}
		if err == nil {
			return nil
		}
		if !os.IsNotExist(err) || at == filepath.Dir(at) {
			return unwritable(dir, err)
		}
		at = filepath.Dir(at)
	}
}

// mayWrite asks access(2) whether files can be made.
const mayWrite = 2

func unwritable(dir string, err error) error {
	e := diag.New(diag.DesignWrite, dir, "cannot write the design: %v", cause(err))
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return e.WithHint("make room, or name a folder on another disk")
	}
	return e.WithHint("name a folder that can be made, or an empty one")
}

// resolved is where a folder really lies: a link stays a link.
func resolved(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	return dir, nil
}

// writeFolder puts files into dir as Write does.
func writeFolder(k Kind, files []rtl.File, dir string) error {
	given := dir
	fail := func(err error) error { return unwritable(given, err) }
	dir, err := resolved(dir)
	if err != nil {
		return fail(err)
	}
	if err := k.replaceable(dir, given); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return fail(err)
	}
	temp, err := atomicfile.Folder(filepath.Dir(dir), "."+filepath.Base(dir)+"-*")
	if err != nil {
		return fail(err)
	}
	defer atomicfile.Remove(temp)
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
	// the text of large images is made here
	return workers.Try(context.Background(), len(files), runtime.GOMAXPROCS(0), func(i int) error {
		return writeFile(files[i], filepath.Join(dir, filepath.FromSlash(files[i].Name)))
	})
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

// replaceable refuses folders that hold a file of somebody else: one that the index of this kind does not list. given
// is the folder as the caller names it.
func (k Kind) replaceable(dir, given string) error {
	if _, err := os.ReadDir(dir); os.IsNotExist(err) {
		return nil
	} else if err != nil {
		return unwritable(given, err)
	}
	listed, err := k.listed(dir)
	if err != nil {
		return unwritable(given, err)
	}
	name, err := foreign(dir, "", listed)
	if err != nil {
		return unwritable(given, err)
	}
	if name == "" {
		return nil
	}
	whose := "which is not a part of a design and would be lost"
	for _, other := range []Kind{Verilog, CUDA} {
		if list, err := other.listed(dir); other.index != k.index && err == nil && slices.Contains(list, name) {
			whose = "which " + other.command + " wrote and which would be lost"
		}
	}
	return diag.New(diag.ForeignFiles, given, "the folder holds %q, %s", name, whose).
		WithHint("choose an empty or a new folder")
}

// listed are the files that a folder of this kind says it holds; none in other folders.
func (k Kind) listed(dir string) ([]string, error) {
	text, err := os.ReadFile(filepath.Join(dir, k.index))
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	list := k.list(text)
	if len(list) > 0 && k.index == Verilog.index {
		list = append(list, route.File, route.Picture) // of the design that goes
	}
	return list, nil
}

// foreign finds the first file in the folder below dir whose slashed path is not listed; "" if there is none. What is
// built in an emitted folder, by its Makefile or by Python, is not foreign.
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
		case len(listed) > 0 && (e.Name() == pythonCache || disposable(filepath.Join(dir, filepath.FromSlash(name)))):
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

// pythonCache is the folder that Python makes beside the modules that it reads.
const pythonCache = "__pycache__"

// disposable says that a folder is marked as one of things that can be made again: https://bford.info/cachedir/.
func disposable(dir string) bool {
	tag, err := os.ReadFile(filepath.Join(dir, "CACHEDIR.TAG"))
	return err == nil && bytes.HasPrefix(tag, []byte("Signature: 8a477f597d28d172789f06886806bc55"))
}

// SPDX-License-Identifier: Apache-2.0

// Package tidy checks the project's own rules on its own files: size caps, import order, licence lines, names,
// environment reads, skipped tests, and pages that must agree with the code. The test of this package runs all
// checks over the whole project, and each check over a small tree with a planted violation.
package tidy

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Finding is one violation.
type Finding struct {
	Check string
	Path  string // slashes, from the project's root; a folder for what concerns a package
	Line  int    // from 1; 0 for what concerns the whole file
	Msg   string
}

// String is path:line: check: message.
func (f Finding) String() string {
	if f.Line == 0 {
		return fmt.Sprintf("%s: %s: %s", f.Path, f.Check, f.Msg)
	}
	return fmt.Sprintf("%s:%d: %s: %s", f.Path, f.Line, f.Check, f.Msg)
}

// File is one file of the project.
type File struct {
	Path string // slashes, from the root
	Data []byte
	Go   *ast.File // nil unless it is Go that parses
	set  *token.FileSet
}

// Tree is the project's files in order of their paths.
type Tree []*File

// Check is one rule. Run returns findings without the name of the check, which Audit fills in.
type Check struct {
	Name string
	Doc  string
	Run  func(Tree) []Finding
}

// Exception lets one file or folder off one check.
type Exception struct {
	Check, Path string
	Why         string
}

// built are the folders that the Makefile writes to.
var built = map[string]bool{".git": true, "bin": true, "build": true}

// Load reads every file below root, except what Git and the Makefile keep there.
func Load(root fs.FS) (Tree, error) {
	var t Tree
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && built[name] {
			return fs.SkipDir
		}
		if !d.Type().IsRegular() || built[name] { // .git is a file in a linked work tree
			return nil
		}
		data, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		t = append(t, newFile(name, data))
		return nil
	})
	return t, err
}

func newFile(name string, data []byte) *File {
	f := &File{Path: name, Data: data, set: token.NewFileSet()}
	if path.Ext(name) == ".go" {
		parsed, err := parser.ParseFile(f.set, name, data, parser.ParseComments|parser.SkipObjectResolution)
		if err == nil {
			f.Go = parsed
		}
	}
	return f
}

// Audit runs the checks. An exception that nothing needs is a finding itself, so that the list cannot grow stale.
func Audit(t Tree, checks []Check, exceptions []Exception) []Finding {
	var out []Finding
	used := make([]bool, len(exceptions))
	for _, c := range checks {
		for _, f := range c.Run(t) {
			f.Check = c.Name
			i := slices.IndexFunc(exceptions, func(e Exception) bool { return e.Check == f.Check && under(f.Path, e.Path) })
			if i >= 0 {
				used[i] = true
				continue
			}
			out = append(out, f)
		}
	}
	for i, e := range exceptions {
		if !used[i] {
			out = append(out, Finding{Check: "exceptions", Path: e.Path, Msg: "no longer needs the exception from " + e.Check})
		}
	}
	slices.SortStableFunc(out, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Msg, b.Msg))
	})
	return out
}

// lines counts lines; a last line without a break counts.
func (f *File) lines() int {
	n := bytes.Count(f.Data, []byte("\n"))
	if len(f.Data) > 0 && f.Data[len(f.Data)-1] != '\n' {
		n++
	}
	return n
}

func (f *File) dir() string  { return path.Dir(f.Path) }
func (f *File) base() string { return path.Base(f.Path) }
func (f *File) ext() string  { return path.Ext(f.Path) }
func (f *File) isTest() bool { return strings.HasSuffix(f.Path, "_test.go") }
func (f *File) binary() bool { return bytes.IndexByte(f.Data, 0) >= 0 }
func (f *File) line(p token.Pos) int {
	return f.set.Position(p).Line
}

// generated files say so in the line that Go tools know; they are not held to the caps.
func (f *File) generated() bool { return f.Go != nil && ast.IsGenerated(f.Go) }

// source is code that people write and read.
func (f *File) source() bool {
	switch f.ext() {
	case ".go", ".s", ".sv", ".v", ".svh", ".cc", ".h", ".cu", ".cuh", ".sh", ".py":
		return !strings.Contains(f.Path, "testdata/")
	}
	return f.base() == "Makefile" || under(f.Path, "scripts") && f.ext() == "" || f.Path == ".ci/run"
}

// under says whether a path is the folder or lies in it.
func under(name, folder string) bool {
	return name == folder || strings.HasPrefix(name, folder+"/")
}

// underAny says whether a path lies in one of the folders.
func underAny(name string, folders []string) bool {
	return slices.ContainsFunc(folders, func(f string) bool { return under(name, f) })
}

// goFiles yields the Go files that parse; code says whether test files are left out.
func (t Tree) goFiles(code bool) []*File {
	return slices.DeleteFunc(slices.Clone(t), func(f *File) bool {
		return f.Go == nil || code && f.isTest() || strings.Contains(f.Path, "testdata/")
	})
}

// SPDX-License-Identifier: Apache-2.0

// Command affected prints the packages whose tests a change of files can break. scripts/changed calls it in the root of
// the project:
//
//	go list -test -json=... ./... | affected FILES
//
// FILES names a file with the paths of the changed files, one a line.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: affected FILES <packages")
		os.Exit(2)
	}
	if err := run(os.Stdin, os.Args[1], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "affected:", err)
		os.Exit(1)
	}
}

func run(list io.Reader, files string, w io.Writer) error {
	changed, err := os.ReadFile(files)
	if err != nil {
		return err
	}
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	p, err := read(list, root)
	if err != nil {
		return err
	}
	if err := p.scan(os.DirFS(root)); err != nil {
		return err
	}
	names := p.affected(strings.Fields(string(changed)))
	if len(names) == 0 { // nothing but the rules of the project
		names = []string{module + "internal/tidy"}
	}
	_, err = fmt.Fprintln(w, strings.Join(names, "\n"))
	return err
}

// module begins the import paths of the project.
const module = "lathe/"

// listed is what `go list -test -json` says of a package, or of the program that runs its tests.
type listed struct {
	ImportPath, Dir                              string
	Deps                                         []string
	GoFiles, CgoFiles, TestGoFiles, XTestGoFiles []string
	EmbedFiles, TestEmbedFiles, XTestEmbedFiles  []string
}

// read reads the packages of the project, whose root is a folder.
func read(r io.Reader, root string) (packages, error) {
	all := packages{}
	for d := json.NewDecoder(r); ; {
		var l listed
		err := d.Decode(&l)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		name, variant, _ := strings.Cut(l.ImportPath, " ")
		name = strings.TrimSuffix(name, ".test")
		if !strings.HasPrefix(name, module) || variant != "" {
			continue
		}
		p := all[name]
		if p == nil {
			p = &pkg{needs: map[string]bool{name: true}, tests: map[string]bool{}}
			all[name] = p
		}
		if name != l.ImportPath {
			fill(p.tests, l.Deps)
			continue
		}
		fill(p.needs, l.Deps)
		p.dir = strings.TrimPrefix(strings.TrimPrefix(l.Dir, root), "/")
		p.code = inside(p.dir, slices.Concat(l.GoFiles, l.CgoFiles, l.EmbedFiles))
		p.checks = inside(p.dir, slices.Concat(l.TestGoFiles, l.XTestGoFiles, l.TestEmbedFiles, l.XTestEmbedFiles))
	}
}

// fill adds the packages of the project that a list of dependencies has.
func fill(set map[string]bool, deps []string) {
	for _, d := range deps {
		if d, _, _ = strings.Cut(d, " "); strings.HasPrefix(d, module) {
			set[d] = true
		}
	}
}

func inside(dir string, names []string) []string {
	for i, n := range names {
		if dir != "" {
			names[i] = dir + "/" + n
		}
	}
	return names
}

// SPDX-License-Identifier: Apache-2.0

package area

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"lathe/internal/diag"
)

var (
	// comments and string literals, which may hold anything that looks like a module
	noCode     = regexp.MustCompile(`(?s)//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"`)
	moduleHead = regexp.MustCompile(`\bmodule\s+(?:automatic\s+|static\s+)?([A-Za-z_]\w*)`)
	// instantiation is `name #(` or `name instance (`, at the start of a statement.
	instantiation = regexp.MustCompile(`\b([A-Za-z_]\w*)\s*(?:#\s*\(|(?:\\\S+|\s[A-Za-z_]\w*)\s*\()`)
)

// declared lists the modules of the files, sorted.
func declared(dir string, files []string) ([]string, error) {
	var names []string
	for _, f := range files {
		code, err := readCode(filepath.Join(dir, f))
		if err != nil {
			return nil, err
		}
		for _, m := range moduleHead.FindAllStringSubmatch(code, -1) {
			names = append(names, m[1])
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// Sources lists the .v and .sv files of a folder, sorted, and the one module in them that no other instantiates.
// It is what a folder of emitted Verilog needs to be counted. Errors: CodeInput where there is no file, or not
// exactly one such module, which the message then names.
func Sources(dir string) (files []string, top string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, "", diag.New(diag.AreaInput, dir, "%v", err)
	}
	used := map[string]bool{}
	for _, e := range entries {
		ext := filepath.Ext(e.Name())
		if e.IsDir() || (ext != ".v" && ext != ".sv") {
			continue
		}
		files = append(files, e.Name())
		code, err := readCode(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, "", err
		}
		markUsed(code, used)
	}
	if len(files) == 0 {
		return nil, "", diag.New(diag.AreaInput, dir,
			"no .v or .sv file here").WithHint("name a folder that emit-verilog wrote")
	}
	names, err := declared(dir, files)
	if err != nil {
		return nil, "", err
	}
	roots := slices.DeleteFunc(names, func(n string) bool { return used[n] })
	if len(roots) != 1 {
		return nil, "", diag.New(diag.AreaInput, dir, "no single top module: %d modules are instantiated nowhere",
			len(roots)).
			WithNote("candidates: %s", strings.Join(roots, ", "))
	}
	return files, roots[0], nil
}

// markUsed marks every name that code instantiates. A module that instantiates only itself is not used by that.
func markUsed(code string, used map[string]bool) {
	for _, body := range regexp.MustCompile(`\bendmodule\b`).Split(code, -1) {
		self := ""
		if m := moduleHead.FindStringSubmatch(body); m != nil {
			self = m[1]
		}
		for _, m := range instantiation.FindAllStringSubmatch(body, -1) {
			if m[1] != self {
				used[m[1]] = true
			}
		}
	}
}

// readCode is a file without comments and strings.
func readCode(path string) (string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return "", diag.New(diag.AreaInput, path, "%v", err)
	}
	return noCode.ReplaceAllString(string(data), " "), nil
}

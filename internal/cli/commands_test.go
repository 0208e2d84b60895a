// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"lathe/internal/npz"
)

// same A B demands that two folders hold the same files, byte for byte.
func same(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: same A B")
	}
	diff := difference(ts, ts.MkAbs(args[0]), ts.MkAbs(args[1]))
	if neg != (diff != "") {
		ts.Fatalf("%s and %s: difference %q", args[0], args[1], diff)
	}
}

// difference names the first file in which two folders differ.
func difference(ts *testscript.TestScript, a, b string) string {
	read := func(dir string) map[string][]byte {
		files := map[string][]byte{}
		err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			name, _ := filepath.Rel(dir, path)
			files[name], err = os.ReadFile(path)
			return err
		})
		ts.Check(err)
		return files
	}
	left, right := read(a), read(b)
	for name, data := range left {
		if other, ok := right[name]; !ok || !bytes.Equal(data, other) {
			return name
		}
	}
	if len(left) != len(right) {
		return fmt.Sprintf("%d files, %d files", len(left), len(right))
	}
	return ""
}

// array FILE NAME SHAPE TYPE demands an array of a file; array FILE NAME = FILE2 [NAME2] equal values, bit for bit;
// array FILE NAME ~ FILE2 TOLERANCE [NAME2] values that differ by no more.
func array(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 4 {
		ts.Fatalf("usage: array FILE NAME SHAPE TYPE | = FILE2 [NAME2] | ~ FILE2 TOLERANCE [NAME2]")
	}
	get := func(file, name string) *npz.Array {
		f, err := npz.Read(ts.MkAbs(file))
		ts.Check(err)
		a, err := f.Get(name)
		ts.Check(err)
		return a
	}
	a := get(args[0], args[1])
	if args[2] != "=" && args[2] != "~" {
		shape := strings.Trim(strings.ReplaceAll(fmt.Sprint(a.Shape), " ", "x"), "[]")
		if shape != args[2] || string(a.DType) != args[3] {
			ts.Fatalf("array %s of %s is %s %s", args[1], args[0], shape, a.DType)
		}
		return
	}
	other, limit := args[1], 0.0
	if rest := args[4:]; args[2] == "~" {
		var err error
		limit, err = strconv.ParseFloat(rest[0], 64)
		ts.Check(err)
		args = append(args[:4], rest[1:]...)
	}
	if len(args) > 4 {
		other = args[4]
	}
	worst := farthest(ts, a, get(args[3], other))
	if neg != (worst > limit) {
		ts.Fatalf("%s of %s and %s of %s differ by up to %g", args[1], args[0], other, args[3], worst)
	}
}

// farthest is the greatest difference of two arrays of one shape.
func farthest(ts *testscript.TestScript, a, b *npz.Array) float64 {
	x, y := a.Float64s(), b.Float64s()
	if fmt.Sprint(a.Shape) != fmt.Sprint(b.Shape) {
		ts.Fatalf("shapes %v and %v", a.Shape, b.Shape)
	}
	worst := 0.0
	for i := range x {
		worst = max(worst, math.Abs(x[i]-y[i]))
	}
	return worst
}

// lookup is the command json FILE path=value...: paths lead through objects and lists (a.0.b); a path without a value
// must exist, and a value @FILE:path is that in another file.
func lookup(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 || neg {
		ts.Fatalf("usage: json FILE path=value...")
	}
	for _, arg := range args[1:] {
		path, want, valued := strings.Cut(arg, "=")
		at := valueAt(ts, args[0], path)
		if file, other, is := strings.Cut(strings.TrimPrefix(want, "@"), ":"); is && want[0] == '@' {
			want = fmt.Sprint(valueAt(ts, file, other))
		}
		if at == nil || valued && fmt.Sprint(at) != want {
			ts.Fatalf("%s: %s is %v, want %q", args[0], path, at, want)
		}
	}
}

// valueAt is what stands at a path of a JSON file; nil for nothing.
func valueAt(ts *testscript.TestScript, file, path string) any {
	var at any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(file)), &at))
	for _, key := range strings.Split(path, ".") {
		switch v := at.(type) {
		case map[string]any:
			at = v[key]
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i >= len(v) {
				ts.Fatalf("%s has no %s: %d elements", file, path, len(v))
			}
			at = v[i]
		default:
			at = nil
		}
	}
	return at
}

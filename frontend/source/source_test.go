// SPDX-License-Identifier: Apache-2.0

package source

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lathe/internal/diag"
)

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "m.onnx")
	if err := os.WriteFile(path, []byte("abc"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path)
	if err != nil || string(f.Data) != "abc" || f.Base != "m.onnx" || f.Path != path {
		t.Errorf("%+v, %v", f, err)
	}
	empty := filepath.Join(dir, "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if f, err := Open(empty); err != nil || len(f.Data) != 0 {
		t.Errorf("%+v, %v", f, err)
	}
	for path, want := range map[string]string{dir: "not a regular file", filepath.Join(dir, "none"): "no such file"} {
		if _, err := Open(path); diag.CodeOf(err) != diag.ModelOpen || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestLooksLike(t *testing.T) {
	for data, want := range map[string]string{"\x80\x02c": "pickle", "PK\x03\x04": "zip", "<html>": "web page", "": "",
		"x": ""} {
		if what, _ := LooksLike([]byte(data)); !strings.Contains(what, want) || want == "" && what != "" {
			t.Errorf("%q looks like %q", data, what)
		}
	}
}

func TestReason(t *testing.T) {
	inner := errors.New("inner")
	if got := Reason(&fs.PathError{Op: "open", Path: "p", Err: inner}); !errors.Is(got, inner) || got.Error() != "inner" {
		t.Error(got)
	}
	if got := Reason(inner); !errors.Is(got, inner) {
		t.Error(got)
	}
}

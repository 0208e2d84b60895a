// SPDX-License-Identifier: Apache-2.0

package atomicfile_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"lathe/internal/atomicfile"
)

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestWrite replaces files, and leaves an earlier one alone when writing fails half-way.
func TestWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	for _, s := range []string{"one", "two"} {
		if err := atomicfile.Write(path, text(s)); err != nil || read(t, path) != s {
			t.Fatalf("%q: %v", read(t, path), err)
		}
	}
	broken := errors.New("broken")
	err := atomicfile.Write(path, func(w io.Writer) error {
		_ = text("half")(w)
		return broken
	})
	entries, _ := os.ReadDir(filepath.Dir(path))
	if !errors.Is(err, broken) || read(t, path) != "two" || len(entries) != 1 {
		t.Errorf("after a failure: %v, %q, %d files", err, read(t, path), len(entries))
	}
}

// TestLinksAndPipes keeps links as links and pipes as pipes.
func TestLinksAndPipes(t *testing.T) {
	dir := t.TempDir()
	target, link, pipe := filepath.Join(dir, "target"), filepath.Join(dir, "link"), filepath.Join(dir, "pipe")
	if err := atomicfile.Write(target, text("old")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("target", link); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Write(link, text("new")); err != nil || read(t, target) != "new" {
		t.Errorf("through the link: %q, %v", read(t, target), err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v", err)
	}
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	got := make(chan string)
	go func() {
		data, _ := os.ReadFile(pipe)
		got <- string(data)
	}()
	if err := atomicfile.Write(pipe, text("through")); err != nil || <-got != "through" {
		t.Errorf("pipe: %v", err)
	}
}

// SPDX-License-Identifier: Apache-2.0

// Package atomicfile writes files that appear whole or not at all.
package atomicfile

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
)

// Write has fill write the content of path. A regular file, or none, is replaced in one step by a file that was written
// beside it under another name; a symbolic link stays and its target is replaced; pipes and devices are written to.
// Errors are those of package os and of fill; after one nothing is left behind and an earlier file stands as it was.
func Write(path string, fill func(w io.Writer) error) error {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return into(path, fill)
	}
	f, err := file(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer Keep(f.Name())
	err = buffered(f, fill)
	if err == nil {
		err = f.Chmod(0o644) // readable like any file that a program writes
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // the first error is the one to tell
	}
	return err
}

// WriteBytes is Write of data.
func WriteBytes(path string, data []byte) error {
	return Write(path, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// into writes to what is no regular file.
func into(path string, fill func(w io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	err = buffered(f, fill)
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}

func buffered(f *os.File, fill func(w io.Writer) error) error {
	w := bufio.NewWriterSize(f, 1<<20)
	if err := fill(w); err != nil {
		return err
	}
	return w.Flush()
}

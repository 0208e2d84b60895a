// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"

	"lathe/internal/atomicfile"
)

// Repair makes a journal readable that killed writers have left half lines in, and says what it did: a last line that
// is not whole goes, and so does half a line that another record was glued to; that record stays. Error L1103 where the
// file cannot be read or written, or has lines that are no records at all.
func Repair(ctx context.Context, path string) (notes []string, err error) {
	s := &Storage{path: path}
	info, err := os.Stat(path)
	if err != nil {
		return nil, s.failed("cannot be read", err)
	}
	if info.IsDir() {
		return nil, s.failed("cannot be read", fmt.Errorf("it is a folder"))
	}
	unlock, err := lock(ctx, path)
	if err != nil {
		return nil, s.failed("cannot be locked", err)
	}
	defer unlock()
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, s.failed("cannot be read", err)
	}
	var out bytes.Buffer
	n := 0
	for line := range bytes.Lines(data) {
		n++
		kept, found := bytes.CutSuffix(line, []byte("\n"))
		if !found {
			notes = append(notes, fmt.Sprintf("line %d: dropped, it was not written to its end", n))
			continue
		}
		if _, err := parse(kept); err == nil {
			out.Write(line)
			continue
		}
		rest := tail(kept)
		if rest == nil {
			return nil, s.failed("cannot be repaired", fmt.Errorf("line %d holds no record", n))
		}
		notes = append(notes, fmt.Sprintf("line %d: dropped %d characters of a record that was not written to its end", n,
			len(kept)-len(rest)))
		out.Write(append(rest, '\n'))
	}
	if len(notes) == 0 {
		return nil, nil
	}
	err = atomicfile.Write(path, func(w io.Writer) error {
		_, err := w.Write(out.Bytes())
		return err
	})
	if err != nil {
		return nil, s.failed("cannot be written", err)
	}
	return notes, nil
}

// tail is the last part of a line that is a record; nil where none is.
func tail(line []byte) []byte {
	begin := []byte(`{"op_code"`)
	for at := bytes.LastIndex(line, begin); at >= 0; at = bytes.LastIndex(line[:at], begin) {
		if _, err := parse(line[at:]); err == nil {
			return bytes.Clone(line[at:])
		}
	}
	return nil
}

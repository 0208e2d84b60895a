// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"

	"lathe/cuda"
	"lathe/internal/diag"
)

// Results is a file of records, one JSON object a line.
type Results struct {
	path string
	have []Record
}

// OpenResults reads what an earlier run has left in path, which need not exist. A last line without an end, left by a
// run that was stopped, is cut off. Error L0988.
func OpenResults(path string) (*Results, error) {
	r := &Results{path: path}
	text, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return r, nil
	}
	if err != nil {
		return nil, diag.New(diag.BenchmarkFiles, path, "the results cannot be read: %v", err)
	}
	whole := bytes.LastIndexByte(text, '\n') + 1
	if whole < len(text) {
		if err := os.Truncate(path, int64(whole)); err != nil {
			return nil, diag.New(diag.BenchmarkFiles, path, "the results cannot be mended: %v", err)
		}
	}
	lines := bufio.NewScanner(bytes.NewReader(text[:whole]))
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		var rec Record
		if err := json.Unmarshal(lines.Bytes(), &rec); err != nil {
			return nil, diag.New(diag.BenchmarkFiles, path, "line %d is not a record: %v", n, err)
		}
		if rec.Schema != Schema {
			return nil, diag.New(diag.BenchmarkFiles, path, "line %d has schema %d, this version writes %d", n, rec.Schema,
				Schema)
		}
		r.have = append(r.have, rec)
	}
	if err := lines.Err(); err != nil {
		return nil, diag.New(diag.BenchmarkFiles, path, "the results cannot be read: %v", err)
	}
	return r, nil
}

// Done says whether a case has a line of that commit and device.
func (r *Results) Done(commit, device string, c *cuda.Case) bool {
	for i := range r.have {
		if h := &r.have[i]; h.Case == c.Name && h.Commit == commit && h.GPU == device {
			return true
		}
	}
	return false
}

// Compared are the times of another library, taken in the same session.
type Compared struct {
	// GemmTF is its rate of a large bf16 matrix product, in 10^12 flop/s; 0 if it has none.
	GemmTF float64
	times  []comparison
}

// comparison is a line of the file: the first holds the rate of products, the others a time of a case each.
type comparison struct {
	GemmTF float64 `json:"gemm_tf"`
	Case   string  `json:"case"`
	Name   string  `json:"name"`
	Us     float64 `json:"us"`
}

// ReadCompared reads what scripts/gpubench/baselines.py has written. Error L0988.
func ReadCompared(path string) (*Compared, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, diag.New(diag.BenchmarkFiles, path, "the baselines cannot be read: %v", err)
	}
	defer f.Close()
	c := &Compared{}
	d := json.NewDecoder(f)
	for n := 1; ; n++ {
		var one comparison
		err := d.Decode(&one)
		switch {
		case err == io.EOF || err == io.ErrUnexpectedEOF: // the last line of one that was stopped has no end
			return c, nil
		case err == nil && one.GemmTF > 0:
			c.GemmTF = one.GemmTF
		case err == nil && one.Case != "" && one.Name != "" && one.Us > 0:
			c.times = append(c.times, one)
		default:
			return nil, diag.New(diag.BenchmarkFiles, path, "line %d is not a baseline (%v)", n, err)
		}
	}
}

// Of lists the times of a case; nil is none.
func (c *Compared) Of(name string) []Baseline {
	out := []Baseline{}
	if c == nil {
		return out
	}
	for _, one := range c.times {
		if one.Case == name {
			out = append(out, Baseline{Name: one.Name, Median: one.Us})
		}
	}
	return out
}

// Append writes a record through to the disk. Error L0988.
func (r *Results) Append(rec *Record) error {
	var line bytes.Buffer
	e := json.NewEncoder(&line)
	e.SetEscapeHTML(false) // for readers: dequant<bf16, 0>
	err := e.Encode(rec)
	var f *os.File
	if err == nil {
		f, err = os.OpenFile(r.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	}
	if err != nil {
		return diag.New(diag.BenchmarkFiles, r.path, "the record cannot be kept: %v", err)
	}
	_, err = f.Write(line.Bytes())
	if e := f.Sync(); err == nil {
		err = e
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return diag.New(diag.BenchmarkFiles, r.path, "the record cannot be kept: %v", err)
	}
	r.have = append(r.have, *rec)
	return nil
}

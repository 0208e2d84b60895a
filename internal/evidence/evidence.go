// SPDX-License-Identifier: Apache-2.0

// Package evidence keeps what has been proven of circuits: files of lines in docs/evidence, and the page
// docs/results.md that is printed from them. A line is about a circuit (lathe/emit/circuit), so it outlives whatever
// leaves the hardware as it is.
package evidence

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lathe/emit/circuit"
	"lathe/internal/atomicfile"
)

// Proof is a line about a circuit: on how many samples which engines gave the codes of the reference.
type Proof struct {
	Circuit string `json:"circuit"`
	// Commit is the one at which the line was found.
	Commit string `json:"commit"`
	// Answers is the digest of the first stored samples and of the codes that the reference gives for them: a circuit that
	// is to compute something else needs a proof of its own.
	Answers string `json:"answers"`
	// Stored and Random are the samples of a run, Later how many of them follow other seeds than the first; 0: all. Where
	// several designs that are this circuit ran, they are those of the largest run, Codes and Mismatches sums.
	Stored int `json:"stored"`
	Random int `json:"random"`
	Later  int `json:"later,omitempty"`
	// Codes are those compared, by engine: pjrt, rtl, icarus, gates.
	Codes      map[string]int `json:"codes,omitempty"`
	Mismatches int            `json:"mismatches"`
	// Latency and II are cycles, without stalls.
	Latency int     `json:"latency"`
	II      float64 `json:"ii"`
	// Float and Quantized are right answers in percent, SQNR is in dB, over the stored samples; nil where there is none.
	Float     *float64 `json:"float,omitempty"`
	Quantized *float64 `json:"quantized,omitempty"`
	SQNR      *float64 `json:"sqnr,omitempty"`
	// Failure says why it is no proof; "" for a proof.
	Failure string `json:"failure,omitempty"`
}

// Use is a model file under a plan ("default": none), and the circuit that they become.
type Use struct {
	Model   string `json:"model"`
	File    string `json:"file"`
	Plan    string `json:"plan"`
	Circuit string `json:"circuit,omitempty"`
	// As is the digest under the edges, if that is another one.
	As      string `json:"as,omitempty"`
	Answers string `json:"answers,omitempty"`
	// Failure says why there is no circuit; "" if there is one.
	Failure string `json:"failure,omitempty"`
}

// String names the use.
func (u Use) String() string { return u.Model + "/" + u.File + " " + u.Plan }

// Sweep is the last run that proved every circuit in one state of the sources.
type Sweep struct {
	Commit string `json:"commit"`
	// Modules are the hashes of the library modules then (circuit.Library.Hashes without edges).
	Modules map[string]string `json:"modules"`
}

// Evidence is all that is kept.
type Evidence struct {
	Sweep   Sweep
	Edges   []circuit.Edge // the oldest first
	Proofs  []Proof
	Uses    []Use
	Clocks  []Clock
	Areas   []Area
	Nodes   []Nodes
	Formats []Format
	Sums    []Sum
	Widths  []Width
}

// The files of a folder of evidence.
const (
	sweepFile   = "sweep.json"
	edgesFile   = "edges.jsonl"
	proofsFile  = "circuits.jsonl"
	usesFile    = "uses.jsonl"
	clocksFile  = "timing.jsonl"
	areasFile   = "area.jsonl"
	nodesFile   = "onnx.jsonl"
	formatsFile = "formats.jsonl"
	sumsFile    = "sums.jsonl"
	widthsFile  = "widths.jsonl"
)

// Read reads a folder. Errors are those of the files and of their JSON.
func Read(dir string) (*Evidence, error) {
	e := &Evidence{}
	data, err := os.ReadFile(filepath.Join(dir, sweepFile))
	if err == nil {
		err = json.Unmarshal(data, &e.Sweep)
	}
	if err != nil {
		return nil, err
	}
	if e.Edges, err = lines[circuit.Edge](dir, edgesFile); err != nil {
		return nil, err
	}
	if e.Proofs, err = lines[Proof](dir, proofsFile); err != nil {
		return nil, err
	}
	if e.Uses, err = lines[Use](dir, usesFile); err != nil {
		return nil, err
	}
	if e.Clocks, err = lines[Clock](dir, clocksFile); err != nil {
		return nil, err
	}
	if e.Areas, err = lines[Area](dir, areasFile); err != nil {
		return nil, err
	}
	if e.Nodes, err = lines[Nodes](dir, nodesFile); err != nil {
		return nil, err
	}
	if e.Formats, err = lines[Format](dir, formatsFile); err != nil {
		return nil, err
	}
	if e.Sums, err = lines[Sum](dir, sumsFile); err != nil {
		return nil, err
	}
	e.Widths, err = lines[Width](dir, widthsFile)
	return e, err
}

// lines reads values, one a line.
func lines[T any](dir, name string) ([]T, error) {
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return nil, err
	}
	var all []T
	n := 0
	for line := range bytes.Lines(data) {
		n++
		d := json.NewDecoder(bytes.NewReader(line))
		d.DisallowUnknownFields()
		var v T
		if err := d.Decode(&v); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, n, err)
		}
		all = append(all, v)
	}
	return all, nil
}

// Write writes a folder: proofs in the order of their circuits, all else as it is. Errors are those of the files.
func (e *Evidence) Write(dir string) error {
	slices.SortFunc(e.Proofs, func(a, b Proof) int {
		return cmp.Compare(a.Circuit+a.Answers, b.Circuit+b.Answers)
	})
	for name, text := range e.texts() {
		err := atomicfile.Write(filepath.Join(dir, name), func(w io.Writer) error {
			_, err := io.WriteString(w, text)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// texts are the files.
func (e *Evidence) texts() map[string]string {
	sweep, _ := json.MarshalIndent(e.Sweep, "", " ") // strings alone, which have no errors
	return map[string]string{sweepFile: string(sweep) + "\n", edgesFile: text(e.Edges), proofsFile: text(e.Proofs),
		usesFile: text(e.Uses), clocksFile: text(e.Clocks), areasFile: text(e.Areas),
		nodesFile: text(e.Nodes), formatsFile: text(e.Formats),
		sumsFile: text(e.Sums), widthsFile: text(e.Widths)}
}

func text[T any](list []T) string {
	var b strings.Builder
	for _, v := range list {
		line, _ := json.Marshal(v) // numbers and strings alone, which have no errors
		b.Write(append(line, '\n'))
	}
	return b.String()
}

// Of is the line on which a use stands: of its circuit, or of one that is proven equal, with the same answers. nil:
// there is none.
func (e *Evidence) Of(u Use) *Proof {
	for i, p := range e.Proofs {
		if u.Circuit != "" && (p.Circuit == u.Circuit || p.Circuit == u.As) && p.Answers == u.Answers {
			return &e.Proofs[i]
		}
	}
	return nil
}

// Set takes a line in the place of an earlier one about the same circuit and answers.
func (e *Evidence) Set(p Proof) {
	e.Proofs = slices.DeleteFunc(e.Proofs, func(q Proof) bool {
		return q.Circuit == p.Circuit && q.Answers == p.Answers
	})
	e.Proofs = append(e.Proofs, p)
}

// Clean drops lines that no use needs.
func (e *Evidence) Clean() {
	var needed []Proof
	for i := range e.Proofs {
		if slices.ContainsFunc(e.Uses, func(u Use) bool { return e.Of(u) == &e.Proofs[i] }) {
			needed = append(needed, e.Proofs[i])
		}
	}
	e.Proofs = needed
}

// Since counts the circuits in use that are other ones than at the last sweep, or are to compute something else, and
// those of them that stand all the same: by a later line, or by edges.
func (e *Evidence) Since() (changed, proven int) {
	type task struct{ circuit, answers string }
	swept, seen := map[task]bool{}, map[task]bool{}
	for _, p := range e.Proofs {
		swept[task{p.Circuit, p.Answers}] = p.Commit == e.Sweep.Commit
	}
	for _, u := range e.Uses {
		t := task{u.Circuit, u.Answers}
		if u.Circuit == "" || swept[t] || seen[t] {
			continue
		}
		seen[t] = true
		changed++
		if p := e.Of(u); p != nil && p.Failure == "" {
			proven++
		}
	}
	return changed, proven
}

// Changed are the library modules, sorted, whose text or that of a module inside is another than at the last sweep, and
// not proven equal.
func (e *Evidence) Changed(now circuit.Library) []string {
	var changed []string
	for name, hash := range now.Hashes(e.Edges) {
		if e.Sweep.Modules[name] != hash {
			changed = append(changed, name)
		}
	}
	slices.Sort(changed)
	return changed
}

// SPDX-License-Identifier: Apache-2.0

// Package catalogue lists the kernels of the library with what is recorded of each, so that commands and pages can tell
// it without a compiler.
package catalogue

import (
	"cmp"
	"crypto/sha256"
	_ "embed" // the record
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"lathe/cuda"
	"lathe/internal/diag"
)

// Record is what was found out of one kernel when it was last compiled and run.
type Record struct {
	// Instance is the template with its parameters: dequant<bf16, 0>.
	Instance string `json:"instance"`
	// Source is the SHA-256 of the translation unit that holds nothing but this kernel.
	Source string `json:"source"`
	// Registers are those of a thread on each architecture.
	Registers []Used `json:"registers"`
	// Cases is the number of cases that run it, those for a GPU only among them.
	Cases int `json:"cases"`
	// Emulated counts the cases that ran in the interpreter in every order with a result as demanded.
	Emulated int `json:"emulated"`
}

// Used is the number of registers and of machine instructions on an architecture.
type Used struct {
	Arch         string `json:"arch"`
	Registers    int    `json:"registers"`
	Instructions int    `json:"instructions"`
}

//go:embed record.json
var recorded []byte

// Records returns what is recorded, in order of the instances. Error L0931 for a broken record.
func Records() ([]Record, error) {
	var all []Record
	if err := json.Unmarshal(recorded, &all); err != nil {
		return nil, diag.New(diag.KernelHeader, "cuda/catalogue/record.json", "%v", err)
	}
	return all, nil
}

// On returns the use of an architecture, and whether it is recorded.
func (r Record) On(arch string) (Used, bool) {
	for _, u := range r.Registers {
		if u.Arch == arch {
			return u, true
		}
	}
	return Used{}, false
}

// Hash is the hash of a kernel's translation unit. Error as cuda.Print.
func Hash(i cuda.Instance) (string, error) {
	i.Kernel = "kernel" // whatever it is called
	text, err := cuda.Print(i)
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:]), err
}

// Template is the name of the kernel's template.
func (r Record) Template() string {
	name, _, _ := strings.Cut(r.Instance, "<")
	return name
}

// Row is a kernel template with what is recorded of its kernels.
type Row struct {
	Template *cuda.Template
	// Kernels are those of the cases, each once, in order of their text.
	Kernels []Record
}

// Rows returns a row for each template of the library, those without a case too, by family and name. Errors as Records
// and cuda.Templates.
func Rows() ([]Row, error) {
	templates, err := cuda.Templates()
	if err != nil {
		return nil, err
	}
	records, err := Records()
	if err != nil {
		return nil, err
	}
	var rows []Row
	for _, t := range templates {
		row := Row{Template: t}
		for _, r := range records {
			if r.Template() == t.Name {
				row.Kernels = append(row.Kernels, r)
			}
		}
		rows = append(rows, row)
	}
	slices.SortStableFunc(rows, func(a, b Row) int { return cmp.Compare(a.Template.Family, b.Template.Family) })
	return rows, nil
}

// Status is compiled or emulated, or that nothing is recorded.
func (r Record) Status() string {
	switch {
	case len(r.Registers) == 0:
		return "not recorded"
	case r.Emulated > 0:
		return "compiled, emulated"
	}
	return "compiled"
}

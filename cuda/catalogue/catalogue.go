// SPDX-License-Identifier: Apache-2.0

// Package catalogue lists the kernels of the library: the cases of all families, and what is recorded of each kernel,
// so that commands and pages can tell it without a compiler.
package catalogue

import (
	"cmp"
	"crypto/sha256"
	_ "embed" // the record
	"encoding/hex"
	"encoding/json"
	"slices"

	"lathe/cuda"
	"lathe/cuda/attn"
	"lathe/cuda/gemm"
	pointwise "lathe/cuda/map"
	"lathe/cuda/reduce"
	"lathe/internal/diag"
)

// Family is a folder of kernels.
type Family struct {
	Name  string
	Cases func() ([]cuda.Case, error)
}

var families = []Family{
	{"attn", attn.Cases},
	{"gemm", gemm.Cases},
	{"map", pointwise.Cases},
	{"reduce", reduce.Cases},
}

// Families returns the families, each with its cases.
func Families() []Family { return slices.Clone(families) }

// Cases returns the cases of all families. Error as theirs.
func Cases() ([]cuda.Case, error) {
	var all []cuda.Case
	for _, f := range families {
		cases, err := f.Cases()
		if err != nil {
			return nil, err
		}
		all = append(all, cases...)
	}
	return all, nil
}

// Record is what was found out of one kernel when it was last compiled and run.
type Record struct {
	// Instance is the template with its parameters: dequant<bf16, 0>.
	Instance string `json:"instance"`
	// Source is the SHA-256 of the translation unit that holds nothing but this kernel.
	Source string `json:"source"`
	// Registers are those of a thread on each architecture.
	Registers []Used `json:"registers"`
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
		return nil, diag.New("L0931", "cuda/catalogue/record.json", "%v", err)
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

// Row is a kernel template with what is known of its kernels.
type Row struct {
	Template *cuda.Template
	// Kernels are those of the cases, each once, in order of their text.
	Kernels []Kernel
}

// Kernel is an instance with the cases that run it.
type Kernel struct {
	Instance cuda.Instance
	// Cases run it, Timed of them are for a GPU only, since they are large.
	Cases, Timed int
	// Record is nil where nothing is recorded.
	Record *Record
}

// Rows returns a row for each template of the library, those without a case too, by family and name. Errors as Cases,
// Records and cuda.Templates.
func Rows() ([]Row, error) {
	templates, err := cuda.Templates()
	if err != nil {
		return nil, err
	}
	cases, err := Cases()
	if err != nil {
		return nil, err
	}
	records, err := Records()
	if err != nil {
		return nil, err
	}
	var rows []Row
	for _, t := range templates {
		rows = append(rows, Row{Template: t, Kernels: kernels(t, cases, records)})
	}
	slices.SortStableFunc(rows, func(a, b Row) int { return cmp.Compare(a.Template.Family, b.Template.Family) })
	return rows, nil
}

// kernels are the instances of a template in the cases.
func kernels(t *cuda.Template, cases []cuda.Case, records []Record) []Kernel {
	var out []Kernel
	for _, c := range cases {
		for _, i := range c.Instances {
			if i.Template.Name != t.Name {
				continue
			}
			at, found := slices.BinarySearchFunc(out, i.String(), func(k Kernel, s string) int {
				return cmp.Compare(k.Instance.String(), s)
			})
			if !found {
				out = slices.Insert(out, at, Kernel{Instance: i})
			}
			out[at].Cases++
			if c.Timed {
				out[at].Timed++
			}
		}
	}
	for k := range out {
		for r := range records {
			if records[r].Instance == out[k].Instance.String() {
				out[k].Record = &records[r]
			}
		}
	}
	return out
}

// Status is compiled, emulated, or what is missing: "not compiled".
func (k Kernel) Status() string {
	switch {
	case k.Record == nil || len(k.Record.Registers) == 0:
		return "not recorded"
	case k.Record.Emulated > 0:
		return "compiled, emulated"
	}
	return "compiled"
}

// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"

	"lathe/cuda"
	"lathe/internal/atomicfile"
	"lathe/internal/diag"
	"lathe/sim/gpu"
	"lathe/sim/gpu/record"
	"lathe/sim/nvrtc"
)

// packName is the file that lists the programs of a pack.
const packName = "pack.json"

// Pack is the compiled kernels of cases, for a machine without a compiler.
type Pack struct {
	Schema int `json:"schema"`
	// Commit is the state of the sources.
	Commit   string   `json:"commit"`
	Compiler string   `json:"compiler"`
	Programs []Packed `json:"programs"`
	dir      string
}

// Packed is the program of all cases whose kernels have the same source text.
type Packed struct {
	Key string `json:"key"` // the hash of the source
	record.Program
}

// key is the hash of the source of a case's kernels.
func key(c *cuda.Case) (string, error) {
	if len(c.Instances) == 0 {
		return digest([]byte(c.Source)), nil
	}
	source, err := cuda.Print(c.Instances...)
	return digest([]byte(source)), err
}

// Compile compiles the kernels of all cases for the named architectures into dir, one program for cases with the same
// kernels. Errors: L0988 for a folder that cannot be written, those of nvrtc.Compiler.Bundle.
func Compile(ctx context.Context, nv *nvrtc.Compiler, cases []cuda.Case, archs []string, dir, commit string) (
	*Pack, error) {
	p := &Pack{Schema: Schema, Commit: commit, Compiler: "NVRTC " + nvrtc.Version, dir: dir}
	have := map[string]bool{}
	for i := range cases {
		c := &cases[i]
		k, err := key(c)
		if err != nil {
			return nil, err
		}
		if have[k] {
			continue
		}
		have[k] = true
		b, err := bundle(ctx, nv, c, archs)
		if err != nil {
			return nil, err
		}
		saved, err := record.Save(dir, gpu.FromBundle(Templates(c), b))
		if err != nil {
			return nil, err
		}
		p.Programs = append(p.Programs, Packed{Key: k, Program: *saved})
	}
	err := atomicfile.Write(filepath.Join(dir, packName), func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", " ")
		return e.Encode(p)
	})
	if err != nil {
		return nil, diag.New(diag.BenchmarkFiles, dir, "the pack cannot be written: %v",
			err).WithHint("choose another folder")
	}
	return p, nil
}

func bundle(ctx context.Context, nv *nvrtc.Compiler, c *cuda.Case, archs []string) (*nvrtc.Bundle, error) {
	if len(c.Instances) == 0 {
		return nv.BundleText(ctx, c.Name, c.Source, archs)
	}
	return nv.Bundle(ctx, c.Name, c.Instances, archs)
}

// OpenPack reads a pack. Error L0988.
func OpenPack(dir string) (*Pack, error) {
	text, err := os.ReadFile(filepath.Join(dir, packName))
	p := &Pack{dir: dir}
	if err == nil {
		err = json.Unmarshal(text, p)
	}
	if err != nil {
		return nil, diag.New(diag.BenchmarkFiles, dir, "no pack of compiled kernels: %v", err).
			WithHint("scripts/gpu-bench build makes one")
	}
	if p.Schema != Schema {
		return nil, diag.New(diag.BenchmarkFiles, dir, "the pack has schema %d, this version reads %d", p.Schema, Schema).
			WithHint("scripts/gpu-bench build makes a new one")
	}
	return p, nil
}

// Program returns the compiled kernels of a case. Errors: L0988 if the pack was made from other sources, L0986 for a
// file that is broken.
func (p *Pack) Program(c *cuda.Case) (*gpu.Program, error) {
	k, err := key(c)
	if err != nil {
		return nil, err
	}
	for i := range p.Programs {
		if p.Programs[i].Key == k {
			return p.Programs[i].Open(p.dir)
		}
	}
	return nil, diag.New(diag.BenchmarkFiles, p.dir,
		"the pack of commit %s has no program for %s: it was made from other sources",
		p.Commit, c.Name).WithHint("scripts/gpu-bench build makes a new one")
}

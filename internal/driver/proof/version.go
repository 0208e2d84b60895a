// SPDX-License-Identifier: Apache-2.0

package proof

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"go/scanner"
	"go/token"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lathe/emit"
	"lathe/golden"
	"lathe/internal/atomicfile"
	"lathe/internal/doctor"
	"lathe/internal/driver"
	"lathe/internal/evidence"
	"lathe/ir/hlo/text"
	"lathe/rtl"
)

// comparing are the folders of the code that decides the outcome of a comparison, besides circuit, samples and
// reference, whose codes are part of the key of an outcome.
var comparing = []string{"sim", "sim/child", "sim/harness", "golden", "golden/pjrt", "internal/driver",
	"internal/driver/proof"}

// Version stands for the code that compares, in the project below root, and for the tools: Verilator, the compiler,
// Icarus, Yosys, the PJRT plugin. A tool that is missing is an error.
func Version(ctx context.Context, root, plugin string) (string, error) {
	h := sha256.New()
	for _, dir := range comparing {
		files, err := filepath.Glob(filepath.Join(root, dir, "*"))
		if err != nil || len(files) == 0 {
			return "", fmt.Errorf("%s: no files of %s (%v)", root, dir, err)
		}
		for _, f := range files {
			info, err := os.Stat(f)
			if err != nil {
				return "", err
			}
			if info.IsDir() || strings.HasSuffix(f, "_test.go") {
				continue
			}
			data, err := os.ReadFile(f)
			if err != nil {
				return "", err
			}
			if strings.HasSuffix(f, ".go") {
				data = meaning(data)
			}
			fmt.Fprintf(h, "%s/%s %d\n%s", dir, filepath.Base(f), len(data), data)
		}
	}
	found := 0
	for _, f := range doctor.Check(ctx, doctor.Env{Plugin: plugin}) {
		if slices.Contains([]string{"verilator", "g++", "iverilog", "yosys"}, f.Name) {
			if !f.Found {
				return "", fmt.Errorf("%s is not here: %s", f.Name, f.Fix)
			}
			found++
			fmt.Fprintln(h, f.Name, f.Version)
		}
	}
	if found != 4 {
		return "", fmt.Errorf("%d of 4 tools were asked for their version", found)
	}
	file, err := os.Open(plugin)
	if err != nil {
		return "", err
	}
	defer file.Close()
	if _, err := io.Copy(h, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// meaning is the tokens of a Go file, without comments.
func meaning(source []byte) []byte {
	var s scanner.Scanner
	files := token.NewFileSet()
	s.Init(files.AddFile("", files.Base(), len(source)), source, nil, 0)
	var out []byte
	for {
		_, kind, text := s.Scan()
		if kind == token.EOF {
			return out
		}
		out = fmt.Appendln(out, kind, text)
	}
}

// key is the digest of all that an outcome depends on: the circuit, the program that PJRT runs, the samples, what the
// reference gives for them, how they run, the code that compares, and the tools.
func (p *Prover) key(ctx context.Context, d *Design) (string, error) {
	j := d.job
	outputs, err := driver.Evaluate(ctx, j.HW.Scheduled, j.Samples)
	if err != nil {
		return "", err
	}
	program, err := golden.Print(j.HW.Scheduled, 1, false)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	io.WriteString(h, text.Print(program))
	fmt.Fprintln(h, p.Version, d.Use.Circuit, j.Later, j.Second, j.Stalls, j.Seeds, len(j.Floats), j.Labels)
	hashSamples(h, j.Samples)
	hashSamples(h, j.Floats)
	hashSamples(h, outputs)
	return hex.EncodeToString(h.Sum(nil))[:32], nil
}

// keep writes an outcome for later runs.
func keep(path string, line *evidence.Proof) error {
	data, err := json.Marshal(line)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return atomicfile.WriteBytes(path, data)
}

// same compares every byte of two designs.
func same(a, b *emit.Design) bool {
	return slices.EqualFunc(slices.Concat(a.Files, a.Docs), slices.Concat(b.Files, b.Docs),
		func(f, g rtl.File) bool { return f.Name == g.Name && bytes.Equal(f.Bytes(), g.Bytes()) })
}

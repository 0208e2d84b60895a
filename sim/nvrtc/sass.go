// SPDX-License-Identifier: Apache-2.0

package nvrtc

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"lathe/internal/atomicfile"
	"lathe/internal/diag"
)

// Code is the machine code of one kernel: its length, each mnemonic with all of its dots once, sorted, its loops, and
// the blocks that a warp skips where none of its lanes votes for them.
type Code struct {
	Kernel       string
	Instructions int
	Mnemonics    []string
	Loops        []Loop
	Rare         []Span
}

// reading is the version of Disassembly: of what it counts, and how. It is part of the name of what is kept.
const reading = 5

// Machine reads a cubin with nvdisasm. Instructions that do nothing do not count: @!PT, which the assembler puts around
// asynchronous copies, and NOP, which fills the end. Errors L0937 and L0938 as for Assemble.
func (t Tools) Machine(ctx context.Context, cubin []byte) ([]Code, error) {
	kept := ""
	if t.Cache != "" {
		h := sha256.New()
		fmt.Fprintf(h, "%d %s\n", reading, Version) // never fails
		h.Write(cubin)
		key := hex.EncodeToString(h.Sum(nil))
		kept = filepath.Join(t.Cache, key[:2], key+".sass.json")
		var codes []Code
		if data, err := os.ReadFile(kept); err == nil && json.Unmarshal(data, &codes) == nil && len(codes) > 0 {
			used(kept)
			return codes, nil
		}
	}
	f, err := os.CreateTemp("", "lathe-*.cubin")
	if err != nil {
		return nil, diag.New(diag.NoAssembler, "", "no file for nvdisasm: %v", err).WithHint(room)
	}
	defer os.Remove(f.Name())
	_, err = f.Write(cubin)
	if e := f.Close(); err != nil || e != nil {
		return nil, diag.New(diag.NoAssembler, "", "the cubin cannot be written for nvdisasm").WithHint(room)
	}
	text, err := t.run(ctx, "nvdisasm", "-c", "-ndf", f.Name())
	if err != nil {
		return nil, err
	}
	codes := Disassembly(string(text))
	if len(codes) == 0 {
		return nil, diag.New(diag.AssemblerFailed, "",
			"nvdisasm shows no kernel").WithHint("a cubin begins with the letters ELF")
	}
	if kept != "" && os.MkdirAll(filepath.Dir(kept), 0o755) == nil {
		_ = atomicfile.Write(kept, func(w io.Writer) error { return json.NewEncoder(w).Encode(codes) }) // only costs time
	}
	return codes, nil
}

var (
	codeSection = regexp.MustCompile(`^\s*\.section\s+\.text\.(\w+)`)
	instruction = regexp.MustCompile(`^\s*/\*[0-9a-f]+\*/\s+(@!?\w+\s+)?([A-Z][A-Z0-9_.]*)(.*)`)
)

// Disassembly reads what nvdisasm -c prints.
func Disassembly(text string) []Code {
	var codes []Code
	var walk loopWalk
	for line := range strings.Lines(text) {
		if m := codeSection.FindStringSubmatch(line); m != nil {
			codes = append(codes, Code{Kernel: m[1]})
			walk = loopWalk{}
		}
		if len(codes) > 0 {
			walk.label(&codes[len(codes)-1], line)
		}
		m := instruction.FindStringSubmatch(line)
		if m == nil || len(codes) == 0 || strings.TrimSpace(m[1]) == "@!PT" || m[2] == "NOP" {
			continue
		}
		c := &codes[len(codes)-1]
		walk.step(c, strings.TrimSpace(m[1]), m[2], m[3])
		c.Instructions++
		if at, there := slices.BinarySearch(c.Mnemonics, m[2]); !there {
			c.Mnemonics = slices.Insert(c.Mnemonics, at, m[2])
		}
	}
	return codes
}

// Has says whether a mnemonic is among the code: its parts between dots in order, others between them allowed:
// LDG.128 is found in LDG.E.NA.128.CONSTANT.
func (c Code) Has(mnemonic string) bool {
	return slices.ContainsFunc(c.Mnemonics, func(have string) bool { return partsOf(mnemonic, have) })
}

func partsOf(want, have string) bool {
	left := strings.Split(want, ".")
	for i, part := range strings.Split(have, ".") {
		if i == 0 && part != left[0] {
			return false
		}
		if len(left) > 0 && part == left[0] {
			left = left[1:]
		}
	}
	return len(left) == 0
}

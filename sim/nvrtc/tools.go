// SPDX-License-Identifier: Apache-2.0

package nvrtc

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"lathe/internal/atomicfile"
	"lathe/internal/diag"
)

// Tools are the programs of the toolchain: ptxas, which assembles PTX, and nvdisasm, which prints machine code. Only
// checks need them: compiling does not.
type Tools struct {
	// Dir holds the programs; Cache holds results of nvdisasm, none where it is "".
	Dir, Cache string
}

// room is the hint where a temporary file cannot be written.
const room = "make room in the folder for temporary files, or set TMPDIR to another"

// Assemble turns PTX into a cubin for an architecture. Errors: L0937 where ptxas is missing or cannot be started, L0938
// where it refuses, with the first lines of what it said.
func (t Tools) Assemble(ctx context.Context, ptx []byte, arch string) ([]byte, error) {
	dir, err := atomicfile.Folder("", "lathe-ptxas-*")
	if err != nil {
		return nil, diag.New(diag.NoAssembler, "", "no folder for ptxas: %v", err).WithHint(room)
	}
	defer atomicfile.Remove(dir)
	in, out := filepath.Join(dir, "in.ptx"), filepath.Join(dir, "out.cubin")
	if err := os.WriteFile(in, ptx, 0o644); err != nil {
		return nil, diag.New(diag.NoAssembler, "", "PTX cannot be written for ptxas: %v", err).WithHint(room)
	}
	if _, err := t.run(ctx, "ptxas", "-arch="+arch, "-o", out, in); err != nil {
		return nil, err
	}
	cubin, err := os.ReadFile(out)
	if err != nil {
		return nil, diag.New(diag.AssemblerFailed, "", "ptxas writes nothing: %v", err).WithHint(room)
	}
	return cubin, nil
}

// run runs one of the programs and returns its standard output.
func (t Tools) run(ctx context.Context, name string, args ...string) ([]byte, error) {
	path := filepath.Join(t.Dir, name)
	if _, err := os.Stat(path); err != nil {
		return nil, diag.New(diag.NoAssembler, "", "no %s in %s", name, t.Dir).WithHint("run scripts/setup --cuda")
	}
	var out, said bytes.Buffer
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Stdout, cmd.Stderr = &out, &said
	err := cmd.Run()
	if err == nil {
		return out.Bytes(), nil
	}
	if cmd.ProcessState == nil {
		return nil, diag.New(diag.NoAssembler, "", "%s does not start: %v", path, err).WithHint("run scripts/setup --cuda")
	}
	e := diag.New(diag.AssemblerFailed, "", "%s ends with %v", name, err)
	for i, line := range strings.Split(strings.TrimSpace(said.String()+out.String()), "\n") {
		if i < shown {
			e = e.WithNote("%s", strings.TrimSpace(line))
		}
	}
	return nil, e
}

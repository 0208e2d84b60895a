// SPDX-License-Identifier: Apache-2.0

package nvrtc

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"lathe/internal/diag"
)

// request is one compilation, as the parent writes it to its child, and answer what comes back.
type request struct {
	Name, Source string
	Options      []string
	Machine      bool
}

type answer struct {
	PTX, Cubin []byte
	Log        string
	OK         bool
	// Missing is why NVRTC could not be loaded.
	Missing string
}

// Worker is the child that Compiler.Worker starts: it loads NVRTC from a folder, compiles what one request on in asks
// for, and answers on out. It ends its process when in ends, since then nobody waits for the answer.
func Worker(in io.Reader, out io.Writer, dir string) error {
	var r request
	if err := json.NewDecoder(in).Decode(&r); err != nil {
		return diag.New(diag.CompilerEnded, dir, "the request cannot be read: %v", err)
	}
	go func() {
		_, _ = io.Copy(io.Discard, in) // an error is an end too
		os.Exit(1)
	}()
	var a answer
	if api, err := load(dir); err != nil {
		a.Missing = err.Error()
	} else {
		var code output
		code, a.OK = api.compile(r.Name, r.Source, r.Options, r.Machine)
		a.PTX, a.Cubin, a.Log = code.ptx, code.cubin, code.log
	}
	if err := json.NewEncoder(out).Encode(a); err != nil {
		return diag.New(diag.CompilerEnded, dir, "the answer cannot be written: %v", err)
	}
	return nil
}

// apart compiles in a child. Errors: that of ctx, which ends the child; L0935 where the child cannot load NVRTC, L0940
// where it ends without an answer.
func (c *Compiler) apart(ctx context.Context, r request) (out output, ok bool, err error) {
	fail := func(format string, args ...any) (output, bool, error) {
		if err := ctx.Err(); err != nil {
			return output{}, false, err
		}
		return output{}, false, diag.New(diag.CompilerEnded, r.Name, format, args...).
			WithHint("a compilation takes about 100 MB of memory; lathe doctor looks at the toolchain")
	}
	cmd := exec.CommandContext(ctx, c.Worker[0], append(c.Worker[1:len(c.Worker):len(c.Worker)], c.dir)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C in a terminal is for the parent to answer
	var text, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &text, &said
	in, err := cmd.StdinPipe() // stays open until the child ends
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return fail("the process that compiles does not start: %v", err)
	}
	_ = json.NewEncoder(in).Encode(r) // a child that does not read has ended, and Wait tells how
	if err := cmd.Wait(); err != nil {
		last := strings.TrimSpace(said.String())
		return fail("the process that compiles ends with %v: %s", err, last[strings.LastIndexByte(last, '\n')+1:])
	}
	var a answer
	if err := json.Unmarshal(text.Bytes(), &a); err != nil {
		return fail("the process that compiles does not answer: %v", err)
	}
	if a.Missing != "" {
		return output{}, false, missing(c.dir, "%s cannot be loaded: %s", library, a.Missing)
	}
	return output{ptx: a.PTX, cubin: a.Cubin, log: a.Log}, a.OK, nil
}

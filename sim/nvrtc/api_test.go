// SPDX-License-Identifier: Apache-2.0

package nvrtc

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lathe/internal/diag"
)

// give is a pair of functions that hand out a text, or fail at the size (at 1) or at the copy (at 2).
func give(text string, at int) (func(uintptr, *uint64) int32, func(uintptr, *byte) int32) {
	size := func(_ uintptr, n *uint64) int32 {
		*n = uint64(len(text))
		return map[bool]int32{true: 7}[at == 1]
	}
	return size, func(_ uintptr, p *byte) int32 {
		if at == 2 {
			return 8
		}
		*p = text[0] // texts of one byte
		return 0
	}
}

// standIn is an NVRTC that compiles everything to single bytes; at says where each result fails: log, PTX, cubin.
func standIn(at [3]int, cubin string) *api {
	a := &api{
		nvrtcGetErrorString: func(r int32) string { return "NVRTC_ERROR " + string(rune('0'+r)) },
		nvrtcCreateProgram:  func(*uintptr, string, string, int32, **byte, **byte) int32 { return 0 },
		nvrtcDestroyProgram: func(*uintptr) int32 { return 0 },
		nvrtcCompileProgram: func(uintptr, int32, **byte) int32 { return 0 },
	}
	a.nvrtcGetProgramLogSize, a.nvrtcGetProgramLog = give("\x00", at[0])
	a.nvrtcGetPTXSize, a.nvrtcGetPTX = give("p", at[1])
	a.nvrtcGetCUBINSize, a.nvrtcGetCUBIN = give(cubin, at[2])
	return a
}

// TestHandOut: what cannot be fetched is a refusal, and nothing of it is kept.
func TestHandOut(t *testing.T) {
	for _, c := range []struct {
		at    [3]int
		cubin string
		says  string
	}{
		{[3]int{}, "c", ""}, {[3]int{1, 0, 0}, "c", "its log: NVRTC_ERROR 7"}, {[3]int{0, 2, 0}, "c", "PTX: NVRTC_ERROR 8"},
		{[3]int{0, 0, 1}, "c", "machine code: NVRTC_ERROR 7"}, {[3]int{0, 0, 2}, "c", "machine code: NVRTC_ERROR 8"},
		{[3]int{}, "", "any code"},
	} {
		compiler := &Compiler{api: standIn(c.at, c.cubin), cache: t.TempDir()}
		m, err := compiler.Compile(t.Context(), "k.cu", "", "sm_90")
		if c.says == "" && (err != nil || string(m.Cubin) != "c") ||
			c.says != "" && (diag.CodeOf(err) != "L0936" || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%+v: %v, %v", c, m, err)
		}
		files, err := filepath.Glob(filepath.Join(compiler.cache, "*", "*"))
		if err != nil || (len(files) > 0) != (c.says == "") {
			t.Errorf("%+v: kept %q, %v", c, files, err)
		}
	}
}

// TestKeptWithoutCode compiles anew where an earlier version has kept a module without machine code.
func TestKeptWithoutCode(t *testing.T) {
	c := &Compiler{api: standIn([3]int{}, "c"), cache: t.TempDir()}
	key := c.key("", c.options("sm_90"))
	if err := os.MkdirAll(filepath.Dir(c.path(key)), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(c.path(key), []byte(`{"Arch":"sm_90","PTX":"cA=="}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if m, err := c.Compile(t.Context(), "k.cu", "", "sm_90"); err != nil || string(m.Cubin) != "c" {
		t.Errorf("%v, %v", m, err)
	}
}

// TestCompileCancelled: an interruption is no fault of the source.
func TestCompileCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (&Compiler{}).Compile(ctx, "k.cu", "", "sm_90"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

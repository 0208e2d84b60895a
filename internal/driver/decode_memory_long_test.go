// SPDX-License-Identifier: Apache-2.0

//go:build long

package driver_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"lathe/internal/diag"
	"lathe/rtl"
)

// TestDecodeOutsideFaults has queries not wait for their own token, and read before anything was written.
func TestDecodeOutsideFaults(t *testing.T) {
	e := engines(t)
	j := decoderJob(t, smallDecoder, outsidePlans["cache"], 12, 37, true)
	files := slices.Clone(j.HW.Design.Files)
	at := slices.IndexFunc(files, func(f rtl.File) bool { return f.Name == "mem_cache_walk.sv" })
	good := "(!gated || rows != LW'(0))"
	if !bytes.Contains(files[at].Data, []byte(good)) {
		t.Fatalf("no %q", good)
	}
	files[at].Data = bytes.Replace(files[at].Data, []byte(good), []byte("(!gated || rows != LW'(0) || 1'b1)"), 1)
	j.HW.Design.Files = files
	_, err := e.Verify(t.Context(), *j)
	if diag.CodeOf(err) != "L0705" || !strings.Contains(err.Error(), "where nothing was written") {
		t.Errorf("err = %v", err)
	}
}

// SPDX-License-Identifier: Apache-2.0

package ptx

import (
	"testing"

	"lathe/internal/diag"
)

// FuzzSnippet demands an answer for any body of a kernel: it runs to its end, or ends in an error with a code.
func FuzzSnippet(f *testing.F) {
	for _, s := range snippets {
		f.Add(s.body)
	}
	for _, s := range []string{
		"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%o0,%o1,%o2,%o3}, {%o0,%o1,%o2,%o3}, {%v,%t}, " +
			"{%o0,%o1,%o2,%o3};", "ld.param.v4.u32 {%o0, %o1, %o2, %o3}, [in];",
		"call.uni (part), k, (part);", "cp.async.cg.shared.global [part], [%in], 16, %v;",
		"st.local.u32 [%rd1], %v;", "bar.sync %v, 64;", "brx.idx %v, T;",
		"ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%o0}, [0];",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) {
		opt := Options{Races: true, Lanes: true, Count: true, Limit: 3000}
		if _, err := words(t, body, 32, hash, opt); err != nil && diag.CodeOf(err) == "" {
			t.Errorf("an error without a code: %v", err)
		}
	})
}

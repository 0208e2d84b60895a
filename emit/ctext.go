// SPDX-License-Identifier: Apache-2.0

package emit

import (
	"fmt"
	"strings"
)

// CString is the text of a string literal in C, in printable characters and without trigraphs.
func CString(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(s) {
		if c := s[i]; c >= ' ' && c < 0x7f && c != '"' && c != '\\' && c != '?' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "\\%03o", c)
		}
	}
	return b.String() + `"`
}

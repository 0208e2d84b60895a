// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"fmt"
	"strings"
)

// Cycles is a number of clock cycles.
func Cycles(n int) string {
	if n == 1 {
		return "1 cycle"
	}
	return Grouped(n) + " cycles"
}

// Grouped prints 1240 as 1,240.
func Grouped(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Message is what an operation has against formats, without place and code.
func Message(err error) string {
	if d, ok := err.(*Error); ok {
		return d.Msg
	}
	return err.Error()
}

// namedNodes bounds the nodes that a note lists.
const namedNodes = 4

// Several are names, the first of many.
func Several(names []string) string {
	if more := len(names) - namedNodes; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:namedNodes], ", "), more)
	}
	return strings.Join(names, ", ")
}

// Amount is a number of things.
func Amount(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// ShellWord is a text as one word of a POSIX shell, for commands that users copy.
func ShellWord(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// FiniteInstead says what to write where a model makes an infinity, which no format of hardware has.
const FiniteInstead = "hardware has none, so write a finite number a little beyond the other values, such as -16"

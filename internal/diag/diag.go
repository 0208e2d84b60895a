// SPDX-License-Identifier: Apache-2.0

// Package diag holds the one error type that users of Lathe see, and its catalogue of codes.
package diag

import (
	"errors"
	"fmt"
	"strings"
)

// Error is a message for the user: what is wrong, where, and what to do about it.
type Error struct {
	// Code is the catalogue number, such as "L0412"; docs/errors.md lists them.
	Code Code
	// Pos is where: file:line:col, or the model path of a node ("model.onnx: conv1 (Conv)"). Empty if nowhere.
	Pos string
	// Msg is one sentence without a final stop: the cause, with the shapes or values at hand.
	Msg string
	// Notes add facts ("set by plan.toml:9"), one line each.
	Notes []string
	// Hint is the nearest fix ("use 4 or 8"). Empty if none is known.
	Hint string
}

// New makes an Error whose message is formatted as fmt.Sprintf does.
func New(code Code, pos, msg string, args ...any) *Error {
	return &Error{Code: code, Pos: pos, Msg: fmt.Sprintf(msg, args...)}
}

// WithHint sets the hint, formatted as fmt.Sprintf does, and returns e; an empty text leaves it unset.
func (e *Error) WithHint(hint string, args ...any) *Error {
	e.Hint = fmt.Sprintf(hint, args...)
	return e
}

// WithNote appends a note, formatted as fmt.Sprintf does, and returns e.
func (e *Error) WithNote(note string, args ...any) *Error {
	e.Notes = append(e.Notes, fmt.Sprintf(note, args...))
	return e
}

// Error prints "pos: code: msg" and, each on an indented line of its own, notes and hint.
func (e *Error) Error() string {
	var b strings.Builder
	if e.Pos != "" {
		b.WriteString(OneLine(e.Pos) + ": ")
	}
	b.WriteString(string(e.Code) + ": " + e.Msg)
	for _, n := range e.Notes {
		b.WriteString("\n  note: " + n)
	}
	if e.Hint != "" {
		b.WriteString("\n  hint: " + e.Hint)
	}
	return b.String()
}

// breaks writes the characters that break lines and columns, which names in models may hold, as Go does.
var breaks = strings.NewReplacer("\n", `\n`, "\r", `\r`, "\t", `\t`)

// OneLine is text without breaks of lines and columns.
func OneLine(text string) string { return breaks.Replace(text) }

// List is several errors reported at once, such as all unsupported nodes of a model.
type List []*Error

// Error prints one error after the other, a line break between them.
func (l List) Error() string {
	lines := make([]string, len(l))
	for i, e := range l {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// Err returns nil for an empty list, the error itself for a single one, else the list.
func (l List) Err() error {
	switch len(l) {
	case 0:
		return nil
	case 1:
		return l[0]
	}
	return l
}

// Add returns l with err at its end, which must not be nil: an *Error as it is and a List one by one, each at pos where
// it has no place of its own; any other error under its code, or else the given one, at pos.
func (l List) Add(err error, code Code, pos string) List {
	switch e := err.(type) {
	case *Error:
		if e.Pos == "" {
			moved := *e
			moved.Pos = pos
			e = &moved
		}
		return append(l, e)
	case List:
		for _, one := range e {
			l = l.Add(one, code, pos)
		}
		return l
	}
	if have := CodeOf(err); have != "" {
		code = have
	}
	return append(l, New(code, pos, "%v", err))
}

// CodeOf returns the catalogue code of err ("" if it carries none); of a List, that of its first error.
func CodeOf(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	var l List
	if errors.As(err, &l) && len(l) > 0 {
		return l[0].Code
	}
	return ""
}

// At returns err with pos set where it is an *Error without one; any other error is wrapped under code.
func At(err error, code Code, pos string) error {
	var e *Error
	if errors.As(err, &e) {
		if e.Pos == "" {
			moved := *e
			moved.Pos = pos
			return &moved
		}
		return err
	}
	return New(code, pos, "%v", err)
}

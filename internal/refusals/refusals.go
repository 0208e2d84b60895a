// SPDX-License-Identifier: Apache-2.0

// Package refusals is a table of the errors that users meet first: what was typed, what Lathe said, and what a user
// does next. internal/errortest carries out every row; docs/refusals.md is printed from it.
package refusals

import (
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"

	"lathe/internal/diag"
)

// rows are text archives, in the order of their names: a title; commands ("$ ..."), of which one is refused and has the
// message below it; lines ("# ...") that say what else the user does; and files. Files in the folder then/ replace
// those of the same name behind the refusal.
//
//go:embed rows/*.txtar
var rows embed.FS

// Then is the folder of the files that a user has changed.
const Then = "then/"

// Refusal is a row.
type Refusal struct {
	File, Title string
	// Before are commands that succeed, Command is the one that is refused with Message, Next those that succeed once
	// the user has done what Done says beside.
	Before, Next     []string
	Command, Message string
	Done             []string
	Files            []txtar.File
}

// Code is that of the message.
func (r *Refusal) Code() diag.Code {
	for _, word := range strings.Fields(r.Message) {
		code, _ := strings.CutSuffix(word, ":")
		if len(code) == 5 && code[0] == 'L' && strings.Trim(code[1:], "0123456789") == "" {
			return diag.Code(code)
		}
	}
	return ""
}

// All are the rows, in order.
func All() ([]Refusal, error) {
	names, err := fs.Glob(rows, "rows/*.txtar")
	if err != nil {
		return nil, err
	}
	var all []Refusal
	for _, name := range names {
		data, err := rows.ReadFile(name)
		if err != nil {
			return nil, err
		}
		r, err := Parse(data)
		if r.File = strings.TrimPrefix(name, "rows/"); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, r)
	}
	return all, nil
}

// Parse reads a row.
func Parse(data []byte) (r Refusal, err error) {
	archive := txtar.Parse(data)
	r.Files = archive.Files
	title, text, _ := strings.Cut(string(archive.Comment), "\n")
	r.Title = title
	var message []string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		command, isCommand := strings.CutPrefix(line, "$ ")
		done, isDone := strings.CutPrefix(line, "# ")
		switch {
		case isCommand && len(message) == 0:
			r.Before = append(r.Before, command)
		case isCommand:
			r.Next = append(r.Next, command)
		case isDone:
			r.Done = append(r.Done, done)
		case line != "" && len(r.Next) == 0 && len(r.Before) > 0:
			message = append(message, line)
		case line != "":
			return r, fmt.Errorf("stray line %q", line)
		}
	}
	if r.Message = strings.Join(message, "\n"); len(r.Before) == 0 || len(r.Next) == 0 || title == "" {
		return r, fmt.Errorf("a row has a title, a command, its message, and a command that succeeds")
	}
	last := len(r.Before) - 1
	r.Command, r.Before = r.Before[last], r.Before[:last]
	return r, nil
}

// Text is a row in the form that Parse reads.
func (r *Refusal) Text() []byte {
	var b strings.Builder
	b.WriteString(r.Title + "\n\n")
	for _, c := range append(slices.Clone(r.Before), r.Command) {
		b.WriteString("$ " + c + "\n")
	}
	b.WriteString(r.Message + "\n\n")
	for _, d := range r.Done {
		b.WriteString("# " + d + "\n")
	}
	for _, c := range r.Next {
		b.WriteString("$ " + c + "\n")
	}
	return txtar.Format(&txtar.Archive{Comment: []byte(b.String()), Files: r.Files})
}

// Unsaid is "" where the message names something of what the user does next: a word that is new in the commands, the
// files or what is done beside or, if nothing is new, one that is gone. Else it is those words.
func (r *Refusal) Unsaid() string {
	before, after := words(r.Command), words(strings.Join(append(slices.Clone(r.Next), r.Done...), " "))
	for _, f := range r.Files {
		text := words(string(f.Data))
		if name, changed := strings.CutPrefix(f.Name, Then); changed {
			maps.Copy(after, text)
			after[name] = true
		} else {
			maps.Copy(before, text)
			if !slices.ContainsFunc(r.Files, func(o txtar.File) bool { return o.Name == Then+f.Name }) {
				maps.Copy(after, text)
			}
		}
	}
	changed := without(after, before)
	if len(changed) == 0 {
		changed = without(before, after)
	}
	said := words(r.Message)
	for _, w := range changed {
		if said[w] {
			return ""
		}
	}
	return strings.Join(changed, " ")
}

// words are those of a text, with dots, dashes and underscores in them.
func words(text string) map[string]bool {
	all := map[string]bool{}
	apart := func(c rune) bool { return strings.ContainsRune(" \t\n=\"'`,;()[]{}", c) }
	for _, w := range strings.FieldsFunc(text, apart) {
		if w = strings.TrimRight(w, ".:?"); w != "" {
			all[w] = true
		}
	}
	return all
}

// without are the words of a that b lacks, in order.
func without(a, b map[string]bool) (list []string) {
	for _, w := range slices.Sorted(maps.Keys(a)) {
		if !b[w] {
			list = append(list, w)
		}
	}
	return list
}

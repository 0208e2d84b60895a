// SPDX-License-Identifier: Apache-2.0

// Package keys says of a text in TOML which keys nobody knows, and on which lines keys stand.
package keys

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"

	"lathe/internal/diag"
)

// UnknownKey is a key that the type of a text does not have. Known are those that its table has.
type UnknownKey struct {
	Key   toml.Key
	Known []string
}

// Last is the key without its tables.
func (u *UnknownKey) Last() string { return u.Key[len(u.Key)-1] }

// Unknown are the keys of a text that its type t does not have: each once, and none of those within an unknown table.
func Unknown(md toml.MetaData, t reflect.Type) []UnknownKey {
	var out []UnknownKey
	seen := make(map[string]bool)
	for _, key := range md.Undecoded() {
		if seen[key.String()] || len(key) > 1 && seen[strings.Join(key[:len(key)-1], ".")] {
			continue
		}
		seen[key.String()] = true
		out = append(out, UnknownKey{key, within(t, key[:len(key)-1])})
	}
	return out
}

// within are the keys of the table at path.
func within(t reflect.Type, path []string) []string {
	for _, key := range path {
		f, ok := Field(t, key)
		if !ok {
			return nil
		}
		t = f
	}
	return Of(t)
}

// Field is the type of a key of a table, read from the tags of its fields; false where it has none.
func Field(t reflect.Type, key string) (reflect.Type, bool) {
	for t.Kind() == reflect.Slice || t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil, false
	}
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Tag.Get("toml") == key {
			return f.Type, true
		}
		if f.Anonymous {
			if in, ok := Field(f.Type, key); ok {
				return in, true
			}
		}
	}
	return nil, false
}

// Of are the keys of a table.
func Of(t reflect.Type) []string {
	for t.Kind() == reflect.Slice || t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	var tags []string
	if t.Kind() != reflect.Struct {
		return nil
	}
	for i := range t.NumField() {
		if f := t.Field(i); f.Anonymous {
			tags = append(tags, Of(f.Type)...)
		} else {
			tags = append(tags, f.Tag.Get("toml"))
		}
	}
	return tags
}

// Lines knows where the keys of a TOML text stand. Paths look like quantize.rule[1].name.
type Lines struct {
	file  string
	paths []string
	at    []int
	// Flags are the flags of a command that stand above a key.
	Flags map[string]string
}

var (
	headerLine = regexp.MustCompile(`^\s*(\[\[?)\s*([A-Za-z0-9_.\- ]+?)\s*\]\]?\s*(#.*)?$`)
	keyLine    = regexp.MustCompile(`^\s*([A-Za-z0-9_.\-]+)\s*=`)
)

// Scan reads headers and keys line by line. Text inside of multi-line strings is passed over.
func Scan(file string, data []byte) *Lines {
	l := &Lines{file: file}
	table, quote := "", ""
	count := make(map[string]int)
	for i, line := range strings.Split(string(data), "\n") {
		if quote != "" {
			if strings.Contains(line, quote) {
				quote = ""
			}
			continue
		}
		if m := headerLine.FindStringSubmatch(line); m != nil {
			table = strings.ReplaceAll(m[2], " ", "")
			if m[1] == "[[" {
				count[table]++
				table += fmt.Sprintf("[%d]", count[table]-1)
			}
			l.add(table, i+1)
		} else if m := keyLine.FindStringSubmatch(line); m != nil {
			l.add(strings.TrimPrefix(table+"."+m[1], "."), i+1)
		}
		for _, q := range []string{`"""`, `'''`} {
			if strings.Count(line, q)%2 == 1 {
				quote = q
			}
		}
	}
	return l
}

func (l *Lines) add(path string, line int) {
	l.paths = append(l.paths, path)
	l.at = append(l.at, line)
}

// Pos is the flag that stands above a path, or file:line of it, or of the nearest table around it that has a line of
// its own, or the file.
func (l *Lines) Pos(path string) string {
	if flag, ok := l.Flags[path]; ok {
		return flag
	}
	for {
		for i, p := range l.paths {
			if p == path {
				return l.file + ":" + strconv.Itoa(l.at[i])
			}
		}
		cut := strings.LastIndexAny(path, ".[")
		if cut < 0 {
			return l.file
		}
		path = path[:cut]
	}
}

// Sort puts errors with positions of this file into the order of its lines.
func (l *Lines) Sort(errs diag.List) {
	line := func(e *diag.Error) int {
		n, _ := strconv.Atoi(strings.TrimPrefix(e.Pos, l.file+":"))
		return n
	}
	slices.SortStableFunc(errs, func(a, b *diag.Error) int { return line(a) - line(b) })
}

var indices = regexp.MustCompile(`\[\d+\]`)

// Anywhere is the first place of a key whose array indices are not known.
func (l *Lines) Anywhere(key toml.Key) string {
	for n := len(key); n > 0; n-- {
		want := strings.Join(key[:n], ".")
		for i, p := range l.paths {
			if indices.ReplaceAllString(p, "") == want {
				return l.file + ":" + strconv.Itoa(l.at[i])
			}
		}
	}
	return l.file
}

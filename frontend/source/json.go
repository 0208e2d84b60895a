// SPDX-License-Identifier: Apache-2.0

package source

import (
	"bytes"
	"strconv"
	"strings"

	"lathe/internal/diag"
)

// The limits of JSON texts. A value takes about a hundred bytes.
const (
	maxJSONDepth  = 100
	maxJSONSize   = 256 << 20
	maxJSONValues = 1 << 22
)

// JSONKind is one of the six kinds of JSON values.
type JSONKind uint8

// The kinds.
const (
	JSONNull JSONKind = iota
	JSONBool
	JSONNumber
	JSONString
	JSONArray
	JSONObject
)

// String is the kind in words.
func (k JSONKind) String() string {
	return [...]string{"null", "true or false", "a number", "a string", "a list", "an object"}[k]
}

// JSON is one value of a JSON text. It knows its place, so that errors name it: `graph.nodes[3].target`. All methods
// take nil, which is a value that is absent, for null.
type JSON struct {
	Kind JSONKind
	// Key is the name under which the value stands in its object.
	Key string
	// Items are the values of a list or an object, in the order of the text.
	Items []JSON

	text   string // of a number as written, of a string as meant; "true" or ""
	parent *JSON
	file   string // of the root
	index  map[string]int
}

// indexed is the number of names from which an object keeps an index of them.
const indexed = 12

// ParseJSON reads one JSON text (RFC 8259) that a file of the given name holds. It refuses nesting beyond 100, names
// that occur twice in an object, text behind the value, and numbers such as NaN. Nothing of data is kept.
func ParseJSON(file string, data []byte) (*JSON, error) { return parseJSON(file, data, maxJSONValues) }

// parseJSON reads a text of at most limit values.
func parseJSON(file string, data []byte, limit int) (*JSON, error) {
	if len(data) > maxJSONSize {
		return nil, diag.New(diag.ModelLimit, file, "a JSON text of %d bytes is longer than %d", len(data), maxJSONSize)
	}
	if what, hint := LooksLike(data); what != "" {
		return nil, diag.New(diag.ModelBroken, file, "is not JSON text but %s", what).WithHint("%s", hint)
	}
	p := jsonParser{file: file, limit: limit, data: bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))}
	root := &JSON{file: file}
	if err := p.value(root, 0); err != nil {
		return nil, err
	}
	if p.space(); p.at < len(p.data) {
		return nil, p.fail("%s after the end of the value", p.found())
	}
	return root, nil
}

// Path is the place of the value in its text: "graph.nodes[3]", "" for the whole text.
func (v *JSON) Path() string {
	if v == nil || v.parent == nil {
		return ""
	}
	head := v.parent.Path()
	if v.parent.Kind == JSONArray {
		for i := range v.parent.Items {
			if &v.parent.Items[i] == v {
				return head + "[" + strconv.Itoa(i) + "]"
			}
		}
	}
	switch {
	case plainKey(v.Key) && head == "":
		return v.Key
	case plainKey(v.Key):
		return head + "." + v.Key
	}
	return head + "[" + Quote(v.Key) + "]"
}

// plainKey says that a name can stand in a path without quotes.
func plainKey(key string) bool {
	for _, c := range []byte(key) {
		if c != '_' && c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return key != "" && len(key) <= maxShown
}

// maxShown bounds names from files in messages.
const maxShown = 80

// Quote is a name from a file as messages show it: quoted, and cut where it is very long.
func Quote(name string) string {
	if len(name) > maxShown {
		name = name[:maxShown] + "..."
	}
	return strconv.Quote(name)
}

// Errorf is an error about the value: "FILE: PATH: code: message".
func (v *JSON) Errorf(code diag.Code, msg string, args ...any) *diag.Error {
	return diag.New(code, v.Pos(), msg, args...)
}

// Pos is the place of the value for messages: its file and its path.
func (v *JSON) Pos() string {
	root := v
	for root != nil && root.parent != nil {
		root = root.parent
	}
	switch path := v.Path(); {
	case root == nil:
		return path
	case path == "":
		return root.file
	default:
		return root.file + ": " + path
	}
}

// IsNull says that the value is null or absent.
func (v *JSON) IsNull() bool { return v == nil || v.Kind == JSONNull }

// Get returns the value called name of an object; nil if there is none, or v is no object.
func (v *JSON) Get(name string) *JSON {
	if v == nil || v.Kind != JSONObject {
		return nil
	}
	if v.index != nil {
		if i, ok := v.index[name]; ok {
			return &v.Items[i]
		}
		return nil
	}
	for i := range v.Items {
		if v.Items[i].Key == name {
			return &v.Items[i]
		}
	}
	return nil
}

// Need is Get of a value that must be there.
func (v *JSON) Need(name string) (*JSON, error) {
	if err := v.is(JSONObject); err != nil {
		return nil, err
	}
	if found := v.Get(name); found != nil {
		return found, nil
	}
	e := v.Errorf(diag.BadAttribute, "lacks %s", Quote(name))
	if near := diag.Nearest(name, v.Keys()); near != "" {
		e = e.WithNote("there is %s", Quote(near))
	}
	return nil, e
}

// Keys are the names of an object, in the order of the text.
func (v *JSON) Keys() []string {
	if v == nil || v.Kind != JSONObject {
		return nil
	}
	keys := make([]string, len(v.Items))
	for i := range v.Items {
		keys[i] = v.Items[i].Key
	}
	return keys
}

// is refuses a value of another kind.
func (v *JSON) is(k JSONKind) error {
	switch {
	case v == nil:
		return diag.New(diag.BadAttribute, "", "%s is missing", k)
	case v.Kind != k:
		return v.Errorf(diag.BadAttribute, "is %s, not %s", v.Kind, k)
	}
	return nil
}

// List returns the values of a list.
func (v *JSON) List() ([]JSON, error) {
	if err := v.is(JSONArray); err != nil {
		return nil, err
	}
	return v.Items, nil
}

// Object returns the values of an object, each with its Key.
func (v *JSON) Object() ([]JSON, error) {
	if err := v.is(JSONObject); err != nil {
		return nil, err
	}
	return v.Items, nil
}

// Str returns a string.
func (v *JSON) Str() (string, error) {
	if err := v.is(JSONString); err != nil {
		return "", err
	}
	return v.text, nil
}

// Bool returns a truth value.
func (v *JSON) Bool() (bool, error) {
	if err := v.is(JSONBool); err != nil {
		return false, err
	}
	return v.text != "", nil
}

// Int returns a whole number of 64 bits that is written as one: neither 1.0 nor 1e3.
func (v *JSON) Int() (int64, error) {
	if err := v.is(JSONNumber); err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(v.text, 10, 64)
	switch {
	case strings.ContainsAny(v.text, ".eE"):
		return 0, v.Errorf(diag.BadAttribute, "%s is not a whole number", v.text)
	case err != nil:
		return 0, v.Errorf(diag.ModelLimit, "%s exceeds 64 bits", v.text)
	}
	return n, nil
}

// Ints returns a list of whole numbers.
func (v *JSON) Ints() ([]int64, error) {
	items, err := v.List()
	if err != nil {
		return nil, err
	}
	out := make([]int64, len(items))
	for i := range items {
		if out[i], err = items[i].Int(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Float returns a number; one that is too large for float64 is an error.
func (v *JSON) Float() (float64, error) {
	if err := v.is(JSONNumber); err != nil {
		return 0, err
	}
	f, err := strconv.ParseFloat(v.text, 64)
	if err != nil {
		return 0, v.Errorf(diag.ModelLimit, "%s is too large", v.text)
	}
	return f, nil
}

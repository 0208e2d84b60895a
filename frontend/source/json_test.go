// SPDX-License-Identifier: Apache-2.0

package source

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"lathe/internal/diag"
)

func TestJSON(t *testing.T) {
	v, err := ParseJSON("c.json", []byte(`{"a": [1, {"b c": -9223372036854775808}], "s": "x\u00e9\ud83d\ude00\n", `+
		`"t": true, "f": 1.5e3, "n": null}`))
	if err != nil {
		t.Fatal(err)
	}
	n, err := v.Get("a").Items[1].Get("b c").Int()
	if err != nil || n != math.MinInt64 {
		t.Error(n, err)
	}
	if s, err := v.Get("s").Str(); err != nil || s != "xé😀\n" {
		t.Errorf("%q, %v", s, err)
	}
	if b, err := v.Get("t").Bool(); err != nil || !b {
		t.Error(b, err)
	}
	if f, err := v.Get("f").Float(); err != nil || f != 1500 {
		t.Error(f, err)
	}
	if !v.Get("n").IsNull() || !v.Get("none").IsNull() || !v.Get("none").Get("x").IsNull() {
		t.Error("null is something")
	}
	if p := v.Get("a").Items[1].Get("b c").Pos(); p != `c.json: a[1]["b c"]` {
		t.Error(p)
	}
	if keys := v.Keys(); !slices.Equal(keys, []string{"a", "s", "t", "f", "n"}) {
		t.Error(keys)
	}
}

func TestJSONKinds(t *testing.T) {
	v, err := ParseJSON("c.json", []byte(`{"hidden_size": 1.0, "big": 9223372036854775808, "s": "1", "e": 1e3, `+
		`"l": [1, "2"], "h": 1e999}`))
	if err != nil {
		t.Fatal(err)
	}
	of := func(_ any, err error) error { return err }
	for want, err := range map[string]error{
		"c.json: hidden_size: L0209: 1.0 is not a whole number":                 of(v.Get("hidden_size").Int()),
		"c.json: e: L0209: 1e3 is not a whole number":                           of(v.Get("e").Int()),
		"c.json: big: L0205: 9223372036854775808 exceeds 64 bits":               of(v.Get("big").Int()),
		"c.json: h: L0205: 1e999 is too large":                                  of(v.Get("h").Float()),
		"c.json: s: L0209: is a string, not a number":                           of(v.Get("s").Int()),
		"c.json: l[1]: L0209: is a string, not a number":                        of(v.Get("l").Ints()),
		"c.json: l: L0209: is a list, not an object":                            of(v.Get("l").Object()),
		"c.json: s: L0209: is a string, not a list":                             of(v.Get("s").List()),
		"c.json: s: L0209: is a string, not true or false":                      of(v.Get("s").Bool()),
		"c.json: l: L0209: is a list, not a string":                             of(v.Get("l").Str()),
		`L0209: a string is missing`:                                            of(v.Get("none").Str()),
		"c.json: L0209: lacks \"hiden_size\"\n  note: there is \"hidden_size\"": of(v.Need("hiden_size")),
	} {
		if err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// fewValues is the limit of the tests.
const fewValues = 1000

func TestJSONRefused(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	if _, err := ParseJSON("", []byte(deep(maxJSONDepth))); err != nil {
		t.Error(err)
	}
	wide := &strings.Builder{}
	for i := range 3 * indexed {
		fmt.Fprintf(wide, `"k%d": 0, `, i)
	}
	for text, code := range map[string]diag.Code{
		"":                                diag.ModelBroken,
		"{":                               diag.ModelBroken,
		`{"a"`:                            diag.ModelBroken,
		`{"a":`:                           diag.ModelBroken,
		`{"a":1`:                          diag.ModelBroken,
		`{"a":1,}`:                        diag.ModelBroken,
		`[1,]`:                            diag.ModelBroken,
		`[1 2]`:                           diag.ModelBroken,
		`{a: 1}`:                          diag.ModelBroken,
		`1 2`:                             diag.ModelBroken,
		`01`:                              diag.ModelBroken,
		`1.`:                              diag.ModelBroken,
		`-`:                               diag.ModelBroken,
		`.5`:                              diag.ModelBroken,
		`1e`:                              diag.ModelBroken,
		`NaN`:                             diag.ModelBroken,
		`Infinity`:                        diag.ModelBroken,
		`"a`:                              diag.ModelBroken,
		`"\x"`:                            diag.ModelBroken,
		`"\u12"`:                          diag.ModelBroken,
		"\"\n\"":                          diag.ModelBroken,
		"\"\xff\"":                        diag.ModelBroken,
		"tru":                             diag.ModelBroken,
		"version https://git-lfs.g":       diag.ModelBroken,
		deep(maxJSONDepth + 1):            diag.ModelLimit,
		`{"a": 1, "\u0061": 2}`:           diag.DuplicateName,
		"{" + wide.String() + `"k7": 1}`:  diag.DuplicateName,
		"{" + wide.String() + `"k30": 1}`: diag.DuplicateName,
		"[" + strings.Repeat("0,", fewValues) + "0]": diag.ModelLimit,
	} {
		if _, err := parseJSON("c.json", []byte(text), fewValues); diag.CodeOf(err) != code {
			t.Errorf("%.30q: %v, want %s", text, err, code)
		}
	}
}

// plainJSON is a value as encoding/json decodes it, with numbers as they are written.
func plainJSON(v *JSON) any {
	switch v.Kind {
	case JSONBool:
		return v.text != ""
	case JSONNumber:
		return json.Number(v.text)
	case JSONString:
		return v.text
	case JSONArray:
		out := make([]any, len(v.Items))
		for i := range v.Items {
			out[i] = plainJSON(&v.Items[i])
		}
		return out
	case JSONObject:
		out := map[string]any{}
		for i := range v.Items {
			out[v.Items[i].Key] = plainJSON(&v.Items[i])
		}
		return out
	}
	return nil
}

// FuzzJSON compares with encoding/json, which accepts more: repeated names and text that is not UTF-8.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{`{"a":[1,-0.5e+3,true,null,"x\u00e9\ud83d\ude00\ud83d"]}`, `[]`, ` {} `, `"\/\b"`,
		`{"":{"":0}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := ParseJSON("", data)
		d := json.NewDecoder(strings.NewReader(string(data)))
		d.UseNumber()
		var want any
		valid := json.Valid(data)
		switch code := diag.CodeOf(err); {
		case err == nil && !valid && data[0] != 0xef:
			t.Fatalf("accepted, and encoding/json does not")
		case err == nil && valid:
			if err := d.Decode(&want); err != nil || !reflect.DeepEqual(plainJSON(v), want) {
				t.Fatalf("%v, want %v (%v)", plainJSON(v), want, err)
			}
		case err != nil && valid && code == diag.ModelBroken && utf8.Valid(data):
			t.Fatalf("encoding/json accepts it, and not: %v", err)
		}
		for w := v; w != nil && len(w.Items) > 0; w = &w.Items[len(w.Items)-1] {
			if w.Items[0].parent != w || w.Path() == "" && w != v && w.Key != "" {
				t.Fatal("a value does not know its place")
			}
		}
	})
}

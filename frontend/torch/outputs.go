// SPDX-License-Identifier: Apache-2.0

package torch

import (
	"strconv"
	"strings"

	"lathe/frontend/source"
)

// outputNames are the paths of the outputs in what forward returns, where that is a dictionary or an object with
// fields: logits, past.0. An output under no key has "". The texts are those of PyTorch's pytree, schema 1; nil stands
// for one that is none or has not as many leaves as the program has outputs.
func (p *program) outputNames(calls *source.JSON) []string {
	list, err := calls.List()
	if err != nil || len(list) == 0 {
		return nil
	}
	text, err := list[0].Get("signature").Get("out_spec").Str()
	if err != nil {
		return nil
	}
	root, err := source.ParseJSON("out_spec", []byte(text))
	if err != nil {
		return nil
	}
	parts, err := root.List()
	if err != nil || len(parts) != 2 {
		return nil
	}
	if version, err := parts[0].Int(); err != nil || version != 1 {
		return nil
	}
	names := leaves(nil, &parts[1], "", false)
	users, seen := 0, map[string]bool{}
	for _, o := range p.outputs {
		if o.kind == "user_output" || o.kind == "loss_output" {
			users++
		}
	}
	for _, name := range names {
		if name != "" && seen[name] {
			return nil
		}
		seen[name] = true
	}
	if users != len(names) || users != len(p.outputs) {
		return nil
	}
	return names
}

// leaves appends the paths of the leaves of a tree; keyed says that the path has a key and not only positions.
func leaves(names []string, v *source.JSON, path string, keyed bool) []string {
	if v.Get("type").IsNull() {
		if !keyed {
			path = ""
		}
		return append(names, path)
	}
	children, err := v.Get("children_spec").List()
	if err != nil {
		return names
	}
	keys := keysOf(v, len(children))
	for i := range children {
		step := strconv.Itoa(i)
		if keys != nil {
			step = keys[i]
		}
		names = leaves(names, &children[i], strings.TrimPrefix(path+"."+step, "."), keyed || keys != nil)
	}
	return names
}

// keysOf are the keys that the context of a tree gives its n children, nil where it gives none.
func keysOf(v *source.JSON, n int) []string {
	text, err := v.Get("context").Str()
	if err != nil {
		return nil
	}
	context, err := source.ParseJSON("context", []byte(text))
	if err != nil {
		return nil
	}
	list, err := context.List()
	if err != nil || len(list) != n {
		return nil
	}
	var keys []string
	for i := range list {
		key, err := list[i].Str()
		if err != nil || key == "" {
			return nil
		}
		keys = append(keys, key)
	}
	return keys
}

// SPDX-License-Identifier: Apache-2.0

package hf

import (
	"math"

	"lathe/frontend/source"
	"lathe/internal/diag"
)

// configName is the file that describes a model.
const configName = "config.json"

// maxCount bounds sizes and counts in configurations.
const maxCount = 1 << 24

// config reads settings. A setting that is absent or null has the default that the class of the source library gives
// it. The first error stays in err.
type config struct {
	root *source.JSON
	err  error
	// over are sizes that stand above those of the file.
	over map[string]int
}

// readConfig reads the configuration of a model.
func readConfig(base string, data []byte) (*config, error) {
	root, err := source.ParseJSON(base, data)
	if err != nil {
		return nil, err
	}
	if _, err := root.Object(); err != nil {
		return nil, err
	}
	return &config{root: root}, nil
}

// find returns the first of the given settings that is there; nil if none is.
func (c *config) find(keys ...string) *source.JSON {
	for _, k := range keys {
		if v := c.root.Get(k); !v.IsNull() {
			return v
		}
	}
	return nil
}

func (c *config) fail(err error) {
	if c.err == nil && err != nil {
		c.err = err
	}
}

// count reads a size or a number of things, which is at least 1.
func (c *config) count(absent int, keys ...string) int {
	for _, k := range keys {
		if n, ok := c.over[k]; ok {
			return n
		}
	}
	v := c.find(keys...)
	if v == nil {
		if absent < 1 {
			c.need(keys[0])
			return 1
		}
		return absent
	}
	n, err := v.Int()
	switch {
	case err != nil:
		c.fail(err)
		return 1
	case n < 1 || n > maxCount:
		c.fail(v.Errorf(diag.BadAttribute, "%d is not between 1 and %d", n, maxCount))
		return 1
	}
	return int(n)
}

// need says that a setting is missing.
func (c *config) need(key string) {
	_, err := c.root.Need(key)
	c.fail(err)
}

// index reads the number of a token, -1 for none (null).
func (c *config) index(absent int, key string) int {
	v := c.root.Get(key)
	switch {
	case v == nil:
		return absent
	case v.IsNull():
		return -1
	}
	n, err := v.Int()
	if err == nil && (n < -1 || n > maxCount) {
		err = v.Errorf(diag.BadAttribute, "%d is not a token id", n)
	}
	c.fail(err)
	return int(n)
}

// positive reads a positive real number, such as the eps of a norm.
func (c *config) positive(absent float64, keys ...string) float64 {
	return c.positiveNumber(c.find(keys...), absent)
}

func (c *config) positiveNumber(v *source.JSON, absent float64) float64 {
	if v.IsNull() {
		return absent
	}
	f, err := v.Float()
	if err == nil && (f <= 0 || math.IsInf(f, 0)) {
		err = v.Errorf(diag.BadAttribute, "%g is not a positive number", f)
	}
	c.fail(err)
	return f
}

// flag reads a truth value.
func (c *config) flag(absent bool, key string) bool {
	v := c.find(key)
	if v == nil {
		return absent
	}
	b, err := v.Bool()
	c.fail(err)
	return b
}

// text reads a name.
func (c *config) text(absent string, keys ...string) string {
	v := c.find(keys...)
	if v == nil {
		return absent
	}
	s, err := v.Str()
	c.fail(err)
	return s
}

// refuse is the error of a setting that is not supported.
func (c *config) refuse(key, msg string, args ...any) *diag.Error {
	e := c.root.Get(key).Errorf(diag.FolderSetting, msg, args...)
	if c.root.Get(key) == nil {
		e.Pos = c.root.Pos() + ": " + key
	}
	c.fail(e)
	return e
}

// labels is the number of classes of a head: the names of id2label, num_labels of older files, or 2.
func (c *config) labels() int {
	if v := c.find("id2label"); v != nil {
		names, err := v.Object()
		c.fail(err)
		return max(len(names), 1)
	}
	return c.count(2, "num_labels")
}

// divided is size/parts, an error where it leaves a rest.
func (c *config) divided(size, parts int, what string) int {
	if size%parts != 0 {
		c.fail(c.root.Errorf(diag.BadAttribute, "%d %s do not divide the hidden size %d", parts, what, size))
	}
	return max(size/parts, 1)
}

// SPDX-License-Identifier: Apache-2.0

package safetensors

import (
	"encoding/binary"
	"encoding/json"
	"io"
)

// Write writes tensors, in their order, and texts under __metadata__. Data must be as long as shape and element type
// say: Parse reads what it writes.
func Write(w io.Writer, tensors []Tensor, texts []Text) error {
	type entry struct {
		DType   string `json:"dtype"`
		Shape   []int  `json:"shape"`
		Offsets [2]int `json:"data_offsets"`
	}
	header := []byte("{")
	put := func(name string, v any) error {
		if len(header) > 1 {
			header = append(header, ',')
		}
		key, err := json.Marshal(name)
		if err != nil {
			return err
		}
		value, err := json.Marshal(v)
		header = append(append(append(header, key...), ':'), value...)
		return err
	}
	if len(texts) > 0 {
		all := map[string]string{}
		for _, t := range texts {
			all[t.Name] = t.Value
		}
		if err := put("__metadata__", all); err != nil {
			return err
		}
	}
	at := 0
	for _, t := range tensors {
		shape := t.Shape
		if shape == nil {
			shape = []int{}
		}
		if err := put(t.Name, entry{t.DType, shape, [2]int{at, at + len(t.Data)}}); err != nil {
			return err
		}
		at += len(t.Data)
	}
	header = append(header, '}')
	for len(header)%8 != 0 {
		header = append(header, ' ')
	}
	if _, err := w.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(header)))); err != nil {
		return err
	}
	if _, err := w.Write(header); err != nil {
		return err
	}
	for _, t := range tensors {
		if _, err := w.Write(t.Data); err != nil {
			return err
		}
	}
	return nil
}

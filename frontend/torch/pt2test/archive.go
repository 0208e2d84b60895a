// SPDX-License-Identifier: Apache-2.0

package pt2test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"maps"
	"slices"
)

// Archive writes the archive, as torch.export.save does.
func (p *Program) Archive() []byte {
	var members []Member
	for _, name := range slices.Sorted(maps.Keys(p.Data)) {
		members = append(members, Member{name, p.Data[name]})
	}
	for _, text := range []struct {
		name  string
		value Object
	}{{"data/weights/model_weights_config.json", p.Weights}, {"data/constants/model_constants_config.json", p.Constants},
		{"models/model.json", p.Model}} {
		data, err := json.Marshal(text.value)
		must(err == nil, err)
		members = append(members, Member{text.name, data})
	}
	members = append(members, Member{"archive_format", []byte("pt2")}, Member{"archive_version", []byte("0")},
		Member{"byteorder", []byte("little")})
	for i := range members {
		members[i].Name = p.Root + "/" + members[i].Name
	}
	return Zip(members...)
}

// Member is a file of an archive.
type Member struct {
	Name string
	Data []byte
}

// Zip stores members without compression.
func Zip(members ...Member) []byte {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, m := range members {
		f, err := w.CreateHeader(&zip.FileHeader{Name: m.Name, Method: zip.Store})
		if err == nil {
			_, err = f.Write(m.Data)
		}
		must(err == nil, err)
	}
	must(w.Close() == nil, "zip")
	return out.Bytes()
}

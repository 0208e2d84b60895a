// SPDX-License-Identifier: Apache-2.0

package data

import (
	"image"
	_ "image/gif"  // pictures
	_ "image/jpeg" // pictures
	_ "image/png"  // pictures
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lathe/internal/diag"
	"lathe/internal/npz"
	"lathe/ir"
)

// layout is where a picture lies in an input.
type layout struct {
	height, width, channels int
	last                    bool // channels last
}

// layoutOf reads a shape: H,W alone, C,H,W or H,W,C with one or three channels.
func layoutOf(shape []int) (layout, bool) {
	for len(shape) > 3 && shape[0] == 1 {
		shape = shape[1:]
	}
	colours := func(n int) bool { return n == 1 || n == 3 }
	switch {
	case len(shape) == 2:
		return layout{shape[0], shape[1], 1, true}, true
	case len(shape) == 3 && colours(shape[0]) && (shape[0] == 3 || shape[2] != 3):
		return layout{shape[1], shape[2], shape[0], false}, true
	case len(shape) == 3 && colours(shape[2]):
		return layout{shape[0], shape[1], shape[2], true}, true
	}
	return layout{}, false
}

// readFolder reads the pictures of the folders in a folder, each of which is a class, in the order of names.
func readFolder(path string, shape []int) (*Data, error) {
	l, ok := layoutOf(shape)
	if !ok {
		return nil, diag.New(diag.ArrayShape, path, "an input of shape %s takes no pictures: C,H,W or H,W,C with 1 or 3 "+
			"channels does", ir.ShapeString(shape))
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	d := &Data{}
	var x []float32
	var classes []int64
	for _, e := range entries {
		if !e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		files, err := os.ReadDir(filepath.Join(path, e.Name()))
		if err != nil {
			return nil, unreadable(filepath.Join(path, e.Name()), err)
		}
		for _, f := range files {
			ext := strings.ToLower(filepath.Ext(f.Name()))
			if f.IsDir() || !slices.Contains([]string{".png", ".jpg", ".jpeg", ".gif"}, ext) {
				continue
			}
			if x, err = l.append(x, filepath.Join(path, e.Name(), f.Name())); err != nil {
				return nil, err
			}
			classes = append(classes, int64(len(d.Classes)))
		}
		d.Classes = append(d.Classes, e.Name())
	}
	if len(classes) == 0 {
		return nil, diag.New(diag.ArrayOpen, path, "there are no pictures in folders of it, one a class (.png, .jpg, .gif)")
	}
	a := npz.Int64Array("labels", []int{len(classes)}, classes)
	d.Labels = &a
	d.File, err = one(path, len(classes), shape, shape, x)
	return d, err
}

// append adds the elements of a picture, from 0 to 1; one channel is the luminance.
func (l layout) append(x []float32, path string) ([]float32, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	defer f.Close()
	p, _, err := image.Decode(f)
	if err != nil {
		return nil, diag.New(diag.ArrayBroken, path, "%v", err)
	}
	b := p.Bounds()
	if b.Dx() != l.width || b.Dy() != l.height {
		return nil, diag.New(diag.ArrayShape, path, "the picture has %dx%d points, the input takes %dx%d", b.Dx(), b.Dy(),
			l.width, l.height).WithHint("resize the pictures first")
	}
	from := len(x)
	x = append(x, make([]float32, l.width*l.height*l.channels)...)
	for i := range l.width * l.height {
		red, green, blue, _ := p.At(b.Min.X+i%l.width, b.Min.Y+i/l.width).RGBA()
		point := []uint32{red, green, blue}
		if l.channels == 1 { // the weights of JPEG (ITU-R BT.601), as image/color has them
			point = []uint32{(19595*red + 38470*green + 7471*blue + 1<<15) >> 16}
		}
		for c, v := range point {
			at := c*l.width*l.height + i
			if l.last {
				at = i*l.channels + c
			}
			x[from+at] = float32(v) / 65535
		}
	}
	return x, nil
}

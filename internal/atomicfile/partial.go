// SPDX-License-Identifier: Apache-2.0

package atomicfile

import (
	"os"
	"sync"
	"time"
)

// partial are the files and folders that are not whole yet.
var partial = struct {
	sync.Mutex
	paths map[string]bool
}{paths: map[string]bool{}}

// Folder is os.MkdirTemp for a folder that Abandon removes too, until Remove or Keep.
func Folder(dir, pattern string) (string, error) {
	partial.Lock()
	defer partial.Unlock()
	path, err := os.MkdirTemp(dir, pattern)
	if err == nil {
		partial.paths[path] = true
	}
	return path, err
}

// file is os.CreateTemp for a file that Abandon removes too, until Keep.
func file(dir, pattern string) (*os.File, error) {
	partial.Lock()
	defer partial.Unlock()
	f, err := os.CreateTemp(dir, pattern)
	if err == nil {
		partial.paths[f.Name()] = true
	}
	return f, err
}

// Remove removes a folder of Folder; one that has been renamed is only forgotten.
func Remove(path string) error {
	Keep(path)
	return os.RemoveAll(path)
}

// Keep takes a path out of what Abandon removes.
func Keep(path string) {
	partial.Lock()
	defer partial.Unlock()
	delete(partial.paths, path)
}

// once guards Abandon.
var once sync.Once

// Abandon removes all that is not whole, and lets nobody begin anything more: the program must end next. It is for
// work that does not return in time to remove its own.
func Abandon() {
	once.Do(func() {
		partial.Lock() // for good
		for path := range partial.paths {
			for range 20 { // someone may still write into it
				if os.RemoveAll(path) == nil {
					break
				}
				time.Sleep(5 * time.Millisecond)
			}
		}
	})
}

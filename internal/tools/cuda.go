// SPDX-License-Identifier: Apache-2.0

package tools

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// NeedNVRTC returns the folder of the CUDA toolchain, an absolute path: cuda below that of CacheDir, where
// scripts/setup --cuda puts libnvrtc, ptxas and nvdisasm. Without NVRTC there the test is skipped as Need does.
func NeedNVRTC(t testing.TB) string {
	t.Helper()
	return needCUDA(t, "libnvrtc.so.12")
}

// NeedCUDATools is NeedNVRTC, and demands ptxas and nvdisasm beside it.
func NeedCUDATools(t testing.TB) string {
	t.Helper()
	return needCUDA(t, "libnvrtc.so.12", "ptxas", "nvdisasm")
}

func needCUDA(t testing.TB, names ...string) string {
	t.Helper()
	dir, absent := cudaDir(os.Getenv, names)
	if len(absent) == 0 {
		return dir
	}
	message{fmt.Sprintf("%s needs %v in %s (scripts/setup --cuda puts it there)", t.Name(), absent, dir), inCI()}.end(t)
	return ""
}

// cudaDir is the folder by the environment that getenv reads, and which of the files are not in it.
func cudaDir(getenv func(string) string, names []string) (dir string, absent []string) {
	dir, err := filepath.Abs(filepath.Join(cacheDir(getenv), "cuda"))
	if err != nil {
		return "cuda", names
	}
	for _, name := range names {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			absent = append(absent, name)
		}
	}
	return dir, absent
}

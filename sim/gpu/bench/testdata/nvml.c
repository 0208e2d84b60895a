// SPDX-License-Identifier: Apache-2.0
// Stands for NVML: a GPU at 1755 MHz with memory at 2619 MHz and a cap of 699.5 W. LIMIT is the status of its cap.
static int started;

int nvmlInit_v2(void) { return started = 1, 0; }

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
    *device = &started;
    return started && index == 0 ? 0 : 6;
}

int nvmlDeviceGetClockInfo(void* device, unsigned kind, unsigned* mhz) {
    *mhz = kind == 1 ? 1755 : 2619;
    return device == &started && (kind == 1 || kind == 2) ? 0 : 2;
}

int nvmlDeviceGetPowerManagementLimit(void* device, unsigned* milliwatts) {
    *milliwatts = 699500;
    return device == &started ? LIMIT : 2;
}

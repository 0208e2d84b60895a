// SPDX-License-Identifier: Apache-2.0
// A stand-in for libcuda.so.1 on machines without a GPU. It checks the order and arguments of calls as the driver does,
// writes each call down, keeps count of what is alive, fails where it is told to, executes four kernels by name, and
// has a clock of its own: 5 us a launch and 1 us for each 4 MB that a kernel, copy or fill touches.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

typedef int R;
typedef uint64_t P;
struct LaunchAttr { int32_t id; uint32_t pad; unsigned char value[64]; };
struct Config {
  uint32_t gx, gy, gz, bx, by, bz, shared;
  void *stream;
  LaunchAttr *attrs;
  uint32_t count;
};
static_assert(sizeof(LaunchAttr) == 72 && sizeof(Config) == 56, "layouts of the driver");
struct Kernel { std::string name; std::vector<int> params; int shared_limit = 49152; };
struct Mod { std::map<std::string, Kernel *> kernels; };
struct Ev { double at = -1; };
struct Graph { std::vector<std::function<R()>> work; };
struct Stream { Graph *capture = nullptr; };

static std::recursive_mutex lock;
static std::string log_text;
static std::map<std::string, int64_t> settings;  // see setting()
static std::string fail_name;
static int fail_skip = -1, fail_code, fail_at = -1, calls;
static R sticky;
static bool inited;
static int retained, taken;  // taken: what lived in the context when it was released
static double clock_us;
static std::map<P, std::vector<unsigned char> *> mem;
static std::map<void *, size_t> host;
static std::set<Mod *> mods;
static std::set<Kernel *> kernels;
static std::set<Stream *> streams;
static std::set<Ev *> events;
static std::set<Graph *> graphs, execs;
static int context;
static thread_local void *current;

static int64_t setting(const char *name, int64_t otherwise) {
  auto it = settings.find(name);
  return it == settings.end() ? otherwise : it->second;
}

// enter writes a call down and returns the error that it must give, if any.
static R enter(const char *name, const std::string &args, bool needs_context) {
  std::string shown = std::string(name) + "(" + args + ")";
  log_text += shown + "\n";
  int n = calls++;
  if (fail_at >= 0 && n == fail_at) return fail_code;
  if (fail_name == name && fail_skip-- == 0) return fail_code;
  if (!inited && strcmp(name, "cuInit")) return 3;
  if (needs_context && (current != &context || !retained)) return 201;
  if (needs_context && sticky) return sticky;
  return 0;
}
static std::string n2s(uint64_t v) { return std::to_string(v); }
static std::string join(std::initializer_list<std::string> l) {
  std::string s;
  for (auto &x : l) s += (s.empty() ? "" : ",") + x;
  return s;
}
#define ENTER(needs, ...)                                                      \
  std::lock_guard<std::recursive_mutex> hold(lock);                            \
  if (R r = enter(__func__, join({__VA_ARGS__}), needs)) return r

// bytes finds n bytes of device memory.
static unsigned char *bytes(P a, uint64_t n) {
  auto it = mem.upper_bound(a);
  if (it == mem.begin()) return nullptr;
  --it;
  if (a - it->first > it->second->size() || n > it->second->size() - (a - it->first)) return nullptr;
  return it->second->data() + (a - it->first);
}
static void tick(uint64_t n) { clock_us += double(n) / 4e6 * setting("slow", 1); }
static R submit(void *s, std::function<R()> f) {
  if (s && !streams.count((Stream *)s)) return 400;
  if (s && ((Stream *)s)->capture) { ((Stream *)s)->capture->work.push_back(f); return 0; }
  return f();
}

extern "C" {
// The controls of tests.
void fake_fail(const char *name, int skip, int code) { fail_name = name; fail_skip = skip; fail_code = code; }
void fake_fail_at(int n, int code) { fail_at = n; fail_code = code; }
void fake_set(const char *name, int64_t value) { settings[name] = value; }
void fake_reset() {
  std::lock_guard<std::recursive_mutex> hold(lock);
  log_text.clear();
  settings.clear();
  fail_name.clear();
  fail_at = fail_skip = -1;
  calls = sticky = retained = taken = 0;
  inited = false;
  for (auto &m : mem) delete m.second;
  mem.clear(); host.clear(); mods.clear(); streams.clear(); events.clear(); graphs.clear(); execs.clear();
}
int fake_taken() { return taken; }
int fake_calls() { return calls; }
int fake_live(char *out, int size) {
  std::lock_guard<std::recursive_mutex> hold(lock);
  int n = retained + mem.size() + host.size() + mods.size() + streams.size() + events.size() + graphs.size() + execs.size();
  snprintf(out, size, "contexts %d memory %zu host %zu modules %zu streams %zu events %zu graphs %zu execs %zu", retained,
           mem.size(), host.size(), mods.size(), streams.size(), events.size(), graphs.size(), execs.size());
  return n;
}
int fake_log(char *out, int size) {
  std::lock_guard<std::recursive_mutex> hold(lock);
  if (out) snprintf(out, size, "%s", log_text.c_str());
  return log_text.size() + 1;
}

R cuInit(unsigned flags) {
  ENTER(false, n2s(flags));
  inited = true;
  return setting("devices", 1) ? 0 : 100;
}
R cuDriverGetVersion(int *v) { *v = setting("driver", 12090); return 0; }
struct Name { R code; const char *name, *text; };
static const Name names[] = {{1, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
  {2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"}, {3, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
  {100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"}, {201, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
  {209, "CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image is available for execution on the device"},
  {218, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
  {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION", "the provided PTX was compiled with an unsupported toolchain."},
  {400, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"}, {500, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
  {700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"}, {719, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"}};
R cuGetErrorName(R r, const char **out) {
  for (auto &n : names) if (n.code == r) { *out = n.name; return 0; }
  *out = nullptr;
  return 1;
}
R cuGetErrorString(R r, const char **out) {
  for (auto &n : names) if (n.code == r) { *out = n.text; return 0; }
  *out = nullptr;
  return 1;
}
R cuDeviceGetCount(int *n) { ENTER(false); *n = setting("devices", 1); return 0; }
R cuDeviceGet(int *d, int i) { ENTER(false, n2s(i)); *d = 40 + i; return i < setting("devices", 1) ? 0 : 101; }
R cuDeviceGetName(char *out, int n, int d) {
  ENTER(false, n2s(n), n2s(d));
  snprintf(out, n, "Fake H200");
  return d == 40 ? 0 : 101;
}
R cuDeviceGetAttribute(int *v, int a, int d) {
  ENTER(false, n2s(a), n2s(d));
  const std::map<int, int> fixed = {{1, 1024}, {13, 1980000}, {16, 132}, {36, 3201000}, {37, 6144}, {97, 232448}};
  auto it = fixed.find(a);
  if (a == 75) *v = setting("major", 9);
  else if (a == 76) *v = setting("minor", 0);
  else if (a == 38) *v = setting("l2", 60 << 20);
  else if (it != fixed.end()) *v = it->second;
  else return 1;
  return d == 40 ? 0 : 101;
}
R cuDeviceTotalMem_v2(uint64_t *n, int d) { ENTER(false, n2s(d)); *n = setting("memory", 64 << 20); return 0; }
R cuDevicePrimaryCtxRetain(void **c, int d) { ENTER(false, n2s(d)); retained++; *c = &context; return 0; }
R cuDevicePrimaryCtxRelease_v2(int d) {
  ENTER(false, n2s(d));
  if (!retained) return 201;
  if (--retained) return 0;
  taken = mem.size() + host.size() + mods.size() + streams.size() + events.size() + graphs.size() + execs.size();
  for (auto &m : mem) delete m.second;  // as the driver does: what lives in a context goes with it
  mem.clear(); host.clear(); mods.clear(); streams.clear(); events.clear(); graphs.clear(); execs.clear();
  sticky = 0;
  return 0;
}
R cuCtxSetCurrent(void *c) { ENTER(false, c ? "context" : "none"); current = c; return c && c != &context ? 201 : 0; }
R cuCtxSynchronize() { ENTER(true); return 0; }

static void entries(Mod *m, const std::string &text) {  // ".entry NAME(" of PTX and of this fake's cubins
  for (size_t at = text.find(".entry "); at != std::string::npos; at = text.find(".entry ", at + 1)) {
    size_t end = text.find_first_of("( \n", at + 7), close = text.find(')', at);
    Kernel *k = new Kernel{text.substr(at + 7, end - at - 7), {}};
    for (size_t p = text.find(".param", at); p < close; p = text.find(".param", p + 1))
      k->params.push_back(text.compare(p + 7, 4, ".u64") ? 4 : 8);
    m->kernels[k->name] = k;
    kernels.insert(k);
  }
}
R cuModuleLoadDataEx(Mod **out, const void *image, unsigned n, int *options, void **values) {
  const char *c = (const char *)image;
  bool elf = !memcmp(c, "\x7f" "ELF", 4);
  ENTER(true, elf ? "cubin" : "ptx", n2s(n));
  for (unsigned i = 0; i < n; i++)
    if (options[i] == 5) snprintf((char *)values[i], 64, "ptxas fatal: line 7: nothing assembles here\nmore");
  std::string text;
  if (elf) {
    uint32_t flags;
    memcpy(&flags, c + 48, 4);
    int sm = flags & 0xff, have = setting("major", 9) * 10 + setting("minor", 0);
    if (sm / 10 != have / 10 || sm % 10 > have % 10) return 209;
    text = c + 64;
  } else {
    text = c;
    int major = 0, minor = 0;
    size_t at = text.find(".version ");
    if (at == std::string::npos || sscanf(text.c_str() + at, ".version %d.%d", &major, &minor) != 2) return 218;
    if (major * 10 + minor > setting("ptx", 88)) return 222;
  }
  Mod *m = new Mod;
  entries(m, text);
  mods.insert(m);
  *out = m;
  return 0;
}
R cuModuleUnload(Mod *m) { ENTER(true); return mods.erase(m) ? 0 : 400; }
R cuModuleGetFunction(Kernel **k, Mod *m, const char *name) {
  ENTER(true, name);
  if (!mods.count(m)) return 400;
  auto it = m->kernels.find(name);
  if (it == m->kernels.end()) return 500;
  *k = it->second;
  return 0;
}
R cuModuleGetGlobal_v2(P *a, uint64_t *n, Mod *m, const char *name) {
  ENTER(true, name);
  *a = 4096; *n = 12;
  return mods.count(m) ? 0 : 400;
}
R cuFuncGetAttribute(int *v, int a, Kernel *k) {
  ENTER(true, n2s(a));
  if (!kernels.count(k)) return 400;
  *v = a == 0 ? setting("threads", 1024) : a == 1 ? 16 : a == 3 ? setting("local", 0) : a == 4 ? 40 : k->shared_limit;
  return 0;
}
R cuFuncSetAttribute(Kernel *k, int a, int v) {
  ENTER(true, n2s(a), n2s(v));
  if (!kernels.count(k)) return 400;
  if (a != 8 || v > 232448) return 1;
  k->shared_limit = v;
  return 0;
}
R cuOccupancyMaxActiveBlocksPerMultiprocessor(int *n, Kernel *k, int threads, size_t shared) {
  ENTER(true, n2s(threads), n2s(shared));
  *n = kernels.count(k) ? 2048 / threads : 0;
  return 0;
}
R cuOccupancyMaxActiveClusters(int *n, Kernel *, const Config *c) {
  ENTER(true, n2s(c->gx), n2s(c->bx), n2s(c->shared), n2s(c->count));
  *n = 66;
  return 0;
}
R cuTensorMapEncodeTiled(unsigned char *m, int kind, unsigned rank, P a, uint64_t *dims, uint64_t *strides, uint32_t *box,
                         uint32_t *steps, int interleave, int swizzle, int promotion, int fill) {
  ENTER(false, n2s(kind), n2s(rank), n2s(a), n2s(dims[0]), n2s(dims[1]), n2s(strides[0]), n2s(box[0]), n2s(box[1]),
        n2s(steps[1]), n2s(interleave), n2s(swizzle), n2s(promotion), n2s(fill));
  if ((uintptr_t)m % 64) return 1;
  memset(m, 0xAB, 128);
  return 0;
}

R cuMemAlloc_v2(P *a, uint64_t n) {
  ENTER(true, n2s(n));
  if (!n) return 1;
  uint64_t used = 0;
  for (auto &m : mem) used += m.second->size();
  if (used + n > (uint64_t)setting("memory", 64 << 20)) return 2;
  auto *v = new std::vector<unsigned char>(n, 0xCD);
  static P next = 0x7f0000000000;
  *a = next;
  next += (n + (2 << 20)) / 512 * 512;
  mem[*a] = v;
  return 0;
}
R cuMemFree_v2(P a) {
  ENTER(true);
  auto it = mem.find(a);
  if (it == mem.end()) return 1;
  delete it->second;
  mem.erase(it);
  return 0;
}
R cuMemHostAlloc(void **p, uint64_t n, unsigned flags) {
  ENTER(true, n2s(n), n2s(flags));
  *p = malloc(n);
  host[*p] = n;
  return 0;
}
R cuMemFreeHost(void *p) {
  ENTER(true);
  if (!host.erase(p)) return 1;
  free(p);
  return 0;
}
R cuMemGetInfo_v2(uint64_t *avail, uint64_t *total) {
  ENTER(true);
  *total = setting("memory", 64 << 20);
  *avail = *total;
  for (auto &m : mem) *avail -= m.second->size();
  return 0;
}
R cuMemcpyHtoDAsync_v2(P to, const void *from, uint64_t n, void *s) {
  ENTER(true, n2s(n));
  return submit(s, [=] { auto *d = bytes(to, n); if (!d) return 1; memcpy(d, from, n); return 0; });
}
R cuMemcpyDtoHAsync_v2(void *to, P from, uint64_t n, void *s) {
  ENTER(true, n2s(n));
  return submit(s, [=] { auto *d = bytes(from, n); if (!d) return 1; memcpy(to, d, n); return 0; });
}
R cuMemcpyDtoDAsync_v2(P to, P from, uint64_t n, void *s) {
  ENTER(true, n2s(n));
  return submit(s, [=] {
    auto *d = bytes(to, n), *f = bytes(from, n);
    if (!d || !f) return 1;
    memmove(d, f, n);
    tick(2 * n);
    return 0;
  });
}
R cuMemsetD8Async(P a, unsigned char v, uint64_t n, void *s) {
  ENTER(true, n2s(v), n2s(n));
  return submit(s, [=] { auto *d = bytes(a, n); if (!d) return 1; memset(d, v, n); tick(n); return 0; });
}
R cuMemsetD32Async(P a, uint32_t v, uint64_t n, void *s) {
  ENTER(true, n2s(v), n2s(n));
  return submit(s, [=] {
    auto *d = bytes(a, 4 * n);
    if (!d) return 1;
    for (uint64_t i = 0; i < n; i++) memcpy(d + 4 * i, &v, 4);
    tick(4 * n);
    return 0;
  });
}
R cuPointerGetAttribute(void *out, int a, P p) {
  ENTER(true, n2s(a));
  if (!bytes(p, 0)) return 1;
  void *c = &context;
  memcpy(out, &c, 8);
  return 0;
}

R cuStreamCreate(Stream **s, unsigned flags) { ENTER(true, n2s(flags)); streams.insert(*s = new Stream); return 0; }
R cuStreamDestroy_v2(Stream *s) { ENTER(true); return streams.erase(s) ? 0 : 400; }
R cuStreamSynchronize(Stream *s) { ENTER(true); return streams.count(s) ? 0 : 400; }
R cuStreamWaitEvent(Stream *s, Ev *e, unsigned flags) { ENTER(true, n2s(flags)); return streams.count(s) && events.count(e) ? 0 : 400; }
R cuEventCreate(Ev **e, unsigned flags) { ENTER(true, n2s(flags)); events.insert(*e = new Ev); return 0; }
R cuEventRecord(Ev *e, void *) { ENTER(true); if (!events.count(e)) return 400; e->at = clock_us; return 0; }
R cuEventSynchronize(Ev *e) { ENTER(true); return events.count(e) ? 0 : 400; }
R cuEventElapsedTime(float *ms, Ev *a, Ev *b) {
  ENTER(true);
  if (a->at < 0 || b->at < 0) return 400;
  *ms = float((b->at - a->at) / 1e3);
  return 0;
}
R cuEventDestroy_v2(Ev *e) { ENTER(true); return events.erase(e) ? 0 : 400; }

// execute is what the known kernels do; the first two arguments are addresses, then come 4-byte words:
//   copy_words(to, from, n)      to[i] = from[i]        add_words(to, from, n, k)   to[i] = from[i] + k
//   wrong_words(to, from, n)     as copy, but for i = n/2     fault_words(...)      an illegal access
static R execute(const std::string &name, std::vector<uint64_t> a) {
  clock_us += 5 * setting("slow", 1);
  if (name == "fault_words") return sticky = 700, 0;
  if (a.size() < 3) return 0;
  uint64_t n = a[2];
  auto *to = bytes(a[0], 4 * n), *from = bytes(a[1], 4 * n);
  if (!to || !from) return sticky = 700, 0;
  for (uint64_t i = 0; i < n; i++) {
    uint32_t v;
    memcpy(&v, from + 4 * i, 4);
    if (name == "add_words") v += a[3];
    if (name == "wrong_words" && i == n / 2) v++;
    memcpy(to + 4 * i, &v, 4);
  }
  tick(8 * n);
  return 0;
}
static R launch(Kernel *k, uint32_t threads, uint32_t shared, void *s, void **params) {
  if (!kernels.count(k)) return 400;
  if (shared > (uint32_t)k->shared_limit || !threads || threads > 1024) return 1;
  std::vector<uint64_t> a;
  for (size_t i = 0; i < k->params.size(); i++) {
    uint64_t v = 0;
    memcpy(&v, params[i], k->params[i]);
    a.push_back(v);
  }
  std::string name = k->name;
  return submit(s, [=] { return execute(name, a); });
}
R cuLaunchKernel(Kernel *k, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                 void *s, void **params, void **extra) {
  ENTER(true, k->name, n2s(gx), n2s(gy), n2s(gz), n2s(bx), n2s(by), n2s(bz), n2s(shared), s ? "stream" : "0",
        extra ? "extra" : "0");
  return launch(k, bx * by * bz, shared, s, params);
}
R cuLaunchKernelEx(const Config *c, Kernel *k, void **params, void **) {
  std::string attrs;
  for (unsigned i = 0; i < c->count; i++) {
    uint32_t v[3];
    memcpy(v, c->attrs[i].value, 12);
    attrs += n2s(c->attrs[i].id) + ":" + n2s(v[0]) + "." + n2s(v[1]) + "." + n2s(v[2]) + " ";
  }
  ENTER(true, k->name, n2s(c->gx), n2s(c->gy), n2s(c->gz), n2s(c->bx), n2s(c->by), n2s(c->bz), n2s(c->shared),
        c->stream ? "stream" : "0", attrs);
  return launch(k, c->bx * c->by * c->bz, c->shared, c->stream, params);
}

R cuStreamBeginCapture_v2(Stream *s, int mode) {
  ENTER(true, n2s(mode));
  if (!streams.count(s) || s->capture) return 400;
  s->capture = new Graph;
  return 0;
}
R cuStreamEndCapture(Stream *s, Graph **g) {
  Graph *have = s->capture;
  s->capture = nullptr;  // a failed end ends the capture too
  ENTER(true);
  if (!have) return 400;
  graphs.insert(*g = have);
  return 0;
}
R cuGraphInstantiateWithFlags(Graph **x, Graph *g, uint64_t flags) {
  ENTER(true, n2s(flags));
  if (!graphs.count(g)) return 400;
  execs.insert(*x = new Graph(*g));
  return 0;
}
R cuGraphUpload(Graph *x, Stream *s) { ENTER(true); return execs.count(x) && streams.count(s) ? 0 : 400; }
R cuGraphLaunch(Graph *x, Stream *s) {
  ENTER(true);
  if (!execs.count(x) || !streams.count(s)) return 400;
  for (auto &f : x->work) {
    if (R r = f()) return r;
  }
  return 0;
}
struct Update { int kind; void *node, *from; };
R cuGraphExecUpdate_v2(Graph *x, Graph *g, Update *info) {
  ENTER(true);
  if (!execs.count(x) || !graphs.count(g)) return 400;
  bool fits = x->work.size() == g->work.size();
  *info = Update{fits ? 0 : 2, nullptr, nullptr};
  if (fits) x->work = g->work;
  return fits ? 0 : 910;
}
R cuGraphExecDestroy(Graph *x) { ENTER(true); return execs.erase(x) ? 0 : 400; }
R cuGraphDestroy(Graph *g) { ENTER(true); return graphs.erase(g) ? 0 : 400; }
}

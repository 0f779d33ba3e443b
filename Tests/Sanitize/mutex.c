/* What ThreadSanitizer cannot see by itself: where threads wait for one another, `Mutex` of Swift's Synchronization takes and gives
   its lock in the library, whose code is not instrumented. Loaded before that, this calls the library, and says so to
   ThreadSanitizer; a race that is reported afterwards is one. Without ThreadSanitizer it only calls.

   The names are those of `_MutexHandle._lockSlow(_:)`, `_unlockSlow()`, `_tryLockSlow()`; by Swift's calling convention. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>

#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"
#define TRY "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *handle

__attribute__((weak)) void __tsan_acquire(void *address);
__attribute__((weak)) void __tsan_release(void *address);

SWIFT void lock(unsigned thread, SELF) __asm__(LOCK);
SWIFT void unlock(SELF) __asm__(UNLOCK);
SWIFT bool try(SELF) __asm__(TRY);

SWIFT void lock(unsigned thread, SELF) {
  SWIFT void (*next)(unsigned, SELF) = (SWIFT void (*)(unsigned, SELF))dlsym(RTLD_NEXT, LOCK);
  next(thread, handle);
  if (__tsan_acquire) __tsan_acquire(handle);
}

SWIFT void unlock(SELF) {
  if (__tsan_release) __tsan_release(handle);
  SWIFT void (*next)(SELF) = (SWIFT void (*)(SELF))dlsym(RTLD_NEXT, UNLOCK);
  next(handle);
}

SWIFT bool try(SELF) {
  SWIFT bool (*next)(SELF) = (SWIFT bool (*)(SELF))dlsym(RTLD_NEXT, TRY);
  bool taken = next(handle);
  if (taken && __tsan_acquire) __tsan_acquire(handle);
  return taken;
}

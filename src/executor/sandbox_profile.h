// Whether this build can be confined in full. A sanitizer's run-time opens files, maps shadow
// memory and starts threads by itself: such a build keeps the parts of the sandbox it can live
// with.
#pragma once

namespace coderunner::executor {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kIsSanitizerBuild = true;
#else
inline constexpr bool kIsSanitizerBuild = false;
#endif

}  // namespace coderunner::executor

-- expect: failed 302 or killed 303
-- Runs while the error of the used-up budget unwinds, and is a C function itself.
getmetatable("").__close = string.find
local subject <close> = ("x"):rep(20000)
error(".-.-.-.-b", 0)

-- expect: failed 301 "attempt to"
pcall = nil
pcall(error)

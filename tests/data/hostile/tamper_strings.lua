-- expect: failed 301 "attempt to index a string"
getmetatable('').__index = nil
return ('x'):rep(3)

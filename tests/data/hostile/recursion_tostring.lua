-- expect: failed 301 "stack overflow"
local mt = {}
mt.__tostring = function(t) return tostring(t) end
log(setmetatable({}, mt))

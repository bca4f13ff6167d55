-- expect: failed 301 or failed 302
local mt = {}
local function f()
  local x <close> = setmetatable({}, mt)
  error("deeper")
end
mt.__close = f
f()

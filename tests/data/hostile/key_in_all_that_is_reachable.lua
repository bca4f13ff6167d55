-- expect: succeeded
local seen = {}
local function walk(value, path)
  if seen[value] or #path > 300 then return end
  local kind = type(value)
  if kind == "string" or kind == "number" then return log(path, value) end
  if kind ~= "table" then return log(path, tostring(value)) end
  seen[value] = true
  for name, part in next, value do
    walk(name, path .. ".name")
    walk(part, path .. "." .. tostring(name))
  end
  local mt = getmetatable(value)
  if mt then walk(mt, path .. ".metatable") end
end
walk(_G, "_G")
walk(getmetatable(""), "text")

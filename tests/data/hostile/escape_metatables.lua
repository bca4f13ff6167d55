-- expect: succeeded
local _, failure = pcall(api.get, "/none")
for _, value in ipairs{failure, json.null, json.array{}, json.decode("[]")} do
  assert(getmetatable(value) == false)
  assert(not pcall(setmetatable, value, {}))
end

-- expect: succeeded
for _, call in ipairs{api.get, api.post, api.put, api.patch, api.delete, api.card, api.update_card} do
  for _, path in ipairs{"/none", "", "x", "//", "/\n", 7, {}, "/" .. ("x"):rep(10000)} do
    local _, failure = pcall(call, path, {})
    if type(failure) == "table" then
      for name, part in pairs(failure) do log(name, part) end
    end
    log(failure)
  end
end

-- expect: killed 303 or failed 301
while true do string.gsub(('/empty'):rep(100000), '/empty', api.get) end

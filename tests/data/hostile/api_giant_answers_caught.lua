-- expect: killed 303 or failed 301
while true do pcall(api.get, '/giant') end

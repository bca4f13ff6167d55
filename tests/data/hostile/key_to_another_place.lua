-- expect: succeeded
for _, path in ipairs{
  "http://127.0.0.1:9/", "//127.0.0.1:9/", "@127.0.0.1:9/", ":9/", ".evil.example/", "\\127.0.0.1", "",
  "/../../other/api/v2/me", "/%2e%2e/%2E%2e/me", "/a/../../me", "/./me", "/me\r\napikey: x", "/me\nHost: x", "/me x",
  "/me\0x", "/me#x", "/\u{FF0E}\u{FF0E}/me", "/..;/me\t",
} do
  local ok, failure = pcall(api.get, path)
  assert(not ok, path)
  log(failure)
end

-- expect: succeeded
local ok, failure = pcall(api.post, "/cards", {["\r\napikey"] = "\r\nX: y"})
log(ok, failure)

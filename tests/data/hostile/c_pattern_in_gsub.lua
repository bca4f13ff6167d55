-- expect: failed 302 or killed 303
return string.gsub(('x'):rep(20000), '.-.-.-b', '')

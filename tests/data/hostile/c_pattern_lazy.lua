-- expect: failed 302 or killed 303
return string.find(('x'):rep(20000), '.-.-.-.-b')

-- expect: failed 301 or failed 302
return ('x'):rep(1e7):byte(1, -1)

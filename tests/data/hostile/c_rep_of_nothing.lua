-- expect: failed 302 or killed 303
return (''):rep(1e15)

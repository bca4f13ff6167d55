-- expect: failed 302 "bytes of memory"
return ('x'):rep(1e6, ('y'):rep(1000))

-- expect: failed 302 "MiB of memory"
return ('x'):rep(1e6, ('y'):rep(1000))

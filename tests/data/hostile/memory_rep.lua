-- expect: failed 302 "MiB of memory"
return ('x'):rep(1e9)

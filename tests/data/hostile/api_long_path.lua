-- expect: failed 301 "too long"
api.get('/' .. ('x'):rep(9000))

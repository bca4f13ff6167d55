-- expect: failed 301
error()

-- expect: failed 302
error('not enough memory', 0)

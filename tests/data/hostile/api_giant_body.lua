-- expect: failed 301 "too large"
api.post('/cards', {text = ('\0'):rep(2000000)})

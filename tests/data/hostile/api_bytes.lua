-- expect: failed 301 "not JSON"
api.get('/bytes')

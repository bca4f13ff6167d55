-- expect: failed 301 "too large"
api.get('/giant')

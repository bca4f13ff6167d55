-- expect: failed 301
api.get('/close')

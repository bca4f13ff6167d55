-- expect: failed 301 "json"
api.post('/cards', {f = print})

-- expect: failed 301 "nested deeper"
api.get('/deep')

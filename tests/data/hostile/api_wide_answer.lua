-- expect: failed 302 "bytes of memory"
api.get('/wide')

-- expect: failed 302 "MiB of memory"
api.get('/wide')

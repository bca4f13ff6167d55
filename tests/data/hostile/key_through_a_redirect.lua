-- expect: failed 301 "redirects are not followed"
api.get('/redirect')

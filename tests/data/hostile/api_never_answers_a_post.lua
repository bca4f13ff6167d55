-- expect: killed 303 "it had sent 1: POST /never: no answer"
api.post('/never', {a = 1})

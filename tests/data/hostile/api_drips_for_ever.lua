-- expect: killed 303 "wall"
api.get('/drip')

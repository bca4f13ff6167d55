-- expect: killed 303 or failed 301
for _ in api.cards{pages = 'endless'} do end

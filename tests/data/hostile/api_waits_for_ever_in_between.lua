-- expect: killed 303 "wall"
while true do pcall(api.get, '/slow') end

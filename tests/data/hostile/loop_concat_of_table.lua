-- expect: failed 301 "own code ran longer than"
return table.concat(setmetatable({}, {
  __len = function() return math.maxinteger - 1 end,
  __index = function() return "" end,
}))

-- expect: failed 301 "own code ran longer than"
local function again()
  pcall(again)
  return again()
end
again()

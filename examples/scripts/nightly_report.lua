-- A recurring rule: count the cards on the board and write the figure down. A missing board is not an error here.
local ok, answer = pcall(api.get, "/cards?per_page=5")
if not ok then
  log("no cards to count: " .. tostring(answer))
  return
end

local cards = answer.data.data
local titles = {}
for _, card in ipairs(cards) do
  titles[#titles + 1] = card.title
end
log(#cards .. " cards: " .. table.concat(titles, ", "))

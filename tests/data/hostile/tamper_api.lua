-- expect: succeeded
api.get = function() error("mine") end
pairs, ipairs, next, type, table.concat, table.sort, string.gsub = nil
for card in api.cards{board_ids = {1}} do return log(card.card_id) end

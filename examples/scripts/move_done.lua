-- A rule fired by a moved card: read it, note where it went, and leave a trace on it.
local created = api.post("/cards", {
  title = event.title,
  column_id = event.from_column,
  lane_id = event.lane_id,
})
local id = created.data[1].card_id

local card = api.get("/cards/" .. id).data
log("card", card.card_id, "is in column", card.column_id)

api.patch("/cards/" .. id, { column_id = event.to_column })
api.post("/cards/" .. id .. "/comments", { text = "Moved to column " .. event.to_column })

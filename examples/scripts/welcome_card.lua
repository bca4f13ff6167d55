-- A rule fired for a new customer: one card, a comment that says why, and a checklist as subtasks.
local created = api.post("/cards", {
  title = "Welcome " .. event.customer,
  column_id = event.column_id,
  lane_id = event.lane_id,
})
local card = created.data[1]
log("created card", card.card_id)

api.post("/cards/" .. card.card_id .. "/comments", { text = "Created for " .. event.customer })
for _, step in ipairs(event.steps) do
  api.post("/cards/" .. card.card_id .. "/subtasks", { description = step })
end

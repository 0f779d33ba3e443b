-- What wrk posts to /v1/events, and what it notes of the answers. By the environment:
-- KEY an API key; BATCH events a request; RUN what event ids begin with; NOW their time;
-- ACKNOWLEDGED a file that gets the id of each event that was accepted (optional); SUMMARY a file that gets the figures.
local batch = tonumber(os.getenv("BATCH"))
local run = os.getenv("RUN")
local now = os.getenv("NOW")
local headers = {
  ["Authorization"] = "Bearer " .. os.getenv("KEY"),
  ["Content-Type"] = batch == 1 and "application/json" or "application/x-ndjson",
}
local event = '{"schemaVersion":1,"type":"message.read","eventId":"%s-%d","occurredAt":%s,"userId":"user-%d",'
  .. '"conversationId":"conversation-%d","messageId":"message-of-a-chat-%d","deviceId":"the-phone-of-the-user"}'
local count = 0
local file
-- Global, so that `done` can ask the thread for them.
accepted = 0
answered202 = 0
answered503 = 0
answeredOther = 0

function init(arguments)
  if os.getenv("ACKNOWLEDGED") then file = io.open(os.getenv("ACKNOWLEDGED"), "w") end
end

function request()
  local lines = {}
  for line = 1, batch do
    count = count + 1
    lines[line] = string.format(event, run, count, now, count % 1000, count % 7919, count)
  end
  return wrk.format("POST", nil, headers, table.concat(lines, "\n"))
end

function response(status, _, body)
  if status == 202 then
    answered202 = answered202 + 1
  elseif status == 503 then
    answered503 = answered503 + 1
  else
    answeredOther = answeredOther + 1
  end
  if status == 202 and not file then
    accepted = accepted + batch
    return
  end
  for id in string.gmatch(body, '"eventId":"([^"]+)","status":"accepted"') do
    accepted = accepted + 1
    if file then file:write(id, "\n") end
  end
  if file then file:flush() end
  -- A server that asks for a pause gets one.
  if status == 503 or status == 429 then pause = true end
end

function delay()
  if pause then
    pause = nil
    return 200
  end
  return 0
end

-- `done` has an environment of its own: it asks the thread.
local threads = {}
function setup(thread) table.insert(threads, thread) end

function done(summary, latency, requests)
  local out = io.open(os.getenv("SUMMARY"), "w")
  out:write(string.format('{"seconds":%f,"requests":%d,"accepted":%d,"connectErrors":%d,"readErrors":%d,"writeErrors":%d,'
      .. '"timeouts":%d,"p50":%f,"p99":%f,"answered202":%d,"answered503":%d,"answeredOther":%d}\n', summary.duration / 1e6, summary.requests,
    threads[1]:get("accepted"), summary.errors.connect, summary.errors.read, summary.errors.write,
    summary.errors.timeout, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
    threads[1]:get("answered202"), threads[1]:get("answered503"), threads[1]:get("answeredOther")))
  out:close()
end

// A service that streams: events at a steady pace for a second, or a megabyte at once.
import { createServer } from 'node:http'

const { UPSTREAM_PORT, EVENT_TEXT } = process.env
const events = 100
const interval_ms = 10
const large = Buffer.alloc(1 << 20, 'x')

createServer((request, response) => {
  if (!request.url?.endsWith('/events')) {
    response.setHeader('content-type', 'application/octet-stream')
    response.end(large)
    return
  }
  response.setHeader('content-type', 'text/event-stream')
  response.flushHeaders()
  let sent = 0
  const timer = setInterval(() => {
    response.write(EVENT_TEXT)
    sent += 1
    if (sent === events) response.end()
  }, interval_ms)
  response.on('close', () => clearInterval(timer))
}).listen(Number(UPSTREAM_PORT), '127.0.0.1')

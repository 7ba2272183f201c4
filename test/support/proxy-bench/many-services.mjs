// Services for benchmarks, each at a port of its own with one object: `node many-services.mjs FIRST_PORT COUNT`.
import http from 'node:http'

const [first, count] = process.argv.slice(2).map(Number)
let open = 0
for (let at = 0; at < count; at += 1) {
  const info = JSON.stringify({ name: `service-${at}`, version: '1', objects: [`object-${at}`], api_path: '/' })
  const server = http.createServer((request, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(request.url === '/service-info' ? info : '{}')
  })
  server.listen(first + at, '127.0.0.1', () => {
    open += 1
    if (open === count) console.log('ready')
  })
}

// Sends requests from a thread of its own, so that the client takes no time of the measured event loop.
import http from 'node:http'
import { parentPort } from 'node:worker_threads'

const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })

function send({ port, method, path, headers, body }) {
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { 'content-length': String(body.byteLength) }
    const options = { host: '127.0.0.1', port, method, path, headers: { ...headers, ...length }, agent }
    const request = http.request(options, (response) => {
      if (response.headers['content-type'] === 'text/event-stream') {
        resolve(response.statusCode)
        return request.destroy()
      }
      response.resume()
      response.on('end', () => resolve(response.statusCode))
      response.on('error', reject)
    })
    request.on('error', reject)
    request.end(body)
  })
}

parentPort.on('message', async ({ requests = [], times = 0, idle_ms = 0 }) => {
  if (idle_ms > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, idle_ms)
  const statuses = []
  try {
    for (let round = 0; round < times; round++) for (const request of requests) statuses.push(await send(request))
    parentPort.postMessage({ statuses })
  } catch (error) {
    parentPort.postMessage({ statuses, error: String(error) })
  }
})

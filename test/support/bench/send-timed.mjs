// Sends requests over several connections from a thread of its own, and returns the time and status of each answer.
import http from 'node:http'
import { parentPort } from 'node:worker_threads'

function send(agent, { port, path, headers }, body) {
  return new Promise((resolve, reject) => {
    const began = performance.now()
    const length = { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) }
    const options = { host: '127.0.0.1', port, method: 'POST', path, headers: { ...headers, ...length }, agent }
    const request = http.request(options, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (part) => (text += part))
      response.on('end', () => resolve({ status: response.statusCode, ms: performance.now() - began, text }))
      response.on('error', reject)
    })
    request.on('error', reject)
    request.end(body)
  })
}

parentPort.on('message', async ({ clients, bodies, ...target }) => {
  const agent = new http.Agent({ keepAlive: true, maxSockets: clients })
  const answers = []
  const rest = bodies.values()
  const began = performance.now()
  const client = async () => {
    for (const body of rest) answers.push(await send(agent, target, body))
  }
  try {
    await Promise.all(Array.from({ length: clients }, client))
    parentPort.postMessage({ answers, took_ms: performance.now() - began })
  } catch (error) {
    parentPort.postMessage({ error: String(error) })
  }
  agent.destroy()
})

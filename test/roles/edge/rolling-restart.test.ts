// Two processes of the edge on one port: one stops under load, and no request fails.
import * as http from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { respondOk, startRecordingUpstream } from '../../support/proxy/recording-upstream.ts'
import { startEdgeSite } from './edge-site.ts'

const path = '/api/v2/consensus/session'

function send(port: number, agent: http.Agent): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = http.request({ host: '127.0.0.1', port, agent, method: 'POST', path }, (answer) => {
      answer.resume()
      answer.on('end', () => resolve(answer.statusCode ?? 0))
    })
    request.on('error', reject)
    request.end('{}')
  })
}

test('the requests of the one that stops are answered, and those that follow go to the other', async () => {
  const backend = await startRecordingUpstream(respondOk)
  onTestFinished(() => backend.close())
  const backends = { 'consensus-service': [`http://127.0.0.1:${backend.port}`] }
  const old = await startEdgeSite({ name: 'old', backends, edge: { reuse_port: true } })
  onTestFinished(() => old.site.end())
  const { port } = old
  const agents = Array.from({ length: 8 }, () => new http.Agent({ keepAlive: true, maxSockets: 1 }))
  onTestFinished(() => {
    for (const agent of agents) agent.destroy()
  })
  const statuses: number[] = []
  for (const agent of agents) statuses.push(await send(port, agent))
  const next = await startEdgeSite({ name: 'next', backends, edge: { reuse_port: true, port } })
  onTestFinished(() => next.site.end())
  let isStopped = false
  const clients = agents.map(async (agent) => {
    for (let after = 0; after < 20; after += isStopped ? 1 : 0) statuses.push(await send(port, agent))
  })
  await expect.poll(() => statuses.length).toBeGreaterThan(100)
  await old.site.stop()
  isStopped = true
  await Promise.all(clients)
  expect(new Set(statuses)).toEqual(new Set([200]))
})

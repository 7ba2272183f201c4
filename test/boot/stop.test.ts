// A stop lets requests under way end, waits no longer than it says, and loses nothing that was promised.
import * as http from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { serve } from '../../daemon/boot/serve.ts'
import { stop_grace_ms } from '../../daemon/boot/stop-limits.ts'
import { contribute } from '../../daemon/roles/consensus/session/contribute.ts'
import { get } from '../../daemon/roles/consensus/session/get.ts'
import {
  buildOpinionInput,
  buildSessionInput,
  createOperator,
  openSession,
  startConsensusSite,
  waitUntilDelivered,
} from '../roles/consensus/consensus-site.ts'
import { startWebhookReceiver } from '../support/http/webhook-receiver.ts'
import { type TestSite, waitUntil } from '../support/site/test-site.ts'

const drain_ms = 500
const receiver = await startWebhookReceiver()
const receivedUrls: string[] = []
let isHanging = true

/** Before the real receiver: holds what comes for ever while it hangs, and sends it on otherwise. */
const proxyServer = http.createServer(async (request, response) => {
  receivedUrls.push(request.url ?? '')
  if (isHanging) return
  const passed = http.request(receiver.url, { method: 'POST', headers: request.headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 500)
    answer.pipe(response)
  })
  request.pipe(passed)
})
let world: TestSite
beforeAll(async () => {
  await new Promise<void>((resolve) => proxyServer.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(proxyServer.address() as AddressInfo).port}/`
  const sinks = [{ name: 'sink', kind: 'webhook', url, secret_file: receiver.secret_file }]
  world = await startConsensusSite({ contributors: ['c1'], consensus: { sinks }, profile: { platform: { drain_ms } } })
})
afterAll(async () => {
  await world?.end()
  proxyServer.closeAllConnections()
  proxyServer.close()
  await receiver.close()
})

test('a receiver that hangs does not delay the stop; pending messages are delivered after a restart', async () => {
  const person = await createOperator(world)
  const { id } = await openSession(person, { m: 1, n: 1 })
  await person.ok(contribute, { id, ...buildOpinionInput('c1', 0.9) })
  await waitUntil(() => receivedUrls.length > 0)
  expect(await person.ok(get, { id })).toMatchObject({ state: 'RATIFIED', undelivered: 1 })
  const began = performance.now()
  await world.stop()
  const took_ms = performance.now() - began
  // A worker that has to be left behind takes the whole grace.
  expect(took_ms).toBeLessThan(stop_grace_ms)
  isHanging = false
  await world.start()
  await waitUntilDelivered(await createOperator(world), id)
  expect(receiver.deliveries.map(({ session_id, isSealed }) => [session_id, isSealed])).toEqual([[id, true]])
  proxyServer.closeAllConnections()
  expect(world.loggedErrors).toEqual([])
})

/** A request whose body has been promised and not yet sent; the service has begun to work on it. */
async function beginRequest(token: string, body: string) {
  const request = http.request(`${world.url('consensus')}/api/v2/consensus/session`, {
    method: 'POST',
    agent: false,
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      expect: '100-continue',
    },
  })
  const answer = new Promise<{ status: number; text: string }>((resolve, reject) => {
    request.on('error', reject)
    request.on('response', async (response) => {
      let text = ''
      for await (const part of response) text += String(part)
      resolve({ status: response.statusCode ?? 0, text })
    })
  })
  request.flushHeaders()
  await new Promise((resolve) => request.once('continue', resolve))
  return { request, answer }
}

const sessionBody = JSON.stringify(buildSessionInput({ m: 1, n: 1 }))

test('answers a request under way, and keeps its result', async () => {
  const { token } = await createOperator(world)
  const { request, answer } = await beginRequest(token, sessionBody)
  const stopping = world.stop()
  request.end(sessionBody)
  const { status, text } = await answer
  await stopping
  expect(status, text).toBe(201)
  await world.start()
  const { id } = JSON.parse(text) as { id: string }
  expect(await (await createOperator(world)).ok(get, { id })).toMatchObject({ id, state: 'PROPOSED' })
})

test('a request that never ends is cut off once the drain is over', async () => {
  const { token } = await createOperator(world)
  const { answer } = await beginRequest(token, sessionBody)
  const cut = answer.catch((error: NodeJS.ErrnoException) => error.code)
  const began = performance.now()
  await world.stop()
  const took_ms = performance.now() - began
  expect(await cut).toBe('ECONNRESET')
  expect(took_ms).toBeGreaterThan(drain_ms - 50)
  expect(took_ms).toBeLessThan(drain_ms + stop_grace_ms)
  await world.start()
  expect(world.loggedErrors).toEqual([])
})

test('a second stop is the first one', async () => {
  await world.stop()
  const events: string[] = []
  const note = (event: string) => void events.push(event)
  const log = { debug: note, info: note, warn: note, error: note }
  const running = await serve({ folder: world.folder, env: {}, clock: world.clock, log })
  const first = running.stop()
  expect(running.stop()).toBe(first)
  await first
  expect(running.stop()).toBe(first)
  expect(events.filter((event) => event === 'platform.stopped')).toHaveLength(1)
  expect(running.services.map((service) => service.phase())).toEqual(['stopping', 'stopping'])
  await world.start()
})

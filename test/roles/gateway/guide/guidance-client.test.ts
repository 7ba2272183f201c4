// The client of observations and the cache of guidance beside a real gateway: batches are stored once each, a gateway that is
// away is tried again, and what it refuses is not.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { promoteArtifact } from '../../../../daemon/roles/gateway/guide/artifact/change-artifacts.ts'
import { GuidanceCache, GuidanceClient } from '../../../../packages/guidance-client/src/exports.ts'
import { waitUntil } from '../../../support/site/test-site.ts'
import { buildEnvelope, curator, emitter, setUpGuide } from '../guide-site.ts'

const stage = setUpGuide()

/** Statuses that the gate before the gateway answers with; it passes requests once there are none. */
const answers: number[] = []
const gate = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', async () => {
    const status = answers.shift()
    if (status !== undefined) return void response.writeHead(status).end()
    const { authorization = '', traceparent = '' } = request.headers
    const headers = { authorization, traceparent: String(traceparent), 'content-type': 'application/json' }
    const url = new URL(request.url ?? '/', stage().site.url('gateway'))
    const answer = await fetch(url, { method: 'POST', headers, body: Buffer.concat(chunks) })
    response.writeHead(answer.status).end(await answer.text())
  })
})
beforeAll(() => new Promise<void>((resolve) => void gate.listen(0, '127.0.0.1', resolve)))
afterAll(() => new Promise<void>((resolve) => void gate.close(() => resolve())))

const openClient = (who = emitter) =>
  new GuidanceClient(
    { url: `http://127.0.0.1:${(gate.address() as AddressInfo).port}`, token: () => stage().site.token(who) },
    { GUIDE_INGEST_RETRY_BASE_MS: '1', GUIDE_INGEST_RETRY_CAP_MS: '2' },
  )

test('every envelope is stored once, through refusals that pass', async () => {
  const client = openClient()
  answers.push(429, 503)
  for (let n = 0; n < 60; n += 1) client.emit(buildEnvelope(n + 1, { payload: { n } }))
  await client.close()
  expect([client.counts, answers]).toEqual([{ sent: 60, dropped: {}, waiting: 0 }, []])
  const stored = await stage().waitForStored(60)
  expect(stored.map(({ payload }) => payload.n)).toEqual(Array.from({ length: 60 }, (_, n) => n))
  expect(new Set(stored.map(({ emitted_by }) => emitted_by.token_subject))).toEqual(new Set([emitter.subject]))
})

test('after two repeats a batch is dropped and counted, and one that is refused at once', async () => {
  const client = openClient()
  answers.push(500, 502, 429)
  client.emit(buildEnvelope(101))
  await client.flush()
  expect([client.counts.dropped, answers]).toEqual([{ too_many_requests: 1 }, []])
  const refused = openClient({ subject: 'rita', roles: ['auditor'] })
  refused.emit(buildEnvelope(102))
  await refused.close()
  expect(refused.counts).toEqual({ sent: 0, dropped: { refused: 1 }, waiting: 0 })
  await client.close()
  expect((await stage().waitForStored(60)).length).toBe(60)
})

test('a cache takes the guidance of a response as it comes', async () => {
  const shim = { type: 'PromptShim', content: { body: 'name the sheet of a map' }, service_name: undefined } as const
  const id = await stage().propose({ ...shim, applicability: {} })
  await promoteArtifact(stage().call, id, curator)
  const cache = new GuidanceCache()
  await waitUntil(async () => {
    stage().site.clock.advance(1_000)
    const { body } = await stage().request(emitter, 'POST', '/api/v1/chat', { message: 'hello' })
    cache.update(body.guide_guidance)
    return cache.get_system_prompt_additions({}).length > 0
  })
  expect(cache.get_system_prompt_additions({})).toEqual(['name the sheet of a map'])
})

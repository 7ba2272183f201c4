// Commands that outlive their first minted token: each request has a valid one, and a stream goes on where it ended.
import { expect, onTestFinished, test } from 'vitest'
import { createServiceClient } from '../../cli/client/client.ts'
import { resolveServiceTarget } from '../../cli/client/connection.ts'
import { cancel } from '../../daemon/roles/consensus/session/cancel.ts'
import { create } from '../../daemon/roles/consensus/session/create.ts'
import { startTestSite } from '../support/site/test-site.ts'

const longer_than_a_token_ms = 10 * 60_000

async function startWatchedSite() {
  const world = await startTestSite()
  onTestFinished(() => world.end())
  const options = { folder: world.folder, url: undefined, token: undefined, env: {} }
  const session = { lens_id: 'people', lens_version: '1', policy: { m: 1, n: 1 }, classification: 'UNCLASSIFIED' }
  const ada = await world.as({ subject: 'ada', roles: ['operator'] })
  const { id } = await ada.ok(create, session)
  return { world, ada, id, target: resolveServiceTarget(options, world.clock.now) }
}

test('a request after the end of the first token has another one', async () => {
  const { world, target, id } = await startWatchedSite()
  const api = createServiceClient(target)
  const show = () => api.call('consensus.session.get', { id })
  await show()
  world.clock.advance(longer_than_a_token_ms)
  expect(await show()).toMatchObject({ id })
})

test('a stream that ends with its token goes on after its last event', async () => {
  const { world, target, ada, id } = await startWatchedSite()
  const events = createServiceClient(target).stream('consensus.session.events', { id }, { resumes: true })
  const first = (await events.next()).value
  world.clock.advance(longer_than_a_token_ms)
  await ada.ok(cancel, { id })
  const rest = []
  for await (const event of events) rest.push(event)
  expect([first, ...rest].map(({ event, data }) => [event, data.to])).toEqual([
    ['state', 'PROPOSED'],
    ['state', 'WITHDRAWN'],
  ])
})

// Contributions of peers: bit-identical to local ones, in the order of their source, and counted once.
import * as fs from 'node:fs'
import path from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { combine } from '../../../daemon/roles/consensus/combine/combine.ts'
import { list as recordOf } from '../../../daemon/roles/consensus/contribution/list.ts'
import { contribute as federate } from '../../../daemon/roles/consensus/federation/contribute.ts'
import { contribute } from '../../../daemon/roles/consensus/session/contribute.ts'
import { create } from '../../../daemon/roles/consensus/session/create.ts'
import { get } from '../../../daemon/roles/consensus/session/get.ts'
import { resolve } from '../../../daemon/roles/consensus/session/resolve.ts'
import { combinationMethods } from '../../support/consensus/opinions.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import {
  buildOpinionInput,
  buildSessionInput,
  createOperator,
  type PolicyInput,
  setUpConsensusSite,
  startConsensusSite,
  waitUntilDelivered,
} from './consensus-site.ts'
import { buildOpinionFields, createCarrier, createReader, openInvitedSession } from './federated-session.ts'
import { createPeerSite, sharedClassification } from './peer-site.ts'

const numRuns = Number(process.env.FAST_CHECK_RUNS ?? 25)
const bravo = await createPeerSite('bravo', 'tenant-b')
const charlie = await createPeerSite('charlie', 'tenant-c')
afterAll(() => {
  bravo.remove()
  charlie.remove()
})

/** The peers' tenants are enrolled as well, so that the same set can also be passed locally. */
const everybody = ['tenant-b', 'tenant-c', 'c1', 'c2', 'c3']
const world = setUpConsensusSite(() => ({ contributors: everybody, peers: [bravo.pinned, charlie.pinned] }))

const createWorldCarrier = () => createCarrier(world())
const openWorldSession = (policy: PolicyInput) => openInvitedSession(world(), policy, ['bravo', 'charlie'])

const share = fc.oneof(fc.constantFrom(0, 1, 0.5), fc.double({ min: 0, max: 1, noNaN: true }))
const sets = fc
  .tuple(
    ...everybody.map((who) => fc.record({ who: fc.constant(who), score: share, accuracy: share, credibility: share })),
  )
  .chain((all) => fc.subarray(all, { minLength: 2 }))
  .chain((set) => fc.tuple(fc.constant(set), fc.shuffledSubarray(set, { minLength: set.length })))

test('a set fed partly by peers, in any order, gives what it gives locally, to the bit', async () => {
  await fc.assert(
    fc.asyncProperty(sets, combinationMethods, async ([set, shuffled], combination_method) => {
      const policy = { m: set.length, n: set.length, combination_method }
      const [person, service] = [await createOperator(world()), await createWorldCarrier()]
      const local = await person.ok(create, buildSessionInput(policy))
      for (const { who, score, accuracy, credibility } of set) {
        await person.ok(contribute, { id: local.id, ...buildOpinionInput(who, score, [accuracy, credibility]) })
      }
      const mixed = await openWorldSession(policy)
      for (const { who, score, accuracy, credibility } of shuffled) {
        const peer = [bravo, charlie].find(({ tenant_id }) => tenant_id === who)
        const contribution = {
          ...buildOpinionInput(who, score, [accuracy, credibility]),
          classification: sharedClassification,
        }
        const fields = buildOpinionFields(mixed.id, score, [accuracy, credibility])
        if (peer) await service.ok(federate, await peer.message('contribution', fields))
        else await person.ok(contribute, { id: mixed.id, ...contribution })
      }
      const [one, other] = [await person.ok(get, { id: local.id }), await person.ok(get, { id: mixed.id })]
      expect(other.result).toStrictEqual(one.result)
      expect([other.state, other.decision, other.reason]).toEqual([one.state, one.decision, one.reason])
      const opinions = set.map(({ who, score, ...rest }) => ({ contributor_id: who, pair_score: score, ...rest }))
      expect(one.result).toStrictEqual(JSON.parse(JSON.stringify(combine(combination_method, opinions))))
    }),
    { numRuns, seed: 11, endOnFailure: true },
  )
})

describe('of one source, a lower (epoch, seq) never supersedes a higher', () => {
  test.each<{ title: string; arrivals: [number, number, number][]; stands: number }>([
    {
      title: 'an older number arrives last',
      arrivals: [
        [1, 5, 0.9],
        [1, 3, 0.1],
      ],
      stands: 0.9,
    },
    {
      title: 'an older epoch arrives last',
      arrivals: [
        [2, 1, 0.9],
        [1, 9, 0.1],
      ],
      stands: 0.9,
    },
    {
      title: 'a newer epoch begins at one',
      arrivals: [
        [1, 9, 0.1],
        [2, 1, 0.9],
      ],
      stands: 0.9,
    },
    {
      title: 'the same is repeated later, and the message between arrives last',
      arrivals: [
        [1, 1, 0.9],
        [1, 3, 0.9],
        [1, 2, 0.1],
      ],
      stands: 0.9,
    },
  ])('$title', async ({ arrivals, stands }) => {
    const { id } = await openWorldSession({ m: 3, n: 3 })
    const service = await createWorldCarrier()
    for (const [epoch, seq, score] of arrivals) {
      const fields = buildOpinionFields(id, score)
      await service.ok(federate, await bravo.message('contribution', fields, { epoch, seq }))
    }
    const { items } = await (await createReader(world())).ok(recordOf, { id })
    expect(items.filter(({ standing }) => standing).map(({ pair_score }) => pair_score)).toEqual([stands])
    expect(items).toHaveLength(arrivals.length)
  })
})

test('a message that is delivered again changes nothing, and its lineage stays', async () => {
  const { id } = await openWorldSession({ m: 3, n: 3 })
  const service = await createWorldCarrier()
  const fields = buildOpinionFields(id, 0.9)
  const parent = 'ab'.repeat(32)
  const message = await bravo.message('contribution', fields, { parent_block_ids: [parent] })
  const before = await service.ok(federate, message)
  expect(await service.ok(federate, message)).toMatchObject({
    contributions: 1,
    version: before.version,
  })
  const { items } = await (await createReader(world())).ok(recordOf, { id })
  expect(items[0]).toMatchObject({
    contributor_id: 'tenant-b',
    signer_key_id: bravo.pinned.keys[0]?.kid,
    submitted_by: 'peer:bravo',
    federation: { transport: 'filedrop', peer: 'bravo', parent_block_ids: [parent] },
  })
})

test('new contributions of peers are counted by transport and peer; repeats and refusals are not', async () => {
  const { id } = await openWorldSession({ m: 2, n: 2 })
  const service = await createWorldCarrier()
  const read = async () => {
    const { text } = await world().call('consensus', 'GET', '/api/v2/metrics', undefined, await createReader(world()))
    return Number(/^federation_contribution_total\{transport="filedrop",peer="charlie"\} (\d+)$/m.exec(text)?.[1] ?? 0)
  }
  const before = await read()
  const message = await charlie.message('contribution', buildOpinionFields(id, 0.9))
  await service.ok(federate, message)
  expect(await read()).toBe(before + 1)
  await service.ok(federate, message)
  await service.refusal(
    federate,
    await charlie.message('contribution', buildOpinionFields(id, 0.8), { receiver_tenant_id: 'tenant-z' }),
  )
  expect(await read()).toBe(before + 1)
  await service.ok(federate, await charlie.message('contribution', buildOpinionFields(id, 0.7)))
  expect(await read()).toBe(before + 2)
})

test('a session of another tenant takes no message that is addressed to this one', async () => {
  const person = await world().as({ subject: 'olga', roles: ['operator'], tenant: 'tenant-z' })
  const { id, version } = await person.ok(create, { ...buildSessionInput({ m: 1, n: 2 }) })
  expect(
    await (await createWorldCarrier()).refusal(
      federate,
      await bravo.message('contribution', buildOpinionFields(id, 0.9)),
    ),
  ).toBe('not_your_tenant')
  expect(await person.ok(get, { id })).toMatchObject({ version, contributions: 0 })
})

test('renewed dissents accumulate only to a bound while a peer is unreachable', async () => {
  const own = await startConsensusSite({ contributors: ['c1', 'c2'], peers: [bravo.pinned] })
  try {
    const { id } = await openInvitedSession(own, { m: 2, n: 2 }, ['bravo'])
    const person = await createOperator(own)
    const file = path.join(own.folder.peers, 'bravo.json')
    fs.chmodSync(file, 0o644)
    for (const [who, score] of [
      ['c1', 0],
      ['c2', 1],
    ] as const)
      await person.ok(contribute, { id, ...buildOpinionInput(who, score), classification: sharedClassification })
    let code: unknown
    for (let i = 0; i < 1_000 && code !== 'unavailable'; i++) code = await person.refusal(resolve, { id })
    expect(code).toBe('unavailable')
    fs.chmodSync(file, 0o600)
    own.wakeWorker('consensus', 'relay')
    await waitUntilDelivered(person, id)
    expect(await person.refusal(resolve, { id })).toBe(200)
  } finally {
    await own.end()
  }
})

test('sends a message that the site role failed to send once it works again', async () => {
  const own = await startConsensusSite({ contributors: ['c1'], peers: [bravo.pinned] })
  try {
    const { id } = await openInvitedSession(own, { m: 1, n: 2 }, ['bravo'])
    const person = await createOperator(own)
    const file = path.join(own.folder.peers, 'bravo.json')
    fs.chmodSync(file, 0o644)
    await person.ok(contribute, { id, ...buildOpinionInput('c1', 0.9), classification: sharedClassification })
    await waitUntil(async () => own.loggedErrors.length > 0 && (await person.ok(get, { id })).evidence_block_id)
    expect((await person.ok(get, { id })).undeliverable).toEqual([])
    fs.chmodSync(file, 0o600)
    own.wakeWorker('consensus', 'relay')
    expect(await waitUntilDelivered(person, id)).toMatchObject({ undeliverable: [] })
  } finally {
    await own.end()
  }
})

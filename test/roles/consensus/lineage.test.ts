// The evidence of a session names the block of the session that it supersedes, and the blocks that its attester names.
import { describe, expect, test } from 'vitest'
import { verifyEvidence } from '../../../daemon/offline/evidence/evidence-file.ts'
import { get as evidenceOf } from '../../../daemon/roles/consensus/evidence/get.ts'
import { attest } from '../../../daemon/roles/consensus/session/attest.ts'
import { cancel } from '../../../daemon/roles/consensus/session/cancel.ts'
import { contribute } from '../../../daemon/roles/consensus/session/contribute.ts'
import { create } from '../../../daemon/roles/consensus/session/create.ts'
import { get } from '../../../daemon/roles/consensus/session/get.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import {
  buildOpinionInput,
  buildSessionInput,
  createOperator,
  openSession,
  setUpConsensusSite,
  waitUntilDelivered,
} from './consensus-site.ts'

const world = setUpConsensusSite(() => ({ template: 'multi-tenant-cloud', contributors: ['c1', 'c2'] }))

const alone = { m: 1, n: 1 }

async function decide(person: CheckedClient, more: object = {}, classification?: string): Promise<string> {
  const { id } = await person.ok(create, { ...buildSessionInput(alone, classification), ...more })
  await person.ok(contribute, { id, ...buildOpinionInput('c1', 0.9, [1, 1], classification) })
  return id
}

/** The signed block, whose content holds when it is read alone. */
async function readBlock(person: CheckedClient, id: string) {
  const { evidence_block_id = '' } = await waitUntilDelivered(person, id)
  const block = await person.ok(evidenceOf, { block_id: evidence_block_id })
  expect(await verifyEvidence(JSON.stringify(block), [])).toMatchObject({ verdict: 'integrity_only', faults: [] })
  return block
}

async function openTorn(person: CheckedClient, more: object = {}): Promise<string> {
  const { id } = await person.ok(create, { ...buildSessionInput({ m: 2, n: 2, conflict_threshold: 0.3 }), ...more })
  await person.ok(contribute, { id, ...buildOpinionInput('c1', 0) })
  await person.ok(contribute, { id, ...buildOpinionInput('c2', 1) })
  return id
}

const hash = (byte: string) => byte.repeat(32)

describe('a session that supersedes another', () => {
  test('names its block, also where that was not signed yet', async () => {
    const person = await createOperator(world())
    const first = await decide(person)
    const second = await decide(person, { supersedes: first })
    expect(await person.ok(get, { id: second })).toMatchObject({ supersedes: first })
    const [superseded, block] = [await readBlock(person, first), await readBlock(person, second)]
    expect(superseded.content).toMatchObject({ v: 2, parent_block_ids: [] })
    expect(superseded.content).not.toHaveProperty('lineage')
    expect(block.content).toMatchObject({
      v: 3,
      lineage: [{ relation: 'supersedes', block_id: superseded.block_id }],
      parent_block_ids: [superseded.block_id],
    })
  })

  test('may do so after the other was withdrawn, and be superseded itself', async () => {
    const person = await createOperator(world())
    const first = await decide(person)
    await waitUntilDelivered(person, first)
    await person.ok(cancel, { id: first })
    const second = await decide(person, { supersedes: first })
    const third = await readBlock(person, await decide(person, { supersedes: second }))
    expect(third.content.parent_block_ids).toEqual([(await readBlock(person, second)).block_id])
  })

  test('is refused for one that its creator does not see, that is wider, or that was never ratified', async () => {
    const person = await createOperator(world())
    const elsewhere = await world().as({ subject: 'olga', roles: ['operator'], tenant: 'tenant-b' })
    const uncleared = await world().as({ subject: 'olga', roles: ['operator'], clearance: { level: 'RESTRICTED' } })
    const supersede = (supersedes: string, by = person) =>
      by.refusal(create, { ...buildSessionInput(alone), supersedes })
    const [first, secret] = [await decide(person), await decide(person, {}, 'SECRET')]
    expect(await supersede(`ses_${'0'.repeat(32)}`)).toBe('not_found')
    expect(await supersede(first, elsewhere)).toBe('not_found')
    expect(await supersede(secret, uncleared)).toBe('not_found')
    expect(await supersede(secret)).toBe('label_denied')
    const shared = {
      ...buildSessionInput(alone),
      classification: { level: 'UNCLASSIFIED', releasable_to: ['tenant-a', 'x'] },
    }
    expect(await person.refusal(create, { ...shared, supersedes: first })).toBe('label_denied')
    const open = await openSession(person, alone)
    expect(await supersede(open.id)).toBe('wrong_state')
    expect(await supersede(first)).toBe(201)
  })
})

describe('a person who attests', () => {
  test('names the blocks that the decision rests on, each once and sorted', async () => {
    const person = await createOperator(world())
    const first = await decide(person)
    const superseded = (await readBlock(person, first)).block_id
    const id = await openTorn(person, { supersedes: first })
    const parent_block_ids = [hash('ff'), superseded, hash('00'), hash('ff')]
    await person.ok(attest, { id, decision: 'match', rationale: 'seen', parent_block_ids })
    const { content } = await readBlock(person, id)
    expect(content).toMatchObject({
      v: 3,
      lineage: [
        { relation: 'rests_on', block_id: hash('00') },
        { relation: 'supersedes', block_id: superseded },
        { relation: 'rests_on', block_id: hash('ff') },
      ],
      parent_block_ids: [hash('00'), superseded, hash('ff')],
    })
  })

  test('repeats the request with the same blocks alone, and names hashes, at most 64', async () => {
    const person = await createOperator(world())
    const id = await openTorn(person)
    const fields = { id, decision: 'match' as const, rationale: 'seen' }
    const many = Array.from({ length: 65 }, (_, at) => at.toString(16).padStart(64, '0'))
    expect(await person.refusal(attest, { ...fields, parent_block_ids: many })).toBe('invalid')
    expect(await person.refusal(attest, { ...fields, parent_block_ids: ['not a hash'] })).toBe('invalid')
    const key = { 'idempotency-key': 'attested-once' }
    const first = await person.ok(attest, { ...fields, parent_block_ids: [hash('ab')] }, key)
    expect((await person.ok(attest, { ...fields, parent_block_ids: [hash('ab')] }, key)).rests_on).toEqual(
      first.rests_on,
    )
    expect(await person.refusal(attest, fields, key)).toBe('idempotency_mismatch')
  })
})

test('a contribution to a session of this site names no blocks, since no message would prove them', async () => {
  const person = await createOperator(world())
  const { id } = await openSession(person, alone)
  const opinion = { id, ...buildOpinionInput('c1', 0.9) }
  expect(await person.refusal(contribute, { ...opinion, parent_block_ids: [hash('ab')] })).toBe('invalid')
})

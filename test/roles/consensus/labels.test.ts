// Labels: an object above a caller's clearance appears in no answer, list, count or record.
import { expect, test } from 'vitest'
import { auditRecord } from '../../../daemon/kernel/audit/audit-chain.ts'
import type { Classification } from '../../../daemon/kernel/label/label.ts'
import { list as recordOf } from '../../../daemon/roles/consensus/contribution/list.ts'
import { bySession } from '../../../daemon/roles/consensus/dissent/by-session.ts'
import { explain } from '../../../daemon/roles/consensus/dissent/explain.ts'
import { get as dissentOf } from '../../../daemon/roles/consensus/dissent/get.ts'
import { list as dissentList } from '../../../daemon/roles/consensus/dissent/list.ts'
import { get as evidenceOf } from '../../../daemon/roles/consensus/evidence/get.ts'
import { attest } from '../../../daemon/roles/consensus/session/attest.ts'
import { cancel } from '../../../daemon/roles/consensus/session/cancel.ts'
import { contribute } from '../../../daemon/roles/consensus/session/contribute.ts'
import { create } from '../../../daemon/roles/consensus/session/create.ts'
import { get } from '../../../daemon/roles/consensus/session/get.ts'
import { list } from '../../../daemon/roles/consensus/session/list.ts'
import { resolve } from '../../../daemon/roles/consensus/session/resolve.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import {
  buildOpinionInput,
  buildSessionInput,
  createOperator,
  openSession,
  setUpConsensusSite,
  waitUntilDelivered,
} from './consensus-site.ts'

const world = setUpConsensusSite(() => ({ contributors: ['c1', 'c2', 'c3'] }))
const createClearedOperator = () => createOperator(world())
const createUnclearedOperator = () => world().as({ roles: ['operator'], clearance: { level: 'RESTRICTED' } })

test('a contribution above the session is refused with 403 and on record; it changes nothing', async () => {
  const [high, low] = [await createClearedOperator(), await createUnclearedOperator()]
  const { id, version } = await openSession(high, { m: 2, n: 2 }, 'RESTRICTED')
  const nuclear = await world().as({ roles: ['operator'], clearance: { level: 'SECRET', categories: ['NUC'] } })
  const attempts: [CheckedClient, Classification][] = [
    [high, 'SECRET'],
    [high, { level: 'SECRET', releasable_to: ['tenant-a'] }],
    [nuclear, { level: 'RESTRICTED', categories: ['NUC'] }],
  ]
  for (const [person, classification] of attempts) {
    const { status, problem } = await person.call(contribute, { id, ...buildOpinionInput('c1', 1), classification })
    expect([status, problem?.code]).toEqual([403, 'label_denied'])
  }
  expect(await low.ok(get, { id })).toMatchObject({
    version,
    contributions: 0,
    state: 'PROPOSED',
    classification: { level: 'RESTRICTED', categories: [] },
  })
  const { token } = await world().as({ roles: ['auditor'] })
  const at = `/api/v2/audit?target=${id}&action=consensus.session.contribute`
  const { json } = await world().call('consensus', 'GET', at, undefined, { token })
  const records = (json as { items: unknown[] }).items.map((item) => auditRecord.parse(item).event)
  expect(records).toMatchObject(
    ['ann', 'olga', 'olga'].map((subject) => ({ subject, outcome: 'refused', detail: { code: 'label_denied' } })),
  )
})

test('a bare level is releasable as the session is; an explicit label narrows the session for all', async () => {
  const high = await createClearedOperator()
  const wide = { level: 'RESTRICTED', releasable_to: ['FR', 'tenant-a', 'tenant-b'] }
  const { id } = await high.ok(create, { ...buildSessionInput({ m: 3, n: 3 }), classification: wide })
  const first = await high.ok(
    contribute,
    { id, ...buildOpinionInput('c1', 0.9, [1, 1], 'RESTRICTED') },
    { 'idempotency-key': 'w' },
  )
  expect(first.classification.releasable_to).toEqual(wide.releasable_to)
  const lower = await high.ok(contribute, { id, ...buildOpinionInput('c2', 0.9, [1, 1], 'UNCLASSIFIED') })
  expect(lower.classification).toMatchObject(wide)
  const narrow = { level: 'RESTRICTED', releasable_to: ['tenant-a', 'FR', 'DE'] }
  const narrowed = await high.ok(contribute, { id, ...buildOpinionInput('c3', 0.5), classification: narrow })
  expect(narrowed.classification).toMatchObject({ level: 'RESTRICTED', releasable_to: ['FR', 'tenant-a'] })
  const { items } = await high.ok(recordOf, { id })
  expect(items.map(({ classification: { level, releasable_to } }) => [level, releasable_to])).toEqual([
    ['RESTRICTED', wide.releasable_to],
    ['UNCLASSIFIED', wide.releasable_to],
    ['RESTRICTED', narrow.releasable_to.toSorted()],
  ])
})

test('a contribution that would leave nobody to see the session is refused', async () => {
  const french = await world().as({
    subject: 'olga',
    roles: ['operator'],
    clearance: { level: 'SECRET', nationality: 'FR' },
  })
  const ours = { level: 'UNCLASSIFIED', releasable_to: ['tenant-a'] }
  const { id } = await french.ok(create, { ...buildSessionInput({ m: 2, n: 2 }), classification: ours })
  const theirs = { level: 'UNCLASSIFIED', releasable_to: ['FR'] }
  expect(await french.refusal(contribute, { id, ...buildOpinionInput('c1', 1), classification: theirs })).toBe(
    'label_denied',
  )
  expect(await french.ok(get, { id })).toMatchObject({ contributions: 0, version: 1 })
})

test('a session, its dissent and the explanation carry the join of all that went in, and keep what they had', async () => {
  const person = await world().as({
    subject: 'olga',
    roles: ['operator'],
    clearance: { level: 'SECRET', categories: ['NUC', 'X'] },
  })
  const among = (...releasable_to: string[]) => ({ level: 'SECRET', categories: ['NUC', 'X'], releasable_to })
  const { id } = await person.ok(create, {
    ...buildSessionInput({ m: 2, n: 3 }),
    classification: among('FR', 'DE', 'tenant-a'),
  })
  const contributeAs = (name: string, score: number, classification: Classification) =>
    person.ok(contribute, { id, ...buildOpinionInput(name, score), classification })
  await contributeAs('c1', 0, { level: 'SECRET', categories: ['X'], releasable_to: ['FR', 'IT', 'tenant-a'] })
  await contributeAs('c2', 1, { level: 'RESTRICTED', categories: ['NUC'], releasable_to: ['DE', 'FR', 'tenant-a'] })
  const joined = { level: 'SECRET', categories: ['NUC', 'X'], releasable_to: ['FR', 'tenant-a'] }
  expect(await waitUntilDelivered(person, id)).toMatchObject({ state: 'IN_CONFLICT', classification: joined })
  const [first] = (await person.ok(bySession, { session_id: id })).items
  expect(first?.classification).toMatchObject(joined)
  const explained = await person.ok(explain, { id: first?.id ?? '' })
  expect(explained.classification).toEqual(first?.classification)
  expect(explained.text).toContain('Classification: SITE SECRET NUC X, releasable to FR, tenant-a.')
  expect(explained.markdown).toContain('Classification: `SITE` `SECRET` `NUC` `X`, releasable to `FR`, `tenant-a`.')

  await contributeAs('c3', 1, { level: 'SECRET', categories: [], releasable_to: ['tenant-a'] })
  const narrowed = { ...joined, releasable_to: ['tenant-a'] }
  expect(await waitUntilDelivered(person, id)).toMatchObject({ classification: narrowed })
  await person.ok(resolve, { id })
  await waitUntilDelivered(person, id)
  const { items } = await person.ok(bySession, { session_id: id })
  const renewed = items.find((dissent) => dissent.id !== first?.id)
  expect(items.find((dissent) => dissent.id === first?.id)?.classification).toMatchObject(joined)
  expect(renewed?.classification).toMatchObject(narrowed)
  await person.ok(attest, { id, decision: 'match', rationale: 'seen' })
  const { evidence_block_id: block_id = '' } = await waitUntilDelivered(person, id)
  expect((await person.ok(evidenceOf, { block_id })).content.label).toMatchObject(narrowed)
})

test('objects above a caller do not exist for them, in any request', async () => {
  const [high, low] = [await createClearedOperator(), await createUnclearedOperator()]
  const { id } = await openSession(high, { m: 2, n: 2 }, 'SECRET')
  await high.ok(contribute, { id, ...buildOpinionInput('c1', 0) })
  const torn = await high.ok(contribute, { id, ...buildOpinionInput('c2', 1, [1, 1], 'SECRET') })
  expect(torn).toMatchObject({ state: 'IN_CONFLICT', classification: { level: 'SECRET', originator: 'tenant-a' } })
  await waitUntilDelivered(high, id)
  const { items } = await high.ok(bySession, { session_id: id })
  const dissent = items[0]?.id ?? ''
  await high.ok(attest, { id, decision: 'match', rationale: 'seen' })
  const { evidence_block_id: block_id = '' } = await waitUntilDelivered(high, id)
  expect((await high.ok(evidenceOf, { block_id })).content.label.level).toBe('SECRET')

  for (const hidden of [
    await low.refusal(get, { id }),
    await low.refusal(recordOf, { id }),
    await low.refusal(bySession, { session_id: id }),
    await low.refusal(dissentOf, { id: dissent }),
    await low.refusal(explain, { id: dissent }),
    await low.refusal(evidenceOf, { block_id }),
    await low.refusal(contribute, { id, ...buildOpinionInput('c3', 1) }),
    await low.refusal(resolve, { id }),
    await low.refusal(attest, { id, decision: 'match', rationale: 'mine' }),
    await low.refusal(cancel, { id }),
  ]) {
    expect(hidden).toBe('not_found')
  }
  const events = await world().call('consensus', 'GET', `/api/v2/consensus/session/${id}/events`, undefined, low)
  expect(events.status).toBe(404)
  expect((await low.ok(dissentList, { session_id: id })).items).toEqual([])
  expect((await high.ok(get, { id })).state).toBe('RATIFIED')
})

test('lists of the cleared and of the others differ by exactly the objects above, and so do their pages', async () => {
  const who = { subject: 'olga', roles: ['operator'], tenant: 'tenant-p' }
  const high = await world().as(who)
  const low = await world().as({ ...who, clearance: { level: 'RESTRICTED' } })
  for (let at = 0; at < 10; at++) await openSession(high, { m: 1, n: 1 }, at % 2 === 0 ? 'SECRET' : 'RESTRICTED')
  expect((await high.ok(list, {})).items).toHaveLength(10)
  const page = await low.ok(list, { limit: 5 })
  expect(page.items.map(({ classification }) => classification.level)).toEqual(Array(5).fill('RESTRICTED'))
  expect(page.next_cursor).toBeUndefined()
  for (const [person, total] of [[high, 10] as const, [low, 5] as const]) {
    const first = await person.ok(list, { limit: 2 })
    expect(first).toMatchObject({ total, total_is: 'exact' })
    expect(await person.ok(list, { limit: 2, cursor: first.next_cursor ?? '' })).toMatchObject({ total })
  }
})

test('the audit view leaves out records above the auditor', async () => {
  const high = await createClearedOperator()
  const { id } = await openSession(high, { m: 1, n: 1 }, 'SECRET')
  await high.ok(contribute, { id, ...buildOpinionInput('c1', 1, [1, 1], 'SECRET') })
  const { evidence_block_id = '' } = await waitUntilDelivered(high, id)
  const seenBy = async (level: string, target: string) => {
    const { token } = await world().as({ roles: ['auditor'], clearance: { level } })
    const answer = await world().call('consensus', 'GET', `/api/v2/audit?target=${target}`, undefined, { token })
    return (answer.json as { items: unknown[] }).items.length
  }
  expect([await seenBy('SECRET', id), await seenBy('RESTRICTED', id)]).toEqual([2, 0])
  expect([await seenBy('SECRET', evidence_block_id), await seenBy('RESTRICTED', evidence_block_id)]).toEqual([1, 0])
})

test('nobody writes above their own clearance, nor in a policy that is not the site’s', async () => {
  const [high, low] = [await createClearedOperator(), await createUnclearedOperator()]
  expect(await low.refusal(create, buildSessionInput({ m: 1, n: 1 }, 'SECRET'))).toBe('label_denied')
  const { id, version } = await openSession(low, { m: 1, n: 1 }, 'RESTRICTED')
  expect(await low.refusal(contribute, { id, ...buildOpinionInput('c1', 1, [1, 1], 'SECRET') })).toBe('label_denied')
  expect(await high.refusal(contribute, { id, ...buildOpinionInput('c1', 1, [1, 1], 'COSMIC') })).toBe('invalid')
  expect(
    await high.refusal(create, {
      ...buildSessionInput({ m: 1, n: 1 }),
      classification: { policy: 'NATO', level: 'SECRET' },
    }),
  ).toBe('invalid')
  expect(await low.ok(get, { id })).toMatchObject({ version, contributions: 0 })
})

test('categories and releasability count like levels', async () => {
  const high = await createClearedOperator()
  const nuclear = await world().as({ roles: ['operator'], clearance: { level: 'SECRET', categories: ['NUC'] } })
  const classification = { level: 'SECRET', categories: ['NUC'], releasable_to: ['tenant-a', 'FR'] }
  expect(await high.refusal(create, { ...buildSessionInput({ m: 2, n: 2 }), classification })).toBe('label_denied')
  const { id } = await nuclear.ok(create, { ...buildSessionInput({ m: 2, n: 2 }), classification })
  expect(await high.refusal(get, { id })).toBe('not_found')
  const contributed = await nuclear.ok(contribute, {
    id,
    ...buildOpinionInput('c1', 1),
    classification: { level: 'SECRET', releasable_to: ['tenant-a'] },
  })
  expect(contributed.classification).toMatchObject({ categories: ['NUC'], releasable_to: ['tenant-a'] })
})

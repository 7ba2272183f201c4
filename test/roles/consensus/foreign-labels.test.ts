// A peer with a labelling policy of its own: its labels are read by the map that was agreed, and what that lacks is refused.
import { afterAll, describe, expect, test } from 'vitest'
import { auditRecord } from '../../../daemon/kernel/audit.ts'
import type { Label } from '../../../daemon/kernel/label.ts'
import type { LabelMap } from '../../../daemon/kernel/label-map.ts'
import { list as recordOf } from '../../../daemon/roles/consensus/contribution/list.ts'
import { contribute as federate } from '../../../daemon/roles/consensus/federation/contribute.ts'
import { invite } from '../../../daemon/roles/consensus/federation/invite.ts'
import { result } from '../../../daemon/roles/consensus/federation/result.ts'
import { contribute } from '../../../daemon/roles/consensus/session/contribute.ts'
import { create } from '../../../daemon/roles/consensus/session/create.ts'
import { get } from '../../../daemon/roles/consensus/session/get.ts'
import { noon } from '../../support/simulated-clock.ts'
import { asked, delivered, operatorOf, opinion, sharedWorld } from './consensus-world.ts'
import { carrierOf, opinionFields } from './federated-session.ts'
import { peerSite, shared } from './peer-messages.ts'

const map: LabelMap = {
  NATION: {
    levels: { OFFEN: 'UNCLASSIFIED', GEHEIM: 'SECRET', VERTRAULICH: 'RESTRICTED' },
    categories: { KERN: 'NUC' },
    releasable_to: { 'tenant-a': 'tenant-a', 'tenant-b': 'tenant-b' },
  },
}
const bravo = await peerSite('bravo', 'tenant-b')
const charlie = await peerSite('charlie', 'tenant-c')
afterAll(() => {
  bravo.remove()
  charlie.remove()
})
const world = sharedWorld(() => ({
  contributors: ['c1', 'c2'],
  peers: [
    { ...bravo.pinned, ceiling: { ...bravo.pinned.ceiling, categories: ['NUC'] }, label_map: map },
    charlie.pinned,
  ],
}))

const theirs: Label = {
  policy: 'NATION',
  level: 'VERTRAULICH',
  categories: [],
  originator: 'tenant-b',
  releasable_to: ['tenant-a', 'tenant-b', 'tenant-x'],
}
const nuclear: Label = { ...theirs, level: 'GEHEIM', categories: ['KERN'] }
const policy = { m: 2, n: 2, combination_method: 'weighted_average', ratify_threshold: 0.8, conflict_threshold: 0.5 }
let count = 0

async function invitation(label: Label, classification = label) {
  const session_id = `ses_${String(++count).padStart(32, '0')}`
  const fields = { session_id, lens_id: 'lens-b', lens_version: '1', policy, classification }
  return { session_id, message: await bravo.message('invitation', fields, { label }) }
}
const cleared = () =>
  world().as({ subject: 'olga', roles: ['operator'], clearance: { level: 'SECRET', categories: ['NUC'] } })

test('a session that a peer labels in its own terms is labelled here in ours', async () => {
  const { session_id: id, message } = await invitation(nuclear)
  await (await carrierOf(world())).ok(invite, message)
  expect(await (await cleared()).ok(get, { id })).toMatchObject({
    classification: {
      policy: 'SITE',
      level: 'SECRET',
      categories: ['NUC'],
      originator: 'tenant-b',
      // `tenant-x` means nothing here: without it fewer may see the session, never more.
      releasable_to: ['tenant-a', 'tenant-b'],
    },
  })
  expect(await (await operatorOf(world())).refusal(get, { id })).toBe('not_found')
  const { token } = await world().as({ roles: ['auditor'], clearance: { level: 'SECRET', categories: ['NUC'] } })
  const { json } = await world().call('consensus', 'GET', `/api/v2/audit?target=${id}`, undefined, { token })
  const [record] = (json as { items: unknown[] }).items.map((item) => auditRecord.parse(item).event)
  expect(record?.label).toMatchObject({ policy: 'SITE', level: 'SECRET', categories: ['NUC'] })
})

test('what the peer says later narrows the copy, in our terms; a contribution goes back under our label', async () => {
  const { session_id, message } = await invitation(theirs)
  const carrier = await carrierOf(world())
  await carrier.ok(invite, message)
  const person = await cleared()
  expect(await person.ok(get, { id: session_id })).toMatchObject({ classification: { level: 'RESTRICTED' } })
  await person.ok(contribute, { id: session_id, ...opinion('c1', 0.9, [1, 1], 'RESTRICTED') })
  expect(await delivered(person, session_id)).toMatchObject({ undeliverable: [] })
  const retraction = { at: new Date(noon).toISOString(), was: 'PENDING_QUORUM' }
  await carrier.ok(result, await bravo.message('result', { session_id, retraction }, { label: nuclear }))
  expect(await person.ok(get, { id: session_id })).toMatchObject({
    state: 'WITHDRAWN',
    classification: { level: 'SECRET', categories: ['NUC'] },
  })
  expect(await (await operatorOf(world())).refusal(get, { id: session_id })).toBe('not_found')
})

test('a contribution of the peer enters a session of ours with its classification in our terms', async () => {
  const person = await operatorOf(world())
  const { id } = await person.ok(create, { ...asked({ m: 2, n: 3 }), classification: shared, invite: ['bravo'] })
  await delivered(person, id)
  const label: Label = { ...theirs, level: 'OFFEN' }
  const said = { ...opinionFields(id, 0.9), classification: label }
  const carrier = await carrierOf(world())
  await carrier.ok(federate, await bravo.message('contribution', said, { label }))
  const { items } = await person.ok(recordOf, { id })
  expect(items.map(({ classification }) => classification)).toMatchObject([
    { policy: 'SITE', level: 'UNCLASSIFIED', releasable_to: ['tenant-a', 'tenant-b'] },
  ])
  expect(await person.ok(get, { id })).toMatchObject({
    contributions: 1,
    classification: { releasable_to: ['tenant-a', 'tenant-b'] },
  })
  const above = { ...opinionFields(id, 0.1), classification: theirs }
  expect(await carrier.refusal(federate, await bravo.message('contribution', above, { label: theirs }))).toBe(
    'label_denied',
  )
  expect((await person.ok(get, { id })).contributions).toBe(1)
})

describe('what the map does not hold is refused, and nothing is made of it', () => {
  test.each<[string, Label]>([
    ['a level', { ...theirs, level: 'STRENG GEHEIM' }],
    ['a category', { ...nuclear, categories: ['KERN', 'LUFT'] }],
    ['a policy', { ...theirs, policy: 'OTHER' }],
    ['a level of ours under their policy', { ...theirs, level: 'RESTRICTED' }],
    ['an audience of which we are no part', { ...theirs, releasable_to: ['tenant-b', 'tenant-x'] }],
  ])('%s', async (_, label) => {
    const { session_id, message } = await invitation(label)
    expect(await (await carrierOf(world())).refusal(invite, message)).toBe('label_denied')
    expect(await (await cleared()).refusal(get, { id: session_id })).toBe('not_found')
  })

  test('also inside the message, under a label that is mapped', async () => {
    const { session_id, message } = await invitation(nuclear, { ...nuclear, categories: ['LUFT'] })
    expect(await (await carrierOf(world())).refusal(invite, message)).toBe('label_denied')
    expect(await (await cleared()).refusal(get, { id: session_id })).toBe('not_found')
  })

  test('and so is a classification that in our terms is above the message', async () => {
    const { message } = await invitation(theirs, nuclear)
    expect(await (await carrierOf(world())).refusal(invite, message)).toBe('label_denied')
  })

  test('the map of one peer counts for no other', async () => {
    const session_id = `ses_${String(++count).padStart(32, '0')}`
    const label = { ...theirs, originator: 'tenant-c' }
    const fields = { session_id, lens_id: 'lens-c', lens_version: '1', policy, classification: label }
    const message = await charlie.message('invitation', fields, { label })
    expect(await (await carrierOf(world())).refusal(invite, message)).toBe('label_denied')
  })
})

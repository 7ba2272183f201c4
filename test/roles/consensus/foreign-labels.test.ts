// A peer with its own labelling policy: its labels are translated by the agreed map; unmapped ones are refused.
import { afterAll, describe, expect, test } from 'vitest'
import { auditRecord } from '../../../daemon/kernel/audit/audit-chain.ts'
import type { Label } from '../../../daemon/kernel/label/label.ts'
import type { LabelMap } from '../../../daemon/kernel/label/label-map.ts'
import { list as recordOf } from '../../../daemon/roles/consensus/contribution/list.ts'
import { contribute as federate } from '../../../daemon/roles/consensus/federation/contribute.ts'
import { invite } from '../../../daemon/roles/consensus/federation/invite.ts'
import { result } from '../../../daemon/roles/consensus/federation/result.ts'
import { contribute } from '../../../daemon/roles/consensus/session/contribute.ts'
import { create } from '../../../daemon/roles/consensus/session/create.ts'
import { get } from '../../../daemon/roles/consensus/session/get.ts'
import { noon } from '../../support/clock/simulated-clock.ts'
import {
  buildOpinionInput,
  buildSessionInput,
  createOperator,
  setUpConsensusSite,
  waitUntilDelivered,
} from './consensus-site.ts'
import { buildOpinionFields, createCarrier } from './federated-session.ts'
import { createPeerSite, sharedClassification } from './peer-site.ts'

const map: LabelMap = {
  NATION: {
    levels: { OFFEN: 'UNCLASSIFIED', GEHEIM: 'SECRET', VERTRAULICH: 'RESTRICTED' },
    categories: { KERN: 'NUC' },
    releasable_to: { 'tenant-a': 'tenant-a', 'tenant-b': 'tenant-b' },
  },
}
const bravo = await createPeerSite('bravo', 'tenant-b')
const charlie = await createPeerSite('charlie', 'tenant-c')
afterAll(() => {
  bravo.remove()
  charlie.remove()
})
const world = setUpConsensusSite(() => ({
  contributors: ['c1', 'c2'],
  peers: [
    { ...bravo.pinned, ceiling: { ...bravo.pinned.ceiling, categories: ['NUC'] }, label_map: map },
    charlie.pinned,
  ],
}))

const foreignLabel: Label = {
  policy: 'NATION',
  level: 'VERTRAULICH',
  categories: [],
  originator: 'tenant-b',
  releasable_to: ['tenant-a', 'tenant-b', 'tenant-x'],
}
const foreignNuclearLabel: Label = { ...foreignLabel, level: 'GEHEIM', categories: ['KERN'] }
const policy = { m: 2, n: 2, combination_method: 'weighted_average', ratify_threshold: 0.8, conflict_threshold: 0.5 }
let count = 0

async function buildInvitation(label: Label, classification = label) {
  const session_id = `ses_${String(++count).padStart(32, '0')}`
  const fields = { session_id, lens_id: 'lens-b', lens_version: '1', policy, classification }
  return { session_id, message: await bravo.message('invitation', fields, { label }) }
}
const createClearedOperator = () =>
  world().as({ subject: 'olga', roles: ['operator'], clearance: { level: 'SECRET', categories: ['NUC'] } })

test('a session that a peer labels in its own terms is labelled here in ours', async () => {
  const { session_id: id, message } = await buildInvitation(foreignNuclearLabel)
  await (await createCarrier(world())).ok(invite, message)
  expect(await (await createClearedOperator()).ok(get, { id })).toMatchObject({
    classification: {
      policy: 'SITE',
      level: 'SECRET',
      categories: ['NUC'],
      originator: 'tenant-b',
      // `tenant-x` means nothing here: without it fewer may see the session, never more.
      releasable_to: ['tenant-a', 'tenant-b'],
    },
  })
  expect(await (await createOperator(world())).refusal(get, { id })).toBe('not_found')
  const { token } = await world().as({ roles: ['auditor'], clearance: { level: 'SECRET', categories: ['NUC'] } })
  const { json } = await world().call('consensus', 'GET', `/api/v2/audit?target=${id}`, undefined, { token })
  const [record] = (json as { items: unknown[] }).items.map((item) => auditRecord.parse(item).event)
  expect(record?.label).toMatchObject({ policy: 'SITE', level: 'SECRET', categories: ['NUC'] })
})

test('a later label of the peer narrows the copy, in our terms; a contribution goes back under our label', async () => {
  const { session_id, message } = await buildInvitation(foreignLabel)
  const carrier = await createCarrier(world())
  await carrier.ok(invite, message)
  const person = await createClearedOperator()
  expect(await person.ok(get, { id: session_id })).toMatchObject({ classification: { level: 'RESTRICTED' } })
  await person.ok(contribute, { id: session_id, ...buildOpinionInput('c1', 0.9, [1, 1], 'RESTRICTED') })
  expect(await waitUntilDelivered(person, session_id)).toMatchObject({ undeliverable: [] })
  const retraction = { at: new Date(noon).toISOString(), was: 'PENDING_QUORUM' }
  await carrier.ok(result, await bravo.message('result', { session_id, retraction }, { label: foreignNuclearLabel }))
  expect(await person.ok(get, { id: session_id })).toMatchObject({
    state: 'WITHDRAWN',
    classification: { level: 'SECRET', categories: ['NUC'] },
  })
  expect(await (await createOperator(world())).refusal(get, { id: session_id })).toBe('not_found')
})

test('a contribution of the peer enters a session of ours with its classification in our terms', async () => {
  const person = await createOperator(world())
  const { id } = await person.ok(create, {
    ...buildSessionInput({ m: 2, n: 3 }),
    classification: sharedClassification,
    invite: ['bravo'],
  })
  await waitUntilDelivered(person, id)
  const label: Label = { ...foreignLabel, level: 'OFFEN' }
  const opinion = { ...buildOpinionFields(id, 0.9), classification: label }
  const carrier = await createCarrier(world())
  await carrier.ok(federate, await bravo.message('contribution', opinion, { label }))
  const { items } = await person.ok(recordOf, { id })
  expect(items.map(({ classification }) => classification)).toMatchObject([
    { policy: 'SITE', level: 'UNCLASSIFIED', releasable_to: ['tenant-a', 'tenant-b'] },
  ])
  expect(await person.ok(get, { id })).toMatchObject({
    contributions: 1,
    classification: { releasable_to: ['tenant-a', 'tenant-b'] },
  })
  const above = { ...buildOpinionFields(id, 0.1), classification: foreignLabel }
  expect(await carrier.refusal(federate, await bravo.message('contribution', above, { label: foreignLabel }))).toBe(
    'label_denied',
  )
  expect((await person.ok(get, { id })).contributions).toBe(1)
})

describe('refuses labels that the map does not hold, and makes nothing of them', () => {
  test.each<[string, Label]>([
    ['a level', { ...foreignLabel, level: 'STRENG GEHEIM' }],
    ['a category', { ...foreignNuclearLabel, categories: ['KERN', 'LUFT'] }],
    ['a policy', { ...foreignLabel, policy: 'OTHER' }],
    ['a level of ours under their policy', { ...foreignLabel, level: 'RESTRICTED' }],
    ['an audience without this site', { ...foreignLabel, releasable_to: ['tenant-b', 'tenant-x'] }],
  ])('%s', async (_, label) => {
    const { session_id, message } = await buildInvitation(label)
    expect(await (await createCarrier(world())).refusal(invite, message)).toBe('label_denied')
    expect(await (await createClearedOperator()).refusal(get, { id: session_id })).toBe('not_found')
  })

  test('also inside the message, under a label that is mapped', async () => {
    const { session_id, message } = await buildInvitation(foreignNuclearLabel, {
      ...foreignNuclearLabel,
      categories: ['LUFT'],
    })
    expect(await (await createCarrier(world())).refusal(invite, message)).toBe('label_denied')
    expect(await (await createClearedOperator()).refusal(get, { id: session_id })).toBe('not_found')
  })

  test('and so is a classification that in our terms is above the message', async () => {
    const { message } = await buildInvitation(foreignLabel, foreignNuclearLabel)
    expect(await (await createCarrier(world())).refusal(invite, message)).toBe('label_denied')
  })

  test('the map of one peer counts for no other', async () => {
    const session_id = `ses_${String(++count).padStart(32, '0')}`
    const label = { ...foreignLabel, originator: 'tenant-c' }
    const fields = { session_id, lens_id: 'lens-c', lens_version: '1', policy, classification: label }
    const message = await charlie.message('invitation', fields, { label })
    expect(await (await createCarrier(world())).refusal(invite, message)).toBe('label_denied')
  })
})

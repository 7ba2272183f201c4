// Contributors are enrolled, changed and removed while the service runs, each tenant its own; the profile is the seed.
import { afterAll, expect, test } from 'vitest'
import { list as recordOf } from '../../../daemon/roles/consensus/contribution/list.ts'
import { list } from '../../../daemon/roles/consensus/contributor/list.ts'
import { remove } from '../../../daemon/roles/consensus/contributor/remove.ts'
import { set } from '../../../daemon/roles/consensus/contributor/set.ts'
import { contribute as federate } from '../../../daemon/roles/consensus/federation/contribute.ts'
import { contribute } from '../../../daemon/roles/consensus/session/contribute.ts'
import { create } from '../../../daemon/roles/consensus/session/create.ts'
import { get } from '../../../daemon/roles/consensus/session/get.ts'
import { list as listSessions } from '../../../daemon/roles/consensus/session/list.ts'
import {
  buildOpinionInput,
  buildSessionInput,
  createOperator,
  openSession,
  setUpConsensusSite,
} from './consensus-site.ts'
import { buildOpinionFields, createCarrier } from './federated-session.ts'
import { createPeerSite, sharedClassification } from './peer-site.ts'

const bravo = await createPeerSite('bravo', 'tenant-b')
afterAll(() => bravo.remove())
const world = setUpConsensusSite(() => ({ contributors: ['c1', 'c2', 'tenant-b'], peers: [bravo.pinned] }))

const names = async (person: Awaited<ReturnType<typeof createOperator>>) =>
  (await person.ok(list, {})).items.map(({ name, origin }) => `${name} ${origin}`)

test('a contributor enrolled at run time contributes at once, with its keys alone, also after a restart', async () => {
  const person = await createOperator(world())
  const { id } = await openSession(person, { m: 3, n: 3 })
  const opinion = { id, ...buildOpinionInput('new', 0.9) }
  expect(await person.refusal(contribute, opinion)).toBe('not_contributor')
  await person.ok(set, { name: 'new', signer_keys: ['new-1'], spoken_for_by: ['olga'] })
  expect(await person.refusal(contribute, { ...opinion, signer_key_id: 'other' })).toBe('not_contributor')
  expect(await person.refusal(contribute, opinion)).toBe(200)
  await world().restart()
  expect(await names(person)).toEqual(['c1 profile', 'c2 profile', 'new operation', 'tenant-b profile'])
})

test('a change takes the place of the profile; a removed contributor contributes no more, and its opinion stays', async () => {
  const person = await createOperator(world())
  const { id } = await openSession(person, { m: 3, n: 3 })
  await person.ok(contribute, { id, ...buildOpinionInput('c1', 0.9) })
  await person.ok(set, { name: 'c1', signer_keys: ['c1-2'], spoken_for_by: ['olga'] })
  expect(await person.refusal(contribute, { id, ...buildOpinionInput('c1', 0.8) })).toBe('not_contributor')
  expect(await person.refusal(contribute, { id, ...buildOpinionInput('c1', 0.8), signer_key_id: 'c1-2' })).toBe(200)
  await person.ok(remove, { name: 'c1' })
  expect(await person.refusal(contribute, { id, ...buildOpinionInput('c1', 0.7), signer_key_id: 'c1-2' })).toBe(
    'not_contributor',
  )
  expect(await person.ok(get, { id })).toMatchObject({ contributors: 1, contributions: 2 })
  expect(await person.refusal(remove, { name: 'c1' })).toBe('not_found')
  expect(await names(person)).not.toContain('c1 profile')
})

test('a page ends with a cursor of the list and the tenant', async () => {
  const person = await createOperator(world())
  for (const name of ['page-1', 'page-2', 'page-3'])
    await person.ok(set, { name, signer_keys: [name], spoken_for_by: ['olga'] })
  const all = (await person.ok(list, {})).items.map(({ name }) => name)
  const found: string[] = []
  let cursor: string | undefined
  do {
    const page = await person.ok(list, { limit: 2, ...(cursor && { cursor }) })
    expect([page.total, page.total_is]).toEqual([all.length, 'exact'])
    found.push(...page.items.map(({ name }) => name))
    const there = await world().as({ subject: 'olga', roles: ['operator'], tenant: 'tenant-b' })
    if (page.next_cursor) expect(await there.refusal(list, { cursor: page.next_cursor })).toBe('malformed')
    cursor = page.next_cursor
  } while (cursor !== undefined)
  expect(found).toEqual(all)
  expect(await person.refusal(list, { cursor: 'page-1' })).toBe('malformed')
})

test('an analyst reads contributors and changes none; another tenant has its own', async () => {
  const [analyst, there] = [
    await world().as(),
    await world().as({ subject: 'olga', roles: ['operator'], tenant: 'tenant-b' }),
  ]
  expect(await names(analyst)).toContain('c2 profile')
  const enrolment = { name: 'c2', signer_keys: ['mine'], spoken_for_by: ['ann'] }
  expect(await analyst.refusal(set, enrolment)).toBe('forbidden')
  expect(await analyst.refusal(remove, { name: 'c2' })).toBe('forbidden')
  await there.ok(set, enrolment)
  expect(await names(there)).toContain('c2 operation')
  expect(await names(analyst)).toContain('c2 profile')
})

test('a contributor with the name of a peer’s tenant takes no vote of the peer, and is enrolled no more', async () => {
  const [person, carrier] = [await createOperator(world()), await createCarrier(world())]
  const input = { ...buildSessionInput({ m: 3, n: 3 }), classification: sharedClassification, invite: ['bravo'] }
  const { id } = await person.ok(create, input)
  await carrier.ok(federate, await bravo.message('contribution', buildOpinionFields(id, 0.9)))
  const own = { ...buildOpinionInput('tenant-b', 0.1), classification: sharedClassification }
  expect(await person.refusal(contribute, { id, ...own })).toBe('not_contributor')
  const record = await person.ok(recordOf, { id })
  expect(record.items.map(({ submitted_by, standing }) => [submitted_by, standing])).toEqual([['peer:bravo', true]])
  const awaited = await person.ok(listSessions, { awaiting: 'tenant-b' })
  expect(awaited.items.map((session) => session.id)).not.toContain(id)
  const enrolment = { signer_keys: ['k'], spoken_for_by: [] }
  expect(await person.refusal(set, { name: 'tenant-b', ...enrolment })).toBe('already_exists')
  const elsewhere = await openSession(person, { m: 3, n: 3 })
  expect(await person.refusal(contribute, { id: elsewhere.id, ...buildOpinionInput('tenant-b', 0.1) })).toBe(200)
})

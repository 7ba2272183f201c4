// Contributors are enrolled, changed and removed while the service runs, each tenant its own; the profile is the seed.
import { expect, test } from 'vitest'
import { list } from '../../../daemon/roles/consensus/contributor/list.ts'
import { remove } from '../../../daemon/roles/consensus/contributor/remove.ts'
import { set } from '../../../daemon/roles/consensus/contributor/set.ts'
import { contribute } from '../../../daemon/roles/consensus/session/contribute.ts'
import { get } from '../../../daemon/roles/consensus/session/get.ts'
import { buildOpinionInput, createOperator, openSession, setUpConsensusSite } from './consensus-site.ts'

const world = setUpConsensusSite(() => ({ contributors: ['c1', 'c2'] }))

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
  expect(await names(person)).toEqual(['c1 profile', 'c2 profile', 'new operation'])
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

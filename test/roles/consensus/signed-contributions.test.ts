// A contributor signs a contribution with their own key: the evidence then proves it to everybody who has that key.
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { generateKey, listKeys } from '../../../adapters/keys/jose/key-lifecycle.ts'
import { peopleFiles } from '../../../adapters/peers/files/people-files.ts'
import { peopleFolder } from '../../../daemon/boot/storage/site-folder.ts'
import { personalKey } from '../../../daemon/kernel/identity/person.ts'
import { type TrustedKeys, verifyEvidence } from '../../../daemon/offline/evidence/evidence-file.ts'
import { signContribution } from '../../../daemon/offline/people/personal-signature.ts'
import { list as recordOf } from '../../../daemon/roles/consensus/contribution/list.ts'
import { get as evidenceOf } from '../../../daemon/roles/consensus/evidence/get.ts'
import { invite } from '../../../daemon/roles/consensus/federation/invite.ts'
import { contribute } from '../../../daemon/roles/consensus/session/contribute.ts'
import { create } from '../../../daemon/roles/consensus/session/create.ts'
import { noon } from '../../support/clock/simulated-clock.ts'
import type { TestSite } from '../../support/site/test-site.ts'
import { buildSessionInput, createOperator, startConsensusSite, waitUntilDelivered } from './consensus-site.ts'
import { createCarrier } from './federated-session.ts'
import { createPeerSite, sharedLabel } from './peer-site.ts'

const bravo = await createPeerSite('bravo', 'tenant-b')
const dir = fs.mkdtempSync(path.join(tmpdir(), 'media-'))
const at = new Date(noon).toISOString()
const classification = { level: 'UNCLASSIFIED', releasable_to: ['tenant-a'] }
const label = { policy: 'SITE', categories: [], originator: 'tenant-a', ...classification }

/** A medium with the person's key, and its file. */
async function makeMedium(name: string, not_after?: string) {
  const folder = path.join(dir, name)
  await generateKey(folder, { use: 'personal', now: noon, ...(not_after ? { not_after } : {}) })
  const [key] = listKeys(folder)
  const file = fs.readdirSync(folder).find((each) => each.endsWith('.json'))
  if (!key || !file) throw new Error('no key was made')
  return { name, key, file: path.join(folder, file) }
}

const ann = await makeMedium('ann')
const mallory = await makeMedium('mallory')

let world: TestSite
beforeAll(async () => {
  const contributors = Object.fromEntries(
    ['ann', 'bob'].map((name) => [name, { signer_keys: [ann.key.kid, `${name}-1`], spoken_for_by: ['olga'] }]),
  )
  world = await startConsensusSite({ consensus: { contributors }, peers: [bravo.pinned] })
  for (const { name, key } of [ann, mallory])
    await peopleFiles(peopleFolder(world.folder)).put({ subject: name, keys: [personalKey.parse(key)], enrolled: at })
})
afterAll(async () => {
  await world?.end()
  expect(world?.loggedErrors ?? []).toEqual([])
  bravo.remove()
  fs.rmSync(dir, { recursive: true, force: true })
})

const open = async (policy = { m: 2, n: 2 }) =>
  (await (await createOperator(world)).ok(create, { ...buildSessionInput(policy), classification })).id

type SignedNumbers = { readonly id: string; readonly pair_score: number; readonly contributor_id: string }

async function sign({ id, ...numbers }: SignedNumbers, file = ann.file, created = at) {
  const content = { session_id: id, ...numbers, accuracy: 1, credibility: 1, classification: label }
  return await signContribution(file, content, created, undefined)
}

const buildInput = (numbers: SignedNumbers, signer_key_id = ann.key.kid) => {
  return { ...numbers, accuracy: 1, credibility: 1, signer_key_id, classification }
}

test('a signed contribution is proven in the evidence by the key of the contributor, and by the origin without it', async () => {
  const person = await createOperator(world)
  const id = await open()
  const numbers = { id, contributor_id: 'ann', pair_score: 0.9 }
  await person.ok(contribute, { ...buildInput(numbers), signature: await sign(numbers) })
  await person.ok(contribute, buildInput({ id, contributor_id: 'bob', pair_score: 1 }, 'bob-1'))
  const { evidence_block_id: block_id = '' } = await waitUntilDelivered(person, id)
  const text = JSON.stringify(await person.ok(evidenceOf, { block_id }))
  const site = { name: undefined, keys: listKeys(world.folder.keys) }
  const verdict = await verifyEvidence(text, [site, { name: 'ann', keys: [ann.key] }])
  expect(verdict).toMatchObject({
    verdict: 'valid',
    version: 2,
    chain: 'checked',
    contributions: [
      { contributor_id: 'ann', vouched_by: 'signer', signer: 'ann', keys: [{ fingerprint: ann.key.fingerprint }] },
      { contributor_id: 'bob', vouched_by: 'origin' },
    ],
  })
  expect((await verifyEvidence(text, [site])).contributions).toMatchObject([
    { contributor_id: 'ann', vouched_by: 'origin', signer: 'ann' },
    { contributor_id: 'bob', vouched_by: 'origin' },
  ])
  const byMallory = await verifyEvidence(text, [site, { name: 'ann', keys: [mallory.key] }])
  expect(byMallory).toMatchObject({ verdict: 'invalid', faults: ['ann: no trusted key has signed it'] })
})

test('a pinned site proves nothing about a contributor of its name, and people only about their own site', async () => {
  const person = await createOperator(world)
  const id = await open()
  const numbers = { id, contributor_id: 'ann', pair_score: 0.9 }
  await person.ok(contribute, { ...buildInput(numbers), signature: await sign(numbers) })
  await person.ok(contribute, buildInput({ id, contributor_id: 'bob', pair_score: 1 }, 'bob-1'))
  const { evidence_block_id: block_id = '' } = await waitUntilDelivered(person, id)
  const text = JSON.stringify(await person.ok(evidenceOf, { block_id }))
  const site = { name: 'alpha', keys: listKeys(world.folder.keys), is_site: true as const }
  const judge = async (...more: TrustedKeys[]) =>
    (await verifyEvidence(text, [site, ...more], 'pinned')).contributions[0]
  const byOrigin = { vouched_by: 'origin', signer: 'ann' }
  expect(await judge({ name: 'ann', keys: [mallory.key], is_site: true })).toMatchObject(byOrigin)
  expect(await judge({ name: 'ann', keys: [ann.key], person_of: 'bravo' })).toMatchObject(byOrigin)
  expect(await judge({ name: 'ann', keys: [mallory.key], person_of: 'alpha' })).toMatchObject(byOrigin)
  const bySigner = { vouched_by: 'signer', keys: [{ fingerprint: ann.key.fingerprint }] }
  expect(await judge({ name: 'ann', keys: [ann.key], person_of: 'alpha' })).toMatchObject({
    ...bySigner,
    signer: 'ann',
  })
  expect(await judge({ name: 'olga', keys: [ann.key], person_of: 'alpha' })).toMatchObject({
    ...bySigner,
    signer: 'olga',
  })
})

test.each<[string, (numbers: SignedNumbers) => Promise<object>]>([
  ['of other numbers', async (numbers) => ({ signature: await sign({ ...numbers, pair_score: 0.1 }) })],
  ['for another session', async (numbers) => ({ signature: await sign({ ...numbers, id: `ses_${'0'.repeat(32)}` }) })],
  ['of another person', async (numbers) => ({ signature: await sign(numbers, mallory.file) })],
  [
    'by another key than the named one',
    async (numbers) => ({ signature: await sign(numbers), signer_key_id: 'ann-1' }),
  ],
  [
    'made in the future',
    async (numbers) => ({ signature: await sign(numbers, ann.file, new Date(noon + 3_600_000).toISOString()) }),
  ],
  [
    'whose time was changed',
    async (numbers) => ({ signature: { ...(await sign(numbers)), created: '2026-01-01T00:00:00.000Z' } }),
  ],
  [
    'with another classification',
    async (numbers) => ({ signature: await sign(numbers), classification: { level: 'UNCLASSIFIED' } }),
  ],
])('a signature %s is refused, and nothing enters the session', async (_, change) => {
  const person = await createOperator(world)
  const numbers = { id: await open(), contributor_id: 'ann', pair_score: 0.9 }
  const input = { ...buildInput(numbers), ...((await change(numbers)) as { signature: never }) }
  expect(await person.refusal(contribute, input)).toBe('signature_invalid')
  expect((await person.ok(recordOf, { id: numbers.id })).items).toEqual([])
})

test('a signature over what stands unsigned enters the record, once', async () => {
  const person = await createOperator(world)
  const numbers = { id: await open(), contributor_id: 'ann', pair_score: 0.9 }
  await person.ok(contribute, buildInput(numbers))
  const signature = await sign(numbers)
  for (const _again of [1, 2]) await person.ok(contribute, { ...buildInput(numbers), signature })
  const { items } = await person.ok(recordOf, { id: numbers.id })
  expect(items.map(({ standing, proof }) => [standing, proof !== undefined])).toEqual([
    [false, false],
    [true, true],
  ])
})

test('at the session of a peer nobody signs: the message of the site is the proof', async () => {
  const id = `ses_${'a'.repeat(32)}`
  const policy = { m: 2, n: 2, combination_method: 'weighted_average', ratify_threshold: 0.8, conflict_threshold: 0.5 }
  const invitation = { session_id: id, lens_id: 'l', lens_version: '1', policy, classification: sharedLabel }
  await (await createCarrier(world)).ok(invite, await bravo.message('invitation', invitation))
  const numbers = { id, contributor_id: 'ann', pair_score: 0.9 }
  const input = { ...buildInput(numbers), signature: await sign(numbers) }
  expect(await (await createOperator(world)).refusal(contribute, input)).toBe('invalid')
})

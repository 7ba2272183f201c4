// Attacks by altered, foreign, old and hostile sets, by one person alone and by an altered store: nothing becomes active.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { generateKey } from '../../../../adapters/keys/jose/key-lifecycle.ts'
import { joseSignatures } from '../../../../adapters/keys/jose/signatures.ts'
import { peerFiles } from '../../../../adapters/peers/files/peer-files.ts'
import { canonicalJson, sha256 } from '../../../../daemon/kernel/encoding/canonical-json.ts'
import { acceptAll } from '../../../../daemon/roles/gateway/guide/set/accept-sets.ts'
import { guidanceSets, setArtifactId, setArtifacts } from '../../../../daemon/roles/gateway/guide/set/model.ts'
import { createGuideCall } from '../../../support/guide/guide-call.ts'
import {
  adminOf,
  buildApproval,
  buildRequest,
  createAdmin,
  enrolKey,
  type SetAdmin,
  type SetAnswer,
  type SetSites,
  signerOf,
  startSetSites,
  waitUntilAccepted,
} from './set-sites.ts'

let sites: SetSites
let ann: SetAdmin
let bob: SetAdmin
let signAsAlpha: ReturnType<typeof joseSignatures>['sign']
beforeAll(async () => {
  sites = await startSetSites()
  ann = await createAdmin(sites.bravo, 'ann')
  bob = await createAdmin(sites.bravo, 'bob')
  signAsAlpha = joseSignatures({ dir: sites.alpha.folder.keys, now: () => sites.clock.now() }).sign
})
afterAll(async () => {
  await sites.end()
  expect([...sites.alpha.loggedErrors, ...sites.bravo.loggedErrors]).toEqual([])
})

const secret = {
  ...{ policy: 'SITE', level: 'SECRET', categories: [], originator: 'tenant-a' },
  releasable_to: ['tenant-a', 'tenant-b'],
}
const carry = (body: string, more: object = {}) => ({
  ...{ artifact_id: `artifact_${sha256(body).slice(0, 32)}`, type: 'PromptShim', version: 2 },
  ...{ as_of: new Date(sites.clock.now()).toISOString(), applicability: { tags: [] }, content: { body } },
  ...{ rationale: 'seen at alpha', label: secret, ...more },
})

type SetChange = { readonly manifest?: object; readonly type?: string; readonly sign?: typeof signAsAlpha }

/** A set that alpha's key signs, whatever is in it. */
async function forge(
  artifacts: readonly object[],
  { manifest = {}, type = 'guidance-set', sign = signAsAlpha }: SetChange = {},
) {
  sites.clock.advance(1_000)
  const content = {
    ...{ v: 1, type: 'platform.guidance-set', from: 'alpha', tenant_id: 'tenant-a', to: 'bravo', label: secret },
    ...{
      made_at: new Date(sites.clock.now()).toISOString(),
      artifacts: artifacts.map((each) => sha256(canonicalJson(each))),
    },
    ...manifest,
  }
  const signed = await sign(type, Buffer.from(canonicalJson(content)))
  return canonicalJson({ artifacts, form: 'guidance-set/1', signed })
}
const codeOf = ({ status, body }: SetAnswer) => body.code ?? status
const at = (path: string, body?: object, who = ann.who) =>
  sites.request(sites.bravo, who, body ? 'POST' : 'GET', path, body)
const importForged = async (artifacts: readonly object[], change?: SetChange) =>
  codeOf(await sites.importFile(await forge(artifacts, change)))
const act = async (step: 'request' | 'approve', id: string, by: SetAdmin, decision: object, who = by.who) =>
  codeOf(await at(`sets/${id}/${step}`, { signature: await by.sign(decision) }, who))

test('only what the key of a pinned peer has signed for this site, as a set, is taken', async () => {
  const file = await forge([carry('say it')])
  for (const altered of [
    file.replace('say it', 'say no'),
    file.replace('guidance-set/1', 'guidance-set/2'),
    ` ${file}`,
    file.slice(0, -1),
    '[]',
  ])
    expect(codeOf(await sites.importFile(altered))).toBe('invalid')
  const dir = fs.mkdtempSync(join(sites.bravo.folder.data, 'liar-'))
  await generateKey(dir, { use: 'message', now: sites.clock.now() })
  const sign = joseSignatures({ dir, now: () => sites.clock.now() }).sign
  expect(await importForged([carry('a')], { sign })).toBe('signature_invalid')
  expect(await importForged([carry('b')], { manifest: { from: 'charlie' } })).toBe('signature_invalid')
  // Bytes that the key has signed for another purpose.
  expect(await importForged([carry('c')], { type: 'registry' })).toBe('signature_invalid')
  expect(await importForged([carry('d')], { manifest: { to: 'delta' } })).toBe('invalid')
  expect(await importForged([carry('e')], { manifest: { tenant_id: 'tenant-c' } })).toBe('invalid')
  expect(await importForged([carry('f')], { manifest: { made_at: '2099-01-01T00:00:00.000Z' } })).toBe('invalid')
  expect(await importForged([carry('g'), carry('g')])).toBe('invalid')
  const { items } = (await at('sets')).body
  expect(items).toEqual([])
})

test('size, depth, unknown members, hidden types and labels above the ceiling are refused as a whole', async () => {
  const deep = Array.from({ length: 40 }).reduce<object>((inner) => ({ inner }), {})
  expect(
    await importForged([
      carry('deep', { content: { intent_class: 'a', schema: deep, support: 1 }, type: 'IntentSchema' }),
    ]),
  ).toBe('invalid')
  expect(await importForged([carry('more', { trace_ids: ['0af7651916cd43dd8448eb211c80319c'] })])).toBe('invalid')
  expect(await importForged([carry('scored', { content: { body: 'x', evaluator_score: 1 } })])).toBe('invalid')
  expect(
    await importForged([carry('drift', { type: 'DriftEvent', content: { rule: 'unknown_intent', review: 'held' } })]),
  ).toBe('invalid')
  const large = Array.from({ length: 150 }, (_, number) => carry(`${number}`.padEnd(8_000, 'x')))
  expect(await importForged(large)).toBe('too_large')
  expect(await importForged(Array.from({ length: 501 }, (_, number) => carry(`many ${number}`)))).toBe('invalid')
  const top = { ...secret, level: 'TOP_SECRET' }
  expect(await importForged([carry('high', { label: top })])).toBe('label_denied')
  expect(await importForged([carry('away', { label: { ...secret, releasable_to: ['tenant-a'] } })])).toBe(
    'label_denied',
  )
  expect(await importForged([carry('theirs', { label: { ...secret, policy: 'OTHER' } })])).toBe('label_denied')
})

test('administrators of another tenant, and those below the label, import, see and accept nothing', async () => {
  const file = await forge([carry('for bravo')])
  const other = adminOf('otto', { tenant: 'tenant-c' })
  const low = adminOf('lou', { clearance: { level: 'UNCLASSIFIED' } })
  expect(codeOf(await sites.importFile(file, other))).toBe('not_your_tenant')
  expect(codeOf(await sites.importFile(file, low))).toBe('label_denied')
  expect(codeOf(await sites.importFile(file, adminOf('pat', { roles: ['operator'] })))).toBe('forbidden')
  const { id } = (await sites.importFile(file)).body
  for (const who of [other, low]) {
    expect((await at(`sets/${id}`, undefined, who)).status).toBe(404)
    expect((await at(`sets/${id}/artifacts`, undefined, who)).status).toBe(404)
    expect((await at('sets', undefined, who)).body.items).toEqual([])
  }
  expect(codeOf(await at(`sets/${id}/reject`, { reason: 'x' }, other))).toBe('not_your_tenant')
  expect(codeOf(await at(`sets/${id}/reject`, { reason: 'x' }, low))).toBe('not_found')
})

test('one person, one key, another token, set, digest or choice do not make two people', async () => {
  const { body: set } = await sites.importFile(await forge([carry('one'), carry('two'), carry('hid\u202eden')]))
  const { body: otherSet } = await sites.importFile(await forge([carry('three')]))
  const request = buildRequest(sites.bravo, set, 'ann')
  const build = (more: object, by = 'ann') => buildRequest(sites.bravo, set, by, more)
  expect(await act('approve', set.id, bob, buildApproval(request, 'bob'))).toBe('conflict')
  expect(await act('request', set.id, ann, build({ digest: otherSet.digest }))).toBe('conflict')
  expect(await act('request', set.id, ann, build({ set: otherSet.id }))).toBe('signature_invalid')
  expect(await act('request', set.id, ann, build({ site: 'alpha' }))).toBe('signature_invalid')
  for (const artifacts of [[4], [2, 1], [1, 1], [3]])
    expect(await act('request', set.id, ann, build({ artifacts }))).toBe('invalid')
  expect(await act('request', set.id, ann, build({}, 'bob'))).toBe('signature_invalid')
  expect(await act('request', set.id, ann, request, bob.who)).toBe('forbidden')
  const eve = await createAdmin(sites.bravo, 'eve', false)
  expect(await act('request', set.id, eve, build({}, 'eve'))).toBe('signature_invalid')
  expect(await act('request', set.id, ann, request)).toBe(200)
  expect(await act('approve', set.id, ann, buildApproval(request, 'ann'))).toBe('forbidden')
  // Her key under the name of another person.
  await createAdmin(sites.bravo, 'anna')
  expect(await act('approve', set.id, signerOf('anna', ann.key), buildApproval(request, 'anna'))).toBe(
    'signature_invalid',
  )
  expect(await act('approve', set.id, bob, request)).toBe('signature_invalid')
  expect(await act('approve', set.id, bob, buildApproval(request, 'bob', { artifacts: [1, 2] }))).toBe('conflict')
  expect(await act('approve', set.id, bob, buildApproval(request, 'bob', { request: 'a'.repeat(96) }))).toBe('conflict')
  await enrolKey(sites.bravo, 'ann', ann.key, 'revoked')
  expect(await act('approve', set.id, bob, buildApproval(request, 'bob'))).toBe('conflict')
  await enrolKey(sites.bravo, 'ann', ann.key)
  expect((await at(`sets/${set.id}`)).body.status).toBe('held')
})

async function requestSet(artifacts: readonly object[]) {
  const file = await forge(artifacts)
  const { body: set } = await sites.importFile(file)
  const request = buildRequest(sites.bravo, set, 'ann')
  expect(await act('request', set.id, ann, request)).toBe(200)
  return { file, set, approval: buildApproval(request, 'bob') }
}

test('a pause of the curator, a revoked key of the peer and an altered store hold up an acceptance', async () => {
  const { set, approval } = await requestSet([carry('held up')])
  await at('curator/pause', {})
  expect(await act('approve', set.id, bob, approval)).toBe('wrong_state')
  await at('curator/resume', {})
  const peers = peerFiles(sites.bravo.folder.peers)
  const pinned = await peers.get('alpha')
  if (!pinned) throw new Error('alpha is not pinned')
  await peers.add({ ...pinned, keys: pinned.keys.map((key) => ({ ...key, status: 'revoked' })) }, { replace: true })
  expect(await act('approve', set.id, bob, approval)).toBe('signature_invalid')
  expect(await importForged([carry('after the end')])).toBe('signature_invalid')
  await peers.add(pinned, { replace: true })
  const store = sites.bravo.store('gateway')
  const first = setArtifactId(set.id, 1)
  const stored = (await store.get(setArtifacts, first))?.value
  if (!stored) throw new Error('it is not stored')
  const write = (value: typeof stored) => store.update(setArtifacts, first, () => ({ next: value, answer: undefined }))
  await write({ ...stored, carried: stored.carried.replace('held up', 'go ahead') })
  expect(await act('approve', set.id, bob, approval)).toBe('conflict')
  await write({ ...stored, label: { ...secret, level: 'UNCLASSIFIED' } })
  expect(await act('approve', set.id, bob, approval)).toBe('conflict')
  await write(stored)
  await store.update(guidanceSets, set.id, ({ value }) => ({
    next: { ...value, digest: 'b'.repeat(96) },
    answer: undefined,
  }))
  expect(await act('approve', set.id, bob, approval)).toBe('conflict')
})

test('of two who approve at once one decides; a repeat, an older set and the same set again change nothing', async () => {
  const older = await forge([carry('an old text')])
  const { file, set, approval } = await requestSet([carry('a new text')])
  const cid = await createAdmin(sites.bravo, 'cid')
  const byCid = { ...approval, subject: 'cid' }
  const codes = await Promise.all([act('approve', set.id, bob, approval), act('approve', set.id, cid, byCid)])
  expect(codes.sort()).toEqual([202, 'wrong_state'])
  await waitUntilAccepted(sites, set.id)
  const active = async () => (await at('artifacts?status=active&type=PromptShim')).body.items
  const before = await active()
  expect(before).toMatchObject([{ version: 2, content: { body: 'a new text' } }])
  expect(await act('approve', set.id, bob, approval)).toBe('wrong_state')
  expect((await sites.importFile(file)).body).toMatchObject({ id: set.id, status: 'accepted' })
  expect(codeOf(await sites.importFile(older))).toBe('wrong_state')
  expect(await active()).toEqual(before)
})

test('a run that ends between any two steps is completed by the next one, once', async () => {
  const { set, approval } = await requestSet([carry('resumed')])
  const store = sites.bravo.store('gateway')
  const call = createGuideCall({ store, now: () => sites.clock.now(), random: () => '0'.repeat(32) })
  await act('approve', set.id, bob, approval)
  await waitUntilAccepted(sites, set.id)
  const shown = async () => (await at('artifacts?status=active&type=PromptShim')).body.items
  const before = await shown()
  // As a crash leaves it: the artifact is active, and neither the outcome nor the end of the set was stored.
  await store.update(
    setArtifacts,
    setArtifactId(set.id, 1),
    ({ value: { outcome: _, artifact_id: __, ...value } }) => ({ next: value, answer: undefined }),
  )
  await store.update(guidanceSets, set.id, ({ value }) => ({
    next: { ...value, status: 'accepting' as const },
    answer: undefined,
  }))
  await Promise.all([acceptAll(call), acceptAll(call)])
  expect(await shown()).toEqual(before)
  expect((await at(`sets/${set.id}`)).body.status).toBe('accepted')
  expect((await at(`sets/${set.id}/artifacts`)).body.items).toMatchObject([{ outcome: 'active' }])
})

test('what is altered in the store after both have signed does not become active', async () => {
  const { set, approval } = await requestSet([carry('as signed')])
  const store = sites.bravo.store('gateway')
  const first = setArtifactId(set.id, 1)
  await act('approve', set.id, bob, approval)
  await waitUntilAccepted(sites, set.id)
  await store.update(setArtifacts, first, ({ value: { outcome: _, artifact_id: __, ...value } }) => ({
    next: { ...value, carried: value.carried.replace('as signed', 'as forged') },
    answer: undefined,
  }))
  await store.update(guidanceSets, set.id, ({ value }) => ({
    next: { ...value, status: 'accepting' as const },
    answer: undefined,
  }))
  await waitUntilAccepted(sites, set.id)
  const { items } = (await at(`sets/${set.id}/artifacts`)).body
  expect(items).toMatchObject([{ outcome: 'refused', outcome_detail: 'it is not the one that was signed' }])
  expect(JSON.stringify((await at('artifacts?type=PromptShim')).body)).not.toContain('as forged')
})

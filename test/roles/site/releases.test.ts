// A release from quarantine over HTTP needs two people with two keys, each in their own name, for those bytes, in time.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { readKeyFiles, type StoredKey } from '../../../adapters/keys/jose/key-files.ts'
import { generateKey } from '../../../adapters/keys/jose/key-lifecycle.ts'
import { sha384 } from '../../../daemon/kernel/encoding/canonical-json.ts'
import {
  buildReleaseApproval,
  buildReleaseRequest,
  createEnrolledSigner,
  createSigner,
  createUnenrolledSigner,
  enrolSigner,
  type QuarantinedMessage,
  quarantineExpiredMessage,
  type ReleaseSigner,
  submitSignature,
} from '../../support/site/release-signers.ts'
import { type SingleClusterSite, startSingleClusterSite } from '../../support/site/single-cluster-site.ts'

let site: SingleClusterSite
let ann: ReleaseSigner
let bob: ReleaseSigner
let quarantined: QuarantinedMessage
let ahead_ms: number
beforeEach(async () => {
  ahead_ms = 0
  site = await startSingleClusterSite({}, { now: () => Date.now() + ahead_ms, monotonic: () => performance.now() })
  ann = await createEnrolledSigner(site, 'ann')
  bob = await createEnrolledSigner(site, 'bob')
  quarantined = await quarantineExpiredMessage(site)
})
afterEach(() => site.close())

const formatQuarantineFolder = () => join(site.folder.filedrop, 'bravo/in/quarantine')
const listReasons = () =>
  fs
    .readdirSync(formatQuarantineFolder())
    .filter((name) => name.endsWith('.reason.json'))
    .map((name) => JSON.parse(fs.readFileSync(join(formatQuarantineFolder(), name), 'utf8')))

async function requestRelease(more: object = {}, by = ann) {
  const request = buildReleaseRequest(quarantined, by.subject, more)
  const answer = await submitSignature(site, 'request', quarantined.item, await by.sign(request), by.subject)
  return { request, answer, code: (answer.json as { code?: string }).code ?? answer.status }
}

async function approveRelease(request: object, by: ReleaseSigner, sub = by.subject, item = quarantined.item) {
  const answer = await submitSignature(site, 'approve', item, await by.sign(request), sub)
  return (answer.json as { code?: string }).code ?? answer.status
}

/** It passed every check of the carrier; the command refuses it, since it is not a valid contribution. */
async function expectReleased(): Promise<void> {
  await vi.waitFor(() => expect(listReasons()).toMatchObject([{ reason: 'REFUSED', code: 'invalid' }]), 60_000)
}

function expectUntouched(): void {
  expect(listReasons()).toMatchObject([{ reason: 'EXPIRED' }])
  const released = site.logged.filter((line) => line.includes('REFUSED'))
  expect(released).toEqual([])
}

test.each(['Ed25519', 'ES384', 'ML-DSA-87'] as const)(
  'with keys of %s: requested, shown, approved, taken in once more, all of it audited',
  async (algorithm) => {
    const [cara, dora] = [
      await createEnrolledSigner(site, 'cara', algorithm),
      await createEnrolledSigner(site, 'dora', algorithm),
    ]
    const { request, answer } = await requestRelease({}, cara)
    expect([answer.status, answer.json]).toMatchObject([201, { subject: 'cara', waiver: 'EXPIRED' }])
    const token = await site.token({ roles: ['auditor'] })
    const at = { method: 'GET', token }
    const one = (await site.request('site', { ...at, path: `/api/v2/site/quarantine/${quarantined.item}` })).json
    expect(one).toMatchObject({ reason: 'EXPIRED', sender_tenant_id: 'bravo', release: { subject: 'cara' } })
    const { items } = (await site.request('site', { ...at, path: '/api/v2/site/quarantine' })).json as {
      items: object[]
    }
    expect(items).toMatchObject([{ id: quarantined.item, release: { subject: 'cara' } }])
    expect(await approveRelease(buildReleaseApproval(request, 'dora'), dora)).toBe(202)
    await expectReleased()
    for (const action of ['site.quarantine.request', 'site.quarantine.approve']) {
      const path = `/api/v2/audit?action=${action}`
      const { items: records } = (await site.request('site', { ...at, path })).json as { items: object[] }
      expect(records).toMatchObject([{ event: { target: quarantined.item, outcome: 'done' } }])
    }
  },
)

test.each<[string, (request: ReturnType<typeof buildReleaseRequest>) => Promise<unknown>, string]>([
  ['the same person', (request) => approveRelease(buildReleaseApproval(request, 'ann'), ann), 'forbidden'],
  [
    'the same key under another name',
    (request) => approveRelease(buildReleaseApproval(request, 'bob'), createSigner('bob', ann.key), 'bob'),
    'signature_invalid',
  ],
  [
    'a token of somebody else',
    (request) => approveRelease(buildReleaseApproval(request, 'bob'), bob, 'mallory'),
    'forbidden',
  ],
  [
    'a key that nobody enrolled',
    async (request) => approveRelease(buildReleaseApproval(request, 'eve'), await createUnenrolledSigner(site, 'eve')),
    'signature_invalid',
  ],
  [
    'another request',
    (request) => approveRelease(buildReleaseApproval(request, 'bob', { request: 'a'.repeat(96) }), bob),
    'conflict',
  ],
  [
    'another site',
    (request) => approveRelease(buildReleaseApproval(request, 'bob', { site: 'charlie' }), bob),
    'signature_invalid',
  ],
  [
    'another item',
    (request) => approveRelease(buildReleaseApproval(request, 'bob', { item: 'bravo/other' }), bob),
    'signature_invalid',
  ],
  [
    'another waiver',
    (request) => approveRelease(buildReleaseApproval(request, 'bob', { waiver: 'FUTURE' }), bob),
    'conflict',
  ],
  [
    'other files',
    (request) =>
      approveRelease(buildReleaseApproval(request, 'bob', { digests: ['b'.repeat(96), 'c'.repeat(96)] }), bob),
    'conflict',
  ],
  [
    'an unrequested label',
    (request) => approveRelease(buildReleaseApproval(request, 'bob', { label: buildLabel() }), bob),
    'invalid',
  ],
  ['the request itself', (request) => approveRelease(request, bob), 'signature_invalid'],
  [
    'a member that the format does not know',
    (request) => approveRelease(buildReleaseApproval(request, 'bob', { extra: 1 }), bob),
    'signature_invalid',
  ],
])('an approval by or for %s is refused', async (_, act, code) => {
  const { request } = await requestRelease()
  expect(await act(request)).toBe(code)
  expectUntouched()
})

const buildLabel = () => ({ policy: 'SITE', level: 'SECRET', categories: [], originator: 'bravo' })

test('one person with two enrolled keys under two names is two people only with two keys', async () => {
  const second = await createUnenrolledSigner(site, 'ann-too')
  await enrolSigner(site, second)
  const { request } = await requestRelease()
  // Her own name with the second key, and the second name with her own key.
  expect(await approveRelease(buildReleaseApproval(request, 'ann'), createSigner('ann', second.key), 'ann')).toBe(
    'signature_invalid',
  )
  expect(
    await approveRelease(buildReleaseApproval(request, 'ann-too'), createSigner('ann-too', ann.key), 'ann-too'),
  ).toBe('signature_invalid')
  expectUntouched()
})

test.each(['request', 'approve'] as const)(
  'a person who is let go before the approval counts for nothing (%s)',
  async (step) => {
    const { request } = await requestRelease()
    await enrolSigner(site, step === 'request' ? ann : bob, 'revoked')
    expect(await approveRelease(buildReleaseApproval(request, 'bob'), bob)).toBe(
      step === 'request' ? 'conflict' : 'signature_invalid',
    )
    expectUntouched()
  },
)

test('a request or an approval of another item is refused here, though both were signed', async () => {
  const { request } = await requestRelease()
  const other = await quarantineExpiredMessage(site)
  expect(await approveRelease(buildReleaseApproval(request, 'bob'), bob, 'bob', other.item)).toBe('signature_invalid')
  const signature = await ann.sign(buildReleaseRequest(other, 'ann'))
  expect((await submitSignature(site, 'request', quarantined.item, signature, 'ann')).status).toBe(403)
})

test('files that are swapped after the request are not those that anybody signed for', async () => {
  const { request } = await requestRelease()
  const body = join(formatQuarantineFolder(), `${quarantined.item.split('/')[1]}.body.json`)
  fs.appendFileSync(body, ' ')
  const token = await site.token({ roles: ['auditor'] })
  const path = `/api/v2/site/quarantine/${quarantined.item}`
  const { files } = (await site.request('site', { method: 'GET', path, token })).json as { files: { sha384: string }[] }
  const now = files.map(({ sha384: found }) => found)
  expect(now).not.toEqual(quarantined.digests)
  expect(await approveRelease(buildReleaseApproval(request, 'bob'), bob)).toBe('conflict')
  expect(await approveRelease(buildReleaseApproval(request, 'bob', { digests: now }), bob)).toBe('conflict')
  expectUntouched()
})

test.each<[string, object, string]>([
  ['a reason that it does not lie there for', { waiver: 'QUOTA' }, 'conflict'],
  ['a reason that nobody can waive', { waiver: 'BAD_SIG' }, 'signature_invalid'],
  ['too long ago', { created: new Date(Date.now() - 8 * 86_400_000).toISOString() }, 'conflict'],
  ['in the future', { created: new Date(Date.now() + 3_600_000).toISOString() }, 'conflict'],
  ['a label for EXPIRED', { label: { ...buildLabel() } }, 'invalid'],
  ['nobody’s reason', { reason: '' }, 'signature_invalid'],
])('a request for, or from, %s is refused', async (_, more, code) => {
  expect((await requestRelease(more)).code).toBe(code)
  expect(await approveRelease(buildReleaseApproval(buildReleaseRequest(quarantined, 'ann'), 'bob'), bob)).toBe(
    'conflict',
  )
  expectUntouched()
})

test('another key than a personal one signs no release, enrolled or not', async () => {
  const dir = fs.mkdtempSync(join(site.dir, 'root-'))
  await generateKey(dir, { use: 'root', now: Date.now() })
  const root = readKeyFiles(dir)[0] as StoredKey
  await expect(requestRelease({}, createSigner('ann', root))).rejects.toThrow('does not sign a release')
  const disguised = { ...root, public_key: { ...root.public_key, use: 'personal' as const } }
  expect((await requestRelease({}, createSigner('ann', disguised))).code).toBe('signature_invalid')
})

test('a later request takes the place of the one before, and an approval of that one is void', async () => {
  const { request } = await requestRelease()
  const { request: later } = await requestRelease({ reason: 'on second thoughts' })
  expect(await approveRelease(buildReleaseApproval(request, 'bob'), bob)).toBe('conflict')
  expect(await approveRelease(buildReleaseApproval(later, 'bob'), bob)).toBe(202)
  await expectReleased()
})

test('a repeat changes nothing; a released item cannot be approved again', async () => {
  const request = buildReleaseRequest(quarantined, 'ann')
  const signature = await ann.sign(request)
  const hand = () => submitSignature(site, 'request', quarantined.item, signature, 'ann')
  const [first, second] = [await hand(), await hand()]
  expect(second.json).toEqual(first.json)
  expect(await approveRelease(buildReleaseApproval(request, 'bob'), bob)).toBe(202)
  await expectReleased()
  expect(await approveRelease(buildReleaseApproval(request, 'bob'), bob)).toBe('not_found')
})

test('BAD_SIG: no request, by its name or by another', async () => {
  const bad = await quarantineExpiredMessage(site, {}, (text) =>
    text.replace(/("signature":")(.)/, (_, before, first) => `${before}${first === 'A' ? 'B' : 'A'}`),
  )
  for (const waiver of ['EXPIRED', 'FAST_FORWARD']) {
    const answer = await submitSignature(
      site,
      'request',
      bad.item,
      await ann.sign(buildReleaseRequest(bad, 'ann', { waiver })),
      'ann',
    )
    expect(answer.json).toMatchObject({ code: 'conflict', detail: 'BAD_SIG cannot be waived' })
  }
})

test('two signatures in one do not count as two people', async () => {
  const { request } = await requestRelease()
  const [one, two] = await Promise.all([ann, bob].map((each) => each.sign(buildReleaseApproval(request, 'bob'))))
  const both = { payload: one?.payload ?? '', signatures: [...(one?.signatures ?? []), ...(two?.signatures ?? [])] }
  expect((await submitSignature(site, 'approve', quarantined.item, both, 'bob')).status).toBe(422)
  expectUntouched()
})

test('the payload that an approval names is the one that was signed', async () => {
  const { request, answer } = await requestRelease()
  const { signature, digest } = answer.json as { signature: { payload: string }; digest: string }
  expect(sha384(Buffer.from(signature.payload, 'base64url'))).toBe(digest)
  expect(buildReleaseApproval(request, 'bob').request).toBe(digest)
})

describe('under a label that people name', () => {
  const named = { policy: 'SITE', level: 'SECRET', categories: [], originator: 'bravo', releasable_to: ['alpha'] }
  const says = { waiver: 'LABEL_MISSING', label: named }
  const path = () => `/api/v2/site/quarantine/${quarantined.item}`
  const seenBy = async (level: string) => {
    const token = await site.token({ sub: 'bob', roles: ['operator'], clearance: { level, categories: [] } })
    const { items } = (await site.request('site', { method: 'GET', path: '/api/v2/site/quarantine', token })).json as {
      items: { id: string }[]
    }
    return [
      (await site.request('site', { method: 'GET', path: path(), token })).json as object,
      items.find(({ id }) => id === quarantined.item),
    ]
  }
  const codeOf = ({ json, status }: Awaited<ReturnType<typeof submitSignature>>) =>
    (json as { code?: string }).code ?? status
  beforeEach(async () => {
    const times = { created: new Date().toISOString(), not_after: new Date(Date.now() + 86_400_000).toISOString() }
    quarantined = await quarantineExpiredMessage(site, { ...times, label: undefined })
  })

  test('an uncleared person neither requests nor approves it, and the refusal reveals no more', async () => {
    const request = buildReleaseRequest(quarantined, 'ann', says)
    const signed = await ann.sign(request)
    expect(codeOf(await submitSignature(site, 'request', quarantined.item, signed, 'ann', 'CONFIDENTIAL'))).toBe(
      'forbidden',
    )
    expect(await submitSignature(site, 'request', quarantined.item, signed, 'ann', 'SECRET')).toMatchObject({
      status: 201,
    })
    const approval = await bob.sign(buildReleaseApproval(request, 'bob'))
    const answer = await submitSignature(site, 'approve', quarantined.item, approval, 'bob', 'CONFIDENTIAL')
    expect([codeOf(answer), JSON.stringify(answer.json)]).toEqual(['forbidden', expect.stringContaining('cleared')])
    expect(JSON.stringify(answer.json)).not.toMatch(/SECRET|ann|courier/)
    for (const shown of await seenBy('CONFIDENTIAL')) {
      expect(shown).toHaveProperty('is_release_withheld', true)
      expect(shown).not.toHaveProperty('release')
    }
    for (const shown of await seenBy('SECRET'))
      expect(shown).toMatchObject({ release: { subject: 'ann', label: named } })
    expect(await submitSignature(site, 'approve', quarantined.item, approval, 'bob', 'SECRET')).toMatchObject({
      status: 202,
    })
    await vi.waitFor(() => expect(listReasons().map(({ reason }) => reason)).toContain('REFUSED'), 60_000)
  })

  test('another request takes its place, also by a person below the earlier one', async () => {
    await submitSignature(
      site,
      'request',
      quarantined.item,
      await ann.sign(buildReleaseRequest(quarantined, 'ann', says)),
      'ann',
      'SECRET',
    )
    const lower = { ...says, label: { ...named, level: 'RESTRICTED' } }
    const signed = await bob.sign(buildReleaseRequest(quarantined, 'bob', lower))
    expect(await submitSignature(site, 'request', quarantined.item, signed, 'bob', 'RESTRICTED')).toMatchObject({
      status: 201,
    })
    for (const shown of await seenBy('RESTRICTED')) expect(shown).toMatchObject({ release: { subject: 'bob' } })
  })

  test('the audit chain hides its records of it from auditors below it', async () => {
    await submitSignature(
      site,
      'request',
      quarantined.item,
      await ann.sign(buildReleaseRequest(quarantined, 'ann', says)),
      'ann',
      'SECRET',
    )
    const recorded = async (level: string) => {
      const token = await site.token({ roles: ['auditor'], clearance: { level, categories: [] } })
      const at = '/api/v2/audit?action=site.quarantine.request'
      return ((await site.request('site', { method: 'GET', path: at, token })).json as { items: object[] }).items.length
    }
    expect(await Promise.all(['CONFIDENTIAL', 'SECRET'].map(recorded))).toEqual([0, 1])
  })
})

test('a request ends after a week: nobody sees it any more, and nobody can approve it', async () => {
  const { request } = await requestRelease()
  const day_ms = 86_400_000
  const bobs = () =>
    site.token({ sub: 'bob', roles: ['operator'] }, { now_s: Math.floor((Date.now() + ahead_ms) / 1_000) })
  const path = `/api/v2/site/quarantine/${quarantined.item}`
  const shown = async () => (await site.request('site', { method: 'GET', path, token: await bobs() })).json
  ahead_ms = 7 * day_ms - 60_000
  expect(await shown()).toHaveProperty('release')
  ahead_ms = 7 * day_ms + 1
  expect(await shown()).not.toHaveProperty('release')
  const created = new Date(Date.now() + ahead_ms).toISOString()
  const signature = await bob.sign(buildReleaseApproval(request, 'bob', { created }))
  const answer = await site.request('site', {
    method: 'POST',
    path: `${path}/approve`,
    token: await bobs(),
    body: { signature },
  })
  expect(answer.status).toBe(409)
  expectUntouched()
})

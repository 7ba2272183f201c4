// A dismissal over HTTP: one person closes what nobody can release; what two could release takes the signatures of two.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import {
  buildDismissalApproval,
  buildDismissalRequest,
  buildReleaseRequest,
  createEnrolledSigner,
  dismissal_reason,
  type QuarantinedMessage,
  quarantineExpiredMessage,
  type ReleaseSigner,
  submitDismissal,
} from '../../support/site/release-signers.ts'
import { type SingleClusterSite, startSingleClusterSite } from '../../support/site/single-cluster-site.ts'

let site: SingleClusterSite
let ann: ReleaseSigner
let bob: ReleaseSigner
let lying: QuarantinedMessage
beforeEach(async () => {
  site = await startSingleClusterSite()
  ann = await createEnrolledSigner(site, 'ann')
  bob = await createEnrolledSigner(site, 'bob')
  lying = await quarantineExpiredMessage(site)
})
afterEach(() => site.close())

const listFolder = () => fs.readdirSync(join(site.folder.filedrop, 'bravo/in/quarantine'))
const codeOf = ({ status, json }: { status: number; json: unknown }) => (json as { code?: string }).code ?? status

async function get(path: string) {
  return (await site.request('site', { method: 'GET', path, token: await site.token({ roles: ['auditor'] }) })).json
}

async function listAudited(action: string) {
  return ((await get(`/api/v2/audit?action=${action}`)) as { items: { event: { detail: object } }[] }).items
}

test('two people sign: requested, shown, approved, gone, and all of it audited', async () => {
  const request = buildDismissalRequest(lying, 'ann')
  const requested = await submitDismissal(site, lying.item, 'ann', await ann.sign(request))
  expect([requested.status, requested.json]).toMatchObject([200, { state: 'requested', dismissal: { subject: 'ann' } }])
  const path = `/api/v2/site/quarantine/${lying.item}`
  expect(await get(path)).toMatchObject({ is_releasable: true, dismissal: { subject: 'ann' } })
  expect(await get('/api/v2/site/quarantine')).toMatchObject({ items: [{ dismissal: { subject: 'ann' } }] })
  const approval = await bob.sign(buildDismissalApproval(request, 'bob'))
  const done = await submitDismissal(site, lying.item, 'bob', approval)
  expect([done.status, done.json]).toEqual([200, { state: 'dismissed', item: lying.item }])
  expect(listFolder()).toEqual([])
  expect(await get(path)).toMatchObject({ code: 'not_found' })
  expect(await listAudited('site.quarantine.dismissal_requested')).toHaveLength(1)
  expect(await listAudited('site.quarantine.dismiss')).toMatchObject([
    {
      event: {
        target: lying.item,
        detail: {
          quarantined_for: 'EXPIRED',
          reason: dismissal_reason,
          requested_by: 'ann',
          files: lying.digests.map((sha384) => expect.objectContaining({ sha384 })),
        },
      },
    },
  ])
})

test('not by one person alone: neither unsigned, nor with two signatures of one', async () => {
  expect(codeOf(await submitDismissal(site, lying.item, 'ann'))).toBe('conflict')
  const request = buildDismissalRequest(lying, 'ann')
  await submitDismissal(site, lying.item, 'ann', await ann.sign(request))
  const own = await submitDismissal(site, lying.item, 'ann', await ann.sign(buildDismissalApproval(request, 'ann')))
  expect(own).toMatchObject({
    status: 403,
    json: { detail: expect.stringContaining('ann requested this; another enrolled person must approve') },
  })
  expect(listFolder()).toHaveLength(3)
})

test('only for what was requested: not without a request, nor by the signature of a release', async () => {
  const request = buildDismissalRequest(lying, 'ann')
  const approval = await bob.sign(buildDismissalApproval(request, 'bob'))
  expect(codeOf(await submitDismissal(site, lying.item, 'bob', approval))).toBe('conflict')
  const release = await ann.sign(buildReleaseRequest(lying, 'ann', { reason: dismissal_reason }))
  expect(codeOf(await submitDismissal(site, lying.item, 'ann', release))).toBe('signature_invalid')
  expect(listFolder()).toHaveLength(3)
})

test('files that changed since the request are not dismissed by it', async () => {
  const request = buildDismissalRequest(lying, 'ann')
  await submitDismissal(site, lying.item, 'ann', await ann.sign(request))
  const folder = join(site.folder.filedrop, 'bravo/in/quarantine')
  fs.appendFileSync(join(folder, listFolder().find((name) => name.endsWith('.body.json')) ?? ''), ' ')
  const approval = await bob.sign(buildDismissalApproval(request, 'bob'))
  expect(codeOf(await submitDismissal(site, lying.item, 'bob', approval))).toBe('conflict')
  expect(listFolder()).toHaveLength(3)
})

test('one person closes an item that nobody can release, and the permission is required', async () => {
  const forged = await quarantineExpiredMessage(site, {}, (text) => text.replace('"signature":"', '"signature":"A'))
  expect(await get(`/api/v2/site/quarantine/${forged.item}`)).toMatchObject({ reason: 'BAD_SIG', is_releasable: false })
  const path = `/api/v2/site/quarantine/${forged.item}/dismiss`
  const token = await site.token({ roles: ['auditor'] })
  const refused = await site.request('site', { method: 'POST', path, token, body: { reason: 'x' } })
  expect(refused.status).toBe(403)
  expect(await submitDismissal(site, forged.item, 'ann')).toMatchObject({ status: 200, json: { state: 'dismissed' } })
  expect(listFolder()).toHaveLength(3)
  expect(codeOf(await submitDismissal(site, forged.item, 'ann'))).toBe('not_found')
})

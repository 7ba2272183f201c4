// People with keys of their own at a small site, and a message of its peer bravo that lies in quarantine for their signatures.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { vi } from 'vitest'
import { readKeyFiles, type StoredKey } from '../../../adapters/keys/jose/key-files.ts'
import { generateKey } from '../../../adapters/keys/jose/key-lifecycle.ts'
import { signWithKeys } from '../../../adapters/keys/jose/signatures.ts'
import { peopleFiles } from '../../../adapters/peers/files/people-files.ts'
import { peopleFolder } from '../../../daemon/boot/storage/site-folder.ts'
import type { Jws, KeyAlgorithm } from '../../../daemon/kernel/cryptography/signatures.ts'
import { canonicalJson, sha384 } from '../../../daemon/kernel/encoding/canonical-json.ts'
import { personalKey } from '../../../daemon/kernel/identity/person.ts'
import {
  type DismissalApproval,
  type DismissalRequest,
  type PersonalDecision,
  type ReleaseApproval,
  type ReleaseRequest,
  releasePayload,
} from '../../../daemon/kernel/messaging/release.ts'
import type { SingleClusterSite } from './single-cluster-site.ts'

export type ReleaseSigner = { readonly subject: string; readonly key: StoredKey; sign(content: object): Promise<Jws> }

/** A key of a person whom nobody has enrolled. */
export async function createUnenrolledSigner(
  site: SingleClusterSite,
  subject: string,
  algorithm: KeyAlgorithm = 'Ed25519',
): Promise<ReleaseSigner> {
  const dir = fs.mkdtempSync(join(site.dir, 'medium-'))
  await generateKey(dir, { use: 'personal', algorithm, now: Date.now() })
  return createSigner(subject, readKeyFiles(dir)[0] as StoredKey)
}

export function createSigner(subject: string, key: StoredKey): ReleaseSigner {
  return {
    subject,
    key,
    sign: (content) => signWithKeys([key], 'release', Buffer.from(releasePayload(content as PersonalDecision))),
  }
}

export async function enrolSigner(
  site: SingleClusterSite,
  { subject, key }: ReleaseSigner,
  status: 'active' | 'revoked' = 'active',
) {
  const enrolled = new Date().toISOString()
  const keys = [personalKey.parse({ ...key.public_key, status })]
  await peopleFiles(peopleFolder(site.folder)).put({ subject, keys, enrolled })
}

export async function createEnrolledSigner(
  site: SingleClusterSite,
  subject: string,
  algorithm?: KeyAlgorithm,
): Promise<ReleaseSigner> {
  const made = await createUnenrolledSigner(site, subject, algorithm)
  await enrolSigner(site, made)
  return made
}

const quarantinedLabel = {
  policy: 'SITE',
  level: 'SECRET',
  categories: [],
  originator: 'bravo',
  releasable_to: ['alpha'],
}
let seq = 0

export type QuarantinedMessage = { readonly item: string; readonly digests: readonly string[]; readonly number: number }

/** A message that bravo signed too long ago, taken in by the site and put away: what it lies there for is EXPIRED. */
export async function quarantineExpiredMessage(
  site: SingleClusterSite,
  change: Readonly<Record<string, unknown>> = {},
  tamper: (envelope: string) => string = String,
): Promise<QuarantinedMessage> {
  seq += 1
  const number = seq * 10
  const body = canonicalJson({ label: quarantinedLabel, schema: 'consensus.contribution/1', data: { number } })
  const content = {
    ...{ v: 1, type: 'platform.message', channel: 'filedrop/bravo/alpha', src: 'bravo', dst: 'alpha', epoch: 1 },
    ...{ sender_tenant_id: 'bravo', receiver_tenant_id: 'alpha', seq: number, prev: '0'.repeat(96) },
    ...{
      msg_id: `msg_${String(number).padStart(32, '0')}`,
      kind: 'contribution',
      label: quarantinedLabel,
      parent_block_ids: [],
      max_hops: 1,
    },
    created: new Date(Date.now() - 9 * 86_400_000).toISOString(),
    not_after: new Date(Date.now() - 86_400_000).toISOString(),
    body: { sha384: sha384(body), length: Buffer.byteLength(body), schema: 'consensus.contribution/1' },
    ...change,
  }
  const envelope = tamper(JSON.stringify(await site.bravo.sign('statement', Buffer.from(canonicalJson(content)))))
  const stem = `00000001-${String(number).padStart(16, '0')}`
  const channel = join(site.folder.filedrop, 'bravo/in')
  fs.writeFileSync(join(channel, `new/${stem}.body.json`), body)
  fs.writeFileSync(join(channel, `new/${stem}.env.json`), envelope)
  const item = await vi.waitFor(() => {
    const name = fs
      .readdirSync(join(channel, 'quarantine'))
      .find((each) => each.startsWith(stem) && /reason/.test(each))
    if (!name) throw new Error('it is not there yet')
    return name.replace('.reason.json', '')
  }, 60_000)
  return { item: `bravo/${item}`, digests: [sha384(body), sha384(envelope)], number }
}

export function buildReleaseRequest(
  { item, digests }: QuarantinedMessage,
  subject: string,
  more: object = {},
): ReleaseRequest {
  return {
    ...{
      v: 1,
      type: 'platform.release',
      step: 'request',
      site: 'alpha',
      item,
      digests: [...digests],
      waiver: 'EXPIRED',
    },
    ...{ reason: 'the courier was late', subject, created: new Date().toISOString() },
    ...more,
  }
}

export function buildReleaseApproval(request: ReleaseRequest, subject: string, more: object = {}): ReleaseApproval {
  const created = new Date().toISOString()
  return { ...request, step: 'approval', subject, created, request: sha384(releasePayload(request)), ...more }
}

export const dismissal_reason = 'a test of the peer'

export function buildDismissalRequest({ item, digests }: QuarantinedMessage, subject: string): DismissalRequest {
  return {
    ...{ v: 1, type: 'platform.dismissal', step: 'request', site: 'alpha', item, digests: [...digests] },
    ...{ reason: dismissal_reason, subject, created: new Date().toISOString() },
  }
}

export function buildDismissalApproval(request: DismissalRequest, subject: string): DismissalApproval {
  const created = new Date().toISOString()
  return { ...request, step: 'approval', subject, created, request: sha384(releasePayload(request)) }
}

/** Dismisses an item under a token of this subject; returns the answer. */
export async function submitDismissal(site: SingleClusterSite, item: string, sub: string, signature?: Jws) {
  return await site.request('site', {
    method: 'POST',
    path: `/api/v2/site/quarantine/${item}/dismiss`,
    token: await site.token({ sub, roles: ['operator'] }),
    body: { reason: dismissal_reason, ...(signature ? { signature } : {}) },
  })
}

/** Submits a signature under a token of this subject, without clearance by default; returns the answer. */
export async function submitSignature(
  site: SingleClusterSite,
  step: 'request' | 'approve',
  item: string,
  signature: Jws,
  sub: string,
  level?: string,
) {
  const token = await site.token({
    sub,
    roles: ['operator'],
    ...(level ? { clearance: { level, categories: [] } } : {}),
  })
  return await site.request('site', {
    method: 'POST',
    path: `/api/v2/site/quarantine/${item}/${step}`,
    token,
    body: { signature },
  })
}

// Two sites with guidance that have pinned each other, and administrators with keys of their own at the one that imports.
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readKeyFiles, type StoredKey } from '../../../../adapters/keys/jose/key-files.ts'
import { generateKey } from '../../../../adapters/keys/jose/key-lifecycle.ts'
import { signWithKeys } from '../../../../adapters/keys/jose/signatures.ts'
import { peopleFiles } from '../../../../adapters/peers/files/people-files.ts'
import { peopleFolder } from '../../../../daemon/boot/storage/site-folder.ts'
import type { Jws } from '../../../../daemon/kernel/cryptography/signatures.ts'
import { canonicalJson, sha384 } from '../../../../daemon/kernel/encoding/canonical-json.ts'
import { isRefusal } from '../../../../daemon/kernel/error/errors.ts'
import { personalKey } from '../../../../daemon/kernel/identity/person.ts'
import { promoteArtifact } from '../../../../daemon/roles/gateway/guide/artifact/change-artifacts.ts'
import {
  type ArtifactDraft,
  proposeArtifact,
} from '../../../../daemon/roles/gateway/guide/artifact/propose-artifact.ts'
import { type SimulatedClock, simulatedClock } from '../../../support/clock/simulated-clock.ts'
import { pairingDraft } from '../../../support/guide/drafts.ts'
import { createGuideCall } from '../../../support/guide/guide-call.ts'
import { pinPeerKeys } from '../../../support/site/pinned-site-pair.ts'
import { createTestSite, type TestSite, type TokenHolder, waitUntil } from '../../../support/site/test-site.ts'

const curator = { actor: 'curator_auto', trigger: 'synthesis_proposal' } as const

// biome-ignore lint/suspicious/noExplicitAny: the body of an answer, which tests compare
export type SetAnswer = { readonly status: number; readonly body: any }

export type SetSites = {
  readonly clock: SimulatedClock
  readonly alpha: TestSite
  readonly bravo: TestSite
  /** Makes an active artifact at the site, learnt by its curator; the id. */
  learn(site: TestSite, changes?: Partial<ArtifactDraft>): Promise<string>
  request(site: TestSite, who: TokenHolder, method: 'GET' | 'POST', at: string, body?: object): Promise<SetAnswer>
  /** The text of a set of alpha for bravo. */
  exportSet(terms?: object): Promise<string>
  importFile(file: string, who?: TokenHolder): Promise<SetAnswer>
  end(): Promise<void>
}

export const adminOf = (subject: string, more: Partial<TokenHolder> = {}): TokenHolder => {
  return { subject, roles: ['admin'], clearance: { level: 'TOP_SECRET' }, ...more }
}

export async function startSetSites(guide: Readonly<Record<string, unknown>> = {}): Promise<SetSites> {
  const clock = simulatedClock()
  const profile = {
    platform: { roles: ['site', 'gateway'], deployment_profile: 'single_cluster' },
    gateway: { port: 0 },
    guide,
  }
  const alpha = await createTestSite({ name: 'alpha', tenant: 'tenant-a', clock, profile })
  const bravo = await createTestSite({ name: 'bravo', tenant: 'tenant-b', clock, profile })
  await pinPeerKeys(alpha, bravo)
  await pinPeerKeys(bravo, alpha)
  await Promise.all([alpha.start(), bravo.start()])
  let ids = 0
  const random = (bytes: number) => (++ids).toString(16).padStart(bytes * 2, '0')
  const request: SetSites['request'] = async (site, who, method, at, body) => {
    const token = await site.token(who)
    const answer = await site.call('gateway', method, `/api/v1/guide/${at}`, body, { token })
    return { status: answer.status, body: answer.json }
  }
  return {
    ...{ clock, alpha, bravo, request },
    async learn(site, changes = {}) {
      const call = createGuideCall({ store: site.store('gateway'), now: () => clock.now(), random })
      const proposed = await proposeArtifact(call, pairingDraft({ tenant_id: site.tenant, ...changes }), curator)
      if (isRefusal(proposed)) throw proposed
      const promoted = await promoteArtifact(call, proposed.doc.id, curator)
      if (isRefusal(promoted)) throw promoted
      return proposed.doc.id
    },
    async exportSet(terms = {}) {
      const { body } = await request(alpha, adminOf('ada'), 'POST', 'sets/export', {
        to: 'bravo',
        release: true,
        ...terms,
      })
      return body.file
    },
    importFile(file, who = adminOf('ian')) {
      return request(bravo, who, 'POST', 'sets', { file: Buffer.from(file).toString('base64url') })
    },
    async end() {
      await Promise.all([alpha.end(), bravo.end()])
    },
  }
}

export type SetAdmin = { readonly who: TokenHolder; readonly key: StoredKey; sign(decision: object): Promise<Jws> }

/** An administrator with a key that the site has enrolled, or not. */
export async function createAdmin(site: TestSite, subject: string, isEnrolled = true): Promise<SetAdmin> {
  const dir = fs.mkdtempSync(join(tmpdir(), 'medium-'))
  await generateKey(dir, { use: 'personal', now: site.clock.now() })
  const [key] = readKeyFiles(dir) as [StoredKey]
  fs.rmSync(dir, { recursive: true })
  if (isEnrolled) await enrolKey(site, subject, key)
  return signerOf(subject, key)
}

export function signerOf(subject: string, key: StoredKey): SetAdmin {
  const sign = (decision: object) => signWithKeys([key], 'guidance-decision', Buffer.from(canonicalJson(decision)))
  return { who: adminOf(subject), key, sign }
}

export async function enrolKey(
  site: TestSite,
  subject: string,
  key: StoredKey,
  status: 'active' | 'revoked' = 'active',
): Promise<void> {
  const enrolled = new Date(site.clock.now()).toISOString()
  const keys = [personalKey.parse({ ...key.public_key, status })]
  await peopleFiles(peopleFolder(site.folder)).put({ subject, keys, enrolled })
}

type ShownSet = { readonly id: string; readonly site: string; readonly tenant_id: string; readonly digest: string }

export function buildRequest(site: TestSite, set: ShownSet, subject: string, more: object = {}) {
  return {
    ...{ v: 1, type: 'platform.guidance-acceptance', step: 'request', site: set.site, tenant_id: set.tenant_id },
    ...{ set: set.id, digest: set.digest, artifacts: [1], reason: 'proven at alpha', subject },
    created: new Date(site.clock.now()).toISOString(),
    ...more,
  }
}

export function buildApproval(request: object, subject: string, more: object = {}) {
  return { ...request, step: 'approval', subject, request: sha384(canonicalJson(request)), ...more }
}

/** Until the worker has made every chosen artifact active, or refused it. */
export function waitUntilAccepted(sites: SetSites, id: string): Promise<unknown> {
  return waitUntil(async () => {
    sites.bravo.wakeWorker('gateway', 'guide-accept-sets')
    const { body } = await sites.request(sites.bravo, adminOf('reader'), 'GET', `sets/${id}`)
    return body.status === 'accepted'
  })
}

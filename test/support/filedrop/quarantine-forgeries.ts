// Builds and drops the forged messages of the quarantine tests.
import { join } from 'node:path'
import { generateKey } from '../../../adapters/keys/jose/key-lifecycle.ts'
import { joseSignatures } from '../../../adapters/keys/jose/signatures.ts'
import { canonicalJson, sha384 } from '../../../daemon/kernel/encoding/canonical-json.ts'
import { formatFreshPath } from './filedrop-readers.ts'
import { buildLabel, buildPeer, type FiledropSites, start_ms } from './filedrop-sites.ts'
import { dropMessage, type ForgeryOptions, forgeMessage } from './forge-message.ts'

export const formatHours = (count: number) => new Date(start_ms + count * 3_600_000).toISOString()
export const dropForged = async (sites: FiledropSites, forgery: ForgeryOptions = {}) =>
  dropMessage(sites, await forgeMessage(sites, forgery))
export const buildBravoLabel = (sites: FiledropSites) => buildLabel(sites.bravo.tenant_id)
export const buildBody = (sites: FiledropSites, more: object) =>
  canonicalJson({ label: buildBravoLabel(sites), schema: 'test.v1', data: {}, ...more })
export const formatEnvelopePath = (sites: FiledropSites, seq = 1) =>
  join(formatFreshPath(sites), `00000001-${String(seq).padStart(16, '0')}.env.json`)
export const nestArrays = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`

export async function signByStranger(sites: FiledropSites) {
  const dir = join(sites.dir, 'stranger')
  await generateKey(dir, { use: 'message', now: start_ms })
  return joseSignatures({ dir })
}

export async function repinAlpha(sites: FiledropSites, { revoked = false, threshold = 1 }) {
  const peer = buildPeer(sites.alpha, { threshold })
  const keys = peer.keys.map((key) => (revoked ? { ...key, status: 'revoked' as const } : key))
  sites.bravo.pinned.set('alpha', { ...peer, keys })
}

export function buildLabelledForgery(sites: FiledropSites, more: object): ForgeryOptions {
  const changed = { ...buildBravoLabel(sites), ...more }
  return { statement: { label: changed }, body: buildBody(sites, { label: changed }) }
}

/** Signed for as it lies there: only the encoding is wrong. */
export function buildLatin1Forgery(sites: FiledropSites): ForgeryOptions {
  const placed = Buffer.from(buildBody(sites, { data: { name: 'naïve' } }), 'latin1')
  return { placed, statement: { body: { sha384: sha384(placed), length: placed.length, schema: 'test.v1' } } }
}

export function repeatPayload(text: string): string {
  return text.replace('{', `{"payload":"",`)
}

export function repeatSignature(text: string): string {
  const envelope = JSON.parse(text)
  return JSON.stringify({ ...envelope, signatures: Array.from({ length: 17 }, () => envelope.signatures[0]) })
}

export function changePayload(text: string): string {
  const envelope = JSON.parse(text)
  const payload = Buffer.from(envelope.payload, 'base64url').toString().replace('"max_hops":1', '"max_hops":2')
  return JSON.stringify({ ...envelope, payload: Buffer.from(payload).toString('base64url') })
}

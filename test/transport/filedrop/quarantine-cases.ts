// One message for each reason that can be checked in a single scan: the file that meets it, and the reason.
import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { generateKey } from '../../../adapters/keys/jose/key-life.ts'
import { joseSignatures } from '../../../adapters/keys/jose/signatures.ts'
import type { QuarantineReason } from '../../../adapters/transport/filedrop/quarantine-reasons.ts'
import { canonicalJson, sha384 } from '../../../daemon/kernel/encoding/canonical-json.ts'
import { formatFreshPath } from './filedrop-readers.ts'
import { buildLabel, buildPeer, type FiledropSites, start_ms } from './filedrop-sites.ts'
import { dropMessage, type ForgeryOptions, forgeMessage } from './forge-message.ts'

export const formatHours = (count: number) => new Date(start_ms + count * 3_600_000).toISOString()
export const dropForged = async (sites: FiledropSites, forgery: ForgeryOptions = {}) =>
  dropMessage(sites, await forgeMessage(sites, forgery))
const buildBravoLabel = (sites: FiledropSites) => buildLabel(sites.bravo.tenant_id)
const buildBody = (sites: FiledropSites, more: object) =>
  canonicalJson({ label: buildBravoLabel(sites), schema: 'test.v1', data: {}, ...more })
const formatEnvelopePath = (sites: FiledropSites, seq = 1) =>
  join(formatFreshPath(sites), `00000001-${String(seq).padStart(16, '0')}.env.json`)
const nestArrays = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`

async function signByStranger(sites: FiledropSites) {
  const dir = join(sites.dir, 'stranger')
  await generateKey(dir, { use: 'message', now: start_ms })
  return joseSignatures({ dir })
}

/** What each case puts into the folder, and the reasons that it must meet, in the order of the files' names. */
export const quarantineCases: readonly {
  reason: QuarantineReason
  what: string
  make: (sites: FiledropSites) => Promise<unknown>
}[] = [
  {
    reason: 'NAME',
    what: 'a file of another kind',
    make: async (sites) => fs.writeFileSync(join(formatFreshPath(sites), 'notes.txt'), ''),
  },
  {
    reason: 'NAME',
    what: 'a name with number 0',
    make: (sites) => dropForged(sites, { stem: '00000001-0000000000000000' }),
  },
  {
    reason: 'NAME',
    what: 'a number that no double holds',
    make: (sites) => dropForged(sites, { stem: '00000001-9999999999999999' }),
  },
  {
    reason: 'NAME',
    what: 'a folder of another name',
    make: async (sites) => fs.mkdirSync(join(formatFreshPath(sites), 'folder')),
  },
  {
    reason: 'NAME',
    what: 'a name that is no text',
    make: async (sites) =>
      fs.writeFileSync(Buffer.concat([Buffer.from(`${formatFreshPath(sites)}/`), Buffer.from([0xff, 0xfe])]), ''),
  },
  {
    reason: 'NAME',
    what: 'another number in the name',
    make: (sites) => dropForged(sites, { stem: '00000001-0000000000000007' }),
  },
  {
    reason: 'NOT_REGULAR',
    what: 'a link in place of an envelope',
    make: async (sites) => {
      await dropForged(sites)
      fs.renameSync(formatEnvelopePath(sites), join(sites.dir, 'elsewhere'))
      fs.symlinkSync(join(sites.dir, 'elsewhere'), formatEnvelopePath(sites))
    },
  },
  {
    reason: 'NOT_REGULAR',
    what: 'a pipe',
    make: async (sites) => execFileSync('mkfifo', [formatEnvelopePath(sites)]),
  },
  {
    reason: 'NOT_REGULAR',
    what: 'a folder with a message’s name',
    make: async (sites) => fs.mkdirSync(formatEnvelopePath(sites)),
  },
  {
    reason: 'HARDLINK',
    what: 'a second name elsewhere',
    make: async (sites) => {
      await dropForged(sites)
      fs.linkSync(formatEnvelopePath(sites), join(sites.dir, 'second-name'))
    },
  },
  {
    reason: 'TOO_LARGE',
    what: 'an envelope',
    make: (sites) => dropForged(sites, { envelope: (text) => text + ' '.repeat(65_536) }),
  },
  {
    reason: 'TOO_LARGE',
    what: 'a sparse body of 5 GB',
    make: async (sites) => {
      await dropForged(sites)
      fs.truncateSync(formatEnvelopePath(sites).replace('.env.', '.body.'), 5_000_000_000)
    },
  },
  {
    reason: 'BAD_JSON',
    what: 'an envelope that is none',
    make: (sites) => dropForged(sites, { envelope: () => 'not json' }),
  },
  {
    reason: 'BAD_JSON',
    what: 'something after the envelope',
    make: (sites) => dropForged(sites, { envelope: (text) => `${text}{}` }),
  },
  {
    reason: 'BAD_JSON',
    what: 'an envelope of another shape',
    make: (sites) => dropForged(sites, { envelope: () => '{"payload":1}' }),
  },
  {
    reason: 'BAD_JSON',
    what: 'too many signatures',
    make: (sites) => dropForged(sites, { envelope: repeatSignature }),
  },
  {
    reason: 'BAD_JSON',
    what: 'a body nested too deep',
    make: (sites) =>
      dropForged(sites, {
        body: `{"label":${JSON.stringify(buildBravoLabel(sites))},"schema":"test.v1","data":{"deep":${nestArrays(15)}}}`,
      }),
  },
  {
    reason: 'BAD_JSON',
    what: 'a body that is no UTF-8',
    make: (sites) => dropForged(sites, buildLatin1Forgery(sites)),
  },
  {
    reason: 'DUP_KEY',
    what: 'a repeated key in the envelope',
    make: (sites) => dropForged(sites, { envelope: repeatPayload }),
  },
  {
    reason: 'DUP_KEY',
    what: 'a repeated key in the statement',
    make: (sites) => dropForged(sites, { rewrite: (text) => text.replace('"seq":1', '"seq":1,"s\\u0065q":1') }),
  },
  {
    reason: 'DUP_KEY',
    what: 'in the body',
    make: (sites) => dropForged(sites, { body: buildBody(sites, {}).replace('{', '{"schema":"x",') }),
  },
  {
    reason: 'UNKNOWN_FIELD',
    what: 'in the envelope',
    make: (sites) => dropForged(sites, { envelope: (text) => text.replace('{', '{"x":1,') }),
  },
  {
    reason: 'UNKNOWN_FIELD',
    what: 'in the statement',
    make: (sites) => dropForged(sites, { statement: { via: 'elsewhere' } }),
  },
  {
    reason: 'UNKNOWN_FIELD',
    what: 'in the body',
    make: (sites) => dropForged(sites, { body: buildBody(sites, { extra: 1 }) }),
  },
  { reason: 'BAD_SIG', what: 'a changed statement', make: (sites) => dropForged(sites, { envelope: changePayload }) },
  {
    reason: 'UNKNOWN_KEY',
    what: 'a stranger’s key',
    make: async (sites) => dropForged(sites, { signatures: await signByStranger(sites) }),
  },
  {
    reason: 'KEY_REVOKED',
    what: 'a revoked key',
    make: (sites) => repinAlpha(sites, { revoked: true }).then(() => dropForged(sites)),
  },
  {
    reason: 'THRESHOLD',
    what: 'one signature of two',
    make: (sites) => repinAlpha(sites, { threshold: 2 }).then(() => dropForged(sites)),
  },
  { reason: 'WRONG_DST', what: 'another site', make: (sites) => dropForged(sites, { statement: { dst: 'charlie' } }) },
  {
    reason: 'WRONG_DST',
    what: 'another tenant',
    make: (sites) => dropForged(sites, { statement: { receiver_tenant_id: 'other' } }),
  },
  {
    reason: 'WRONG_CHANNEL',
    what: 'another carrier’s',
    make: (sites) => dropForged(sites, { statement: { channel: 'mtls/alpha/bravo' } }),
  },
  {
    reason: 'WRONG_CHANNEL',
    what: 'another sender',
    make: (sites) => dropForged(sites, { statement: { src: 'charlie' } }),
  },
  {
    reason: 'WRONG_CHANNEL',
    what: 'another tenant',
    make: (sites) => dropForged(sites, { statement: { sender_tenant_id: 'other' } }),
  },
  {
    reason: 'TYPE',
    what: 'another type',
    make: (sites) => dropForged(sites, { statement: { type: 'platform.other' } }),
  },
  { reason: 'TYPE', what: 'a later version', make: (sites) => dropForged(sites, { statement: { v: 9 } }) },
  { reason: 'TYPE', what: 'an unknown kind', make: (sites) => dropForged(sites, { statement: { kind: 'gossip' } }) },
  {
    reason: 'SCHEMA',
    what: 'a statement without a field',
    make: (sites) => dropForged(sites, { statement: { msg_id: undefined } }),
  },
  {
    reason: 'SCHEMA',
    what: 'a body without its data',
    make: (sites) => dropForged(sites, { body: buildBody(sites, { data: undefined }) }),
  },
  {
    reason: 'SCHEMA',
    what: 'a body of another schema',
    make: (sites) => dropForged(sites, { body: buildBody(sites, { schema: 'other' }) }),
  },
  {
    reason: 'BODY_DIGEST',
    what: 'other bytes',
    make: (sites) => dropForged(sites, { placed: buildBody(sites, { data: { seq: 2 } }) }),
  },
  {
    reason: 'BODY_DIGEST',
    what: 'more bytes',
    make: (sites) => dropForged(sites, { placed: `${buildBody(sites, { data: { seq: 1 } })} ` }),
  },
  {
    reason: 'EXPIRED',
    what: 'by its own end',
    make: (sites) => dropForged(sites, { statement: { created: formatHours(-9), not_after: formatHours(-1) } }),
  },
  {
    reason: 'EXPIRED',
    what: 'by the channel’s',
    make: (sites) => dropForged(sites, { statement: { created: formatHours(-24 * 8) } }),
  },
  {
    reason: 'FUTURE',
    what: 'beyond the skew',
    make: (sites) => dropForged(sites, { statement: { created: formatHours(0.5) } }),
  },
  { reason: 'FAST_FORWARD', what: 'a leap', make: (sites) => dropForged(sites, { seq: 2 ** 20 + 1 }) },
  { reason: 'FAST_FORWARD', what: 'an epoch not announced', make: (sites) => dropForged(sites, { epoch: 2 }) },
  {
    reason: 'CHAIN_BREAK',
    what: 'no first message',
    make: (sites) => dropForged(sites, { statement: { prev: 'a'.repeat(96) } }),
  },
  {
    reason: 'LABEL_MISSING',
    what: 'in the statement',
    make: (sites) => dropForged(sites, { statement: { label: undefined } }),
  },
  {
    reason: 'LABEL_MISSING',
    what: 'in the body',
    make: (sites) => dropForged(sites, { body: buildBody(sites, { label: undefined }) }),
  },
  {
    reason: 'LABEL_DENIED',
    what: 'above the ceiling',
    make: (sites) => dropForged(sites, buildLabelledForgery(sites, { level: 'TOP_SECRET' })),
  },
  {
    reason: 'LABEL_DENIED',
    what: 'another category',
    make: (sites) => dropForged(sites, buildLabelledForgery(sites, { categories: ['X'] })),
  },
  {
    reason: 'LABEL_DENIED',
    what: 'released to others',
    make: (sites) => dropForged(sites, buildLabelledForgery(sites, { releasable_to: ['charlie'] })),
  },
  {
    reason: 'LABEL_DENIED',
    what: 'another policy',
    make: (sites) => dropForged(sites, buildLabelledForgery(sites, { policy: 'NATO' })),
  },
  {
    reason: 'LABEL_DENIED',
    what: 'no label at all',
    make: (sites) => dropForged(sites, { statement: { label: 'SECRET' } }),
  },
  {
    reason: 'LABEL_DENIED',
    what: 'another one in the body',
    make: (sites) =>
      dropForged(sites, {
        body: buildBody(sites, { label: buildLabel(sites.bravo.tenant_id, { level: 'UNCLASSIFIED' }) }),
      }),
  },
]

async function repinAlpha(sites: FiledropSites, { revoked = false, threshold = 1 }) {
  const peer = buildPeer(sites.alpha, { threshold })
  const keys = peer.keys.map((key) => (revoked ? { ...key, status: 'revoked' as const } : key))
  sites.bravo.pinned.set('alpha', { ...peer, keys })
}

function buildLabelledForgery(sites: FiledropSites, more: object): ForgeryOptions {
  const changed = { ...buildBravoLabel(sites), ...more }
  return { statement: { label: changed }, body: buildBody(sites, { label: changed }) }
}

/** Signed for as it lies there: only the encoding is wrong. */
function buildLatin1Forgery(sites: FiledropSites): ForgeryOptions {
  const placed = Buffer.from(buildBody(sites, { data: { name: 'naïve' } }), 'latin1')
  return { placed, statement: { body: { sha384: sha384(placed), length: placed.length, schema: 'test.v1' } } }
}

function repeatPayload(text: string): string {
  return text.replace('{', `{"payload":"",`)
}

function repeatSignature(text: string): string {
  const envelope = JSON.parse(text)
  return JSON.stringify({ ...envelope, signatures: Array.from({ length: 17 }, () => envelope.signatures[0]) })
}

function changePayload(text: string): string {
  const envelope = JSON.parse(text)
  const payload = Buffer.from(envelope.payload, 'base64url').toString().replace('"max_hops":1', '"max_hops":2')
  return JSON.stringify({ ...envelope, payload: Buffer.from(payload).toString('base64url') })
}

// Every reason of the format's list, shown on a file made for it: it ends in quarantine with that reason, and nothing is applied.
import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { generateKey } from '../../../adapters/keys/jose/key-life.ts'
import { joseSignatures } from '../../../adapters/keys/jose/signatures.ts'
import { listQuarantine } from '../../../adapters/transport/filedrop/quarantine/quarantine-files.ts'
import { type QuarantineReason, quarantineReasons } from '../../../adapters/transport/filedrop/quarantine-reasons.ts'
import { canonicalJson, sha384 } from '../../../daemon/kernel/encoding/canonical-json.ts'
import {
  buildLabel,
  buildPeer,
  createFiledropSites,
  type FiledropSites,
  listChannelFolders,
  listQuarantineReasons,
  restartSite,
  start_ms,
  startReceiving,
} from './filedrop-sites.ts'
import { dropMessage, type ForgeryOptions, forgeMessage } from './forge-message.ts'

let world: FiledropSites
beforeEach(async () => {
  world = await createFiledropSites()
  await startReceiving(world.bravo)
})
afterEach(() => world.dispose())

const formatHours = (count: number) => new Date(start_ms + count * 3_600_000).toISOString()
const formatFreshPath = () => listChannelFolders(world.bravo, 'alpha').fresh
const dropForged = async (forgery: ForgeryOptions = {}) => dropMessage(world, await forgeMessage(world, forgery))
const buildBravoLabel = () => buildLabel(world.bravo.tenant_id)
const buildBody = (more: object) => canonicalJson({ label: buildBravoLabel(), schema: 'test.v1', data: {}, ...more })
const formatEnvelopePath = (seq = 1) => join(formatFreshPath(), `00000001-${String(seq).padStart(16, '0')}.env.json`)
const nestArrays = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`

async function signByStranger() {
  const dir = join(world.dir, 'stranger')
  await generateKey(dir, { use: 'message', now: start_ms })
  return joseSignatures({ dir })
}

async function installScanner() {
  await world.bravo.transport.rescan()
}

/** What each case puts into the folder, and the reasons that it must meet, in the order of the files' names. */
const cases: readonly { reason: QuarantineReason; what: string; make: () => Promise<unknown> }[] = [
  {
    reason: 'NAME',
    what: 'a file of another kind',
    make: async () => fs.writeFileSync(join(formatFreshPath(), 'notes.txt'), ''),
  },
  { reason: 'NAME', what: 'a name with number 0', make: () => dropForged({ stem: '00000001-0000000000000000' }) },
  {
    reason: 'NAME',
    what: 'a number that no double holds',
    make: () => dropForged({ stem: '00000001-9999999999999999' }),
  },
  {
    reason: 'NAME',
    what: 'a folder of another name',
    make: async () => fs.mkdirSync(join(formatFreshPath(), 'folder')),
  },
  {
    reason: 'NAME',
    what: 'a name that is no text',
    make: async () =>
      fs.writeFileSync(Buffer.concat([Buffer.from(`${formatFreshPath()}/`), Buffer.from([0xff, 0xfe])]), ''),
  },
  { reason: 'NAME', what: 'another number in the name', make: () => dropForged({ stem: '00000001-0000000000000007' }) },
  {
    reason: 'NOT_REGULAR',
    what: 'a link in place of an envelope',
    make: async () => {
      await dropForged()
      fs.renameSync(formatEnvelopePath(), join(world.dir, 'elsewhere'))
      fs.symlinkSync(join(world.dir, 'elsewhere'), formatEnvelopePath())
    },
  },
  {
    reason: 'NOT_REGULAR',
    what: 'a pipe',
    make: async () => execFileSync('mkfifo', [formatEnvelopePath()]),
  },
  {
    reason: 'NOT_REGULAR',
    what: 'a folder with a message’s name',
    make: async () => fs.mkdirSync(formatEnvelopePath()),
  },
  {
    reason: 'HARDLINK',
    what: 'a second name elsewhere',
    make: async () => {
      await dropForged()
      fs.linkSync(formatEnvelopePath(), join(world.dir, 'second-name'))
    },
  },
  {
    reason: 'TOO_LARGE',
    what: 'an envelope',
    make: () => dropForged({ envelope: (text) => text + ' '.repeat(65_536) }),
  },
  {
    reason: 'TOO_LARGE',
    what: 'a sparse body of 5 GB',
    make: async () => {
      await dropForged()
      fs.truncateSync(formatEnvelopePath().replace('.env.', '.body.'), 5_000_000_000)
    },
  },
  { reason: 'BAD_JSON', what: 'an envelope that is none', make: () => dropForged({ envelope: () => 'not json' }) },
  {
    reason: 'BAD_JSON',
    what: 'something after the envelope',
    make: () => dropForged({ envelope: (text) => `${text}{}` }),
  },
  {
    reason: 'BAD_JSON',
    what: 'an envelope of another shape',
    make: () => dropForged({ envelope: () => '{"payload":1}' }),
  },
  { reason: 'BAD_JSON', what: 'too many signatures', make: () => dropForged({ envelope: repeatSignature }) },
  {
    reason: 'BAD_JSON',
    what: 'a body nested too deep',
    make: () =>
      dropForged({
        body: `{"label":${JSON.stringify(buildBravoLabel())},"schema":"test.v1","data":{"deep":${nestArrays(15)}}}`,
      }),
  },
  { reason: 'BAD_JSON', what: 'a body that is no UTF-8', make: () => dropForged(buildLatin1Forgery()) },
  { reason: 'DUP_KEY', what: 'a repeated key in the envelope', make: () => dropForged({ envelope: repeatPayload }) },
  {
    reason: 'DUP_KEY',
    what: 'a repeated key in the statement',
    make: () => dropForged({ rewrite: (text) => text.replace('"seq":1', '"seq":1,"s\\u0065q":1') }),
  },
  {
    reason: 'DUP_KEY',
    what: 'in the body',
    make: () => dropForged({ body: buildBody({}).replace('{', '{"schema":"x",') }),
  },
  {
    reason: 'UNKNOWN_FIELD',
    what: 'in the envelope',
    make: () => dropForged({ envelope: (text) => text.replace('{', '{"x":1,') }),
  },
  { reason: 'UNKNOWN_FIELD', what: 'in the statement', make: () => dropForged({ statement: { via: 'elsewhere' } }) },
  { reason: 'UNKNOWN_FIELD', what: 'in the body', make: () => dropForged({ body: buildBody({ extra: 1 }) }) },
  { reason: 'BAD_SIG', what: 'a changed statement', make: () => dropForged({ envelope: changePayload }) },
  {
    reason: 'UNKNOWN_KEY',
    what: 'a stranger’s key',
    make: async () => dropForged({ signatures: await signByStranger() }),
  },
  { reason: 'KEY_REVOKED', what: 'a revoked key', make: () => repinAlpha({ revoked: true }).then(() => dropForged()) },
  {
    reason: 'THRESHOLD',
    what: 'one signature of two',
    make: () => repinAlpha({ threshold: 2 }).then(() => dropForged()),
  },
  { reason: 'WRONG_DST', what: 'another site', make: () => dropForged({ statement: { dst: 'charlie' } }) },
  {
    reason: 'WRONG_DST',
    what: 'another tenant',
    make: () => dropForged({ statement: { receiver_tenant_id: 'other' } }),
  },
  {
    reason: 'WRONG_CHANNEL',
    what: 'another carrier’s',
    make: () => dropForged({ statement: { channel: 'mtls/alpha/bravo' } }),
  },
  { reason: 'WRONG_CHANNEL', what: 'another sender', make: () => dropForged({ statement: { src: 'charlie' } }) },
  {
    reason: 'WRONG_CHANNEL',
    what: 'another tenant',
    make: () => dropForged({ statement: { sender_tenant_id: 'other' } }),
  },
  { reason: 'TYPE', what: 'another type', make: () => dropForged({ statement: { type: 'platform.other' } }) },
  { reason: 'TYPE', what: 'a later version', make: () => dropForged({ statement: { v: 9 } }) },
  { reason: 'TYPE', what: 'an unknown kind', make: () => dropForged({ statement: { kind: 'gossip' } }) },
  {
    reason: 'SCHEMA',
    what: 'a statement without a field',
    make: () => dropForged({ statement: { msg_id: undefined } }),
  },
  {
    reason: 'SCHEMA',
    what: 'a body without its data',
    make: () => dropForged({ body: buildBody({ data: undefined }) }),
  },
  {
    reason: 'SCHEMA',
    what: 'a body of another schema',
    make: () => dropForged({ body: buildBody({ schema: 'other' }) }),
  },
  { reason: 'BODY_DIGEST', what: 'other bytes', make: () => dropForged({ placed: buildBody({ data: { seq: 2 } }) }) },
  {
    reason: 'BODY_DIGEST',
    what: 'more bytes',
    make: () => dropForged({ placed: `${buildBody({ data: { seq: 1 } })} ` }),
  },
  {
    reason: 'EXPIRED',
    what: 'by its own end',
    make: () => dropForged({ statement: { created: formatHours(-9), not_after: formatHours(-1) } }),
  },
  {
    reason: 'EXPIRED',
    what: 'by the channel’s',
    make: () => dropForged({ statement: { created: formatHours(-24 * 8) } }),
  },
  { reason: 'FUTURE', what: 'beyond the skew', make: () => dropForged({ statement: { created: formatHours(0.5) } }) },
  { reason: 'FAST_FORWARD', what: 'a leap', make: () => dropForged({ seq: 2 ** 20 + 1 }) },
  { reason: 'FAST_FORWARD', what: 'an epoch not announced', make: () => dropForged({ epoch: 2 }) },
  { reason: 'CHAIN_BREAK', what: 'no first message', make: () => dropForged({ statement: { prev: 'a'.repeat(96) } }) },
  { reason: 'LABEL_MISSING', what: 'in the statement', make: () => dropForged({ statement: { label: undefined } }) },
  { reason: 'LABEL_MISSING', what: 'in the body', make: () => dropForged({ body: buildBody({ label: undefined }) }) },
  {
    reason: 'LABEL_DENIED',
    what: 'above the ceiling',
    make: () => dropForged(buildLabelledForgery({ level: 'TOP_SECRET' })),
  },
  {
    reason: 'LABEL_DENIED',
    what: 'another category',
    make: () => dropForged(buildLabelledForgery({ categories: ['X'] })),
  },
  {
    reason: 'LABEL_DENIED',
    what: 'released to others',
    make: () => dropForged(buildLabelledForgery({ releasable_to: ['charlie'] })),
  },
  { reason: 'LABEL_DENIED', what: 'another policy', make: () => dropForged(buildLabelledForgery({ policy: 'NATO' })) },
  { reason: 'LABEL_DENIED', what: 'no label at all', make: () => dropForged({ statement: { label: 'SECRET' } }) },
  {
    reason: 'LABEL_DENIED',
    what: 'another one in the body',
    make: () =>
      dropForged({ body: buildBody({ label: buildLabel(world.bravo.tenant_id, { level: 'UNCLASSIFIED' }) }) }),
  },
]

test.each(cases)('$reason: $what', async ({ reason, make }) => {
  await make()
  await installScanner()
  const found = listQuarantineReasons(world.bravo, 'alpha')
  // A name spoils both files of a message.
  expect(new Set(found.map((each) => each.reason))).toEqual(new Set([reason]))
  expect(world.bravo.received).toEqual([])
  const { fresh: left, work, done, quarantine } = listChannelFolders(world.bravo, 'alpha')
  expect([left, work, done].flatMap((folder) => fs.readdirSync(folder))).toEqual([])
  for (const file of fs.readdirSync(quarantine)) {
    const { mode, nlink, ...stat } = fs.lstatSync(join(quarantine, file))
    const isPlain = (mode & fs.constants.S_IFMT) === fs.constants.S_IFREG && nlink === 1
    // Whatever mode the sender gave it; a link's is another file's.
    if (isPlain) expect([file, mode & 0o777, stat.uid]).toEqual([file, 0o600, process.getuid?.()])
  }
  expect(listQuarantine(world.bravo.root, 'alpha', 9)).toHaveLength(found.length)
  const audited = await world.bravo.audit.list({ action: 'filedrop.message.quarantined', limit: 9 })
  expect(audited).toHaveLength(found.length)
})

test('CHAIN_BREAK: judged as soon as both neighbours are there, from either side', async () => {
  const first = await forgeMessage(world)
  dropMessage(world, first)
  await dropForged({ seq: 2, statement: { prev: 'b'.repeat(96) } })
  await dropForged({ seq: 5, statement: { prev: 'c'.repeat(96) } })
  await installScanner()
  await dropForged({ seq: 4 })
  await installScanner()
  expect(listQuarantineReasons(world.bravo, 'alpha').map(({ reason, name }) => [reason, name.slice(0, 25)])).toEqual([
    ['CHAIN_BREAK', '00000001-0000000000000002'],
    ['CHAIN_BREAK', '00000001-0000000000000004'],
  ])
  await dropForged({ seq: 2, statement: { prev: first.digest } })
  await installScanner()
  expect(world.bravo.received.map(({ statement }) => statement.seq)).toEqual([1, 5, 2])
})

test('EQUIVOCATION: freezes the channel, also over a restart', async () => {
  await dropForged()
  await installScanner()
  await dropForged({ statement: { max_hops: 0 } })
  await dropForged({ seq: 2 })
  await installScanner()
  await restartSite(world.bravo)
  expect(listQuarantineReasons(world.bravo, 'alpha').map(({ reason }) => reason)).toEqual(['EQUIVOCATION'])
  expect(world.bravo.received).toHaveLength(1)
  const [status] = (await world.bravo.transport.status()).filter(({ direction }) => direction === 'in')
  expect(status).toMatchObject({ state: 'frozen', backlog: 1 })
  expect(await world.bravo.audit.list({ action: 'filedrop.channel.equivocation', limit: 9 })).toHaveLength(1)
})

test('REFUSED: the command said no, and its code is kept', async () => {
  await restartSite(world.bravo, () => ({
    verdict: 'refused',
    code: 'session_closed',
    detail: 'the session is closed',
  }))
  await dropForged()
  await installScanner()
  expect(listQuarantineReasons(world.bravo, 'alpha')).toMatchObject([{ reason: 'REFUSED', code: 'session_closed' }])
  await dropForged()
  await installScanner()
  expect(listQuarantineReasons(world.bravo, 'alpha')).toHaveLength(1)
  expect((await world.bravo.transport.status()).find(({ direction }) => direction === 'in')).toMatchObject({
    ...{ gaps: 0, next_seq: 2, received: 0, duplicates: 1, quarantined: 1 },
  })
})

test('POISON: after three attempts, while what comes behind it goes on', async () => {
  let attempts = 0
  await restartSite(world.bravo, ({ statement }) => {
    if (statement.seq === 2) return { verdict: 'applied' }
    attempts += 1
    throw new Error('a bug in the receiving role')
  })
  await dropForged()
  await dropForged({ seq: 2, statement: { prev: (await forgeMessage(world)).digest } })
  for (let i = 0; i < 5; i++) await installScanner()
  expect(attempts).toBe(3)
  expect(listQuarantineReasons(world.bravo, 'alpha').map(({ reason }) => reason)).toEqual(['POISON'])
  expect(world.bravo.received.map(({ statement }) => statement.seq)).toEqual([2])
})

test('TRUNCATED: half a message, or half an envelope, waits a day as this site counts it', async () => {
  const { envelope, body, stem } = await forgeMessage(world)
  fs.writeFileSync(join(formatFreshPath(), `${stem}.body.json`), body)
  await dropForged({ seq: 2, envelope: (text) => text.slice(0, -10) })
  await dropForged({ seq: 3, placed: '{' })
  fs.writeFileSync(join(formatFreshPath(), '.carrier-is-writing'), 'x')
  await installScanner()
  world.clock.ms += 86_400_000 - 1
  await restartSite(world.bravo)
  expect(listQuarantineReasons(world.bravo, 'alpha')).toEqual([])
  fs.writeFileSync(join(formatFreshPath(), `${stem}.env.json`), envelope)
  await installScanner()
  expect(world.bravo.received).toHaveLength(1)
  world.clock.ms += 1
  await installScanner()
  expect(listQuarantineReasons(world.bravo, 'alpha').map(({ reason }) => reason)).toEqual([
    'TRUNCATED',
    'TRUNCATED',
    'TRUNCATED',
  ])
  expect(fs.readdirSync(formatFreshPath())).toEqual([])
})

test('a full quarantine stops the intake, and says so', async () => {
  await restartSite(world.bravo, undefined, { quarantine_max_bytes: 1 })
  await dropForged({ envelope: () => 'not json' })
  await installScanner()
  await dropForged({ seq: 2 })
  await installScanner()
  expect(world.bravo.received).toEqual([])
  expect(fs.readdirSync(formatFreshPath())).toHaveLength(2)
  const [status] = (await world.bravo.transport.status()).filter(({ direction }) => direction === 'in')
  expect(status).toMatchObject({ quarantined: 1, detail: expect.stringContaining('quarantine is full') })
  fs.rmSync(listChannelFolders(world.bravo, 'alpha').quarantine, { recursive: true })
  fs.mkdirSync(listChannelFolders(world.bravo, 'alpha').quarantine)
  await restartSite(world.bravo)
  expect(world.bravo.received).toHaveLength(1)
})

test('empty files fill the quarantine too, by what is written of them', async () => {
  await restartSite(world.bravo, undefined, { quarantine_max_bytes: 1 })
  fs.writeFileSync(join(formatFreshPath(), 'stray-1'), '')
  await installScanner()
  fs.writeFileSync(join(formatFreshPath(), 'stray-2'), '')
  await installScanner()
  expect(fs.readdirSync(formatFreshPath())).toEqual(['stray-2'])
})

test('a name that no peer can have leads to no quarantine', async () => {
  await dropForged({ envelope: () => 'not json' })
  await installScanner()
  const { root } = world.bravo
  expect(listQuarantine(root, 'alpha', 9)).toHaveLength(1)
  expect(listQuarantine(join(root, 'elsewhere'), '../alpha', 9)).toEqual([])
})

test('without a trusted clock sequence alone decides', async () => {
  await restartSite(world.bravo, undefined, { trusted_clock: false })
  await dropForged({ statement: { created: formatHours(-24 * 99), not_after: formatHours(-24 * 98) } })
  await installScanner()
  expect(world.bravo.received).toHaveLength(1)
})

test('every reason that this carrier can give has a case', () => {
  const elsewhere: QuarantineReason[] = ['EQUIVOCATION', 'REFUSED', 'POISON', 'TRUNCATED', 'QUOTA', 'SCANNER']
  const shown = new Set([...cases.map(({ reason }) => reason), ...elsewhere])
  expect(quarantineReasons.filter((reason) => !shown.has(reason))).toEqual([])
})

async function repinAlpha({ revoked = false, threshold = 1 }) {
  const peer = buildPeer(world.alpha, { threshold })
  const keys = peer.keys.map((key) => (revoked ? { ...key, status: 'revoked' as const } : key))
  world.bravo.pinned.set('alpha', { ...peer, keys })
}

function buildLabelledForgery(more: object): ForgeryOptions {
  const changed = { ...buildBravoLabel(), ...more }
  return { statement: { label: changed }, body: buildBody({ label: changed }) }
}

/** Signed for as it lies there: only the encoding is wrong. */
function buildLatin1Forgery(): ForgeryOptions {
  const placed = Buffer.from(buildBody({ data: { name: 'naïve' } }), 'latin1')
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

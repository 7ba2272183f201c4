// Every reason of the format's list, shown on a file made for it: it ends in quarantine with that reason, and nothing is applied.
import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { generateKey } from '../../../adapters/keys/jose/key-life.ts'
import { joseSignatures } from '../../../adapters/keys/jose/signatures.ts'
import { listQuarantine } from '../../../adapters/transport/filedrop/quarantine/quarantine.ts'
import { type Reason, reasons } from '../../../adapters/transport/filedrop/reasons.ts'
import { canonical, sha384 } from '../../../daemon/kernel/canonical.ts'
import { drop, type Forgery, forge } from './forged.ts'
import {
  incomingOf,
  labelFor,
  peerOf,
  quarantineOf,
  restart,
  start_ms,
  startReceiving,
  twoSites,
  type World,
} from './two-sites.ts'

let world: World
beforeEach(async () => {
  world = await twoSites()
  await startReceiving(world.bravo)
})
afterEach(() => world.dispose())

const hours = (count: number) => new Date(start_ms + count * 3_600_000).toISOString()
const fresh = () => incomingOf(world.bravo, 'alpha').fresh
const put = async (forgery: Forgery = {}) => drop(world, await forge(world, forgery))
const label = () => labelFor(world.bravo.tenant_id)
const bodyWith = (more: object) => canonical({ label: label(), schema: 'test.v1', data: {}, ...more })
const envPath = (seq = 1) => join(fresh(), `00000001-${String(seq).padStart(16, '0')}.env.json`)
const deep = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`

async function strangersKey() {
  const dir = join(world.dir, 'stranger')
  await generateKey(dir, { use: 'message', now: start_ms })
  return joseSignatures({ dir })
}

async function isScanned() {
  await world.bravo.transport.rescan()
}

/** What each case puts into the folder, and the reasons that it must meet, in the order of the files' names. */
const cases: readonly { reason: Reason; what: string; make: () => Promise<unknown> }[] = [
  {
    reason: 'NAME',
    what: 'a file of another kind',
    make: async () => fs.writeFileSync(join(fresh(), 'notes.txt'), ''),
  },
  { reason: 'NAME', what: 'a name with number 0', make: () => put({ stem: '00000001-0000000000000000' }) },
  { reason: 'NAME', what: 'a number that no double holds', make: () => put({ stem: '00000001-9999999999999999' }) },
  { reason: 'NAME', what: 'a folder of another name', make: async () => fs.mkdirSync(join(fresh(), 'folder')) },
  {
    reason: 'NAME',
    what: 'a name that is no text',
    make: async () => fs.writeFileSync(Buffer.concat([Buffer.from(`${fresh()}/`), Buffer.from([0xff, 0xfe])]), ''),
  },
  { reason: 'NAME', what: 'another number in the name', make: () => put({ stem: '00000001-0000000000000007' }) },
  {
    reason: 'NOT_REGULAR',
    what: 'a link in place of an envelope',
    make: async () => {
      await put()
      fs.renameSync(envPath(), join(world.dir, 'elsewhere'))
      fs.symlinkSync(join(world.dir, 'elsewhere'), envPath())
    },
  },
  {
    reason: 'NOT_REGULAR',
    what: 'a pipe',
    make: async () => execFileSync('mkfifo', [envPath()]),
  },
  { reason: 'NOT_REGULAR', what: 'a folder with a message’s name', make: async () => fs.mkdirSync(envPath()) },
  {
    reason: 'HARDLINK',
    what: 'a second name elsewhere',
    make: async () => {
      await put()
      fs.linkSync(envPath(), join(world.dir, 'second-name'))
    },
  },
  { reason: 'TOO_LARGE', what: 'an envelope', make: () => put({ envelope: (text) => text + ' '.repeat(65_536) }) },
  {
    reason: 'TOO_LARGE',
    what: 'a sparse body of 5 GB',
    make: async () => {
      await put()
      fs.truncateSync(envPath().replace('.env.', '.body.'), 5_000_000_000)
    },
  },
  { reason: 'BAD_JSON', what: 'an envelope that is none', make: () => put({ envelope: () => 'not json' }) },
  { reason: 'BAD_JSON', what: 'something after the envelope', make: () => put({ envelope: (text) => `${text}{}` }) },
  { reason: 'BAD_JSON', what: 'an envelope of another shape', make: () => put({ envelope: () => '{"payload":1}' }) },
  { reason: 'BAD_JSON', what: 'too many signatures', make: () => put({ envelope: repeatSignature }) },
  {
    reason: 'BAD_JSON',
    what: 'a body nested too deep',
    make: () => put({ body: `{"label":${JSON.stringify(label())},"schema":"test.v1","data":{"deep":${deep(15)}}}` }),
  },
  { reason: 'BAD_JSON', what: 'a body that is no UTF-8', make: () => put(inLatin1()) },
  { reason: 'DUP_KEY', what: 'a repeated key in the envelope', make: () => put({ envelope: repeatPayload }) },
  {
    reason: 'DUP_KEY',
    what: 'a repeated key in the statement',
    make: () => put({ rewrite: (text) => text.replace('"seq":1', '"seq":1,"s\\u0065q":1') }),
  },
  { reason: 'DUP_KEY', what: 'in the body', make: () => put({ body: bodyWith({}).replace('{', '{"schema":"x",') }) },
  {
    reason: 'UNKNOWN_FIELD',
    what: 'in the envelope',
    make: () => put({ envelope: (text) => text.replace('{', '{"x":1,') }),
  },
  { reason: 'UNKNOWN_FIELD', what: 'in the statement', make: () => put({ statement: { via: 'elsewhere' } }) },
  { reason: 'UNKNOWN_FIELD', what: 'in the body', make: () => put({ body: bodyWith({ extra: 1 }) }) },
  { reason: 'BAD_SIG', what: 'a changed statement', make: () => put({ envelope: changePayload }) },
  { reason: 'UNKNOWN_KEY', what: 'a stranger’s key', make: async () => put({ signatures: await strangersKey() }) },
  { reason: 'KEY_REVOKED', what: 'a revoked key', make: () => repinned({ revoked: true }).then(() => put()) },
  { reason: 'THRESHOLD', what: 'one signature of two', make: () => repinned({ threshold: 2 }).then(() => put()) },
  { reason: 'WRONG_DST', what: 'another site', make: () => put({ statement: { dst: 'charlie' } }) },
  { reason: 'WRONG_DST', what: 'another tenant', make: () => put({ statement: { receiver_tenant_id: 'other' } }) },
  {
    reason: 'WRONG_CHANNEL',
    what: 'another carrier’s',
    make: () => put({ statement: { channel: 'mtls/alpha/bravo' } }),
  },
  { reason: 'WRONG_CHANNEL', what: 'another sender', make: () => put({ statement: { src: 'charlie' } }) },
  { reason: 'WRONG_CHANNEL', what: 'another tenant', make: () => put({ statement: { sender_tenant_id: 'other' } }) },
  { reason: 'TYPE', what: 'another type', make: () => put({ statement: { type: 'platform.other' } }) },
  { reason: 'TYPE', what: 'a later version', make: () => put({ statement: { v: 9 } }) },
  { reason: 'TYPE', what: 'an unknown kind', make: () => put({ statement: { kind: 'gossip' } }) },
  { reason: 'SCHEMA', what: 'a statement without a field', make: () => put({ statement: { msg_id: undefined } }) },
  { reason: 'SCHEMA', what: 'a body without its data', make: () => put({ body: bodyWith({ data: undefined }) }) },
  { reason: 'SCHEMA', what: 'a body of another schema', make: () => put({ body: bodyWith({ schema: 'other' }) }) },
  { reason: 'BODY_DIGEST', what: 'other bytes', make: () => put({ placed: bodyWith({ data: { seq: 2 } }) }) },
  { reason: 'BODY_DIGEST', what: 'more bytes', make: () => put({ placed: `${bodyWith({ data: { seq: 1 } })} ` }) },
  {
    reason: 'EXPIRED',
    what: 'by its own end',
    make: () => put({ statement: { created: hours(-9), not_after: hours(-1) } }),
  },
  { reason: 'EXPIRED', what: 'by the channel’s', make: () => put({ statement: { created: hours(-24 * 8) } }) },
  { reason: 'FUTURE', what: 'beyond the skew', make: () => put({ statement: { created: hours(0.5) } }) },
  { reason: 'FAST_FORWARD', what: 'a leap', make: () => put({ seq: 2 ** 20 + 1 }) },
  { reason: 'FAST_FORWARD', what: 'an epoch not announced', make: () => put({ epoch: 2 }) },
  { reason: 'CHAIN_BREAK', what: 'no first message', make: () => put({ statement: { prev: 'a'.repeat(96) } }) },
  { reason: 'LABEL_MISSING', what: 'in the statement', make: () => put({ statement: { label: undefined } }) },
  { reason: 'LABEL_MISSING', what: 'in the body', make: () => put({ body: bodyWith({ label: undefined }) }) },
  { reason: 'LABEL_DENIED', what: 'above the ceiling', make: () => put(labelled({ level: 'TOP_SECRET' })) },
  { reason: 'LABEL_DENIED', what: 'another category', make: () => put(labelled({ categories: ['X'] })) },
  { reason: 'LABEL_DENIED', what: 'released to others', make: () => put(labelled({ releasable_to: ['charlie'] })) },
  { reason: 'LABEL_DENIED', what: 'another policy', make: () => put(labelled({ policy: 'NATO' })) },
  { reason: 'LABEL_DENIED', what: 'no label at all', make: () => put({ statement: { label: 'SECRET' } }) },
  {
    reason: 'LABEL_DENIED',
    what: 'another one in the body',
    make: () => put({ body: bodyWith({ label: labelFor(world.bravo.tenant_id, { level: 'UNCLASSIFIED' }) }) }),
  },
]

test.each(cases)('$reason: $what', async ({ reason, make }) => {
  await make()
  await isScanned()
  const found = quarantineOf(world.bravo, 'alpha')
  // A name spoils both files of a message.
  expect(new Set(found.map((each) => each.reason))).toEqual(new Set([reason]))
  expect(world.bravo.received).toEqual([])
  const { fresh: left, work, done, quarantine } = incomingOf(world.bravo, 'alpha')
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
  const first = await forge(world)
  drop(world, first)
  await put({ seq: 2, statement: { prev: 'b'.repeat(96) } })
  await put({ seq: 5, statement: { prev: 'c'.repeat(96) } })
  await isScanned()
  await put({ seq: 4 })
  await isScanned()
  expect(quarantineOf(world.bravo, 'alpha').map(({ reason, name }) => [reason, name.slice(0, 25)])).toEqual([
    ['CHAIN_BREAK', '00000001-0000000000000002'],
    ['CHAIN_BREAK', '00000001-0000000000000004'],
  ])
  await put({ seq: 2, statement: { prev: first.digest } })
  await isScanned()
  expect(world.bravo.received.map(({ statement }) => statement.seq)).toEqual([1, 5, 2])
})

test('EQUIVOCATION: freezes the channel, also over a restart', async () => {
  await put()
  await isScanned()
  await put({ statement: { max_hops: 0 } })
  await put({ seq: 2 })
  await isScanned()
  await restart(world.bravo)
  expect(quarantineOf(world.bravo, 'alpha').map(({ reason }) => reason)).toEqual(['EQUIVOCATION'])
  expect(world.bravo.received).toHaveLength(1)
  const [status] = (await world.bravo.transport.status()).filter(({ direction }) => direction === 'in')
  expect(status).toMatchObject({ state: 'frozen', backlog: 1 })
  expect(await world.bravo.audit.list({ action: 'filedrop.channel.equivocation', limit: 9 })).toHaveLength(1)
})

test('REFUSED: the command said no, and its code is kept', async () => {
  await restart(world.bravo, () => ({ verdict: 'refused', code: 'session_closed', detail: 'the session is closed' }))
  await put()
  await isScanned()
  expect(quarantineOf(world.bravo, 'alpha')).toMatchObject([{ reason: 'REFUSED', code: 'session_closed' }])
  await put()
  await isScanned()
  expect(quarantineOf(world.bravo, 'alpha')).toHaveLength(1)
  expect((await world.bravo.transport.status()).find(({ direction }) => direction === 'in')).toMatchObject({
    ...{ gaps: 0, next_seq: 2, received: 0, duplicates: 1, quarantined: 1 },
  })
})

test('POISON: after three attempts, while what comes behind it goes on', async () => {
  let attempts = 0
  await restart(world.bravo, ({ statement }) => {
    if (statement.seq === 2) return { verdict: 'applied' }
    attempts += 1
    throw new Error('a bug in the receiving role')
  })
  await put()
  await put({ seq: 2, statement: { prev: (await forge(world)).digest } })
  for (let i = 0; i < 5; i++) await isScanned()
  expect(attempts).toBe(3)
  expect(quarantineOf(world.bravo, 'alpha').map(({ reason }) => reason)).toEqual(['POISON'])
  expect(world.bravo.received.map(({ statement }) => statement.seq)).toEqual([2])
})

test('TRUNCATED: half a message, or half an envelope, waits a day as this site counts it', async () => {
  const { envelope, body, stem } = await forge(world)
  fs.writeFileSync(join(fresh(), `${stem}.body.json`), body)
  await put({ seq: 2, envelope: (text) => text.slice(0, -10) })
  await put({ seq: 3, placed: '{' })
  fs.writeFileSync(join(fresh(), '.carrier-is-writing'), 'x')
  await isScanned()
  world.clock.ms += 86_400_000 - 1
  await restart(world.bravo)
  expect(quarantineOf(world.bravo, 'alpha')).toEqual([])
  fs.writeFileSync(join(fresh(), `${stem}.env.json`), envelope)
  await isScanned()
  expect(world.bravo.received).toHaveLength(1)
  world.clock.ms += 1
  await isScanned()
  expect(quarantineOf(world.bravo, 'alpha').map(({ reason }) => reason)).toEqual([
    'TRUNCATED',
    'TRUNCATED',
    'TRUNCATED',
  ])
  expect(fs.readdirSync(fresh())).toEqual([])
})

test('a full quarantine stops the intake, and says so', async () => {
  await restart(world.bravo, undefined, { quarantine_max_bytes: 1 })
  await put({ envelope: () => 'not json' })
  await isScanned()
  await put({ seq: 2 })
  await isScanned()
  expect(world.bravo.received).toEqual([])
  expect(fs.readdirSync(fresh())).toHaveLength(2)
  const [status] = (await world.bravo.transport.status()).filter(({ direction }) => direction === 'in')
  expect(status).toMatchObject({ quarantined: 1, detail: expect.stringContaining('quarantine is full') })
  fs.rmSync(incomingOf(world.bravo, 'alpha').quarantine, { recursive: true })
  fs.mkdirSync(incomingOf(world.bravo, 'alpha').quarantine)
  await restart(world.bravo)
  expect(world.bravo.received).toHaveLength(1)
})

test('empty files fill the quarantine too, by what is written of them', async () => {
  await restart(world.bravo, undefined, { quarantine_max_bytes: 1 })
  fs.writeFileSync(join(fresh(), 'stray-1'), '')
  await isScanned()
  fs.writeFileSync(join(fresh(), 'stray-2'), '')
  await isScanned()
  expect(fs.readdirSync(fresh())).toEqual(['stray-2'])
})

test('a name that no peer can have leads to no quarantine', async () => {
  await put({ envelope: () => 'not json' })
  await isScanned()
  const { root } = world.bravo
  expect(listQuarantine(root, 'alpha', 9)).toHaveLength(1)
  expect(listQuarantine(join(root, 'elsewhere'), '../alpha', 9)).toEqual([])
})

test('without a trusted clock sequence alone decides', async () => {
  await restart(world.bravo, undefined, { trusted_clock: false })
  await put({ statement: { created: hours(-24 * 99), not_after: hours(-24 * 98) } })
  await isScanned()
  expect(world.bravo.received).toHaveLength(1)
})

test('every reason that this carrier can give has a case', () => {
  const elsewhere: Reason[] = ['EQUIVOCATION', 'REFUSED', 'POISON', 'TRUNCATED', 'QUOTA', 'SCANNER']
  const shown = new Set([...cases.map(({ reason }) => reason), ...elsewhere])
  expect(reasons.filter((reason) => !shown.has(reason))).toEqual([])
})

async function repinned({ revoked = false, threshold = 1 }) {
  const peer = peerOf(world.alpha, { threshold })
  const keys = peer.keys.map((key) => (revoked ? { ...key, status: 'revoked' as const } : key))
  world.bravo.pinned.set('alpha', { ...peer, keys })
}

function labelled(more: object): Forgery {
  const changed = { ...label(), ...more }
  return { statement: { label: changed }, body: bodyWith({ label: changed }) }
}

/** Signed for as it lies there: only the encoding is wrong. */
function inLatin1(): Forgery {
  const placed = Buffer.from(bodyWith({ data: { name: 'naïve' } }), 'latin1')
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

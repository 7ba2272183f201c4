// Key sets by hand: root keys on media of their own sign what a site drafts, and peers follow from files alone.
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { keyAlgorithmCases } from '../keys/key-set-fixture.ts'
import { createScratchFolder, type Json, runCommand } from '../support/command/run-command.ts'
import {
  createRootedSite,
  createRootKeyMedium,
  type RootKeyMedium,
  type SiteCommands,
  signOnMedium,
  siteCommands,
} from '../support/keys/root-key-ceremony.ts'

const { dir, remove } = createScratchFolder('key-sets')
afterAll(remove)
const at = (name: string) => path.join(dir, name)

function writeChanged(file: string, change: (value: Json) => void): string {
  const value = JSON.parse(readFileSync(file, 'utf8'))
  change(value)
  const other = `${file}.changed`
  writeFileSync(other, JSON.stringify(value))
  return other
}

const parsePayload = (text: string): Json => JSON.parse(Buffer.from(text, 'base64url').toString())

describe.each(keyAlgorithmCases)('root keys of $name on media', ({ algorithms }) => {
  const mark = algorithms.join('-').toLowerCase()
  const world = at(mark)
  const file = (name: string) => `${world}-${name}.json`
  let media: RootKeyMedium[]
  let site: SiteCommands
  let peer: SiteCommands
  beforeAll(async () => {
    media = await Promise.all(
      algorithms.map((algorithm) => createRootKeyMedium(dir, `${mark}-${algorithm}`, algorithm)),
    )
    site = await createRootedSite(world, 'alpha', media)
    peer = siteCommands(path.join(world, 'bravo'))
    await peer.answered(['init', '--name', 'bravo', '--tenant', 'bravo', '--profile', 'demo'])
  })

  test('the first set is in force, and a peer pins it whole by the fingerprints of its root keys', async () => {
    const set = await site.answered(['keys', 'set', 'show', '--out', file('set-1')])
    expect(set).toMatchObject({ version: 1, thresholds: { message: 1, root: algorithms.length } })
    const roots = set.keys.filter((key: Json) => key.use === 'root' && key.status === 'active')
    expect(roots.map((key: Json) => key.kid).sort()).toEqual(media.map(({ kid }) => kid).sort())
    const words = ['peers', 'add', 'alpha', '--keys', file('set-1'), '--tenant', 'alpha', '--ceiling', 'RESTRICTED']
    const prints = media.map(({ fingerprint }) => fingerprint)
    expect(await peer.platform(words)).toMatchObject({ exit: 3, stdout: '' })
    const [message] = await site.keys('message')
    expect(await peer.platform([...words, '--fingerprint', message.fingerprint])).toMatchObject({ exit: 3 })
    expect(await peer.platform([...words, '--fingerprint', prints.join(','), '--threshold', '2'])).toMatchObject({
      exit: 2,
    })
    const pinned = await peer.answered([...words, '--fingerprint', prints.join(',')])
    expect(pinned).toMatchObject({ key_set: { version: 1 }, threshold: 1, root_threshold: algorithms.length })
    expect(pinned.keys).toEqual(set.keys)
  })

  test('a rotation waits for the root keys: drafted, signed on every medium, published, carried', async () => {
    const [old] = await site.keys('message')
    const { created, retired, key_set } = await site.answered(['keys', 'rotate', old.kid])
    expect([retired.status, retired.not_after, key_set]).toEqual(['active', undefined, undefined])
    const draft = file('keyset-2')
    await site.answered(['keys', 'set', 'draft', '--retire', old.kid, '--out', draft])
    expect(await site.platform(['keys', 'set', 'publish', draft, '--yes'])).toMatchObject({ exit: 3 })
    for (const medium of media) {
      const signed = await signOnMedium(medium, draft)
      expect(signed).toMatchObject({ version: 2, signers: [medium.kid] })
      if (medium !== media.at(-1)) {
        expect(await site.platform(['keys', 'set', 'publish', draft, '--yes'])).toMatchObject({ exit: 3 })
      }
    }
    const set = await site.answered(['keys', 'set', 'publish', draft, '--yes'])
    expect(set.keys).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ kid: old.kid, status: 'active', not_after: expect.any(String) }),
        expect.objectContaining({ kid: created.kid, status: 'active' }),
      ]),
    )
    const [ending, newer] = await site.keys('message')
    expect([ending.days_left, newer.days_left]).toEqual([13, undefined])
    await site.answered(['keys', 'set', 'show', '--out', file('set-2')])
    const taken = await peer.answered(['peers', 'update', 'alpha', '--keys', file('set-2')])
    expect(taken).toMatchObject({ taken: 1, key_set: { version: 2 }, keys: set.keys })
    for (const known of ['set-2', 'set-1']) {
      expect(await peer.answered(['peers', 'update', 'alpha', '--keys', file(known)])).toMatchObject({ taken: 0 })
    }
  })

  test('one root key after the other is replaced by a set that both the old and the new ones sign', async () => {
    const [first] = media
    if (!first) throw new Error('there is no medium')
    const newer = await createRootKeyMedium(dir, `${mark}-newer`, algorithms[0] ?? 'Ed25519')
    const words = ['--roots', newer.file, '--retire', first.kid]
    const draft = file('keyset-3')
    await site.answered(['keys', 'set', 'draft', '--out', draft, ...words])
    for (const medium of media) await signOnMedium(medium, draft)
    expect(await site.platform(['keys', 'set', 'publish', draft, '--yes'])).toMatchObject({ exit: 3 })
    await signOnMedium(newer, draft)
    expect(await site.answered(['keys', 'set', 'publish', draft, '--yes'])).toMatchObject({ version: 3 })
    media = [newer, ...media.slice(1)]
    await site.answered(['keys', 'set', 'show', '--out', file('set-3')])
    expect(await peer.answered(['peers', 'update', 'alpha', '--keys', file('set-3')])).toMatchObject({ taken: 1 })
    // Statements signed by the old root keys alone are no longer accepted.
    await site.answered(['keys', 'set', 'draft', '--out', file('keyset-4')])
    const old = await runCommand(['keys', 'set', 'sign', file('keyset-4'), '--dir', first.dir, '--yes'])
    expect(old).toMatchObject({ exit: 3, stderr: expect.stringContaining('no root key') })
  })
})

test('a peer who pinned the root key of the site’s making follows once that has signed as well; then it can go', async () => {
  const media = [await createRootKeyMedium(dir, 'first', 'Ed25519'), await createRootKeyMedium(dir, 'second', 'ES384')]
  const site = siteCommands(path.join(at('moved'), 'alpha'))
  const peer = siteCommands(path.join(at('moved'), 'bravo'))
  for (const [each, name] of [
    [site, 'alpha'],
    [peer, 'bravo'],
  ] as const) {
    await each.answered(['init', '--name', name, '--tenant', name, '--profile', 'demo'])
  }
  const [own] = await site.keys('root')
  const [message] = await site.keys('message')
  await site.answered(['keys', 'export', '--out', at('moved/keys.json')])
  const words = [
    'peers',
    'add',
    'alpha',
    '--keys',
    at('moved/keys.json'),
    '--tenant',
    'alpha',
    '--ceiling',
    'RESTRICTED',
  ]
  await peer.answered([...words, '--fingerprint', `${own.fingerprint},${message.fingerprint}`])
  const draft = at('moved/draft.json')
  const roots = media.map(({ file }) => file).join(',')
  await site.answered([
    'keys',
    'set',
    'draft',
    '--roots',
    roots,
    '--root-threshold',
    '2',
    '--retire',
    own.kid,
    '--out',
    draft,
  ])
  for (const medium of media) await signOnMedium(medium, draft)
  const without = at('moved/without.json')
  const { draft: content } = JSON.parse(readFileSync(draft, 'utf8'))
  writeFileSync(without, JSON.stringify({ v: 1, type: 'platform.keyset-file', sets: [content] }))
  expect(await peer.platform(['peers', 'update', 'alpha', '--keys', without])).toMatchObject({ exit: 3 })
  expect(await site.answered(['keys', 'set', 'sign', draft, '--yes'])).toMatchObject({
    signers: [own.kid],
    signatures: 3,
  })
  await site.answered(['keys', 'set', 'publish', draft, '--yes'])
  await site.answered(['keys', 'set', 'show', '--out', at('moved/set.json')])
  const updated = await peer.answered(['peers', 'update', 'alpha', '--keys', at('moved/set.json')])
  expect(updated).toMatchObject({ taken: 1, root_threshold: 2, key_set: { version: 1 } })
  const ended = await site.platform(['keys', 'revoke', own.kid, '--yes'])
  expect(ended).toMatchObject({ exit: 0, stderr: '' })
  expect(await site.keys('root')).toEqual([])
  const { findings } = await site.answered(['doctor'])
  expect(findings.filter((each: Json) => each.check === 'keys')).toMatchObject([{ state: 'ok' }])
})

test('without a medium: one command rotates, one revokes, and the peer takes both from one file', async () => {
  const site = siteCommands(path.join(at('plain'), 'alpha'))
  const peer = siteCommands(path.join(at('plain'), 'bravo'))
  for (const [each, name] of [
    [site, 'alpha'],
    [peer, 'bravo'],
  ] as const) {
    await each.answered(['init', '--name', name, '--tenant', name, '--profile', 'demo'])
  }
  expect(await site.platform(['keys', 'set', 'show'])).toMatchObject({ exit: 1 })
  const [old] = await site.keys('message')
  const [root] = await site.keys('root')
  const rotated = await site.answered(['keys', 'rotate', old.kid, '--algorithm', 'ML-DSA-87'])
  await site.answered(['keys', 'set', 'show', '--out', at('plain/set.json')])
  const words = ['peers', 'add', 'alpha', '--keys', at('plain/set.json'), '--ceiling', 'RESTRICTED', '--tenant']
  expect(await peer.platform([...words, 'mallory', '--fingerprint', root.fingerprint])).toMatchObject({ exit: 3 })
  await peer.answered([...words, 'alpha', '--fingerprint', root.fingerprint])
  const revoked = await site.answered(['keys', 'revoke', old.kid, '--yes'])
  expect(revoked).toMatchObject({ status: 'revoked', key_set: 2 })
  const newer = await site.answered(['keys', 'rotate', root.kid])
  expect(newer).toMatchObject({ retired: { status: 'retired' }, key_set: 3 })
  await site.answered(['keys', 'set', 'show', '--out', at('plain/sets.json')])
  const { keys, taken } = await peer.answered(['peers', 'update', 'alpha', '--keys', at('plain/sets.json')])
  expect(taken).toBe(2)
  expect(keys.map(({ kid, status }: Json) => [kid, status])).toEqual([
    [rotated.created.kid, 'active'],
    [newer.created.kid, 'active'],
  ])
  expect(await peer.platform(['peers', 'revoke', 'alpha', 'message-unknown', '--yes'])).toMatchObject({ exit: 1 })
  expect(await peer.platform(['peers', 'revoke', 'alpha', rotated.created.kid])).toMatchObject({ exit: 3 })
  const left = await peer.platform(['peers', 'revoke', 'alpha', rotated.created.fingerprint, '--yes'])
  expect(left).toMatchObject({ exit: 0, stderr: expect.stringContaining('too few keys of alpha are left') })
  const { keys: distrusted, revoked: remembered } = await peer.answered(['peers', 'show', 'alpha'])
  expect(distrusted[0].status).toBe('revoked')
  expect(remembered).toEqual([old.fingerprint, rotated.created.fingerprint])
})

describe('a machine that only signs', () => {
  let medium: RootKeyMedium
  let site: SiteCommands
  const draft = at('keyset-2.json')
  beforeAll(async () => {
    medium = await createRootKeyMedium(dir, 'signing', 'Ed25519')
    site = await createRootedSite(at('signed'), 'alpha', [medium])
    await site.answered(['keys', 'generate', '--use', 'message'])
    await site.answered(['keys', 'set', 'draft', '--out', draft])
  })
  const sign = (file: string, ...more: string[]) =>
    runCommand(['keys', 'set', 'sign', file, '--dir', medium.dir, '--yes', ...more])

  test('shows what changes, and asks', async () => {
    const ended = await runCommand(['keys', 'set', 'sign', draft, '--dir', medium.dir])
    expect(ended).toMatchObject({ exit: 3, stdout: '' })
    expect(ended.stderr).toContain('key set 2 of alpha')
    expect(ended.stderr).toMatch(/new message key \(Ed25519\), active/)
  })

  const lies: [string, (value: Json) => void][] = [
    ['a leap', changeDraft((set) => (set.version = 7))],
    ['another predecessor', changeDraft((set) => (set.previous = 'a'.repeat(96)))],
    ['another site', changeDraft((set) => (set.site = 'charlie'))],
    ['an older date', changeDraft((set) => (set.created = '2020-01-01T00:00:00.000Z'))],
    ['a threshold that nobody can meet', changeDraft((set) => (set.thresholds.root = 9))],
    ['a history without its last set', (value) => value.sets.pop()],
    ['a set in force that its root keys did not sign', (value) => (value.sets[0].signatures[0].signature = 'AAAA')],
    ['another text', (value) => (value.draft.payload = Buffer.from('{}').toString('base64url'))],
  ]
  function changeDraft(change: (set: Json) => void) {
    return (value: Json) => {
      const set = parsePayload(value.draft.payload)
      change(set)
      value.draft.payload = Buffer.from(JSON.stringify(set)).toString('base64url')
    }
  }

  test.each(lies)('refuses %s', async (_, change) => {
    const ended = await sign(writeChanged(draft, change))
    expect([2, 3]).toContain(ended.exit)
    expect(ended.stdout).toBe('')
  })

  test('refuses a history that another hand has signed, even one of a true root key', async () => {
    const other = await createRootKeyMedium(dir, 'other', 'Ed25519')
    const twin = await createRootedSite(at('twin'), 'alpha', [other])
    const file = at('keyset-twin.json')
    await twin.answered(['keys', 'set', 'draft', '--out', file, '--roots', medium.file])
    const ended = await sign(file)
    expect(ended).toMatchObject({
      exit: 3,
      stderr: expect.stringContaining('differs from the one that was signed here'),
    })
  })

  test('signs one set of a version, unless a person says that the other is nowhere', async () => {
    const again = at('keyset-2-again.json')
    await site.answered(['keys', 'set', 'draft', '--out', again, '--message-threshold', '2'])
    expect(await sign(draft)).toMatchObject({ exit: 0 })
    expect(await sign(draft)).toMatchObject({ exit: 0 })
    expect(await sign(again)).toMatchObject({ exit: 3, stderr: expect.stringContaining('--instead') })
    expect(await sign(again, '--instead')).toMatchObject({ exit: 0 })
    expect(await site.answered(['keys', 'set', 'publish', again, '--yes'])).toMatchObject({ version: 2 })
    expect(await site.platform(['keys', 'set', 'publish', draft, '--yes'])).toMatchObject({ exit: 3 })
  })

  test('an overlap below twice the transit time is refused, by draft and by rotation', async () => {
    const [old] = await site.keys('message')
    const short = at('keyset-short.json')
    await site.answered(['keys', 'set', 'draft', '--retire', old.kid, '--overlap', '13d', '--out', short])
    await signOnMedium(medium, short)
    const ended = await site.platform(['keys', 'set', 'publish', short, '--yes'])
    expect(ended).toMatchObject({ exit: 3, stderr: expect.stringContaining('messages in transit') })
    expect(await site.platform(['keys', 'rotate', old.kid, '--overlap', '13d'])).toMatchObject({ exit: 3 })
    expect((await site.answered(['keys', 'set', 'show'])).version).toBe(2)
  })
})

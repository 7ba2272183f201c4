// One fingerprint of all keys is read aloud at one site and typed at the other; nothing else confirms the whole file.
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createScratchFolder, type Json, runCommand, runJsonCommand } from '../support/command/run-command.ts'

const { dir, remove } = createScratchFolder('spoken-fingerprint')
afterAll(remove)
const at = (name: string) => path.join(dir, name)
const alpha = { env: { PLATFORM_SITE: at('alpha') } }
const bravo = { env: { PLATFORM_SITE: at('bravo') } }
const file = at('bravo-keys.json')
let spoken: string

beforeAll(async () => {
  await runJsonCommand(['init', '--tenant', 'acme', '--profile', 'demo'], alpha)
  await runJsonCommand(['init', '--tenant', 'bravo', '--profile', 'demo'], bravo)
  for (const use of ['message', 'root', 'message']) await runJsonCommand(['keys', 'generate', '--use', use], bravo)
  await runJsonCommand(['keys', 'export', '--out', file], bravo)
  spoken = await speak()
})

const speak = async (): Promise<string> => (await runJsonCommand(['keys', 'speak'], bravo)).fingerprint
const words = (keys = file, name = 'bravo', tenant = 'bravo') => {
  return ['peers', 'add', name, '--keys', keys, '--tenant', tenant, '--ceiling', 'RESTRICTED']
}
const add = (replies: string[], more: string[] = [], given = words()) =>
  runCommand([...given, ...more], { ...alpha, replies })
const listPeers = async (): Promise<Json[]> => (await runJsonCommand(['peers', 'list'], alpha)).items
async function unpin(): Promise<void> {
  await runJsonCommand(['peers', 'remove', 'bravo', '--yes'], alpha)
}
const otherDigit = (digit = '0') => String((Number(digit) + 1) % 10)
const mistyped = () => `${otherDigit(spoken[0])}${spoken.slice(1)}`

describe('a site without a key set', () => {
  test('is pinned with every key of the file once its fingerprint is typed', async () => {
    const shown = await runCommand(['keys', 'speak'], bravo)
    expect(shown.stdout.split('\n').slice(0, 2).join(' ').split(/ +/)).toEqual(spoken.split(' '))
    const ended = await add([spoken.replaceAll(' ', '')])
    expect(ended.exit, ended.stderr).toBe(0)
    const pinned = await runJsonCommand(['peers', 'show', 'bravo'], alpha)
    const own = (await runJsonCommand(['keys', 'list'], bravo)).items as Json[]
    const pinnable = own.filter(({ use }) => use === 'message' || use === 'root').map((key) => key.fingerprint)
    expect(pinned.keys.map((key: Json) => key.fingerprint).sort()).toEqual(pinnable.sort())
    await unpin()
  })

  test('a mistyped group is named at once, and can be typed again', async () => {
    const ended = await add([mistyped(), '12', spoken])
    expect([ended.exit, await listPeers()]).toEqual([0, [expect.objectContaining({ name: 'bravo' })]])
    expect(ended.stderr).toContain('group 1 is mistyped: have it read again')
    expect(ended.stderr).toContain('2 digits were typed')
    await unpin()
  })

  test('nothing is pinned by a yes, by an empty line, by too many attempts, or where nobody answers', async () => {
    for (const replies of [['y', 'yes', ''], [''], Array.from({ length: 9 }, mistyped), []]) {
      expect(await add(replies)).toMatchObject({ exit: 3, stdout: '' })
    }
    expect(await listPeers()).toEqual([])
  })

  test('a script passes it; a mistyped one is a usage error, and single fingerprints do not go with it', async () => {
    expect(await add([], ['--spoken', mistyped()])).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining('group 1'),
    })
    expect((await add([], ['--spoken', spoken, '--fingerprint', 'A'.repeat(43)])).exit).toBe(2)
    expect((await add([], ['--spoken', spoken])).exit).toBe(0)
    await unpin()
  })

  test.each<[string, () => string[]]>([
    ['another site name', () => words(file, 'charlie')],
    ['another tenant', () => words(file, 'bravo', 'other')],
    ['a file with one key fewer', () => words(alter((keys) => keys.slice(1)))],
    ['a file with a key of another site', () => words(alter((keys) => [...keys, foreignKey()]))],
    ['a key under another id', () => words(alter(([first, ...rest]) => [{ ...first, kid: 'other' }, ...rest]))],
  ])('%s has another fingerprint: nothing is pinned', async (_, given) => {
    await runJsonCommand(['keys', 'export', '--out', at('alpha-keys.json')], alpha).catch(() => undefined)
    const ended = await add([], ['--spoken', spoken], given())
    expect(ended).toMatchObject({ exit: 3, stderr: expect.stringContaining('nothing was changed') })
    expect(await listPeers()).toEqual([])
  })
})

const readKeys = (name: string): Json[] => JSON.parse(readFileSync(name, 'utf8')).keys
const foreignKey = () => readKeys(at('alpha-keys.json')).find((key) => key.platform_use === 'message')
function alter(change: (keys: Json[]) => Json[]): string {
  const altered = at('altered.json')
  writeFileSync(altered, JSON.stringify({ keys: change(readKeys(file)) }))
  return altered
}

test('a key id in place of a fingerprint is named as one', async () => {
  const [{ kid }] = readKeys(file)
  const ended = await add([], ['--fingerprint', kid])
  const message = `${kid} is a key id; --fingerprint wants the fingerprint, the last column of`
  expect(ended).toMatchObject({ exit: 2, stderr: expect.stringContaining(message) })
})

test('a key set is read aloud as what its file holds, and no longer as single keys', async () => {
  const [old] = readKeys(file).filter((key) => key.platform_use === 'message')
  await runJsonCommand(['keys', 'rotate', old.kid], bravo)
  const set = at('bravo-keyset.json')
  await runJsonCommand(['keys', 'set', 'show', '--out', set], bravo)
  const fingerprint = await speak()
  expect(fingerprint).not.toBe(spoken)
  expect((await add([], ['--spoken', spoken], words(set))).exit).toBe(3)
  expect((await add([], ['--spoken', fingerprint])).exit).toBe(3)
  const pinned = await runJsonCommand([...words(set), '--spoken', fingerprint], alpha)
  expect(pinned).toMatchObject({ key_set: { version: 1 } })
})

test('a person reads the fingerprint of their own key aloud', async () => {
  const medium = at('ann-medium')
  await runJsonCommand(['keys', 'generate', '--use', 'personal', '--dir', medium])
  await runJsonCommand(['keys', 'export', '--dir', medium, '--out', at('ann.json')])
  const { fingerprint } = await runJsonCommand(['keys', 'speak', '--dir', medium])
  const people = ['people', 'add', 'ann', at('ann.json')]
  expect((await runCommand([...people, '--spoken', spoken], alpha)).exit).toBe(3)
  expect((await runCommand(people, { ...alpha, replies: [fingerprint] })).exit).toBe(0)
})

// The list of token keys: a change counts with the next look, and keys that are not surely the site's own count for nothing.
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import {
  openTokenKeys,
  readTokenKeys,
  type TokenKey,
  tokenKey,
  writeTokenKeys,
} from '../../adapters/keys/jose/token-keys.ts'
import { createKey, createKeyFolderPath } from './key-fixture.ts'

const refusal = { code: 'unavailable', message: 'the list of token keys cannot be read' }

let dir: string
let file: string
beforeEach(() => {
  dir = fs.mkdtempSync(path.join(tmpdir(), 'token-keys-'))
  onTestFinished(() => fs.rmSync(dir, { recursive: true, force: true }))
  file = path.join(dir, 'token-keys.json')
})

async function createTokenKey(only_subject?: string): Promise<TokenKey> {
  const { public_key } = await createKey(createKeyFolderPath(), 'token')
  return tokenKey.parse({ ...public_key, ...(only_subject ? { only_subject } : {}) })
}

const modeOf = (name: string) => fs.statSync(name).mode & 0o777

test('reads back a written list, for its owner alone', async () => {
  const keys = [await createTokenKey(), await createTokenKey('role:consensus')]
  writeTokenKeys(file, keys)
  expect(readTokenKeys(file)).toEqual(keys)
  expect(modeOf(file)).toBe(0o600)
  expect(fs.readdirSync(dir)).toEqual(['token-keys.json'])
})

test('a folder that a group may enter has a list that the group may read, and not write', async () => {
  fs.chmodSync(dir, 0o750)
  writeTokenKeys(file, [await createTokenKey()])
  expect([modeOf(file), fs.statSync(file).gid]).toEqual([0o640, fs.statSync(dir).gid])
})

test('a change counts with the next look, and changes the stamp; no change does not', async () => {
  const clock = { ms: 0, every_ms: 5, monotonic: () => clock.ms }
  const [one, other] = [await createTokenKey(), await createTokenKey()]
  writeTokenKeys(file, [one])
  const list = openTokenKeys(file, clock)
  const before = list.stamp()
  clock.ms = 5
  writeTokenKeys(file, [one])
  expect(list.stamp()).toBe(before)
  writeTokenKeys(file, [{ ...one, status: 'revoked' }, other])
  expect(list.keys()).toEqual([one])
  clock.ms = 10
  expect(list.keys()).toEqual([{ ...one, status: 'revoked' }, other])
  expect(list.stamp()).not.toBe(before)
})

test('a list that is gone, and one that is back', async () => {
  const clock = { ms: 0, every_ms: 5, monotonic: () => clock.ms }
  const key = await createTokenKey()
  writeTokenKeys(file, [key])
  const list = openTokenKeys(file, clock)
  expect(list.keys()).toEqual([key])
  fs.renameSync(file, `${file}.away`)
  clock.ms = 5
  expect(() => list.keys()).toThrow(expect.objectContaining(refusal))
  // A look that failed holds for no time at all.
  fs.renameSync(`${file}.away`, file)
  expect(list.keys()).toEqual([key])
})

const spoiledKeys: Readonly<Record<string, (key: TokenKey, other: TokenKey) => void>> = {
  missing: () => fs.rmSync(file),
  empty: () => fs.writeFileSync(file, ''),
  'cut short': () => fs.truncateSync(file, 100),
  'of another version': () => fs.writeFileSync(file, fs.readFileSync(file, 'utf8').replace('"v": 1', '"v": 2')),
  'one that the group may change': () => fs.chmodSync(file, 0o660),
  'one that all may change': () => fs.chmodSync(file, 0o606),
  'in a folder where others may put another': () => fs.chmodSync(dir, 0o770),
  'a link': () => {
    fs.renameSync(file, `${file}.real`)
    fs.symlinkSync(`${file}.real`, file)
  },
  'a folder': () => {
    fs.rmSync(file)
    fs.mkdirSync(file)
  },
  'one with a key twice, bound and free': (key) => writeTokenKeys(file, [key, { ...key, only_subject: 'role:site' }]),
  'one with a name twice': (key, other) => writeTokenKeys(file, [key, { ...other, kid: key.kid }]),
  'one with the fingerprint of another key': (key, other) =>
    fs.writeFileSync(file, fs.readFileSync(file, 'utf8').replace(String(key.jwk.x), String(other.jwk.x))),
}

test.each(Object.keys(spoiledKeys))('a list that is %s is none: no token is judged by it', async (how) => {
  const [key, other] = [await createTokenKey(), await createTokenKey()]
  writeTokenKeys(file, [key])
  spoiledKeys[how]?.(key, other)
  expect(() => readTokenKeys(file)).toThrow(expect.objectContaining(refusal))
})

test('no other key than one for tokens can be listed, and no subject but a role', async () => {
  const { public_key } = await createKey(createKeyFolderPath(), 'message')
  expect(tokenKey.safeParse(public_key).success).toBe(false)
  const key = await createTokenKey()
  expect(tokenKey.safeParse({ ...key, only_subject: 'ada' }).success).toBe(false)
  expect(tokenKey.safeParse({ ...key, only_subject: 'role:' }).success).toBe(false)
})

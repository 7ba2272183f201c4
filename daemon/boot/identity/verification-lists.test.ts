// The copy of the lists of token keys and revocations: how old it may be, and that only whole lists replace it.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { refuse } from '../../kernel/error/errors.ts'
import type { RoleClients } from '../../kernel/operation/operation-contract.ts'
import { revocationsFile, siteFolder, tokenKeysFile } from '../storage/site-folder.ts'
import { FetchedLists, readVerificationLists } from './verification-lists.ts'

const dir = mkdtempSync(path.join(tmpdir(), 'lists-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))
const [own, other] = [siteFolder(path.join(dir, 'own')), siteFolder(path.join(dir, 'other'))]
const revocation = (jti: string) => `${JSON.stringify({ jti, at: '2026-01-01T00:00:00.000Z', reason: 'test' })}\n`
const keys = `${JSON.stringify({ v: 1, type: 'platform.token-keys', keys: [] }, undefined, 2)}\n`

let now = 0
let requests: unknown[] = []
const lists = () => new FetchedLists({ folder: own, max_age_ms: 120_000, monotonic: () => now })

/** Answers as the site role does with the files of the other folder. */
const site: RoleClients = {
  async request(_contract, input) {
    requests.push(input)
    const { digest, lists: read } = await readVerificationLists(other)
    return { digest, ...(input.known === digest ? {} : { lists: read }) } as never
  },
}

beforeEach(() => {
  now = 0
  requests = []
  for (const folder of [own, other]) {
    rmSync(folder.identity, { recursive: true, force: true })
    mkdirSync(folder.identity, { recursive: true, mode: 0o700 })
    writeFileSync(tokenKeysFile(folder), keys)
    writeFileSync(revocationsFile(folder), revocation('a'))
  }
})

describe('tokens are accepted', () => {
  test('from the first fetch on, until the age', async () => {
    const fetched = lists()
    expect(() => fetched.requireFresh()).toThrow(expect.objectContaining({ code: 'unavailable' }))
    await fetched.fetch(site)
    now = 120_000
    expect(() => fetched.requireFresh()).not.toThrow()
    now = 120_001
    expect(() => fetched.requireFresh()).toThrow(expect.objectContaining({ code: 'unavailable' }))
  })

  test('no longer by fetches that fail, and the age begins with the request', async () => {
    const fetched = lists()
    await fetched.fetch({
      async request(contract, input) {
        now = 60_000
        return await site.request(contract, input)
      },
    })
    const failing: RoleClients = { request: async () => refuse('forbidden', 'no') }
    now = 119_000
    await expect(fetched.fetch(failing)).rejects.toThrow('no')
    now = 121_000
    expect(() => fetched.requireFresh()).toThrow('could not be fetched')
  })
})

test('known lists are not sent again; new lines are appended, and another list replaces the file', async () => {
  const fetched = lists()
  await fetched.fetch(site)
  writeFileSync(revocationsFile(other), `${revocation('a')}${revocation('b')}`)
  await fetched.fetch(site)
  await fetched.fetch(site)
  expect(readFileSync(revocationsFile(own), 'utf8')).toBe(`${revocation('a')}${revocation('b')}`)
  writeFileSync(revocationsFile(own), `${revocation('a')}{"half`)
  await fetched.fetch(site)
  expect(readFileSync(revocationsFile(own), 'utf8')).toBe(`${revocation('a')}${revocation('b')}`)
  const digests = requests.map((input) => (input as { known?: string }).known)
  expect(digests[1]).toBe(digests[0])
  expect(digests[2]).toBe((await readVerificationLists(other)).digest)
})

test.each([
  ['half a line of revocations', { revocations: '{"jti":' }],
  ['an invalid line', { revocations: 'x\n' }],
  ['no list of keys', { token_keys: '{}' }],
])('%s changes nothing and does not count as a fetch', async (_, change) => {
  const fetched = lists()
  const lying: RoleClients = {
    request: async () =>
      ({ digest: 'x', lists: { token_keys: keys, revocations: revocation('c'), ...change } }) as never,
  }
  await expect(fetched.fetch(lying)).rejects.toThrow()
  expect(() => fetched.requireFresh()).toThrow('could not be fetched')
  expect(readFileSync(revocationsFile(own), 'utf8')).toBe(revocation('a'))
  expect(readFileSync(tokenKeysFile(own), 'utf8')).toBe(keys)
})

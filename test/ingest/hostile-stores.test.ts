// Stores of objects that lie, break off, or answer without end: nothing of them lands under a wrong key, and memory stays bounded.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { downloadObject } from '../../daemon/runtime/ingest/object-store/download-object.ts'
import { openObjectInputs } from '../../daemon/runtime/ingest/object-store/object-inputs.ts'
import { openObjectSource } from '../../daemon/runtime/ingest/object-store/open-object-source.ts'
import { selectObjects } from '../../daemon/runtime/ingest/object-store/select-objects.ts'
import { type HostileStore, listed, listingOf, startHostileStore } from '../support/ingest/hostile-store.ts'

const folder = mkdtempSync(path.join(tmpdir(), 'hostile-stores-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const settings = { data_folder: undefined, trusted_networks: ['127.0.0.1'], addonDir: '' }
const never = new AbortController().signal
const limits = { bytes: 1_000, total_bytes: 1_000 }
const object = { key: 'a', bytes: 10, version: '"1"' }

async function select({ connection }: HostileStore, prefix = '') {
  const source = await openObjectSource(connection, settings)
  const request = { prefix, isWanted: () => true, known: new Set<string>(), max_objects: 9, limits }
  return await selectObjects(source, request, never).finally(() => source.close())
}

let count = 0
async function download({ connection }: HostileStore, each = object) {
  const source = await openObjectSource(connection, settings)
  const to = path.join(folder, `${++count}`)
  const sha256 = await downloadObject(source, each, to, never).finally(() => source.close())
  return { sha256, text: readFileSync(to, 'utf8') }
}

test('keys go into requests as they are, signed with the token of the session', async () => {
  await using store = await startHostileStore()
  const keys = [
    '../up',
    'a/../../b',
    './c',
    'tab\tline\nnul\0',
    'x%2e%2e/',
    '/',
    `${'k'.repeat(1_023)}`,
    '?list-type=2',
    '#',
  ]
  const markers = ['folder/', '/'].map((key) => listed(key, 0))
  store.answer = (_, response) => response.end(listingOf([...markers, ...keys.map((key) => listed(key, 1))]))
  const { taken } = await select(store)
  expect(taken.map(({ key }) => key)).toEqual(keys)
  store.answer = (_, response) => response.writeHead(200, { etag: '"1"' }).end('x')
  for (const each of taken) await download(store, each)
  const paths = store.requests.slice(1).map(({ url = '' }) => url)
  expect(paths.map((each) => decodeURIComponent(each.slice('/b-1/'.length)))).toEqual(keys)
  expect(paths.slice(0, 4)).toEqual(['/b-1/../up', '/b-1/a/../../b', '/b-1/./c', '/b-1/tab%09line%0Anul%00'])
  for (const { headers } of store.requests) {
    expect(headers['x-amz-security-token']).toBe('token-1')
    expect(headers.authorization).toMatch(
      /^AWS4-HMAC-SHA256 Credential=id\/\d{8}\/r\/s3\/aws4_request, SignedHeaders=.*x-amz-security-token/,
    )
    expect(JSON.stringify(headers)).not.toContain('hidden-key')
  }
})

test('each object is scanned before any is read', async () => {
  await using store = await startHostileStore()
  const objects = ['a.csv', 'b.csv'].map((key) => listed(key, 9))
  store.answer = ({ url = '' }, response) => {
    if (url.includes('list-type')) return response.end(listingOf(objects))
    return response.writeHead(200, { etag: '"1"' }).end(url.endsWith('b.csv') ? 'INFECTED\n' : 'id,name\n1')
  }
  const command = ['/bin/sh', '-c', '! grep -q INFECTED "$0"']
  const scanner = { command, timeout_s: 60, memory_mb: 512, visible: [] }
  const open = async (pattern: string) => {
    const drafts = mkdtempSync(path.join(folder, 'drafts-'))
    const task = { params: { connection_id: 'conn_1', pattern } }
    return await openObjectInputs({ ...settings, scanner, drafts, task, connection: store.connection } as never)
  }
  expect((await open('a.csv')).inputs).toHaveLength(1)
  await expect(open('*')).rejects.toThrow('the scanner refuses the file')
})

test('a download goes on where the connection broke, and ends where it brings nothing more', async () => {
  await using store = await startHostileStore()
  const content = '0123456789'
  store.answer = ({ headers }, response) => {
    const from = Number(/^bytes=(\d+)-$/.exec(headers.range ?? '')?.[1] ?? 0)
    const range = { 'content-range': `bytes ${from}-9/10`, 'content-length': String(10 - from), etag: '"1"' }
    response.writeHead(from > 0 ? 206 : 200, range)
    response.write(content.slice(from, from + 4), () => from < 6 && response.destroy())
    if (from >= 6) response.end()
  }
  expect((await download(store)).text).toBe(content)
  expect(store.requests.map(({ headers }) => headers.range)).toEqual([undefined, 'bytes=4-', 'bytes=8-'])
  expect(store.requests.map(({ headers }) => headers['if-match'])).toEqual(['"1"', '"1"', '"1"'])
  store.answer = (_, response) => response.destroy()
  await expect(download(store)).rejects.toThrow('the server did not answer')
  expect(store.requests).toHaveLength(6)
})

type Answer = (response: ServerResponse) => void
test.each<[title: string, Answer, refusal: string]>([
  ['of another version', (response) => response.writeHead(200, { etag: '"2"' }).end('0123456789'), 'changed after'],
  ['without a version', (response) => response.writeHead(200).end('0123456789'), 'changed after'],
  ['that is gone', (response) => response.writeHead(404).end(), 'changed after'],
  ['that fails the condition', (response) => response.writeHead(412).end(), 'changed after'],
  ['with more bytes', (response) => response.writeHead(200, { etag: '"1"' }).end('0123456789x'), 'changed after'],
  [
    'that is compressed',
    (response) => response.writeHead(200, { etag: '"1"', 'content-encoding': 'gzip' }).end('0123456789'),
    'stored compressed',
  ],
  [
    'behind a redirect',
    (response) => response.writeHead(307, { location: 'http://127.0.0.1:1/' }).end(),
    'redirects (307)',
  ],
  [
    'in an archive',
    (response) =>
      response.writeHead(403).end('<Error><Code>InvalidObjectState</Code><Message>127.0.0.1</Message></Error>'),
    'refuses the user or the secret (403 InvalidObjectState)',
  ],
])('an object %s is not taken', async (_, answer, refusal) => {
  await using store = await startHostileStore()
  store.answer = (_request, response) => answer(response)
  const reason = String(await download(store).catch((error: unknown) => error))
  expect(reason).toContain(refusal)
  expect(reason).not.toContain('127.0.0.1')
})

test('bytes without end are not written beyond the size of the object', async () => {
  await using store = await startHostileStore()
  store.answer = (_, response) => {
    response.writeHead(200, { etag: '"1"' })
    const write = () => {
      while (!response.destroyed && response.write('x'.repeat(65_536)));
    }
    response.on('drain', write)
    write()
  }
  await expect(download(store)).rejects.toThrow('changed after it was listed')
  const staged = path.join(folder, String(count))
  expect(existsSync(staged) ? readFileSync(staged).length : 0).toBeLessThanOrEqual(object.bytes)
})

test.each<[title: string, body: string, refusal: string]>([
  ['a document that is not a listing', '<html><body>log in</body></html>', 'does not answer as a store'],
  ['entities of its own', `<!DOCTYPE a [<!ENTITY b "c">]>${listingOf([])}`, 'does not answer as a store'],
  ['no XML', '\0\xff', 'does not answer as a store'],
  [
    'more objects than a page has',
    listingOf(Array.from({ length: 10_001 }, () => listed('in/a', 1))),
    'does not answer',
  ],
  ['a size that is not one', listingOf([listed('in/a', 1e16)]), 'does not answer as a store'],
  [
    'a version that is not one',
    listingOf([listed('in/a', 1, 'a&#10;b')]),
    'lists an object that it cannot have: "in/a"',
  ],
  ['an object beside the prefix', listingOf([listed('out/a', 1)]), 'lists an object that it cannot have: "out/a"'],
  [
    'a key that is not text',
    listingOf(['<Contents><Key>in/%ff</Key><Size>1</Size><ETag>1</ETag></Contents>']),
    'does not answer',
  ],
  ['the same page again', listingOf([listed('in/a', 1)], 'again'), 'the server repeats a page of its listing'],
  ['more than an answer may have', listingOf(['<Owner/>'.repeat(2_200_000)]), 'more than 16777216 bytes'],
  ['an object that is too large', listingOf([listed('in/a', 1_001)]), 'more than the 1000 that a task downloads'],
])('a listing with %s is refused', async (_, body, refusal) => {
  await using store = await startHostileStore()
  store.answer = (_request, response) => response.end(body)
  await expect(select(store, 'in/')).rejects.toThrow(refusal)
})

test('an object that is named again on the next page is taken once, and a listing without end is left', async () => {
  await using store = await startHostileStore()
  store.answer = ({ url = '' }, response) => {
    const isSecond = url.includes('continuation-token')
    response.end(isSecond ? listingOf([listed('a', 1), listed('b', 1)]) : listingOf([listed('a', 1)], '2'))
  }
  expect((await select(store)).taken.map(({ key }) => key)).toEqual(['a', 'b'])
  const source = { listPage: async (_: string, from = '0') => ({ objects: [], next: String(Number(from) + 1) }) }
  const request = { prefix: '', isWanted: () => true, known: new Set<string>(), max_objects: 9, limits }
  await expect(selectObjects(source, request, never)).rejects.toThrow('10000 pages: name a narrower prefix')
})

// Runs each adapter of polled sources against each requirement, on real folders and a real server.
import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import * as http from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { folderSource, max_file_bytes, max_line_bytes } from '../../adapters/intake/folder/folder-source.ts'
import { max_response_bytes } from '../../adapters/intake/http/get-once.ts'
import { type HttpSourceOptions, httpSource } from '../../adapters/intake/http/http-source.ts'
import { parseUntrustedJson } from '../../adapters/serve/http/untrusted-json.ts'
import { isRefusal, refuse } from '../../daemon/kernel/error/errors.ts'
import { type PolledSourceFixture, polledRequirements, pollSource } from './polled-source.ts'

const read = (bytes: Uint8Array) => parseUntrustedJson(Buffer.from(bytes))
const digest = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
const open = new AbortController().signal

type DisposableFixture<T> = { readonly world: T; end(): Promise<void> }

function createFolderFixture(): DisposableFixture<PolledSourceFixture & { readonly dir: string }> {
  const root = fs.mkdtempSync(path.join(tmpdir(), 'polled-'))
  const dir = path.join(root, 'in')
  fs.mkdirSync(dir)
  let files = 0
  const put = async (text: string | Buffer) => {
    const name = path.join(dir, `${String(++files).padStart(4, '0')}.jsonl`)
    fs.writeFileSync(`${name}.draft`, text)
    fs.renameSync(`${name}.draft`, name)
  }
  return {
    world: {
      dir,
      source: () => folderSource({ path: dir, read, digest }),
      add: (item) => put(`${JSON.stringify(item)}\n`),
      addGarbage: () => put('{"half":'),
      async setReachable(isReachable) {
        if (isReachable) fs.renameSync(`${dir}-gone`, dir)
        else fs.renameSync(dir, `${dir}-gone`)
      },
    },
    end: async () => fs.rmSync(root, { recursive: true, force: true }),
  }
}

type RequestHandler = (request: http.IncomingMessage, response: http.ServerResponse) => void

async function createHttpFixture(more: Partial<HttpSourceOptions> = {}) {
  const items: unknown[] = []
  const received: http.IncomingMessage[] = []
  const state = { isReachable: true, isGarbage: false, instead: undefined as RequestHandler | undefined }
  const server = http.createServer((request, response) => {
    received.push(request)
    if (state.instead) return state.instead(request, response)
    if (!state.isReachable) return void request.socket.destroy()
    const since = Number(new URL(request.url ?? '', 'http://x').searchParams.get('since') ?? 0)
    const body = state.isGarbage ? '{"half":' : JSON.stringify({ items: items.slice(since), next: items.length })
    const etag = `"${digest(Buffer.from(body)).slice(0, 16)}"`
    if (request.headers['if-none-match'] === etag) return void response.writeHead(304).end()
    response.writeHead(200, { 'content-type': 'application/json', etag }).end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/feed?key=in-the-url`
  const cursor = { at: (document: unknown) => (document as { next?: unknown }).next, parameter: 'since' }
  const world: PolledSourceFixture = {
    source: () => httpSource({ url, cursor, timeout_ms: 5_000, read, digest, ...more }),
    async add(item) {
      items.push(item)
    },
    async addGarbage() {
      state.isGarbage = true
    },
    async setReachable(isReachable) {
      state.isReachable = isReachable
    },
  }
  const end = async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  return { world, end, received, state }
}

const sources: Readonly<Record<string, () => Promise<DisposableFixture<PolledSourceFixture>>>> = {
  folder: async () => createFolderFixture(),
  'http by cursor': () => createHttpFixture(),
  'http by etag': () => createHttpFixture({ cursor: undefined }),
}

describe.each(Object.entries(sources))('%s', (_, opened) => {
  for (const { id, description, verify } of polledRequirements) {
    test(`${id}: ${description}`, async () => {
      const { world, end } = await opened()
      await verify(world).finally(end)
    })
  }
})

describe('a folder', () => {
  const within = async (look: (world: ReturnType<typeof createFolderFixture>['world']) => Promise<void>) => {
    const { world, end } = createFolderFixture()
    await look(world).finally(end)
  }
  const put = (dir: string, name: string, text: string) => fs.writeFileSync(path.join(dir, name), text)
  const lying = (dir: string, where: string) => fs.readdirSync(path.join(dir, where)).sort()

  test('moves a taken file to done, and another to refused with its reason', () =>
    within(async ({ dir, source }) => {
      put(dir, 'a.jsonl', '{"id":1}\n{"id":2}\n')
      put(dir, 'b.jsonl', '{"id":3}\n[]\n')
      await (await pollSource(source())).acknowledge(new Map())
      const news = await pollSource(source())
      await news.acknowledge(new Map([[0, [{ at: 1, detail: 'no object' }]]]))
      expect([lying(dir, 'done'), lying(dir, 'refused')]).toEqual([['a.jsonl'], ['b.jsonl', 'b.jsonl.reason.json']])
      const reason = JSON.parse(fs.readFileSync(path.join(dir, 'refused/b.jsonl.reason.json'), 'utf8'))
      expect(reason).toEqual({ file: 'b.jsonl', faults: [{ line: 2, detail: 'no object' }] })
    }))

  test('loses no file under a name that was used before', () =>
    within(async ({ dir, source }) => {
      for (const id of [1, 2, 3]) {
        put(dir, 'a.jsonl', `{"id":${id}}\n`)
        await (await pollSource(source())).acknowledge(new Map())
      }
      expect(lying(dir, 'done')).toHaveLength(3)
    }))

  test('leaves a file that changed while it was taken', () =>
    within(async ({ dir, source }) => {
      put(dir, 'a.jsonl', '{"id":1}\n')
      const news = await pollSource(source())
      put(dir, 'a.jsonl', '{"id":1}\n{"id":2}\n')
      await news.acknowledge(new Map())
      expect((await pollSource(source())).sets[0]?.documents).toEqual([{ id: 1 }, { id: 2 }])
    }))

  test('follows no link, waits for no pipe, and takes no draft', () =>
    within(async ({ dir, source }) => {
      put(dir, '../outside', '{"id":"secret"}\n')
      fs.symlinkSync('../outside', path.join(dir, 'a.jsonl'))
      fs.mkdirSync(path.join(dir, 'b.jsonl'))
      put(dir, '.c.jsonl', '{"id":1}\n')
      put(dir, 'd.jsonl.draft', '{"id":1}\n')
      put(dir, 'z.jsonl', '{"id":"last"}\n')
      expect((await pollSource(source())).sets.map(({ documents }) => documents)).toEqual([[{ id: 'last' }]])
    }))

  test('says that a file, or a line, is too large, without reading it', () =>
    within(async ({ dir, source }) => {
      put(dir, 'a.jsonl', '')
      fs.truncateSync(path.join(dir, 'a.jsonl'), max_file_bytes + 1)
      put(dir, 'b.jsonl', `{"id":"${'x'.repeat(max_line_bytes)}"}\n{"id":2}\n`)
      const large = await pollSource(source())
      expect(large.sets[0]?.documents[0]).toMatchObject({ code: 'too_large' })
      await large.acknowledge(new Map([[0, [{ at: 0, detail: 'too large' }]]]))
      expect((await pollSource(source())).sets[0]?.documents).toMatchObject([{ code: 'too_large' }, { id: 2 }])
    }))
})

describe('a server', () => {
  const within = async (
    more: Partial<HttpSourceOptions>,
    look: (world: Awaited<ReturnType<typeof createHttpFixture>>) => Promise<void>,
  ) => {
    const opened = await createHttpFixture(more)
    await look(opened).finally(opened.end)
  }

  test('knows its caller, and answers nothing that is logged', () =>
    within({ authorization: async () => 'Bearer t0p-secret' }, async ({ world, received, state }) => {
      await pollSource(world.source())
      expect(received[0]?.headers).toMatchObject({ authorization: 'Bearer t0p-secret', accept: 'application/json' })
      state.isReachable = false
      const refused = await world.source().poll(undefined, open)
      expect(isRefusal(refused) && refused.message).not.toMatch(/t0p-secret|in-the-url/)
    }))

  test('gets no request without the credential that it needs', () =>
    within({ authorization: async () => refuse('unavailable', 'no file') }, async ({ world, received }) => {
      expect(await world.source().poll(undefined, open)).toMatchObject({ message: 'no file' })
      expect(received).toEqual([])
    }))

  const bad: [string, RequestHandler, string][] = [
    ['sends elsewhere', (_, response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(), '302'],
    ['fails', (_, response) => response.writeHead(500).end('{"items":[]}'), '500'],
    ['says that nothing changed since nothing', (_, response) => response.writeHead(304).end(), '304'],
    ['says nothing', () => undefined, 'within'],
    ['drips', (_, response) => sendSlowly(response), 'within'],
    ['never ends', (_, response) => sendEndlessly(response), String(max_response_bytes)],
    ['breaks off', (_, response) => dropConnection(response), 'cannot be read'],
  ]
  test.each(bad)('gets another request later after an answer that %s', (_, instead, why) =>
    // Long where something is to come first, and short where nothing does.
    within({ timeout_ms: why === 'within' ? 300 : 60_000 }, async ({ world, state }) => {
      state.instead = instead
      const refused = await world.source().poll(undefined, open)
      expect(isRefusal(refused) && [refused.code, refused.message]).toEqual([
        'unavailable',
        expect.stringContaining(why),
      ])
    }),
  )
})

function sendSlowly(response: http.ServerResponse): void {
  response.writeHead(200)
  const timer = setInterval(() => response.write(' '), 5)
  response.on('close', () => clearInterval(timer))
}

function sendEndlessly(response: http.ServerResponse): void {
  response.writeHead(200)
  const more = () => {
    while (!response.destroyed && response.write('x'.repeat(65_536)));
  }
  response.on('drain', more)
  more()
}

function dropConnection(response: http.ServerResponse): void {
  response.writeHead(200, { 'content-length': '999' })
  response.write('{"items":', () => response.destroy())
}

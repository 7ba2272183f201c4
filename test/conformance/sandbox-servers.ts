// Requirements of every sandbox for a server: its streams while it runs, its bounds, and its end with all that it started.
import { createServer } from 'node:net'
import { expect, vi } from 'vitest'
import type { Sandbox, SandboxResult, SandboxServer, SandboxStreams } from '../../daemon/kernel/sandbox/sandbox.ts'
import {
  isolated,
  isRunning,
  listRunFolders,
  mebibyte,
  requirement,
  type SandboxRequirement,
  uniqueSeconds,
} from './sandbox-requirement.ts'

const limits: SandboxServer['limits'] = {
  ...{ cpu_s: 60, memory_bytes: 512 * mebibyte, disk_bytes: 4 * mebibyte },
  ...{ processes: 16, open_files: 32 },
}

const describeServer = (script: string, changes: Partial<SandboxServer> = {}): SandboxServer => ({
  ...{ program: '/bin/sh', args: ['-c', script], inputs: {}, visible: [], limits, env: {}, network: 'none' },
  ...changes,
})

type RunServer = { readonly ended: Promise<SandboxResult>; end(): void; readonly streams: Promise<SandboxStreams> }

function startServer(sandbox: Sandbox, server: SandboxServer): RunServer {
  const ending = new AbortController()
  const { promise, resolve } = Promise.withResolvers<SandboxStreams>()
  return { streams: promise, ended: sandbox.serve(server, resolve, ending.signal), end: () => ending.abort() }
}

async function readAll(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

async function readOnce(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const { value } = await stream[Symbol.asyncIterator]().next()
  return Buffer.from((value ?? []) as Uint8Array).toString()
}

export const sandboxServerRequirements: readonly SandboxRequirement[] = [
  requirement('server-streams', 'a server answers while it runs, and ends with its input', async ({ sandbox }) => {
    const script = 'while read -r line; do echo "got $line"; done; echo bye; echo err >&2; exit 5'
    const { streams, ended } = startServer(sandbox, describeServer(script))
    const { stdout, stderr, write, endInput } = await streams
    const output = stdout[Symbol.asyncIterator]()
    // From the start, as a site reads it: what nobody reads is dropped soon after the end.
    const errors = readAll(stderr)
    for (const word of ['one', 'two']) {
      await write(Buffer.from(`${word}\n`))
      expect(Buffer.from((await output.next()).value as Uint8Array).toString()).toBe(`got ${word}\n`)
    }
    endInput()
    expect(await readAll({ [Symbol.asyncIterator]: () => output })).toBe('bye\n')
    expect(await errors).toBe('err\n')
    expect(await ended).toMatchObject({ kind: 'exited', code: 5 })
    // It is gone: what is written is dropped.
    await write(Buffer.from('late\n'))
    expect(listRunFolders()).toEqual([])
  }),

  requirement('server-end', 'the signal ends a server that ignores every other one', async ({ sandbox }) => {
    const mark = uniqueSeconds()
    const script = `trap '' TERM HUP INT; echo up; while :; do sleep ${mark}; done`
    const { streams, ended, end } = startServer(sandbox, describeServer(script))
    expect(await readOnce((await streams).stdout)).toBe('up\n')
    await vi.waitFor(() => expect(isRunning(`sleep\0${mark}`)).toBe(true), 60_000)
    end()
    expect(await ended).toEqual({ kind: 'cancelled' })
    await vi.waitFor(() => expect(isRunning(mark)).toBe(false), 60_000)
    expect(listRunFolders()).toEqual([])
  }),

  requirement('server-environment', 'a server gets the variables that it is given', async ({ sandbox }) => {
    const env = { TOKEN: 'a b "$HOME"', PATH: '/elsewhere' }
    const { streams, ended } = startServer(sandbox, describeServer('echo "$TOKEN"; [ "$PATH" != /elsewhere ]', { env }))
    expect(await readAll((await streams).stdout)).toBe('a b "$HOME"\n')
    expect(await ended).toMatchObject({ kind: 'exited', code: 0 })
  }),

  requirement('server-arguments', 'no variable of a server is in an argument list', async ({ sandbox }) => {
    const secret = `secret-${uniqueSeconds()}`
    const { streams, ended, end } = startServer(sandbox, describeServer('echo up; read -r _', { env: { A: secret } }))
    await readOnce((await streams).stdout)
    expect(isRunning(secret)).toBe(false)
    end()
    await ended
  }),

  requirement('server-memory', 'memory of all its processes is bounded', async ({ sandbox }) => {
    const script = `perl -e '$x = "x" x ${600 * mebibyte}; sleep 100'`
    const server = describeServer(script, { limits: { ...limits, address_space_bytes: 2 ** 36 } })
    const { ended } = startServer(sandbox, server)
    expect(await ended).toMatchObject({ kind: 'exceeded', limit: 'memory_bytes' })
  }),

  requirement('server-not-started', 'a program that is absent is not started', async ({ sandbox }) => {
    const attach = vi.fn()
    const result = await sandbox.serve(
      describeServer('', { program: '/usr/bin/there-is-none' }),
      attach,
      AbortSignal.timeout(60_000),
    )
    expect(result).toMatchObject({ kind: 'not_started' })
    expect(attach).not.toHaveBeenCalled()
    const cancelled = await sandbox.serve(describeServer('echo up'), attach, AbortSignal.abort())
    expect([cancelled, attach.mock.calls]).toEqual([{ kind: 'cancelled' }, []])
  }),

  isolated('server-network', 'a server has the network of the machine only where it is given', async ({ sandbox }) => {
    const listener = createServer((socket) => socket.on('error', () => undefined).end('reached'))
    await new Promise<void>((listening) => listener.listen(0, '127.0.0.1', listening))
    const { port } = listener.address() as { port: number }
    const script = `perl -MSocket -e 'socket(my $t, AF_INET, SOCK_STREAM, 0); print connect($t, pack_sockaddr_in(${port}, inet_aton("127.0.0.1"))) ? "open" : "closed"'`
    const seen: string[] = []
    for (const network of ['none', 'machine'] as const) {
      const { streams, ended } = startServer(sandbox, describeServer(script, { network }))
      seen.push(await readAll((await streams).stdout))
      await ended
    }
    listener.close()
    expect(seen).toEqual(['closed', 'open'])
  }),
]

// Listeners of Oracle Net with given answers. No session is tried: no server of the protocol can be installed here.
import { readFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { hostname } from 'node:os'
import { TLSSocket } from 'node:tls'
import { afterEach, describe, expect, onTestFinished, test } from 'vitest'
import type { OpenConnection } from '../../daemon/roles/ingest/parts.ts'
import { probeConnection } from '../../daemon/runtime/ingest/connection/probe-connection.ts'
import {
  acceptPacket,
  listenAsOracle,
  netPacket,
  redirectPacket,
  refusePacket,
  type ScriptedListener,
  sessionPacket,
} from '../support/engines/scripted-listener.ts'
import { issueServerCertificates } from '../support/engines/server-certificates.ts'
import { findFreePorts } from '../support/engines/server-process.ts'
import { readRowsBy } from '../support/ingest/read-rows-by.ts'

const settings = { data_folder: undefined, trusted_networks: ['127.0.0.1', '127.0.0.3'], addonDir: '' }
let listeners: ScriptedListener[] = []
afterEach(() => {
  for (const listener of listeners) listener.close()
  listeners = []
})

async function listen(...words: Parameters<typeof listenAsOracle>): Promise<ScriptedListener> {
  const listener = await listenAsOracle(...words)
  listeners.push(listener)
  return listener
}

function connect({ port }: { readonly port: number }, more: object = {}): OpenConnection {
  const config = { host: '127.0.0.1', port, service_name: 'shop', username: 'ann', tls: 'off', ...more }
  return {
    ...{ tenant_id: 'acme', conn_type: 'oracle', config: config as OpenConnection['config'] },
    secret: JSON.stringify({ password: 'a-secret' }),
  }
}

const read = (connection: OpenConnection, signal?: AbortSignal) => readRowsBy(connection, settings, {}, signal)
const probe = async (connection: OpenConnection) => await probeConnection({ ...settings, probe: true, connection })
const not_oracle = 'the server does not answer as a server of Oracle does'

test('the listener gets the service, and neither the secret nor names of this machine', async () => {
  const listener = await listen(() => refusePacket(12_514))
  expect(await probe(connect(listener))).toEqual({ ok: false, detail: 'the server has no such service' })
  const sent = listener.received()
  expect(sent).toContain('(SERVICE_NAME=shop)')
  expect(sent).toContain(`(HOST=127.0.0.1)(PORT=${listener.port})`)
  for (const hidden of ['a-secret', hostname(), 'node']) expect(sent).not.toContain(hidden)
})

test.each([
  ['127.0.0.2', 'the server leads to another address, which is not followed'],
  ['127.0.0.1', 'the server leads to another address, which is not followed'],
])('a redirect to %s is refused, and nothing is dialled there', async (host, refusal) => {
  const other = await listen(() => refusePacket(12_514), host)
  const listener = await listen(() => redirectPacket(host, other.port))
  await expect(read(connect(listener))).rejects.toThrow(refusal)
  expect([other.received(), other.countOpen()]).toEqual(['', 0])
  await expect.poll(() => listener.countOpen()).toBe(0)
})

test.each<[string, (place: number) => Buffer | undefined, string]>([
  ['a refusal', () => refusePacket(12_541), 'the listener of the server refuses the connection'],
  ['another protocol', () => Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'.repeat(1_000)), not_oracle],
  ['a packet shorter than its header', () => Buffer.from([0, 3, 0, 0, 2, 0, 0, 0]), 'the server did not answer'],
  [
    'a session of garbage',
    (place) => (place === 0 ? acceptPacket() : sessionPacket(Buffer.alloc(64, 0xee))),
    not_oracle,
  ],
  ['an empty acceptance', () => netPacket(2, Buffer.alloc(0)), not_oracle],
])('refuses %s', async (_, answer, refusal) => {
  const listener = await listen(answer)
  const outcome = await read(connect(listener)).catch((error: Error) => error)
  expect(outcome).toMatchObject({ name: 'RowSourceError', message: expect.stringContaining(refusal) })
  expect(String(outcome)).not.toContain(String(listener.port))
  await expect.poll(() => listener.countOpen()).toBe(0)
})

test('endless packets end the session', async () => {
  // To send the request once more.
  const packet = netPacket(11, Buffer.alloc(8_000))
  const listener = await listen((place, socket) => {
    if (place > 0) return undefined
    const send = () => {
      while (socket.writable && socket.write(packet));
      socket.once('drain', send)
    }
    send()
    return undefined
  })
  await expect(read(connect(listener))).rejects.toThrow('the server sent more than 1048576 bytes for one answer')
  await expect.poll(() => listener.countOpen()).toBe(0)
})

test('a listener that closes the connection did not answer', async () => {
  const listener = await listen((_, socket) => void socket.destroy())
  await expect(read(connect(listener))).rejects.toMatchObject({
    ...{ message: 'the server did not answer (ECONNRESET)', isFinal: false },
  })
})

test('an aborted wait ends at once, with its reason', async () => {
  const aborting = new AbortController()
  const reason = new Error('aborted by the test')
  const listener = await listen(() => void aborting.abort(reason))
  await expect(read(connect(listener), aborting.signal)).rejects.toBe(reason)
  await expect.poll(() => listener.countOpen()).toBe(0)
})

test('an address that the profile does not permit is not dialled, and a descriptor has no other parts', async () => {
  const listener = await listen(() => refusePacket(12_514), '127.0.0.2')
  await expect(read(connect(listener, { host: '127.0.0.2' }))).rejects.toThrow('does not permit the address')
  const injected = 'shop)(SERVER=POOLED'
  await expect(read(connect(listener, { service_name: injected }))).rejects.toThrow('characters that no service has')
  await expect(read(connect(listener, { username: undefined }))).rejects.toThrow('names its username')
  const [port = 0] = await findFreePorts(1)
  await expect(read(connect({ port }))).rejects.toThrow('the server did not answer (ECONNREFUSED)')
  expect(listener.received()).toBe('')
})

/** To send the request once more, with TLS by another process. */
async function handOver(first: object | undefined, next: object | undefined): Promise<number> {
  const server = createServer((raw) => {
    const begin = (options: object | undefined, answer: (session: TLSSocket) => void) => {
      const session = new TLSSocket(raw, { ...options, isServer: true })
      session.on('error', () => undefined).once('data', () => answer(session))
    }
    begin(first, (session) => {
      session.write(netPacket(11, Buffer.alloc(0), 8), () => {
        session.removeAllListeners('data')
        begin(next, (again) => again.write(refusePacket(12_514)))
      })
    })
  })
  await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done))
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}

describe('TLS', () => {
  test('is verified before the first packet', async () => {
    const certificates = issueServerCertificates('server')
    const files = certificates.of('server')
    const [ca, key, cert] = [files.ca, files.key, files.cert].map((file) => readFileSync(file, 'utf8'))
    certificates.dispose()
    const listener = await listen(() => refusePacket(12_514), '0.0.0.0', { key: key ?? '', cert: cert ?? '' })
    const verified = { tls: 'verify', ca }
    await expect(read(connect(listener, verified))).rejects.toThrow('the server has no such service')
    expect(listener.received()).toContain('(PROTOCOL=TCPS)')
    await expect(read(connect(listener, { tls: 'verify' }))).rejects.toThrow(
      'no certificate that the connection trusts',
    )
    await expect(read(connect(listener, { ...verified, host: '127.0.0.3' }))).rejects.toThrow(
      'ERR_TLS_CERT_ALTNAME_INVALID',
    )
    const plain = await listen(() => refusePacket(12_514))
    await expect(read(connect(plain, verified))).rejects.toThrow('the server did not answer')
  })

  test('begins once more where the listener hands the connection over, and is verified again', async () => {
    // Of an authority of its own each.
    const [first, second] = [1, 2].map(() => {
      const certificates = issueServerCertificates('server')
      const { ca, key, cert } = certificates.of('server')
      const texts = { ca: readFileSync(ca, 'utf8'), key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') }
      certificates.dispose()
      return texts
    })
    for (const [next, refusal] of [
      [first, 'the server has no such service'],
      [second, 'no certificate that the connection trusts'],
    ] as const) {
      const port = await handOver(first, next)
      await expect(read(connect({ port }, { tls: 'verify', ca: first?.ca }))).rejects.toThrow(refusal)
    }
  })
})

test('any change of a byte of an answer ends in words', async () => {
  for (const answer of [acceptPacket(), refusePacket(12_514), redirectPacket('127.0.0.2', 1_521)]) {
    let changed = answer
    const listener = await listen((place, socket) => {
      if (place === 0) return changed
      socket.destroy()
      return undefined
    })
    // Past its length, for the rest of which a reader waits.
    for (let at = 4; at < answer.length; at += 3)
      for (const byte of [0, 0x28, 0x29, 0xff]) {
        changed = Buffer.from(answer)
        changed[at] = byte
        const aborting = new AbortController()
        const timeout = AbortSignal.timeout(200)
        timeout.addEventListener('abort', () => aborting.abort(new Error('it waits')))
        const outcome = await read(connect(listener), aborting.signal).catch((error: Error) => error)
        expect(outcome).toBeInstanceOf(Error)
        if ((outcome as Error).message !== 'it waits') expect(outcome).toHaveProperty('name', 'RowSourceError')
      }
  }
})

// A server of the protocol of SQL Server (TDS 7.4) whose answers a test gives: with TLS or without, and hostile ones.
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { type Duplex, duplexPair } from 'node:stream'
import { createSecureContext, TLSSocket } from 'node:tls'
import { doneToken, loginAckToken } from './tds-tokens.ts'

/** `kind`: of its packets; `sql`: of a batch. */
export type TdsRequest = { readonly kind: number; readonly body: Buffer; readonly sql: string }

/** Tokens of one message; in pieces, which are sent as they are read. Undefined: silence. */
export type TdsAnswer = Buffer | Iterable<Buffer> | undefined

export type ScriptedTds = {
  readonly port: number
  /** All requests, in their order. */
  readonly requests: readonly TdsRequest[]
  /** Sessions that are open. */
  countOpen(): number
  close(): void
}

export type TdsScript = {
  /** Default: every login is taken. */
  readonly login?: (request: TdsRequest) => TdsAnswer
  readonly batch?: (sql: string) => TdsAnswer
  readonly tls?: { readonly key: string; readonly cert: string }
  /** Instead of the first answer. */
  readonly greeting?: Buffer
}

const [batch, answer_kind, login, sspi, prelogin] = [0x01, 0x04, 0x10, 0x11, 0x12]
const packet_bytes = 4_096

export function packetOf(kind: number, payload: Buffer, isLast = true): Buffer {
  const header = Buffer.from([kind, isLast ? 1 : 0, 0, 0, 0, 0, 1, 0])
  header.writeUInt16BE(payload.length + 8, 2)
  return Buffer.concat([header, payload])
}

/** One message as packets of the usual size. */
export function messageOf(payload: Buffer, isLast = true): Buffer {
  const packets: Buffer[] = []
  const size = packet_bytes - 8
  for (let at = 0; at === 0 || at < payload.length; at += size)
    packets.push(packetOf(answer_kind, payload.subarray(at, at + size), isLast && at + size >= payload.length))
  return Buffer.concat(packets)
}

/** Version and whether there is TLS. */
const greetingOf = (hasTls: boolean) =>
  packetOf(answer_kind, Buffer.from([0, 0, 11, 0, 6, 1, 0, 17, 0, 1, 0xff, 16, 0, 0x10, 0x63, 0, 0, hasTls ? 1 : 2]))

export async function listenAsTds(script: TdsScript, address = '127.0.0.1'): Promise<ScriptedTds> {
  const requests: TdsRequest[] = []
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket))
    serve(socket, script, requests)
  })
  await new Promise<void>((done) => void server.listen(0, address, done))
  const { port } = server.address() as AddressInfo
  const close = () => {
    server.close()
    for (const socket of sockets) socket.destroy()
  }
  return { port, requests, countOpen: () => sockets.size, close }
}

function serve(socket: Socket, script: TdsScript, requests: TdsRequest[]): void {
  const greeting = script.greeting ?? greetingOf(script.tls !== undefined)
  const collect = collectMessages((kind) => {
    if (kind !== prelogin) return
    socket.removeListener('data', collect)
    const session = script.tls ? secureServer(socket, script.tls) : socket
    const take = collectMessages((next, payload) => {
      const sql = next === batch ? payload.subarray(payload.readUInt32LE(0)).toString('utf16le') : ''
      const request = { kind: next, body: payload, sql }
      requests.push(request)
      send(session, answerOf(script, request))
    })
    session.on('data', take)
    socket.write(greeting)
  })
  socket.on('data', collect)
}

function answerOf(script: TdsScript, request: TdsRequest): TdsAnswer {
  if (request.kind === login || request.kind === sspi)
    return script.login ? script.login(request) : Buffer.concat([loginAckToken(), doneToken()])
  if (request.kind !== batch) return undefined
  // What the library sets for its session.
  return request.sql.startsWith('set ') ? doneToken() : script.batch?.(request.sql)
}

/** The next piece is sent once the one before is taken. */
function send(session: Duplex, answer: TdsAnswer): void {
  if (answer === undefined) return
  if (Buffer.isBuffer(answer)) return void session.write(messageOf(answer))
  const pieces = answer[Symbol.iterator]()
  const next = () => {
    for (;;) {
      if (session.destroyed) return
      const { done, value } = pieces.next()
      if (done) return void session.write(messageOf(Buffer.alloc(0)))
      if (!session.write(messageOf(value, false))) return void session.once('drain', next)
    }
  }
  next()
}

function collectMessages(onMessage: (kind: number, body: Buffer) => void): (chunk: Buffer) => void {
  let pending = Buffer.alloc(0)
  let body: Buffer[] = []
  return (chunk) => {
    pending = Buffer.concat([pending, chunk])
    while (pending.length >= 8 && pending.length >= pending.readUInt16BE(2)) {
      const length = pending.readUInt16BE(2)
      const [kind = 0, status = 0] = pending
      body.push(pending.subarray(8, length))
      pending = pending.subarray(length)
      if ((status & 1) === 0) continue
      const whole = Buffer.concat(body)
      body = []
      onMessage(kind, whole)
    }
  }
}

/** Its handshake is in packets; what follows is not. */
function secureServer(socket: Socket, { key, cert }: { readonly key: string; readonly cert: string }): Duplex {
  const [inner, outer] = duplexPair()
  const secureContext = createSecureContext({ key, cert, maxVersion: 'TLSv1.2' })
  const secure = new TLSSocket(inner as Socket, { isServer: true, secureContext })
  secure.on('error', () => socket.destroy())
  let isPlain = false
  let handshake: Buffer[] = []
  outer.on('data', (chunk: Buffer) => {
    if (isPlain) return void socket.write(chunk)
    handshake.push(chunk)
    // One message for all that the server says at once.
    if (handshake.length === 1)
      setImmediate(() => {
        socket.write(packetOf(prelogin, Buffer.concat(handshake)))
        handshake = []
      })
  })
  const unwrap = collectMessages((_, body) => void outer.write(body))
  socket.on('data', (chunk: Buffer) => {
    isPlain ||= chunk[0] !== prelogin
    if (isPlain) outer.write(chunk)
    else unwrap(chunk)
  })
  socket.on('close', () => secure.destroy())
  return secure
}

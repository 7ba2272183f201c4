// A server of the protocol of PostgreSQL without TLS, whose answers a test gives: one table of numbers, and hostile ones.
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { sendPieces } from './send-pieces.ts'

/** Bytes as they are sent; undefined: silence. */
export type PostgresAnswer = Buffer | Iterable<Buffer> | undefined

export type ScriptedPostgres = { readonly port: number; countOpen(): number; close(): void }

export function postgresMessage(code: string, ...parts: readonly (Buffer | string)[]): Buffer {
  const body = Buffer.concat(parts.map((part) => Buffer.from(part)))
  const head = Buffer.alloc(5)
  head.write(code, 'latin1')
  head.writeUInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}

function number(value: number, bytes: 2 | 4): Buffer {
  const buffer = Buffer.alloc(bytes)
  buffer.writeIntBE(value, 0, bytes)
  return buffer
}

export const isReady = postgresMessage('Z', 'I')
const isDone = Buffer.concat([postgresMessage('C', 'DONE\0'), isReady])
const isAccepted = Buffer.concat([postgresMessage('R', number(0, 4)), isReady])

export function describeFields(count: number): Buffer {
  const field = Buffer.concat([Buffer.from('f\0'), Buffer.alloc(6), number(25, 4), Buffer.alloc(8)])
  return postgresMessage('T', number(count, 2), ...Array.from({ length: count }, () => field))
}

export function dataRow(...values: readonly string[]): Buffer {
  const shown = values.flatMap((value) => [number(Buffer.byteLength(value), 4), value])
  return postgresMessage('D', number(values.length, 2), ...shown)
}

export function resultOf(rows: readonly (readonly string[])[]): Buffer {
  return Buffer.concat([describeFields(rows[0]?.length ?? 0), ...rows.map((row) => dataRow(...row)), isDone])
}

/** Of a table with one column, which has `id` as its name; `rows`: to `FETCH`. */
function answer(request: string, rows: () => PostgresAnswer): PostgresAnswer {
  if (request.includes('FETCH')) return rows()
  if (request.includes('format_type')) return resultOf([['id', '23', '1', '0', 'integer']])
  if (request.includes('pg_class')) return resultOf([['1']])
  if (request.includes('version_num')) return resultOf([['160004']])
  return isDone
}

/** `script`: what to send once a client has begun, and to a request for rows. Without TLS nothing of it is secret. */
export async function listenAsPostgres(script: {
  readonly greeting?: PostgresAnswer
  readonly rows?: () => PostgresAnswer
  /** Whether the connection ends after an answer with rows. */
  readonly closes?: boolean
}): Promise<ScriptedPostgres> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    let hasBegun = false
    sockets.add(socket.setNoDelay(true))
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket))
    socket.on('data', (data) => {
      const request = data.toString('latin1')
      const sent = hasBegun ? answer(request, script.rows ?? (() => undefined)) : (script.greeting ?? isAccepted)
      hasBegun = true
      if (sent) sendPieces(socket, Buffer.isBuffer(sent) ? [sent] : sent)
      if (script.closes && request.includes('FETCH')) socket.end()
    })
  })
  await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done))
  const close = () => {
    server.close()
    for (const socket of sockets) socket.destroy()
  }
  return { port: (server.address() as AddressInfo).port, countOpen: () => sockets.size, close }
}

// A server of the protocol of Cassandra whose answers a test gives: nodes of a cluster, and hostile ones.
import { type AddressInfo, createServer, type Socket } from 'node:net'

/** `cql`: of a query. */
export type CqlRequest = { readonly opcode: number; readonly body: Buffer; readonly cql: string }
/** Bytes of one frame or several; undefined: silence. */
export type CqlAnswer = Buffer | undefined

export type ScriptedCassandra = {
  readonly port: number
  /** All requests, in their order. */
  readonly requests: readonly CqlRequest[]
  close(): void
}

const query = 7

export async function listenAsCassandra(
  answer: (request: CqlRequest) => CqlAnswer,
  address = '127.0.0.1',
  fixed_port = 0,
): Promise<ScriptedCassandra> {
  const requests: CqlRequest[] = []
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    let pending = Buffer.alloc(0)
    socket.on('error', () => undefined)
    socket.on('data', (data) => {
      pending = Buffer.concat([pending, data])
      while (pending.length >= 9 && pending.length >= 9 + pending.readInt32BE(5)) {
        const [opcode = 0] = [pending[4]]
        const body = pending.subarray(9, 9 + pending.readInt32BE(5))
        pending = pending.subarray(9 + body.length)
        const cql = opcode === query ? body.subarray(4, 4 + body.readInt32BE(0)).toString() : ''
        const request = { opcode, body, cql }
        requests.push(request)
        const reply = answer(request)
        if (reply) socket.write(reply)
      }
    })
  })
  await new Promise<void>((done) => void server.listen(fixed_port, address, done))
  const { port } = server.address() as AddressInfo
  const close = () => {
    server.close()
    for (const socket of sockets) socket.destroy()
  }
  return { port, requests, close }
}

export const intBytes = (value: number) => {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}
const shortText = (text: string) => Buffer.concat([intBytes(text.length).subarray(2), Buffer.from(text)])

/** A frame of a server. */
export function frameAnswer(code: number, body: Buffer, { flags = 0, version = 0x84, length = body.length } = {}) {
  return Buffer.concat([Buffer.from([version, flags, 0, 0, code]), intBytes(length), body])
}

export function errorAnswer(code: number): Buffer {
  return frameAnswer(0, Buffer.concat([intBytes(code), shortText('secret of shop')]))
}

/** Rows of columns of the types of the protocol. `state`: further pages come. */
export function rowsAnswer(
  columns: readonly (readonly [name: string, type: number])[],
  rows: readonly (readonly (Buffer | string | null)[])[],
  { state = '', warning = '' } = {},
): Buffer {
  const metadata = [
    ...[intBytes(state === '' ? 1 : 3), intBytes(columns.length)],
    ...(state === '' ? [] : [intBytes(state.length), Buffer.from(state)]),
    ...[shortText('shop'), shortText('people')],
    ...columns.flatMap(([name, type]) => [shortText(name), intBytes(type).subarray(2)]),
  ]
  const values = rows.flat().flatMap((value) => {
    if (value === null) return [intBytes(-1)]
    const bytes = Buffer.from(value)
    return [intBytes(bytes.length), bytes]
  })
  const warned = warning === '' ? [] : [intBytes(1).subarray(2), shortText(warning)]
  const body = Buffer.concat([...warned, intBytes(2), ...metadata, intBytes(rows.length), ...values])
  return frameAnswer(8, body, { flags: warning === '' ? 0 : 8 })
}

// A server that speaks the protocol of MySQL without TLS, and answers each packet with what it was given.
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { sendPieces } from './send-pieces.ts'

/** The payload of a packet, or packets as they are sent. */
export type MysqlReply = Buffer | Iterable<Buffer>

export type HostileMysql = { readonly port: number; received(): string; countOpen(): number; close(): void }

export function requestPlugin(name: string): Buffer {
  return Buffer.concat([Buffer.from(`\xfe${name}\0`, 'latin1'), Buffer.alloc(20, 'a'), Buffer.alloc(1)])
}

/** `replies`: in their order, one to each packet of a connection; then it is silent. `greeting`: packets, instead of the usual one. */
export async function listenAsMysql(
  replies: readonly MysqlReply[],
  greeting: Iterable<Buffer> = [mysqlPacket(hello, 0)],
): Promise<HostileMysql> {
  const received: Buffer[] = []
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    let at = 0
    sockets.add(socket.setNoDelay(true))
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket))
    socket.on('data', (data) => {
      received.push(data)
      const reply = replies[at++]
      if (Buffer.isBuffer(reply)) socket.write(mysqlPacket(reply, (data[3] ?? 0) + 1))
      else if (reply) sendPieces(socket, reply)
    })
    sendPieces(socket, greeting)
  })
  await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  const close = () => {
    server.close()
    for (const socket of sockets) socket.destroy()
  }
  return { port, received: () => Buffer.concat(received).toString('latin1'), countOpen: () => sockets.size, close }
}

export function mysqlPacket(payload: Buffer, sequence: number): Buffer {
  const header = Buffer.alloc(4)
  header.writeUIntLE(payload.length, 0, 3)
  header[3] = sequence
  return Buffer.concat([header, payload])
}

/** Protocol 10 with plugins of authentication, and no flag of TLS. */
export const hello = Buffer.concat([
  Buffer.from('\x0a8.0.0\0', 'latin1'),
  Buffer.from([1, 0, 0, 0]),
  Buffer.from('abcdefgh\0', 'latin1'),
  // Capabilities, character set, status, more capabilities, bytes of the challenge.
  Buffer.from([0x09, 0xa2, 45, 2, 0, 8, 0, 21]),
  Buffer.alloc(10),
  Buffer.from('ijklmnopqrst\0', 'latin1'),
  Buffer.from('mysql_native_password\0', 'latin1'),
])

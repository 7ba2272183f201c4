// A server that speaks the protocol of MySQL without TLS, and answers each packet with what it was given.
import { type AddressInfo, createServer } from 'node:net'

export type HostileMysql = { readonly port: number; received(): string; close(): void }

export function requestPlugin(name: string): Buffer {
  return Buffer.concat([Buffer.from(`\xfe${name}\0`, 'latin1'), Buffer.alloc(20, 'a'), Buffer.alloc(1)])
}

/** `replies`: in their order, one to each packet of a connection; then it is silent. */
export async function listenAsMysql(replies: readonly Buffer[]): Promise<HostileMysql> {
  const received: Buffer[] = []
  const server = createServer((socket) => {
    let at = 0
    socket.on('error', () => undefined)
    socket.on('data', (data) => {
      received.push(data)
      const reply = replies[at++]
      if (reply) socket.write(frame(reply, (data[3] ?? 0) + 1))
    })
    socket.write(frame(hello, 0))
  })
  await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  return { port, received: () => Buffer.concat(received).toString('latin1'), close: () => void server.close() }
}

function frame(payload: Buffer, sequence: number): Buffer {
  const header = Buffer.alloc(4)
  header.writeUIntLE(payload.length, 0, 3)
  header[3] = sequence
  return Buffer.concat([header, payload])
}

/** Protocol 10 with plugins of authentication, and no flag of TLS. */
const hello = Buffer.concat([
  Buffer.from('\x0a8.0.0\0', 'latin1'),
  Buffer.from([1, 0, 0, 0]),
  Buffer.from('abcdefgh\0', 'latin1'),
  // Capabilities, character set, status, more capabilities, bytes of the challenge.
  Buffer.from([0x09, 0xa2, 45, 2, 0, 8, 0, 21]),
  Buffer.alloc(10),
  Buffer.from('ijklmnopqrst\0', 'latin1'),
  Buffer.from('mysql_native_password\0', 'latin1'),
])

// A listener of Oracle Net whose answers a test gives: it takes no session, since no server of the protocol is in the registries.
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'

export type ScriptedListener = {
  readonly port: number
  /** All that clients have sent. */
  received(): string
  countOpen(): number
  close(): void
}

/** A packet of the network layer. */
export function netPacket(type: number, body: Buffer, flags = 0): Buffer {
  const header = Buffer.from([0, 0, 0, 0, type, flags, 0, 0])
  header.writeUInt16BE(body.length + 8)
  return Buffer.concat([header, body])
}

const uint16 = (value: number) => Buffer.from([value >> 8, value & 255])

/** `error`: of the listener, such as 12514 for a service that it does not know. */
export function refusePacket(error: number): Buffer {
  const text = Buffer.from(`(DESCRIPTION=(TMP=)(VSNNUM=0)(ERR=${error})(ERROR_STACK=(ERROR=(CODE=${error})(EMFI=4))))`)
  return netPacket(4, Buffer.concat([Buffer.from([0x22, 0]), uint16(text.length), text]))
}

export function redirectPacket(host: string, port: number): Buffer {
  const text = Buffer.from(`(DESCRIPTION=(ADDRESS=(PROTOCOL=TCP)(HOST=${host})(PORT=${port})))`)
  return netPacket(5, Buffer.concat([uint16(text.length), text]))
}

/** Of version 318, with packets of 8 KiB and no services of the network layer. */
export function acceptPacket(): Buffer {
  const body = Buffer.alloc(37)
  body.writeUInt16BE(318, 0)
  body.writeUInt16BE(8_192, 4)
  body.writeUInt16BE(8_192, 6)
  body.writeUInt16BE(45, 12)
  body.fill(4, 14, 16)
  body.writeUInt32BE(8_192, 24)
  body.writeUInt32BE(65_535, 28)
  return netPacket(2, body)
}

/** A packet of the session, once it is accepted: its length has four bytes then. */
export function sessionPacket(body: Buffer): Buffer {
  const header = Buffer.from([0, 0, 0, 0, 6, 0, 0, 0, 0, 0])
  header.writeUInt32BE(body.length + 10)
  return Buffer.concat([header, body])
}

/** `answer`: to what a client has sent, by its place in the session; undefined: silence. */
export async function listenAsOracle(
  answer: (place: number, socket: Socket) => Buffer | undefined,
  address = '127.0.0.1',
  tls?: { readonly key: string; readonly cert: string },
): Promise<ScriptedListener> {
  const sockets = new Set<Socket>()
  let received = ''
  const serve = (socket: Socket) => {
    let place = 0
    sockets.add(socket)
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket))
    socket.on('data', (data) => {
      received += data.toString('latin1')
      const reply = answer(place++, socket)
      if (reply) socket.write(reply)
    })
  }
  const server: Server = tls ? createTlsServer(tls, serve) : createServer(serve)
  await new Promise<void>((done) => void server.listen(0, address, done))
  const close = () => {
    server.close()
    for (const socket of sockets) socket.destroy()
  }
  const { port } = server.address() as AddressInfo
  return { port, received: () => received, countOpen: () => sockets.size, close }
}

// A client of HTTP/2 that sends exactly the frames and fields of a test.
import { connect as connectTls, type TLSSocket } from 'node:tls'

/** Types, flags and codes of RFC 9113, sections 6 and 7. */
export const types = { data: 0, headers: 1, reset: 3, settings: 4, ping: 6, goaway: 7, window: 8, continuation: 9 }
export const flags = { end_stream: 1, end_headers: 4 }
export const cancel = Buffer.from([0, 0, 0, 8])
export const enhance_your_calm = 11

export function frame(type: number, flag: number, stream: number, payload: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head[3] = type
  head[4] = flag
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

/** A length in the form of HPACK, RFC 7541, section 5.1, with a prefix of seven bits. */
function hpackLength(length: number): Buffer {
  if (length < 127) return Buffer.from([length])
  const bytes = [127]
  let rest = length - 127
  for (; rest >= 128; rest >>= 7) bytes.push((rest & 127) | 128)
  return Buffer.from([...bytes, rest])
}
const hpackText = (text: string) => Buffer.concat([hpackLength(text.length), Buffer.from(text, 'latin1')])
/** Literal fields, without an index. */
export const hpackFields = (fields: FieldList) =>
  Buffer.concat(fields.flatMap(([name, value]) => [Buffer.from([0]), hpackText(name), hpackText(value)]))

export type FieldList = readonly (readonly [name: string, value: string])[]

export const requestFields = (method: string, more: FieldList = [], path = '/a', scheme = 'https'): Buffer =>
  hpackFields([[':method', method], [':scheme', scheme], [':authority', 'a'], [':path', path], ...more])

/** A whole request without a body. */
export const requestFrame = (stream: number, fields: Buffer): Buffer =>
  frame(types.headers, flags.end_headers | flags.end_stream, stream, fields)

export type FrameClient = {
  readonly socket: TLSSocket
  /** Those received, in order. */
  readonly frames: { readonly type: number; readonly stream: number; readonly payload: Buffer }[]
  isClosed: boolean
  send(...frames: Buffer[]): void
}

export async function frameClient(port: number, ca: string): Promise<FrameClient> {
  const socket = connectTls({ port, host: '127.0.0.1', servername: 'localhost', ca, ALPNProtocols: ['h2'] })
  const client: FrameClient = {
    socket,
    frames: [],
    isClosed: false,
    send: (...frames) => void socket.write(Buffer.concat(frames)),
  }
  let rest = Buffer.alloc(0)
  socket.on('data', (bytes: Buffer) => {
    rest = Buffer.concat([rest, bytes])
    while (rest.length >= 9 && rest.length >= 9 + rest.readUIntBE(0, 3)) {
      const end = 9 + rest.readUIntBE(0, 3)
      client.frames.push({ type: rest[3] as number, stream: rest.readUInt32BE(5), payload: rest.subarray(9, end) })
      rest = rest.subarray(end)
    }
  })
  socket.on('error', () => undefined)
  socket.on('close', () => {
    client.isClosed = true
  })
  await new Promise<void>((resolve) => socket.once('secureConnect', resolve))
  client.send(Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame(types.settings, 0, 0))
  return client
}

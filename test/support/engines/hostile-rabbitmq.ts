// A server that speaks AMQP 0-9-1 without TLS as far as a consumer has its queue, and then does what a test says.
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import path from 'node:path'

type Fields = Readonly<Record<string, unknown>>
type Definitions = Readonly<Record<string, number>> & {
  encodeMethod(id: number, channel: number, fields: Fields): Buffer
  encodeProperties(id: number, channel: number, size: number, fields: Fields): Buffer
}

/** The codec of the library, which it does not export. */
const require = createRequire(import.meta.url)
const defs: Definitions = require(path.resolve('node_modules/amqplib/lib/defs.js'))
const [method_frame, body_frame, frame_end] = [1, 3, 0xce]

export type HostileRabbitmq = {
  readonly port: number
  /** Deliveries that were acknowledged. */
  acknowledged(): number
  close(): void
}

/** `takesOffsets`: as a stream does. `onConsume` begins once a consumer is there; `consumer` is its name. */
export type HostileBehaviour = {
  readonly takesOffsets?: boolean
  readonly hello?: Buffer
  readonly onConsume?: (socket: Socket, consumer: string) => void
  readonly onCancel?: () => void
}

export async function listenAsRabbitmq(behaviour: HostileBehaviour): Promise<HostileRabbitmq> {
  let acknowledged = 0
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    let rest = Buffer.alloc(0)
    socket.once('data', () => {
      socket.write(behaviour.hello ?? encode('ConnectionStart', 0, start))
      socket.on('data', (bytes: Buffer) => {
        rest = Buffer.concat([rest, bytes])
        while (rest.length >= 7 && rest.length >= 8 + rest.readUInt32BE(3)) {
          const size = rest.readUInt32BE(3)
          if (rest[0] === method_frame)
            answer(socket, rest.readUInt32BE(7), rest.readUInt16BE(1), rest.subarray(7, 7 + size))
          rest = rest.subarray(8 + size)
        }
      })
    })
  })
  function answer(socket: Socket, id: number, channel: number, payload: Buffer): void {
    if (id === defs.BasicAck) acknowledged++
    const hasOffset = payload.includes('x-stream-offset')
    if (id === defs.BasicConsume && hasOffset && !behaviour.takesOffsets)
      return void socket.write(
        encode('ChannelClose', channel, { replyCode: 406, replyText: 'no', classId: 60, methodId: 20 }),
      )
    const reply = replies.find(([of]) => id === defs[of])
    if (reply) socket.write(encode(reply[1], channel, reply[2]))
    if (id === defs.BasicCancel) behaviour.onCancel?.()
    if (id === defs.BasicConsume) behaviour.onConsume?.(socket, 'c1')
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    acknowledged: () => acknowledged,
    close() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

const start = {
  versionMajor: 0,
  versionMinor: 9,
  serverProperties: {},
  mechanisms: Buffer.from('PLAIN'),
  locales: Buffer.from('en_US'),
}
const replies: readonly (readonly [of: string, reply: string, fields: Fields])[] = [
  ['ConnectionStartOk', 'ConnectionTune', { channelMax: 0, frameMax: 131_072, heartbeat: 0 }],
  ['ConnectionOpen', 'ConnectionOpenOk', { knownHosts: '' }],
  ['ConnectionClose', 'ConnectionCloseOk', {}],
  ['ChannelOpen', 'ChannelOpenOk', { channelId: Buffer.from('') }],
  ['ChannelClose', 'ChannelCloseOk', {}],
  ['BasicQos', 'BasicQosOk', {}],
  ['BasicConsume', 'BasicConsumeOk', { consumerTag: 'c1' }],
  ['BasicCancel', 'BasicCancelOk', { consumerTag: 'c1' }],
]

function encode(name: string, channel: number, fields: Fields): Buffer {
  return defs.encodeMethod(defs[name] ?? 0, channel, fields)
}

/** The frames of a delivery of which `body` is sent. `claimed_bytes`: what its header says. */
export function describeHostileDelivery(tag: number, body: Buffer, claimed_bytes = body.length, channel = 1): Buffer {
  const fields = { consumerTag: 'c1', deliveryTag: tag, redelivered: false, exchange: '', routingKey: 'q' }
  const header = defs.encodeProperties(defs.BasicProperties ?? 0, channel, claimed_bytes, {})
  return Buffer.concat([encode('BasicDeliver', channel, fields), header, describeBody(body, channel)])
}

export function describeBody(body: Buffer, channel = 1): Buffer {
  const head = Buffer.alloc(7)
  head[0] = body_frame
  head.writeUInt16BE(channel, 1)
  head.writeUInt32BE(body.length, 3)
  return Buffer.concat([head, body, Buffer.from([frame_end])])
}

/** Sends for as long as the other side reads. */
export function sendEndlessly(socket: Socket, next: () => Buffer): void {
  const send = () => {
    let isOpen = true
    for (let sent = 0; sent < 1_000 && isOpen; sent++) isOpen = !socket.destroyed && socket.write(next())
    if (socket.destroyed) return
    if (isOpen) setImmediate(send)
    else socket.once('drain', send)
  }
  send()
}

// A server of the protocol of MongoDB whose answers a test gives: members of replica sets, and hostile ones.
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { BSON } from 'mongodb'

export type MongoCommand = Readonly<Record<string, unknown>>
/** A document, or the bytes of a whole message. Undefined: silence. */
export type ScriptedAnswer = Readonly<Record<string, unknown>> | Buffer | undefined

export type ScriptedMongo = {
  readonly port: number
  /** All commands, in their order. */
  readonly commands: readonly MongoCommand[]
  close(): void
}

const op_reply = 1
const op_query = 2_004
const op_msg = 2_013

/** Of a member of a replica set that takes writes; others by what `more` says. */
export function helloOf(more: MongoCommand = {}): MongoCommand {
  return {
    ...{
      ok: 1,
      isWritablePrimary: true,
      helloOk: true,
      maxBsonObjectSize: 16_777_216,
      maxMessageSizeBytes: 48_000_000,
    },
    ...{ minWireVersion: 0, maxWireVersion: 21, logicalSessionTimeoutMinutes: 30, ...more },
  }
}

export async function listenAsMongo(
  answer: (command: MongoCommand) => ScriptedAnswer,
  address = '127.0.0.1',
  fixed_port = 0,
): Promise<ScriptedMongo> {
  const commands: MongoCommand[] = []
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    let pending = Buffer.alloc(0)
    socket.on('error', () => undefined)
    socket.on('data', (data) => {
      pending = Buffer.concat([pending, data])
      while (pending.length >= 4 && pending.length >= pending.readInt32LE(0)) {
        const message = pending.subarray(0, pending.readInt32LE(0))
        pending = pending.subarray(message.length)
        const command = readCommand(message)
        commands.push(command)
        const reply = answer(command)
        if (reply) socket.write(Buffer.isBuffer(reply) ? reply : encode(message, reply))
      }
    })
  })
  await new Promise<void>((done) => void server.listen(fixed_port, address, done))
  const { port } = server.address() as AddressInfo
  const close = () => {
    server.close()
    for (const socket of sockets) socket.destroy()
  }
  return { port, commands, close }
}

function readCommand(message: Buffer): MongoCommand {
  const isQuery = message.readInt32LE(12) === op_query
  // Flags, a name and two numbers before the document of a query; flags and the kind of a section before that of a message.
  const at = isQuery ? message.indexOf(0, 20) + 9 : 21
  return BSON.deserialize(message.subarray(at, at + message.readInt32LE(at)), { useBigInt64: true })
}

/** A message of the server. */
export function frameMessage(code: number, body: Buffer, length = body.length + 16): Buffer {
  const header = Buffer.alloc(16)
  header.writeInt32LE(length, 0)
  header.writeInt32LE(code, 12)
  return Buffer.concat([header, body])
}

function encode(request: Buffer, answer: MongoCommand): Buffer {
  const document = Buffer.from(BSON.serialize(answer))
  const isQuery = request.readInt32LE(12) === op_query
  const fields = Buffer.alloc(isQuery ? 20 : 5)
  if (isQuery) fields.writeInt32LE(1, 16)
  const framed = frameMessage(isQuery ? op_reply : op_msg, Buffer.concat([fields, document]))
  framed.writeInt32LE(request.readInt32LE(4), 8)
  return framed
}

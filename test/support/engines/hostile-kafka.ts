// A server that speaks the protocol of Kafka without TLS as far as a topic of one partition is read, and answers as a test says.
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { apis } from '../../../adapters/ingest-source/kafka/kafka-request.ts'
import { WireReader } from '../../../adapters/ingest-source/kafka/wire-reader.ts'
import { WireWriter } from '../../../adapters/ingest-source/kafka/wire-writer.ts'

type ApiName = keyof typeof apis

export type HostileKafka = {
  readonly port: number
  /** Requests of the kind so far. */
  count(api: ApiName): number
  close(): void
}

/** What it answers to the requests of a kind, without the length and the number of the request; a function may send its own. */
export type KafkaAnswers = Partial<
  Record<ApiName, Buffer | ((send: (body: Buffer) => void, socket: Socket, request: WireReader) => void)>
>

/** Kinds whose answers have no tagged fields in their heads. */
const plain_apis: readonly number[] = [apis.api_versions, apis.sasl_handshake, apis.sasl_authenticate]

export async function listenAsKafka(answers: KafkaAnswers, host = '127.0.0.1'): Promise<HostileKafka> {
  const counts = new Map<number, number>()
  const sockets = new Set<Socket>()
  const names = Object.keys(apis) as ApiName[]
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    let rest = Buffer.alloc(0)
    socket.on('data', (bytes: Buffer) => {
      rest = Buffer.concat([rest, bytes])
      while (rest.length >= 4 && rest.length >= 4 + rest.readInt32BE()) {
        const request = new WireReader(rest.subarray(4, 4 + rest.readInt32BE()))
        rest = rest.subarray(4 + rest.readInt32BE())
        const api = request.int16()
        request.int16()
        const correlation = request.int32()
        request.text()
        counts.set(api, (counts.get(api) ?? 0) + 1)
        const send = (body: Buffer) => {
          const head = new WireWriter().int32(correlation)
          if (!plain_apis.includes(api)) head.noTags()
          socket.write(new WireWriter().bytes(head.raw(body).done()).done())
        }
        const name = names.find((each) => apis[each] === api)
        const answer = name && (answers[name] ?? usualAnswer(name, port))
        if (typeof answer === 'function') answer(send, socket, request)
        else if (answer) send(answer)
      }
    })
  })
  server.listen(0, host)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    port,
    count: (api) => counts.get(apis[api]) ?? 0,
    close() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

function usualAnswer(name: ApiName, port: number): Buffer | undefined {
  const usual: Partial<Record<ApiName, Buffer>> = {
    api_versions: describeVersions(),
    metadata: describeTopic({ port }),
    list_offsets: describeStart(0n),
    fetch: describeMessages(Buffer.alloc(0)),
    sasl_handshake: new WireWriter().int16(0).int32(0).done(),
  }
  return usual[name]
}

export function describeVersions(max = 20): Buffer {
  const body = new WireWriter().int16(0).int32(Object.keys(apis).length)
  for (const api of Object.values(apis)) body.int16(api).int16(0).int16(max)
  return body.done()
}

export type TopicParts = {
  readonly host?: string
  readonly port: number
  readonly partitions?: number
  readonly id?: string
}

export function describeTopic({ host = '127.0.0.1', port, partitions = 1, id = 'ab'.repeat(16) }: TopicParts): Buffer {
  const body = new WireWriter().int32(0)
  body.compactList([1], (node) => body.int32(node).compactText(host).int32(port).compactText(null).noTags())
  body.compactText('cluster').int32(1)
  body.compactList(['q'], (name) => {
    body.int16(0).compactText(name).raw(Buffer.from(id, 'hex')).int8(0)
    body.compactList([...Array(partitions).keys()], (at) => {
      body.int16(0).int32(at).int32(1).int32(7)
      for (let lists = 0; lists < 3; lists++) body.compactList([1], (node) => body.int32(node))
      body.noTags()
    })
    body.int32(0).noTags()
  })
  return body.noTags().done()
}

export function describeStart(offset: bigint): Buffer {
  const body = new WireWriter().int32(0)
  body.compactList(['q'], (name) => {
    body.compactText(name)
    body.compactList([0], (at) => body.int32(at).int16(0).int64(-1n).int64(offset).int32(-1).noTags())
    body.noTags()
  })
  return body.noTags().done()
}

type FetchParts = {
  readonly partition?: number
  readonly error?: number
  readonly aborted?: readonly (readonly [producer: number, first: number])[]
}

export function describeMessages(batches: Buffer, { partition = 0, error = 0, aborted = [] }: FetchParts = {}): Buffer {
  const body = new WireWriter().int32(0).int16(0).int32(0)
  body.compactList(['ab'.repeat(16)], (id) => {
    body.raw(Buffer.from(id, 'hex'))
    body.compactList([partition], (at) => {
      body.int32(at).int16(error).int64(0n).int64(0n).int64(0n)
      body.compactList(aborted, ([producer, first]) => body.int64(BigInt(producer)).int64(BigInt(first)).noTags())
      body.int32(-1)
      body.unsignedVarint(batches.length + 1).raw(batches)
      body.noTags()
    })
    body.noTags()
  })
  return body.noTags().done()
}

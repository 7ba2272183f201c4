// Frames of the native protocol of Cassandra (version 4): those that are sent, and those of a server, which may be hostile.
import { RowSourceError } from '../../../daemon/shared/row-source/row-source.ts'

export const opcode = {
  ...{ error: 0, startup: 1, ready: 2, authenticate: 3, query: 7, result: 8, event: 12 },
  ...{ auth_challenge: 14, auth_response: 15, auth_success: 16 },
}

/** A frame of a server, without its warnings. */
export type CqlFrame = { readonly opcode: number; readonly body: CqlReader }

const header_bytes = 9
const request_version = 0x04
const response_version = 0x84
const flag = { compressed: 1, traced: 2, payload: 4, warned: 8 }
/** A page of rows has as many as fit into some 2 MiB by the page before; each may be larger than those were. */
const max_frame_bytes = 134_217_728

/** Requests go one after the other: all have the stream 0. */
function frameRequest(code: number, body: Buffer): Buffer {
  const header = Buffer.alloc(header_bytes)
  header[0] = request_version
  header[4] = code
  header.writeInt32BE(body.length, 5)
  return Buffer.concat([header, body])
}

/** Reads values in their order. Throws `RowSourceError` where the bytes end before. */
export class CqlReader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  get left(): number {
    return this.#bytes.length - this.#at
  }

  take(length: number): Buffer {
    if (length < 0 || length > this.left) throw notCassandra()
    this.#at += length
    return this.#bytes.subarray(this.#at - length, this.#at)
  }

  int(): number {
    return this.take(4).readInt32BE()
  }

  short(): number {
    return this.take(2).readUInt16BE()
  }

  string(): string {
    return this.take(this.short()).toString()
  }

  /** Undefined where there is no value. */
  bytes(): Buffer | undefined {
    const length = this.int()
    return length < 0 ? undefined : this.take(length)
  }
}

export class FrameCollector {
  #chunks: Buffer[] = []
  #collected = 0
  #needed = header_bytes
  #header: Buffer | undefined;

  /** The frames that are whole with these bytes. Throws `RowSourceError` where they are none of the protocol. */
  *add(chunk: Buffer): Generator<CqlFrame> {
    this.#chunks.push(chunk)
    this.#collected += chunk.length
    while (this.#collected >= this.#needed) {
      const all = this.#chunks.length === 1 ? (this.#chunks[0] ?? chunk) : Buffer.concat(this.#chunks)
      const part = all.subarray(0, this.#needed)
      this.#chunks = [all.subarray(this.#needed)]
      this.#collected = all.length - this.#needed
      if (this.#header) {
        yield openFrame(this.#header, part)
        this.#header = undefined
        this.#needed = header_bytes
        continue
      }
      const length = part.readInt32BE(5)
      if (part[0] !== response_version || length < 0) throw refuseVersion(part[0] ?? 0)
      if (length > max_frame_bytes)
        throw new RowSourceError(`an answer of the server has more than ${max_frame_bytes} bytes`)
      this.#header = part
      this.#needed = length
    }
  }
}

function openFrame(header: Buffer, bytes: Buffer): CqlFrame {
  const flags = header[1] ?? 0
  const body = new CqlReader(bytes)
  if ((flags & flag.compressed) !== 0) throw notCassandra()
  if ((flags & flag.traced) !== 0) body.take(16)
  // Such as that a query filters, which it is known to do.
  if ((flags & flag.warned) !== 0) for (let left = body.short(); left > 0; left--) body.string()
  if ((flags & flag.payload) !== 0)
    for (let left = body.short(); left > 0; left--) {
      body.string()
      body.bytes()
    }
  return { opcode: header[4] ?? -1, body }
}

/** A server that knows no version of ours answers in one of its own. */
function refuseVersion(version: number): RowSourceError {
  if ((version & 0x80) === 0 || version === response_version || (version & 0x7f) > 6) return notCassandra()
  return new RowSourceError('the server has no version 4 of the protocol, as Cassandra has from 2.2 on')
}

export function notCassandra(): RowSourceError {
  return new RowSourceError('the server does not answer as a server of Cassandra does')
}

const shortOf = (value: number) => Buffer.from([value >> 8, value & 255])
const intOf = (value: number) => {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}
const stringOf = (text: string) => Buffer.concat([shortOf(Buffer.byteLength(text)), Buffer.from(text)])
const bytesOf = (bytes: Buffer) => Buffer.concat([intOf(bytes.length), bytes])

export function startupFrame(): Buffer {
  const options = { CQL_VERSION: '3.0.0', DRIVER_NAME: 'platform' }
  const pairs = Object.entries(options).flatMap(([name, value]) => [stringOf(name), stringOf(value)])
  return frameRequest(opcode.startup, Buffer.concat([shortOf(pairs.length / 2), ...pairs]))
}

/** SASL PLAIN. */
export function authFrame(username: string, password: string): Buffer {
  return frameRequest(opcode.auth_response, bytesOf(Buffer.from(`\0${username}\0${password}`)))
}

export type CqlQuery = {
  readonly cql: string
  /** Default: what the node itself has. */
  readonly consistency?: 'one' | 'local_quorum'
  readonly page_rows: number
  readonly page_state?: Buffer | undefined
}
const consistencies = { one: 1, local_quorum: 6 }
const query_flag = { page_size: 4, page_state: 8 }

export function queryFrame({ cql, consistency = 'one', page_rows, page_state }: CqlQuery): Buffer {
  const flags = query_flag.page_size | (page_state ? query_flag.page_state : 0)
  const parts = [bytesOf(Buffer.from(cql)), shortOf(consistencies[consistency]), Buffer.from([flags]), intOf(page_rows)]
  return frameRequest(opcode.query, Buffer.concat([...parts, ...(page_state ? [bytesOf(page_state)] : [])]))
}

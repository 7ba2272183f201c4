// Compressed batches of messages: what each codec of Kafka makes of them, up to a limit.
import { gunzipSync, zstdDecompressSync } from 'node:zlib'
import { RowSourceError } from '../../../daemon/shared/row-source/row-source.ts'
import { ExpandedBytes } from './expanded-bytes.ts'
import { expandLz4 } from './lz4.ts'
import { expandSnappy } from './snappy.ts'
import { MalformedBytesError } from './wire-reader.ts'

/** A producer makes batches of some KiB, or of one message; brokers hold what is compressed to 1 MiB unless they are set otherwise. */
const max_expanded_bytes = 67_108_864

type Expander = (bytes: Buffer, limit_bytes: number) => Buffer

/** By the number that a batch has for it. */
const codecs: readonly Expander[] = [
  (bytes) => bytes,
  (bytes, limit_bytes) => expandByZlib(gunzipSync, bytes, limit_bytes),
  (bytes, limit_bytes) => fill(expandSnappy, bytes, limit_bytes),
  (bytes, limit_bytes) => fill(expandLz4, bytes, limit_bytes),
  (bytes, limit_bytes) => expandByZlib(zstdDecompressSync, bytes, limit_bytes),
]

/** Throws `RowSourceError` beyond the limit, and `MalformedBytesError`. */
export function expandBatch(codec: number, bytes: Buffer, limit_bytes = max_expanded_bytes): Buffer {
  const expand = codecs[codec]
  if (!expand) throw new MalformedBytesError('a batch has an unknown codec')
  return expand(bytes, limit_bytes)
}

function fill(expand: (bytes: Buffer, into: ExpandedBytes) => void, bytes: Buffer, limit_bytes: number): Buffer {
  const into = new ExpandedBytes(bytes.length * 4, () => refuseSize(limit_bytes), limit_bytes)
  expand(bytes, into)
  return into.bytes
}

type ZlibFunction = (bytes: Buffer, options: { readonly maxOutputLength: number }) => Buffer

function expandByZlib(expand: ZlibFunction, bytes: Buffer, limit_bytes: number): Buffer {
  try {
    return expand(bytes, { maxOutputLength: limit_bytes })
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ERR_BUFFER_TOO_LARGE') throw refuseSize(limit_bytes)
    throw new MalformedBytesError('a batch is not what its codec says')
  }
}

const refuseSize = (limit_bytes: number) =>
  new RowSourceError(`a compressed batch of the topic has more than ${limit_bytes} bytes when it is expanded`)

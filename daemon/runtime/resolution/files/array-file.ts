// Writes and reads arrays of numbers as files of a run.
import { closeSync, openSync, readSync } from 'node:fs'
import { writeFully } from '../../../../adapters/platform/durable-file/write-durably.ts'
import { writeRunFile } from './write-run-file.ts'

export type NumberArray = Uint8Array | Uint16Array | Uint32Array | Int32Array | Float64Array

const arrayConstructors = { Uint8Array, Uint16Array, Uint32Array, Int32Array, Float64Array } as const

/** Writes a JSON header, then arrays of numbers in the byte order of this machine: files of a run stay on it. */
export function writeArrays(file: string, head: unknown, arrays: readonly NumberArray[]): void {
  const kinds = arrays.map((array) => [array.constructor.name, array.length])
  const text = Buffer.from(JSON.stringify({ head, kinds }))
  writeRunFile(file, (opened) => {
    writeFully(opened, Buffer.from(Uint32Array.of(text.length).buffer))
    writeFully(opened, text)
    for (const array of arrays) writeFully(opened, Buffer.from(array.buffer, array.byteOffset, array.byteLength))
  })
}

/** Throws for a file that is shorter than its header says. */
export function readArrays(file: string): { readonly head: unknown; readonly arrays: readonly NumberArray[] } {
  const opened = openSync(file, 'r')
  try {
    const length = new Uint32Array(readAll(opened, 4).buffer)[0] ?? 0
    const { head, kinds } = JSON.parse(Buffer.from(readAll(opened, length)).toString('utf8')) as {
      head: unknown
      kinds: [keyof typeof arrayConstructors, number][]
    }
    const arrays = kinds.map(([kind, count]) => {
      const bytes = readAll(opened, count * arrayConstructors[kind].BYTES_PER_ELEMENT)
      return new arrayConstructors[kind](bytes.buffer)
    })
    return { head, arrays }
  } finally {
    closeSync(opened)
  }
}

/** Bytes of one read; the system limit is 2 GiB. */
const piece_bytes = 1 << 28

function readAll(opened: number, length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length)
  for (let at = 0; at < length; ) {
    const read = readSync(opened, bytes, at, Math.min(piece_bytes, length - at), null)
    if (read === 0) throw new Error('a file of a run is shorter than its header says')
    at += read
  }
  return bytes
}

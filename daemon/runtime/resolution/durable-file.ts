// Writes files of a run durably: a file appears under its name only when it is complete and on disk.
import { closeSync, fsyncSync, openSync, readSync, renameSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'

/** `write` receives the descriptor. A former file of the name stays until the new one is complete. */
export function writeFileDurably(file: string, write: (descriptor: number) => void): void {
  const draft = `${file}.part`
  const descriptor = openSync(draft, 'w', 0o600)
  try {
    write(descriptor)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
  renameSync(draft, file)
  syncFolder(dirname(file))
}

export function syncFolder(folder: string): void {
  const descriptor = openSync(folder, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

export type NumberArray = Uint8Array | Uint32Array | Int32Array | Float64Array

const arrayConstructors = { Uint8Array, Uint32Array, Int32Array, Float64Array } as const

/** Writes a JSON header, then arrays of numbers in the byte order of this machine, which files of a run never leave. */
export function writeArrays(file: string, head: unknown, arrays: readonly NumberArray[]): void {
  const kinds = arrays.map((array) => [array.constructor.name, array.length])
  const text = Buffer.from(JSON.stringify({ head, kinds }))
  writeFileDurably(file, (descriptor) => {
    writeAll(descriptor, Buffer.from(Uint32Array.of(text.length).buffer))
    writeAll(descriptor, text)
    for (const array of arrays) writeAll(descriptor, Buffer.from(array.buffer, array.byteOffset, array.byteLength))
  })
}

/** Throws for a file that is shorter than its header says. */
export function readArrays(file: string): { readonly head: unknown; readonly arrays: readonly NumberArray[] } {
  const descriptor = openSync(file, 'r')
  try {
    const length = new Uint32Array(readAll(descriptor, 4).buffer)[0] ?? 0
    const { head, kinds } = JSON.parse(Buffer.from(readAll(descriptor, length)).toString('utf8')) as {
      head: unknown
      kinds: [keyof typeof arrayConstructors, number][]
    }
    const arrays = kinds.map(([kind, count]) => {
      const bytes = readAll(descriptor, count * arrayConstructors[kind].BYTES_PER_ELEMENT)
      return new arrayConstructors[kind](bytes.buffer)
    })
    return { head, arrays }
  } finally {
    closeSync(descriptor)
  }
}

/** Bytes of one write or read; the system limit is 2 GiB. */
const piece_bytes = 1 << 28

function writeAll(descriptor: number, bytes: Buffer): void {
  for (let offset = 0; offset < bytes.length; ) {
    offset += writeSync(descriptor, bytes, offset, Math.min(piece_bytes, bytes.length - offset))
  }
}

function readAll(descriptor: number, length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length)
  for (let offset = 0; offset < length; ) {
    const read_count = readSync(descriptor, bytes, offset, Math.min(piece_bytes, length - offset), null)
    if (read_count === 0) throw new Error('a file of a run is shorter than its header says')
    offset += read_count
  }
  return bytes
}

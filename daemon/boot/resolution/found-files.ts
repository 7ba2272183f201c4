// What a phase found, a line of JSON for each thing: written by the thread, read by the role in batches.
import { createReadStream, writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { writeDurably } from './durable-file.ts'

const piece_lines = 5_000
const batch_lines = 500

/** How many there were. */
export function writeFound(file: string, found: Iterable<unknown>): number {
  let count = 0
  writeDurably(file, (opened) => {
    let piece: string[] = []
    const flush = () => {
      if (piece.length > 0) writeSync(opened, `${piece.join('\n')}\n`)
      piece = []
    }
    for (const each of found) {
      count++
      if (piece.push(JSON.stringify(each)) === piece_lines) flush()
    }
    flush()
  })
  return count
}

export async function* readFound<T>(file: string): AsyncGenerator<readonly T[]> {
  let batch: T[] = []
  for await (const line of createInterface({
    input: createReadStream(file, 'utf8'),
    crlfDelay: Number.POSITIVE_INFINITY,
  })) {
    if (batch.push(JSON.parse(line) as T) < batch_lines) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}

// Writes the findings of a phase as JSON lines in the thread, and reads them in batches in the role.
import { createReadStream, writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { writeRunFile } from './write-run-file.ts'

const lines_per_write = 5_000
const lines_per_batch = 500

/** Returns the number of lines. */
export function writeJsonLinesFile(file: string, found: Iterable<unknown>): number {
  let count = 0
  writeRunFile(file, (opened) => {
    let piece: string[] = []
    const flush = () => {
      if (piece.length > 0) writeSync(opened, `${piece.join('\n')}\n`)
      piece = []
    }
    for (const each of found) {
      count++
      if (piece.push(JSON.stringify(each)) === lines_per_write) flush()
    }
    flush()
  })
  return count
}

export async function* readJsonLinesFile<T>(file: string): AsyncGenerator<readonly T[]> {
  let batch: T[] = []
  for await (const line of createInterface({
    input: createReadStream(file, 'utf8'),
    crlfDelay: Number.POSITIVE_INFINITY,
  })) {
    if (batch.push(JSON.parse(line) as T) < lines_per_batch) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}

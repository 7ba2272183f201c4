// Writes the findings of a phase as JSON lines in the thread, and reads them in batches in the role.
import { createReadStream, writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { writeRunFile } from './write-run-file.ts'

const lines_per_write = 5_000
const lines_per_batch = 500

/** Returns the number of lines. */
export function writeJsonLinesFile(file: string, items: Iterable<unknown>): number {
  let count = 0
  writeRunFile(file, (descriptor) => {
    let chunk: string[] = []
    const flush = () => {
      if (chunk.length > 0) writeSync(descriptor, `${chunk.join('\n')}\n`)
      chunk = []
    }
    for (const item of items) {
      count++
      if (chunk.push(JSON.stringify(item)) === lines_per_write) flush()
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

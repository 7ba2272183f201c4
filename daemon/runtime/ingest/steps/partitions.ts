// Splits the work of a step by the keys of rows where it has no room for all at once: the inputs are read again for each part.

import { readText } from '../../../kernel/data/check-values.ts'
import type { TextColumn } from '../../../kernel/data/data-block.ts'
import type { MadeBlock } from '../landing/land-blocks.ts'
import { LandingError } from '../landing/landing-error.ts'

/** The rows whose keys have this remainder. */
export type Partition = { readonly modulus: number; readonly remainder: number }

/** A partition that has no room. It is thrown before the partition makes a row. */
export class PartitionOverflow extends Error {}

/** Bounds of a partition, which a task of the smallest memory holds. */
export const partition_limits = { rows: 500_000, cells: 4_000_000, text_units: 67_108_864 }
const max_modulus = 256

/** Makes the rows of one partition after the other. Throws `LandingError` where even a small one has no room. */
export async function* makeByPartitions(
  subject: string,
  make: (partition: Partition) => AsyncIterable<MadeBlock>,
): AsyncGenerator<MadeBlock, void, undefined> {
  const open: Partition[] = [{ modulus: 1, remainder: 0 }]
  for (let partition = open.pop(); partition; partition = open.pop()) {
    try {
      yield* make(partition)
    } catch (error) {
      if (!(error instanceof PartitionOverflow)) throw error
      const { modulus, remainder } = partition
      if (modulus >= max_modulus)
        throw new LandingError(
          `${subject} is too large: read in ${max_modulus} parts by its keys, one has more than ${partition_limits.rows} rows or ${partition_limits.text_units} characters`,
        )
      open.push({ modulus: modulus * 2, remainder: remainder + modulus }, { modulus: modulus * 2, remainder })
    }
  }
}

export function isInPartition(key: string, { modulus, remainder }: Partition): boolean {
  return modulus === 1 || hashKey(key) % modulus === remainder
}

/** FNV-1a, its high bits mixed into the low ones, by which partitions are chosen. */
function hashKey(key: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < key.length; at++) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193)
  hash ^= hash >>> 16
  hash = Math.imul(hash, 0x45d9f3b)
  return (hash ^ (hash >>> 16)) >>> 0
}

/** One text for the values of a row: equal for equal values alone. `hasMissing`: whether one of them is missing. */
export function readKey(
  columns: readonly TextColumn[],
  row: number,
): { readonly key: string; readonly hasMissing: boolean } {
  let key = ''
  let hasMissing = false
  for (const column of columns) {
    const text = readText(column, row)
    if (text === undefined) hasMissing = true
    key += text === undefined ? '-' : `${text.length}:${text}`
  }
  return { key, hasMissing }
}

// Divides the records of a file into batches. The division follows from the content alone, so that it is the same after a crash.
import type { FileRow } from '../arrival-folder/watched-folder.ts'

const max_batch_rows = 500
/** Characters of all values of a batch: what a document of the store holds at most, with room for its other fields. */
const max_batch_characters = 1_048_576

/** Part of the key of each batch: a version that divides otherwise finds no batch of this one. */
export const batch_division = `${max_batch_rows}/${max_batch_characters}`

/**
 * Yields the records from `first_row` on. A record with the id of an earlier one of its batch begins the next batch: it comes
 * later, and replaces that one.
 */
export async function* batchRows(
  rows: AsyncIterable<FileRow>,
  id_field: string,
  first_row: number,
): AsyncGenerator<readonly FileRow[]> {
  let batch: FileRow[] = []
  let ids = new Set<string>()
  let characters = 0
  for await (const row of rows) {
    if (row.row < first_row) continue
    const id = String(row.record[id_field] ?? '')
    const length = countCharacters(row)
    const isFull = batch.length === max_batch_rows || characters + length > max_batch_characters
    if (batch.length > 0 && (isFull || ids.has(id))) {
      yield batch
      ;[batch, ids, characters] = [[], new Set(), 0]
    }
    batch.push(row)
    // Records without an id are refused one by one.
    if (id !== '') ids.add(id)
    characters += length
  }
  if (batch.length > 0) yield batch
}

function countCharacters({ record }: FileRow): number {
  return Object.values(record).reduce<number>((sum, value) => sum + String(value ?? '').length, 0)
}

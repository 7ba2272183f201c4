// Measures a clustering beside the truth, both from files.
import { Groups } from '../../roles/resolution/engine/cluster/groups.ts'
import { bCubed, pairQuality, type Quality } from '../../roles/resolution/engine/evaluate.ts'
import type { Source } from '../../roles/resolution/engine/records/records.ts'
import { readDataFile } from './data-file.ts'
import { Objection } from './objection.ts'

export type Evaluation = {
  readonly records: number
  readonly entities_found: number
  readonly entities_true: number
  /** Over all pairs of records within clusters. */
  readonly pairs: Quality
  /** Over records: what each has in common with its cluster. */
  readonly b_cubed: Quality
}

/**
 * `truth`: a file with `id` and `cluster`, or one with pairs `id_l` and `id_r` that are one; a record without a line there is
 * alone. `found`: what `resolve run` has written. Throws `Objection` (1).
 */
export function evaluateFiles(found: string, truth: string): Evaluation {
  const clusters = readDataFile(found, () => true)
  const ids = textsOf(clusters, 'id', found)
  const rowOf = new Map(ids.map((id, row) => [id, row]))
  if (rowOf.size < ids.length)
    throw new Objection(1, `${found}: two records have one id; evaluate sources with ids of their own`)
  const foundOf = numbersOf(textsOf(clusters, 'cluster', found))
  const trueOf = truthOf(
    readDataFile(truth, () => true),
    truth,
    rowOf,
  )
  return {
    records: ids.length,
    entities_found: new Set(foundOf).size,
    entities_true: new Set(trueOf).size,
    pairs: pairQuality(foundOf, trueOf),
    b_cubed: bCubed(foundOf, trueOf),
  }
}

function truthOf(truth: Source, file: string, rowOf: ReadonlyMap<string, number>): Int32Array {
  const rowIn = (id: string) => {
    const row = rowOf.get(id)
    if (row === undefined) throw new Objection(1, `${file} knows ${JSON.stringify(id)}, which was not resolved`)
    return row
  }
  if (truth.names.includes('cluster')) {
    const clusters = textsOf(truth, 'cluster', file)
    const numbers = numbersOf(clusters)
    const of = Int32Array.from({ length: rowOf.size }, (_, row) => clusters.length + row)
    for (const [at, id] of textsOf(truth, 'id', file).entries()) of[rowIn(id)] = numbers[at] ?? 0
    return of
  }
  const rights = textsOf(truth, 'id_r', file)
  const groups = new Groups(rowOf.size)
  for (const [at, id] of textsOf(truth, 'id_l', file).entries()) {
    const [left, right] = [groups.find(rowIn(id)), groups.find(rowIn(rights[at] ?? ''))]
    if (left !== right) groups.join(left, right)
  }
  return groups.lowest()
}

function textsOf({ columns, names }: Source, name: string, file: string): string[] {
  const column = columns.find((each) => each.name === name)
  if (!column) throw new Objection(1, `${file} has no column ${name}; it has ${names.join(', ')}`)
  const decoder = new TextDecoder()
  return Array.from(column.codes, (code) => (code < 0 ? '' : decoder.decode(column.values.bytesOf(code))))
}

function numbersOf(texts: readonly string[]): Int32Array {
  const numbers = new Map<string, number>()
  return Int32Array.from(texts, (text) => {
    if (!numbers.has(text)) numbers.set(text, numbers.size)
    return numbers.get(text) ?? 0
  })
}

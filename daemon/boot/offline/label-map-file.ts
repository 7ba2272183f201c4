// Reads the label map of a peer from the file in which people agreed on it.
import type { LabelPolicy } from '../../kernel/label.ts'
import { type LabelMap, labelMap } from '../../kernel/label-map.ts'
import { inOneLine, parseBy } from '../../kernel/parsing.ts'
import { Objection } from './objection.ts'

/** Throws `Objection` (2) for what is no map, or leads to levels that the site's policy does not have. */
export function labelMapIn(text: string, { levels }: LabelPolicy): LabelMap {
  const read = parseBy(labelMap, jsonIn(text))
  if (!read.success) throw new Objection(2, `the label map cannot be used: ${inOneLine(read.errors)}`, shape)
  const strange = Object.values(read.data).flatMap((map) =>
    Object.values(map.levels).filter((level) => !levels.includes(level)),
  )
  if (strange.length === 0) return read.data
  const names = [...new Set(strange)].join(', ')
  throw new Objection(2, `the label map leads to ${names}; the profile has ${levels.join(', ')}`)
}

const shape =
  'it is JSON: {"<their policy>": {"levels": {"<theirs>": "<ours>"}, "categories": {…}, "releasable_to": {…}}}'

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Objection(2, 'the label map is not JSON', shape)
  }
}

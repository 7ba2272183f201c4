// Reads the label map of a peer from a file on which people agreed.

import { parseJson } from '../../kernel/encoding/parse-json.ts'
import { formatFieldErrors, parseWithSchema } from '../../kernel/error/parsing.ts'
import type { LabelPolicy } from '../../kernel/label/label.ts'
import { type LabelMap, labelMap } from '../../kernel/label/label-map.ts'
import { OfflineCommandError } from '../offline-command-error.ts'

/**
 * Throws `OfflineCommandError` (2) for text that is not a map, or that maps to levels that the site's policy does not
 * have.
 */
export function parseLabelMap(text: string, { levels }: LabelPolicy): LabelMap {
  const value = parseJson(text)
  if (value === undefined) throw new OfflineCommandError(2, 'the label map is not JSON', label_map_hint)
  const read = parseWithSchema(labelMap, value)
  if (!read.success)
    throw new OfflineCommandError(2, `the label map cannot be used: ${formatFieldErrors(read.errors)}`, label_map_hint)
  const strange = Object.values(read.data).flatMap((map) =>
    Object.values(map.levels).filter((level) => !levels.includes(level)),
  )
  if (strange.length === 0) return read.data
  const names = [...new Set(strange)].join(', ')
  throw new OfflineCommandError(
    2,
    `the label map maps to ${names}, which the profile does not have; the levels are ${levels.join(', ')}`,
  )
}

const label_map_hint =
  'the file is JSON: {"<their policy>": {"levels": {"<theirs>": "<ours>"}, "categories": {…}, "releasable_to": {…}}}'

// Reads the label map of a peer from a file.

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
  const parsed = parseWithSchema(labelMap, value)
  if (!parsed.success)
    throw new OfflineCommandError(
      2,
      `the label map cannot be used: ${formatFieldErrors(parsed.errors)}`,
      label_map_hint,
    )
  const unknownLevels = Object.values(parsed.data).flatMap((map) =>
    Object.values(map.levels).filter((level) => !levels.includes(level)),
  )
  if (unknownLevels.length === 0) return parsed.data
  const names = [...new Set(unknownLevels)].join(', ')
  throw new OfflineCommandError(
    2,
    `the label map maps to ${names}, which the profile does not have; the levels are ${levels.join(', ')}`,
  )
}

const label_map_hint =
  'the file is JSON: {"<their policy>": {"levels": {"<theirs>": "<ours>"}, "categories": {…}, "releasable_to": {…}}}'

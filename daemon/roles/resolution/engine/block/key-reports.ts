// Reports the keys that the engine uses to find candidates without blocking rules, with the number of pairs that share
// each.
import type { LensRecords } from '../records/records.ts'
import { buildKeys } from './keys.ts'
import type { BlockingRuleReport } from './lens-rules.ts'

/** Reports each key separately; blocks of more than `cap` records count only together with a key of another field. */
export function buildKeyReports({ fields }: LensRecords, cap: number): BlockingRuleReport[] {
  return fields.flatMap((field, at) =>
    buildKeys(field, at).map((key) => {
      let [pairs, blocks, largest, left_out_count] = [0, 0, 0, 0]
      for (const size of key.sizes) {
        if (size > largest) largest = size
        if (size > cap) left_out_count++
        else if (size > 1) {
          blocks++
          pairs += (size * (size - 1)) / 2
        }
      }
      return { rule: `${field.name}: ${key.name}`, pairs, blocks, largest, left_out: [], left_out_count }
    }),
  )
}

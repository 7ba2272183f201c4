// A pair as a question: both records as the data has them, how alike their fields are, and their score.
import type { ChosenPair } from '../../../roles/resolution/engine/labels/choose-pairs.ts'
import type { LensRecords } from '../../../roles/resolution/engine/records/records.ts'
import type { DetailedResolution } from '../../../roles/resolution/engine/resolve.ts'
import { scoreUnit } from '../../../roles/resolution/engine/score/score-unit.ts'
import type { ValueReader } from '../folder/original-values.ts'

export type PairQuestion = {
  readonly left: { readonly source: string; readonly id: string }
  readonly right: { readonly source: string; readonly id: string }
  readonly score: string
  readonly fields: readonly {
    readonly name: string
    readonly left: string | undefined
    readonly right: string | undefined
    readonly level: 'equal' | 'alike' | 'different'
  }[]
}

/** A record with more fields is not shown whole; a value with more characters is cut. */
const max_value_characters = 4_096

export function createQuestionReader(
  records: LensRecords,
  { compared, comparer, scores, scale }: DetailedResolution,
  original: ValueReader,
): (pair: ChosenPair) => PairQuestion {
  const { names, sources, idOf, fields } = records
  const recordOf = (row: number) => ({ source: names[sources[row] ?? 0] ?? '', id: idOf(row) })
  const readValue = (row: number, field: number) => original(row, field)?.slice(0, max_value_characters)
  return ({ a, b, pair }) => {
    const from = (compared.patternOf[pair] ?? 0) * compared.fields
    const score = scores[pair] ?? 0
    return {
      left: recordOf(a),
      right: recordOf(b),
      score: scale === 'likeness' ? `likeness ${score.toFixed(3)}` : `${(score / scoreUnit(scale)).toFixed(1)} bits`,
      fields: fields.map(({ name }, field) => {
        const outcome = compared.patterns[from + field] ?? 0
        const different = (comparer.outcomes[field] ?? 0) - (field === comparer.swapped?.[0] ? 3 : 1)
        const level = outcome === 1 ? 'equal' : outcome === different ? 'different' : 'alike'
        return { name, left: readValue(a, field), right: readValue(b, field), level }
      }),
    }
  }
}

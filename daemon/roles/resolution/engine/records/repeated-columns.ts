// Finds columns that repeat others, such as a full name beside given name and surname: their evidence would count twice.
import { normaliseWords } from '../text/normalise.ts'
import type { ProfiledSource } from './align-columns.ts'
import type { ColumnProfile } from './profile.ts'
import type { RecordSource } from './records.ts'

const max_sampled_rows = 2_000
/** Share of the rows in which a column has all words of another. */
const min_repeated_share = 0.8
const min_parts = 2

/** Returns the columns of names that repeat two or more others, with the columns that they repeat. */
export function findRepeatedColumns({ source, profiles }: ProfiledSource): Map<ColumnProfile, readonly string[]> {
  const names = profiles.filter(({ type }) => type === 'name')
  const texts = new Map(names.map((profile) => [profile, sampleWords(source, profile.column)]))
  const repeated = new Map<ColumnProfile, readonly string[]>()
  for (const whole of names) {
    const parts = names.filter((part) => part !== whole && isWithin(texts.get(part) ?? [], texts.get(whole) ?? []))
    if (parts.length >= min_parts)
      repeated.set(
        whole,
        parts.map(({ column }) => column),
      )
  }
  return repeated
}

/** Whether the words of the part are among those of the whole, in most rows with both. */
function isWithin(part: readonly (readonly string[])[], whole: readonly (readonly string[])[]): boolean {
  let [both, within] = [0, 0]
  for (const [row, words] of part.entries()) {
    const others = whole[row] ?? []
    if (words.length === 0 || others.length === 0) continue
    both++
    if (words.length < others.length && words.every((word) => others.includes(word))) within++
  }
  return both > 0 && within >= min_repeated_share * both
}

function sampleWords({ rows, columns }: RecordSource, name: string): string[][] {
  const column = columns.find((candidate) => candidate.name === name)
  const decoder = new TextDecoder()
  const count = Math.min(rows, max_sampled_rows)
  return Array.from({ length: count }, (_, at) => {
    const code = column?.codes[Math.floor((at * rows) / count)] ?? -1
    const text = code < 0 || !column ? '' : normaliseWords(decoder.decode(column.values.bytesOf(code)))
    return text === '' ? [] : text.split(' ')
  })
}

// Finds the column that names the records of a source, also where a few records have no id of their own.
import type { ColumnProfile } from './profile.ts'

export type IdColumnChoice = {
  readonly column: string
  /** Whether its name says so; otherwise only its values do. */
  readonly isNamed: boolean
  /** Records without an id of their own: without any, or with that of an earlier record. */
  readonly faulty: number
}

/** A slip of a few records does not make ids what is compared. Both numbers are a judgement: duplicates are more common. */
const max_faulty_records = 3
const max_faulty_share = 0.02

const idNames = /^(id|uid|uuid|rec_?id|record_?id|unique_?id|key|identifier)$/i
const idEndings = /([_ -]id|Id|ID)$/

/**
 * Chooses by name, by ending, or else any code that differs in each record. A column in which a few records have no id of their own
 * counts by its name alone. `isKnown`: columns that describe records, such as telephone numbers, whatever their values.
 */
export function chooseIdColumn(
  profiles: readonly ColumnProfile[],
  isKnown: (column: string) => boolean,
): IdColumnChoice | undefined {
  const all = profiles.filter(({ records }) => records > 0)
  const unique = all.filter((profile) => countFaulty(profile) === 0)
  const near = all.filter(isNearlyUnique)
  const named = [unique, near].flatMap((group) =>
    [idNames, idEndings].flatMap((pattern) => group.find(({ column }) => pattern.test(column)) ?? []),
  )
  const [first] = named
  if (first) return { column: first.column, isNamed: true, faulty: countFaulty(first) }
  const code = unique.find(({ column, type }) => (type === 'code' || type === undefined) && !isKnown(column))
  return code && { column: code.column, isNamed: false, faulty: 0 }
}

/** Whether the column names records and describes none: it can agree in no two records of a source. */
export function isFurtherId(profile: ColumnProfile): boolean {
  return idNames.test(profile.column) && isNearlyUnique(profile)
}

function isNearlyUnique(profile: ColumnProfile): boolean {
  const { records, distinct } = profile
  const allowed = Math.max(max_faulty_records, max_faulty_share * records)
  return countFaulty(profile) <= allowed && distinct * 2 > records
}

function countFaulty({ records, distinct }: ColumnProfile): number {
  return records - distinct
}

// Describes records without an id of their own by their lines in the file, which is read once more for them.
import type { DataFile } from '../../../../adapters/platform/data-file/data-file.ts'
import type { RecordReadOptions } from '../../../runtime/resolution/files/read-records.ts'
import type { BadRow, FileBadRows } from './bad-rows.ts'
import { describeIdFault, type IdFaults } from './id-faults.ts'
import { locateRows } from './locate-rows.ts'

type FaultyIds = {
  readonly unit: FileBadRows['unit']
  readonly id_field: string
  readonly faults: IdFaults
}

/** The first faults, each with its place and that of the record which had its id first. */
export async function locateIdFaults(
  file: DataFile,
  reading: RecordReadOptions,
  { unit, id_field, faults: { first } }: FaultyIds,
): Promise<BadRow[]> {
  const rows = first.flatMap(({ row, earlier }) => (earlier ? [earlier.row, row] : [row]))
  const places = await locateRows(file, reading, rows)
  const placeOf = (row: number) => places.get(row) ?? row + 1
  return first.map((fault) => {
    const earlier = `${unit} ${placeOf(fault.earlier?.row ?? 0)}`
    return { place: placeOf(fault.row), reason: describeIdFault(id_field, fault, earlier) }
  })
}

// Chooses the columns with the ids of sampled files, and remarks the records that have no id of their own.
import { formatCount } from '../../../kernel/text/format-count.ts'
import type { ProfiledSource } from '../../../roles/resolution/engine/records/align-columns.ts'
import { chooseIdColumn, type IdColumnChoice, isFurtherId } from '../../../roles/resolution/engine/records/id-column.ts'
import { normaliseColumnName } from '../../../roles/resolution/engine/records/match-columns.ts'
import type { OmittedColumn } from '../../../roles/resolution/lens/propose-fields.ts'
import { describeIdFault, findIdFaults } from '../reading/id-faults.ts'

export type ProposedIds = {
  /** That of every source; undefined where they differ. */
  readonly id_field: string | undefined
  readonly bySource: readonly (IdColumnChoice | undefined)[]
  /** Further columns that name the records of a single source, and say nothing else. */
  readonly omitted: readonly OmittedColumn[]
}

/** `isKnown`: columns that describe records, whatever their values. */
export function proposeIds(sources: readonly ProfiledSource[], isKnown: (column: string) => boolean): ProposedIds {
  const choices = sources.map(({ profiles }) => chooseIdColumn(profiles, isKnown))
  const [first] = choices
  const form = first && normaliseColumnName(first.column)
  const isShared = choices.every((choice) => choice && normaliseColumnName(choice.column) === form)
  // Codes that differ in each record may be what several sources share.
  const bySource = isShared ? choices : choices.map((choice) => (choice?.isNamed ? choice : undefined))
  const further = sources.length > 1 ? [] : (sources[0]?.profiles ?? []).filter(isFurtherId)
  return {
    id_field: isShared ? first?.column : undefined,
    bySource,
    omitted: further
      .filter(({ column }) => column !== bySource[0]?.column)
      .map((profile) => ({ profile, reason: 'names the records too' })),
  }
}

/** Remarks records without an id of their own, of which `resolve run` accepts none. */
export function remarkFaultyIds(
  { bySource }: ProposedIds,
  sources: readonly ProfiledSource['source'][],
  onRemark: ((remark: string) => void) | undefined,
): void {
  for (const [at, source] of sources.entries()) {
    const { column = '', faulty = 0 } = bySource[at] ?? {}
    const faults = faulty === 0 ? undefined : findIdFaults(source, column, false)
    if (!faults) continue
    const named = faults.first.map((fault) => {
      const earlier = `record ${(fault.earlier?.row ?? 0) + 1}`
      return `record ${fault.row + 1}: ${describeIdFault(column, fault, earlier)}`
    })
    const more = faults.count > named.length ? '; …' : ''
    const lacking = formatCount(faults.count, 'record repeats or lacks an id', 'records repeat or lack an id')
    onRemark?.(`${source.name}: ${column} names the records, but ${lacking}: ${named.join('; ')}${more}`)
  }
}

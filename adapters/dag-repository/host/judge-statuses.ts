// The result of the statuses of a commit: that of the check of DAGs alone where the site names it, else every one.
import type { DagCheck } from '../../../daemon/shared/dag-repository/dag-repository.ts'

/** `harmless`: neither a success nor a failure. */
export type HostStatus = {
  readonly name: string
  readonly outcome: 'success' | 'failure' | 'harmless' | 'waiting'
  readonly description: string
}

/** Read of one commit; a commit with more of them waits. */
const max_pages = 20

/**
 * Newest status of each name, by pages from 1 until one has nothing new: a host may have pages of any size. `name`: of the one that
 * decides, where the site names it.
 */
export async function judgeStatuses(
  readPage: (page: number) => Promise<readonly HostStatus[]>,
  name: string | undefined,
): Promise<DagCheck> {
  const found = new Map<string, HostStatus>()
  for (let page = 1; page <= max_pages; page++) {
    const before = found.size
    for (const status of await readPage(page)) found.set(status.name, status)
    const named = name === undefined ? undefined : found.get(name)
    if (named) return judge([named])
    if (found.size > before) continue
    if (name === undefined) return judge([...found.values()])
    return { state: 'pending', reason: `the check ${name} has not reported on the commit` }
  }
  const check = name === undefined ? judge([...found.values()]) : undefined
  if (check?.state === 'rejected') return check
  return { state: 'pending', reason: `the commit has more statuses than are read: ${found.size}` }
}

function judge(statuses: readonly HostStatus[]): DagCheck {
  const wrong = statuses.find(({ outcome }) => outcome === 'failure')
  if (wrong) {
    const { name, description } = wrong
    return { state: 'rejected', reason: `${name}: ${description}`, ...findLine(description) }
  }
  if (statuses.length === 0) return { state: 'pending', reason: 'no CI has reported on the commit' }
  if (statuses.some(({ outcome }) => outcome === 'waiting')) return { state: 'pending', reason: 'the CI has not ended' }
  if (statuses.some(({ outcome }) => outcome === 'success')) return { state: 'passed' }
  return { state: 'pending', reason: 'the CI has reported no success on the commit' }
}

/** The line that a CI names in what it says of a file. */
function findLine(text: string): { readonly line?: number } {
  const [, line] = /(?:\bline |\.(?:json|py):)(\d{1,9})\b/i.exec(text) ?? []
  return line === undefined || Number(line) < 1 ? {} : { line: Number(line) }
}

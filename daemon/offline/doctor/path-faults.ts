// Combines equal faults of many paths into one finding with one repair command.
import type { DoctorCode } from './doctor-codes.ts'
import { type DoctorFinding, reportProblem } from './finding.ts'

/** The fault of one path, with a text and a command that are the same for each path with this fault. */
export type PathFault = {
  readonly path: string
  /** The part of the site in which the path was found; a command for many paths never searches beyond it. */
  readonly root: string
  /** Ends the sentence that begins with the path, or with the number of paths. */
  readonly fault: string
  /** The repair command, before the path. */
  readonly command: string
  /** The test of `find` that selects such paths. */
  readonly test: string
}

/** Above this number, the command searches for the paths instead of listing them. */
const max_named_paths = 5

/** Carriers' files have their own user and modes there. */
const carrier_path_exclusion = "! -path '*/in/new/*' ! -path '*/out/ready/*'"

/** Returns a problem for each fault, in the order of the first path that has it. */
export function reportPathFaults(code: DoctorCode, faults: readonly PathFault[]): DoctorFinding[] {
  const groups = Map.groupBy(faults, ({ fault, command, test }) => [fault, command, test].join('\n'))
  return [...groups.values()].flatMap((group) => {
    const [first, ...otherFaults] = group
    if (!first) return []
    const detail =
      otherFaults.length === 0
        ? `${first.path} ${first.fault}`
        : `${group.length} paths, ${first.path} among them: each ${first.fault}`
    return [{ ...reportProblem(code, detail, buildPathRemedy(first, group)), paths: group.map(({ path }) => path) }]
  })
}

function buildPathRemedy({ command, test }: PathFault, group: readonly PathFault[]): string {
  if (group.length <= max_named_paths) return `${command} ${group.map(({ path }) => quoteShellWord(path)).join(' ')}`
  const roots = [...new Set(group.map(({ root }) => root))]
  return `find ${roots.map(quoteShellWord).join(' ')} ${test} ${carrier_path_exclusion} -exec ${command} {} +`
}

/** Quotes a path as one shell word. */
function quoteShellWord(path: string): string {
  return /^[\w./@:+=-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`
}

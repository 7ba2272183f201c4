// Equal faults of many paths, told as one finding with one command that mends them all.
import { type DoctorFinding, reportProblem } from './finding.ts'

/** What is wrong with one path, in words and a command that are the same for each path with this fault. */
export type PathFault = {
  readonly path: string
  /** The part of the site that the path was found in: a command for many paths never looks beyond it. */
  readonly below: string
  /** Ends the sentence that begins with the path, or with how many there are. */
  readonly fault: string
  /** The command that mends it, before the path. */
  readonly command: string
  /** What `find` knows it by. */
  readonly test: string
}

/** More paths than these are named by a search. */
const max_named_paths = 5

/** Carriers' files lie there under their own user and modes. */
const carrier_path_exclusion = "! -path '*/in/new/*' ! -path '*/out/ready/*'"

/** A problem for each fault, in the order of the first path that has it; `sortPaths` has all of them. */
export function reportPathFaults(check: string, faults: readonly PathFault[]): DoctorFinding[] {
  const alike = Map.groupBy(faults, ({ fault, command, test }) => [fault, command, test].join('\n'))
  return [...alike.values()].flatMap((group) => {
    const [first, ...others] = group
    if (!first) return []
    const detail =
      others.length === 0
        ? `${first.path} ${first.fault}`
        : `${group.length} paths, ${first.path} among them: each ${first.fault}`
    return [{ ...reportProblem(check, detail, buildPathRemedy(first, group)), paths: group.map(({ path }) => path) }]
  })
}

function buildPathRemedy({ command, test }: PathFault, group: readonly PathFault[]): string {
  if (group.length <= max_named_paths) return `${command} ${group.map(({ path }) => quoteShellWord(path)).join(' ')}`
  const places = [...new Set(group.map(({ below }) => below))]
  return `find ${places.map(quoteShellWord).join(' ')} ${test} ${carrier_path_exclusion} -exec ${command} {} +`
}

/** As a shell takes it for one word. */
function quoteShellWord(path: string): string {
  return /^[\w./@:+=-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`
}

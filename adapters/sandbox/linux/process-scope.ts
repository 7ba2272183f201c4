// Everything that belongs to one run, by the strongest mark that this process can give it: a control group, a user of its
// own, or the tree of its processes.
import { setTimeout as wait } from 'node:timers/promises'
import type { ControlGroup } from './control-group.ts'
import { userLine } from './launch.ts'
import { runTool } from './run-tool.ts'
import { listDescendants, listProcessesOf } from './running-processes.ts'
import type { SandboxUser } from './sandbox-user.ts'

export type ProcessScope = {
  /** Every process of the run that can be found. */
  readonly list: () => Promise<readonly number[]>
  /** Kills them. Resolves once none is left, or when this process can do no more. */
  readonly end: () => Promise<void>
}

/** `pid` is the first process of the run; undefined where it did not start. */
export function processScope(
  pid: number | undefined,
  { group, user }: { readonly group?: ControlGroup | undefined; readonly user?: SandboxUser | undefined },
): ProcessScope {
  const endGroup = async () => killProcessGroup(pid)
  if (group) return { list: group.list, end: () => endGroup().then(group.end) }
  if (user)
    return {
      list: async () => (await listProcessesOf(user.uid)).map((found) => found.pid),
      end: () => endGroup().then(() => endProcessesOf(user)),
    }
  return { list: async () => (pid === undefined ? [] : await listDescendants(pid)), end: endGroup }
}

/** A process that is gone already is the wanted result. */
export function killProcessGroup(pid: number | undefined): void {
  if (pid !== undefined) sendKill(-pid)
}

/**
 * Ends all processes of a user of root's choice. Its own `kill -1` reaches all of them at one instant, so that none can
 * fork out of it; one that keeps killing those who come is found by its number.
 */
export async function endProcessesOf(user: SandboxUser): Promise<void> {
  for (let round = 0; round < max_kill_rounds; round++) {
    const left = await listProcessesOf(user.uid)
    if (left.length === 0) return
    for (const { pid } of left) sendKill(pid)
    await runTool(userLine(user, 'sh', '-c', 'kill -KILL -1'))
    await wait(kill_pause_ms)
  }
}

/** A process that waits for a disk ends late. */
const max_kill_rounds = 200
const kill_pause_ms = 10

function sendKill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {}
}

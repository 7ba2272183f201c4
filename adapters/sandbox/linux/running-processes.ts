// Processes as the kernel lists them: those of a user, and those that a process has started.
import { readdir, readFile } from 'node:fs/promises'

export type RunningProcess = {
  readonly pid: number
  /** Real, effective, saved and file system user. */
  readonly uids: readonly number[]
  readonly threads: number
}

/** Every process but those that have ended and wait for their parent. */
export async function listProcesses(): Promise<RunningProcess[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const found = await Promise.all(
    pids.map(async (pid) => {
      const status = await readOr(`/proc/${pid}/status`, '')
      if (status === '' || /^State:\s+[ZX]/m.test(status)) return []
      const uids = /^Uid:\s+(.*)/m.exec(status)?.[1]?.split(/\s+/).map(Number) ?? []
      return [{ pid: Number(pid), uids, threads: Number(/^Threads:\s+(\d+)/m.exec(status)?.[1] ?? 0) }]
    }),
  )
  return found.flat()
}

export async function listProcessesOf(uid: number): Promise<RunningProcess[]> {
  return (await listProcesses()).filter(({ uids }) => uids.includes(uid))
}

/** The process with all that it started, as far as their parents still exist. */
export async function listDescendants(pid: number): Promise<number[]> {
  // Each thread has the children that it started itself.
  const threads = await readdir(`/proc/${pid}/task`).catch(() => [])
  const lists = await Promise.all(threads.map((thread) => readOr(`/proc/${pid}/task/${thread}/children`, '')))
  const children = lists.flatMap((list) => list.split(' ').filter(Boolean).map(Number))
  return [pid, ...(await Promise.all(children.map(listDescendants))).flat()]
}

/** The text of a file of the kernel; `otherwise` where its process has ended. */
export async function readOr(path: string, otherwise: string): Promise<string> {
  return await readFile(path, 'utf8').catch(() => otherwise)
}

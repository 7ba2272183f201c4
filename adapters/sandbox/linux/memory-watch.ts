// Watches the memory of a process with all that it started: the kernel limits each of them, not their sum.
import { readdir, readFile } from 'node:fs/promises'

const look_every_ms = 100
const page_bytes = 4_096

/** Calls `exceeded` once when the memory that is resident exceeds the bound. Memory that two processes share counts twice. */
export function watchMemory(
  pid: number | undefined,
  max_bytes: number,
  exceeded: () => void,
): { readonly stop: () => void } {
  let isStopped = pid === undefined
  const look = async () => {
    const used = await residentBytes(pid as number)
    if (isStopped) return
    if (used > max_bytes) exceeded()
    else timer = setTimeout(look, look_every_ms)
  }
  let timer = isStopped ? undefined : setTimeout(look, look_every_ms)
  return {
    stop() {
      isStopped = true
      clearTimeout(timer)
    },
  }
}

/** Processes that end meanwhile count nothing. */
async function residentBytes(pid: number): Promise<number> {
  const own = await readOr(`/proc/${pid}/statm`, '0 0')
  const children = await readChildren(pid)
  const sums = await Promise.all(children.map(residentBytes))
  return sums.reduce((sum, bytes) => sum + bytes, Number(own.split(' ')[1]) * page_bytes)
}

/** Each thread has the children that it started itself. */
async function readChildren(pid: number): Promise<number[]> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => [])
  const lists = await Promise.all(threads.map((thread) => readOr(`/proc/${pid}/task/${thread}/children`, '')))
  return lists.flatMap((list) => list.split(' ').filter(Boolean).map(Number))
}

async function readOr(path: string, otherwise: string): Promise<string> {
  return await readFile(path, 'utf8').catch(() => otherwise)
}

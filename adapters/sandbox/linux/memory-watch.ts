// Sums the memory of a run where no control group bounds it: the kernel limits each process alone, and files in memory not at all.
import { readdir, readlink, stat } from 'node:fs/promises'
import { readOr } from './running-processes.ts'

const look_every_ms = 100
const page_bytes = 4_096

/** Calls `exceeded` once when the sum exceeds the bound. Memory that two processes share counts twice. */
export function watchMemory(
  list: () => Promise<readonly number[]>,
  max_bytes: number,
  exceeded: () => void,
): { readonly stop: () => void } {
  let isStopped = false
  const look = async () => {
    const used = await sumMemory(await list().catch(() => []))
    if (isStopped) return
    if (used > max_bytes) exceeded()
    else timer = setTimeout(look, look_every_ms)
  }
  let timer = setTimeout(look, look_every_ms)
  return {
    stop() {
      isStopped = true
      clearTimeout(timer)
    },
  }
}

async function sumMemory(pids: readonly number[]): Promise<number> {
  const resident = await Promise.all(pids.map(readResidentBytes))
  const files = new Map((await Promise.all(pids.map(listFilesInMemory))).flat())
  return [...resident, ...files.values()].reduce((sum, bytes) => sum + bytes, 0)
}

/** Processes that end meanwhile count nothing. */
async function readResidentBytes(pid: number): Promise<number> {
  return Number((await readOr(`/proc/${pid}/statm`, '0 0')).split(' ')[1]) * page_bytes
}

/** What memfd_create has made and a descriptor holds: bytes by the number of the file, however many hold it. */
async function listFilesInMemory(pid: number): Promise<[string, number][]> {
  const folder = `/proc/${pid}/fd`
  const found: [string, number][] = []
  for (const name of await readdir(folder).catch(() => [])) {
    const link = `${folder}/${name}`
    if (!(await readlink(link).catch(() => '')).startsWith('/memfd:')) continue
    const file = await stat(link).catch(() => undefined)
    if (file) found.push([`${file.dev}:${file.ino}`, file.blocks * 512])
  }
  return found
}

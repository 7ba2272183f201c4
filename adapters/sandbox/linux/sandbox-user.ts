// The user that a command becomes: for a site that runs as root one that nothing else has, so that all of it can be ended.
import { randomInt } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { listProcesses } from './running-processes.ts'

export type SandboxUser = { readonly uid: number; readonly gid: number }

/** Ids that neither distributions, systemd nor containers assign (systemd.io/UIDS-GIDS). */
const first_uid = 60_578
const last_uid = 61_183

/**
 * A user without processes and without a name, or undefined where this process cannot become another. Two commands
 * that run at a time have two of them: neither sees, signals nor changes the other.
 */
export async function pickUser(): Promise<SandboxUser | undefined> {
  if (process.getuid?.() !== 0) return undefined
  const maps = await Promise.all(['uid_map', 'gid_map'].map((file) => readFile(`/proc/self/${file}`, 'utf8')))
  if (!maps.every((map) => isMapped(map, first_uid) && isMapped(map, last_uid))) return undefined
  const used = new Set([...(await listProcesses()).flatMap(({ uids }) => uids), ...(await readNamedUsers()), ...picked])
  const free = Array.from({ length: last_uid - first_uid + 1 }, (_, at) => first_uid + at).filter((id) => !used.has(id))
  const uid = free[randomInt(Math.max(free.length, 1))]
  if (uid === undefined)
    throw new Error(`each user of ${first_uid} to ${last_uid} has processes: end those left behind`)
  picked.add(uid)
  return { uid, gid: uid }
}

/** Users of commands that have not started yet, or have not ended. */
const picked = new Set<number>()

export function releaseUser(user: SandboxUser | undefined): void {
  if (user) picked.delete(user.uid)
}

/** Whether a folder of a run belongs to a user that this file has picked. */
export function isSandboxUser(uid: number): boolean {
  return uid >= first_uid && uid <= last_uid
}

async function readNamedUsers(): Promise<number[]> {
  const passwd = await readFile('/etc/passwd', 'utf8').catch(() => '')
  return passwd.split('\n').map((line) => Number(line.split(':')[2]))
}

/** Each line of a map is: first id inside, first id outside, count. */
function isMapped(map: string, id: number): boolean {
  return map.split('\n').some((line) => {
    const [first = Number.NaN, , count = 0] = line.trim().split(/\s+/).map(Number)
    return id >= first && id < first + count
  })
}

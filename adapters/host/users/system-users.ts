// Users and groups of this machine by name, from the files that every system has; a directory service's are given by number.
import { readFileSync } from 'node:fs'

/** The id of a user by name; a number is itself. Undefined when `passwd` in this folder does not know the name. */
export function userId(user: string | number, folder = '/etc'): number | undefined {
  return typeof user === 'number' ? user : findId(`${folder}/passwd`, user)
}

/** The id of a group by name; a number is itself. Undefined when `group` in this folder does not know the name. */
export function groupId(group: string | number, folder = '/etc'): number | undefined {
  return typeof group === 'number' ? group : findId(`${folder}/group`, group)
}

/** The id of the group that a user belongs to first. */
export function userGroupId(user: string, folder = '/etc'): number | undefined {
  return findId(`${folder}/passwd`, user, 3)
}

/** The name of a user, or its number where it has none. */
export function userName(uid: number): string {
  const line = readEntries('/etc/passwd').find((fields) => fields[2] === String(uid))
  return line?.[0] ?? String(uid)
}

/** Read before the process can become another user. */
const start_uid = process.getuid?.() ?? 0

/** The user who started this process, whichever user it acts as or has become since. */
export function invoker(): string {
  return userName(start_uid)
}

/** Both files hold `name:password:id:…`, one a line (passwd(5), group(5)). */
function findId(file: string, name: string, field = 2): number | undefined {
  const id = readEntries(file).find((fields) => fields[0] === name)?.[field]
  return id !== undefined && /^\d{1,10}$/.test(id) ? Number(id) : undefined
}

function readEntries(file: string): string[][] {
  try {
    return readFileSync(file, 'utf8')
      .split('\n')
      .map((line) => line.split(':'))
  } catch {
    return []
  }
}

// Runs a command of root once for each role, in a process that has the rights of the role's user and no others.
import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { parseJson } from '../../daemon/kernel/encoding/parse-json.ts'
import { offline, type SiteFolder } from '../../daemon/offline/offline.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { CommandFailure } from './command.ts'
import { selfCommand } from './self-command.ts'

type RunAsOwnersOptions = {
  /** The words of the command, which takes `--role` and prints `{ items }` as JSON. */
  readonly words: readonly string[]
  readonly site: string | undefined
  readonly folder: SiteFolder
  readonly terminal: Terminal
}

/**
 * The items of all roles; undefined unless root runs the command and other users own data. A process that switched users
 * and could switch back would let a role's database attack root: each child has given up the rights of root for good
 * (setgroups, setgid and setuid before it is this program), and this process opens no file of a role.
 */
export async function runAsOwners<T>(options: RunAsOwnersOptions): Promise<T[] | undefined> {
  const { listDataOwners } = await offline.dataOwners()
  const owners = listDataOwners(options.folder)
  if (!owners) return undefined
  const items: T[] = []
  for (const owner of owners) {
    options.terminal.progress(`${options.words.join(' ')}: ${owner.role}`)
    items.push(...(await runAsOwner<T>(owner, options)))
  }
  return items
}

async function runAsOwner<T>(
  { role, uid, gid }: { readonly role: string; readonly uid: number; readonly gid: number },
  { words, site, terminal }: RunAsOwnersOptions,
): Promise<T[]> {
  const [program, ...leading] = selfCommand()
  const args = [...leading, ...words, '--role', role, '--json', ...(site === undefined ? [] : ['--site', site])]
  const child = spawn(program, args, { env: { ...terminal.env }, stdio: ['ignore', 'pipe', 'pipe'], uid, gid })
  const exit = new Promise<number>((resolve, reject) => {
    child.once('error', (error) => reject(new CommandFailure(1, `user ${uid} cannot run ${program}: ${error.message}`)))
    child.once('close', (code) => resolve(code ?? 1))
  })
  const [code, output, errors] = await Promise.all([exit, text(child.stdout), text(child.stderr)])
  // 0: in order; 5: faults, which are among the items.
  if (code !== 0 && code !== 5) throw new CommandFailure(1, `${role}, as user ${uid}: ${errors.trim()}`)
  return (parseJson(output) as { items: T[] }).items
}

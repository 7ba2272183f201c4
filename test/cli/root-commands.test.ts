// Commands of root on a site whose roles have users of their own: no process that can become root again opens a file of
// a role. SQLite parses a database by native code, and the user of the role wrote it.
import * as fs from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect } from 'vitest'
import { assignFileOwners } from '../../daemon/offline/site/assign-file-owners.ts'
import { createScratchFolder } from '../support/command/run-command.ts'
import { traceCommand } from '../support/command/trace-command.ts'
import { requires, whenPresent } from '../support/runner/requires.ts'
import { createTestSite, type TestSite } from '../support/site/test-site.ts'

const isRoot = process.getuid?.() === 0
const asRoot = whenPresent({ isPresent: isRoot, name: 'root', hint: 'only root can change the owner of files' })
const test = isRoot ? requires('strace') : asRoot
const users = { site: 57_011, consensus: 57_012 } as const
const scratch = createScratchFolder('root')

let world: TestSite
let site: string
let medium: string
beforeAll(async () => {
  world = await createTestSite({ profile: { platform: { roles: ['site', 'consensus'] } } })
  await world.start()
  await world.stop()
  site = path.dirname(world.folder.profile)
  medium = path.join(path.dirname(site), 'medium')
  if (!isRoot) return
  fs.mkdirSync(medium)
  fs.chownSync(medium, users.site, 57_010)
  // As `platform site divide` leaves it; the folder above is passable.
  fs.chmodSync(path.dirname(site), 0o711)
  assignFileOwners(world.folder, { group: 57_010, users: new Map(Object.entries(users)) })
})
afterAll(async () => {
  await world?.end()
  scratch.remove()
})

/** Files of roles that a thread opened before it, or the thread that began it, had given up the rights of root. */
function listOpenedAsRoot(calls: readonly string[]): string[] {
  const parents = new Map<string, string>()
  for (const call of calls) {
    const [, parent, child] = /^(\d+) .*\b(?:clone3?|v?fork)\b.* = (\d+)$/.exec(call) ?? []
    if (parent && child) parents.set(child, parent)
  }
  const states = new Map<string, boolean>()
  const hasGivenUp = (thread: string): boolean => {
    const parent = parents.get(thread)
    const state = states.get(thread) ?? (parent !== undefined && hasGivenUp(parent))
    states.set(thread, state)
    return state
  }
  const opened: string[] = []
  for (const call of calls) {
    const [, thread = ''] = /^(\d+) /.exec(call) ?? []
    const before = hasGivenUp(thread)
    if (/ setuid\(5701[12]/.test(call)) states.set(thread, true)
    else if (!before && isRoleFile(call)) opened.push(call)
  }
  return opened
}

/** An exclusively created file holds nothing that a role wrote, and a folder is not parsed. */
function isRoleFile(call: string): boolean {
  const isBelow = ['data', 'run', 'filedrop'].some((part) => new RegExp(`"${site}/${part}/[^/"]+/[^"]+"`).test(call))
  return isBelow && /\bopen(at)?\(/.test(call) && !/O_EXCL|O_DIRECTORY/.test(call)
}

const backup = path.join(scratch.dir, 'backup')
test.for<[words: string, exit: number, more: () => string[]]>([
  ['audit verify', 0, () => []],
  ['audit export', 0, () => []],
  ['doctor', 5, () => []],
  ['store check', 0, () => []],
  ['store status', 0, () => []],
  ['store backup', 0, () => [backup]],
  ['store restore', 0, () => [backup, '--yes']],
  ['store restore', 0, () => ['--undo']],
  ['keys generate', 0, () => ['--use', 'token', '--role', 'consensus']],
  ['peers list', 0, () => []],
  ['people list', 0, () => []],
  ['token mint', 0, () => ['--subject', 'ann', '--roles', 'operator']],
  ['filedrop export', 0, () => [medium]],
  ['filedrop import', 0, () => [medium]],
])('%s', ([words, exit, more]) => {
  const run = traceCommand(scratch.dir, [...words.split(' '), ...more(), '--site', site])
  expect([run.exit, run.stderr]).toEqual([exit, expect.not.stringMatching(/^error/m)])
  expect(run.calls.length).toBeGreaterThan(10)
  expect(listOpenedAsRoot(run.calls)).toEqual([])
})

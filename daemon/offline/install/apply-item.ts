// Makes one item of an installation. Each is complete under its name or not there, so that a run after a crash goes on.
import { spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import { dirname, join } from 'node:path'
import { groupId, userId } from '../../../adapters/host/users/system-users.ts'
import { editYaml } from '../../../adapters/host/yaml/yaml-edit.ts'
import { syncFolder } from '../../../adapters/platform/durable-file/sync-folder.ts'
import { writeDurably, writeFully } from '../../../adapters/platform/durable-file/write-durably.ts'
import { OfflineCommandError } from '../offline-command-error.ts'
import type { InstallationItem, InstallationItemOf } from './installation-items.ts'
import { layout } from './layout.ts'
import { nameAccounts } from './observe-division.ts'
import { digestFile } from './observe-item.ts'
import { clearDraft, placePath, requireSafeParents } from './safe-path.ts'

/** `items`: all of the installation, since a site is made with the users of its roles. */
export function applyItem(item: InstallationItem, root: string, items: readonly InstallationItem[]): void {
  const path = 'path' in item ? placePath(root, item.path) : undefined
  if (path) requireSafeParents(path)
  switch (item.kind) {
    case 'group':
      run(['groupadd', '--system', ...prefixOption(root), item.name])
      break
    case 'user':
      run([
        ...['useradd', '--system', ...prefixOption(root), '--gid', accountNumber(root, item.group)],
        ...[
          '--no-create-home',
          '--home-dir',
          '/',
          '--shell',
          '/usr/sbin/nologin',
          '--comment',
          item.comment,
          item.name,
        ],
      ])
      break
    case 'folder':
      makeFolder(item, root)
      break
    case 'file':
      replaceFile(placePath(root, item.path), item.mode, item.content)
      break
    case 'copy':
      copyReleaseFile(item, root)
      break
    case 'link':
      replaceLink(placePath(root, item.path), item.target)
      break
    case 'site':
      makeDividedSite(item, root, items)
      break
    case 'division':
      runInstalled(root, ['site', 'divide', '--site', placePath(root, item.path)])
      break
    case 'service':
      run(['systemctl', 'start', item.unit])
      break
  }
}

function prefixOption(root: string): string[] {
  return root === '/' ? [] : ['--prefix', root]
}

function accountNumber(root: string, group: string): string {
  return String(groupId(group, placePath(root, '/etc')) ?? group)
}

function makeFolder({ path, mode, owner, is_shared }: InstallationItemOf<'folder'>, root: string): void {
  const placed = placePath(root, path)
  fs.mkdirSync(placed, { recursive: true, mode })
  const file = fs.openSync(placed, fs.constants.O_RDONLY | fs.constants.O_DIRECTORY | fs.constants.O_NOFOLLOW)
  try {
    const accounts = placePath(root, '/etc')
    if (owner) fs.fchownSync(file, userId(owner.user, accounts) ?? 0, groupId(owner.group, accounts) ?? 0)
    else if (!is_shared) fs.fchownSync(file, 0, 0)
    fs.fchmodSync(file, mode)
    fs.fsyncSync(file)
  } finally {
    fs.closeSync(file)
  }
  syncFolder(dirname(placed))
}

function replaceFile(path: string, mode: number, content: string): void {
  writeDurably(
    path,
    (opened) => {
      writeFully(opened, content)
      setMode(opened, mode)
    },
    { draft: clearDraft(path) },
  )
}

/** The digest is that of the bytes which were written. */
function copyReleaseFile({ path, source, mode, sha256 }: InstallationItemOf<'copy'>, root: string): void {
  const placed = placePath(root, path)
  const draft = clearDraft(placed)
  writeDurably(
    placed,
    (opened) => {
      const from = fs.openSync(source, fs.constants.O_RDONLY)
      try {
        const chunk = Buffer.alloc(1_048_576)
        for (let read = fs.readSync(from, chunk); read > 0; read = fs.readSync(from, chunk))
          writeFully(opened, chunk.subarray(0, read))
      } finally {
        fs.closeSync(from)
      }
      setMode(opened, mode)
    },
    {
      draft,
      beforeRename: () => {
        if (digestFile(draft) !== sha256)
          throw new OfflineCommandError(5, `${source} changed while it was copied`, 'verify the bundle again')
      },
    },
  )
}

/** Past the file mode mask of the caller. */
function setMode(opened: number, mode: number): void {
  fs.fchownSync(opened, 0, 0)
  fs.fchmodSync(opened, mode)
}

function replaceLink(path: string, target: string): void {
  const draft = clearDraft(path)
  fs.symlinkSync(target, draft)
  fs.renameSync(draft, path)
  syncFolder(dirname(path))
}

/** Beside its place, then renamed: a run that was killed leaves a draft, whose keys nobody has seen, and the next run removes it. */
function makeDividedSite(
  { path, arguments: options }: InstallationItemOf<'site'>,
  root: string,
  items: readonly InstallationItem[],
): void {
  const placed = placePath(root, path)
  const draft = `${placed}.draft`
  requireSafeParents(join(draft, 'profile.yaml'))
  fs.rmSync(draft, { recursive: true, force: true })
  runInstalled(root, ['init', '--site', draft, ...options])
  const division = items.find((item) => item.kind === 'division')
  if (division) {
    const profile = join(draft, 'profile.yaml')
    const { os_group, os_users } = nameAccounts(division, root)
    const text = editYaml(fs.readFileSync(profile, 'utf8'), [
      { path: ['platform', 'os_group'], value: os_group },
      { path: ['platform', 'os_users'], value: os_users },
    ])
    writeDurably(profile, text)
  }
  if (fs.existsSync(placed)) fs.rmdirSync(placed)
  fs.renameSync(draft, placed)
  syncFolder(dirname(placed))
}

/** The installed executable, which the users of the roles can run; this one may lie in a folder of root alone. */
function runInstalled(root: string, words: readonly string[]): void {
  run([placePath(root, layout.command), ...words])
}

const timeout_ms = 300_000

/** Only what a command needs: no setting of the caller leads it elsewhere. */
const command_environment = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' }

/** Throws `OfflineCommandError` (1) with what the command printed. */
export function run([program = '', ...words]: readonly string[]): void {
  const { status, signal, error, stdout, stderr } = spawnSync(program, words, {
    ...{ cwd: '/', env: command_environment, timeout: timeout_ms, encoding: 'utf8', maxBuffer: 1_048_576 },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  if (status === 0) return
  const reason = error?.message ?? (signal ? `it ended by ${signal}` : `it ended with ${status}`)
  const details = `${stdout ?? ''}${stderr ?? ''}`.split('\n').filter(Boolean).slice(-20)
  throw new OfflineCommandError(
    1,
    `${program} ${words.slice(0, 3).join(' ')} failed: ${reason}`,
    'repair the cause and run the command again; it goes on where it stopped',
    details,
  )
}

// Removes what an installation made. The site, backups, the answers, users and files that somebody changed stay.
import { spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import { OfflineCommandError } from '../offline-command-error.ts'
import { isSystemdRunning, reloadUnits } from './install-site.ts'
import { type InstallationRecord, readInstallationRecord } from './installation-record.ts'
import { layout, target_name, unitName } from './layout.ts'
import { digestFile } from './observe-item.ts'
import { clearDraft, placePath, statPlaced } from './safe-path.ts'

export type RemovalStep = {
  readonly action: 'remove' | 'keep'
  readonly kind: 'file' | 'link' | 'folder'
  readonly path: string
  /** Why it stays. */
  readonly detail: string | undefined
}

/** In the order of removal. Throws `OfflineCommandError` (3) if nothing is installed. */
export function planRemoval(root: string): {
  readonly steps: readonly RemovalStep[]
  readonly record: InstallationRecord
} {
  const record = readInstallationRecord(root)
  if (!record)
    throw new OfflineCommandError(3, `nothing is installed: ${placePath(root, layout.record)} does not exist`)
  const files = [...new Set(record.files.map(({ path }) => path))].flatMap((path) => planFile(root, path, record))
  const links = [...new Set(record.links.map(({ path }) => path))].flatMap((path) => planLink(root, path, record))
  const folders = record.folders
    .toSorted((a, b) => b.length - a.length)
    .filter((path) => fs.existsSync(placePath(root, path)))
    .map((path): RemovalStep => ({ action: 'remove', kind: 'folder', path, detail: undefined }))
  return { steps: [...links, ...files, ...folders], record }
}

function planFile(root: string, path: string, { files }: InstallationRecord): RemovalStep[] {
  const { placed, stats } = statPlaced(root, path)
  if (!stats) return []
  const found = stats.isFile() ? digestFile(placed) : undefined
  if (files.some((file) => file.path === path && file.sha256 === found))
    return [{ action: 'remove', kind: 'file', path, detail: undefined }]
  return [{ action: 'keep', kind: 'file', path, detail: 'it was changed since the installation' }]
}

function planLink(root: string, path: string, { links }: InstallationRecord): RemovalStep[] {
  const { placed, stats } = statPlaced(root, path)
  if (!stats) return []
  const found = stats.isSymbolicLink() ? fs.readlinkSync(placed) : undefined
  if (links.some((link) => link.path === path && link.target === found))
    return [{ action: 'remove', kind: 'link', path, detail: undefined }]
  return [{ action: 'keep', kind: 'link', path, detail: 'it was changed since the installation' }]
}

/** Stops the roles first. Folders go if they are empty: what somebody put there stays. The record goes last, so that a repeat goes on. */
export function applyRemoval(root: string): readonly RemovalStep[] {
  if (process.geteuid?.() !== 0)
    throw new OfflineCommandError(3, 'only root can uninstall', 'run it as root, or with --plan')
  const { steps, record } = planRemoval(root)
  stopRoles(root, record)
  for (const { path } of [...record.files, ...record.links]) clearDraft(placePath(root, path))
  const done = steps.map((step) => (step.action === 'keep' ? step : removeStep(step, placePath(root, step.path))))
  fs.rmSync(placePath(root, layout.record), { force: true })
  reloadUnits(root)
  return done
}

function stopRoles(root: string, { roles, service_manager }: InstallationRecord): void {
  if (service_manager !== 'systemd' || !isSystemdRunning(root)) return
  const units = [target_name, ...roles.map(unitName)]
  if (spawnSync('systemctl', ['stop', ...units], { stdio: 'ignore' }).status !== 0)
    throw new OfflineCommandError(1, 'the roles could not be stopped', `systemctl status ${target_name}`)
}

function removeStep(step: RemovalStep, path: string): RemovalStep {
  if (step.kind !== 'folder') {
    fs.unlinkSync(path)
    return step
  }
  try {
    fs.rmdirSync(path)
    return step
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOTEMPTY' || code === 'EEXIST') return { ...step, action: 'keep', detail: 'it is not empty' }
    throw error
  }
}

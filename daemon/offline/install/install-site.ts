// Installs the product on this machine, or below a folder that stands for it: plans, applies, records.
import * as fs from 'node:fs'
import { product } from '../../../adapters/platform/product/product.ts'
import { OfflineCommandError } from '../offline-command-error.ts'
import { readInputFile } from '../read-input-file.ts'
import { type InstallationAnswers, parseAnswers, roleUser } from './answers.ts'
import { applyItem, run } from './apply-item.ts'
import {
  type CommandDocuments,
  digestContent,
  type InstallationItem,
  listInstallationItems,
} from './installation-items.ts'
import { type InstallationRecord, readInstallationRecord, writeInstallationRecord } from './installation-record.ts'
import { type InstallationStep, isDone, planInstallation } from './installation-steps.ts'
import { layout } from './layout.ts'
import { type InstallationPlace, observeFile, observeItem } from './observe-item.ts'
import { type BundleLocation, findRelease } from './release-files.ts'
import { placePath, requireSafeParents } from './safe-path.ts'

export type InstallationRequest = {
  readonly root: string
  /** Default: the answers file of the layout, below the root. */
  readonly answers: string | undefined
  /** A bundle to verify and install; default: the running executable alone. */
  readonly bundle: BundleLocation | undefined
  readonly documents: CommandDocuments
  readonly overwrites: boolean
}

export type InstallationPlan = {
  readonly answers: InstallationAnswers
  readonly place: InstallationPlace
  readonly items: readonly InstallationItem[]
  readonly steps: readonly InstallationStep[]
  /** True when nothing is left to do, and an earlier run ended. */
  readonly is_done: boolean
}

export function planSiteInstallation(request: InstallationRequest): InstallationPlan {
  const { root } = request
  const file = request.answers ?? placePath(root, layout.answers)
  const answers = parseAnswers(readInputFile(file), file)
  requireSafeParents(placePath(root, '/etc/passwd'))
  const record = readInstallationRecord(root)
  const place = { root, record, overwrites: request.overwrites }
  const contents = { version: product.version, release: findRelease(request.bundle), documents: request.documents }
  const items = listInstallationItems(answers, contents).filter(
    ({ kind }) => kind !== 'service' || isSystemdRunning(root),
  )
  const observed = items.map((item) => ({ item, observation: observeItem(item, place) }))
  const steps = planInstallation(observed, listFormerFiles(items, place))
  return { answers, place, items, steps, is_done: isDone(steps) && record?.complete === true }
}

export function isSystemdRunning(root: string): boolean {
  return root === '/' && fs.existsSync('/run/systemd/system')
}

/** Files that an earlier installation of the same version made and this one does not have. */
function listFormerFiles(items: readonly InstallationItem[], place: InstallationPlace) {
  const paths = new Set(items.map((item) => ('path' in item ? item.path : '')))
  const version = `${layout.releases}/`
  const files = place.record?.files.filter(({ path }) => !paths.has(path) && !path.startsWith(version)) ?? []
  return [
    ...files.map(({ path, sha256 }) => ({ path, observation: observeFile(path, undefined, sha256, place) })),
    ...(place.record?.links ?? [])
      .filter(({ path }) => !paths.has(path))
      .map(({ path, target }) => ({ path, observation: observeItem({ kind: 'link', path, target }, place) })),
  ]
}

/** Applies the steps of the plan in order. Throws `OfflineCommandError`: 3 for blocked steps, before anything is changed. */
export function applyInstallation(plan: InstallationPlan, report: (step: InstallationStep) => void): void {
  const { place, items, steps } = plan
  if (plan.is_done) return
  if (process.geteuid?.() !== 0)
    throw new OfflineCommandError(3, 'only root can install', 'run it as root, or with --plan or --check')
  refuseBlocked(steps)
  const open = steps.filter(({ action }) => action !== 'keep')
  const record = buildRecord(plan)
  prepareSettingsFolder(place.root)
  const isDivided = steps.some(({ action, item }) => action === 'keep' && item?.kind === 'division')
  const draft = {
    ...record,
    complete: false,
    divided: isDivided,
    files: mergeEntries(record.files, place.record?.files),
    links: mergeEntries(record.links, place.record?.links),
  }
  writeInstallationRecord(place.root, draft)
  for (const step of open) {
    if (step.item) {
      // Units are read again before they are started.
      if (step.item.kind === 'service') reloadUnits(place.root)
      applyItem(step.item, place.root, items)
      if (step.item.kind === 'division') writeInstallationRecord(place.root, { ...draft, divided: true })
      requireApplied(step.item, { ...place, record: undefined })
    } else if (step.path) fs.unlinkSync(placePath(place.root, step.path))
    report(step)
  }
  reloadUnits(place.root)
  writeInstallationRecord(place.root, record)
}

function refuseBlocked(steps: readonly InstallationStep[]): void {
  const blocked = steps.filter(({ action }) => action === 'blocked')
  if (blocked.length === 0) return
  const details = blocked.map(({ detail, remedy }) => `${detail} (${remedy})`)
  throw new OfflineCommandError(3, `${blocked.length} steps are blocked; nothing was changed`, undefined, details)
}

/** What was applied is observed again: a step that had no effect is a fault, and not a success. */
function requireApplied(item: InstallationItem, place: InstallationPlace): void {
  const after = observeItem(item, { ...place, overwrites: false })
  if (after.state === 'same') return
  const detail = 'detail' in after ? after.detail : 'it is still missing'
  throw new OfflineCommandError(1, `a step had no effect: ${detail}`, 'run platform install --plan')
}

function prepareSettingsFolder(root: string): void {
  const folder = placePath(root, layout.settings)
  requireSafeParents(folder)
  if (!fs.existsSync(folder)) fs.mkdirSync(folder, { mode: 0o755, recursive: true })
}

/** Units and accounts are read again, where systemd runs. */
export function reloadUnits(root: string): void {
  if (isSystemdRunning(root)) run(['systemctl', 'daemon-reload'])
}

function buildRecord({ answers, items, place, steps }: InstallationPlan): InstallationRecord {
  const desired = new Set(items.flatMap((item) => ('path' in item ? [item.path] : [])))
  const removed = new Set(steps.flatMap(({ action, path }) => (action === 'remove' && path ? [path] : [])))
  // Other releases, and files that somebody changed: `platform uninstall` still knows them.
  const isKept = ({ path }: { path: string }) => !desired.has(path) && !removed.has(path) && isPresent(place.root, path)
  const made = steps.flatMap(({ action, item }) => (action === 'create' && item?.kind === 'folder' ? [item.path] : []))
  return {
    format: 1,
    complete: true,
    divided: true,
    version: product.version,
    site: answers.site.folder,
    roles: answers.site.roles,
    users: answers.site.roles.map((role) => roleUser(answers, role)),
    group: answers.users.group,
    service_manager: answers.service_manager,
    files: [...items.flatMap(listFileDigests), ...(place.record?.files.filter(isKept) ?? [])],
    links: [
      ...items.flatMap((item) => (item.kind === 'link' ? [{ path: item.path, target: item.target }] : [])),
      ...(place.record?.links.filter(isKept) ?? []),
    ],
    folders: [...new Set([...(place.record?.folders ?? []), ...made])],
  }
}

function listFileDigests(item: InstallationItem): InstallationRecord['files'] {
  if (item.kind === 'file') return [{ path: item.path, sha256: digestContent(item.content) }]
  return item.kind === 'copy' ? [{ path: item.path, sha256: item.sha256 }] : []
}

function isPresent(root: string, path: string): boolean {
  return fs.lstatSync(placePath(root, path), { throwIfNoEntry: false }) !== undefined
}

/** A killed run leaves some entries as they were and some as they are to be. */
function mergeEntries<T>(entries: readonly T[], former: readonly T[] = []): T[] {
  const known = new Set(entries.map((entry) => JSON.stringify(entry)))
  return [...entries, ...former.filter((entry) => !known.has(JSON.stringify(entry)))]
}
